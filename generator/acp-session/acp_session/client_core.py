"""The client's side of a connection, in the types of v2: its sessions, their roots, and the agent's requests and updates.

A session begins, changes and ends in one place, so that all services agree about its roots. Roots change for all of them at once, with
the response to `session/load` or `session/resume`; once a session has ended, nothing is served for it.

Sources: the pages of v1 and v2 on initialization, session setup, prompts, cancellation; the RFD on `additionalDirectories`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar
from weakref import WeakValueDictionary

from acp_bindings import UNSET, DecodeError, v1, v2
from acp_bindings.v2 import peers as peers2

from acp_workspace.errors import INVALID_PARAMS, NOT_FOUND, RequestError, make_invalid_params
from acp_workspace.workspace import ClientWorkspace, RootSet
from jsonrpc_bindings.peers import Folder, refuse_unserved

from .arguments import refuse_text, require_instance
from .background import Background, retrieve_exception, run_until
from .client import Client
from .client_session import ClientSession
from .diffs import as_object
from .errors import ConnectionClosed, Error, NotAdvertised, PeerError, find_path, make_error
from .log import LOG, SessionLog
from .permission import cancel, choose, get_tool_call_update, read
from .services import SERVICE_METHODS, Local, LocalServices
from .transcript import MAX_SIZE, Transcript

if TYPE_CHECKING:
    from acp_workspace.approval import ApprovalRequest

    from .codec.relay import Calls

T = TypeVar("T")

McpServers: TypeAlias = "Sequence[v2.McpServer | Mapping[str, Any]]"
"""MCP servers that the agent connects to; a mapping is a server as v2 JSON."""

_MCP_TRANSPORTS: Final = {1: {"http": "http", "sse": "sse"}, 2: {"stdio": "stdio", "http": "http"}}
"""The capability that each type of MCP server needs, by the version of the agent: every v1 agent starts those of `stdio`."""
_MAX_EARLY: Final = 10_000
"""The maximum number of updates that are kept for sessions whose ids are not known yet."""
_MAX_UNKNOWN: Final = 100
"""The maximum number of unknown sessions whose updates are logged as dropped."""


class ClientCore(peers2.Client):
    """The sessions of one connection.

    As a `peers2.Client` it serves a v2 agent, or the codec of a v1 agent, which uses `services` for files and terminals.

    `calls` sends requests and notifications to the agent, `answer` is its response to `initialize`. Raises `ValueError` for an allowed
    root that is not a directory.
    """

    calls: Calls

    def __init__(self, client: Client) -> None:
        require_instance(Client, client=client)
        self.client = client
        try:
            self.workspace = ClientWorkspace(client.allowed_roots)
        except RequestError as error:
            raise _as_value_error(error) from error
        self.sessions: dict[str, ClientSession] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._endings: dict[str, asyncio.Future[None]] = {}
        self._background = Background()
        self._early: dict[str, list[v2.SessionUpdate]] = {}
        self._early_size = 0
        self._unknown: set[str] = set()
        self.version = 0
        self.answer: v2.InitializeResponse = v2.InitializeResponse(protocol_version=2, info=client.info)
        self.services = OverridableServices(client, self)

    def capabilities(self) -> v2.ClientCapabilities:
        """The capabilities to advertise: only what is configured or overridden."""
        modes = self.client.elicitation if self.client.overrides("on_elicitation") else frozenset[str]()
        if not modes:
            return self.client.capabilities
        form = v2.ElicitationFormCapabilities() if "form" in modes else None
        url = v2.ElicitationUrlCapabilities() if "url" in modes else None
        return self.client.capabilities.__replace__(elicitation=v2.ElicitationCapabilities(form=form, url=url))

    def has_v1_capability(self, *names: str) -> bool:
        """Whether a v1 agent advertises one of these; a v2 agent always supports what they stand for."""
        offers = (self.connection.gates.is_advertised(f"agent:agentCapabilities.{name}") for name in names)
        return self.version != 1 or any(offers)

    async def follow_agent(self) -> None:
        """Wait until the agent has ended; then fail all pending calls with `ConnectionClosed`."""
        await self.connection.ended()
        await self.fail(self.connection.make_closed_error())

    def require_agent(self) -> None:
        """Raise `ConnectionClosed` if the agent has ended or the connection is closed."""
        if self.connection.is_ended:
            raise self.connection.make_closed_error()

    def advertises(self, capability: str) -> bool:
        """Whether the agent advertises a capability of sessions, named by its path in v2."""
        path = find_path(self.version, f"agent:capabilities.session.{capability}")
        return self.connection.gates.is_advertised(path) is True

    def require(self, method: str, capability: str) -> None:
        """Raise `NotAdvertised` if the agent does not advertise a capability of sessions, named by its path in v2."""
        if not self.advertises(capability):
            raise NotAdvertised(method, find_path(self.version, f"agent:capabilities.session.{capability}"))

    async def request(self, method: str, params: object, *, timeout: float | None = None) -> Any:
        """Send a request and return its result.

        Raises `PeerError`, `InvalidMessage`, `ConnectionClosed`, `NotAdvertised`, `TimeoutError`, and `ValueError` for params that a v1
        agent cannot be sent.
        """
        try:
            return await self.calls.request(method, params, timeout=timeout)
        except (RequestError, DecodeError) as error:
            if self.connection.is_ended and isinstance(error, RequestError):  # of the codec, which stands for the agent
                raise self.connection.make_closed_error() from error
            if isinstance(error, RequestError) and error.code == INVALID_PARAMS:  # of the codec too: nothing was sent
                raise ValueError(error.message) from error
            raise make_error(method, error) from error

    async def attempt(self, work: Coroutine[Any, Any, object]) -> None:
        """Await work that the end of the connection may prevent; errors are only logged."""
        try:
            await work
        except (Error, TimeoutError) as error:
            LOG.info("%s", error)

    def _prepare(
        self, method: str, cwd: Folder, additional: Sequence[Folder], mcp_servers: McpServers
    ) -> tuple[RootSet, dict[str, Any]]:
        """The roots of a session, and the fields of the request that opens it."""
        self.require_agent()
        servers = [_convert_server(index, server) for index, server in enumerate(mcp_servers)]
        self.require_types(method, servers, "mcp", _MCP_TRANSPORTS[self.version])
        is_advertised = self.advertises("additionalDirectories")
        if additional:
            self.require(method, "additionalDirectories")
        refuse_text(additional_directories=additional)
        base = Path.cwd() / cwd
        try:
            roots = self.workspace.prepare(
                str(base), [str(base / path) for path in additional], advertised=is_advertised
            )
        except RequestError as error:
            raise _as_value_error(error) from error
        return roots, {
            "cwd": roots.scope.cwd,
            "additional_directories": self.workspace.additional_directories(roots, advertised=is_advertised),
            "mcp_servers": servers,
        }

    def require_types(self, method: str, items: Sequence[Any], field: str, names: Mapping[str, str]) -> None:
        """Raise `NotAdvertised` for an item whose type needs a capability that is missing; types outside `names` need none."""
        for item in items:
            if item.type in names:
                self.require(method, f"{field}.{names[item.type]}")

    async def create_session(
        self, cwd: Folder, additional: Sequence[Folder], mcp_servers: McpServers, *, source_id: str | None = None
    ) -> ClientSession:
        """Open a new session, with the context of another if `source_id` is set.

        The agent's updates may arrive before the id of the session is known here: they are kept until then.
        """
        method = "session/new" if source_id is None else "session/fork"
        roots, fields = self._prepare(method, cwd, additional, mcp_servers)
        source = None if source_id is None else self.sessions.get(source_id)
        source_transcript = None if source is None else source.transcript
        params: Any = v2.NewSessionRequest(**fields)
        if source_id is not None:
            params = v2.ForkSessionRequest(session_id=source_id, **fields)
        try:
            async with self.workspace.open_session(roots):
                result = await self.request(method, params)
                transcript = Transcript()
                early, message_types = self._early.get(result.session_id, ()), v2.UserMessage | v2.UserMessageChunk
                # without a replay the transcript begins with that of the source
                if source_transcript is not None and not any(isinstance(update, message_types) for update in early):
                    transcript = source_transcript.fork()
                session = self._begin(result.session_id, roots, result, transcript)
        finally:
            if not self.workspace.is_opening:
                for session_id, updates in self._early.items():
                    message = "%d updates were dropped, since the session is not open"
                    SessionLog(session_id).warning(message, len(updates))
                self._early.clear()
                self._early_size = 0
        try:
            await self._show_early(session)
        except BaseException:
            await self._abandon(session.id)
            raise
        return session

    async def resume_session(
        self, session_id: str, cwd: Folder, additional: Sequence[Folder], mcp_servers: McpServers, *, is_load: bool
    ) -> ClientSession:
        """Open a stored session; `is_load` has it replayed. Its roots change if the agent accepts the request; one change at a time."""
        capabilities = ("loadSession",) if is_load else ("loadSession", "sessionCapabilities.resume")
        if not self.has_v1_capability(*capabilities):
            method = "session/load" if is_load else "session/resume"
            raise NotAdvertised(method, f"agent:agentCapabilities.{capabilities[-1]}")
        replay: dict[str, Any] = {"replay_from": v2.ReplayFromStart()} if is_load else {}
        lock = self._locks.setdefault(session_id, asyncio.Lock())
        async with lock:
            while session_id in self._endings:  # which would end it here although the agent has opened it again
                await asyncio.wait([self._endings[session_id]])
            roots, fields = self._prepare("session/resume", cwd, additional, mcp_servers)
            before = self.sessions.get(session_id)
            old_transcript = None if before is None else before.transcript
            transcript = Transcript() if is_load or old_transcript is None else old_transcript
            if is_load and old_transcript is not None and self.version == 1:
                transcript.take_terminals(old_transcript)
            session = before or ClientSession(self, session_id, transcript)
            session.transcript = transcript
            # without a replay, the agent's updates are still about what was there
            session.previous = old_transcript if is_load else None
            self.sessions[session_id] = session
            is_agreed = False
            try:
                async with self.workspace.open_session(roots, session_id):
                    request = v2.ResumeSessionRequest(session_id=session_id, **fields, **replay)
                    result = await self.request("session/resume", request)
                    self._begin(session_id, roots, result, transcript)
                    is_agreed = True
                await self._show_early(session)
                for follower in session.followers:
                    await follower.follow(roots)
                return session
            except BaseException as error:
                if old_transcript is not None:
                    session.transcript = transcript if is_agreed else old_transcript
                elif isinstance(error, PeerError):
                    await self._end(session_id, error)
                else:
                    await self._abandon(session_id)
                raise
            finally:
                session.previous = None

    async def close_session(self, session_id: str) -> None:
        """Close a session; it ends here whatever the agent responds."""
        try:
            await self._end_by("session/close", v2.CloseSessionRequest(session_id=session_id), "closed")
        except PeerError as error:
            if error.code != NOT_FOUND:  # a session that the agent does not have counts as closed
                raise

    async def delete_session(self, session_id: str) -> None:
        """Delete a session; it ends here whatever the agent responds."""
        self.require("session/delete", "delete")
        await self._end_by("session/delete", v2.DeleteSessionRequest(session_id=session_id), "deleted")

    async def _end_by(self, method: str, params: v2.CloseSessionRequest | v2.DeleteSessionRequest, how: str) -> None:
        """End a session by a request. A hook that calls this is cancelled with the work of the session, but the request continues.

        From now on nothing more is sent for the session.
        """
        session_id = params.session_id

        async def end() -> None:
            try:
                await self.request(method, params)
            finally:
                await self._end(session_id, ConnectionClosed(f"the session is {how}"))
                if self._endings.get(session_id) is asyncio.current_task():
                    del self._endings[session_id]

        session = self.sessions.get(session_id)
        if session is not None:
            session.begin_end()
        ending = self._endings[session_id] = self._background.start(end())
        ending.add_done_callback(retrieve_exception)
        await asyncio.shield(ending)

    def _begin(self, session_id: str, roots: RootSet, result: object, transcript: Transcript) -> ClientSession:
        """Mark a session as open once the agent has accepted it, and record the updates that came before."""
        session = self.sessions.setdefault(session_id, ClientSession(self, session_id, transcript))
        session.transcript = transcript
        transcript.set_initial_state(result)
        self.workspace.establish(session_id, roots)
        session.pending_updates = deque(self._early.pop(session_id, ()))
        for update in session.pending_updates:
            session.record(update)
        return session

    async def _show_early(self, session: ClientSession) -> None:
        """Show the updates that came before the session was open, and those that arrive meanwhile, in order."""
        while session.pending_updates:
            await self._show(session, session.pending_updates[0])
            session.pending_updates.popleft()

    async def _abandon(self, session_id: str) -> None:
        """End a session whose caller was cancelled, here and at the agent."""
        closing = self.request("session/close", v2.CloseSessionRequest(session_id=session_id))
        self._background.start(self.attempt(closing))
        await self._end(session_id, ConnectionClosed("nobody waits for the session any more"))

    async def _end(self, session_id: str, error: Exception) -> None:
        """End a session here, so that nothing is served for it any more."""
        session = self.sessions.pop(session_id, None)
        self.workspace.forget(session_id)
        if session is not None:
            session.end(error)
        await self.services.end(session_id)
        if session is not None:
            for follower in session.followers:
                try:
                    await follower.follow(None)
                except Exception:  # other sessions end all the same
                    session.log.exception("a follower of the roots failed")

    async def fail(self, error: Exception) -> None:
        """End all sessions because the agent has ended; pending calls raise this error."""
        for session_id in tuple(self.sessions):
            await self._end(session_id, error)

    async def disconnected(self) -> None:
        """Release everything: the connection has ended."""
        await self.fail(ConnectionClosed("the connection is closed"))
        await self._background.close()
        await self.services.close()
        self.workspace.close()

    async def session_update(self, params: v2.UpdateSessionNotification, /) -> None:
        """Record and show an update; it is kept if a session is being opened whose id is not known yet."""
        session = self.sessions.get(params.session_id)
        if session is not None:
            session.record(params.update)
            if session.pending_updates and len(session.pending_updates) < _MAX_EARLY:
                session.pending_updates.append(params.update)
            else:
                await self._show(session, params.update)
        elif self.workspace.is_opening and self._has_room_for(params.update):
            self._early.setdefault(params.session_id, []).append(params.update)
        elif self.connection.is_ended:  # the codec of a v1 agent reports the end of its turns
            return
        elif params.session_id not in self._unknown and len(self._unknown) < _MAX_UNKNOWN:
            self._unknown.add(params.session_id)
            SessionLog(params.session_id).warning("updates are dropped, since the session is not open")

    def _has_room_for(self, update: v2.SessionUpdate) -> bool:
        self._early_size += len(v2.encode(update))
        return self._early_size <= MAX_SIZE and sum(map(len, self._early.values())) < _MAX_EARLY

    async def _show(self, session: ClientSession, update: v2.SessionUpdate) -> None:
        try:
            await self.client.on_update(session, update)
        except Exception:
            session.log.exception("'on_update' failed")

    def _get_session(self, session_id: str) -> ClientSession:
        session = self.sessions.get(session_id)
        if session is None:
            raise make_invalid_params("there is no such session", "/sessionId")
        return session

    async def find_session(self, session_id: str) -> ClientSession:
        """Return the session with this id, after waiting for sessions that are being opened. Raises `RequestError` -32602."""
        await self.workspace.wait_known(session_id)
        return self._get_session(session_id)

    async def session_request_permission(self, params: v2.RequestPermissionRequest, /) -> v2.RequestPermissionResponse:
        """Ask the user for permission. Nothing is chosen if the work is cancelled or the subject is unknown."""
        session = await self.find_session(params.session_id)
        call = get_tool_call_update(params)
        if isinstance(call, v2.ToolCallUpdate):
            for transcript in filter(None, (session.transcript, session.previous)):
                transcript.update_tool_call(call)
        request = read(params, unknown_subject=self.client.unknown_subjects)
        option_id: str | None = None
        if request is None:
            session.log.warning("a request for permission has an unknown subject and is declined")
        else:
            call = request.tool_call
            current = None if call is None else session.transcript.tool_calls.get(call.tool_call_id)
            shown = request if current is None else replace(request, tool_call=current.current)
            option_id = await session.ask(lambda: self.client.on_permission(session, shown))
        try:
            answer = cancel(params) if option_id is None else choose(params, option_id)
        except ValueError:
            session.log.exception("'on_permission' has failed")
            answer = cancel(params)
        assert isinstance(answer, v2.RequestPermissionResponse)
        return answer

    async def elicitation_create(self, params: v2.CreateElicitationRequest, /) -> v2.CreateElicitationResponse:
        """Ask the user for input.

        Raises `RequestError` -32602 for a mode that is not advertised, a session that is not open, or a request that is not pending.
        """
        if not self.client.overrides("on_elicitation"):
            raise refuse_unserved("elicitation/create")
        if params.mode not in self.client.elicitation:
            raise make_invalid_params("this elicitation mode is not supported", "/mode")
        request_id = getattr(params, "request_id", UNSET)
        if request_id is UNSET:
            session = await self.find_session(str(getattr(params, "session_id", None)))
            response = await session.ask(lambda: self.client.on_elicitation(session, params))
        else:
            pending_request = self.connection.find_request(request_id)
            if pending_request is None:
                raise make_invalid_params("no request with this id is pending", "/requestId")
            response = await run_until(pending_request.answer, self.client.on_elicitation(None, params))
        return v2.ElicitationCancelAction() if response is None else response

    async def elicitation_complete(self, params: v2.CompleteElicitationNotification, /) -> None:
        await self.client.on_elicitation_complete(params.elicitation_id)

    async def extension_request(self, method: str, params: Any) -> Any:
        return await self.client.on_extension_request(method, params)

    async def extension_notification(self, method: str, params: Any) -> None:
        await self.client.on_extension_notification(method, params)

    async def approve(self, request: ApprovalRequest) -> bool:
        """Ask the user before a write or a command. Once the work is cancelled, there is no consent."""
        session = self._get_session(request.session_id)
        return await session.ask(lambda: self.client.approve(request)) is True


def _convert_server(index: int, server: object) -> v2.McpServer:
    if isinstance(server, v2.McpServerStdio | v2.McpServerHttp | v2.UnknownMcpServer):
        return server
    try:
        mcp_server: v2.McpServer = v2.decode_as(v2.McpServer, server, lenient=False)
    except DecodeError as error:
        raise ValueError(f"'mcp_servers' has at {index} what is no MCP server: {error}") from None
    return mcp_server


def _as_value_error(error: RequestError) -> ValueError:
    """Convert the workspace's refusal of a directory to an error of the caller's argument."""
    path = as_object(error.data).get("path")
    return ValueError(error.message if path is None else f"{error.message}: {path}")


class OverridableServices(LocalServices):
    """Files and terminals for v1 agents: each request is passed to the method of `Client`, which may be overridden."""

    def __init__(self, client: Client, core: ClientCore) -> None:
        self._client = client
        self._core = core
        local = Local(
            files=client.files,
            terminals=client.terminals,
            backend=client.backend,
            approve=core.approve if client.overrides("approve") else None,
            buffer=client.unsaved_text if client.overrides("unsaved_text") else None,
            on_change=client.on_file_change if client.overrides("on_file_change") else None,
            on_event=client.on_service_event,
        )
        super().__init__(local, self._send_update, core.workspace)

    async def _send_update(self, session_id: str, update: dict[str, Any]) -> None:
        body = {"sessionId": session_id, "update": update}
        await self._core.session_update(v2.decode_as(v2.UpdateSessionNotification, body))

    def capabilities(self) -> v1.ClientCapabilities:
        """The capabilities of what is configured and can be confined here, and of what is overridden."""
        capabilities = super().capabilities()
        terminals = [name for name in SERVICE_METHODS.values() if "terminal" in name]
        fs = v1.FileSystemCapabilities(
            read_text_file=capabilities.fs.read_text_file or self._client.overrides("read_text_file"),
            write_text_file=capabilities.fs.write_text_file or self._client.overrides("write_text_file"),
        )
        return v1.ClientCapabilities(
            fs=fs, terminal=capabilities.terminal or all(map(self._client.overrides, terminals))
        )

    def list_terminals(self, session_id: str) -> None:  # noqa: ARG002
        """See `LocalServices`: all terminals are allowed."""
        return

    async def answer(self, method: str, params: Any) -> Any:
        """See `LocalServices`."""
        session = await self._core.find_session(params.session_id)
        answer = await getattr(self._client, SERVICE_METHODS[method])(session, params)
        await self.show(method, params, answer)
        return answer
