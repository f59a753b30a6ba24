"""The report for a comment on a pull request. Text of others never becomes markup."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from acpgen.diagnostics import grouping
from acpgen.diagnostics.grouping import RuleGroup
from acpgen.diagnostics.model import Diagnostic, DiagnosticReport, ReportTable, Snippet
from acpgen.errors import visible
from acpgen.markup import code, plain

LONGEST: Final = 5_800
"""Characters. A report that fits shows every diagnostic with its evidence; a longer one names them, as far as there is room."""

LONGEST_WITH_REPAIRS: Final = 40_000
"""Characters of a report that suggests edits."""

COMMENT: Final = 65_000
"""Characters that no report exceeds, whatever a schema holds: a comment on GitHub has 65,536."""

LONGEST_EDIT: Final = 60
"""Lines of suggestions that are shown with one diagnostic."""

_ROOM: Final = 400
"""Characters of a list of names."""

_Form: TypeAlias = "Callable[[RuleGroup], Iterator[str]]"


def markdown(report: DiagnosticReport) -> str:
    """The report as Markdown, in the fullest form that fits."""
    heavy = grouping.groups(report.diagnostics, heavy=True)
    longest = LONGEST_WITH_REPAIRS if any(each.replacements for each in report.diagnostics) else LONGEST
    text = ""
    for forms in _forms(len(heavy)):
        text = "\n".join(_parts(report, list(zip(heavy, forms, strict=True)))).rstrip() + "\n"
        if len(text) <= longest:
            break
    return _within_a_comment(text, report)


def _within_a_comment(text: str, report: DiagnosticReport) -> str:
    """The text, cut after a line where it would be longer than a comment."""
    rest = "The rest does not fit into a comment: "
    rest += f"[the whole report]({report.whole})." if report.whole else f"see `acpgen {report.command} --format html`."
    if len(text) <= COMMENT:
        return text
    kept = text[: COMMENT - len(rest) - 40]
    kept = kept[: kept.rfind("\n") + 1]
    fence = ""
    for line in re.findall(r"^ *(`{3,})", kept, re.MULTILINE):
        fence = "" if line == fence else fence or line
    opened = kept.count("<details>") - kept.count("</details>")
    closed = (f"{fence}\n" if fence else "") + "\n</details>\n" * opened
    return f"{kept}{closed}\n_{rest}_\n"


def _forms(count: int) -> Iterator[Sequence[_Form]]:
    """How to tell each of so many rules, the fullest first: all alike, then the first ones at length and the others in a line."""
    yield from ([form] * count for form in (_proven, _listed))
    yield from ([_named] * full + [_summed] * (count - full) for full in range(count, -1, -1))


def _parts(report: DiagnosticReport, told: list[tuple[RuleGroup, _Form]]) -> Iterator[str]:
    yield f"### {report.label} of {' → '.join(map(code, report.title.split(' → ')))}\n"
    yield f"**{_text(report.sentence)}**\n"
    counts = (f"{_text(report.summary)}." if report.summary else "", grouping.fails(report))
    yield f"{' '.join(filter(None, counts))}\n"
    for remark in report.remarks:
        yield f"{_text(remark)}\n"
    if report.facts:
        yield "| | |\n| --- | --- |"
        yield from (f"| {name} | {_text(value)} |" for name, value in report.facts)
        yield ""
    for table in report.tables:
        yield from _table(table)
    for group, form in told:
        yield from form(group)
    if told:
        yield ""
    if any(form is not _proven for _, form in told):
        there = (
            f"[the whole report]({report.whole})"
            if report.whole
            else f"`acpgen {report.command} --format json`, or `html`"
        )
        yield f"_All places and proofs: {there}._\n"
    light = grouping.groups(report.diagnostics, heavy=False)
    if light:
        yield f"<details><summary>{sum(group.count for group in light)} more, none of which breaks a peer</summary>\n"
        for group in light:
            files = grouping.some([*map(code, grouping.by_file(group))], _ROOM // 4)
            listed = files if group.severity == "editorial" else _names(group.diagnostics)
            yield f"- {group.severity} `{group.rule}`{group.size}: {listed}"
        yield "\n</details>\n"
    links = [f"[`{rule}`]({url})" for rule, url in report.links.items() if any(rule == group.rule for group, _ in told)]
    if links:
        yield f"Rules: {', '.join(links)}\n"
    if report.notes:
        yield "#### Notes\n"
        for note in report.notes:
            where = [*map(code, filter(None, (note.subject, *map(str, note.locations))))]
            yield f"- `{note.rule}` {' '.join(where)}: {_text(note.message)} {_text(note.advice)}".rstrip()
        yield ""
    if report.skipped:
        yield "#### Skipped\n"
        for reason, names in report.reasons.items():
            yield f"- {_text(reason)}: {grouping.some([*map(code, names)], _ROOM)}"


def _table(table: ReportTable) -> Iterator[str]:
    yield f"| {' | '.join(column.name for column in table.columns)} |"
    yield f"| {' | '.join('---' for _ in table.columns)} |"
    for name, *cells in table.rows:
        yield f"| {' | '.join((code(name), *map(_text, cells)))} |"
    yield ""


def _proven(group: RuleGroup) -> Iterator[str]:
    """The diagnostics of one rule with their places, the evidence folded."""
    yield f"- **{group.severity}** `{group.rule}`{group.size}"
    for each in group.diagnostics:
        yield f"  - {_told(each)}"
        places = ", ".join(f"{place.label} {code(str(place))}".strip() for place in reversed(each.locations))
        facts = ", ".join(filter(None, (places, f"`{each.fingerprint}`" if each.fingerprint else "")))
        yield f"    {' '.join((*map(_text, each.details), f'{facts[:1].upper()}{facts[1:]}.'))}"
        if each.waived:
            yield f"    {_text(each.waived)}"
        for snippet in each.evidence:
            yield from _evidence(snippet)
        yield from _repair(each)
    yield from _advice(group)


def _evidence(snippet: Snippet) -> Iterator[str]:
    lines = grouping.snippet_lines(snippet, 100)
    fence = grouping.fence("\n".join(lines))
    caption = f"<details><summary>{_text(snippet.caption)}</summary>"
    yield ""
    for line in (caption, "", f"{fence}{'text' if snippet.lines else 'json'}", *lines, fence, "", "</details>"):
        yield f"    {line}".rstrip()
    yield ""


def _repair(diagnostic: Diagnostic) -> Iterator[str]:
    """The repair with a suggestion for each place."""
    if not diagnostic.repair:
        return
    yield f"    {_text(diagnostic.repair)}"
    if sum(edit.text.count("\n") + 1 for edit in diagnostic.replacements) > LONGEST_EDIT:
        return
    for edit in diagnostic.replacements:
        fence = grouping.fence(edit.text)
        lines = f"line {edit.first}" if edit.first == edit.last else f"lines {edit.first} to {edit.last}"
        yield f"\n    {code(edit.file)}, {lines}:\n"
        yield from (f"    {line}" for line in (f"{fence}suggestion", *map(visible, edit.text.split("\n")), fence))


def _listed(group: RuleGroup) -> Iterator[str]:
    """The diagnostics of one rule, each on a line; what several say is said once."""
    yield f"- **{group.severity}** `{group.rule}`{group.size}"
    for statement, found in group.alike:
        if len(found) > 1:
            yield f"  - {_text(statement)}"
        for each in found:
            margin, told = ("    ", _name(each)) if len(found) > 1 else ("  ", _told(each))
            yield f"{margin}- {told} `{each.fingerprint}`" if each.fingerprint else f"{margin}- {told}"
            if each.repair:
                yield f"      {_text(each.repair)}"
    yield from _advice(group)


def _named(group: RuleGroup) -> Iterator[str]:
    """The names of the diagnostics of one rule by what they say."""
    yield f"- **{group.severity}** `{group.rule}`{group.size}"
    for statement, found in group.alike:
        yield f"  - {_text(statement)} {_names(found)}"
    yield from _advice(group)


def _summed(group: RuleGroup) -> Iterator[str]:
    """The names of some diagnostics of one rule."""
    yield f"- **{group.severity}** `{group.rule}`{group.size}: {_names(group.diagnostics, _ROOM // 6)}"


def _advice(group: RuleGroup) -> Iterator[str]:
    yield from (f"  - → {_text(advice)}" for advice in group.advice)


def _names(diagnostics: Sequence[Diagnostic], room: int = _ROOM) -> str:
    return grouping.some([_name(each) for each in diagnostics], room)


def _told(diagnostic: Diagnostic) -> str:
    way = f" ({_text(diagnostic.direction)})" if diagnostic.direction else ""
    name = f"{_name(diagnostic)}{way}: " if diagnostic.subject else ""
    return f"{name}{_text(diagnostic.message)}{grouping.times(diagnostic)}"


def _name(diagnostic: Diagnostic) -> str:
    """The name of what it is about, and how many methods or other places it reaches, where they are several."""
    name, extent = code(diagnostic.subject) if diagnostic.subject else grouping.THE_ROOT, grouping.extent(diagnostic)
    return f"{name} ({'reached by ' if diagnostic.reached_noun == 'method' else ''}{extent})" if extent else name


def _text(text: str) -> str:
    """Text of others as it stands. GitHub looks for names to notify after it has resolved references, so they are taken apart."""
    return plain(text).replace("&#64;", "@\u200b")
