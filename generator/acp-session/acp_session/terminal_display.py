"""A terminal of this machine as one that a client of v2 displays: command, output piece by piece, end.

Source: the RFD on terminal output in v2.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from acp_bindings import RequestError

from acp_workspace.terminals import Terminal
from jsonrpc_bindings.supervisor import Exit
from jsonrpc_bindings.tail import Tail

from .arguments import omit_none
from .background import Background

Json: TypeAlias = "dict[str, Any]"
Send: TypeAlias = "Callable[[str, Json], Awaitable[object]]"
"""Sends an update of v2 for a session."""

MAX_UNSENT: Final = 1024 * 1024
"""Bytes of output that wait for a client that does not read; then the end of them takes the place of all before."""


class Display:
    """Shows one terminal, in order, by `send`."""

    def __init__(self, terminal_id: str, send: Callable[[Json], Awaitable[None]]) -> None:
        self.id = terminal_id
        self.is_running = True
        self._send = send
        self._unsent = Tail(MAX_UNSENT)
        self._news = asyncio.Event()
        self._is_released = False
        self._work: asyncio.Task[None] | None = None

    @property
    def is_finished(self) -> bool:
        """Whether nothing more will come."""
        return not self.is_running and (self._work is None or self._work.done())

    def add(self, text: str) -> None:
        """Take a piece of output."""
        self._unsent.add(text.encode())
        self._news.set()

    def start(self, background: Background, terminal: Terminal, command: str, cwd: str) -> None:
        """Show that the terminal is there, then what comes, to its end."""
        self._work = background.start(self._run(terminal, command, cwd))

    async def release(self) -> None:
        """Wait until all is shown of a terminal that was released. The client goes on showing it."""
        if self._work is not None:
            self._is_released = True
            self._news.set()
            await asyncio.wait([self._work])

    async def _run(self, terminal: Terminal, command: str, cwd: str) -> None:
        ending = asyncio.ensure_future(terminal.wait())
        ending.add_done_callback(self._note_end)
        status: Json | None = None
        try:
            await self._update(command=command, cwd=cwd, capabilities={"cancel": {}})
            while status is None or not self._is_released or self._news.is_set():
                await self._news.wait()
                self._news.clear()
                await self._flush()
                if status is None and ending.done():
                    status = _status(ending)
                    await self._update(exitStatus=status, capabilities=None)
        finally:
            ending.cancel()

    def _note_end(self, _: asyncio.Future[Exit]) -> None:
        self.is_running = False
        self._news.set()

    async def _flush(self) -> None:
        found, self._unsent = self._unsent, Tail(MAX_UNSENT)
        data = base64.b64encode(found.text.encode()).decode()
        if found.is_cut:
            await self._update(output={"data": data})
        elif data:
            await self._send({"sessionUpdate": "terminal_output_chunk", "terminalId": self.id, "data": data})

    async def _update(self, **fields: Any) -> None:
        await self._send({"sessionUpdate": "terminal_update", "terminalId": self.id, **fields})


def _status(ending: asyncio.Future[Exit]) -> Json:
    """How a command has ended; empty where that is not known."""
    try:
        return omit_none(exitCode=ending.result().code, signal=ending.result().signal)
    except RequestError:  # the terminal was released, and its command could not be ended
        return {}
