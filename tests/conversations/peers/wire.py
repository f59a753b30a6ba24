"""One end of a connection on standard input and output, built on the bindings: requests and answers meet by their ids."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, Protocol

from acp_bindings import DecodeError, ErrorResponse, Notification, Request, Response

Side = Literal["agent", "client"]
LIMIT = 16 << 20


class Codec(Protocol):
    """A version of the bindings."""

    def decode(self, line: bytes, *, sender: Side, pending: dict[Any, str]) -> Any: ...
    def encode(self, message: Any) -> bytes: ...


class Refused(Exception):
    """An error for the peer, or from it."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.data = code, data


Incoming = Request[Any] | Notification[Any] | Response[Any] | ErrorResponse[Any]
Handler = Callable[[str, Any], Awaitable[Any]]


class Peer:
    """One side. `handle` answers a request with its typed result, and is told notifications too."""

    def __init__(
        self, codec: Any, side: Side, handle: Handler, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.codec, self.side, self.handle = codec, side, handle
        self.other: Side = "client" if side == "agent" else "agent"
        self.reader, self.writer = reader, writer
        self.methods: dict[Any, str] = {}
        self.waiting: dict[Any, asyncio.Future[Any]] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self.last = 0

    async def request(self, method: str, params: Any) -> Any:
        """The result of a request. Raises `Refused`."""
        self.last += 1
        name = self.last
        self.methods[name] = method
        self.waiting[name] = asyncio.get_running_loop().create_future()
        await self.send(Request(name, method, params))
        return await self.waiting[name]

    async def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        await self.send(Notification(method, params))

    async def send(self, message: Any) -> None:
        """Send one message."""
        self.writer.write(self.codec.encode(message) + b"\n")
        await self.writer.drain()

    async def run(self) -> None:
        """Take in messages until the other side is done."""
        while line := await self.reader.readline():
            try:
                message = self.codec.decode(line, sender=self.other, pending=self.methods)
            except DecodeError as error:
                if error.id is not None and error.method is not None:
                    await self._refuse(error.id, error.code, str(error))
                else:
                    print(f"{self.side}: {error}: {line!r}", file=sys.stderr)
                continue
            self._take_in(message)

    def _take_in(self, message: Incoming) -> None:
        match message:
            case Request() | Notification():
                task = asyncio.create_task(self._handle(message))
                self.tasks.add(task)
                task.add_done_callback(self.tasks.discard)
            case Response():
                self._take(message.id).set_result(message.result)
            case ErrorResponse(id=None):
                print(f"{self.side}: {message}", file=sys.stderr)
            case ErrorResponse():
                error = message.error
                self._take(message.id).set_exception(Refused(error.code, error.message, error.data))

    def _take(self, name: Any) -> asyncio.Future[Any]:
        del self.methods[name]
        return self.waiting.pop(name)

    async def _handle(self, message: Request[Any] | Notification[Any]) -> None:
        try:
            result = await self.handle(message.method, message.params)
        except Refused as error:
            if isinstance(message, Request):
                await self._refuse(message.id, error.code, str(error), error.data)
            return
        if isinstance(message, Request):
            await self.send(Response(message.id, result))

    async def _refuse(self, name: Any, code: int, sentence: str, data: Any = None) -> None:
        await self.send(ErrorResponse(name, self.codec.Error(code=code, message=sentence, data=data)))


async def on_stdio(codec: Any, side: Side, make: Callable[[Any], Handler]) -> None:
    """Be one side of the process's own standard input and output, until the input ends."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(LIMIT)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout.buffer)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    late: list[Handler] = []

    async def handle(method: str, params: Any) -> Any:
        return await late[0](method, params)

    peer = Peer(codec, side, handle, reader, writer)
    late.append(make(peer))
    await peer.run()


async def with_agent(
    codec: Any, command: Sequence[str], make: Callable[[], Handler], work: Callable[[Peer], Awaitable[None]]
) -> int:
    """Start an agent, do the client's work with it, let it end, and return its exit code."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=LIMIT
    )
    assert process.stdin is not None
    assert process.stdout is not None
    peer = Peer(codec, "client", make(), process.stdout, process.stdin)
    running = asyncio.create_task(peer.run())
    await work(peer)
    process.stdin.close()
    await running
    return await process.wait()
