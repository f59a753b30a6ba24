"""The report for a terminal: 80 columns, a summary, then the findings by rule, worst first. Text of schemas is shown, never obeyed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final
from unicodedata import combining, east_asian_width

from acpgen.compat.findings import SEVERITIES, Finding, Report
from acpgen.compat.report import repairs, wording
from acpgen.errors import visible

WIDTH: Final = 80
_COLOURS: Final = {
    "breaking": "1;31",
    "undecided": "1;35",
    "risky": "1;33",
    "additive": "32",
    "editorial": "2",
    "identical": "32",
    "heading": "1",
    "faint": "2",
}
SCREEN: Final = 60
"""Lines. A report that fits shows every finding with its places and its proof; a longer one tells each in a line, or names it."""

_LISTED: Final = 3 * WIDTH
"""Characters of a list of names."""


def text(report: Report, _: str = "risky") -> str:
    """The report without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", coloured(report))


def coloured(report: Report) -> str:
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
                yield _paint("Each with its places and its proof: --format json, or html.", "faint")
            return


def _head(report: Report, *, summed: bool) -> Iterator[str]:
    """The verdict, and the rules that found something where the rest does not fit on a screen."""
    verdict = report.verdict
    yield from _wrapped(f"{report.old} → {report.new}", "", _COLOURS["heading"])
    yield f"{_paint(verdict.upper(), verdict)}  {wording.tally(report)}".rstrip()
    facts = " · ".join(f"{name}: {value}" for name, value in wording.summary(report))
    yield from _wrapped(facts, "", _COLOURS["faint"])
    yield from _wrapped(repairs.summary(report), "")
    if summed:
        yield ""
        found = wording.blocks(report.findings)
        for severity in SEVERITIES:
            yield from _wrapped(wording.overview(found, severity), f"{severity:11}", _COLOURS[severity])


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
            yield from _wrapped(advice, "  → ")
    for block in wording.blocks(report.findings, ("additive",)):
        if form is _terse and heavy:
            break
        yield ""
        yield _title(block)
        if len(block.findings) == 1:
            yield from _brief(block.findings[0], f": {block.findings[0].message}", way=True)
        else:
            yield from _wrapped(wording.some([wording.name(each) for each in block.findings], _LISTED), "  ")
    found = wording.blocks(report.findings, ("editorial",))
    if found and form is _whole:
        yield ""
        yield from _wrapped(wording.overview(found, "editorial"), "editorial  ", _COLOURS["editorial"])


def _title(block: wording.Block) -> str:
    return f"{_paint(block.severity, block.severity)}  {_paint(f'{block.rule}{block.size}', 'heading')}"


def _terse(block: wording.Block) -> Iterator[str]:
    """The names of the findings of one rule by what they say."""
    for said, findings in block.alike:
        if len(findings) == 1:
            yield from _wrapped(f"{_counted(findings[0])}: {said}".lstrip(": "), "  ", below="    ")
        else:
            yield from _wrapped(said, "  ")
            yield from _wrapped(", ".join(map(_counted, findings)), "    ")


def _counted(finding: Finding) -> str:
    """The name of a finding, and how many methods reach it, where they are several."""
    count = len(finding.methods)
    return f"{wording.name(finding)} ({wording.counted(count, 'method')})" if count > 1 else wording.name(finding)


def _listed(block: wording.Block) -> Iterator[str]:
    """The findings of one rule, each in a line or two; what several say is said once."""
    for said, findings in block.alike:
        if len(findings) == 1:
            yield from _brief(findings[0], f": {said}", way=True)
            continue
        ways = {wording.direction(each) for each in findings}
        yield from _wrapped(f"{said} ({ways.pop()})" if len(ways) == 1 else said, "  ")
        for finding in findings:
            yield from _brief(finding, way=bool(ways), indent="    ")


