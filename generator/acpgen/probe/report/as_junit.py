"""The outcome of a probe as JUnit XML: a suite for each section, a case for each case; a broken MUST is a failure."""

from __future__ import annotations

from collections.abc import Iterator

from acpgen.compat.report.xml_text import attribute, content
from acpgen.probe.conformance import Conformance, Proven, Unreached
from acpgen.probe.report.telling import again, spoken, times


def junit(report: Conformance) -> str:
    """The outcome as JUnit XML. What was not reached is skipped with its reason; where nothing was judged, that is an error."""
    found: dict[str, list[Proven]] = {}
    for one in report.findings:
        found.setdefault(one.case, []).append(one)
    skipped = {one.case: one for one in report.not_reached}
    failing = {id(one) for one in report.failing}
    names = list(dict.fromkeys([*report.reached, *found, *skipped]))
    bad = sum(any(id(one) in failing for one in found.get(name, ())) for name in names)
    is_empty = report.verdict == "not judged"
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    counts = f'tests="{len(names) + is_empty}" failures="{bad}" errors="{int(is_empty)}"'
    lines.append(f'<testsuites name="acpgen probe" {counts}>')
    suites: dict[str, list[str]] = {}
    for name in names:
        suites.setdefault(name.rpartition("/")[0], []).append(name)
    for suite, members in suites.items():
        lines += _suite(suite, members, found, skipped, failing, report)
    if is_empty:
        lines.append('  <testsuite name="probe" tests="1" failures="0" errors="1" skipped="0">')
        lines.append('    <testcase classname="probe" name="something was judged" time="0">')
        lines.append(f"      <error message={attribute('nothing could be judged')}>{content(report.errors)}</error>")
        lines += ["    </testcase>", "  </testsuite>"]
    lines.append("</testsuites>")
    return "\n".join(lines) + "\n"


def _suite(
    suite: str,
    members: list[str],
    found: dict[str, list[Proven]],
    skipped: dict[str, Unreached],
    failing: set[int],
    report: Conformance,
) -> Iterator[str]:
    bad = sum(any(id(one) in failing for one in found.get(name, ())) for name in members)
    left = sum(name in skipped and name not in found for name in members)
    counts = f'tests="{len(members)}" failures="{bad}" errors="0" skipped="{left}"'
    yield f"  <testsuite name={attribute(suite)} {counts}>"
    for name in members:
        yield from _case(name, found.get(name, []), skipped.get(name), failing, report)
    yield "  </testsuite>"


def _case(
    name: str, findings: list[Proven], skipped: Unreached | None, failing: set[int], report: Conformance
) -> Iterator[str]:
    section, _, short = name.rpartition("/")
    opened = f'    <testcase classname={attribute(section)} name={attribute(short)} time="0"'
    broken = [one for one in findings if id(one) in failing]
    if broken:
        message = "; ".join(one.message for one in broken)
        body = "\n\n".join(_told(one, report) for one in broken)
        yield f"{opened}>"
        yield f"      <failure message={attribute(message)} type={attribute(broken[0].level)}>{content(body)}</failure>"
        yield "    </testcase>"
    elif findings:
        body = "\n\n".join(_told(one, report) for one in findings)
        yield f"{opened}><system-out>{content(body)}</system-out></testcase>"
    elif skipped is not None:
        yield f"{opened}><skipped message={attribute(skipped.reason)}/></testcase>"
    else:
        yield f"{opened}/>"


def _told(one: Proven, report: Conformance) -> str:
    rows = "\n".join(spoken(row) for row in one.transcript)
    return f"{one.level}: {one.rule}: {one.message}{times(one)}\n{one.clause}\n{rows}\n{again(one, report)}"
