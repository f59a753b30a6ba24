"""A history as JSON. `history.schema.json` beside this file says what it looks like; keys may be added, never renamed."""

from __future__ import annotations

from acpgen.compat.findings import counts, failing
from acpgen.compat.history.timeline import Milestone, Origin, Stride, Timeline
from acpgen.ir import JSON
from acpgen.schema.numbers import dumps


def history_json(timeline: Timeline, fail_on: str = "risky") -> str:
    """The history as JSON text."""
    return dumps(history_data(timeline, fail_on), indent=2, ensure_ascii=False) + "\n"


def history_data(timeline: Timeline, fail_on: str = "risky") -> dict[str, JSON]:
    """The history as JSON."""
    return {
        "about": timeline.about,
        "fails": timeline.fails(fail_on),
        "revisions": [_milestone(each) for each in timeline.milestones],
        "steps": [_stride(each, fail_on) for each in timeline.strides],
        "origins": [_origin(each) for each in timeline.origins],
        "notes": list(timeline.notes),
    }


def _milestone(each: Milestone) -> JSON:
    return {
        "name": each.name,
        "tags": list(each.tags),
        "day": each.day or None,
        "subject": each.subject,
        "unread": list(each.unread),
    }


def _stride(each: Stride, fail_on: str) -> JSON:
    report = each.report
    told: dict[str, JSON] = {
        "old": each.old.name,
        "new": each.new.name,
        "verdict": None if report is None else report.verdict,
        "version": {
            "needed": each.bump.needed,
            "made": each.bump.made,
            "enough": each.bump.is_enough,
            "below_one": each.bump.zero,
            "prerelease": each.bump.prerelease,
        },
    }
    if report is None:
        return {**told, "failure": each.failure}
    return {
        **told,
        "backward": report.wire.backward,
        "forward": report.wire.forward,
        "bindings": report.bindings,
        "counts": {str(severity): count for severity, count in counts(report).items()},
        "failing": len(failing(report, fail_on)),
    }


def _origin(each: Origin) -> JSON:
    return {
        "rule": each.rule,
        "severity": each.severity,
        "message": each.message,
        "declarations": list(each.declarations),
        "old": each.old,
        "new": each.new,
    }
