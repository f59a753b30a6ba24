"""What the prover finds out about a formula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from schema_inclusion.values import Json


@dataclass(frozen=True, slots=True)
class Satisfied:
    """A value that satisfies the formula."""

    value: Json


@dataclass(frozen=True, slots=True)
class Empty:
    """Nothing satisfies the formula: proven."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Neither was shown, and why. `guess` holds at most one value worth trying: it may satisfy the formula."""

    reason: str
    guess: tuple[Json, ...] = ()


Outcome: TypeAlias = Satisfied | Empty | Unknown

EMPTY = Empty()
