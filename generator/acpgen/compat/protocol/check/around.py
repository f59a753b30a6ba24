"""What frames messages: envelopes, definitions of whole messages, roots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from acpgen.compat.changes import Change, ChangePlaces, unexplained
from acpgen.compat.findings import Revision, Witness, opposite
from acpgen.compat.protocol.check.inquiry import Inquiry
from acpgen.compat.protocol.check.judged import Judged
from acpgen.compat.protocol.check.routes import DIRECTIONS, Joined, root_of, sides_of
from acpgen.compat.protocol.check.rulings import Cause, Rulings
from acpgen.compat.protocol.covered import framing
from acpgen.compat.protocol.envelopes import (
    as_declared,
    carried,
    carries,
    envelopes,
    in_place,
    plain_messages,
    with_identifiers,
)
from acpgen.compat.protocol.frames import Framed
from acpgen.compat.protocol.messages import Route
from acpgen.compat.rules import Flow, judge
from acpgen.schema.numbers import loads
from acpgen.schema.walk import Schema

if TYPE_CHECKING:
    from schema_inclusion import Relation


class Around:
    """Tells what changed around the params and results of messages."""

    def __init__(self, on: Inquiry, rulings: Rulings) -> None:
        self.on = on
        self.rulings = rulings

    def envelopes(self) -> Iterator[Judged]:
        """What changed in the envelopes that both revisions have under the same name."""
        for name, one, other in self.on.envelopes:
            route = Route("document", None, name)
            routes = Joined((route, name), (route, name), "both", "peer", "peer")
            at: ChangePlaces = {"old_at": self.on.old.bundle.origins[name], "new_at": self.on.new.bundle.origins[name]}
            for sender, receiver in DIRECTIONS:
                sent = [as_declared(each) if by == sender else each for by, each in (("old", one), ("new", other))]
                relation = self.on.acceptance.between(sent[0], sent[1], sender)
                if relation.verdict.value == "yes":
                    continue
                change = Change("undecided", detail="the envelope cannot be compared", **at)
                witness = self._proof(relation, routes, sender)
                if witness is not None:
                    change = unexplained(sender, at)
                rule, judgement = judge(change)
                told = self.rulings.judged(rule, judgement, routes, change, None, name, witness)
                yield told if witness is not None else replace(told, doubtful=(receiver,))

    def whole_messages(self) -> Iterator[Judged]:
        """What definitions of whole messages demand beside params and result."""
        for each in self.on.frames:
            if each.of_root:
                continue
            (one, other), at = each.names, each.places(self.on.old, self.on.new)
            handler, callers = (
                sides_of(each.kinds[1].method, self.on.new.protocol.sides) if each.kinds[1].method else ("", "")
            )
            flow: Flow = "both" if handler == callers else "to-handler"
            routes = (Route("document", None, one), one), (Route("document", None, other), other)
            joined = Joined(*routes, flow, handler, callers)
            doubtful: list[Revision] = []
            for sender, receiver in DIRECTIONS:
                relation = self._fits(each, sender)
                if relation.verdict.value == "yes":
                    continue
                witness = self._proof(relation, joined, sender)
                if witness is None:
                    doubtful.append(receiver)
                    continue
                change = unexplained(sender, at)
                rule, judgement = judge(change)
                cause = Cause(each.base or other, (each.base or other, sender), judgement.message)
                yield self.rulings.judged(rule, judgement, joined, change, None, other, witness, cause=cause)
            if doubtful:
                told = self.rulings.of_definition(
                    Change("not-compared", name=other, detail="the message around params or result", **at), other
                )
                yield replace(told, doubtful=tuple(doubtful))

    def _proof(self, relation: Relation, joined: Joined, sender: Revision) -> Witness | None:
        if relation.witness is None:
            return None
        return self.on.court.proof(joined.sides, relation.witness.value, sender)

    def _fits(self, each: Framed, sender: Revision) -> Relation:
        """Whether what one revision sends of a kind of message fits into the frame of the other; if not, by a whole message."""
        relation = self.on.acceptance.between(*each.question(sender, declared=True), sender)
        if relation.verdict.value == "yes" or each.of_root:
            return relation
        return self.on.acceptance.between(*each.question(sender, declared=True, whole=True), sender)

    def roots(self) -> Iterator[Judged]:
        """What roots say beside definitions: what frames the messages, where there are any, and what is no keyword."""
        if self.on.old.roots is None or self.on.new.roots is None:
            return
        at: ChangePlaces = {"old_at": root_of(self.on.old), "new_at": root_of(self.on.new)}
        doubtful = {
            receiver: None
            for each in self.on.frames
            for sender, receiver in DIRECTIONS
            if each.of_root and self._fits(each, sender).verdict.value != "yes"
        }
        if doubtful:
            told = self.rulings.of_definition(
                Change("not-compared", detail="the root schema constrains every message differently", **at), ""
            )
            yield replace(told, doubtful=tuple(doubtful))
        for key in dict.fromkeys((*self.on.old.roots.unread, *self.on.new.roots.unread)):
            if self.on.old.roots.unread.get(key) != self.on.new.roots.unread.get(key):
                yield self.rulings.of_definition(
                    Change("not-compared", name=key, detail=f"the content of {key!r} is not read", **at), key
                )

    def frames(self, told: Sequence[Judged]) -> Iterator[Judged]:
        """What frames messages, or is a union of them, is written differently or in one revision alone, and is named by no finding."""
        renamed = self.on.walk.renamed()
        alone = self.on.old.bundle.definitions.keys() ^ self.on.new.bundle.definitions.keys()
        changes = [each for each in told if each.rule != "text-reworded"]
        known = {place for each in changes for place in (each.old_at, each.new_at)}
        found = [framing(side) for side in (self.on.old, self.on.new)]
        for name in dict.fromkeys((*found[0], *found[1])):
            sides = [side.bundle.origins.get(name, "") for side in (self.on.old, self.on.new)]
            at: ChangePlaces = {"old_at": sides[0], "new_at": sides[1]}
            is_told = any(place in known for place in sides if place) or name in {*renamed, *renamed.values()}
            if all(sides):
                old = in_place(loads(self.on.old.frame_text(name, renamed, alone)))
                new = in_place(loads(self.on.new.frame_text(name, {}, alone)))
                yield from self._frame_of_both(name, old, new, at, is_told=is_told)
            elif not is_told and name not in {*self.on.cover.gone, *self.on.cover.added}:
                yield self._frame_of_one(name, "old" if sides[0] else "new", at)

    def _frame_of_both(
        self, name: str, old: Schema, new: Schema, at: ChangePlaces, *, is_told: bool
    ) -> Iterator[Judged]:
        """What frames messages in both revisions, as it says in place: what it refers to is compared method by method."""
        if old == new:
            return
        inside = carried(old), carried(new)
        if all(inside) and not self.on.is_alike(*inside) and not self.on.is_alike(*self._identified(name, *inside)):
            reason = "the constraints that the message envelope places on params and results"
            yield replace(
                self.rulings.of_definition(Change("not-compared", name=name, detail=reason, **at), name),
                doubtful=("old", "new"),
            )
        elif not is_told:
            yield self.rulings.on_paper(Change("structure", name=name, detail="carried", **at))

    def _identified(self, name: str, old: Schema, new: Schema) -> tuple[Schema, Schema]:
        """What the envelopes of a name carry, with the definitions of identifiers where these are not the same."""
        ours, theirs = (side.bundle.definitions[name] for side in (self.on.old, self.on.new))
        return with_identifiers(old, new, ours), with_identifiers(new, old, theirs)

    def _frame_of_one(self, name: str, revision: Revision, at: ChangePlaces) -> Judged:
        """What frames messages of one revision alone, and whether that refuses any message which is well formed."""
        side = self.on.old if revision == "old" else self.on.new
        schema = envelopes(side).get(name)
        if schema is not None and not carries(schema):
            names = (name, None) if revision == "old" else (None, name)
            return self.rulings.of_definition(Change("definition", *names, **at), name)
        sent = None if schema is None else plain_messages(schema, [each.name for each in side.methods])
        if schema is not None and sent is not None:
            one, other = (schema, sent) if revision == "old" else (sent, schema)
            if self.on.acceptance.between(one, other, opposite(revision)).verdict.value != "yes":
                told = self.rulings.of_definition(
                    Change("not-compared", name=name, detail="the message envelope is only in one revision", **at), name
                )
                return replace(told, doubtful=(revision,))
        return self.rulings.on_paper(Change("structure", name=name, detail="carried", **at))
