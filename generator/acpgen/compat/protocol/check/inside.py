"""What changed inside messages, and inside definitions that stand on their own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from acpgen.compat.changes import Change, LimitChange, unexplained
from acpgen.compat.changes import joined as joined_limits
from acpgen.compat.diff.pairs import Pair, PlacedChange, Step
from acpgen.compat.diff.shapes import Objects
from acpgen.compat.findings import Revision, opposite
from acpgen.compat.protocol.check.inquiry import Inquiry
from acpgen.compat.protocol.check.judged import Judged
from acpgen.compat.protocol.check.routes import DIRECTIONS, Joined, pair_of
from acpgen.compat.protocol.check.statements import Statements
from acpgen.compat.protocol.declared import declares_nothing
from acpgen.schema.walk import Schema


class Inside:
    """Tells what changed inside messages and definitions."""

    def __init__(self, on: Inquiry, statements: Statements) -> None:
        self.on = on
        self.statements = statements
        self._answered: dict[Pair, set[Revision]] = {}
        self._whole: list[tuple[Joined, Pair]] = []

    def compared(self, joined: Joined, pair: Pair, elsewhere: frozenset[Pair]) -> Iterator[Judged]:
        """The findings of the changes in one kind of message or document; what changed in the pairs `elsewhere` is told there."""
        if not self.on.is_changed(joined, pair):
            return
        self._whole.append((joined, pair))
        explained: list[tuple[tuple[Step, ...], Revision]] = []
        doubts: list[PlacedChange] = []
        for found in self.on.walk.wire_changes(pair, elsewhere):
            if found.change.kind == "undecided":
                doubts.append(found)  # both ways of one comparison may leave the same doubt
                continue
            for told in self.statements.each_told(found, joined):
                yield told
                self._answer(found, (*self._tolerated(found.change, joined), *told.refuses, *told.doubtful))
                if told.witness is not None and told.witness.refused_by is not None:
                    explained.append((found.steps, opposite(told.witness.refused_by)))
                    self._answer(found, (told.witness.refused_by,))
        for found in dict.fromkeys(doubts):
            depth = len(found.steps)
            known: set[Revision] = {by for steps, by in explained if steps[:depth] == found.steps}
            for told in self._settled(found, joined, {opposite(by) for by in known}):
                yield told
                self._answer(found, (*told.refuses, *told.doubtful))

    def unexplained(self) -> Iterator[Judged]:
        """What one revision refuses of the other's messages, and no change inside explains."""
        for joined, pair in self._whole:
            answered: set[Revision] = set()
            answered.update(*(self._answered.get(inner, ()) for inner in (pair, *self._inside(pair))))
            doubt = self.on.doubt("no rule explains the difference", joined)
            yield from self._settled(PlacedChange(doubt, (), pair), joined, answered)

    def _answer(self, found: PlacedChange, revisions: Iterable[Revision]) -> None:
        """Note that a finding answers for what revisions refuse of a pair."""
        self._answered.setdefault(found.pair, set()).update(revisions)

    def _tolerated(self, change: Change, joined: Joined) -> tuple[Revision, ...]:
        """The revision that refuses what a change tells, where that is no break: receivers keep what they do not know, and senders of an
        object that declares nothing, and is no map, send nothing in it.
        """
        if change.what in ("value-added", "variant-added"):
            return ("old",) if change.within[0].openness == "tolerated" else ()
        if change.what == "field-added" and self._is_empty(change.within[0], self.on.old.written, joined):
            return ("new",)
        if change.what == "field-removed" and self._is_empty(change.within[1], self.on.new.written, joined):
            return ("old",)
        return ()

    def _is_empty(self, objects: Objects, written: Mapping[str, Schema], joined: Joined) -> bool:
        return (joined.advertises or not objects.is_map) and declares_nothing(objects, written)

    def _inside(self, pair: Pair) -> Iterator[Pair]:
        """The pairs below a pair in which something has changed."""
        pending, seen = [pair], {pair}
        while pending:
            node = self.on.walk.nodes.get(pending.pop())
            fresh = {child for _, child in node.children} - seen if node is not None else set[Pair]()
            seen |= fresh
            changed = [child for child in fresh if self.on.walk.is_changed(child)]
            yield from changed
            pending.extend(changed)

    def _settled(self, found: PlacedChange, joined: Joined, answered: Collection[Revision]) -> Iterator[Judged]:
        """What the prover makes of a doubt: nothing where both directions are proven or answered for, else a message, else the doubt."""
        doubtful: list[Revision] = []
        limits: list[LimitChange] = []
        for sender, receiver in DIRECTIONS:
            if receiver in answered or self.on.acceptance.included(pair_of(joined), sender) == "yes":
                continue
            limit = unexplained(sender, {"old_at": found.change.old_at, "new_at": found.change.new_at})
            told = self.statements.told(replace(found, change=limit), joined)
            if told is not None and told.witness is not None:
                limits.append(limit)
            elif told is not None:
                doubtful.append(receiver)
        if limits:
            yield from self.statements.each_told(replace(found, change=joined_limits(limits)), joined)
        if doubtful and (told := self.statements.told(found, joined)) is not None:
            yield replace(told, doubtful=tuple(doubtful))
