"""Pipes that threads read and write, as where the event loop cannot wait for them: order, back pressure, and every end."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from jsonrpc_bindings import streams
from jsonrpc_bindings.failures import ConnectionClosed
from jsonrpc_bindings.framing import Lines
from jsonrpc_bindings.pipes import CAPACITY, Incoming, Outgoing, Piped
from jsonrpc_bindings.streams import Sink, Source, sink, source

BIG = b'"' + b"x" * (3 << 20) + b'"'


class Ends(Piped):
    """A transport over two pipes; `near` and `far` are the other ends of what it reads and writes."""

    source: Source
    sink: Sink

    @classmethod
    async def open(cls) -> Ends:
        ends = cls(Lines())
        ends.lost = asyncio.Event()
        read, ends.near = os.pipe()
        ends.far, write = os.pipe()
        ends.source = await source(read, ends._incoming, threads=True)
        ends.sink = await sink(write, ends._outgoing, ends.lost, threads=True)
        ends._incoming.pause, ends._incoming.resume = ends.source.pause_reading, ends.source.resume_reading
        ends._outgoing.open(ends.sink)
        return ends

    near: int
    far: int
    lost: asyncio.Event

    async def close(self) -> None:
        self.sink.close()
        self.source.close()


def run(work: Callable[[Ends], Awaitable[None]]) -> None:
    async def main() -> None:
        ends = await Ends.open()
        left = [ends.near, ends.far]
        try:
            async with asyncio.timeout(30):
                await work(ends)
        finally:
            await ends.close()
            for end in left:
                try:
                    os.close(end)
                except OSError:
                    continue
        async with asyncio.timeout(10):
            while {"source", "sink"} & {thread.name for thread in threading.enumerate()}:
                await asyncio.sleep(0.001)

    asyncio.run(main())


def write(end: int, data: bytes) -> threading.Thread:
    """Write as the peer does."""

    def work() -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(end, rest) :]
        os.close(end)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def read(end: int, size: int) -> bytes:
    found = b""
    while len(found) < size and (data := os.read(end, size - len(found))):
        found += data
    return found


def test_messages_come_whole_and_in_order_and_the_end_after_them() -> None:
    async def work(ends: Ends) -> None:
        write(ends.near, b"1\n22\n" + BIG + b'\n{"a":1}\n3')
        found: list[bytes] = []
        while (message := await ends.receive()) is not None:
            found.append(bytes(message))
        assert found == [b"1", b"22", BIG, b'{"a":1}', b"3"]
        assert await ends.receive() is None

    run(work)


def test_messages_go_out_whole_and_in_order_and_what_waits_is_written_before_the_end() -> None:
    async def work(ends: Ends) -> None:
        for message in (b"1", BIG, b"2"):
            ends.send(message)
        reading = asyncio.create_task(asyncio.to_thread(read, ends.far, len(BIG) + 5))
        ends.sink.close()
        assert await reading == b"1\n" + BIG + b"\n2\n"
        await ends.lost.wait()
        with pytest.raises(ConnectionClosed):
            ends.send(b"3")

    run(work)


def test_who_sends_waits_while_the_peer_does_not_read_and_then_goes_on() -> None:
    async def work(ends: Ends) -> None:
        assert not ends.is_full
        ends.send(BIG)
        assert ends.is_full
        draining = asyncio.create_task(ends.drain())
        await asyncio.sleep(0.05)
        assert not draining.done()
        await asyncio.to_thread(read, ends.far, len(BIG) + 1)
        await draining
        assert not ends.is_full

    run(work)


def test_the_peer_waits_while_messages_are_not_taken() -> None:
    async def work(ends: Ends) -> None:
        writing = write(ends.near, b"x" * 1000 + b"\n" + (b"y" * 1000 + b"\n") * (4 * CAPACITY // 1000))
        await asyncio.sleep(0.2)
        assert writing.is_alive()
        count = 0
        while await ends.receive() is not None:
            count += 1
        assert count == 4 * CAPACITY // 1000 + 1
        writing.join(5)

    run(work)


def test_a_receiver_that_is_cancelled_loses_nothing() -> None:
    async def work(ends: Ends) -> None:
        for _ in range(3):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await ends.receive()
        os.write(ends.near, b"1\n")
        assert await ends.receive() == b"1"

    run(work)


def test_a_peer_that_does_not_read_any_more_ends_who_waits() -> None:
    async def work(ends: Ends) -> None:
        ends.send(BIG)
        draining = asyncio.create_task(ends.drain())
        await asyncio.sleep(0)
        os.close(ends.far)
        with pytest.raises(ConnectionClosed):
            await draining
        with pytest.raises(ConnectionClosed):
            ends.send(b"1")

    run(work)


def test_a_sink_whose_peer_does_not_read_keeps_no_program_from_ending() -> None:
    async def work(ends: Ends) -> None:
        ends.send(BIG)
        ends.sink.abort()
        assert ends.sink.is_closing()
        os.close(ends.far)

    run(work)


def test_nothing_is_taken_from_a_source_that_is_closed() -> None:
    async def work(ends: Ends) -> None:
        ends.source.close()
        os.write(ends.near, b"late\n")
        os.close(ends.near)
        assert await ends.receive() is None

    run(work)


def is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def numbers(path: Path) -> dict[str, int]:
    """Descriptors of a file, and of a pipe that nobody else closes."""
    read, write = os.pipe()
    return {"file": os.open(path, os.O_RDWR | os.O_CREAT), "read": read, "write": write}


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_a_file_that_is_read_is_closed_however_early(tmp_path: Path, steps: int) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"1\n2\n")

    async def main() -> None:
        incoming = Incoming(Lines())
        number = os.open(file, os.O_RDONLY)
        found = await source(number, incoming)
        for _ in range(steps):
            await asyncio.sleep(0)
        found.close()
        found.close()
        assert not is_open(number)
        got = [bytes(message) async for message in _messages(incoming)]
        assert got == [b"1", b"2"][: 2 * steps]
        await asyncio.sleep(0.01)

    asyncio.run(main())


async def _messages(incoming: Incoming) -> AsyncIterator[bytes]:
    while (message := await incoming.receive()) is not None:
        yield message


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("what", ["source", "sink"])
@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_a_descriptor_that_can_be_neither_read_nor_written_is_closed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, what: str, kind: str, threads: bool
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no more of them")

    async def main() -> None:
        found = numbers(tmp_path / "file")
        number = found["file" if kind == "file" else "read" if what == "source" else "write"]
        loop = asyncio.get_running_loop()
        for name in ("connect_read_pipe", "connect_write_pipe"):
            monkeypatch.setattr(loop, name, fail)
        for name in ("_FileSource", "_FileSink", "_ThreadSource", "_ThreadSink"):
            monkeypatch.setattr(streams, name, fail)
        opening = (
            source(number, Incoming(Lines()), threads=threads)
            if what == "source"
            else sink(number, Outgoing(), asyncio.Event(), threads=threads)
        )
        with pytest.raises(OSError, match="no more of them"):
            await opening
        assert not is_open(number)
        for other in set(found.values()) - {number}:
            os.close(other)

    asyncio.run(main())
