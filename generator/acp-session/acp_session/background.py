"""Tasks that run beside, and end with what started them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")


@asynccontextmanager
async def following(work: Coroutine[Any, Any, None]) -> AsyncGenerator[None]:
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


class Questions:
    """What people are asked at this moment."""

    def __init__(self) -> None:
        self._open: set[asyncio.Future[None]] = set()

    @property
    def are_open(self) -> bool:
        """Whether anything is asked."""
        return bool(self._open)

    async def ask(self, work: Awaitable[T]) -> T | None:
        """The answer; `None` where the question is cancelled first, whatever is answered then."""
        question = asyncio.ensure_future(work)
        end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._open.add(end)
        try:
            await asyncio.wait((question, end), return_when=asyncio.FIRST_COMPLETED)
            return None if end.done() or question.cancelled() else question.result()
        finally:
            self._open.discard(end)
            question.add_done_callback(retrieve_exception)
            question.cancel()

    def cancel(self) -> None:
        """Ask no more."""
        for end in self._open:
            if not end.done():
                end.set_result(None)


def retrieve_exception(task: asyncio.Task[Any]) -> None:
    """Look at how a task has ended, so that nobody complains where nobody waits for it any more."""
    if not task.cancelled():
        task.exception()
