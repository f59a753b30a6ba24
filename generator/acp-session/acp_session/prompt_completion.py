"""Which state `idle` of a session ends which prompt.

An `idle` ends the prompts whose messages were reported before it. An agent that reports no messages of the user ends those that were
accepted, or since which work was reported: it may repeat `idle` for the work before while a new prompt is on its way. The answer to a
prompt may be read after the updates that followed it. A prompt that nobody waits for any more is followed to its end, so that what is
reported of it counts for no other.

Source: the page of v2 on prompts; the schema of v2 (`IdleStateUpdate`).
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from acp_bindings import v2
from acp_bindings.v2 import peers as peers2

from .background import retrieve_exception

E = TypeVar("E")


@dataclass(slots=True, eq=False)
class OpenPrompt(Generic[E]):
    """A prompt whose work has not ended. `message_id` is that of its message, once it is accepted; `is_inserted`: its message was reported;
    `has_run`: work was reported since it was sent; `is_abandoned`: nobody waits for it.
    """

    completion: asyncio.Future[E]
    message_id: str | None = None
    is_inserted: bool = False
    has_run: bool = False
    is_abandoned: bool = False

    def complete(self, end: E | Exception) -> None:
        """Note how the work has ended, or that it has failed."""
        if self.completion.done():
            return
        if isinstance(end, Exception):
            self.completion.set_exception(end)
            self.completion.exception()  # looked at, so that nobody complains
        else:
            self.completion.set_result(end)


class OpenPrompts(Generic[E]):
    """The prompts of one session."""

    def __init__(self) -> None:
        self.open: list[OpenPrompt[E]] = []
        self._early: dict[
            str, E | Exception | None
        ] = {}  # messages of prompts that are not accepted yet, and how their work ended
        self._has_messages = False

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
        return prompt

    def accept(self, prompt: OpenPrompt[E], message_id: str) -> None:
        """A prompt is accepted."""
        prompt.message_id = message_id
        if message_id in self._early:
            prompt.is_inserted = self._has_messages = True
            end = self._early.pop(message_id)
            if end is not None:
                prompt.complete(end)

    def record_user_message(self, message_id: str) -> None:
        """A message of the user is reported."""
        for prompt in self.open:
            if prompt.message_id == message_id:
                prompt.is_inserted = self._has_messages = True
                return
        if any(prompt.message_id is None for prompt in self.open):
            self._early[message_id] = None

    def record_running(self) -> None:
        """Work is reported. It may be that of a prompt that nobody waits for."""
        if not any(prompt.is_abandoned for prompt in self.open):
            for prompt in self.open:
                prompt.has_run = True

    def completing(self, *, is_cancelled: bool = False) -> list[OpenPrompt[E]]:
        """The prompts whose work an `idle` ends that comes now. Where work was cancelled, it ends those too that wait for their place."""
        is_exact = not is_cancelled and (self._has_messages or None in self._early.values())
        return [
            prompt
            for prompt in self.open
            if prompt.is_inserted or (not is_exact and (prompt.has_run or prompt.message_id is not None))
        ]

    def record_idle(self, end: E | Exception, *, is_cancelled: bool = False) -> None:
        """The state is `idle`: work has ended so."""
        for prompt in self.completing(is_cancelled=is_cancelled):
            prompt.complete(end)
        for message_id, known in self._early.items():
            if known is None:
                self._early[message_id] = end

    def fail(self, error: Exception) -> None:
        """Nothing more will come."""
        for prompt in self.open:
            prompt.complete(error)

    def close(self, prompt: OpenPrompt[E]) -> None:
        """Nobody waits for this prompt any more."""
        if prompt in self.open:
            self.open.remove(prompt)
        if not self.open:
            self._early.clear()
        prompt.completion.cancel()


async def send_prompt(agent: Any, request: v2.PromptRequest) -> v2.PromptResponse:
    """Send a prompt to an agent of v2. It may wait for the work before it, so that its answer has no limit of time."""
    if isinstance(agent, peers2.RemoteAgent):
        return cast("v2.PromptResponse", await agent.connection.request("session/prompt", request, timeout=math.inf))
    return cast("v2.PromptResponse", await agent.session_prompt(request))
