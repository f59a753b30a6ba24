"""Session lists: A client asks for the next page with the cursor that the agent sent, unchanged."""

from __future__ import annotations

from collections.abc import Iterator

from .events import Event, Found, shown, text
from .kept import key
from .rule import ACP, rule
from .state import Connection


@rule("request", methods=("session/list",), protocols=ACP)
def cursor_not_given(event: Event, connection: Connection) -> Iterator[Found]:
    """A client asks for a page of the list by a cursor that no list of this connection brought. Cursors are neither made up nor kept."""
    cursor = text(event.body, "cursor")
    if cursor is None or not connection.whole or connection.cursors.forgot or connection.strict is None:
        return
    if connection.cursors.get(key(cursor) or "") is None:
        yield Found(event.below("cursor"), f"no list on this connection returned the cursor {shown(cursor)}")
