"""The report as GitLab Code Quality JSON, which merge requests show beside the changed lines.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Final

from acpgen.compat.findings import Finding, Note, Report, Spot
from acpgen.compat.report import wording
from acpgen.ir import JSON

_SEVERITIES: Final = {"breaking": "critical", "undecided": "major", "risky": "minor", "additive": "info"}


def code_quality(report: Report, _: str = "risky") -> str:
    """One entry a finding or note; what is editorial is left out, since nobody need look at it."""
    taken: set[str] = set()
    entries = [{**entry, "fingerprint": _unique(str(entry["fingerprint"]), taken)} for entry in _entries(report)]
    return json.dumps(entries, indent=2, ensure_ascii=False) + "\n"


def _entries(report: Report) -> Iterator[dict[str, JSON]]:
    for finding in report.findings:
        if finding.severity in _SEVERITIES:
            waived = finding.waived
            severity = "info" if waived is not None else _SEVERITIES[finding.severity]
            yield _entry(finding.rule, _told(finding), finding.fingerprint, severity, finding.new or finding.old)
    for note in report.notes:
        yield _entry(note.rule, f"{note.message} {note.advice}", _known(note), "info", note.at)


def _entry(rule: str, text: str, fingerprint: str, severity: str, spot: Spot | None) -> dict[str, JSON]:
    path, line = (".", 1) if spot is None else (wording.path(spot), spot.line)
    return {
        "description": text,
        "check_name": rule,
        "fingerprint": fingerprint,
        "severity": severity,
        "location": {"path": path, "lines": {"begin": line}},
    }


def _told(finding: Finding) -> str:
    name, reached = wording.name(finding), wording.reached(finding, way=False)
    about = f"{name} ({reached})" if reached else name
    parts = [f"{finding.severity}: {about}: {finding.message}" if about else f"{finding.severity}: {finding.message}"]
    if finding.breaks:
        parts.append(f"Breaks {finding.breaks}.")
    if finding.waived is not None:
        parts.append(f"Waived until {finding.waived.until}: {finding.waived.reason}")
    parts.append(finding.advice)
    return " ".join(parts)


def _known(note: Note) -> str:
    """What tells a note from others."""
    return hashlib.sha256(f"{note.rule} {note.message} {note.at}".encode(errors="replace")).hexdigest()[:16]


def _unique(fingerprint: str, taken: set[str]) -> str:
    """The fingerprint, with a number where another entry has it: of two with one fingerprint GitLab shows one."""
    name, number = fingerprint, 1
    while name in taken:
        number += 1
        name = f"{fingerprint}-{number}"
    taken.add(name)
    return name
