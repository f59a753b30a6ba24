"""Which state `idle` of a session ends which prompt.

An agent may repeat `idle` for the work before while a new prompt is on its way: an `idle` ends a prompt that was accepted, or since which
work was reported. The answer to a prompt may be read after the updates that followed it. A prompt that nobody waits for any more is
followed to its end, so that what is reported of it counts for no other.

Source: the page of v2 on prompts; the schema of v2 (`IdleStateUpdate`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

E = TypeVar("E")


@dataclass(slots=True, eq=False)
class OpenPrompt(Generic[E]):
    """A prompt whose work has not ended. `message_id` is that of its message, once it is accepted; `is_abandoned`: nobody waits for it."""

    completion: asyncio.Future[E]
    message_id: str | None = None
    has_run: bool = False
    is_abandoned: bool = False

    def complete(self, end: E) -> None:
        """Note how the work has ended."""
        if not self.completion.done():
            self.completion.set_result(end)


class OpenPrompts(Generic[E]):
    """The prompts of one session."""

    def __init__(self) -> None:
        self.open: list[OpenPrompt[E]] = []
        self._messages: list[str] = []
        self._idle: E | None = None

    @property
    def is_busy(self) -> bool:
        """Whether the work on a prompt that somebody waits for goes on."""
        return any(not prompt.is_abandoned for prompt in self.open)

    async def wait_for_end(self, send: Coroutine[Any, Any, str]) -> E:
        """How the work on a prompt has ended. `send` sends it, and returns the id of its message. Whoever is cancelled here leaves the
        prompt as it is: tell the agent.
        """
        prompt = self.begin()
        work = asyncio.ensure_future(self._follow(prompt, send))
        work.add_done_callback(retrieve_exception)
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError:
            prompt.is_abandoned = True
            raise
        return work.result()

    async def wait_until_ended(self) -> None:
        """Wait until the prompts that are open now have ended."""
        if self.open:
            await asyncio.wait([prompt.completion for prompt in self.open])

    async def _follow(self, prompt: OpenPrompt[E], send: Coroutine[Any, Any, str]) -> E:
        try:
            self.accept(prompt, await send)
            return await prompt.completion
        finally:
            self.close(prompt)

    def begin(self) -> OpenPrompt[E]:
        """A prompt is sent."""
        prompt: OpenPrompt[E] = OpenPrompt(asyncio.get_running_loop().create_future())
        self.open.append(prompt)
        self._messages.clear()
        self._idle = None
        return prompt

    def accept(self, prompt: OpenPrompt[E], message_id: str) -> None:
        """A prompt is accepted."""
        prompt.message_id = message_id
        if self._idle is not None and message_id in self._messages:
            prompt.complete(self._idle)

    def record_user_message(self, message_id: str) -> None:
        """A message of the user is reported."""
        if self.open:
            self._messages.append(message_id)
            self._idle = None

    def record_running(self) -> None:
        """Work is reported. It may be that of a prompt that nobody waits for."""
        if not any(prompt.is_abandoned for prompt in self.open):
            for prompt in self.open:
                prompt.has_run = True

    def completing(self) -> list[OpenPrompt[E]]:
        """The prompts whose work an `idle` ends that comes now."""
        return [prompt for prompt in self.open if prompt.has_run or prompt.message_id is not None]

    def record_idle(self, end: E) -> None:
        """The state is `idle`."""
        self._idle = end
        for prompt in self.completing():
            prompt.complete(end)

    def fail(self, error: Exception) -> None:
        """Nothing more will come."""
        for prompt in self.open:
            if not prompt.completion.done():
                prompt.completion.set_exception(error)
                prompt.completion.exception()  # looked at, so that nobody complains

    def close(self, prompt: OpenPrompt[E]) -> None:
        """Nobody waits for this prompt any more."""
        if prompt in self.open:
            self.open.remove(prompt)
        prompt.completion.cancel()


def retrieve_exception(task: asyncio.Task[Any]) -> None:
    """Look at how a task has ended, so that nobody complains where nobody waits for it any more."""
    if not task.cancelled():
        task.exception()
