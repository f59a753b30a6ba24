"""The history of a session: An agent replays the history only where the client asked for it, and before it answers that request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .events import CROSSED, Event, Found, Level, reach, shown, text
from .rootpaths import plain
from .rule import ACP, rule
from .state import Connection
from .work import MESSAGES, TOOL_CALLS, USER_MESSAGES

_HISTORY: Final = MESSAGES | TOOL_CALLS | {"plan", "plan_update"}


@rule("notification", methods=("session/update",), updates=_HISTORY, protocols=ACP, sees="session")
def history_not_requested(event: Event, connection: Connection) -> Iterator[Found]:
    """An agent plays back the history of a session that is being resumed, though nobody asked for it: by `session/resume` in version 1,
    and from version 2 on where `replayFrom` is left out. Of a session that is open here already these may be news, and it is a note;
    nothing is said while a prompt is open or the session is at work.
    """
    session, kind = connection.session(event.session), text(reach(event.body, "update"), "sessionUpdate")
    if session is None or session.opening is None or session.replays or kind not in _HISTORY:
        return
    if connection.open_requests(event.receiver, "session/prompt", event.session) or session.state not in (None, "idle"):
        return
    is_news = session.known or not connection.whole or connection.sessions.forgot
    sentence = f"{shown(kind)} was sent before the answer to session/resume, which must not replay the history"
    level: Level | None = "note" if is_news else None
    yield Found(
        event.below("update", "sessionUpdate"), sentence + (CROSSED if is_news else ""), session.opening, level=level
    )


@rule("result", methods=("session/resume",), protocols=("acp/v2",), level="note")
def state_missing_on_resume(event: Event, connection: Connection) -> Iterator[Found]:
    """An agent of version 2 resumes a session and does not report its state before it answers. The schema demands it, the page on
    sessions does not speak of it.
    """
    request, session = event.request, connection.session(event.session)
    if connection.version != 2 or request is None or session is None or session.opening != request.index:
        return
    if session.told is None or session.told < request.index:
        yield Found(
            (*event.at, "result"), "the state of the session was not reported before this answer", request.index
        )


@rule("request", methods=("session/load", "session/resume"), protocols=ACP, level="note")
def session_in_other_directory(event: Event, connection: Connection) -> Iterator[Found]:
    """A client reopens a session in another working directory than it is known to have. An agent may refuse that."""
    wanted, known = text(event.body, "cwd"), connection.directory(event.session)
    if wanted is not None and known is not None and plain(wanted) != plain(known[0]):
        sentence = f"the working directory of the session is {shown(known[0])}"
        yield Found(event.below("cwd"), sentence, known[1])


@rule("notification", methods=("session/update",), updates=_HISTORY, protocols=ACP, sees="session")
def history_after_answer(event: Event, connection: Connection) -> Iterator[Found]:
    """An agent sends history of a session after it answered the request that asked for it: a user message, or a tool call, before the
    first prompt. A message of the agent may be news, and is a note.
    """
    session, kind = connection.session(event.session), text(reach(event.body, "update"), "sessionUpdate")
    if session is None or session.settled is None or session.opening is not None or not session.replays:
        return
    if session.closed is not None or kind not in _HISTORY:
        return
    if connection.open_requests(event.receiver, "session/prompt", event.session):
        return
    if (session.prompted or -1) > session.opened or session.state not in (None, "idle"):
        return
    is_history = kind in USER_MESSAGES or (kind in TOOL_CALLS and connection.version == 1)
    sentence = f"{shown(kind)} was sent after the history was complete and before any prompt"
    level: Level | None = None if is_history else "note"
    yield Found(event.below("update", "sessionUpdate"), sentence, session.settled, level=level)
