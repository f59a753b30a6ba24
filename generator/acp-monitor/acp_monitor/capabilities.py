"""Capabilities: A side uses only what the other side advertised, and serves whatever it advertised itself. The schema says what each
capability gates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .connection import Connection
from .events import Event, Finding
from .json_values import is_object
from .rule import rule

_CONDITIONAL: Final = frozenset(
    {
        *("authenticate", "auth/login", "auth/logout", "session/set_mode", "session/set_config_option"),
        *("tool_call/cancel", "terminal/cancel"),
    }
)
"""Methods that a peer only has if it offered something for them: an authentication method, modes, options, cancellable work."""

_LOGIN: Final = frozenset({"auth/login", "auth/logout"})
"""Methods that an agent of version 2 has once it offers an authentication method."""


@rule("request", "notification", needs="capability")
def method_used_without_capability(event: Event, connection: Connection) -> Iterator[Finding]:
    """A method is used although its capability was not advertised: by a peer towards the side that would have to offer it, or by
    that side itself.
    """
    capability = event.route.capability if event.route is not None else None
    if capability is not None and connection.advertises(capability) is False:
        side, _, path = capability.partition(":")
        sentence = f"{event.method!r} needs the capability `{path}`, which the {side} did not advertise"
        yield Finding(event.locate_member("method"), sentence, connection.advertised_at.get(side), _list_words(path))


@rule("request", "notification", "result", needs="uses")
def field_used_without_capability(event: Event, connection: Connection) -> Iterator[Finding]:
    """A field is sent to a side that did not advertise the capability for it."""
    yield from _report_uses(event, connection, "field")


@rule("request", "notification", "result", needs="uses")
def variant_used_without_capability(event: Event, connection: Connection) -> Iterator[Finding]:
    """A variant or value (a kind of content, of server, of question, of update) is sent to a side that did not advertise the
    capability for it.
    """
    yield from _report_uses(event, connection, "variant")
    yield from _report_uses(event, connection, "value")


@rule("request", "notification", "result", needs="uses", level="should")
def required_once_advertised(event: Event, connection: Connection) -> Iterator[Finding]:
    """A side that advertised a capability leaves out a field that comes with it, such as the roots of a listed session. The proposal
    for roots demands it; the page on lists, which is newer, reads what is left out as no additional roots.
    """
    for use in event.uses:
        side, _, path = use.capability.partition(":")
        if use.kind == "absent" and side == event.sender and connection.advertises(use.capability):
            sentence = f"the field {use.name!r} is required, since the {side} advertised `{path}`"
            yield Finding(use.path, sentence, connection.advertised_at.get(side), _list_words(path))


@rule("error")
def advertised_method_missing(event: Event, connection: Connection) -> Iterator[Finding]:
    """A side answers -32601 to a method that it advertised, or that every peer has. With `capabilities.session` an agent of version 2
    has all eight baseline methods, and no marker of their own may be asked for; of these, a missing `session/load` is a note.
    """
    route, request = event.route, event.request
    if route is None or request is None or not is_object(event.body) or event.body.get("code") != -32601:
        return
    if connection.strict is None or route.side != event.sender or route.name == "initialize":
        return
    capability = route.capability
    if capability is not None and connection.advertises(capability) is not True:
        return
    session = connection.find_session(request.session)
    is_offered = route.name in _LOGIN and bool(connection.auth_methods) and connection.version == 2
    if route.name == "session/set_config_option":
        is_offered = session is not None and bool(session.options)
    if route.name in _CONDITIONAL and not is_offered:
        return
    words: tuple[str, ...] = ()
    if capability is None:
        reason = "an authentication method was offered" if route.name in _LOGIN else "every peer must have it"
    else:
        reason = f"`{capability.partition(':')[2]}` was advertised"
        if capability == "agent:capabilities.session" and route.name not in _CONDITIONAL:
            words = ("baseline",)
        elif route.side == connection.sides[0]:
            words = ("client capability",)
    earlier = connection.advertised_at.get(route.side) if capability is not None else request.index
    finding = Finding(event.extend_path("code"), f"{route.name!r} is missing, although {reason}", earlier, words)
    if connection.version == 2 and route.name == "session/load":
        sentence = f"{finding.sentence}; the newest version 2 of upstream no longer has it"
        finding = finding._replace(sentence=sentence, level="note")
    yield finding


def _report_uses(event: Event, connection: Connection, kind: str) -> Iterator[Finding]:
    for use in event.uses:
        side, _, path = use.capability.partition(":")
        if use.kind == kind and side == event.receiver and connection.advertises(use.capability) is False:
            sentence = f"the {kind} {use.name!r} needs the capability `{path}`, which the {side} did not advertise"
            yield Finding(use.path, sentence, connection.advertised_at.get(side), _list_words(path))


def _list_words(path: str) -> tuple[str, ...]:
    return (path.rpartition(".")[2],)
