"""What a client does for an agent of v1 that asks for files and commands: on this machine, in the roots of each session, or as its author
overrides it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acp_bindings import v1, v2

from acp_workspace.filesystem import FileEvent

from .local_services import Local, LocalServices
from .services import SERVICES

if TYPE_CHECKING:
    from acp_workspace.terminals import TerminalEvent

    from .client import Client
    from .client_core import ClientCore


class CoreServices(LocalServices):
    """Each request goes to the method of `Client`. `core` knows the sessions."""

    def __init__(self, client: Client, core: ClientCore) -> None:
        self._client = client
        self._core = core
        local = Local(
            files=client.files,
            terminals=client.terminals,
            backend=client.backend,
            approve=core.approve if client.overrides("approve") else None,
            buffer=client.unsaved_text if client.overrides("unsaved_text") else None,
            on_change=client.on_file_change if client.overrides("on_file_change") else None,
            audit=self._note,
        )
        super().__init__(core, local, self._send)

    async def _note(self, event: FileEvent | TerminalEvent) -> None:
        if isinstance(event, FileEvent):
            await self._client.on_file_event(event)
        else:
            await self._client.on_terminal_event(event)

    def capabilities(self) -> v1.ClientCapabilities:
        """What is configured and can be kept here, and what is overridden."""
        own = super().capabilities()
        overrides = self._client.overrides
        fs = v1.FileSystemCapabilities(
            read_text_file=own.fs.read_text_file or overrides("read_text_file"),
            write_text_file=own.fs.write_text_file or overrides("write_text_file"),
        )
        terminal = own.terminal or all(
            overrides(name) for method, name in SERVICES.items() if method.startswith("terminal/")
        )
        return v1.ClientCapabilities(fs=fs, terminal=terminal)

    def terminals(self, session_id: str) -> None:  # noqa: ARG002
        """See `Services`: all of them may stand in tool calls."""
        return

    async def _send(self, session_id: str, update: dict[str, Any]) -> None:
        body = {"sessionId": session_id, "update": update}
        await self._core.session_update(v2.decode_as(v2.UpdateSessionNotification, body))

    async def answer(self, method: str, params: Any) -> Any:
        """See `Services`: by the method of `Client`, whose overrides win."""
        session = await self._core.known_session(params.session_id)
        answer = await getattr(self._client, SERVICES[method])(session, params)
        await self.show(method, params, answer)
        return answer
