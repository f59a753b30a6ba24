"""This process's own standard input and output as a transport."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import Callable
from io import FileIO
from typing import Final, Literal, Protocol

from .framing import Framing
from .pipes import Incoming, Outgoing, Piped

_CHUNK: Final = 1 << 16


class _Source(Protocol):
    """What is read from."""

    def pause_reading(self) -> object: ...
    def resume_reading(self) -> object: ...
    def close(self) -> object: ...


class _Sink(Protocol):
    """What is written to."""

    def write(self, data: bytes, /) -> object: ...
    def is_closing(self) -> bool: ...
    def close(self) -> object: ...
    def abort(self) -> object: ...


class Own(Piped):
    """Standard input and output of this process. While they are open, what programs print goes to standard error, and nobody else
    reads the input.
    """

    def __init__(self, framing: Framing, grace: float) -> None:
        super().__init__(framing)
        self._grace = grace
        self._lost = asyncio.Event()
        self._source: _Source | None = None
        self._sink: _Sink | None = None
        self._saved: tuple[int, int] | None = None

    @classmethod
    async def open(cls, framing: Framing, *, grace: float = 2.0) -> Own:
        """Take standard input and output over; `close` gives them back."""
        own = cls(framing, grace)
        own._take()
        try:
            own._source = await _source(os.dup(own._inner[0]), own._incoming)
            own._sink = await _sink(os.dup(own._inner[1]), own._outgoing, own._lost)
        except BaseException:
            await own.close()
            raise
        own._incoming.pause, own._incoming.resume = (
            own._source.pause_reading,
            own._source.resume_reading,
        )
        own._outgoing.open(own._sink)
        return own

    @property
    def _inner(self) -> tuple[int, int]:
        assert self._saved is not None
        return self._saved

    async def close(self) -> None:
        """See `transport.Transport`."""
        source, sink, self._source, self._sink = self._source, self._sink, None, None
        try:
            if sink is not None:
                sink.close()
                async with asyncio.timeout(self._grace):
                    await self._lost.wait()
        except TimeoutError:
            pass  # the peer does not read what was left
        finally:
            if sink is not None and not self._lost.is_set():
                sink.abort()
            if source is not None:
                source.close()
            self._incoming.end()
            self._outgoing.lose()
            self._give_back()
        await asyncio.sleep(0)  # the loop lets go of the pipes

    def _take(self) -> None:
        sys.stdout.flush()
        self._saved = os.dup(0), os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)

    def _give_back(self) -> None:
        if self._saved is None:
            return
        sys.stdout.flush()
        for number, saved in enumerate(self._saved):
            os.dup2(saved, number)
            os.close(saved)
        self._saved = None


async def _source(number: int, incoming: Incoming) -> _Source:
    if not _is_pipe(number):
        return _FileSource(number, incoming)
    file = _opened(number, "rb")
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: _Reader(incoming), file
    )
    return transport


async def _sink(number: int, outgoing: Outgoing, lost: asyncio.Event) -> _Sink:
    if not _is_pipe(number):
        return _FileSink(number, lost)
    file = _opened(number, "wb")
    transport, _ = await asyncio.get_running_loop().connect_write_pipe(
        lambda: _Writer(outgoing, lost), file
    )
    return transport


def _opened(number: int, mode: Literal["rb", "wb"]) -> FileIO:
    """A standard stream as a file; the transport closes it."""
    return FileIO(number, mode)


def _is_pipe(number: int) -> bool:
    """Whether the event loop can wait for it. Files and the null device are always ready."""
    mode = os.fstat(number).st_mode
    return (
        stat.S_ISFIFO(mode)
        or stat.S_ISSOCK(mode)
        or (stat.S_ISCHR(mode) and os.isatty(number))
    )


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


class _FileSource:
    """A file as input, read as fast as its messages are taken."""

    def __init__(self, number: int, incoming: Incoming) -> None:
        self._number = number
        self._incoming = incoming
        self._go = asyncio.Event()
        self._go.set()
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
            self._incoming.end()
            os.close(self._number)

    def close(self) -> None:
        self._task.cancel()


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
