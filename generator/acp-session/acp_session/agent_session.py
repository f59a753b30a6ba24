"""A session as its agent keeps it: its roots while it is open, what was sent of it, and the turn that is under way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from acp_bindings import MISSING, v1

from .errors import invalid_params
from .hooks import awaited
from .scope import Scope
from .workspace import RootSet

Notify: TypeAlias = "Callable[[str, Any], Awaitable[object] | object]"
"""Sends a notification."""
MOST_HISTORY: Final = 100_000
"""Updates of a session that are kept; the oldest go first."""


@dataclass(slots=True, eq=False)
class Session:
    """A session: its roots while it is open, and what was sent of it. `state` is the agent's own; `bound`, `turn` and
    `notify` are the host's; `calls` counts the tool calls.
    """

    id: str
    scope: Scope
    title: str | None = None
    updated_at: str = ""
    state: Any = None
    history: list[v1.SessionUpdate] = field(default_factory=list[Any])
    modes: v1.SessionModeState | None = None
    options: list[v1.SessionConfigOption] | None = None
    calls: int = 0
    bound: RootSet | None = None
    turn: asyncio.Task[v1.StopReason] | None = None
    notify: Notify = lambda method, params: None

    @property
    def roots(self) -> RootSet:
        """The roots that are in force. Raises `RequestError` -32602 where the session is not open."""
        if self.bound is None:
            raise invalid_params("the session is not open; load or resume it", pointer="/sessionId")
        return self.bound

    @property
    def is_open(self) -> bool:
        """Whether the session may be used; one that was closed can be loaded again."""
        return self.bound is not None

    async def update(self, update: v1.SessionUpdate) -> None:
        """Send an update, and keep it as a part of the history."""
        self.history.append(update)
        del self.history[: max(0, len(self.history) - MOST_HISTORY)]
        self.updated_at = datetime.now(UTC).isoformat()
        if isinstance(update, v1.SessionInfoUpdate) and update.title is not MISSING:
            self.title = update.title
        await self.send(update)

    async def send(self, update: v1.SessionUpdate) -> None:
        """Send an update that is no part of the history."""
        await awaited(self.notify("session/update", v1.SessionNotification(session_id=self.id, update=update)))
