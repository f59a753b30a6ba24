"""The report as JUnit XML: a suite for each group, a case for each test or diagnostic; what makes the exit code 1 is a failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from acpgen.diagnostics import outline
from acpgen.diagnostics.model import Diagnostic, DiagnosticReport


def junit(report: DiagnosticReport) -> str:
    """The report as JUnit XML. Where the exit code is 1 and no diagnostic says why, one case is an error."""
    found: dict[tuple[str, str], list[Diagnostic]] = {_split(name): [] for name in report.passed}
    for each in report.diagnostics:
        name = each.case or f"{each.rule} {each.context or each.subject} [{each.fingerprint}]".removesuffix(" []")
        found.setdefault((each.group or report.label, name), []).append(each)
    suites: dict[str, list[tuple[str, str, str]]] = {}
    for (suite, name), diagnostics in found.items():
        suites.setdefault(suite, []).append((name, *_outcome(diagnostics)))
    for name, reason in report.skipped:
        suite, short = _split(name)
        if (suite, short) not in found:
            suites.setdefault(suite, []).append((short, "skipped", f"<skipped message={_attribute(reason)}/>"))
    if not suites or (report.code and not report.failing):
        error = f"<error message={_attribute(f'{report.sentence} {report.summary}')}/>"
        kind, text = ("error", error) if report.code else ("", "")
        suites.setdefault(report.label, []).append((report.verdict, kind, text))
    name = _attribute(f"acpgen {report.command} {report.title}")
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(f"<testsuites name={name} {_counts([case for cases in suites.values() for case in cases])}>")
    for suite, cases in suites.items():
        lines.append(f'  <testsuite name={_attribute(suite)} {_counts(cases)} skipped="{_kinds(cases)["skipped"]}">')
        for name, _, inside in cases:
            opened = f'    <testcase classname={_attribute(suite)} name={_attribute(name)} time="0"'
            lines.append(f"{opened}>{inside}</testcase>" if inside else f"{opened}/>")
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _outcome(found: Sequence[Diagnostic]) -> tuple[str, str]:
    """What became of a case, and the element that says so."""
    failing = [each for each in found if each.fails]
    body = escape(_allowed("\n\n".join("\n".join(filter(None, _describe(each))) for each in failing or found)))
    if failing:
        message = _attribute("; ".join(each.message for each in failing))
        return "failure", f"<failure message={message} type={_attribute(failing[0].severity)}>{body}</failure>"
    if found and all(each.waived for each in found):
        return "skipped", f"<skipped message={_attribute(found[0].waived)}/>"
    return "", f"<system-out>{body}</system-out>" if any(each.is_heavy for each in found) else ""


def _describe(one: Diagnostic) -> Iterator[str]:
    yield f"{one.message}{outline.times(one)}"
    yield from (*one.details, one.advice, one.repair)
    yield from (f"{place.label} {place}".lstrip() for place in reversed(one.locations))
    for snippet in one.evidence:
        yield from (snippet.caption, *outline.snippet_lines(snippet, 0))


def _split(name: str) -> tuple[str, str]:
    suite, _, short = name.rpartition("/")
    return suite, short


def _kinds(cases: Sequence[tuple[str, str, str]]) -> Counter[str]:
    return Counter(kind for _, kind, _ in cases)


def _counts(cases: Sequence[tuple[str, str, str]]) -> str:
    kinds = _kinds(cases)
    return f'tests="{len(cases)}" failures="{kinds["failure"]}" errors="{kinds["error"]}"'


def _attribute(value: str) -> str:
    return quoteattr(_allowed(value))


def _allowed(value: str) -> str:
    """Characters that XML 1.0 cannot hold are written as escapes."""
    return "".join(
        each
        if each in "\t\n\r" or " " <= each <= "\ud7ff" or "\ue000" <= each <= "\ufffd" or each >= "\U00010000"
        else repr(each)[1:-1]
        for each in value
    )
