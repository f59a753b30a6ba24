"""Puts a history together from revisions that were read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from acpgen.compat.compare import Side, checked
from acpgen.compat.findings import BUDGET, Report
from acpgen.compat.history.bumps import bump
from acpgen.compat.history.comparisons import Comparisons
from acpgen.compat.history.dating import origins
from acpgen.compat.history.timeline import Milestone, Stride, Timeline

if TYPE_CHECKING:
    from acpgen.compat.protocol.check.judged import Checked


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
) -> Timeline:
    """The history of revisions, oldest first. `waived` marks the findings of a step that are accepted.

    `budget` are the steps that the proofs of one comparison may take together; `formats` are asserted, or annotate.
    """
    readable = [(each.milestone, each.side) for each in revisions if each.side is not None]
    sides = [side for _, side in readable]

    def compared(old: int, new: int) -> Checked:
        return checked(sides[old], sides[new], budget=budget, formats=formats)

    comparisons = Comparisons(sides, compared)
    milestones = [milestone for milestone, _ in readable]
    strides = [
        Stride(old, new, None, bump(None, old, new), str(found))
        if not isinstance(found, Report)
        else Stride(old, new, (report := waived(found)), bump(report.verdict, old, new))
        for (old, new), found in zip(pairwise(milestones), comparisons.reports, strict=True)
    ]
    dated = origins(comparisons, milestones) if milestones else ()
    return Timeline(about, tuple(each.milestone for each in revisions), tuple(strides), dated, tuple(notes))
