"""MCP roots, revision 2025-06-18: file URIs that lead nowhere else, and the code for a client without roots."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from .events import Event, Found, items, reach, shown, text
from .rule import rule
from .state import Connection


@rule("result", methods=("roots/list",), requirements=(81,))
def root_with_traversal(event: Event, _connection: Connection) -> Iterator[Found]:
    """A client exposes a root whose URI climbs with `..`, plainly or percent-encoded."""
    for index, root in enumerate(items(event.body, "roots")):
        uri = text(root, "uri")
        if uri is not None and ".." in unquote(uri.partition("?")[0]).replace("\\", "/").split("/"):
            yield Found(event.below("roots", index, "uri"), f"the path of {shown(uri)} climbs with '..'")


@rule("result", methods=("roots/list",), requirements=(77,))
def root_on_other_host(event: Event, _connection: Connection) -> Iterator[Found]:
    """A client exposes a root by a file URI of another host, or with a query or fragment: it is no file of this machine."""
    for index, root in enumerate(items(event.body, "roots")):
        uri = text(root, "uri")
        if uri is None or not uri.startswith("file://"):
            continue
        try:
            parts = urlsplit(uri)
        except ValueError:
            yield Found(event.below("roots", index, "uri"), f"{shown(uri)} is no URI")
            continue
        if parts.netloc not in ("", "localhost") or parts.query or parts.fragment:
            yield Found(event.below("roots", index, "uri"), f"{shown(uri)} is no plain file URI of this machine")


@rule("error", methods=("roots/list",), requirements=(79,), level="should")
def roots_refused_otherwise(event: Event, connection: Connection) -> Iterator[Found]:
    """A client without roots answers `roots/list` with another code than -32601, or one with roots with another than -32603."""
    code = reach(event.body, "code")
    has_roots = connection.advertises("client:capabilities.roots")
    if has_roots is False and code != -32601:
        yield Found(event.below("code"), f"a client without roots answers -32601, not {shown(code)}")
    elif has_roots and code not in (-32603, -32800):
        yield Found(event.below("code"), f"an internal failure is -32603, not {shown(code)}")
