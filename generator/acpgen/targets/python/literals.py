"""Literals and docstrings: all text of a schema enters code through here, escaped so that Python reads back exactly the same text."""

from __future__ import annotations

import re
import textwrap
from typing import Final

from acpgen.input.walk import is_array, is_object

WIDTH: Final = 116

_UNSAFE: Final = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e0fff]"
)


def write_literal(value: object) -> str:
    """A scalar as Python source, strings in double quotes."""
    if not isinstance(value, str):
        assert value is None or isinstance(value, bool | int | float), type(value)
        return repr(value)
    text = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{_UNSAFE.sub(_escape, text)}"'


def write_json(value: object) -> str:
    """Any JSON value as Python source."""
    if is_object(value):
        return "{" + ", ".join(f"{write_literal(key)}: {write_json(item)}" for key, item in value.items()) + "}"
    if is_array(value):
        return "[" + ", ".join(write_json(item) for item in value) + "]"
    return write_literal(value)


def write_docstring(text: str, indent: int) -> str:
    """A wrapped docstring with this indentation, except in its first line. Empty text gives ''."""
    body = wrap_docstring(text, indent)
    if not body:
        return ""
    if "\n" in body:
        return f'"""{body}\n{" " * indent}"""'
    return f'"""{body[:-1] + _ESCAPED_QUOTE if _OPEN_QUOTE.search(body) else body}"""'


def wrap_docstring(text: str, indent: int) -> str:
    """The wrapped content of a docstring with this indentation, except in its first line. More text must follow before the closing
    quotes.
    """
    pad = " " * indent
    lines: list[str] = []
    for paragraph in text.strip().splitlines():
        wrapped = textwrap.wrap(
            paragraph.rstrip(),
            width=WIDTH - indent,
            subsequent_indent="  " if paragraph.startswith(("- ", "* ")) else "",
            break_long_words=False,
            break_on_hyphens=False,
        )
        lines.extend(wrapped or [""])
    body = "\n".join((pad + line if line else "") for line in lines).strip()
    return _UNSAFE.sub(_escape, body.replace("\\", "\\\\").replace('"""', _ESCAPED_QUOTE * 3))


_ESCAPED_QUOTE: Final = '\\"'
_OPEN_QUOTE: Final = re.compile(r'(?<!\\)(?:\\\\)*"$')
"""A final quote that is not escaped, i.e. after an even number of backslashes."""


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def write_raw(text: str) -> str:
    """JSON text as a raw literal if all of it is printable, otherwise as an ordinary one. Triple quotes become JSON escapes."""
    escaped_text = text.replace("'''", r"\u0027\u0027\u0027").strip()
    return (
        f"r'''{escaped_text}'''"
        if all(character.isprintable() or character == "\n" for character in escaped_text)
        else write_literal(escaped_text)
    )
