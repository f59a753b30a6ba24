"""What a list of sessions brought, and how a client makes use of it: cursors as they came, sessions in their own directory."""

from __future__ import annotations

from collections.abc import Iterator

from .events import Event, Found, shown, text
from .kept import key
from .rootpaths import plain
from .rule import ACP, rule
from .state import Connection


@rule("request", methods=("session/list",), protocols=ACP)
def cursor_not_given(event: Event, connection: Connection) -> Iterator[Found]:
    """A client asks for a page of the list by a cursor that no list of this connection brought. Cursors are neither made up nor kept."""
    cursor = text(event.body, "cursor")
    if cursor is None or not connection.whole or connection.cursors.forgot or connection.strict is None:
        return
    if connection.cursors.get(key(cursor) or "") is None:
        yield Found(event.below("cursor"), f"no list of this connection brought the cursor {shown(cursor)}")


@rule("request", methods=("session/resume", "session/load"), protocols=("acp/v2",))
def session_resumed_elsewhere(event: Event, connection: Connection) -> Iterator[Found]:
    """A client of version 2 resumes a session in another working directory than it has. Judged by the text of the paths."""
    name, cwd = text(event.body, "sessionId"), text(event.body, "cwd")
    if name is None or cwd is None or connection.version != 2:
        return
    session = connection.session(name)
    known = session.cwd if session is not None and session.opening is None else None
    listed = connection.listed.get(key(name) or "")
    known = listed.cwd if known is None and listed is not None else known
    if known is not None and plain(known) != plain(cwd):
        yield Found(event.below("cwd"), f"the session {shown(name)} has the directory {shown(known)}")
