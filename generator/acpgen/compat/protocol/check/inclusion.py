"""Whether the messages of one revision are messages of the other, as plain sets, and what was compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from acpgen.compat.findings import Answer, Coverage, Inclusion, Revision, Uncompared, Witness, opposite
from acpgen.compat.protocol.check.inquiry import Inquiry
from acpgen.compat.protocol.check.judged import Judged
from acpgen.compat.protocol.check.located import location_of
from acpgen.compat.protocol.check.routes import names_of
from acpgen.compat.protocol.check.rulings import Rulings
from acpgen.compat.protocol.covered import closure
from acpgen.compat.rules import judge

_OPEN: Final = ("definition-removed", "not-compared")
"""Rules about what was not compared."""


class Inclusions:
    """Asks whether the messages of one revision are messages of the other, and what no finding explains of that."""

    def __init__(self, on: Inquiry, rulings: Rulings) -> None:
        self.on = on
        self.rulings = rulings

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

    def contradicted(self, judged: Sequence[Judged], explained: Iterable[str]) -> Iterator[Judged]:
        """The doubts that are left where plain schemas say otherwise of what messages hold, and no finding is about anything in it."""
        told = {*explained, *self._concerned(judged)}
        for joined, pair in self.on.pairs:
            names = names_of(pair)
            if names is None or not (self.on.walk.is_changed(pair) or self.on.is_rewritten(joined, pair)):
                continue
            around = {
                side.owner(side.outermost(side.bundle.origins[name]))[0]
                for side, name in zip((self.on.old, self.on.new), names, strict=True)
            }
            if not told.isdisjoint(around | closure(self.on.old, names[:1]) | closure(self.on.new, names[1:])):
                continue
            doubtful = tuple(receiver for _, receiver in self.on.refusals(pair))
            if doubtful:
                doubt = self.on.doubt("schema inclusion fails, and no finding explains why", joined)
                rule, judgement = judge(doubt)
                location = location_of(joined.new[0], ())
                yield replace(
                    self.rulings.judged(rule, judgement, joined, doubt, joined.method, location, None, proven=True),
                    doubtful=doubtful,
                )

    def _concerned(self, judged: Iterable[Judged]) -> set[str]:
        """The definitions in which a finding that is no editorial one has a place."""
        places = [
            (side, at)
            for each in judged
            if each.severity != "editorial"
            for side, at in ((self.on.old, each.old_at), (self.on.new, each.new_at))
        ]
        return {name for side, at in places for name in (side.owner(at)[0], side.owner(side.outermost(at))[0]) if name}

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
        changed = [(joined, pair) for joined, pair in self.on.pairs if self.on.walk.is_changed(pair)]
        changed += [(joined, pair) for joined, pair in self.on.pairs if self.on.is_rewritten(joined, pair)]
        answers: set[Answer] = {self.on.acceptance.included(pair, sender, declared=False) for _, pair in changed}
        is_open = any((each.rule in _OPEN or each.is_cut_off) and receiver in each.doubtful for each in judged)
        answers.add("undecided" if is_open else "yes")
        return answers


def _refuses(witness: Witness | None, revision: Revision) -> bool:
    return witness is not None and witness.refused_by == revision
