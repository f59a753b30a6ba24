"""The agent's half of a connection of v2: one object that owns the sessions, with their roots, their history and their turns.

    host = AgentHost(notify, grant=only_below_srv)
    response = await host.new(request)                        # one method for each of the lifecycle
    response = await host.prompt(request, run)                # accepted; `run(turn)` does the work, and returns why it ended
    host.cancel(notification.params)

A prompt is answered when it has its place in the conversation: at once, or after the turn before it. The host tells the user's message, the
states and the end of the work; `turn.blocked()` says that the work waits for the user. What a session sends with `Session.update` is its
history, which `session/resume` tells again.

Sources: the pages of v2 on session setup, session list, session delete, prompts, cancellation; the RFD on required session methods.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from acp_bindings import UNSET, RequestError, Unknown, to_builtins, v2

from acp_session.agent_base import AgentSessions, HeldSession, Notify
from acp_session.permission import Decision, decide
from acp_workspace.errors import INTERNAL_ERROR, invalid_params
from acp_workspace.hooks import maybe_await
from acp_workspace.workspace import RootPolicy
from jsonrpc_bindings import UnsetType

State: TypeAlias = Literal["idle", "running", "requires_action"]
Call: TypeAlias = "Callable[[str, Any], Awaitable[Any]]"
"""Sends a request, named by its method, and returns the typed result. What it raises is passed on."""
Run: TypeAlias = "Callable[[Turn], Awaitable[str]]"
"""Does the work of a turn, and returns the stop reason. It is cancelled with the turn: what it raises or returns then does not count."""

LOG: Final = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Session(HeldSession):
    """A session: its roots while it is open, and what was sent of it. `state` is the agent's own; `doing` is what the session does in the
    foreground, and `background` all that goes on beside (`None`: not told). all that follows is the host's.
    """

    doing: State = "idle"
    background: list[v2.BackgroundWork] | None = None
    commands: list[v2.AvailableCommand] | None = None
    free: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: set[asyncio.Task[Any]] = field(default_factory=set[Any])
    work: _Work | None = None
    questions: set[object] = field(default_factory=set[Any])

    def end_update(self, call: str, *, is_failed: bool) -> v2.SessionToolCallUpdate:
        """See `HeldSession`."""
        return v2.SessionToolCallUpdate(tool_call_id=call, status="failed" if is_failed else "cancelled")

    async def update(self, update: v2.SessionUpdate) -> None:
        """Send an update, and keep it as a part of the history."""
        self.keep(update)
        if isinstance(update, v2.SessionInfoUpdate) and update.title is not UNSET:
            self.title = update.title
        await self.send(update)

    async def send(self, update: v2.SessionUpdate) -> None:
        """Send an update that is no part of the history."""
        params = v2.UpdateSessionNotification(session_id=self.id, update=update)
        await maybe_await(self.notify("session/update", params))

    async def tell(self, **fields: Any) -> None:
        """Send an update, as its fields stand on the wire, and keep it."""
        await self.update(_update(fields))

    async def become(self, state: State, **fields: Any) -> None:
        """Tell what the session does in the foreground."""
        self.doing = state
        more: dict[str, Any] = {} if self.background is None else {"background": to_builtins(self.background)}
        await self.send(_update({"sessionUpdate": "state_update", "state": state, **more, **fields}))


@dataclass(frozen=True, slots=True)
class Turn:
    """The work on one prompt: its session, what the user said, and the id of that message. `requests` is how it asks the client."""

    session: Session
    prompt: tuple[v2.ContentBlock, ...]
    message_id: str
    requests: Call | None = None

    @property
    def text(self) -> str:
        """What the user typed: the text blocks of the prompt, one after another."""
        return "\n".join(block.text for block in self.prompt if isinstance(block, v2.TextContent))

    async def say(self, text: str, message_id: str) -> None:
        """Send a piece of a message of the agent."""
        block = {"type": "text", "text": text}
        await self.session.tell(sessionUpdate="agent_message_chunk", messageId=message_id, content=block)

    async def ask(self, request: v2.RequestPermissionRequest) -> Decision:
        """Ask the user for permission, while all work in the foreground waits, and say what was decided and why.

        Raises what the connection raises, and `RuntimeError` where the host was given no `call`.
        """
        if self.requests is None:
            raise RuntimeError("this host cannot send requests: it was created without 'call'")
        async with self.blocked():
            return decide(request, await self.requests("session/request_permission", request))

    @asynccontextmanager
    async def blocked(self) -> AsyncGenerator[None]:
        """Within this, all work in the foreground waits for the user, as for a permission. It goes on when the last one of these ends,
        whichever way.
        """
        question, questions = object(), self.session.questions
        questions.add(question)
        try:
            await self.session.become("requires_action")
            yield
        finally:
            questions.discard(question)
            if not questions and questions is self.session.questions:
                with suppress(ConnectionError):  # nobody listens any more
                    await self.session.become("running")


class AgentHost(AgentSessions[Session]):
    """The sessions of an agent, over one connection.

    `notify` sends notifications to the client, `call` requests, for turns that make them. `grant` is the policy for roots;
    `advertised`: whether `additionalDirectories` is advertised. Sessions are kept in memory; to keep them longer, store `sessions` yourself
    and put them back before the connection begins.

    Content blocks and MCP servers of types that the agent does not support are refused with -32602: those that `offers` does not
    advertise (`None`: any type of this version is supported), and types that no version has, except those in `types`.
    """

    def __init__(
        self,
        notify: Notify,
        *,
        call: Call | None = None,
        grant: RootPolicy = lambda path: None,
        advertised: bool = True,
        offers: Callable[[], v2.AgentCapabilities] | None = None,
        types: Collection[str] = (),
    ) -> None:
        super().__init__(notify, Session, grant=grant, advertised=advertised)
        self._call = call
        self._offers = offers
        self._types = frozenset(types)

    def capabilities(self, **more: Any) -> v2.AgentCapabilities:
        """What this object can do of what agents may advertise. `more` are further fields of the session's, such as `prompt` and `mcp`."""
        roots = v2.SessionAdditionalDirectoriesCapabilities() if self.workspace.advertised else None
        session = v2.SessionCapabilities(
            delete=v2.SessionDeleteCapabilities(),
            fork=v2.SessionForkCapabilities(),
            additional_directories=roots,
            **more,
        )
        return v2.AgentCapabilities(session=session)

    # --- the life of a session

    async def new(self, request: v2.NewSessionRequest) -> v2.NewSessionResponse:
        """Handle `session/new`. Raises `RequestError`."""
        self._refuse_servers(request.mcp_servers)
        session = self._begun(self.workspace.bind(request))
        commands: dict[str, Any] = {} if session.commands is None else {"available_commands": session.commands}
        return v2.NewSessionResponse(session_id=session.id, **_offered(session), **commands)

    async def resume(self, request: v2.ResumeSessionRequest) -> v2.ResumeSessionResponse:
        """Handle `session/resume`: the roots given are all that the session has from now on. From the start, the history is told again;
        the state is told in any case. Raises `RequestError` -32602 for another place to begin at.
        """
        session = self.known(request.session_id)
        self._refuse_servers(request.mcp_servers)
        start = request.replay_from
        if start is not None and not isinstance(start, v2.ReplayFromStart):
            raise invalid_params("this agent replays only from the start", pointer="/replayFrom")
        self._rebound(session, self.workspace.bind(request))
        await self._retold(session, whole=start is not None)
        return v2.ResumeSessionResponse(**_offered(session))

    async def load(self, request: v2.LoadSessionRequest) -> v2.LoadSessionResponse:
        """Handle `session/load`: as `resume` from the start."""
        session = self.known(request.session_id)
        self._refuse_servers(request.mcp_servers)
        self._rebound(session, self.workspace.bind(request))
        await self._retold(session, whole=True)
        return v2.LoadSessionResponse(**_offered(session))

    async def fork(self, request: v2.ForkSessionRequest) -> v2.ForkSessionResponse:
        """Handle `session/fork`: a new session with the history of another, and the roots that are given."""
        source = self.known(request.session_id)
        self._refuse_servers(request.mcp_servers)
        session = self._begun(self.workspace.fork(request), source)
        return v2.ForkSessionResponse(session_id=session.id, **_offered(session))

    async def list_sessions(self, request: v2.ListSessionsRequest) -> v2.ListSessionsResponse:
        """Handle `session/list`: those that pass the filters, newest first, in pages. Raises `RequestError` for a cursor that is none."""
        page, following = self._page(request)
        infos = [v2.SessionInfo(**self._listed(one)) for one in page]
        return v2.ListSessionsResponse(sessions=infos, next_cursor=following)

    async def close(self, request: v2.CloseSessionRequest) -> v2.CloseSessionResponse:
        """Handle `session/close`: all work is cancelled, its end told, and the roots are closed. The session can be resumed."""
        await self._closed(self.known(request.session_id))
        return v2.CloseSessionResponse()

    async def delete(self, request: v2.DeleteSessionRequest) -> v2.DeleteSessionResponse:
        """Handle `session/delete`: close the session and forget it. One that is not there is deleted already."""
        await self._deleted(request.session_id)
        return v2.DeleteSessionResponse()

    # --- turns

    async def prompt(self, request: v2.PromptRequest, run: Run) -> v2.PromptResponse:
        """Handle `session/prompt`: take the message in, and begin with the work once the turn before it has ended.

        Raises `RequestError` -32602 where the session is not open, and for content that is not supported. Cancelled while it waits, the
        message is not taken in.
        """
        session = self.known(request.session_id)
        session.roots  # noqa: B018 - raises where it is not open
        self._refuse_content(request.prompt)
        current = asyncio.current_task()
        assert current is not None
        session.waiting.add(current)
        try:
            await session.free.acquire()
        finally:
            session.waiting.discard(current)
        turn = Turn(session, tuple(request.prompt), f"msg_{secrets.token_hex(8)}", self._call)
        session.work = _Work(turn, run)
        session.turn = asyncio.ensure_future(session.work.go())
        return v2.PromptResponse(message_id=turn.message_id)

    def cancel(self, params: v2.CancelSessionNotification) -> None:
        """Handle `session/cancel`: stop the turn, and the prompts that wait for it. Background work goes on."""
        session = self.sessions.get(params.session_id)
        if session is not None:
            _stop(session)

    def _refuse_content(self, prompt: Sequence[v2.ContentBlock]) -> None:
        offered = self._session_offers()
        takes = None if offered is None else offered.prompt or v2.PromptCapabilities()
        for index, block in enumerate(prompt):
            match block:
                case v2.ImageContent():
                    is_taken = takes is None or takes.image is not None
                case v2.AudioContent():
                    is_taken = takes is None or takes.audio is not None
                case v2.EmbeddedResource():
                    is_taken = takes is None or takes.embedded_context is not None
                case Unknown():
                    is_taken = block.tag in self._types
                case _:
                    is_taken = True
            if not is_taken:
                raise invalid_params(
                    f"this agent takes no content of the type {block.type!r}", pointer=f"/prompt/{index}"
                )

    def _refuse_servers(self, servers: Sequence[v2.McpServer] | UnsetType) -> None:
        offered = self._session_offers()
        reaches = None if offered is None else offered.mcp or v2.McpCapabilities()
        for index, server in enumerate(() if servers is UNSET else servers):
            match server:
                case v2.McpServerStdio():
                    is_reached = reaches is None or reaches.stdio is not None
                case v2.McpServerHttp():
                    is_reached = reaches is None or reaches.http is not None
                case Unknown():
                    is_reached = server.tag in self._types
            if not is_reached:
                sentence = f"this agent reaches no MCP server over {server.type!r}"
                raise invalid_params(sentence, pointer=f"/mcpServers/{index}")

    def _session_offers(self) -> v2.SessionCapabilities | None:
        return None if self._offers is None else self._offers().session or v2.SessionCapabilities()

    async def _closed(self, session: Session) -> None:
        _stop(session)
        if session.turn is not None:
            await asyncio.wait([session.turn])
        await super()._closed(session)

    async def _retold(self, session: Session, *, whole: bool) -> None:
        for update in tuple(session.history) if whole else ():
            await session.send(update)
        await session.become(session.doing)


