"""The report as GitLab Code Quality JSON, which merge requests show beside the changed lines.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

from acpgen.diagnostics import outline
from acpgen.diagnostics.model import Diagnostic, DiagnosticReport
from acpgen.ir import JSON

_SEVERITIES: Final = {"error": "critical", "warning": "minor", "note": "info"}


def make_code_quality(report: DiagnosticReport) -> JSON:
    """One entry per diagnostic; those that need no attention are omitted."""
    return [*_list_entries(report)]


def _list_entries(report: DiagnosticReport) -> Iterator[JSON]:
    used_fingerprints: set[str] = set()
    for diagnostic in report.diagnostics:
        if diagnostic.level == "none":
            continue
        severity = "major" if diagnostic.severity == "undecided" else _SEVERITIES[diagnostic.level]
        path, line = next(((location.file, location.line) for location in diagnostic.locations), (".", 0))
        yield {
            "description": _describe(diagnostic),
            "check_name": diagnostic.rule,
            "fingerprint": _make_fingerprint(diagnostic, used_fingerprints),
            "severity": "info" if diagnostic.waived else severity,
            "location": {"path": path, "lines": {"begin": line or 1}},
        }


def _describe(diagnostic: Diagnostic) -> str:
    headline = outline.write_headline(diagnostic)
    parts = (f"{diagnostic.severity}: {headline}", *diagnostic.details, diagnostic.waived, diagnostic.advice)
    return " ".join(filter(None, parts))


def _make_fingerprint(diagnostic: Diagnostic, used_fingerprints: set[str]) -> str:
    """The fingerprint, with a number if another entry has it: GitLab shows only one entry per fingerprint."""
    # Without lines, which other edits move.
    places = (f"{place.file}#{place.pointer}" for place in diagnostic.locations)
    identity = " ".join((diagnostic.rule, diagnostic.message, *places))
    first = diagnostic.fingerprint or hashlib.sha256(identity.encode(errors="replace")).hexdigest()[:16]
    name, number = first, 1
    while name in used_fingerprints:
        number += 1
        name = f"{first}-{number}"
    used_fingerprints.add(name)
    return name
