"""Translate patterns over UTF-16 code units (without the flag `u`) to patterns over characters.

Such a pattern may stop between the surrogates of a character beyond U+FFFF: a dot matches one of them. `_Matrix` holds for each node what
it matches from and to a character boundary or the middle of a character; a match that ends in the middle has consumed the whole
character.
"""

from __future__ import annotations

from collections.abc import Sequence as Listed
from itertools import chain
from typing import Final

from msgspec import Struct

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
    has_halves = any(isinstance(part, Chars) and clip_ranges(part.ranges, *SURROGATES) for part in walk(node))
    if not has_halves and not any(isinstance(part, Boundary | Ahead | Behind) for part in walk(node)):
        return node  # it meets no half, wherever it starts
    if any(isinstance(part, BackReference) for part in walk(node)):
        if has_halves:
            raise Inexact
        return node
    matrix = _build_matrix(node)
    from_middle = _concatenate_nodes(Chars(ASTRAL), _alternate_nodes(matrix.middle_end, matrix.middle))
    return _alternate_nodes(matrix.whole, matrix.start_middle, from_middle) or Chars(())


def drop_pairs(node: Node) -> Node:
    """The pattern for texts without characters of two code units."""
    return Chars(_drop_halves(node.ranges)) if isinstance(node, Chars) else map_parts(node, drop_pairs)


class _Matrix(Struct, frozen=True):
    """A node as a transition matrix over two states, a boundary and the middle of a pair: what it matches from each state to each.

    `whole` is from boundary to boundary, `middle` from middle to middle.
    """

    whole: Node | None = None
    start_middle: Node | None = None
    middle_end: Node | None = None
    middle: Node | None = None

    def concatenate(self, following: _Matrix) -> _Matrix:
        """The product of the matrices."""
        rows = (self.whole, self.start_middle), (self.middle_end, self.middle)
        columns = (following.whole, following.middle_end), (following.start_middle, following.middle)
        return _Matrix(*(_alternate_nodes(*map(_concatenate_nodes, row, column)) for row in rows for column in columns))

    def repeat_any(self) -> _Matrix:
        """Repeat the node any number of times."""
        inner = _repeat_any(self.middle)
        whole = _repeat_any(_alternate_nodes(self.whole, _concatenate_nodes(self.start_middle, inner, self.middle_end)))
        return _Matrix(
            whole,
            _concatenate_nodes(whole, self.start_middle, inner),
            _concatenate_nodes(inner, self.middle_end, whole),
            _alternate_nodes(inner, _concatenate_nodes(inner, self.middle_end, whole, self.start_middle, inner)),
        )


_IDENTITY: Final = _Matrix(EMPTY, None, None, EMPTY)


def _concatenate(matrices: Listed[_Matrix]) -> _Matrix:
    """Multiply the matrices of nodes, by halves, so that a long node is not copied once per node."""
    if len(matrices) < 2:
        return matrices[0] if matrices else _IDENTITY
    half = len(matrices) // 2
    return _concatenate(matrices[:half]).concatenate(_concatenate(matrices[half:]))


def _alternate(matrices: Listed[_Matrix]) -> _Matrix:
    return _Matrix(
        _alternate_nodes(*(matrix.whole for matrix in matrices)),
        _alternate_nodes(*(matrix.start_middle for matrix in matrices)),
        _alternate_nodes(*(matrix.middle_end for matrix in matrices)),
        _alternate_nodes(*(matrix.middle for matrix in matrices)),
    )


def _build_matrix(node: Node) -> _Matrix:
    match node:
        case Chars(ranges):
            return _split_chars(ranges)
        case Edge():
            return _Matrix(node)
        case Boundary(present):
            return _Matrix(node, middle=None if present else EMPTY)
        case Ahead(part, positive):
            matrix = _build_matrix(part)
            return _Matrix(
                _look_ahead(_alternate_nodes(matrix.whole, matrix.start_middle), positive),
                middle=_look_ahead(_alternate_nodes(matrix.middle_end, matrix.middle), positive),
            )
        case Behind(part, positive):
            return _look_behind(part, positive)
        case Sequence(parts):
            return _concatenate([_build_matrix(part) for part in _join_pairs(parts)])
        case Choice(parts):
            return _alternate([_build_matrix(part) for part in parts])
        case Group(part):
            return _build_matrix(part)
        case Repeat(part, low, high):
            return _repeat(_build_matrix(part), low, high)
        case BackReference():
            raise Inexact


def _split_chars(ranges: Ranges) -> _Matrix:
    if ranges and ranges[0][0] > SURROGATES[1]:  # a pair
        return _Matrix(Chars(ranges))
    plain = _drop_halves(ranges)
    return _Matrix(
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
        high, low = map(_find_unit, (nodes[-1] if nodes else EMPTY, part))
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


def _look_behind(part: Node, positive: bool) -> _Matrix:
    """Translate a look-behind of one code unit, or a longer one if it can match no surrogate. Raises `Inexact` otherwise."""
    matrix = _build_matrix(part)
    if isinstance(part, Chars):
        before = [whole.ranges for whole in (matrix.whole,) if isinstance(whole, Chars)]
        ranges = join_ranges(chain(*before, ASTRAL if matrix.middle_end is not None else ()))
        middle = EMPTY if (matrix.start_middle is not None) is positive else None
        return _Matrix(Behind(Chars(ranges), positive), middle=middle)
    if (
        matrix.whole is None
        or matrix.start_middle is not None
        or matrix.middle_end is not None
        or matrix.middle is not None
    ):
        raise Inexact
    return _Matrix(Behind(matrix.whole, positive), middle=None if positive else EMPTY)


def _repeat(matrix: _Matrix, low: int, high: int | None) -> _Matrix:
    if matrix.start_middle is None and matrix.middle_end is None:
        whole = EMPTY if matrix.whole is None and not low else matrix.whole and repeat(matrix.whole, low, high)
        return _Matrix(whole, middle=matrix.middle if low else EMPTY)
    if low > _LARGEST or (high or 0) > _LARGEST:
        raise Inexact
    result = _concatenate([matrix] * low)
    if high is None:
        return result.concatenate(matrix.repeat_any())
    optional = _IDENTITY
    for _ in range(high - low):
        optional = _alternate([matrix.concatenate(optional), _IDENTITY])
    return result.concatenate(optional)


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
    chars = [branch for branch in unique_branches if isinstance(branch, Chars)]
    if len(chars) > 1:
        unique_branches = {Chars(join_ranges(pair for branch in chars for pair in branch.ranges)): None} | {
            branch: None for branch in unique_branches if not isinstance(branch, Chars)
        }
    branches = list(unique_branches)
    if len(branches) == 2 and all(isinstance(branch, Sequence) and len(branch.parts) > 1 for branch in branches):
        left, right = (branch.parts for branch in branches if isinstance(branch, Sequence))
        if left[-1] == right[-1]:
            head = _alternate_nodes(_concatenate_nodes(*left[:-1]), _concatenate_nodes(*right[:-1]))
            return _concatenate_nodes(head, left[-1])
    if not branches:
        return None
    return branches[0] if len(branches) == 1 else _check_size(Choice(tuple(branches)))


def _check_size(node: Node) -> Node:
    if sum(1 for _ in walk(node)) > _LARGEST:
        raise Inexact
    return node
