"""Hooks of the calling program, which may be async."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Final, Literal, Self, TypeAlias, TypeVar

from .errors import RequestError

T = TypeVar("T")

Phase: TypeAlias = Literal["started", "done", "failed"]

UNEXPECTED: Final = "an unexpected error"
"""The reason reported for an exception that is not a `RequestError`: an error of the program, to be found in its log."""


async def await_result(value: Awaitable[T] | T) -> T:
    """The result of a hook, awaited if the hook is async."""
    if inspect.isawaitable(value):
        answer: T = await value
        return answer
    return value


class Steps:
    """Reports the start and the end of a request, which is the block: as a success if anything has `changed`, even if an error follows."""

    def __init__(self, report: Callable[[Phase, str], Awaitable[object]]) -> None:
        self._report = report
        self.changed: list[str] = []

    async def __aenter__(self) -> Self:
        await self._report("started", "")
        return self

    async def __aexit__(self, _: object, error: BaseException | None, traceback: object) -> None:
        if error is None or (isinstance(error, Exception | asyncio.CancelledError) and self.changed):
            await self._report("done", "")
        elif isinstance(error, RequestError):
            await self._report("failed", error.message)
        elif isinstance(error, asyncio.CancelledError):
            await self._report("failed", "the request was cancelled")
        elif isinstance(error, Exception):
            await self._report("failed", UNEXPECTED)
