"""Background tasks that end with their owner, and work that can end early."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

T = TypeVar("T")


@asynccontextmanager
async def run_beside(work: Coroutine[Any, Any, None]) -> AsyncGenerator[None]:
    """Run work in the background until the end of the block."""
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


class Background:
    """Background tasks that end with their owner."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Future[Any]] = set()

    def start(self, work: Awaitable[T]) -> asyncio.Future[T]:
        """Start a background task."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """Cancel all tasks and wait for them."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


async def run_until(end: asyncio.Future[Any], work: Awaitable[T]) -> T | None:
    """Await some work and return its result; if `end` is done first, cancel the work without waiting for it and return `None`."""
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
        """Whether a request to the user is pending."""
        return bool(self._ends)

    async def run(self, ask: Callable[[], Awaitable[T]]) -> T | None:
        """Return the user's answer; `None` once the work is cancelled, even if an answer comes later."""
        if self.is_cancelled:
            return None
        end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._ends.add(end)
        try:
            return await run_until(end, ask())
        finally:
            self._ends.discard(end)

    def cancel(self) -> None:
        """Cancel all pending requests, and refuse new ones until `reset`."""
        self.is_cancelled = True
        self.cancellations += 1
        for end in self._ends:
            if not end.done():
                end.set_result(None)

    def reset(self) -> None:
        """Allow requests again, for new work."""
        self.is_cancelled = False


UNATTENDED: Final = Background()
"""Work that runs to its end, although nobody may await it."""


def retrieve_exception(task: asyncio.Future[Any]) -> None:
    """Retrieve the exception of a task that nobody awaits any more, so that asyncio does not log it."""
    if not task.cancelled():
        task.exception()
