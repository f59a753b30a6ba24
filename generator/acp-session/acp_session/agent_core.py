"""The agent's half of a connection, in the terms of version 2: the sessions that the connection holds, their lifecycle and their turns.

An `AgentCore` serves a client of version 2 as it is, and one of version 1 behind the codec. A prompt is answered when it has its place in
the conversation: at once, or after the turn before it. A lifecycle request that fails leaves everything as it was.

Sources: the pages of v2 on session setup, session list, session delete, prompts, cancellation; the RFDs on `additionalDirectories` and on
required session methods.
"""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from acp_bindings import UNSET, RequestError, Unknown, v2
from acp_bindings.v2 import peers

from acp_workspace.errors import INTERNAL_ERROR, INVALID_PARAMS, NOT_FOUND, REFUSED, invalid_params
from acp_workspace.scope import parse_scope
from acp_workspace.workspace import AgentWorkspace, LifecycleRequest, RootSet
from jsonrpc_bindings import UnsetType
from jsonrpc_bindings.errors import INVALID_REQUEST
from jsonrpc_bindings.tail import Tail

from .agent import Agent
from .background import Background
from .codec.interfaces import ClientInterface
from .local_services import Local, LocalServices
from .modes import mode_option, with_value
from .services import Services
from .session import ENDED, LOG, ClientCapabilities, ClientConnection, Session
from .store import StoredSession
from .turn import Turn
from .turn_queue import TurnQueue

CANCELLED: Final[dict[str, Any]] = {"stopReason": "cancelled"}
"""The end of work that was cancelled."""
STOP_REASONS: Final = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")
"""Why a turn may end."""
FAILED: Final[dict[str, Any]] = {
    "stopReason": "error",
    "error": {"code": INTERNAL_ERROR, "message": "internal error"},
}
"""The end of work that broke."""
MOST_OUTPUT: Final = 1024 * 1024
"""Bytes of a terminal's output that the history keeps; the oldest go first."""
PAGE: Final = 100
"""Sessions on a page of `session/list`."""

T = TypeVar("T")


class OpeningRequest(LifecycleRequest, Protocol):
    """The params of a request that opens a session."""

    @property
    def mcp_servers(self) -> Sequence[v2.McpServer] | UnsetType:
        """The MCP servers of the session."""
        ...


P = TypeVar("P", bound=OpeningRequest)
Hook: TypeAlias = "Callable[[Session], Coroutine[Any, Any, None]]"


