"""Files and terminals for agents, with the params and results of v1, which alone has requests for them.

A v1 agent asks its client; a v2 agent uses the machine that it runs on. `LocalServices` serves both; `ClientServices` asks a v1 client.
Errors are `RequestError`; a client at the far end of a connection raises `PeerError`, `NotAdvertised`, `ConnectionClosed`.

Sources: the pages of v1 on the file system and on terminals; the RFDs on `additionalDirectories` and on terminal output; the migration
page of v2.
"""

from __future__ import annotations

import asyncio
import base64
import shlex
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from acp_bindings import v1
from acp_bindings.v1 import peers as peers1

from acp_workspace.approval import Approve
from acp_workspace.backend import FileBackend
from acp_workspace.errors import RequestError, make_invalid_params
from acp_workspace.filesystem import Buffer, FilePolicy, FileSystem, OnChange, OnEvent
from acp_workspace.scope import Scope
from acp_workspace.terminals import Terminal, TerminalPolicy, Terminals
from acp_workspace.workspace import RootPolicy, RootsSource
from jsonrpc_bindings import UnsetType
from jsonrpc_bindings.peers import refuse_unserved
from jsonrpc_bindings.tail import Tail

from .arguments import omit_none
from .background import Background

SERVICE_METHODS: Final = {
    "fs/read_text_file": "read_text_file",
    "fs/write_text_file": "write_text_file",
    "terminal/create": "create_terminal",
    "terminal/output": "terminal_output",
    "terminal/wait_for_exit": "wait_for_terminal_exit",
    "terminal/kill": "kill_terminal",
    "terminal/release": "release_terminal",
}
"""The v1 methods for files and terminals, and the corresponding methods of `Client`."""
MAX_RELEASED: Final = 1000
"""The maximum number of a session's finished terminals that may still occur in tool calls."""
MAX_UNSENT: Final = 1024 * 1024
"""The maximum bytes of output held for a client that does not read; beyond that, only the end of the output is sent, as a replacement."""

Send: TypeAlias = "Callable[[str, dict[str, Any]], Awaitable[object]]"
"""Sends a v2 update for a session."""


def _make_terminal_error() -> RequestError:
    return make_invalid_params("there is no such terminal, or it has ended", "/terminalId")


class ClientServices:
    """The files and terminals of a v1 client at the far end of a connection. `client` returns the calls to it."""

    def __init__(
        self, client: Callable[[], peers1.RemoteClient], capabilities: Callable[[], v1.ClientCapabilities]
    ) -> None:
        self._client = client
        self.capabilities = capabilities
        self._terminals: dict[str, dict[str, None]] = {}

    async def answer(self, method: str, params: Any) -> Any:
        """Pass a request to the client and return its result.

        A terminal created here may occur in tool calls; beyond the limit, only the latest.
        """
        answer = await getattr(self._client(), peers1.Client.requests[method])(params)
        if method == "terminal/create":
            session_terminals = self._terminals.setdefault(params.session_id, {})
            session_terminals[answer.terminal_id] = None
            if len(session_terminals) > MAX_RELEASED:
                del session_terminals[next(iter(session_terminals))]
        return answer

    def withdraw(self, params: Any) -> None:
        """Ask the client to cancel the request with these params. Its response is still awaited: it may have created something."""
        self._client().connection.withdraw(params)

    def list_terminals(self, session_id: str) -> Collection[str]:
        """The terminals of a session that may occur in tool calls: those created here."""
        return self._terminals.get(session_id, ())

    async def cancel_terminal(self, _: str, __: str) -> None:
        """Refuse: a v1 client ends its terminals itself."""
        raise _make_terminal_error()

    async def end(self, session_id: str) -> None:
        """Forget a closed session."""
        self._terminals.pop(session_id, None)

    async def close(self) -> None:
        """Do nothing: no resources are held here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """What an agent may use on this machine.

    `root_policy` decides which directories that the client names may be roots; the other fields are those of `FileSystem` and
    `Terminals`. `None` for `files` or `terminals` does not advertise them.
    """

    root_policy: RootPolicy = lambda path: None
    files: FilePolicy | None = FilePolicy()  # noqa: RUF009 - frozen
    terminals: TerminalPolicy | None = TerminalPolicy()  # noqa: RUF009 - frozen
    backend: FileBackend | None = None
    approve: Approve | None = None
    buffer: Buffer | None = None
    on_change: OnChange | None = None
    on_event: OnEvent = lambda event: None


class LocalServices:
    """Files and terminals of this machine. `roots` provides the roots of each session.

    A terminal is shown to the client by v2 updates through `send`, with its output as it arrives. The client may stop it.
    """

    def __init__(self, local: Local, send: Send, roots: RootsSource) -> None:
        self._send = send
        self._roots = roots
        self.files: FileSystem | None = None
        self.commands: Terminals | None = None
        hooks: dict[str, Any] = {"approve": local.approve, "on_event": local.on_event}
        if local.files is not None:
            hooks_of_files: dict[str, Any] = {"buffer": local.buffer, "on_change": local.on_change}
            self.files = FileSystem(self._roots, local.files, backend=local.backend, **hooks, **hooks_of_files)
        if local.terminals is not None:
            self.commands = Terminals(self._roots, local.terminals, **hooks, on_output=self._show_output)
        self._displays: dict[str, dict[str, Display]] = {}
        self._background = Background()

    def capabilities(self) -> v1.ClientCapabilities:
        """The capabilities of what is configured and can be confined on this machine."""
        fs = v1.FileSystemCapabilities() if self.files is None else self.files.capabilities()
        return v1.ClientCapabilities(fs=fs, terminal=self.commands is not None and self.commands.is_offered)

    async def answer(self, method: str, params: Any) -> Any:
        """The result of a request of `SERVICE_METHODS`."""
        kind, _, name = method.partition("/")
        part = self.files if kind == "fs" else self.commands
        if part is None:
            raise refuse_unserved(method)
        answer = await getattr(part, name)(params)
        await self.show(method, params, answer)
        return answer

    def withdraw(self, params: Any) -> None:
        """See `ClientServices`: requests here end by themselves."""

    async def stop(self, session_id: str) -> None:
        """Kill the commands of a session whose turn was cancelled."""
        if self.commands is not None:
            await self.commands.stop(session_id)

    async def end(self, session_id: str) -> None:
        """End a closed session, so that nothing is served for it any more."""
        if self.commands is not None:
            await self.commands.end(session_id)
        for display in self._displays.pop(session_id, {}).values():
            await display.release()

    async def close(self) -> None:
        """Release everything."""
        if self.commands is not None:
            await self.commands.aclose()
        if self.files is not None:
            self.files.close()
        await self._background.close()

    def list_terminals(self, session_id: str) -> Collection[str] | None:
        """The terminals of a session that may occur in tool calls: those displayed, even after their release; `None` allows all."""
        return self._displays.get(session_id, ())

    async def cancel_terminal(self, session_id: str, terminal_id: str) -> None:
        """Start killing a command at the user's request. Raises `RequestError` -32602 if none is running."""
        display = self._displays.get(session_id, {}).get(terminal_id)
        if display is None or not display.is_running:
            raise _make_terminal_error()
        self._background.start(self._kill(v1.KillTerminalRequest(session_id=session_id, terminal_id=terminal_id)))

    async def _kill(self, params: v1.KillTerminalRequest) -> None:
        assert self.commands is not None
        with suppress(RequestError):  # the agent has released it meanwhile
            await self.commands.kill(params)

    async def show(self, method: str, params: Any, answer: Any) -> None:
        """Display a terminal that was created, if its command runs here, or finish the display of one that was released."""
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
        displays = self._displays.setdefault(session_id, {})
        if terminal_id not in displays:
            finished_ids = [name for name, display in displays.items() if display.is_finished]
            if len(finished_ids) >= MAX_RELEASED:
                del displays[finished_ids[0]]
            displays[terminal_id] = Display(session_id, terminal_id, self._send)
        return displays[terminal_id]


