"""The agent's half of a connection, in the terms of version 2: the sessions that the connection holds, their lifecycle and their turns.

An `AgentCore` serves a client of version 2 as it is, and one of version 1 behind the codec. A prompt is answered when it has its place in
the conversation: at once, or after the turn before it. A lifecycle request that fails leaves everything as it was.

Sources: the pages of v2 on session setup, session list, session delete, prompts, cancellation; the RFDs on `additionalDirectories` and on
required session methods.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Collection, Coroutine, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias, TypeVar

from acp_bindings import UNSET, RequestError, Unknown, v2
from acp_bindings.v2 import peers

from acp_workspace.errors import INVALID_PARAMS, NOT_FOUND, REFUSED, invalid_params
from acp_workspace.scope import parse_scope
from acp_workspace.workspace import AgentWorkspace, RootSet
from jsonrpc_bindings.errors import INVALID_REQUEST
from jsonrpc_bindings.failures import INTERNAL

from .agent import Agent
from .background import Background
from .codec.relay import LocalCalls
from .errors import answer_to_hook
from .log import LOG
from .modes import mode_option, with_value
from .services import Local, LocalServices, Services
from .session import ClientCapabilities, ClientConnection, Session
from .store import StoredSession
from .transcript import FINAL_STATUSES, MAX_OUTPUT
from .turn import Turn

PAGE_SIZE: Final = 100
"""Sessions on a page of `session/list`."""

T = TypeVar("T")


R = TypeVar("R", v2.LoadSessionRequest, v2.ResumeSessionRequest)
P = TypeVar("P", v2.NewSessionRequest, v2.LoadSessionRequest, v2.ResumeSessionRequest, v2.ForkSessionRequest)
Hook: TypeAlias = "Callable[[Session], Coroutine[Any, Any, None]]"


class AgentCore(peers.Agent):
    """Serves an `Agent` on one connection."""

    def __init__(self, agent: Agent, *, user: str | None = None, grace: float = 2.0) -> None:
        self.agent = agent
        self.user = user
        self.grace = grace
        self.sessions: dict[str, Session] = {}
        self.services: Services = LocalServices(Local(), self._show_terminal, self)
        self._local = self.services
        self._remote: peers.RemoteClient | None = None
        self._peer: ClientConnection | None = None
        self._workspace = AgentWorkspace(advertised=agent.additional_directories, policy=agent.root_policy)
        self._background = Background()
        self._is_used = False

    async def serve(self, method: str, params: Any) -> Any:
        """See `Side`. A client of version 2 may repeat `initialize` until its first other request (schema of v2, `InitializeRequest`)."""
        if method != "initialize":
            self._is_used = True
        elif self._peer is not None and (self._is_used or self._remote is not None):
            raise RequestError(INVALID_REQUEST, "`initialize` was answered already: a connection is initialized once")
        return await super().serve(method, params)

    async def _show_terminal(self, session_id: str, update: Any) -> None:
        session = self.sessions.get(session_id)
        if session is not None:
            terminal = (
                None if self._local.commands is None else self._local.commands.find(session_id, update["terminalId"])
            )
            limit = MAX_OUTPUT if terminal is None else min(terminal.limit, MAX_OUTPUT)
            await session.show_terminal(v2.decode_as(v2.SessionUpdate, update), limit)

    def connect(self, client: peers.Client, services: Services) -> None:
        """Serve this client, which a codec stands for, and use its files and terminals."""
        calls: Any = LocalCalls(client)
        self._remote, self.services = peers.RemoteClient(calls), services

    @property
    def connection_to_client(self) -> ClientConnection:
        """The connection, as hooks get it."""
        if self._peer is None:
            raise RequestError(INVALID_REQUEST, "`initialize` must come first")
        return self._peer

    def roots(self, session_id: str) -> RootSet:
        """The roots that are in force. Raises `RequestError` -32602 for a session that is not open here."""
        found = self.sessions.get(session_id)
        if found is None or found.root_set is None:
            raise invalid_params("the session is not open; load or resume it", "/sessionId")
        return found.root_set

    async def disconnected(self) -> None:
        """Close all sessions. The store has them."""
        await asyncio.gather(*(self._close(session) for session in tuple(self.sessions.values())))
        await self.services.close()

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
            raise invalid_params("the agent has no such method", "/methodId")
        await self._call(self.agent.on_authenticate(self.connection_to_client, params.method_id))
        return v2.LoginAuthResponse()

    async def auth_logout(self, params: v2.LogoutAuthRequest, /) -> v2.LogoutAuthResponse:  # noqa: ARG002
        """Log the user out."""
        await self._call(self.agent.on_logout(self.connection_to_client))
        self.connection_to_client.user = None
        return v2.LogoutAuthResponse()

    async def session_new(self, params: v2.NewSessionRequest, /) -> v2.NewSessionResponse:
        """Begin a session."""
        session = await self._begin(StoredSession("", ""), params, self._workspace.bind, self.agent.on_new_session)
        return v2.NewSessionResponse(session_id=session.id, **session.offer())

    async def session_fork(self, params: v2.ForkSessionRequest, /) -> v2.ForkSessionResponse:
        """Begin a session with the history of another, and the roots that are given."""
        source = self._find(params.session_id)
        before = await self._load(params.session_id) if source is None else source.stored
        stored = await self._call(_copy(before), source)
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
            raise invalid_params("this agent replays only from the start", "/replayFrom")
        return v2.ResumeSessionResponse(**(await self._reopen(params, is_replayed=start is not None)).offer())

    async def session_list(self, params: v2.ListSessionsRequest, /) -> v2.ListSessionsResponse:
        """The sessions that pass the filters, newest first, in pages. Raises `RequestError` for a cursor that is none."""
        user = self.connection_to_client.user
        infos = {one.session_id: one for one in await self._call(self.agent.store.list(user))}
        infos |= {one.id: one.stored.info() for one in self.sessions.values() if one.stored.user == user}
        order = sorted(infos.values(), key=_sort_key, reverse=True)
        found = self._workspace.filter_sessions(
            order, params, lambda one: parse_scope(one.cwd, one.additional_directories, flavour=None)
        )
        if params.cursor is not None:
            last = _parse_cursor(params.cursor)
            found = [one for one in found if _sort_key(one) < last]
        page = found[:PAGE_SIZE]
        if not self.agent.additional_directories:
            page = [one.__replace__(additional_directories=UNSET) for one in page]
        more: dict[str, Any] = {"next_cursor": json.dumps(_sort_key(page[-1]))} if len(found) > PAGE_SIZE else {}
        return v2.ListSessionsResponse(sessions=page, **more)

    async def session_close(self, params: v2.CloseSessionRequest, /) -> v2.CloseSessionResponse:
        """Close a session: all work is cancelled, and its end sent. The session can be opened again."""
        async with self.agent.lock(params.session_id):
            if self._find(params.session_id) is not None:
                await self.release_session(params.session_id)
            else:
                await self._load(params.session_id)
        return v2.CloseSessionResponse()

    async def session_delete(self, params: v2.DeleteSessionRequest, /) -> v2.DeleteSessionResponse:
        """Close a session and forget it. One that is not there is deleted already."""
        async with self.agent.lock(params.session_id):
            connection, store = self.connection_to_client, self.agent.store
            found = await self._call(store.load(params.session_id))
            if found is not None and found.user == connection.user:
                session = self.sessions.get(found.id) or Session(found, connection, store, is_closed=True)
                await self._call(self.agent.on_delete_session(session), session)
                await self._close_elsewhere(params.session_id)
                await self.release_session(params.session_id)
                await self._call(store.delete(params.session_id))
        return v2.DeleteSessionResponse()

    async def session_set_config_option(
        self, params: v2.SetSessionConfigOptionRequest, /
    ) -> v2.SetSessionConfigOptionResponse:
        """Set an option, or the mode. Raises `RequestError` -32602 for one that is not offered, or a value that it does not have."""
        session, value = await self._require_open(params.session_id), params.value
        _options_with(session, params.config_id, value)
        mode = mode_option(session.stored.config_options)
        if mode is not None and params.config_id == mode.config_id:
            await self._call(self.agent.on_set_mode(session, str(value)), session)
        else:
            await self._call(self.agent.on_set_config_option(session, params.config_id, value), session)
        await session.replace_options(_options_with(session, params.config_id, value))
        return v2.SetSessionConfigOptionResponse(config_options=list(session.stored.config_options))

    async def session_prompt(self, params: v2.PromptRequest, /) -> v2.PromptResponse:
        """Take a message in, and begin with the work once the turn before it has ended. Cancelled while it waits, it is not taken in."""
        session = await self._require_open(params.session_id)
        _require_types(params.prompt, {"text", "resource_link", *self.agent.prompt_types}, "content", "/prompt")
        if self._remote is not None and session.work is not None and not session.is_stopped:
            raise invalid_params("the session is in a turn", "/sessionId")  # version 1 has no prompts that wait

        async def work(message_id: str) -> object:
            return await self.agent.on_prompt(Turn(session, tuple(params.prompt), message_id))

        return v2.PromptResponse(message_id=await session.prompt(params.prompt, work, self.grace))

    async def session_cancel(self, params: v2.CancelSessionNotification, /) -> None:
        """Stop the turn, and the prompts that wait for it. Background work goes on."""
        session = self._find(params.session_id)
        if session is None or (session.work is None and not session.queue.is_waited_for):
            return
        session.stop()
        try:
            await self.agent.on_cancel(session)
        except Exception:
            session.log.exception("'on_cancel' failed")

    async def tool_call_cancel(self, params: v2.CancelToolCallRequest, /) -> v2.CancelToolCallResponse:
        """Have the agent stop a tool call. Raises `RequestError` -32602 for one that does not offer it, or has ended."""
        session, is_offered = await self._require_open(params.session_id), False
        for update in session.stored.history:
            if isinstance(update, v2.SessionToolCallUpdate) and update.tool_call_id == params.tool_call_id:
                if update.status in FINAL_STATUSES:
                    is_offered = False
                elif update.capabilities is not UNSET:
                    is_offered = update.capabilities is not None and update.capabilities.cancel is not None
        if not is_offered:
            raise invalid_params("the tool call cannot be stopped", "/toolCallId")
        await self._call(self.agent.on_cancel_tool_call(session, params.tool_call_id), session)
        return v2.CancelToolCallResponse()

    async def terminal_cancel(self, params: v2.CancelTerminalRequest, /) -> v2.CancelTerminalResponse:
        """End a command that the client shows."""
        await self._require_open(params.session_id)
        await self.services.cancel_terminal(params.session_id, params.terminal_id)
        return v2.CancelTerminalResponse()

    async def extension_request(self, method: str, params: Any) -> Any:
        """See `Agent.on_extension_request`."""
        return await self._call(self.agent.on_extension_request(self.connection_to_client, method, params))

    async def extension_notification(self, method: str, params: Any) -> None:
        """See `Agent.on_extension_notification`."""
        await self.agent.on_extension_notification(self.connection_to_client, method, params)

    async def _begin(self, stored: StoredSession, params: P, bind: Callable[[P], RootSet], hook: Hook) -> Session:
        """A new session of this connection."""
        stored.user = self.connection_to_client.user
        stored.id, stored.updated_at = f"sess_{secrets.token_hex(8)}", datetime.now(UTC).isoformat()
        session = Session(stored, self.connection_to_client, self.agent.store)
        session.end_calls()
        await self._open_with(session, params, bind, hook)
        self._background.start(session.finish_opening(is_new=True))
        return session

    async def _reopen(self, params: R, *, is_replayed: bool) -> Session:
        """A session that is there, with the roots and MCP servers of a request."""
        session_id = params.session_id
        async with self.agent.lock(session_id):
            await self._close_elsewhere(session_id)
            session = self._find(session_id) or Session(
                await self._load(session_id), self.connection_to_client, self.agent.store
            )
            hook = self.agent.on_load_session if is_replayed else self.agent.on_resume_session
            await self._open_with(session, params, self._workspace.bind, hook)
            await session.finish_opening(is_replayed=is_replayed)
        return session

    async def _open_with(self, session: Session, params: P, bind: Callable[[P], RootSet], hook: Hook) -> None:
        """Give a session the roots and MCP servers of a request, if the agent agrees."""
        servers = () if params.mcp_servers is UNSET else params.mcp_servers
        _require_types(servers, self.agent.mcp_transports, "MCP server", "/mcpServers")
        roots = _bind_roots(bind, params)
        is_new = session.id not in self.sessions
        async with session.open(roots, servers):
            self.sessions[session.id] = session
            try:
                await self._call(hook(session), session)
                await self._call(session.save(), session)
            except BaseException:
                if is_new:
                    del self.sessions[session.id]
                raise
        self.agent.owners[session.id] = self

    async def release_session(self, session_id: str) -> None:
        """Close a session, since another connection opens it or the client is done with it."""
        session = self.sessions.get(session_id)
        if session is not None:
            await self._close(session)

    async def _close_elsewhere(self, session_id: str) -> None:
        """Close a session that another connection of the agent holds."""
        holder = self.agent.owners.get(session_id)
        if holder is not None and holder is not self:
            await self._load(session_id)  # may this user have it?
            await holder.release_session(session_id)

    async def _close(self, session: Session) -> None:
        """Close a session; once, whoever asks for it."""
        if session.closing is None:
            session.closing = asyncio.create_task(self._do_close(session))
        await asyncio.wait([session.closing])

    async def _do_close(self, session: Session) -> None:
        await session.end_work()
        try:
            await self.agent.on_close_session(session)
        except Exception:
            session.log.exception("'on_close_session' failed")
        await session.close()
        del self.sessions[session.id]
        if self.agent.owners.get(session.id) is self:
            del self.agent.owners[session.id]

    async def _load(self, session_id: str) -> StoredSession:
        """A session of the store that is the user's. Raises `RequestError` -32002."""
        found = await self._call(self.agent.store.load(session_id))
        if found is None or found.user != self.connection_to_client.user:
            raise RequestError(NOT_FOUND, "there is no such session", {"sessionId": session_id})
        return found

    def _find(self, session_id: str) -> Session | None:
        """A session that this connection holds, and that is the user's."""
        found = self.sessions.get(session_id)
        return None if found is None or found.stored.user != self.connection_to_client.user else found

    async def _require_open(self, session_id: str) -> Session:
        """A session that is open here. Raises `RequestError`: -32002 where there is none, -32602 where it is not open."""
        found = self._find(session_id)
        if found is None or found.closing is not None:
            await self._load(session_id)
            raise invalid_params("the session is not open; load or resume it", "/sessionId")
        return found

    async def _call(self, work: Coroutine[Any, Any, T], session: Session | None = None) -> T:
        """What the author's code returns. What it raises beside `RequestError` is logged, and answered as an internal error."""
        try:
            return await work
        except Exception as error:
            if (found := answer_to_hook(error)) is not None:
                raise found from error
            (LOG if session is None else session.log).error(
                "'%s' failed", getattr(work, "__name__", "a method"), exc_info=error
            )
            raise INTERNAL from error


