"""Conversion of text files from and to bytes, and of text for a terminal.

Source: the file-system page, section "Binary File Detection". A byte order mark decides first, then UTF-8, then the fallback encoding
that the user has configured, if any. Nothing is guessed.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final, Literal, TypeAlias

LineEnd: TypeAlias = Literal["\n", "\r\n"]

_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class NotText(ValueError):
    """Bytes that cannot be identified as text. The message is the end of a sentence and contains nothing of the content."""


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a text file: byte order mark (empty: none), encoding, and its line end if it is uniform."""

    encoding: str = "utf-8"
    mark: bytes = b""
    line_end: LineEnd | None = None


_ALLOWED: Final = frozenset("\n\t\u200c\u200d")
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def terminal_text(text: str) -> str:
    r"""Escape control characters of terminals, and characters that hide or reorder others.

    Line feeds, tabs and the joiners of emoji and scripts stay; a carriage return before a line feed is removed.

    >>> terminal_text("a\x1b[2Kb\u202e.\r\nc\x9b1A")
    'a\\x1b[2Kb\\u202e.\nc\\x9b1A'
    """
    return "".join(
        repr(character)[1:-1] if character not in _ALLOWED and unicodedata.category(character) in _HIDDEN else character
        for character in text.replace("\r\n", "\n")
    )


def decode_text(raw: bytes, fallback: str | None = None) -> str:
    r"""The text of a whole file. Raises `NotText`.

    >>> decode_text(b"\xef\xbb\xbfhigh tide\r\n")
    'high tide\r\n'
    >>> decode_text(b"MZ\x00\x03")
    Traceback (most recent call last):
    acp_workspace.text.NotText: it is binary: it contains NUL characters
    """
    mark, encoding = _mark(raw)
    if not mark and b"\0" in raw:
        raise NotText("it is binary: it contains NUL characters")
    try:
        text = raw[len(mark) :].decode(encoding)
    except UnicodeDecodeError:
        if mark or fallback is None:
            raise NotText(f"it is not {encoding.upper()} text") from None
        try:
            text = raw.decode(fallback)
        except UnicodeDecodeError:
            raise NotText(f"it is neither UTF-8 nor {fallback} text") from None
    if "\0" in text:
        raise NotText("it is binary: it contains NUL characters")
    return text


def form_of(raw: bytes, fallback: str | None = None, *, is_whole: bool = True) -> Form:
    r"""The form of a file, from its bytes or, if not `is_whole`, from its first bytes.

    Bytes that are not text count as UTF-8 without a mark.

    >>> form_of(b"one\r\ntwo\r\n").line_end, form_of(b"one\ntwo\r\n").line_end, form_of(b"").line_end
    ('\r\n', None, None)
    >>> form_of(b"one\r\ntwo\r", is_whole=False).line_end
    '\r\n'
    """
    mark, encoding = _mark(raw)
    text = raw[len(mark) :].decode(encoding, errors="ignore")
    if not mark and fallback is not None and not _is_utf8(raw, is_whole=is_whole):
        encoding, text = fallback, raw.decode(fallback, errors="ignore")
    return Form(encoding, mark, line_end_of(text if is_whole else text.removesuffix("\r")))


def line_end_of(text: str) -> LineEnd | None:
    """The line end of a text; `None` if there is none or it is not uniform."""
    windows, all_ = text.count("\r\n"), text.count("\n")
    if not all_ or text.count("\r") != windows:
        return None
    return "\n" if windows == 0 else "\r\n" if windows == all_ else None


def encode_text(text: str, form: Form) -> bytes:
    r"""Encode a new text in the form of the old one: its mark and encoding, and its line end if both texts have a uniform one.

    If the old encoding cannot represent the text, it is written as UTF-8. A byte order mark in the text itself is not duplicated.

    >>> encode_text("one\ntwo\n", Form(line_end="\r\n"))
    b'one\r\ntwo\r\n'
    """
    current = line_end_of(text)
    if current is not None and form.line_end is not None and current != form.line_end:
        text = text.replace(current, form.line_end)
    if form.mark:
        text = text.removeprefix("\ufeff")
    try:
        return form.mark + text.encode(form.encoding)
    except UnicodeEncodeError:
        return text.encode()