class OpenSession(Session):
    """A session that a connection holds: its roots, its turn, and the prompts that wait for it."""

    def __init__(self, core: AgentCore, stored: StoredSession) -> None:
        super().__init__(stored, core.connection_to_client, core.agent.store)
        self.root_set: RootSet | None = None
        self.closing: asyncio.Task[None] | None = None
        self.work: asyncio.Task[None] | None = None
        self.stopped = asyncio.Event()
        self.queue = TurnQueue()
        self._core = core
        self._outputs: dict[str, Tail] = {}

    @property
    def stored(self) -> StoredSession:
        """What the store keeps."""
        return self._stored

    def options_with(self, config_id: str, value: object) -> list[v2.SessionConfigOption]:
        """The options once one of them has this value. Raises `RequestError` -32602."""
        try:
            return with_value(self._stored.config_options, config_id, value)
        except ValueError as error:
            raise invalid_params(str(error)) from None

    async def replace_options(self, options: list[v2.SessionConfigOption]) -> None:
        """Have these options, and tell nobody: the answer does."""
        self._stored.config_options = options
        await self._save_between_turns()

    # --- its opening and its end

    @asynccontextmanager
    async def opening(self, roots: RootSet, servers: Sequence[v2.McpServer] | UnsetType) -> AsyncGenerator[None]:
        """Use these roots and MCP servers, unless what is done meanwhile fails. Updates are kept back."""
        stored = self._stored
        before = self.root_set, self.mcp_servers, stored.cwd, stored.additional_directories
        self.root_set, self.mcp_servers = roots, () if servers is UNSET else tuple(servers)
        stored.cwd, stored.additional_directories = roots.scope.cwd, roots.scope.additional
        self._is_opening, self._early = True, []
        try:
            yield
        except BaseException:
            self.root_set, self.mcp_servers, stored.cwd, stored.additional_directories = before
            self._is_opening = False
            roots.close()
            if self.root_set is not None:
                await self._release()
                await self._save_between_turns()
            raise
        if before[0] is not None:
            before[0].close()

    def end_calls(self) -> None:
        """End the tool calls that the session was forked with."""
        self._end_calls({getattr(one, "tool_call_id", "") for one in self._stored.history})

    def agreed(self) -> None:
        """Save from now on what is set: the request is granted."""
        self._is_opening = False

    def offer(self) -> dict[str, Any]:
        """The options and commands, as the fields of an answer. Updates that were kept back do not say them again."""
        self._drop_settings()
        stored = self._stored
        fields: dict[str, Sequence[Any]] = {
            "config_options": stored.config_options,
            "available_commands": stored.commands,
        }
        return {name: list(value) for name, value in fields.items() if value}

    def _drop_settings(self) -> None:
        if self._early is not None:
            settings = v2.ConfigOptionUpdate | v2.AvailableCommandsUpdate
            self._early = [one for one in self._early if not isinstance(one, settings)]

    async def opened(self, *, is_replayed: bool = False, is_new: bool = False) -> None:
        """Send the history where it is wanted, what was kept back, and what the session does now."""
        if not is_new:
            self._drop_settings()  # the answer is still to come
        if is_replayed:
            with suppress(ConnectionError):
                await self._replay()
        await self._release()
        if not is_new:
            with suppress(ConnectionError):
                await self._send_state(self._state)

    async def _replay(self) -> None:
        """Send the history and what terminals show. What is sent meanwhile follows."""
        history = list(self._stored.history)
        updates: list[v2.SessionUpdate] = [
            *history,
            *(v2.TerminalUpdate(terminal_id=id_, output=_shown(output)) for id_, output in self._outputs.items()),
        ]
        known, shown = {id(one) for one in history}, v2.TerminalUpdate | v2.TerminalOutputChunk
        self._early = [one for one in self._early or () if id(one) not in known and not isinstance(one, shown)]
        for update in updates:
            await self._deliver(update)

    async def _release(self) -> None:
        """Send what was kept back, in order."""
        with suppress(ConnectionError):  # nobody listens any more
            while self._early:
                await self._deliver(self._early.pop(0))
        self._early = None

    def stop(self) -> None:
        """Cancel the turn, and the prompts that wait for it."""
        self.queue.cancel()
        if self.work is not None:
            self.stopped.set()
            self._turn = None  # its state is its end

    async def close(self) -> None:
        """End all work, have it told and kept, and let the roots go."""
        self.stop()
        while self.work is not None:
            await asyncio.wait([self.work])
        await self._core.services.end(self.id)
        if self.root_set is not None:
            self.root_set.close()

    async def finish(self) -> None:
        """Have the store keep the session, and be of no use any more."""
        await self._save()
        self._is_closed = True

    # --- turns

    async def prompt(self, content: Sequence[v2.ContentBlock]) -> str:
        """Take a message in, once the turn before has ended, and begin with the work; the id of the message."""
        await self.queue.wait()
        turn = Turn(self, tuple(content), f"msg_{secrets.token_hex(8)}")
        self.stopped.clear()
        self.work = asyncio.create_task(self._work(turn))
        return turn.message_id

    async def _work(self, turn: Turn) -> None:
        """One turn. Only what the agent does can be stopped: the message and the end are always sent."""
        try:
            await self._begin(turn)
            await self._end(await self._reason(turn))
        except Exception:
            self.log.exception("a turn failed")
            try:
                await self._end(FAILED)
            except Exception:
                self.log.exception("the end of a turn was not sent")
        finally:
            self.work = None
            self.queue.finish()

    async def _begin(self, turn: Turn) -> None:
        """Keep and send what the user said."""
        self._calls, self._turn = set(), turn.message_id
        message = v2.UserMessage(message_id=turn.message_id, content=list(turn.prompt))
        self._keep(message)
        await self._save()
        with suppress(ConnectionError):  # nobody listens any more
            await self._send(message)
            await self._send_state("running")

    async def _reason(self, turn: Turn) -> dict[str, Any]:
        """Do what the agent does, and say why it ended. What goes on after its cancellation is left to itself after `grace` seconds."""
        if self.stopped.is_set():
            return CANCELLED
        running, stopping = asyncio.create_task(self._run(turn)), asyncio.create_task(self.stopped.wait())
        await asyncio.wait([running, stopping], return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if self.stopped.is_set():
            running.cancel()
            await asyncio.wait([running], timeout=self._core.grace)
            if not running.done():
                self.log.error("'on_prompt' goes on although it was cancelled; its turn has ended without it")
                self._core.left.add(running)
                running.add_done_callback(self._core.left.discard)
            elif not running.cancelled():
                running.exception()  # of no interest any more
            return CANCELLED
        if running.cancelling():
            return CANCELLED
        error = RuntimeError("cancelled from within") if running.cancelled() else running.exception()
        if isinstance(error, RequestError):
            return {"stopReason": "error", "error": error.as_json()}
        if error is not None:
            self.log.error("'on_prompt' failed", exc_info=error)
            return FAILED
        return {"stopReason": running.result()}

    async def _run(self, turn: Turn) -> str:
        reason: Any = await self._core.agent.on_prompt(turn)
        if reason is None:
            return STOP_REASONS[0]
        if not isinstance(reason, str) or not (reason in STOP_REASONS or reason.startswith("_")):
            raise ValueError(f"'on_prompt' returned {reason!r}, which is none of {', '.join(STOP_REASONS)}")
        return reason

    async def _end(self, reason: dict[str, Any]) -> None:
        """Send that the work has ended, and that its open tool calls have, where it was cancelled or failed."""
        self._turn, self._state = None, "idle"
        beside = {one.tool_call_id for one in self._background or () if isinstance(one, v2.BackgroundToolCall)}
        calls: Collection[str] = self._calls - beside if reason["stopReason"] in ("error", "cancelled") else ()
        updates = self._end_calls(calls, is_failed=reason["stopReason"] == "error")
        await self._save()
        with suppress(ConnectionError):
            for update in updates:
                await self._send(update)
            # the client may have cancelled before it was told of the end
            await self._send_state("idle", **(CANCELLED if self.stopped.is_set() else reason))

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
            self._keep(update.__replace__(output=_shown(output)))
        else:
            self._keep(update.__replace__(capabilities=None))
        await self._send(update)


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

    def __init__(self, agent: Agent, *, user: str | None = None, grace: float = 2.0) -> None:
        self.agent = agent
        self.user = user
        self.grace = grace
        self.left: set[asyncio.Task[str]] = set()
        self.sessions: dict[str, OpenSession] = {}
        self.services: Services = Machine(self)
        self._remote: ClientInterface | None = None
        self._peer: ClientConnection | None = None
        self._workspace = AgentWorkspace(advertised=agent.additional_directories, policy=agent.root_policy)
        self._background = Background()

    def connect(self, client: ClientInterface, services: Services) -> None:
        """Serve this client, which a codec stands for, and use its files and terminals."""
        self._remote, self.services = client, services

    @property
    def connection_to_client(self) -> ClientConnection:
        """What hooks are told of the connection."""
        if self._peer is None:
            raise RequestError(INVALID_REQUEST, "`initialize` must come first")
        return self._peer

    def roots(self, session_id: str) -> RootSet:
        """The roots that are in force. Raises `RequestError` -32602 for a session that is not open here."""
        found = self.sessions.get(session_id)
        if found is None or found.root_set is None:
            raise invalid_params("the session is not open; load or resume it", pointer="/sessionId")
        return found.root_set

    async def disconnected(self) -> None:
        """Close all sessions. The store has them."""
        await asyncio.gather(*(self._close(session) for session in tuple(self.sessions.values())))
        await self.services.close()

    # --- the beginning

    async def initialize(self, params: v2.InitializeRequest, /) -> v2.InitializeResponse:
        """Answer what the agent is and can do."""
        offered, form = self.services.capabilities(), params.capabilities.elicitation
        self._peer = ClientConnection(
            2 if self._remote is None else 1,
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
            self.user,
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
        await self._call(self.agent.on_authenticate(self.connection_to_client, params.method_id))
        return v2.LoginAuthResponse()

    async def auth_logout(self, params: v2.LogoutAuthRequest, /) -> v2.LogoutAuthResponse:  # noqa: ARG002
        """Log the user out."""
        await self._call(self.agent.on_logout(self.connection_to_client))
        self.connection_to_client.user = None
        return v2.LogoutAuthResponse()

    # --- the life of a session

    async def session_new(self, params: v2.NewSessionRequest, /) -> v2.NewSessionResponse:
        """Begin a session."""
        session = await self._begin(StoredSession("", ""), params, self._workspace.bind, self.agent.on_new_session)
        return v2.NewSessionResponse(session_id=session.id, **session.offer())

    async def session_fork(self, params: v2.ForkSessionRequest, /) -> v2.ForkSessionResponse:
        """Begin a session with the history of another, and the roots that are given."""
        source = self._own(params.session_id)
        before = await self._stored(params.session_id) if source is None else source.stored
        stored = await self._call(_copied(before), source)
        session = await self._begin(stored, params, self._workspace.fork, self.agent.on_fork_session)
        return v2.ForkSessionResponse(session_id=session.id, **session.offer())

    async def session_load(self, params: v2.LoadSessionRequest, /) -> v2.LoadSessionResponse:
        """Open a session again: the roots that are given are all that it has from now on. Its history is replayed."""
        session = await self._reopen(params, is_replayed=True)
        offer = session.offer()
        if offer.pop("available_commands", None):
            await session.set_commands(session.stored.commands)  # the answer has no place for them
        return v2.LoadSessionResponse(**offer)

    async def session_resume(self, params: v2.ResumeSessionRequest, /) -> v2.ResumeSessionResponse:
        """Open a session again, as `session_load`; the history is replayed where that is asked for. Raises `RequestError` -32602 for
        another place to begin at than the start.
        """
        start = params.replay_from
        if start is not None and not isinstance(start, v2.ReplayFromStart):
            raise invalid_params("this agent replays only from the start", pointer="/replayFrom")
        return v2.ResumeSessionResponse(**(await self._reopen(params, is_replayed=start is not None)).offer())

    async def session_list(self, params: v2.ListSessionsRequest, /) -> v2.ListSessionsResponse:
        """The sessions that pass the filters, newest first, in pages. Raises `RequestError` for a cursor that is none."""
        user = self.connection_to_client.user
        infos = {one.session_id: one for one in await self._call(self.agent.store.list(user))}
        infos |= {one.id: one.stored.info() for one in self.sessions.values() if one.stored.user == user}
        order = sorted(infos.values(), key=_place, reverse=True)
        found = self._workspace.filter_sessions(
            order, params, lambda one: parse_scope(one.cwd, one.additional_directories, flavour=None)
        )
        if params.cursor is not None:
            last = _cursor_place(params.cursor)
            found = [one for one in found if _place(one) < last]
        page = found[:PAGE]
        if not self.agent.additional_directories:
            page = [one.__replace__(additional_directories=UNSET) for one in page]
        more: dict[str, Any] = {"next_cursor": json.dumps(_place(page[-1]))} if len(found) > PAGE else {}
        return v2.ListSessionsResponse(sessions=page, **more)

    async def session_close(self, params: v2.CloseSessionRequest, /) -> v2.CloseSessionResponse:
        """Close a session: all work is cancelled, and its end sent. The session can be opened again."""
        async with self.agent.lock(params.session_id):
            if self._own(params.session_id) is not None:
                await self.give_up(params.session_id)
            else:
                await self._stored(params.session_id)
        return v2.CloseSessionResponse()

    async def session_delete(self, params: v2.DeleteSessionRequest, /) -> v2.DeleteSessionResponse:
        """Close a session and forget it. One that is not there is deleted already."""
        async with self.agent.lock(params.session_id):
            connection = self.connection_to_client
            found = await self._call(self.agent.store.load(params.session_id))
            if found is not None and found.user == connection.user:
                await self._call(self.agent.on_delete_session(connection, params.session_id))
                await self._close_elsewhere(params.session_id)
                await self.give_up(params.session_id)
                await self._call(self.agent.store.delete(params.session_id))
        return v2.DeleteSessionResponse()

    async def session_set_config_option(
        self, params: v2.SetSessionConfigOptionRequest, /
    ) -> v2.SetSessionConfigOptionResponse:
        """Set an option, or the mode. Raises `RequestError` -32602 for one that is not offered, or a value that it does not have."""
        session, value = await self._open(params.session_id), params.value
        session.options_with(params.config_id, value)
        mode = mode_option(session.stored.config_options)
        if mode is not None and params.config_id == mode.config_id:
            await self._call(self.agent.on_set_mode(session, str(value)), session)
        else:
            await self._call(self.agent.on_set_config_option(session, params.config_id, value), session)
        await session.replace_options(session.options_with(params.config_id, value))
        return v2.SetSessionConfigOptionResponse(config_options=list(session.stored.config_options))

    # --- turns

    async def session_prompt(self, params: v2.PromptRequest, /) -> v2.PromptResponse:
        """Take a message in, and begin with the work once the turn before it has ended. Cancelled while it waits, it is not taken in."""
        session = await self._open(params.session_id)
        _refuse(params.prompt, {"text", "resource_link", *self.agent.prompt_types}, "content", "/prompt")
        if self._remote is not None and session.work is not None and not session.stopped.is_set():
            raise invalid_params("the session is in a turn", pointer="/sessionId")  # version 1 has no prompts that wait
        return v2.PromptResponse(message_id=await session.prompt(params.prompt))

    async def session_cancel(self, params: v2.CancelSessionNotification, /) -> None:
        """Stop the turn, and the prompts that wait for it. Background work goes on."""
        session = self._own(params.session_id)
        if session is None or (session.work is None and not session.queue.is_waited_for):
            return
        session.stop()
        try:
            await self.agent.on_cancel(session)
        except Exception:
            session.log.exception("'on_cancel' failed")

    async def tool_call_cancel(self, params: v2.CancelToolCallRequest, /) -> v2.CancelToolCallResponse:
        """Have the agent stop a tool call. Raises `RequestError` -32602 for one that does not offer it, or has ended."""
        session, is_offered = await self._open(params.session_id), False
        for update in session.stored.history:
            if isinstance(update, v2.SessionToolCallUpdate) and update.tool_call_id == params.tool_call_id:
                if update.status in ENDED:
                    is_offered = False
                elif update.capabilities is not UNSET:
                    is_offered = update.capabilities is not None and update.capabilities.cancel is not None
        if not is_offered:
            raise invalid_params("the tool call cannot be stopped", pointer="/toolCallId")
        await self._call(self.agent.on_cancel_tool_call(session, params.tool_call_id), session)
        return v2.CancelToolCallResponse()

    async def terminal_cancel(self, params: v2.CancelTerminalRequest, /) -> v2.CancelTerminalResponse:
        """End a command that the client shows."""
        await self._open(params.session_id)
        await self.services.cancel_terminal(params.session_id, params.terminal_id)
        return v2.CancelTerminalResponse()

    async def extension_request(self, method: str, params: Any) -> Any:
        """See `Agent.on_extension_request`."""
        return await self._call(self.agent.on_extension_request(self.connection_to_client, method, params))

    async def extension_notification(self, method: str, params: Any) -> None:
        """See `Agent.on_extension_notification`."""
        await self.agent.on_extension_notification(self.connection_to_client, method, params)

    # --- the parts of these

    async def _begin(self, stored: StoredSession, params: P, bind: Callable[[P], RootSet], hook: Hook) -> OpenSession:
        """A new session of this connection."""
        stored.user = self.connection_to_client.user
        stored.id, stored.updated_at = f"sess_{secrets.token_hex(8)}", datetime.now(UTC).isoformat()
        session = OpenSession(self, stored)
        session.end_calls()
        await self._open_with(session, params, bind, hook)
        self._background.start(session.opened(is_new=True))
        return session

    async def _reopen(
        self, params: v2.LoadSessionRequest | v2.ResumeSessionRequest, *, is_replayed: bool
    ) -> OpenSession:
        """A session that is there, with the roots and MCP servers of a request."""
        session_id = params.session_id
        async with self.agent.lock(session_id):
            await self._close_elsewhere(session_id)
            session = self._own(session_id) or OpenSession(self, await self._stored(session_id))
            hook = self.agent.on_load_session if is_replayed else self.agent.on_resume_session
            await self._open_with(session, params, self._workspace.bind, hook)
            await session.opened(is_replayed=is_replayed)
        return session

    async def _open_with(self, session: OpenSession, params: P, bind: Callable[[P], RootSet], hook: Hook) -> None:
        """Give a session the roots and MCP servers of a request, if the agent agrees."""
        servers = () if params.mcp_servers is UNSET else params.mcp_servers
        _refuse(servers, self.agent.mcp_transports, "MCP server", "/mcpServers")
        roots = _bound(bind, params)
        is_new = session.id not in self.sessions
        async with session.opening(roots, servers):
            self.sessions[session.id] = session
            try:
                await self._call(hook(session), session)
                session.agreed()
                await self._call(self.agent.store.save(session.stored), session)
            except BaseException:
                if is_new:
                    del self.sessions[session.id]
                raise
        self.agent.holders[session.id] = self
        self._workspace.activate(session.id, roots)

    async def give_up(self, session_id: str) -> None:
        """Close a session, since another connection opens it or the client is done with it."""
        session = self.sessions.get(session_id)
        if session is not None:
            await self._close(session)

    async def _close_elsewhere(self, session_id: str) -> None:
        """Close a session that another connection of the agent holds."""
        holder = self.agent.holders.get(session_id)
        if holder is not None and holder is not self:
            await self._stored(session_id)  # may this user have it?
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
        """A session of the store that is the user's. Raises `RequestError` -32002."""
        found = await self._call(self.agent.store.load(session_id))
        if found is None or found.user != self.connection_to_client.user:
            raise RequestError(NOT_FOUND, "there is no such session", {"sessionId": session_id})
        return found

    def _own(self, session_id: str) -> OpenSession | None:
        """A session that this connection holds, and that is the user's."""
        found = self.sessions.get(session_id)
        return None if found is None or found.stored.user != self.connection_to_client.user else found

    async def _open(self, session_id: str) -> OpenSession:
        """A session that is open here. Raises `RequestError`: -32002 where there is none, -32602 where it is not open."""
        found = self._own(session_id)
        if found is None or found.closing is not None:
            await self._stored(session_id)
            raise invalid_params("the session is not open; load or resume it", pointer="/sessionId")
        return found

    async def _call(self, work: Coroutine[Any, Any, T], session: Session | None = None) -> T:
        """What the author's code returns. What it raises beside `RequestError` is logged, and answered as an internal error."""
        try:
            return await work
        except RequestError:
            raise
        except Exception as error:
            (LOG if session is None else session.log).error(
                "'%s' failed", getattr(work, "__name__", "a method"), exc_info=error
            )
            raise RequestError(INTERNAL_ERROR, "internal error") from error


def _refuse(items: Sequence[Any], allowed: Collection[str], what: str, pointer: str) -> None:
    """Raise `RequestError` -32602 for what is of a type that is not allowed."""
    for index, item in enumerate(items):
        type_ = item.tag if isinstance(item, Unknown) else item.type
        if type_ not in allowed:
            raise invalid_params(f"this agent takes no {what} of the type {type_!r}", pointer=f"{pointer}/{index}")


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


def _place(info: v2.SessionInfo) -> tuple[str, str]:
    """The place of a session in a list, of which the newest is the last."""
    return info.updated_at or "", info.session_id


def _cursor_place(cursor: str) -> tuple[str, str]:
    """The place that a cursor stands for. Raises `RequestError` -32602."""
    try:
        match json.loads(cursor):
            case [str(updated_at), str(session_id)]:
                return updated_at, session_id
            case _:
                pass
    except (ValueError, RecursionError):
        pass
    raise invalid_params("the cursor was not issued by this agent", pointer="/cursor")


def _shown(output: Tail) -> v2.TerminalOutput:
    return v2.TerminalOutput(data=base64.b64encode(output.text.encode()).decode())
