"""Which step brought each finding between the oldest and the newest revision.

A finding may come, go and come back: the step is the last one after which it stays. What was renamed first and removed later is gone for
peers of the oldest revision since it was renamed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from acpgen.compat.findings import SEVERITIES
from acpgen.compat.history.timeline import Milestone, Origin
from acpgen.errors import Faults

if TYPE_CHECKING:
    from acpgen.compat.history.comparisons import Comparisons
    from acpgen.compat.protocol.check.judged import Judged

Key: TypeAlias = "tuple[str | None, ...]"
"""What tells a finding between two revisions from others between the same two."""

_RENAMED: Final = {
    "method-removed": "method-renamed",
    "field-removed": "field-renamed",
    "required-field-removed": "field-renamed",
    "variant-removed": "variant-renamed",
    "closed-variant-removed": "variant-renamed",
}
"""What takes a name from peers that know no other, by what takes the thing."""


def origins(comparisons: Comparisons, milestones: Sequence[Milestone]) -> tuple[Origin, ...]:
    """The findings of the whole span, worst first, then by step; those of one step that say the same together."""
    found: list[dict[Key, Judged] | None] = [{}]
    found += [
        None if isinstance(each, Faults) else {_key(judged): judged for judged in each.judged}
        for each in comparisons.spans
    ]
    folded: dict[Origin, list[str]] = {}
    for judged in (found[-1] or {}).values():
        if judged.severity != "editorial":
            step = 1 + max(
                number for number, known in enumerate(found) if known is not None and not _stands(judged, known)
            )
            names = milestones[step - 1].name, milestones[step].name
            folded.setdefault(Origin(judged.rule, judged.severity, judged.said, (), *names), []).append(
                judged.declaration
            )
    order = {milestone.name: number for number, milestone in enumerate(milestones)}
    told = (replace(origin, declarations=tuple(sorted(set(names)))) for origin, names in folded.items())
    return tuple(sorted(told, key=lambda each: (SEVERITIES.index(each.severity), order[each.new])))


def _stands(judged: Judged, found: Mapping[Key, Judged]) -> bool:
    """Whether a finding is among those of a span, or what it says is gone has another name there."""
    renamed = _RENAMED.get(judged.rule)
    return _key(judged) in found or (
        renamed is not None
        and any(each.rule == renamed and _former(each) == _former(judged) for each in found.values())
    )


def _key(judged: Judged) -> Key:
    return judged.rule, judged.severity, judged.method, judged.flow, judged.location, judged.subject


def _former(judged: Judged) -> Key:
    """What a finding takes from peers of the older revision."""
    return judged.severity, judged.method, judged.flow, judged.old_at
