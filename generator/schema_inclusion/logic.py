"""The maker of formulas with its rules: what must hold together, and what may hold instead."""

from __future__ import annotations

from collections.abc import Iterable

from schema_inclusion import alternatives, conjunction
from schema_inclusion.constraints import Constraints
from schema_inclusion.forms import Forms
from schema_inclusion.formula import Formula


class Logic(Forms):
    """Makes the formulas of one comparison."""

    __slots__ = ()

    def settled(self, parts: Iterable[Formula]) -> Constraints | None:
        return conjunction.settled(self, parts)

    def parts_of(self, constraints: Constraints) -> tuple[Formula, ...]:
        return conjunction.parts_of(self, constraints)

    def joined(self, parts: tuple[Formula, ...]) -> Formula:
        return alternatives.joined(self, parts)
