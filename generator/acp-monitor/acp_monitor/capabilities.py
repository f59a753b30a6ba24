"""Capabilities: A side uses only what the other side advertised, and serves whatever it advertised itself. The schema says what each
capability gates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .events import Event, Found, Level
from .json_types import is_object
from .rule import rule
from .state import Connection

_NUMBERS: Final = {
    "additionalDirectories": (1, 2),
    "session": (71,),
    "delete": (70,),
    "readTextFile": (104,),
    "writeTextFile": (104,),
    "list": (72,),
    "resume": (72,),
    "close": (72,),
    "loadSession": (72,),
    "roots": (73, 88),
    "listChanged": (73, 74),
}
"""The requirements behind a gate, by the last word of its path."""

_CONDITIONAL: Final = frozenset(
    {
        *("authenticate", "auth/login", "auth/logout", "session/set_mode", "session/set_config_option"),
        *("tool_call/cancel", "terminal/cancel"),
    }
)
"""Methods that a peer has only if it offered something for them: an authentication method, modes, options, work that can be stopped."""

_NOTE: Final[Level] = "note"

_LOGIN: Final = frozenset({"auth/login", "auth/logout"})
"""Methods that an agent of version 2 has once it offers an authentication method."""


@rule("request", "notification", requirements=(70, 71, 72, 73, 74, 88, 104), sees="gate")
def method_used_without_capability(event: Event, connection: Connection) -> Iterator[Found]:
    """A method is used although its capability was not advertised: by a peer towards the side that would have to offer it, or by
    that side itself.
    """
    gate = event.route.capability if event.route is not None else None
    if gate is None or connection.advertises(gate) is not False:
        return
    side, _, path = gate.partition(":")
    sentence = f"{event.method!r} needs the capability `{path}`, which the {side} did not advertise"
    yield Found((*event.at, "method"), sentence, connection.advertised_at.get(side), _numbers(path), word=_word(path))


@rule("request", "notification", "result", requirements=(1, 2), sees="uses")
def field_used_without_capability(event: Event, connection: Connection) -> Iterator[Found]:
    """A field is sent to a side that did not advertise the capability for it."""
    yield from _uses(event, connection, "field")


@rule("request", "notification", "result", sees="uses")
def variant_used_without_capability(event: Event, connection: Connection) -> Iterator[Found]:
    """A variant or value (a kind of content, of server, of question, of update) is sent to a side that did not advertise the
    capability for it.
    """
    yield from _uses(event, connection, "variant")
    yield from _uses(event, connection, "value")


@rule("request", "notification", "result", requirements=(7, 8), sees="uses", level="should")
def required_once_advertised(event: Event, connection: Connection) -> Iterator[Found]:
    """A side that advertised a capability leaves out a field that comes with it, such as the roots of a listed session. The proposal
    for roots demands it; the page on lists, which is newer, reads what is left out as no additional roots.
    """
    for use in event.uses:
        side, _, path = use.capability.partition(":")
        if use.kind == "absent" and side == event.sender and connection.advertises(use.capability):
            sentence = f"the field {use.name!r} is required, since the {side} advertised `{path}`"
            yield Found(use.path, sentence, connection.advertised_at.get(side), word=_word(path))


@rule("error", requirements=(65, 103))
def advertised_method_missing(event: Event, connection: Connection) -> Iterator[Found]:
    """A side answers -32601 to a method that it advertised, or that every peer has. With `capabilities.session` an agent of version 2
    has all eight baseline methods, and no marker of their own may be asked for; of these, a missing `session/load` is a note.
    """
    route, request = event.route, event.request
    if route is None or request is None or not is_object(event.body) or event.body.get("code") != -32601:
        return
    if connection.strict is None or route.side != event.sender or route.name == "initialize":
        return
    gate = route.capability
    if gate is not None and connection.advertises(gate) is not True:
        return
    session = connection.session(request.session)
    is_offered = route.name in _LOGIN and bool(connection.auth_methods) and connection.version == 2
    if route.name == "session/set_config_option":
        is_offered = session is not None and bool(session.options)
    if route.name in _CONDITIONAL and not is_offered:
        return
    numbers: tuple[int, ...] = ()
    if gate is None:
        reason = "an authentication method was offered" if route.name in _LOGIN else "every peer has it"
    else:
        path = gate.partition(":")[2]
        reason = f"`{path}` was advertised"
        if gate == "agent:capabilities.session" and route.name not in _CONDITIONAL:
            numbers = (65,)
        elif route.side == connection.sides[0]:
            numbers = (103,)  # the page is about clients
    earlier = connection.advertised_at.get(route.side) if gate is not None else request.index
    sentence, level = f"{route.name!r} is missing, although {reason}", None
    if connection.version == 2 and route.name == "session/load":
        sentence, level = f"{sentence}; the newest version 2 of upstream no longer has it", _NOTE
    yield Found(event.below("code"), sentence, earlier, numbers, level=level)


def _uses(event: Event, connection: Connection, kind: str) -> Iterator[Found]:
    for use in event.uses:
        side, _, path = use.capability.partition(":")
        if use.kind != kind or side != event.receiver or connection.advertises(use.capability) is not False:
            continue
        sentence = f"the {kind} {use.name!r} needs the capability `{path}`, which the {side} did not advertise"
        yield Found(use.path, sentence, connection.advertised_at.get(side), _numbers(path), word=_word(path))


def _numbers(path: str) -> tuple[int, ...]:
    return _NUMBERS.get(_word(path), ())


def _word(path: str) -> str:
    return path.rpartition(".")[2]
