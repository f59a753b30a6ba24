"""The comparisons that a history needs: of each revision with the one before it, and with the first one.

Neither is composed of the other. A field that one step drops and the next one claims for something else is harmless in each step, and
refused across both.
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
    """The comparisons between revisions, by their numbers, oldest first; `compare` stands for the usual comparison of two sides."""

    def __init__(self, sides: Sequence[Side], compare: Compare | None = None) -> None:
        self.sides = sides
        self._compare: Compare = self._checked if compare is None else compare

    def _checked(self, old: int, new: int) -> Checked:
        return checked(self.sides[old], self.sides[new])

    @cached_property
    def steps(self) -> Sequence[Checked | Faults]:
        """What the rules say of each revision but the first and the one before it."""
        return [self._compared(number - 1, number) for number in range(1, len(self.sides))]

    @cached_property
    def reports(self) -> Sequence[Report | Faults]:
        """The same as reports."""
        return [
            found if isinstance(found, Faults) else reported(self.sides[number], self.sides[number + 1], found)
            for number, found in enumerate(self.steps)
        ]

    @cached_property
    def spans(self) -> Sequence[Checked | Faults]:
        """What the rules say of the first revision and each other one. Where no message shows a step, that is what they said before it."""
        found = list(self.steps[:1])
        for number, report in enumerate(self.reports[1:], 2):
            found.append(found[-1] if _is_silent(report) else self._compared(0, number))
        return found

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
