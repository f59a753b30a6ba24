"""Turns: A turn that the client cancelled ends as cancelled, and nothing more is sent for a turn that has ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .events import CROSSED, Event, Found, Level, error_code, reach, shown, text
from .records import Pending, Session
from .rule import ACP, rule
from .state import Connection
from .work import BUSY, MESSAGES, TOOL_CALLS, part

_OWN_CODES: Final = frozenset({-32800, -32700, -32600, -32601, -32602, -32000, -32002})
"""Codes of errors that have nothing to do with a turn that was stopped."""

_CONTENT: Final = MESSAGES | TOOL_CALLS


@rule("result", "notification", methods=("session/prompt", "session/update"), updates=("state_update",), protocols=ACP)
def cancelled_turn_ended_otherwise(event: Event, connection: Connection) -> Iterator[Found]:
    """An agent ends a turn that the client cancelled for another reason than `cancelled`: in the result of the prompt, or from version
    2 on when it reports `idle`. A breach where the agent has answered a request that came after the cancellation; else the two may
    have crossed, and it is a note.
    """
    if event.kind == "result":
        since = event.request.stopped if event.request is not None else None
        path, reason = event.below("stopReason"), text(event.body, "stopReason")
        if connection.version != 1 or reason is None:
            return
    else:
        session = connection.session(event.session)
        since = session.stopped if session is not None and _is_idle(event, connection) else None
        path, reason = event.below("update", "stopReason"), text(event.body, "update", "stopReason")
        if reason is None:
            return  # what is missing is told by another rule
    if since is not None and reason != "cancelled":
        level, doubt = _proof(event, connection, since)
        sentence = f"a turn that was cancelled ends with the stop reason 'cancelled', not {shown(reason)}{doubt}"
        yield Found(path, sentence, since, level=level)


@rule("error", methods=("session/prompt",), protocols=("acp/v1",))
def cancelled_prompt_failed(event: Event, connection: Connection) -> Iterator[Found]:
    """An agent of version 1 answers a prompt with an error after the client cancelled the turn. The stop reason is `cancelled`, even
    where stopping made things fail. A breach where the agent has answered a request that came after the cancellation; else a note,
    and none for codes that say something else than a failure. A prompt that was also withdrawn by `$/cancel_request` may fail.
    """
    request, code = event.request, error_code(event.body)
    if connection.version != 1 or request is None or request.stopped is None or request.withdrawn is not None:
        return
    level, doubt = _proof(event, connection, request.stopped)
    if level is None or code not in _OWN_CODES:
        sentence = f"a cancelled prompt is answered with the stop reason 'cancelled'{doubt}"
        yield Found((*event.at, "error"), sentence, request.stopped, level=level)


@rule("result", "error", methods=("session/prompt", "session/close"), protocols=ACP)
def close_without_cancel(event: Event, connection: Connection) -> Iterator[Found]:
    """An agent closes a session in the middle of a turn and does not cancel that turn: it answers the prompt with another stop reason
    than `cancelled` or with an error, or from version 2 on it answers `session/close` without having reported `idle`. Where the agent
    may not have read `session/close` yet, a note.
    """
    request = event.request
    if request is None:
        return
    if event.method == "session/close":
        session = connection.session(request.session)
        if event.kind == "result" and connection.version == 2 and session is not None and session.state in BUSY:
            sentence = f"the session is closed while its last state is {shown(session.state)}; it was not cancelled"
            yield Found((*event.at, "result"), sentence, session.told)
        return
    if connection.version != 1 or request.closing is None or request.stopped is not None:
        return
    reason = text(event.body, "stopReason")
    if request.withdrawn is not None or (event.kind == "result" and reason in (None, "cancelled")):
        return
    is_proven = request.closed is not None or connection.has_read(event.sender, request.closing)
    if is_proven or event.kind == "result" or error_code(event.body) not in _OWN_CODES:
        told = shown(reason) if event.kind == "result" else "an error"
        sentence = f"the session was closed, so the stop reason is 'cancelled', not {told}"
        level: Level | None = None if is_proven else "note"
        path = event.below("stopReason") if event.kind == "result" else (*event.at, "error")
        yield Found(path, sentence + ("" if is_proven else CROSSED), request.closed or request.closing, level=level)


@rule("error", protocols=ACP, level="note")
def withdrawn_request_failed_otherwise(event: Event, connection: Connection) -> Iterator[Found]:
    """A request that was withdrawn by `$/cancel_request` is answered with another error than -32800, by a side that has read of it. A
    note: the error may be what the request would have met anyway. Of codes that say so nothing is said.
    """
    request, code = event.request, error_code(event.body)
    if request is None or request.withdrawn is None or code in _OWN_CODES:
        return
    if connection.has_read(event.sender, request.withdrawn):
        sentence = f"a cancelled request must be answered with a result or with the error -32800, not {shown(code)}"
        yield Found(event.below("code"), sentence, request.withdrawn)


@rule("notification", methods=("session/update",), updates=_CONTENT, protocols=ACP, sees="session")
def update_after_cancelled(event: Event, connection: Connection) -> Iterator[Found]:
    """An agent sends more of a turn after it said that the turn is cancelled. In version 1 that is any message or tool call before the
    next prompt, from version 2 on more of a message of that turn; more of a tool call may be work in the background, and is a note.
    """
    session, told = connection.session(event.session), reach(event.body, "update")
    kind = text(told, "sessionUpdate")
    if session is None or session.over is None or session.opening is not None or kind not in _CONTENT:
        return
    if connection.open_requests(event.receiver, "session/prompt", event.session):
        return
    path = event.below("update", "sessionUpdate")
    if connection.version == 1:
        yield Found(path, f"{shown(kind)} was sent after the turn ended as cancelled", session.over)
    elif session.work.get(part(told) or "") and kind in MESSAGES:
        yield Found(path, "a message continued after its turn ended as cancelled", session.over)
    elif session.work.get(part(told) or ""):
        sentence = "a tool call continued after its turn ended as cancelled; it may run in the background"
        yield Found(path, sentence, session.over, level="note")


@rule("result", methods=("session/request_permission",), protocols=ACP)
def permission_not_cancelled(event: Event, _connection: Connection) -> Iterator[Found]:
    """A client cancels a turn and still answers a permission request of it with a choice: one that was open then, or in version 1 one
    that came while the turn was not over yet.
    """
    outcome = text(event.body, "outcome", "outcome")
    if event.request is None or event.request.stopped is None or outcome != "selected":
        return
    sentence = "the turn was cancelled, so the answer is the outcome 'cancelled'"
    yield Found(event.below("outcome", "outcome"), sentence, event.request.stopped)


@rule("notification", methods=("session/update",), updates=("state_update",), protocols=("acp/v2",), level="should")
def idle_without_stop_reason(event: Event, connection: Connection) -> Iterator[Found]:
    """An agent reports `idle` after work in the foreground and does not say why that ended. The page on prompts demands it, the newer
    schema advises it.
    """
    session = connection.session(event.session)
    if session is None or session.state not in BUSY or not _is_idle(event, connection):
        return
    if text(event.body, "update", "stopReason") is None:
        sentence = f"the session was {shown(session.state)}, so `idle` comes with a stop reason"
        yield Found(event.below("update"), sentence, session.told)


@rule("notification", methods=("session/update",), updates=("state_update",), protocols=("acp/v2",))
def idle_without_running(event: Event, connection: Connection) -> Iterator[Found]:
    """An agent reports that work has ended in a new session, and never reported that any had begun."""
    session, reason = connection.session(event.session), text(event.body, "update", "stopReason")
    if session is None or session.origin != "session/new" or session.settled is None or not connection.whole:
        return
    if _is_idle(event, connection) and session.state is None and reason is not None:
        yield Found(event.below("update", "stopReason"), f"work ended with {shown(reason)} that was never `running`")


@rule("result", "end", protocols=("acp/v2",))
def prompt_not_reported(event: Event, connection: Connection) -> Iterator[Found]:
    """An agent accepts a prompt and never reports the user message that came of it, until the session is closed. Where the session is
    not closed but idle when the conversation ends, a note.
    """
    sentence = "the user message of an accepted prompt was never reported"
    if connection.version != 2 or (event.kind == "result" and event.method != "session/close"):
        return
    if event.kind == "result":
        session = connection.session(event.session)
        for index in _unheard(session):
            yield Found((*event.at, "result"), sentence, index)
        return
    for session in connection.sessions.values():
        for index in _unheard(session) if session.closed is None and session.state == "idle" else ():
            if session.told is not None and session.told > index:
                about = Pending(connection.sides[1], "session/update", session.told)
                yield Found((), sentence, index, about=about, level="note")


def _unheard(session: Session | None) -> tuple[int, ...]:
    """The prompts whose user message was not reported, as far as all of them are known."""
    if session is None or session.unheard.forgot or session.echoed.forgot:
        return ()
    return tuple(session.unheard.values())


def _is_idle(event: Event, connection: Connection) -> bool:
    told = reach(event.body, "update")
    is_state = text(told, "sessionUpdate") == "state_update" and text(told, "state") == "idle"
    return is_state and event.kind == "notification" and connection.version == 2


def _proof(event: Event, connection: Connection, since: int) -> tuple[Level | None, str]:
    """How grave it is that a message does not heed an earlier one of the other side, and what is to be added."""
    return (None, "") if connection.has_read(event.sender, since) else ("note", CROSSED)
