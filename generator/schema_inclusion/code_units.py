"""Translate patterns over UTF-16 code units (without the flag `u`) to patterns over characters.

Such a pattern may stop between the surrogates of a character beyond U+FFFF: a dot matches one of them. `_Ways` holds for each node what
it matches from and to a character boundary or the middle of a character; a match that ends in the middle has consumed the whole
character.
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
    clip_ranges,
    join_ranges,
    map_parts,
    repeat,
    walk,
)

ASTRAL: Final = ((0x10000, LAST),)
"""The characters that are surrogate pairs in UTF-16."""

_LARGEST: Final = 2_000
"""The maximum number of nodes of a pattern over characters."""


class Inexact(Exception):
    """No such pattern over characters exists, or it is too large."""


def to_characters(node: Node) -> Node:
    """Translate to the pattern over characters that matches the same texts. Raises `Inexact`."""
    has_halves = any(isinstance(each, Chars) and clip_ranges(each.ranges, *SURROGATES) for each in walk(node))
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
    """The pattern for texts without characters of two code units."""
    return Chars(_drop_halves(node.ranges)) if isinstance(node, Chars) else map_parts(node, drop_pairs)


@dataclass(frozen=True, slots=True)
class _Ways:
    """What a node matches between boundaries (`whole`), from a boundary to a middle, from a middle to a boundary, and between middles."""

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
        """Repeat the node any number of times."""
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
    """Concatenate the ways of nodes, by halves, so that a long node is not copied once per node."""
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
    return (*clip_ranges(ranges, 0, SURROGATES[0] - 1), *clip_ranges(ranges, SURROGATES[1] + 1, LAST))


def _holds(ranges: Ranges, halves: tuple[int, int]) -> bool:
    """Whether the ranges contain all of the surrogates `halves`. Raises `Inexact` if they contain only some of them."""
    overlap = clip_ranges(ranges, *halves)
    if overlap and join_ranges(overlap) != (halves,):
        raise Inexact
    return bool(overlap)


def _join_pairs(parts: tuple[Node, ...]) -> list[Node]:
    """Replace the two surrogates of each pair by one character."""
    nodes: list[Node] = []
    for part in parts:
        high, low = (_find_unit(each) for each in (nodes[-1] if nodes else EMPTY, part))
        if HIGHS[0] <= high <= HIGHS[1] and LOWS[0] <= low <= LOWS[1]:
            code = 0x10000 + ((high - HIGHS[0]) << 10) + low - LOWS[0]
            nodes[-1] = Chars(((code, code),))
        else:
            nodes.append(part)
    return nodes


def _find_unit(node: Node) -> int:
    """The one code unit that a node matches, or -1."""
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
    """Translate a look-behind of one code unit, or a longer one if it can match no surrogate. Raises `Inexact` otherwise."""
    ways = _find_ways(part)
    if isinstance(part, Chars):
        before = [each.ranges for each in (ways.whole,) if isinstance(each, Chars)]
        ranges = join_ranges(pair for each in (*before, ASTRAL if ways.middle_end is not None else ()) for pair in each)
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
    result = _concatenate([ways] * low)
    if high is None:
        return result.concatenate(ways.repeat_any())
    rest = _NOTHING
    for _ in range(high - low):
        rest = _alternate([ways.concatenate(rest), _NOTHING])
    return result.concatenate(rest)


def _repeat_any(node: Node | None) -> Node:
    return EMPTY if node is None else repeat(node, 0, None)


def _concatenate_nodes(*parts: Node | None) -> Node | None:
    """The concatenation of nodes; `None`, which matches nothing, if one of them is `None`."""
    nodes: list[Node] = []
    for part in parts:
        if part is None:
            return None
        nodes.extend(part.parts if isinstance(part, Sequence) else (part,))
    return _check_size(nodes[0] if len(nodes) == 1 else Sequence(tuple(nodes)))


def _alternate_nodes(*parts: Node | None) -> Node | None:
    """The alternation of nodes: single characters are merged, and two sequences share an equal last node. `None` matches nothing."""
    unique_branches: dict[Node, None] = {}
    for part in parts:
        unique_branches.update(
            dict.fromkeys(part.parts if isinstance(part, Choice) else () if part is None else (part,))
        )
    chars = [each for each in unique_branches if isinstance(each, Chars)]
    if len(chars) > 1:
        unique_branches = {Chars(join_ranges(pair for each in chars for pair in each.ranges)): None} | {
            each: None for each in unique_branches if not isinstance(each, Chars)
        }
    branches = list(unique_branches)
    if len(branches) == 2 and all(isinstance(each, Sequence) and len(each.parts) > 1 for each in branches):
        one, other = (each.parts for each in branches if isinstance(each, Sequence))
        if one[-1] == other[-1]:
            head = _alternate_nodes(_concatenate_nodes(*one[:-1]), _concatenate_nodes(*other[:-1]))
            return _concatenate_nodes(head, one[-1])
    if not branches:
        return None
    return branches[0] if len(branches) == 1 else _check_size(Choice(tuple(branches)))


def _check_size(node: Node) -> Node:
    if sum(1 for _ in walk(node)) > _LARGEST:
        raise Inexact
    return node
