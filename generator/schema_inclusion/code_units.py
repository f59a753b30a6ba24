"""Translate patterns over UTF-16 code units, which are none with the flag `u`, to patterns over characters.

Such a pattern may stop between the halves of a character beyond U+FFFF: a dot matches one half. For each part stands what it matches from
and to the boundary of a character or its middle; who stops in the middle has the whole character behind it.
"""

from __future__ import annotations

from collections.abc import Sequence as Listed
from dataclasses import dataclass
from typing import Final

from schema_inclusion.syntax import (
    EMPTY,
    HIGHS,
    LAST,
    LOWS,
    SURROGATES,
    Ahead,
    BackReference,
    Behind,
    Boundary,
    Chars,
    Choice,
    Edge,
    Group,
    Node,
    Ranges,
    Repeat,
    Sequence,
    mapped,
    repeat,
    union,
    walk,
    within,
)

ASTRAL: Final = ((0x10000, LAST),)
"""The characters that are pairs of code units."""

_LARGEST: Final = 2_000
"""Nodes of a pattern over characters."""


class Inexact(Exception):
    """There is no such pattern over characters, or it is too large."""


def to_characters(node: Node) -> Node:
    """The pattern over characters that matches the same texts. Raises `Inexact`."""
    has_halves = any(isinstance(each, Chars) and within(each.ranges, *SURROGATES) for each in walk(node))
    if not has_halves and not any(isinstance(each, Boundary | Ahead | Behind) for each in walk(node)):
        return node  # it meets no half, wherever it starts
    if any(isinstance(each, BackReference) for each in walk(node)):
        if has_halves:
            raise Inexact
        return node
    ways = _find_ways(node)
    inside = _concatenate_nodes(Chars(ASTRAL), _alternate_nodes(ways.middle_end, ways.middle))
    return _alternate_nodes(ways.whole, ways.start_middle, inside) or Chars(())


def drop_pairs(node: Node) -> Node:
    """The pattern as it matches the texts that hold no character of two code units."""
    return Chars(_drop_halves(node.ranges)) if isinstance(node, Chars) else mapped(node, drop_pairs)


@dataclass(frozen=True, slots=True)
class _Ways:
    """What a part matches between boundaries (`whole`), from one to a middle, from a middle to one, and between middles."""

    whole: Node | None = None
    start_middle: Node | None = None
    middle_end: Node | None = None
    middle: Node | None = None

    def concatenate(self, other: _Ways) -> _Ways:
        return _Ways(
            _alternate_nodes(
                _concatenate_nodes(self.whole, other.whole), _concatenate_nodes(self.start_middle, other.middle_end)
            ),
            _alternate_nodes(
                _concatenate_nodes(self.whole, other.start_middle), _concatenate_nodes(self.start_middle, other.middle)
            ),
            _alternate_nodes(
                _concatenate_nodes(self.middle_end, other.whole), _concatenate_nodes(self.middle, other.middle_end)
            ),
            _alternate_nodes(
                _concatenate_nodes(self.middle_end, other.start_middle), _concatenate_nodes(self.middle, other.middle)
            ),
        )

    def repeat_any(self) -> _Ways:
        """Any number of times."""
        inner = _repeat_any(self.middle)
        whole = _repeat_any(_alternate_nodes(self.whole, _concatenate_nodes(self.start_middle, inner, self.middle_end)))
        return _Ways(
            whole,
            _concatenate_nodes(whole, self.start_middle, inner),
            _concatenate_nodes(inner, self.middle_end, whole),
            _alternate_nodes(inner, _concatenate_nodes(inner, self.middle_end, whole, self.start_middle, inner)),
        )


_NOTHING: Final = _Ways(EMPTY, None, None, EMPTY)


def _concatenate(ways: Listed[_Ways]) -> _Ways:
    """Parts one after the other. Halves are put together first, so that no long part is copied as often as there are parts."""
    if len(ways) < 2:
        return ways[0] if ways else _NOTHING
    half = len(ways) // 2
    return _concatenate(ways[:half]).concatenate(_concatenate(ways[half:]))


def _alternate(ways: Listed[_Ways]) -> _Ways:
    return _Ways(
        _alternate_nodes(*(each.whole for each in ways)),
        _alternate_nodes(*(each.start_middle for each in ways)),
        _alternate_nodes(*(each.middle_end for each in ways)),
        _alternate_nodes(*(each.middle for each in ways)),
    )


def _find_ways(node: Node) -> _Ways:
    match node:
        case Chars(ranges):
            return _split_chars(ranges)
        case Edge():
            return _Ways(node)
        case Boundary(present):
            return _Ways(node, middle=None if present else EMPTY)
        case Ahead(part, positive):
            ways = _find_ways(part)
            return _Ways(
                _look_ahead(_alternate_nodes(ways.whole, ways.start_middle), positive),
                middle=_look_ahead(_alternate_nodes(ways.middle_end, ways.middle), positive),
            )
        case Behind(part, positive):
            return _look_behind(part, positive)
        case Sequence(parts):
            return _concatenate([_find_ways(part) for part in _join_pairs(parts)])
        case Choice(parts):
            return _alternate([_find_ways(part) for part in parts])
        case Group(part):
            return _find_ways(part)
        case Repeat(part, low, high):
            return _repeat(_find_ways(part), low, high)
        case BackReference():
            raise Inexact


