"""A history as Markdown: for a comment, and for a page of the docs with pictures. Text of others never becomes markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from acpgen.compat.history.timeline import Matrix, Origin, Timeline
from acpgen.compat.report.history_pictures import matrix_picture, steps_picture
from acpgen.compat.report.history_words import (
    GRAVE,
    LEGEND,
    OUTCOME_ORDER,
    SIGNS,
    bump_words,
    matrix_words,
    signs,
    span_words,
    summary,
)
from acpgen.markup import Markdown, code, plain


def history_markdown(timeline: Timeline, fail_on: str = "risky") -> str:
    """The history for a comment."""
    lines = [f"### History of {code(timeline.about)}\n", f"{plain(summary(timeline, fail_on))}\n"]
    lines += [f"{plain(note)}\n" for note in timeline.notes]
    lines += steps_table(timeline)
    if len(timeline.matrix.rows) > 1:
        lines += ["\n#### Which revisions understand each other\n", *matrix_table(timeline.matrix)]
    grave = [each for each in timeline.origins if each.severity in GRAVE]
    if grave:
        lines += [f"\n#### {plain(span_words(timeline))}", *origins_list(grave, timeline)]
    return "\n".join(lines).rstrip() + "\n"


def history_section(name: str, timeline: Timeline, rules: str) -> Markdown:
    """The history for a page of the docs; `rules` is the way to the page of the compatibility rules. No number in it counts findings."""
    lines = ["## Steps\n", steps_picture(name, timeline), "", *steps_table(timeline)]
    if len(timeline.matrix.rows) > 1:
        lines += [
            "\n## Which revisions understand each other\n",
            matrix_picture(name, timeline.matrix),
            "",
            *matrix_table(timeline.matrix),
        ]
    grave = [each for each in timeline.origins if each.severity in GRAVE]
    if grave:
        lines += [f"\n## {plain(span_words(timeline))}", *origins_list(grave, timeline, rules)]
    return Markdown("\n".join(lines).rstrip())


def steps_table(timeline: Timeline) -> Iterator[str]:
    """The revisions and what the step to each of them did."""
    dated = any(each.day for each in timeline.milestones)
    commit = " Day | Subject |" if dated else ""
    yield f"| Revision |{commit} Messages | Old to new | New to old | Generated code | Version |"
    yield f"| --- |{' --- | --- |' if dated else ''} --- | --- | --- | --- | --- |"
    arrivals = {stride.new: stride for stride in timeline.strides}
    for milestone in timeline.milestones:
        stride = arrivals.get(milestone)
        told = f" {milestone.day} | {plain(milestone.subject)} |" if dated else ""
        if milestone.unread:
            cells = f" cannot be read: {plain(milestone.unread[0])} | | | | |"
        elif stride is None:
            cells = " the first | | | | |"
        elif stride.report is None:
            cells = f" not compared: {plain(stride.failure)} | | | | |"
        else:
            report = stride.report
            verdict = f"**{report.verdict}**" if report.verdict in GRAVE else report.verdict
            wire = f"{report.wire.backward} | {report.wire.forward}"
            cells = f" {verdict} | {wire} | {report.bindings} | {bump_words(stride.bump)} |"
        yield f"| {code(milestone.label)} |{told}{cells}"


def matrix_table(matrix: Matrix) -> Iterator[str]:
    """Which revisions understand each other, in signs."""
    legend = ", ".join(f"{SIGNS[outcome]} {LEGEND[outcome]}" for outcome in OUTCOME_ORDER)
    yield f"{plain(' '.join(matrix_words(matrix)))} {plain(legend)}.\n"
    numbers = range(len(matrix.rows))
    yield f"| Client ↓ agent → |{''.join(f' {number + 1} |' for number in numbers)}"
    yield f"| --- |{' :-: |' * len(numbers)}"
    for row, members in enumerate(matrix.rows):
        yield f"| {row + 1} {', '.join(map(code, members))} |{''.join(f' {signs(matrix, row, column)} |' for column in numbers)}"
    if matrix.left_out:
        yield f"\nLeft out: {', '.join(map(code, matrix.left_out))}."


def origins_list(origins: Iterable[Origin], timeline: Timeline, rules: str | None = None) -> Iterator[str]:
    """What each step brought, in the order of the steps; with links to the rules, if there is a way to them."""
    labels = {each.name: each.label for each in timeline.milestones}
    order = list(labels)
    ordered = sorted(origins, key=lambda each: order.index(each.new))
    for (old, new), group in groupby(ordered, key=lambda each: (each.old, each.new)):
        yield f"\nSince {code(labels[new])}, after {code(labels[old])}:\n"
        for each in group:
            rule = code(each.rule) if rules is None else f"[{code(each.rule)}]({rules}#{each.rule})"
            places = ", ".join(map(code, each.declarations[:_FEW])) + (", …" if len(each.declarations) > _FEW else "")
            found = "" if each.is_exact else " Found by bisection."
            yield f"- **{each.severity}** {rule}: {plain(each.message)} {places}{found}"


_FEW = 4
"""As many declarations are named of one finding."""
