"""The report as SARIF 2.1.0 (OASIS), which code scanning services read."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from acpgen.compat.findings import Finding, Note, Report, Spot
from acpgen.compat.report import repairs
from acpgen.ir import JSON
from acpgen.schema.numbers import dumps

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"

_LEVELS: Final = {
    "breaking": "error",
    "undecided": "error",
    "risky": "warning",
    "additive": "note",
    "editorial": "note",
}


def sarif(report: Report, _: str = "risky") -> str:
    """The report as SARIF."""
    from acpgen import __version__
    from acpgen.compat.catalogue import catalogue
    from acpgen.compat.rule_pages import address, page

    used = {finding.rule for finding in report.findings} | {note.rule for note in report.notes}
    rules = [entry for entry in catalogue() if entry.id in used]
    index = {entry.id: number for number, entry in enumerate(rules)}
    described: list[JSON] = [
        {
            "id": entry.id,
            "name": "".join(word.capitalize() for word in entry.id.split("-")),
            "shortDescription": {"text": entry.doc.split(". ")[0].rstrip(".") + "."},
            "fullDescription": {"text": entry.doc},
            "help": {"text": entry.doc, "markdown": page(entry, linked=False)},
            **({"helpUri": address(report.docs, entry.id)} if report.docs else {}),
        }
        for entry in rules
    ]
    driver: dict[str, JSON] = {"name": "acpgen", "version": __version__, "rules": described}
    run: dict[str, JSON] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [
            *(_result(finding, index) for finding in report.findings),
            *(_note(note, index) for note in report.notes),
        ],
        "properties": {"verdict": report.verdict, "bindings": report.bindings},
    }
    whole = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _result(finding: Finding, index: dict[str, int]) -> JSON:
    about = " ".join(part for part in (finding.method, finding.location) if part)
    text = f"{about}: {finding.message} {finding.advice}" if about else f"{finding.message} {finding.advice}"
    places = [spot for spot in (finding.new, finding.old) if spot is not None]
    result: dict[str, JSON] = {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [_location(spot) for spot in places[:1]],
        "partialFingerprints": {"acpgen/v1": finding.fingerprint},
        "properties": {
            "severity": finding.severity,
            "effect": finding.effect,
            "method": finding.method,
            "flow": finding.flow,
            **({"witness": finding.witness.value} if finding.witness is not None else {}),
        },
    }
    fixes = repairs.sarif(finding)
    if fixes:
        result["fixes"] = fixes
    if len(places) > 1:
        result["relatedLocations"] = [{"id": 1, "message": {"text": "The old revision."}, **_location(places[1])}]
    if finding.waived is not None:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": finding.waived.reason}]
    return result


def _note(note: Note, index: dict[str, int]) -> JSON:
    return {
        "ruleId": note.rule,
        "ruleIndex": index[note.rule],
        "level": "note",
        "message": {"text": f"{note.message} {note.advice}"},
        "locations": [_location(note.at)],
    }


def _location(spot: Spot) -> dict[str, JSON]:
    revision, colon, path = spot.file.partition(":")
    region: dict[str, JSON] = {"startLine": spot.line, "startColumn": spot.column}
    artifact: dict[str, JSON] = {"uri": quote(path if colon else spot.file)}
    if colon:
        artifact["description"] = {"text": f"at revision {revision}"}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}
