"""Pairs old with new from each method's params and result, and collects the facts of each pair.

A pair of types is looked at once, however many methods reach it; a pair that is met again while it is being looked at is assumed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from acpgen import ir
from acpgen.compat.findings import Revision
from acpgen.compat.protocol import leaves
from acpgen.compat.protocol.declared import beside, declares_nothing, likely_type
from acpgen.compat.protocol.facts import (
    PAPER,
    AlternativeChanged,
    DefaultChanged,
    DefinitionRenamed,
    DemandChanged,
    Fact,
    FactPlaces,
    FieldAdded,
    FieldRemoved,
    FieldRenamed,
    GateChanged,
    KindChanged,
    LeniencyChanged,
    NullChanged,
    NullMeaningChanged,
    ObjectOpennessChanged,
    OpennessChanged,
    RequirednessChanged,
    Reworded,
    TagRenamed,
    Undetermined,
    UntaggedChanged,
    ValueAdded,
    ValueRemoved,
    ValuesNamed,
    ValuesUnnamed,
    VariantAdded,
    VariantRemoved,
    VariantRenamed,
)
from acpgen.compat.protocol.heirs import Member, heirs, likely, name_of, said
from acpgen.compat.protocol.matching import Matching
from acpgen.compat.protocol.revision import Revised
from acpgen.compat.protocol.shapes import (
    KINDS,
    Alternative,
    Constants,
    Objects,
    Shape,
    kind_of,
    shape_of,
    type_of_array,
    type_of_object,
)
from acpgen.meaning.values import read_instead

EXTENSION: Final = "_example"
"""A name that a peer may always send: extensions begin with an underscore."""

StepKind: TypeAlias = Literal["field", "item", "value", "variant", "untagged", "alternative"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step from a pair to a pair inside it. `old` and `new` pick an alternative on each side.

    `was` is the name on the old side, where that is another one; `tag` the member that tells a renamed variant.
    """

    kind: StepKind
    name: str | int | float | bool = ""
    old: Alternative | None = None
    new: Alternative | None = None
    was: str | int | float | bool | None = None
    tag: str = ""
    old_at: str = field(default="", compare=False)
    new_at: str = field(default="", compare=False)

    def on(self, side: str) -> str | int | float | bool:
        """The name on one side."""
        return self.name if side == "new" or self.was is None else self.was


@dataclass(frozen=True, slots=True)
class Pair:
    """Two types that judge the same place of messages.

    `told` is a member that was compared already: the tag of a union. `free`: whatever stands there is accepted, and the types only
    say how it is read.
    """

    old: ir.Type
    new: ir.Type
    told: str | None = None
    free: bool = False

    @property
    def sides(self) -> tuple[tuple[ir.Type, Literal[0]], tuple[ir.Type, Literal[1]]]:
        """The types with the number of their side."""
        return (self.old, 0), (self.new, 1)

    def on(self, side: Revision) -> ir.Type:
        """The type of one side."""
        return self.old if side == "old" else self.new

    @property
    def is_named(self) -> bool:
        """Whether either side is a definition, so that the pair may be met again inside itself."""
        return isinstance(self.old, ir.Ref) or isinstance(self.new, ir.Ref)


@dataclass(slots=True)
class Compared:
    """What is known of a pair: its own facts, and the pairs inside it. `free` as in `Pair`."""

    free: bool
    facts: list[Fact] = field(default_factory=list[Fact])
    children: list[tuple[Step, Pair]] = field(default_factory=list[tuple[Step, Pair]])


@dataclass(frozen=True, slots=True)
class Home:
    """The innermost pair of definitions around a fact, and how many steps lead to it from the params or result."""

    pair: Pair
    depth: int = 0

    @property
    def names(self) -> tuple[str | None, str | None]:
        """The names of the definitions; `None` for a side that says it in place."""
        old, new = self.pair.old, self.pair.new
        return old.name if isinstance(old, ir.Ref) else None, new.name if isinstance(new, ir.Ref) else None


@dataclass(frozen=True, slots=True)
class PlacedFact:
    """A fact at a place: the steps that lead to it from the params or result. `free` as in `Pair`.

    `old_at` and `new_at` are the places in the sources: the fact's own, or of the nearest step that has one. `home` is where the fact
    is declared, `named` the nearest declaration around it that the sources name: both are the root where nothing nearer is.
    """

    fact: Fact
    steps: tuple[Step, ...]
    pair: Pair
    free: bool = False
    home: Home | None = None
    named: Home | None = None

    @property
    def old_at(self) -> str:
        return self.fact.old_at or next((step.old_at for step in reversed(self.steps) if step.old_at), "")

    @property
    def new_at(self) -> str:
        return self.fact.new_at or next((step.new_at for step in reversed(self.steps) if step.new_at), "")


