"""Functions that a program hands in, which may be async."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import Final, TypeVar

T = TypeVar("T")

UNEXPECTED: Final = "an unexpected error"
"""Why a request failed where something raised that is no answer to the agent: an error of the program, which its log has."""


async def maybe_await(found: Awaitable[T] | T) -> T:
    """What a hook returned, or, of one that is async, what came of waiting for it."""
    if inspect.isawaitable(found):
        answer: T = await found
        return answer
    return found