def _stop(session: Session) -> None:
    for task in tuple(session.waiting):
        task.cancel()
    if session.work is not None:
        session.work.stop()


class _Work:
    """The work of one turn: the message, what `run` does, the end. Only what `run` does can be stopped: the rest is always told."""

    def __init__(self, turn: Turn, run: Run) -> None:
        self._turn = turn
        self._run = run
        self._task: asyncio.Task[str] | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """Cancel it."""
        self._is_stopped = True
        if self._task is not None:
            self._task.cancel()

    async def go(self) -> None:
        """Do it."""
        session = self._turn.session
        session.turn_calls, session.questions = set(), set()
        try:
            with suppress(ConnectionError):  # nobody listens any more
                content = to_builtins(self._turn.prompt)
                await session.tell(sessionUpdate="user_message", messageId=self._turn.message_id, content=content)
                await session.become("running")
            end = await self._end()
            session.questions = set()
            is_failed = end["stopReason"] == "error"
            beside = {one.tool_call_id for one in session.background or () if isinstance(one, v2.BackgroundToolCall)}
            calls = session.turn_calls - beside if is_failed or end["stopReason"] == "cancelled" else ()
            for update in session.end_calls(calls, is_failed=is_failed):
                with suppress(ConnectionError):
                    await session.send(update)
            with suppress(ConnectionError):
                await session.become("idle", **end)
        finally:
            session.doing, session.turn, session.work = "idle", None, None
            session.free.release()

    async def _end(self) -> dict[str, Any]:
        """Why it ended. What `run` raises ends it as failed."""
        if self._is_stopped:
            return {"stopReason": "cancelled"}
        self._task = asyncio.ensure_future(_run(self._run, self._turn))
        await asyncio.wait([self._task])
        if self._is_stopped or self._task.cancelling():
            return {"stopReason": "cancelled"}
        error = RuntimeError("cancelled from within") if self._task.cancelled() else self._task.exception()
        if error is None:
            return {"stopReason": self._task.result()}
        if isinstance(error, RequestError):
            cause = {"code": error.code, "message": error.message}
            return {"stopReason": "error", "error": cause if error.data is None else {**cause, "data": error.data}}
        LOG.error("the work on a prompt failed", exc_info=error)
        return {"stopReason": "error", "error": {"code": INTERNAL_ERROR, "message": "internal error"}}


async def _run(run: Run, turn: Turn) -> str:
    return await run(turn)


def _offered(session: Session) -> dict[str, Any]:
    return {} if session.options is None else {"config_options": session.options}


def _update(fields: dict[str, Any]) -> v2.SessionUpdate:
    found: Any = v2.decode_as(v2.UpdateSessionNotification, {"sessionId": "", "update": fields}, lenient=False)
    return found.update  # type: ignore[no-any-return]
