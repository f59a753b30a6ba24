"""What one end of a connection says: requests that wait for their answers, notifications, cancellation, and the end of it all."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from . import envelopes
from .contract import Method
from .failures import ConnectionClosed, NotAdvertised, NotStrict
from .framing import Unreadable
from .gates import Gates
from .pending import Pending, Sent
from .places import PLACE, Crowd, Serving
from .wire import Watcher, Wire

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from .transport import Transport

P = TypeVar("P")
R = TypeVar("R")

LOG: Final = logging.getLogger(f"{__package__}.connection")


class Calling:
    """The half of a `Connection` that sends. `side` is who we are, `other` who is at the far end, `gates` what both have advertised."""

    def __init__(
        self,
        wire: Wire,
        side: str,
        other: str,
        transport: Transport,
        *,
        strict: bool,
        monitor: Watcher | None,
        told: Callable[[object], object] | None,
        timeout: float | None,
        gates: bool,
    ) -> None:
        self.side, self.other, self.transport = side, other, transport
        self.gates = Gates(wire.codec.methods)
        self._wire, self._codec = wire, wire.codec
        self._judge = wire.judge() if strict else None
        self._monitor, self._told = monitor, told
        self._timeout, self._checks_gates = timeout, gates
        self._numbers = count(1)
        self._pending = Pending()
        self._room = asyncio.Event()
        self._crowd = Crowd(self._room.set)
        self._ended: asyncio.Event = asyncio.Event()
        self._reason: BaseException | None = None
        self._is_closing = False

    @property
    def is_ended(self) -> bool:
        """Whether the peer has ended, or the connection was closed."""
        return self._ended.is_set()

    async def ended(self) -> None:
        """Wait until the peer has ended, or the connection was closed."""
        await self._ended.wait()

    def _end(self, reason: BaseException | None) -> None:
        if not self._ended.is_set():
            self._reason = reason
            self._ended.set()
        self._pending.end(self.closed_error)
        self._room.set()

    def closed_error(self) -> ConnectionClosed:
        """What is raised once the connection has ended: why, and how a program that was started here has ended."""
        reason = self._reason
        why = f": {reason}" if isinstance(reason, ConnectionClosed | Unreadable) else ""
        found = ConnectionClosed(
            "the connection is closed" if self._is_closing and not reason else f"the {self.other} has ended{why}"
        )
        if isinstance(reason, ConnectionClosed):
            found.exit_code, found.signal, found.stderr = reason.exit_code, reason.signal, reason.stderr
        found.__cause__ = reason
        return found

    def _tell(self, what: object, level: int = logging.INFO) -> None:
        if self._told is not None:
            self._told(what)
        else:
            LOG.log(level, "%s: %s", self.side, what)

    def _watch(self, monitor: Watcher, sender: str, line: bytes) -> None:
        for breach in monitor.observe(sender, line):
            self._tell(breach, logging.WARNING)

    # --- what we say ---

    @overload
    async def request(self, method: Method[P, R], params: P, /, *, timeout: float | None = None) -> R: ...
    @overload
    async def request(self, method: str, params: Any = None, /, *, timeout: float | None = None) -> Any: ...
    async def request(self, method: Any, params: Any = None, /, *, timeout: float | None = None) -> Any:
        """The result of a request. When the caller is cancelled or `timeout` is over, the request is taken back.

        Raises `PeerError` where the peer answers with an error, `DecodeError` where the answer cannot be read, `ConnectionClosed`,
        `NotAdvertised`, `TimeoutError`, and `EncodeError` for params that no JSON can hold.
        """
        name: str = method.name if isinstance(method, Method) else method
        limit = self._timeout if timeout is None else timeout
        if limit is None:
            return await self._ask(name, params)
        async with asyncio.timeout(limit):
            return await self._ask(name, params)

    @overload
    async def notify(self, method: Method[P, None], params: P, /) -> None: ...
    @overload
    async def notify(self, method: str, params: Any = None, /) -> None: ...
    async def notify(self, method: Any, params: Any = None, /) -> None:
        """Send a notification; waits while the peer does not read. Raises as `request`."""
        name: str = method.name if isinstance(method, Method) else method
        self._permit(name, is_request=False)
        self._send(envelopes.notification(name, params), name)
        if self.transport.is_full:
            await self._inside_handler(self.transport.drain())

    def sent(self, id_: object) -> Sent | None:
        """Our request of this id, while it waits for its answer."""
        return self._pending.sent(id_)

    @property
    def serving(self) -> Any:
        """The id of the peer's request whose handler runs here; `None` outside of one, and once it is answered."""
        place = PLACE.get()
        return place.id if isinstance(place, Serving) and place.crowd is self._crowd and not place.is_done else None

    async def _ask(self, method: str, params: Any) -> Any:
        self._permit(method, is_request=True)
        number = next(self._numbers)
        message = envelopes.request(number, method, params)
        place = PLACE.get()
        waiting = self._pending.open(number, method, params, place if isinstance(place, Serving) else None)
        try:
            self._send(message, method)
            self.gates.asked(method, self.side, params, self._codec)
            if self.transport.is_full:
                await self._inside_handler(self.transport.drain())
            result = await self._inside_handler(waiting)
        except asyncio.CancelledError:
            self._take_back(number)
            raise
        finally:
            self._pending.close(number)
        self.gates.answered(method, self.other, result, self._codec)
        return result

    async def _inside_handler(self, work: Awaitable[Any]) -> Any:
        """Wait for the peer. Inside a handler, the place of the handler is given to others meanwhile."""
        place = PLACE.get()
        if isinstance(place, Serving):
            return await place.wait(work)
        self._give_way()
        return await work

    def _give_way(self) -> None:
        """Let another task read on, where this one would keep it from that."""

    def withdraw(self, params: object) -> None:
        """Ask the peer to cancel our requests with these params, and wait for their answers all the same."""
        for number in self._pending.numbers(params):
            self._cancel_remotely(number)

    def _take_back(self, number: int) -> None:
        """Tell the peer that nobody waits for this answer any more."""
        if not self.is_ended and self._pending.take_back(number):
            self._cancel_remotely(number)

    def _cancel_remotely(self, number: int) -> None:
        how = self._wire.cancellation
        if how is not None:
            try:
                self._send(envelopes.notification(how.method, {how.field: number}), how.method)
            except (ConnectionClosed, NotStrict) as error:
                self._tell(error)

    def _permit(self, method: str, *, is_request: bool) -> None:
        if self.is_ended:
            raise self.closed_error()
        gate = self.gates.closed(method, is_request=is_request) if self._checks_gates else None
        if gate is not None:
            raise NotAdvertised(method, gate)

    def _send(self, message: Any, method: str) -> None:
        line = self._codec.encode(message)
        if self._judge is not None:
            found = self._judge.validate(line, sender=self.side, method=method)
            if found:
                raise NotStrict(method, found)
        self._write(line)

    def _write(self, line: bytes) -> None:
        if self._monitor is not None:
            self._watch(self._monitor, self.side, line)
        self.transport.send(line)
