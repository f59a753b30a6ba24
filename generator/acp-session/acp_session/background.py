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
        self._open: set[asyncio.Future[Any]] = set()

    @property
    def are_open(self) -> bool:
        """Whether anything is asked."""
        return bool(self._open)

    async def ask(self, work: Awaitable[T]) -> T | None:
        """The answer; `None` where the question is cancelled first."""
        question = asyncio.ensure_future(work)
        self._open.add(question)
        try:
            await asyncio.wait([question])
        except asyncio.CancelledError:
            question.cancel()
            raise
        finally:
            self._open.discard(question)
        return None if question.cancelled() else question.result()

    def cancel(self) -> None:
        """Ask no more."""
        for question in tuple(self._open):
            question.cancel()
