"""Sessions: A session is used only while it is open, nothing is sent for a closed one, an answer chooses what was offered, and a list
is read on by the cursor that came with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .bounded import make_key
from .connection import Connection
from .events import Event, Finding, Level
from .json_values import get_items, get_text, is_array, reach, show
from .records import Session, is_offered
from .rule import ACP, V1, V2, rule

_STORED: Final = frozenset({"session/load", "session/resume", "session/fork", "session/delete"})
"""Methods that may name a session that is not open."""

_TERMINALS: Final = ("terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release")


@rule("request", methods=("session/list",), protocols=ACP)
def cursor_not_given(event: Event, connection: Connection) -> Iterator[Finding]:
    """A client asks for a page of the list by a cursor that no list of this connection brought. Cursors are neither made up nor kept."""
    cursor = get_text(event.body, "cursor")
    if cursor is not None and connection.strict is not None and connection.lacks(connection.cursors, cursor):
        yield Finding(event.extend_path("cursor"), f"no list on this connection returned the cursor {show(cursor)}")


@rule("request", "notification", protocols=ACP, needs="session")
def session_not_open(event: Event, connection: Connection) -> Iterator[Finding]:
    """A message names a session that was not opened on this connection, by `session/new`, `load`, `resume` or `fork`."""
    name = get_text(event.body, "sessionId")
    if name is None or event.method in _STORED or event.route is None:
        return
    may_come = event.sender != connection.sides[0] and connection.is_opening()  # with the answer
    if connection.lacks(connection.sessions, name) and not may_come:
        yield Finding(event.extend_path("sessionId"), f"the session {show(name)} was not opened on this connection")


@rule("request", "notification", protocols=ACP, needs="session")
def session_closed(event: Event, connection: Connection) -> Iterator[Finding]:
    """A message names a session that was closed: a prompt after `session/close`, or news of it after its answer."""
    name = get_text(event.body, "sessionId")
    session = connection.find_session(name)
    if session is None or event.method in _STORED or session.reopen_request is not None:
        return
    since = session.close_answer
    if since is None and event.sender == connection.sides[0]:
        since = session.close_request
    if since is not None:
        yield Finding(event.extend_path("sessionId"), f"the session {show(name)} is closed", since)


@rule("result", methods=("session/new", "session/fork"))
def session_id_in_use(event: Event, connection: Connection) -> Iterator[Finding]:
    """An agent gives a new session the id of one that is open."""
    name = get_text(event.body, "sessionId")
    session = connection.find_session(name)
    if session is not None and session.close_answer is None:
        yield Finding(event.extend_path("sessionId"), f"a session {show(name)} is open already", session.opener.index)


@rule("result", methods=("session/list",))
def deleted_session_listed(event: Event, connection: Connection) -> Iterator[Finding]:
    """A list shows a session after `session/delete` of it succeeded."""
    for index, info in enumerate(get_items(event.body, "sessions")):
        name = get_text(info, "sessionId")
        since = connection.deletions.get(make_key(name) or "") if name is not None else None
        if since is not None and event.request is not None and event.request.index > since:
            yield Finding(
                event.extend_path("sessions", index, "sessionId"), f"the session {show(name)} was deleted", since
            )


@rule("request", methods=("session/request_permission",))
def permission_options_repeated(event: Event, _connection: Connection) -> Iterator[Finding]:
    """Two options of one permission request have the same `optionId`, so the answer would not tell which was chosen."""
    earlier_ids: set[str] = set()
    for index, option in enumerate(get_items(event.body, "options")):
        name = get_text(option, "optionId")
        if name is not None and name in earlier_ids:
            yield Finding(event.extend_path("options", index, "optionId"), f"the option {show(name)} occurs twice")
        earlier_ids.add(name or "")


@rule("request", methods=("session/request_permission",), protocols=V2)
def permission_title_blank(event: Event, _connection: Connection) -> Iterator[Finding]:
    """The title of a permission request has no visible character, though it is the least that a user is shown."""
    title = get_text(event.body, "title")
    if title is not None and not title.strip():
        yield Finding(event.extend_path("title"), "the title is blank; the user must at least see a title")


@rule("error", methods=("session/request_permission",), protocols=V2, level="should")
def unknown_subject_refused(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A client answers a permission request with an error because it does not know the kind of its subject. It shows title, description
    and options all the same, or declines with an outcome.
    """
    request, code = event.request, event.error_code
    if request is None or not request.has_unknown_subject or not request.well_formed or code in (-32601, -32800):
        return
    if request.first_cancellation is None:
        sentence = f"a permission request whose subject has an unknown type must be answered with an outcome, not with {show(code)}"
        yield Finding(event.extend_path("code"), sentence, request.index)


