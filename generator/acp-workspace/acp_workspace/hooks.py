"""Hooks of the calling program, which may be async."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
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


async def report_steps(
    work: Callable[[], Awaitable[T]],
    report: Callable[[Phase, str], Awaitable[object]],
    is_done: Callable[[], bool] = lambda: False,
) -> T:
    """Do the work of a request, and report its start and its end. If `is_done`, success is reported even if an error follows."""
    await report("started", "")
    try:
        result = await work()
    except (Exception, asyncio.CancelledError) as error:
        if is_done():
            await report("done", "")
        else:
            await report("failed", _reason(error))
        raise
    await report("done", "")
    return result


def _reason(error: BaseException) -> str:
    if isinstance(error, RequestError):
        return error.message
    return "the request was cancelled" if isinstance(error, asyncio.CancelledError) else UNEXPECTED
