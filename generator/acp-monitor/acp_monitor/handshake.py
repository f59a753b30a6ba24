"""Initialization: `initialize` comes first and only once, its answer names a version that both sides know, and a login uses a method
that the agent offered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .bounded import make_key
from .connection import Connection
from .events import Event, Finding, Level
from .json_values import get_integer, get_text, reach, show
from .rule import ACP, V2, rule

_BEFORE: Final = ("initialize", "$/cancel_request", "ping")
_LOGIN: Final = ("authenticate", "auth/login")


@rule("request", "notification", needs="handshake")
def message_before_initialize(event: Event, connection: Connection) -> Iterator[Finding]:
    """A peer calls a method before `initialize` was answered. Reported once for each peer. In MCP, while `initialize` waits for its
    answer, that is advised against.
    """
    is_early = event.method not in _BEFORE and connection.initialize_answer is None
    if not is_early or not connection.is_complete or not connection.has_handshake:
        return
    if connection.remember(f"before initialize: {event.sender}"):
        earlier, state = connection.initialize_request, "was not answered yet"
        if connection.initialize_error is not None:
            earlier, state = connection.initialize_error, "was refused"
        elif earlier is None:
            state = "did not come yet"
        is_mcp = connection.strict is not None and connection.strict.contract.name.startswith("mcp/")
        level: Level | None = (
            "should" if is_mcp and earlier is not None and connection.initialize_error is None else None
        )
        sentence = f"{show(event.method)} was called while `initialize` {state}"
        yield Finding(event.locate_member("method"), sentence, earlier, level=level)


@rule("request", methods=("initialize",))
def initialize_repeated(event: Event, connection: Connection) -> Iterator[Finding]:
    """`initialize` is called again after it succeeded, or while it waits for its answer. From version 2 on a client may do so before its
    first other request; the last one that succeeds counts.
    """
    if connection.initialize_request is None or not connection.has_handshake:
        return
    if connection.version != 2 or connection.first_request is not None:
        yield Finding(
            event.locate_member("method"),
            "`initialize` was called before on this connection",
            connection.initialize_request,
        )


@rule("result", methods=("initialize",), level="note")
def version_unknown(event: Event, connection: Connection) -> Iterator[Finding]:
    """The peers agreed on a version of the protocol that this monitor does not know. Shapes are not judged from here on."""
    version = reach(event.body, "protocolVersion")
    if connection.is_unknown(version) and not connection.is_fixed:
        sentence = f"version {show(version)} is unknown; its messages are not judged by a schema"
        yield Finding(event.extend_path("protocolVersion"), sentence)


@rule("result", methods=("initialize",), level="should")
def version_differs(event: Event, connection: Connection) -> Iterator[Finding]:
    """The peers agreed on another version than the protocol that was named for the monitor. It judges by that one all the same."""
    version = reach(event.body, "protocolVersion")
    if connection.is_unknown(version) and connection.is_fixed:
        protocol_names = " and ".join(map(show, connection.protocols))
        sentence = f"version {show(version)} was negotiated; messages are judged by {protocol_names}"
        yield Finding(event.extend_path("protocolVersion"), sentence)


@rule("result", methods=("initialize",), level="note", protocols=V2)
def marker_without_meaning(event: Event, _connection: Connection) -> Iterator[Finding]:
    """An agent of version 2 advertises one of the markers that this version has dropped. `capabilities.session` alone says it."""
    if reach(event.body, "protocolVersion") != 2:
        return
    for name in ("load", "list", "resume", "close"):
        if reach(event.body, "capabilities", "session", name) is not None:
            sentence = f"version 2 does not define {name!r}; it has no effect"
            yield Finding(event.extend_path("capabilities", "session", name), sentence)


@rule("result", methods=("initialize",), level="should", protocols=ACP)
def version_above_requested(event: Event, _connection: Connection) -> Iterator[Finding]:
    """An agent of version 2 answers `initialize` with a higher version than the client asked for."""
    request = event.request
    requested = None if request is None else get_integer(request.body, "protocolVersion")
    if request is not None and requested is not None and requested < 2 == reach(event.body, "protocolVersion"):
        sentence = f"the client asked for version {requested}, so the answer must be at most that version"
        yield Finding(event.extend_path("protocolVersion"), sentence, request.index)


@rule("request", methods=("logout", "auth/logout"), protocols=V2)
def logout_not_offered(event: Event, connection: Connection) -> Iterator[Finding]:
    """A client of version 2 logs out though the agent offered no authentication method."""
    if connection.auth_methods == {}:
        sentence = "the agent offers no authentication method, so the client must not log out"
        yield Finding(event.locate_member("method"), sentence, connection.initialize_answer)


@rule("request", methods=_LOGIN)
def auth_method_not_offered(event: Event, connection: Connection) -> Iterator[Finding]:
    """A client logs in by a method that the agent did not offer, or by one of type `terminal`, which clients carry out themselves."""
    method_id = get_text(event.body, "methodId")
    if method_id is None or connection.auth_methods is None:
        return
    kind = connection.auth_methods.get(make_key(method_id) or "")
    sentence, words = f"the agent offered no method {show(method_id)}", () if connection.auth_methods else ("none",)
    if kind == "terminal":
        sentence, words = (
            f"the method {show(method_id)} is of type 'terminal' and is never passed to the agent",
            (kind,),
        )
    if kind in (None, "terminal"):
        yield Finding(event.extend_path("methodId"), sentence, connection.initialize_answer, words)


@rule("request", methods=_LOGIN, level="note")
def auth_method_of_unknown_type(event: Event, connection: Connection) -> Iterator[Finding]:
    """A client logs in by a method of a type that the protocol does not have. Only a type says whether its methods are passed to the
    agent, so nobody can tell whether this one may be. Types that begin with `_` are the peers' own.
    """
    method_id = get_text(event.body, "methodId")
    kind = (
        None
        if method_id is None or connection.auth_methods is None
        else connection.auth_methods.get(make_key(method_id) or "")
    )
    if kind is not None and kind not in ("agent", "terminal") and not kind.startswith("_"):
        sentence = f"the method {show(method_id)} is of the unknown type {show(kind)}: whether the agent is asked for it is not known"
        yield Finding(event.extend_path("methodId"), sentence, connection.initialize_answer)
