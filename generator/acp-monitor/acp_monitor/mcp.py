"""MCP roots, revision 2025-06-18: A root is a file URI that names a path on this machine and stays within it. The client announces
changes that it advertised to announce, and reports errors with the codes that the specification names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from .connection import READY, Connection
from .events import Event, Finding
from .json_values import get_items, get_text, show
from .records import Pending
from .rule import MCP, rule

_LOCAL: Final = ("", "localhost")
_SEPARATORS: Final = ("/", "\\", "\0")
"""What a decoded segment of a path must not contain."""


@rule("result", methods=("roots/list",))
def root_with_traversal(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A client exposes a root whose URI climbs with `..`, plainly or percent-encoded, or hides a separator or NUL behind a percent sign,
    so that its path is another one than it seems.
    """
    for index, uri, _ in _list_uris(event):
        path = uri.partition("?")[0].partition("#")[0]
        if ".." in unquote(path).replace("\\", "/").split("/"):
            yield Finding(event.extend_path("roots", index, "uri"), f"the path of {show(uri)} contains '..'")
        elif any(sign in unquote(segment) for segment in path.split("/") if "%" in segment for sign in _SEPARATORS):
            yield Finding(
                event.extend_path("roots", index, "uri"), f"the path of {show(uri)} encodes a separator or NUL"
            )


@rule("result", methods=("roots/list",))
def root_on_other_host(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A client exposes a root by a file URI of another host, or with a query or fragment: it is no file of this machine."""
    for index, uri, parts in _list_uris(event):
        if parts is None:
            yield Finding(event.extend_path("roots", index, "uri"), f"{show(uri)} is not a URI")
        elif parts.netloc.lower() not in _LOCAL or parts.query or parts.fragment:
            yield Finding(
                event.extend_path("roots", index, "uri"), f"{show(uri)} is not a plain file URI of this machine"
            )


@rule("result", methods=("roots/list",))
def root_without_path(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A client exposes a root by a file URI that names no path."""
    for index, uri, parts in _list_uris(event):
        if parts is not None and parts.netloc.lower() in _LOCAL and not parts.path:
            yield Finding(event.extend_path("roots", index, "uri"), f"{show(uri)} names no path")


@rule("end", protocols=MCP)
def initialized_not_sent(_event: Event, connection: Connection) -> Iterator[Finding]:
    """A client of MCP goes on after `initialize` was answered, and never sends `notifications/initialized`."""
    if connection.first_work is None or connection.ready_notice is not None or not _has_ready(connection):
        return
    sentence = "the client sent other messages after `initialize`, but never `notifications/initialized`"
    about = Pending(connection.sides[0], "initialize", connection.first_work)
    yield Finding((), sentence, connection.initialize_answer, about=about)


@rule("request", protocols=MCP, level="should")
def request_before_initialized(event: Event, connection: Connection) -> Iterator[Finding]:
    """A server of MCP sends a request, other than a ping, before the client has sent `notifications/initialized`. Reported once."""
    if (
        event.sender == connection.sides[0]
        or connection.initialize_answer is None
        or connection.ready_notice is not None
    ):
        return
    if event.method != "ping" and _has_ready(connection) and connection.remember("request before initialized"):
        sentence = f"{show(event.method)} was called before the client sent `notifications/initialized`"
        yield Finding(event.locate_member("method"), sentence, connection.initialize_answer)


def _has_ready(connection: Connection) -> bool:
    """Whether the protocol ends its handshake by a notification, and all messages were seen."""
    strict = connection.strict
    return connection.is_complete and strict is not None and strict.route(READY, is_request=False) is not None


@rule("end", protocols=MCP)
def root_change_unannounced(_event: Event, connection: Connection) -> Iterator[Finding]:
    """A client that advertised news of changes answers `roots/list` with other roots than before, and never sends that news."""
    if connection.root_change is None or not connection.advertises("client:capabilities.roots.listChanged"):
        return
    index, before = connection.root_change
    sentence = "the roots have changed, and no `notifications/roots/list_changed` was sent"
    yield Finding(("result", "roots"), sentence, before, about=Pending(connection.sides[0], "roots/list", index))


@rule("error", methods=("roots/list",), level="should")
def roots_refused_otherwise(event: Event, connection: Connection) -> Iterator[Finding]:
    """A client without roots answers `roots/list` with another code than -32601, or one with roots with another than -32603."""
    code, has_roots = event.error_code, connection.advertises("client:capabilities.roots")
    if has_roots is False and code != -32601:
        yield Finding(event.extend_path("code"), f"a client without roots must answer -32601, not {show(code)}")
    elif has_roots and code not in (-32603, -32800):
        yield Finding(event.extend_path("code"), f"an internal error must be -32603, not {show(code)}")


def _list_uris(event: Event) -> Iterator[tuple[int, str, SplitResult | None]]:
    """Yield the file URIs of the roots: index, text and parts; `None` if it is not a URI."""
    for index, root in enumerate(get_items(event.body, "roots")):
        uri = get_text(root, "uri")
        if uri is None or not uri.startswith("file://"):
            continue
        try:
            yield index, uri, urlsplit(uri)
        except ValueError:
            yield index, uri, None
