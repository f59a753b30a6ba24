"""What is tried for the findings of each rule, in this order, and why no edit keeps the change where none does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from acpgen.compat.repair.attempts import Candidate
from acpgen.compat.repair.case import Case
from acpgen.compat.repair.keeping import (
    free_extension,
    gates,
    keep_deprecated,
    keep_method,
    make_optional,
    method_beside,
)
from acpgen.compat.repair.restoring import take_back

Strategy: TypeAlias = Callable[[Case], Iterator[Candidate]]


@dataclass(frozen=True, slots=True)
class Plan:
    """`why` says why old and new peers cannot both be served while the change stands; empty where edits keep it."""

    strategies: tuple[Strategy, ...]
    why: str = ""


_SENT: Final = "New peers may send it, and old peers reject it, whatever the new schema says."
_REFUSED: Final = "Old peers may send it, so the new schema must accept it."
_UNHEARD: Final = "Old peers may send it, and its meaning must not change."
_UNGATED: Final = "Old peers reject it, and no capability can be declared here that would gate it."
_NEEDED: Final = "Old peers rely on it."
_READ: Final = "Old and new peers would read the same message differently."

_TAKEN_BACK: Final = (take_back,)

PLANS: Final[Mapping[str, Plan]] = {
    "method-removed": Plan((keep_method, take_back), _NEEDED),
    "method-renamed": Plan((keep_method, take_back), _NEEDED),
    "method-kind-changed": Plan((method_beside, take_back), _NEEDED),
    "position-changed": Plan(_TAKEN_BACK, _READ),
    "null-result-withdrawn": Plan(_TAKEN_BACK, _REFUSED),
    "batch-allowed": Plan(_TAKEN_BACK, _SENT),
    "batch-withdrawn": Plan(_TAKEN_BACK, _REFUSED),
    "closed-field-added": Plan((gates, take_back), _UNGATED),
    "required-field-added": Plan((make_optional, take_back), _UNGATED),
    "field-removed": Plan((keep_deprecated, take_back), _NEEDED),
    "field-renamed": Plan((keep_deprecated, take_back), _NEEDED),
    "required-field-removed": Plan((keep_deprecated, take_back), _NEEDED),
    "extension-declared": Plan((free_extension, take_back), _REFUSED),
    "extension-undeclared": Plan((keep_deprecated, take_back), _NEEDED),
    "field-became-required": Plan(
        (make_optional, take_back), "Old peers may omit it, so the new schema must accept that."
    ),
    "field-became-optional": Plan(_TAKEN_BACK, "Old peers reject a message without it, whatever the new schema says."),
    "default-changed": Plan(_TAKEN_BACK, _READ),
    "null-meaning-changed": Plan(_TAKEN_BACK, _READ),
    "leniency-withdrawn": Plan(_TAKEN_BACK, _REFUSED),
    "gate-added": Plan(_TAKEN_BACK, "Old peers do not advertise the capability, and would no longer receive it."),
    "gate-removed": Plan(_TAKEN_BACK, "Old peers that do not advertise the capability do not expect it."),
    "gate-moved": Plan(_TAKEN_BACK, "Old peers advertise the old capability and not the new one."),
    "demand-changed": Plan(_TAKEN_BACK, "Old peers may advertise the capability and do not send the field."),
    "object-closed": Plan(_TAKEN_BACK, _REFUSED),
    "object-opened": Plan(_TAKEN_BACK, _SENT),
    "null-forbidden": Plan(_TAKEN_BACK, _REFUSED),
    "null-allowed": Plan(_TAKEN_BACK, _SENT),
    "format-changed": Plan(_TAKEN_BACK, _REFUSED),
    "type-changed": Plan(_TAKEN_BACK, _REFUSED),
    "type-narrowed": Plan(_TAKEN_BACK, _REFUSED),
    "type-widened": Plan(_TAKEN_BACK, _SENT),
    "limit-changed": Plan(_TAKEN_BACK, "Each revision rejects messages that the other may send."),
    "limit-tightened": Plan(_TAKEN_BACK, _REFUSED),
    "limit-loosened": Plan(_TAKEN_BACK, _SENT),
    "value-removed": Plan((keep_deprecated, take_back), _NEEDED),
    "closed-value-added": Plan((gates, take_back), _UNGATED),
    "closed-value-removed": Plan((keep_deprecated, take_back), _NEEDED),
    "values-unnamed": Plan(_TAKEN_BACK, _UNHEARD),
    "closed-variant-added": Plan((gates, take_back), _UNGATED),
    "variant-beside-default-added": Plan((gates, take_back), _UNGATED),
    "variant-renamed": Plan((keep_deprecated, take_back), _NEEDED),
    "variant-removed": Plan((keep_deprecated, take_back), _NEEDED),
    "closed-variant-removed": Plan((keep_deprecated, take_back), _NEEDED),
    "untagged-variant-added": Plan(_TAKEN_BACK, "No capability can gate a branch without a discriminator value."),
    "untagged-variant-removed": Plan((keep_deprecated, take_back), _NEEDED),
    "unknown-refused": Plan(_TAKEN_BACK, _REFUSED),
    "unknown-accepted": Plan(_TAKEN_BACK, _SENT),
    "tolerance-withdrawn": Plan(_TAKEN_BACK, _REFUSED),
    "tag-renamed": Plan(_TAKEN_BACK, "Old peers distinguish the variants only by the old member."),
    "alternative-added": Plan(_TAKEN_BACK, "No capability can gate an alternative without a discriminator value."),
    "alternative-removed": Plan((keep_deprecated, take_back), _NEEDED),
    "language-narrowed": Plan(_TAKEN_BACK, "What was valid must stay valid."),
}
"""The rules that may find something breaking or risky."""

OTHERWISE: Final = Plan(_TAKEN_BACK, "No edit that keeps the change is known.")
"""For rules that have no plan of their own."""


def candidates(case: Case) -> Iterator[Candidate]:
    """What may repair a finding, best first, each once."""
    tried: set[frozenset[tuple[str, str]]] = set()
    for strategy in PLANS.get(case.finding.rule, OTHERWISE).strategies:
        for candidate in strategy(case):
            if candidate.parts and candidate.identity not in tried:
                tried.add(candidate.identity)
                yield candidate
