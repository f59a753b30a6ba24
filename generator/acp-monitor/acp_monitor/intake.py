"""How a connection changes with a message: taken in after the rules have judged it."""

from __future__ import annotations

import hashlib
import json
from functools import partial
from typing import Any, Final

from . import work
from .events import Event, items, json_pointer, reach, text
from .json_types import is_array, is_object
from .kept import LONGEST_FORM, LONGEST_PATH, MOST_PARTS, Recent, brief, key
from .offers import Options, is_offer, offered_options, tags
from .records import Listed, Pending, Question, Session, Terminal
from .rootpaths import Misfit, are_too_many, distinct, listed_roots, misfit, strangers
from .state import READY, Connection

LIFECYCLE: Final = ("session/new", "session/load", "session/resume", "session/fork", "session/list")
"""Methods whose requests may carry roots."""


def apply(connection: Connection, event: Event) -> None:
    """Take in a message, after the rules have judged it."""
    connection.let_go = []
    is_other = event.kind == "request" and event.method != "initialize"
    if is_other and event.sender == connection.sides[0] and connection.began is None:
        connection.began = event.index
    if event.sender == connection.sides[0]:
        _go_on(connection, event)
    match event.kind:
        case "unreadable" | "malformed":
            connection.strays[event.sender] += 1
        case "error" if event.id is None and event.request is None:
            _refusal(connection, event)
        case "request":
            _request(connection, event)
        case "notification":
            _notification(connection, event)
        case "result" | "error":
            _answer(connection, event)
        case _:
            pass


def _go_on(connection: Connection, event: Event) -> None:
    """Take in that the client says it is ready, or something else after the handshake was answered."""
    if event.method == READY:
        connection.ready = event.index if connection.ready is None else connection.ready
    elif event.method != "ping" and event.kind in ("request", "notification", "result", "error"):
        is_first = connection.initialized is not None and connection.worked is None
        connection.worked = event.index if is_first else connection.worked


def _request(connection: Connection, event: Event) -> None:
    name = key(event.id)
    if name is None:
        return
    request = Pending(event.sender, brief(event.method), event.index, _brief(text(event.body, "sessionId")))
    request.well_formed = not event.problems and not event.repeated
    kinds: set[Misfit | None] = {misfit(problem.pointer, event.value) for problem in event.problems}
    if event.method in LIFECYCLE and strangers(event.body):
        kinds.add("other platform")
    request.malformed_roots = frozenset(kind for kind in kinds if kind is not None)
    if event.method in LIFECYCLE:
        request.has_roots = reach(event.body, "additionalDirectories") is not None
        request.roots = _roots(connection, event.body)
        request.source_roots = connection.in_force(request.session) if event.method == "session/fork" else ()
        request.cwd = _path(connection, event.body, "cwd")
        request.replays = event.method == "session/load" or reach(event.body, "replayFrom") is not None
    elif event.method.startswith("fs/"):
        request.path = _path(connection, event.body, "path")
        request.limit = _limit(event.body, "limit")
    elif event.method == "terminal/create":
        request.limit = _limit(event.body, "outputByteLimit")
    elif event.method == "terminal/output":
        session = connection.session(request.session)
        terminal = None if session is None else session.terminals.get(key(text(event.body, "terminalId")) or "")
        request.limit = None if terminal is None else terminal.limit
    elif event.method == "session/request_permission":
        request.is_strange = _is_strange(connection, text(event.body, "subject", "type"))
        request.options = _ids(connection, [text(option, "optionId") for option in items(event.body, "options")])
    elif event.method == "elicitation/create":
        connection.questions[name] = _question(connection, event)
    connection.pending[event.sender][name] = request
    connection.answered[event.sender].pop(name)
    if event.method == "initialize":
        version = reach(event.body, "protocolVersion")
        request.version = version if isinstance(version, int) and not isinstance(version, bool) else None
        _offer(connection, event, event.body)
        if connection.asked is None:
            connection.asked, connection.refused = event.index, None
        connection.speak(reach(event.body, "protocolVersion"), is_agreed=False)
    session = connection.session(request.session)
    if event.method in ("session/load", "session/resume") and request.session is not None:
        if session is None:
            session = _session(connection, event.index, event.method)
            connection.sessions[key(request.session) or ""] = session
        if session.opening is None:
            session.known = session.settled is not None and session.closed is None
        session.opening, session.replays = event.index, request.replays
    elif event.method == "session/close" and session is not None:
        session.closing = event.index
    elif event.method == "terminal/release" and session is not None:
        terminal = session.terminals.get(key(text(event.body, "terminalId")) or "")
        if terminal is not None and terminal.released is None:
            terminal.released = event.index
    if session is not None:
        work.ask(connection, event, request, session)


