"""What an agent of v2 behind `as_v1` sees: its client.

Sources: the pages of v2 on prompts, tool calls, elicitation; the migration page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_bindings import to_builtins, v1, v2
from acp_bindings.v2 import peers as peers2

from .forwarding import forwarded, into_v1

if TYPE_CHECKING:
    from .agent_as_v1 import AgentAsV1


class ClientForV2(peers2.Client):
    """What the agent of v2 sees."""

    def __init__(self, front: AgentAsV1) -> None:
        self._front = front

    async def serve(self, method: str, params: Any) -> Any:
        return await forwarded(super().serve(method, params))

    async def session_update(self, params: v2.UpdateSessionNotification, /) -> None:
        await self._front.updated(params)

    async def session_request_permission(self, params: v2.RequestPermissionRequest, /) -> v2.RequestPermissionResponse:
        return await self._front.asked(params)

    async def elicitation_create(self, params: v2.CreateElicitationRequest, /) -> v2.CreateElicitationResponse:
        return await self._front.elicited(params)

    async def elicitation_complete(self, params: v2.CompleteElicitationNotification, /) -> None:
        place = self._front.losses.place("elicitation/complete")
        await self._front.client.elicitation_complete(
            into_v1(v1.CompleteElicitationNotification, to_builtins(params), place)
        )

    async def extension_request(self, method: str, params: Any) -> Any:
        return await self._front.client.extension_request(method, params)

    async def extension_notification(self, method: str, params: Any) -> None:
        await self._front.client.extension_notification(method, params)
