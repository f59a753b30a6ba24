"""Recorded conversations: JSON Lines of `{"from": "client" | "agent", "message": …, "at": RFC 3339}`, read and written line by line.

A line that was not JSON is recorded as `text` instead of `message`, a blank one too. `"gap": true` marks lines that were not recorded.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from codecs import BOM_UTF8
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, Final

from jiter import from_json

from acpgen.errors import Faults
from acpgen.input.faults import NOT_FOUND, UNREADABLE
from acpgen.input.load import display_path
from acpgen.input.walk import is_array, is_object
from acpgen.messages.faults import NOT_CREATED

LONGEST: Final = 64 << 20
"""The maximum number of bytes of a line. Longer ones are skipped and reported."""

_SPACE: Final = b"\r\n\t "


def open_recording(path: Path) -> BufferedReader:
    """Open a file of JSON Lines, or a pipe. Raises `Faults`."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise Faults([NOT_FOUND(at=display_path(path))]) from None
    except (OSError, ValueError) as error:
        raise Faults([UNREADABLE(at=display_path(path), reason=describe_reason(error))]) from None


@contextlib.contextmanager
def create_recording(path: Path) -> Generator[BinaryIO]:
    """Create or truncate a file; it is closed at the end even if not all could be written. Raises `Faults`."""
    try:
        file = path.open("wb", buffering=1 << 20)
    except (OSError, ValueError) as error:
        raise Faults([NOT_CREATED(at=display_path(path), reason=describe_reason(error))]) from None
    try:
        yield file
    finally:
        with contextlib.suppress(OSError):
            file.close()


def measure_size(stream: BinaryIO) -> int | None:
    """The size of a stream if it is a regular file; `None` for others."""
    try:
        state = os.fstat(stream.fileno())
    except (OSError, ValueError):
        return None
    return state.st_size if stat.S_ISREG(state.st_mode) else None


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file: its number from 1, its bytes without the line end, and the offset of its end in the file.

    `is_whole` is false if the line was longer than the limit.
    """

    number: int
    content: bytes
    end: int
    is_whole: bool = True


_FORMS: Final = (
    (
        re.compile(rb"content-(length|type)[ \t]*:", re.IGNORECASE),
        "This is a header of LSP or DAP: write messages without",
    ),
    (re.compile(rb"\xff\xfe|\xfe\xff|[^\0]\0[^\0]|\0([^\0]|\Z)"), "This is UTF-16: convert the file to UTF-8"),
    (re.compile(rb"\0\0"), "These are NUL characters, which a crash leaves at the end of a file: remove them"),
    (re.compile(rb"\x1f\x8b"), "This is gzip: give the file a name that ends in .gz"),
    (re.compile(rb"\x28\xb5\x2f\xfd"), "This is zstd: give the file a name that ends in .zst"),
    (re.compile(BOM_UTF8), "A byte order mark stands before it: remove it"),
    (re.compile(rb"\x1e"), "This begins with a record separator: remove it"),
    (re.compile(rb"(data|event|id|retry):"), "This is an event stream: write what stands behind 'data:' alone"),
    (re.compile(rb"\s*[\[{]\s*\Z"), "Where a message takes several lines, write it in one"),
    (re.compile(rb"[^{]+\{.*\}\s*\Z"), "Where other text stands before or behind a message, remove it"),
    (re.compile(rb"[^\r]*\r[^\r]"), "A carriage return does not end a line: end each with a line feed"),
    (
        re.compile(rb"\s*\{.*\}\s*content-length[ \t]*:", re.IGNORECASE),
        "A header of LSP or DAP follows: write messages without",
    ),
)
"""Patterns of lines that contain a message in another form, and what to do about them."""
_BEGINNING: Final = 65_536
"""The number of bytes of a line that show its form."""


def find_remedy(content: bytes) -> str:
    """What to do about a line that is not JSON, if its form is known; else empty."""
    return next((advice for form, advice in _FORMS if form.match(content, 0, _BEGINNING)), "")


def read_lines(stream: BufferedReader, longest: int = LONGEST) -> Iterator[Line]:
    """Yield the non-blank lines of a stream, without a byte order mark; at most one is held in memory."""
    number, end = 0, 0
    while piece := stream.readline(longest):
        number, end = number + 1, end + len(piece)
        is_whole = True
        while not piece.endswith(b"\n") and len(piece) >= longest:
            is_whole = False
            piece = stream.readline(longest)
            end += len(piece)
        content = piece.removeprefix(BOM_UTF8 if number == 1 else b"").strip(_SPACE) if is_whole else b""
        if content or not is_whole:
            yield Line(number, content, end, is_whole)
        else:
            blank = _make_blank(stream)
            number, end = number + blank.count(b"\n"), end + len(blank)


def _make_blank(stream: BufferedReader) -> bytes:
    """Read and return the blank lines at the front of the stream's buffer."""
    ahead = stream.peek()
    blank = ahead[: len(ahead) - len(ahead.lstrip(_SPACE))]
    return stream.read(blank.rfind(b"\n") + 1)