def _is_strange(connection: Connection, subject: str | None) -> bool:
    """Whether a permission is asked for a kind of subject that the schema does not have."""
    if subject is None or connection.strict is None:
        return False
    known = tags(connection.strict.schema, "RequestPermissionSubject", "type")
    return bool(known) and subject not in known


def _notification(connection: Connection, event: Event) -> None:
    connection.notified[event.sender] = event.index
    if any(problem.rule == "envelope" for problem in event.problems):
        connection.strays[event.sender] += 1
    if event.method == "$/cancel_request":
        found = connection.pending[event.sender].get(key(reach(event.body, "requestId")) or "")
        if found is not None and found.withdrawn is None:
            found.withdrawn = event.index
    elif event.method == "session/cancel":
        work.cancel(connection, event)
    elif event.method == "notifications/roots/list_changed":
        connection.changed = connection.exposed = None
    elif event.method == "session/update":
        _update(connection, event)


def _update(connection: Connection, event: Event) -> None:
    session = connection.session(event.session)
    update = reach(event.body, "update")
    if not is_object(update):
        return
    if session is None:
        if update.get("sessionUpdate") == "config_option_update" and connection.is_opening():
            options = _options(connection, update)
            connection.early.forgot = connection.early.forgot or options is None
            connection.early[key(event.session) or ""] = options or {}
        if connection.is_opening() and text(update, "state") is not None:
            connection.early_states[key(event.session) or ""] = brief(text(update, "state") or "")
        return
    has_grown = work.update(connection, session, event, update)
    match update.get("sessionUpdate"):
        case "config_option_update":
            session.withdrawn = session.options
            _offer_options(connection, session, update)
        case "tool_call_update" | "terminal_update" as kind if "capabilities" in update:
            field_ = "terminalId" if kind == "terminal_update" else "toolCallId"
            name = f"{field_} {key(text(update, field_))}"
            offers = is_offer(reach(update, "capabilities", "cancel"))
            session.stoppable[name] = offers or bool(session.stoppable.get(name))
        case _:
            if not has_grown:
                return
    connection.sessions[key(event.session) or ""] = session


def changes_nothing(connection: Connection, event: Event) -> bool:
    """Whether to take in a message changes nothing but which notification of its sender was the last."""
    if event.kind != "notification" or event.method != "session/update" or event.sender == connection.sides[0]:
        return False
    session, update = connection.session(event.session), reach(event.body, "update")
    if session is None or not is_object(update) or event.problems or event.repeated:
        return False
    if connection.version == 1:
        return update.get("sessionUpdate") != "config_option_update" and "capabilities" not in update
    is_chunk = (
        update.get("sessionUpdate") in work.CHUNKS and "terminalId" not in update and "capabilities" not in update
    )
    return is_chunk and work.part(update) in (None, session.work.newest)


