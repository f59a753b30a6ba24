"""Descriptors that are read into an `Incoming` and written from an `Outgoing`: by the event loop, or by threads where it cannot."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from io import FileIO
from typing import Final, Protocol

from .pipes import Incoming, Outgoing

NEEDS_THREADS: Final = sys.platform == "win32"
"""The event loop of Windows waits for pipes that were opened for overlapped access alone, and standard streams are not."""

_CHUNK: Final = 1 << 16
_HIGH: Final = 1 << 16
"""Bytes that wait to be written when senders must wait, and a quarter of it when they go on, as with the event loop's pipes."""


class Source(Protocol):
    """What is read from."""

    def pause_reading(self) -> object:
        """Read no more for now."""
        ...

    def resume_reading(self) -> object:
        """Go on."""
        ...

    def close(self) -> object:
        """Read no more, ever."""
        ...


class Sink(Protocol):
    """What is written to."""

    def write(self, data: bytes, /) -> object:
        """Write bytes, now or later."""
        ...

    def is_closing(self) -> bool:
        """Whether no more is taken."""
        ...

    def close(self) -> object:
        """Close it once all is written."""
        ...

    def abort(self) -> object:
        """Close it at once."""
        ...


async def source(number: int, incoming: Incoming, *, threads: bool = NEEDS_THREADS) -> Source:
    """Read a descriptor, which is the source's from now on; it is closed where that cannot be read."""
    with _closing_on_failure(partial(os.close, number)):
        if not _is_pipe(number):
            return _FileSource(number, incoming)
        if threads:
            return _ThreadSource(number, incoming)
        file = FileIO(number, "rb")
    with _closing_on_failure(file.close):
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: _Reader(incoming), file)
        return transport


async def sink(number: int, outgoing: Outgoing, lost: asyncio.Event, *, threads: bool = NEEDS_THREADS) -> Sink:
    """Write to a descriptor, which is the sink's from now on; it is closed where that cannot be written to.

    `lost` is set when the sink is closed.
    """
    with _closing_on_failure(partial(os.close, number)):
        if not _is_pipe(number):
            return _FileSink(number, lost)
        if threads:
            return _ThreadSink(number, outgoing, lost)
        file = FileIO(number, "wb")
    with _closing_on_failure(file.close):
        transport, _ = await asyncio.get_running_loop().connect_write_pipe(lambda: _Writer(outgoing, lost), file)
        return transport


@contextmanager
def _closing_on_failure(close: Callable[[], object]) -> Generator[None]:
    """Close what is not taken over. What was cancelled, the event loop has taken over and closes."""
    try:
        yield
    except Exception:
        with suppress(OSError):
            close()
        raise


def _is_pipe(number: int) -> bool:
    """Whether reading and writing may wait. Files and the null device are always ready."""
    mode = os.fstat(number).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (stat.S_ISCHR(mode) and os.isatty(number))


class _Reader(asyncio.Protocol):
    def __init__(self, incoming: Incoming) -> None:
        self._incoming = incoming

    def data_received(self, data: bytes) -> None:
        self._incoming.feed(data)

    def eof_received(self) -> None:
        self._incoming.end()

    def connection_lost(self, exc: Exception | None) -> None:
        self._incoming.end()


class _Writer(asyncio.BaseProtocol):
    def __init__(self, outgoing: Outgoing, lost: asyncio.Event) -> None:
        self._outgoing = outgoing
        self._lost = lost

    def pause_writing(self) -> None:
        self._outgoing.fill()

    def resume_writing(self) -> None:
        self._outgoing.empty()

    def connection_lost(self, exc: Exception | None) -> None:
        self._outgoing.lose()
        self._lost.set()


