"""What a connection needs of a transport, and the one in memory."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final, Protocol

from .failures import ConnectionClosed

CAPACITY: Final = 1 << 20
"""How many bytes may wait to be read before the sender waits."""


class Transport(Protocol):
    """Carries whole messages both ways. `child` and `stdio` have those of processes, `pair` makes two ends in memory."""

    async def receive(self) -> bytes | None:
        """The next message, `None` at the end. Raises `Unreadable` for what is no message; more may follow."""
        ...

    def send(self, message: bytes) -> None:
        """Hand over one message, without waiting. Raises `ConnectionClosed` where it can go nowhere."""
        ...

    @property
    def is_full(self) -> bool:
        """Whether so much waits to be sent that `drain` would wait."""
        ...

    async def drain(self) -> None:
        """Wait until less waits to be sent. Raises `ConnectionClosed` where it will go nowhere."""
        ...

    async def close(self) -> None:
        """Send what waits, as far as the peer takes it, and release everything. Done twice, it does nothing."""
        ...


class Memory:
    """One end of a connection in memory."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._messages: deque[bytes] = deque()
        self._size = 0
        self._is_ended = False
        self._reader: asyncio.Future[None] | None = None
        self._writers: list[asyncio.Future[None]] = []
        self.other: Memory = self

    async def receive(self) -> bytes | None:
        """See `Transport`."""
        while not self._messages:
            if self._is_ended:
                return None
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        message = self._messages.popleft()
        self._size -= len(message)
        if self._size < self._capacity:
            self._wake_writers()
        return message

    def send(self, message: bytes) -> None:
        """See `Transport`."""
        other = self.other
        if other._is_ended:
            raise ConnectionClosed("the connection has ended")
        other._messages.append(message)
        other._size += len(message)
        _wake(other._reader)

    @property
    def is_full(self) -> bool:
        """See `Transport`."""
        return self.other._size >= self.other._capacity and not self.other._is_ended

    async def drain(self) -> None:
        """See `Transport`."""
        while self.is_full:
            waiting = asyncio.get_running_loop().create_future()
            self.other._writers.append(waiting)
            await waiting
        if self.other._is_ended:
            raise ConnectionClosed("the connection has ended")

    async def close(self) -> None:
        """See `Transport`."""
        for end in (self, self.other):
            end._is_ended = True
            _wake(end._reader)
            end._wake_writers()

    def _wake_writers(self) -> None:
        for waiting in self._writers:
            _wake(waiting)
        self._writers.clear()


def pair(capacity: int = CAPACITY) -> tuple[Memory, Memory]:
    """The two ends of a connection in memory. Whoever sends waits once `capacity` bytes are unread."""
    left, right = Memory(capacity), Memory(capacity)
    left.other, right.other = right, left
    return left, right


def _wake(waiting: asyncio.Future[None] | None) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)
