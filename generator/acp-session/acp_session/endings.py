"""Which state `idle` of a session of v2 ends which prompt.

An agent may repeat `idle` for the work before while a new prompt is on its way: an `idle` ends a prompt that was accepted, or since which
work was reported. The answer to a prompt may be read after the updates that followed it. A prompt that nobody waits for any more is
followed to its end, so that what is told of it counts for no other.

Source: the page of v2 on prompts; the schema of v2 (`IdleStateUpdate`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .prompt_completion import retrieve_exception

E = TypeVar("E")


@dataclass(slots=True, eq=False)
class Turn(Generic[E]):
    """A prompt whose work has not ended. `message_id` is that of its message, once it is accepted; `is_abandoned`: nobody waits for it."""

    ended: asyncio.Future[E]
    message_id: str | None = None
    has_run: bool = False
    is_abandoned: bool = False

    def end(self, end: E) -> None:
        """Note how the work has ended."""
        if not self.ended.done():
            self.ended.set_result(end)


class Turns(Generic[E]):
    """The prompts of one session."""

    def __init__(self) -> None:
        self.open: list[Turn[E]] = []
        self._heard: list[str] = []
        self._rested: E | None = None

    async def wait_for_end(self, accepted: Coroutine[Any, Any, str]) -> E:
        """How the work on a prompt has ended. `accepted` sends it, and returns the id of its message. Whoever is cancelled here leaves the
        prompt as it is: tell the agent.
        """
        turn = self.begin()
        work = asyncio.ensure_future(self._follow(turn, accepted))
        work.add_done_callback(retrieve_exception)
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError:
            turn.is_abandoned = True
            raise
        return work.result()

    async def _follow(self, turn: Turn[E], accepted: Coroutine[Any, Any, str]) -> E:
        try:
            self.accept(turn, await accepted)
            return await turn.ended
        finally:
            self.close(turn)

    def begin(self) -> Turn[E]:
        """A prompt is sent."""
        turn: Turn[E] = Turn(asyncio.get_running_loop().create_future())
        self.open.append(turn)
        self._heard.clear()
        self._rested = None
        return turn

    def accept(self, turn: Turn[E], message_id: str) -> None:
        """A prompt is accepted."""
        turn.message_id = message_id
        if self._rested is not None and message_id in self._heard:
            turn.end(self._rested)

    def hear(self, message_id: str) -> None:
        """A message of the user is told."""
        if self.open:
            self._heard.append(message_id)
            self._rested = None

    def work(self) -> None:
        """Work is reported. It may be that of a prompt that nobody waits for."""
        if not any(turn.is_abandoned for turn in self.open):
            for turn in self.open:
                turn.has_run = True

    def ending(self) -> list[Turn[E]]:
        """The prompts whose work an `idle` ends that comes now."""
        return [turn for turn in self.open if turn.has_run or turn.message_id is not None]

    def rest(self, end: E) -> None:
        """The state is `idle`."""
        self._rested = end
        for turn in self.ending():
            turn.end(end)

    def fail(self, error: Exception) -> None:
        """Nothing more will come."""
        for turn in self.open:
            if not turn.ended.done():
                turn.ended.set_exception(error)
                turn.ended.exception()  # looked at, so that nobody complains

    def close(self, turn: Turn[E]) -> None:
        """Nobody waits for this prompt any more."""
        if turn in self.open:
            self.open.remove(turn)
        turn.ended.cancel()
