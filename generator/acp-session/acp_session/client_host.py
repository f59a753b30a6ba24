"""The client's half of a connection: one object that owns the sessions, and with them roots, files, terminals, permission and state.

    host = ClientHost(call, notify, granted=["/srv/app"], permission=ask_the_user)
    await host.initialize()
    session = await host.new("/srv/app")
    reply = await host.prompt(session.id, [v1.TextContent(text="Hello")])

Give requests of the agent to `answer` and notifications to `notice`; `call` and `notify` send. All parts ask this object which roots a
session has, so that they cannot disagree: roots change with the answer to `session/load` or `resume` for all of them at once,
and with the end of a session nothing is served for it any more.

Sources: the pages of v1 on initialization, session setup, prompt turns, cancellation; the RFD on `additionalDirectories`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias

from acp_bindings import UNSET, ErrorResponse, Request, Response, v1

from acp_workspace.approval import ApprovalRequest, Approve
from acp_workspace.backend import FileBackend
from acp_workspace.errors import METHOD_NOT_FOUND, RequestError, invalid_params, refused
from acp_workspace.filesystem import Buffer, FileEvent, FilePolicy, FileSystem, OnChange
from acp_workspace.hooks import maybe_await
from acp_workspace.terminals import OnOutput, TerminalEvent, TerminalPolicy, Terminals

from .client_base import (
    Call,
    ClientSessions,
    Elicit,
    InitializeResult,
    Notify,
    OpenSession,
    Waiting,
    every_page,
    retrieve_exception,
)
from .permission import Prompt, cancel, choose, read
from .transcript import Transcript

Ask: TypeAlias = "Callable[[Prompt], Awaitable[str | None] | str | None]"
"""Asks the user; the id of the option that was chosen, `None` where nobody chose."""
Audit: TypeAlias = "Callable[[FileEvent | TerminalEvent], Awaitable[object] | object]"
"""Told of every step of every request for files and terminals, refusals included."""

Session: TypeAlias = OpenSession[Transcript]
"""An open session of a client of v1."""

_TERMINAL: Final = frozenset(f"terminal/{step}" for step in ("create", "output", "wait_for_exit", "kill", "release"))


class ClientHost(ClientSessions[Transcript]):
    """The sessions of a client, over one connection to one agent of v1.

    `granted`: the directories that the user lets agents use. `files` and `terminals`: the policies; `None` offers none of them.
    `permission` is asked what an agent may do, `elicit` for input in the `modes` that are offered, `approve` before each write and
    command that is carried out; the other hooks are those of `FileSystem` and `Terminals`. `waiting` says which requests wait for their
    answers, so that a question that names another is refused. `initialize_result` gives what the agent answered to an `initialize` that
    the host did not send. `overrides` are methods that something else than this host answers; they are advertised, too. `store` keeps the
    files elsewhere than on this machine's disk.
    """

    def __init__(
        self,
        call: Call,
        notify: Notify,
        *,
        granted: Iterable[str] = (),
        files: FilePolicy | None = FilePolicy(),  # noqa: B008 - frozen
        terminals: TerminalPolicy | None = TerminalPolicy(),  # noqa: B008 - frozen
        store: FileBackend | None = None,
        permission: Ask = lambda prompt: None,
        elicit: Elicit | None = None,
        modes: Collection[str] = ("form",),
        waiting: Waiting | None = None,
        initialize_result: InitializeResult = lambda: None,
        overrides: Collection[str] = (),
        approve: Approve | None = None,
        buffer: Buffer | None = None,
        changed: OnChange | None = None,
        show: OnOutput = lambda session_id, terminal_id, text: None,
        audit: Audit = lambda event: None,
    ) -> None:
        super().__init__(call, notify, Transcript, granted, elicit, modes, waiting, overrides)
        self._ask = permission
        self._approve = approve
        asked = None if approve is None else self._approved
        self.files = (
            None
            if files is None
            else FileSystem(self, files, backend=store, on_event=audit, approve=asked, buffer=buffer, on_change=changed)
        )
        self.terminals = (
            None if terminals is None else Terminals(self, terminals, approve=asked, on_event=audit, on_output=show)
        )
        self._agent: v1.InitializeResponse | None = None
        self._initialize_result = initialize_result

    # --- what both sides can do

    @property
    def agent(self) -> v1.InitializeResponse | None:
        """What the agent answered to `initialize`; `None` before."""
        if self._agent is None:
            found: v1.InitializeResponse | None = self._initialize_result()
            if found is not None and found.protocol_version == 1:
                self._agent = found
        return self._agent

    def capabilities(self, **more: Any) -> v1.ClientCapabilities:
        """What to advertise: what is configured and can be kept here, and no more. `more` are further fields."""
        own = v1.FileSystemCapabilities() if self.files is None else self.files.capabilities()
        fs = v1.FileSystemCapabilities(
            read_text_file=own.read_text_file or "fs/read_text_file" in self._overrides,
            write_text_file=own.write_text_file or "fs/write_text_file" in self._overrides,
        )
        terminal = (self.terminals is not None and self.terminals.is_offered) or self._overrides >= _TERMINAL
        if self._modes:
            form = v1.ElicitationFormCapabilities() if "form" in self._modes else None
            url = v1.ElicitationUrlCapabilities() if "url" in self._modes else None
            more = {"elicitation": v1.ElicitationCapabilities(form=form, url=url), **more}
        return v1.ClientCapabilities(fs=fs, terminal=terminal, **more)

    async def initialize(self, info: v1.Implementation | None = None, **more: Any) -> v1.InitializeResponse:
        """Send `initialize`, and note what the agent can do. `more` are further client capabilities. Raises `RequestError` where the
        agent speaks another version, and where the connection is initialized already, as by `negotiation`.
        """
        self._refuse_second_initialize(self.agent)
        request = v1.InitializeRequest(
            protocol_version=1, client_capabilities=self.capabilities(**more), client_info=info
        )
        found: v1.InitializeResponse = await self._call("initialize", request)
        if found.protocol_version != 1:
            raise invalid_params(f"the agent supports version {found.protocol_version} of the protocol, not 1")
        self._agent = found
        return found

    @property
    def _has_roots(self) -> bool:
        return self._offers().additional_directories is not None

    def _offers(self) -> v1.SessionCapabilities:
        if self.agent is None:
            raise invalid_params("call 'initialize' first")
        return self.agent.agent_capabilities.session_capabilities

    # --- the life of a session

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

    async def list_sessions(self, cwd: str | None = None, additional: Any = UNSET) -> list[v1.SessionInfo]:
        """Send `session/list` until the last page, and return all sessions. Raises `RequestError` where the pages do not end."""
        self._require("session/list", self._offers().list_)
        fields: dict[str, Any] = {} if additional is UNSET else {"additional_directories": list(additional)}

        async def page(cursor: str | None) -> Any:
            return await self._call("session/list", v1.ListSessionsRequest(cwd=cwd, cursor=cursor, **fields))

        return await every_page(page)

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
        self._agent = None

    # --- turns

    async def prompt(self, session_id: str, prompt: str | Sequence[v1.ContentBlock]) -> v1.PromptResponse:
        """Send `session/prompt`, blocks or a text, and return its result when the turn has ended. Cancelled itself, or out of time, it
        cancels the turn. After a turn that was cancelled it waits for the end of that turn.

        Raises `RequestError` -32602 where a turn is under way, and what `call` raises.
        """
        session = self._session(session_id)
        cancellations = session.cancellations
        while session.turn is not None:
            if not session.stopped.is_set():
                raise invalid_params("the session is in a turn; wait for its end, or cancel it", pointer="/sessionId")
            await asyncio.wait([session.turn])
            session = self._session(session_id)
        if session.cancellations != cancellations:
            return v1.PromptResponse(stop_reason="cancelled")
        blocks: list[v1.ContentBlock] = [v1.TextContent(text=prompt)] if isinstance(prompt, str) else list(prompt)
        request = v1.PromptRequest(session_id=session_id, prompt=blocks)
        session.is_in_turn = True
        session.stopped.clear()
        session.turn = turn = asyncio.ensure_future(self._turn(session, request))
        turn.add_done_callback(retrieve_exception)
        try:
            await asyncio.wait([turn])
            return turn.result()
        except (asyncio.CancelledError, TimeoutError) as error:
            if session_id in self.sessions and (isinstance(error, TimeoutError) or not turn.done()):
                with suppress(ConnectionError):
                    await self.cancel(session_id)
            raise

    async def _turn(self, session: Session, request: v1.PromptRequest) -> v1.PromptResponse:
        """A turn until the agent answers, whether or not anybody waits for that."""
        session.transcript.begin_turn()
        is_cancelled = False
        try:
            result: v1.PromptResponse = await self._call("session/prompt", request)
            is_cancelled = result.stop_reason == "cancelled"
            return result
        finally:
            session.is_in_turn, session.turn = False, None
            session.transcript.end_turn(is_cancelled=is_cancelled)

    async def cancel(self, session_id: str) -> None:
        """Cancel the turn of a session: `session/cancel` is sent, open requests for permission are answered `cancelled`, what awaits
        approval is refused, running commands end, and tool calls are marked. Updates are taken until the turn has ended.
        """
        session = self._session(session_id)
        session.cancellations += 1
        await maybe_await(self._notify("session/cancel", v1.CancelNotification(session_id=session_id)))
        session.stopped.set()
        session.transcript.cancel()
        if self.terminals is not None:
            await self.terminals.stop(session_id)

    # --- what the agent sends

    def notice(self, params: object) -> None:
        """Take a notification of the agent: updates of open sessions go into their transcripts, in the order of the calls."""
        if not isinstance(params, v1.SessionNotification):
            return
        self._heard(params.session_id, params.update)

    def _updated(self, session: Session, update: v1.SessionUpdate) -> None:
        session.transcript.apply(update)

    async def answer(self, request: Request[Any]) -> Response[Any] | ErrorResponse[v1.Error]:
        """Answer a decoded request of the agent as a message; -32601 for what is not offered."""
        await self._until_known(request.params)
        try:
            match request.params:
                case v1.RequestPermissionRequest() as params:
                    return Response(request.id, await self._permitted(params), request.method)
                case v1.ReadTextFileRequest() as params if self.files is not None:
                    return Response(request.id, await self.files.read_text_file(params), request.method)
                case v1.WriteTextFileRequest() as params if self.files is not None:
                    return Response(request.id, await self.files.write_text_file(params), request.method)
                case (
                    v1.CreateTerminalRequest()
                    | v1.TerminalOutputRequest()
                    | v1.WaitForTerminalExitRequest()
                    | v1.KillTerminalRequest()
                    | v1.ReleaseTerminalRequest()
                ) if self.terminals is not None:
                    self._require_wanted(request.params)
                    return Response(request.id, await self._terminal(self.terminals, request.params), request.method)
                case params if request.method == "elicitation/create":
                    result = await self._elicited(params, v1.ElicitationCancelAction())
                    return Response(request.id, result, request.method)
                case _:
                    raise RequestError(
                        METHOD_NOT_FOUND, f"{request.method} is not supported", {"method": request.method}
                    )
        except RequestError as error:
            body = v1.Error(code=error.code, message=error.message, data=error.data)
            return ErrorResponse(request.id, body, request.method)

    async def _terminal(self, terminals: Terminals, params: Any) -> object:
        match params:
            case v1.CreateTerminalRequest():
                return await terminals.create(params)
            case v1.TerminalOutputRequest():
                return await terminals.output(params)
            case v1.WaitForTerminalExitRequest():
                return await terminals.wait_for_exit(params)
            case v1.KillTerminalRequest():
                return await terminals.kill(params)
            case _:
                return await terminals.release(params)

    async def _permitted(self, params: v1.RequestPermissionRequest) -> object:
        session = self._session(params.session_id)
        session.transcript.changed(params.tool_call)
        prompt = read(params)
        assert prompt is not None  # v1 has no subjects that are unknown
        chosen = await session.until_stopped(maybe_await(self._ask(prompt)))
        if chosen is None:
            return cancel(params)
        return choose(params, chosen)

    async def _approved(self, wish: ApprovalRequest) -> bool:
        assert self._approve is not None
        return await self._session(wish.session_id).until_stopped(maybe_await(self._approve(wish))) is True

    def _require_wanted(self, params: object) -> None:
        """Refuse a command that is asked for after its turn was cancelled, and before the agent has ended it."""
        if isinstance(params, v1.CreateTerminalRequest):
            session = self._session(params.session_id)
            if session.is_in_turn and session.stopped.is_set():
                raise refused(params.command, "the turn was cancelled")

    async def _let_go(self, session_id: str) -> None:
        if self.terminals is not None:
            await self.terminals.end(session_id)
