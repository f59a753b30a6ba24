"""The agent's half of a connection: one object that owns the sessions, with their roots, their history and their turns.

    host = AgentHost(notify, grant=only_below_srv)
    response = await host.new(request)                        # one method for each of the lifecycle
    response = await host.prompt(request, run)                # `run(turn)` does the work and returns why it ended
    host.cancel(notification.params)

Roots are bound before a session exists, and closed with it; a lifecycle request that fails leaves everything as it was. What the user
says in a prompt, and what a session sends with `Session.update`, is its history, which `session/load` tells again.

Sources: the pages of v1 on session setup, session list, prompt turns, cancellation; the RFDs on `additionalDirectories`, on closing,
deleting, listing, resuming and forking sessions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeAlias

from acp_bindings import v1

from acp_workspace.errors import invalid_params
from acp_workspace.workspace import RootPolicy

from .agent_base import AgentSessions, Notify, settled
from .agent_session import Session
from .turn_v1 import Call, Turn

Run: TypeAlias = "Callable[[Turn], Awaitable[v1.StopReason]]"
"""Does the work of a turn. It is cancelled with the turn: what it raises or returns then does not count."""


class AgentHost(AgentSessions[Session]):
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
        grant: RootPolicy = lambda path: None,
        advertised: bool = True,
    ) -> None:
        super().__init__(notify, Session, grant=grant, advertised=advertised)
        self._call = call

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

    # --- the life of a session

    async def new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        """Handle `session/new`. Raises `RequestError`."""
        session = self._begun(self.workspace.bind(request))
        return v1.NewSessionResponse(session_id=session.id, modes=session.modes, config_options=session.options)

    async def load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        """Handle `session/load`: the roots given are all that the session has from now on, and its history is told again."""
        session = self.known(request.session_id)
        self._rebound(session, self.workspace.bind(request))
        for update in tuple(session.history):
            await session.send(update)
        return v1.LoadSessionResponse(modes=session.modes, config_options=session.options)

    async def resume(self, request: v1.ResumeSessionRequest) -> v1.ResumeSessionResponse:
        """Handle `session/resume`: as `load`, and nothing is told again."""
        session = self.known(request.session_id)
        self._rebound(session, self.workspace.bind(request))
        return v1.ResumeSessionResponse(modes=session.modes, config_options=session.options)

    async def fork(self, request: v1.ForkSessionRequest) -> v1.ForkSessionResponse:
        """Handle `session/fork`: a new session with the history of another, and the roots that are given."""
        source = self.known(request.session_id)
        session = self._begun(self.workspace.fork(request), source)
        return v1.ForkSessionResponse(session_id=session.id, modes=session.modes, config_options=session.options)

    async def list_sessions(self, request: v1.ListSessionsRequest) -> v1.ListSessionsResponse:
        """Handle `session/list`: those that pass the filters, newest first, in pages. Raises `RequestError` for a cursor that is none."""
        page, following = self._page(request)
        return v1.ListSessionsResponse(
            sessions=[v1.SessionInfo(**self._listed(one)) for one in page], next_cursor=following
        )

    async def close(self, request: v1.CloseSessionRequest) -> v1.CloseSessionResponse:
        """Handle `session/close`: a turn that is under way is cancelled, and the roots are closed. The session can be loaded again."""
        await self._closed(self.known(request.session_id))
        return v1.CloseSessionResponse()

    async def delete(self, request: v1.DeleteSessionRequest) -> v1.DeleteSessionResponse:
        """Handle `session/delete`: close the session and forget it. One that is not there is deleted already."""
        await self._deleted(request.session_id)
        return v1.DeleteSessionResponse()

    # --- turns

    async def prompt(self, request: v1.PromptRequest, run: Run) -> v1.PromptResponse:
        """Handle `session/prompt`: do the work of a turn, once one that was cancelled has ended. A turn that is cancelled ends with
        `cancelled`, whatever `run` makes of it. Tool calls that a turn leaves open have failed with it where it fails or is cancelled.

        Raises `RequestError` -32602 where the session is not open or in a turn already, and what `run` raises.
        """
        session = self.known(request.session_id)
        cancellations = session.cancellations
        while session.turn is not None:
            if not session.is_stopped and not session.turn.cancelling():
                raise invalid_params("the session is in a turn", pointer="/sessionId")
            await session.turn_end.wait()
        session.roots  # noqa: B018 - raises where it is not open
        if session.cancellations != cancellations:
            return v1.PromptResponse(stop_reason="cancelled")
        turn = Turn(session, tuple(request.prompt), self._call)
        session.is_stopped, session.turn_calls, session.turn_end = False, set(), asyncio.Event()
        session.hear(request.prompt)
        session.turn = work = asyncio.ensure_future(_run(run, turn))
        try:
            try:
                await settled(work)
            finally:
                if session.is_stopped or work.cancelling() or work.cancelled() or work.exception() is not None:
                    for update in session.end_calls(session.turn_calls):
                        with suppress(ConnectionError):  # nobody listens any more
                            await session.send(update)
        finally:
            session.turn, session.said = None, []
            session.turn_end.set()
        # a turn that ended by itself is cancelled too, where it was cancelled before anybody was told of its end
        if work.cancelling() or session.is_stopped:
            return v1.PromptResponse(stop_reason="cancelled")
        if work.cancelled():
            raise RuntimeError("the turn was cancelled from within, and nobody had asked for it")
        return v1.PromptResponse(stop_reason=work.result())

    def cancel(self, params: v1.CancelNotification) -> None:
        """Handle `session/cancel`: cancel the turn. Where none is under way, nothing happens."""
        session = self.sessions.get(params.session_id)
        if session is not None and session.turn is not None:
            session.is_stopped = True
            session.cancellations += 1
            session.turn.cancel()


async def _run(run: Run, turn: Turn) -> v1.StopReason:
    return await run(turn)
