"""A transport over two file descriptors. If the event loop cannot wait for one, a thread bridges it to a socket."""

from __future__ import annotations

import asyncio
import os
import socket
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
"""The number of bytes that are buffered before reading is paused."""

NEEDS_THREADS: Final = sys.platform == "win32"
"""The event loop of Windows can only wait for pipes that were opened for overlapped access, which standard streams are not."""

_CHUNK: Final = 1 << 16


class Pipes:
    """A transport that reads one descriptor and writes another; subclasses open and close them."""

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
        self._source = await _connect(os.dup(read), "rb", asyncio.StreamReaderProtocol(self._reader), threads)
        self._sink = await _connect(os.dup(write), "wb", self._output, threads)

    def _release(self) -> None:
        """Stop reading and writing."""
        sink = self._sink
        # asyncio fails on an abort after the end.
        if sink is not None and (sink.get_write_buffer_size() or not sink.is_closing()):
            sink.abort()
        if self._source is not None:
            self._source.close()
        self._reader.feed_eof()
        self._output.end()

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


class _Output(asyncio.Protocol):
    """The state of a sink: whether there is `room` for more, and whether it is `lost`.

    `is_bridged`: the thread behind the socket reports when everything is written.
    """

    def __init__(self) -> None:
        self.room, self.lost = asyncio.Event(), asyncio.Event()
        self.room.set()
        self.is_bridged = False

    def pause_writing(self) -> None:
        if not self.lost.is_set():
            self.room.clear()

    def resume_writing(self) -> None:
        self.room.set()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.is_bridged:
            self.end()

    def end(self) -> None:
        """End the output: nothing more is written."""
        self.lost.set()
        self.room.set()


async def _connect(number: int, mode: str, protocol: asyncio.Protocol, threads: bool) -> Any:
    """The asyncio transport that reads or writes a descriptor, and owns it; the descriptor is closed on errors."""
    loop = asyncio.get_running_loop()
    close: Callable[[], object] = partial(os.close, number)
    endpoint: tuple[Any, Any]
    try:
        file = FileIO(number, mode)
        close = file.close
        if threads or not _is_pipe(number):
            near, far = socket.socketpair()
            _start_bridge(file, near, protocol)
            close = far.close
            endpoint = await loop.connect_accepted_socket(lambda: protocol, far)
        else:
            connect = loop.connect_read_pipe if file.readable() else loop.connect_write_pipe
            endpoint = await connect(lambda: protocol, file)
    except Exception:  # what was cancelled, the event loop has taken over and closes
        with suppress(OSError):
            close()
        raise
    return endpoint[0]


def _is_pipe(number: int) -> bool:
    """Whether the event loop can wait for a descriptor. It cannot for files and the null device, which are always ready."""
    mode = os.fstat(number).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (stat.S_ISCHR(mode) and os.isatty(number))


def _start_bridge(file: FileIO, near: socket.socket, protocol: asyncio.Protocol) -> None:
    """Copy data from a file to a socket, or from the socket to the file, in a thread: the event loop can wait for sockets.

    A blocked read cannot be cancelled when this is closed: the data that it reads is dropped.
    """
    loop = asyncio.get_running_loop()

    def read() -> None:
        with file, near, suppress(OSError):  # the other end is torn off, or nobody reads
            while data := file.read(_CHUNK):
                near.sendall(data)

    def write(output: _Output) -> None:
        with file, near, suppress(OSError):
            while data := near.recv(_CHUNK):
                view = memoryview(data)
                while view:
                    view = view[os.write(file.fileno(), view) :]
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(output.end)

    if isinstance(protocol, _Output):
        protocol.is_bridged = True
        threading.Thread(target=write, args=(protocol,), name="sink", daemon=True).start()
    else:
        threading.Thread(target=read, name="source", daemon=True).start()
