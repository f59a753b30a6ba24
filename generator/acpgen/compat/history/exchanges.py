"""Which messages a judgement is about: from peers of which revision, in which direction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from acpgen.compat.findings import Revision, Severity, opposite
from acpgen.compat.history.timeline import OUTCOMES, Outcome

if TYPE_CHECKING:
    from acpgen.compat.protocol.check.judged import Judged
    from acpgen.compat.protocol.revision import Revised

ANY: Final = "messages"
"""The flow of messages where it cannot be told which side sends them."""

DOCUMENTS: Final = "documents"
"""The flow of what no message of a method holds: whoever has a definition in a file, or sends it by other ways."""

_OUTCOMES: Final[Mapping[Severity, Outcome]] = {
    "breaking": "no",
    "undecided": "undecided",
    "risky": "risky",
    "additive": "yes",
    "editorial": "yes",
}

_OLD_ONLY: Final = frozenset({"demand-changed", "leniency-withdrawn", "method-removed", "null-result-withdrawn"})
"""Rules that name no sender: what an old peer sends suffers."""


def flows(revisions: Sequence[Revised]) -> tuple[str, ...]:
    """Who sends to whom: both ways between two sides that all revisions with methods have, and what no message holds."""
    speaking = [each for each in revisions if each.methods]
    if not speaking:
        return (DOCUMENTS,)
    sides = {tuple(sorted(each.protocol.sides)) for each in speaking}
    (names,) = sides if len(sides) == 1 else [()]
    if len(names) != 2:
        return ANY, DOCUMENTS
    handled = Counter(method.side for method in speaking[-1].methods if method.kind == "request")
    handler = max(names, key=lambda name: (handled[name], name))
    (caller,) = (name for name in names if name != handler)
    return f"{caller}-to-{handler}", f"{handler}-to-{caller}", DOCUMENTS


def outcome(judged: Iterable[Judged], flow: str, sender: Revision, known: tuple[str, ...]) -> Outcome:
    """What becomes of what peers of one of two revisions send in a direction to peers of the other; `known` are all directions."""
    found: set[Outcome] = {
        _OUTCOMES[each.severity] for each in judged if _concerns(each, flow, known) and sender in senders(each)
    }
    for each in OUTCOMES:
        if each in found:
            return each
    return "yes"


def _concerns(judged: Judged, flow: str, known: tuple[str, ...]) -> bool:
    """Whether a judgement is about what goes in a direction; what names none of them is about all messages."""
    if known == (DOCUMENTS,) or judged.alone:
        return flow == DOCUMENTS
    return judged.flow == flow or (judged.flow not in known and flow != DOCUMENTS)


def senders(judged: Judged) -> Iterator[Revision]:
    """The revisions whose messages suffer; both, where that is not told."""
    told: set[Revision] = {opposite(refuser) for refuser in (*judged.refuses, *judged.doubtful)}
    if judged.sender is not None:
        told.add(judged.sender)
    elif not told and judged.rule in _OLD_ONLY:
        told.add("old")
    yield from sorted(told) or ("new", "old")
