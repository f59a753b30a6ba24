"""One connection between two peers: ids, matching of responses, order, limits, cancellation, and the end.

One task reads. It runs the handlers of notifications itself, in order, and reads on when a handler is done: a slow handler slows down
the peer. While a handler waits for the peer, another task reads on, or the response could never arrive. Requests are served
concurrently.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextvars import copy_context
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from .codec import ErrorObject
from .contract import Method
from .errors import INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, DecodeError, EncodeError, Problem
from .failures import (
    ALONE,
    BUSY,
    CANCELLED,
    EMPTY_BATCH,
    INTERNAL,
    REPEATED,
    ConnectionClosed,
    NotAdvertised,
    NotStrict,
    PeerError,
    RequestError,
    answer_to,
)
from .framing import Unreadable
from .gates import Gates
from .incoming import Batch, is_answer, is_answered, is_call, read_id
from .json_types import is_array, is_object
from .jsonrpc import ErrorResponse, Form, Notification, Request, Response
from .parse import VALUES, TooManyValues, parse_with_duplicates
from .partial_message import PartialMessage
from .pending import TASK_CONTEXT, Crowd, Pending, Reading, Sent, Serving
from .wire import Handler, Watcher, Wire
from .writers import to_builtins

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from .transport import Transport

P = TypeVar("P")
R = TypeVar("R")

LOG: Final = logging.getLogger(__name__)
WITHIN: Final = "%s: %r was cancelled from within"

_CROWD: Final = 16
"""The multiple of `concurrency` at which more requests are refused (those whose handlers wait for the peer count too), and at which
unread responses pause reading.
"""
_MOST_UNREAD: Final = 64 * 1024 * 1024
"""Bytes of responses that may wait for a peer that does not read; beyond that, reading is paused."""
_BURST: Final = 0.01
"""The seconds after which a sender of many notifications lets others go on, such as the reading of a cancellation."""


class Connection:
    """One end of a connection: `side` is this side, `peer_side` that of the peer, `gates` what both have advertised.

    Open it with `start`, end it with `close`. `run` does both, for a side that only serves.
    """

    def __init__(
        self,
        wire: Wire,
        side: str,
        peer_side: str,
        handler: Handler,
        transport: Transport,
        *,
        strict: bool = False,
        monitor: Watcher | None = None,
        on_event: Callable[[object], object] | None = None,
        timeout: float | None = None,
        concurrency: int = 1024,
        gates: bool = True,
        grace: float = 2.0,
        values: int = VALUES,
    ) -> None:
        if concurrency < 1:
            raise ValueError("concurrency is at least 1")
        self.side, self.peer_side, self.transport = side, peer_side, transport
        self.gates = Gates(wire.codec.methods)
        self._wire, self._codec = wire, wire.codec
        self._judge = wire.judge() if strict else None
        self._monitor, self._on_event = monitor, on_event
        self._timeout, self._checks_gates = timeout, gates
        self._numbers = count(1)
        self._pending = Pending()
        self._room = asyncio.Event()
        self._crowd = Crowd(self._room.set)
        self._ended = asyncio.Event()
        self._reason: BaseException | None = None
        self._is_closing = False
        self._handler = handler
        self._concurrency, self._grace = concurrency, grace
        self._values = values
        self._alone = frozenset(method.name for method in wire.codec.methods.values() if method.batch == "never")
        self._served: dict[Any, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._reading: Reading | None = None
        self._unread = (0, 0)  # answers and their bytes since the peer read last
        self._paused = 0.0  # when a sender of notifications let others go on last
        self._context = copy_context()

    # --- the life of a connection ---

    def start(self) -> None:
        """Begin to read. `close` ends everything that runs for this connection."""
        self._context = copy_context()
        self._context.run(TASK_CONTEXT.set, None)
        self._start_reading()

    async def run(self) -> None:
        """Serve until the peer ends, let handlers finish, and close."""
        self.start()
        try:
            await self._ended.wait()
            if self._tasks:
                await asyncio.wait(set(self._tasks), timeout=self._grace)
        finally:
            await self.close()

    async def close(self) -> None:
        """End everything that runs for this connection, then its transport. Pending requests fail with `ConnectionClosed`."""
        is_first, self._is_closing = not self._is_closing, True
        self._end(None)
        current = asyncio.current_task()
        tasks = {task for task in self._tasks if task is not current}
        for task in tasks:
            task.cancel()
        try:
            if tasks:
                await asyncio.wait(tasks)
            if is_first:
                await self._release()
        finally:
            await self.transport.close()

    async def _release(self) -> None:
        try:
            await self._handler.disconnected()
        except Exception:
            LOG.exception("%s: 'disconnected' failed", self.side)

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
        self._pending.end(self.make_closed_error)
        self._room.set()

    def make_closed_error(self) -> ConnectionClosed:
        """The error of an ended connection: why it ended, and how the process of the peer ended if it was started here."""
        reason = self._reason
        detail = f": {reason}" if isinstance(reason, ConnectionClosed | Unreadable) else ""
        error = ConnectionClosed(
            "the connection is closed" if self._is_closing and not reason else f"the {self.peer_side} has ended{detail}"
        )
        if isinstance(reason, ConnectionClosed):
            error.exit_code, error.signal, error.stderr = reason.exit_code, reason.signal, reason.stderr
        error.__cause__ = reason
        return error

    def _report(self, event: object, level: int = logging.INFO) -> None:
        if self._on_event is not None:
            self._on_event(event)
        else:
            LOG.log(level, "%s: %s", self.side, event)

    def _watch(self, monitor: Watcher, sender: str, line: bytes) -> None:
        for breach in monitor.observe(sender, line):
            self._report(breach, logging.WARNING)

    # --- what we say ---

    @overload
    async def request(self, method: Method[P, R], params: P, /, *, timeout: float | None = None) -> R: ...
    @overload
    async def request(self, method: str, params: Any = None, /, *, timeout: float | None = None) -> Any: ...
    async def request(self, method: Any, params: Any = None, /, *, timeout: float | None = None) -> Any:
        """Send a request and return its result. It is cancelled at the peer when the caller is cancelled or `timeout` (seconds) expires.

        Raises `PeerError` if the peer responds with an error, `DecodeError` if the response cannot be decoded, `ConnectionClosed`,
        `NotAdvertised`, `TimeoutError`, and `EncodeError` for params that JSON cannot express.
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
        """Send a notification; wait while the peer does not read. Raises as `request`."""
        name: str = method.name if isinstance(method, Method) else method
        self._permit(name, is_request=False)
        self._write(self._encode_strictly(Notification(name, *_split_params(params))))
        if self.transport.is_full:
            await self._wait_inside_handler(self.transport.drain())
        elif monotonic() - self._paused > _BURST:
            await asyncio.sleep(0)
            self._paused = monotonic()

    def find_request(self, id_: object) -> Sent | None:
        """The pending request of this side with this id; `None` if there is none."""
        return self._pending.find_request(id_)

    @property
    def serving(self) -> Any:
        """The id of the peer's request whose handler runs here; `None` outside of a handler, and once the response is sent."""
        place = TASK_CONTEXT.get()
        return place.id if isinstance(place, Serving) and place.crowd is self._crowd and not place.is_done else None

    async def _ask(self, method: str, params: Any) -> Any:
        self._permit(method, is_request=True)
        number = next(self._numbers)
        message = Request(number, method, *_split_params(params))
        place = TASK_CONTEXT.get()
        answer = self._pending.open(number, method, params, place if isinstance(place, Serving) else None)
        try:
            self._write(self._encode_strictly(message))
            self.gates.note(method, self.side, params)
            if self.transport.is_full:
                await self._wait_inside_handler(self.transport.drain())
            result = await self._wait_inside_handler(answer)
        except asyncio.CancelledError:
            self._take_back(number)
            raise
        finally:
            self._pending.close(number)
        self.gates.note(method, self.peer_side, result)
        return result

    async def _wait_inside_handler(self, work: Awaitable[Any]) -> Any:
        """Wait for the peer. The concurrency slot of the current handler is free meanwhile."""
        place = TASK_CONTEXT.get()
        if isinstance(place, Serving):
            return await place.wait(work)
        self._release_slot()
        return await work

    def withdraw(self, params: object) -> None:
        """Ask the peer to cancel the pending requests with these params; their responses are awaited all the same."""
        for number in self._pending.list_ids(params):
            self._cancel_remotely(number)

    def _take_back(self, number: int) -> None:
        """Cancel a request at the peer because nobody waits for its response any more."""
        if not self.is_ended and self._pending.take_back(number):
            self._cancel_remotely(number)

    def _cancel_remotely(self, number: int) -> None:
        cancellation = self._wire.cancellation
        if cancellation is not None:
            try:
                self._write(self._encode_strictly(Notification(cancellation.method, {cancellation.field: number})))
            except (ConnectionClosed, NotStrict) as error:
                self._report(error)

    def _permit(self, method: str, *, is_request: bool) -> None:
        if self.is_ended:
            raise self.make_closed_error()
        gate = self.gates.find_closed_gate(method, is_request=is_request) if self._checks_gates else None
        if gate is not None:
            raise NotAdvertised(method, gate)

    def _write(self, line: bytes) -> None:
        if self._monitor is not None:
            self._watch(self._monitor, self.side, line)
        self.transport.send(line)

    # --- what we hear ---

    def _start_reading(self) -> None:
        """Start a new reading task; the previous one stops reading."""
        self._reading = Reading()
        self._spawn(self._read(self._reading))

    def _release_slot(self) -> None:
        place = TASK_CONTEXT.get()
        if isinstance(place, Reading) and place is self._reading and place.is_handling:
            self._start_reading()

    def _spawn(self, work: Any) -> asyncio.Task[None]:
        task = asyncio.create_task(work, context=self._context.copy())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _read(self, place: Reading) -> None:
        TASK_CONTEXT.set(place)
        try:
            while self._reading is place:
                try:
                    line = await self.transport.receive()
                except Unreadable as error:
                    self._skip(error)
                    if error.is_last:
                        raise
                    continue
                if line is None:
                    self._end(None)
                    return
                await self._take_in(line, place)
                await self._wait_for_reader()
        except asyncio.CancelledError:
            self._end(None)
            raise
        except Exception as error:
            if not isinstance(error, ConnectionClosed | Unreadable):
                LOG.exception("%s: the connection ends", self.side)
            self._end(error)

    def _skip(self, error: Unreadable) -> None:
        answer = RequestError(PARSE_ERROR, str(error))
        if error.ends is not None and not error.is_last:
            self._overlook(error.ends, str(error), answer)
        elif error.is_answered:
            self._refuse(None, "", answer)
        else:
            self._report(error)

    async def _wait_for_reader(self) -> None:
        """Wait for a peer that causes more and more responses and reads none.

        The limit is high: two peers that only send would otherwise wait for each other.
        """
        answers, size = self._unread
        if answers >= self._concurrency * _CROWD or size >= _MOST_UNREAD:
            await self.transport.drain()
            self._unread = (0, 0)

    async def _take_in(self, line: bytes, place: Reading) -> None:
        if self._monitor is not None:
            self._watch(self._monitor, self.peer_side, line)
        message = self._codec.read_line(line, self.peer_side, self._values)
        if message is not None:
            await self._handle(message, None, place)
            return
        try:
            value, repeated = parse_with_duplicates(line, values=self._values)
        except TooManyValues as error:
            self._overlook(PartialMessage.of(line), error.problems[0].sentence, answer_to(error))
            return
        except DecodeError as error:
            self._refuse(None, "", answer_to(error))
            return
        if repeated:
            id_ = value.get("id") if is_object(value) else None
            self._handle_misread(value, DecodeError(INVALID_REQUEST, repeated, id=id_), None)
        elif not (self._codec.batch and is_array(value)):
            await self._take(value, None, place)
        elif not value:
            self._refuse(None, "", EMPTY_BATCH)
        else:
            batch = Batch(sum(1 for item in value if is_answered(item)))
            for item in value:
                await self._take(item, batch, place)

    def _overlook(self, ends: PartialMessage, sentence: str, answer: RequestError) -> None:
        """Handle a message that is too large to be decoded: refuse a request, and fail the request of a response.

        What may be the response to any pending request ends the connection, because no other response to it will arrive.
        """
        members = ends.read_members()
        if self._pending.is_late(members):
            return
        number = members.get("id")
        method = members.get("method", "")
        if is_call(members) or not self._pending:
            self._refuse(read_id(members.get("id")), method if isinstance(method, str) else "", answer)
            return
        error = DecodeError(INVALID_REQUEST, (Problem("", "", sentence),), id=read_id(number))
        if not self._pending.deliver(number, error):
            self._refuse(None, "", answer)
            if number is None:
                raise ConnectionClosed(f"a message that may be a response cannot be read: {sentence}")

    async def _take(self, value: Any, batch: Batch | None, place: Reading) -> None:
        """Handle one message; await the handler of a notification."""
        if self._pending.is_late(value):
            return
        try:
            request = self._pending.find_request(value["id"]) if is_answer(value) and "id" in value else None
            method = None if request is None else request.method
            message = self._codec.read(value, sender=self.peer_side, method=method, on_drop=self._on_drop)
        except DecodeError as error:
            self._handle_misread(value, error, batch)
        else:
            await self._handle(message, batch, place)

    async def _handle(
        self,
        message: Request[Any] | Notification[Any] | Response[Any] | ErrorResponse[Any],
        batch: Batch | None,
        place: Reading,
    ) -> None:
        if isinstance(message, Request):
            await self._begin(message, batch)
        elif isinstance(message, Notification):
            await self._note(message, place)
        else:
            await self._deliver_response(message)

    def _on_drop(self, drop: object) -> None:
        if self._on_event is not None:
            self._on_event(drop)

    def _handle_misread(self, value: Any, error: DecodeError, batch: Batch | None) -> None:
        """Handle a message that cannot be decoded: refuse a request, fail the request of a response, report anything else."""
        if is_call(value):
            if is_answered(value):
                self._refuse(read_id(error.id), error.method or "", answer_to(error), batch)
            else:  # nobody is answered; a peer may well know more methods than this side
                self._report(error, logging.INFO if error.code == METHOD_NOT_FOUND else logging.WARNING)
        elif is_answer(value):
            number = value.get("id")
            if not self._pending.deliver(number, error):
                self._report(error)
        elif not self._fail_pending(value, error):
            self._refuse(read_id(error.id), "", answer_to(error), batch)

    def _fail_pending(self, value: Any, error: DecodeError) -> bool:
        """Fail the pending request that has the id of this value, as when a peer omits an empty result; return whether there is one."""
        return is_object(value) and "method" not in value and self._pending.deliver(value.get("id"), error)

    async def _deliver_response(self, message: Response[Any] | ErrorResponse[Any]) -> None:
        if isinstance(message, Response):
            outcome = message.result
        else:
            method, error = message.method, message.error
            outcome = PeerError(method, error.code, error.message, getattr(error, "data", None), error)
        if not self._pending.deliver(message.id, outcome):
            self._report(f"a response has the id {message.id!r}, for which no request is pending")
            return
        await asyncio.sleep(0)  # whoever waited goes on before what follows is taken in

    async def _note(self, message: Notification[Any], place: Reading) -> None:
        cancellation = self._wire.cancellation
        if cancellation is not None and message.method == cancellation.method:
            self._cancel(to_builtins(message.params), cancellation.field)
        if self._checks_gates and (gate := self.gates.find_closed_gate(message.method, is_request=False)) is not None:
            self._report(NotAdvertised(message.method, gate))
            return
        place.is_handling = True
        try:
            await self._handler.handle_notification(message.method, message.params)
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            LOG.exception(WITHIN, self.side, message.method)
        except Exception:
            LOG.exception("%s: %r failed", self.side, message.method)
        finally:
            place.is_handling = False

    def _cancel(self, params: Any, field_: str) -> None:
        number = params.get(field_) if is_object(params) else None
        task = self._served.get(number) if isinstance(number, int | float | str) else None
        if task is not None and not isinstance(number, bool):
            task.cancel()

    async def _begin(self, message: Request[Any], batch: Batch | None) -> None:
        """Serve a request concurrently with the messages that follow it."""
        if message.id in self._served:
            self._refuse(message.id, message.method, REPEATED, batch)
            return
        if len(self._served) >= self._concurrency * _CROWD:
            self._refuse(message.id, message.method, BUSY, batch)
            return
        if batch is not None and message.method in self._alone:
            self._refuse(message.id, message.method, ALONE, batch)
            return
        if self._checks_gates and (gate := self.gates.find_closed_gate(message.method, is_request=True)) is not None:
            self._refuse(message.id, message.method, answer_to(NotAdvertised(message.method, gate)), batch)
            return
        place = Serving(self._crowd, message.id)
        self._served[message.id] = self._spawn(self._serve(message, place, batch))
        await asyncio.sleep(0)  # it begins before what follows is read: a cancellation finds it
        while len(self._served) - self._crowd.waiting >= self._concurrency and not self.is_ended:
            self._room.clear()
            await self._room.wait()

    async def _serve(self, message: Request[Any], place: Serving, batch: Batch | None) -> None:
        TASK_CONTEXT.set(place)
        try:
            self.gates.note(message.method, self.peer_side, message.params)
            result = await self._handler.serve(message.method, message.params)
            line = self._encode_strictly(Response(message.id, result, message.method))
            self.gates.note(message.method, self.side, result)
        except asyncio.CancelledError:
            if self._is_closing:
                raise
            if _is_cancelled():
                line = self._encode_error(message.id, message.method, CANCELLED)
            else:
                LOG.exception(WITHIN, self.side, message.method)
                line = self._encode_error(message.id, message.method, INTERNAL)
        except Exception as error:
            response = INTERNAL if isinstance(error, PeerError | DecodeError | NotAdvertised) else answer_to(error)
            if not isinstance(error, RequestError):
                LOG.exception("%s: %r failed", self.side, message.method)
            line = self._encode_error(message.id, message.method, response)
        finally:
            self._served.pop(message.id, None)
            place.leave()
        self._reply(line, batch)
        if self.transport.is_full:
            try:
                await self.transport.drain()
            except ConnectionClosed:
                return

    def _encode_strictly(self, message: Any) -> bytes:
        line, method = self._codec.encode(message), message.method
        if self._judge is not None and (violations := self._judge.validate(line, sender=self.side, method=method)):
            raise NotStrict(method, violations)
        return line

    def _encode_error(self, id_: Any, method: str, answer: RequestError) -> bytes:
        try:
            return self._codec.encode(_make_error_response(id_, method, answer))
        except EncodeError:
            return self._codec.encode(_make_error_response(id_, method, INTERNAL))

    def _refuse(self, id_: Any, method: str, answer: RequestError, batch: Batch | None = None) -> None:
        self._report(answer.message)
        self._reply(self._encode_error(id_, method, answer), batch)

    def _reply(self, line: bytes, batch: Batch | None) -> None:
        whole = line if batch is None else batch.add(line)
        if whole is None or self._is_closing:
            return
        try:
            self._write(whole)
        except ConnectionClosed:
            return
        answers, size = self._unread
        self._unread = (answers + 1, size + len(whole)) if self.transport.is_full else (0, 0)


def _is_cancelled() -> bool:
    """Whether this task itself is being cancelled, and not only something that it awaits."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _split_params(params: Any) -> tuple[Any, dict[str, Any], Form]:
    """The arguments of a message for these params: the params, further members, and the form."""
    return ({}, {}, "absent") if params is None else (params, {}, "value")


def _make_error_response(id_: Any, method: str, answer: RequestError) -> ErrorResponse[Any]:
    error = ErrorObject(code=answer.code, message=answer.message)
    if answer.data is not None:
        error.data = answer.data
    return ErrorResponse(id_, error, method)
