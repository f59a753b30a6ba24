"""The formats that are pure JSON: the whole report, and a badge with its verdict for badge services (https://shields.io/endpoint)."""

from __future__ import annotations

from typing import Final

from acpgen.diagnostics.model import DiagnosticReport, Tone, get_tone
from acpgen.ir import JSON

_COLOURS: Final[dict[Tone, str]] = {
    "good": "brightgreen",
    "quiet": "brightgreen",
    "warning": "yellow",
    "bad": "red",
    "unknown": "lightgrey",
}


def make_json(report: DiagnosticReport) -> JSON:
    """The whole report."""
    return report.data()


def make_badge(report: DiagnosticReport) -> JSON:
    """The verdict as a badge."""
    return {
        "schemaVersion": 1,
        "label": report.label,
        "message": report.badge or report.verdict,
        "color": _COLOURS[get_tone(report.verdict)],
    }