class Walk:
    """All pairs of one comparison."""

    def __init__(self, old: Revised, new: Revised, apart: Collection[str] = ()) -> None:
        """`apart` are definitions of which nothing is known: what they demand is told elsewhere."""
        self.old = old
        self.new = new
        self.apart = apart
        self.nodes: dict[Pair, Compared] = {}
        self._shapes: tuple[dict[ir.Type, Shape], dict[ir.Type, Shape]] = ({}, {})
        self._changed: set[Pair] | None = None
        self._declared = frozenset((*old.declared, *new.declared))
        self.matching = Matching(self.shape, new.former_names)

    def visit(self, root: Pair) -> None:
        """Look at a pair and at all below it."""
        pending = [root]
        while pending:
            pair = pending.pop()
            if pair in self.nodes:
                continue
            node = self.nodes[pair] = Compared(
                pair.free or all(self.shape(type_, side).anything for type_, side in pair.sides)
            )
            _Comparing(self, node, pair).run()
            pending.extend(child for _, child in node.children)
        self._changed = None

    def wire_facts(self, root: Pair, told: frozenset[Pair] = frozenset()) -> Iterator[PlacedFact]:
        """The facts about messages below a pair, nearest first; a pair of definitions is entered by its shortest way only, any other pair
        by every way that does not lead through it already.

        Pairs that are `told` elsewhere are not entered.
        """
        changed = self._changed_pairs()
        seen = {root}
        level: list[tuple[Pair, tuple[Step, ...], Home, Home, frozenset[Pair]]] = []
        if root in changed:
            level.append((root, (), Home(root), Home(root), frozenset()))
        while level:
            following: list[tuple[Pair, tuple[Step, ...], Home, Home, frozenset[Pair]]] = []
            for pair, steps, home, named, around in level:
                node = self.nodes[pair]
                yield from (
                    PlacedFact(fact, steps, pair, node.free, home, named)
                    for fact in node.facts
                    if not isinstance(fact, PAPER)
                )
                for step, child in node.children:
                    if child in changed and child not in seen and child not in told and child not in around:
                        homes = home, named
                        if child.is_named:
                            seen.add(child)
                            here = Home(child, len(steps) + 1)
                            homes = here, here if self._declared.intersection(here.names) else named
                        within = around if child.is_named else around | {child}
                        following.append((child, (*steps, step), *homes, within))
            level = following

    def is_changed(self, pair: Pair) -> bool:
        """Whether there are facts about messages at a pair or below it."""
        return pair in self._changed_pairs()

    def paper_facts(self) -> Iterator[Fact]:
        """The facts about files alone, each once."""
        facts = (fact for node in self.nodes.values() for fact in node.facts if isinstance(fact, PAPER))
        told: set[tuple[object, str, str]] = set()
        for fact in facts:
            key = (fact, fact.old_at, fact.new_at)
            if key not in told:
                told.add(key)
                yield fact

    def shape(self, type_: ir.Type, side: Literal[0, 1]) -> Shape:
        """The shape of a type of one side."""
        known = self._shapes[side]
        if type_ not in known:
            revised = (self.old, self.new)[side]
            known[type_] = shape_of(type_, revised.definitions, empty=revised.empty)
        return known[type_]

    def _changed_pairs(self) -> set[Pair]:
        """The pairs with facts about messages at them or below them."""
        if self._changed is None:
            parents: dict[Pair, list[Pair]] = {}
            for pair, node in self.nodes.items():
                for _, child in node.children:
                    parents.setdefault(child, []).append(pair)
            pending = [
                pair for pair, node in self.nodes.items() if any(not isinstance(fact, PAPER) for fact in node.facts)
            ]
            self._changed = set(pending)
            while pending:
                for parent in parents.get(pending.pop(), ()):
                    if parent not in self._changed:
                        self._changed.add(parent)
                        pending.append(parent)
        return self._changed


