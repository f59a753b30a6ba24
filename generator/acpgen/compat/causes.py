"""One finding per cause: what changed at one declaration is told once, with all messages that hold it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin

from acpgen.compat.findings import SEVERITIES, Finding, Reach, order
from acpgen.compat.spots import Spots
from acpgen.schema.walk import refs_anywhere

if TYPE_CHECKING:
    from acpgen.compat.protocol.check import Judged
    from acpgen.compat.sources import Input
    from acpgen.ir import JSON


def placed(judged: Iterable[Judged], old: Input, new: Input) -> tuple[Finding, ...]:
    """The findings, one for each cause, with their places in files: worst first, then by method and location."""
    causes: dict[tuple[object, ...], list[Judged]] = {}
    for each in judged:
        causes.setdefault((each.rule, each.subject, each.said, each.cause), []).append(each)
    sides = Spots(old), Spots(new)
    return tuple(sorted((_finding(group, *sides) for group in causes.values()), key=order))


def fingerprint(*about: object) -> str:
    """What a finding is about, in a short text."""
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]


def _finding(group: list[Judged], old: Spots, new: Spots) -> Finding:
    """The finding of one cause. What has no subject is told by what stands at both places: another text there may be another matter."""
    group = sorted(group, key=_weight)
    first = group[0]
    texts = [*_texts(old, first.old_at), *_texts(new, first.new_at)] if first.subject is None else []
    harms = sorted({(each.severity, each.effect, each.flow, each.breaks) for each in group})
    reaches = tuple(
        Reach(
            method=each.method,
            flow=each.flow,
            location=each.location,
            severity=each.severity,
            effect=each.effect,
            message=each.message,
            fingerprint=fingerprint(*each.about, *texts),
            breaks=each.breaks,
            witness=each.witness,
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
        fingerprint=fingerprint(first.rule, first.cause, first.subject, harms, *texts),
        breaks="; ".join(dict.fromkeys(each.breaks for each in group if each.breaks)),
        witness=first.witness,
        declaration=first.declaration,
        reaches=reaches,
    )


def _weight(each: Judged) -> tuple[int, int, bool, str, str, str]:
    """Worst first, then the smallest witness."""
    size = 0 if each.witness is None else len(json.dumps(each.witness.value))
    return SEVERITIES.index(each.severity), size, each.method is None, each.method or "", each.flow, each.location


def _texts(side: Spots, at: str) -> list[JSON]:
    """What stands at a place and at all places that it refers to, however far."""
    found: dict[str, JSON] = {}
    pending = [at]
    while pending:
        place = pending.pop()
        if place not in found:
            found[place] = side.value(place)
            pending.extend(urljoin(place, unquote(ref)) for ref in refs_anywhere(found[place]))
    return [found[place] for place in sorted(found)]
