"""Which alternatives of a place belong together: those that are most alike, each once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from acpgen import ir
from acpgen.compat.protocol.leaves import MOST_PAIRS
from acpgen.compat.protocol.shapes import Alternative, Objects, Shape, kind_of

Matched: TypeAlias = "tuple[list[tuple[Alternative, Alternative]], list[Alternative], list[Alternative]]"
"""The pairs, and what stands alone in the old and in the new revision."""


@dataclass(frozen=True, slots=True)
class Matching:
    """`shape` is that of a type of the old (0) or new (1) revision, `former_names` those that a definition of the new one had."""

    shape: Callable[[ir.Type, Literal[0, 1]], Shape]
    former_names: Callable[[str], Collection[str]]

    def matched(self, old: Sequence[Alternative], new: Sequence[Alternative]) -> Matched | None:
        """Alternatives of both sides that belong together, and those that stand alone; `None` if too many may belong together."""
        if len(old) == len(new) == 1:
            return [(old[0], new[0])], [], []
        candidates = self._candidates(old, new)
        if candidates is None:
            return None
        scored = [(self._likeness(old[i], new[j]), i, j) for i, j in candidates]
        used: tuple[set[int], set[int]] = set(), set()
        found: list[tuple[Alternative, Alternative]] = []
        for score, i, j in sorted(scored, key=lambda each: (-each[0], each[1], each[2])):
            if score > 0 and i not in used[0] and j not in used[1]:
                used[0].add(i)
                used[1].add(j)
                found.append((old[i], new[j]))
        alone = [[each for i, each in enumerate(side) if i not in used[at]] for at, side in enumerate((old, new))]
        return found, alone[0], alone[1]

    def _candidates(self, old: Sequence[Alternative], new: Sequence[Alternative]) -> set[tuple[int, int]] | None:
        """The pairs that share anything by which they can be alike."""
        left: dict[Hashable, list[int]] = {}
        right: dict[Hashable, list[int]] = {}
        for i, one in enumerate(old):
            for sign in _signs(one):
                left.setdefault(sign, []).append(i)
        for j, other in enumerate(new):
            for sign in {*_signs(other), *self._former_signs(other)}:
                right.setdefault(sign, []).append(j)
        shared = [(left[sign], right[sign]) for sign in left if sign in right]
        if sum(len(ones) * len(others) for ones, others in shared) > MOST_PAIRS:
            return None
        return {(i, j) for ones, others in shared for i in ones for j in others}

    def _former_signs(self, new: Alternative) -> Iterator[Hashable]:
        if isinstance(new, Objects) and new.name is not None:
            yield from (("name", name) for name in self.former_names(new.name))

    def _likeness(self, old: Alternative, new: Alternative) -> float:
        """How alike two alternatives are, between 0 and 3."""
        if isinstance(old, ir.Array) and isinstance(new, ir.Array):
            if old.items == new.items:
                return 3
            shapes = self.shape(old.items, 0), self.shape(new.items, 1)
            firsts = [shape.alternatives[0] if len(shape.alternatives) == 1 else None for shape in shapes]
            if firsts[0] is not None and firsts[1] is not None and kind_of(firsts[0]) == kind_of(firsts[1]):
                return self._likeness(firsts[0], firsts[1]) or (0.1 if kind_of(firsts[0]) != "object" else 0)
            return 0.05 if shapes[0].anything == shapes[1].anything and not any(firsts) else 0
        if isinstance(old, Objects) and isinstance(new, Objects):
            if old.name is not None and new.name is not None:
                if old.name == new.name:
                    return 3
                if old.name in self.former_names(new.name):
                    return 2.5
            names = {f.name for f in old.fields}, {f.name for f in new.fields}
            must = {f.name for f in old.fields if f.required}, {f.name for f in new.fields if f.required}
            if not names[0] and not names[1]:
                return 2 if old.extra == new.extra else 0.2
            alike = len(names[0] & names[1]) / len(names[0] | names[1])
            essential = len(must[0] & must[1]) / len(must[0] | must[1]) if must[0] | must[1] else alike
            return alike + essential if essential else 0
        if isinstance(old, ir.Tuple) and isinstance(new, ir.Tuple):
            return 3 if old == new else 1 if len(old.first) == len(new.first) else 0.05
        if isinstance(old, ir.TaggedUnion) and isinstance(new, ir.TaggedUnion):
            return 3 if old.name == new.name else 1 if old.tag == new.tag else 0.2
        return 0


def _signs(alternative: Alternative) -> Iterator[Hashable]:
    """What two alternatives share that can be alike: objects a name or a field, or that they have none; others their type."""
    if not isinstance(alternative, Objects):
        yield type(alternative).__name__
        return
    if alternative.name is not None:
        yield "name", alternative.name
    names = {field.name for field in alternative.fields}
    yield from (("field", name) for name in names)
    if not names:
        yield "no field"
