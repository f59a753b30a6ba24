"""Files and terminals as an agent asks for them: params and results are those of v1, which alone has requests for them.

An agent of v1 asks its client; an agent of v2 uses the machine that it runs on. `LocalServices` serves both; `ClientServices` asks a
client of v1. Errors are `RequestError`; a client at the far end of a connection raises `PeerError`, `NotAdvertised`, `ConnectionClosed`.

Sources: the pages of v1 on the file system and on terminals; the RFD on `additionalDirectories`; the migration page of v2.
"""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from acp_bindings import v1
from acp_bindings.v1 import peers as peers1

from acp_workspace.approval import Approve
from acp_workspace.backend import FileBackend
from acp_workspace.errors import RequestError, invalid_params
from acp_workspace.filesystem import Buffer, FileEvent, FilePolicy, FileSystem, OnChange
from acp_workspace.scope import Scope
from acp_workspace.terminals import TerminalEvent, TerminalPolicy, Terminals
from acp_workspace.workspace import RootPolicy, RootsSource
from jsonrpc_bindings import UnsetType
from jsonrpc_bindings.peers import unserved

from .background import Background
from .terminal_display import Display, Send

SERVICE_METHODS: Final = {
    "fs/read_text_file": "read_text_file",
    "fs/write_text_file": "write_text_file",
    "terminal/create": "create_terminal",
    "terminal/output": "terminal_output",
    "terminal/wait_for_exit": "wait_for_terminal_exit",
    "terminal/kill": "kill_terminal",
    "terminal/release": "release_terminal",
}
"""Methods of v1 for files and terminals, and what `Client` calls them."""
MAX_RELEASED: Final = 1000
"""Terminals of a session that were released, and may still stand in tool calls."""
NO_TERMINAL: Final = invalid_params("there is no such terminal, or it has ended", "/terminalId")

Audit: TypeAlias = "Callable[[FileEvent | TerminalEvent], Awaitable[object] | object]"
"""Is called with every step of every request for files and terminals, refusals included."""