def lines(text: str, line: int | None, limit: int | None) -> str:
    r"""At most `limit` lines from `line` on (the first line is 1; 0 counts as 1), line ends included; `None` means no limit.

    >>> lines("a\nb\r\nc", 2, 1), lines("a\nb\nc", None, 2), lines("a\n", 7, None), lines("a\n", 1, 0)
    ('b\r\n', 'a\nb\n', '', '')
    """
    start = _after(text, 0, max(line or 1, 1) - 1)
    return text[start:] if limit is None else text[start : _after(text, start, limit)]


def lines_of(
    chunks: Callable[[], Iterable[bytes]], line: int | None, limit: int | None, most: int, fallback: str | None = None
) -> str:
    r"""Like `lines`, for a file read in chunks and no further than needed; at most `most` bytes of UTF-8.

    Each call of `chunks` starts at the beginning of the file. Only what is read is checked to be text. Raises `NotText`, `TooLong`.

    >>> lines_of(lambda: [b"a\nb", b"\r\nc"], 2, 1, most=100)
    'b\r\n'
    """
    source = iter(chunks())
    first = next(source, b"")
    mark, encoding = _mark(first)
    try:
        return _stream(chain((first,), source), mark, encoding, line, limit, most)
    except UnicodeDecodeError:
        if mark or fallback is None:
            raise NotText(f"it is not {encoding.upper()} text") from None
    try:
        return _stream(chunks(), mark, fallback, line, limit, most)
    except UnicodeDecodeError:
        raise NotText(f"it is neither UTF-8 nor {fallback} text") from None


class TooLong(ValueError):
    """The requested lines are larger than the limit."""


def _stream(chunks: Iterable[bytes], mark: bytes, encoding: str, line: int | None, limit: int | None, most: int) -> str:
    decoder = codecs.getincrementaldecoder(encoding)()
    to_skip, to_take = max(line or 1, 1) - 1, limit
    parts: list[str] = []
    if to_take == 0:
        return ""
    for text in _decode(chunks, decoder, mark):
        if "\0" in text:
            raise NotText("it is binary: it contains NUL characters")
        begin = 0
        if to_skip:
            present = text.count("\n")
            if present < to_skip:
                to_skip -= present
                continue
            begin, to_skip = _after(text, 0, to_skip), 0
        part = text[begin:]
        if to_take is not None:
            present = part.count("\n")
            if present >= to_take:
                part, to_take = part[: _after(part, 0, to_take)], 0
            else:
                to_take -= present
        most -= len(part.encode("utf-8", "surrogatepass"))
        if most < 0:
            raise TooLong
        parts.append(part)
        if to_take == 0:
            break
    return "".join(parts)


def _decode(chunks: Iterable[bytes], decoder: codecs.IncrementalDecoder, mark: bytes) -> Iterator[str]:
    rest = len(mark)
    for chunk in chunks:
        yield decoder.decode(chunk[rest:])
        rest = 0
    yield decoder.decode(b"", final=True)


_STRIDE: Final = 65536


def _after(text: str, at: int, count: int) -> int:
    """The position after the next `count` line feeds. Whole strides are counted first: a file may consist of line feeds only."""
    while (line_feeds := text.count("\n", at, at + _STRIDE)) < count:
        count -= line_feeds
        at += _STRIDE
        if at >= len(text):
            return len(text)
    for _ in range(count):
        at = text.index("\n", at) + 1
    return at


def _mark(raw: bytes) -> tuple[bytes, str]:
    return next(((mark, encoding) for mark, encoding in _MARKS if raw.startswith(mark)), (b"", "utf-8"))


def _is_utf8(raw: bytes, *, is_whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(raw, is_whole)
    except UnicodeDecodeError:
        return False
    return True
