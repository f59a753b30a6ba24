"""What comes in over a pipe and goes out over one: messages out of chunks, and the wait for a peer that is slower."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from .failures import ConnectionClosed
from .framing import Framing, Unreadable

CAPACITY: Final = 1 << 20
"""How many bytes of whole messages wait in memory before no more is read."""


class Sink(Protocol):
    """Where bytes go, such as a write transport of asyncio."""

    def write(self, data: bytes, /) -> object:
        """Take bytes to write."""
        ...

    def is_closing(self) -> bool:
        """Whether no more is taken."""
        ...


class Incoming:
    """Messages cut from chunks. `pause` and `resume` hold the source while too many wait."""

    def __init__(self, framing: Framing) -> None:
        self._framing = framing
        self._frames: deque[bytes | Unreadable] = deque()
        self._size = 0
        self._is_ended = False
        self._is_paused = False
        self._waiting: asyncio.Future[None] | None = None
        self.pause: Callable[[], object] = _nothing
        self.resume: Callable[[], object] = _nothing

    def feed(self, data: bytes) -> None:
        """Take in a chunk."""
        self._add(self._framing.feed(data))

    def end(self) -> None:
        """Nothing more will come."""
        if not self._is_ended:
            self._is_ended = True
            self._add(self._framing.end())
            self._wake()

    def _add(self, frames: list[bytes | Unreadable]) -> None:
        if not frames:
            return
        self._frames.extend(frames)
        self._size += sum(map(_size, frames))
        if self._size > CAPACITY and not self._is_paused and not self._is_ended:
            self._is_paused = True
            self.pause()
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def receive(self) -> bytes | None:
        """See `transport.Transport`."""
        while not self._frames:
            if self._is_ended:
                return None
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        frame = self._frames.popleft()
        self._size -= _size(frame)
        if self._is_paused and self._size <= CAPACITY // 2:
            self._is_paused = False
            self.resume()
        if isinstance(frame, Unreadable):
            raise frame
        return frame


class Outgoing:
    """Writes to a pipe, and knows when so much waits that senders must."""

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] = []
        self._sink: Sink | None = None
        self.is_full = False
        self.is_lost = False

    def open(self, sink: Sink) -> None:
        """Write here."""
        self._sink = sink

    def write(self, data: bytes) -> None:
        """Hand over bytes. Raises `ConnectionClosed`."""
        if self.is_lost or self._sink is None or self._sink.is_closing():
            raise ConnectionClosed("the peer no longer reads")
        self._sink.write(data)

    async def drain(self) -> None:
        """Wait until less waits. Raises `ConnectionClosed`."""
        while self.is_full and not self.is_lost:
            waiting = asyncio.get_running_loop().create_future()
            self._waiting.append(waiting)
            await waiting
        if self.is_lost:
            raise ConnectionClosed("the peer no longer reads")

    def fill(self) -> None:
        """Senders wait from now on."""
        self.is_full = True

    def empty(self) -> None:
        """Senders go on."""
        self.is_full = False
        self._wake()

    def lose(self) -> None:
        """Nothing can be written any more."""
        self.is_lost = True
        self._wake()

    def _wake(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)
        self._waiting.clear()


class Piped:
    """A transport of one pipe in and one out, but for how they are opened and closed."""

    def __init__(self, framing: Framing) -> None:
        self._framing = framing
        self._incoming = Incoming(framing)
        self._outgoing = Outgoing()

    async def receive(self) -> bytes | None:
        """See `transport.Transport`."""
        return await self._incoming.receive()

    def send(self, message: bytes) -> None:
        """See `transport.Transport`."""
        self._outgoing.write(self._framing.write(message))

    @property
    def is_full(self) -> bool:
        """See `transport.Transport`."""
        return self._outgoing.is_full

    async def drain(self) -> None:
        """See `transport.Transport`."""
        await self._outgoing.drain()


def _nothing() -> None:
    return


def _size(frame: bytes | Unreadable) -> int:
    return len(frame) if isinstance(frame, bytes) else 1
