"""The agent's half of a connection, in the terms of version 2: the sessions that the connection holds, their lifecycle and their turns.

An `AgentCore` serves a client of version 2 as it is, and one of version 1 behind the codec. A prompt is answered when it has its place in
the conversation: at once, or after the turn before it. A lifecycle request that fails leaves everything as it was.

Sources: the pages of v2 on session setup, session list, session delete, prompts, cancellation; the RFDs on `additionalDirectories` and on
required session methods.
"""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, Literal, Protocol, TypeVar

from acp_bindings import UNSET, RequestError, Unknown, v2
from acp_bindings.v2 import peers

from acp_workspace.errors import INTERNAL_ERROR, INVALID_PARAMS, NOT_FOUND, REFUSED, invalid_params
from acp_workspace.scope import parse_scope
from acp_workspace.workspace import AgentWorkspace, LifecycleRequest, RootSet
from jsonrpc_bindings import UnsetType
from jsonrpc_bindings.errors import INVALID_REQUEST, REQUEST_CANCELLED
from jsonrpc_bindings.tail import Tail

from .agent import Agent
from .codec.interfaces import ClientInterface
from .local_services import Local, LocalServices
from .modes import MODE
from .services import Services
from .session import LOG, ClientCapabilities, Peer, Session
from .store import StoredSession
from .turn import Turn

MOST_OUTPUT: Final = 1024 * 1024
"""Bytes of a terminal's output that the history keeps; the oldest go first."""
PAGE: Final = 100
"""Sessions on a page of `session/list`."""

P = TypeVar("P")
T = TypeVar("T")


class OpeningRequest(LifecycleRequest, Protocol):
    """The params of a request that opens a session."""

    @property
    def mcp_servers(self) -> Sequence[v2.McpServer] | UnsetType:
        """The MCP servers of the session."""
        ...