class _Comparing:
    """The comparison of one pair."""

    def __init__(self, walk: Walk, node: Compared, pair: Pair) -> None:
        self.walk = walk
        self.node = node
        self.pair = pair
        self.old = walk.shape(pair.old, 0)
        self.new = walk.shape(pair.new, 1)
        self.old_at = walk.old.place(self.old.names)
        self.new_at = walk.new.place(self.new.names)

    def run(self) -> None:
        self._names()
        self._residue()
        if self.old.anything != self.new.anything:
            self._anything()
            return
        if self.old.nullable != self.new.nullable:
            self._fact(NullChanged(self.new.nullable, lenient=False, **self._at()))
        for kind in KINDS:
            self._kind(kind, self.old.of(kind), self.new.of(kind))
        gone, come = (
            tuple(next(iter(one.of(kind))) for kind in KINDS if one.of(kind) and not other.of(kind))
            for one, other in ((self.old, self.new), (self.new, self.old))
        )
        if gone or come:
            self._fact(KindChanged(_kinds(self.old), _kinds(self.new), gone, come, **self._at()))
        for sender, receiver in ((self.old, self.new), (self.new, self.old)):
            if receiver.exclusive and sender != receiver and _may_fit_two(sender, receiver):
                self._fact(Undetermined("values may fit two branches of 'oneOf' at once", **self._at()))
                break

    def _at(self) -> FactPlaces:
        return {"old_at": self.old_at, "new_at": self.new_at}

    def _fact(self, *facts: Fact) -> None:
        self.node.facts.extend(facts)

    def _child(self, step: Step, old: ir.Type, new: ir.Type, told: str | None = None) -> None:
        self.node.children.append((step, Pair(old, new, told, self.node.free)))

    def _names(self) -> None:
        """Renamed definitions. The name of a pair is the outermost definition on each side."""
        old = self.pair.old.name if isinstance(self.pair.old, ir.Ref) else None
        new = self.pair.new.name if isinstance(self.pair.new, ir.Ref) else None
        if old is not None and new is not None:
            before, after = self.walk.old.definitions[old], self.walk.new.definitions[new]
            if old != new and new not in self.walk.old.definitions:
                declared = old in self.walk.new.former_names(new)
                self._fact(DefinitionRenamed(old, new, declared=declared, old_at=before.at, new_at=after.at))
            if before.doc != after.doc and before.doc:
                self._fact(Reworded(new, old_at=before.at, new_at=after.at))

    def _residue(self) -> None:
        known = [[name for name in shape.names if name not in self.walk.apart] for shape in (self.old, self.new)]
        before, after = self.walk.old.residue(known[0]), self.walk.new.residue(known[1])
        if before != after:
            self._fact(Undetermined(_UNTOLD, **self._at()))

    def _anything(self) -> None:
        admitted_by: Literal["old", "new"] = "old" if self.old.anything else "new"
        self._fact(KindChanged(_kinds(self.old), _kinds(self.new), anything=admitted_by, **self._at()))

    # --- kinds ---

    def _kind(self, kind: str, old: tuple[Alternative, ...], new: tuple[Alternative, ...]) -> None:
        if not old or not new:
            return  # told together with the other kinds that only one side has
        match kind:
            case "boolean":
                self._booleans(old, new)
            case "number" | "string":
                self._scalars(old, new)
            case "array":
                self._pairwise(old, new)
            case _:
                self._objects(old, new)

    def _booleans(self, old: tuple[Alternative, ...], new: tuple[Alternative, ...]) -> None:
        values = [a for a in old if isinstance(a, Constants)], [a for a in new if isinstance(a, Constants)]
        free = any(isinstance(a, ir.Boolean) for a in old), any(isinstance(a, ir.Boolean) for a in new)
        if free == (True, True):
            return
        known = [{v.value for group in side for v in group.values} for side in values]
        admitted = [{True, False} if is_free else found for is_free, found in zip(free, known, strict=True)]
        before, after = admitted
        words = _set(before), _set(after)
        gone = leaves.limits("enum", sorted(before - after, key=str), *words, "old", self._at())
        come = leaves.limits("enum", sorted(after - before, key=str), *words, "new", self._at())
        self._fact(*leaves.together([*gone, *come]))

    def _scalars(self, old: tuple[Alternative, ...], new: tuple[Alternative, ...]) -> None:
        old_values, new_values = _merged(old), _merged(new)
        old_free, new_free = _free(old), _free(new)
        if old_values is not None and new_values is not None:
            self._values(old_values, new_values)
        elif new_values is not None and old_free and new_free:
            self._fact(ValuesNamed(new_values, old_at=self.old_at, new_at=new_values.at))
        elif old_values is not None and new_free and old_free:
            self._fact(ValuesUnnamed(old_values, old_at=old_values.at, new_at=self.new_at))
        self._fact(*leaves.scalar_limits(old_values, old_free, new_values, new_free, self._at()))

    def _values(self, old: Constants, new: Constants) -> None:
        at: FactPlaces = {"old_at": old.at or self.old_at, "new_at": new.at or self.new_at}
        before = {_scalar(v.value): v for v in old.values}
        after = {_scalar(v.value): v for v in new.values}
        called = heirs(before, after)
        gone = [one for key, one in before.items() if key not in after and key not in called]
        added = [one for key, one in after.items() if key not in before and key not in called.values()]
        seems = likely(gone, added, self._said(gone, added))
        for key, value in before.items():
            if key not in after:
                heir = str(after[called[key]].value) if key in called else None
                places: FactPlaces = {"old_at": value.at or at["old_at"], "new_at": at["new_at"]}
                self._fact(ValueRemoved(old, new, value, heir, seems.get(str(value.value)), **places))
            else:
                other = after[key]
                self._gate(f"value {value.value!r}", "", value.capability, other.capability, value.at, other.at)
                self._words(f"{value.value!r}", value.doc, other.doc, value.at, other.at)
        for key, value in after.items():
            if key not in before:
                was = next((str(before[known].value) for known, heir in called.items() if heir == key), None)
                self._fact(ValueAdded(old, new, value, was, old_at=at["old_at"], new_at=value.at or at["new_at"]))
        if old.openness != new.openness:
            self._fact(OpennessChanged("enum", new.name or old.name or "", None, old.openness, new.openness, **at))

    # --- arrays and shapes of one kind ---

    def _pairwise(self, old: tuple[Alternative, ...], new: tuple[Alternative, ...], *, several: bool = False) -> None:
        """`several`: these are some of the alternatives of a place, and there are others."""
        found = self.walk.matching.matched(old, new)
        if found is None:
            self._fact(Undetermined("there are too many alternatives to compare each with each", **self._at()))
            return
        matched, removed, added = found
        several = several or len(old) > 1 or len(new) > 1
        for one, other in matched:
            step = Step("alternative", old=one, new=other) if several else None
            self._alternative(one, other, step)
        for alternative in removed:
            at = _at_of(alternative) or self.old_at
            self._fact(AlternativeChanged(alternative, added=False, old_at=at, new_at=self.new_at))
        for alternative in added:
            at = _at_of(alternative) or self.new_at
            self._fact(AlternativeChanged(alternative, added=True, old_at=self.old_at, new_at=at))

    def _alternative(self, old: Alternative, new: Alternative, step: Step | None) -> None:
        if isinstance(old, ir.Tuple) or isinstance(new, ir.Tuple):
            if step is not None:
                self._child(step, type_of_array(old), type_of_array(new))
            else:
                self._tuple(old, new)
            return
        if isinstance(old, ir.Array) and isinstance(new, ir.Array):
            if step is not None:
                self._child(step, old, new)
                return
            self._child(Step("item", old=old, new=new), old.items, new.items)
            self._fact(*leaves.together(leaves.array_limits(old, new, self._at())))
            return
        if step is not None and isinstance(old, Objects | ir.TaggedUnion) and isinstance(new, Objects | ir.TaggedUnion):
            self._child(step, type_of_object(old), type_of_object(new))
        else:
            self._object(old, new)

    def _tuple(self, old: Alternative, new: Alternative) -> None:
        """Two tuples entry by entry; what else is an array cannot be held against a tuple so."""
        if not isinstance(old, ir.Tuple) or not isinstance(new, ir.Tuple) or len(old.first) != len(new.first):
            self._fact(Undetermined(_UNTOLD, **self._at()))
            return
        entries = zip((*old.first, old.rest), (*new.first, new.rest), strict=True)
        for index, (one, other) in enumerate(entries):
            self._child(Step("item", index, old=old, new=new), one, other)
        limits = [(each.min_items, each.max_items, each.unique) for each in (old, new)]
        if limits[0] != limits[1]:
            self._fact(Undetermined(_UNTOLD, **self._at()))

    # --- objects ---

    def _objects(self, old: tuple[Alternative, ...], new: tuple[Alternative, ...]) -> None:
        unions = [each for each in (*old, *new) if isinstance(each, ir.TaggedUnion)]
        if not unions:
            tag = self._tag(old, new)
            if tag is None:
                self._pairwise(old, new)
            else:
                self._apart(self._split(old, tag, 0), self._split(new, tag, 1))
            return
        one = self._as_union(old, unions[0].tag, 0)
        other = self._as_union(new, unions[0].tag, 1)
        if one is not None and other is not None:
            self._union(one, other)
        elif len(old) == len(new) == 1 and isinstance(old[0], ir.TaggedUnion) and isinstance(new[0], ir.TaggedUnion):
            self._fact(TagRenamed(old[0], new[0], old_at=old[0].at, new_at=new[0].at))
        else:
            self._apart(self._split(old, unions[0].tag, 0), self._split(new, unions[0].tag, 1))

    def _tag(self, old: tuple[Alternative, ...], new: tuple[Alternative, ...]) -> str | None:
        """The member whose constants tell most of these records apart, at least two of one side."""
        found: dict[str, int] = {}
        sides: tuple[tuple[tuple[Alternative, ...], Literal[0, 1]], ...] = ((old, 0), (new, 1))
        for alternatives, side in sides:
            listed = (
                [each.fields for each in alternatives if isinstance(each, Objects)] if len(alternatives) > 1 else []
            )
            required = [each for fields in listed for each in fields if each.required]
            marks = Counter(each.name for each in required if self._is_marked(each, side))
            for name in (name for name in dict.fromkeys(each.name for each in required) if marks[name] > 1):
                union, _ = self._split(alternatives, name, side)
                found[name] = max(found.get(name, 0), len({variant.type for variant in union.variants}))
        return max((name for name in found if found[name] > 1), key=lambda name: found[name], default=None)

    def _is_marked(self, found: ir.Field, side: Literal[0, 1]) -> bool:
        return any(isinstance(each, Constants) for each in self.walk.shape(found.type, side).alternatives)

    def _apart(
        self, old: tuple[ir.TaggedUnion, tuple[Objects, ...]], new: tuple[ir.TaggedUnion, tuple[Objects, ...]]
    ) -> None:
        """Variants against variants, and what no tag tells apart against the same of the other side."""
        self._variants(old[0], new[0])
        self._pairwise(old[1], new[1], several=True)

    def _object(self, old: Alternative, new: Alternative) -> None:
        match old, new:
            case Objects(), Objects():
                self._record(old, new)
            case ir.TaggedUnion(), ir.TaggedUnion():
                self._union(old, new)
            case _:
                self._fact(Undetermined("two shapes of different make stand against one another", **self._at()))

    def _record(self, old: Objects, new: Objects) -> None:
        old_at, new_at = old.at or self.old_at, new.at or self.new_at
        told = self.pair.told
        before = {f.name: f for f in self.walk.old.stable(old.fields) if f.name != told}
        after = {f.name: f for f in self.walk.new.stable(new.fields) if f.name != told}
        called = heirs(before, after)
        gone = [one for name, one in before.items() if name not in after and name not in called]
        added = [one for name, one in after.items() if name not in before and name not in called.values()]
        seems = likely(gone, added, self._said(gone, added))
        for name, one in before.items():
            other = after.get(called.get(name, name))
            if other is not None:
                if name in called:
                    self._fact(FieldRenamed(old, new, one, other, old_at=one.at or old_at, new_at=other.at or new_at))
                    if not isinstance(new.extra, ir.Anything | ir.Nothing):
                        self._child(Step("field", name, old_at=one.at, new_at=new_at), one.type, new.extra)
                    if not isinstance(old.extra, ir.Anything | ir.Nothing):
                        self._child(Step("field", other.name, old_at=old_at, new_at=other.at), old.extra, other.type)
                self._field(one, other)
                continue
            self._fact(FieldRemoved(old, new, one, seems.get(name), old_at=one.at or old_at, new_at=new_at))
            if not isinstance(new.extra, ir.Anything | ir.Nothing):
                self._child(Step("field", name, old_at=one.at, new_at=new_at), one.type, new.extra)
        for other in added:
            self._fact(FieldAdded(old, new, other, old_at=old_at, new_at=other.at or new_at))
            if not isinstance(old.extra, ir.Anything | ir.Nothing):
                self._child(Step("field", other.name, old_at=old_at, new_at=other.at), old.extra, other.type)
        at: FactPlaces = {"old_at": old_at, "new_at": new_at}
        self._others(old.extra, new.extra, at)
        self._unenforced(old, new, at)

    def _others(self, old: ir.Type, new: ir.Type, at: FactPlaces) -> None:
        """The members that a record does not declare; `at` is where the record stands."""
        shut = isinstance(old, ir.Nothing), isinstance(new, ir.Nothing)
        if shut[0] != shut[1]:
            self._fact(ObjectOpennessChanged(not shut[1], **at))
        elif not any(shut) and (old, new) != (ir.Anything(), ir.Anything()):
            self._child(Step("value", **at), old, new)

    def _said(self, old: Iterable[Member], new: Iterable[Member], tags: Collection[str] = ()) -> dict[str, object]:
        """What members say but for their names, by side and name; `tags` are members that tell variants."""
        sides = ("old", old, self.walk.old.texts), ("new", new, self.walk.new.texts)
        return {f"{side} {name_of(one)}": said(one, texts, tags) for side, members, texts in sides for one in members}

    def _unenforced(self, old: Objects, new: Objects, at: FactPlaces) -> None:
        """Keywords that the IR does not carry, and excluded constants: equal on both sides, or not determined."""
        before = sorted(self.walk.old.demand(place) for place in old.unenforced)
        after = sorted(self.walk.new.demand(place) for place in new.unenforced)
        told = self.pair.told
        excluded = [[each for each in side.excluded if each[0] != told] for side in (old, new)]
        if before != after or excluded[0] != excluded[1]:
            self._beside(old, new, at)
            bases = self._bases(old, new) if excluded[0] == excluded[1] else {}
            for base, rests in bases.items():
                self._closed(base, rests, old, new)
            alone = next(iter(bases), None) if len(bases) == 1 else None
            self._fact(Undetermined(_UNTOLD, **(at if alone is None else self._places(alone))))

    def _bases(self, old: Objects, new: Objects) -> dict[str | None, set[str]]:
        """The definitions whose keywords make the difference, with the pointers of those keywords; `None` where there is no such
        definition in both revisions.
        """
        demands = [
            {place: side.demand(place) for place in objects.unenforced}
            for objects, side in ((old, self.walk.old), (new, self.walk.new))
        ]
        found: dict[str | None, set[str]] = {}
        for number, side in enumerate((self.walk.old, self.walk.new)):
            for place, text in demands[number].items():
                if text not in demands[1 - number].values():
                    name, rest = side.owner(place)
                    is_base = name not in (old.name, new.name) and all(
                        name in each.definitions for each in (self.walk.old, self.walk.new)
                    )
                    found.setdefault(name if is_base else None, set()).add(rest)
        return found

    def _places(self, base: str) -> FactPlaces:
        return {"old_at": self.walk.old.definitions[base].at, "new_at": self.walk.new.definitions[base].at}

    def _closed(self, base: str | None, rests: Collection[str], old: Objects, new: Objects) -> None:
        """What a base says now of members that it does not declare: it says so of what extends it too."""
        if base is None or "/additionalProperties" not in rests or ir.Nothing() in (old.extra, new.extra):
            return
        before, after = self.walk.old.definitions[base], self.walk.new.definitions[base]
        if isinstance(before, ir.Record) and isinstance(after, ir.Record):
            self._others(before.extra, after.extra, self._places(base))

    def _beside(self, old: Objects, new: Objects, at: FactPlaces) -> None:
        """Members that one side alone declares, by other keywords than `properties`, and that the other hears as undeclared ones.

        Where the other side declares nothing at all, its members are free, and what it accepts tells the difference.
        """
        sides = (old, self.walk.old), (new, self.walk.new)
        found = [beside(objects, side.written, side.bundle.origins) for objects, side in sides]
        names = [
            (
                tuple(
                    {
                        *(field.name for field in objects.fields),
                        *(each.name for each in known.values() if not each.pattern),
                    }
                ),
                tuple(each.pattern for each in known.values() if each.pattern),
            )
            for (objects, _), known in zip(sides, found, strict=True)
        ]
        for number, (objects, side) in enumerate(sides):
            other, beyond = sides[1 - number]
            if other.extra != ir.Anything() or declares_nothing(other, beyond.written):
                continue
            for key, each in found[number].items():
                if key in found[1 - number] or (not each.pattern and each.name in names[1 - number][0]):
                    continue
                type_ = likely_type(each.schema, side.definitions)
                field_ = ir.Field(name=each.name, type=type_, required=False, owner=objects.name or "", at=each.at)
                declared = each.by, each.pattern, names[1 - number]
                if number:
                    places: FactPlaces = {"old_at": at["old_at"], "new_at": each.at}
                    self._fact(FieldAdded(old, new, field_, False, *declared, **places))
                else:
                    places = {"old_at": each.at, "new_at": at["new_at"]}
                    self._fact(FieldRemoved(old, new, field_, None, False, *declared, **places))

    def _field(self, old: ir.Field, new: ir.Field) -> None:
        at: FactPlaces = {"old_at": old.at, "new_at": new.at}
        if old.required != new.required and old.name == new.name:
            self._fact(RequirednessChanged(new, new.required, **at))
        may_lack = not old.required and not new.required
        if may_lack and not _same_default(old.default, new.default):
            self._fact(DefaultChanged(new.name, old.default, new.default, grown=_grown(old.default, new.default), **at))
        if old.null != new.null:
            self._fact(NullMeaningChanged(new.name, old.null, new.null, **at))
        for keyword in ("default_on_error", "skip_invalid_items", "default_on_null"):
            before, after = getattr(old.leniency, keyword), getattr(new.leniency, keyword)
            if before != after and (
                keyword != "default_on_null" or self._reads_null(old, 0) != self._reads_null(new, 1)
            ):
                instead = read_instead(
                    *((new, self.walk.new.definitions) if after else (old, self.walk.old.definitions))
                )
                self._fact(LeniencyChanged(new.name, keyword, after, instead, **at))
        self._gate(f"field {new.name!r}", new.name, old.capability, new.capability, old.at, new.at)
        if old.required_with != new.required_with:
            self._fact(DemandChanged(new.name, old.required_with, new.required_with, **at))
        self._words(new.name, old.doc, new.doc, old.at, new.at)
        one, other = self._lenient_null(old, new, at)
        was = None if old.name == new.name else old.name
        self._child(Step("field", new.name, was=was, **at), one, other)

    def _reads_null(self, field: ir.Field, side: Literal[0, 1]) -> bool:
        """Whether null falls back to the default: declared so, or as any invalid value does."""
        leniency = field.leniency
        return leniency.default_on_null or (
            leniency.default_on_error and not self.walk.shape(field.type, side).nullable
        )

    def _lenient_null(self, old: ir.Field, new: ir.Field, at: FactPlaces) -> tuple[ir.Type, ir.Type]:
        """The types of a field; null is told here where the side that refuses it decodes it leniently."""
        shapes = self.walk.shape(old.type, 0), self.walk.shape(new.type, 1)
        if shapes[0].nullable != shapes[1].nullable and not any(shape.anything for shape in shapes):
            strict = new if shapes[0].nullable else old
            if not strict.required and (strict.leniency.default_on_error or strict.leniency.default_on_null):
                self._fact(NullChanged(shapes[1].nullable, lenient=True, name=new.name, **at))
                return _nullable(old.type), _nullable(new.type)
        return old.type, new.type

    # --- unions ---

    def _union(self, old: ir.TaggedUnion, new: ir.TaggedUnion) -> None:
        at: FactPlaces = {"old_at": old.at or self.old_at, "new_at": new.at or self.new_at}
        if old.tag != new.tag:
            self._fact(TagRenamed(old, new, **at))
            return
        self._variants(old, new)
        if old.default is not None and new.default is not None:
            self._child(Step("untagged"), ir.Ref(old.default), ir.Ref(new.default), new.tag)
        elif old.default is not None:
            self._fact(UntaggedChanged(old, old.default, added=False, other=new, **at))
        elif new.default is not None:
            self._fact(UntaggedChanged(new, new.default, added=True, other=old, **at))
        if old.openness != new.openness:
            shut = new if old.openness == "open" else old
            has_default = shut.default is not None
            name = new.name or old.name
            self._fact(OpennessChanged("union", name, new.tag, old.openness, new.openness, has_default, **at))
        elif old.openness == "open" and old.fallback is not None and new.fallback is not None:
            self._child(Step("variant", EXTENSION), ir.Ref(old.fallback), ir.Ref(new.fallback), new.tag)

    def _variants(self, old: ir.TaggedUnion, new: ir.TaggedUnion) -> None:
        """The variants of two unions with one tag."""
        at: FactPlaces = {"old_at": old.at or self.old_at, "new_at": new.at or self.new_at}
        before = {_scalar(v.tag): v for v in old.variants if self.walk.old.keeps(v.unstable)}
        after = {_scalar(v.tag): v for v in new.variants if self.walk.new.keeps(v.unstable)}
        called = heirs(before, after)
        gone = [one for key, one in before.items() if key not in after and key not in called]
        added = [one for key, one in after.items() if key not in before and key not in called.values()]
        seems = likely(gone, added, self._said(gone, added, (old.tag, new.tag)))
        for key, variant in before.items():
            other = after.get(called.get(key, key))
            if other is None:
                places: FactPlaces = {"old_at": variant.at or at["old_at"], "new_at": at["new_at"]}
                self._fact(VariantRemoved(old, new, variant, seems.get(str(variant.tag)), **places))
                continue
            if key in called:
                self._fact(VariantRenamed(old, new, variant, other, old_at=variant.at, new_at=other.at))
            was = variant.tag if key in called else None
            step = Step("variant", other.tag, was=was, tag=new.tag, old_at=variant.at, new_at=other.at)
            self._child(step, ir.Ref(variant.type), ir.Ref(other.type), new.tag)
            self._gate(
                f"variant {other.tag!r}", f"({other.tag})", variant.capability, other.capability, variant.at, other.at
            )
            self._words(f"{other.tag!r}", variant.doc, other.doc, variant.at, other.at)
        foreseen = bool(added) and self._foresees(old)
        for variant in added:
            places = {"old_at": at["old_at"], "new_at": variant.at or at["new_at"]}
            self._fact(VariantAdded(old, new, variant, foreseen, **places))

    def _foresees(self, union: ir.TaggedUnion) -> bool:
        """Whether the branch of the old side that may lack the tag knows values of it, and takes others for values too."""
        default = self.walk.shape(ir.Ref(union.default), 0).of("object") if union.default else ()
        fields = [
            field for each in default if isinstance(each, Objects) for field in each.fields if field.name == union.tag
        ]
        shapes = [self.walk.shape(field.type, 0) for field in fields]
        return any(
            isinstance(each, Constants) and each.openness != "closed" for one in shapes for each in one.alternatives
        )

    def _split(
        self, alternatives: tuple[Alternative, ...], tag: str, side: Literal[0, 1]
    ) -> tuple[ir.TaggedUnion, tuple[Objects, ...]]:
        """The alternatives that a constant under the tag tells apart, as a union, and all others."""
        told: list[tuple[ir.Variant, ...]] = []
        names: list[str | None] = []
        rest: list[Objects] = []
        is_open = False
        for each in alternatives:
            if isinstance(each, ir.TaggedUnion):
                if each.tag == tag:
                    told.extend((variant,) for variant in each.variants)
                    is_open |= each.openness == "open"
                else:
                    names.extend(variant.type for variant in each.variants)
                names += [each.fallback, *each.fallback_shapes, each.default]
            elif isinstance(each, Objects):
                found = self._as_union((each,), tag, side)
                if found is not None and found.variants and found.default is None and found.fallback is None:
                    told.append(found.variants)
                else:
                    rest.append(each)
        times = Counter(_scalar(variant.tag) for group in told for variant in group)
        variants: list[ir.Variant] = []
        for group in told:
            if all(times[_scalar(variant.tag)] == 1 for variant in group):
                variants.extend(group)
            else:  # the constant does not tell it from another one
                names.extend(variant.type for variant in group)
        shapes = [self.walk.shape(ir.Ref(name), side) for name in dict.fromkeys(names) if name is not None]
        rest.extend(one for shape in shapes for one in shape.of("object") if isinstance(one, Objects))
        union = ir.TaggedUnion(
            name="",
            tag=tag,
            variants=tuple(variants),
            openness="open" if is_open else "closed",
            fallback=None,
            default=rest[0].name or "" if rest else None,
            at=next((at for each in alternatives if (at := _at_of(each))), ""),
        )
        return union, tuple(dict.fromkeys(rest))

    def _as_union(self, alternatives: tuple[Alternative, ...], tag: str, side: Literal[0, 1]) -> ir.TaggedUnion | None:
        """One tagged union with this tag, if the alternatives can be read as one.

        A record with a constant under the tag is a variant, one with an enumeration stands for several, one with any string is what
        takes unknown tags, and one that may lack the tag is the branch without it.
        """
        if len(alternatives) == 1 and isinstance(union := alternatives[0], ir.TaggedUnion):
            empty = (self.walk.old, self.walk.new)[side].empty
            return None if union.tag != tag else replace(union, default=None) if union.default in empty else union
        variants: list[ir.Variant] = []
        default: str | None = None
        fallback: str | None = None
        for each in alternatives:
            if not isinstance(each, Objects) or each.name is None:
                return None
            field = next((f for f in each.fields if f.name == tag), None)
            shape = None if field is None else self.walk.shape(field.type, side)
            groups = [] if shape is None else [g for g in shape.alternatives if isinstance(g, Constants)]
            for group in groups:
                variants.extend(
                    ir.Variant(
                        tag=v.value, type=each.name, capability=v.capability, unstable=v.unstable, at=v.at or each.at
                    )
                    for v in group.values
                    if v.value is not None
                )
                if group.openness == "open":
                    fallback = each.name
            if field is not None and shape is not None and any(isinstance(g, ir.String) for g in shape.alternatives):
                if fallback is not None:
                    return None
                fallback = each.name
                if field.required and not shape.nullable:
                    continue
            if not groups or field is None or not field.required or (shape is not None and shape.nullable):
                if default is not None:
                    return None
                default = each.name
        if len({_scalar(v.tag) for v in variants}) != len(variants):
            return None
        if fallback == default:
            fallback = None  # as the IR has it: a branch that may lack the tag takes unknown ones too
        return ir.TaggedUnion(
            name="",
            tag=tag,
            variants=tuple(variants),
            openness="open" if fallback else "closed",
            fallback=fallback,
            default=default,
            at=_at_of(alternatives[0]),
        )

    # --- small things ---

    def _gate(self, what: str, within: str, old: str | None, new: str | None, old_at: str, new_at: str) -> None:
        if old != new:
            at: FactPlaces = {"old_at": old_at or self.old_at, "new_at": new_at or self.new_at}
            self._fact(GateChanged(what, within, old, new, **at))

    def _words(self, what: str, old: str, new: str, old_at: str, new_at: str) -> None:
        if old != new:
            self._fact(Reworded(what, old_at=old_at or self.old_at, new_at=new_at or self.new_at))


