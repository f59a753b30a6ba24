"""The report as JUnit XML: a suite for each group, a case for each test or diagnostic; what makes the exit code 1 is a failure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from acpgen.diagnostics import grouping
from acpgen.diagnostics.model import Diagnostic, DiagnosticReport


@dataclass(slots=True)
class _TestCase:
    """A case by suite and name: the diagnostics of a test, the reason why it was skipped, and an error where nothing was judged."""

    suite: str
    name: str
    found: list[Diagnostic] = field(default_factory=list[Diagnostic])
    skipped: str = ""
    error: str = ""

    @property
    def failing(self) -> list[Diagnostic]:
        return [each for each in self.found if each.fails]


def junit(report: DiagnosticReport) -> str:
    """The report as JUnit XML. Where the exit code is 1 and no diagnostic says why, one case is an error."""
    suites: dict[str, list[_TestCase]] = {}
    for each in _cases(report):
        suites.setdefault(each.suite, []).append(each)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    name = _attribute(f"acpgen {report.command} {report.title}")
    lines.append(
        f"<testsuites name={name} {_counts([each for cases in suites.values() for each in cases], skipped=False)}>"
    )
    for suite, cases in suites.items():
        lines.append(f"  <testsuite name={_attribute(suite)} {_counts(cases)}>")
        lines += map(_case, cases)
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _cases(report: DiagnosticReport) -> Iterator[_TestCase]:
    made: dict[tuple[str, str], _TestCase] = {}
    for name in report.passed:
        suite, _, short = name.rpartition("/")
        made[suite, short] = _TestCase(suite, short)
    for each in (*report.diagnostics, *report.notes):
        suite = each.group or report.label
        name = each.case or f"{each.rule} {each.context or each.subject} [{each.fingerprint}]".removesuffix(" []")
        made.setdefault((suite, name), _TestCase(suite, name)).found.append(each)
    for name, reason in report.skipped:
        suite, _, short = name.rpartition("/")
        made.setdefault((suite, short), _TestCase(suite, short, skipped=reason))
    yield from made.values()
    if report.code and not report.failing:
        yield _TestCase(report.label, report.verdict, error=f"{report.sentence} {report.summary}")
    elif not made:
        yield _TestCase(report.label, report.verdict)


def _counts(cases: list[_TestCase], *, skipped: bool = True) -> str:
    left = sum(bool(each.skipped or _waiver(each)) for each in cases)
    errors = sum(bool(each.error) for each in cases)
    counts = f'tests="{len(cases)}" failures="{sum(bool(each.failing) for each in cases)}" errors="{errors}"'
    return f'{counts} skipped="{left}"' if skipped else counts


def _waiver(case: _TestCase) -> str:
    """Why the diagnostics of a case do not count, if that is so for all."""
    return case.found[0].waived if case.found and all(each.waived for each in case.found) else ""


def _case(case: _TestCase) -> str:
    opened = f'    <testcase classname={_attribute(case.suite)} name={_attribute(case.name)} time="0"'
    failing = case.failing
    body = "\n\n".join("\n".join(filter(None, grouping.told_in_full(each))) for each in failing or case.found)
    if case.error:
        inside = f"<error message={_attribute(case.error)}/>"
    elif failing:
        message = _attribute("; ".join(each.message for each in failing))
        inside = f"<failure message={message} type={_attribute(failing[0].severity)}>{_content(body)}</failure>"
    elif reason := case.skipped or _waiver(case):
        inside = f"<skipped message={_attribute(reason)}/>"
    elif any(each.is_heavy for each in case.found):
        inside = f"<system-out>{_content(body)}</system-out>"
    else:
        return f"{opened}/>"
    return f"{opened}>{inside}</testcase>"


def _attribute(value: str) -> str:
    return quoteattr(_allowed(value))


def _content(value: str) -> str:
    return escape(_allowed(value))


def _allowed(value: str) -> str:
    """Characters that XML 1.0 cannot hold are written as escapes."""
    return "".join(
        each
        if each in "\t\n\r" or " " <= each <= "\ud7ff" or "\ue000" <= each <= "\ufffd" or each >= "\U00010000"
        else repr(each)[1:-1]
        for each in value
    )
