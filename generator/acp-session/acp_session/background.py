"""Tasks that end with what started them, and work that ends early."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")


@asynccontextmanager
async def run_beside(work: Coroutine[Any, Any, None]) -> AsyncGenerator[None]:
    """Do something beside until the end of the block."""
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


class Background:
    """Tasks that end with what started them."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Any) -> asyncio.Task[Any]:
        """Run something beside."""
        task: asyncio.Task[Any] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """End all of it."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


async def run_until(end: asyncio.Future[Any], work: Awaitable[T]) -> T | None:
    """The result of some work; `None` where the end comes first: the work is cancelled, and nobody waits for it."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait((task, end), return_when=asyncio.FIRST_COMPLETED)
        return None if end.done() or task.cancelled() else task.result()
    finally:
        task.add_done_callback(retrieve_exception)
        task.cancel()


class CancelScope:
    """Requests to the user that end with the work of a session. `cancellations` counts how often it was cancelled."""

    def __init__(self) -> None:
        self.is_cancelled = False
        self.cancellations = 0
        self._ends: set[asyncio.Future[None]] = set()

    @property
    def is_waiting(self) -> bool:
        """Whether the user is asked anything."""
        return bool(self._ends)

    async def run(self, ask: Callable[[], Awaitable[T]]) -> T | None:
        """What the user answers; `None` once the work is cancelled, whatever is answered then."""
        if self.is_cancelled:
            return None
        end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._ends.add(end)
        try:
            return await run_until(end, ask())
        finally:
            self._ends.discard(end)

    def cancel(self) -> None:
        """End all requests; until `reset` there are no others."""
        self.is_cancelled = True
        self.cancellations += 1
        for end in self._ends:
            if not end.done():
                end.set_result(None)

    def reset(self) -> None:
        """Other work begins."""
        self.is_cancelled = False


def retrieve_exception(task: asyncio.Future[Any]) -> None:
    """Look at how a task has ended, so that nobody complains where nobody waits for it any more."""
    if not task.cancelled():
        task.exception()
