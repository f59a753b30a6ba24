"""A session as its agent keeps it: its roots while it is open, what was sent of it, and the turn that is under way."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field

from acp_bindings import MISSING, v1

from .agent_base import HeldSession
from .hooks import awaited


@dataclass(slots=True, eq=False)
class Session(HeldSession):
    """A session of v1: its roots while it is open, and what was sent of it. `state` is the agent's own; `bound`, `turn` and
    `notify` are the host's, and so are `is_stopped`, whether the turn was cancelled, and `said`, what the user said in it; `calls` counts
    the tool calls.
    """

    is_stopped: bool = False
    said: list[v1.UserMessageChunk] = field(default_factory=list[v1.UserMessageChunk])
    modes: v1.SessionModeState | None = None

    async def update(self, update: v1.SessionUpdate) -> None:
        """Send an update, and keep it as a part of the history."""
        if isinstance(update, v1.UserMessageChunk):
            self._echoed(update)
        self.keep(update)
        if isinstance(update, v1.SessionInfoUpdate) and update.title is not MISSING:
            self.title = update.title
        await self.send(update)

    async def send(self, update: v1.SessionUpdate) -> None:
        """Send an update that is no part of the history."""
        await awaited(self.notify("session/update", v1.SessionNotification(session_id=self.id, update=update)))

    def hear(self, prompt: Iterable[v1.ContentBlock]) -> None:
        """Make what the user says in a turn a part of the history: one message, which is not sent, since the client has it."""
        message_id = f"msg_{secrets.token_hex(8)}"
        self.said = [v1.UserMessageChunk(content=block, message_id=message_id) for block in prompt]
        for chunk in self.said:
            self.keep(chunk)

    def _echoed(self, update: v1.UserMessageChunk) -> None:
        """Where the agent itself tells what the user said, its own update is kept alone."""
        for chunk in self.said:
            if chunk.content == update.content:
                self.said = [one for one in self.said if one is not chunk]
                self.history = [one for one in self.history if one is not chunk]
                return