def _split_chars(ranges: Ranges) -> _Ways:
    if ranges and ranges[0][0] > SURROGATES[1]:  # a pair
        return _Ways(Chars(ranges))
    plain = _drop_halves(ranges)
    return _Ways(
        Chars(plain) if plain else None,
        Chars(ASTRAL) if _holds(ranges, HIGHS) else None,
        EMPTY if _holds(ranges, LOWS) else None,
    )


def _drop_halves(ranges: Ranges) -> Ranges:
    return (*within(ranges, 0, SURROGATES[0] - 1), *within(ranges, SURROGATES[1] + 1, LAST))


def _holds(ranges: Ranges, halves: tuple[int, int]) -> bool:
    """Whether ranges hold all of the halves; whoever holds some of them tells pairs apart by their halves."""
    found = within(ranges, *halves)
    if found and union(found) != (halves,):
        raise Inexact
    return bool(found)


def _join_pairs(parts: tuple[Node, ...]) -> list[Node]:
    """The parts with one character for the two halves of a pair."""
    found: list[Node] = []
    for part in parts:
        high, low = (_find_unit(each) for each in (found[-1] if found else EMPTY, part))
        if HIGHS[0] <= high <= HIGHS[1] and LOWS[0] <= low <= LOWS[1]:
            code = 0x10000 + ((high - HIGHS[0]) << 10) + low - LOWS[0]
            found[-1] = Chars(((code, code),))
        else:
            found.append(part)
    return found


def _find_unit(node: Node) -> int:
    """The one code unit that a part matches; -1 if it is another part."""
    match node:
        case Chars(((low, high),)) if low == high:
            return low
        case _:
            return -1


def _look_ahead(part: Node | None, positive: bool) -> Node | None:
    if part is None:
        return None if positive else EMPTY
    return Ahead(part, positive)


def _look_behind(part: Node, positive: bool) -> _Ways:
    """A look at the code unit before; a look further back only if no half can be part of it."""
    ways = _find_ways(part)
    if isinstance(part, Chars):
        before = [each.ranges for each in (ways.whole,) if isinstance(each, Chars)]
        ranges = union(pair for each in (*before, ASTRAL if ways.middle_end is not None else ()) for pair in each)
        middle = EMPTY if (ways.start_middle is not None) is positive else None
        return _Ways(Behind(Chars(ranges), positive), middle=middle)
    if ways.whole is None or ways.start_middle is not None or ways.middle_end is not None or ways.middle is not None:
        raise Inexact
    return _Ways(Behind(ways.whole, positive), middle=None if positive else EMPTY)


def _repeat(ways: _Ways, low: int, high: int | None) -> _Ways:
    if ways.start_middle is None and ways.middle_end is None:
        whole = EMPTY if ways.whole is None and not low else ways.whole and repeat(ways.whole, low, high)
        return _Ways(whole, middle=ways.middle if low else EMPTY)
    if low > _LARGEST or (high or 0) > _LARGEST:
        raise Inexact
    found = _concatenate([ways] * low)
    if high is None:
        return found.concatenate(ways.repeat_any())
    rest = _NOTHING
    for _ in range(high - low):
        rest = _alternate([ways.concatenate(rest), _NOTHING])
    return found.concatenate(rest)


def _repeat_any(node: Node | None) -> Node:
    return EMPTY if node is None else repeat(node, 0, None)


def _concatenate_nodes(*parts: Node | None) -> Node | None:
    """The parts one after the other; `None`, which matches nothing, if one of them is."""
    found: list[Node] = []
    for part in parts:
        if part is None:
            return None
        found.extend(part.parts if isinstance(part, Sequence) else (part,))
    return _check_size(found[0] if len(found) == 1 else Sequence(tuple(found)))


def _alternate_nodes(*parts: Node | None) -> Node | None:
    """One of the parts, those that are single characters as one; those that end alike share their end."""
    found: dict[Node, None] = {}
    for part in parts:
        found.update(dict.fromkeys(part.parts if isinstance(part, Choice) else () if part is None else (part,)))
    chars = [each for each in found if isinstance(each, Chars)]
    if len(chars) > 1:
        found = {Chars(union(pair for each in chars for pair in each.ranges)): None} | {
            each: None for each in found if not isinstance(each, Chars)
        }
    listed = list(found)
    if len(listed) == 2 and all(isinstance(each, Sequence) and len(each.parts) > 1 for each in listed):
        one, other = (each.parts for each in listed if isinstance(each, Sequence))
        if one[-1] == other[-1]:
            head = _alternate_nodes(_concatenate_nodes(*one[:-1]), _concatenate_nodes(*other[:-1]))
            return _concatenate_nodes(head, one[-1])
    if not listed:
        return None
    return listed[0] if len(listed) == 1 else _check_size(Choice(tuple(listed)))


def _check_size(node: Node) -> Node:
    if sum(1 for _ in walk(node)) > _LARGEST:
        raise Inexact
    return node
