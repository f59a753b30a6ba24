"""The report as JUnit XML: a suite per group, a case per test or diagnostic; what causes exit code 1 is a failure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from acpgen.diagnostics import outline
from acpgen.diagnostics.model import Diagnostic, DiagnosticReport


def write_junit(report: DiagnosticReport) -> str:
    """The report as JUnit XML. If the exit code is 1 without a failing diagnostic, one case is an error."""
    diagnostics_by_case: dict[tuple[str, str], list[Diagnostic]] = {_split(name): [] for name in report.passed}
    for diagnostic in report.diagnostics:
        subject = diagnostic.context or diagnostic.subject
        name = diagnostic.case or f"{diagnostic.rule} {subject} [{diagnostic.fingerprint}]".removesuffix(" []")
        diagnostics_by_case.setdefault((diagnostic.group or report.label, name), []).append(diagnostic)
    root = Element("testsuites", name=_escape_characters(f"acpgen {report.command} {report.title}"))
    suites: dict[str, Element] = {}

    def add_case(suite: str, name: str) -> Element:
        if suite not in suites:
            suites[suite] = SubElement(root, "testsuite", name=_escape_characters(suite))
        return SubElement(
            suites[suite], "testcase", classname=_escape_characters(suite), name=_escape_characters(name), time="0"
        )

    for (suite, name), diagnostics in diagnostics_by_case.items():
        _add_outcome(add_case(suite, name), diagnostics)
    for name, reason in report.skipped:
        if _split(name) not in diagnostics_by_case:
            SubElement(add_case(*_split(name)), "skipped", message=_escape_characters(reason))
    if not suites or (report.code and not report.failing):
        case = add_case(report.label, report.verdict)
        if report.code:
            SubElement(case, "error", message=_escape_characters(f"{report.sentence} {report.summary}"))
    for element in (root, *suites.values()):
        _count(element)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _add_outcome(case: Element, diagnostics: Sequence[Diagnostic]) -> None:
    """Add the outcome to a case."""
    failing = [diagnostic for diagnostic in diagnostics if diagnostic.fails]
    text = _escape_characters(
        "\n\n".join("\n".join(filter(None, _describe(diagnostic))) for diagnostic in failing or diagnostics)
    )
    if failing:
        message = _escape_characters("; ".join(diagnostic.message for diagnostic in failing))
        SubElement(case, "failure", message=message, type=failing[0].severity).text = text
    elif diagnostics and all(diagnostic.waived for diagnostic in diagnostics):
        SubElement(case, "skipped", message=_escape_characters(diagnostics[0].waived))
    elif any(diagnostic.is_heavy for diagnostic in diagnostics):
        SubElement(case, "system-out").text = text


def _count(element: Element) -> None:
    """Set the numbers of cases, failures, errors and skipped cases on a suite, or without the last on all suites."""
    element.set("tests", str(len([*element.iter("testcase")])))
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        if key != "skipped" or element.tag == "testsuite":  # the schema of Jenkins has it there alone
            element.set(key, str(len([*element.iter(tag)])))


def _describe(diagnostic: Diagnostic) -> Iterator[str]:
    yield f"{diagnostic.message}{outline.describe_count(diagnostic)}"
    yield from (*diagnostic.details, diagnostic.advice, diagnostic.repair)
    yield from (f"{place.label} {place}".lstrip() for place in reversed(diagnostic.locations))
    for snippet in diagnostic.evidence:
        yield from (snippet.caption, *outline.split_snippet(snippet, 0))


def _split(name: str) -> tuple[str, str]:
    suite, _, short = name.rpartition("/")
    return suite, short


def _escape_characters(value: str) -> str:
    """A text in which characters that XML 1.0 does not allow are escaped."""
    return "".join(
        char
        if char in "\t\n\r" or " " <= char <= "\ud7ff" or "\ue000" <= char <= "\ufffd" or char >= "\U00010000"
        else repr(char)[1:-1]
        for char in value
    )