_UNTOLD: Final = "the keywords that constrain it cannot be compared one by one"


def _kinds(shape: Shape) -> str:
    if shape.anything:
        return "any value"
    kinds = list(dict.fromkeys(kind_of(each) for each in shape.alternatives))
    names: list[str] = [str(kind) for kind in kinds] + (["null"] if shape.nullable else [])
    return " or ".join(names) or "no value"


def _merged(alternatives: Iterable[Alternative]) -> Constants | None:
    """All known constants of a kind as one set; open if any of the alternatives admits others."""
    groups = [each for each in alternatives if isinstance(each, Constants)]
    if not groups:
        return None
    first = groups[0]
    if len(groups) == 1 and not _free(alternatives):
        return first
    free = _free(alternatives)
    openness: ir.Openness = "open" if free else first.openness
    values = {_scalar(v.value): v for group in reversed(groups) for v in group.values}
    return Constants(tuple(values.values()), openness, free[0] if free else None, first.name, first.at)


def _free(alternatives: Iterable[Alternative]) -> tuple[ir.Number | ir.String, ...]:
    """The types of a scalar kind that admit more than known constants."""
    found: list[ir.Number | ir.String] = []
    for each in alternatives:
        if isinstance(each, ir.Number | ir.String):
            found.append(each)
        elif isinstance(each, Constants) and isinstance(each.base, ir.Number | ir.String):
            found.append(each.base)
    return tuple(dict.fromkeys(found))


