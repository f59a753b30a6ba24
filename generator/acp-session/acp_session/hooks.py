"""Functions that a program hands in, which may be async."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def awaited(found: Awaitable[T] | T) -> T:
    """What a hook returned, or, of one that is async, what came of waiting for it."""
    if inspect.isawaitable(found):
        answer: T = await found
        return answer
    return found
