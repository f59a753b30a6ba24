"""The client's half of a connection, in the terms of v2: its sessions, their roots, and what the agent asks and reports.

A session begins, changes and ends in one place, so that whatever serves it cannot disagree about its roots. Roots change with the answer to
`session/load` or `resume` for all at once, and with the end of a session nothing is served for it any more.

Sources: the pages of v1 and v2 on initialization, session setup, prompts, cancellation; the RFD on `additionalDirectories`.
"""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import logging
import os
import shlex
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar, cast

from acp_bindings import UNSET, DecodeError, v1, v2
from acp_bindings.v2 import peers as peers2

from acp_workspace.errors import METHOD_NOT_FOUND, RequestError, invalid_params, refused
from acp_workspace.filesystem import FileSystem
from acp_workspace.terminals import Terminals
from acp_workspace.workspace import ClientWorkspace, RootSet
from jsonrpc_bindings.peers import Folder, unserved

from .client import Client
from .client_session import ClientSession
from .errors import ConnectionClosed, Error, InvalidMessage, NotAdvertised, PeerError
from .permission import cancel, choose, read, tool_call_update
from .transcript import Transcript

if TYPE_CHECKING:
    from acp_workspace.approval import Wish
    from jsonrpc_bindings.pending import Sent

T = TypeVar("T")

LOG: Final = logging.getLogger("acp_session")

McpServers: TypeAlias = "Sequence[v2.McpServer]"
"""MCP servers that the agent connects to."""

MAX_PAGES: Final = 1000
"""Pages of `session/list` that are asked for."""
_MAX_EARLY: Final = 10_000
"""Updates that are kept for sessions whose ids are not known yet."""
_ID_TIMEOUT: Final = 1.0
"""Seconds that a request of the agent waits for the id of its session to become known here."""
_NOT_FOUND: Final = -32002
_TERMINAL: Final = (
    *("create_terminal", "terminal_output", "wait_for_terminal_exit", "kill_terminal"),
    "release_terminal",
)


class FollowsRoots(Protocol):
    """What is told of the roots of a session whenever they change, such as `RootsProvider` for MCP servers; `None` at its end."""

    async def follow(self, roots: RootSet | None) -> object:
        """Take the roots as they are now; `None`: the session has ended."""
        ...