class Display:
    """Shows a terminal to a v2 client by ordered updates: the command, the output in chunks, the end."""

    def __init__(self, session_id: str, terminal_id: str, send: Send) -> None:
        self.is_running = True
        self._session_id, self._terminal_id, self._send = session_id, terminal_id, send
        self._unsent = Tail(MAX_UNSENT)
        self._news = asyncio.Event()
        self._is_released = False
        self._work: asyncio.Future[None] | None = None

    @property
    def is_finished(self) -> bool:
        """Whether no more updates will come."""
        return not self.is_running and (self._work is None or self._work.done())

    def add(self, text: str) -> None:
        """Add a chunk of output."""
        self._unsent.add(text.encode())
        self._news.set()

    def start(self, background: Background, terminal: Terminal, command: str, cwd: str) -> None:
        """Start sending updates."""
        self._work = background.start(self._run(terminal, command, cwd))

    async def release(self) -> None:
        """Wait until everything is sent of a terminal that was released. The client keeps displaying it."""
        if self._work is not None:
            self._is_released = True
            self._news.set()
            await asyncio.wait([self._work])

    async def _run(self, terminal: Terminal, command: str, cwd: str) -> None:
        ending = asyncio.ensure_future(terminal.wait())
        ending.add_done_callback(self._note_end)
        is_shown = False
        try:
            await self._update(command=command, cwd=cwd, capabilities={"cancel": {}})
            while not is_shown or not self._is_released or self._news.is_set():
                await self._news.wait()
                self._news.clear()
                tail, self._unsent = self._unsent, Tail(MAX_UNSENT)
                data = base64.b64encode(tail.text.encode()).decode()
                if tail.is_cut:
                    await self._update(output={"data": data})
                elif data:
                    await self._update("terminal_output_chunk", data=data)
                if ending.done() and not is_shown:
                    is_shown = True
                    # without a status, the terminal was released, and its command could not be ended
                    end = None if ending.exception() else ending.result()
                    status = {} if end is None else omit_none(exitCode=end.code, signal=end.signal)
                    await self._update(exitStatus=status, capabilities=None)
        finally:
            ending.cancel()

    def _note_end(self, _: object) -> None:
        self.is_running = False
        self._news.set()

    async def _update(self, kind: str = "terminal_update", **fields: Any) -> None:
        await self._send(self._session_id, {"sessionUpdate": kind, "terminalId": self._terminal_id, **fields})


Services: TypeAlias = "LocalServices | ClientServices"
"""A provider of files and terminals."""
