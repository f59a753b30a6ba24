"""One finding per cause: what changed at one declaration is told once, with all messages that hold it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from acpgen.compat.findings import SEVERITIES, Finding, Reach, opposite, order
from acpgen.compat.fingerprints import fingerprint, texts
from acpgen.compat.spots import Spots
from acpgen.schema.numbers import dumps

if TYPE_CHECKING:
    from acpgen.compat.findings import Revision
    from acpgen.compat.protocol.check.judged import Judged
    from acpgen.compat.sources import Input


def placed(judged: Iterable[Judged], old: Input, new: Input) -> tuple[Finding, ...]:
    """The findings, one for each cause, with their places in files: worst first, then by method and location."""
    causes: dict[tuple[object, ...], list[Judged]] = {}
    for each in judged:
        causes.setdefault((each.rule, each.subject, each.said, each.cause), []).append(each)
    sides = Spots(old), Spots(new)
    return tuple(sorted((_finding(group, *sides) for group in causes.values()), key=order))


def _finding(group: list[Judged], old: Spots, new: Spots) -> Finding:
    """The finding of one cause. What has no subject is told by what stands at both places: another text there may be another matter."""
    group = sorted(_told_once(group), key=_weight)
    first = group[0]
    sides = ((old, first.old_at), (new, first.new_at)) if first.subject is None else ()
    there = [text for side, at in sides for text in texts(side.value, at)]
    harms = sorted({(each.severity, each.effect, each.flow, each.breaks) for each in group})
    reaches = tuple(
        Reach(
            method=each.method,
            flow=each.flow,
            location=each.location,
            severity=each.severity,
            effect=each.effect,
            message=each.message,
            fingerprint=fingerprint(*each.about, *there),
            breaks=each.breaks,
            sender=each.sender if each.breaks else None,
            witness=each.witness,
            senders=_senders(each),
        )
        for each in group
    )
    return Finding(
        rule=first.rule,
        severity=first.severity,
        effect=first.effect,
        method=first.method,
        flow=first.flow,
        location=first.location,
        old=old.spot(first.old_at),
        new=new.spot(first.new_at),
        message=first.message,
        advice=first.advice,
        fingerprint=fingerprint(first.rule, first.cause, first.subject, harms, *there),
        breaks="; ".join(dict.fromkeys(each.breaks for each in group if each.breaks)),
        witness=first.witness,
        declaration=first.declaration,
        reaches=reaches,
    )


def _told_once(group: list[Judged]) -> list[Judged]:
    """The same without what is told of a branch by its place, `#/oneOf/0.n`, where it is told of the whole document too, `(text).n`."""

    def harm(each: Judged) -> tuple[object, ...]:
        return each.severity, each.effect, each.method, each.flow, each.breaks, each.old_at, each.new_at

    named = {harm(each) for each in group if "#/" not in each.location}
    return [each for each in group if "#/" not in each.location or harm(each) not in named]


def _senders(judged: Judged) -> tuple[Revision, ...]:
    """The revisions whose messages suffer: that which the rule names, and those whose messages the other may refuse."""
    named = () if judged.sender is None else (judged.sender,)
    return tuple(dict.fromkeys((*named, *(opposite(each) for each in (*judged.breaks_for, *judged.doubtful)))))


def _weight(each: Judged) -> tuple[int, int, bool, str, str, str]:
    """Worst first, then the smallest witness."""
    size = 0 if each.witness is None else len(dumps(each.witness.value))
    return SEVERITIES.index(each.severity), size, each.method is None, each.method or "", each.flow, each.location
