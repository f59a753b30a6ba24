"""Comparisons whose reports are cached as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import is_dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeVar

from acpgen.compat import findings
from acpgen.compat.compare import compare_inputs, compare_sides, read_side
from acpgen.compat.findings import BUDGET, Mode, Report
from acpgen.files.cache import NO_CACHE, Cache, find_or_make

if TYPE_CHECKING:
    from acpgen.compat.compare import Side
    from acpgen.compat.sources import Input

Made = TypeVar("Made")

_RECORDS: Final[dict[str, Any]] = {name: record for name, record in vars(findings).items() if is_dataclass(record)}
"""The classes of the records in reports, by name."""


class Comparer:
    """Compares inputs with shared old sides, and caches the reports before a policy is applied."""

    def __init__(
        self, mode: Mode, unstable: bool, budget: int = BUDGET, *, formats: bool = False, cache: Cache = NO_CACHE
    ) -> None:
        self.mode: Mode = mode
        self.unstable, self.budget, self.formats, self.cache = unstable, budget, formats, cache
        self._known: dict[int, tuple[Input, Side]] = {}

    def __call__(self, old: Input, new: Input) -> Report:
        """The report on two sides, from the cache if possible. Raises `Faults`."""
        settings = self.mode, repr((self.unstable, self.budget, self.formats))
        inputs = chain(("report", *settings), _list_texts(old), _list_texts(new))
        return find_or_compare(self.cache, inputs, lambda: self.compare(old, new))

    def compare(self, old: Input, new: Input) -> Report:
        """The report on two sides, without the cache. Raises `Faults`."""
        if self.mode == "language":
            return compare_inputs(old, new, mode=self.mode, budget=self.budget, formats=self.formats)
        if id(old) not in self._known:
            self._known[id(old)] = old, read_side(old, unstable=self.unstable)
        after = read_side(new, unstable=self.unstable)
        return compare_sides(self._known[id(old)][1], after, budget=self.budget, formats=self.formats)


def find_or_compare(cache: Cache, inputs: Iterable[str], compare: Callable[[], Made]) -> Made:
    """The result of a comparison of some inputs, records of `findings`, from the cache if possible."""
    return find_or_make(cache, inputs, compare, lambda: _RECORDS)


def _list_texts(side: Input) -> Iterator[str]:
    """Yield the inputs of a side that its report depends on: its files, their display names, and the profile."""
    yield from (side.label, side.documents.name, repr(side.methods), str(len(side.places)), *side.places)
    yield from side.documents.list_inputs()
