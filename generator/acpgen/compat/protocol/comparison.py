"""One comparison of two types: the tools that all its parts share."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, Literal

from acpgen import ir
from acpgen.compat.protocol.facts import Fact, FactPlaces, GateChanged, Reworded
from acpgen.compat.protocol.heirs import Member, name_of, said
from acpgen.compat.protocol.matching import Matching
from acpgen.compat.protocol.placed import Compared, Pair, Step
from acpgen.compat.protocol.revision import Revised
from acpgen.compat.protocol.shapes import Shape, shape_of

UNTOLD: Final = "the keywords that constrain it cannot be compared one by one"


class Both:
    """Both revisions, with the shapes of their types.

    `apart` are definitions of which nothing is known: what they demand is told elsewhere.
    """

    def __init__(self, old: Revised, new: Revised, apart: Collection[str] = ()) -> None:
        self.old = old
        self.new = new
        self.apart = apart
        self._shapes: tuple[dict[ir.Type, Shape], dict[ir.Type, Shape]] = ({}, {})
        self.matching = Matching(self.shape, new.former_names)

    def shape(self, type_: ir.Type, side: Literal[0, 1]) -> Shape:
        """The shape of a type of one side."""
        known = self._shapes[side]
        if type_ not in known:
            revised = (self.old, self.new)[side]
            known[type_] = shape_of(type_, revised.definitions, empty=revised.empty)
        return known[type_]


class Comparison:
    """The comparison of one pair: what stands on each side, and what is found."""

    def __init__(self, both: Both, node: Compared, pair: Pair) -> None:
        self.both = both
        self.node = node
        self.pair = pair
        self.old = both.shape(pair.old, 0)
        self.new = both.shape(pair.new, 1)
        self.old_at = both.old.place(self.old.names)
        self.new_at = both.new.place(self.new.names)

    def at(self) -> FactPlaces:
        """Where the pair stands."""
        return {"old_at": self.old_at, "new_at": self.new_at}

    def fact(self, *facts: Fact) -> None:
        """Note facts."""
        self.node.facts.extend(facts)

    def child(self, step: Step, old: ir.Type, new: ir.Type, told: str | None = None) -> None:
        """Note a pair inside this one."""
        self.node.children.append((step, Pair(old, new, told, self.node.free)))

    def said(self, old: Iterable[Member], new: Iterable[Member], tags: Collection[str] = ()) -> dict[str, object]:
        """What members say but for their names, by side and name; `tags` are members that tell variants."""
        sides = ("old", old, self.both.old.texts), ("new", new, self.both.new.texts)
        return {f"{side} {name_of(one)}": said(one, texts, tags) for side, members, texts in sides for one in members}

    def gate(self, what: str, within: str, old: str | None, new: str | None, old_at: str, new_at: str) -> None:
        """Note another capability that something needs."""
        if old != new and not (old is None and self.both.old.may_gate(new)):
            at: FactPlaces = {"old_at": old_at or self.old_at, "new_at": new_at or self.new_at}
            self.fact(GateChanged(what, within, old, new, **at))

    def words(self, what: str, old: str, new: str, old_at: str, new_at: str) -> None:
        """Note another description."""
        if old != new:
            self.fact(Reworded(what, old_at=old_at or self.old_at, new_at=new_at or self.new_at))
