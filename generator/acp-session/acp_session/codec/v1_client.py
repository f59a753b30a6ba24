"""What an agent of v1 behind `as_v2` sees: its client.

Sources: the pages of v1 on the file system, terminals, elicitation; the migration page of v2.
"""

from __future__ import annotations

from typing import Any

from acp_bindings import to_builtins, v1, v2
from acp_bindings.v1 import peers as peers1

from acp_session.services import Services

from .downward import CARRIED
from .forwarding import forwarded, into_v2
from .v1_turns import TurnsOfV1


class ClientForV1(peers1.Client):
    """What the agent of v1 sees: a client that has files and terminals where there are services for them."""

    def __init__(self, front: TurnsOfV1) -> None:
        self._front = front

    @property
    def _services(self) -> Services:
        return self._front.services

    async def serve(self, method: str, params: Any) -> Any:
        return await forwarded(super().serve(method, params))

    async def fs_read_text_file(self, params: v1.ReadTextFileRequest, /) -> v1.ReadTextFileResponse:
        await self._front.alive(params.session_id)
        return await self._services.read_text_file(params)

    async def fs_write_text_file(self, params: v1.WriteTextFileRequest, /) -> v1.WriteTextFileResponse:
        await self._front.alive(params.session_id)
        return await self._services.write_text_file(params)

    async def terminal_create(self, params: v1.CreateTerminalRequest, /) -> v1.CreateTerminalResponse:
        await self._front.alive(params.session_id, params.command)
        return await self._services.create_terminal(params)

    async def terminal_output(self, params: v1.TerminalOutputRequest, /) -> v1.TerminalOutputResponse:
        await self._front.alive(params.session_id)
        return await self._services.terminal_output(params)

    async def terminal_wait_for_exit(self, params: v1.WaitForTerminalExitRequest, /) -> v1.WaitForTerminalExitResponse:
        await self._front.alive(params.session_id)
        return await self._services.wait_for_terminal_exit(params)

    async def terminal_kill(self, params: v1.KillTerminalRequest, /) -> v1.KillTerminalResponse:
        await self._front.alive(params.session_id)
        return await self._services.kill_terminal(params)

    async def terminal_release(self, params: v1.ReleaseTerminalRequest, /) -> v1.ReleaseTerminalResponse:
        await self._front.alive(params.session_id)
        return await self._services.release_terminal(params)

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        await self._front.updated(params)

    async def session_request_permission(self, params: v1.RequestPermissionRequest, /) -> v1.RequestPermissionResponse:
        return await self._front.asked(params)

    async def elicitation_create(self, params: v1.CreateElicitationRequest, /) -> v1.CreateElicitationResponse:
        return await self._front.elicited(params)

    async def elicitation_complete(self, params: v1.CompleteElicitationNotification, /) -> None:
        place = self._front.losses.place("elicitation/complete")
        await self._front.client.elicitation_complete(
            into_v2(v2.CompleteElicitationNotification, to_builtins(params), place)
        )

    async def extension_request(self, method: str, params: Any) -> Any:
        return await self._front.client.extension_request(method, params)

    async def extension_notification(self, method: str, params: Any) -> None:
        if method == CARRIED:
            await self._front.carried(params)
        else:
            await self._front.client.extension_notification(method, params)
