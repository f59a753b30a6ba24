"""Converts a history into a report for every output format: the steps, and the effects of the newest revision on the oldest peers.

`history_report.schema.json` beside this file specifies the JSON; keys may be added, never renamed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Final

from acpgen.compat.check_report import describe_rules
from acpgen.compat.findings import count_severities, list_failing
from acpgen.compat.history.timeline import Bump, Milestone, RevisionStep, Timeline
from acpgen.diagnostics.model import Column, Diagnostic, DiagnosticReport, ReportTable
from acpgen.errors import count_noun
from acpgen.ir import JSON

_ORDER: Final = (
    "breaking",
    "undecided",
    "cannot be read",
    "not compared",
    "risky",
    "additive",
    "editorial",
    "identical",
)


def make_report(timeline: Timeline, fail_on: str = "risky") -> DiagnosticReport:
    """A history as a report; its exit code is 1 if a step counts under `fail_on`."""
    verdict = min(_list_verdicts(timeline), key=_ORDER.index, default="identical")
    return DiagnosticReport(
        command="history",
        label="History",
        title=timeline.about,
        verdict=verdict,
        sentence=f"{verdict.capitalize()}: the worst of the steps between neighbours.",
        summary=_summarize(timeline, fail_on),
        remarks=(*timeline.notes, *([_describe_span(timeline)] if timeline.origins else [])),
        diagnostics=tuple(_list_diagnostics(timeline)),
        tables=(_make_table(timeline),),
        data=partial(convert_history, timeline, fail_on),
        describe=describe_rules,
        code=int(timeline.fails(fail_on)),
    )


_COLUMNS: Final = (
    Column("Revision"),
    Column("Messages"),
    Column("Old to new", "no"),
    Column("New to old", "no"),
    Column("Generated code"),
    Column("Version"),
    Column("Day", "below"),
    Column("Subject", "below"),
)


def _make_table(timeline: Timeline) -> ReportTable:
    """The table of the revisions with the result of the step to each; releases have neither day nor subject."""
    arrivals = {step.new: step for step in timeline.steps}
    rows = [_make_row(milestone, arrivals.get(milestone)) for milestone in timeline.milestones]
    count = len(_COLUMNS) if any(milestone.day for milestone in timeline.milestones) else len(_COLUMNS) - 2
    return ReportTable("Steps", _COLUMNS[:count], tuple(row[:count] for row in rows))


def _make_row(milestone: Milestone, step: RevisionStep | None) -> tuple[str, ...]:
    report = None if step is None else step.report
    cells = ("", "", "") if report is None else (report.wire.backward, report.wire.forward, report.bindings)
    why = "cannot be read" if milestone.unread else "the first" if step is None else "not compared"
    verdict = why if report is None else report.verdict
    version = "" if step is None or report is None else _bump(step.bump)
    name = f"{milestone.name} " if milestone.tags and milestone.day else ""
    return milestone.label, verdict, *cells, version, milestone.day, f"{name}{milestone.subject}"


def _list_diagnostics(timeline: Timeline) -> Iterator[Diagnostic]:
    labels = {milestone.name: milestone.label for milestone in timeline.milestones}
    for origin in timeline.origins:
        since = labels[origin.new]
        yield Diagnostic(
            *(origin.rule, origin.severity, origin.message),
            subject=origin.declarations[0],
            reached=origin.declarations[1:],
            reached_noun="place",
            direction=f"since {since}",
            group=f"Since {since}",
            properties={"old": origin.old, "new": origin.new},
        )
    for milestone in timeline.unread:
        message = f"The revision cannot be read: {milestone.unread[0]}"
        yield Diagnostic("revision-unread", "note", message, subject=milestone.label, group="Steps")
    for step in timeline.steps:
        if step.failure:
            message = f"The step was not compared: {step.failure}"
            yield Diagnostic("step-not-compared", "note", message, subject=step.new.label, group="Steps")


def _summarize(timeline: Timeline, fail_on: str) -> str:
    """The number of revisions, of steps by verdict, and of steps that count."""
    parts = [count_noun(len(timeline.milestones), "revision")]
    verdicts = [*_list_verdicts(timeline)]
    parts += [f"{verdicts.count(verdict)} {verdict}" for verdict in _ORDER if verdict in verdicts]
    counting = sum(step.counts(fail_on) for step in timeline.steps)
    count = "counts" if counting == 1 else "count"
    steps = count_noun(counting, "step")
    return f"{', '.join(parts)}. {steps} of {len(timeline.steps)} {count} under --fail-on {fail_on}"


def _list_verdicts(timeline: Timeline) -> Iterator[str]:
    """Yield the verdicts of the steps, and one for each unreadable revision."""
    yield from ("cannot be read" for _ in timeline.unread)
    yield from (step.report.verdict if step.report else "not compared" for step in timeline.steps)


def _describe_span(timeline: Timeline) -> str:
    first, last = timeline.steps[0].old.label, timeline.steps[-1].new.label
    return f"The findings are what {last} does to peers of {first}, and since when."


def _bump(bump: Bump) -> str:
    """The version that a step needs, with the actual bump if that is too small."""
    if bump.needed is None:
        return ""
    required_version = "no new version" if bump.needed == "none" else bump.needed
    if bump.is_enough is None:
        return f"{required_version} (pre-release)" if bump.prerelease else required_version
    return required_version if bump.is_enough else f"{required_version}, but made {bump.made}"


def convert_history(timeline: Timeline, fail_on: str = "risky") -> dict[str, JSON]:
    """The history as JSON."""
    return {
        "about": timeline.about,
        "fails": timeline.fails(fail_on),
        "revisions": [
            {
                "day": milestone.day or None,
                **{name: getattr(milestone, name) for name in ("name", "subject", "tags", "unread")},
            }
            for milestone in timeline.milestones
        ],
        "steps": [_step_data(step, fail_on) for step in timeline.steps],
        "origins": [asdict(origin) for origin in timeline.origins],
        "notes": list(timeline.notes),
    }


def _step_data(step: RevisionStep, fail_on: str) -> JSON:
    report = step.report
    row: dict[str, JSON] = {
        "old": step.old.name,
        "new": step.new.name,
        "verdict": None if report is None else report.verdict,
        "version": {**asdict(step.bump), "enough": step.bump.is_enough},
    }
    if report is None:
        return {**row, "failure": step.failure}
    return {
        **row,
        **asdict(report.wire),
        "bindings": report.bindings,
        "counts": {str(severity): count for severity, count in count_severities(report).items()},
        "failing": len(list_failing(report, fail_on)),
    }