class _ThreadSource:
    """A descriptor that a thread reads. A read that waits when this is closed cannot be called off: what it reads is dropped."""

    def __init__(self, number: int, incoming: Incoming) -> None:
        self._number = number
        self._incoming = incoming
        self._loop = asyncio.get_running_loop()
        self._is_closed = False
        self._go = threading.Event()
        self._go.set()
        self.pause_reading: Callable[[], object] = self._go.clear
        self.resume_reading: Callable[[], object] = self._go.set
        threading.Thread(target=self._read, name="source", daemon=True).start()

    def _read(self) -> None:
        try:
            while not self._is_closed and (data := os.read(self._number, _CHUNK)):
                taken = threading.Event()
                self._loop.call_soon_threadsafe(self._feed, data, taken)
                while not taken.wait(0.5):  # what comes of it may pause this
                    if self._loop.is_closed():
                        return
                self._go.wait()
        except (OSError, RuntimeError):  # the other end is torn off; the loop is closed
            pass
        finally:
            os.close(self._number)
            _tell(self._loop, self._incoming.end)

    def _feed(self, data: bytes, taken: threading.Event) -> None:
        if not self._is_closed:
            self._incoming.feed(data)
        taken.set()

    def close(self) -> None:
        self._is_closed = True
        self._go.set()


class _ThreadSink:
    """A descriptor that a thread writes to."""

    def __init__(self, number: int, outgoing: Outgoing, lost: asyncio.Event) -> None:
        self._number = number
        self._outgoing = outgoing
        self._lost = lost
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._is_closing = False
        self._ready = threading.Condition()
        threading.Thread(target=self._write, name="sink", daemon=True).start()

    def write(self, data: bytes, /) -> None:
        with self._ready:
            self._waiting.append(data)
            self._size += len(data)
            if self._size > _HIGH:
                self._outgoing.fill()
            self._ready.notify()

    def is_closing(self) -> bool:
        return self._is_closing

    def close(self) -> None:
        with self._ready:
            self._is_closing = True
            self._ready.notify()

    def abort(self) -> None:
        with self._ready:
            self._waiting.clear()
        self.close()

    def _write(self) -> None:
        try:
            while (data := self._next()) is not None:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(self._number, rest[:_CHUNK]) :]
                self._count(len(data))
        except OSError:  # nobody reads
            pass
        finally:
            self._is_closing = True
            os.close(self._number)
            _tell(self._loop, self._lose)

    def _next(self) -> bytes | None:
        with self._ready:
            while not self._waiting and not self._is_closing:
                self._ready.wait()
            return self._waiting.popleft() if self._waiting else None

    def _count(self, written: int) -> None:
        with self._ready:
            was, self._size = self._size, self._size - written
            if was > _HIGH // 4 >= self._size:
                _tell(self._loop, self._empty)

    def _empty(self) -> None:
        if self._size <= _HIGH:  # nothing was written meanwhile
            self._outgoing.empty()

    def _lose(self) -> None:
        self._outgoing.lose()
        self._lost.set()


def _tell(loop: asyncio.AbstractEventLoop, call: Callable[[], object]) -> None:
    try:
        loop.call_soon_threadsafe(call)
    except RuntimeError:  # the loop is closed
        return


class _FileSource:
    """A file as input, read as fast as its messages are taken."""

    def __init__(self, number: int, incoming: Incoming) -> None:
        self._number = number
        self._incoming = incoming
        self._go = asyncio.Event()
        self._go.set()
        self._is_closed = False
        self.pause_reading: Callable[[], object] = self._go.clear
        self.resume_reading: Callable[[], object] = self._go.set
        self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        try:
            while data := os.read(self._number, _CHUNK):
                self._incoming.feed(data)
                await asyncio.sleep(0)
                await self._go.wait()
        finally:
            self._end()

    def _end(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            os.close(self._number)
            self._incoming.end()

    def close(self) -> None:
        self._task.cancel()
        self._end()  # here, too: a task that has not begun ends without a step


class _FileSink:
    """A file as output."""

    def __init__(self, number: int, lost: asyncio.Event) -> None:
        self._number = number
        self._lost = lost

    def write(self, data: bytes, /) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._number, rest) :]

    def is_closing(self) -> bool:
        return self._lost.is_set()

    def close(self) -> None:
        if not self._lost.is_set():
            self._lost.set()
            os.close(self._number)

    def abort(self) -> None:
        self.close()
