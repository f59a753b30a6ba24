"""Hooks of the calling program, which may be async."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal, Self, TypeAlias, TypeVar

from .errors import RequestError

T = TypeVar("T")

Action: TypeAlias = Literal["read", "write", "create", "output", "wait", "kill", "release"]
"""What a request does: the first two with a file, the others with a terminal."""
Phase: TypeAlias = Literal["started", "done", "failed"]


@dataclass(frozen=True, slots=True)
class ServiceEvent:
    """A step of a request for a file or a terminal, for display to the user: it starts, is done, or failed. It never includes contents.

    `subject` is the path, the command, or the terminal's id as the agent sent it, with arbitrary characters: escape it for display.
    """

    session_id: str
    subject: str
    action: Action
    phase: Phase
    reason: str = ""


OnEvent: TypeAlias = "Callable[[ServiceEvent], Awaitable[object] | object]"
"""Called with each step of each request, refusals included."""
OnChange: TypeAlias = "Callable[[str], Awaitable[object] | object]"
"""Called with the path of a file that was written, so that an editor can reload it, or for version control."""

UNEXPECTED: Final = "an unexpected error"
"""The reason reported for an exception that is not a `RequestError`: an error of the program, to be found in its log."""


async def await_result(value: Awaitable[T] | T) -> T:
    """The result of a hook, awaited if the hook is async."""
    if inspect.isawaitable(value):
        answer: T = await value
        return answer
    return value


class Steps:
    """Reports the start and the end of a request, which is the block: as done if anything has `changed`, even if an error follows.

    `on_change` is called with the subject and the names of what has changed.
    """

    def __init__(
        self, on_event: OnEvent, session_id: str, subject: str, action: Action, on_change: OnChange | None = None
    ) -> None:
        self._on_event, self._on_change = on_event, on_change
        self._session_id, self._subject = session_id, subject
        self._action: Action = action
        self.changed: list[str] = []

    async def __aenter__(self) -> Self:
        await self._report("started")
        return self

    async def __aexit__(self, _: object, error: BaseException | None, traceback: object) -> None:
        if error is None or (isinstance(error, Exception | asyncio.CancelledError) and self.changed):
            await self._finish()
        elif isinstance(error, RequestError):
            await self._report("failed", error.message)
        elif isinstance(error, asyncio.CancelledError):
            await self._report("failed", "the request was cancelled")
        elif isinstance(error, Exception):
            await self._report("failed", UNEXPECTED)

    async def _finish(self) -> None:
        try:
            if self.changed and self._on_change is not None:
                for name in dict.fromkeys((self._subject, *self.changed)):
                    await await_result(self._on_change(name))
        finally:
            await self._report("done")

    async def _report(self, phase: Phase, reason: str = "") -> None:
        event = ServiceEvent(self._session_id, self._subject, self._action, phase, reason)
        await await_result(self._on_event(event))
