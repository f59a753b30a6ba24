"""What changed inside messages, and inside definitions that stand on their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from acpgen import ir
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
from acpgen.compat.protocol.proof import held
from acpgen.schema.walk import Schema


class Inside:
    """Tells what changed inside messages and definitions."""

    def __init__(self, on: Inquiry, statements: Statements) -> None:
        self.on = on
        self.statements = statements
        self._answered: dict[Pair, set[Revision]] = {}
        self._parted: list[tuple[Joined, Pair]] = []

    def compared(self, joined: Joined, pair: Pair, elsewhere: frozenset[Pair]) -> Iterator[Judged]:
        """The findings of one kind of message or document; what changed in the pairs `elsewhere` is told there."""
        return (
            self._in_messages(joined, pair, elsewhere) if self.on.walk.is_changed(pair) else self._unseen(joined, pair)
        )

    def of_parts(self) -> Iterator[Judged]:
        """The findings of what asks more of values than of their parts, once these were compared."""
        for joined, pair in self._parted:
            answered: set[Revision] = set()
            answered.update(*(self._answered.get(inner, ()) for inner in (pair, *self._inside(pair))))
            yield from self._unexplained(joined, pair, answered)

    def _in_messages(self, joined: Joined, pair: Pair, elsewhere: frozenset[Pair]) -> Iterator[Judged]:
        """The findings of one kind of message. What the changes could not tell apart comes last: others may explain it."""
        explained: list[tuple[tuple[Step, ...], Revision]] = []
        doubts: list[PlacedChange] = []
        answered: set[Revision] = set()
        for found in self.on.walk.wire_changes(pair, elsewhere):
            if found.change.kind == "undecided":
                doubts.append(found)  # both ways of one comparison may leave the same doubt
                continue
            for told in self.statements.each_told(found, joined):
                yield told
                answered.update((*self._tolerated(found.change, joined), *told.refuses, *told.doubtful))
                if told.witness is not None and told.witness.accepted_by is not None:
                    explained.append((found.steps, told.witness.accepted_by))
                    answered.add(opposite(told.witness.accepted_by))
        for found in dict.fromkeys(doubts):
            for told in self._settled(found, joined, explained, whole=pair):
                yield told
                answered.update((*told.refuses, *told.doubtful))
        self._answered[pair] = answered
        inside = [*self._inside(pair)]
        if not any(child in elsewhere for child in inside):
            yield from self._unexplained(joined, pair, answered)
        elif any(map(self._asks_more, (pair, *inside))):
            self._parted.append((joined, pair))

    def _asks_more(self, pair: Pair) -> bool:
        """Whether more is asked of a value than of its parts, such as to fit no two alternatives: what takes more may make it take less."""
        for type_, number in pair.sides:
            shape = self.on.walk.shape(type_, number)
            side = (self.on.old, self.on.new)[number]
            if shape.exclusive or any(side.definitions[name].unenforced for name in shape.names):
                return True
        return False

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
            fresh = {child for _, child in self.on.walk.nodes[pending.pop()].children} - seen
            seen |= fresh
            changed = [child for child in fresh if self.on.walk.is_changed(child)]
            yield from changed
            pending.extend(changed)

    def _unexplained(self, joined: Joined, pair: Pair, answered: Iterable[Revision]) -> Iterator[Judged]:
        """What the prover finds refused by a revision that no finding has answered for."""
        doubt = self.on.doubt("no rule explains the difference", joined)
        yield from self._settled(PlacedChange(doubt, (), pair), joined, (), answered)

    def _unseen(self, joined: Joined, pair: Pair) -> Iterator[Judged]:
        """What no change tells of messages that are written differently: the prover has the last word."""
        if not self.on.is_rewritten(joined, pair):
            return
        yield from self._settled(PlacedChange(self.on.doubt("the schema was rewritten", joined), (), pair), joined, ())

    def _settled(
        self,
        found: PlacedChange,
        joined: Joined,
        explained: Sequence[tuple[tuple[Step, ...], Revision]],
        answered: Iterable[Revision] = (),
        whole: Pair | None = None,
    ) -> Iterator[Judged]:
        """What the prover makes of a doubt: nothing where both directions are proven or explained, else a value, else the doubt.

        The revisions in `answered` are not asked about. `whole` is the pair from which the steps lead to the doubt.
        """
        doubtful: list[Revision] = []
        limits: list[LimitChange] = []
        for sender, receiver in DIRECTIONS:
            if receiver in answered:
                continue
            answer = self.on.doubts.included(found.pair, sender)
            depth = len(found.steps)
            if answer == "yes" or self.on.doubts.included(pair_of(joined), sender) == "yes":
                continue
            if answer == "no" and any(by == sender and steps[:depth] == found.steps for steps, by in explained):
                continue
            limit = self._shown(found, joined, sender, self.on.doubts.counterexample(found.pair, sender) or ())
            if limit is None and whole is not None and found.steps:
                there = self.on.doubts.inside(whole, found.steps, found.pair, sender)
                if there is not None and there.verdict.value == "yes":
                    continue
                if there is not None and there.witness is not None:
                    limit = self._shown(found, joined, sender, held(there.witness.value, found.steps, sender))
            if limit is None:
                doubtful.append(receiver)
            else:
                limits.append(limit)
        if limits:
            yield from self.statements.each_told(replace(found, change=joined_limits(limits)), joined)
        if doubtful and (told := self.statements.told(found, joined)) is not None:
            yield replace(told, doubtful=tuple(doubtful))

    def _shown(
        self, found: PlacedChange, joined: Joined, sender: Revision, values: Iterable[ir.JSON]
    ) -> LimitChange | None:
        """The limit that one of these values breaks at the place, as a message shows."""
        for value in values:
            limit = unexplained(sender, value, {"old_at": found.change.old_at, "new_at": found.change.new_at})
            told = self.statements.told(replace(found, change=limit), joined)
            if told is not None and told.witness is not None:
                return limit
        return None
