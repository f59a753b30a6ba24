"""The report for a terminal of 80 columns, worst first. Text of others is shown, never obeyed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Final

from acpgen.diagnostics import grouping
from acpgen.diagnostics.columns import COLOURS, WIDTH, columns, cut, cut_left, folded, paint, plain, wrapped
from acpgen.diagnostics.grouping import RuleGroup
from acpgen.diagnostics.model import SEVERITIES, Diagnostic, DiagnosticReport, ReportTable, Snippet, tone
from acpgen.errors import printable, visible

SCREEN: Final = 60
"""Lines. A report that fits shows every diagnostic with its places and its evidence; a longer one tells each in a line, or names it."""

_LISTED: Final = 3 * WIDTH
"""Characters of a list of names."""

_CELL: Final = 22
"""Columns of the widest cell of a table."""


def text(report: DiagnosticReport) -> str:
    """The report without colours."""
    return plain(coloured(report))


def coloured(report: DiagnosticReport) -> str:
    """The report with colours."""
    return "\n".join(_one_a_line(report) if report.layout == "lines" else _lines(report)) + "\n"


def _one_a_line(report: DiagnosticReport) -> Iterator[str]:
    """Each diagnostic as `file:line:column: pointer: rule: message`, as compilers write them, and the counts at the end."""
    for each in (*report.diagnostics, *report.notes):
        where = [part for place in each.locations[:1] for part in (str(place), place.pointer)]
        line = ": ".join(filter(None, (*where, each.rule, f"{each.message}{grouping.times(each)}")))
        yield printable(line if each.severity == "error" else f"{line} ({each.severity})")
    yield paint(report.summary, tone(report.verdict))


def _lines(report: DiagnosticReport) -> Iterator[str]:
    """The report in the fullest form that fits on a screen, or in the shortest."""
    end = [*_tables(report), *_notes(report), *_skipped(report)]
    for form in _FORMS:
        lines = [*_head(report, summed=form is not _whole), *_body(report, form), *end]
        if len(lines) <= SCREEN or report.layout == "full" or form is _FORMS[-1]:
            yield from lines
            if form is not _whole:
                yield ""
                yield paint("All places and proofs: --format json or html.", "quiet")
            return


def _head(report: DiagnosticReport, *, summed: bool) -> Iterator[str]:
    """The verdict, and the rules that found something where the rest does not fit on a screen."""
    yield from wrapped(report.title, "", COLOURS["heading"])
    verdict = paint(report.verdict.upper(), tone(report.verdict))
    first, *more = [*folded(visible(report.summary), WIDTH - len(report.verdict) - 2)] or [""]
    yield from (f"{verdict}  {first}".rstrip(), *more)
    if report.layout == "full":
        yield from wrapped(report.sentence)
    yield from wrapped(" · ".join(f"{name}: {value}" for name, value in report.facts), "", COLOURS["quiet"])
    for remark in report.remarks:
        yield from wrapped(remark)
    if summed:
        yield ""
        found = grouping.groups(report.diagnostics)
        for severity in SEVERITIES:
            indent = f"{severity:10} "
            yield from wrapped(grouping.overview(found, severity), indent, COLOURS[tone(severity)])


def _body(report: DiagnosticReport, form: Callable[[RuleGroup], Iterator[str]]) -> Iterator[str]:
    """The diagnostics by rule. The shortest form leaves what breaks nobody to the summary."""
    heavy = grouping.groups(report.diagnostics, heavy=True)
    above = ""
    for group in heavy:
        if form is not _terse or group.severity != above:
            yield ""
        above = group.severity
        yield _title(group)
        yield from form(group)
        for advice in group.advice:
            yield from wrapped(advice, "  → ")
    for group in grouping.groups(report.diagnostics, heavy=False):
        if (form is _terse and heavy) or (form is not _whole and group.severity == "editorial"):
            continue
        yield ""
        yield _title(group)
        if group.severity == "editorial":
            yield from (paint(f"  {cut_left(line, WIDTH - 2)}", "quiet") for line in grouping.by_file(group))
        elif len(group.diagnostics) == 1:
            yield from _brief(group.diagnostics[0], group.diagnostics[0].message)
        else:
            yield from wrapped(grouping.some([*map(grouping.name, group.diagnostics)], _LISTED), "  ")


def _title(group: RuleGroup) -> str:
    return f"{paint(group.severity, tone(group.severity))}  {paint(f'{group.rule}{group.size}', 'heading')}"


def _terse(group: RuleGroup) -> Iterator[str]:
    """The names of the diagnostics of one rule by what they say."""
    for statement, found in group.alike:
        if len(found) == 1:
            yield from wrapped(f"{_name(found[0])}: {statement}", "  ", below="    ")
        else:
            yield from wrapped(statement, "  ")
            yield from wrapped(", ".join(map(_name, found)), "    ")


def _name(diagnostic: Diagnostic) -> str:
    """The name of a diagnostic, and how many methods it reaches, where they are several."""
    extent = grouping.extent(diagnostic)
    return f"{grouping.name(diagnostic)} ({extent})" if extent else grouping.name(diagnostic)


def _listed(group: RuleGroup) -> Iterator[str]:
    """The diagnostics of one rule, each in a line or two; what several say is said once."""
    for statement, found in group.alike:
        if len(found) == 1:
            yield from _brief(found[0], statement)
            continue
        ways = {each.direction for each in found}
        way = next(iter(ways)) if len(ways) == 1 else ""
        yield from wrapped(f"{statement} ({way})" if way else statement, "  ")
        for each in found:
            yield from _brief(each, way=not way, indent="    ")


def _brief(diagnostic: Diagnostic, told: str = "", *, way: bool = True, indent: str = "  ") -> Iterator[str]:
    reached = grouping.reach(diagnostic, way=way)
    line = f"{grouping.name(diagnostic)} ({reached})" if reached else grouping.name(diagnostic)
    line = f"{line}: {told}" if told else line
    rest = " ".join(filter(None, (diagnostic.waived, f"[{diagnostic.fingerprint}]" if diagnostic.fingerprint else "")))
    yield from wrapped(f"{line} {rest}", indent, below=f"{indent}  ")
    yield from wrapped(diagnostic.repair, f"{indent}  ")


def _whole(group: RuleGroup) -> Iterator[str]:
    """The diagnostics of one rule with their places and evidence; what the same evidence proves is told with it once."""
    for _, alike in groupby(
        group.diagnostics, lambda each: (each.subject, each.evidence) if each.evidence else id(each)
    ):
        yield from _proven([*alike])


def _proven(alike: list[Diagnostic]) -> Iterator[str]:
    one, quiet = alike[0], COLOURS["quiet"]
    reached = grouping.reach(one)
    if one.subject:
        yield from wrapped(f"{one.subject} ({reached})" if reached else one.subject, "  ")
    if one.context.count(".") + one.context.count("(") > 1:
        yield from wrapped(f"at {one.context}", "    ", quiet)
    for each in alike:
        yield from wrapped(f"{each.message}{grouping.times(each)}", "    ")
    for detail in one.details:
        yield from wrapped(detail, "    ")
    for place in reversed(one.locations):
        yield paint(f"    {place.label} {cut_left(str(place), WIDTH - 5 - len(place.label))}", "quiet")
    for snippet in one.evidence:
        yield from wrapped(snippet.caption, "    ")
        yield from _snippet(snippet)
    yield from wrapped(one.repair, "    ")
    yield from wrapped(one.waived, "    ")
    yield from wrapped(one.fingerprint, "    ", quiet)


def _snippet(snippet: Snippet) -> Iterator[str]:
    """Text is folded; a JSON value, of which every line has a meaning, is cut."""
    for line in snippet.brief or grouping.snippet_lines(snippet, WIDTH - 6):
        if snippet.lines:
            yield from wrapped(line, "      ", below="        ")
        else:
            yield f"      {cut(line, WIDTH - 6)}"


_FORMS: Final = (_whole, _listed, _terse)
"""How to tell the diagnostics of one rule, fullest first."""


def _tables(report: DiagnosticReport) -> Iterator[str]:
    for table in report.tables:
        yield ""
        yield from _table(table)


def _table(table: ReportTable) -> Iterator[str]:
    shown = [index for index, column in enumerate(table.columns) if column.in_terminal == "cell"]
    below = [index for index, column in enumerate(table.columns) if column.in_terminal == "below"]
    rows = [[table.columns[index].name for index in shown], *([row[index] for index in shown] for row in table.rows)]
    cells = [[cut(cell, _CELL) for cell in row] for row in rows]
    widths = [max(columns(row[index]) for row in cells) for index in range(len(shown))]
    for number, row in enumerate(cells):
        padded = [cell + " " * (width - columns(cell)) for cell, width in zip(row, widths, strict=True)]
        if number:
            padded[1] = paint(padded[1], tone(row[1]))
        line = "  ".join(padded).rstrip()
        yield line if number else paint(line, "quiet")
        more = " ".join(filter(None, (table.rows[number - 1][index] for index in below))) if number else ""
        if more:
            yield paint(f"    {cut(more, WIDTH - 4)}", "quiet")


def _notes(report: DiagnosticReport) -> Iterator[str]:
    if report.notes:
        yield ""
        yield paint("Notes", "heading")
    for note in report.notes:
        yield from wrapped(f"{note.rule} {note.subject}", "  ")
        yield from wrapped(note.message, "    ")
        for place in note.locations:
            yield paint(f"    {cut_left(str(place), WIDTH - 4)}", "quiet")
        for snippet in note.evidence:
            yield from _snippet(snippet)
        yield from wrapped(note.advice, "    → ")


def _skipped(report: DiagnosticReport) -> Iterator[str]:
    if report.skipped:
        yield ""
        yield paint("Skipped", "heading")
    for reason, names in report.reasons.items():
        yield from wrapped(reason, "  ")
        yield from wrapped(grouping.some(names, _LISTED), "    ", COLOURS["quiet"])
