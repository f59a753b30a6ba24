"""The requests of one peer that wait for their answers, and those that nobody waits for any more."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

from .json_types import is_object

_KEPT: Final = 1024
"""How many ids of requests that were taken back are remembered: the answer of each is still to come."""


class Pending:
    """`methods` has the method of each request that waits, by its id."""

    def __init__(self) -> None:
        self.methods: dict[Any, str] = {}
        self._waiting: dict[Any, asyncio.Future[Any]] = {}
        self._taken_back: OrderedDict[Any, None] = OrderedDict()

    def open(self, number: int, method: str) -> asyncio.Future[Any]:
        """Wait for the answer to a request."""
        waiting: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.methods[number], self._waiting[number] = method, waiting
        return waiting

    def close(self, number: int) -> None:
        """Wait no more."""
        self.methods.pop(number, None)
        self._waiting.pop(number, None)

    def take_back(self, number: int) -> bool:
        """Note that whoever waited was cancelled; whether an answer is still to come."""
        waiting = self._waiting.get(number)
        if waiting is None or (waiting.done() and not waiting.cancelled()):
            return False
        self._taken_back[number] = None
        if len(self._taken_back) > _KEPT:
            self._taken_back.popitem(last=False)
        return True

    def is_late(self, value: Any) -> bool:
        """Whether this answers a request that was taken back."""
        if not self._taken_back or not is_object(value) or "method" in value:
            return False
        number = value.get("id", value.get("request_seq"))
        if (
            isinstance(number, int | float)
            and not isinstance(number, bool)
            and number in self._taken_back
        ):
            del self._taken_back[number]
            return True
        return False

    def settle(self, number: Any, outcome: Any) -> bool:
        """Hand over a result, or an error to raise; whether anybody waits for it."""
        waiting = (
            self._waiting.get(number) if isinstance(number, int | float | str) else None
        )
        if waiting is None or isinstance(number, bool) or waiting.done():
            return False
        if isinstance(outcome, Exception):
            waiting.set_exception(outcome)
        else:
            waiting.set_result(outcome)
        return True

    def end(self, error: Callable[[], Exception]) -> None:
        """No answer will come any more: all who wait get an error of their own."""
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(error())
