"""Files through the client: The agent reads and writes only inside the roots of the session, and the client reports an error with
the code that fits its cause.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .bounded import make_key
from .connection import Connection
from .events import Event, Finding
from .json_values import get_integer, get_text, reach, show
from .paths import is_absolute, is_inside
from .rule import V1, rule

_FILES: Final = ("fs/read_text_file", "fs/write_text_file")
_USUAL: Final = frozenset({-32700, -32600, -32601, -32602, -32603, -32800, -32000, -32001, -32002})


@rule("result", methods=_FILES)
def file_access_outside_roots(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A client reads or writes a file whose path lies in none of the session's roots. Judged by the text of the path: a link may lead
    out of a root unseen, and one that leads from outside into a root is reported.
    """
    request, session = event.request, event.session
    path = None if request is None else get_text(request.body, "path")
    if request is None or path is None or session is None or session.roots is None or session.opener.cwd is None:
        return
    roots = (session.opener.cwd, *session.roots, *(session.inherited_roots or ()))
    if is_absolute(session.opener.cwd) and not is_inside(path, roots):
        where = f"the {len(roots)} roots" if len(roots) > 1 else "the only root"
        sentence = f"{show(path)} is outside {where}, and the client accepted it"
        yield Finding(event.locate_member("result"), sentence, request.index)


@rule("result", methods=("fs/read_text_file",), protocols=V1, level="should")
def file_longer_than_asked(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A client answers a read with more lines than the agent asked for."""
    request, content = event.request, get_text(event.body, "content")
    limit = None if request is None else get_integer(request.body, "limit")
    if request is None or limit is None or content is None:
        return
    lines = content.count("\n") + (content[-1:] not in ("", "\n"))
    if lines > limit:
        sentence = f"the answer has {lines} lines, and {limit} were asked for at most"
        yield Finding(event.extend_path("content"), sentence, request.index)


@rule("result", methods=("terminal/output",), protocols=V1)
def output_over_limit(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A client keeps more output of a terminal than the `outputByteLimit` that it was created with. What stands for bytes that are no
    text counts as one byte.
    """
    request, session, output = event.request, event.session, get_text(event.body, "output")
    if request is None or session is None or output is None:
        return
    terminal = session.terminals.get(make_key(get_text(request.body, "terminalId")) or "")
    if terminal is None or terminal.limit is None:
        return
    size = len(output.replace("\ufffd", "?").encode("utf-8", "surrogatepass"))
    if size > terminal.limit:
        sentence = f"the output has {size} bytes, and the terminal was created to keep {terminal.limit}"
        yield Finding(event.extend_path("output"), sentence)


@rule("error", methods=_FILES)
def file_error_as_authentication(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A client refuses a file with -32000, which means that authentication is required. Refused permission is -32001."""
    if event.error_code == -32000:
        yield Finding(
            event.extend_path("code"), "-32000 means that authentication is required; refused permission is -32001"
        )


@rule("error", methods=_FILES, level="should")
def file_error_without_path(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A client refuses a file with -32001 and does not name the path in `data`."""
    if event.error_code == -32001 and not isinstance(reach(event.body, "data", "path"), str):
        yield Finding(event.extend_path(), "a refused file is named in `data.path`")


@rule("error", methods=_FILES, level="should")
def file_error_of_other_code(event: Event, _connection: Connection) -> Iterator[Finding]:
    """A client reports a failure with a code of its own. A missing file is -32002, any other failure -32603."""
    code = event.error_code
    if code is not None and code not in _USUAL:
        sentence = f"{code} is not used here; a missing file is -32002, any other failure -32603"
        yield Finding(event.extend_path("code"), sentence)