def _answer(connection: Connection, event: Event) -> None:
    asker = event.receiver
    name = key(event.id)
    if name is None or event.request is None:
        return
    request = event.request
    connection.pending[asker].pop(name)
    if request.method == "elicitation/create":
        connection.questions.pop(name)
    connection.answered[asker][name] = event.index
    connection.read[event.sender] = max(connection.read[event.sender], request.index)
    session = connection.session(request.session)
    if event.kind == "error":
        if request.method == "initialize" and request.index == connection.asked:
            connection.asked, connection.refused = None, event.index
        if session is not None:
            _failed(connection, request, session)
        return
    if session is not None:
        work.answer(connection, event, request, session)
        connection.sessions[key(request.session) or ""] = session  # which may take more room now
    match request.method:
        case "initialize":
            _initialized(connection, event)
        case "session/new" | "session/fork":
            opened = text(event.body, "sessionId")
            if opened is not None:
                _open(connection, opened, request, event)
        case "session/load" | "session/resume" if request.session is not None:
            _open(connection, request.session, request, event)
        case "session/close" if session is not None:
            session.closed, session.closing = event.index, None
        case "session/delete" if request.session is not None:
            connection.deleted[key(request.session) or ""] = event.index
        case "session/list":
            _list(connection, event)
        case "roots/list":
            _exposed(connection, event)
        case "session/set_config_option" if session is not None:
            _offer_options(connection, session, event.body)
            connection.sessions[key(request.session) or ""] = session
        case "terminal/create" if session is not None:
            session.terminals[key(text(event.body, "terminalId")) or ""] = Terminal(event.index, limit=request.limit)
            connection.sessions[key(request.session) or ""] = session
        case _:
            pass


def _refusal(connection: Connection, event: Event) -> None:
    """Take in an error without an id: it answers a line that could not be read, or one of the open requests."""
    strays, open_ = connection.strays[event.receiver], list(connection.pending[event.receiver].values())
    connection.strays[event.receiver] = max(strays - 1, 0)
    for request in open_:
        request.refused = event.index
        request.is_refused = request.is_refused or (len(open_) == 1 and not strays)
        session = connection.session(request.session)
        if request.method == "initialize" and request.index == connection.asked:
            connection.asked, connection.refused = None, event.index
        elif request.method == "session/close" and session is not None and session.closing == request.index:
            session.closing = None
            work.keep_open(connection, request)


def _failed(connection: Connection, request: Pending, session: Session) -> None:
    if request.method in ("session/load", "session/resume") and session.opening == request.index:
        session.opening = None
        if session.opened == request.index and request.session is not None:
            connection.sessions.pop(key(request.session) or "")
    elif request.method == "session/close" and session.closing == request.index:
        session.closing = None
        work.keep_open(connection, request)


def _offer(connection: Connection, event: Event, payload: Any) -> None:
    """Take in what a side advertises in its part of `initialize`."""
    paths = connection.gates.get(event.sender, frozenset())
    wrong = {problem.pointer for problem in event.problems}
    unclear = frozenset(path for path in paths if json_pointer((event.part, *path.split("."))) in wrong)
    offered = frozenset(path for path in paths - unclear if is_offer(reach(payload, *path.split("."))))
    connection.advertised[event.sender], connection.unclear[event.sender] = offered, unclear
    connection.advertised_at[event.sender] = event.index


def _initialized(connection: Connection, event: Event) -> None:
    connection.initialized = event.index
    connection.speak(reach(event.body, "protocolVersion"), is_agreed=True)
    _offer(connection, event, event.body)
    methods: dict[str, str] = {}
    for method in items(event.body, "authMethods"):
        name = text(method, "methodId") or text(method, "id")
        if name is not None:
            methods[key(name) or ""] = brief(text(method, "type") or "agent")
    connection.auth_methods = methods if _ids(connection, list(methods)) is not None else None


def _open(connection: Connection, name: str, request: Pending, event: Event) -> None:
    session = _session(connection, request.index, request.method)
    session.roots, session.cwd = request.roots, request.cwd
    session.settled = event.index
    if request.method == "session/fork" and not request.has_roots:
        then, now = request.source_roots, connection.in_force(request.session)
        session.inherited = distinct((*(then or ()), *(now or ())))
        if then is None or now is None:
            session.roots = None
            connection.letting_go("the roots that are in force for the source of a fork are not known")
    session.modes, session.options = frozenset(), connection.early.pop(key(name) or "") or {}
    session.crowded = connection.early.forgot
    session.state = connection.early_states.pop(key(name) or "")
    before = connection.session(name)
    if before is not None:
        session.terminals, session.stoppable = before.terminals, before.stoppable
        session.modes, session.options = before.modes or frozenset(), before.options or {}
        session.crowded = before.crowded
        session.prompted, session.replays, session.known = before.prompted, before.replays, before.known
        session.state, session.told, session.work = before.state, before.told, before.work
        session.stopped, session.echoed, session.unheard = before.stopped, before.echoed, before.unheard
    if is_object(reach(event.body, "modes")):
        modes = _ids(connection, [text(mode, "id") for mode in items(event.body, "modes", "availableModes")])
        session.modes, session.crowded = modes, session.crowded or modes is None
    if is_array(reach(event.body, "configOptions")):
        _offer_options(connection, session, event.body)
    connection.sessions[key(name) or ""] = session
    connection.deleted.pop(key(name) or "")


