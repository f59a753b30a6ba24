r"""Translate ECMA-262 patterns to the syntax of other engines: one translation for all validators.

`spell_for_python` is for `re`, `spell_for_rust` for the crates `regex`, whose time depends on the text alone, and `fancy-regex`, which
also has look-around and back references. Character classes are spelled out, so that no engine uses its own `\d`, `\w`, `\s`, `.` or `$`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from schema_inclusion.code_units import ASTRAL, Inexact, drop_pairs, to_characters
from schema_inclusion.syntax import (
    Ahead,
    BackReference,
    Behind,
    Boundary,
    Chars,
    Choice,
    Edge,
    Group,
    Node,
    Pattern,
    Ranges,
    Repeat,
    Sequence,
    UnsupportedPattern,
    complement,
    parse,
    walk,
)

Engine: TypeAlias = Literal["re", "regex", "fancy-regex"]

BEYOND: Final = "what it says of characters beyond U+FFFF, which are two code units to it, cannot be checked"


class Spelling(Struct, frozen=True):
    """A pattern in the syntax of Rust's engines.

    `linear` is for `regex`, `None` if that cannot express the pattern; `backtracking` for `fancy-regex`. `gap` says what they do not
    check: with such a pattern, they accept all texts that they cannot decide.
    """

    linear: str | None
    backtracking: str
    gap: str = ""


_ESCAPE: Final = r"\\[\^$\\.*+?()\[\]{}|/tnvfr]"
_MEMBER: Final = rf"(?:[^\\\[\]&~|\-\ud800-\udfff]|{_ESCAPE})"
_ALIKE: Final = re.compile(
    rf"(?:[^.\\\[\]{{}}()\ud800-\udfff]|{_ESCAPE}|\{{[0-9]+(?:,[0-9]*)?\}}|\((?:\?:|(?!\?))|\)"
    rf"|\[\^?+(?!\])-?(?:{_MEMBER}(?:-{_MEMBER})?)*-?\])*+"
)
"""The syntax that every engine reads alike."""


def parse_characters(pattern: str) -> Node:
    """Parse a pattern over characters. Raises `UnsupportedPattern`; `InvalidPattern` if it is invalid in ECMA-262."""
    try:
        return _to_characters(parse(pattern))
    except Inexact:
        raise UnsupportedPattern(BEYOND) from None


def _to_characters(pattern: Pattern) -> Node:
    return pattern.node if pattern.is_unicode else to_characters(pattern.node)


@lru_cache(maxsize=4096)
def spell_for_rust(pattern: str) -> Spelling:
    """Translate a pattern for Rust's engines. Raises `UnsupportedPattern`; `InvalidPattern` if it is invalid in ECMA-262."""
    parsed_pattern = parse(pattern)
    if parsed_pattern.is_unicode and _ALIKE.fullmatch(pattern):
        return Spelling(pattern, pattern)
    gap = ""
    try:
        node = _to_characters(parsed_pattern)
    except Inexact:
        node, gap = Choice((drop_pairs(parsed_pattern.node), Chars(ASTRAL))), BEYOND
    is_linear = not any(isinstance(part, Ahead | Behind | BackReference) for part in walk(node))
    return Spelling(_spell(node, "regex") if is_linear else None, _spell(node, "fancy-regex"), gap)


def spell_for_python(pattern: str) -> str:
    """Translate a pattern for `re` with the flag `ASCII`. Raises `UnsupportedPattern`; `InvalidPattern` if it is invalid in ECMA-262."""
    node = parse_characters(pattern)
    if any(isinstance(part, Chars) and part.properties for part in walk(node)):
        raise UnsupportedPattern("it asks for the properties of characters")
    return _spell(node, "re")


