"""What a client does for an agent of v1 that asks for files and commands: on this machine, in the roots of each session, or as its author
overrides it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from acp_bindings import v1, v2

from acp_workspace.filesystem import FileEvent

from .local_services import Local, LocalServices

if TYPE_CHECKING:
    from acp_workspace.approval import ApprovalRequest
    from acp_workspace.terminals import TerminalEvent
    from acp_workspace.workspace import RootSet

    from .client import Client
    from .client_session import ClientSession

_TERMINAL: Final = (
    *("create_terminal", "terminal_output", "wait_for_terminal_exit", "kill_terminal"),
    "release_terminal",
)


class Sessions(Protocol):
    """What the services ask about the sessions of a connection."""

    def roots(self, session_id: str) -> RootSet:
        """The roots of a session. Raises `RequestError` -32602."""
        ...

    async def known_session(self, session_id: str) -> ClientSession:
        """The session of this id. Raises `RequestError` -32602."""
        ...

    async def approve(self, request: ApprovalRequest) -> bool:
        """Ask the user before a write or a command."""
        ...

    async def session_update(self, params: v2.UpdateSessionNotification, /) -> None:
        """Take an update in."""
        ...


class CoreServices(LocalServices):
    """Each request goes to the method of `Client`. `sessions` knows their roots."""

    def __init__(self, client: Client, sessions: Sessions) -> None:
        self._client = client
        self._sessions = sessions
        local = Local(
            files=client.files,
            terminals=client.terminals,
            backend=client.backend,
            approve=sessions.approve if client.overrides("approve") else None,
            buffer=client.unsaved_text if client.overrides("unsaved_text") else None,
            on_change=client.on_file_change if client.overrides("on_file_change") else None,
            audit=self._note,
        )
        super().__init__(sessions, local, self._send)

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
        terminal = own.terminal or all(map(overrides, _TERMINAL))
        return v1.ClientCapabilities(fs=fs, terminal=terminal)

    def terminals(self, session_id: str) -> None:  # noqa: ARG002
        """See `Services`: all of them may stand in tool calls."""
        return

    async def _send(self, session_id: str, update: dict[str, Any]) -> None:
        body = {"sessionId": session_id, "update": update}
        await self._sessions.session_update(v2.decode_as(v2.UpdateSessionNotification, body))

    async def answer(self, name: str, params: Any) -> Any:
        """See `Services`: by the method of `Client`, whose overrides win."""
        session = await self._sessions.known_session(params.session_id)
        answer = await getattr(self._client, name)(session, params)
        if name == "create_terminal":
            self.show_terminal(params, answer.terminal_id)
        elif name == "release_terminal":
            await self.leave_terminal(params)
        return answer
