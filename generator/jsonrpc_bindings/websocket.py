"""WebSocket as a transport, for either side of a protocol: one message in each text frame. Needs the extra `websocket`.

    async with websocket.serve(MyAgent, port=8080, path="/acp") as server:
        await server.forever()

    async with peers.connect_agent(MyClient(), await websocket.connect("ws://127.0.0.1:8080/acp")) as agent:
        ...

Sources: RFC 6455 (frames, close codes), the RFD of ACP on streamable HTTP and WebSocket (only text frames, binary frames are ignored, a
connection id in the response to the upgrade).
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from .failures import ConnectionClosed
from .framing import LIMIT, Unreadable
from .peers import Side, attach_handler
from .transport import CAPACITY, Queue, Queued

try:  # not by a statement: who does not use this module need not have the package, nor need a type checker
    _client: Any = import_module("websockets.asyncio.client")
    _server: Any = import_module("websockets.asyncio.server")
    _errors: Any = import_module("websockets.exceptions")
    _frames: Any = import_module("websockets.frames")
except ModuleNotFoundError:
    raise ImportError(
        "WebSocket needs the package websockets, 15 or newer. Install the extra 'websocket' of these bindings, or: pip install websockets"
    ) from None

if TYPE_CHECKING:
    import ssl as tls
    from typing import Unpack

    from .wire import Options

PING: Final = 20.0
"""Seconds between pings, so that no intermediary closes the connection as idle."""
QUEUE: Final = 4
"""The number of buffered messages at which reading is paused."""

_ENDS: Final = {1000, 1001, 1005}
"""Close codes of a normal end: done, going away, none given."""
_TOO_BIG: Final = 1009
_MEANINGS: Final[Mapping[int, str]] = {
    **_frames.CLOSE_CODE_EXPLANATIONS,
    1006: "the connection was cut",
    1007: "text that is not UTF-8",
}


class Socket(Queued):
    """An open WebSocket of the library `websockets` as a transport; `connect` and `serve` create it.

    `limit` is the maximum message size in bytes with which the WebSocket was opened (`max_size`), for the error about a longer message.
    `grace`: seconds that `close` gives the peer to read what is queued. Open the WebSocket with `ping_timeout=None`: while reading is
    paused, pongs are not seen.
    """

    def __init__(self, socket: Any, *, limit: int = LIMIT, grace: float = 2.0) -> None:
        super().__init__(Queue(CAPACITY, "the WebSocket is closed"))
        self._socket, self._limit, self._grace = socket, limit, grace
        self._writing = asyncio.create_task(self._write())
        self._closing: asyncio.Task[None] | None = None

    async def receive(self) -> bytes | None:
        """See `transport.Transport`. Raises `ConnectionClosed` with the close code unless the peer ended normally."""
        try:
            message = await self._socket.recv()
        except _errors.ConnectionClosed as closed:
            self._outgoing.close()
            _require_end(closed, self._limit)
            return None
        if isinstance(message, str):
            return message.encode()
        raise Unreadable("a binary frame was ignored: messages are text frames", is_answered=False)

    async def close(self) -> None:
        """See `transport.Transport`. The peer sees the close code 1000. Cancelling this call cuts the connection."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await _finish(self._closing, self._cut)

    async def _close(self) -> None:
        self._outgoing.close()
        try:
            async with asyncio.timeout(self._grace):
                await asyncio.shield(self._writing)
                await self._socket.close()
        except TimeoutError:
            pass  # the peer takes no more
        finally:
            self._cut()
            self._writing.cancel()
            await asyncio.gather(self._writing, return_exceptions=True)
            await self._socket.wait_closed()

    def _cut(self) -> None:
        self._socket.transport.abort()

    async def _write(self) -> None:
        """Send the queued messages in order, until this is closed or the peer is gone."""
        try:
            while (message := await self._outgoing.peek()) is not None:
                await self._socket.send(message, text=True)
                self._outgoing.take()
        except _errors.ConnectionClosed:
            self._outgoing.close()


async def connect(
    uri: str,
    *,
    headers: Mapping[str, str] | None = None,
    ssl: tls.SSLContext | None = None,
    limit: int = LIMIT,
    timeout: float | None = 10.0,
    grace: float = 2.0,
) -> Socket:
    """Open a WebSocket at `ws://…` or `wss://…`. `headers` are sent with the upgrade, such as `Authorization`.

    Raises `ValueError` for an invalid URI, `OSError` if the server cannot be reached, `ConnectionRefusedError` if it does not accept the
    WebSocket, `TimeoutError`.
    """
    try:
        socket = await _client.connect(
            uri,
            additional_headers=headers,
            ssl=ssl,
            open_timeout=timeout,
            **_make_options(limit, grace),
        )
    except _errors.InvalidURI as error:
        raise ValueError(f"{uri!r} is not the URI of a WebSocket, which must begin with ws:// or wss://") from error
    except _errors.InvalidHandshake as error:
        raise ConnectionRefusedError(f"{uri} does not answer with a WebSocket: {error}") from error
    return Socket(socket, limit=limit, grace=grace)


