"""The base of generated peers: the side that serves, the peer that is called, and how the two are connected."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

from .child import Child
from .connection import Connection
from .errors import METHOD_NOT_FOUND
from .failures import RequestError
from .framing import LIMIT, Kind, make_framing
from .stdio import StandardStreams
from .supervisor import Stream as Stream
from .transport import CAPACITY, pair
from .transport import Transport as Transport
from .wire import Options as Options
from .wire import Wire as Wire

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from typing import Unpack

Folder: TypeAlias = "str | os.PathLike[str]"
"""A directory, as the standard library accepts it."""


class StreamOptions(Options, total=False):
    """The options of a connection over standard streams.

    `kind` is the framing of messages, and by default that of the protocol; `limit` the longest message in bytes.
    """

    kind: Kind
    limit: int


class SpawnOptions(StreamOptions, total=False):
    """The options of a connection to a program that is started.

    `cwd` and `env` are those of the program. Its standard error is passed on to `stderr`: to ours for `None`, nowhere for
    `subprocess.PIPE`; its end is in `ConnectionClosed.stderr`.
    """

    cwd: Folder | None
    env: Mapping[str, str] | None
    stderr: Stream


FarEnd = TypeVar("FarEnd", bound="Remote")
NearEnd = TypeVar("NearEnd", bound="Remote")


def refuse_unserved(method: str) -> RequestError:
    """The error that methods raise unless they are overridden: the response is -32601."""
    return RequestError(METHOD_NOT_FOUND, f"the method {method!r} is not served here")


class Remote:
    """The peer at the far end of a connection, for calls."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    async def extension_request(self, method: str, params: Any = None) -> Any:
        """Send a request that the schema does not define; its name begins with `_`."""
        return await self.connection.request(method, params)

    async def extension_notification(self, method: str, params: Any = None) -> None:
        """Send a notification that the schema does not define; its name begins with `_`."""
        await self.connection.notify(method, params)


class Side:
    """What one side serves: a coroutine for each method. Requests that are not overridden fail with -32601; such notifications are
    ignored.
    """

    wire: ClassVar[Wire]
    side: ClassVar[str]
    peer_side: ClassVar[str]
    requests: ClassVar[Mapping[str, str]] = {}
    notifications: ClassVar[Mapping[str, str]] = {}
    _connection: Connection | None = None

    @property
    def connection(self) -> Connection:
        """The connection that this object serves. Raises `RuntimeError` if there is none yet."""
        if self._connection is None:
            raise RuntimeError(f"this {self.side} is not connected")
        return self._connection

    def attach(self, connection: Connection) -> None:
        """Serve this connection, and no other. Raises `RuntimeError` if there is an open one already."""
        if self._connection is not None and not self._connection.is_ended:
            raise RuntimeError(f"this {self.side} is connected already; each connection needs an object of its own")
        self._connection = connection

    async def disconnected(self) -> None:
        """Release what belongs to the connection, which is closed. Called once for each connection, however it ended."""

    async def serve(self, method: str, params: Any) -> Any:
        """Serve a request with the coroutine of its method, and return the result."""
        name = self.requests.get(method)
        if name is None:
            return await self.extension_request(method, params)
        result = await getattr(self, name)(params)
        declaration = self.wire.codec.route(method, is_request=True)
        if declaration is None:
            return result
        type_, codec = declaration.result, self.wire.codec
        if result is None and type_ is not None:
            if not (declaration.null_result or declaration.optional_result or codec.accepts_null(type_)):
                raise TypeError(f"{type(self).__name__}.{name} returned nothing")
        elif isinstance(type_, type) and not isinstance(result, type_):
            raise TypeError(f"{type(self).__name__}.{name} returned {type(result).__name__}, not {type_.__name__}")
        return result

    async def handle_notification(self, method: str, params: Any) -> None:
        """Handle a notification with the coroutine of its method."""
        name = self.notifications.get(method)
        if name is None:
            await self.extension_notification(method, params)
        else:
            await getattr(self, name)(params)

    async def extension_request(self, method: str, params: Any) -> Any:  # for those who override it
        """Serve a request that the schema does not define; its name begins with `_`, and params and result are plain JSON."""
        raise refuse_unserved(method)

    async def extension_notification(self, method: str, params: Any) -> None:
        """Handle a notification that the schema does not define; its name begins with `_`."""


@asynccontextmanager
async def connected(
    handler: Side, remote: Callable[[Connection], FarEnd], transport: Transport, **options: Unpack[Options]
) -> AsyncGenerator[FarEnd]:
    """Connect over a transport. On exit everything that runs for the connection is ended, and the transport closed."""
    connection = await _attach_or_close(handler, transport, options)
    connection.start()
    try:
        yield remote(connection)
    finally:
        await connection.close()


async def _attach_or_close(handler: Side, transport: Transport, options: Options) -> Connection:
    try:
        return attach_handler(handler, transport, options)
    except BaseException:
        await transport.close()
        raise


@asynccontextmanager
async def spawned(
    handler: Side,
    remote: Callable[[Connection], FarEnd],
    command: Sequence[str],
    *,
    kind: Kind | None = None,
    limit: int = LIMIT,
    cwd: Folder | None = None,
    env: Mapping[str, str] | None = None,
    stderr: Stream = None,
    **options: Unpack[Options],
) -> AsyncGenerator[FarEnd]:
    """Start a command and connect to its standard input and output.

    On exit its input is closed; if it has not exited after `grace` seconds it is terminated, and after as many more it is killed.
    """
    framing = make_framing(kind or handler.wire.kind, limit)
    child = await Child.start(command, framing, cwd=cwd, env=env, stderr=stderr, grace=options.get("grace", 2.0))
    async with connected(handler, remote, child, **options) as peer:
        yield peer


async def run(handler: Side, *, kind: Kind | None = None, limit: int = LIMIT, **options: Unpack[Options]) -> None:
    """Serve on the standard input and output of this process until the input ends. Output of `print` meanwhile goes to standard error."""
    framing = make_framing(kind or handler.wire.kind, limit)
    transport = await StandardStreams.open(framing, grace=options.get("grace", 2.0))
    connection = await _attach_or_close(handler, transport, options)
    await connection.run()


@asynccontextmanager
async def joined(
    left: Side,
    right: Side,
    to_left: Callable[[Connection], FarEnd],
    to_right: Callable[[Connection], NearEnd],
    *,
    capacity: int = CAPACITY,
    **options: Unpack[Options],
) -> AsyncGenerator[tuple[FarEnd, NearEnd]]:
    """Connect two sides in memory; yield the peers for calls to each."""
    ends = pair(capacity)
    once: Options = {**options, "monitor": None}
    async with (
        connected(left, to_right, ends[0], **options) as right_calls,
        connected(right, to_left, ends[1], **once) as left_calls,
    ):
        yield left_calls, right_calls


def attach_handler(handler: Side, transport: Transport, options: Options) -> Connection:
    """A connection that the handler serves, not yet started. Raises `RuntimeError` if the handler has one already."""
    connection = Connection(handler.wire, handler.side, handler.peer_side, handler, transport, **options)
    handler.attach(connection)
    return connection
