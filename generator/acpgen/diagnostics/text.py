"""The report for a terminal of 80 columns, worst first. Control characters in text from schemas are made visible."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, groupby, islice
from typing import Final

from acpgen.diagnostics import outline
from acpgen.diagnostics.columns import COLOURS, WIDTH, count_columns, cut, cut_left, fold, paint, strip_colours, wrap
from acpgen.diagnostics.model import DiagnosticReport, ReportTable, Snippet, get_tone
from acpgen.diagnostics.outline import CodeSpan, Item, Line, RuleGroup
from acpgen.errors import make_printable, make_visible

SCREEN: Final = 60
"""The maximum number of lines of a report that shows every diagnostic with places and evidence; a longer one has a line or just a name
for each.
"""

_LISTED: Final = 3 * WIDTH
"""The maximum number of characters of a list of names."""

_CELL: Final = 22
"""The maximum number of columns of a cell of a table."""

_FORMS: Final = (outline.describe_fully, outline.describe_briefly, outline.list_subjects)
"""The forms of a rule's diagnostics, fullest first."""


def write_text(report: DiagnosticReport) -> str:
    """The report without colours."""
    return strip_colours(write_coloured(report))


def write_coloured(report: DiagnosticReport) -> str:
    """The report with colours."""
    return "\n".join(_write_one_a_line(report) if report.layout == "lines" else _write_lines(report)) + "\n"


def _write_one_a_line(report: DiagnosticReport) -> Iterator[str]:
    """Yield each diagnostic as `file:line:column#/pointer: rule: message`, with the place in the format of errors, and the counts at the
    end.
    """
    for diagnostic in report.diagnostics:
        where = [f"{place}{place.pointer}".removesuffix("#") for place in diagnostic.locations[:1]]
        line = ": ".join(
            filter(None, (*where, diagnostic.rule, f"{diagnostic.message}{outline.describe_count(diagnostic)}"))
        )
        yield make_printable(line if diagnostic.severity == "error" else f"{line} ({diagnostic.severity})")
    yield from map(make_printable, report.remarks)
    yield paint(report.summary, get_tone(report.verdict))


def _write_lines(report: DiagnosticReport) -> Iterator[str]:
    """Yield the report in the fullest form that fits on a screen, or in the shortest."""
    tables = [line for table in report.tables for line in ("", *_write_table(table))]
    for form in _FORMS:
        head = _write_head(report, with_summary=form is not outline.describe_fully)
        lines = chain(head, tables, _write_body(report, form), _write_skipped(report))
        screen = [*islice(lines, SCREEN + 1)]
        if len(screen) <= SCREEN or report.layout == "full" or form is _FORMS[-1]:
            yield from (*screen, *lines)
            if form is not outline.describe_fully:
                yield from ("", paint("All places and proofs: --format json or html.", "quiet"))
            return


def _write_head(report: DiagnosticReport, *, with_summary: bool) -> Iterator[str]:
    """Yield the verdict and, `with_summary`, the counts by rule, for reports that do not fit on a screen."""
    yield from wrap(report.title, "", COLOURS["heading"])
    first_line, *further_lines = [*fold(make_visible(report.summary), WIDTH - len(report.verdict) - 2)] or [""]
    yield from (f"{paint(report.verdict.upper(), get_tone(report.verdict))}  {first_line}".rstrip(), *further_lines)
    if report.layout == "full":
        yield from wrap(report.sentence)
    yield from wrap(" · ".join(f"{name}: {value}" for name, value in report.facts), "", COLOURS["quiet"])
    yield from (line for remark in report.remarks for line in wrap(remark))
    if with_summary:
        yield ""
        for severity, groups in groupby(outline.group_by_rule(report.diagnostics), lambda group: group.severity):
            counts = ", ".join(f"{group.rule} {group.count}" for group in groups)
            yield from wrap(counts, f"{severity:10} ", COLOURS[get_tone(severity)])


