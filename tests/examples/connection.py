"""JSON-RPC over a pair of streams, one message a line: requests wait for their answers, what comes in goes to a handler.

Agent and client share it; it is all that stands between the bindings and a transport.
"""

from __future__ import annotations

import asyncio
import sys
from itertools import count
from typing import Protocol

from acp_bindings import DecodeError, Dropped, ErrorResponse, Notification, Request, Response, v1


class Handler(Protocol):
    """What one side does with the other's messages."""

    async def answer(self, params: v1.AnyRequestParams) -> v1.AnyResult | None:
        """The result of a request; `None` where this side has no such method."""

    async def notice(self, params: v1.AnyNotificationParams) -> None:
        """Take note of a notification."""


class Failed(Exception):
    """The other side answered a request with an error."""

    def __init__(self, error: v1.Error) -> None:
        super().__init__(error.message)
        self.error = error


class Connection:
    """One connection. `other` is the side at its far end; `dropped` collects what leniency let go by."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, other: v1.Sender) -> None:
        self.reader = reader
        self.writer = writer
        self.other: v1.Sender = other
        self.dropped: list[Dropped] = []
        self._ids = count(1)
        self._methods: dict[object, str] = {}
        self._waiting: dict[object, asyncio.Future[v1.AnyResult]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def request(self, method: str, params: v1.AnyRequestParams) -> v1.AnyResult:
        """Send a request and wait for its result. Raises `Failed`, and `ConnectionError` where the other side ends first."""
        number = next(self._ids)
        self._methods[number] = method
        self._waiting[number] = asyncio.get_running_loop().create_future()
        self._send(Request(number, method, params))
        return await self._waiting[number]

    def notify(self, method: str, params: v1.AnyNotificationParams) -> None:
        """Send a notification."""
        self._send(Notification(method, params))

    async def run(self, handler: Handler) -> None:
        """Read until the other side ends, then close. Requests are handled side by side, notifications in their order."""
        while line := await self.reader.readline():
            try:
                message = v1.decode(line, sender=self.other, pending=self._methods, on_drop=self.dropped.append)
            except DecodeError as error:
                self._refuse(error)
                continue
            match message:
                case Request():
                    task = asyncio.create_task(self._answer(message, handler))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
                    await asyncio.sleep(0)  # it begins before what follows is read: a cancellation finds it
                case Notification(params=params):
                    await handler.notice(params)
                case Response(id=number, result=result):
                    self._settle(number).set_result(result)
                case ErrorResponse(id=number, error=reason):
                    self._settle(number).set_exception(Failed(reason))
        for waiting in self._waiting.values():
            waiting.set_exception(ConnectionError("the other side has ended"))
        self.writer.close()

    async def _answer(self, request: Request[v1.AnyRequestParams], handler: Handler) -> None:
        result = await handler.answer(request.params)
        if result is None:
            self._send(ErrorResponse(request.id, v1.Error(code=-32601, message=f"{request.method} is not served here")))
        else:
            self._send(Response(request.id, result, request.method))

    def _refuse(self, error: DecodeError) -> None:
        """Answer a request that could not be read; what is no request gets no answer."""
        if error.id is not None and error.method is not None:
            self._send(ErrorResponse(error.id, v1.Error(code=error.code, message=str(error))))

    def _settle(self, number: object) -> asyncio.Future[v1.AnyResult]:
        self._methods.pop(number, None)
        return self._waiting.pop(number, None) or asyncio.get_running_loop().create_future()

    def _send(self, message: v1.Message) -> None:
        self.writer.write(v1.encode(message) + b"\n")


async def standard_streams() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """This program's standard input and output as streams."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)
