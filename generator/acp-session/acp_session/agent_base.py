"""What the agent's half of a connection does alike in v1 and v2: its sessions, their roots and histories, lists, and ends."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Collection
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar, Final, Generic, Protocol, TypeAlias, TypeVar

from acp_workspace.errors import NOT_FOUND, RequestError, invalid_params
from acp_workspace.scope import ListRequest, Scope
from acp_workspace.workspace import AgentWorkspace, RootPolicy, RootSet

Notify: TypeAlias = "Callable[[str, Any], Awaitable[object] | object]"
"""Sends a notification."""

PAGE: Final = 100
"""Sessions on a page of `session/list`."""
MOST_HISTORY: Final = 100_000
"""Updates of a session that are kept; the oldest go first."""
ENDED: Final = ("completed", "failed", "cancelled")
"""What a tool call that has ended has for a status."""


@dataclass(slots=True, eq=False)
class HeldSession:
    """A session: its roots while it is open, and what was sent of it. `state` is the agent's own, and a fork gets a deep copy of it;
    `bound`, `turn`, `turn_calls` (the tool calls of the turn) and `notify` are the host's; `calls` counts the tool calls.
    """

    id: str
    scope: Scope
    fork_fields: ClassVar[tuple[str, ...]] = ("history", "title", "state", "options", "calls")
    title: str | None = None
    updated_at: str = ""
    state: Any = None
    history: list[Any] = field(default_factory=list[Any])
    options: list[Any] | None = None
    calls: int = 0
    bound: RootSet | None = None
    turn: asyncio.Task[Any] | None = None
    turn_calls: set[str] = field(default_factory=set[str])
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

    def keep(self, update: Any) -> None:
        """Make an update a part of the history."""
        self.history.append(update)
        call = getattr(update, "tool_call_id", None)
        if call is not None:
            self.turn_calls.add(call)
        del self.history[: max(0, len(self.history) - MOST_HISTORY)]
        self.updated_at = datetime.now(UTC).isoformat()

    def end_update(self, call: str, *, is_failed: bool) -> Any:
        """The update that says that a tool call ended with its turn, which failed or was cancelled."""
        raise NotImplementedError

    def end_calls(self, calls: Collection[str], *, is_failed: bool = False) -> list[Any]:
        """Keep, and return, updates that end those of some tool calls that are still open."""
        statuses: dict[str, str | None] = {}
        for update in self.history:
            call, status = getattr(update, "tool_call_id", None), getattr(update, "status", None)
            if call is not None and call in calls:
                statuses[call] = status if isinstance(status, str) else statuses.get(call)
        updates = [
            self.end_update(call, is_failed=is_failed) for call, status in statuses.items() if status not in ENDED
        ]
        for update in updates:
            self.keep(update)
        return updates


class CursorRequest(ListRequest, Protocol):
    """The params of `session/list`."""

    cursor: Any


S = TypeVar("S", bound=HeldSession)


class AgentSessions(Generic[S]):
    """The sessions of an agent, over one connection; `make` makes one of an id and a scope."""

    def __init__(self, notify: Notify, make: Callable[[str, Scope], S], *, grant: RootPolicy, advertised: bool) -> None:
        self.workspace = AgentWorkspace(advertised=advertised, policy=grant)
        self.sessions: dict[str, S] = {}
        self._notify = notify
        self._make = make

    def roots(self, session_id: str) -> RootSet:
        """The roots that are in force. Raises `RequestError` -32602 for a session that has none."""
        return self.known(session_id).roots

    def known(self, session_id: str) -> S:
        """The session of this id. Raises `RequestError` -32002."""
        found = self.sessions.get(session_id)
        if found is None:
            raise RequestError(NOT_FOUND, "there is no such session", {"sessionId": session_id})
        return found

    async def aclose(self) -> None:
        """End everything, as when the connection has ended. The sessions stay, closed."""
        for session in tuple(self.sessions.values()):
            await self._closed(session)

    def _begun(self, roots: RootSet, source: S | None = None) -> S:
        """A new session, with a copy of another's history, state and options where it is given."""
        session = self._make(f"sess_{secrets.token_hex(8)}", roots.scope)
        session.updated_at = datetime.now(UTC).isoformat()
        if source is not None:
            try:
                for name, value in deepcopy({name: getattr(source, name) for name in source.fork_fields}).items():
                    setattr(session, name, value)
                session.end_calls({getattr(one, "tool_call_id", "") for one in session.history})
            except BaseException:
                roots.close()
                raise
        self.sessions[session.id] = session
        self._rebound(session, roots)
        return session

    def _rebound(self, session: S, roots: RootSet) -> None:
        before, session.bound, session.scope = session.bound, roots, roots.scope
        session.notify = self._notify
        if before is not None:
            before.close()
        self.workspace.activate(session.id, roots)

    async def _closed(self, session: S) -> None:
        if session.turn is not None:
            await ended(session.turn)
        if session.bound is not None:
            session.bound.close()
            session.bound = None
        self.workspace.invalidate(session.id)

    async def _deleted(self, session_id: str) -> None:
        """Close a session and forget it. One that is not there is deleted already."""
        session = self.sessions.get(session_id)
        if session is not None:
            await self._closed(session)
            del self.sessions[session_id]

    def _page(self, request: CursorRequest) -> tuple[list[S], str | None]:
        """The sessions that pass the filters, newest first, and where the next page begins. Raises `RequestError` for a wrong cursor."""
        order = sorted(self.sessions.values(), key=lambda one: (one.updated_at, one.id), reverse=True)
        found = self.workspace.filter_sessions(order, request, lambda one: one.scope)
        start = 0
        if request.cursor is not None:
            ids = [one.id for one in found]
            if request.cursor not in ids:
                raise invalid_params("the cursor was not issued by this agent", pointer="/cursor")
            start = ids.index(request.cursor) + 1
        page = found[start : start + PAGE]
        return page, page[-1].id if len(found) > start + PAGE else None

    def _listed(self, session: S) -> dict[str, Any]:
        """What a list tells of a session, by the fields of `SessionInfo`."""
        fields: dict[str, Any] = (
            {"additional_directories": session.scope.as_listed()} if self.workspace.advertised else {}
        )
        return {
            "session_id": session.id,
            "cwd": session.scope.cwd,
            "title": session.title,
            "updated_at": session.updated_at or None,
            **fields,
        }


async def settled(task: asyncio.Task[Any]) -> None:
    """Wait until work has ended, however it does. Cancelled meanwhile, the work is ended first."""
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        await ended(task)
        raise
    if not task.cancelled():
        task.exception()  # looked at, so that nobody complains where its result is not asked for


async def ended(task: asyncio.Task[Any]) -> None:
    """Cancel work, and wait for its end."""
    task.cancel()
    await asyncio.wait([task])
