"""The formats that are JSON alone: the whole report, and a badge with its verdict as badge services read it (https://shields.io/endpoint)."""

from __future__ import annotations

from typing import Final

from acpgen.diagnostics.model import DiagnosticReport, Tone, tone
from acpgen.ir import JSON

_COLOURS: Final[dict[Tone, str]] = {
    "good": "brightgreen",
    "quiet": "brightgreen",
    "warning": "yellow",
    "bad": "red",
    "unknown": "lightgrey",
}


def make_json(report: DiagnosticReport) -> JSON:
    """All that was found."""
    return report.data()


def make_badge(report: DiagnosticReport) -> JSON:
    """The verdict as a badge, which says no more than was judged."""
    return {
        "schemaVersion": 1,
        "label": report.label,
        "message": report.badge or report.verdict,
        "color": _COLOURS[tone(report.verdict)],
    }
