"""Conversion of text files from and to bytes, and of text for a terminal.

Source: the file-system page, section "Binary File Detection". A byte order mark decides first, then UTF-8, then the fallback encoding
that the user has configured, if any. Nothing is guessed.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final

_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class NotText(ValueError):
    """Bytes that cannot be identified as text. The message is the end of a sentence and contains nothing of the content."""


_BINARY: Final = "it is binary: it contains NUL characters"
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
    return read_lines(lambda: [raw], None, None, None, fallback)


def encode_like(text: str, old: bytes, fallback: str | None = None, *, is_whole: bool = True) -> bytes:
    r"""Encode a new text in the form of an old file: its byte order mark and encoding, and its line end if both have a uniform one.

    `old` is the old file, or its first bytes if not `is_whole`; bytes that are not text count as UTF-8 without a mark. If the old encoding
    cannot represent the text, it is written as UTF-8. A byte order mark in the text itself is not duplicated.

    >>> encode_like("one\ntwo\n", b"1\r\n2\r\n"), encode_like("one\n", b"1\n2\r\n"), encode_like("one\n", b"")
    (b'one\r\ntwo\r\n', b'one\n', b'one\n')
    >>> encode_like("one\n", b"1\r\n2\r", is_whole=False)
    b'one\r\n'
    """
    mark, encoding = _mark(old)
    old_text = old[len(mark) :].decode(encoding, errors="ignore")
    if not mark and fallback is not None and not _is_utf8(old, is_whole=is_whole):
        encoding, old_text = fallback, old.decode(fallback, errors="ignore")
    old_end, new_end = _find_line_end(old_text if is_whole else old_text.removesuffix("\r")), _find_line_end(text)
    if old_end is not None and new_end is not None:
        text = text.replace(new_end, old_end)
    try:
        return mark + text.removeprefix("\ufeff" if mark else "").encode(encoding)
    except UnicodeEncodeError:
        return text.removeprefix("\ufeff" if mark else "").encode()


def _find_line_end(text: str) -> str | None:
    """The line end of a text; `None` if there is none or it is not uniform."""
    windows, total = text.count("\r\n"), text.count("\n")
    if not total or text.count("\r") != windows:
        return None
    return "\n" if windows == 0 else "\r\n" if windows == total else None


def select_lines(text: str, line: int | None, limit: int | None) -> str:
    r"""At most `limit` lines from `line` on (the first line is 1; 0 counts as 1), line ends included; `None` means no limit.

    >>> select_lines("a\nb\r\nc", 2, 1), select_lines("a\nb\nc", None, 2), select_lines("a\n", 7, None), select_lines("a\n", 1, 0)
    ('b\r\n', 'a\nb\n', '', '')
    """
    start = _skip_lines(text, 0, max(line or 1, 1) - 1)
    return text[start:] if limit is None else text[start : _skip_lines(text, start, limit)]


def read_lines(
    chunks: Callable[[], Iterable[bytes]],
    line: int | None,
    limit: int | None,
    most: int | None,
    fallback: str | None = None,
) -> str:
    r"""Like `select_lines`, for a file read in chunks and no further than needed; at most `most` bytes of UTF-8.

    Each call of `chunks` starts at the beginning of the file. Only what is read is checked to be text. Raises `NotText`, `TooLong`.

    >>> read_lines(lambda: [b"a\nb", b"\r\nc"], 2, 1, most=100)
    'b\r\n'
    """
    source = iter(chunks())
    first = next(source, b"")
    mark, encoding = _mark(first)
    try:
        return _decode_lines(chain((first,), source), mark, encoding, line, limit, most)
    except UnicodeDecodeError:
        if mark or fallback is None:
            raise NotText(f"it is not {encoding.upper()} text") from None
    try:
        return _decode_lines(chunks(), mark, fallback, line, limit, most)
    except UnicodeDecodeError:
        raise NotText(f"it is neither UTF-8 nor {fallback} text") from None


class TooLong(ValueError):
    """The requested lines are larger than the limit."""


def _decode_lines(
    chunks: Iterable[bytes], mark: bytes, encoding: str, line: int | None, limit: int | None, most: int | None
) -> str:
    to_skip, to_take = max(line or 1, 1) - 1, limit
    parts: list[str] = []
    if to_take == 0:
        return ""
    for text in _decode(chunks, mark, encoding):
        begin = 0
        if to_skip:
            present = text.count("\n")
            if present < to_skip:
                to_skip -= present
                continue
            begin, to_skip = _skip_lines(text, 0, to_skip), 0
        part = text[begin:]
        if to_take is not None:
            present = part.count("\n")
            if present >= to_take:
                part, to_take = part[: _skip_lines(part, 0, to_take)], 0
            else:
                to_take -= present
        if most is not None:
            most -= len(part.encode("utf-8", "surrogatepass"))
            if most < 0:
                raise TooLong
        parts.append(part)
        if to_take == 0:
            break
    return "".join(parts)


def _decode(chunks: Iterable[bytes], mark: bytes, encoding: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)()
    mark_length = len(mark)
    for chunk in chain(chunks, (b"",)):
        if not mark and b"\0" in chunk:
            raise NotText(_BINARY)
        text = decoder.decode(chunk[mark_length:], final=not chunk)
        if "\0" in text:
            raise NotText(_BINARY)
        yield text
        mark_length = 0


_STRIDE: Final = 65536


def _skip_lines(text: str, at: int, count: int) -> int:
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
