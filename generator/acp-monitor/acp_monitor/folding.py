"""Repeats of one breach: the first ten are told, then one at every power of ten, and one at the end for the rest. None is lost."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Final, Generic, TypeVar

from .kept import MOST_MARKS

T = TypeVar("T")

FIRST: Final = 10
"""Repeats that are told one by one."""


class Folding(Generic[T]):
    """Folds what has the same mark. Of more marks than are kept the rest is not folded.

    >>> folding = Folding[str]()
    >>> [folding.take("a", "a") for _ in range(12)]
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0]
    >>> list(folding.rest())
    [('a', 2)]
    """

    def __init__(self) -> None:
        self._seen: dict[Hashable, tuple[int, int, T]] = {}

    def take(self, mark: Hashable, thing: T) -> int:
        """For how many a thing stands if it is told now; 0 where it is to be left out."""
        total, told, _ = self._seen.get(mark, (0, 0, thing))
        if not total and len(self._seen) >= MOST_MARKS:
            return 1
        total += 1
        is_told = total <= FIRST or str(total).strip("0") == "1"
        self._seen[mark] = (total, total if is_told else told, thing)
        return total - told if is_told else 0

    def rest(self) -> Iterator[tuple[T, int]]:
        """The last of each that was left out, and for how many it stands."""
        for total, told, thing in self._seen.values():
            if total > told:
                yield thing, total - told
        self._seen.clear()