_BOUNDARY: Final[dict[tuple[Engine, bool], str]] = {
    ("re", True): r"\b",
    ("re", False): r"(?!\b)",
    ("regex", True): r"(?-u:\b)",
    ("regex", False): r"(?-u:\B)",
    ("fancy-regex", True): r"(?:(?<=[0-9A-Z_a-z])(?![0-9A-Z_a-z])|(?<![0-9A-Z_a-z])(?=[0-9A-Z_a-z]))",
    ("fancy-regex", False): r"(?:(?<=[0-9A-Z_a-z])(?=[0-9A-Z_a-z])|(?<![0-9A-Z_a-z])(?![0-9A-Z_a-z]))",
}


def _spell(node: Node, engine: Engine) -> str:
    numbers: dict[int, int] = {}
    referred = {reference.number for reference in walk(node) if isinstance(reference, BackReference)}
    return "".join(_spell_parts(node, engine, referred, numbers))


def _spell_parts(node: Node, engine: Engine, referred: set[int], numbers: dict[int, int]) -> Iterator[str]:
    """Yield the text of a node in a sequence. `numbers` collects the new numbers of the groups that are referred to."""

    def spell_group(part: Node, opening: str = "(?:") -> Iterator[str]:
        yield opening
        yield from (
            _spell_parts(part, engine, referred, numbers) if not isinstance(part, Choice) else spell_alternatives(part)
        )
        yield ")"

    def spell_alternatives(choice: Choice) -> Iterator[str]:
        for index, part in enumerate(choice.parts):
            yield "|" if index else ""
            yield from _spell_parts(part, engine, referred, numbers)

    match node:
        case Chars():
            yield _spell_class(node, engine)
        case Edge(start):
            yield "^" if start else r"\Z" if engine == "re" else "$"
        case Boundary(present):
            yield _BOUNDARY[engine, present]
        case Ahead(part, positive):
            yield from spell_group(part, "(?=" if positive else "(?!")
        case Behind(part, positive):
            yield from spell_group(part, "(?<=" if positive else "(?<!")
        case Sequence(parts):
            for part in parts:
                yield from _spell_parts(part, engine, referred, numbers)
        case Choice():
            yield from spell_group(node)
        case Group(part, number):
            if number in referred:
                numbers[number] = len(numbers) + 1
            yield from spell_group(part, "(" if number in referred else "(?:")
        case BackReference(number):
            yield f"(?:\\{numbers[number]})"
        case Repeat(part, low, high, lazy):
            is_whole = isinstance(part, Chars | Choice | Group)
            yield from _spell_parts(part, engine, referred, numbers) if is_whole else spell_group(part)
            yield _spell_quantifier(low, high) + ("?" if lazy else "")


def _spell_quantifier(low: int, high: int | None) -> str:
    match low, high:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
        case _:
            most = "" if high is None else str(high)
            return f"{{{low}}}" if low == high else f"{{{low},{most}}}"


def _spell_class(chars: Chars, engine: Engine) -> str:
    if chars.properties:
        return f"[{'^' if chars.negative else ''}{_spell_members(chars.ranges)}{''.join(chars.properties)}]"
    if not chars.ranges:
        return "(?!)" if engine == "re" else r"[^\x00-\U0010FFFF]"
    complement_ranges = complement(chars.ranges)
    if not complement_ranges:
        return r"[\x00-\U0010FFFF]"
    if len(complement_ranges) < len(chars.ranges):
        return f"[^{_spell_members(complement_ranges)}]"
    ((low, high),) = chars.ranges[:1]
    return _spell_character(low) if len(chars.ranges) == 1 and low == high else f"[{_spell_members(chars.ranges)}]"


def _spell_members(ranges: Ranges) -> str:
    return "".join(
        _spell_character(low)
        if low == high
        else f"{_spell_character(low)}{'-' if high > low + 1 else ''}{_spell_character(high)}"
        for low, high in ranges
    )


_PLAIN: Final = frozenset("_,:;=@%\"'!<>/ `")


def _spell_character(code: int) -> str:
    character = chr(code)
    if character.isascii():
        if character.isalnum() or character in _PLAIN:
            return character
        return f"\\{character}" if character.isprintable() else f"\\x{code:02x}"
    if character.isprintable():
        return character
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
