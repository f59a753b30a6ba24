"""Patterns of JSON Schema as the engines here judge by them, and what no engine here can check."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple, assert_never

from acpgen.input.walk import inside
from acpgen.pointers import plain_pointer
from schema_inclusion.spelling import characters, in_python, in_rust
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
"""Characters of a pattern that looks around or back. Such a one is tried again and again, which takes as long as it has groups."""


_MOST_WAYS: Final = 100
"""As many ways to read one text may be tried."""
_MOST_REPEATED: Final = 20
"""As often may a part be repeated that there are several ways to read by."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A pattern for the engines of bindings: `linear` for what decodes, `strict` for strict validators; `None` where an engine lacks it.

    `gap` says what even strict validators do not check of it, and why; empty where they check all.
    """

    linear: str | None = None
    strict: str | None = None
    gap: str = ""

    @property
    def is_checked(self) -> bool:
        """Whether decoding checks all of it."""
        return self.linear is not None and not self.gap


@cache
def expression(pattern: str) -> Expression:
    """What engines judge by in the place of a pattern."""
    try:
        found = in_rust(pattern)
    except InvalidPattern:
        return Expression(gap=fault_of(pattern))
    except UnsupportedPattern as fault:
        return Expression(gap=str(fault))
    if found.linear != found.backtracking and len(pattern) > LONGEST_TRIED:
        return Expression(gap=f"it looks around or back and has over {LONGEST_TRIED} characters")
    if _validator(found.backtracking, is_long=len(pattern) > LONGEST_TRIED) is None:
        is_linear = found.linear is not None
        return Expression(
            gap="it is too large" if is_linear else "it is too large, or looks around in a way that no engine here has"
        )
    linear = found.linear if found.linear is not None and _validator(found.linear, is_long=True) is not None else None
    return Expression(linear, found.backtracking, found.gap)


def fault_of(pattern: str) -> str:
    """Why a text is no pattern, with the construct and its place; empty if it is one."""
    try:
        parse(pattern)
    except InvalidPattern as fault:
        return f"it is no pattern of ECMA-262: {fault}"
    except UnsupportedPattern:
        return ""
    return ""


@cache
def _validator(written: str, *, is_long: bool) -> jsonschema_rs.Draft202012Validator | None:
    """What judges texts as strict validators do; `None` if they lack the pattern. A long one is tried by the engine of linear time."""
    import jsonschema_rs

    linear = jsonschema_rs.RegexOptions() if is_long else None
    try:
        return jsonschema_rs.Draft202012Validator({"pattern": written}, pattern_options=linear)
    except (jsonschema_rs.ValidationError, ValueError):
        return None


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern is found in a text; of one that strict validators do not have, no text is known to hold it."""
    found = expression(pattern)
    if found.strict is None or found.gap:
        return False
    validator = _validator(found.strict, is_long=len(pattern) > LONGEST_TRIED)
    return validator is not None and validator.is_valid(text)


def patterns_of(schema: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Every pattern that a schema uses, with its place."""
    for keys, one in inside(schema):
        if isinstance(one.get("pattern"), str):
            yield one["pattern"], f"{at}{plain_pointer(*keys, 'pattern')}"
        for pattern in one.get("patternProperties", ()):
            yield pattern, f"{at}{plain_pointer(*keys, 'patternProperties', pattern)}"


class Translations(NamedTuple):
    """The patterns of schemas that strict validators take as another text, `None` for those that they cannot have; no text stands for two
    patterns, so that a message can name the one that the schema has. `loose` are those of which they find more than the pattern says.
    """

    table: Mapping[str, str | None]
    loose: tuple[str, ...]

    @property
    def is_partial(self) -> bool:
        """Whether strict validators accept more than a pattern says."""
        return bool(self.loose) or None in self.table.values()


def translations(schemas: Iterable[Any]) -> Translations:
    """What strict validators take in the place of the patterns of schemas."""
    patterns = dict.fromkeys(pattern for schema in schemas for pattern, _ in patterns_of(schema))
    taken = set(patterns)
    found: dict[str, str | None] = {}
    for pattern in patterns:
        written = expression(pattern).strict
        if written == pattern:
            continue
        while written in taken:
            written = f"{written}(?:)"
        found[pattern] = written
        taken.update(() if written is None else (written,))
    loose = (pattern for pattern, written in found.items() if written is not None and expression(pattern).gap)
    return Translations(found, tuple(loose))


_COUNTS: Final = re.compile(r"(\)?)\{([0-9]{1,9})(?:,([0-9]{0,9}))?\}")
_LETTERS: Final = re.compile(r"\\[pPwW]")

LARGEST: Final = 32_000
"""Steps for the largest expression: a larger one is refused before it is made."""


@cache
def size(pattern: str) -> int:
    """How many steps it takes, about, to make what judges by a pattern: what is counted is repeated in it so often."""
    repeated = 0
    for group, least, most in _COUNTS.findall(pattern):
        times = max(int(least), int(most or 0))
        repeated = min((repeated + 1) * times if group else repeated + times, LARGEST)
    return min(repeated * (32 if _LETTERS.search(pattern) else 2), LARGEST)


@cache
def quick_in_python(pattern: str) -> str | None:
    """A pattern in the syntax of `re`, which goes back and tries again; `None` where that has none, or takes more than a few steps a
    character.
    """
    try:
        node = characters(pattern)
        written = in_python(pattern)
    except UnsupportedPattern:
        return None
    endless = sum(isinstance(each, Repeat) and each.high is None for each in walk(node))
    if _ways(node) > _MOST_WAYS or endless > (1 if _begins(node) else 0):
        return None
    return f"(?a){written}" if any(isinstance(each, Boundary) for each in walk(node)) else written


def _ways(node: Node) -> float:
    """How many ways there are to read a text by a part, but for where one endless repetition of a character ends."""
    match node:
        case Chars() | Edge() | Boundary():
            return 1
        case Ahead() | Behind() | BackReference():
            return inf
        case Group(part=part):
            return _ways(part)
        case Sequence(parts=parts):
            found = 1.0
            for part in parts:
                found *= _ways(part)
            return found
        case Choice(parts=parts):
            return sum(map(_ways, parts))
        case Repeat(part=part, low=low, high=high):
            ways = _ways(part)
            if high is None:
                return 1 if isinstance(_bare(part), Chars) else inf
            return inf if ways > 1 and high > _MOST_REPEATED else (high - low + 1) * ways**high
        case _:
            assert_never(node)


def _bare(node: Node) -> Node:
    return _bare(node.part) if isinstance(node, Group) else node


def _begins(node: Node) -> bool:
    """Whether a pattern is tried at the first character alone."""
    match _bare(node):
        case Edge(start=True):
            return True
        case Sequence(parts=(first, *_)):
            return _begins(first)
        case _:
            return False
