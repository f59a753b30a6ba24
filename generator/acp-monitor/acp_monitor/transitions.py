"""State transitions of a connection: each message is recorded after the rules have judged it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

from .bounded import MAX_MEMBER, MAX_PARTS, BoundedTable, make_key, shorten
from .connection import READY, Connection
from .events import Event
from .json_values import get_integer, get_items, get_text, is_array, is_object, reach, write_pointer
from .paths import RootFault, find_foreign_roots, find_root_fault, normalize_roots
from .records import Listed, Options, Pending, Session, Terminal, is_offer, read_options
from .updates import (
    BUSY,
    OPEN_STATUSES,
    TOOL_CALLS,
    USER_MESSAGES,
    describe_background,
    make_background_key,
    make_update_key,
)

_WITH_ROOTS: Final = ("session/new", "session/load", "session/resume", "session/fork", "session/list")
"""Methods whose requests may carry roots."""

_KEPT: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(_WITH_ROOTS, ("cwd", "additionalDirectories", "replayFrom")),
    "initialize": ("protocolVersion",),
    "fs/read_text_file": ("path", "limit"),
    "fs/write_text_file": ("path",),
    "terminal/create": ("outputByteLimit",),
    "terminal/output": ("terminalId",),
    "session/request_permission": ("options",),
    "elicitation/create": ("mode", "elicitationId", "requestedSchema"),
}
"""The members of params by which an answer is judged."""


def record(connection: Connection, event: Event) -> None:
    """Record a message after the rules have judged it."""
    connection.evictions = []
    if event.sender == connection.sides[0]:
        _record_progress(connection, event)
    match event.kind:
        case "unreadable" | "malformed":
            connection.strays[event.sender] += 1
        case "error" if event.id is None and event.request is None:
            _record_refusal(connection, event)
        case "request":
            _record_request(connection, event)
        case "notification":
            _record_notification(connection, event)
        case "result" | "error":
            _record_answer(connection, event)
        case _:
            pass


def _record_progress(connection: Connection, event: Event) -> None:
    """Record that the client is ready, or continues after the handshake."""
    if event.kind == "request" and event.method != "initialize" and connection.first_request is None:
        connection.first_request = event.index
    if event.method == READY:
        connection.ready_notice = event.index if connection.ready_notice is None else connection.ready_notice
    elif event.method != "ping" and event.kind in ("request", "notification", "result", "error"):
        is_first = connection.initialize_answer is not None and connection.first_work is None
        connection.first_work = event.index if is_first else connection.first_work


# --- requests ---


def _record_request(connection: Connection, event: Event) -> None:
    name, session_id = make_key(event.id), event.session_id
    if name is None:
        return
    request = Pending(
        event.sender, shorten(event.method), event.index, None if session_id is None else shorten(session_id)
    )
    request.body = _keep(connection, event.body, _KEPT.get(event.method, ()))
    request.well_formed = not event.problems and not event.duplicates
    connection.pending[event.sender][name] = request
    connection.answers[event.sender].pop(name)
    session = event.session
    match event.method:
        case "initialize":
            _record_capabilities(connection, event)
            if connection.initialize_request is None:
                connection.initialize_request, connection.initialize_error = event.index, None
            connection.speak(reach(event.body, "protocolVersion"), is_agreed=False)
        case method if method in _WITH_ROOTS:
            _record_opening(connection, event, request)
        case "session/close" if session is not None:
            session.close_request = event.index
            for prompt in connection.list_open_requests(event.sender, "session/prompt", request.session):
                prompt.close_request = event.index
        case "terminal/release" if session is not None:
            terminal = session.terminals.get(make_key(get_text(event.body, "terminalId")) or "")
            if terminal is not None and terminal.released is None:
                terminal.released = event.index
        case "session/prompt" if session is not None:
            session.last_prompt, session.cancelled_end = event.index, None
        case "session/request_permission":
            request.has_unknown_subject = _has_unknown_subject(connection, event)
            prompts = connection.list_open_requests(event.receiver, "session/prompt", request.session)
            stops = [prompt.cancellation for prompt in prompts if prompt.cancellation is not None]
            if session is not None and connection.version == 1 and stops and len(stops) == len(prompts):
                request.cancellation = max(stops)
        case "elicitation/create":
            visit = get_text(event.body, "elicitationId")
            if get_text(event.body, "mode") == "url" and visit is not None:
                connection.visits[make_key(visit) or ""] = event.index
        case _:
            pass


def _record_opening(connection: Connection, event: Event, request: Pending) -> None:
    """Record a request that names roots."""
    faults: set[RootFault | None] = {find_root_fault(problem.pointer, event.value) for problem in event.problems}
    if find_foreign_roots(event.body):
        faults.add("other platform")
    request.root_faults = frozenset(fault for fault in faults if fault is not None)
    if event.method == "session/fork":
        request.source_roots = connection.find_roots(request.session)
    elif event.method in ("session/load", "session/resume") and request.session is not None:
        session = event.session
        if session is None:
            session = _make_session(connection, request)
            connection.sessions[make_key(request.session) or ""] = session
        if session.reopen_request is None:
            session.was_open = session.open_answer is not None and session.close_answer is None
        session.reopen_request, session.replays = event.index, request.replays


def _has_unknown_subject(connection: Connection, event: Event) -> bool:
    """Whether permission is asked for a kind of subject that the schema does not have."""
    subject = get_text(event.body, "subject", "type")
    if subject is None or connection.version == 1:
        return False
    return subject.startswith("_") or any(place.path == ("subject", "type") for place in event.undeclared)


# --- notifications ---


def _record_notification(connection: Connection, event: Event) -> None:
    connection.last_notification[event.sender] = event.index
    if any(problem.rule == "envelope" for problem in event.problems):
        connection.strays[event.sender] += 1
    match event.method:
        case "$/cancel_request":
            request = connection.pending[event.sender].get(make_key(reach(event.body, "requestId")) or "")
            if request is not None and request.withdrawal is None:
                request.withdrawal = event.index
        case "session/cancel":
            _record_cancel(connection, event)
        case "notifications/roots/list_changed":
            connection.root_change = connection.shown_roots = None
        case "session/update":
            _record_update(connection, event)
        case _:
            pass


def _record_cancel(connection: Connection, event: Event) -> None:
    for side, method in ((event.sender, "session/prompt"), (event.receiver, "session/request_permission")):
        for request in connection.list_open_requests(side, method, event.session_id):
            request.cancellation = event.index if request.cancellation is None else request.cancellation
    session = event.session
    if session is not None and session.state in BUSY and session.cancellation is None:
        session.cancellation = event.index


def _record_update(connection: Connection, event: Event) -> None:
    session, update, kind = event.session, event.update, event.update_kind
    if not is_object(update):
        return
    name = make_key(event.session_id) or ""
    if session is None:
        if connection.is_opening() and kind == "config_option_update":
            options = _read_options(connection, update)
            connection.early_options.evicted = connection.early_options.evicted or options is None
            connection.early_options[name] = options or {}
        state = get_text(update, "state")
        if connection.is_opening() and state is not None:
            connection.early_states[name] = shorten(state)
        return
    has_grown = False
    if connection.version != 1:
        before = session.size
        _record_work(session, event, update)
        has_grown = kind == "state_update" or session.size > before
    if kind == "config_option_update":
        session.previous_options = session.options
        _offer_options(connection, session, update)
    elif kind in ("tool_call_update", "terminal_update") and "capabilities" in update:
        field = "terminalId" if kind == "terminal_update" else "toolCallId"
        mark = f"{field} {make_key(get_text(update, field))}"
        offers = is_offer(reach(update, "capabilities", "cancel"))
        session.stoppable[mark] = offers or bool(session.stoppable.get(mark))
    elif not has_grown:
        return
    connection.sessions[name] = session


def _record_work(session: Session, event: Event, update: Any) -> None:
    """Record what an update of version 2 says about messages, tool calls, terminals and the state."""
    kind, name = event.update_kind, make_update_key(update)
    call, terminal = get_text(update, "toolCallId"), get_text(update, "terminalId")
    if call is not None and kind in TOOL_CALLS:
        status = get_text(update, "status")
        mark = f"toolCallId {make_key(call)}"
        has_ended = status is not None and status not in OPEN_STATUSES
        session.known_work[mark] = has_ended or (status is None and session.known_work.get(mark) is True)
        for content in (*get_items(update, "content"), reach(update, "content")):
            _know_terminal(session, get_text(content, "terminalId"))
    _know_terminal(session, terminal, has_ended=reach(update, "exitStatus") is not None)
    if name is not None:
        if kind in USER_MESSAGES:
            session.user_messages[name] = event.index
            session.unreported_prompts.pop(name)
            session.unreported_prompts.pop("")
        session.work[name] = True
    if kind == "state_update":
        _record_state(session, event, update)


def _know_terminal(session: Session, name: str | None, *, has_ended: bool = False) -> None:
    if name is not None:
        mark = f"terminalId {make_key(name)}"
        session.known_work[mark] = has_ended or session.known_work.get(mark) is True


def _record_state(session: Session, event: Event, update: Any) -> None:
    if reach(update, "background") is not None:
        entries = [(make_background_key(entry), entry) for entry in get_items(update, "background")[:MAX_PARTS]]
        session.background = {mark: describe_background(entry) for mark, entry in entries if mark is not None}
    state_name = get_text(update, "state")
    state = None if state_name is None else shorten(state_name)
    if state in BUSY and session.state not in BUSY:
        session.work.clear()
        session.cancelled_end = session.cancellation = None
    elif state == "idle":
        is_cancelled = get_text(update, "stopReason") == "cancelled"
        session.cancelled_end = event.index if is_cancelled and session.cancellation is not None else None
        session.cancellation = None
    session.state, session.state_report = state, event.index


# --- answers ---


def _record_answer(connection: Connection, event: Event) -> None:
    name, request = make_key(event.id), event.request
    if name is None or request is None:
        return
    connection.pending[event.receiver].pop(name)
    connection.answers[event.receiver][name] = event.index
    connection.last_read[event.sender] = max(connection.last_read[event.sender], request.index)
    session = connection.find_session(request.session)
    if event.kind == "error":
        _record_failure(connection, request, session, event)
        return
    session_key = make_key(request.session) or ""
    match request.method:
        case "initialize":
            _record_handshake(connection, event)
        case "session/new" | "session/fork":
            opened = get_text(event.body, "sessionId")
            if opened is not None:
                _open(connection, opened, request, event)
        case "session/load" | "session/resume" if request.session is not None:
            _open(connection, request.session, request, event)
        case "session/close" if session is not None:
            session.close_answer, session.close_request = event.index, None
            for prompt in connection.list_open_requests(event.receiver, "session/prompt", request.session):
                prompt.close_answer = event.index if prompt.close_request == request.index else prompt.close_answer
        case "session/delete" if request.session is not None:
            connection.deletions[session_key] = event.index
        case "session/list":
            _record_list(connection, event)
        case "roots/list":
            _record_roots(connection, event)
        case "session/prompt" if session is not None:
            _record_prompt(connection, event, request, session)
        case "session/set_config_option" if session is not None:
            _offer_options(connection, session, event.body)
        case "terminal/create" if session is not None:
            limit = get_integer(request.body, "outputByteLimit")
            session.terminals[make_key(get_text(event.body, "terminalId")) or ""] = Terminal(limit=limit)
        case _:
            pass
    if session is not None and connection.find_session(request.session) is session:
        connection.sessions[session_key] = session  # which may take more room now


def _record_prompt(connection: Connection, event: Event, request: Pending, session: Session) -> None:
    if connection.version == 1:
        if request.cancellation is not None and get_text(event.body, "stopReason") == "cancelled":
            session.cancelled_end = event.index
        return
    name = get_text(event.body, "messageId")
    mark = "" if name is None else f"message {make_key(name)}"
    echoes = session.user_messages.values() if name is None else (session.user_messages.get(mark),)
    if not any(at is not None and at > request.index for at in echoes):
        session.unreported_prompts[mark] = request.index


def _record_refusal(connection: Connection, event: Event) -> None:
    """Record an error without an id: it answers an unreadable line, or one of the open requests."""
    strays, waiting = connection.strays[event.receiver], list(connection.pending[event.receiver].values())
    connection.strays[event.receiver] = max(strays - 1, 0)
    for request in waiting:
        request.refusal = event.index
        request.is_refused = request.is_refused or (len(waiting) == 1 and not strays)
        if request.method not in ("session/load", "session/resume"):
            _record_failure(connection, request, connection.find_session(request.session), event)


def _record_failure(connection: Connection, request: Pending, session: Session | None, event: Event) -> None:
    if request.method == "initialize" and request.index == connection.initialize_request:
        connection.initialize_request, connection.initialize_error = None, event.index
    elif session is not None and request.method in ("session/load", "session/resume"):
        if session.reopen_request == request.index:
            session.reopen_request = None
            if session.opener is request and request.session is not None:
                connection.sessions.pop(make_key(request.session) or "")
    elif session is not None and request.method == "session/close" and session.close_request == request.index:
        session.close_request = None
        for prompt in connection.list_open_requests(request.sender, "session/prompt", request.session):
            prompt.close_request = None if prompt.close_request == request.index else prompt.close_request


def _record_capabilities(connection: Connection, event: Event) -> None:
    """Record what a side advertises in its part of `initialize`."""
    paths = connection.capabilities.get(event.sender, frozenset())
    wrong = {problem.pointer for problem in event.problems}
    unclear = frozenset(path for path in paths if write_pointer((event.part, *path.split("."))) in wrong)
    advertised_paths = frozenset(path for path in paths - unclear if is_offer(reach(event.body, *path.split("."))))
    connection.advertised[event.sender], connection.unclear[event.sender] = advertised_paths, unclear
    connection.advertised_at[event.sender] = event.index


def _record_handshake(connection: Connection, event: Event) -> None:
    connection.initialize_answer = event.index
    connection.speak(reach(event.body, "protocolVersion"), is_agreed=True)
    _record_capabilities(connection, event)
    methods: dict[str, str] = {}
    for method in get_items(event.body, "authMethods"):
        name = get_text(method, "methodId") or get_text(method, "id")
        if name is not None:
            methods[make_key(name) or ""] = shorten(get_text(method, "type") or "agent")
    connection.auth_methods = methods if _make_keys(connection, list(methods)) is not None else None


def _open(connection: Connection, name: str, request: Pending, event: Event) -> None:
    key = make_key(name) or ""
    session = connection.find_session(name)
    if session is None:
        session = _make_session(connection, request)
        session.options, session.state = connection.early_options.pop(key), connection.early_states.pop(key)
        session.is_crowded = connection.early_options.evicted
    session.opener, session.open_answer, session.inherited_roots = request, event.index, ()
    session.reopen_request = session.close_request = session.close_answer = session.cancelled_end = None
    session.previous_options = session.background = None
    session.known_work = BoundedTable[str, bool](MAX_PARTS)
    session.modes, session.options = session.modes or frozenset(), session.options or {}
    if request.method == "session/fork" and not request.has_roots:
        then, now = request.source_roots, connection.find_roots(request.session)
        session.inherited_roots = None if then is None or now is None else normalize_roots((*then, *now))
        if session.inherited_roots is None:
            connection.report_eviction("the roots that are in force for the source of a fork are not known")
    if is_object(reach(event.body, "modes")):
        modes = _make_keys(
            connection, [get_text(mode, "id") for mode in get_items(event.body, "modes", "availableModes")]
        )
        session.modes, session.is_crowded = modes, session.is_crowded or modes is None
    if is_array(reach(event.body, "configOptions")):
        _offer_options(connection, session, event.body)
    connection.sessions[key] = session
    connection.deletions.pop(key)


def _record_list(connection: Connection, event: Event) -> None:
    cursor = get_text(event.body, "nextCursor")
    if cursor is not None:
        connection.cursors[make_key(cursor) or ""] = event.index
    for info in get_items(event.body, "sessions"):
        name = get_text(info, "sessionId")
        if name is not None:
            before = connection.listings.get(make_key(name) or "")
            listing = Listed(event.index, _keep(connection, info, ("cwd", "additionalDirectories")))
            if before is not None and before.has_roots and not listing.has_roots:
                listing = Listed(before.index, {**before.body, **listing.body})
            connection.listings[make_key(name) or ""] = listing


def _record_roots(connection: Connection, event: Event) -> None:
    """Record the roots that a client of MCP reports, and whether they have changed."""
    uris = sorted({get_text(root, "uri") or "" for root in get_items(event.body, "roots")})
    digest = hashlib.sha256("\0".join(uris).encode("utf-8", "surrogatepass")).digest()
    if connection.shown_roots is not None and connection.shown_roots[1] != digest and connection.root_change is None:
        connection.root_change = (event.index, connection.shown_roots[0])
    connection.shown_roots = (event.index, digest)


# --- what is kept of a message ---


def _make_session(connection: Connection, opener: Pending) -> Session:
    reason = "there are more terminals, messages and tool calls of a session than are kept"
    return Session(opener, partial(connection.report_eviction, reason))


def _keep(connection: Connection, body: Any, names: Iterable[str]) -> dict[str, Any]:
    """The members of a body with these names, `...` in place of one that is too long."""
    members = {name: body[name] for name in names if is_object(body) and name in body}
    for name, member in members.items():
        if len(json.dumps(member)) > MAX_MEMBER:
            members[name] = ...
            connection.report_eviction(f"the member {name!r} is too long to be kept")
    return members


def _make_keys(connection: Connection, names: list[str | None]) -> frozenset[str] | None:
    """The keys of what is offered; `None` if there are more than are stored."""
    if len(names) > MAX_PARTS:
        connection.report_eviction("more is offered than is kept")
        return None
    return frozenset(make_key(name) or "" for name in names if name is not None)


def _read_options(connection: Connection, body: Any) -> Options | None:
    options = read_options(body)
    if options is None:
        connection.report_eviction("there are more options or values of options than are kept")
    return options


def _offer_options(connection: Connection, session: Session, body: Any) -> None:
    options = _read_options(connection, body)
    session.options, session.is_crowded = options or {}, session.is_crowded or options is None