@dataclass(frozen=True, slots=True)
class RecordedMessage:
    """The content of one recorded line: the sender with a message as JSON or a text that is not JSON, or a gap.

    A blank line is not a message and breaks no rule.
    """

    sender: str
    message: Any = None
    is_text: bool = False
    is_gap: bool = False
    is_blank: bool = False

    @property
    def heard(self) -> Any:
        """The input of a monitor. It reads text as a line, so a message that is a JSON string is given as its JSON."""
        return json.dumps(self.message) if isinstance(self.message, str) and not self.is_text else self.message


_ENVELOPE: Final = frozenset({"jsonrpc", "method", "result", "error"})


def is_recorded(value: object) -> bool:
    """Whether a line is meant as a line of a recording, not as a message."""
    if not is_object(value) or "jsonrpc" in value:
        return False
    return "from" in value or (is_object(value.get("message")) and not _ENVELOPE & value.keys())


def parse_line(value: object, sides: tuple[str, ...]) -> RecordedMessage | str:
    """Parse a recorded line: its content, or what is wrong with it."""
    if not is_object(value) or "from" not in value:
        form = f'{{"from": "{sides[0]}", "message": …}}'
        if is_object(value) and _ENVELOPE & value.keys():
            return f"this is a message alone: write {form}, or judge each message by itself, without --session"
        if is_array(value) and any(is_object(item) and "from" in item for item in value):
            return "this is an array of recorded lines: write each in a line of its own"
        return f"a recorded line is an object that says who sent the message: write {form}"
    if value["from"] not in sides:
        return f"'from' must be one of {', '.join(map(repr, sides))}"
    if "message" in value:
        return RecordedMessage(value["from"], value["message"])
    if isinstance(value.get("text"), str):
        return RecordedMessage(value["from"], value["text"], is_text=True, is_blank=not value["text"].strip())
    if value.get("gap") is True:
        return RecordedMessage(value["from"], is_gap=True)
    return "a line of a recording must have a 'message', or 'text' that was not JSON"


def write_record(sender: str, line: bytes, at: str) -> bytes:
    """Format one line of a recording. A JSON message is copied byte for byte, with spaces for line feeds."""
    try:
        from_json(line, allow_inf_nan=False)
    except ValueError:
        text = json.dumps(line.decode("utf-8", "backslashreplace"))
        return f'{{"from": "{sender}", "at": "{at}", "text": {text}}}\n'.encode()
    return f'{{"from": "{sender}", "at": "{at}", "message": '.encode() + line.strip().replace(b"\n", b" ") + b"}\n"


def write_gap(sender: str, at: str) -> bytes:
    """The line of a recording that marks missing messages of a side."""
    return f'{{"from": "{sender}", "at": "{at}", "gap": true}}\n'.encode()


def describe_reason(error: OSError | ValueError) -> str:
    """Why a file cannot be opened, as the end of a sentence."""
    return str(error.strerror) if isinstance(error, OSError) else "this is not a path"
