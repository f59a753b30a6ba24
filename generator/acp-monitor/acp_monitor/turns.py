"""Turns: A turn that the client cancelled ends as cancelled, nothing more is sent for a turn that has ended, and work in the background
is listed until its end is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .connection import Connection
from .events import CROSSED, Event, Finding, Level
from .json_values import Path, get_items, get_text, reach, show
from .records import Pending, Session
from .rule import ACP, V1, V2, rule
from .updates import BUSY, MESSAGES, TOOL_CALLS, describe_background, make_background_key, make_update_key

_OTHER_CAUSES: Final = frozenset({-32800, -32700, -32600, -32601, -32602, -32000, -32002})
"""Codes of errors that are unrelated to a cancelled turn."""

_UPDATE: Final = ("session/update",)
_STATE: Final = ("state_update",)


@rule("result", "notification", methods=("session/prompt", *_UPDATE), updates=_STATE, protocols=ACP)
def cancelled_turn_ended_otherwise(event: Event, connection: Connection) -> Iterator[Finding]:
    """An agent ends a turn that the client cancelled for another reason than `cancelled`: in the result of the prompt, or from version
    2 on when it reports `idle`. A breach where the agent has answered a request that came after the cancellation; else the two may
    have crossed, and it is a note.
    """
    if event.kind == "result":
        since = event.request.cancellation if event.request is not None and connection.version == 1 else None
        path: Path = ("stopReason",)
    else:
        session = event.session
        since = session.cancellation if session is not None and _is_idle(event, connection) else None
        path = ("update", "stopReason")
    reason = get_text(event.body, *path)
    if since is not None and reason not in (None, "cancelled"):  # what is missing is reported by another rule
        sentence = f"a turn that was cancelled ends with the stop reason 'cancelled', not {show(reason)}"
        yield _lower_if_crossed(event, connection, Finding(event.extend_path(*path), sentence, since))


@rule("error", methods=("session/prompt",), protocols=V1)
def cancelled_prompt_failed(event: Event, connection: Connection) -> Iterator[Finding]:
    """An agent of version 1 answers a prompt with an error after the client cancelled the turn. The stop reason is `cancelled`, even
    where stopping made things fail. A breach where the agent has answered a request that came after the cancellation; else a note,
    and none for codes that say something else than a failure. A prompt that was also withdrawn by `$/cancel_request` may fail.
    """
    request = event.request
    if request is None or request.cancellation is None or request.withdrawal is not None:
        return
    sentence = "a cancelled prompt is answered with the stop reason 'cancelled'"
    finding = _lower_if_crossed(
        event, connection, Finding(event.locate_member("error"), sentence, request.cancellation)
    )
    if finding.level is None or event.error_code not in _OTHER_CAUSES:
        yield finding


@rule("result", "error", methods=("session/prompt", "session/close"), protocols=ACP)
def close_without_cancel(event: Event, connection: Connection) -> Iterator[Finding]:
    """An agent closes a session in the middle of a turn and does not cancel that turn: it answers the prompt with another stop reason
    than `cancelled` or with an error, or from version 2 on it answers `session/close` without having reported `idle`. Where the agent
    may not have read `session/close` yet, a note.
    """
    request = event.request
    if request is None:
        return
    if event.method == "session/close":
        session = connection.find_session(request.session)
        if event.kind == "result" and connection.version == 2 and session is not None and session.state in BUSY:
            sentence = f"the session is closed while its last state is {show(session.state)}; it was not cancelled"
            yield Finding(event.locate_member("result"), sentence, session.state_report)
        return
    reason = get_text(event.body, "stopReason") if event.kind == "result" else "an error"
    if connection.version != 1 or request.close_request is None or request.cancellation is not None:
        return
    if request.withdrawal is not None or reason in (None, "cancelled"):
        return
    is_proven = request.close_answer is not None or connection.has_read(event.sender, request.close_request)
    if is_proven or event.kind == "result" or event.error_code not in _OTHER_CAUSES:
        is_result = event.kind == "result"
        level: Level | None = None if is_proven else "note"
        sentence = (
            f"the session was closed, so the stop reason is 'cancelled', not {show(reason) if is_result else reason}"
        )
        path = event.extend_path("stopReason") if is_result else event.locate_member("error")
        earlier = request.close_answer or request.close_request
        yield Finding(path, sentence + ("" if is_proven else CROSSED), earlier, level=level)


@rule("error", protocols=ACP, level="note")
def withdrawn_request_failed_otherwise(event: Event, connection: Connection) -> Iterator[Finding]:
    """A request that was withdrawn by `$/cancel_request` is answered with another error than -32800, by a side that has read of it. A
    note: the error may be what the request would have met anyway. Of codes that say so nothing is said.
    """
    request, code = event.request, event.error_code
    if request is None or request.withdrawal is None or code in _OTHER_CAUSES:
        return
    if connection.has_read(event.sender, request.withdrawal):
        sentence = f"a cancelled request must be answered with a result or with the error -32800, not {show(code)}"
        yield Finding(event.extend_path("code"), sentence, request.withdrawal)


@rule("notification", methods=_UPDATE, updates=MESSAGES | TOOL_CALLS, protocols=ACP, needs="session")
def update_after_cancelled(event: Event, connection: Connection) -> Iterator[Finding]:
    """An agent sends more of a turn after it said that the turn is cancelled. In version 1 that is any message or tool call before the
    next prompt, from version 2 on more of a message of that turn; more of a tool call may be work in the background, and is a note.
    """
    session = event.session
    if session is None or session.cancelled_end is None or session.reopen_request is not None:
        return
    if connection.list_open_requests(event.receiver, "session/prompt", event.session_id):
        return
    path = event.extend_path("update", "sessionUpdate")
    if connection.version == 1:
        yield Finding(
            path, f"{show(event.update_kind)} was sent after the turn ended as cancelled", session.cancelled_end
        )
    elif session.work.get(make_update_key(event.update) or ""):
        if event.update_kind in MESSAGES:
            yield Finding(path, "a message continued after its turn ended as cancelled", session.cancelled_end)
        else:
            sentence = "a tool call continued after its turn ended as cancelled; it may run in the background"
            yield Finding(path, sentence, session.cancelled_end, level="note")


@rule("result", methods=("session/request_permission",), protocols=ACP)
def permission_not_cancelled(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A client cancels a turn and still answers a permission request of it with a choice: one that was open then, or in version 1 one
    that came while the turn was not over yet.
    """
    request = event.request
    if (
        request is not None
        and request.cancellation is not None
        and get_text(event.body, "outcome", "outcome") == "selected"
    ):
        sentence = "the turn was cancelled, so the answer is the outcome 'cancelled'"
        yield Finding(event.extend_path("outcome", "outcome"), sentence, request.cancellation)


