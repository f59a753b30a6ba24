"""What goes on in a session: prompts, the agent's states, what was cancelled and whether that is over."""

from __future__ import annotations

from typing import Any, Final

from .events import Event, items, reach, shown, text
from .kept import MOST_PARTS, brief, key, size_of
from .records import Pending, Session
from .state import Connection

MESSAGES: Final = frozenset(
    {
        *("user_message_chunk", "agent_message_chunk", "agent_thought_chunk"),
        *("user_message", "agent_message", "agent_thought"),
    }
)
CHUNKS: Final = frozenset({"agent_message_chunk", "agent_thought_chunk"})
USER_MESSAGES: Final = frozenset({"user_message_chunk", "user_message"})
TOOL_CALLS: Final = frozenset({"tool_call", "tool_call_update", "tool_call_content_chunk"})
_LISTED: Final = {"terminal": "terminalId", "tool_call": "toolCallId"}
"""The fields that name work in the background, by its type."""

_GOING_ON: Final = frozenset({"pending", "in_progress", "paused"})
"""Statuses of tool calls that are not their end."""

BUSY: Final = frozenset({"running", "requires_action"})
"""States in which there is work in the foreground."""


def part(update: Any) -> str | None:
    """The key of the message or tool call that an update is about; `None` for other updates."""
    kind = text(update, "sessionUpdate")
    if kind in MESSAGES:
        name = text(update, "messageId")
        return None if name is None else f"message {key(name)}"
    if kind in TOOL_CALLS:
        name = text(update, "toolCallId")
        return None if name is None else f"tool call {key(name)}"
    return None


def ask(connection: Connection, event: Event, request: Pending, session: Session) -> None:
    """Take in a request in a session."""
    if request.method == "session/prompt":
        session.prompted, session.over = event.index, None
    elif request.method == "session/close":
        for prompt in connection.open_requests(event.sender, "session/prompt", request.session):
            prompt.closing = event.index
    elif request.method == "session/request_permission" and connection.version == 1:
        prompts = connection.open_requests(event.receiver, "session/prompt", request.session)
        stops = [prompt.stopped for prompt in prompts if prompt.stopped is not None]
        if stops and len(stops) == len(prompts):
            request.stopped = max(stops)


def cancel(connection: Connection, event: Event) -> None:
    """Take in `session/cancel`."""
    for side, method in ((event.sender, "session/prompt"), (event.receiver, "session/request_permission")):
        for request in connection.open_requests(side, method, event.session):
            request.stopped = event.index if request.stopped is None else request.stopped
    session = connection.session(event.session)
    if session is not None and session.state in BUSY and session.stopped is None:
        session.stopped = event.index


def update(connection: Connection, session: Session, event: Event, told: Any) -> bool:
    """Take in an update of a session; whether the session takes more room now."""
    if connection.version == 1:
        return False
    kind, name, before = text(told, "sessionUpdate"), part(told), _room(session)
    _know(session, told)
    if name is not None and kind in USER_MESSAGES:
        session.echoed[name] = event.index
        session.unheard.pop(name)
        session.unheard.pop("")
    if name is not None:
        session.work[name] = True
    if kind == "state_update":
        _state(session, event, told)
    return _room(session) > before


def _room(session: Session) -> int:
    listed = session.background or {}
    return session.work.taken + session.echoed.taken + session.known_work.taken + size_of(*listed, *listed.values())


def background_mark(listed: Any) -> str | None:
    """The key of a terminal or tool call that a list of work in the background names; `None` for work of another kind."""
    field = _LISTED.get(text(listed, "type") or "")
    name = text(listed, field) if field is not None else None
    return None if name is None else f"{field} {key(name)}"


def _know(session: Session, told: Any) -> None:
    """Take in which terminals and tool calls an update names, and whether it reports their end."""
    call, terminal = text(told, "toolCallId"), text(told, "terminalId")
    if call is not None and text(told, "sessionUpdate") in TOOL_CALLS:
        status = text(told, "status")
        has_ended = status is not None and status not in _GOING_ON
        mark = f"toolCallId {key(call)}"
        session.known_work[mark] = has_ended or (status is None and session.known_work.get(mark) is True)
        for content in (*items(told, "content"), reach(told, "content")):
            inner = text(content, "terminalId")
            if inner is not None:
                mark = f"terminalId {key(inner)}"
                session.known_work[mark] = session.known_work.get(mark) is True
    if terminal is not None:
        mark = f"terminalId {key(terminal)}"
        session.known_work[mark] = session.known_work.get(mark) is True or reach(told, "exitStatus") is not None


def _list(session: Session, told: Any) -> None:
    """Take in the work in the background that a state lists."""
    if reach(told, "background") is None:
        return
    found: dict[str, str] = {}
    for listed in items(told, "background")[:MOST_PARTS]:
        mark = background_mark(listed)
        if mark is not None:
            kind = text(listed, "type")
            name = text(listed, _LISTED.get(kind or "", ""))
            found[mark] = f"the {'terminal' if kind == 'terminal' else 'tool call'} {shown(brief(name or ''))}"
    session.background = found


def _state(session: Session, event: Event, told: Any) -> None:
    _list(session, told)
    said = text(told, "state")
    state = None if said is None else brief(said)
    if state in BUSY and session.state not in BUSY:
        session.work.clear()
        session.over = session.stopped = None
    elif state == "idle":
        is_cancelled = text(told, "stopReason") == "cancelled"
        session.over = event.index if is_cancelled and session.stopped is not None else None
        session.stopped = None
    session.state, session.told = state, event.index


def answer(connection: Connection, event: Event, request: Pending, session: Session) -> None:
    """Take in the result of a request in a session."""
    if request.method == "session/close":
        for prompt in connection.open_requests(event.receiver, "session/prompt", request.session):
            prompt.closed = event.index if prompt.closing == request.index else prompt.closed
    elif request.method == "session/prompt" and connection.version == 1:
        if request.stopped is not None and text(event.body, "stopReason") == "cancelled":
            session.over = event.index
    elif request.method == "session/prompt":
        name = text(event.body, "messageId")
        mark = "" if name is None else f"message {key(name)}"
        echoes = session.echoed.values() if name is None else (session.echoed.get(mark),)
        if not any(at is not None and at > request.index for at in echoes):
            session.unheard[mark] = request.index


def keep_open(connection: Connection, request: Pending) -> None:
    """Take in that a session was not closed."""
    for prompt in connection.open_requests(request.sender, "session/prompt", request.session):
        prompt.closing = None if prompt.closing == request.index else prompt.closing
