"""Patterns that msgspec judges by: those for which the engine of Python, which goes back and tries again, takes few steps a character."""

from __future__ import annotations

from functools import cache
from math import inf
from typing import Final, assert_never

from schema_inclusion.spelling import characters, in_python
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
    Repeat,
    Sequence,
    UnsupportedPattern,
    walk,
)

_MOST_WAYS: Final = 100
"""As many ways to read one text may be tried."""
_MOST_REPEATED: Final = 20
"""As often may a part be repeated that there are several ways to read by."""


@cache
def pattern_for_msgspec(pattern: str) -> str | None:
    """A pattern of ECMA-262 in the syntax of `re`; `None` where that has none, or may try for long."""
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
