"""The interface of transports, and the in-memory transport."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final, Protocol

from .failures import ConnectionClosed

CAPACITY: Final = 1 << 20
"""The number of unread bytes at which the sender waits."""


class Transport(Protocol):
    """A bidirectional transport of whole messages. `child` and `stdio` have those of processes, `pair` creates two ends in memory."""

    async def receive(self) -> bytes | None:
        """Receive the next message; `None` at the end. Raises `Unreadable` for data that is not a message; more messages may follow."""
        ...

    def send(self, message: bytes) -> None:
        """Queue one message, without waiting. Raises `ConnectionClosed` if it cannot be sent any more."""
        ...

    @property
    def is_full(self) -> bool:
        """Whether so much is queued that `drain` would wait."""
        ...

    async def drain(self) -> None:
        """Wait until less is queued. Raises `ConnectionClosed` if it cannot be sent any more."""
        ...

    async def close(self) -> None:
        """Send what is queued, as far as the peer reads it, and release everything. A second call does nothing."""
        ...


class Queue:
    """A queue of messages, which is full at `capacity` bytes. `closed` is the text of the error once it is closed."""

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

    async def peek(self) -> bytes | None:
        """The first message, which stays in the queue; waits for one, and returns `None` if none will come."""
        while not self._messages:
            if self._is_closed:
                return None
            self._changed.clear()
            await self._changed.wait()
        return self._messages[0]

    def take(self) -> None:
        """Remove the first message."""
        self._size -= len(self._messages.popleft())
        if self._size < self._capacity:
            self._room.set()

    async def drain(self) -> None:
        """Wait until the queue is not full. Raises `ConnectionClosed`."""
        while self.is_full:
            self._room.clear()
            await self._room.wait()
        if self._is_closed:
            raise ConnectionClosed(self._closed)

    def close(self) -> None:
        """Accept no more messages. Those in the queue can still be taken."""
        self._is_closed = True
        self._changed.set()
        self._room.set()


class Queued:
    """The sending half of a transport whose messages wait in a queue."""

    def __init__(self, outgoing: Queue) -> None:
        self._outgoing = outgoing

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


class Memory(Queued):
    """One end of a connection in memory."""

    def __init__(self, incoming: Queue, outgoing: Queue) -> None:
        super().__init__(outgoing)
        self._incoming = incoming

    async def receive(self) -> bytes | None:
        """See `Transport`."""
        message = await self._incoming.peek()
        if message is not None:
            self._incoming.take()
        return message

    async def close(self) -> None:
        """See `Transport`."""
        self._incoming.close()
        self._outgoing.close()


def pair(capacity: int = CAPACITY) -> tuple[Memory, Memory]:
    """The two ends of a connection in memory. A sender waits once `capacity` bytes are unread."""
    first, second = (Queue(capacity, "the connection has ended") for _ in range(2))
    return Memory(first, second), Memory(second, first)