class ClientCore(peers2.Client):
    """The sessions of one connection. As a `peers2.Client` it serves an agent of v2; `services` serves one of v1.

    `agent` are the calls to the agent, `answer` is what it answered to `initialize`, both from `open` on.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.workspace = ClientWorkspace(client.allowed_roots)
        self.sessions: dict[str, ClientSession] = {}
        self._loading: dict[str, RootSet] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._creating: set[asyncio.Future[None]] = set()
        self._early: dict[str, list[v2.SessionUpdate]] = {}
        self._commands: dict[str, asyncio.Task[None]] = {}
        self._sent: Callable[[object], Sent | None] = lambda number: None
        self._describe_end: Callable[[ConnectionClosed], Awaitable[Exception]] = _unchanged
        self._agent: Any = None
        self.answer: v2.InitializeResponse = v2.InitializeResponse(protocol_version=2, info=client.info)
        self.can_load = True
        approve = self._approved if client.overrides("approve") else None
        self.files: FileSystem | None = None
        self.terminals: Terminals | None = None
        if client.files is not None:
            self.files = FileSystem(
                client.files,
                roots=self,
                store=client.backend,
                approve=approve,
                notify=client.on_file_event,
                buffer=client.unsaved_text if client.overrides("unsaved_text") else None,
                changed=client.on_file_changed if client.overrides("on_file_changed") else None,
            )
        if client.terminals is not None:
            self.terminals = Terminals(
                self, client.terminals, approve=approve, notify=client.on_terminal_event, show=self._show_output
            )

    # --- what both sides can do

    def capabilities(self) -> v2.ClientCapabilities:
        """What to advertise: what is configured or overridden, and no more."""
        modes = self.client.elicitation if self.client.overrides("on_elicitation") else frozenset[str]()
        if not modes:
            return self.client.capabilities
        form = v2.ElicitationFormCapabilities() if "form" in modes else None
        url = v2.ElicitationUrlCapabilities() if "url" in modes else None
        return self.client.capabilities.__replace__(elicitation=v2.ElicitationCapabilities(form=form, url=url))

    def service_capabilities(self) -> v1.ClientCapabilities:
        """The files and terminals to advertise to an agent of v1."""
        own = v1.FileSystemCapabilities() if self.files is None else self.files.capabilities()
        overrides = self.client.overrides
        fs = v1.FileSystemCapabilities(
            read_text_file=own.read_text_file or overrides("read_text_file"),
            write_text_file=own.write_text_file or overrides("write_text_file"),
        )
        terminal = (self.terminals is not None and self.terminals.is_offered) or all(map(overrides, _TERMINAL))
        return v1.ClientCapabilities(fs=fs, terminal=terminal)

    @property
    def agent(self) -> Any:
        """The calls to the agent, by the names of `peers2.RemoteAgent`."""
        return self._agent

    def open(
        self,
        agent: Any,
        answer: v2.InitializeResponse,
        *,
        can_load: bool,
        sent: Callable[[object], Sent | None],
        describe_end: Callable[[ConnectionClosed], Awaitable[Exception]],
    ) -> None:
        """Begin: the connection is initialized. `sent` says which of our requests wait, `describe_end` how the agent has ended."""
        self._agent, self.answer, self.can_load = agent, answer, can_load
        self._sent, self._describe_end = sent, describe_end

    @property
    def session_capabilities(self) -> v2.SessionCapabilities:
        """What the sessions of the agent offer. Raises `NotAdvertised` for an agent without sessions."""
        found = self.answer.capabilities.session
        if found is None:
            raise NotAdvertised("session/new", "agent:capabilities.session")
        return found

    def require(self, method: str, is_offered: object, path: str) -> None:
        """Raise `NotAdvertised` where the agent does not offer something."""
        if is_offered is None or is_offered is False:
            raise NotAdvertised(method, f"agent:{path}")

    async def request(self, method: str, work: Awaitable[T]) -> T:
        """What the agent answers. Raises `PeerError`, `InvalidMessage`, `ConnectionClosed`, `NotAdvertised`."""
        try:
            return await work
        except RequestError as error:  # of the codec, which stands for the agent
            raise PeerError(method, error.code, error.message, error.data) from error
        except DecodeError as error:
            raise InvalidMessage.of(method, error) from error
        except ConnectionClosed as error:
            raise await self._describe_end(error) from error

    async def attempt(self, work: Coroutine[Any, Any, object]) -> None:
        """Do something that the end of the connection may prevent."""
        try:
            await work
        except Error as error:
            LOG.info("%s", error)

    # --- the life of a session

    def roots(self, session_id: str) -> RootSet:
        """The roots that are in force. While `session/load` or `resume` is under way they are those that it asks for."""
        found = self._loading.get(session_id)
        return self.workspace.roots(session_id) if found is None else found

    def _bind(self, method: str, cwd: Folder, additional: Sequence[Folder]) -> RootSet:
        offered = self.session_capabilities.additional_directories is not None
        if additional:
            self.require(method, offered, "capabilities.session.additionalDirectories")
        base = os.path.join(os.getcwd(), os.fspath(cwd))
        try:
            return self.workspace.prepare(
                base, [os.path.join(base, os.fspath(path)) for path in additional], advertised=offered
            )
        except RequestError as error:
            raise ValueError(error.message) from error

    def _fields(self, roots: RootSet, mcp_servers: McpServers) -> dict[str, Any]:
        offered = self.session_capabilities.additional_directories is not None
        return {
            "cwd": roots.scope.cwd,
            "additional_directories": self.workspace.arguments(roots, advertised=offered),
            "mcp_servers": list(mcp_servers),
        }

    async def new_session(
        self, cwd: Folder, additional_directories: Sequence[Folder], mcp_servers: McpServers
    ) -> ClientSession:
        """See `AgentConnection`."""
        roots = self._bind("session/new", cwd, additional_directories)
        request = v2.NewSessionRequest(**self._fields(roots, mcp_servers))
        return await self._create("session/new", self.agent.session_new(request), roots, None)

    async def fork_session(
        self, session_id: str, cwd: Folder, additional_directories: Sequence[Folder], mcp_servers: McpServers
    ) -> ClientSession:
        """See `AgentConnection`."""
        self.require("session/fork", self.session_capabilities.fork, "capabilities.session.fork")
        roots = self._bind("session/fork", cwd, additional_directories)
        request = v2.ForkSessionRequest(session_id=session_id, **self._fields(roots, mcp_servers))
        source = self.sessions.get(session_id)
        known = None if source is None else source.transcript
        return await self._create("session/fork", self.agent.session_fork(request), roots, known)

    async def load_session(
        self, session_id: str, cwd: Folder, additional_directories: Sequence[Folder], mcp_servers: McpServers
    ) -> ClientSession:
        """See `AgentConnection`."""
        if not self.can_load:
            raise NotAdvertised("session/load", "agent:agentCapabilities.loadSession")
        more = {"replay_from": v2.ReplayFromStart()}
        return await self._resume(session_id, cwd, additional_directories, mcp_servers, Transcript(), more)

    async def resume_session(
        self, session_id: str, cwd: Folder, additional_directories: Sequence[Folder], mcp_servers: McpServers
    ) -> ClientSession:
        """See `AgentConnection`."""
        known = self.sessions.get(session_id)
        transcript = Transcript() if known is None else known.transcript
        return await self._resume(session_id, cwd, additional_directories, mcp_servers, transcript, {})

    async def list_sessions(
        self, cwd: Folder | None, additional_directories: Sequence[Folder] | None
    ) -> list[v2.SessionInfo]:
        """See `AgentConnection`."""
        fields: dict[str, Any] = {"cwd": None if cwd is None else os.path.join(os.getcwd(), os.fspath(cwd))}
        if additional_directories is not None:
            offered = self.session_capabilities.additional_directories
            self.require("session/list", offered, "capabilities.session.additionalDirectories")
            base = fields["cwd"] or os.getcwd()
            fields["additional_directories"] = [os.path.join(base, os.fspath(one)) for one in additional_directories]
        found: list[v2.SessionInfo] = []
        cursor: str | None = None
        seen: set[str] = set()
        for _ in range(MAX_PAGES):
            request = v2.ListSessionsRequest(cursor=cursor, **fields)
            page: v2.ListSessionsResponse = await self.request("session/list", self.agent.session_list(request))
            found += page.sessions
            cursor = page.next_cursor
            if cursor is None:
                return found
            if cursor in seen:
                break
            seen.add(cursor)
        raise InvalidMessage("session/list", "/nextCursor", f"the pages do not end: {len(seen)} were read")

    async def close_session(self, session_id: str) -> None:
        """See `ClientSession.close`."""
        try:
            request = v2.CloseSessionRequest(session_id=session_id)
            await self.request("session/close", self.agent.session_close(request))
        except PeerError as error:
            if error.code != _NOT_FOUND:  # a session that the agent does not have counts as closed
                raise
        finally:
            await self._end(session_id, ConnectionClosed("the session is closed"))

    async def delete_session(self, session_id: str) -> None:
        """See `AgentConnection.delete_session`."""
        self.require("session/delete", self.session_capabilities.delete, "capabilities.session.delete")
        try:
            request = v2.DeleteSessionRequest(session_id=session_id)
            await self.request("session/delete", self.agent.session_delete(request))
        finally:
            await self._end(session_id, ConnectionClosed("the session is deleted"))

    async def _create(
        self, method: str, work: Awaitable[Any], roots: RootSet, known: Transcript | None
    ) -> ClientSession:
        """A session begins. What the agent sends about it may be read before its id is known here: it is kept until then."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._creating.add(future)
        try:
            result = await self.request(method, work)
            transcript = Transcript()
            if known is not None and not _replays(self._early.get(result.session_id, ())):
                transcript = known.copy()
            session = await self._begin(result.session_id, roots, result, transcript)
        except BaseException:
            roots.close()
            raise
        finally:
            self._creating.discard(future)
            future.set_result(None)
            if not self._creating:
                self._drop_early()
        return session

    async def _resume(
        self,
        session_id: str,
        cwd: Folder,
        additional_directories: Sequence[Folder],
        mcp_servers: McpServers,
        transcript: Transcript,
        more: dict[str, Any],
    ) -> ClientSession:
        """The roots of a session change, if the agent takes it up; one change at a time."""
        async with self._locks.setdefault(session_id, asyncio.Lock()):
            roots = self._bind("session/resume", cwd, additional_directories)
            before = self.sessions.get(session_id)
            kept = None if before is None else before.transcript
            session = before or ClientSession(self, session_id, transcript)
            session.transcript = transcript
            self.sessions[session_id] = session
            self._loading[session_id] = roots
            try:
                request = v2.ResumeSessionRequest(session_id=session_id, **self._fields(roots, mcp_servers), **more)
                result = await self.request("session/resume", self.agent.session_resume(request))
                return await self._begin(session_id, roots, result, transcript)
            except BaseException as error:
                if self._loading.pop(session_id, None) is roots:
                    roots.close()
                    if kept is None:
                        await self._end(session_id, error if isinstance(error, Exception) else ConnectionClosed())
                    else:
                        session.transcript = kept
                raise
            finally:
                self._loading.pop(session_id, None)

    async def _begin(self, session_id: str, roots: RootSet, result: object, transcript: Transcript) -> ClientSession:
        session = self.sessions.setdefault(session_id, ClientSession(self, session_id, transcript))
        session.transcript = transcript
        transcript.set_initial_state(result)
        self.workspace.establish(session_id, roots)
        self._loading.pop(session_id, None)
        for update in self._early.pop(session_id, ()):
            await self._record(session, update)
        for follower in session.followers:
            await follower.follow(roots)
        return session

    async def _end(self, session_id: str, error: Exception) -> None:
        """Nothing is served for a session any more."""
        session = self.sessions.pop(session_id, None)
        self.workspace.forget(session_id)
        if session is not None:
            session.end(error)
        if self.terminals is not None:
            await self.terminals.end(session_id)
        for follower in () if session is None else session.followers:
            await follower.follow(None)

    async def fail(self, error: Exception) -> None:
        """Note that the agent has ended: whoever waits gets this error, and nothing is served any more."""
        for session_id in tuple(self.sessions):
            await self._end(session_id, error)

    async def aclose(self) -> None:
        """End everything, as when the connection has ended."""
        await self.fail(ConnectionClosed("the connection is closed"))
        if self.terminals is not None:
            await self.terminals.aclose()
        if self.files is not None:
            self.files.close()
        tasks = tuple(self._commands.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self.workspace.close()

    async def disconnected(self) -> None:
        """See `Side`."""
        await self.aclose()

    # --- what the agent reports

    async def session_update(self, params: v2.UpdateSessionNotification, /) -> None:
        """Take an update in; it is kept where a session begins at this moment whose id is not known yet."""
        session = self.sessions.get(params.session_id)
        if session is not None:
            await self._record(session, params.update)
        elif self._creating and sum(map(len, self._early.values())) < _MAX_EARLY:
            self._early.setdefault(params.session_id, []).append(params.update)
        else:
            LOG.warning("session %s: an update was dropped, since the session is not open", params.session_id)

    async def _record(self, session: ClientSession, update: v2.SessionUpdate) -> None:
        session.record(update)
        self._keep_terminals(session.id, update)
        try:
            await self.client.on_update(session, update)
        except Exception:
            LOG.exception("session %s: 'on_update' failed", session.id)

    def _drop_early(self) -> None:
        for session_id, updates in self._early.items():
            LOG.warning("session %s: %d updates were dropped, since the session is not open", session_id, len(updates))
        self._early.clear()

    # --- what the agent asks

    def _session(self, session_id: str) -> ClientSession:
        found = self.sessions.get(session_id)
        if found is None:
            raise invalid_params("there is no such session", pointer="/sessionId")
        return found

    async def _known_session(self, session_id: str) -> ClientSession:
        """The session of this id. Waits for one that begins at this moment. Raises `RequestError` -32602."""
        if session_id not in self.sessions and self._creating:
            await asyncio.wait(tuple(self._creating), timeout=_ID_TIMEOUT, return_when=asyncio.FIRST_COMPLETED)
        return self._session(session_id)

    async def session_request_permission(self, params: v2.RequestPermissionRequest, /) -> v2.RequestPermissionResponse:
        """Ask the user. Nobody chooses where the work is cancelled, and about a subject that is not understood."""
        session = await self._known_session(params.session_id)
        call = tool_call_update(params)
        if isinstance(call, v2.ToolCallUpdate):
            session.transcript.update_tool_call(call)
        unknown = "decline" if self.client.unknown_subjects == "decline" else "prompt"
        request = read(params, unknown_subject=cast("Any", unknown))
        chosen: str | None = None
        if request is None:
            LOG.warning("session %s: a request for permission has an unknown subject and is declined", session.id)
        else:
            request = dataclasses.replace(request, tool_call=session.current_request(request))
            chosen = await session.until_cancelled(self.client.on_permission(session, request))
        answer = cancel(params) if chosen is None else choose(params, chosen)
        assert isinstance(answer, v2.RequestPermissionResponse)
        return answer

    async def elicitation_create(self, params: v2.CreateElicitationRequest, /) -> v2.CreateElicitationResponse:
        """Ask the user for input. Raises `RequestError`: -32602 for a mode that is not offered, a session that is not open, or a request
        that does not wait for its answer.
        """
        if not self.client.overrides("on_elicitation"):
            raise unserved("elicitation/create")
        if params.mode not in self.client.elicitation:
            raise invalid_params("this elicitation mode is not supported", pointer="/mode")
        request_id = getattr(params, "request_id", UNSET)
        if request_id is UNSET:
            session = await self._known_session(str(getattr(params, "session_id", None)))
            found = await session.until_cancelled(self.client.on_elicitation(session, params))
        else:
            sent = self._sent(request_id)
            if sent is None:
                raise invalid_params("no request with this id is pending", pointer="/requestId")
            found = await _until(sent.answer, self.client.on_elicitation(None, params))
        return v2.ElicitationCancelAction() if found is None else found

    async def elicitation_complete(self, params: v2.CompleteElicitationNotification, /) -> None:
        """See `Client.on_elicitation_complete`."""
        await self.client.on_elicitation_complete(params.elicitation_id)

    async def extension_request(self, method: str, params: Any) -> Any:
        """See `Client.on_extension_request`."""
        return await self.client.on_extension_request(method, params)

    async def extension_notification(self, method: str, params: Any) -> None:
        """See `Client.on_extension_notification`."""
        await self.client.on_extension_notification(method, params)

    async def _approved(self, request: Wish) -> bool:
        session = self._session(request.session_id)
        return await session.until_cancelled(self.client.approve(request)) is True

    # --- files and terminals for an agent of v1: the services of the codec

    async def read_text_file(self, params: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        """Answer `fs/read_text_file`. Raises `RequestError`."""
        return await self.client.read_text_file(await self._known_session(params.session_id), params)

    async def write_text_file(self, params: v1.WriteTextFileRequest) -> v1.WriteTextFileResponse:
        """Answer `fs/write_text_file`. Raises `RequestError`."""
        return await self.client.write_text_file(await self._known_session(params.session_id), params)

    async def create_terminal(self, params: v1.CreateTerminalRequest) -> v1.CreateTerminalResponse:
        """Answer `terminal/create`. Raises `RequestError`, so for a command after its work was cancelled and before the agent has ended it."""
        session = await self._known_session(params.session_id)
        if session.is_cancelled:
            raise refused(params.command, "the turn was cancelled")
        answer = await self.client.create_terminal(session, params)
        arguments = params.args if isinstance(params.args, list) else []
        capabilities = v2.TerminalCapabilities(cancel=v2.TerminalCancelCapabilities())
        await self._record(
            session,
            v2.TerminalUpdate(
                terminal_id=answer.terminal_id,
                command=shlex.join((params.command, *arguments)),
                cwd=params.cwd or session.cwd,
                capabilities=capabilities,
            ),
        )
        if self.terminals is not None:
            follow = asyncio.ensure_future(self._follow_command(self.terminals, session, answer.terminal_id))
            self._commands[answer.terminal_id] = follow
            follow.add_done_callback(lambda _: self._commands.pop(answer.terminal_id, None))
        return answer

    async def terminal_output(self, params: v1.TerminalOutputRequest) -> v1.TerminalOutputResponse:
        """Answer `terminal/output`. Raises `RequestError`."""
        return await self.client.terminal_output(await self._known_session(params.session_id), params)

    async def wait_for_terminal_exit(self, params: v1.WaitForTerminalExitRequest) -> v1.WaitForTerminalExitResponse:
        """Answer `terminal/wait_for_exit`. Raises `RequestError`."""
        return await self.client.wait_for_terminal_exit(await self._known_session(params.session_id), params)

    async def kill_terminal_of(self, params: v1.KillTerminalRequest) -> v1.KillTerminalResponse:
        """Answer `terminal/kill`. Raises `RequestError`."""
        return await self.client.kill_terminal(await self._known_session(params.session_id), params)

    async def release_terminal(self, params: v1.ReleaseTerminalRequest) -> v1.ReleaseTerminalResponse:
        """Answer `terminal/release`. Raises `RequestError`."""
        return await self.client.release_terminal(await self._known_session(params.session_id), params)
