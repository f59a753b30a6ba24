"""Workspace roots: A client sends well-formed roots, an agent refuses those that are not, and an agent neither widens nor narrows the
set that it was given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .bounded import make_key
from .connection import Connection
from .events import Event, Finding
from .json_values import Path, get_items, get_text, is_redacted, reach, show, split_pointer
from .paths import find_foreign_roots, find_root_fault, normalize, normalize_roots, read_roots
from .records import Session
from .rule import ACP, rule

_LIFECYCLE: Final = ("session/new", "session/load", "session/resume", "session/fork")
_FIELD: Final = "additionalDirectories"
_OTHER_CAUSES: Final = frozenset({-32602, -32601, -32000, -32800})
"""Invalid params, or: no such method, authentication required, cancelled."""


@rule("request", "result", protocols=ACP)
def roots_malformed(event: Event, _connection: Connection) -> Iterator[Finding]:
    """Additional roots are no array of absolute paths: null, an entry that is no string, is empty or relative, or is a path of another
    platform than the working directory.
    """
    for problem in event.problems:
        fault = find_root_fault(problem.pointer, event.value)
        if fault is not None:
            yield Finding((*event.at, *split_pointer(problem.pointer)), problem.sentence, words=(fault,))
    scopes: list[tuple[Path, Any]] = []
    if event.kind == "request" and event.method in (*_LIFECYCLE, "session/list"):
        scopes = [((), event.body)]
    elif event.kind == "result" and event.method == "session/list":
        scopes = [(("sessions", index), info) for index, info in enumerate(get_items(event.body, "sessions"))]
    for place, scope in scopes:
        for index in find_foreign_roots(scope):
            sentence = "all paths of a session must be of one platform; this path is of another"
            yield Finding(event.extend_path(*place, _FIELD, index), sentence, words=("other platform",))


@rule("result", methods=(*_LIFECYCLE, "session/list"))
def malformed_roots_accepted(event: Event, _connection: Connection) -> Iterator[Finding]:
    """An agent goes on with a request whose additional roots are malformed, instead of refusing it."""
    if event.request is not None and event.request.root_faults:
        faults = tuple(sorted(event.request.root_faults))
        sentence = f"{event.method!r} was answered with a result, although its roots are invalid: {', '.join(faults)}"
        yield Finding(event.locate_member("result"), sentence, event.request.index, faults)


@rule("error", methods=(*_LIFECYCLE, "session/list"), level="should")
def malformed_roots_refused_otherwise(event: Event, _connection: Connection) -> Iterator[Finding]:
    """An agent refuses malformed roots with another code than -32602. Codes that have nothing to do with params do not count."""
    code = event.error_code
    if event.request is not None and event.request.root_faults and code not in _OTHER_CAUSES:
        sentence = f"invalid roots must be refused with -32602, not {show(code)}"
        yield Finding(event.extend_path("code"), sentence, event.request.index)


@rule("request", methods=_LIFECYCLE, level="should")
def roots_repeated(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A client sends the same root twice."""
    earlier_roots: set[str] = set()
    for index, root in enumerate(read_roots(event.body) or ()):
        if root in earlier_roots and not is_redacted(root):
            yield Finding(event.extend_path(_FIELD, index), f"the root {show(root)} occurs twice")
        earlier_roots.add(root)