def _write_body(report: DiagnosticReport, form: Callable[[RuleGroup], Iterator[Line]]) -> Iterator[str]:
    """Yield the diagnostics by rule. The shortest form omits those that break nobody, if there are others; they are in the summary."""
    heavy = outline.group_by_rule(report.diagnostics, heavy=True)
    above = ""
    for group in heavy:
        yield from [""] * (form is not outline.list_subjects or group.severity != above)
        yield _write_title(group)
        above = group.severity
        for line in form(group):
            yield from _render_line(line)
    for group in outline.group_by_rule(report.diagnostics, heavy=False):
        if (form is outline.list_subjects and heavy) or (
            form is not outline.describe_fully and group.severity == "editorial"
        ):
            continue
        yield from ("", _write_title(group))
        if group.severity == "editorial":
            yield from (paint(f"  {cut_left(line, WIDTH - 2)}", "quiet") for line in group.by_file)
        else:
            is_single = len(group.diagnostics) == 1
            lines = (
                outline.describe_briefly(group)
                if is_single
                else [Item(1, outline.join_subjects(group.diagnostics, _LISTED))]
            )
            yield from (text for line in lines for text in _render_line(line))


def _write_title(group: RuleGroup) -> str:
    return f"{paint(group.severity, get_tone(group.severity))}  {paint(f'{group.rule}{group.size}', 'heading')}"


def _render_line(line: Line) -> Iterator[str]:
    """Render a line for the terminal. Text is wrapped; lines of JSON are cut at the right, places at the left."""
    match line:
        case Item(level, parts, is_quiet):
            text, indent = "".join(parts), "  " * level
            if is_quiet:
                label = "".join((indent, *parts[:-1]))
                yield paint(f"{label}{cut_left(parts[-1], WIDTH - len(label))}", "quiet")
            else:
                hangs = isinstance(parts[0], CodeSpan) or text.startswith("→")
                yield from wrap(text, indent, below=f"{indent}  " if hangs else indent)
        case Snippet(caption, _, lines, brief):
            yield from wrap(caption, "    ")
            for text in brief or outline.split_snippet(line, WIDTH - 6):
                yield from wrap(text, "      ", below="        ") if lines else [f"      {cut(text, WIDTH - 6)}"]
        case _:  # edits are for those who can apply them
            return


def _shorten(column: Sequence[str]) -> list[str]:
    """The cells of a column, cut at the right, or at the left where two would become one, as those of files of one folder."""
    short = [cut(cell, _CELL) for cell in column]
    return short if len({*short}) == len({*column}) else [cut_left(cell, _CELL) for cell in column]


def _write_table(table: ReportTable) -> Iterator[str]:
    below = [index for index, column in enumerate(table.columns) if column.in_terminal == "below"]
    cell_indices = [index for index, column in enumerate(table.columns) if column.in_terminal == "cell"]
    names = tuple(column.name for column in table.columns)
    columns = [_shorten([row[index] for row in (names, *table.rows)]) for index in cell_indices]
    cells = [*zip(*columns, strict=True)]
    widths = [max(count_columns(row[index]) for row in cells) for index in range(len(cell_indices))]
    for whole, row in zip((names, *table.rows), cells, strict=True):
        padded = [cell + " " * (width - count_columns(cell)) for cell, width in zip(row, widths, strict=True)]
        if whole is names:
            yield paint("  ".join(padded).rstrip(), "quiet")
            continue
        yield "  ".join((padded[0], paint(padded[1], get_tone(row[1])), *padded[2:])).rstrip()
        if details := " ".join(filter(None, (whole[index] for index in below))):
            yield paint(f"    {cut(details, WIDTH - 4)}", "quiet")


def _write_skipped(report: DiagnosticReport) -> Iterator[str]:
    """Yield the skipped tests, by reason."""
    if report.skipped:
        yield from ("", paint("Skipped", "heading"))
    for reason, names in report.reasons.items():
        yield from wrap(reason, "  ")
        names_text = outline.join_names([(name,) for name in names], _LISTED)
        yield from wrap("".join(names_text), "    ", COLOURS["quiet"])
