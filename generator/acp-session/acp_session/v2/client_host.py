"""The client's half of a connection of v2: one object that owns the sessions, and with them roots, permission, turns and state.

    host = ClientHost(call, notify, granted=["/srv/app"], permission=ask_the_user)
    await host.initialize(v2.Implementation(name="lantern", version="1"))
    session = await host.new("/srv/app")
    end = await host.turn(session.id, "Hello")   # `prompt` alone returns when it is accepted

Give requests of the agent to `answer` and notifications to `notice`; `call` and `notify` send. An agent of v2 uses neither files nor
terminals of the client, so that nothing here serves any: what its own terminals show is in the transcript.

Sources: the pages of v2 on initialization, session setup, prompts, cancellation; the RFDs on permission requests and on terminal output.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from acp_bindings import UNSET, ErrorResponse, Request, Response, v2

from acp_session.client_base import (
    Call,
    ClientSessions,
    Elicit,
    FollowsRoots,
    InitializeResult,
    Notify,
    OpenSession,
    Waiting,
    every_page,
)
from acp_session.endings import Turns
from acp_session.permission import Prompt, cancel, choose, read, tool_call_update
from acp_workspace.errors import METHOD_NOT_FOUND, RequestError, invalid_params
from acp_workspace.hooks import maybe_await

from .transcript import Transcript

__all__ = ["Ask", "Call", "ClientHost", "End", "FollowsRoots", "Notify", "Session"]

Ask: TypeAlias = "Callable[[Prompt], Awaitable[str | None] | str | None]"
"""Asks the user; the id of the option that was chosen, `None` where nobody chose."""


@dataclass(frozen=True, slots=True)
class End:
    """How the work on a prompt has ended: the stop reason, `None` where the agent does not tell it, and the error if it failed."""

    stop_reason: str | None
    error: v2.Error | None = None


Session: TypeAlias = OpenSession[Transcript]
"""An open session of a client of v2."""


class ClientHost(ClientSessions[Transcript]):
    """The sessions of a client, over one connection to one agent of v2.

    `granted`: the directories that the user lets agents use. `permission` is asked what an agent may do, `elicit` for input in the `modes`
    that are offered. `waiting` says which requests wait for their answers, so that a question that names another is refused.
    `initialize_result` gives what the agent answered to an `initialize` that the host did not send. `overrides` are methods that
    something else than this host answers; they are advertised, too.
    `unknown_subject`: whether a request about something that this version does not know is shown as a plain prompt or declined.
    """

    def __init__(
        self,
        call: Call,
        notify: Notify,
        *,
        granted: Iterable[str] = (),
        permission: Ask = lambda prompt: None,
        elicit: Elicit | None = None,
        modes: Collection[str] = ("form",),
        waiting: Waiting | None = None,
        initialize_result: InitializeResult = lambda: None,
        overrides: Collection[str] = (),
        unknown_subject: Literal["prompt", "decline"] = "prompt",
    ) -> None:
        super().__init__(call, notify, Transcript, granted, elicit, modes, waiting, overrides)
        self._ask = permission
        self._unknown_subject: Literal["prompt", "decline"] = unknown_subject
        self._turns: dict[str, Turns[End]] = {}
        self._agent: v2.InitializeResponse | None = None
        self._initialize_result = initialize_result

    # --- what both sides can do

    @property
    def agent(self) -> v2.InitializeResponse | None:
        """What the agent answered to `initialize`; `None` before."""
        if self._agent is None:
            found: v2.InitializeResponse | None = self._initialize_result()
            if found is not None and found.protocol_version == 2:
                self._agent = found
        return self._agent

    def capabilities(self, **more: Any) -> v2.ClientCapabilities:
        """What to advertise: what is configured, and no more. `more` are further fields."""
        if self._modes:
            form = v2.ElicitationFormCapabilities() if "form" in self._modes else None
            url = v2.ElicitationUrlCapabilities() if "url" in self._modes else None
            more = {"elicitation": v2.ElicitationCapabilities(form=form, url=url), **more}
        return v2.ClientCapabilities(**more)

    async def initialize(self, info: v2.Implementation, **more: Any) -> v2.InitializeResponse:
        """Send `initialize`, and note what the agent can do. `more` are further client capabilities. Raises `RequestError` where the
        agent speaks another version, and where the connection is initialized already, as by `negotiation`.
        """
        self._refuse_second_initialize(self.agent)
        request = v2.InitializeRequest(protocol_version=2, info=info, capabilities=self.capabilities(**more))
        found: v2.InitializeResponse = await self._call("initialize", request)
        if found.protocol_version != 2:
            raise invalid_params(f"the agent supports version {found.protocol_version} of the protocol, not 2")
        self._agent = found
        return found

    @property
    def _has_roots(self) -> bool:
        return self._offers().additional_directories is not None

    def _offers(self) -> v2.SessionCapabilities:
        if self.agent is None:
            raise invalid_params("call 'initialize' first")
        found = self.agent.capabilities.session
        self._require("sessions", found)
        assert found is not None
        return found

    # --- the life of a session

    async def new(self, cwd: str, additional: Sequence[str] = (), mcp_servers: Sequence[v2.McpServer] = ()) -> Session:
        """Send `session/new`. Raises `RequestError` for roots that are malformed or not granted, and what `call` raises."""
        roots = self.workspace.prepare(cwd, additional, advertised=self._has_roots)
        return await self._born("session/new", v2.NewSessionRequest(**self._named(roots, mcp_servers)), roots)

    async def load(
        self, session_id: str, cwd: str, additional: Sequence[str] = (), mcp_servers: Sequence[v2.McpServer] = ()
    ) -> Session:
        """Send `session/resume` from the start: the agent tells the whole conversation again. The roots given are all that the session has
        from now on; where the agent refuses, those that it had before stay.
        """
        return await self._resumed(
            session_id, cwd, additional, mcp_servers, Transcript(), {"replay_from": v2.ReplayFromStart()}
        )

    async def resume(
        self, session_id: str, cwd: str, additional: Sequence[str] = (), mcp_servers: Sequence[v2.McpServer] = ()
    ) -> Session:
        """Send `session/resume`: as `load`, and nothing is told again; what is known of the session stays."""
        known = self.sessions.get(session_id)
        transcript = Transcript() if known is None else known.transcript
        return await self._resumed(session_id, cwd, additional, mcp_servers, transcript, {})

    async def _resumed(
        self,
        session_id: str,
        cwd: str,
        additional: Sequence[str],
        mcp_servers: Sequence[v2.McpServer],
        transcript: Transcript,
        more: dict[str, Any],
    ) -> Session:
        async with self._changing(session_id, cwd, additional, mcp_servers, transcript) as (fields, _, began):
            request = v2.ResumeSessionRequest(session_id=session_id, **fields, **more)
            return await began(await self._call("session/resume", request))

    async def fork(
        self, session_id: str, cwd: str, additional: Sequence[str] = (), mcp_servers: Sequence[v2.McpServer] = ()
    ) -> Session:
        """Send `session/fork`: a new session with the context of another, which stays as it is. Roots are not inherited."""
        self._require("session/fork", self._offers().fork)
        roots = self.workspace.prepare(cwd, additional, advertised=self._has_roots)
        request = v2.ForkSessionRequest(session_id=session_id, **self._named(roots, mcp_servers))
        return await self._born("session/fork", request, roots)

    async def list_sessions(self, cwd: str | None = None, additional: Any = UNSET) -> list[v2.SessionInfo]:
        """Send `session/list` until the last page, and return all sessions. Raises `RequestError` where the pages do not end."""
        self._offers()
        fields: dict[str, Any] = {} if additional is UNSET else {"additional_directories": list(additional)}

        async def page(cursor: str | None) -> Any:
            return await self._call("session/list", v2.ListSessionsRequest(cwd=cwd, cursor=cursor, **fields))

        return await every_page(page)

    async def close(self, session_id: str) -> None:
        """End a session: send `session/close`. Whatever the agent answers, nothing is served any more."""
        self._session(session_id)
        try:
            await self._call("session/close", v2.CloseSessionRequest(session_id=session_id))
        finally:
            await self._end(session_id)

    async def delete(self, session_id: str) -> None:
        """Send `session/delete`. An open session ends with it, even where the agent refuses."""
        self._require("session/delete", self._offers().delete)
        try:
            await self._call("session/delete", v2.DeleteSessionRequest(session_id=session_id))
        finally:
            await self._end(session_id)

    async def aclose(self) -> None:
        """End everything, as when the connection has ended: whoever waits for the end of a turn gets `ConnectionError`."""
        for session_id in tuple(self.sessions):
            await self._end(session_id)
        self.workspace.close()
        self._agent = None

    async def _let_go(self, session_id: str) -> None:
        turns = self._turns.pop(session_id, None)
        if turns is not None:
            turns.fail(ConnectionError("the session has ended"))

    # --- turns

    async def prompt(self, session_id: str, prompt: str | Sequence[v2.ContentBlock]) -> v2.PromptResponse:
        """Send `session/prompt`, blocks or a text, and return when the agent has taken the message in; `turn` waits for the end.

        A prompt may be sent while the agent works; it takes it in when it can. Raises what `call` raises.
        """
        session = self._session(session_id)
        session.stopped.clear()
        blocks: list[v2.ContentBlock] = [v2.TextContent(text=prompt)] if isinstance(prompt, str) else list(prompt)
        request = v2.PromptRequest(session_id=session_id, prompt=blocks)
        result: v2.PromptResponse = await self._call("session/prompt", request)
        return result

    async def turn(self, session_id: str, prompt: str | Sequence[v2.ContentBlock]) -> End:
        """Send a prompt, and return when the work on it has ended. Cancelled itself, or out of time, it cancels the work.

        Raises what `call` raises, and `ConnectionError` where the session ends before.
        """
        session = self._session(session_id)
        turns = self._turns.setdefault(session_id, Turns())

        async def accepted() -> str:
            return (await self.prompt(session_id, prompt)).message_id

        session.is_in_turn = True
        try:
            return await turns.wait_for_end(accepted())
        except (asyncio.CancelledError, TimeoutError):
            if session_id in self.sessions:
                with suppress(ConnectionError):
                    await self.cancel(session_id)
            raise
        finally:
            session.is_in_turn = any(not turn.is_abandoned for turn in turns.open)

    async def cancel(self, session_id: str) -> None:
        """Stop the work of a session: `session/cancel` is sent, open requests for permission are answered `cancelled`, and tool calls are
        marked. Updates are taken until the agent reports that it is idle.
        """
        session = self._session(session_id)
        await maybe_await(self._notify("session/cancel", v2.CancelSessionNotification(session_id=session_id)))
        session.stopped.set()
        session.transcript.cancel()

    async def cancel_tool_call(self, session_id: str, tool_call_id: str) -> None:
        """Send `tool_call/cancel`. Raises `RequestError` -32602 for a tool call that does not offer it."""
        call = self._session(session_id).transcript.calls.get(tool_call_id)
        if call is None or not call.may_cancel:
            raise invalid_params("this tool call cannot be cancelled on its own", pointer="/toolCallId")
        request = v2.CancelToolCallRequest(session_id=session_id, tool_call_id=tool_call_id)
        await self._call("tool_call/cancel", request)

    async def cancel_terminal(self, session_id: str, terminal_id: str) -> None:
        """Send `terminal/cancel`. Raises `RequestError` -32602 for a terminal that does not offer it."""
        terminal = self._session(session_id).transcript.terminals.get(terminal_id)
        if terminal is None or not terminal.may_cancel:
            raise invalid_params("this terminal cannot be stopped", pointer="/terminalId")
        await self._call("terminal/cancel", v2.CancelTerminalRequest(session_id=session_id, terminal_id=terminal_id))

    # --- what the agent sends

    def notice(self, params: object) -> None:
        """Take a notification of the agent: updates of open sessions go into their transcripts, in the order of the calls."""
        if isinstance(params, v2.UpdateSessionNotification):
            self._heard(params.session_id, params.update)

    def _updated(self, session: Session, update: Any) -> None:
        transcript = session.transcript
        transcript.apply(update)
        turns = self._turns.get(session.id)
        if turns is None:
            return
        if isinstance(update, v2.UserMessage | v2.UserMessageChunk):
            turns.hear(update.message_id)
        elif getattr(update, "session_update", None) == "state_update":
            if transcript.state == "idle":
                turns.rest(End(transcript.stop_reason, transcript.error))
            elif transcript.state in ("running", "requires_action"):
                turns.work()

    async def answer(self, request: Request[Any]) -> Response[Any] | ErrorResponse[v2.Error]:
        """Answer a decoded request of the agent as a message; -32601 for what is not offered."""
        await self._until_known(request.params)
        try:
            if request.method == "elicitation/create":
                result = await self._elicited(request.params, v2.ElicitationCancelAction())
                return Response(request.id, result, request.method)
            if not isinstance(request.params, v2.RequestPermissionRequest):
                raise RequestError(METHOD_NOT_FOUND, f"{request.method} is not supported", {"method": request.method})
            return Response(request.id, await self._permitted(request.params), request.method)
        except RequestError as error:
            body = v2.Error(code=error.code, message=error.message, data=error.data)
            return ErrorResponse(request.id, body, request.method)

    async def _permitted(self, params: v2.RequestPermissionRequest) -> object:
        session = self._session(params.session_id)
        call = tool_call_update(params)
        if isinstance(call, v2.ToolCallUpdate):
            session.transcript.changed(call)
        prompt = read(params, unknown_subject=self._unknown_subject)
        if prompt is None:
            return cancel(params)
        chosen = await session.until_stopped(maybe_await(self._ask(prompt)))
        return cancel(params) if chosen is None else choose(params, chosen)
