"""The report for a comment on a pull request. Text of schemas never becomes markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from acpgen.compat.findings import Finding, Report, Spot, failing
from acpgen.compat.report import wording
from acpgen.markup import code, plain

LONGEST: Final = 60_000
"""Characters; a comment on GitHub holds 65,536."""

VERDICTS: Final = {
    "breaking": "Breaking: some exchange that worked fails or means something else.",
    "undecided": "Undecided: the check could not prove that nothing breaks.",
    "risky": "Risky: tolerant peers get along, strict old peers refuse.",
    "additive": "Additive: old and new peers understand each other.",
    "editorial": "Editorial: no message can notice.",
    "identical": "Identical.",
}


def markdown(report: Report, fail_on: str = "risky") -> str:
    """The report as Markdown."""
    parts = list(_parts(report, fail_on))
    kept: list[str] = []
    size = 0
    for index, part in enumerate(parts):
        size += len(part) + 1
        if size > LONGEST:
            kept.append(f"_{len(parts) - index} more parts do not fit here; run `acpgen diff` to see them._")
            break
        kept.append(part)
    return "\n".join(kept).rstrip() + "\n"


def _parts(report: Report, fail_on: str) -> Iterator[str]:
    yield f"### Compatibility of {code(report.old)} → {code(report.new)}\n"
    yield f"**{VERDICTS[report.verdict]}**\n"
    stopping = len(failing(report, fail_on))
    if report.findings or report.notes:
        fail = "finding fails" if stopping == 1 else "findings fail"
        yield f"{wording.tally(report)}. {stopping} {fail} `--fail-on {fail_on}`.\n"
    yield "| | |\n| --- | --- |"
    for name, value in wording.summary(report):
        yield f"| {name} | {_said(value)} |"
    yield ""
    for heading, findings in wording.by_method(report.findings).items():
        heavy = [each for each in findings if each.severity in ("breaking", "undecided", "risky")]
        light = [each for each in findings if each not in heavy]
        shown = code(heading) if findings[0].method is not None else heading
        if heavy:
            yield f"#### {shown}\n"
            for finding in heavy:
                yield finding_markdown(finding)
        if light:
            yield f"<details><summary>{_said(heading)}: {len(light)} more, none of which breaks anybody</summary>\n"
            for finding in light:
                place = f" {code(finding.location)}" if finding.location else ""
                yield f"- {finding.severity} `{finding.rule}`{place}: {_said(finding.message)}"
            yield "\n</details>\n"
    if report.notes:
        yield f"#### {wording.NOTES}\n"
        for note in report.notes:
            yield f"- `{note.rule}` {_place(note.at)}: {_said(note.message)} {_said(note.advice)}"


def finding_markdown(finding: Finding) -> str:
    """One finding with its proof."""
    place = f" at {code(finding.location)} ({wording.flow(finding)})" if finding.location else ""
    lines = [f"- **{finding.severity}** `{finding.rule}`{place}: {_said(finding.message)}"]
    if finding.breaks:
        lines.append(f"  Breaks {_said(finding.breaks)}.")
    lines.append(f"  Old {_place(finding.old)}, new {_place(finding.new)}, `{finding.fingerprint}`.")
    if finding.waived is not None:
        lines.append(f"  Waived until {finding.waived.expires}: {_said(finding.waived.reason)}")
    if finding.witness is not None:
        fenced = wording.message(finding.witness.value, 100).splitlines()
        fence = "`" * max(3, 1 + max((len(run) for line in fenced for run in re.findall("`+", line)), default=0))
        lines += [
            "",
            f"  {wording.proof(finding.witness)}",
            "",
            f"  {fence}json",
            *(f"  {line}" for line in fenced),
            f"  {fence}",
            "",
        ]
    lines.append(f"  {_said(finding.advice)}")
    return "\n".join(lines) + "\n"


def _place(spot: Spot | None) -> str:
    return wording.place(spot) if spot is None else code(wording.place(spot))


def _said(text: str) -> str:
    """Text of a schema as it stands. GitHub looks for names to notify after it has resolved references, so they are taken apart."""
    return plain(text).replace("&#64;", "@\u200b")
