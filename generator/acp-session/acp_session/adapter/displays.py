"""The display of a terminal in the terms of v2: its command, its output piece by piece, its end.

Source: the RFD on terminal output in v2.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Any, Final

from jsonrpc_bindings.supervisor import Exit
from jsonrpc_bindings.tail import Tail

from .parts import Json

MOST: Final = 1024 * 1024
"""Bytes of output that wait for a client that does not read; then the end of them takes the place of all before."""


class Display:
    """Tells the client of one terminal, in order, by `tell`. `run` does it, and returns when the terminal was left and all is told."""

    def __init__(self, terminal_id: str, tell: Callable[[Json], Awaitable[None]]) -> None:
        self.id = terminal_id
        self.is_running = True
        self._tell = tell
        self._waiting = Tail(MOST)
        self._ending: Json | None = None
        self._is_left = False
        self._news = asyncio.Event()

    def add(self, text: str) -> None:
        """Take a piece of output."""
        self._waiting.add(text.encode())
        self._news.set()

    def end(self, found: Exit | None) -> None:
        """Note how the command has ended; `None` where that is not known."""
        status: Json = {} if found is None else {"exitCode": found.code, "signal": found.signal}
        self.is_running = False
        self._ending = {key: value for key, value in status.items() if value is not None}
        self._news.set()

    def leave(self) -> None:
        """Note that nothing more will come."""
        self._is_left = True
        self._news.set()

    async def run(self, command: str, cwd: str) -> None:
        """Tell that the terminal is there, then what comes."""
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
            await self._tell({"sessionUpdate": "terminal_output_chunk", "terminalId": self.id, "data": data})

    async def _update(self, **fields: Any) -> None:
        await self._tell({"sessionUpdate": "terminal_update", "terminalId": self.id, **fields})
