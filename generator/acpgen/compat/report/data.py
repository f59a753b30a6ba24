"""The report as JSON. `report.schema.json` beside this file says what it looks like; keys may be added, never renamed."""

from __future__ import annotations

from dataclasses import asdict

from acpgen.compat.findings import (
    Coverage,
    Finding,
    Note,
    Reach,
    Report,
    Spot,
    Verdict,
    counts,
    failing,
    lowered,
    raised,
)
from acpgen.compat.report import repairs
from acpgen.ir import JSON
from acpgen.schema.numbers import dumps


def json_text(report: Report, fail_on: str = "risky") -> str:
    """The report as JSON text."""
    return dumps(as_data(report, fail_on), indent=2, ensure_ascii=False) + "\n"


def as_data(report: Report, fail_on: str = "risky") -> dict[str, JSON]:
    """The report as JSON."""
    return {
        "mode": report.mode,
        "old": report.old,
        "new": report.new,
        "verdict": report.verdict,
        "backward": report.wire.backward,
        "forward": report.wire.forward,
        "language": {"backward": report.language.backward, "forward": report.language.forward},
        "bindings": report.bindings,
        "counts": {str(severity): count for severity, count in counts(report).items()},
        "failing": len(failing(report, fail_on)),
        "findings": [finding_data(finding) for finding in report.findings],
        "notes": [_note_data(note) for note in report.notes],
        **({} if report.fix is None else {"fix": repairs.fix_data(report.fix)}),
        **({} if report.coverage is None else {"coverage": _coverage_data(report.coverage)}),
        **({"docs": report.docs} if report.docs else {}),
        **({} if report.earlier is None else {"earlier": list(report.earlier)}),
        **({} if report.unruled is None else {"policy": _policy_data(report, report.unruled)}),
        **({} if report.merge_base is None else {"merge_base": asdict(report.merge_base)}),
    }


def finding_data(finding: Finding) -> dict[str, JSON]:
    """One finding as JSON."""
    found: dict[str, JSON] = {
        "rule": finding.rule,
        "severity": finding.severity,
        "effect": finding.effect,
        "method": finding.method,
        "flow": finding.flow,
        "location": finding.location,
        "old": None if finding.old is None else str(finding.old),
        "new": None if finding.new is None else str(finding.new),
        "old_position": _position(finding.old),
        "new_position": _position(finding.new),
        "message": finding.message,
        "advice": finding.advice,
        "breaks": finding.breaks,
        "fingerprint": finding.fingerprint,
        "declaration": finding.declaration,
        "methods": list(finding.methods),
        "reaches": [_reach_data(reach) for reach in finding.reaches],
    }
    return {**found, **_proof_data(finding), **repairs.data(finding)}


def _reach_data(reach: Reach) -> dict[str, JSON]:
    found: dict[str, JSON] = {
        "method": reach.method,
        "flow": reach.flow,
        "location": reach.location,
        "severity": reach.severity,
        "effect": reach.effect,
        "message": reach.message,
        "breaks": reach.breaks,
        "sender": reach.sender,
        "fingerprint": reach.fingerprint,
    }
    return {**found, **_proof_data(reach)}


def _proof_data(proven: Finding | Reach) -> dict[str, JSON]:
    found: dict[str, JSON] = {}
    if proven.witness is not None:
        facts = asdict(proven.witness).items()
        found["witness"] = {key: value for key, value in facts if key == "value" or value is not None}
    if proven.waived is not None:
        ends = ("expires", proven.waived.expires) if proven.waived.expires else ("until", proven.waived.release)
        found["waived"] = {"reason": proven.waived.reason, ends[0]: ends[1]}
    if proven.ruled is not None:
        found["policy"] = {"judged": proven.ruled.judged, "reason": proven.ruled.reason}
    return found


def _policy_data(report: Report, verdict: Verdict) -> JSON:
    return {"lowered": len(lowered(report)), "raised": len(raised(report)), "verdict": verdict}


def _coverage_data(coverage: Coverage) -> JSON:
    return {
        "methods": coverage.methods,
        "definitions": coverage.definitions,
        "compared": coverage.compared,
        "not_compared": [{"name": each.name, "reason": each.reason} for each in coverage.not_compared],
    }


def _note_data(note: Note) -> dict[str, JSON]:
    told: dict[str, JSON] = {"rule": note.rule, "message": note.message, "advice": note.advice}
    return {**told, "at": str(note.at), "position": _position(note.at)}


def _position(spot: Spot | None) -> JSON:
    return None if spot is None else {"file": spot.file, "line": spot.line, "column": spot.column}
