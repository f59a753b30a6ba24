"""Terminals of a client of v1 as displays of v2: command, output piece by piece, end.

Source: the RFD on terminal output in v2.
"""

from __future__ import annotations

import asyncio
import base64
import shlex
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, TypeAlias

from acp_bindings import RequestError, v1

from acp_workspace.errors import invalid_params
from acp_workspace.terminals import Terminal, Terminals
from jsonrpc_bindings.tail import Tail

from .background import Background

Json: TypeAlias = "dict[str, Any]"
Send: TypeAlias = "Callable[[str, Json], Awaitable[object]]"
"""Sends an update of v2 for a session."""

MOST: Final = 1024 * 1024
"""Bytes of output that wait for a client that does not read; then the end of them takes the place of all before."""

MOST_LEFT: Final = 1000
"""Terminals of a session that were released, and may still stand in tool calls."""


class Display:
    """Reports one terminal to the client, in order, by `send`. `run` does it, and returns when the terminal was left and all is sent."""

    def __init__(self, terminal_id: str, send: Callable[[Json], Awaitable[None]]) -> None:
        self.id = terminal_id
        self.is_running = True
        self._send = send
        self._waiting = Tail(MOST)
        self._ending: Json | None = None
        self._is_left = False
        self._news = asyncio.Event()

    def add(self, text: str) -> None:
        """Take a piece of output."""
        self._waiting.add(text.encode())
        self._news.set()

    def end(self, status: Json) -> None:
        """Note how the command has ended; empty where that is not known."""
        self.is_running = False
        self._ending = {key: value for key, value in status.items() if value is not None}
        self._news.set()

    def leave(self) -> None:
        """Note that nothing more will come."""
        self._is_left = True
        self._news.set()

    async def run(self, command: str, cwd: str) -> None:
        """Report that the terminal is there, then what comes."""
        await self._update(command=command, cwd=cwd, capabilities={"cancel": {}})
        while True:
            await self._news.wait()
            self._news.clear()
            await self._flush()
            if self._ending is not None:
                ending, self._ending = self._ending, None
                await self._update(exitStatus=ending, capabilities=None)
            if self._is_left and not self._news.is_set():
                return

    async def _flush(self) -> None:
        found, self._waiting = self._waiting, Tail(MOST)
        data = base64.b64encode(found.text.encode()).decode()
        if found.is_cut:
            await self._update(output={"data": data})
        elif data:
            await self._send({"sessionUpdate": "terminal_output_chunk", "terminalId": self.id, "data": data})

    async def _update(self, **fields: Any) -> None:
        await self._send({"sessionUpdate": "terminal_update", "terminalId": self.id, **fields})


class Displays:
    """The terminals of `terminals`, shown to a client of v2 by `send`."""

    def __init__(self, terminals: Terminals | None, send: Send) -> None:
        self._terminals = terminals
        self._send = send
        self._background = Background()
        self._displays: dict[str, dict[str, Display]] = {}
        self._following: dict[str, tuple[asyncio.Task[Any], asyncio.Task[Any]]] = {}

    def terminal(self, session_id: str, terminal_id: str) -> Terminal | None:
        """The terminal of this id, if its command runs here."""
        return None if self._terminals is None else self._terminals.find(session_id, terminal_id)

    def of(self, session_id: str) -> dict[str, Display]:
        """The terminals of a session that may stand in tool calls."""
        return self._displays.get(session_id, {})

    def show(self, session_id: str, terminal_id: str, text: str) -> None:
        """Show a piece of output."""
        self._display(session_id, terminal_id).add(text)

    def start(self, params: v1.CreateTerminalRequest, terminal_id: str, cwd: str) -> None:
        """Show the terminal of a command that was started."""
        arguments = params.args if isinstance(params.args, list) else []
        display = self._display(params.session_id, terminal_id)
        self._following[display.id] = (
            self._background.start(self._watch(params.session_id, display)),
            self._background.start(display.run(shlex.join((params.command, *arguments)), cwd)),
        )

    async def leave(self, session_id: str, terminal_id: str) -> None:
        """Show the end of a terminal that was released. The client of v2 goes on showing what it has shown."""
        display = self.of(session_id).get(terminal_id)
        if display is not None:
            await self._leave(display)

    def cancel(self, session_id: str, terminal_id: str) -> None:
        """End a command because the client asks for it; it may take a moment. Raises `RequestError` -32602 where none runs."""
        display = self._displays.get(session_id, {}).get(terminal_id)
        if display is None or not display.is_running:
            raise invalid_params("there is no such terminal, or it has ended", pointer="/terminalId")
        self._background.start(self._kill(v1.KillTerminalRequest(session_id=session_id, terminal_id=terminal_id)))

    async def end(self, session_id: str) -> None:
        """Show the end of all terminals of a session that is closed."""
        for display in self._displays.pop(session_id, {}).values():
            await self._leave(display)

    async def close(self) -> None:
        """Show nothing more."""
        await self._background.close()

    async def _kill(self, params: v1.KillTerminalRequest) -> None:
        assert self._terminals is not None
        with suppress(RequestError):  # the agent has released it meanwhile
            await self._terminals.kill(params)

    def _display(self, session_id: str, terminal_id: str) -> Display:
        async def send(update: Json) -> None:
            await self._send(session_id, update)

        found = self._displays.setdefault(session_id, {})
        if terminal_id not in found:
            left = [name for name in found if name not in self._following and not found[name].is_running]
            if len(left) >= MOST_LEFT:
                del found[left[0]]
        return found.setdefault(terminal_id, Display(terminal_id, send))

    async def _watch(self, session_id: str, display: Display) -> None:
        terminal, found = self.terminal(session_id, display.id), None
        if terminal is not None:
            with suppress(RequestError):  # it was released, and its command could not be ended
                found = await terminal.wait()
        display.end({} if found is None else {"exitCode": found.code, "signal": found.signal})

    async def _leave(self, display: Display) -> None:
        tasks = self._following.pop(display.id, None)
        if tasks is not None:
            watching, telling = tasks
            await asyncio.wait([watching])
            display.leave()
            await asyncio.wait([telling])
