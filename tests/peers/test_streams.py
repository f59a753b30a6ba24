"""Pipes that threads read and write, as where the event loop cannot wait for them: order, back pressure, and every end."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from jsonrpc_bindings.failures import ConnectionClosed
from jsonrpc_bindings.framing import Lines
from jsonrpc_bindings.pipes import CAPACITY, Pipes
from peers.harbour import descriptors

BIG = b'"' + b"x" * (3 << 20) + b'"'


class Ends(Pipes):
    """A transport over two pipes; `near` and `far` are the other ends of what it reads and writes."""

    near: int
    far: int

    @classmethod
    async def open(cls) -> Ends:
        ends = cls(Lines())
        read, ends.near = os.pipe()
        ends.far, write = os.pipe()
        await ends._open(read, write, threads=True)
        os.close(read)
        os.close(write)
        return ends

    async def close(self) -> None:
        self._sink.close()
        self._source.close()


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
        ends._sink.close()
        assert await reading == b"1\n" + BIG + b"\n2\n"
        await ends._output.lost.wait()
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
        ends._sink.abort()
        assert ends._sink.is_closing()
        os.close(ends.far)

    run(work)


def test_nothing_is_taken_from_a_source_that_is_closed() -> None:
    async def work(ends: Ends) -> None:
        ends._release()
        os.write(ends.near, b"late\n")
        os.close(ends.near)
        assert await ends.receive() is None

    run(work)


async def settled(before: int) -> None:
    """Wait until no more descriptors are open than before."""
    async with asyncio.timeout(5):
        while descriptors() > max(before, 0):  # 0 where the system does not tell
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_files_that_are_read_and_written_are_closed_however_early(tmp_path: Path, steps: int, threads: bool) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"1\n2\n")

    async def main() -> None:
        with file.open("rb") as read, (tmp_path / "out").open("wb") as written:
            before = descriptors()
            link = Pipes(Lines())
            await link._open(read.fileno(), written.fileno(), threads=threads)
            for _ in range(steps):
                await asyncio.sleep(0)
            for _ in range(2):
                link._release()
            got: list[bytes] = []
            while (message := await link.receive()) is not None:
                got.append(bytes(message))
            assert got in ([], [b"1", b"2"])
            await settled(before)

    asyncio.run(main())


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("what", ["source", "sink"])
@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_a_descriptor_that_can_be_neither_read_nor_written_is_closed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, what: str, kind: str, threads: bool
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no more of them")

    async def main() -> None:
        file, (read, write) = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT), os.pipe()
        loop, is_source, before = asyncio.get_running_loop(), what == "source", descriptors()
        if kind == "file" or threads:
            count = iter((is_source, True))
            real = socket.socketpair
            monkeypatch.setattr(socket, "socketpair", lambda: fail() if next(count) else real())
        else:
            monkeypatch.setattr(loop, "connect_read_pipe" if is_source else "connect_write_pipe", fail)
        link = Pipes(Lines())
        with pytest.raises(OSError, match="no more of them"):
            await link._open(*((file, file) if kind == "file" else (read, write)), threads=threads)
        link._release()
        os.close(write)  # the end of what a thread reads
        await settled(before - 1)
        os.close(read)
        os.close(file)

    asyncio.run(main())
