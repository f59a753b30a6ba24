"""The requests of a connection: ours that wait for their answers, those of the peer that are served, and where a coroutine stands."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from .json_types import is_object

T = TypeVar("T")

_KEPT: Final = 1024
"""How many ids of requests that were taken back are remembered: the answer of each is still to come."""


@dataclass(frozen=True, slots=True, eq=False)
class Sent:
    """A request of ours that waits for its answer. `within`: the place of the request of a peer in whose handler it was sent."""

    method: str
    params: Any
    within: Serving | None
    answer: asyncio.Future[Any]


class Pending:
    """Our requests whose answers are to come."""

    def __init__(self) -> None:
        self._sent: dict[Any, Sent] = {}
        self._taken_back: OrderedDict[Any, None] = OrderedDict()

    def open(self, number: int, method: str, params: Any, within: Serving | None) -> asyncio.Future[Any]:
        """Wait for the answer to a request."""
        waiting: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._sent[number] = Sent(method, params, within, waiting)
        return waiting

    def __len__(self) -> int:
        return len(self._sent)

    def sent(self, number: object) -> Sent | None:
        """The request of this id, while it waits."""
        is_id = isinstance(number, int | float) and not isinstance(number, bool)
        return self._sent.get(number) if is_id else None

    def numbers(self, params: object) -> list[Any]:
        """The ids of the requests with these params whose answers are still to come."""
        return [number for number, sent in self._sent.items() if sent.params is params and not sent.answer.done()]

    def close(self, number: int) -> None:
        """Wait no more."""
        self._sent.pop(number, None)

    def take_back(self, number: int) -> bool:
        """Note that whoever waited was cancelled; whether an answer is still to come."""
        sent = self._sent.get(number)
        if sent is None or (sent.answer.done() and not sent.answer.cancelled()):
            return False
        self._taken_back[number] = None
        if len(self._taken_back) > _KEPT:
            self._taken_back.popitem(last=False)
        return True

    def is_late(self, value: Any) -> bool:
        """Whether this answers a request that was taken back."""
        if not self._taken_back or not is_object(value) or "method" in value:
            return False
        number = value.get("id")
        if isinstance(number, int | float) and not isinstance(number, bool) and number in self._taken_back:
            del self._taken_back[number]
            return True
        return False

    def settle(self, number: Any, outcome: Any) -> bool:
        """Hand over a result, or an error to raise; whether anybody waits for it."""
        sent = self.sent(number)
        if sent is None or sent.answer.done():
            return False
        if isinstance(outcome, Exception):
            sent.answer.set_exception(outcome)
        else:
            sent.answer.set_result(outcome)
        return True

    def end(self, error: Callable[[], Exception]) -> None:
        """No answer will come any more: all who wait get an error of their own."""
        for sent in self._sent.values():
            if not sent.answer.done():
                sent.answer.set_exception(error())


@dataclass(eq=False)
class Reading:
    """The place of the task that reads. `is_handling`: it does not read just now, a notification is handled."""

    is_handling: bool = False


class Crowd:
    """The requests that are served at the moment. Those that wait for the peer are not at work."""

    def __init__(self, wake: Callable[[], object]) -> None:
        self.waiting = 0
        self.wake = wake


@dataclass(eq=False)
class Serving:
    """The place of a request that is served: its id, and how often something in it waits for the peer."""

    crowd: Crowd
    id: Any = None
    waits: int = 0
    is_done: bool = False

    async def wait(self, work: Awaitable[T]) -> T:
        """Wait for the peer."""
        if self.is_done:
            return await work
        self.waits += 1
        if self.waits == 1:
            self.crowd.waiting += 1
            self.crowd.wake()
        try:
            return await work
        finally:
            self.waits -= 1
            if not self.waits and not self.is_done:
                self.crowd.waiting -= 1

    def leave(self) -> None:
        """The request is served. What it started may go on, and counts no more."""
        self.is_done = True
        self.crowd.waiting -= self.waits > 0
        self.crowd.wake()


TASK_CONTEXT: Final[ContextVar[Reading | Serving | None]] = ContextVar("TASK_CONTEXT", default=None)
