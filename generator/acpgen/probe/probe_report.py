"""The outcome of a probe as a report for all formats.

In JSON, transcripts are lines of a recording, as `acpgen validate --session` reads them.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any, Final

from acpgen.diagnostics.model import Diagnostic, DiagnosticReport, RuleDescription, Snippet
from acpgen.errors import count_noun, make_visible
from acpgen.probe.conformance import LEVELS, Conformance, ProbeFinding, TranscriptLine

SENTENCES: Final = {
    "breaks": "Breaks: the program breaks requirements of the specification.",
    "passes": "Passes: no MUST is broken in what was reached.",
    "not judged": "Not judged: nothing could be judged, so there is no verdict on the program.",
}

_WORDS: Final = {"must": "MUST", "should": "SHOULD", "note": "note"}

_LONGEST: Final = 2_000
"""The maximum number of characters of a transcript line in a terminal; the JSON report has the whole line."""


def make_report(report: Conformance) -> DiagnosticReport:
    """The outcome of a probe as a report."""
    versions = " and ".join(f"v{version}" for version in report.versions)
    baseline_facts = (
        [("baseline", f"{count_noun(len(report.known), 'known finding')} left out")] if report.known else []
    )
    return DiagnosticReport(
        command="probe",
        label=f"ACP {versions}".strip(),
        title=_name_program(report),
        verdict=report.verdict,
        sentence=SENTENCES[report.verdict],
        summary=_write_summary(report),
        facts=(
            *baseline_facts,
            ("protocol", versions or "none"),
            ("seed", str(report.seed)),
            ("seconds", f"{report.seconds:.1f}"),
            ("command", shlex.join(report.command)),
        ),
        diagnostics=(*(_make_diagnostic(finding, report) for finding in report.findings), *_list_notes(report)),
        passed=tuple(report.reached),
        skipped=tuple((skip.case, skip.reason) for skip in report.not_reached),
        is_judged=report.verdict != "not judged",
        data=partial(as_data, report),
        describe=partial(_describe_rules, report),
        badge=_write_badge(report),
        layout="full",
        code=report.code,
    )


def _name_program(report: Conformance) -> str:
    """The program under test, by its reported name or its command."""
    name = " ".join(str(report.program[key]) for key in ("name", "version") if key in report.program)
    return name or shlex.join(report.command)


def _write_summary(report: Conformance) -> str:
    """The counts in a sentence."""
    must, should, note = (report.counts[level] for level in LEVELS)
    judged = f"{count_noun(len(report.reached), 'case')} judged, {len(report.not_reached)} not reached"
    return f"{must} broken MUST, {should} SHOULD, {note} noted; {judged}"


def _write_badge(report: Conformance) -> str:
    """The outcome in a few words, limited to what was judged."""
    must, should = report.counts["must"], report.counts["should"]
    broken = f"{must} MUST broken" if must else f"{should} SHOULD broken"
    passes = f"{count_noun(len(report.reached), 'case')}, no MUST broken"
    return {"breaks": broken, "passes": passes, "not judged": "not judged"}[report.verdict]


def _make_diagnostic(finding: ProbeFinding, report: Conformance) -> Diagnostic:
    suite, _, name = finding.case.rpartition("/")
    lines = tuple(map(_write_transcript_line, finding.transcript))
    keys = (*("" for _ in finding.transcript[1:]), finding.key)  # what is wrong stands in the last message
    brief = tuple(_shorten(line, key) for line, key in zip(lines, keys, strict=True))
    return Diagnostic(
        rule=finding.rule,
        severity=_WORDS[finding.level],
        message=_write_message(finding),
        subject=finding.case,
        details=(str(finding.clause), f"Run it again: {_write_rerun_command(finding, report)}"),
        fingerprint=finding.fingerprint,
        evidence=(Snippet("These messages show it:", lines=lines, brief=brief),),
        group=suite,
        case=name,
        fails=finding in report.failing,
        properties=_write_finding(finding, report),
    )


def _write_message(finding: ProbeFinding) -> str:
    return finding.message if finding.times == 1 else f"{finding.message} ({finding.times} times)"


def _list_notes(report: Conformance) -> Iterator[Diagnostic]:
    for row in report.gone:
        message = f"The baseline holds it, and it no longer occurs: {row.get('message')}"
        yield Diagnostic(str(row.get("rule")), "note", message, group="Baseline")
    if report.errors and not report.versions:
        snippet = Snippet("It ends with:", lines=tuple(report.errors.splitlines()[-8:]))
        message = "The program wrote to its standard error."
        yield Diagnostic("standard-error", "note", message, evidence=(snippet,), group="Program")


def _describe_rules(report: Conformance, rules: Collection[str]) -> Sequence[RuleDescription]:
    clauses = {finding.rule: finding.clause for finding in reversed(report.findings)}
    return [RuleDescription(rule, clause.says, str(clause)) for rule, clause in clauses.items() if rule in rules]


def _write_rerun_command(finding: ProbeFinding, report: Conformance) -> str:
    """The command that reruns only the case of a finding."""
    side = " --client" if report.side == "client" else ""
    options = "".join(f" {option}" for option in report.options)
    return f"acpgen probe{side} --case {finding.case} --seed {report.seed}{options} -- {shlex.join(report.command)}"


def _write_transcript_line(row: TranscriptLine) -> str:
    """A line of a transcript: who sent it, and what."""
    arrow = "→" if row.sender == "client" else "←"
    return "…" if row.is_gap else f"{arrow} {make_visible(row.message.decode('utf-8', 'backslashreplace'))}"


def _shorten(text: str, key: str) -> str:
    """The start of a text that is too long for a terminal, and the part around a later key."""
    if len(text) <= _LONGEST:
        return text
    at = text.find(f'"{make_visible(key)}"') if key else -1
    half = _LONGEST // 2
    remark = f"… ({len(text)} characters; --format json has all of them)"
    if at + len(key) < _LONGEST:
        return f"{text[:_LONGEST]}{remark}"
    start = max(half, at - half // 4)
    return f"{text[:half]}{'…' if start > half else ''}{text[start : start + half]}{remark}"


def as_data(report: Conformance) -> dict[str, Any]:
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
        "counts": {level: report.counts[level] for level in LEVELS},
        "findings": [_write_finding(finding, report) for finding in report.findings],
        "reached": report.reached,
        "not_reached": [{"case": skip.case, "reason": skip.reason} for skip in report.not_reached],
        **({} if report.versions else {"standard_error": report.errors}),
        "known": [
            {name: getattr(finding, name) for name in ("fingerprint", "rule", "message")} for finding in report.known
        ],
        "gone": [dict(row) for row in report.gone],
        "seconds": round(report.seconds, 1),
    }


def _write_finding(finding: ProbeFinding, report: Conformance) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "requirement": {name: getattr(finding.clause, name) for name in ("document", "section", "number", "says")},
        "level": finding.level,
        "message": _write_message(finding),
        "transcript": [_write_line(row) for row in finding.transcript],
        "reproduce": {
            "command": _write_rerun_command(finding, report),
            "case": finding.case,
            "message": finding.sent.decode("utf-8", "backslashreplace"),
            "fingerprint": finding.fingerprint,
        },
    }


def _write_line(row: TranscriptLine) -> dict[str, Any]:
    if row.is_gap:
        return {"from": row.sender, "gap": True}
    try:
        return {"from": row.sender, "message": json.loads(row.message)}
    except (ValueError, RecursionError):
        return {"from": row.sender, "text": row.message.decode("utf-8", "backslashreplace")}
