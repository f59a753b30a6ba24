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
        diagnostics=(*(_make_diagnostic(each, report) for each in report.findings), *_list_notes(report)),
        passed=tuple(report.reached),
        skipped=tuple((each.case, each.reason) for each in report.not_reached),
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


def _make_diagnostic(one: ProbeFinding, report: Conformance) -> Diagnostic:
    suite, _, name = one.case.rpartition("/")
    lines = tuple(map(_write_transcript_line, one.transcript))
    keys = (*("" for _ in one.transcript[1:]), one.key)  # what is wrong stands in the last message
    brief = tuple(_shorten(line, key) for line, key in zip(lines, keys, strict=True))
    return Diagnostic(
        rule=one.rule,
        severity=_WORDS[one.level],
        message=_write_message(one),
        subject=one.case,
        details=(str(one.clause), f"Run it again: {_write_rerun_command(one, report)}"),
        fingerprint=one.fingerprint,
        evidence=(Snippet("These messages show it:", lines=lines, brief=brief),),
        group=suite,
        case=name,
        fails=one in report.failing,
        properties=_write_finding(one, report),
    )


def _write_message(one: ProbeFinding) -> str:
    return one.message if one.times == 1 else f"{one.message} ({one.times} times)"


def _list_notes(report: Conformance) -> Iterator[Diagnostic]:
    for row in report.gone:
        message = f"The baseline holds it, and it no longer occurs: {row.get('message')}"
        yield Diagnostic(str(row.get("rule")), "note", message, group="Baseline")
    if report.errors and not report.versions:
        snippet = Snippet("It ends with:", lines=tuple(report.errors.splitlines()[-8:]))
        message = "The program wrote to its standard error."
        yield Diagnostic("standard-error", "note", message, evidence=(snippet,), group="Program")


def _describe_rules(report: Conformance, rules: Collection[str]) -> Sequence[RuleDescription]:
    clauses = {each.rule: each.clause for each in reversed(report.findings)}
    return [RuleDescription(rule, each.says, str(each)) for rule, each in clauses.items() if rule in rules]


def _write_rerun_command(one: ProbeFinding, report: Conformance) -> str:
    """The command that reruns only the case of a finding."""
    side = " --client" if report.side == "client" else ""
    options = "".join(f" {option}" for option in report.options)
    return f"acpgen probe{side} --case {one.case} --seed {report.seed}{options} -- {shlex.join(report.command)}"


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
    rest = f"… ({len(text)} characters; --format json has all of them)"
    if at + len(key) < _LONGEST:
        return f"{text[:_LONGEST]}{rest}"
    start = max(half, at - half // 4)
    return f"{text[:half]}{'…' if start > half else ''}{text[start : start + half]}{rest}"


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
        "findings": [_write_finding(one, report) for one in report.findings],
        "reached": report.reached,
        "not_reached": [{"case": one.case, "reason": one.reason} for one in report.not_reached],
        **({} if report.versions else {"standard_error": report.errors}),
        "known": [{name: getattr(one, name) for name in ("fingerprint", "rule", "message")} for one in report.known],
        "gone": [dict(one) for one in report.gone],
        "seconds": round(report.seconds, 1),
    }


def _write_finding(one: ProbeFinding, report: Conformance) -> dict[str, Any]:
    return {
        "rule": one.rule,
        "requirement": {name: getattr(one.clause, name) for name in ("document", "section", "number", "says")},
        "level": one.level,
        "message": _write_message(one),
        "transcript": [_write_line(row) for row in one.transcript],
        "reproduce": {
            "command": _write_rerun_command(one, report),
            "case": one.case,
            "message": one.sent.decode("utf-8", "backslashreplace"),
            "fingerprint": one.fingerprint,
        },
    }


def _write_line(row: TranscriptLine) -> dict[str, Any]:
    if row.is_gap:
        return {"from": row.sender, "gap": True}
    try:
        return {"from": row.sender, "message": json.loads(row.message)}
    except (ValueError, RecursionError):
        return {"from": row.sender, "text": row.message.decode("utf-8", "backslashreplace")}