class OpenSession(Session):
    """A session that a connection holds: its roots, its turn, and the prompts that wait for it."""

    scope_roots: RootSet

    def __init__(self, core: AgentCore, stored: StoredSession) -> None:
        super().__init__(stored, core.peer, core.agent.store)
        self.free = asyncio.Lock()
        self.waiting: set[asyncio.Task[Literal[True]]] = set()
        self.closing: asyncio.Task[None] | None = None
        self.work: Work | None = None
        self._core = core
        self._outputs: dict[str, Tail] = {}

    @property
    def stored(self) -> StoredSession:
        """What the store keeps."""
        return self._stored

    def take_options(self, config_id: str, value: object) -> list[v2.SessionConfigOption]:
        """The options once one of them has this value. Raises `RequestError` -32602."""
        try:
            return self._with_value(config_id, value)
        except LookupError as error:
            raise invalid_params(str(error.args[0])) from None

    async def replace_options(self, options: list[v2.SessionConfigOption]) -> None:
        """Have these options, and tell nobody: the answer does."""
        self._stored.config_options = options
        await self._save_between_turns()

    def bind(self, roots: RootSet, servers: Sequence[v2.McpServer] | UnsetType) -> Callable[[], None]:
        """Use these roots and MCP servers; what is returned takes that back."""
        before = (self.mcp_servers, self._stored.cwd, self._stored.additional_directories, self._is_opening)
        old_roots = getattr(self, "scope_roots", None)

        def undo() -> None:
            self.mcp_servers, self._stored.cwd, self._stored.additional_directories, self._is_opening = before
            if old_roots is not None:
                self.scope_roots = old_roots

        self.scope_roots = roots
        self.mcp_servers = () if servers is UNSET else tuple(servers)
        self._stored.cwd, self._stored.additional_directories = roots.scope.cwd, roots.scope.additional
        self._is_opening = True
        return undo

    def hold_updates(self) -> None:
        """Keep updates back until the client knows the session's id."""
        self._early = []

    async def opened(self) -> None:
        """The client has its answer, or is about to get it: send what was kept back."""
        self._is_opening = False
        early, self._early = self._early or [], None
        with suppress(ConnectionError):
            for update in early:
                await self._send(update)

    async def replay(self) -> None:
        """Send the history again."""
        for update in tuple(self._stored.history):
            await self._send(update)

    async def show_terminal(self, update: v2.TerminalUpdate | v2.TerminalOutputChunk) -> None:
        """Send what a terminal shows. The history has its command, then its end with the last of the output."""
        output = self._outputs.setdefault(update.terminal_id, Tail(MOST_OUTPUT))
        if isinstance(update, v2.TerminalOutputChunk):
            output.add(base64.b64decode(update.data))
        elif isinstance(update.output, v2.TerminalOutput):
            output = self._outputs[update.terminal_id] = Tail(MOST_OUTPUT)
            output.add(base64.b64decode(update.output.data))
        elif isinstance(update.exit_status, v2.TerminalExitStatus):
            del self._outputs[update.terminal_id]
            shown = v2.TerminalOutput(data=base64.b64encode(output.text.encode()).decode())
            self._keep(update.__replace__(output=shown))
        else:
            self._keep(update.__replace__(capabilities=None))
        await self._send(update)

    async def send_commands(self) -> None:
        """Send the commands that are offered."""
        await self._send(v2.AvailableCommandsUpdate(available_commands=list(self._stored.commands)))

    async def send_state(self) -> None:
        """Send what the session does now."""
        await self._send_state(self._state)

    def end_calls(self) -> None:
        """End all tool calls that are open."""
        self._end_calls({getattr(one, "tool_call_id", "") for one in self._stored.history})

    def stop(self) -> None:
        """Cancel the turn, and the prompts that wait for it."""
        for waiting in tuple(self.waiting):
            waiting.cancel()
        if self.work is not None:
            self._turn = None  # its state is its end
            self.work.stop()

    async def close(self) -> None:
        """End all work, have it told and kept, and let the roots go."""
        self.stop()
        while self.work is not None and self.work.task is not None:
            await asyncio.wait([self.work.task])
        await self._core.services.end(self.id)
        self.scope_roots.close()

    async def finish(self) -> None:
        """Have the store keep the session, and be of no use any more."""
        await self._save()
        self._is_closed = True

    # --- turns

    async def prompt(self, content: Sequence[v2.ContentBlock], run: Callable[[Turn], Awaitable[str]]) -> str:
        """Take a message in, once the turn before has ended, and begin with the work; the id of the message."""
        acquiring = asyncio.ensure_future(self.free.acquire())
        self.waiting.add(acquiring)
        try:
            await asyncio.wait([acquiring])
        except asyncio.CancelledError:
            if not acquiring.cancel() and not acquiring.cancelled():
                self.free.release()
            raise
        finally:
            self.waiting.discard(acquiring)
        if acquiring.cancelled():
            raise RequestError(REQUEST_CANCELLED, "the prompt was cancelled")
        turn = Turn(self, tuple(content), f"msg_{secrets.token_hex(8)}")
        self.work = Work(self, turn, run)
        self.work.task = asyncio.create_task(self.work.do())
        return turn.message_id

    async def begin_turn(self, turn: Turn) -> None:
        """Send the user's message, and that the work begins."""
        self._calls, self._turn = set(), turn.message_id
        message = v2.UserMessage(message_id=turn.message_id, content=list(turn.prompt))
        self._keep(message)
        await self._save()
        with suppress(ConnectionError):  # nobody listens any more
            await self._send(message)
            await self._send_state("running")

    async def end_turn(self, reason: dict[str, Any]) -> None:
        """Send that the work has ended, and that its open tool calls have, where it was cancelled or failed."""
        self._turn = None
        is_failed = reason["stopReason"] == "error"
        beside = {one.tool_call_id for one in self._background or () if isinstance(one, v2.BackgroundToolCall)}
        calls: Collection[str] = self._calls - beside if is_failed or reason["stopReason"] == "cancelled" else ()
        updates = self._end_calls(calls, is_failed=is_failed)
        self._state = "idle"
        await self._save()
        with suppress(ConnectionError):
            for update in updates:
                await self._send(update)
            if self.work is not None and self.work.is_stopped:  # before anybody was told of the end
                reason = {"stopReason": "cancelled"}
            await self._send_state("idle", **reason)