def _question(connection: Connection, event: Event) -> Question:
    """What an elicitation asks; an id of a visit is known from here on."""
    asked = Question(event.index, (text(event.body, "mode") or "")[:16])
    visit, form = text(event.body, "elicitationId"), reach(event.body, "requestedSchema")
    if asked.mode == "url" and visit is not None:
        asked.visit = key(visit)
        connection.visits[key(visit) or ""] = event.index
    elif is_object(form) and not event.problems:
        asked.length = len(json.dumps(form))
        if asked.length <= LONGEST_FORM:
            asked.form = form
        else:
            asked.length = 0
            connection.letting_go("the form is too long to be kept")
    return asked


def _list(connection: Connection, event: Event) -> None:
    cursor = text(event.body, "nextCursor")
    if cursor is not None:
        connection.cursors[key(cursor) or ""] = event.index
    for info in items(event.body, "sessions"):
        name = text(info, "sessionId")
        if name is not None:
            has_roots = reach(info, "additionalDirectories") is not None
            before, cwd = connection.listed.get(key(name) or ""), _path(connection, info, "cwd")
            listed = Listed(event.index, _roots(connection, info), has_roots, cwd)
            if before is not None and before.has_roots and not has_roots:
                listed = Listed(before.index, before.roots, True, cwd)
            connection.listed[key(name) or ""] = listed


def _exposed(connection: Connection, event: Event) -> None:
    """Take in the roots that a client of MCP shows, and whether they are others than before."""
    uris = sorted({text(root, "uri") or "" for root in items(event.body, "roots")})
    shown = hashlib.sha256("\0".join(uris).encode("utf-8", "surrogatepass")).digest()
    if connection.exposed is not None and connection.exposed[1] != shown and connection.changed is None:
        connection.changed = (event.index, connection.exposed[0])
    connection.exposed = (event.index, shown)


# --- what is kept of a message ---


def _session(connection: Connection, opened: int, origin: str) -> Session:
    forgetting = partial(
        connection.letting_go, "there are more terminals, messages and tool calls of a session than are kept"
    )
    return Session(
        opened,
        origin,
        terminals=Recent(MOST_PARTS, forgetting=forgetting),
        stoppable=Recent(MOST_PARTS, forgetting=forgetting),
        work=Recent(MOST_PARTS, forgetting=forgetting),
        echoed=Recent(MOST_PARTS, forgetting=forgetting),
        unheard=Recent(MOST_PARTS, forgetting=forgetting),
    )


def _limit(body: Any, name: str) -> int | None:
    found = reach(body, name)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _path(connection: Connection, body: Any, name: str) -> str | None:
    path = text(body, name)
    if path is None or len(path) <= LONGEST_PATH:
        return path
    connection.letting_go(f"the field {name!r} is too long to be kept")
    return None


def _roots(connection: Connection, body: Any) -> tuple[str, ...] | None:
    if are_too_many(body):
        connection.letting_go("the roots are too many or too long to be kept")
    return listed_roots(body)


def _ids(connection: Connection, names: list[str | None]) -> frozenset[str] | None:
    """The keys of what is offered; `None` where there are more than are kept."""
    if len(names) > MOST_PARTS:
        connection.letting_go("more is offered than is kept")
        return None
    return frozenset(key(name) or "" for name in names if name is not None)


def _options(connection: Connection, body: Any) -> Options | None:
    found = offered_options(body)
    if found is None:
        connection.letting_go("there are more options or values of options than are kept")
    return found


def _offer_options(connection: Connection, session: Session, body: Any) -> None:
    found = _options(connection, body)
    session.options, session.crowded = found or {}, session.crowded or found is None


def _brief(value: str | None) -> str | None:
    return None if value is None else brief(value)
