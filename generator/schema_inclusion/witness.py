"""Find values that one schema accepts and another refuses, confirmed by validators.

None is shown that the reference validator has not confirmed, nor one that the validator reads otherwise than ECMA-262 or exact numbers do.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

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
"""What is tried where the proof failed: a schema may be too large for it, and be told apart from another by as little."""

LARGEST_EXACT: Final = 2**52
"""Below it, a float holds every whole number and a half beside it."""


@dataclass(frozen=True, slots=True, eq=False)
class Checker:
    """One schema: the reference validator of it, and its formula. Where there are steps, something stands there that `refused` refuses."""

    validator: ReferenceValidator
    forms: Forms
    formula: Formula
    at: tuple[str | int | Part | ReferenceValidator, ...] = ()
    refused: ReferenceValidator | None = None

    def accepts(self, value: Json) -> bool | None:
        """Whether the schema accepts the value, and the culprit is at its place; `None` if a validator cannot say."""
        accepted = self.validator.accepts(value)
        return is_at(value, self.at, ReferenceValidator.accepts, self._is_culprit) if accepted else accepted

    def _is_culprit(self, value: Json) -> bool | None:
        accepted = False if self.refused is None else self.refused.accepts(value)
        return None if accepted is None else not accepted

    def means(self, value: Json) -> bool | None:
        """Whether the value satisfies the formula; `None` if that cannot be told."""
        try:
            return holds(self.forms, self.formula, value)
        except (OverBudget, RecursionError):
            return None


def _is_possible(value: Json, accepts: Checker, refuses: Checker) -> bool:
    """Whether neither formula says of the value what a witness cannot be."""
    return accepts.means(value) is not False and refuses.means(value) is not True


def judge(value: Json, accepts: Checker, refuses: Checker) -> Witness:
    """The value with what the validators say of it. Where one does not accept it, the other is not asked."""
    accepted = accepts.accepts(value)
    other = refuses.accepts(value) if accepted else None
    return Witness(value, accepted, None if other is None else not other)


def find_witness(outcome: Result, accepts: Checker, refuses: Checker) -> Witness | None:
    """The witness in what the prover found or guessed, if it is confirmed."""
    possible = (value for value in _list_candidates(outcome) if _is_possible(value, accepts, refuses))
    witnesses = (judge(value, accepts, refuses) for value in possible)
    return next((each for each in witnesses if each.verified), None)


def _list_candidates(outcome: Result) -> tuple[Json, ...]:
    if isinstance(outcome, Satisfied):
        return (outcome.value, _write_floats(outcome.value))
    return (*outcome.guess, *_SIMPLE) if isinstance(outcome, Unknown) else ()


def _write_floats(value: Json) -> Json:
    """The value with the floats of large whole numbers, which Python does not call equal to them: `1e308` is not `10**308`."""
    match value:
        case int() if abs(value) > LARGEST_EXACT:
            return written if (written := as_float(Fraction(value))) is not None else value
        case list():
            return [_write_floats(each) for each in value]
        case dict():
            return {name: _write_floats(each) for name, each in value.items()}
        case _:
            return value


def write_fractions(value: Json) -> Json:
    """The value with a fraction of zero in every integer for which there is a float: 1.0 for 1."""
    if isinstance(value, dict):
        return {name: write_fractions(each) for name, each in value.items()}
    if isinstance(value, list):
        return [write_fractions(each) for each in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return value if (written := as_float(Fraction(value))) is None else written
    return value
