"""The prompts of a session: one is worked on, the others wait in order."""

from __future__ import annotations

import asyncio
from typing import Literal

from acp_bindings import RequestError

from jsonrpc_bindings.errors import REQUEST_CANCELLED


class TurnQueue:
    """Lets one prompt in at a time."""

    def __init__(self) -> None:
        self._free = asyncio.Lock()
        self._waiting: set[asyncio.Task[Literal[True]]] = set()

    @property
    def is_busy(self) -> bool:
        """Whether a prompt is worked on."""
        return self._free.locked()

    @property
    def is_waited_for(self) -> bool:
        """Whether a prompt waits."""
        return bool(self._waiting)

    async def wait(self) -> None:
        """Wait until no other prompt is worked on. Raises `RequestError` -32800 where those that wait are cancelled meanwhile."""
        acquiring = asyncio.ensure_future(self._free.acquire())
        self._waiting.add(acquiring)
        is_taken_in = False
        try:
            await asyncio.wait([acquiring])
            is_taken_in = acquiring in self._waiting
        finally:
            self._waiting.discard(acquiring)
            if not is_taken_in and not acquiring.cancel() and not acquiring.cancelled():
                self._free.release()
        if not is_taken_in:
            raise RequestError(REQUEST_CANCELLED, "the prompt was cancelled")

    def cancel(self) -> None:
        """Let none of those in that wait."""
        for waiting in self._waiting:
            waiting.cancel()
        self._waiting.clear()

    def finish(self) -> None:
        """The work on a prompt has ended: the next one is let in."""
        self._free.release()
