"""Words and order that the formats for people share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from acpgen.compat.findings import SEVERITIES, Coverage, Finding, Inclusion, Report, Spot, Witness, counts
from acpgen.ir import JSON

OUTSIDE = "The protocol as a whole"
SCHEMAS = "The schemas"
PAPER = "Names and words"
NOTES = "Notes"


def by_method(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """The findings grouped by method, the group with the worst finding first, then as they came."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.method or _without_method(finding), []).append(finding)
    return dict(sorted(groups.items(), key=lambda group: (SEVERITIES.index(group[1][0].severity), group[0] == PAPER)))


def _without_method(finding: Finding) -> str:
    if finding.rule.startswith("language-"):
        return SCHEMAS
    return PAPER if finding.severity == "editorial" else OUTSIDE


def flow(finding: Finding) -> str:
    """Who sends to whom: `client → agent`."""
    sender, arrow, receiver = finding.flow.partition("-to-")
    return f"{sender} → {receiver}" if arrow else "either side"


def proof(witness: Witness) -> str:
    """What a witness shows."""
    if witness.carried_by is not None:
        return f"A message that the {witness.carried_by} side understands in full:"
    return f"The {witness.accepted_by} side accepts this message, the {witness.refused_by} one refuses it:"


def message(value: JSON, width: int) -> str:
    """A JSON value on one line if it fits, else indented."""
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= width else json.dumps(value, indent=2, ensure_ascii=False)


def tally(report: Report) -> str:
    """How many findings there are of each severity, and how many notes."""
    parts = [f"{count} {severity}" for severity, count in counts(report).items()]
    if report.notes:
        parts.append(f"{len(report.notes)} {'note' if len(report.notes) == 1 else 'notes'}")
    return ", ".join(parts)


def place(spot: Spot | None) -> str:
    """`file:line:column`, or a dash."""
    return "—" if spot is None else f"{spot.file}:{spot.line}:{spot.column}"


def path(spot: Spot) -> str:
    """The file without the revision that it was read at: where services look for it in the repository."""
    return spot.file.partition(":")[2] or spot.file


def summary(report: Report) -> list[tuple[str, str]]:
    """The verdicts beside the main one, in words."""
    wire = report.wire
    if report.merge_base is not None:
        base = report.merge_base
        rest = summary(replace(report, merge_base=None))
        return [("old revision", f"{base.short}, the merge base of {base.one} and {base.other}"), *rest]
    if report.mode == "language":
        return [
            ("schema inclusion", _inclusion(wire)),
            ("generated code", report.bindings),
        ]
    rows = [
        ("old peers to new peers", wire.backward),
        ("new peers to old peers", wire.forward),
        ("schema inclusion", _inclusion(report.language)),
        ("generated code", report.bindings),
    ]
    return rows if report.coverage is None else [*rows, ("compared", _coverage(report.coverage))]


def _inclusion(found: Inclusion) -> str:
    return f"old ⊆ new {found.backward}; new ⊆ old {found.forward}"


def _coverage(coverage: Coverage) -> str:
    """`76 methods, 240 definitions`, or how many of the definitions, and how much else."""
    told = f"{_counted(coverage.methods, 'method')}, {_counted(coverage.definitions, 'definition')}"
    left = len(coverage.not_compared)
    return f"{told}, all but {left}" if left else told


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