class ClientServices:
    """The files and terminals of a client of v1 at the far end of a connection. `client` gives the calls to it."""

    def __init__(
        self, client: Callable[[], peers1.RemoteClient], capabilities: Callable[[], v1.ClientCapabilities]
    ) -> None:
        self._client = client
        self.capabilities = capabilities
        self._terminals: dict[str, dict[str, None]] = {}

    async def answer(self, method: str, params: Any) -> Any:
        """Answer a request. A terminal that is created may stand in tool calls from then on; of many, the latest may."""
        answer = await getattr(self._client(), peers1.Client.requests[method])(params)
        if method == "terminal/create":
            known = self._terminals.setdefault(params.session_id, {})
            known[answer.terminal_id] = None
            if len(known) > MAX_RELEASED:
                del known[next(iter(known))]
        return answer

    def withdraw(self, params: Any) -> None:
        """Ask to cancel a request with these params. Its answer is awaited all the same: it may have created something."""
        self._client().connection.withdraw(params)

    def terminals(self, session_id: str) -> Collection[str]:
        """The terminals of a session that may stand in tool calls: those that were created here."""
        return self._terminals.get(session_id, ())

    async def cancel_terminal(self, _: str, __: str) -> None:
        """A client of v1 ends its terminals itself."""
        raise NO_TERMINAL

    async def end(self, session_id: str) -> None:
        """The session is closed."""
        self._terminals.pop(session_id, None)

    async def close(self) -> None:
        """Nothing is held here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """What an agent may use of this machine. `root_policy` says which directories that the client names may be roots; the other fields
    are those of `FileSystem` and `Terminals`. `None` for `files` or `terminals` offers none of them.
    """

    root_policy: RootPolicy = lambda path: None
    files: FilePolicy | None = FilePolicy()  # noqa: RUF009 - frozen
    terminals: TerminalPolicy | None = TerminalPolicy()  # noqa: RUF009 - frozen
    backend: FileBackend | None = None
    approve: Approve | None = None
    buffer: Buffer | None = None
    on_change: OnChange | None = None
    audit: Audit = lambda event: None


class LocalServices:
    """Files and terminals of this machine. Each session has the roots that `roots` knows. A terminal is shown to the client by updates of
    v2, which `send` sends: its output as it comes. The client may stop it.
    """

    def __init__(self, local: Local, send: Send, roots: RootsSource) -> None:
        self._send = send
        self._roots = roots
        self.files: FileSystem | None = None
        self.commands: Terminals | None = None
        hooks: dict[str, Any] = {"approve": local.approve, "on_event": local.audit}
        if local.files is not None:
            hooks_of_files: dict[str, Any] = {"buffer": local.buffer, "on_change": local.on_change}
            self.files = FileSystem(self._roots, local.files, backend=local.backend, **hooks, **hooks_of_files)
        if local.terminals is not None:
            self.commands = Terminals(self._roots, local.terminals, **hooks, on_output=self._show_output)
        self._displays: dict[str, dict[str, Display]] = {}
        self._background = Background()

    def capabilities(self) -> v1.ClientCapabilities:
        """What is configured and can be kept on this machine, and no more."""
        fs = v1.FileSystemCapabilities() if self.files is None else self.files.capabilities()
        return v1.ClientCapabilities(fs=fs, terminal=self.commands is not None and self.commands.is_offered)

    async def answer(self, method: str, params: Any) -> Any:
        """Answer a request of `SERVICE_METHODS`."""
        kind, _, name = method.partition("/")
        part = self.files if kind == "fs" else self.commands
        if part is None:
            raise unserved(method)
        answer = await getattr(part, name)(params)
        await self.show(method, params, answer)
        return answer

    def withdraw(self, params: Any) -> None:
        """See `ClientServices`: what is begun here ends by itself."""

    async def stop(self, session_id: str) -> None:
        """The turn was cancelled: end the commands of the session."""
        if self.commands is not None:
            await self.commands.stop(session_id)

    async def end(self, session_id: str) -> None:
        """The session is closed: serve nothing for it any more."""
        if self.commands is not None:
            await self.commands.end(session_id)
        for display in self._displays.pop(session_id, {}).values():
            await display.release()

    async def close(self) -> None:
        """End everything."""
        if self.commands is not None:
            await self.commands.aclose()
        if self.files is not None:
            self.files.close()
        await self._background.close()

    def terminals(self, session_id: str) -> Collection[str] | None:
        """The terminals of a session that may stand in tool calls: those that are shown, also once they are released; `None`: all."""
        return self._displays.get(session_id, ())

    async def cancel_terminal(self, session_id: str, terminal_id: str) -> None:
        """End a command because the user asks for it, which may take a moment. Raises `RequestError` -32602 where none runs."""
        display = self._displays.get(session_id, {}).get(terminal_id)
        if display is None or not display.is_running:
            raise NO_TERMINAL
        self._background.start(self._kill(v1.KillTerminalRequest(session_id=session_id, terminal_id=terminal_id)))

    async def _kill(self, params: v1.KillTerminalRequest) -> None:
        assert self.commands is not None
        with suppress(RequestError):  # the agent has released it meanwhile
            await self.commands.kill(params)

    async def show(self, method: str, params: Any, answer: Any) -> None:
        """Show a terminal that was created, if its command runs here, and the end of one that was released."""
        if self.commands is None:
            return
        if method == "terminal/release":
            display = self._displays.get(params.session_id, {}).get(params.terminal_id)
            if display is not None:
                await display.release()
        elif method == "terminal/create":
            terminal = self.commands.find(params.session_id, answer.terminal_id)
            if terminal is not None:
                roots = self._roots.roots(params.session_id)
                scope = roots if isinstance(roots, Scope) else roots.scope
                arguments: list[str] | UnsetType = params.args
                words = shlex.join([params.command, *(arguments if isinstance(arguments, list) else ())])
                display = self._display(params.session_id, answer.terminal_id)
                display.start(self._background, terminal, words, scope.cwd if params.cwd is None else params.cwd)

    def _show_output(self, session_id: str, terminal_id: str, text: str) -> None:
        self._display(session_id, terminal_id).add(text)

    def _display(self, session_id: str, terminal_id: str) -> Display:
        async def send(update: dict[str, Any]) -> None:
            await self._send(session_id, update)

        found = self._displays.setdefault(session_id, {})
        if terminal_id not in found:
            left = [name for name, display in found.items() if display.is_finished]
            if len(left) >= MAX_RELEASED:
                del found[left[0]]
        return found.setdefault(terminal_id, Display(terminal_id, send))


Services: TypeAlias = "LocalServices | ClientServices"
"""Whoever serves files and terminals."""
