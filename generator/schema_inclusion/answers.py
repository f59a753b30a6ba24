"""Answers to questions: a verdict with its reason, and a witness or an instance."""

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
    """A value, and what a validator said of it: accepted by one schema, refused by the other; `None` if it could not say."""

    value: Json
    accepted: bool | None
    refused: bool | None

    @property
    def verified(self) -> bool:
        """Whether the validator has confirmed both sides."""
        return self.accepted is True and self.refused is True


@dataclass(frozen=True, slots=True)
class Relation:
    """Whether one schema includes another: a witness for "no", and for every verdict why it holds."""

    verdict: Verdict
    reason: str
    witness: Witness | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both directions. `backward`: what is valid under the old schema is valid under the new one; `forward`: the reverse.

    `same` says that the two mean the same on their face: equal, or equal in normal form.
    """

    backward: Relation
    forward: Relation
    same: bool


@dataclass(frozen=True, slots=True)
class Satisfiability:
    """Whether any value is valid under a schema: for "yes" an instance, a witness that the schema accepts it."""

    verdict: Verdict
    reason: str
    instance: Witness | None = None
