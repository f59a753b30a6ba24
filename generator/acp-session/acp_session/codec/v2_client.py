"""What an agent of v2 sees: its client, which is one of v1.

Sources: the pages of v2 on prompts, tool calls, permission, elicitation; the migration page.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from acp_bindings import ConnectionClosed, RequestError, to_builtins, v1, v2
from acp_bindings.v2 import peers as peers2

from .losses import Place
from .messages import into_v1, into_v2, relay_errors
from .to_v1 import CARRIED
from .user_requests import elicitation_to_v1, permission_to_v1
from .walker import Json, without

if TYPE_CHECKING:
    from .agent_as_v1 import AgentAsV1, Session

BUSY: Final = frozenset({"running", "requires_action"})


class ClientForV2(peers2.Client):
    """What the agent of v2 sees."""

    def __init__(self, codec: AgentAsV1) -> None:
        self._codec = codec

    async def serve(self, method: str, params: Any) -> Any:
        """Answer a request: errors of the client are passed on as they are."""
        return await relay_errors(super().serve(method, params))

    # --- updates

    async def session_update(self, params: v2.UpdateSessionNotification, /) -> None:
        session = self._codec.session(params.session_id)
        body = to_builtins(params)
        update, more = body["update"], without(body, "update")
        kind = update.get("sessionUpdate")
        if kind == "state_update":
            await self._handle_state(session, update, more)
            return
        if kind == "user_message":
            session.open_prompts.record_user_message(str(update.get("messageId")))
            if update.get("content") in session.prompts and not session.is_replayed:
                return  # v1 does not repeat what the client has said itself
        await self.update(session, update, more)

    async def _handle_state(self, session: Session, update: Json, more: Json) -> None:
        place = self._place(session)
        state = update.get("state")
        if update.get("background"):
            place.at("background").lose("v1 does not report background work", update["background"], "carried")
            await self._carry(session, update, more)
        if state in BUSY:
            session.open_prompts.record_running()
            place.lose_fields(update, "sessionUpdate", "state", "background")
            if not session.open_prompts.open:
                place.at("state").lose("v1 has no work without a prompt; its updates are still sent", state)
        elif state == "idle":
            is_cancelled = update.get("stopReason") == "cancelled"
            async with session.sending:
                if session.open_prompts.completing(is_cancelled=is_cancelled):
                    await self._send(session, session.to_v1.flush(place), {})
                session.open_prompts.record_idle(without(update, "sessionUpdate", "state"), is_cancelled=is_cancelled)
        elif not update.get("background"):
            place.at("state").lose("v1 has no such state", update, "carried")
            await self._carry(session, update, more)

    async def update(self, session: Session, update: Json, more: Json) -> None:
        """Send the client of v1 what an update says, whole before the next."""
        async with session.sending:
            found = session.to_v1.update(update, self._place(session))
            if found is None:
                await self._carry(session, update, more)
            else:
                await self._send(session, found, more)

    async def _carry(self, session: Session, update: Json, more: Json) -> None:
        with suppress(ConnectionClosed):
            params = {**more, "sessionId": session.id, "update": update}
            await self._codec.client.extension_notification(CARRIED, params)

    async def _send(self, session: Session, updates: list[Json], more: Json) -> None:
        place = self._codec.losses.place("session/update", session_id=session.id)
        for one in updates:
            body = {**more, "sessionId": session.id, "update": one}
            with suppress(ConnectionClosed, RequestError):  # what is refused is reported as a loss
                await self._codec.client.session_update(into_v1(v1.SessionNotification, body, place))

    def _place(self, session: Session) -> Place:
        return self._codec.losses.place("session/update", "update", session_id=session.id)

    # --- requests

    async def session_request_permission(self, params: v2.RequestPermissionRequest, /) -> v2.RequestPermissionResponse:
        place = self._codec.losses.place("session/request_permission", session_id=params.session_id)
        request = permission_to_v1(params, self._codec.session(params.session_id).to_v1, place)
        answer = await self._codec.client.session_request_permission(request)
        subject = params.subject
        own = subject.tool_call.title if isinstance(subject, v2.ToolCallPermissionSubject) else None
        if (
            isinstance(own, str) and own != request.tool_call.title
        ):  # clients show the words of the prompt as the call's title
            update = {"sessionUpdate": "tool_call_update", "toolCallId": request.tool_call.tool_call_id, "title": own}
            await self.update(self._codec.session(params.session_id), update, {})
        return into_v2(v2.RequestPermissionResponse, to_builtins(answer), place)

    async def elicitation_create(self, params: v2.CreateElicitationRequest, /) -> v2.CreateElicitationResponse:
        place = self._codec.losses.place("elicitation/create", session_id=getattr(params, "session_id", None))
        request = elicitation_to_v1(params, place, self._connection)
        answer: Any = await self._codec.client.elicitation_create(request)
        return into_v2(v2.CreateElicitationResponse, to_builtins(answer), place)  # type: ignore[arg-type]

    async def elicitation_complete(self, params: v2.CompleteElicitationNotification, /) -> None:
        place = self._codec.losses.place("elicitation/complete")
        await self._codec.client.elicitation_complete(
            into_v1(v1.CompleteElicitationNotification, to_builtins(params), place)
        )

    async def extension_request(self, method: str, params: Any) -> Any:
        return await self._codec.client.extension_request(method, params)

    async def extension_notification(self, method: str, params: Any) -> None:
        await self._codec.client.extension_notification(method, params)