@rule("notification", methods=_UPDATE, updates=_STATE, protocols=V2, level="should")
def idle_without_stop_reason(event: Event, connection: Connection) -> Iterator[Finding]:
    """An agent reports `idle` after work in the foreground and does not say why that ended. The page on prompts demands it, the newer
    schema advises it.
    """
    session = event.session
    if session is None or session.state not in BUSY or not _is_idle(event, connection):
        return
    if not isinstance(reach(event.update, "stopReason"), str):
        sentence = f"the session was {show(session.state)}, so `idle` comes with a stop reason"
        yield Finding(event.extend_path("update"), sentence, session.state_report)


@rule("notification", methods=_UPDATE, updates=_STATE, protocols=V2)
def idle_without_running(event: Event, connection: Connection) -> Iterator[Finding]:
    """An agent reports that work has ended in a new session, and never reported that any had begun."""
    session, reason = event.session, get_text(event.update, "stopReason")
    if (
        session is None
        or session.opener.method != "session/new"
        or session.open_answer is None
        or not connection.is_complete
    ):
        return
    if _is_idle(event, connection) and session.state is None and reason is not None:
        sentence = f"work ended with {show(reason)} that was never `running`"
        yield Finding(event.extend_path("update", "stopReason"), sentence)


@rule("result", "end", methods=("session/close",), protocols=V2)
def prompt_not_reported(event: Event, connection: Connection) -> Iterator[Finding]:
    """An agent accepts a prompt and never reports the user message that came of it, until the session is closed. Where the session is
    not closed but idle when the conversation ends, a note.
    """
    sentence = "the user message of an accepted prompt was never reported"
    if event.kind == "result":
        for index in _list_unreported(event.session):
            yield Finding(event.locate_member("result"), sentence, index)
        return
    for session in connection.sessions.values():
        for index in _list_unreported(session) if session.close_answer is None and session.state == "idle" else ():
            if session.state_report is not None and session.state_report > index:
                about = Pending(connection.sides[1], "session/update", session.state_report)
                yield Finding((), sentence, index, about=about, level="note")


