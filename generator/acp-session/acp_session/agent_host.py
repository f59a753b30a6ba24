"""The agent's half of a connection: one object that owns the sessions, with their roots, their history and their turns.

    host = AgentHost(notify, grant=only_below_srv)
    response = await host.new(request)                        # one method for each of the lifecycle
    response = await host.prompt(request, run)                # `run(turn)` does the work and returns why it ended
    host.cancel(notification.params)

Roots are bound before a session exists, and closed with it; a lifecycle request that fails leaves everything as it was. What a session
sends with `Session.update` is its history, which `session/load` tells again.

Sources: the pages of v1 on session setup, session list, prompt turns, cancellation; the RFDs on `additionalDirectories`, on closing,
deleting, listing, resuming and forking sessions.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from acp_bindings import v1

from .agent_session import Notify, Session
from .errors import NOT_FOUND, RequestError, invalid_params
from .turn import Call, Turn
from .workspace import AgentWorkspace, Grant, RootSet

Run: TypeAlias = "Callable[[Turn], Awaitable[v1.StopReason]]"
"""Does the work of a turn. It is cancelled with the turn: what it raises or returns then does not count."""

PAGE: Final = 100
"""Sessions on a page of `session/list`."""


class AgentHost:
    """The sessions of an agent, over one connection.

    `notify` sends notifications to the client, `call` requests, for turns that make them. `grant` is the policy for roots;
    `advertised`: whether `additionalDirectories` is advertised. Sessions are kept in memory; to keep them longer, store `sessions` yourself
    and put them back before the connection begins.
    """

    def __init__(
        self,
        notify: Notify,
        *,
        call: Call | None = None,
        grant: Grant = lambda path: None,
        advertised: bool = True,
    ) -> None:
        self._notify, self._call = notify, call
        self.workspace = AgentWorkspace(advertised=advertised, grant=grant)
        self.sessions: dict[str, Session] = {}

    def capabilities(self) -> v1.AgentCapabilities:
        """What this object can do of what agents may advertise."""
        roots = v1.SessionAdditionalDirectoriesCapabilities() if self.workspace.advertised else None
        sessions = v1.SessionCapabilities(
            list_=v1.SessionListCapabilities(),
            delete=v1.SessionDeleteCapabilities(),
            resume=v1.SessionResumeCapabilities(),
            close=v1.SessionCloseCapabilities(),
            fork=v1.SessionForkCapabilities(),
            additional_directories=roots,
        )
        return v1.AgentCapabilities(load_session=True, session_capabilities=sessions)

    def roots(self, session_id: str) -> RootSet:
        """The roots that are in force. Raises `RequestError` -32602 for a session that has none."""
        return self._known(session_id).roots

    # --- the life of a session

    async def new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        """Handle `session/new`. Raises `RequestError`."""
        session = self._begun(self.workspace.new(request))
        return v1.NewSessionResponse(session_id=session.id, modes=session.modes, config_options=session.options)

    async def load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        """Handle `session/load`: the roots given are all that the session has from now on, and its history is told again."""
        session = self._known(request.session_id)
        self._rebound(session, self.workspace.load(request))
        for update in tuple(session.history):
            await session.send(update)
        return v1.LoadSessionResponse(modes=session.modes, config_options=session.options)

    async def resume(self, request: v1.ResumeSessionRequest) -> v1.ResumeSessionResponse:
        """Handle `session/resume`: as `load`, and nothing is told again."""
        session = self._known(request.session_id)
        self._rebound(session, self.workspace.resume(request))
        return v1.ResumeSessionResponse(modes=session.modes, config_options=session.options)

    async def fork(self, request: v1.ForkSessionRequest) -> v1.ForkSessionResponse:
        """Handle `session/fork`: a new session with the history of another, and the roots that are given."""
        source = self._known(request.session_id)
        session = self._begun(self.workspace.fork(request))
        session.history, session.title, session.state = list(source.history), source.title, source.state
        session.modes, session.options, session.calls = source.modes, source.options, source.calls
        return v1.ForkSessionResponse(session_id=session.id, modes=session.modes, config_options=session.options)

    async def list_sessions(self, request: v1.ListSessionsRequest) -> v1.ListSessionsResponse:
        """Handle `session/list`: those that pass the filters, newest first, in pages. Raises `RequestError` for a cursor that is none."""
        order = sorted(self.sessions.values(), key=lambda one: (one.updated_at, one.id), reverse=True)
        found = self.workspace.listed(order, request, lambda one: one.scope)
        start = 0
        if request.cursor is not None:
            ids = [one.id for one in found]
            if request.cursor not in ids:
                raise invalid_params("the cursor is none that this agent gave", pointer="/cursor")
            start = ids.index(request.cursor) + 1
        page = found[start : start + PAGE]
        following = page[-1].id if len(found) > start + PAGE else None
        return v1.ListSessionsResponse(sessions=[self._info(one) for one in page], next_cursor=following)

    async def close(self, request: v1.CloseSessionRequest) -> v1.CloseSessionResponse:
        """Handle `session/close`: a turn that is under way is cancelled, and the roots are closed. The session can be loaded again."""
        await self._closed(self._known(request.session_id))
        return v1.CloseSessionResponse()

    async def delete(self, request: v1.DeleteSessionRequest) -> v1.DeleteSessionResponse:
        """Handle `session/delete`: close the session and forget it. One that is not there is deleted already."""
        session = self.sessions.get(request.session_id)
        if session is not None:
            await self._closed(session)
            del self.sessions[session.id]
        return v1.DeleteSessionResponse()

    async def aclose(self) -> None:
        """End everything, as when the connection has ended. The sessions stay, closed."""
        for session in tuple(self.sessions.values()):
            await self._closed(session)

    # --- turns

    async def prompt(self, request: v1.PromptRequest, run: Run) -> v1.PromptResponse:
        """Handle `session/prompt`: do the work of a turn. A turn that is cancelled ends with `cancelled`, whatever `run` makes of it.

        Raises `RequestError` -32602 where the session is not open or in a turn already, and what `run` raises.
        """
        session = self._known(request.session_id)
        session.roots  # noqa: B018 - raises where it is not open
        if session.turn is not None:
            raise invalid_params("the session is in a turn", pointer="/sessionId")
        turn = Turn(session, tuple(request.prompt), self._call)
        session.turn = asyncio.ensure_future(_run(run, turn))
        stopped = session.turn
        try:
            await asyncio.wait([stopped])
        except asyncio.CancelledError:
            await _ended(stopped)
            raise
        finally:
            session.turn = None
        if stopped.cancelled() or stopped.cancelling():
            if not stopped.cancelled():
                stopped.exception()  # looked at, so that nobody complains
            return v1.PromptResponse(stop_reason="cancelled")
        return v1.PromptResponse(stop_reason=stopped.result())

    def cancel(self, params: v1.CancelNotification) -> None:
        """Handle `session/cancel`: cancel the turn. Where none is under way, nothing happens."""
        session = self.sessions.get(params.session_id)
        if session is not None and session.turn is not None:
            session.turn.cancel()

    # --- parts

    def _known(self, session_id: str) -> Session:
        found = self.sessions.get(session_id)
        if found is None:
            raise RequestError(NOT_FOUND, "there is no such session", {"sessionId": session_id})
        return found

    def _begun(self, roots: RootSet) -> Session:
        session = Session(f"sess_{secrets.token_hex(8)}", roots.scope, notify=self._notify)
        session.updated_at = datetime.now(UTC).isoformat()
        self.sessions[session.id] = session
        self._rebound(session, roots)
        return session

    def _rebound(self, session: Session, roots: RootSet) -> None:
        before, session.bound, session.scope = session.bound, roots, roots.scope
        session.notify = self._notify
        if before is not None:
            before.close()
        self.workspace.activate(session.id, roots)

    async def _closed(self, session: Session) -> None:
        if session.turn is not None:
            await _ended(session.turn)
        if session.bound is not None:
            session.bound.close()
            session.bound = None
        self.workspace.changed_elsewhere(session.id)

    def _info(self, session: Session) -> v1.SessionInfo:
        fields: dict[str, Any] = (
            {"additional_directories": session.scope.as_listed()} if self.workspace.advertised else {}
        )
        return v1.SessionInfo(
            session_id=session.id,
            cwd=session.scope.cwd,
            title=session.title,
            updated_at=session.updated_at or None,
            **fields,
        )


async def _run(run: Run, turn: Turn) -> v1.StopReason:
    return await run(turn)


async def _ended(task: asyncio.Task[v1.StopReason]) -> None:
    task.cancel()
    await asyncio.wait([task])