@rule("result", methods=("session/request_permission",))
def permission_outcome_not_offered(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A client answers a permission request with an option that was not among those offered. It counts as a refusal."""
    option_id = get_text(event.body, "outcome", "optionId")
    if get_text(event.body, "outcome", "outcome") != "selected" or option_id is None or event.request is None:
        return
    offered_ids = [get_text(option, "optionId") for option in get_items(event.request.body, "options")]
    if is_array(reach(event.request.body, "options")) and option_id not in offered_ids:
        sentence = f"the option {show(option_id)} was not among the {len(offered_ids)} that were offered"
        yield Finding(event.extend_path("outcome", "optionId"), sentence, event.request.index)


@rule("request", methods=("session/set_mode",))
def mode_not_offered(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A client sets a mode that the session does not have."""
    session, mode_id = _find_settable(event), get_text(event.body, "modeId")
    if (
        session is not None
        and session.modes is not None
        and mode_id is not None
        and make_key(mode_id) not in session.modes
    ):
        has = f"no mode {show(mode_id)} among its {len(session.modes)}" if session.modes else "no modes"
        sentence = f"the session offers {has}"
        yield Finding(event.extend_path("modeId"), sentence, session.opener.index)


@rule("request", methods=("session/set_config_option",))
def config_option_not_offered(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A client sets a configuration option that the session does not have, or gives it a value that it does not offer. What the
    agent's last update withdrew still counts as offered: the client may not have read it yet.
    """
    session, option_id = _find_settable(event), get_text(event.body, "configId")
    if session is None or session.options is None or option_id is None:
        return
    name, value = make_key(option_id) or "", get_text(event.body, "value")
    offers = [options[name] for options in (session.options, session.previous_options or {}) if name in options]
    if not offers:
        yield Finding(
            event.extend_path("configId"), f"the session has no option {show(option_id)}", session.opener.index
        )
    elif value is not None and all(values is not None and not is_offered(value, values) for values in offers):
        sentence = f"the option {show(option_id)} does not offer {show(value)}"
        yield Finding(event.extend_path("value"), sentence, session.opener.index, words=("value",))


@rule("request", methods=_TERMINALS)
def terminal_not_open(event: Event, connection: Connection) -> Iterator[Finding]:
    """An agent uses a terminal that it did not create in this session, or that it released."""
    session, name = event.session, get_text(event.body, "terminalId")
    if session is None or name is None or session.terminals.evicted or not connection.is_complete:
        return
    terminal = session.terminals.get(make_key(name) or "")
    if terminal is None:
        yield Finding(event.extend_path("terminalId"), f"the terminal {show(name)} was not created in this session")
    elif terminal.released is not None:
        yield Finding(event.extend_path("terminalId"), f"the terminal {show(name)} was released", terminal.released)


@rule(
    "notification",
    methods=("session/update",),
    updates=("tool_call", "tool_call_update"),
    protocols=V1,
    level="should",
)
def terminal_not_created(event: Event, connection: Connection) -> Iterator[Finding]:
    """A tool call of a session that was made here shows a terminal that no `terminal/create` of the session made. Where the update has
    `_meta`, the peers may mean a terminal of their own by it, and it is a note.
    """
    session, update = event.session, event.update
    if session is None or session.opener.method != "session/new":
        return
    for index, content in enumerate(get_items(update, "content")):
        name = get_text(content, "terminalId") if get_text(content, "type") == "terminal" else None
        if name is not None and connection.lacks(session.terminals, name):
            is_own = reach(update, "_meta") is not None or reach(content, "_meta") is not None
            sentence = f"the terminal {show(name)} was not created in this session"
            level: Level | None = "note" if is_own else None
            yield Finding(event.extend_path("update", "content", index, "terminalId"), sentence, level=level)


@rule("error", methods=("session/delete",), protocols=ACP, level="should")
def repeated_delete_refused(event: Event, connection: Connection) -> Iterator[Finding]:
    """An agent answers `session/delete` with an error because the session is deleted already. It succeeds silently."""
    since = None if event.request is None else connection.deletions.get(make_key(event.request.session) or "")
    if since is not None and event.error_code not in (-32000, -32800):
        sentence = f"the session {show(event.session_id)} was already deleted; deleting it again must succeed"
        yield Finding(event.locate_member("error"), sentence, since)


@rule("request", methods=("tool_call/cancel", "terminal/cancel"))
def cancel_not_offered(event: Event, connection: Connection) -> Iterator[Finding]:
    """A client of version 2 stops a tool call or a terminal that never offered `capabilities.cancel`."""
    session = event.session
    field = "toolCallId" if event.method == "tool_call/cancel" else "terminalId"
    name = get_text(event.body, field)
    if session is None or name is None or session.stoppable.evicted or not connection.is_complete:
        return
    if not session.stoppable.get(f"{field} {make_key(name)}"):
        yield Finding(event.extend_path(field), f"{show(name)} was never announced as cancellable")


def _find_settable(event: Event) -> Session | None:
    """The session, if all its modes and options are known."""
    session = event.session
    return None if session is None or session.is_crowded or session.reopen_request is not None else session
