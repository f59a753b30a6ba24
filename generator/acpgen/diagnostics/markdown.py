"""The report as Markdown for a comment on a pull request. Text from schemas never becomes markup."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final, TypeAlias

from acpgen.diagnostics import outline
from acpgen.diagnostics.markup import choose_fence, escape_line, write_code
from acpgen.diagnostics.model import DiagnosticReport, ReportTable, Snippet
from acpgen.diagnostics.outline import CodeSpan, Item, Line, RuleGroup
from acpgen.errors import count_noun, make_visible

LONGEST: Final = 5_800
"""The maximum number of characters of a report that shows every diagnostic with its evidence; a longer one names as many as fit."""

LONGEST_WITH_REPAIRS: Final = 40_000
"""The same limit for a report that suggests edits."""

COMMENT: Final = 65_000
"""The maximum number of characters of any report: a comment on GitHub has at most 65,536."""

LONGEST_EDIT: Final = 60
"""The maximum number of lines of a suggestion that is shown."""

_ROOM: Final = 400
"""The maximum number of characters of a list of names."""

_LINE: Final = 10
"""The minimum number of characters for one diagnostic."""

_Form: TypeAlias = "Callable[[RuleGroup], Iterator[Line]]"


def write_markdown(report: DiagnosticReport) -> str:
    """Write the report as Markdown, in the fullest form that fits."""
    heavy, light = (outline.group_by_rule(report.diagnostics, heavy=is_heavy) for is_heavy in (True, False))
    longest = LONGEST_WITH_REPAIRS if any(diagnostic.replacements for diagnostic in report.diagnostics) else LONGEST
    text = ""

    @cache
    def render_group(index: int, form: _Form) -> list[str]:
        return [text for line in form(heavy[index]) for text in _render_line(line)]

    for forms in _choose_forms(heavy, longest):
        sections = [
            (group, render_group(index, form)) for index, (group, form) in enumerate(zip(heavy, forms, strict=True))
        ]
        is_whole = all(form is outline.describe_fully for form in forms)
        text = "\n".join(_write_parts(report, sections, light, is_whole=is_whole)).rstrip() + "\n"
        if len(text) <= longest:
            break
    return _cut_to_comment(text, report)


def _cut_to_comment(text: str, report: DiagnosticReport) -> str:
    """The text, cut after a line if it is longer than a comment may be."""
    remark = "The rest does not fit into a comment: "
    remark += (
        f"[the whole report]({report.whole})." if report.whole else f"see `acpgen {report.command} --format html`."
    )
    if len(text) <= COMMENT:
        return text
    head = text[: COMMENT - len(remark) - 40]
    head = head[: head.rfind("\n") + 1]
    fence = ""
    for line in re.findall(r"^ *(`{3,})", head, re.MULTILINE):
        fence = "" if line == fence else fence or line
    opened = head.count("<details>") - head.count("</details>")
    ending = (f"{fence}\n" if fence else "") + "\n</details>\n" * opened
    return f"{head}{ending}\n_{remark}_\n"


def _list_some_subjects(group: RuleGroup) -> Iterator[Line]:
    return outline.list_subjects(group, _ROOM)


def _list_few_subjects(group: RuleGroup) -> Iterator[Line]:
    yield Item(1, outline.join_subjects(group.diagnostics, _ROOM // 6))


def _choose_forms(groups: Sequence[RuleGroup], longest: int) -> Iterator[Sequence[_Form]]:
    """Yield combinations of forms of the rules, fullest first: the same form for all, then the first ones in more detail than the
    others.
    """
    count = len(groups)
    if sum(len(group.diagnostics) for group in groups) < longest // _LINE:
        yield from ([form] * count for form in (outline.describe_fully, outline.describe_briefly))
    yield from ([_list_some_subjects] * full + [_list_few_subjects] * (count - full) for full in range(count, -1, -1))


def _write_parts(
    report: DiagnosticReport, sections: list[tuple[RuleGroup, list[str]]], light: list[RuleGroup], *, is_whole: bool
) -> Iterator[str]:
    yield f"### {report.label} of {' → '.join(map(write_code, report.title.split(' → ')))}\n"
    yield f"**{_escape(report.sentence)}**\n"
    count = len(report.failing)
    failing = f"{count_noun(count, 'finding')} {'fails' if count == 1 else 'fail'}"
    yield (
        f"{_escape(report.summary)}. {failing} `{report.threshold}`.\n"
        if report.threshold
        else f"{_escape(report.summary)}.\n"
    )
    yield from (f"{_escape(remark)}\n" for remark in report.remarks)
    if report.facts:
        yield "| | |\n| --- | --- |"
        yield from (f"| {name} | {_escape(value)} |" for name, value in report.facts)
        yield ""
    for table in report.tables:
        yield from _write_table(table)
    for group, lines in sections:
        yield from (f"- **{group.severity}** `{group.rule}`{group.size}", *lines)
    if not is_whole:
        reference = (
            f"[the whole report]({report.whole})"
            if report.whole
            else f"`acpgen {report.command} --format json`, or `html`"
        )
        yield f"\n_All places and proofs: {reference}._"
    if light:
        yield f"\n<details><summary>{sum(group.count for group in light)} more, none of which breaks a peer</summary>\n"
        for group in light:
            names = outline.join_subjects(group.diagnostics, _ROOM)
            if group.severity == "editorial":
                names = outline.join_names([(CodeSpan(file),) for file in group.by_file], _ROOM // 4)
            yield f"- {group.severity} `{group.rule}`{group.size}: {_write_line(names)}"
        yield "\n</details>"
    links = [
        f"[`{rule}`]({url})" for rule, url in report.links.items() if any(rule == group.rule for group, _ in sections)
    ]
    if links:
        yield f"\nRules: {', '.join(links)}"
    if report.skipped:
        yield "\n#### Skipped\n"
        for reason, skipped in report.reasons.items():
            names = outline.join_names([(CodeSpan(name),) for name in skipped], _ROOM)
            yield f"- {_escape(reason)}: {_write_line(names)}"


def _write_table(table: ReportTable) -> Iterator[str]:
    yield f"| {' | '.join(column.name for column in table.columns)} |"
    yield f"| {' | '.join('---' for _ in table.columns)} |"
    for name, *cells in table.rows:
        yield f"| {' | '.join((write_code(name), *map(_escape, cells)))} |"
    yield ""


def _render_line(line: Line) -> Iterator[str]:
    """Render a list item, collapsed evidence, or an edit that can be applied."""
    match line:
        case Item(level, parts):
            yield f"{'  ' * level}- {_write_line(parts)}"
        case Snippet():
            lines = outline.split_snippet(line, 100)
            fence = choose_fence("\n".join(lines))
            yield f"\n    <details><summary>{_escape(line.caption)}</summary>\n\n    {fence}{'text' if line.lines else 'json'}"
            yield from (f"    {text}".rstrip() for text in lines)
            yield f"    {fence}\n\n    </details>\n"
        case _ if line.text.count("\n") < LONGEST_EDIT:
            fence = choose_fence(line.text)
            yield f"\n    {write_code(str(line))}\n\n    {fence}suggestion"
            yield from (f"    {make_visible(text)}" for text in line.text.split("\n"))
            yield f"    {fence}"
        case _:
            return


def _write_line(parts: Sequence[str]) -> str:
    first, *continuation = parts  # only what begins a line needs an escape there
    texts = (_escape(first), *(_escape(f"x{part}")[1:] for part in continuation))
    return "".join(
        write_code(part) if isinstance(part, CodeSpan) else text for part, text in zip(parts, texts, strict=True)
    )


def _escape(text: str) -> str:
    """A text escaped as plain text, with a zero-width space after `@`, since GitHub looks for names to notify after resolving character
    references.
    """
    return escape_line(text).replace("&#64;", "@\u200b")
