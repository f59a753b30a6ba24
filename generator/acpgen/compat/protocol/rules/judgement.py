"""What a rule says of a fact, and the words that rules share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from acpgen.compat.findings import Revision
from acpgen.compat.protocol.policy import Weight


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a rule says of a fact.

    A refusal names the revision that accepts (`accepted_by`), a loss the one that carries the meaning (`carried_by`); with both, a
    refusal is looked for first.
    `gate` is the capability that holds an addition back; `ungated` says what happens without one, `None` of what no capability can gate.
    `within` is the place inside the pair, `subject` what tells this finding from
    others of the same rule at the same place: `None` where only the two texts do. `between` are the exchanges that fail, where neither
    revision's messages are refused or lost: words with `{sender}` and `{receiver}`.
    """

    weight: Weight
    message: str
    advice: str
    within: str = ""
    subject: str | None = ""
    accepted_by: Revision | None = None
    carried_by: Revision | None = None
    gate: str | None = None
    ungated: str | None = None
    between: tuple[str, ...] = ()


UNASKED: Final = "a new {sender} that talks to an old {receiver}"
UNASKED_OF_NEW: Final = "an old {sender} that talks to a new {receiver}"

GATE: Final = "Gate it with 'x-capability', so that it is never sent to old peers."


def seems(was: object, seems: str | None) -> str:
    """An advice where a new member may be the old one."""
    return "" if seems is None else f"If {was!r} was renamed to {seems!r}, declare it on {seems!r} with 'x-was'. "
