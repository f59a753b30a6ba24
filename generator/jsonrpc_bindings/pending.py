"""The requests of a connection: pending requests of this side, those of the peer that are being served, and the context of a coroutine."""

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
"""How many ids of cancelled requests are remembered, whose responses are still to arrive."""


@dataclass(frozen=True, slots=True, eq=False)
class Sent:
    """A pending request of this side. `within`: the served request in whose handler it was sent."""

    method: str
    params: Any
    within: Serving | None
    answer: asyncio.Future[Any]


class Pending:
    """The requests of this side that wait for responses."""

    def __init__(self) -> None:
        self._sent: dict[Any, Sent] = {}
        self._taken_back: OrderedDict[Any, None] = OrderedDict()

    def open(self, number: int, method: str, params: Any, within: Serving | None) -> asyncio.Future[Any]:
        """Add a request; return the future of its response."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._sent[number] = Sent(method, params, within, answer)
        return answer

    def __len__(self) -> int:
        return len(self._sent)

    def find_request(self, number: object) -> Sent | None:
        """The pending request with this id; `None` if there is none."""
        is_id = isinstance(number, int | float) and not isinstance(number, bool)
        return self._sent.get(number) if is_id else None

    def list_ids(self, params: object) -> list[Any]:
        """The ids of the pending requests with these params."""
        return [
            number for number, request in self._sent.items() if request.params is params and not request.answer.done()
        ]

    def close(self, number: int) -> None:
        """Remove a request."""
        self._sent.pop(number, None)

    def take_back(self, number: int) -> bool:
        """Record that the caller of a request was cancelled; return whether its response is still to arrive."""
        request = self._sent.get(number)
        if request is None or (request.answer.done() and not request.answer.cancelled()):
            return False
        self._taken_back[number] = None
        if len(self._taken_back) > _KEPT:
            self._taken_back.popitem(last=False)
        return True

    def is_late(self, value: Any) -> bool:
        """Whether this is the response to a request whose caller was cancelled."""
        if not self._taken_back or not is_object(value) or "method" in value:
            return False
        number = value.get("id")
        if isinstance(number, int | float) and not isinstance(number, bool) and number in self._taken_back:
            del self._taken_back[number]
            return True
        return False

    def deliver(self, number: Any, outcome: Any) -> bool:
        """Deliver a result, or an error to raise; return whether anyone waits for it."""
        request = self.find_request(number)
        if request is None or request.answer.done():
            return False
        if isinstance(outcome, Exception):
            request.answer.set_exception(outcome)
        else:
            request.answer.set_result(outcome)
        return True

    def end(self, error: Callable[[], Exception]) -> None:
        """Fail all pending requests, each with its own error."""
        for request in self._sent.values():
            if not request.answer.done():
                request.answer.set_exception(error())


@dataclass(eq=False)
class Reading:
    """The context of the reading task. `is_handling`: it is running the handler of a notification."""

    is_handling: bool = False


class Crowd:
    """The requests that are being served. Those that wait for the peer do not count towards the concurrency limit."""

    def __init__(self, wake: Callable[[], object]) -> None:
        self.waiting = 0
        self.wake = wake


@dataclass(eq=False)
class Serving:
    """The context of a request that is being served: its id, and how many awaits in it wait for the peer."""

    crowd: Crowd
    id: Any = None
    waits: int = 0
    is_done: bool = False

    async def wait(self, work: Awaitable[T]) -> T:
        """Wait for the peer; the request does not count towards the concurrency limit meanwhile."""
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
        """Mark the request as served. Tasks that it started may go on, and no longer count."""
        self.is_done = True
        self.crowd.waiting -= self.waits > 0
        self.crowd.wake()


TASK_CONTEXT: Final[ContextVar[Reading | Serving | None]] = ContextVar("TASK_CONTEXT", default=None)
