"""The agent's side of a connection, in the types of version 2: its sessions, their lifecycle and their turns.

An `AgentCore` serves a client of version 2 directly, and one of version 1 behind the codec. The response to a prompt is sent when the
prompt has its place in the conversation: at once, or after the turn before it. A lifecycle request that fails changes nothing.

Sources: the pages of v2 on session setup, session list, session delete, prompts, cancellation; the RFDs on `additionalDirectories` and
on required session methods.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Callable, Collection, Coroutine, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias, TypeVar

from acp_bindings import UNSET, RequestError, Unknown, v2
from acp_bindings.v2 import peers

from acp_workspace.errors import INVALID_PARAMS, NOT_FOUND, REFUSED, make_invalid_params
from acp_workspace.scope import parse_scope
from acp_workspace.workspace import AgentWorkspace, RootSet
from jsonrpc_bindings.errors import INVALID_REQUEST
from jsonrpc_bindings.failures import INTERNAL

from .agent import Agent
from .background import UNATTENDED
from .codec.relay import LocalCalls
from .codec.to_v2 import UNKNOWN_INFO
from .errors import answer_to_hook
from .log import LOG, SessionLog
from .modes import find_mode_option, with_value
from .services import Local, LocalServices, Services
from .session import ClientCapabilities, ClientConnection, Session
from .store import StoredSession
from .transcript import FINAL_STATUSES, MAX_OUTPUT
from .turn import Turn

PAGE_SIZE: Final = 100
"""The number of sessions on a page of `session/list`."""

T = TypeVar("T")

ReopenRequest: TypeAlias = "v2.LoadSessionRequest | v2.ResumeSessionRequest"
OpenRequest: TypeAlias = "v2.NewSessionRequest | v2.ForkSessionRequest | ReopenRequest"
Hook: TypeAlias = "Callable[[Session], Coroutine[Any, Any, None]]"


class AgentCore(peers.Agent):
    """Serves an `Agent` on one connection, whose first message is `initialize`. `peer` is the connection that is passed to hooks."""

    peer: ClientConnection

    def __init__(self, agent: Agent, *, user: str | None = None, grace: float = 2.0) -> None:
        self.agent = agent
        self.user = user
        self.grace = grace
        self.sessions: dict[str, Session] = {}
        self.services: Services = LocalServices(Local(files=agent.files), self._show_terminal, self)
        self._local = self.services
        self._remote: peers.RemoteClient | None = None
        self._workspace = AgentWorkspace(advertised=agent.additional_directories, policy=agent.root_policy)
        self._is_initialized = self._is_used = False

    async def serve(self, method: str, params: Any) -> Any:
        """Serve a request or notification, see `Side`.

        A client of version 2 may repeat `initialize` until its first other request (schema of v2, `InitializeRequest`).
        """
        if method != "initialize":
            self._is_used = True
        elif self._is_initialized and (self._is_used or self._remote is not None):
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
        """Serve this client, which a codec represents, and use its files and terminals."""
        calls: Any = LocalCalls(client)
        self._remote, self.services = peers.RemoteClient(calls), services

    def roots(self, session_id: str) -> RootSet:
        """The roots in force. Raises `RequestError` -32602 for a session that is not open here."""
        session = self.sessions.get(session_id)
        if session is None or session.root_set is None:
            raise make_invalid_params("the session is not open; load or resume it", "/sessionId")
        return session.root_set

    async def disconnected(self) -> None:
        """Close all sessions. They stay in the store."""
        await asyncio.gather(*map(self.release_session, tuple(self.sessions)))
        await self.services.close()

    async def initialize(self, params: v2.InitializeRequest, /) -> v2.InitializeResponse:
        """Respond with the identity and capabilities of the agent."""
        client_capabilities, form = self.services.capabilities(), params.capabilities.elicitation
        self._is_initialized = True
        self.peer = ClientConnection(
            2 if self._remote is None else 1,
            self._remote or self.client,
            self.services,
            None if params.info == v2.Implementation(**UNKNOWN_INFO) else params.info,
            ClientCapabilities(
                read_text_file=client_capabilities.fs.read_text_file,
                write_text_file=client_capabilities.fs.write_text_file,
                run_command=client_capabilities.terminal,
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
        ids = [method.method_id for method in self.agent.auth_methods if not isinstance(method, v2.AuthMethodTerminal)]
        if params.method_id not in ids:
            raise make_invalid_params("the agent has no such method", "/methodId")
        await self._call(self.agent.on_authenticate(self.peer, params.method_id))
        return v2.LoginAuthResponse()

    async def auth_logout(self, params: v2.LogoutAuthRequest, /) -> v2.LogoutAuthResponse:  # noqa: ARG002
        """Log the user out."""
        await self._call(self.agent.on_logout(self.peer))
        self.peer.user = None
        return v2.LogoutAuthResponse()

    async def session_new(self, params: v2.NewSessionRequest, /) -> v2.NewSessionResponse:
        """Begin a session."""
        session = await self._begin(StoredSession("", ""), params, self.agent.on_new_session)
        return v2.NewSessionResponse(session_id=session.id, **session.offer())

    async def session_fork(self, params: v2.ForkSessionRequest, /) -> v2.ForkSessionResponse:
        """Begin a session with the history of another and the roots of the request."""
        source = self._find(params.session_id)
        before = await self._load(params.session_id) if source is None else source.stored
        record = await self._call(_copy(before), source)
        session = await self._begin(record, params, self.agent.on_fork_session)
        return v2.ForkSessionResponse(session_id=session.id, **session.offer())

    async def session_load(self, params: v2.LoadSessionRequest, /) -> v2.LoadSessionResponse:
        """Open a session again and replay its history. The roots of the request replace those that it had."""
        session = await self._reopen(params, is_replayed=True)
        offer = session.offer()
        if offer.pop("available_commands", None):
            await session.set_commands(session.stored.commands)  # the answer has no place for them
        return v2.LoadSessionResponse(**offer)

    async def session_resume(self, params: v2.ResumeSessionRequest, /) -> v2.ResumeSessionResponse:
        """Open a session again like `session_load`; the history is replayed only on request.

        Raises `RequestError` -32602 for a replay that does not begin at the start.
        """
        start = params.replay_from
        if start is not None and not isinstance(start, v2.ReplayFromStart):
            raise make_invalid_params("this agent replays only from the start", "/replayFrom")
        return v2.ResumeSessionResponse(**(await self._reopen(params, is_replayed=start is not None)).offer())

    async def session_list(self, params: v2.ListSessionsRequest, /) -> v2.ListSessionsResponse:
        """List the sessions that pass the filters, newest first, in pages. Raises `RequestError` for an invalid cursor."""
        user = self.peer.user
        infos = {info.session_id: info for info in await self._call(self.agent.store.list(user))}
        infos |= {
            session.id: session.stored.info() for session in self.sessions.values() if session.stored.user == user
        }
        order = sorted(infos.values(), key=_sort_key, reverse=True)
        matches = self._workspace.filter_sessions(
            order, params, lambda info: parse_scope(info.cwd, info.additional_directories, flavour=None)
        )
        if params.cursor is not None:
            last_key = _parse_cursor(params.cursor)
            matches = [info for info in matches if _sort_key(info) < last_key]
        page = matches[:PAGE_SIZE]
        if not self.agent.additional_directories:
            page = [info.__replace__(additional_directories=UNSET) for info in page]
        next_page: dict[str, Any] = {"next_cursor": json.dumps(_sort_key(page[-1]))} if len(matches) > PAGE_SIZE else {}
        return v2.ListSessionsResponse(sessions=page, **next_page)

    async def session_close(self, params: v2.CloseSessionRequest, /) -> v2.CloseSessionResponse:
        """Close a session: cancel all work, and send its end. The session can be opened again."""
        async with self.agent.lock(params.session_id):
            if self._find(params.session_id) is not None:
                await self.release_session(params.session_id)
            else:
                await self._load(params.session_id)
        return v2.CloseSessionResponse()

    async def session_delete(self, params: v2.DeleteSessionRequest, /) -> v2.DeleteSessionResponse:
        """Close a session and delete it. A session that does not exist counts as deleted."""
        async with self.agent.lock(params.session_id):
            connection, store = self.peer, self.agent.store
            record = await self._call(store.load(params.session_id))
            if record is not None and record.user == connection.user:
                session = self.sessions.get(record.id) or Session(record, connection, store, is_closed=True)
                await self._call(self.agent.on_delete_session(session), session)
                await self._close_elsewhere(params.session_id)
                await self.release_session(params.session_id)
                await self._call(store.delete(params.session_id))
        return v2.DeleteSessionResponse()

    async def session_set_config_option(
        self, params: v2.SetSessionConfigOptionRequest, /
    ) -> v2.SetSessionConfigOptionResponse:
        """Set an option, or the mode. Raises `RequestError` -32602 for an unknown option or value."""
        session, value = await self._require_open(params.session_id), params.value
        _replace_option(session, params.config_id, value)
        mode = find_mode_option(session.stored.config_options)
        if mode is not None and params.config_id == mode.config_id:
            await self._call(self.agent.on_set_mode(session, str(value)), session)
        else:
            await self._call(self.agent.on_set_config_option(session, params.config_id, value), session)
        await session.replace_options(_replace_option(session, params.config_id, value))
        return v2.SetSessionConfigOptionResponse(config_options=list(session.stored.config_options))

    async def session_prompt(self, params: v2.PromptRequest, /) -> v2.PromptResponse:
        """Accept a prompt, and begin its turn once the turn before it has ended.

        A prompt that is cancelled while it waits is not accepted.
        """
        session = await self._require_open(params.session_id)
        _require_types(params.prompt, {"text", "resource_link", *self.agent.prompt_types}, "content", "/prompt")
        if self._remote is not None and session.work is not None and not session.is_stopped:
            raise make_invalid_params("the session is in a turn", "/sessionId")  # version 1 has no prompts that wait

        async def work(message_id: str) -> object:
            return await self.agent.on_prompt(Turn(session, tuple(params.prompt), message_id))

        return v2.PromptResponse(message_id=await session.prompt(params.prompt, work, self.grace))

    async def session_cancel(self, params: v2.CancelSessionNotification, /) -> None:
        """Cancel the turn and the prompts that wait for it. Background work continues."""
        session = self._find(params.session_id)
        if session is None or (session.work is None and not session.queue.waiting):
            return
        session.stop()
        await self._attempt(session.log, self.agent.on_cancel, session)

    async def tool_call_cancel(self, params: v2.CancelToolCallRequest, /) -> v2.CancelToolCallResponse:
        """Stop a tool call. Raises `RequestError` -32602 if the tool call does not advertise this, or has ended."""
        session, is_offered = await self._require_open(params.session_id), False
        for update in session.stored.history:
            if isinstance(update, v2.SessionToolCallUpdate) and update.tool_call_id == params.tool_call_id:
                if update.status in FINAL_STATUSES:
                    is_offered = False
                elif update.capabilities is not UNSET:
                    is_offered = update.capabilities is not None and update.capabilities.cancel is not None
        if not is_offered:
            raise make_invalid_params("the tool call cannot be stopped", "/toolCallId")
        await self._call(self.agent.on_cancel_tool_call(session, params.tool_call_id), session)
        return v2.CancelToolCallResponse()

    async def terminal_cancel(self, params: v2.CancelTerminalRequest, /) -> v2.CancelTerminalResponse:
        """Kill a command that the client shows."""
        await self._require_open(params.session_id)
        await self.services.cancel_terminal(params.session_id, params.terminal_id)
        return v2.CancelTerminalResponse()

    async def extension_request(self, method: str, params: Any) -> Any:
        """See `Agent.on_extension_request`."""
        return await self._call(self.agent.on_extension_request(self.peer, method, params))

    async def extension_notification(self, method: str, params: Any) -> None:
        """See `Agent.on_extension_notification`."""
        await self._attempt(LOG, self.agent.on_extension_notification, self.peer, method, params)

    async def _begin(self, record: StoredSession, params: OpenRequest, hook: Hook) -> Session:
        """Begin a new session on this connection."""
        record.user = self.peer.user
        record.id, record.updated_at = f"sess_{secrets.token_hex(8)}", datetime.now(UTC).isoformat()
        session = Session(record, self.peer, self.agent.store)
        session.end_calls()
        await self._open_with(session, params, hook)
        UNATTENDED.start(session.finish_opening(is_new=True))
        return session

    async def _reopen(self, params: ReopenRequest, *, is_replayed: bool) -> Session:
        """Open an existing session with the roots and MCP servers of a request."""
        session_id = params.session_id
        async with self.agent.lock(session_id):
            await self._close_elsewhere(session_id)
            session = self._find(session_id) or Session(await self._load(session_id), self.peer, self.agent.store)
            hook = self.agent.on_load_session if is_replayed else self.agent.on_resume_session
            await self._open_with(session, params, hook)
            await session.finish_opening(is_replayed=is_replayed)
        return session

    async def _open_with(self, session: Session, params: OpenRequest, hook: Hook) -> None:
        """Give a session the roots and MCP servers of a request, unless the agent's hook raises."""
        servers = () if params.mcp_servers is UNSET else params.mcp_servers
        _require_types(servers, self.agent.mcp_transports, "MCP server", "/mcpServers")
        roots = self._bind_roots(params)
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

    def _bind_roots(self, params: OpenRequest) -> RootSet:
        """Bind all roots of a request. Raises `RequestError` -32602 if one is refused."""
        try:
            return self._workspace.bind(params)
        except RequestError as error:
            if error.code != REFUSED:
                raise
            raise RequestError(INVALID_PARAMS, error.message, error.data) from None

    async def release_session(self, session_id: str) -> None:
        """Close a session, only once however many callers ask for it."""
        session = self.sessions.get(session_id)
        if session is not None:
            session.closing = session.closing or asyncio.create_task(self._close(session))
            await asyncio.wait([session.closing])

    async def _close_elsewhere(self, session_id: str) -> None:
        """Close a session that another connection of the agent holds."""
        holder = self.agent.owners.get(session_id)
        if holder is not None and holder is not self:
            await self._load(session_id)  # may this user have it?
            await holder.release_session(session_id)

    async def _close(self, session: Session) -> None:
        await session.end_work()
        await self._attempt(session.log, self.agent.on_close_session, session)
        await session.close()
        del self.sessions[session.id]
        if self.agent.owners.get(session.id) is self:
            del self.agent.owners[session.id]

    async def _load(self, session_id: str) -> StoredSession:
        """Load a session of this user from the store. Raises `RequestError` -32002."""
        record = await self._call(self.agent.store.load(session_id))
        if record is None or record.user != self.peer.user:
            raise RequestError(NOT_FOUND, "there is no such session", {"sessionId": session_id})
        return record

    def _find(self, session_id: str) -> Session | None:
        """The session that this connection holds and that belongs to this user; `None` if there is none."""
        session = self.sessions.get(session_id)
        return None if session is None or session.stored.user != self.peer.user else session

    async def _require_open(self, session_id: str) -> Session:
        """The session that is open here. Raises `RequestError`: -32002 if it does not exist, -32602 if it is not open."""
        session = self._find(session_id)
        if session is None or session.closing is not None:
            await self._load(session_id)
            raise make_invalid_params("the session is not open; load or resume it", "/sessionId")
        return session

    async def _attempt(
        self, log: logging.Logger | SessionLog, hook: Callable[..., Coroutine[Any, Any, None]], *arguments: Any
    ) -> None:
        """Call a hook and await it; its errors are only logged. After `grace` seconds it goes on by itself, and holds nothing up."""

        async def run() -> None:
            await hook(*arguments)

        task = UNATTENDED.start(run())
        done, _ = await asyncio.wait([task], timeout=self.grace)
        name = getattr(hook, "__name__", "a method")
        if not done:
            log.error("'%s' has not returned; nothing waits for it any more", name)
        elif not task.cancelled() and (error := task.exception()) is not None:
            log.error("'%s' failed", name, exc_info=error)

    async def _call(self, work: Coroutine[Any, Any, T], session: Session | None = None) -> T:
        """Await the author's code and return its result. Exceptions other than `RequestError` are logged and become an internal error."""
        try:
            return await work
        except Exception as error:
            if (request_error := answer_to_hook(error)) is not None:
                raise request_error from error
            (LOG if session is None else session.log).error(
                "'%s' failed", getattr(work, "__name__", "a method"), exc_info=error
            )
            raise RequestError(INTERNAL.code, INTERNAL.message) from error


