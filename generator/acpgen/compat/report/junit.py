"""The report as JUnit XML: one suite a method, one case a finding; what counts under `--fail-on` is a failure."""

from __future__ import annotations

from acpgen.compat.findings import Finding, Note, Report, failing
from acpgen.compat.report import repairs, wording
from acpgen.compat.report.xml_text import attribute, content
from acpgen.schema.numbers import dumps


def junit(report: Report, fail_on: str = "risky") -> str:
    """The report as JUnit XML."""
    stopping = {id(finding) for finding in failing(report, fail_on)}
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    total, failed = max(len(report.findings), 1) + len(report.notes), len(stopping)
    name = f"acpgen diff {report.old} {report.new}"
    lines.append(f'<testsuites name={attribute(name)} tests="{total}" failures="{failed}" errors="0">')
    groups = wording.by_method(report.findings)
    if not groups:
        lines.append('  <testsuite name="compatibility" tests="1" failures="0" errors="0" skipped="0">')
        lines.append('    <testcase classname="compatibility" name="nothing differs" time="0"/>')
        lines.append("  </testsuite>")
    for heading, findings in groups.items():
        bad = sum(id(finding) in stopping for finding in findings)
        waived = sum(finding.waived is not None for finding in findings)
        counts = f'tests="{len(findings)}" failures="{bad}" errors="0" skipped="{waived}"'
        lines.append(f"  <testsuite name={attribute(heading)} {counts}>")
        for finding in findings:
            lines.extend(_case(finding, heading, failed=id(finding) in stopping))
        lines.append("  </testsuite>")
    if report.notes:
        counts = f'tests="{len(report.notes)}" failures="0" errors="0" skipped="0"'
        lines.append(f"  <testsuite name={attribute(wording.NOTES)} {counts}>")
        lines += [_note(note) for note in report.notes]
        lines.append("  </testsuite>")
    lines.append("</testsuites>")
    return "\n".join(lines) + "\n"


def _case(finding: Finding, heading: str, *, failed: bool) -> list[str]:
    name = f"{finding.rule} {finding.location} [{finding.fingerprint}]"
    opened = f'    <testcase classname={attribute(heading)} name={attribute(name)} time="0"'
    if finding.waived is not None:
        reason = f"waived until {finding.waived.until}: {finding.waived.reason}"
        return [f"{opened}>", f"      <skipped message={attribute(reason)}/>", "    </testcase>"]
    if not failed:
        return [f"{opened}/>"]
    parts = [
        finding.message,
        f"Breaks {finding.breaks}." if finding.breaks else "",
        finding.advice,
        repairs.sentence(finding),
    ]
    parts += [f"old {wording.place(finding.old)}", f"new {wording.place(finding.new)}"]
    if finding.witness is not None:
        parts += [wording.proof(finding.witness), dumps(finding.witness.value, indent=2, ensure_ascii=False)]
    body = content("\n".join(part for part in parts if part))
    kind = f"message={attribute(finding.message)} type={attribute(finding.severity)}"
    return [f"{opened}>", f"      <failure {kind}>{body}</failure>", "    </testcase>"]


def _note(note: Note) -> str:
    opened = f'    <testcase classname={attribute(wording.NOTES)} name={attribute(f"{note.rule} {wording.place(note.at)}")} time="0">'
    return f"{opened}<system-out>{content(f'{note.message} {note.advice}')}</system-out></testcase>"
