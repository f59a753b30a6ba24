"""Comparisons whose reports are cached, as JSON that is read again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import is_dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeVar

from acpgen.compat import findings
from acpgen.compat.compare import compare_inputs, compare_sides, side
from acpgen.compat.findings import BUDGET, Mode, Report
from acpgen.files.cache import NO_CACHE, Cache, find_or_make

if TYPE_CHECKING:
    from acpgen.compat.compare import Side
    from acpgen.compat.sources import Input

Made = TypeVar("Made")

_RECORDS: Final[dict[str, Any]] = {name: found for name, found in vars(findings).items() if is_dataclass(found)}
"""What reports are made of, by name."""


class Comparer:
    """Comparisons that share what the old sides mean. Their reports are cached, before any policy judges them."""

    def __init__(
        self, mode: Mode, unstable: bool, budget: int = BUDGET, *, formats: bool = False, cache: Cache = NO_CACHE
    ) -> None:
        self.mode: Mode = mode
        self.unstable, self.budget, self.formats, self.cache = unstable, budget, formats, cache
        self._known: dict[int, tuple[Input, Side]] = {}

    def __call__(self, old: Input, new: Input) -> Report:
        """The report of two sides, from the cache if it is there. Raises `Faults`."""
        how = self.mode, repr((self.unstable, self.budget, self.formats))
        inputs = chain(("report", *how), _texts(old), _texts(new))
        return find_or_compare(self.cache, inputs, lambda: self.compare(old, new))

    def compare(self, old: Input, new: Input) -> Report:
        """The report of two sides, made now. Raises `Faults`."""
        if self.mode == "language":
            return compare_inputs(old, new, mode=self.mode, budget=self.budget, formats=self.formats)
        if id(old) not in self._known:
            self._known[id(old)] = old, side(old, unstable=self.unstable)
        after = side(new, unstable=self.unstable)
        return compare_sides(self._known[id(old)][1], after, budget=self.budget, formats=self.formats)


def find_or_compare(cache: Cache, inputs: Iterable[str], compare: Callable[[], Made]) -> Made:
    """What was compared from some inputs, records of `findings`, from the cache if it is there."""
    return find_or_make(cache, inputs, compare, lambda: _RECORDS)


def _texts(side: Input) -> Iterator[str]:
    """All of a side that its report depends on: its files, what people call them, and the profile that reads them."""
    yield from (side.label, side.documents.name, repr(side.methods), str(len(side.places)), *side.places)
    yield from side.documents.inputs()