def _require_types(items: Sequence[Any], allowed: Collection[str], what: str, pointer: str) -> None:
    """Raise `RequestError` -32602 for what is of a type that is not allowed."""
    for index, item in enumerate(items):
        type_ = item.tag if isinstance(item, Unknown) else item.type
        if type_ not in allowed:
            raise invalid_params(f"this agent takes no {what} of the type {type_!r}", f"{pointer}/{index}")


def _bind_roots(bind: Callable[[P], RootSet], params: P) -> RootSet:
    """The roots that a request asks for, all of them. Raises `RequestError` -32602 where one is refused."""
    try:
        return bind(params)
    except RequestError as error:
        if error.code != REFUSED:
            raise
        raise RequestError(INVALID_PARAMS, error.message, error.data) from None


def _options_with(session: Session, config_id: str, value: object) -> list[v2.SessionConfigOption]:
    """The options of a session once one of them has this value. Raises `RequestError` -32602."""
    try:
        return with_value(session.stored.config_options, config_id, value)
    except ValueError as error:
        raise invalid_params(str(error)) from None


async def _copy(stored: StoredSession) -> StoredSession:
    return stored.copy()


def _sort_key(info: v2.SessionInfo) -> tuple[str, str]:
    """The place of a session in a list, of which the newest is the last."""
    return info.updated_at or "", info.session_id


def _parse_cursor(cursor: str) -> tuple[str, str]:
    """The place that a cursor stands for. Raises `RequestError` -32602."""
    try:
        match json.loads(cursor):
            case [str(updated_at), str(session_id)]:
                return updated_at, session_id
            case _:
                pass
    except (ValueError, RecursionError):
        pass
    raise invalid_params("the cursor was not issued by this agent", "/cursor")
