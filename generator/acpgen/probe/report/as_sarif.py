"""The outcome of a probe as SARIF 2.1.0 (OASIS). Findings are about a program and not a file, so their locations are logical ones."""

from __future__ import annotations

import json
from typing import Any, Final

from acpgen.compat.report.sarif import SCHEMA
from acpgen.probe.conformance import Conformance, Proven
from acpgen.probe.report.as_json import finding
from acpgen.probe.report.telling import spoken, times, who

_LEVELS: Final = {"must": "error", "should": "warning", "note": "note"}


def sarif(report: Conformance) -> str:
    """The outcome as SARIF."""
    from acpgen import __version__

    rules = {one.rule: one for one in reversed(report.findings)}
    index = {name: number for number, name in enumerate(rules)}
    driver: dict[str, Any] = {
        "name": "acpgen probe",
        "version": __version__,
        "rules": [
            {
                "id": name,
                "shortDescription": {"text": one.clause.says},
                "fullDescription": {"text": str(one.clause)},
                "help": {"text": str(one.clause)},
            }
            for name, one in rules.items()
        ],
    }
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": report.verdict != "not judged",
                "toolExecutionNotifications": [
                    {"level": "note", "message": {"text": f"{one.case} was not reached: {one.reason}"}}
                    for one in report.not_reached
                ],
            }
        ],
        "results": [_result(one, index, report) for one in report.findings],
        "properties": {"verdict": report.verdict, "seed": report.seed, "reached": report.reached},
    }
    whole = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _result(one: Proven, index: dict[str, int], report: Conformance) -> dict[str, Any]:
    rows = "\n".join(spoken(row, 2000) for row in one.transcript)
    return {
        "ruleId": one.rule,
        "ruleIndex": index[one.rule],
        "level": _LEVELS[one.level],
        "message": {"text": f"{who(report)}: {one.message}{times(one)}\n{rows}"},
        "locations": [{"logicalLocations": [{"fullyQualifiedName": one.case, "kind": "member"}]}],
        "partialFingerprints": {"acpgenProbe/v1": one.fingerprint},
        "properties": finding(one, report),
    }
