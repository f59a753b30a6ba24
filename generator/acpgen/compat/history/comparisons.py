"""The comparisons that a history needs, each made once.

One comparison answers for both directions. Revisions between which no message can tell a difference are compared with the others once
for all of them. Nothing else is composed. That an old peer is understood is no relation that two steps carry over: a field that the
first step drops and the second one claims for something else is harmless in each step, and refused across both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from acpgen.compat.compare import Side, checked, reported
from acpgen.compat.findings import Report
from acpgen.errors import Faults

if TYPE_CHECKING:
    from acpgen.compat.protocol.check import Checked

_SILENT: Final = ("identical", "editorial")
"""Verdicts of steps that no message shows."""


class Comparisons:
    """The comparisons between revisions, by their numbers, oldest first."""

    def __init__(self, sides: Sequence[Side]) -> None:
        self.sides = sides
        self.groups: list[int] = []
        """For each revision the first one from which no message can tell it."""
        self.steps: list[Checked | Faults] = []
        """What the rules say of each revision but the first and the one before it."""
        self.reports: list[Report | Faults] = []
        """The same as reports."""
        self._found: dict[tuple[int, int], Checked | Faults] = {}
        for number in range(len(sides)):
            self._next(number)

    @property
    def count(self) -> int:
        """How many comparisons were made."""
        return len(self._found)

    @property
    def rows(self) -> list[int]:
        """The first revision of each group."""
        return sorted(set(self.groups))

    def between(self, old: int, new: int) -> Checked | None:
        """What the rules say of two revisions of different groups; `None` where they cannot be compared."""
        pair = self.groups[old], self.groups[new]
        if pair not in self._found:
            self._found[pair] = self._compared(*pair)
        found = self._found[pair]
        return None if isinstance(found, Faults) else found

    def is_known(self, old: int, new: int) -> bool:
        """Whether two revisions were compared already, or need not be."""
        pair = self.groups[old], self.groups[new]
        return pair[0] == pair[1] or pair in self._found

    def _next(self, number: int) -> None:
        if number == 0:
            self.groups.append(0)
            return
        before, after = self.sides[number - 1], self.sides[number]
        found = self._compared(number - 1, number)
        self.steps.append(found)
        self.reports.append(found if isinstance(found, Faults) else reported(before, after, found))
        former = self.groups[number - 1]
        self.groups.append(former if _is_silent(self.reports[-1]) else self._twin(number))
        if self.groups[number] != former:
            self._found.setdefault((former, self.groups[number]), found)

    def _twin(self, number: int) -> int:
        """The first revision of the group of an earlier one whose files hold the same: somebody took changes back."""
        values = _values(self.sides[number])
        return next((group for each, group in enumerate(self.groups) if _values(self.sides[each]) == values), number)

    def _compared(self, old: int, new: int) -> Checked | Faults:
        try:
            return checked(self.sides[old], self.sides[new])
        except Faults as faults:
            return faults


def _is_silent(found: Report | Faults) -> bool:
    """Whether no message shows a step."""
    if isinstance(found, Faults) or found.verdict not in _SILENT:
        return False
    return found.wire.backward == found.wire.forward == "yes"


def _values(side: Side) -> list[object]:
    return [each.value for each in side.input.documents.documents]
