"""The display of a local terminal for a v2 client: the command, the output in chunks, the end.

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
"""Sends a v2 update for a session."""

MAX_UNSENT: Final = 1024 * 1024
"""The maximum bytes of output held for a client that does not read; beyond that, only the end of the output is sent, as a replacement."""


class Display:
    """Displays one terminal by ordered updates through `send`."""

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
        """Whether no more updates will come."""
        return not self.is_running and (self._work is None or self._work.done())

    def add(self, text: str) -> None:
        """Add a chunk of output."""
        self._unsent.add(text.encode())
        self._news.set()

    def start(self, background: Background, terminal: Terminal, command: str, cwd: str) -> None:
        """Start sending updates: the command, then the output, then the end."""
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
        tail, self._unsent = self._unsent, Tail(MAX_UNSENT)
        data = base64.b64encode(tail.text.encode()).decode()
        if tail.is_cut:
            await self._update(output={"data": data})
        elif data:
            await self._send({"sessionUpdate": "terminal_output_chunk", "terminalId": self.id, "data": data})

    async def _update(self, **fields: Any) -> None:
        await self._send({"sessionUpdate": "terminal_update", "terminalId": self.id, **fields})


def _status(ending: asyncio.Future[Exit]) -> Json:
    """The exit status of a command; empty if it is unknown."""
    try:
        return omit_none(exitCode=ending.result().code, signal=ending.result().signal)
    except RequestError:  # the terminal was released, and its command could not be ended
        return {}