@rule("notification", methods=_UPDATE, updates=_STATE, protocols=V2)
def background_not_announced(event: Event, connection: Connection) -> Iterator[Finding]:
    """An agent lists a terminal or a tool call as work in the background that no update of this new session named before."""
    session = event.session
    if session is None or session.opener.method != "session/new" or session.open_answer is None:
        return
    if not connection.is_complete or session.known_work.evicted:
        return
    for place, entry in enumerate(get_items(event.update, "background")):
        mark = make_background_key(entry)
        if mark is not None and session.known_work.get(mark) is None:
            sentence = f"{describe_background(entry)} is listed as background work, and no earlier update named it"
            yield Finding(event.extend_path("update", "background", place), sentence)


@rule("notification", methods=_UPDATE, updates=_STATE, protocols=V2)
def background_end_not_reported(event: Event, _connection: Connection) -> Iterator[Finding]:
    """An agent lists a terminal or a tool call no longer, and never reported its end: an exit status, or a status that is final."""
    session = event.session
    if session is None or session.background is None or session.known_work.evicted:
        return
    if reach(event.update, "background") is None:
        return
    current_keys = {make_background_key(entry) for entry in get_items(event.update, "background")}
    for mark, name in session.background.items():
        if mark not in current_keys and session.known_work.get(mark) is not True:
            sentence = f"{name} is no longer listed, and its end was not reported"
            yield Finding(event.extend_path("update", "background"), sentence, session.state_report)


@rule("notification", methods=_UPDATE, updates=_STATE, protocols=V2)
def background_left_out(event: Event, _connection: Connection) -> Iterator[Finding]:
    """An agent that has reported work in the background reports a state of that session without it. An empty list says that there is
    none; null and nothing say nothing.
    """
    session = event.session
    if session is not None and session.background is not None and reach(event.update, "background") is None:
        sentence = "earlier states of this session listed background work, so each later state must list it too"
        yield Finding(event.extend_path("update"), sentence, session.state_report)


def _list_unreported(session: Session | None) -> tuple[int, ...]:
    """The prompts whose user message was not reported; empty if not all are known."""
    if session is None or session.unreported_prompts.evicted or session.user_messages.evicted:
        return ()
    return tuple(session.unreported_prompts.values())


def _is_idle(event: Event, connection: Connection) -> bool:
    return event.update_kind == "state_update" and get_text(event.update, "state") == "idle" and connection.version == 2


def _lower_if_crossed(event: Event, connection: Connection, finding: Finding) -> Finding:
    """Lower a finding to a note if the sender may not have read the earlier message."""
    if connection.has_read(event.sender, finding.earlier):
        return finding
    return finding._replace(sentence=finding.sentence + CROSSED, level="note")