def _brief(finding: Finding, told: str = "", *, way: bool, indent: str = "  ") -> Iterator[str]:
    reached = wording.reached(finding, way=way)
    line = f"{wording.name(finding)} ({reached})" if reached else wording.name(finding)
    waived = f" Waived until {finding.waived.expires}." if finding.waived is not None else ""
    yield from _wrapped(f"{line}{told}{waived} [{finding.fingerprint}]".lstrip(": "), indent, below=f"{indent}  ")
    yield from _wrapped(repairs.sentence(finding), f"{indent}  ")


def _whole(block: wording.Block) -> Iterator[str]:
    """The findings of one rule with their places and proofs."""
    for finding in block.findings:
        yield from _proven(finding)


def _proven(finding: Finding) -> Iterator[str]:
    reached = wording.reached(finding)
    name = wording.name(finding)
    if name:
        yield from _wrapped(f"{name} ({reached})" if reached else name, "  ")
    if finding.location.count(".") + finding.location.count("(") > 1:
        yield from _wrapped(f"at {finding.location}", "    ", _COLOURS["faint"])
    yield from _wrapped(finding.message, "    ")
    if finding.breaks:
        yield from _wrapped(f"Breaks: {finding.breaks}.", "    ")
    for side, spot in (("old", finding.old), ("new", finding.new)):
        if spot is not None:
            yield _paint(f"    {side} {_cut_left(wording.place(spot), WIDTH - 8)}", "faint")
    if finding.witness is not None:
        yield from _wrapped(wording.proof(finding.witness), "    ")
        for line in wording.message(finding.witness.value, WIDTH - 6).splitlines():
            yield f"      {_cut(line, WIDTH - 6)}"
    yield from _wrapped(repairs.sentence(finding), "    ")
    if finding.waived is not None:
        yield from _wrapped(f"Waived until {finding.waived.expires}: {finding.waived.reason}", "    ")
    yield _paint(f"    {finding.fingerprint}", "faint")


_FORMS: Final = (_whole, _listed, _terse)
"""How to tell the findings of one rule, fullest first."""


def _notes(report: Report) -> Iterator[str]:
    if report.notes:
        yield ""
        yield _paint(wording.NOTES, "heading")
    for note in report.notes:
        yield f"  {note.rule}"
        yield from _wrapped(note.message, "    ")
        yield _paint(f"    {_cut_left(wording.place(note.at), WIDTH - 4)}", "faint")
        yield from _wrapped(note.advice, "    → ")


def _wrapped(line: str, indent: str, colour: str = "", below: str = "") -> Iterator[str]:
    below = below or " " * len(indent)
    for number, part in enumerate(folded(visible(line), WIDTH - len(below))):
        whole = f"{below if number else indent}{part}"
        yield f"\x1b[{colour}m{whole}\x1b[0m" if colour else whole


def _paint(line: str, kind: str) -> str:
    return f"\x1b[{_COLOURS[kind]}m{visible(line)}\x1b[0m"


def _cut(line: str, width: int) -> str:
    shown = visible(line)
    return shown if columns(shown) <= width else f"{_fitting(shown, width - 1)}…"


def _cut_left(line: str, width: int) -> str:
    shown = visible(line)
    return shown if columns(shown) <= width else f"…{_fitting(shown[::-1], width - 1)[::-1]}"


# Columns of a terminal: some characters take two, some none.


def columns(line: str) -> int:
    """The columns that a line takes."""
    return len(line) if line.isascii() else sum(map(_columns_of, line))


def _columns_of(character: str) -> int:
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1


def _fitting(line: str, width: int) -> str:
    """The beginning of a line that fits."""
    if line.isascii():
        return line[:width]
    taken = 0
    for index, character in enumerate(line):
        taken += _columns_of(character)
        if taken > width:
            return line[:index]
    return line


def folded(line: str, width: int) -> Iterator[str]:
    """The words of a line on lines that fit; a word that is too long is broken."""
    room = ""
    for word in line.split():
        whole = f"{room} {word}" if room else word
        if columns(whole) <= width:
            room = whole
            continue
        if room:
            yield room
        while columns(word) > width:
            part = _fitting(word, width)
            yield part
            word = word[len(part) :]
        room = word
    if room:
        yield room
