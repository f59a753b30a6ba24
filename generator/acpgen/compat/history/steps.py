"""Compares the revisions of a history: each with the one before it, and with the first one.

Neither is composed of the other. A field that one step drops and the next one claims for something else is harmless in each step, and
refused across both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final, TypeAlias

from acpgen.compat.compare import Side, reported
from acpgen.compat.findings import BUDGET, SEVERITIES, Finding, Report
from acpgen.compat.history.timeline import Milestone, Origin, Stride, Timeline, bump
from acpgen.errors import Faults

Compare: TypeAlias = Callable[[Side, Side], Report]
"""The report of two revisions. Raises `Faults`."""

Key: TypeAlias = "tuple[object, ...]"
"""What tells a finding between two revisions from others between the same two."""

_RENAMED: Final = {
    "method-removed": "method-renamed",
    "field-removed": "field-renamed",
    "required-field-removed": "field-renamed",
    "variant-removed": "variant-renamed",
    "closed-variant-removed": "variant-renamed",
}
"""What takes a name from peers that know no other, by what takes the thing."""


@dataclass(frozen=True, slots=True)
class Read:
    """A revision as it was read; `side` is `None` where it could not be, and the milestone says why."""

    milestone: Milestone
    side: Side | None = field(repr=False)


def timeline(
    about: str,
    revisions: Sequence[Read],
    *,
    notes: Sequence[str] = (),
    waived: Callable[[Report], Report] = lambda report: report,
    budget: int = BUDGET,
    formats: bool = False,
    compare: Compare | None = None,
) -> Timeline:
    """The history of revisions, oldest first. `waived` marks the findings of a step that are accepted.

    `budget` are the steps that the proofs of one comparison may take together; `formats` are asserted, or annotate. `compare` stands for
    the usual comparison.
    """
    readable = [(each.milestone, each.side) for each in revisions if each.side is not None]

    def compared(old: int, new: int) -> Report | Faults:
        sides = readable[old][1], readable[new][1]
        try:
            return compare(*sides) if compare is not None else reported(*sides, budget=budget, formats=formats)
        except Faults as faults:
            return faults

    steps = [compared(number - 1, number) for number in range(1, len(readable))]
    spans = steps[:1]
    for number, step in enumerate(steps[1:], 2):
        spans.append(spans[-1] if _is_silent(step) else compared(0, number))
    milestones = [milestone for milestone, _ in readable]
    strides: list[Stride] = []
    for (old, new), step in zip(pairwise(milestones), steps, strict=True):
        report = None if isinstance(step, Faults) else waived(step)
        verdict = None if report is None else report.verdict
        strides.append(Stride(old, new, report, bump(verdict, old, new), str(step) if report is None else ""))
    return Timeline(
        about, tuple(each.milestone for each in revisions), tuple(strides), _origins(spans, milestones), tuple(notes)
    )


def _is_silent(step: Report | Faults) -> bool:
    """Whether no message shows a step, so that all is as it was before it."""
    if isinstance(step, Faults) or step.verdict not in ("identical", "editorial"):
        return False
    return step.wire.backward == step.wire.forward == "yes"


def _origins(spans: Sequence[Report | Faults], milestones: Sequence[Milestone]) -> tuple[Origin, ...]:
    """The findings between the oldest and the newest revision, worst first, then by the step that brought each; those of one step that
    say the same together.

    A finding may come, go and come back: the step is the last one after which it stays. What was renamed first and removed later is gone
    for peers of the oldest revision since it was renamed.
    """
    known: list[Mapping[Key, Finding] | None] = [{}]
    known += [None if isinstance(each, Faults) else {_key(one): one for one in each.findings} for each in spans]
    folded: dict[Origin, list[str]] = {}
    for finding in (known[-1] or {}).values():
        if finding.severity != "editorial":
            before = [number for number, found in enumerate(known) if found is not None and not _stands(finding, found)]
            names = milestones[before[-1]].name, milestones[before[-1] + 1].name
            origin = Origin(finding.rule, finding.severity, finding.message, (), *names)
            folded.setdefault(origin, []).append(finding.declaration)
    order = {milestone.name: number for number, milestone in enumerate(milestones)}
    origins = (replace(origin, declarations=tuple(sorted(set(names)))) for origin, names in folded.items())
    return tuple(sorted(origins, key=lambda each: (SEVERITIES.index(each.severity), order[each.new])))


def _stands(finding: Finding, found: Mapping[Key, Finding]) -> bool:
    """Whether a finding is among those of a span, or what it says is gone has another name there."""
    renamed = _RENAMED.get(finding.rule)
    others = (each for each in found.values() if renamed is not None and each.rule == renamed)
    return _key(finding) in found or any(_former(each) == _former(finding) for each in others)


def _key(finding: Finding) -> Key:
    return finding.rule, finding.severity, finding.method, finding.flow, finding.location, finding.declaration


def _former(finding: Finding) -> Key:
    """What a finding takes from peers of the older revision."""
    return finding.severity, finding.method, finding.flow, str(finding.old)
