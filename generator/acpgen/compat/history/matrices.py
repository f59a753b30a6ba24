"""Which revisions understand each other: peers of each revision with peers of each other one."""

from __future__ import annotations

from collections.abc import Sequence

from acpgen.compat.findings import Revision
from acpgen.compat.history.comparisons import Comparisons
from acpgen.compat.history.exchanges import DOCUMENTS, flows, outcome
from acpgen.compat.history.timeline import Matrix, Milestone, Outcome


def matrix(comparisons: Comparisons, milestones: Sequence[Milestone], most: int) -> Matrix:
    """The matrix of the newest groups of revisions, as many as `most`."""
    rows = comparisons.rows
    shown = rows[len(rows) - most :] if len(rows) > most else rows
    members = {
        row: [m.label for m, group in zip(milestones, comparisons.groups, strict=True) if group == row] for row in rows
    }
    known = flows([comparisons.sides[row].meaning for row in shown])
    outcomes: dict[tuple[str, int, int], Outcome] = {}
    for late, new in enumerate(shown):
        for flow in known:
            outcomes[flow, late, late] = "yes"
        for early, old in enumerate(shown[:late]):
            found = comparisons.between(old, new)
            for flow in known:
                for sender, pair in _pairs(early, late):
                    outcomes[flow, *pair] = "undecided" if found is None else outcome(found.judged, flow, sender, known)
    silent = {
        flow
        for flow in known[1:]
        if flow == DOCUMENTS and {outcomes[each] for each in outcomes if each[0] == flow} <= {"yes"}
    }
    return Matrix(
        rows=tuple(tuple(members[row]) for row in shown),
        flows=tuple(flow for flow in known if flow not in silent),
        outcomes={key: value for key, value in outcomes.items() if key[0] not in silent},
        left_out=tuple(name for row in rows[: len(rows) - len(shown)] for name in members[row]),
        comparisons=comparisons.count,
    )


def _pairs(early: int, late: int) -> tuple[tuple[Revision, tuple[int, int]], ...]:
    """Who sends and who receives: the older revision to the newer one, and the reverse."""
    return ("old", (early, late)), ("new", (late, early))
