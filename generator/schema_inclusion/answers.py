"""Answers: a verdict with its reason, and a witness or an instance."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from schema_inclusion.values import Json


class Verdict(Enum):
    """The answer to a question."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Witness:
    """A value with a validator's verdicts: whether one schema accepted it and the other refused it; `None` if the validator cannot tell."""

    value: Json
    accepted: bool | None
    refused: bool | None

    @property
    def verified(self) -> bool:
        """Whether the validator has confirmed both verdicts."""
        return self.accepted is True and self.refused is True


@dataclass(frozen=True, slots=True)
class Relation:
    """Whether one schema includes another: the verdict with its reason, and a witness for "no"."""

    verdict: Verdict
    reason: str
    witness: Witness | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The relation of two schemas in both directions.

    `backward`: everything valid under the old schema is valid under the new one; `forward`: the reverse. `same`: the schemas are equal,
    or equal in normal form.
    """

    backward: Relation
    forward: Relation
    same: bool


@dataclass(frozen=True, slots=True)
class Satisfiability:
    """Whether any value is valid under a schema; for "yes" with an instance, as a witness that the schema accepts it."""

    verdict: Verdict
    reason: str
    instance: Witness | None = None
