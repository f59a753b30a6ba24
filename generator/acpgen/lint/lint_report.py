"""The findings of `acpgen lint` as a report for every output format."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from acpgen.diagnostics.model import Diagnostic, DiagnosticReport, RuleDescription, SourceLocation
from acpgen.diagnostics.outline import tally
from acpgen.errors import count_noun
from acpgen.lint import RULES, name_rule

if TYPE_CHECKING:
    from acpgen.config import Level
    from acpgen.ir import JSON
    from acpgen.lint import Finding


def make_report(levels: Mapping[Finding, Level], title: str) -> DiagnosticReport:
    """A report of findings with the levels of their rules; findings of rules that are off are only counted."""
    diagnostics = tuple(_make_diagnostic(finding, level) for finding, level in sorted(levels.items()) if level != "off")
    off = sum(level == "off" for level in levels.values())
    severities = {diagnostic.severity for diagnostic in diagnostics}
    verdict = "errors" if "error" in severities else "warnings" if severities else "clean"
    summary = ", ".join(
        filter(None, (tally(diagnostics), f"{count_noun(off, 'finding')} of rules that are off" if off else ""))
    )

    def write_data() -> JSON:
        counts: dict[str, JSON] = {
            level: sum(finding_level == level for finding_level in levels.values())
            for level in ("error", "warning", "off")
        }
        return {
            "verdict": verdict,
            "counts": counts,
            "findings": [dict(diagnostic.properties) for diagnostic in diagnostics],
        }

    return DiagnosticReport(
        command="lint",
        label="Schema",
        title=title,
        verdict=verdict,
        sentence=_SENTENCES[verdict],
        summary=summary or "No rule finds anything",
        diagnostics=diagnostics,
        data=write_data,
        describe=_describe_rules,
        badge=summary,
        layout="lines",
        code=int(verdict == "errors"),
    )


_SENTENCES = {
    "errors": "Errors: the schema breaks rules.",
    "warnings": "Warnings: no rule that is an error finds anything.",
    "clean": "Clean: no rule finds anything.",
}


def _make_diagnostic(finding: Finding, level: Level) -> Diagnostic:
    return Diagnostic(
        rule=finding.rule,
        severity=level,
        message=finding.message,
        subject=finding.pointer,
        locations=(SourceLocation(finding.file, finding.line, finding.column, finding.pointer),),
        group=finding.file,
        fails=level == "error",
        properties={**asdict(finding), "level": level},
    )


def _describe_rules(rules: Collection[str]) -> Sequence[RuleDescription]:
    texts = ((name_rule(rule), " ".join((rule.__doc__ or "").split())) for rule in RULES)
    return [RuleDescription(name, f"{text.split('. ')[0].rstrip('.')}.", text) for name, text in texts if name in rules]
