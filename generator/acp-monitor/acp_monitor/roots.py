"""Workspace roots: A client sends well-formed roots, an agent refuses those that are not, and an agent neither widens nor narrows the
set that it was given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .events import Event, Found, error_code, items, pointer_steps, reach, shown, text
from .kept import key
from .records import Pending
from .rootpaths import Misfit, distinct, listed_roots, misfit, plain, strangers
from .rule import ACP, rule
from .state import Connection

_LIFECYCLE: Final = ("session/new", "session/load", "session/resume", "session/fork")
_FIELD: Final = "additionalDirectories"
_SENT: Final[dict[Misfit, tuple[int, ...]]] = {
    "null": (15,),
    "no array": (12,),
    "no string": (12,),
    "empty": (13, 51),
    "relative": (13, 51),
    "other platform": (13,),
}
"""What a sender of malformed roots breaks."""

_ACCEPTED: Final[dict[Misfit, tuple[int, ...]]] = {
    "null": (15, 37, 44),
    "no array": (37, 38, 44),
    "no string": (37, 39, 44),
    "empty": (14, 37, 40, 44),
    "relative": (37, 41, 44),
    "other platform": (37, 41, 44),
}
"""What an agent breaks that goes on with malformed roots."""

_REFUSING: Final = frozenset({-32602, -32601, -32000, -32800})
"""Invalid params, or: no such method, log in first, cancelled."""

_SUPPLIED: Final = {
    "session/new": (22,),
    "session/load": (23, 24, 25),
    "session/resume": (23, 24, 25),
    "session/fork": (28, 29),
}
"""What says which roots a session has, by the method that opened it."""


@rule("request", "result", requirements=(12, 13, 15, 51), protocols=ACP)
def roots_malformed(event: Event, _connection: Connection) -> Iterator[Found]:
    """Additional roots are no array of absolute paths: null, an entry that is no string, is empty or relative, or is a path of another
    platform than the working directory.
    """
    for problem in event.problems:
        kind = misfit(problem.pointer, event.value)
        if kind is not None:
            yield Found((*event.at, *pointer_steps(problem.pointer)), problem.sentence, requirements=_SENT[kind])
    scopes: list[tuple[tuple[str | int, ...], Any]] = []
    if event.kind == "request" and event.method in (*_LIFECYCLE, "session/list"):
        scopes = [((), event.body)]
    elif event.kind == "result" and event.method == "session/list":
        scopes = [(("sessions", index), info) for index, info in enumerate(items(event.body, "sessions"))]
    for place, scope in scopes:
        for index in strangers(scope):
            sentence = "all paths of a session must be of one platform; this path is of another"
            yield Found(event.below(*place, _FIELD, index), sentence, requirements=_SENT["other platform"])


@rule("result", methods=(*_LIFECYCLE, "session/list"), requirements=(14, 15, 37, 38, 39, 40, 41, 44))
def malformed_roots_accepted(event: Event, _connection: Connection) -> Iterator[Found]:
    """An agent goes on with a request whose additional roots are malformed, instead of refusing it."""
    kinds = event.request.malformed_roots if event.request is not None else frozenset[Misfit]()
    if event.request is not None and kinds:
        sentence = (
            f"{event.method!r} was answered with a result, although its roots are invalid: {', '.join(sorted(kinds))}"
        )
        numbers = tuple(sorted({number for kind in kinds for number in _ACCEPTED[kind]}))
        yield Found((*event.at, "result"), sentence, event.request.index, numbers)


@rule("error", methods=(*_LIFECYCLE, "session/list"), requirements=(42,), level="should")
def malformed_roots_refused_otherwise(event: Event, _connection: Connection) -> Iterator[Found]:
    """An agent refuses malformed roots with another code than -32602. Codes that have nothing to do with params do not count."""
    code = error_code(event.body)
    if event.request is not None and event.request.malformed_roots and code not in _REFUSING:
        yield Found(
            event.below("code"), f"invalid roots must be refused with -32602, not {shown(code)}", event.request.index
        )


@rule("request", methods=(*_LIFECYCLE, "session/list"), requirements=(16,), level="should")
def roots_repeated(event: Event, _connection: Connection) -> Iterator[Found]:
    """A client sends the same root twice."""
    if event.method == "session/list":
        return  # a filter repeats what the list shows
    seen: set[str] = set()
    for index, root in enumerate(listed_roots(event.body) or ()):
        if root in seen:
            yield Found(event.below(_FIELD, index), f"the root {shown(root)} occurs twice")
        seen.add(root)


@rule("request", methods=_LIFECYCLE, requirements=(17,), level="should")
def root_equals_cwd(event: Event, _connection: Connection) -> Iterator[Found]:
    """A client sends its working directory as an additional root too."""
    cwd = text(event.body, "cwd")
    for index, root in enumerate(listed_roots(event.body) or ()):
        if root == cwd:
            yield Found(event.below(_FIELD, index), f"the root {shown(root)} is the working directory")


@rule("request", methods=("session/load", "session/resume"), requirements=(27, 52), level="note")
def roots_not_resent(event: Event, connection: Connection) -> Iterator[Found]:
    """A client reopens a session and leaves out the roots that it is known to have. They are not active then; a client that means
    to keep them sends the whole list.
    """
    if reach(event.body, _FIELD) is not None:
        return
    name = event.session
    listed = connection.listed.get(key(name) or "")
    session = connection.session(name)
    if session is not None and session.roots and (listed is None or session.opened > listed.index):
        yield Found(
            event.below(), f"the session had {len(session.roots)} additional roots and will have none", session.opened
        )
    elif listed is not None and listed.roots and listed.has_roots:
        yield Found(
            event.below(), f"the session had {len(listed.roots)} additional roots and will have none", listed.index
        )


@rule("result", methods=("session/list",), requirements=(9, 10, 11))
def list_result_outside_filter(event: Event, _connection: Connection) -> Iterator[Found]:
    """A listed session does not match the filter: its roots are others, or in another order, or its working directory is another."""
    request = event.request
    if request is None or not request.well_formed:
        return
    both = (10,) if request.has_roots and request.cwd is not None else ()
    for index, info in enumerate(items(event.body, "sessions")):
        roots, cwd = listed_roots(info), text(info, "cwd")
        is_told = reach(info, _FIELD) is not None
        is_filtered = request.has_roots and request.roots is not None and is_told and roots is not None
        if is_filtered and list(map(plain, roots or ())) != list(map(plain, request.roots or ())):
            numbers = (9, *both, *(() if request.roots else (11,)))
            sentence = f"the roots are not {shown(list(request.roots or ()))}, for which the list was filtered"
            yield Found(event.below("sessions", index, _FIELD), sentence, request.index, numbers)
        if request.cwd is not None and cwd is not None and plain(cwd) != plain(request.cwd):
            sentence = f"the working directory is not {shown(request.cwd)}, for which the list was filtered"
            yield Found(event.below("sessions", index, "cwd"), sentence, request.index, both)


@rule("result", methods=("session/list",), requirements=(22, 23, 24, 25, 28, 29))
def roots_kept(event: Event, connection: Connection) -> Iterator[Found]:
    """A listed session has roots that the request which opened it on this connection did not supply: stored ones came back, or a
    fork took them over. A fork that names none may take over those that are in force for its source on this connection.
    """
    for place, roots, supplied, request in _differing(event, connection):
        kept = [root for root in roots if root not in supplied and root not in (request.source_roots or ())]
        if kept:
            numbers = _SUPPLIED.get(request.method, ())
            yield Found(place, f"{shown(kept[0])} was not supplied with {request.method!r}", request.index, numbers)


@rule("result", methods=("session/list",), requirements=(31, 44))
def roots_dropped(event: Event, connection: Connection) -> Iterator[Found]:
    """A listed session lacks a root that the request which opened it supplied. Roots that cannot be granted fail the request."""
    for place, roots, supplied, request in _differing(event, connection):
        dropped = [root for root in supplied if root not in roots]
        if dropped:
            yield Found(place, f"{shown(dropped[0])} was supplied with {request.method!r} and is gone", request.index)


@rule("result", methods=("session/list",), requirements=(18, 63))
def roots_reordered(event: Event, connection: Connection) -> Iterator[Found]:
    """A listed session has the supplied roots in another order."""
    for place, roots, supplied, request in _differing(event, connection):
        if set(roots) == set(supplied):
            yield Found(place, f"the roots are not in the order of {request.method!r}", request.index)


@rule(
    "result",
    "notification",
    methods=(*_LIFECYCLE, "session/update"),
    updates=("session_info_update",),
    requirements=(32, 33),
)
def roots_where_none_belong(event: Event, _connection: Connection) -> Iterator[Found]:
    """The answer to a lifecycle request, or an update, carries additional roots. Lists alone show them, and they do not change
    during a session.
    """
    is_info = text(event.body, "update", "sessionUpdate") == "session_info_update"
    if event.kind == "result" and reach(event.body, _FIELD) is not None:
        yield Found(event.below(_FIELD), f"the answer to {event.method!r} carries no roots", requirements=(32,))
    elif event.kind == "notification" and is_info and reach(event.body, "update", _FIELD) is not None:
        yield Found(event.below("update", _FIELD), "updates carry no roots", requirements=(33,))


def _differing(
    event: Event, connection: Connection
) -> Iterator[tuple[tuple[str | int, ...], tuple[str, ...], tuple[str, ...], Pending]]:
    """Of the listed sessions that are open here those whose roots differ from what was supplied: place, listed, supplied, opener."""
    for index, info in enumerate(items(event.body, "sessions")):
        session = connection.session(text(info, "sessionId"))
        listed = listed_roots(info) if reach(info, _FIELD) is not None else None
        if session is None or session.closed is not None or session.opening is not None:
            continue
        if session.roots is None or listed is None or event.request is None or session.settled is None:
            continue
        if event.request.index < session.settled:
            continue  # what is listed may be the state before
        roots, supplied = distinct(listed, session.cwd), distinct(session.roots, session.cwd)
        if roots != supplied:
            opener = Pending(connection.sides[0], session.origin, session.opened)
            opener.source_roots = distinct(session.inherited)
            yield event.below("sessions", index, _FIELD), roots, supplied, opener