@rule("request", methods=_LIFECYCLE, level="should")
def root_equals_cwd(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A client sends its working directory as an additional root too."""
    cwd = get_text(event.body, "cwd")
    for index, root in enumerate(read_roots(event.body) or ()):
        if root == cwd:
            yield Finding(event.extend_path(_FIELD, index), f"the root {show(root)} is the working directory")


@rule("request", methods=("session/load", "session/resume"), level="note")
def roots_not_resent(event: Event, connection: Connection) -> Iterator[Finding]:
    """A client reopens a session and leaves out the roots that it is known to have. They are not active then; a client that means
    to keep them sends the whole list.
    """
    if reach(event.body, _FIELD) is not None:
        return
    session, listing = event.session, connection.listings.get(make_key(event.session_id) or "")
    roots, earlier = (listing.roots, listing.index) if listing is not None and listing.has_roots else (None, None)
    if session is not None and session.roots and (listing is None or session.opener.index > listing.index):
        roots, earlier = session.roots, session.opener.index
    if roots:
        yield Finding(event.extend_path(), f"the session had {len(roots)} additional roots and will have none", earlier)


@rule("result", methods=("session/list",))
def list_result_outside_filter(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A listed session does not match the filter: its roots are others, or in another order, or its working directory is another."""
    request = event.request
    if request is None or not request.well_formed:
        return
    combination = ("roots and directory",) if request.has_roots and request.cwd is not None else ()
    for index, info in enumerate(get_items(event.body, "sessions")):
        roots, cwd = read_roots(info), get_text(info, "cwd")
        is_shown = reach(info, _FIELD) is not None and roots is not None
        filter_roots = request.roots if request.has_roots and is_shown else None
        if filter_roots is not None and [*map(normalize, roots or ())] != [*map(normalize, filter_roots)]:
            words = ("roots", *combination, *(() if filter_roots else ("no roots",)))
            sentence = f"the roots are not {show(list(filter_roots))}, for which the list was filtered"
            yield Finding(event.extend_path("sessions", index, _FIELD), sentence, request.index, words)
        if request.cwd is not None and cwd is not None and normalize(cwd) != normalize(request.cwd):
            sentence = f"the working directory is not {show(request.cwd)}, for which the list was filtered"
            yield Finding(event.extend_path("sessions", index, "cwd"), sentence, request.index, combination)


@rule("result", methods=("session/list",))
def roots_kept(event: Event, connection: Connection) -> Iterator[Finding]:
    """A listed session has roots that the request which opened it on this connection did not supply: stored ones came back, or a
    fork took them over. A fork that names none may take over those that are in force for its source on this connection.
    """
    for place, roots, supplied, session in _find_differing(event, connection):
        inherited_roots = normalize_roots(session.inherited_roots or ())
        extra_roots = [root for root in roots if root not in supplied and root not in inherited_roots]
        if extra_roots:
            method = session.opener.method
            words = (method.removeprefix("session/"),)
            sentence = f"{show(extra_roots[0])} was not supplied with {method!r}"
            yield Finding(place, sentence, session.opener.index, words)


@rule("result", methods=("session/list",))
def roots_dropped(event: Event, connection: Connection) -> Iterator[Finding]:
    """A listed session lacks a root that the request which opened it supplied. Roots that cannot be granted fail the request."""
    for place, roots, supplied, session in _find_differing(event, connection):
        missing_roots = [root for root in supplied if root not in roots]
        if missing_roots:
            sentence = f"{show(missing_roots[0])} was supplied with {session.opener.method!r} and is gone"
            yield Finding(place, sentence, session.opener.index)


@rule("result", methods=("session/list",))
def roots_reordered(event: Event, connection: Connection) -> Iterator[Finding]:
    """A listed session has the supplied roots in another order."""
    for place, roots, supplied, session in _find_differing(event, connection):
        if set(roots) == set(supplied):
            sentence = f"the roots are not in the order of {session.opener.method!r}"
            yield Finding(place, sentence, session.opener.index)


@rule("result", "notification", methods=(*_LIFECYCLE, "session/update"), updates=("session_info_update",))
def roots_where_none_belong(event: Event, _connection: Connection) -> Iterator[Finding]:
    """The answer to a lifecycle request, or an update, carries additional roots. Lists alone show them, and they do not change
    during a session.
    """
    if event.kind == "result" and reach(event.body, _FIELD) is not None:
        sentence = f"the answer to {event.method!r} carries no roots"
        yield Finding(event.extend_path(_FIELD), sentence, words=("result",))
    elif event.kind == "notification" and reach(event.update, _FIELD) is not None:
        yield Finding(event.extend_path("update", _FIELD), "updates carry no roots")


def _find_differing(
    event: Event, connection: Connection
) -> Iterator[tuple[Path, tuple[str, ...], tuple[str, ...], Session]]:
    """Yield the listed open sessions whose roots differ from what was supplied: place, listed roots, supplied roots, session."""
    for index, info in enumerate(get_items(event.body, "sessions")):
        session = connection.find_session(get_text(info, "sessionId"))
        listed_roots = read_roots(info) if reach(info, _FIELD) is not None else None
        if session is None or session.close_answer is not None or session.reopen_request is not None:
            continue
        if session.roots is None or listed_roots is None or event.request is None or session.open_answer is None:
            continue
        if event.request.index < session.open_answer:
            continue  # what is listed may be the state before
        cwd = session.opener.cwd
        if cwd is None:
            continue  # it is redacted, and so are the roots
        roots, supplied = normalize_roots(listed_roots, cwd), normalize_roots(session.roots, cwd)
        if roots != supplied:
            yield event.extend_path("sessions", index, _FIELD), roots, supplied, session
