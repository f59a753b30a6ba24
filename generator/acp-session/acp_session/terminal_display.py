"""A terminal in the terms of v2: its command, its output piece by piece, its end.

Source: the RFD on terminal output in v2.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Final

from acp_bindings import v2

from acp_workspace.processes import Exit
from acp_workspace.tail import Tail

MOST: Final = 1024 * 1024
"""Bytes of output that wait for a client that does not read; then the end of them takes the place of all before."""


class TerminalDisplay:
    """Sends what one terminal shows, in order, by `send`. `run` does it, and returns when the terminal was released and all is sent."""

    def __init__(self, terminal_id: str, send: Callable[[v2.SessionUpdate], Awaitable[None]]) -> None:
        self.id = terminal_id
        self.is_running = True
        self._send = send
        self._waiting = Tail(MOST)
        self._exit_status: v2.TerminalExitStatus | None = None
        self._is_released = False
        self._changed = asyncio.Event()

    def add_output(self, text: str) -> None:
        """Take a piece of output."""
        self._waiting.add(text.encode())
        self._changed.set()

    def end(self, found: Exit | None) -> None:
        """Note how the command has ended; `None` where that is not known."""
        self.is_running = False
        self._exit_status = exit_status(found)
        self._changed.set()

    def release(self) -> None:
        """Note that nothing more will come."""
        self._is_released = True
        self._changed.set()

    async def run(self, command: str, cwd: str) -> None:
        """Send that the terminal is there, then what comes."""
        cancel = v2.TerminalCapabilities(cancel=v2.TerminalCancelCapabilities())
        await self._send(v2.TerminalUpdate(terminal_id=self.id, command=command, cwd=cwd, capabilities=cancel))
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self._flush()
            if self._exit_status is not None:
                status, self._exit_status = self._exit_status, None
                await self._send(v2.TerminalUpdate(terminal_id=self.id, exit_status=status, capabilities=None))
            if self._is_released and not self._changed.is_set():
                return

    async def _flush(self) -> None:
        found, self._waiting = self._waiting, Tail(MOST)
        data = encode_output(found.text)
        if found.is_cut:
            await self._send(v2.TerminalUpdate(terminal_id=self.id, output=v2.TerminalOutput(data=data)))
        elif data:
            await self._send(v2.TerminalOutputChunk(terminal_id=self.id, data=data))


def encode_output(text: str) -> str:
    """Output as it stands in an update."""
    return base64.b64encode(text.encode()).decode()


def exit_status(found: Exit | None) -> v2.TerminalExitStatus:
    """How a command ended, as it stands in an update."""
    return v2.TerminalExitStatus() if found is None else v2.TerminalExitStatus(exit_code=found.code, signal=found.signal)
