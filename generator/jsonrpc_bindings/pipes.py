"""Messages over two descriptors: by the event loop, or by threads where it cannot wait for them."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from io import FileIO
from typing import Any, Final

from .failures import ConnectionClosed
from .framing import Framing, Unreadable

CAPACITY: Final = 1 << 20
"""How many bytes wait in memory before no more is read."""

NEEDS_THREADS: Final = sys.platform == "win32"
"""The event loop of Windows waits for pipes that were opened for overlapped access alone, and standard streams are not."""

_CHUNK: Final = 1 << 16
_HIGH: Final = 1 << 16
"""Bytes that wait to be written when senders must wait, and a quarter of it when they go on, as with the event loop's pipes."""


class Pipes:
    """A transport of one descriptor that is read and one that is written to, but for where they come from and how they are closed."""

    def __init__(self, framing: Framing) -> None:
        self._framing = framing
        self._frames: deque[bytes | Unreadable] = deque()
        self._has_ended = False
        self._reader = asyncio.StreamReader(CAPACITY // 2)  # which pauses its source at twice as much
        self._output = _Output()
        self._source: Any = None
        self._sink: Any = None

    async def _open(self, read: int, write: int, *, threads: bool = NEEDS_THREADS) -> None:
        """Read and write duplicates of two descriptors. Raises `OSError`."""
        self._source = await _connected(os.dup(read), "rb", asyncio.StreamReaderProtocol(self._reader), threads)
        self._sink = await _connected(os.dup(write), "wb", self._output, threads)

    def _release(self) -> None:
        """Read and write no more."""
        if self._sink is not None and not self._output.lost.is_set():
            self._sink.abort()
        if self._source is not None:
            self._source.close()
        self._reader.feed_eof()
        self._output.connection_lost(None)

    async def receive(self) -> bytes | None:
        """See `transport.Transport`."""
        while not self._frames:
            if self._has_ended:
                return None
            try:
                data = await self._reader.read(CAPACITY)
            except OSError:  # the other end is torn off
                data = b""
            self._has_ended = not data
            self._frames += self._framing.feed(data) if data else self._framing.end()
        frame = self._frames.popleft()
        if isinstance(frame, Unreadable):
            raise frame
        return frame

    def send(self, message: bytes) -> None:
        """See `transport.Transport`."""
        if self._output.lost.is_set() or self._sink is None or self._sink.is_closing():
            raise ConnectionClosed("the peer no longer reads")
        self._sink.write(self._framing.write(message))

    @property
    def is_full(self) -> bool:
        """See `transport.Transport`."""
        return not self._output.room.is_set()

    async def drain(self) -> None:
        """See `transport.Transport`."""
        while self.is_full:
            await self._output.room.wait()
        if self._output.lost.is_set():
            raise ConnectionClosed("the peer no longer reads")


class _Output(asyncio.BaseProtocol):
    """What a sink says: whether there is `room` for more, and whether it is `lost`."""

    def __init__(self) -> None:
        self.room, self.lost = asyncio.Event(), asyncio.Event()
        self.room.set()

    def pause_writing(self) -> None:
        if not self.lost.is_set():
            self.room.clear()

    def resume_writing(self) -> None:
        self.room.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set()
        self.room.set()


async def _connected(number: int, mode: str, protocol: Any, threads: bool) -> Any:
    """What reads a descriptor or writes to it, and closes it then; it is closed where neither can be."""
    loop, is_read = asyncio.get_running_loop(), mode == "rb"
    close: Callable[[], object] = partial(os.close, number)
    try:
        if threads or not _is_pipe(number):
            return _ThreadSource(number, protocol) if is_read else _ThreadSink(number, protocol)
        file = FileIO(number, mode)
        close = file.close
        transport, _ = await (loop.connect_read_pipe if is_read else loop.connect_write_pipe)(lambda: protocol, file)
    except Exception:  # what was cancelled, the event loop has taken over and closes
        with suppress(OSError):
            close()
        raise
    return transport


def _is_pipe(number: int) -> bool:
    """Whether the event loop can wait for it. It cannot for files and the null device, which are always ready."""
    mode = os.fstat(number).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (stat.S_ISCHR(mode) and os.isatty(number))


class _ThreadSource(asyncio.ReadTransport):
    """A descriptor that a thread reads. A read that waits when this is closed cannot be called off: what it reads is dropped."""

    def __init__(self, number: int, protocol: asyncio.StreamReaderProtocol) -> None:
        super().__init__()
        self._number, self._protocol = number, protocol
        self._loop = asyncio.get_running_loop()
        self._is_closed = False
        self._go = threading.Event()
        self._go.set()
        protocol.connection_made(self)
        threading.Thread(target=self._read, name="source", daemon=True).start()

    def pause_reading(self) -> None:
        self._go.clear()

    def resume_reading(self) -> None:
        self._go.set()

    def close(self) -> None:
        self._is_closed = True
        self._go.set()

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
            _call(self._loop, self._protocol.connection_lost, None)

    def _feed(self, data: bytes, taken: threading.Event) -> None:
        if not self._is_closed:
            self._protocol.data_received(data)
        taken.set()


class _ThreadSink(asyncio.WriteTransport):
    """A descriptor that a thread writes to."""

    def __init__(self, number: int, protocol: _Output) -> None:
        super().__init__()
        self._number, self._protocol = number, protocol
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._is_closing = False
        self._ready = threading.Condition()
        threading.Thread(target=self._write, name="sink", daemon=True).start()

    def write(self, data: Any) -> None:
        with self._ready:
            self._waiting.append(data)
            self._size += len(data)
            if self._size > _HIGH:
                self._protocol.pause_writing()
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
                with self._ready:
                    was, self._size = self._size, self._size - len(data)
                if was > _HIGH // 4 >= self._size:
                    _call(self._loop, self._resume)
        except OSError:  # nobody reads
            pass
        finally:
            self._is_closing = True
            os.close(self._number)
            _call(self._loop, self._protocol.connection_lost, None)

    def _next(self) -> bytes | None:
        with self._ready:
            while not self._waiting and not self._is_closing:
                self._ready.wait()
            return self._waiting.popleft() if self._waiting else None

    def _resume(self) -> None:
        if self._size <= _HIGH:  # nothing was written meanwhile
            self._protocol.resume_writing()


def _call(loop: asyncio.AbstractEventLoop, callback: Callable[..., object], *arguments: Any) -> None:
    with suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(callback, *arguments)
