"""Patterns over UTF-16 code units as patterns over characters: those that are none with the flag `u`.

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


def by_characters(node: Node) -> Node:
    """The pattern over characters that matches the same texts. Raises `Inexact`."""
    has_halves = any(isinstance(each, Chars) and within(each.ranges, *SURROGATES) for each in walk(node))
    if not has_halves and not any(isinstance(each, Boundary | Ahead | Behind) for each in walk(node)):
        return node  # it meets no half, wherever it starts
    if any(isinstance(each, BackReference) for each in walk(node)):
        if has_halves:
            raise Inexact
        return node
    ways = _ways(node)
    inside = _sequence(Chars(ASTRAL), _choice(ways.middle_end, ways.middle))
    return _choice(ways.whole, ways.start_middle, inside) or Chars(())


def of_characters(node: Node) -> Node:
    """The pattern as it matches the texts that hold no character of two code units."""
    return Chars(_without_halves(node.ranges)) if isinstance(node, Chars) else mapped(node, of_characters)


@dataclass(frozen=True, slots=True)
class _Ways:
    """What a part matches between boundaries (`whole`), from one to a middle, from a middle to one, and between middles."""

    whole: Node | None = None
    start_middle: Node | None = None
    middle_end: Node | None = None
    middle: Node | None = None

    def then(self, other: _Ways) -> _Ways:
        return _Ways(
            _choice(_sequence(self.whole, other.whole), _sequence(self.start_middle, other.middle_end)),
            _choice(_sequence(self.whole, other.start_middle), _sequence(self.start_middle, other.middle)),
            _choice(_sequence(self.middle_end, other.whole), _sequence(self.middle, other.middle_end)),
            _choice(_sequence(self.middle_end, other.start_middle), _sequence(self.middle, other.middle)),
        )

    def repeated(self) -> _Ways:
        """Any number of times."""
        inner = _repeated(self.middle)
        whole = _repeated(_choice(self.whole, _sequence(self.start_middle, inner, self.middle_end)))
        return _Ways(
            whole,
            _sequence(whole, self.start_middle, inner),
            _sequence(inner, self.middle_end, whole),
            _choice(inner, _sequence(inner, self.middle_end, whole, self.start_middle, inner)),
        )


_NOTHING: Final = _Ways(EMPTY, None, None, EMPTY)


def _in_a_row(ways: Listed[_Ways]) -> _Ways:
    """Parts one after the other. Halves are put together first, so that no long part is copied as often as there are parts."""
    if len(ways) < 2:
        return ways[0] if ways else _NOTHING
    half = len(ways) // 2
    return _in_a_row(ways[:half]).then(_in_a_row(ways[half:]))


def _one_of(ways: Listed[_Ways]) -> _Ways:
    return _Ways(
        _choice(*(each.whole for each in ways)),
        _choice(*(each.start_middle for each in ways)),
        _choice(*(each.middle_end for each in ways)),
        _choice(*(each.middle for each in ways)),
    )


def _ways(node: Node) -> _Ways:
    match node:
        case Chars(ranges):
            return _of_chars(ranges)
        case Edge():
            return _Ways(node)
        case Boundary(present):
            return _Ways(node, middle=None if present else EMPTY)
        case Ahead(part, positive):
            ways = _ways(part)
            return _Ways(
                _ahead(_choice(ways.whole, ways.start_middle), positive),
                middle=_ahead(_choice(ways.middle_end, ways.middle), positive),
            )
        case Behind(part, positive):
            return _behind(part, positive)
        case Sequence(parts):
            return _in_a_row([_ways(part) for part in _with_pairs(parts)])
        case Choice(parts):
            return _one_of([_ways(part) for part in parts])
        case Group(part):
            return _ways(part)
        case Repeat(part, low, high):
            return _repeat(_ways(part), low, high)
        case BackReference():
            raise Inexact


def _of_chars(ranges: Ranges) -> _Ways:
    if ranges and ranges[0][0] > SURROGATES[1]:  # a pair
        return _Ways(Chars(ranges))
    plain = _without_halves(ranges)
    return _Ways(
        Chars(plain) if plain else None,
        Chars(ASTRAL) if _holds(ranges, HIGHS) else None,
        EMPTY if _holds(ranges, LOWS) else None,
    )


def _without_halves(ranges: Ranges) -> Ranges:
    return (*within(ranges, 0, SURROGATES[0] - 1), *within(ranges, SURROGATES[1] + 1, LAST))


def _holds(ranges: Ranges, halves: tuple[int, int]) -> bool:
    """Whether ranges hold all of the halves; whoever holds some of them tells pairs apart by their halves."""
    found = within(ranges, *halves)
    if found and union(found) != (halves,):
        raise Inexact
    return bool(found)


def _with_pairs(parts: tuple[Node, ...]) -> list[Node]:
    """The parts with one character for the two halves of a pair."""
    found: list[Node] = []
    for part in parts:
        high, low = (_single(each) for each in (found[-1] if found else EMPTY, part))
        if HIGHS[0] <= high <= HIGHS[1] and LOWS[0] <= low <= LOWS[1]:
            code = 0x10000 + ((high - HIGHS[0]) << 10) + low - LOWS[0]
            found[-1] = Chars(((code, code),))
        else:
            found.append(part)
    return found


def _single(node: Node) -> int:
    """The one code unit that a part matches; -1 if it is another part."""
    match node:
        case Chars(((low, high),)) if low == high:
            return low
        case _:
            return -1


def _ahead(part: Node | None, positive: bool) -> Node | None:
    if part is None:
        return None if positive else EMPTY
    return Ahead(part, positive)


def _behind(part: Node, positive: bool) -> _Ways:
    """A look at the code unit before; a look further back only if no half can be part of it."""
    ways = _ways(part)
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
    found = _in_a_row([ways] * low)
    if high is None:
        return found.then(ways.repeated())
    rest = _NOTHING
    for _ in range(high - low):
        rest = _one_of([ways.then(rest), _NOTHING])
    return found.then(rest)


def _repeated(node: Node | None) -> Node:
    return EMPTY if node is None else repeat(node, 0, None)


def _sequence(*parts: Node | None) -> Node | None:
    """The parts one after the other; `None`, which matches nothing, if one of them is."""
    found: list[Node] = []
    for part in parts:
        if part is None:
            return None
        found.extend(part.parts if isinstance(part, Sequence) else (part,))
    return _small(found[0] if len(found) == 1 else Sequence(tuple(found)))


def _choice(*parts: Node | None) -> Node | None:
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
            head = _choice(_sequence(*one[:-1]), _sequence(*other[:-1]))
            return _sequence(head, one[-1])
    if not listed:
        return None
    return listed[0] if len(listed) == 1 else _small(Choice(tuple(listed)))


def _small(node: Node) -> Node:
    if sum(1 for _ in walk(node)) > _LARGEST:
        raise Inexact
    return node
