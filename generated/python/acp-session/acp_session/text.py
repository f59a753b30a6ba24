"""Text files as bytes and back: which encoding, which line ends, and whether it is text at all.

Source: the file-system page, section "Binary File Detection". A byte order mark decides first, then UTF-8, then the encoding that the
user has named for everything else, if any. Nothing is guessed.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

LineEnd: TypeAlias = Literal["\n", "\r\n"]

SAMPLE: Final = 65536
"""How many bytes of an old file are looked at to learn its form."""

_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class NotText(ValueError):
    """Bytes that are no text that can be told. The message ends a sentence and holds nothing of the content."""


@dataclass(frozen=True, slots=True)
class Form:
    """How a text is laid down: byte order mark (empty: none), encoding, and its line ends if they are all alike."""

    encoding: str = "utf-8"
    mark: bytes = b""
    line_end: LineEnd | None = None


def decoded(raw: bytes, fallback: str | None = None) -> str:
    r"""The text of a whole file. Raises `NotText`.

    >>> decoded(b"\xef\xbb\xbfhigh tide\r\n")
    'high tide\r\n'
    >>> decoded(b"MZ\x00\x03")
    Traceback (most recent call last):
    acp_session.text.NotText: it is binary: it holds NUL characters
    """
    mark, encoding = _mark(raw)
    if not mark and b"\0" in raw:
        raise NotText("it is binary: it holds NUL characters")
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
        raise NotText("it is binary: it holds NUL characters")
    return text


def form_of(sample: bytes, fallback: str | None = None) -> Form:
    r"""The form of a file, from its first bytes (`SAMPLE` of them are enough). Bytes that are no text count as UTF-8 without a mark.

    >>> form_of(b"one\r\ntwo\r\n").line_end, form_of(b"one\ntwo\r\n").line_end, form_of(b"").line_end
    ('\r\n', None, None)
    """
    mark, encoding = _mark(sample)
    text = sample[len(mark) :].decode(encoding, errors="ignore")
    if not mark and fallback is not None and not _is_start_of_utf8(sample):
        encoding, text = fallback, sample.decode(fallback, errors="ignore")
    return Form(encoding, mark, line_end_of(text))


def line_end_of(text: str) -> LineEnd | None:
    """The line end of a text, if it has any and they are all alike."""
    windows, all_ = text.count("\r\n"), text.count("\n")
    if not all_ or text.count("\r") != windows:
        return None
    return "\n" if windows == 0 else "\r\n" if windows == all_ else None


def encoded(text: str, form: Form) -> bytes:
    r"""The bytes of a new text in the form of the old one: its mark and encoding, and its line ends where both are of one kind.

    What the old encoding cannot hold is written as UTF-8.

    >>> encoded("one\ntwo\n", Form(line_end="\r\n"))
    b'one\r\ntwo\r\n'
    """
    current = line_end_of(text)
    if current is not None and form.line_end is not None and current != form.line_end:
        text = text.replace(current, form.line_end)
    try:
        return form.mark + text.encode(form.encoding)
    except UnicodeEncodeError:
        return text.encode()


def lines(text: str, line: int | None, limit: int | None) -> str:
    r"""At most `limit` lines from `line` on (the first line is 1; 0 counts as 1), line ends included; `None` means no bound.

    >>> lines("a\nb\r\nc", 2, 1), lines("a\nb\nc", None, 2), lines("a\n", 7, None), lines("a\n", 1, 0)
    ('b\r\n', 'a\nb\n', '', '')
    """
    start = _after(text, 0, max(line or 1, 1) - 1)
    return text[start:] if limit is None else text[start : _after(text, start, limit)]


def _after(text: str, at: int, count: int) -> int:
    for _ in range(count):
        found = text.find("\n", at)
        if found < 0:
            return len(text)
        at = found + 1
    return at


def _mark(raw: bytes) -> tuple[bytes, str]:
    return next(((mark, encoding) for mark, encoding in _MARKS if raw.startswith(mark)), (b"", "utf-8"))


def _is_start_of_utf8(sample: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True
