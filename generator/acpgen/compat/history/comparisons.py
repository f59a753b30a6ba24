"""The comparisons that a history needs, each made once.

One comparison answers for both directions. Revisions between which no message can tell a difference are compared with the others once
for all of them. Nothing else is composed. That an old peer is understood is no relation that two steps carry over: a field that the
first step drops and the second one claims for something else is harmless in each step, and refused across both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

from acpgen.compat.compare import Side, checked, reported
from acpgen.compat.findings import Report
from acpgen.errors import Faults

if TYPE_CHECKING:
    from acpgen.compat.protocol.check.judged import Checked

_SILENT: Final = ("identical", "editorial")
"""Verdicts of steps that no message shows."""

Compare: TypeAlias = "Callable[[int, int], Checked]"
"""What the rules say of two revisions, by their numbers. Raises `Faults`."""


class Comparisons:
    """The comparisons between revisions, by their numbers, oldest first. What is not asked for is not compared.

    `compare` stands for the comparison of two sides where it is known already.
    """

    def __init__(self, sides: Sequence[Side], compare: Compare | None = None) -> None:
        self.sides = sides
        self._compare: Compare = self._checked if compare is None else compare

    def _checked(self, old: int, new: int) -> Checked:
        return checked(self.sides[old], self.sides[new])

    @cached_property
    def steps(self) -> Sequence[Checked | Faults]:
        """What the rules say of each revision but the first and the one before it."""
        return [self._compared(number - 1, number) for number in range(1, len(self.sides))]

    @property
    def reports(self) -> Sequence[Report | Faults]:
        """The same as reports."""
        return self._grouped[0]

    @property
    def groups(self) -> Sequence[int]:
        """For each revision the first one from which no message can tell it."""
        return self._grouped[1]

    @property
    def count(self) -> int:
        """How many comparisons were needed."""
        return len(self._known)

    @property
    def rows(self) -> list[int]:
        """The first revision of each group."""
        return sorted(set(self.groups))

    def between(self, old: int, new: int) -> Checked | None:
        """What the rules say of two revisions of different groups; `None` where they cannot be compared."""
        pair = self.groups[old], self.groups[new]
        if pair not in self._known:
            self._known[pair] = self._compared(*pair)
        found = self._known[pair]
        return None if isinstance(found, Faults) else found

    def is_known(self, old: int, new: int) -> bool:
        """Whether two revisions were compared already, or need not be."""
        pair = self.groups[old], self.groups[new]
        return pair[0] == pair[1] or pair in self._known

    @property
    def _known(self) -> dict[tuple[int, int], Checked | Faults]:
        """What was compared so far, by groups."""
        return self._grouped[2]

    @cached_property
    def _grouped(self) -> tuple[list[Report | Faults], list[int], dict[tuple[int, int], Checked | Faults]]:
        reports: list[Report | Faults] = []
        groups = [0] if self.sides else []
        known: dict[tuple[int, int], Checked | Faults] = {}
        for number, found in enumerate(self.steps, 1):
            before, after = self.sides[number - 1], self.sides[number]
            reports.append(found if isinstance(found, Faults) else reported(before, after, found))
            former = groups[-1]
            groups.append(former if _is_silent(reports[-1]) else self._twin(number, groups))
            if groups[number] != former:
                known.setdefault((former, groups[number]), found)
        return reports, groups, known

    def _twin(self, number: int, groups: Sequence[int]) -> int:
        """The first revision of the group of an earlier one whose files hold the same: somebody took changes back."""
        ours = self.sides[number].input.documents
        twins = (group for each, group in enumerate(groups) if self.sides[each].input.documents.says_the_same(ours))
        return next(twins, number)

    def _compared(self, old: int, new: int) -> Checked | Faults:
        try:
            return self._compare(old, new)
        except Faults as faults:
            return faults


def _is_silent(found: Report | Faults) -> bool:
    """Whether no message shows a step."""
    if isinstance(found, Faults) or found.verdict not in _SILENT:
        return False
    return found.wire.backward == found.wire.forward == "yes"
