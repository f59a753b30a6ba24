"""What an agent of v1 sees: its client, whose files and terminals are services.

Sources: the pages of v1 on the file system, terminals, elicitation; the migration page of v2.
"""

from __future__ import annotations

from typing import Any

from acp_bindings import to_builtins, v1, v2
from acp_bindings.v1 import peers as peers1

from .messages import into_v2, relay_errors
from .to_v1 import CARRIED
from .v1_turns import TurnsOfV1


class ClientForV1(peers1.Client):
    """What the agent of v1 sees."""

    def __init__(self, codec: TurnsOfV1) -> None:
        self._codec = codec

    async def serve(self, method: str, params: Any) -> Any:
        return await relay_errors(super().serve(method, params))

    async def fs_read_text_file(self, params: v1.ReadTextFileRequest, /) -> v1.ReadTextFileResponse:
        await self._codec.note_activity(params.session_id)
        return await self._codec.services.read_text_file(params)

    async def fs_write_text_file(self, params: v1.WriteTextFileRequest, /) -> v1.WriteTextFileResponse:
        await self._codec.note_activity(params.session_id)
        return await self._codec.services.write_text_file(params)

    async def terminal_create(self, params: v1.CreateTerminalRequest, /) -> v1.CreateTerminalResponse:
        await self._codec.note_activity(params.session_id, params.command)
        return await self._codec.services.create_terminal(params)

    async def terminal_output(self, params: v1.TerminalOutputRequest, /) -> v1.TerminalOutputResponse:
        await self._codec.note_activity(params.session_id)
        return await self._codec.services.terminal_output(params)

    async def terminal_wait_for_exit(self, params: v1.WaitForTerminalExitRequest, /) -> v1.WaitForTerminalExitResponse:
        await self._codec.note_activity(params.session_id)
        return await self._codec.services.wait_for_terminal_exit(params)

    async def terminal_kill(self, params: v1.KillTerminalRequest, /) -> v1.KillTerminalResponse:
        await self._codec.note_activity(params.session_id)
        return await self._codec.services.kill_terminal(params)

    async def terminal_release(self, params: v1.ReleaseTerminalRequest, /) -> v1.ReleaseTerminalResponse:
        await self._codec.note_activity(params.session_id)
        return await self._codec.services.release_terminal(params)

    async def session_update(self, params: v1.SessionNotification, /) -> None:
        await self._codec.handle_update(params)

    async def session_request_permission(self, params: v1.RequestPermissionRequest, /) -> v1.RequestPermissionResponse:
        return await self._codec.ask_permission(params)

    async def elicitation_create(self, params: v1.CreateElicitationRequest, /) -> v1.CreateElicitationResponse:
        return await self._codec.ask_for_input(params)

    async def elicitation_complete(self, params: v1.CompleteElicitationNotification, /) -> None:
        place = self._codec.losses.place("elicitation/complete")
        await self._codec.client.elicitation_complete(
            into_v2(v2.CompleteElicitationNotification, to_builtins(params), place)
        )

    async def extension_request(self, method: str, params: Any) -> Any:
        return await self._codec.client.extension_request(method, params)

    async def extension_notification(self, method: str, params: Any) -> None:
        if method == CARRIED:
            await self._codec.handle_carried(params)
        else:
            await self._codec.client.extension_notification(method, params)
