"""Witnesses: values that one schema accepts and another refuses.

None is shown that the reference validator has not confirmed, nor one that the validator reads otherwise than ECMA-262 or exact numbers do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Final

from schema_inclusion.answers import Witness
from schema_inclusion.budget import OverBudget
from schema_inclusion.ecma import LONGEST_AT_ONCE
from schema_inclusion.forms import Forms
from schema_inclusion.formula import Formula
from schema_inclusion.inclusion import Prover
from schema_inclusion.meaning import holds
from schema_inclusion.outcome import Outcome, Satisfied, Unknown
from schema_inclusion.places import Part, is_at
from schema_inclusion.validation import ReferenceValidator, longest_text
from schema_inclusion.values import Json, as_float

MOST_VALUES: Final = 24
MOST_CHANGES: Final = 40
MOST_CANDIDATES: Final = 600
FEWEST_CANDIDATES: Final = 20
"""As many are tried where a schema is too large for a formula, which would rule most of them out."""
MOST_UNANSWERED: Final = 3
LARGEST_EXACT: Final = 2**52
"""Below it, a float holds every whole number and a half beside it."""

_TEXTS: Final = ("", "a", "A", "ab", "0", "/", "a b", "é", "aaaaaaaaaaaaaaaaaaaa")
_LISTS: Final[list[Json]] = [[], [None], [0], [0, 0], ["a", 1]]
_OBJECTS: Final[list[Json]] = [{}, {"a": None}, {"a": 1, "b": "b"}]
_SMALL: Final[tuple[Json, ...]] = (None, True, False, 0, 1, -1, 2, 0.5, 10, 1000, *_TEXTS, *_LISTS, *_OBJECTS)


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


def told(value: Json, accepts: Checker, refuses: Checker) -> Witness:
    """The value with what the validators say of it. Where one does not accept it, the other is not asked."""
    accepted = accepts.accepts(value)
    other = refuses.accepts(value) if accepted else None
    return Witness(value, accepted, None if other is None else not other)


def shown(outcome: Outcome, accepts: Checker, refuses: Checker) -> Witness | None:
    """The witness in what the prover found or guessed, if it is confirmed."""
    possible = (value for value in _offered(outcome) if _is_possible(value, accepts, refuses))
    witnesses = (told(value, accepts, refuses) for value in possible)
    return next((each for each in witnesses if each.verified), None)


def _offered(outcome: Outcome) -> tuple[Json, ...]:
    if isinstance(outcome, Satisfied):
        return (outcome.value, _in_floats(outcome.value))
    return outcome.guess if isinstance(outcome, Unknown) else ()


def _in_floats(value: Json) -> Json:
    """The value with the floats of large whole numbers, which Python does not call equal to them: `1e308` is not `10**308`."""
    match value:
        case int() if abs(value) > LARGEST_EXACT:
            return written if (written := as_float(Fraction(value))) is not None else value
        case list():
            return [_in_floats(each) for each in value]
        case dict():
            return {name: _in_floats(each) for name, each in value.items()}
        case _:
            return value


def with_fractions(value: Json) -> Json:
    """The value with a fraction of zero in every integer for which there is a float: 1.0 for 1."""
    if isinstance(value, dict):
        return {name: with_fractions(each) for name, each in value.items()}
    if isinstance(value, list):
        return [with_fractions(each) for each in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return value if (written := as_float(Fraction(value))) is None else written
    return value


def searched(prover: Prover, accepts: Checker, refuses: Checker, amount: int) -> Witness | None:
    """A witness among some values of what the first schema says, their small changes, and small values."""
    if accepts.validator.apart or refuses.validator.apart:
        return None
    candidates = (
        candidate
        for value in (*_values(prover, accepts.formula), *_SMALL)
        for candidate in islice((value, *_changed(value)), MOST_CHANGES)
        if longest_text(candidate) <= LONGEST_AT_ONCE
    )
    unanswered = 0
    for candidate in islice(candidates, amount):
        if not _is_possible(candidate, accepts, refuses):
            continue
        witness = told(candidate, accepts, refuses)
        if witness.verified:
            return witness
        unanswered += witness.accepted is None
        if unanswered > MOST_UNANSWERED:
            return None
    return None


def _values(prover: Prover, formula: Formula) -> Iterator[Json]:
    """Different values of the formula, as far as the budget goes."""
    forms: Forms = prover.forms
    try:
        for _ in range(MOST_VALUES):
            values = _offered(prover.decide(formula))
            if not values:
                return
            yield values[0]
            formula = forms.all_of(formula, forms.negate(forms.constant(values[0])))
    except (OverBudget, RecursionError):
        prover.reset()


def _changed(value: Json) -> Iterator[Json]:
    """The value with one part of it replaced by another small value, or left out."""
    if isinstance(value, dict):
        for name, inner in value.items():
            rest = {other: each for other, each in value.items() if other != name}
            yield rest
            yield from ({**value, name: each} for each in (*_SMALL, *islice(_changed(inner), 20)))
        yield {**value, "other": None}
    elif isinstance(value, list):
        yield [*value, *value[-1:]]
        for index, inner in enumerate(value):
            yield [*value[:index], *value[index + 1 :]]
            yield from ([*value[:index], each, *value[index + 1 :]] for each in (*_SMALL, *islice(_changed(inner), 20)))
    elif isinstance(value, str):
        yield from (value + "a", value + "/", value[:-1], value.upper(), "/" + value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from (value + 1, value - 1, -value, value * 10)
        if abs(value) < LARGEST_EXACT:
            yield from (value + 0.5, float(value))
