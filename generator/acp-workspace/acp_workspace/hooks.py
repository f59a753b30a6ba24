"""Hooks of the calling program, which may be async."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, Literal, TypeAlias, TypeVar

from .errors import RequestError

T = TypeVar("T")

Phase: TypeAlias = Literal["started", "done", "failed"]

UNEXPECTED: Final = "an unexpected error"
"""The reason reported for an exception that is not a `RequestError`: an error of the program, to be found in its log."""


async def maybe_await(value: Awaitable[T] | T) -> T:
    """The result of a hook, awaited if the hook is async."""
    if inspect.isawaitable(value):
        answer: T = await value
        return answer
    return value


@asynccontextmanager
async def reported_steps(
    report: Callable[[Phase, str], Awaitable[object]], is_done: Callable[[], bool] = lambda: False
) -> AsyncGenerator[None]:
    """Report the start and the end of a request, which is the block. If `is_done`, success is reported even if an error follows."""
    await report("started", "")
    try:
        yield
    except (Exception, asyncio.CancelledError) as error:
        if is_done():
            await report("done", "")
        else:
            is_cancelled = isinstance(error, asyncio.CancelledError)
            reason = "the request was cancelled" if is_cancelled else UNEXPECTED
            await report("failed", error.message if isinstance(error, RequestError) else reason)
        raise
    await report("done", "")
