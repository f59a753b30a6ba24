"""The formats that are JSON alone: the whole report, and a badge with its verdict as badge services read it (https://shields.io/endpoint)."""

from __future__ import annotations

from typing import Final

from acpgen.diagnostics.model import DiagnosticReport, Tone, tone
from acpgen.input.numbers import dumps

_COLOURS: Final[dict[Tone, str]] = {
    "good": "brightgreen",
    "quiet": "brightgreen",
    "warning": "yellow",
    "bad": "red",
    "unknown": "lightgrey",
}


def json_text(report: DiagnosticReport) -> str:
    """The report as JSON."""
    return dumps(report.data(), indent=2, ensure_ascii=False) + "\n"


def badge(report: DiagnosticReport) -> str:
    """The verdict as a badge, which says no more than was judged."""
    row = {
        "schemaVersion": 1,
        "label": report.label,
        "message": report.badge or report.verdict,
        "color": _COLOURS[tone(report.verdict)],
    }
    return dumps(row, indent=2, ensure_ascii=False) + "\n"
