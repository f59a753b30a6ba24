"""A session as its agent keeps it: its roots while it is open, what was sent of it, and the turn that is under way."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from acp_bindings import UNSET, v1

from acp_workspace.hooks import maybe_await

from .agent_base import HeldSession


@dataclass(slots=True, eq=False)
class Session(HeldSession):
    """A session of v1. Beside what `HeldSession` says, these are the host's: `is_stopped`, whether the turn was cancelled, `said`, what the
    user said in it, `turn_end`, set when it has been answered, and `cancellations`, how often the client has cancelled.
    """

    fork_fields: ClassVar[tuple[str, ...]] = (*HeldSession.fork_fields, "modes")
    is_stopped: bool = False
    turn_end: asyncio.Event = field(default_factory=asyncio.Event)
    cancellations: int = 0
    said: list[v1.UserMessageChunk] = field(default_factory=list[v1.UserMessageChunk])
    modes: v1.SessionModeState | None = None

    async def update(self, update: v1.SessionUpdate) -> None:
        """Send an update, and keep it as a part of the history."""
        if isinstance(update, v1.UserMessageChunk):
            update = self._echoed(update)
        self.keep(update)
        if isinstance(update, v1.SessionInfoUpdate) and update.title is not UNSET:
            self.title = update.title
        await self.send(update)

    async def send(self, update: v1.SessionUpdate) -> None:
        """Send an update that is no part of the history."""
        await maybe_await(self.notify("session/update", v1.SessionNotification(session_id=self.id, update=update)))

    def hear(self, prompt: Iterable[v1.ContentBlock]) -> None:
        """Make what the user says in a turn a part of the history: one message, which is not sent, since the client has it."""
        message_id = f"msg_{secrets.token_hex(8)}"
        self.said = [v1.UserMessageChunk(content=block, message_id=message_id) for block in prompt]
        for chunk in self.said:
            self.keep(chunk)

    def end_update(self, call: str, *, is_failed: bool) -> v1.SessionToolCallUpdate:  # noqa: ARG002 - v1 has one status for both
        """See `HeldSession`."""
        return v1.SessionToolCallUpdate(tool_call_id=call, status="failed")

    def _echoed(self, update: v1.UserMessageChunk) -> v1.UserMessageChunk:
        """Where the agent itself tells what the user said, its own update is kept alone, and belongs to the message all the same."""
        for chunk in self.said:
            if chunk.content == update.content:
                self.said = [one for one in self.said if one is not chunk]
                self.history = [one for one in self.history if one is not chunk]
                return update if update.message_id else update.__replace__(message_id=chunk.message_id)
        return update