def _may_fit_two(sender: Shape, receiver: Shape) -> bool:
    """Whether something that a sender declares may fit two of the receiver's alternatives, judged by what these require."""
    if len(receiver.alternatives) < 2:
        return False
    required: list[set[str]] = []
    for each in receiver.alternatives:
        if not isinstance(each, Objects):
            return True
        required.append({field.name for field in each.fields if field.required})
    for each in sender.alternatives:
        if not isinstance(each, Objects):
            continue
        declared = {field.name for field in each.fields}
        if sum(needed <= declared for needed in required) > 1:
            return True
    return False


def _at_of(alternative: Alternative) -> str:
    return alternative.at if isinstance(alternative, Objects | ir.TaggedUnion | Constants) else ""


def _scalar(value: object) -> tuple[str, object]:
    """A key under which `1` and `true` are different, and `1` and `1.0` are equal."""
    return ("boolean" if isinstance(value, bool) else "string" if isinstance(value, str) else "number", value)


def _set(values: Iterable[object]) -> str:
    return ", ".join(sorted(str(value).lower() for value in values)) or "nothing"


def _nullable(type_: ir.Type) -> ir.Type:
    return ir.AnyOf((type_, ir.Null()))


def _same_default(old: ir.Default | None, new: ir.Default | None) -> bool:
    """No default, and a default of null, say the same."""
    values = [None if default is None else default.value for default in (old, new)]
    return values[0] == values[1] and isinstance(values[0], bool) == isinstance(values[1], bool)


def _grown(old: ir.Default | None, new: ir.Default | None) -> bool:
    """Whether the new default is the old one with more members, at any depth."""
    return old is not None and new is not None and _contains(new.value, old.value)


def _contains(large: ir.JSON, small: ir.JSON) -> bool:
    if isinstance(large, dict) and isinstance(small, dict):
        return all(key in large and _contains(large[key], value) for key, value in small.items())
    return large == small and isinstance(large, bool) == isinstance(small, bool)
