"""A history as Markdown, for a comment. Text of others never becomes markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from acpgen.compat.history.timeline import Origin, Timeline
from acpgen.compat.report.history_words import GRAVE, bump_words, span_words, summary
from acpgen.markup import code, plain


def history_markdown(timeline: Timeline, fail_on: str = "risky") -> str:
    """The history for a comment."""
    lines = [f"### History of {code(timeline.about)}\n", f"{plain(summary(timeline, fail_on))}\n"]
    lines += [f"{plain(note)}\n" for note in timeline.notes]
    lines += steps_table(timeline)
    grave = [each for each in timeline.origins if each.severity in GRAVE]
    if grave:
        lines += [f"\n#### {plain(span_words(timeline))}", *origins_list(grave, timeline)]
    return "\n".join(lines).rstrip() + "\n"


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


def origins_list(origins: Iterable[Origin], timeline: Timeline) -> Iterator[str]:
    """What each step brought, in the order of the steps."""
    labels = {each.name: each.label for each in timeline.milestones}
    order = list(labels)
    ordered = sorted(origins, key=lambda each: order.index(each.new))
    for (old, new), group in groupby(ordered, key=lambda each: (each.old, each.new)):
        yield f"\nSince {code(labels[new])}, after {code(labels[old])}:\n"
        for each in group:
            places = ", ".join(map(code, each.declarations[:_FEW])) + (", …" if len(each.declarations) > _FEW else "")
            yield f"- **{each.severity}** {code(each.rule)}: {plain(each.message)} {places}"


_FEW = 4
"""As many declarations are named of one finding."""
