"""The report as SARIF 2.1.0 (OASIS) for code scanning services."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from acpgen.diagnostics import outline
from acpgen.diagnostics.model import Diagnostic, DiagnosticReport, RuleDescription, SourceLocation
from acpgen.ir import JSON

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def make_sarif(report: DiagnosticReport) -> JSON:
    """The report as SARIF."""
    from acpgen import __version__

    rules = report.describe({diagnostic.rule for diagnostic in report.diagnostics})
    index = {rule.id: number for number, rule in enumerate(rules)}
    run: dict[str, JSON] = {
        "tool": {
            "driver": {
                "name": f"acpgen {report.command}",
                "version": __version__,
                "rules": [_make_rule(rule, report.links.get(rule.id)) for rule in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": report.is_judged,
                "exitCode": report.code,
                "toolExecutionNotifications": [
                    {"level": "note", "message": {"text": f"{name} was skipped: {reason}"}}
                    for name, reason in report.skipped
                ],
            }
        ],
        "results": [_make_result(diagnostic, index) for diagnostic in report.diagnostics],
        "properties": {"verdict": report.verdict, **dict(report.facts)},
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _make_rule(rule: RuleDescription, url: str | None) -> JSON:
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.id.replace("/", "-").split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.text},
        "help": {"text": rule.text, **({"markdown": rule.markdown} if rule.markdown else {})},
        **({} if url is None else {"helpUri": url}),
    }


def _make_result(diagnostic: Diagnostic, index: dict[str, int]) -> JSON:
    lines = (line for snippet in diagnostic.evidence if snippet.lines for line in snippet.lines)
    message = "\n".join((f"{outline.write_headline(diagnostic)} {diagnostic.advice}".rstrip(), *lines))
    locations: list[JSON] = [_make_location(location) for location in diagnostic.locations[:1]]
    logical: JSON = [{"fullyQualifiedName": diagnostic.subject, "kind": "member"}]
    level = "note" if diagnostic.level == "none" else diagnostic.level
    result: dict[str, JSON] = {
        "ruleId": diagnostic.rule,
        **({"ruleIndex": index[diagnostic.rule]} if diagnostic.rule in index else {}),
        "level": level,
        "message": {"text": message},
        "locations": locations or ([{"logicalLocations": logical}] if diagnostic.subject else []),
        "properties": {"severity": diagnostic.severity, **diagnostic.properties},
    }
    if diagnostic.fingerprint:
        result["partialFingerprints"] = {"acpgen/v1": diagnostic.fingerprint}
    if diagnostic.count > 1:
        result["occurrenceCount"] = diagnostic.count
    if diagnostic.replacements:
        result["fixes"] = [_make_fix(diagnostic)]
    if len(diagnostic.locations) > 1:
        result["relatedLocations"] = [
            {"id": number, "message": {"text": f"The {location.label} revision."}, **_make_location(location)}
            for number, location in enumerate(diagnostic.locations[1:], 1)
        ]
    if diagnostic.waived:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": diagnostic.waived}]
    return result


def _make_fix(diagnostic: Diagnostic) -> JSON:
    """The repair as deleted regions and the text that replaces them."""
    changes: dict[str, list[JSON]] = {}
    for replacement in diagnostic.replacements:
        first, end = replacement.first, replacement.last + 1
        deleted: JSON = {"startLine": first, "startColumn": 1, "endLine": end, "endColumn": 1}
        inserted: JSON = {"text": f"{replacement.text}\n"}
        changes.setdefault(replacement.file, []).append({"deletedRegion": deleted, "insertedContent": inserted})
    return {
        "description": {"text": diagnostic.repair},
        "artifactChanges": [
            {"artifactLocation": {"uri": quote(file)}, "replacements": replacements}
            for file, replacements in changes.items()
        ],
    }


def _make_location(place: SourceLocation) -> dict[str, JSON]:
    artifact: dict[str, JSON] = {"uri": quote(place.file)}
    if place.revision:
        artifact["description"] = {"text": f"at revision {place.revision}"}
    numbers = {"startLine": place.line, "startColumn": place.column}
    region: dict[str, JSON] = {key: number for key, number in numbers.items() if number}
    return {"physicalLocation": {"artifactLocation": artifact, **({"region": region} if region else {})}}
