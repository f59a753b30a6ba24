"""What no message holds, and definitions that differ and that no finding names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, Literal

from acpgen import ir
from acpgen.compat.changes import Change, ChangePlaces
from acpgen.compat.diff.definitions import Walk
from acpgen.compat.diff.pairs import Pair
from acpgen.compat.protocol.check.inquiry import Inquiry
from acpgen.compat.protocol.check.judged import Judged
from acpgen.compat.protocol.check.routes import root_of
from acpgen.compat.protocol.check.rulings import Rulings
from acpgen.compat.protocol.covered import closure, of_both_files, unread
from acpgen.compat.protocol.revision import Revised
from acpgen.schema.unions import lone_reference

_KEPT: Final = "documents with undeclared members are accepted differently than before; --mode language compares these"


class Unnamed:
    """Tells what no message holds, and what no finding names."""

    def __init__(self, on: Inquiry, rulings: Rulings) -> None:
        self.on = on
        self.rulings = rulings

    def without_counterpart(self) -> Iterator[Judged]:
        """What has no counterpart, and what is not read."""
        for name in self.on.cover.gone:
            yield self.rulings.of_definition(
                Change("definition", name, None, old_at=self.on.old.definitions[name].at), name
            )
        for name in self.on.cover.added:
            yield self.rulings.of_definition(
                Change("definition", None, name, new_at=self.on.new.definitions[name].at), name
            )
        for revision, name in self.on.cover.copied:
            old_at, new_at = (
                side.definitions[name].at if revision == named else ""
                for named, side in (("old", self.on.old), ("new", self.on.new))
            )
            yield self.rulings.on_paper(Change("structure", name=name, detail="copied", old_at=old_at, new_at=new_at))
        for name, reason in unread(self.on.old, self.on.new).items():
            at: ChangePlaces = {
                "old_at": self.on.old.bundle.origins.get(name, ""),
                "new_at": self.on.new.bundle.origins.get(name, ""),
            }
            yield self.rulings.of_definition(Change("not-compared", name=name, detail=reason, **at), name)

    def written_differently(self, told: Sequence[Judged]) -> Iterator[Judged]:
        """The definitions that are written differently and that no finding names: they accept the same, or what differs in them is told
        where it stands. If neither is so, they were not compared.
        """
        changes = [each for each in told if each.rule != "text-reworded"]
        sides = ((self.on.old, {each.old_at for each in changes}), (self.on.new, {each.new_at for each in changes}))
        owners = [{side.outermost(at) for at in places} for side, places in sides]
        names = self.on.walk.renamed()
        roots = self.on.roots
        elsewhere = {
            name
            for (side, _), places in zip(sides, owners, strict=True)
            for name in (*side.declared, *roots)
            if not places.isdisjoint({side.definitions[name].at, side.outermost(self._body(side, name)[1])})
        }
        known = {*self.on.new.declared, *roots}
        alone = self.on.old.bundle.definitions.keys() ^ self.on.new.bundle.definitions.keys()
        gone = {*self.on.cover.gone, *names}
        held = {Pair(each.old, each.new) for each in self.on.walk.nodes}
        quiet = {each.names[0] for each in self.on.frames}
        for name in (*self.on.old.declared, *roots):
            other = names.get(name, name)
            if other not in known or name in gone - names.keys() or {name, other} & elsewhere:
                continue
            (before, old_at), (after, new_at) = self._body(self.on.old, name), self._body(self.on.new, other)
            if self.on.old.whole_text(before, names, alone) == self.on.new.whole_text(after, {}, alone):
                continue
            at: ChangePlaces = {"old_at": old_at, "new_at": new_at}
            called = roots.get(other, other)
            pair = Pair(ir.Ref(name), ir.Ref(other))
            if self.on.is_included(pair, declared=False):
                contents = self.on.old.contents(before) != self.on.new.contents(after)
                yield self.rulings.on_paper(
                    Change("structure", name=called, detail="content" if contents else "", **at)
                )
            elif self.on.is_included(pair, declared=True):
                if self._claimed(pair):
                    yield self.rulings.on_paper(Change("structure", name=called, detail="told", **at))
                elif name in roots:
                    yield self._of_doubt(pair, called, _KEPT, at)
                else:
                    yield from self._of_undeclared(pair, called, at)
            elif name in quiet and not closure(self.on.new, [other]) & elsewhere:
                yield self.rulings.on_paper(Change("structure", name=called, detail="framed", **at))
            elif pair not in held or (closure(self.on.old, [name]) | closure(self.on.new, [other])) & elsewhere:
                yield self.rulings.on_paper(Change("structure", name=called, detail="told", **at))
            else:
                yield self._of_doubt(pair, called, "it is written differently, and the effect is unknown", at)

    def _of_doubt(self, pair: Pair, name: str, reason: str, at: ChangePlaces) -> Judged:
        """A doubt about a pair of definitions, in the directions that are not proven."""
        left = self.rulings.of_definition(Change("not-compared", name=name, detail=reason, **at), name)
        return replace(left, doubtful=tuple(receiver for _, receiver in self.on.refusals(pair)))

    def unread(self) -> Iterator[Judged]:
        """The definitions that differ in what they say by keywords that no validator asserts, at places where the comparison reads none of
        them.
        """
        compared = [self._compared(number) for number in (0, 1)]
        for name, other in self._joined():
            (before, old_at), (after, new_at) = self._body(self.on.old, name), self._body(self.on.new, other)
            one, two = self.on.old.statements(before, compared[0]), self.on.new.statements(after, compared[1])
            by_name = before == after  # else what stands inside of them has other names, too
            sides = [{(key if by_name else key[1]): each for key, each in side.items()} for side in (one, two)]
            said = [each for key in sides[0].keys() & sides[1].keys() for each in sides[0][key] ^ sides[1][key]]
            if said:
                keywords = " and ".join(sorted({f"'{keyword}'" for _, keyword, _ in said}))
                reason = f"what it says by {keywords} has changed in a place where no field or union is read"
                called = self.on.roots.get(other, other)
                yield self.rulings.of_definition(
                    Change("not-compared", name=called, detail=reason, old_at=old_at, new_at=new_at), called
                )

    def _joined(self) -> Iterator[tuple[str, str]]:
        """The definitions of both revisions that belong together, and those of roots beside methods."""
        names = self.on.walk.renamed()
        known = {*self.on.new.declared, *self.on.roots}
        for name in (*self.on.old.declared, *self.on.roots):
            if (other := names.get(name, name)) in known:
                yield name, other
        if not self.on.roots:
            yield from of_both_files(self.on.old.beside, self.on.new.beside)

    def _compared(self, number: Literal[0, 1]) -> set[str]:
        """The definitions of one revision that were compared part by part."""
        found: set[str] = set()
        for pair in self.on.walk.nodes:
            type_, _ = pair.sides[number]
            found.update(self.on.walk.shape(type_, number).names, [type_.name] if isinstance(type_, ir.Ref) else [])
        return found

    def _body(self, side: Revised, name: str) -> tuple[str, str]:
        """The definition that holds what another one says, if that stands for a root, else itself; with its place."""
        body = lone_reference(side.bundle.definitions[name]) if name in self.on.roots else None
        return body or name, side.definitions[body or name].at

    def _claimed(self, pair: Pair) -> bool:
        """Whether a member is declared on one side of a pair alone: that is told wherever messages hold the pair."""
        walk = Walk(self.on.old, self.on.new, self.on.groups)  # what is told is of the other one
        walk.visit(pair)
        return any(found.change.kind == "field" for found in walk.wire_changes(pair))

    def _of_undeclared(self, pair: Pair, name: str, at: ChangePlaces) -> Iterator[Judged]:
        """What a definition says of members that nobody declares, where one revision refuses what the other accepts."""
        for sender, receiver in self.on.refusals(pair):
            witness = self.on.acceptance.relation(pair, sender, declared=False).witness
            value = () if witness is None else (witness.value,)
            sides = (None, value) if receiver == "old" else (value, None)
            yield self.rulings.of_definition(Change("undeclared", *sides, **at), name)

    def left_out(self, told: Sequence[Judged]) -> Iterator[Judged]:
        """What is unstable on either side and differs, if that does not take part, and is not told: it may be stable on the other side."""
        if not self.on.old.left_out and not self.on.new.left_out:
            return
        sides: list[dict[str, list[str]]] = [{}, {}]
        for side, found in zip((self.on.old, self.on.new), sides, strict=True):
            for at, text in sorted(side.left_out.items(), key=lambda each: each[1]):
                found.setdefault(side.called(at), []).append(text)
        known = {
            side.called(at)
            for each in told
            for side, at in ((self.on.old, each.old_at), (self.on.new, each.new_at))
            if at
        }
        names = [
            name for name in {**sides[0], **sides[1]} if name not in known and sides[0].get(name) != sides[1].get(name)
        ]
        if names:
            places: ChangePlaces = {"old_at": root_of(self.on.old), "new_at": root_of(self.on.new)}
            yield self.rulings.on_paper(Change("structure", new=tuple(sorted(names)), detail="unstable", **places))
