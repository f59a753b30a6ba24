"""Functions that a program hands in, which may be async."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Final, Literal, TypeAlias, TypeVar

from .errors import RequestError

T = TypeVar("T")

Phase: TypeAlias = Literal["started", "done", "failed"]

UNEXPECTED: Final = "an unexpected error"
"""Why a request failed where something raised that is no answer to the agent: an error of the program, which its log has."""


async def maybe_await(found: Awaitable[T] | T) -> T:
    """What a hook returned, or, of one that is async, what came of waiting for it."""
    if inspect.isawaitable(found):
        answer: T = await found
        return answer
    return found


async def report_steps(
    work: Callable[[], Awaitable[T]],
    report: Callable[[Phase, str], Awaitable[object]],
    is_done: Callable[[], bool] = lambda: False,
) -> T:
    """Do the work of a request, and report its beginning and its end. What `is_done` is reported as that, even where an error follows."""
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
