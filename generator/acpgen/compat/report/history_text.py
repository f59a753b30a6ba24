"""A history for a terminal: 80 columns. Text of commits and schemas is shown, never obeyed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Final

from acpgen.compat.history.timeline import Milestone, Origin, Stride, Timeline
from acpgen.compat.report.columns import WIDTH, columns, cut, paint, plain, wrapped
from acpgen.compat.report.history_words import GRAVE, bump_words, declaration_words, span_words, summary

_LINES: Final = 12
"""As many findings of one step are listed; JSON has all."""
_NAME: Final = 22
"""Columns of the name of a revision."""


def history_text(timeline: Timeline, fail_on: str = "risky") -> str:
    """The history without colours."""
    return plain(history_coloured(timeline, fail_on))


def history_coloured(timeline: Timeline, fail_on: str = "risky") -> str:
    """The history with colours."""
    return "\n".join(_lines(timeline, fail_on)) + "\n"


def _lines(timeline: Timeline, fail_on: str) -> Iterator[str]:
    yield paint(cut(timeline.about, WIDTH), "heading")
    yield from wrapped(summary(timeline, fail_on))
    for note in timeline.notes:
        yield from wrapped(note)
    yield ""
    yield from _steps(timeline)
    grave = [each for each in timeline.origins if each.severity in GRAVE]
    if grave:
        yield ""
        yield paint(cut(span_words(timeline), WIDTH), "heading")
        yield from _origins(grave, {each.name: each.label for each in timeline.milestones})
    others = sum(each.severity not in GRAVE for each in timeline.origins)
    if others:
        yield ""
        yield from wrapped(f"Additive in the whole span, see --format json: {others}.")


# --- steps -----------------------------------------------------------------------------------------------------------


def _steps(timeline: Timeline) -> Iterator[str]:
    arrivals = {id(stride.new): stride for stride in timeline.strides}
    dated = any(each.day for each in timeline.milestones)
    head = f"{'revision':{_NAME}} {'verdict':12} {'code':10} version"
    yield paint(head, "faint")
    for milestone in timeline.milestones:
        yield from _row(milestone, arrivals.get(id(milestone)), dated=dated)


def _row(milestone: Milestone, stride: Stride | None, *, dated: bool) -> Iterator[str]:
    name = _padded(cut(milestone.label, _NAME), _NAME)
    if milestone.unread:
        yield f"{name} {paint('cannot be read', 'undecided')}"
        yield from wrapped(milestone.unread[0], "    ")
    elif stride is None:
        yield f"{name} —"
    elif stride.report is None:
        yield f"{name} {paint('not compared', 'undecided')}"
        yield from wrapped(stride.failure, "    ")
    else:
        verdict = stride.report.verdict
        told = paint(f"{verdict.upper() if verdict == 'breaking' else verdict:12}", verdict)
        yield f"{name} {told} {stride.report.bindings:10} {bump_words(stride.bump)}".rstrip()
    if dated:
        about = " ".join(filter(None, (milestone.day, milestone.name if milestone.tags else "", milestone.subject)))
        yield paint(f"    {cut(about, WIDTH - 4)}", "faint")


# --- origins ---------------------------------------------------------------------------------------------------------


def _origins(origins: Iterable[Origin], labels: Mapping[str, str]) -> Iterator[str]:
    """What each step brought, in the order of the steps."""
    order = list(labels)
    ordered = sorted(origins, key=lambda each: order.index(each.new))
    for (old, new), group in groupby(ordered, key=lambda each: (each.old, each.new)):
        yield f"  {cut(f'{labels[old]} → {labels[new]}', WIDTH - 2)}"
        found = list(group)
        for each in found[:_LINES]:
            told = f"{each.rule}  {declaration_words(each)}"
            yield f"    {paint(f'{each.severity:9}', each.severity)} {cut(told, WIDTH - 14)}"
        if len(found) > _LINES:
            yield f"    and {len(found) - _LINES} more"


def _padded(text: str, width: int) -> str:
    return text + " " * (width - columns(text))
