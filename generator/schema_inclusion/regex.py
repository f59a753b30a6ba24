"""Patterns whose texts are a regular language, as automata take them.

Back references, look-behind of more than one character, properties of characters and what only code units tell raise `UnsupportedPattern`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from schema_inclusion.spelling import characters
from schema_inclusion.syntax import (
    WORD,
    Ahead,
    BackReference,
    Behind,
    Boundary,
    Chars,
    Choice,
    Group,
    Node,
    Ranges,
    Repeat,
    Sequence,
    UnsupportedPattern,
    mapped,
    union,
)

_MOST_TIMES: Final = 99_999


def _boundary(*, present: bool) -> Choice:
    r"""`\b`: a character of a word on one side alone. `\B`: on both sides, or on none."""
    word = Chars(WORD)
    return Choice(
        tuple(Sequence((Behind(word, before), Ahead(word, before is not present))) for before in (True, False))
    )


@lru_cache(maxsize=4096)
def read(pattern: str) -> Node:
    """The pattern over characters, without groups and boundaries, looking behind at one character. Raises `UnsupportedPattern`."""
    return _regular(characters(pattern))


def _regular(node: Node) -> Node:
    match node:
        case Chars(properties=properties):
            if properties:
                raise UnsupportedPattern("it asks for the properties of characters")
            return node
        case Boundary(present):
            return _boundary(present=present)
        case Behind(part, positive):
            return Behind(Chars(_one_character(_regular(part))), positive)
        case Repeat(part, low, high):
            if max(low, high or 0) > _MOST_TIMES:
                raise UnsupportedPattern("the pattern is too large")
            return Repeat(_regular(part), low, high)
        case Group(part):
            return _regular(part)
        case BackReference():
            raise UnsupportedPattern("it refers back to what a group matched")
        case _:
            return mapped(node, _regular)


def _one_character(node: Node) -> Ranges:
    """The characters that a look-behind looks for. Raises `UnsupportedPattern` if it looks for more than one at a time."""
    match node:
        case Chars(ranges):
            return ranges
        case Choice(parts):
            return union(each for part in parts for each in _one_character(part))
        case _:
            raise UnsupportedPattern("it looks behind for more than one character")


@lru_cache(maxsize=4096)
def may_backtrack(pattern: str) -> bool:
    """Whether an engine that backtracks may need time without bound; so are patterns that cannot be read."""
    try:
        return _ambiguous(read(pattern), repeated=False)
    except UnsupportedPattern:
        return True


def _ambiguous(node: Node, *, repeated: bool) -> bool:
    match node:
        case Ahead():
            return True
        case Sequence(parts):
            return any(_ambiguous(part, repeated=repeated) for part in parts)
        case Choice(parts):
            return repeated or any(_ambiguous(part, repeated=repeated) for part in parts)
        case Repeat(part, low, high):
            varies = low != high
            return (repeated and varies) or _ambiguous(part, repeated=repeated or varies)
        case _:
            return False
