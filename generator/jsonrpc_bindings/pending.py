"""The requests of one peer that wait for their answers, and those that nobody waits for any more."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from .json_types import is_object

if TYPE_CHECKING:
    from .task_context import Serving

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
    """`methods` has the method of each request that waits, by its id."""

    def __init__(self) -> None:
        self.methods: dict[Any, str] = {}
        self._sent: dict[Any, Sent] = {}
        self._taken_back: OrderedDict[Any, None] = OrderedDict()

    def open(self, number: int, method: str, params: Any, within: Serving | None) -> asyncio.Future[Any]:
        """Wait for the answer to a request."""
        waiting: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.methods[number], self._sent[number] = method, Sent(method, params, within, waiting)
        return waiting

    def sent(self, number: object) -> Sent | None:
        """The request of this id, while it waits."""
        is_id = isinstance(number, int | float) and not isinstance(number, bool)
        return self._sent.get(number) if is_id else None

    def numbers(self, params: object) -> list[Any]:
        """The ids of the requests with these params whose answers are still to come."""
        return [number for number, sent in self._sent.items() if sent.params is params and not sent.answer.done()]

    def close(self, number: int) -> None:
        """Wait no more."""
        self.methods.pop(number, None)
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
