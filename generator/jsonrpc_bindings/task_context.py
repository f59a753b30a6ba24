"""Where a coroutine stands in a connection: in the task that reads, or inside a request that is served."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, TypeVar

T = TypeVar("T")


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