class Work:
    """The work of one turn: the message, what `run` does, the end. Only what `run` does can be stopped: the rest is always sent."""

    def __init__(self, session: OpenSession, turn: Turn, run: Callable[[Turn], Awaitable[str]]) -> None:
        self.task: asyncio.Task[None] | None = None
        self._session = session
        self._turn = turn
        self._run = run
        self._running: asyncio.Task[str] | None = None
        self.is_stopped = False

    def stop(self) -> None:
        """Cancel it."""
        self.is_stopped = True
        if self._running is not None:
            self._running.cancel()

    async def do(self) -> None:
        """Do it."""
        session = self._session
        try:
            await session.begin_turn(self._turn)
            await session.end_turn(await self._reason())
        except Exception:
            session.log.exception("a turn failed")
        finally:
            session.work = None
            session.free.release()

    async def _reason(self) -> dict[str, Any]:
        """Why it ended. What `run` raises ends it as failed."""
        if self.is_stopped:
            return {"stopReason": "cancelled"}
        self._running = asyncio.create_task(self._call())
        await asyncio.wait([self._running])
        if self.is_stopped or self._running.cancelling():
            return {"stopReason": "cancelled"}
        error = RuntimeError("cancelled from within") if self._running.cancelled() else self._running.exception()
        if isinstance(error, RequestError):
            return {"stopReason": "error", "error": error.as_json()}
        if error is not None:
            self._session.log.error("'on_prompt' failed", exc_info=error)
            return {"stopReason": "error", "error": {"code": INTERNAL_ERROR, "message": "internal error"}}
        return {"stopReason": self._running.result()}

    async def _call(self) -> str:
        reason: Any = await self._run(self._turn)
        if not isinstance(reason, str):
            raise TypeError(f"'on_prompt' returned {reason!r}, which is no stop reason")
        return reason


class Machine(LocalServices):
    """Files and commands on this machine, inside the roots of the sessions of a connection."""

    def __init__(self, core: AgentCore) -> None:
        super().__init__(core, Local(), self._send_update)
        self._core = core

    async def _send_update(self, session_id: str, update: Any) -> None:
        session = self._core.sessions.get(session_id)
        if session is not None:
            with suppress(ConnectionError):  # nobody listens any more
                await session.show_terminal(v2.decode_as(v2.SessionUpdate, update))


