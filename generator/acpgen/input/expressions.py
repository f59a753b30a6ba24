"""Patterns of JSON Schema in the syntax of the regex engines in use, and what no engine checks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Any, Final, assert_never

from msgspec import Struct

from acpgen.input.walk import walk_schemas
from acpgen.pointers import write_plain_pointer
from schema_inclusion.spelling import parse_characters, spell_for_python, spell_for_rust
from schema_inclusion.syntax import (
    Ahead,
    BackReference,
    Behind,
    Boundary,
    Chars,
    Choice,
    Edge,
    Group,
    InvalidPattern,
    Node,
    Repeat,
    Sequence,
    UnsupportedPattern,
    parse,
    walk,
)

if TYPE_CHECKING:
    import jsonschema_rs

LONGEST_TRIED: Final = 2_000
"""The maximum number of characters of a pattern with look-around or back references: backtracking takes time per group."""


_MOST_MATCHES: Final = 100
"""The maximum number of ways to match one text."""


class Expression(Struct, frozen=True):
    """A pattern for the engines of bindings: `linear` for decoders, `strict` for strict validators; `None` if the engine does not
    support it.

    `gap` says what strict validators do not check of the pattern, and why; it is empty if they check all of it.
    """

    linear: str | None = None
    strict: str | None = None
    gap: str = ""

    @property
    def is_checked(self) -> bool:
        """Whether decoders check the whole pattern."""
        return self.linear is not None and not self.gap


@lru_cache(maxsize=4096)
def translate_pattern(pattern: str) -> Expression:
    """Translate a pattern for the engines."""
    try:
        translation = spell_for_rust(pattern)
    except InvalidPattern:
        return Expression(gap=describe_fault(pattern))
    except UnsupportedPattern as fault:
        return Expression(gap=str(fault))
    is_long = len(pattern) > LONGEST_TRIED
    if translation.linear != translation.backtracking and is_long:
        return Expression(gap=f"it looks around or back and has over {LONGEST_TRIED} characters")
    if _compile_validator(translation.backtracking, is_long=is_long) is None:
        remark = "" if translation.linear is not None else ", or looks around in a way that no engine here has"
        return Expression(gap=f"it is too large{remark}")
    is_linear = translation.linear is not None and _compile_validator(translation.linear, is_long=True) is not None
    return Expression(translation.linear if is_linear else None, translation.backtracking, translation.gap)


def describe_fault(pattern: str) -> str:
    """Why a text is not a pattern, with the construct and its position; empty if it is one."""
    try:
        parse(pattern)
    except InvalidPattern as fault:
        return f"it is no pattern of ECMA-262: {fault}"
    except UnsupportedPattern:
        pass
    return ""


@lru_cache(maxsize=512)
def _compile_validator(pattern: str, *, is_long: bool) -> jsonschema_rs.Draft202012Validator | None:
    """A validator of texts that works as strict validators do; `None` if they do not support the pattern. Long patterns need the linear
    engine.
    """
    import jsonschema_rs

    linear = jsonschema_rs.RegexOptions() if is_long else None
    try:
        return jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=linear)
    except (jsonschema_rs.ValidationError, ValueError):
        return None


def matches(pattern: str, text: str) -> bool:
    """Whether a text contains a match of a pattern; false if strict validators do not check all of the pattern."""
    translation = translate_pattern(pattern)
    if translation.strict is None or translation.gap:
        return False
    validator = _compile_validator(translation.strict, is_long=len(pattern) > LONGEST_TRIED)
    return validator is not None and validator.is_valid(text)


def list_patterns(schema: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Yield each pattern of a schema with its place."""
    for keys, subschema in walk_schemas(schema):
        if isinstance(subschema.get("pattern"), str):
            yield subschema["pattern"], f"{at}{write_plain_pointer(*keys, 'pattern')}"
        for pattern in subschema.get("patternProperties", ()):
            yield pattern, f"{at}{write_plain_pointer(*keys, 'patternProperties', pattern)}"


_COUNTS: Final = re.compile(r"(\)?)\{([0-9]{1,9})(?:,([0-9]{0,9}))?\}")
_LETTERS: Final = re.compile(r"\\[pPwW]")

LARGEST: Final = 32_000
"""The maximum size of an expression, in steps; a larger one is refused before it is compiled."""


@lru_cache(maxsize=4096)
def estimate_size(pattern: str) -> int:
    """The approximate number of steps to compile a pattern: counted repetitions multiply."""
    repeated = 0
    for group, least, most in _COUNTS.findall(pattern):
        times = max(int(least), int(most or 0))
        repeated = min((repeated + 1) * times if group else repeated + times, LARGEST)
    return min(repeated * (32 if _LETTERS.search(pattern) else 2), LARGEST)


@lru_cache(maxsize=4096)
def translate_to_python(pattern: str) -> str | None:
    """A pattern in the syntax of `re`, a backtracking engine; `None` if `re` lacks its syntax or would need more than a few steps per
    character.
    """
    try:
        node = parse_characters(pattern)
        translation = spell_for_python(pattern)
    except UnsupportedPattern:
        return None
    endless = sum(isinstance(part, Repeat) and part.high is None for part in walk(node))
    if _count_matches(node) > _MOST_MATCHES or endless > (1 if _begins(node) else 0):
        return None
    return f"(?a){translation}" if any(isinstance(part, Boundary) for part in walk(node)) else translation


def _count_matches(node: Node) -> float:
    """The number of ways to match one text, not counting where a single endless repetition of a character class ends."""
    match node:
        case Chars() | Edge() | Boundary():
            return 1
        case Ahead() | Behind() | BackReference():
            return inf
        case Group(part=part):
            return _count_matches(part)
        case Sequence(parts=parts):
            count = 1.0
            for part in parts:
                count *= _count_matches(part)
            return count
        case Choice(parts=parts):
            return sum(map(_count_matches, parts))
        case Repeat(part=part, low=low, high=high):
            if high is None:
                return 1 if isinstance(_unwrap(part), Chars) else inf
            base = min(_count_matches(part), _MOST_MATCHES + 1)
            return (high - low + 1) * base ** min(high, _MOST_MATCHES)  # within the range of floats
        case _:
            assert_never(node)


def _unwrap(node: Node) -> Node:
    return _unwrap(node.part) if isinstance(node, Group) else node


def _begins(node: Node) -> bool:
    """Whether a pattern can only match at the start of the text."""
    match _unwrap(node):
        case Edge(start=True):
            return True
        case Sequence(parts=(first, *_)):
            return _begins(first)
        case _:
            return False
