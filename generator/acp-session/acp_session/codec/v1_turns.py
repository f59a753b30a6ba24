"""The sessions and turns of an agent of v1 in the terms of v2.

In v1 the answer to `session/prompt` is the end of the turn; in v2 it says that the prompt was accepted, and the end is an update. The
agent of v1 does not say that it accepts: its first sign of life in the turn counts as that, or `patience` seconds without an error. Prompts
wait for the end of the turn before them.

Sources: the pages of both versions on prompts, cancellation, tool calls; the migration page.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from acp_bindings import ConnectionClosed, RequestError, to_builtins, v1, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_session.background import Background, CancelScope
from acp_session.prompts import TurnQueue
from acp_session.services import Local, LocalServices, Services
from acp_workspace.approval import ApprovalRequest, Approve
from acp_workspace.errors import INTERNAL_ERROR
from acp_workspace.hooks import maybe_await

from .interfaces import ClientInterface
from .losses import Losses, OnLoss
from .messages import into_v1, into_v2, relay_errors
from .to_v1 import ToV1
from .to_v2 import ToV2
from .walker import Json

MOST_UNUSED: Final = 100
"""Sessions that are kept although they were not opened here."""
PATIENCE: Final = 0.5
"""Seconds of silence after which a prompt counts as accepted."""


@dataclass(slots=True, eq=False)
class Turn:
    """A prompt that the agent works on. `begun`: it gave a sign of life. `answered`: the client has its answer."""

    message_id: str
    content: list[Any]
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    is_reported: bool = False
    failure: RequestError | None = None


@dataclass(slots=True, eq=False)
class Session:
    """A session: what it was sent, its turn, its state as reported last, prompts that wait, and what the user is being asked."""

    id: str
    to_v2: ToV2
    cwd: str = ""
    additional: list[str] = field(default_factory=list[str])
    queue: TurnQueue = field(default_factory=TurnQueue)
    turn: Turn | None = None
    state: Json = field(default_factory=lambda: {"state": "idle"})
    work: asyncio.Task[Any] | None = None
    scope: CancelScope = field(default_factory=CancelScope)
    is_muted: bool = False

    @property
    def is_used(self) -> bool:
        """Whether it was opened, or a prompt is worked on."""
        return bool(self.cwd) or self.turn is not None or self.queue.is_busy or self.is_muted


def forget_oldest(unused: Sequence[str], sessions: dict[str, Any]) -> None:
    """Make room for a session of which a message tells: of those that nobody uses, the oldest goes."""
    if len(unused) >= MOST_UNUSED:
        del sessions[unused[0]]


class TurnsOfV1(peers2.Agent):
    """What an agent of v1 does in its sessions, reported to a client of v2."""

    agent: peers1.RemoteAgent

    def __init__(
        self,
        client: ClientInterface | None = None,
        services: Services | None = None,
        *,
        local: Local | None = None,
        on_loss: OnLoss = lambda loss: None,
        patience: float = PATIENCE,
    ) -> None:
        self.losses = Losses(on_loss)
        self.services = services or Services()
        if local is not None:
            self.services = LocalServices(
                replace(local, approve=local.approve and self._approval(local.approve)), self.send
            )
        self.sessions: dict[str, Session] = {}
        self._client = client
        self._patience = patience
        self._can = v1.AgentCapabilities()
        self._to_v1 = ToV1(has_switches=True, has_notices=True, has_compaction=True)
        self._background = Background()

    def _approval(self, approve: Approve) -> Approve:
        """Asks nobody about a turn that was cancelled."""

        async def ask(request: ApprovalRequest) -> bool:
            scope = self.session(request.session_id).scope
            return await scope.run(lambda: maybe_await(approve(request))) is True

        return ask

    @property
    def is_local(self) -> bool:
        """Whether the client is an object of this process."""
        return self._client is not None

    @property
    def client(self) -> Any:
        """The client of v2: an object, or the peer at the far end of the connection that this serves."""
        return super().client if self._client is None else self._client

    async def close(self) -> None:
        """End what runs beside."""
        await self.services.close()
        await self._background.close()

    async def follow_agent(self) -> None:
        """Wait until the agent has gone: turns end as failed, and the connection to the client, if there is one, is closed."""
        await self.agent.connection.ended()
        work = [session.work for session in self.sessions.values() if session.work is not None]
        if work:
            await asyncio.wait(work)
        if self._connection is not None:
            await self._connection.close()

    async def serve(self, method: str, params: Any) -> Any:
        """Serve a request of a client at the far end of a connection: errors of the agent are passed on as they are."""
        return await relay_errors(super().serve(method, params))

    def session(self, session_id: str) -> Session:
        """What is known of a session; one that is new begins."""
        found = self.sessions.get(session_id)
        if found is None:
            forget_oldest([one.id for one in self.sessions.values() if not one.is_used], self.sessions)
            to_v2 = ToV2(lambda: self.services.terminals(session_id))
            found = self.sessions[session_id] = Session(session_id, to_v2)
        return found

    # --- turns

    async def session_prompt(self, params: v2.PromptRequest, /) -> v2.PromptResponse:
        place = self.losses.place("session/prompt", session_id=params.session_id)
        body = to_builtins(params)
        request = into_v1(v1.PromptRequest, self._to_v1.convert("PromptRequest", body, place), place)
        session = self.session(params.session_id)
        await session.queue.wait()
        turn = session.turn = Turn(session.to_v2.message_id(), body["prompt"])
        session.to_v2.pause()
        session.work = self._background.start(self._work(session, turn, request))
        begun = asyncio.ensure_future(turn.begun.wait())
        try:
            await asyncio.wait({begun, session.work}, timeout=self._patience, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self._cancel(session, {"sessionId": session.id})
            raise
        finally:
            begun.cancel()
            turn.answered.set()
        if turn.failure is not None:
            raise turn.failure
        self._background.start(self.report_start(session))
        return v2.PromptResponse(message_id=turn.message_id)

    async def session_cancel(self, params: v2.CancelSessionNotification, /) -> None:
        session = self.sessions.get(params.session_id)
        if session is not None:
            session.queue.cancel()
        await self._cancel(session, to_builtins(params))

    async def _work(self, session: Session, turn: Turn, request: v1.PromptRequest) -> None:
        """One turn: from the prompt to the answer of v1, which becomes the state `idle`."""
        end: Json
        try:
            asking = self.agent.connection.request("session/prompt", request, timeout=math.inf)  # a turn has no limit
            end = to_builtins(await relay_errors(asking))
        except Exception as found:  # noqa: BLE001 - whatever kept the prompt from being sent ends it
            error = found if isinstance(found, RequestError) else RequestError(INTERNAL_ERROR, str(found))
            if not turn.begun.is_set() and not turn.answered.is_set():
                turn.failure = error
            failed = {"stopReason": "error", "error": error.as_json()}
            end = {"stopReason": "cancelled"} if session.scope.is_cancelled else failed
        try:
            if turn.failure is None:
                try:
                    await self.report_start(session)
                finally:
                    await self.report_state(session, "idle", end)
        finally:
            session.turn = session.work = None
            session.scope.reset()
            session.to_v2.pause()
            session.queue.finish()

    async def report_start(self, session: Session) -> None:
        """Report once that the message has its place and that work goes on; what the agent sends comes after that."""
        turn = session.turn
        if turn is None:
            return
        turn.begun.set()
        await turn.answered.wait()
        if turn.is_reported or turn.failure is not None:
            return
        turn.is_reported = True
        message = {"sessionUpdate": "user_message", "messageId": turn.message_id, "content": turn.content}
        await self.send(session.id, message)
        await self.report_state(session, "running")

    async def report_state(self, session: Session, state: str, end: Json | None = None) -> None:
        """Report in which state a session is."""
        session.state = {"state": state, **(end or {})}
        await self.send(session.id, {"sessionUpdate": "state_update", **session.state})

    async def send(self, session_id: str, update: Json, more: Json | None = None) -> None:
        """Send an update to the client."""
        place = self.losses.place("session/update", session_id=session_id)
        body = {**(more or {}), "sessionId": session_id, "update": update}
        notification = into_v2(v2.UpdateSessionNotification, body, place)
        with suppress(ConnectionClosed):  # nobody listens any more
            await self.client.session_update(notification)

    def _stop(self, session: Session) -> None:
        session.scope.cancel()
        if session.turn is None:
            session.scope.reset()

    async def _cancel(self, session: Session | None, body: Json) -> None:
        if session is not None:
            self._stop(session)
        place = self.losses.place("session/cancel", session_id=body.get("sessionId"))
        with suppress(ConnectionClosed):
            await self.agent.session_cancel(into_v1(v1.CancelNotification, body, place))
        if session is not None:
            await self.services.stop(session.id)