class AgentCore(peers.Agent):
    """Serves an `Agent` on one connection."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.sessions: dict[str, OpenSession] = {}
        self.services: Services = Machine(self)
        self._remote: ClientInterface | None = None
        self._peer: Peer | None = None
        self._workspace = AgentWorkspace(advertised=agent.additional_directories, policy=agent.root_policy)
        self._following: set[asyncio.Task[None]] = set()

    def connect(self, client: ClientInterface, services: Services) -> None:
        """Serve this client, which a codec stands for, and use its files and terminals."""
        self._remote, self.services = client, services

    @property
    def peer(self) -> Peer:
        """The client."""
        if self._peer is None:
            raise RequestError(INVALID_REQUEST, "`initialize` must come first")
        return self._peer

    def roots(self, session_id: str) -> RootSet:
        """The roots that are in force. Raises `RequestError` -32602 for a session that is not open here."""
        found = self.sessions.get(session_id)
        if found is None:
            raise invalid_params("the session is not open; load or resume it", pointer="/sessionId")
        return found.scope_roots

    async def disconnected(self) -> None:
        """Close all sessions. The store has them."""
        await asyncio.gather(*(self._close(session) for session in tuple(self.sessions.values())))
        await self.services.close()

    # --- the beginning

    async def initialize(self, params: v2.InitializeRequest, /) -> v2.InitializeResponse:
        """Answer what the agent is and can do."""
        offered, form = self.services.capabilities(), params.capabilities.elicitation
        self._peer = Peer(
            self._remote or self.client,
            self.services,
            params.info,
            ClientCapabilities(
                read_text_file=offered.fs.read_text_file,
                write_text_file=offered.fs.write_text_file,
                run_command=offered.terminal,
                ask=form is not None and form.form is not None,
                ask_url=form is not None and form.url is not None,
            ),
        )
        methods: Any = list(self.agent.auth_methods) or UNSET
        return v2.InitializeResponse(
            protocol_version=2, info=self.agent.info, capabilities=self.agent.capabilities(), auth_methods=methods
        )

    async def auth_login(self, params: v2.LoginAuthRequest, /) -> v2.LoginAuthResponse:
        """Log the user in."""
        ids = [one.method_id for one in self.agent.auth_methods if not isinstance(one, v2.AuthMethodTerminal)]
        if params.method_id not in ids:
            raise invalid_params("the agent has no such method", pointer="/methodId")
        await self._call("'on_authenticate'", self.agent.on_authenticate(params.method_id))
        return v2.LoginAuthResponse()

    async def auth_logout(self, params: v2.LogoutAuthRequest, /) -> v2.LogoutAuthResponse:  # noqa: ARG002
        """Log the user out."""
        await self._call("'on_logout'", self.agent.on_logout())
        return v2.LogoutAuthResponse()

    # --- the life of a session

    async def session_new(self, params: v2.NewSessionRequest, /) -> v2.NewSessionResponse:
        """Begin a session."""
        self._refuse_servers(params.mcp_servers)
        roots = _bound(self._workspace.bind, params)
        stored = StoredSession(
            f"sess_{secrets.token_hex(8)}", roots.scope.cwd, updated_at=datetime.now(UTC).isoformat()
        )
        session = await self._begin(stored, roots, params, self.agent.on_new_session, "'on_new_session'")
        return v2.NewSessionResponse(session_id=session.id, **_offer(session))

    async def session_fork(self, params: v2.ForkSessionRequest, /) -> v2.ForkSessionResponse:
        """Begin a session with the history of another, and the roots that are given."""
        self._refuse_servers(params.mcp_servers)
        source = self.sessions.get(params.session_id)
        before = await self._stored(params.session_id) if source is None else source.stored
        stored = await self._call("copying", _copied(before), source)
        roots = _bound(self._workspace.fork, params)
        stored.id, stored.updated_at = f"sess_{secrets.token_hex(8)}", datetime.now(UTC).isoformat()
        session = await self._begin(stored, roots, params, self.agent.on_fork_session, "'on_fork_session'")
        return v2.ForkSessionResponse(session_id=session.id, **_offer(session))

    async def session_load(self, params: v2.LoadSessionRequest, /) -> v2.LoadSessionResponse:
        """Open a session again: the roots that are given are all that it has from now on. Its history is replayed."""
        session = await self._reopen(params.session_id, params, self.agent.on_load_session, "'on_load_session'", True)
        offer = _offer(session)
        if offer.pop("available_commands", None):
            await session.send_commands()
        return v2.LoadSessionResponse(**offer)

    async def session_resume(self, params: v2.ResumeSessionRequest, /) -> v2.ResumeSessionResponse:
        """Open a session again, as `session_load`; the history is replayed where that is asked for. Raises `RequestError` -32602 for
        another place to begin at than the start.
        """
        start = params.replay_from
        if start is not None and not isinstance(start, v2.ReplayFromStart):
            raise invalid_params("this agent replays only from the start", pointer="/replayFrom")
        hook, name = self.agent.on_resume_session, "'on_resume_session'"
        if start is not None:
            hook, name = self.agent.on_load_session, "'on_load_session'"
        session = await self._reopen(params.session_id, params, hook, name, start is not None)
        return v2.ResumeSessionResponse(**_offer(session))

    async def session_list(self, params: v2.ListSessionsRequest, /) -> v2.ListSessionsResponse:
        """The sessions that pass the filters, newest first, in pages. Raises `RequestError` for a cursor that is none."""
        infos = {one.session_id: one for one in await self._call("the store", self.agent.store.list())}
        infos |= {one.id: one.stored.info() for one in self.sessions.values()}
        order = sorted(infos.values(), key=lambda one: (one.updated_at or "", one.session_id), reverse=True)
        found = self._workspace.filter_sessions(
            order, params, lambda one: parse_scope(one.cwd, one.additional_directories, flavour=None)
        )
        start = 0
        if params.cursor is not None:
            ids = [one.session_id for one in found]
            if params.cursor not in ids:
                raise invalid_params("the cursor was not issued by this agent", pointer="/cursor")
            start = ids.index(params.cursor) + 1
        page = found[start : start + PAGE]
        if not self.agent.additional_directories:
            page = [one.__replace__(additional_directories=UNSET) for one in page]
        more: dict[str, Any] = {"next_cursor": page[-1].session_id} if len(found) > start + PAGE else {}
        return v2.ListSessionsResponse(sessions=page, **more)

    async def session_close(self, params: v2.CloseSessionRequest, /) -> v2.CloseSessionResponse:
        """Close a session: all work is cancelled, and its end sent. The session can be opened again."""
        async with self.agent.lock(params.session_id):
            if params.session_id in self.sessions:
                await self.give_up(params.session_id)
            else:
                await self._stored(params.session_id)
        return v2.CloseSessionResponse()

    async def session_delete(self, params: v2.DeleteSessionRequest, /) -> v2.DeleteSessionResponse:
        """Close a session and forget it. One that is not there is deleted already."""
        async with self.agent.lock(params.session_id):
            await self._close_elsewhere(params.session_id)
            await self.give_up(params.session_id)
            if await self._call("the store", self.agent.store.load(params.session_id)) is not None:
                await self._call("'on_delete_session'", self.agent.on_delete_session(params.session_id))
                await self._call("the store", self.agent.store.delete(params.session_id))
        return v2.DeleteSessionResponse()

    async def session_set_config_option(
        self, params: v2.SetSessionConfigOptionRequest, /
    ) -> v2.SetSessionConfigOptionResponse:
        """Set an option, or the mode. Raises `RequestError` -32602 for one that is not offered, or a value that it does not have."""
        session, value = await self._open(params.session_id), params.value
        session.take_options(params.config_id, value)
        if params.config_id == MODE:
            await self._call("'on_set_mode'", self.agent.on_set_mode(session, str(value)), session)
        else:
            work = self.agent.on_set_config_option(session, params.config_id, value)
            await self._call("'on_set_config_option'", work, session)
        await session.replace_options(session.take_options(params.config_id, value))
        return v2.SetSessionConfigOptionResponse(config_options=list(session.stored.config_options))

    # --- turns

    async def session_prompt(self, params: v2.PromptRequest, /) -> v2.PromptResponse:
        """Take a message in, and begin with the work once the turn before it has ended. Cancelled while it waits, it is not taken in."""
        session = await self._open(params.session_id)
        self._refuse_content(params.prompt)
        if self._remote is not None and session.work is not None and not session.work.is_stopped:
            raise invalid_params("the session is in a turn", pointer="/sessionId")  # version 1 has no prompts that wait
        return v2.PromptResponse(message_id=await session.prompt(params.prompt, self.agent.on_prompt))

    async def session_cancel(self, params: v2.CancelSessionNotification, /) -> None:
        """Stop the turn, and the prompts that wait for it. Background work goes on."""
        session = self.sessions.get(params.session_id)
        if session is None or (session.work is None and not session.waiting):
            return
        session.stop()
        try:
            await self.agent.on_cancel(session)
        except Exception:
            session.log.exception("'on_cancel' failed")

    async def terminal_cancel(self, params: v2.CancelTerminalRequest, /) -> v2.CancelTerminalResponse:
        """End a command that the client shows."""
        await self._open(params.session_id)
        await self.services.cancel_terminal(params.session_id, params.terminal_id)
        return v2.CancelTerminalResponse()

    async def extension_request(self, method: str, params: Any) -> Any:
        """See `Agent.on_extension_request`."""
        return await self._call(method, self.agent.on_extension_request(method, params))

    async def extension_notification(self, method: str, params: Any) -> None:
        """See `Agent.on_extension_notification`."""
        await self.agent.on_extension_notification(method, params)

    # --- the parts of these

    async def _begin(
        self,
        stored: StoredSession,
        roots: RootSet,
        params: OpeningRequest,
        hook: Callable[[Session], Awaitable[None]],
        name: str,
    ) -> OpenSession:
        """A new session of this connection."""
        try:
            session = OpenSession(self, stored)
            session.bind(roots, params.mcp_servers)
            session.hold_updates()
            session.end_calls()
            self.sessions[session.id] = session
            await self._call(name, hook(session), session)
            await self._call("saving", self.agent.store.save(session.stored), session)
        except BaseException:
            self.sessions.pop(stored.id, None)
            roots.close()
            raise
        self._hold(session)
        task = asyncio.create_task(session.opened())
        self._following.add(task)
        task.add_done_callback(self._following.discard)
        return session

    async def _reopen(
        self,
        session_id: str,
        params: OpeningRequest,
        hook: Callable[[Session], Awaitable[None]],
        name: str,
        is_replayed: bool,
    ) -> OpenSession:
        """A session that is there, with the roots and MCP servers of a request."""
        self._refuse_servers(params.mcp_servers)
        async with self.agent.lock(session_id):
            await self._close_elsewhere(session_id)
            session = self.sessions.get(session_id)
            is_new = session is None
            if session is None:
                session = OpenSession(self, await self._stored(session_id))
            before = None if is_new else session.scope_roots
            roots = _bound(self._workspace.bind, params)
            undo = session.bind(roots, params.mcp_servers)
            self.sessions[session_id] = session
            try:
                await self._call(name, hook(session), session)
            except BaseException:
                undo()
                roots.close()
                if is_new:
                    del self.sessions[session_id]
                raise
            if before is not None:
                before.close()
            self._hold(session)
            await session.opened()
            if is_replayed:
                await session.replay()
            await session.send_state()
        return session

    def _hold(self, session: OpenSession) -> None:
        self.agent.holders[session.id] = self
        self._workspace.activate(session.id, session.scope_roots)

    async def give_up(self, session_id: str) -> None:
        """See `SessionHolder`."""
        session = self.sessions.get(session_id)
        if session is not None:
            await self._close(session)

    async def _close_elsewhere(self, session_id: str) -> None:
        """Close a session that another connection of the agent holds."""
        holder = self.agent.holders.get(session_id)
        if holder is not None and holder is not self:
            await holder.give_up(session_id)

    async def _close(self, session: OpenSession) -> None:
        """Close a session; once, whoever asks for it."""
        if session.closing is None:
            session.closing = asyncio.create_task(self._do_close(session))
        await asyncio.wait([session.closing])

    async def _do_close(self, session: OpenSession) -> None:
        await session.close()
        try:
            await self.agent.on_close_session(session)
        except Exception:
            session.log.exception("'on_close_session' failed")
        await session.finish()
        del self.sessions[session.id]
        if self.agent.holders.get(session.id) is self:
            del self.agent.holders[session.id]
        self._workspace.invalidate(session.id)

    async def _stored(self, session_id: str) -> StoredSession:
        """A session of the store. Raises `RequestError` -32002."""
        found = await self._call("the store", self.agent.store.load(session_id))
        if found is None:
            raise RequestError(NOT_FOUND, "there is no such session", {"sessionId": session_id})
        return found

    async def _open(self, session_id: str) -> OpenSession:
        """A session that is open here. Raises `RequestError`: -32002 where there is none, -32602 where it is not open."""
        found = self.sessions.get(session_id)
        if found is None:
            await self._stored(session_id)
            raise invalid_params("the session is not open; load or resume it", pointer="/sessionId")
        return found

    async def _call(self, name: str, work: Awaitable[T], session: Session | None = None) -> T:
        """What the author's code returns. What it raises beside `RequestError` is logged, and answered as an internal error."""
        try:
            return await work
        except RequestError:
            raise
        except Exception as error:
            (LOG if session is None else session.log).error("%s failed", name, exc_info=error)
            raise RequestError(INTERNAL_ERROR, "internal error") from error

    def _refuse_content(self, prompt: Sequence[v2.ContentBlock]) -> None:
        for index, block in enumerate(prompt):
            type_ = block.tag if isinstance(block, Unknown) else block.type
            if type_ not in ("text", "resource_link") and type_ not in self.agent.prompt_types:
                raise invalid_params(f"this agent takes no content of the type {type_!r}", pointer=f"/prompt/{index}")

    def _refuse_servers(self, servers: Sequence[v2.McpServer] | UnsetType) -> None:
        for index, server in enumerate(() if servers is UNSET else servers):
            type_ = server.tag if isinstance(server, Unknown) else server.type
            if type_ not in self.agent.mcp_transports:
                sentence = f"this agent reaches no MCP server over {type_!r}"
                raise invalid_params(sentence, pointer=f"/mcpServers/{index}")


def _bound(bind: Callable[[P], RootSet], params: P) -> RootSet:
    """The roots that a request asks for, all of them. Raises `RequestError` -32602 where one is refused."""
    try:
        return bind(params)
    except RequestError as error:
        if error.code != REFUSED:
            raise
        raise RequestError(INVALID_PARAMS, error.message, error.data) from None


async def _copied(stored: StoredSession) -> StoredSession:
    return stored.copy()


def _offer(session: OpenSession) -> dict[str, Any]:
    """The options and commands of a session, as the fields of an answer."""
    stored, fields = session.stored, dict[str, Any]()
    if stored.config_options:
        fields["config_options"] = list(stored.config_options)
    if stored.commands:
        fields["available_commands"] = list(stored.commands)
    return fields
