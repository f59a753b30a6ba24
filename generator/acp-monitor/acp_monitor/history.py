"""The history of a session: An agent replays the history only where the client asked for it, and before it answers that request."""

from __future__ import annotations

from collections.abc import Iterator

from .connection import Connection
from .events import CROSSED, Event, Finding
from .json_values import get_text, show
from .paths import normalize
from .rule import ACP, V2, rule
from .updates import HISTORY, TOOL_CALLS, USER_MESSAGES


@rule("notification", methods=("session/update",), updates=HISTORY, protocols=ACP, needs="session")
def history_not_requested(event: Event, connection: Connection) -> Iterator[Finding]:
    """An agent plays back the history of a session that is being resumed, though nobody asked for it: by `session/resume` in version 1,
    and from version 2 on where `replayFrom` is left out. Of a session that is open here already these may be news, and it is a note;
    nothing is said while a prompt is open or the session is at work.
    """
    session = event.session
    if session is None or session.reopen_request is None or session.replays or session.state not in (None, "idle"):
        return
    if connection.list_open_requests(event.receiver, "session/prompt", event.session_id):
        return
    is_news = session.was_open or not connection.is_complete or connection.sessions.evicted
    sentence = (
        f"{show(event.update_kind)} was sent before the answer to session/resume, which must not replay the history"
    )
    path = event.extend_path("update", "sessionUpdate")
    if is_news:
        yield Finding(path, sentence + CROSSED, session.reopen_request, level="note")
    else:
        yield Finding(path, sentence, session.reopen_request)


@rule("result", methods=("session/resume",), protocols=V2, level="note")
def state_missing_on_resume(event: Event, _connection: Connection) -> Iterator[Finding]:
    """An agent of version 2 resumes a session and does not report its state before it answers. The schema demands it, the page on
    sessions does not speak of it.
    """
    request, session = event.request, event.session
    if request is None or session is None or session.reopen_request != request.index:
        return
    if session.state_report is None or session.state_report < request.index:
        sentence = "the state of the session was not reported before this answer"
        yield Finding(event.locate_member("result"), sentence, request.index)


@rule("request", methods=("session/load", "session/resume"), protocols=ACP, level="note")
def session_in_other_directory(event: Event, connection: Connection) -> Iterator[Finding]:
    """A client reopens a session in another working directory than it is known to have. An agent may refuse that."""
    directory, known_directory = get_text(event.body, "cwd"), connection.find_directory(event.session_id)
    if directory is not None and known_directory is not None and normalize(directory) != normalize(known_directory[0]):
        yield Finding(
            event.extend_path("cwd"),
            f"the working directory of the session is {show(known_directory[0])}",
            known_directory[1],
        )


@rule("notification", methods=("session/update",), updates=HISTORY, protocols=ACP, needs="session")
def history_after_answer(event: Event, connection: Connection) -> Iterator[Finding]:
    """An agent sends history of a session after it answered the request that asked for it: a user message, or a tool call, before the
    first prompt. A message of the agent may be news, and is a note.
    """
    session, kind = event.session, event.update_kind
    if session is None or session.open_answer is None or session.reopen_request is not None or not session.replays:
        return
    if session.close_answer is not None or connection.list_open_requests(
        event.receiver, "session/prompt", event.session_id
    ):
        return
    if (session.last_prompt or -1) > session.opener.index or session.state not in (None, "idle"):
        return
    is_history = kind in USER_MESSAGES or (kind in TOOL_CALLS and connection.version == 1)
    sentence = f"{show(kind)} was sent after the history was complete and before any prompt"
    path = event.extend_path("update", "sessionUpdate")
    yield Finding(path, sentence, session.open_answer, level=None if is_history else "note")
