"""Find values that one schema accepts and another refuses, confirmed by validators.

Only values that the reference validator has confirmed are shown, and none that it reads differently from ECMA-262 or exact numbers.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from msgspec import Struct

from schema_inclusion.answers import Witness
from schema_inclusion.budget import OverBudget
from schema_inclusion.culprits import Part, is_at
from schema_inclusion.evaluation import holds
from schema_inclusion.forms import Forms
from schema_inclusion.formula import Formula
from schema_inclusion.results import Result, Satisfied, Unknown
from schema_inclusion.validation import ReferenceValidator
from schema_inclusion.values import Json, as_float

_SIMPLE: Final[tuple[Json, ...]] = (None, True, 0, "", "a b", [], {}, {"": None}, {"a": None, "b": None})
"""The values to try where the proof failed: a schema too large for it may still differ from another in one of these."""

LARGEST_EXACT: Final = 2**52
"""Below it, a float represents every integer and the half beside it."""


class Checker(Struct, frozen=True, eq=False):
    """The reference validator and the formula of one schema. `at` is the path of a value that `refused` must refuse."""

    validator: ReferenceValidator
    forms: Forms
    formula: Formula
    at: tuple[str | int | Part | ReferenceValidator, ...] = ()
    refused: ReferenceValidator | None = None

    def accepts(self, value: Json) -> bool | None:
        """Whether the schema accepts the value and the culprit is at its path; `None` if a validator cannot decide."""
        is_accepted = self.validator.accepts(value)
        return is_at(value, self.at, ReferenceValidator.accepts, self._is_culprit) if is_accepted else is_accepted

    def _is_culprit(self, value: Json) -> bool | None:
        is_accepted = False if self.refused is None else self.refused.accepts(value)
        return None if is_accepted is None else not is_accepted

    def means(self, value: Json) -> bool | None:
        """Whether the value satisfies the formula; `None` if that cannot be decided."""
        try:
            return holds(self.forms, self.formula, value)
        except (OverBudget, RecursionError):
            return None


def _is_possible(value: Json, accepts: Checker, refuses: Checker) -> bool:
    """Whether neither formula excludes the value as a witness."""
    return accepts.means(value) is not False and refuses.means(value) is not True


def judge(value: Json, accepts: Checker, refuses: Checker) -> Witness:
    """Validate a value by both schemas. If the first does not accept it, the second is not asked."""
    is_accepted = accepts.accepts(value)
    is_also_accepted = refuses.accepts(value) if is_accepted else None
    return Witness(value, is_accepted, None if is_also_accepted is None else not is_also_accepted)


def find_witness(outcome: Result, accepts: Checker, refuses: Checker) -> Witness | None:
    """The confirmed witness among the values that the prover found or guessed; `None` if there is none."""
    possible = (value for value in _list_candidates(outcome) if _is_possible(value, accepts, refuses))
    witnesses = (judge(value, accepts, refuses) for value in possible)
    return next((witness for witness in witnesses if witness.verified), None)


def _list_candidates(outcome: Result) -> tuple[Json, ...]:
    if isinstance(outcome, Satisfied):
        return (outcome.value, _write_floats(outcome.value))
    return (*outcome.guess, *_SIMPLE) if isinstance(outcome, Unknown) else ()


def _write_floats(value: Json) -> Json:
    """Replace large integers by the floats that denote them in JSON, which are not equal to them in Python: `1e308` is not `10**308`."""
    match value:
        case int() if abs(value) > LARGEST_EXACT:
            return number if (number := as_float(Fraction(value))) is not None else value
        case list():
            return [_write_floats(item) for item in value]
        case dict():
            return {name: _write_floats(member) for name, member in value.items()}
        case _:
            return value


def write_fractions(value: Json) -> Json:
    """Replace every integer for which there is a float by that float, with a fraction of zero: 1.0 for 1."""
    if isinstance(value, dict):
        return {name: write_fractions(member) for name, member in value.items()}
    if isinstance(value, list):
        return [write_fractions(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return value if (number := as_float(Fraction(value))) is None else number
    return value
