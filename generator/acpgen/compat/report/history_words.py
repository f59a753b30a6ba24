"""Words that all formats of a history share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from acpgen.compat.findings import Severity
from acpgen.compat.history.timeline import Bump, Milestone, Origin, Timeline

GRAVE: Final[tuple[Severity, ...]] = ("breaking", "undecided", "risky")
"""What a history tells of the whole span; JSON tells what is new besides."""

_VERDICTS: Final = ("breaking", "undecided", "not compared", "risky", "additive", "editorial", "identical")


def summary(timeline: Timeline, fail_on: str) -> str:
    """How many revisions there are, how many steps have which verdict, and how many count."""
    told = [_counted(len(timeline.milestones), "revision")]
    if timeline.unread:
        told.append(f"{len(timeline.unread)} could not be read")
    verdicts = [stride.report.verdict if stride.report else "not compared" for stride in timeline.strides]
    told += [f"{verdicts.count(verdict)} {verdict}" for verdict in _VERDICTS if verdict in verdicts]
    counting = sum(stride.counts(fail_on) for stride in timeline.strides)
    count = "counts" if counting == 1 else "count"
    return (
        f"{', '.join(told)}. {_counted(counting, 'step')} of {len(timeline.strides)} {count} under --fail-on {fail_on}."
    )


def step_words(timeline: Timeline) -> Iterator[tuple[Milestone, str, str]]:
    """Each revision with the verdict of the step to it, `first` for the first one, and the version that it needed."""
    arrivals = {stride.new: stride for stride in timeline.strides}
    for milestone in timeline.milestones:
        stride = arrivals.get(milestone)
        if milestone.unread:
            yield milestone, "cannot be read", ""
        elif stride is None:
            yield milestone, "first", ""
        elif stride.report is None:
            yield milestone, "not compared", ""
        else:
            yield milestone, stride.report.verdict, bump_words(stride.bump)


def bump_words(bump: Bump) -> str:
    """The version that a step needs, and the one that was made if it says too little."""
    if bump.needed is None:
        return ""
    needed = "no new version" if bump.needed == "none" else bump.needed
    if bump.is_enough is None:
        return f"{needed} (pre-release)" if bump.prerelease else needed
    return needed if bump.is_enough else f"{needed}, but made {bump.made}"


def declaration_words(origin: Origin) -> str:
    """What changed: the first, and how many more there are."""
    more = len(origin.declarations) - 1
    return f"{origin.declarations[0]} and {more} more" if more else origin.declarations[0]


def span_words(timeline: Timeline) -> str:
    """What the findings of the whole span are about."""
    first, last = timeline.strides[0].old.label, timeline.strides[-1].new.label
    return f"What {last} breaks for peers of {first}, and since when"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
