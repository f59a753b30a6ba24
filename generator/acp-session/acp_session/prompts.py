"""Open prompts: which prompt is worked on, and which `idle` state of a session ends which prompt.

An `idle` ends the prompts whose user messages were reported before it. If the agent reports no user messages, it ends those that were
accepted, or since which work was reported: the agent may repeat `idle` for earlier work while a new prompt is being sent. The response
to a prompt may be read after the updates that followed it. A prompt that nobody waits for any more is followed to its end, so that its
updates count for no other.

Source: the page of v2 on prompts; the schema of v2 (`IdleStateUpdate`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from acp_bindings import RequestError

from jsonrpc_bindings.errors import REQUEST_CANCELLED

from .background import retrieve_exception

E = TypeVar("E")


class TurnQueue:
    """A queue that admits one prompt of a session at a time, in order."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self.waiting: set[asyncio.Future[Any]] = set()

    @property
    def is_busy(self) -> bool:
        """Whether a prompt is worked on."""
        return self._lock.locked()

    async def wait(self) -> None:
        """Wait until no other prompt is worked on. Raises `RequestError` -32800 if the waiting prompts are cancelled meanwhile."""
        if not self.is_busy and not self.waiting:
            await self._lock.acquire()
            return
        place, is_admitted = asyncio.ensure_future(self._lock.acquire()), False
        self.waiting.add(place)
        try:
            await asyncio.wait([place])
            is_admitted = place in self.waiting
        finally:
            self.waiting.discard(place)
            if not is_admitted and not place.cancel() and not place.cancelled():
                self.finish()
        if not is_admitted:
            raise RequestError(REQUEST_CANCELLED, "the prompt was cancelled")

    def cancel(self) -> None:
        """Cancel all waiting prompts."""
        for place in self.waiting:
            place.cancel()
        self.waiting.clear()

    def finish(self) -> None:
        """End the work on a prompt, and admit the next one."""
        self._lock.release()


@dataclass(slots=True, eq=False)
class OpenPrompt(Generic[E]):
    """A prompt whose work has not ended.

    `message_id` is the id of its message, once it is accepted; `is_inserted`: its message was reported; `has_run`: work was reported
    since it was sent; `is_abandoned`: nobody waits for it.
    """

    completion: asyncio.Future[E]
    message_id: str | None = None
    is_inserted: bool = False
    has_run: bool = False
    is_abandoned: bool = False

    def complete(self, end: E | Exception) -> None:
        """Record the result or the failure of the work."""
        if self.completion.done():
            return
        if isinstance(end, Exception):
            self.completion.set_exception(end)
            retrieve_exception(self.completion)
        else:
            self.completion.set_result(end)


class OpenPrompts(Generic[E]):
    """The open prompts of a session."""

    def __init__(self) -> None:
        self.open: list[OpenPrompt[E]] = []
        self._ends_of_unknown: dict[str, E | Exception | None] = {}
        self._has_messages = False

    async def wait_for_end(self, send: Coroutine[Any, Any, str]) -> E:
        """Wait for the end of the work on a prompt, and return it. `send` sends the prompt and returns the id of its message.

        Cancelling this call does not affect the prompt: cancel it at the agent.
        """
        prompt: OpenPrompt[E] = OpenPrompt(asyncio.get_running_loop().create_future())
        self.open.append(prompt)
        work = asyncio.ensure_future(self._follow(prompt, send))
        work.add_done_callback(retrieve_exception)
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError:
            prompt.is_abandoned = True
            raise
        return work.result()

    async def _follow(self, prompt: OpenPrompt[E], send: Coroutine[Any, Any, str]) -> E:
        try:
            prompt.message_id = await send
            if prompt.message_id in self._ends_of_unknown:
                prompt.is_inserted = self._has_messages = True
                end = self._ends_of_unknown.pop(prompt.message_id)
                if end is not None:
                    prompt.complete(end)
            return await prompt.completion
        finally:
            self.open.remove(prompt)
            if not self.open:
                self._ends_of_unknown.clear()
            prompt.completion.cancel()

    async def wait_until_ended(self) -> None:
        """Wait until all currently open prompts have ended."""
        if self.open:
            await asyncio.wait([prompt.completion for prompt in self.open])

    def record_user_message(self, message_id: str) -> None:
        """Record that a user message was reported; its prompt may not be accepted yet."""
        for prompt in self.open:
            if prompt.message_id == message_id:
                prompt.is_inserted = self._has_messages = True
                return
        if any(prompt.message_id is None for prompt in self.open):
            self._ends_of_unknown[message_id] = None

    def record_running(self) -> None:
        """Record that work was reported, unless it may belong to an abandoned prompt."""
        if not any(prompt.is_abandoned for prompt in self.open):
            for prompt in self.open:
                prompt.has_run = True

    def list_completing(self, *, is_cancelled: bool = False) -> list[OpenPrompt[E]]:
        """The prompts that an `idle` received now would end.

        After a cancellation, these include accepted prompts whose messages were not reported yet.
        """
        is_exact = not is_cancelled and (self._has_messages or None in self._ends_of_unknown.values())
        return [
            prompt
            for prompt in self.open
            if prompt.is_inserted or (not is_exact and (prompt.has_run or prompt.message_id is not None))
        ]

    def record_idle(self, end: E | Exception, *, is_cancelled: bool = False) -> None:
        """Record the state `idle`, with the result or failure of the work."""
        for prompt in self.list_completing(is_cancelled=is_cancelled):
            prompt.complete(end)
        for message_id, recorded_end in self._ends_of_unknown.items():
            if recorded_end is None:
                self._ends_of_unknown[message_id] = end

    def fail(self, error: Exception) -> None:
        """Fail all open prompts, because no more updates will come."""
        for prompt in self.open:
            prompt.complete(error)
