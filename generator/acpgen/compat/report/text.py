"""The report for a terminal: 80 columns, worst first, grouped by method. Text of schemas is shown, never obeyed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from unicodedata import combining, east_asian_width

from acpgen.compat.findings import Finding, Note, Report
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
_NOTHING: Final = "Nothing needs to be done."
_SAME: Final = 3
"""As many places of findings that say the same are named one by one."""


def text(report: Report, _: str = "risky") -> str:
    """The report without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", coloured(report))


def coloured(report: Report) -> str:
    """The report with colours."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    verdict = report.verdict
    yield from _wrapped(f"{report.old} → {report.new}", "", _COLOURS["heading"])
    yield f"{_paint(verdict.upper(), verdict)}  {_tally(report)}".rstrip()
    yield from _wrapped(
        " · ".join(f"{name}: {value}" for name, value in wording.summary(report)), "", _COLOURS["faint"]
    )
    for heading, findings in wording.by_method(report.findings).items():
        yield ""
        yield _paint(_cut(heading, WIDTH), "heading")
        yield from _group(findings)
    if report.fix is not None:
        yield ""
        yield from _wrapped(repairs.summary(report), "")
    if report.notes:
        yield ""
        yield _paint(wording.NOTES, "heading")
        for note in report.notes:
            yield from _note(note)


def _note(note: Note) -> Iterator[str]:
    yield f"  {note.rule}"
    yield from _wrapped(note.message, "    ")
    yield _paint(f"    {_cut_left(wording.place(note.at), WIDTH - 4)}", "faint")
    yield from _wrapped(note.advice, "    → ")


def _group(findings: list[Finding]) -> Iterator[str]:
    alike: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        short = finding.severity in ("additive", "editorial") or finding.witness is None
        key = (finding.severity, finding.rule) if short else (finding.fingerprint, finding.location)
        alike.setdefault(key, []).append(finding)
    for group in alike.values():
        first = group[0]
        head = f"  {_paint(first.severity, first.severity)} {first.rule}"
        if first.severity == "editorial" or (first.severity == "additive" and len(group) > _SAME):
            yield f"{head}{f' ({len(group)})' if len(group) > 1 else ''}"
            if first.severity == "additive":
                yield from _wrapped(", ".join(each.location for each in group), "    ")
        elif len(group) > 1:
            yield f"{head} ({len(group)})"
            for each in group:
                at = f"{each.location}: " if each.location else ""
                yield from _wrapped(f"{at}{each.message} [{each.fingerprint}]", "    ")
                yield from _wrapped(repairs.sentence(each), "      ")
            if first.advice != _NOTHING:
                yield from _wrapped(first.advice, "    → ")
        else:
            yield from _whole(first, head)


def _whole(finding: Finding, head: str) -> Iterator[str]:
    yield head
    if finding.location:
        yield from _wrapped(f"{finding.location} ({wording.flow(finding)})", "    ")
    yield from _wrapped(finding.message, "    ")
    if finding.breaks:
        yield from _wrapped(f"Breaks: {finding.breaks}.", "    ")
    for side, spot in (("old", finding.old), ("new", finding.new)):
        if spot is not None:
            yield _paint(f"    {side} {_cut_left(wording.place(spot), WIDTH - 8)}", "faint")
    if finding.witness is not None and finding.severity != "additive":
        yield from _wrapped(wording.proof(finding.witness), "    ")
        for line in wording.message(finding.witness.value, WIDTH - 6).splitlines():
            yield f"      {_cut(line, WIDTH - 6)}"
    if finding.advice != _NOTHING:
        yield from _wrapped(finding.advice, "    → ")
    yield from _wrapped(repairs.sentence(finding), "    ")
    if finding.waived is not None:
        yield from _wrapped(f"Waived until {finding.waived.expires}: {finding.waived.reason}", "    ")
    yield _paint(f"    {finding.fingerprint}", "faint")


def _tally(report: Report) -> str:
    waived = sum(finding.waived is not None for finding in report.findings)
    return f"{wording.tally(report)}, {waived} waived" if waived else wording.tally(report)


def _wrapped(line: str, indent: str, colour: str = "") -> Iterator[str]:
    below = " " * len(indent)
    for number, part in enumerate(folded(visible(line), WIDTH - len(indent))):
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
