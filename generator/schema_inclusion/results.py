"""Results of a proof: a value, a proof that there is none, or a doubt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from msgspec import Struct

from schema_inclusion.values import Json


class Satisfied(Struct, frozen=True):
    """A value that satisfies the formula."""

    value: Json


class Empty(Struct, frozen=True):
    """A proof that nothing satisfies the formula."""


class Unknown(Struct, frozen=True):
    """Neither was shown, with the reason. `guess` holds at most one value that may satisfy the formula."""

    reason: str
    guess: tuple[Json, ...] = ()


Result: TypeAlias = Satisfied | Empty | Unknown

EMPTY = Empty()


def combine_doubts(doubt: Empty | Unknown, outcome: Empty | Unknown) -> Empty | Unknown:
    """Combine two searches that found no value: the result is a doubt of either, preferably one with a guess."""
    is_new = isinstance(doubt, Empty) or (not doubt.guess and isinstance(outcome, Unknown) and outcome.guess)
    return outcome if is_new else doubt


def collect(outcomes: Iterable[Result]) -> Result:
    """Combine outcomes into a list of values, one for each; with a doubt, into a guess if each of them has a value."""
    values: list[Json] = []
    doubt: Unknown | None = None
    is_whole = True
    for outcome in outcomes:
        if isinstance(outcome, Empty):
            return EMPTY
        candidates = outcome.guess[:1] if isinstance(outcome, Unknown) else (outcome.value,)
        values.extend(candidates)
        is_whole = is_whole and bool(candidates)
        if isinstance(outcome, Unknown):
            doubt = doubt or outcome
    return Satisfied(values) if doubt is None else Unknown(doubt.reason, (values,) if is_whole else ())
