"""The formula factory with its rules for conjunctions and disjunctions."""

from __future__ import annotations

from collections.abc import Iterable

from schema_inclusion import alternatives, conjunction
from schema_inclusion.constraints import Constraints
from schema_inclusion.forms import Forms
from schema_inclusion.formula import Formula


class FormulaFactory(Forms):
    """The factory of the formulas of one comparison."""

    __slots__ = ()

    def merge(self, parts: Iterable[Formula]) -> Constraints | None:
        return conjunction.merge(self, parts)

    def list_parts(self, constraints: Constraints) -> tuple[Formula, ...]:
        return conjunction.list_parts(self, constraints)

    def disjoin(self, parts: tuple[Formula, ...]) -> Formula:
        return alternatives.disjoin(self, parts)
