"""What an agent of v1 behind `as_v2` sees: its client.

Sources: the pages of v1 on the file system, terminals, elicitation; the migration page of v2.
"""

from __future__ import annotations

from typing import Any

from acp_bindings import to_builtins, v1, v2
from acp_bindings.v1 import peers as peers1

from acp_workspace.filesystem import FileSystem
from acp_workspace.terminals import Terminals
from jsonrpc_bindings.peers import unserved

from .downward import CARRIED
from .forwarding import forwarded, into_v2
from .turns_of_v1 import TurnsOfV1


class Back(peers1.Client):
    """What the agent of v1 sees: a client that has files and terminals where the adapter serves them."""

    def __init__(self, front: TurnsOfV1) -> None:
        self._front = front

    async def fs_read_text_file(self, params: v1.ReadTextFileRequest, /) -> v1.ReadTextFileResponse:
        return await (await self._files(params.session_id, "fs/read_text_file")).read_text_file(params)

    async def fs_write_text_file(self, params: v1.WriteTextFileRequest, /) -> v1.WriteTextFileResponse:
        return await (await self._files(params.session_id, "fs/write_text_file")).write_text_file(params)

    async def terminal_create(self, params: v1.CreateTerminalRequest, /) -> v1.CreateTerminalResponse:
        terminals = await self._terminals(params.session_id, "terminal/create", params.command)
        return await self._front.serving.created(terminals, params)

    async def terminal_output(self, params: v1.TerminalOutputRequest, /) -> v1.TerminalOutputResponse:
        return await (await self._terminals(params.session_id, "terminal/output")).output(params)

    async def terminal_wait_for_exit(self, params: v1.WaitForTerminalExitRequest, /) -> v1.WaitForTerminalExitResponse:
        return await (await self._terminals(params.session_id, "terminal/wait_for_exit")).wait_for_exit(params)

    async def terminal_kill(self, params: v1.KillTerminalRequest, /) -> v1.KillTerminalResponse:
        return await (await self._terminals(params.session_id, "terminal/kill")).kill(params)

    async def terminal_release(self, params: v1.ReleaseTerminalRequest, /) -> v1.ReleaseTerminalResponse:
        terminals = await self._terminals(params.session_id, "terminal/release")
        return await self._front.serving.released(terminals, params)

    async def _files(self, session_id: str, method: str) -> FileSystem:
        await self._front.alive(session_id)
        if self._front.serving.files is None:
            raise unserved(method)
        return self._front.serving.files

    async def _terminals(self, session_id: str, method: str, command: str | None = None) -> Terminals:
        await self._front.alive(session_id, command)
        if self._front.serving.terminals is None:
            raise unserved(method)
        return self._front.serving.terminals

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
        return await forwarded(self._front.client.extension_request(method, params))

    async def extension_notification(self, method: str, params: Any) -> None:
        if method == CARRIED:
            await self._front.carried(params)
        else:
            await self._front.client.extension_notification(method, params)
