"""What a client does for an agent of v1 that asks for files and commands: on this machine, in the roots of each session, or as its author
overrides it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from acp_bindings import v1, v2

from acp_workspace.filesystem import FileSystem
from acp_workspace.terminals import Terminals

from .services import Services
from .terminal_display import Displays

if TYPE_CHECKING:
    from acp_workspace.approval import ApprovalRequest
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


class CoreServices(Services):
    """Each request goes to the method of `Client`. The core knows the roots of the sessions; commands that run here are shown as terminals
    of v2.
    """

    def __init__(self, client: Client, sessions: Sessions) -> None:
        self._client = client
        self._sessions = sessions
        approve = sessions.approve if client.overrides("approve") else None
        self.files: FileSystem | None = None
        self.commands: Terminals | None = None
        self._displays: Displays | None = None
        if client.files is not None:
            self.files = FileSystem(
                sessions,
                client.files,
                backend=client.backend,
                approve=approve,
                on_event=client.on_file_event,
                buffer=client.unsaved_text if client.overrides("unsaved_text") else None,
                on_change=client.on_file_change if client.overrides("on_file_change") else None,
            )
        if client.terminals is not None:
            self.commands = Terminals(
                sessions, client.terminals, approve=approve, on_event=client.on_terminal_event, on_output=self._show
            )
            self._displays = Displays(self.commands, self._send)

    def capabilities(self) -> v1.ClientCapabilities:
        """What is configured and can be kept here, and what is overridden."""
        own = v1.FileSystemCapabilities() if self.files is None else self.files.capabilities()
        overrides = self._client.overrides
        fs = v1.FileSystemCapabilities(
            read_text_file=own.read_text_file or overrides("read_text_file"),
            write_text_file=own.write_text_file or overrides("write_text_file"),
        )
        terminal = (self.commands is not None and self.commands.is_offered) or all(map(overrides, _TERMINAL))
        return v1.ClientCapabilities(fs=fs, terminal=terminal)

    def terminals(self, _session_id: str) -> None:
        """See `Services`: all of them may stand in tool calls."""
        return

    async def cancel_terminal(self, session_id: str, terminal_id: str) -> None:
        """See `Services`."""
        if self._displays is None:
            await super().cancel_terminal(session_id, terminal_id)
        else:
            self._displays.cancel(session_id, terminal_id)

    async def stop(self, session_id: str) -> None:
        """See `Services`."""
        if self.commands is not None:
            await self.commands.stop(session_id)

    async def end(self, session_id: str) -> None:
        """See `Services`."""
        if self.commands is not None:
            await self.commands.end(session_id)
        if self._displays is not None:
            await self._displays.end(session_id)

    async def close(self) -> None:
        """See `Services`."""
        if self.commands is not None:
            await self.commands.aclose()
        if self.files is not None:
            self.files.close()
        if self._displays is not None:
            await self._displays.close()

    def keep_terminals(self, session_id: str, update: object) -> None:
        """Go on showing the terminals that stand in a tool call, after their release."""
        content = update.content if isinstance(update, v2.ToolCallUpdate) else None
        if self.commands is None or not isinstance(content, list):
            return
        for item in content:
            if isinstance(item, v2.Terminal):
                self.commands.keep(session_id, item.terminal_id)

    def _show(self, session_id: str, terminal_id: str, text: str) -> None:
        if self._displays is not None:
            self._displays.show(session_id, terminal_id, text)

    async def _send(self, session_id: str, update: dict[str, Any]) -> None:
        body = {"sessionId": session_id, "update": update}
        await self._sessions.session_update(v2.decode_as(v2.UpdateSessionNotification, body))

    # --- the requests of the agent

    async def read_text_file(self, params: v1.ReadTextFileRequest, /) -> v1.ReadTextFileResponse:
        """See `Client`."""
        return await self._client.read_text_file(await self._sessions.known_session(params.session_id), params)

    async def write_text_file(self, params: v1.WriteTextFileRequest, /) -> v1.WriteTextFileResponse:
        """See `Client`."""
        return await self._client.write_text_file(await self._sessions.known_session(params.session_id), params)

    async def create_terminal(self, params: v1.CreateTerminalRequest, /) -> v1.CreateTerminalResponse:
        """See `Client`."""
        session = await self._sessions.known_session(params.session_id)
        answer = await self._client.create_terminal(session, params)
        if (
            self._displays is not None
            and self.commands is not None
            and self.commands.find(session.id, answer.terminal_id)
        ):
            self._displays.start(params, answer.terminal_id, params.cwd or session.cwd)
        return answer

    async def terminal_output(self, params: v1.TerminalOutputRequest, /) -> v1.TerminalOutputResponse:
        """See `Client`."""
        return await self._client.terminal_output(await self._sessions.known_session(params.session_id), params)

    async def wait_for_terminal_exit(self, params: v1.WaitForTerminalExitRequest, /) -> v1.WaitForTerminalExitResponse:
        """See `Client`."""
        return await self._client.wait_for_terminal_exit(await self._sessions.known_session(params.session_id), params)

    async def kill_terminal(self, params: v1.KillTerminalRequest, /) -> v1.KillTerminalResponse:
        """See `Client`."""
        return await self._client.kill_terminal(await self._sessions.known_session(params.session_id), params)

    async def release_terminal(self, params: v1.ReleaseTerminalRequest, /) -> v1.ReleaseTerminalResponse:
        """See `Client`."""
        answer = await self._client.release_terminal(await self._sessions.known_session(params.session_id), params)
        if self._displays is not None:
            await self._displays.leave(params.session_id, params.terminal_id)
        return answer
