"""The client's half of a connection: one object that owns the sessions, and with them roots, files, terminals, permission and state.

    host = ClientHost(call, notify, granted=["/srv/app"], permission=ask_the_user)
    await host.initialize()
    session = await host.new("/srv/app")
    reply = await host.prompt(session.id, [v1.TextContentBlock(text="Hello")])

Give requests of the agent to `answer` and notifications to `notice`; `call` and `notify` send. All parts ask this object which roots a
session has, so that they cannot disagree: roots change with the answer to `session/load` or `resume` for all of them at once,
and with the end of a session nothing is served for it any more.

Sources: the pages of v1 on initialization, session setup, prompt turns, cancellation; the RFD on `additionalDirectories`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from acp_bindings import MISSING, ErrorResponse, Request, Response, v1

from .approval import Approve, Wish
from .errors import METHOD_NOT_FOUND, RequestError, invalid_params, refused
from .filesystem import Buffer, Changed, FileEvent, FilePolicy, FileSystem, Stage
from .hooks import awaited
from .permission import Prompt, cancel, choose, read
from .store import Store
from .terminals import Show, TerminalEvent, TerminalPolicy, Terminals
from .transcript import Transcript
from .workspace import ClientWorkspace, RootSet

T = TypeVar("T")

Call: TypeAlias = "Callable[[str, Any], Awaitable[Any]]"
"""Sends a request, named by its method, and returns the typed result. What it raises is passed on."""
Notify: TypeAlias = "Callable[[str, Any], Awaitable[object] | object]"
"""Sends a notification."""
Ask: TypeAlias = "Callable[[Prompt], Awaitable[str | None] | str | None]"
"""Asks the user; the id of the option that was chosen, `None` where nobody chose."""
Audit: TypeAlias = "Callable[[FileEvent | TerminalEvent], Awaitable[object] | object]"
"""Told of every step of every request for files and terminals, refusals included."""

MOST_PAGES: Final = 1000
"""Pages of `session/list` that are asked for."""
_MOST_EARLY: Final = 10_000
"""Updates that are kept for sessions whose ids are not known yet."""
_BIRTH: Final = 1.0
"""Seconds that a request of the agent waits for the id of its session to become known here."""


class FollowsRoots(Protocol):
    """What is told of the roots of a session whenever they change, such as `RootsProvider` for MCP servers; `None` at its end."""

    async def follow(self, roots: RootSet | None) -> object: ...


@dataclass(slots=True, eq=False)
class Session:
    """An open session: its id, and what the agent has told of it. `stopped` is set from the cancellation of a turn to the next one."""

    id: str
    transcript: Transcript = field(default_factory=Transcript)
    followers: list[FollowsRoots] = field(default_factory=list[FollowsRoots])
    is_in_turn: bool = False
    stopped: asyncio.Event = field(default_factory=asyncio.Event)

    async def until_stopped(self, work: Awaitable[T]) -> T | None:
        """The result of something that a person decides, or `None` where the turn or the session ends first."""
        task = asyncio.ensure_future(work)
        ending = asyncio.ensure_future(self.stopped.wait())
        try:
            await asyncio.wait((task, ending), return_when=asyncio.FIRST_COMPLETED)
            return task.result() if task.done() and not self.stopped.is_set() else None
        finally:
            ending.cancel()
            task.cancel()


class ClientHost:
    """The sessions of a client, over one connection to one agent of v1.

    `granted`: the directories that the user lets agents use. `files` and `terminals`: the policies; `None` offers none of them.
    `permission` is asked what an agent may do, `approve` before each write and
    command that is carried out; the other hooks are those of `FileSystem`
    and `Terminals`. `store` keeps the files elsewhere than on this machine's disk.
    """

    def __init__(
        self,
        call: Call,
        notify: Notify,
        *,
        granted: Iterable[str] = (),
        files: FilePolicy | None = FilePolicy(),  # noqa: B008 - frozen
        terminals: TerminalPolicy | None = TerminalPolicy(),  # noqa: B008 - frozen
        store: Store | None = None,
        permission: Ask = lambda prompt: None,
        approve: Approve | None = None,
        buffer: Buffer | None = None,
        changed: Changed | None = None,
        stage: Stage | None = None,
        show: Show = lambda session_id, terminal_id, text: None,
        audit: Audit = lambda event: None,
    ) -> None:
        self._call = call
        self._notify = notify
        self._ask = permission
        self._approve = approve
        asked = None if approve is None else self._approved
        self.workspace = ClientWorkspace(granted)
        self.files = (
            None
            if files is None
            else FileSystem(
                files, roots=self, store=store, notify=audit, approve=asked, buffer=buffer, changed=changed, stage=stage
            )
        )
        self.terminals = (
            None if terminals is None else Terminals(self, terminals, approve=asked, notify=audit, show=show)
        )
        self.agent: v1.InitializeResponse | None = None
        self.sessions: dict[str, Session] = {}
        self._underway: dict[str, RootSet] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._births: set[asyncio.Future[None]] = set()
        self._early: dict[str, list[v1.SessionUpdate]] = {}

    # --- what both sides can do

    def capabilities(self, **more: Any) -> v1.ClientCapabilities:
        """What to advertise: what is configured and can be kept here, and no more. `more` are further fields."""
        fs = v1.FileSystemCapabilities() if self.files is None else self.files.capabilities()
        terminal = self.terminals is not None and self.terminals.is_offered
        return v1.ClientCapabilities(fs=fs, terminal=terminal, **more)

    async def initialize(self, info: v1.Implementation | None = None, **more: Any) -> v1.InitializeResponse:
        """Send `initialize`, and note what the agent can do. `more` are further client capabilities. Raises `RequestError` where the
        agent speaks another version.
        """
        request = v1.InitializeRequest(
            protocol_version=1, client_capabilities=self.capabilities(**more), client_info=info
        )
        found: v1.InitializeResponse = await self._call("initialize", request)
        if found.protocol_version != 1:
            raise invalid_params(f"the agent speaks version {found.protocol_version} of the protocol, not 1")
        self.agent = found
        return found

    @property
    def _has_roots(self) -> bool:
        return self._offers().additional_directories is not None

    def _offers(self) -> v1.SessionCapabilities:
        if self.agent is None:
            raise invalid_params("call 'initialize' first")
        return self.agent.agent_capabilities.session_capabilities

    def _require(self, method: str, offered: object) -> None:
        if offered is None or offered is False:
            raise RequestError(METHOD_NOT_FOUND, f"the agent does not advertise {method}", {"method": method})

    # --- the life of a session

    def roots(self, session_id: str) -> RootSet:
        """The roots that are in force. While `session/load` or `resume` is under way they are those that it asks for."""
        found = self._underway.get(session_id)
        return self.workspace.roots(session_id) if found is None else found

    async def new(self, cwd: str, additional: Sequence[str] = (), mcp_servers: Sequence[v1.McpServer] = ()) -> Session:
        """Send `session/new`. Raises `RequestError` for roots that are malformed or not granted, and what `call` raises."""
        roots = self.workspace.prepare(cwd, additional, advertised=self._has_roots)
        return await self._born("session/new", v1.NewSessionRequest(**self._named(roots, mcp_servers)), roots)

    async def load(
        self, session_id: str, cwd: str, additional: Sequence[str] = (), mcp_servers: Sequence[v1.McpServer] = ()
    ) -> Session:
        """Send `session/load`: the agent tells the whole conversation again. The roots given are all that the session has from now on;
        where the agent refuses, those that it had before stay.
        """
        if self.agent is not None:
            self._require("session/load", self.agent.agent_capabilities.load_session)
        named: dict[str, Any] = {"session_id": session_id}
        async with self._changing(session_id, cwd, additional, mcp_servers, Transcript()) as (
            fields,
            transcript,
            began,
        ):
            result = await self._call("session/load", v1.LoadSessionRequest(**named, **fields))
            transcript.begun(result)
            return await began(result)

    async def resume(
        self, session_id: str, cwd: str, additional: Sequence[str] = (), mcp_servers: Sequence[v1.McpServer] = ()
    ) -> Session:
        """Send `session/resume`: as `load`, and nothing is told again; what is known of the session stays."""
        self._require("session/resume", self._offers().resume)
        known = self.sessions.get(session_id)
        transcript = Transcript() if known is None else known.transcript
        async with self._changing(session_id, cwd, additional, mcp_servers, transcript) as (fields, _, began):
            return await began(
                await self._call("session/resume", v1.ResumeSessionRequest(session_id=session_id, **fields))
            )

    async def fork(
        self, session_id: str, cwd: str, additional: Sequence[str] = (), mcp_servers: Sequence[v1.McpServer] = ()
    ) -> Session:
        """Send `session/fork`: a new session with the context of another, which stays as it is. Roots are not inherited."""
        self._require("session/fork", self._offers().fork)
        roots = self.workspace.prepare(cwd, additional, advertised=self._has_roots)
        request = v1.ForkSessionRequest(session_id=session_id, **self._named(roots, mcp_servers))
        return await self._born("session/fork", request, roots)

    async def list_sessions(self, cwd: str | None = None, additional: Any = MISSING) -> list[v1.SessionInfo]:
        """Send `session/list` until the last page, and return all sessions. Raises `RequestError` where the pages do not end."""
        self._require("session/list", self._offers().list_)
        found: list[v1.SessionInfo] = []
        cursor: str | None = None
        seen: set[str] = set()
        for _ in range(MOST_PAGES):
            fields: dict[str, Any] = {} if additional is MISSING else {"additional_directories": list(additional)}
            page: v1.ListSessionsResponse = await self._call(
                "session/list", v1.ListSessionsRequest(cwd=cwd, cursor=cursor, **fields)
            )
            found += page.sessions
            cursor = page.next_cursor
            if cursor is None:
                return found
            if cursor in seen:
                break
            seen.add(cursor)
        raise invalid_params("the pages of session/list do not end", pages=len(seen))

    async def close(self, session_id: str) -> None:
        """End a session: send `session/close` where the agent advertises it. Whatever it answers, nothing is served any more."""
        self._session(session_id)
        try:
            if self._offers().close is not None:
                await self._call("session/close", v1.CloseSessionRequest(session_id=session_id))
        finally:
            await self._end(session_id)

    async def delete(self, session_id: str) -> None:
        """Send `session/delete`. An open session ends with it, even where the agent refuses."""
        self._require("session/delete", self._offers().delete)
        try:
            await self._call("session/delete", v1.DeleteSessionRequest(session_id=session_id))
        finally:
            await self._end(session_id)

    async def aclose(self) -> None:
        """End everything, as when the connection has ended."""
        for session_id in tuple(self.sessions):
            await self._end(session_id)
        if self.terminals is not None:
            await self.terminals.aclose()
        if self.files is not None:
            self.files.close()
        self.workspace.close()

    async def follow(self, session_id: str, follower: FollowsRoots) -> None:
        """Tell something of the roots of a session, now and whenever they change."""
        self._session(session_id).followers.append(follower)
        await follower.follow(self.roots(session_id))

    # --- turns

    async def prompt(self, session_id: str, prompt: str | Sequence[v1.ContentBlock]) -> v1.PromptResponse:
        """Send `session/prompt`, blocks or a text, and return its result when the turn has ended. Cancelled itself, it cancels the turn.

        Raises `RequestError` -32602 where a turn is under way, and what `call` raises.
        """
        session = self._session(session_id)
        if session.is_in_turn:
            raise invalid_params("the session is in a turn; wait for its end, or cancel it", pointer="/sessionId")
        session.is_in_turn = True
        session.stopped.clear()
        try:
            blocks: list[v1.ContentBlock] = (
                [v1.TextContentBlock(text=prompt)] if isinstance(prompt, str) else list(prompt)
            )
            request = v1.PromptRequest(session_id=session_id, prompt=blocks)
            result: v1.PromptResponse = await self._call("session/prompt", request)
            return result
        except asyncio.CancelledError:
            await self.cancel(session_id)
            raise
        finally:
            session.is_in_turn = False

    async def cancel(self, session_id: str) -> None:
        """Cancel the turn of a session: `session/cancel` is sent, open requests for permission are answered `cancelled`, what awaits
        approval is refused, running commands end, and tool calls are marked. Updates are taken until the turn has ended.
        """
        session = self._session(session_id)
        await awaited(self._notify("session/cancel", v1.CancelNotification(session_id=session_id)))
        session.stopped.set()
        session.transcript.cancel()
        if self.terminals is not None:
            await self.terminals.stop(session_id)

    # --- what the agent sends

    def notice(self, params: object) -> None:
        """Take a notification of the agent: updates of open sessions go into their transcripts, in the order of the calls."""
        if not isinstance(params, v1.SessionNotification):
            return
        session = self.sessions.get(params.session_id)
        if session is not None:
            self._updated(session, params.update)
        elif self._births and sum(len(one) for one in self._early.values()) < _MOST_EARLY:
            self._early.setdefault(params.session_id, []).append(params.update)

    def _updated(self, session: Session, update: v1.SessionUpdate) -> None:
        session.transcript.apply(update)
        if self.terminals is not None and isinstance(update, v1.ToolCall | v1.ToolCallUpdate):
            for item in update.content if isinstance(update.content, list) else ():
                if isinstance(item, v1.Terminal):
                    self.terminals.keep(session.id, item.terminal_id)

    async def answer(self, request: Request[Any]) -> Response[Any] | ErrorResponse[v1.Error]:
        """Answer a decoded request of the agent as a message; -32601 for what is not offered."""
        await self._until_known(request.params)
        try:
            match request.params:
                case v1.RequestPermissionRequest() as params:
                    return Response(request.id, await self._permitted(params), request.method)
                case v1.ReadTextFileRequest() | v1.WriteTextFileRequest() if self.files is not None:
                    return await self.files.answer(request)
                case (
                    v1.CreateTerminalRequest()
                    | v1.TerminalOutputRequest()
                    | v1.WaitForTerminalExitRequest()
                    | v1.KillTerminalRequest()
                    | v1.ReleaseTerminalRequest()
                ) if self.terminals is not None:
                    self._require_wanted(request.params)
                    return await self.terminals.answer(request)
                case _:
                    raise RequestError(
                        METHOD_NOT_FOUND, f"{request.method} is not supported", {"method": request.method}
                    )
        except RequestError as error:
            body = v1.Error(code=error.code, message=error.message, data=error.data)
            return ErrorResponse(request.id, body, request.method)

    async def _permitted(self, params: v1.RequestPermissionRequest) -> object:
        session = self._session(params.session_id)
        session.transcript.changed(params.tool_call)
        prompt = read(params)
        assert prompt is not None  # v1 has no subjects that are unknown
        chosen = await session.until_stopped(awaited(self._ask(prompt)))
        if chosen is None:
            return cancel(params)
        return choose(params, chosen)

    async def _approved(self, wish: Wish) -> bool:
        assert self._approve is not None
        return await self._session(wish.session_id).until_stopped(awaited(self._approve(wish))) is True

    def _require_wanted(self, params: object) -> None:
        """Refuse a command that is asked for after its turn was cancelled, and before the agent has ended it."""
        if isinstance(params, v1.CreateTerminalRequest):
            session = self._session(params.session_id)
            if session.is_in_turn and session.stopped.is_set():
                raise refused(params.command, "the turn was cancelled")

    # --- parts

    def _session(self, session_id: str) -> Session:
        found = self.sessions.get(session_id)
        if found is None:
            raise invalid_params("there is no such session", pointer="/sessionId")
        return found

    def _named(self, roots: RootSet, mcp_servers: Sequence[v1.McpServer]) -> dict[str, Any]:
        return {
            "cwd": roots.scope.cwd,
            "additional_directories": self.workspace.arguments(roots, advertised=self._has_roots),
            "mcp_servers": list(mcp_servers),
        }

    async def _born(self, method: str, request: object, roots: RootSet) -> Session:
        """A session begins. What the agent sends about it may be read before its id is known here: it is kept until then."""
        birth: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._births.add(birth)
        try:
            result: v1.NewSessionResponse | v1.ForkSessionResponse = await self._call(method, request)
            session = await self._began(result.session_id, roots, result, Transcript())
        except BaseException:
            roots.close()
            raise
        finally:
            self._births.discard(birth)
            birth.set_result(None)
            if not self._births:
                self._early.clear()
        return session

    async def _until_known(self, params: object) -> None:
        """Wait for a session that begins at this moment."""
        session_id = getattr(params, "session_id", None)
        if isinstance(session_id, str) and session_id not in self.sessions and self._births:
            await asyncio.wait(tuple(self._births), timeout=_BIRTH, return_when=asyncio.FIRST_COMPLETED)

    @asynccontextmanager
    async def _changing(
        self,
        session_id: str,
        cwd: str,
        additional: Sequence[str],
        mcp_servers: Sequence[v1.McpServer],
        transcript: Transcript,
    ) -> AsyncGenerator[tuple[dict[str, Any], Transcript, Callable[[object], Awaitable[Session]]], None]:
        """The roots of a session change, if what is done meanwhile succeeds; one change at a time."""
        async with self._locks.setdefault(session_id, asyncio.Lock()):
            roots = self.workspace.prepare(cwd, additional, advertised=self._has_roots)
            before = self.sessions.get(session_id)
            kept = None if before is None else before.transcript
            session = before or Session(session_id)
            session.transcript = transcript
            self.sessions[session_id] = session
            self._underway[session_id] = roots
            succeeded = False

            async def began(result: object) -> Session:
                nonlocal succeeded
                succeeded = True
                return await self._began(session_id, roots, result, transcript)

            try:
                yield self._named(roots, mcp_servers), transcript, began
            finally:
                self._underway.pop(session_id, None)
                if not succeeded:
                    roots.close()
                    if kept is None:
                        await self._end(session_id)
                    else:
                        session.transcript = kept

    async def _began(self, session_id: str, roots: RootSet, result: object, transcript: Transcript) -> Session:
        session = self.sessions.setdefault(session_id, Session(session_id))
        session.transcript = transcript
        transcript.begun(result)
        self.workspace.establish(session_id, roots)
        self._underway.pop(session_id, None)
        for update in self._early.pop(session_id, ()):
            self._updated(session, update)
        for follower in session.followers:
            await follower.follow(roots)
        return session

    async def _end(self, session_id: str) -> None:
        """Nothing is served for a session any more."""
        session = self.sessions.pop(session_id, None)
        self.workspace.forget(session_id)
        if session is not None:
            session.stopped.set()
        if self.terminals is not None:
            await self.terminals.end(session_id)
        for follower in () if session is None else session.followers:
            await follower.follow(None)
