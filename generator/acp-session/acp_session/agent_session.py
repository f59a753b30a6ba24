"""A session as its agent keeps it: its roots while it is open, what was sent of it, and the turn that is under way."""

from __future__ import annotations

from dataclasses import dataclass

from acp_bindings import MISSING, v1

from .agent_base import HeldSession
from .hooks import awaited


@dataclass(slots=True, eq=False)
class Session(HeldSession):
    """A session of v1: its roots while it is open, and what was sent of it. `state` is the agent's own; `bound`, `turn` and
    `notify` are the host's, and so is `is_stopped`: whether the turn was cancelled; `calls` counts the tool calls.
    """

    is_stopped: bool = False
    modes: v1.SessionModeState | None = None

    async def update(self, update: v1.SessionUpdate) -> None:
        """Send an update, and keep it as a part of the history."""
        self.keep(update)
        if isinstance(update, v1.SessionInfoUpdate) and update.title is not MISSING:
            self.title = update.title
        await self.send(update)

    async def send(self, update: v1.SessionUpdate) -> None:
        """Send an update that is no part of the history."""
        await awaited(self.notify("session/update", v1.SessionNotification(session_id=self.id, update=update)))
