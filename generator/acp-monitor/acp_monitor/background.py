"""Background work in version 2: An agent names background work in an update before it lists it, reports its end before it
leaves it out, and keeps listing it until then.
"""

from __future__ import annotations

from collections.abc import Iterator

from .events import Event, Found, items, reach, shown, text
from .rule import rule
from .state import Connection
from .work import background_mark

_METHODS = ("session/update",)
_UPDATES = ("state_update",)
_PROTOCOLS = ("acp/v2",)


@rule("notification", methods=_METHODS, updates=_UPDATES, protocols=_PROTOCOLS)
def background_not_announced(event: Event, connection: Connection) -> Iterator[Found]:
    """An agent lists a terminal or a tool call as work in the background that no update of this new session named before."""
    session = connection.session(event.session)
    if session is None or not _is_state(event) or session.origin != "session/new" or not connection.whole:
        return
    if session.settled is None or session.known_work.forgot:
        return
    for place, listed in enumerate(items(event.body, "update", "background")):
        mark = background_mark(listed)
        if mark is not None and session.known_work.get(mark) is None:
            sentence = f"{_name(listed)} is listed as background work, and no earlier update named it"
            yield Found(event.below("update", "background", place), sentence)


@rule("notification", methods=_METHODS, updates=_UPDATES, protocols=_PROTOCOLS)
def background_end_not_reported(event: Event, connection: Connection) -> Iterator[Found]:
    """An agent lists a terminal or a tool call no longer, and never reported its end: an exit status, or a status that is final."""
    session = connection.session(event.session)
    if session is None or not _is_state(event) or session.background is None or session.known_work.forgot:
        return
    if reach(event.body, "update", "background") is None:
        return
    listed = {background_mark(one) for one in items(event.body, "update", "background")}
    for mark, name in session.background.items():
        if mark not in listed and session.known_work.get(mark) is not True:
            sentence = f"{name} is no longer listed, and its end was not reported"
            yield Found(event.below("update", "background"), sentence, session.told)


@rule("notification", methods=_METHODS, updates=_UPDATES, protocols=_PROTOCOLS)
def background_left_out(event: Event, connection: Connection) -> Iterator[Found]:
    """An agent that has told of work in the background reports a state of that session without it. An empty list says that there is
    none; null and nothing say nothing.
    """
    session = connection.session(event.session)
    if session is None or not _is_state(event) or session.background is None:
        return
    if reach(event.body, "update", "background") is None:
        sentence = "earlier states of this session listed background work, so each later state must list it too"
        yield Found(event.below("update"), sentence, session.told)


def _is_state(event: Event) -> bool:
    return text(event.body, "update", "sessionUpdate") == "state_update"


def _name(listed: object) -> str:
    kind, field = ("terminal", "terminalId") if text(listed, "type") == "terminal" else ("tool call", "toolCallId")
    return f"the {kind} {shown(text(listed, field))}"
