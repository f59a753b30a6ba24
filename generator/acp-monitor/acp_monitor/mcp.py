"""MCP roots, revision 2025-06-18: A root is a file URI that names a path on this machine and stays within it. The client announces
changes that it advertised to announce, and reports errors with the codes that the specification names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from .events import Event, Found, error_code, items, shown, text
from .records import Pending
from .rule import rule
from .state import READY, Connection

_LOCAL: Final = ("", "localhost")
_HIDDEN: Final = ("/", "\\", "\0")
"""What a segment of a path does not hold once it is decoded."""


@rule("result", methods=("roots/list",), requirements=(81,))
def root_with_traversal(event: Event, _connection: Connection) -> Iterator[Found]:
    """A client exposes a root whose URI climbs with `..`, plainly or percent-encoded, or hides a separator or NUL behind a percent sign,
    so that its path is another one than it seems.
    """
    for index, uri, _ in _uris(event):
        path = uri.partition("?")[0].partition("#")[0]
        if ".." in unquote(path).replace("\\", "/").split("/"):
            yield Found(event.below("roots", index, "uri"), f"the path of {shown(uri)} contains '..'")
        elif any(sign in unquote(segment) for segment in path.split("/") if "%" in segment for sign in _HIDDEN):
            yield Found(event.below("roots", index, "uri"), f"the path of {shown(uri)} encodes a separator or NUL")


@rule("result", methods=("roots/list",), requirements=(77,))
def root_on_other_host(event: Event, _connection: Connection) -> Iterator[Found]:
    """A client exposes a root by a file URI of another host, or with a query or fragment: it is no file of this machine."""
    for index, uri, parts in _uris(event):
        if parts is None:
            yield Found(event.below("roots", index, "uri"), f"{shown(uri)} is not a URI")
        elif parts.netloc.lower() not in _LOCAL or parts.query or parts.fragment:
            yield Found(event.below("roots", index, "uri"), f"{shown(uri)} is not a plain file URI of this machine")


@rule("result", methods=("roots/list",), requirements=(77,))
def root_without_path(event: Event, _connection: Connection) -> Iterator[Found]:
    """A client exposes a root by a file URI that names no path."""
    for index, uri, parts in _uris(event):
        if parts is not None and parts.netloc.lower() in _LOCAL and not parts.path:
            yield Found(event.below("roots", index, "uri"), f"{shown(uri)} names no path")


@rule("end", protocols=("mcp/2025-06-18",))
def initialized_not_sent(_event: Event, connection: Connection) -> Iterator[Found]:
    """A client of MCP goes on after `initialize` was answered, and never sends `notifications/initialized`."""
    if connection.worked is None or connection.ready is not None or not _has_ready(connection):
        return
    sentence = "the client sent other messages after `initialize`, but never `notifications/initialized`"
    about = Pending(connection.sides[0], "initialize", connection.worked)
    yield Found((), sentence, connection.initialized, about=about)


@rule("request", protocols=("mcp/2025-06-18",), level="should")
def request_before_initialized(event: Event, connection: Connection) -> Iterator[Found]:
    """A server of MCP sends a request, other than a ping, before the client has sent `notifications/initialized`. Told once."""
    if event.sender == connection.sides[0] or connection.initialized is None or connection.ready is not None:
        return
    if event.method != "ping" and _has_ready(connection) and connection.once("request before initialized"):
        sentence = f"{shown(event.method)} was called before the client sent `notifications/initialized`"
        yield Found((*event.at, "method"), sentence, connection.initialized)


def _has_ready(connection: Connection) -> bool:
    """Whether the protocol ends its handshake by a notification, and all messages were seen."""
    return (
        connection.whole
        and connection.strict is not None
        and connection.strict.route(READY, is_request=False) is not None
    )


@rule("end", protocols=("mcp/2025-06-18",), requirements=(75,))
def root_change_unannounced(_event: Event, connection: Connection) -> Iterator[Found]:
    """A client that advertised news of changes answers `roots/list` with other roots than before, and never sends that news."""
    if connection.changed is None or not connection.advertises("client:capabilities.roots.listChanged"):
        return
    index, before = connection.changed
    about = Pending(connection.sides[0], "roots/list", index)
    yield Found(
        ("result", "roots"),
        "the roots have changed, and no `notifications/roots/list_changed` was sent",
        before,
        about=about,
    )


@rule("error", methods=("roots/list",), requirements=(79,), level="should")
def roots_refused_otherwise(event: Event, connection: Connection) -> Iterator[Found]:
    """A client without roots answers `roots/list` with another code than -32601, or one with roots with another than -32603."""
    code = error_code(event.body)
    has_roots = connection.advertises("client:capabilities.roots")
    if has_roots is False and code != -32601:
        yield Found(event.below("code"), f"a client without roots must answer -32601, not {shown(code)}")
    elif has_roots and code not in (-32603, -32800):
        yield Found(event.below("code"), f"an internal error must be -32603, not {shown(code)}")


def _uris(event: Event) -> Iterator[tuple[int, str, SplitResult | None]]:
    """The file URIs of the roots: place, text and parts, `None` for what is no URI."""
    for index, root in enumerate(items(event.body, "roots")):
        uri = text(root, "uri")
        if uri is None or not uri.startswith("file://"):
            continue
        try:
            yield index, uri, urlsplit(uri)
        except ValueError:
            yield index, uri, None
