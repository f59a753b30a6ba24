"""What a connection needs of a transport, and the one in memory."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final, Protocol

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


class Queue:
    """Messages that wait to be taken; whoever adds more waits while they have `capacity` bytes. `closed` says why nothing is taken."""

    def __init__(self, capacity: int, closed: str) -> None:
        self._capacity, self._closed = capacity, closed
        self._messages: deque[bytes] = deque()
        self._size = 0
        self._is_closed = False
        self._changed, self._room = asyncio.Event(), asyncio.Event()

    @property
    def is_full(self) -> bool:
        """Whether `drain` would wait."""
        return self._size >= self._capacity and not self._is_closed

    def put(self, message: bytes) -> None:
        """Add a message. Raises `ConnectionClosed`."""
        if self._is_closed:
            raise ConnectionClosed(self._closed)
        self._messages.append(message)
        self._size += len(message)
        self._changed.set()

    async def first(self) -> bytes | None:
        """The message that is taken next; `None` where none will come."""
        while not self._messages:
            if self._is_closed:
                return None
            self._changed.clear()
            await self._changed.wait()
        return self._messages[0]

    def take(self) -> None:
        """Take the first message out."""
        self._size -= len(self._messages.popleft())
        if self._size < self._capacity:
            self._room.set()

    async def drain(self) -> None:
        """Wait until less waits. Raises `ConnectionClosed`."""
        while self.is_full:
            self._room.clear()
            await self._room.wait()
        if self._is_closed:
            raise ConnectionClosed(self._closed)

    def close(self) -> None:
        """Let nothing in any more. What waits can be taken."""
        self._is_closed = True
        self._changed.set()
        self._room.set()


class Memory:
    """One end of a connection in memory."""

    def __init__(self, incoming: Queue, outgoing: Queue) -> None:
        self._incoming, self._outgoing = incoming, outgoing

    async def receive(self) -> bytes | None:
        """See `Transport`."""
        message = await self._incoming.first()
        if message is not None:
            self._incoming.take()
        return message

    def send(self, message: bytes) -> None:
        """See `Transport`."""
        self._outgoing.put(message)

    @property
    def is_full(self) -> bool:
        """See `Transport`."""
        return self._outgoing.is_full

    async def drain(self) -> None:
        """See `Transport`."""
        await self._outgoing.drain()

    async def close(self) -> None:
        """See `Transport`."""
        self._incoming.close()
        self._outgoing.close()


def pair(capacity: int = CAPACITY) -> tuple[Memory, Memory]:
    """The two ends of a connection in memory. Whoever sends waits once `capacity` bytes are unread."""
    one, other = (Queue(capacity, "the connection has ended") for _ in range(2))
    return Memory(one, other), Memory(other, one)


async def finish(work: asyncio.Future[Any], hurry: Callable[[], object]) -> None:
    """Wait for work to its end. Whoever cancels this hurries it."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError as error:
            cancelled = error
            hurry()
    if cancelled is not None:
        raise cancelled