class Listener:
    """A server that accepts connections at `uri`."""

    def __init__(self, server: Any, uri: str) -> None:
        self._server = server
        self.uri = uri

    async def forever(self) -> None:
        """Serve until this is cancelled, or the `with` block ends."""
        await self._server.wait_closed()


def serve(
    make: Callable[[], Side],
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    path: str | None = None,
    identity: str | None = None,
    origins: tuple[str, ...] = (),
    connections: int = 100,
    ssl: tls.SSLContext | None = None,
    limit: int = LIMIT,
    **options: Unpack[Options],
) -> AbstractAsyncContextManager[Listener]:
    """Accept WebSockets, and serve each: `make` creates the object that serves a connection. See `accept`."""

    async def serve(socket: Socket) -> None:
        await attach_handler(make(), socket, options).run()

    return accept(
        serve,
        host,
        port,
        path=path,
        identity=identity,
        origins=origins,
        connections=connections,
        ssl=ssl,
        limit=limit,
        grace=options.get("grace", 2.0),
    )


@asynccontextmanager
async def accept(
    handle: Callable[[Socket], Awaitable[object]],
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    path: str | None = None,
    identity: str | None = None,
    origins: tuple[str, ...] = (),
    connections: int = 100,
    ssl: tls.SSLContext | None = None,
    limit: int = LIMIT,
    grace: float = 2.0,
) -> AsyncGenerator[Listener]:
    """Accept WebSockets, and have `handle` serve each until it ends. On exit all are closed, with code 1001.

    `port` 0 chooses a free one. `path`: upgrades of another path get 404. `identity`: the response header for a connection id, such as
    `Acp-Connection-Id`. Web pages may only connect from `origins`; programs other than browsers send no origin. `connections` is the
    maximum that is served at once; more get 503. Access control is up to you: by the host, by `ssl`, or by a server of your own
    (`Socket`).
    """
    served: set[Any] = set()

    def judge(socket: Any, request: Any) -> Any:
        if path is not None and request.path.partition("?")[0] != path:
            return socket.respond(404, "there is nothing here\n")
        if len(served) >= connections:
            return socket.respond(503, "too many connections\n")
        return None

    def identify(socket: Any, request: Any, response: Any) -> None:
        if identity is not None:
            response.headers[identity] = str(uuid.uuid4())

    async def take(socket: Any) -> None:
        served.add(socket)
        transport = Socket(socket, limit=limit, grace=grace)
        try:
            await handle(transport)
        finally:
            served.discard(socket)
            await transport.close()

    def cut() -> None:
        for socket in served:
            socket.transport.abort()

    server = await _server.serve(
        take,
        host,
        port,
        origins=[*origins, None],
        process_request=judge,
        process_response=identify,
        ssl=ssl,
        **_make_options(limit, grace),
    )
    name, number = next(iter(server.sockets)).getsockname()[:2]
    host_text = f"[{name}]" if ":" in name else name
    try:
        yield Listener(server, f"{'ws' if ssl is None else 'wss'}://{host_text}:{number}{path or '/'}")
    finally:
        server.close()
        await _finish(asyncio.ensure_future(server.wait_closed()), cut)


def _make_options(limit: int, grace: float) -> dict[str, Any]:
    """The options with which a WebSocket is opened, on either side."""
    return {
        "max_size": limit,
        "close_timeout": grace,
        "max_queue": QUEUE,
        "ping_interval": PING,
        "ping_timeout": None,
        "compression": None,
    }


def _require_end(closed: Any, limit: int) -> None:
    """Return if the connection ended normally; otherwise raise the error."""
    if closed.sent is not None and not closed.rcvd_then_sent and closed.sent.code == _TOO_BIG:
        raise Unreadable(f"a message is longer than {limit} bytes", is_last=True) from closed
    ours = closed.rcvd is None and closed.sent is not None and closed.sent.code in _ENDS
    code = 1006 if closed.rcvd is None else closed.rcvd.code
    if ours or code in _ENDS:
        return
    if closed.rcvd is None and closed.sent is not None:
        code = closed.sent.code
    words = closed.rcvd.reason if closed.rcvd is not None and closed.rcvd.reason else _MEANINGS.get(code, "")
    raise ConnectionClosed(f"the WebSocket was closed with {code}{f' ({words})' if words else ''}") from closed


async def _finish(work: asyncio.Future[Any], hurry: Callable[[], object]) -> None:
    """Wait until work is done. Cancelling this call calls `hurry`; the cancellation is raised once the work is done."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError as error:
            cancelled = error
            hurry()
    if cancelled is not None:
        raise cancelled