def _require_types(items: Sequence[Any], allowed_types: Collection[str], noun: str, pointer: str) -> None:
    """Raise `RequestError` -32602 for the first item of a type that is not allowed."""
    for index, item in enumerate(items):
        type_ = item.tag if isinstance(item, Unknown) else item.type
        if type_ not in allowed_types:
            raise make_invalid_params(f"this agent takes no {noun} of the type {type_!r}", f"{pointer}/{index}")


def _replace_option(session: Session, config_id: str, value: object) -> list[v2.SessionConfigOption]:
    """The options of a session once one of them has this value. Raises `RequestError` -32602."""
    try:
        return with_value(session.stored.config_options, config_id, value)
    except ValueError as error:
        raise make_invalid_params(str(error), "/value" if config_id in session.config else "/configId") from None


async def _copy(record: StoredSession) -> StoredSession:
    return record.copy()


def _sort_key(info: v2.SessionInfo) -> tuple[str, str]:
    """The sort key of a session in a list; the newest has the greatest."""
    return info.updated_at or "", info.session_id


def _parse_cursor(cursor: str) -> tuple[str, str]:
    """Parse the sort key in a cursor. Raises `RequestError` -32602."""
    try:
        match json.loads(cursor):
            case [str(updated_at), str(session_id)]:
                return updated_at, session_id
            case _:
                pass
    except (ValueError, RecursionError):
        pass
    raise make_invalid_params("the cursor was not issued by this agent", "/cursor")
