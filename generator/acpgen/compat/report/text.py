"""The report for a terminal: 80 columns, a summary, then the findings by rule, worst first. Text of schemas is shown, never obeyed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from acpgen.compat.findings import SEVERITIES, Finding, Report
from acpgen.compat.report import repairs, wording
from acpgen.compat.report.columns import COLOURS, WIDTH, cut, cut_left, paint, plain, wrapped

SCREEN: Final = 60
"""Lines. A report that fits shows every finding with its places and its proof; a longer one tells each in a line, or names it."""

_LISTED: Final = 3 * WIDTH
"""Characters of a list of names."""


def text(report: Report, _: str = "risky") -> str:
    """The report without colours."""
    return plain(coloured(report))


def coloured(report: Report, _: str = "risky") -> str:
    """The report with colours."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    """The report in the fullest form that fits on a screen, or in the shortest."""
    notes = [*_notes(report)]
    for form in _FORMS:
        lines = [*_head(report, summed=form is not _whole), *_body(report, form), *notes]
        if len(lines) <= SCREEN or form is _FORMS[-1]:
            yield from lines
            if form is not _whole:
                yield ""
                yield paint("All places and proofs: --format json or html.", "faint")
            return


def _head(report: Report, *, summed: bool) -> Iterator[str]:
    """The verdict, and the rules that found something where the rest does not fit on a screen."""
    verdict = report.verdict
    yield from wrapped(f"{report.old} → {report.new}", "", COLOURS["heading"])
    yield f"{paint(verdict.upper(), verdict)}  {wording.tally(report)}".rstrip()
    facts = " · ".join(f"{name}: {value}" for name, value in wording.summary(report))
    yield from wrapped(facts, "", COLOURS["faint"])
    yield from wrapped(repairs.summary(report), "")
    if summed:
        yield ""
        found = wording.blocks(report.findings)
        for severity in SEVERITIES:
            yield from wrapped(wording.overview(found, severity), f"{severity:11}", COLOURS[severity])


def _body(report: Report, form: Callable[[wording.Block], Iterator[str]]) -> Iterator[str]:
    """The findings by rule. The shortest form leaves what breaks nobody to the summary."""
    heavy = wording.blocks(report.findings, wording.HEAVY)
    above = ""
    for block in heavy:
        if form is not _terse or block.severity != above:
            yield ""
        above = block.severity
        yield _title(block)
        yield from form(block)
        for advice in block.advice:
            yield from wrapped(advice, "  → ")
    for block in wording.blocks(report.findings, ("additive",)):
        if form is _terse and heavy:
            break
        yield ""
        yield _title(block)
        if len(block.findings) == 1:
            yield from _brief(block.findings[0], f": {block.findings[0].message}", way=True)
        else:
            yield from wrapped(wording.some([wording.listed(each) for each in block.findings], _LISTED), "  ")
    found = wording.blocks(report.findings, ("editorial",))
    if found and form is _whole:
        yield ""
        yield from wrapped(wording.overview(found, "editorial"), "editorial  ", COLOURS["editorial"])


def _title(block: wording.Block) -> str:
    return f"{paint(block.severity, block.severity)}  {paint(f'{block.rule}{block.size}', 'heading')}"


def _terse(block: wording.Block) -> Iterator[str]:
    """The names of the findings of one rule by what they say."""
    for said, findings in block.alike:
        if len(findings) == 1:
            yield from wrapped(f"{_counted(findings[0])}: {said}", "  ", below="    ")
        else:
            yield from wrapped(said, "  ")
            yield from wrapped(", ".join(map(_counted, findings)), "    ")


def _counted(finding: Finding) -> str:
    """The name of a finding, and how many methods reach it, where they are several."""
    count = len(finding.methods)
    name = wording.listed(finding)
    return f"{name} ({wording.counted(count, 'method')})" if count > 1 else name


def _listed(block: wording.Block) -> Iterator[str]:
    """The findings of one rule, each in a line or two; what several say is said once."""
    for said, findings in block.alike:
        if len(findings) == 1:
            yield from _brief(findings[0], f": {said}", way=True)
            continue
        ways = {wording.direction(each) for each in findings}
        yield from wrapped(f"{said} ({ways.pop()})" if len(ways) == 1 else said, "  ")
        for finding in findings:
            yield from _brief(finding, way=bool(ways), indent="    ")


def _brief(finding: Finding, told: str = "", *, way: bool, indent: str = "  ") -> Iterator[str]:
    reached = wording.reached(finding, way=way)
    name = wording.listed(finding)
    line = f"{name} ({reached})" if reached else name
    waived = f" Waived until {finding.waived.until}." if finding.waived is not None else ""
    yield from wrapped(f"{line}{told}{waived} [{finding.fingerprint}]", indent, below=f"{indent}  ")
    yield from wrapped(repairs.sentence(finding), f"{indent}  ")


def _whole(block: wording.Block) -> Iterator[str]:
    """The findings of one rule with their places and proofs."""
    for finding in block.findings:
        yield from _proven(finding)


def _proven(finding: Finding) -> Iterator[str]:
    reached = wording.reached(finding)
    name = wording.name(finding)
    if name:
        yield from wrapped(f"{name} ({reached})" if reached else name, "  ")
    if finding.location.count(".") + finding.location.count("(") > 1:
        yield from wrapped(f"at {finding.location}", "    ", COLOURS["faint"])
    yield from wrapped(finding.message, "    ")
    if finding.breaks:
        yield from wrapped(f"Breaks: {finding.breaks}.", "    ")
    for side, spot in (("old", finding.old), ("new", finding.new)):
        if spot is not None:
            yield paint(f"    {side} {cut_left(wording.place(spot), WIDTH - 8)}", "faint")
    if finding.witness is not None:
        yield from wrapped(wording.proof(finding.witness), "    ")
        for line in wording.message(finding.witness.value, WIDTH - 6).splitlines():
            yield f"      {cut(line, WIDTH - 6)}"
    yield from wrapped(repairs.sentence(finding), "    ")
    if finding.waived is not None:
        yield from wrapped(f"Waived until {finding.waived.until}: {finding.waived.reason}", "    ")
    yield paint(f"    {finding.fingerprint}", "faint")


_FORMS: Final = (_whole, _listed, _terse)
"""How to tell the findings of one rule, fullest first."""


def _notes(report: Report) -> Iterator[str]:
    if report.notes:
        yield ""
        yield paint(wording.NOTES, "heading")
    for note in report.notes:
        yield f"  {note.rule}"
        yield from wrapped(note.message, "    ")
        yield paint(f"    {cut_left(wording.place(note.at), WIDTH - 4)}", "faint")
        yield from wrapped(note.advice, "    → ")
