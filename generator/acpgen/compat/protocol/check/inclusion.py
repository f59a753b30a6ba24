"""Whether the messages of one revision are messages of the other, as plain sets, and what was compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from acpgen.compat.findings import Answer, Coverage, Inclusion, Revision, Uncompared, Witness, opposite
from acpgen.compat.protocol.check.inquiry import Inquiry
from acpgen.compat.protocol.check.judged import Judged

_OPEN: Final = ("definition-removed", "not-compared")
"""Rules about what was not compared."""


class Inclusions:
    """Asks whether the messages of one revision are messages of the other, and what was compared."""

    def __init__(self, on: Inquiry) -> None:
        self.on = on

    def coverage(self, judged: Iterable[Judged]) -> Coverage:
        """What was compared, and what was not."""
        names = {name for side in (self.on.old, self.on.new) for name in side.declared}
        left = {each.location or "root": each.message for each in judged if each.rule in _OPEN or each.is_cut_off}
        compared = len(names - left.keys())
        open_ = tuple(Uncompared(name, left[name]) for name in sorted(left))
        return Coverage(sum(1 for _ in self.on.methods), len(names), compared, open_)

    def language(self, judged: Sequence[Judged]) -> Inclusion:
        """Whether messages are included in one another as plain sets, both ways: what is merely claimed counts here."""
        return Inclusion(self._included("old", judged), self._included("new", judged))

    def _included(self, sender: Revision, judged: Sequence[Judged]) -> Answer:
        answers = self._held(sender, judged)
        if "no" not in answers:
            answers |= {
                self.on.acceptance.between(one, other, sender).verdict.value for _, one, other in self.on.envelopes
            }
            framed = [each.question(sender, declared=False) for each in self.on.frames]
            answers |= {self.on.acceptance.between(*each, sender).verdict.value for each in framed}
        return "no" if "no" in answers else "undecided" if "undecided" in answers else "yes"

    def _held(self, sender: Revision, judged: Sequence[Judged]) -> set[Answer]:
        """The answers about what the messages of a sender hold, whatever frames it."""
        receiver = opposite(sender)
        if any(receiver in each.refuses or _refuses(each.witness, receiver) for each in judged):
            return {"no"}
        changed = (pair for joined, pair in self.on.pairs if self.on.is_changed(joined, pair))
        answers: set[Answer] = {self.on.acceptance.included(pair, sender, declared=False) for pair in changed}
        is_open = any((each.rule in _OPEN or each.is_cut_off) and receiver in each.doubtful for each in judged)
        answers.add("undecided" if is_open else "yes")
        return answers


def _refuses(witness: Witness | None, revision: Revision) -> bool:
    return witness is not None and witness.refused_by == revision
