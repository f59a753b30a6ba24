"""Reduce patterns to regular expressions that automata can run.

A back reference is replaced by the texts of its group, if these are few. Look-behind of more than one character, properties of
characters and what only code units distinguish raise `UnsupportedPattern`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from schema_inclusion.spelling import parse_characters
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
    join_ranges,
    make_ranges,
    map_parts,
    walk,
)

_MOST_TIMES: Final = 99_999
_MOST_TEXTS: Final = 16
"""The maximum number of texts of a group that is referred to."""


def _expand_boundary(*, present: bool) -> Choice:
    r"""`\b`: a word character on exactly one side. `\B`: on both sides, or on neither."""
    word = Chars(WORD)
    return Choice(
        tuple(Sequence((Behind(word, before), Ahead(word, before is not present))) for before in (True, False))
    )


@lru_cache(maxsize=4096)
def read(pattern: str) -> Node:
    """Parse a pattern over characters, without groups and boundaries, with look-behind of one character. Raises `UnsupportedPattern`."""
    return _make_regular(_replace_references(parse_characters(pattern)))


def _replace_references(node: Node) -> Node:
    """Replace each back reference by a text, for every text that the group may match."""
    numbers = {reference.number for reference in walk(node) if isinstance(reference, BackReference)}
    if not numbers:
        return node
    groups = [group for group in walk(node) if isinstance(group, Group) and group.number in numbers]
    for group in reversed(groups):  # inner ones first
        texts = _list_texts(group.part)
        if texts is not None and (len(texts) == 1 or _matches_once(node, group.number)):
            choices = [_insert_text(node, group.number, text) for text in sorted(texts)]
            return Choice(tuple(map(_replace_references, choices)))
    raise UnsupportedPattern("it refers back to what a group matched")


def _list_texts(node: Node) -> set[str] | None:
    """The texts that a node matches, wherever it is; `None` if they are many, or depend on the context."""
    result: set[str] = set()
    match node:
        case Chars(ranges, ()) if sum(high - low + 1 for low, high in ranges) <= _MOST_TEXTS:
            result.update(chr(code) for low, high in ranges for code in range(low, high + 1))
        case Group(part):
            return _list_texts(part)
        case Choice(parts):
            for part in parts:
                texts = _list_texts(part)
                if texts is None:
                    return None
                result |= texts
        case Sequence() | Repeat():
            parts = node.parts if isinstance(node, Sequence) else (node.part,) * min(node.low, _MOST_TEXTS)
            if isinstance(node, Repeat) and not node.low == node.high == len(parts):
                return None
            result.add("")
            for part in parts:
                texts = _list_texts(part)
                if texts is None or len(result) * len(texts) > _MOST_TEXTS:
                    return None
                result = {start + end for start in result for end in texts}
        case _:
            return None
    return result if len(result) <= _MOST_TEXTS else None


def _matches_once(node: Node, number: int) -> bool:
    """Whether the group takes part at most once in a match, and is retried with another text if the rest does not match."""
    match node:
        case Group(_, group_number) if group_number == number:
            return True
        case Group(part) | Repeat(part, _, 1):
            return _matches_once(part, number)
        case Sequence(parts) | Choice(parts):
            return any(_matches_once(part, number) for part in parts)
        case _:
            return False


def _insert_text(node: Node, number: int, text: str) -> Node:
    match node:
        case BackReference(group_number) | Group(_, group_number) if group_number == number:
            return Sequence(tuple(Chars(make_ranges(character)) for character in text))
        case _:
            return map_parts(node, lambda part: _insert_text(part, number, text))


def _make_regular(node: Node) -> Node:
    match node:
        case Chars(properties=properties):
            if properties:
                raise UnsupportedPattern("it asks for the properties of characters")
            return node
        case Boundary(present):
            return _expand_boundary(present=present)
        case Behind(part, positive):
            return Behind(Chars(_require_one_character(_make_regular(part))), positive)
        case Repeat(part, low, high):
            if max(low, high or 0) > _MOST_TIMES:
                raise UnsupportedPattern("the pattern is too large")
            return Repeat(_make_regular(part), low, high)
        case Group(part):
            return _make_regular(part)
        case _:
            return map_parts(node, _make_regular)


def _require_one_character(node: Node) -> Ranges:
    """The characters that a look-behind accepts. Raises `UnsupportedPattern` if it looks for more than one at a time."""
    match node:
        case Chars(ranges):
            return ranges
        case Choice(parts):
            return join_ranges(bounds for part in parts for bounds in _require_one_character(part))
        case _:
            raise UnsupportedPattern("it looks behind for more than one character")


@lru_cache(maxsize=4096)
def may_backtrack(pattern: str) -> bool:
    """Whether a backtracking engine may need unbounded time; also `True` for patterns that are not supported."""
    try:
        return _is_ambiguous(read(pattern), repeated=False)
    except UnsupportedPattern:
        return True


def _is_ambiguous(node: Node, *, repeated: bool) -> bool:
    match node:
        case Ahead():
            return True
        case Sequence(parts):
            return any(_is_ambiguous(part, repeated=repeated) for part in parts)
        case Choice(parts):
            return repeated or any(_is_ambiguous(part, repeated=repeated) for part in parts)
        case Repeat(part, low, high):
            varies = low != high
            return (repeated and varies) or _is_ambiguous(part, repeated=repeated or varies)
        case _:
            return False
