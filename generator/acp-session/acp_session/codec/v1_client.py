"""What an agent of v1 sees: its client, whose files and terminals are services.

Sources: the pages of v1 on the file system, terminals, permission, elicitation; the migration page of v2.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from acp_bindings import RequestError, to_builtins, v1, v2
from acp_bindings.v1 import peers as peers1

from acp_session.background import CancelScope
from acp_session.diffs import as_object
from acp_session.services import SERVICES
from acp_workspace.errors import refused

from .messages import into_v1, into_v2, relay_errors
from .to_v1 import CARRIED, STATES, is_carried
from .user_requests import elicitation_to_v2, outcome_to_v1, permission_to_v2
from .v1_turns import TurnsOfV1
from .walker import without


class ClientForV1(peers1.Client):
    """What the agent of v1 sees."""

    def __init__(self, codec: TurnsOfV1) -> None:
        self._codec = codec

    async def serve(self, method: str, params: Any) -> Any:
        """Answer a request: files and terminals by the services, the rest by the client."""
        if method not in SERVICES:
            return await relay_errors(super().serve(method, params))
        session = self._codec.sessions.get(params.session_id)
        if session is not None:
            await self._codec.report_start(session)
            if method == "terminal/create" and session.scope.is_cancelled:
                raise refused(params.command, "the turn was cancelled")
        return await relay_errors(self._codec.services.answer(method, params))

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        session = self._codec.session(params.session_id)
        body = to_builtins(params)
        place = self._codec.losses.place("session/update", "update", session_id=session.id)
        found = session.to_v2.update(body["update"], place)
        if session.is_muted:
            return
        await self._codec.report_start(session)
        for one in found:
            with suppress(RequestError):  # reported as a loss
                await self._codec.send(session.id, one, without(body, "sessionId", "update"))

    async def session_request_permission(self, params: v1.RequestPermissionRequest, /) -> v1.RequestPermissionResponse:
        """Where the turn is cancelled meanwhile, that is the answer, and the client is asked no more."""
        codec = self._codec
        session = codec.session(params.session_id)
        place = codec.losses.place("session/request_permission", session_id=session.id)
        request = permission_to_v2(params, session.to_v2, place)
        await codec.report_start(session)
        cancelled = v1.RequestPermissionResponse(outcome=v1.CancelledPermissionOutcome())
        if session.scope.is_cancelled:
            return cancelled
        if session.turn is not None:
            await codec.report_state(session, "requires_action")
        try:
            answer = await session.scope.run(lambda: codec.client.session_request_permission(request))
        finally:
            if session.turn is not None and not session.scope.is_waiting and not session.scope.is_cancelled:
                await codec.report_state(session, "running")
        return cancelled if answer is None else outcome_to_v1(answer, place)

    async def elicitation_create(self, params: v1.CreateElicitationRequest, /) -> v1.CreateElicitationResponse:
        """Where the turn is cancelled meanwhile, the client is asked no more."""
        codec = self._codec
        place = codec.losses.place("elicitation/create", session_id=getattr(params, "session_id", None))
        sent = self.connection.sent(getattr(params, "request_id", None))
        session = codec.sessions.get(str(getattr(params if sent is None else sent.params, "session_id", None)))
        if session is not None:
            await codec.report_start(session)
        request = elicitation_to_v2(params, place, None if codec.is_local else self.connection)
        scope = CancelScope() if session is None else session.scope
        answer = await scope.run(lambda: codec.client.elicitation_create(request))
        if answer is None:
            return v1.ElicitationCancelAction()
        return into_v1(v1.CreateElicitationResponse, to_builtins(answer), place)  # type: ignore[arg-type]

    async def elicitation_complete(self, params: v1.CompleteElicitationNotification, /) -> None:
        place = self._codec.losses.place("elicitation/complete")
        await self._codec.client.elicitation_complete(
            into_v2(v2.CompleteElicitationNotification, to_builtins(params), place)
        )

    async def extension_request(self, method: str, params: Any) -> Any:
        return await self._codec.client.extension_request(method, params)

    async def extension_notification(self, method: str, params: Any) -> None:
        """What another codec has carried through v1 is the update of v2 again."""
        if method != CARRIED:
            await self._codec.client.extension_notification(method, params)
            return
        place = self._codec.losses.place(CARRIED)
        notification = into_v2(v2.UpdateSessionNotification, as_object(params), place)
        session, update = self._codec.session(notification.session_id), to_builtins(notification.update)
        if session.is_muted:
            return
        if not is_carried(update):
            place.at("update").lose("only what v1 has no form for is carried", update)
            return
        await self._codec.report_start(session)
        if update.get("state") in STATES:  # the turn of v1 says the state; the background is carried
            update = {**without(update, "stopReason", "error"), **session.state}
        await self._codec.send(session.id, update, without(to_builtins(notification), "sessionId", "update"))
