"""The outcome of a probe as JSON. Transcripts are lines of a recording, as `acpgen validate --session` reads them."""

from __future__ import annotations

import json
from typing import Any

from acpgen.probe.conformance import Conformance, Proven, TranscriptLine
from acpgen.probe.report.telling import again


def json_text(report: Conformance) -> str:
    """The outcome as JSON."""
    return json.dumps(as_value(report), indent=2, ensure_ascii=False) + "\n"


def as_value(report: Conformance) -> dict[str, Any]:
    """The outcome as a JSON value."""
    from acpgen import __version__

    return {
        "acpgen": __version__,
        "command": list(report.command),
        "side": report.side,
        "seed": report.seed,
        "program": dict(report.program),
        "versions": list(report.versions),
        "verdict": report.verdict,
        "counts": {level: report.counts[level] for level in ("must", "should", "note")},
        "findings": [finding(one, report) for one in report.findings],
        "reached": report.reached,
        "not_reached": [{"case": one.case, "reason": one.reason} for one in report.not_reached],
        **({} if report.versions else {"standard_error": report.errors}),
        "known": [{"fingerprint": one.fingerprint, "rule": one.rule, "message": one.message} for one in report.known],
        "gone": [dict(one) for one in report.gone],
        "seconds": round(report.seconds, 1),
    }


def finding(one: Proven, report: Conformance) -> dict[str, Any]:
    """A finding as a JSON value."""
    return {
        "rule": one.rule,
        "requirement": {
            "document": one.clause.document,
            "section": one.clause.section,
            "number": one.clause.number,
            "says": one.clause.says,
        },
        "level": one.level,
        "message": one.message if one.times == 1 else f"{one.message} ({one.times} times)",
        "transcript": [_line(row) for row in one.transcript],
        "reproduce": {
            "command": again(one, report),
            "case": one.case,
            "message": one.sent.decode("utf-8", "backslashreplace"),
            "fingerprint": one.fingerprint,
        },
    }


def _line(row: TranscriptLine) -> dict[str, Any]:
    if row.is_gap:
        return {"from": row.sender, "gap": True}
    try:
        return {"from": row.sender, "message": json.loads(row.message)}
    except (ValueError, RecursionError):
        return {"from": row.sender, "text": row.message.decode("utf-8", "backslashreplace")}
