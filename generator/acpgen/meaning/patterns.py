"""Patterns of JSON Schema (ECMA-262) in the syntax of the engine that bindings check them with."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_SPACE: Final = r"\t\n\x0b\x0c\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}"
_DIGIT, _WORD = "0-9", "0-9A-Za-z_"
_CLASSES: Final = {
    "d": f"[{_DIGIT}]",
    "w": f"[{_WORD}]",
    "s": f"[{_SPACE}]",
    "D": f"[^{_DIGIT}]",
    "W": f"[^{_WORD}]",
    "S": f"[^{_SPACE}]",
}
_SAME: Final = frozenset("tnrfv")
_LONGEST: Final = 10_000

_EMPTY_CLASS: Final = re.compile(r"\[\^?\]")

_TOKEN: Final = re.compile(
    r"""
      \\u\{(?P<point>[0-9A-Fa-f]{1,6})\} | \\u(?P<unit>[0-9A-Fa-f]{4}) | \\x(?P<byte>[0-9A-Fa-f]{2})
    | \\c(?P<control>[A-Za-z])
    | (?P<property>\\[pP]\{[^{}]+\})
    | \\(?P<escaped>.)
    | (?P<group>\(\?(?::|<(?![=!])[A-Za-z_$][\w$]*>)?)
    | (?P<plain>.)
    """,
    re.DOTALL | re.VERBOSE,
)


@cache
def in_rust(pattern: str) -> str | None:
    """The same language in the syntax of Rust's regex; `None` where there is no such pattern (lookarounds, backreferences)."""
    written = _translated(pattern) if len(pattern) <= _LONGEST else None
    return written if written is not None and _compiles(written) else None


def _translated(pattern: str) -> str | None:
    found: list[str] = []
    is_class = False
    at = 0
    while at < len(pattern):
        if not is_class and (empty := _EMPTY_CLASS.match(pattern, at)):
            found.append(r"(?s:.)" if "^" in empty[0] else r"[^\x{0}-\x{10ffff}]")
            at = empty.end()
            continue
        token = _TOKEN.match(pattern, at)
        assert token is not None or pattern[at] == "\\", pattern
        text = None if token is None else _written(token, is_class=is_class)
        if token is None or text is None:
            return None
        if token["plain"] == "[" and not is_class:
            is_class = True
        elif token["plain"] == "]":
            is_class = False
        if is_class and pattern.startswith("--", at):
            return None  # a range to or from a hyphen; the difference of two classes in Rust
        found.append(text)
        at = token.end()
    return "".join(found)


def _written(token: re.Match[str], *, is_class: bool) -> str | None:
    code = token["point"] or token["unit"] or token["byte"]
    if code is not None:
        return None if 0xD800 <= int(code, 16) <= 0xDFFF else f"\\x{{{int(code, 16):x}}}"
    if token["control"] is not None:
        return f"\\x{{{ord(token['control']) % 32:x}}}"
    if token["property"] is not None:
        return token["property"]
    if token["escaped"] is not None:
        return _escaped(token["escaped"], is_class=is_class)
    if token["group"] is not None:
        return r"\(?" if is_class else None if token["group"] == "(?" else token["group"]
    return _plain(token["plain"], is_class=is_class)


def _escaped(character: str, *, is_class: bool) -> str | None:
    if character in _CLASSES:
        return _CLASSES[character]
    if character in "bB":
        return r"\x{8}" if is_class and character == "b" else None if is_class else f"(?-u:\\{character})"
    if character in _SAME:
        return f"\\{character}"
    if character == "0":
        return r"\x{0}"
    if character.isascii() and character.isalnum():
        return None  # a backreference, or an escape that Rust reads as something else
    return character if character in "<>" or not character.isascii() else f"\\{character}"


def _plain(character: str, *, is_class: bool) -> str:
    if is_class:
        return f"\\{character}" if character in "[&~" else character
    return r"[^\n\r\x{2028}\x{2029}]" if character == "." else character


def _compiles(pattern: str) -> bool:
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    try:
        SchemaValidator(core_schema.str_schema(pattern=pattern))
    except SchemaError:
        return False
    return True
