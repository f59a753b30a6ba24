"""The check of two revisions of a protocol: routes are joined, facts collected, judged, proven, and told as findings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from acpgen import ir
from acpgen.compat.findings import BUDGET, Answer, Coverage, Effect, Inclusion, Revision, Uncompared, Witness, opposite
from acpgen.compat.protocol import policy
from acpgen.compat.protocol.bindings import broken
from acpgen.compat.protocol.candidates import claimed, exactly, having, smallest, type_of
from acpgen.compat.protocol.covered import (
    Cover,
    closure,
    cover,
    framing,
    groups,
    kinds,
    messages,
    unread,
)
from acpgen.compat.protocol.declared import declares_nothing, schema_of
from acpgen.compat.protocol.envelopes import (
    as_declared,
    carried,
    carries,
    envelopes,
    in_place,
    plain_messages,
    with_identifiers,
)
from acpgen.compat.protocol.facts import (
    OTHER,
    AlternativeChanged,
    BatchChanged,
    DefinitionAdded,
    DefinitionRemoved,
    DefinitionRenamed,
    Fact,
    FactPlaces,
    FieldAdded,
    FieldRemoved,
    FieldRenamed,
    FormatChanged,
    GateChanged,
    KindChanged,
    LimitChanged,
    MethodAdded,
    MethodKindChanged,
    MethodRemoved,
    NotCompared,
    NullResultChanged,
    Restructured,
    UndeclaredChanged,
    Undetermined,
    ValueAdded,
    VariantAdded,
)
from acpgen.compat.protocol.facts import joined as joined_limits
from acpgen.compat.protocol.frames import Framed, framed
from acpgen.compat.protocol.messages import Court, Part, Route, message
from acpgen.compat.protocol.misread import misread, moved
from acpgen.compat.protocol.pairing import Walk
from acpgen.compat.protocol.placed import EXTENSION, Home, Pair, PlacedFact, Step
from acpgen.compat.protocol.proof import Doubts
from acpgen.compat.protocol.revision import Revised
from acpgen.compat.protocol.revision import rewritten as rewritten_names
from acpgen.compat.protocol.rules import Judgement, judge
from acpgen.compat.protocol.shapes import Alternative, Objects
from acpgen.pointers import pointer_parts
from acpgen.schema.unions import lone_reference
from acpgen.schema.walk import Schema
from schema_inclusion import FORMATS, Allowance

if TYPE_CHECKING:
    from acpgen.compat.findings import Severity
    from schema_inclusion import Relation

_UNHEARD: Final[Mapping[str, tuple[Revision, ...]]] = {
    "method-removed": ("new",),
    "method-renamed": ("old", "new"),
    "method-kind-changed": ("old", "new"),
}
"""Rules about methods that one revision or the other does not know, and so does not accept."""

_OPEN: Final = ("definition-removed", "not-compared")
"""Rules about what was not compared."""

_DIRECTIONS: Final[tuple[tuple[Revision, Revision], ...]] = (("old", "new"), ("new", "old"))

_KEPT: Final = (
    "values with undeclared members, which a document may hold, are accepted otherwise than before; "
    "--mode language compares these"
)

_UNPROVEN: Final = "No message that proves it was found, so it is undecided."

_SPENT: Final = "Undecided: budget. The {} steps of the run are spent; '--budget' gives more."


@dataclass(frozen=True, slots=True)
class Judged:
    """A finding before it is placed in files: `old_at` and `new_at` are `file#/pointer` of the sources.

    `refuses` are the revisions that refuse what the other sends, `doubtful` those of which that could not be told. `sender` is the
    revision whose messages suffer, as far as the rule says. `declaration` is what people call the thing that changed, `cause` tells it
    from all others, and `said` is what its rule says of it: where several messages hold it, these are the same. `is_cut_off` says that
    the budget was spent before it was decided, `alone` that it belongs to a definition which no message of a method holds.
    """

    rule: str
    severity: Severity
    effect: Effect
    method: str | None
    flow: str
    location: str
    old_at: str
    new_at: str
    message: str
    advice: str
    breaks: str
    subject: str | None
    witness: Witness | None
    declaration: str
    cause: tuple[str | None, ...]
    said: str
    refuses: tuple[Revision, ...] = ()
    doubtful: tuple[Revision, ...] = ()
    sender: Revision | None = None
    alone: bool = False
    is_cut_off: bool = False

    @property
    def about(self) -> list[str | None]:
        """What tells this finding from others, so that edits elsewhere change nothing of it, and what becomes worse is another one."""
        return [self.severity, self.rule, self.method, self.flow, self.location, self.subject]


@dataclass(frozen=True, slots=True)
class _Joined:
    """One kind of message in both revisions: the definition on each side, and who is sent it."""

    old: tuple[Route, str | None]
    new: tuple[Route, str | None]
    flow: policy.Flow
    handler: str
    callers: str
    alone: bool = False

    @property
    def method(self) -> str | None:
        return self.new[0].method.name if self.new[0].method is not None else None

    @property
    def sides(self) -> dict[Revision, tuple[Route, str | None]]:
        return {"old": self.old, "new": self.new}

    @property
    def sender(self) -> str:
        return {"to-handler": self.callers, "to-caller": self.handler}.get(self.flow, "peer")

    @property
    def receiver(self) -> str:
        return {"to-handler": self.handler, "to-caller": self.callers}.get(self.flow, "peer")

    @property
    def flow_name(self) -> str:
        return f"{self.sender}-to-{self.receiver}" if self.flow in ("to-handler", "to-caller") else "both"


@dataclass(frozen=True, slots=True)
class Checked:
    """Everything that the rules have to say, in no order that matters, and the plain relation of all messages, method by method."""

    judged: tuple[Judged, ...]
    language: Inclusion
    coverage: Coverage


def check(old: Revised, new: Revised, budget: int = BUDGET, formats: bool = False) -> Checked:
    """Compare two revisions within a budget, in steps: what is left when it is spent is undecided. `formats` are asserted, or annotate."""
    work = _Check(old, new, budget, formats)
    judged = tuple(work.run())
    language = work.language(judged)
    judged = (*judged, *work.contradicted(judged))
    return Checked(judged, language, work.coverage(judged))


class _Check:
    def __init__(self, old: Revised, new: Revised, budget: int = BUDGET, formats: bool = False) -> None:
        self.budget = budget
        self.formats = formats
        self.allowance = Allowance(budget)
        self.old = old
        self.new = new
        self.groups = groups(old, new)
        self.walk = Walk(old, new, self.groups)
        self.court = Court(old, new, self.allowance, formats=formats)
        self.doubts = Doubts(old, new, self.allowance, formats=formats)
        self.routes = [(joined, _pair(joined)) for joined in self._routes()]
        self.explained: set[str] = set()
        self.answered: dict[Pair, set[Revision]] = {}
        self.parted: list[tuple[_Joined, Pair]] = []

    @cached_property
    def rewritten(self) -> frozenset[str]:
        return rewritten_names(self.old, self.new, self.groups)

    @cached_property
    def _messages(self) -> dict[Revision, set[str]]:
        return {"old": messages(self.old), "new": messages(self.new)}

    @cached_property
    def envelopes(self) -> list[tuple[str, Schema, Schema]]:
        ours, theirs = envelopes(self.old), envelopes(self.new)
        shared = (name for name in ours if name in theirs and carries(ours[name]) == carries(theirs[name]))
        return [(name, ours[name], theirs[name]) for name in shared if ours[name] != theirs[name]]

    @cached_property
    def frames(self) -> list[Framed]:
        """The kinds of messages that the revisions frame differently."""
        return [*framed(self.old, self.new, self._methods_of_both(), self.rewritten)]

    @cached_property
    def cover(self) -> Cover:
        for _, pair in self.routes:
            self.walk.visit(pair)
        return cover(self.old, self.new, [names for pair in self.walk.nodes if (names := _names(pair)) is not None])

    @cached_property
    def pairs(self) -> list[tuple[_Joined, Pair]]:
        """All that is compared: what messages hold, and the definitions that stand on their own."""
        alone = [replace(_document(one, other, other), alone=True) for one, other in self.cover.alone]
        return [*self.routes, *((joined, _pair(joined)) for joined in alone)]

    def run(self) -> Iterator[Judged]:
        told = list(self._found())
        yield from told
        unnamed = list(self._unnamed(told))
        yield from unnamed
        yield from self._frames([*told, *unnamed])
        yield from self._left_out(told)

    def _left_out(self, told: Sequence[Judged]) -> Iterator[Judged]:
        """What is unstable on either side and differs, if that does not take part, and is not told: it may be stable on the other side."""
        if not self.old.left_out and not self.new.left_out:
            return
        sides: list[dict[str, list[str]]] = [{}, {}]
        for side, found in zip((self.old, self.new), sides, strict=True):
            for at, text in sorted(side.left_out.items(), key=lambda each: each[1]):
                found.setdefault(_called(side, at), []).append(text)
        known = {
            _called(side, at) for each in told for side, at in ((self.old, each.old_at), (self.new, each.new_at)) if at
        }
        names = [
            name for name in {**sides[0], **sides[1]} if name not in known and sides[0].get(name) != sides[1].get(name)
        ]
        if names:
            places: FactPlaces = {"old_at": self._root(self.old), "new_at": self._root(self.new)}
            yield self.on_paper(Restructured(classes=tuple(sorted(names)), but="unstable", **places))

    def _unnamed(self, told: Sequence[Judged]) -> Iterator[Judged]:
        """The definitions that are written differently and that no finding names: they accept the same, or what differs in them is told
        where it stands. If neither is so, they were not compared.
        """
        changes = [each for each in told if each.rule != "text-reworded"]
        sides = ((self.old, {each.old_at for each in changes}), (self.new, {each.new_at for each in changes}))
        owners = [{side.outermost(at) for at in places} for side, places in sides]
        paper = [fact for fact in self.walk.paper_facts() if isinstance(fact, DefinitionRenamed)]
        names = {fact.old: fact.new for fact in paper}
        roots = self._roots_of_both()
        elsewhere = {
            name
            for (side, _), places in zip(sides, owners, strict=True)
            for name in (*side.declared, *roots)
            if not places.isdisjoint({side.definitions[name].at, side.outermost(self._body(side, name)[1])})
        }
        known = {*self.new.declared, *roots}
        alone = self.old.bundle.definitions.keys() ^ self.new.bundle.definitions.keys()
        gone = set(self.cover.gone) | {fact.old for fact in paper}
        held = {Pair(each.old, each.new) for each in self.walk.nodes}
        quiet = {each.names[0] for each in self.frames}
        for name in (*self.old.declared, *roots):
            other = names.get(name, name)
            if other not in known or name in gone - names.keys() or {name, other} & elsewhere:
                continue
            (before, old_at), (after, new_at) = self._body(self.old, name), self._body(self.new, other)
            if self.old.whole_text(before, names, alone) == self.new.whole_text(after, {}, alone):
                continue
            at: FactPlaces = {"old_at": old_at, "new_at": new_at}
            called = roots.get(other, other)
            pair = Pair(ir.Ref(name), ir.Ref(other))
            if self._is_included(pair, declared=False):
                contents = self.old.contents(before) != self.new.contents(after)
                yield self.on_paper(Restructured(called, but="content" if contents else "", **at))
            elif self._is_included(pair, declared=True):
                self.explained |= {name, other}
                if self._claimed(pair):
                    yield self.on_paper(Restructured(called, but="told", **at))
                elif name in roots:
                    yield self._of_definition(NotCompared(called, _KEPT, **at), called)
                else:
                    yield from self._of_undeclared(pair, called, at)
            elif name in quiet and not closure(self.new, [other]) & elsewhere:
                self.explained |= {name, other}
                yield self.on_paper(Restructured(called, but="framed", **at))
            elif pair not in held or (closure(self.old, [name]) | closure(self.new, [other])) & elsewhere:
                yield self.on_paper(Restructured(called, but="told", **at))
            else:
                reason = "it is written differently, and nothing tells why"
                yield self._of_definition(NotCompared(called, reason, **at), called)

    def _body(self, side: Revised, name: str) -> tuple[str, str]:
        """The definition that holds what another one says, if that stands for a root, else itself; with its place."""
        body = lone_reference(side.bundle.definitions[name]) if name in self._roots_of_both() else None
        return body or name, side.definitions[body or name].at

    def _claimed(self, pair: Pair) -> bool:
        """Whether a member is declared on one side of a pair alone: that is told wherever messages hold the pair."""
        walk = Walk(self.old, self.new, self.groups)  # what is told is of the other one
        walk.visit(pair)
        facts = (found.fact for found in walk.wire_facts(pair))
        return any(isinstance(fact, FieldAdded | FieldRemoved | FieldRenamed) for fact in facts)

    def _of_undeclared(self, pair: Pair, name: str, at: FactPlaces) -> Iterator[Judged]:
        """What a definition says of members that nobody declares, where one revision refuses what the other accepts."""
        for sender, receiver in self._refusals(pair):
            value = self.doubts.counterexample(pair, sender, declared=False)
            yield self._of_definition(UndeclaredChanged(refused_by=receiver, value=value, **at), name)

    def _refusals(self, pair: Pair) -> Iterator[tuple[Revision, Revision]]:
        """The directions in which a value of the sender's definition may be refused, undeclared members and all."""
        for sender, receiver in _DIRECTIONS:
            if self.doubts.included(pair, sender, declared=False) != "yes":
                yield sender, receiver

    def _frames(self, told: Sequence[Judged]) -> Iterator[Judged]:
        """What frames messages, or is a union of them, is written differently or in one revision alone, and is named by no finding."""
        renamed = {fact.old: fact.new for fact in self.walk.paper_facts() if isinstance(fact, DefinitionRenamed)}
        alone = self.old.bundle.definitions.keys() ^ self.new.bundle.definitions.keys()
        changes = [each for each in told if each.rule != "text-reworded"]
        known = {place for each in changes for place in (each.old_at, each.new_at)}
        found = [framing(side) for side in (self.old, self.new)]
        for name in dict.fromkeys((*found[0], *found[1])):
            sides = [side.bundle.origins.get(name, "") for side in (self.old, self.new)]
            at: FactPlaces = {"old_at": sides[0], "new_at": sides[1]}
            is_told = any(place in known for place in sides if place) or name in {*renamed, *renamed.values()}
            if all(sides):
                old = in_place(json.loads(self.old.frame_text(name, renamed, alone)))
                new = in_place(json.loads(self.new.frame_text(name, {}, alone)))
                yield from self._frame_of_both(name, old, new, at, is_told=is_told)
            elif not is_told and name not in {*self.cover.gone, *self.cover.added}:
                yield self._frame_of_one(name, "old" if sides[0] else "new", at)

    def _frame_of_both(self, name: str, old: Schema, new: Schema, at: FactPlaces, *, is_told: bool) -> Iterator[Judged]:
        """What frames messages in both revisions, as it says in place: what it refers to is compared method by method."""
        if old == new:
            return
        inside = carried(old), carried(new)
        if all(inside) and not self._is_alike(*inside) and not self._is_alike(*self._identified(name, *inside)):
            fact = NotCompared(name, "what frames messages says in place of what they carry", **at)
            yield replace(self._of_definition(fact, name), doubtful=("old", "new"))
        elif not is_told:
            yield self.on_paper(Restructured(name, but="carried", **at))

    def _identified(self, name: str, old: Schema, new: Schema) -> tuple[Schema, Schema]:
        """What the envelopes of a name carry, with the definitions of identifiers where these are not the same."""
        ours, theirs = (side.bundle.definitions[name] for side in (self.old, self.new))
        return with_identifiers(old, new, ours), with_identifiers(new, old, theirs)

    def _frame_of_one(self, name: str, revision: Revision, at: FactPlaces) -> Judged:
        """What frames messages of one revision alone, and whether that refuses any message which is well formed."""
        side = self.old if revision == "old" else self.new
        schema = envelopes(side).get(name)
        if schema is not None and not carries(schema):
            fact = DefinitionRemoved(name, **at) if revision == "old" else DefinitionAdded(name, **at)
            return self._of_definition(fact, name)
        sent = None if schema is None else plain_messages(schema, [each.name for each in side.methods])
        if schema is not None and sent is not None:
            one, other = (schema, sent) if revision == "old" else (sent, schema)
            if self.doubts.between(one, other, opposite(revision)).verdict.value != "yes":
                told = self._of_definition(
                    NotCompared(name, "what frames messages is in one revision alone", **at), name
                )
                return replace(told, doubtful=(revision,))
        return self.on_paper(Restructured(name, but="carried", **at))

    def _found(self) -> Iterator[Judged]:
        pairs = self.pairs
        elsewhere = frozenset(pair for pair in self.walk.nodes if pair.is_named) | {pair for _, pair in pairs}
        for _, pair in pairs:
            self.walk.visit(pair)
        yield from self._methods()
        yield from self._envelopes()
        yield from self._beyond()
        known = frozenset(
            Pair(ir.Ref(name), ir.Ref(name)) for root in self._roots_of_both() for name in self._kinds(root)
        )
        for each, pair in self.pairs[: len(self.routes)]:
            yield from self._compared(each, pair, known)
        for each, pair in self.pairs[len(self.routes) :]:
            yield from self._compared(each, pair, elsewhere)
        for each, pair in self.parted:
            answered: set[Revision] = set()
            answered.update(*(self.answered.get(inner, ()) for inner in (pair, *self._inside(pair))))
            yield from self._unexplained(each, pair, answered)
        for fact in self.walk.paper_facts():
            yield self.on_paper(fact)

    def _compared(self, joined: _Joined, pair: Pair, elsewhere: frozenset[Pair]) -> Iterator[Judged]:
        return self._in_messages(joined, pair, elsewhere) if self.walk.is_changed(pair) else self._unseen(joined, pair)

    def coverage(self, judged: Iterable[Judged]) -> Coverage:
        """What was compared, and what was not."""
        names = {name for side in (self.old, self.new) for name in side.declared}
        left = {each.location or "root": each.message for each in judged if each.rule in _OPEN or each.is_cut_off}
        compared = len(names - left.keys())
        open_ = tuple(Uncompared(name, left[name]) for name in sorted(left))
        return Coverage(sum(1 for _ in self._methods_of_both()), len(names), compared, open_)

    def language(self, judged: Sequence[Judged]) -> Inclusion:
        """Whether messages are included in one another as plain sets, both ways: what is merely claimed counts here."""
        return Inclusion(self._included("old", judged), self._included("new", judged))

    def contradicted(self, judged: Sequence[Judged]) -> Iterator[Judged]:
        """The doubts that are left where plain schemas say otherwise of what messages hold, and no finding is about anything in it."""
        told = self.explained | self._concerned(judged)
        for joined, pair in self.pairs:
            names = _names(pair)
            if names is None or not (self.walk.is_changed(pair) or self._is_rewritten(joined, pair)):
                continue
            around = {
                side.owner(side.outermost(side.bundle.origins[name]))[0]
                for side, name in zip((self.old, self.new), names, strict=True)
            }
            if not told.isdisjoint(around | closure(self.old, names[:1]) | closure(self.new, names[1:])):
                continue
            doubtful = tuple(receiver for _, receiver in self._refusals(pair))
            if doubtful:
                doubt = self._doubt("schema inclusion fails, and no finding explains why", joined)
                rule, judgement = judge(doubt)
                location = _location(joined.new[0], ())
                yield replace(
                    self._judged(rule, judgement, joined, doubt, joined.method, location, None, proven=True),
                    doubtful=doubtful,
                )

    def _concerned(self, judged: Iterable[Judged]) -> set[str]:
        """The definitions in which a finding that is no editorial one has a place."""
        places = [
            (side, at)
            for each in judged
            if each.severity != "editorial"
            for side, at in ((self.old, each.old_at), (self.new, each.new_at))
        ]
        return {name for side, at in places for name in (side.owner(at)[0], side.owner(side.outermost(at))[0]) if name}

    def _included(self, sender: Revision, judged: Sequence[Judged]) -> Answer:
        answers = self._held(sender, judged)
        if "no" not in answers:
            answers |= {self.doubts.between(one, other, sender).verdict.value for _, one, other in self.envelopes}
            framed = [each.question(sender, declared=False) for each in self.frames]
            answers |= {self.doubts.between(*each, sender).verdict.value for each in framed}
        return "no" if "no" in answers else "undecided" if "undecided" in answers else "yes"

    def _held(self, sender: Revision, judged: Sequence[Judged]) -> set[Answer]:
        """The answers about what the messages of a sender hold, whatever frames it."""
        receiver = opposite(sender)
        if any(receiver in each.refuses or _refuses(each.witness, receiver) for each in judged):
            return {"no"}
        changed = [(joined, pair) for joined, pair in self.pairs if self.walk.is_changed(pair)]
        if any(self._claims(joined, pair, sender) for joined, pair in changed):
            return {"no"}
        changed += [(joined, pair) for joined, pair in self.pairs if self._is_rewritten(joined, pair)]
        answers: set[Answer] = {self.doubts.included(pair, sender, declared=False) for _, pair in changed}
        answers.add("undecided" if any(each.rule in _OPEN for each in judged) else "yes")
        return answers

    def _claims(self, joined: _Joined, pair: Pair, sender: Revision) -> bool:
        """Whether the other side has claimed a name that was free to hold anything, and so refuses some of that."""
        kind: type[FieldAdded | FieldRemoved] = FieldAdded if sender == "old" else FieldRemoved
        for found in self.walk.wire_facts(pair):
            if isinstance(found.fact, kind | FieldRenamed):
                field = found.fact.was if isinstance(found.fact, FieldRenamed) and sender == "new" else found.fact.field
                leaf = claimed(field.name)
                if self.court.refusal(joined.sides, found.steps, sender, leaf) is not None:
                    return True
        return False

    # --- routes ---

    def _routes(self) -> Iterator[_Joined]:
        for before, after in self._methods_of_both():
            handler, callers = _sides(after, self.new.protocol.sides)
            both = handler == callers == "peer"
            for part, old, new in (("params", before.params, after.params), ("result", before.result, after.result)):
                if part == "result" and (before.kind, after.kind) != ("request", "request"):
                    continue
                if old is None and new is None:
                    continue
                flow: policy.Flow = "both" if both else "to-handler" if part == "params" else "to-caller"
                yield _Joined((_route(part, before), old), (_route(part, after), new), flow, handler, callers)
        for name, label in self._roots_of_both().items():
            yield from (_document(each, each, each) for each in self._kinds(name))
            yield _document(name, name, label)
        for part in ("error", "id"):
            ours, theirs = (_envelope_parts(side, part) for side in (self.old, self.new))
            shared = [name for name in ours if name in theirs]
            pairs = [(name, name) for name in shared] or list(zip(ours, theirs, strict=False))[:1]
            for one, other in pairs:
                route = Route("error" if part == "error" else "id", None)
                yield _Joined((route, one), (route, other), "both", "peer", "peer")

    def _roots_of_both(self) -> Mapping[str, str]:
        """The definitions that stand for roots, with what people call these."""
        named: Mapping[str, str] = {} if self.old.roots is None else self.old.roots.named
        return {name: label for name, label in named.items() if name in self.new.definitions}

    def _kinds(self, root: str) -> list[str]:
        """The kinds of documents that a root is a union of in both revisions. Each is told by itself: where they overlap, what one
        refuses another may accept, and that would hide the change.
        """
        others = set(kinds(self.new, root))
        return [name for name in kinds(self.old, root) if name in others]

    def _methods_of_both(self) -> Iterator[tuple[ir.Method, ir.Method]]:
        after = {(method.name, method.side, method.kind): method for method in self.new.methods}
        for method in self.old.methods:
            found = after.get((method.name, method.side, method.kind))
            if found is None:
                found = next((m for m in self.new.methods if self._is_heir(m, method)), None)
            if found is not None:
                yield method, found

    def _is_heir(self, new: ir.Method, old: ir.Method) -> bool:
        return old.name in new.was and (new.side, new.kind) == (old.side, old.kind)

    # --- facts about methods ---

    def _methods(self) -> Iterator[Judged]:
        before = {(m.name, m.side, m.kind): m for m in self.old.methods}
        after = {(m.name, m.side, m.kind): m for m in self.new.methods}
        kinds_before = {(m.name, m.side): m for m in self.old.methods}
        kinds_after = {(m.name, m.side): m for m in self.new.methods}
        several = [(m.name, m.side) for m in self.new.methods]
        for key, method in before.items():
            if key in after:
                continue
            twin = kinds_after.get(key[:2])
            if twin is not None and several.count(key[:2]) == 1 and (*key[:2], twin.kind) not in before:
                fact: Fact = MethodKindChanged(method, twin, old_at=method.at, new_at=twin.at)
            else:
                heir = next((m for m in self.new.methods if self._is_heir(m, method)), None)
                fact = MethodRemoved(
                    method, heir.name if heir else None, old_at=method.at, new_at=heir.at if heir else ""
                )
            yield self._of_method(fact, method, method)
        for key, method in after.items():
            renamed = any(self._is_heir(method, m) for m in self.old.methods if (m.name, m.side, m.kind) not in after)
            if (
                key not in before
                and not renamed
                and not ((twin := kinds_before.get(key[:2])) is not None and (*key[:2], twin.kind) not in after)
            ):
                yield self._of_method(MethodAdded(method, old_at="", new_at=method.at), method, method)
        for one, other in self._methods_of_both():
            at = {"old_at": one.at, "new_at": other.at}
            if one.capability != other.capability:
                fact = GateChanged(f"method {other.name!r}", "", one.capability, other.capability, **at)
                yield self._of_method(fact, one, other)
            if one.null_result != other.null_result:
                yield self._of_method(NullResultChanged(other.null_result, **at), one, other)
            yield from self._positions(one, other)
        if self.old.protocol.batch != self.new.protocol.batch:
            yield from self._batch()

    def _of_method(self, fact: Fact, old: ir.Method, new: ir.Method) -> Judged:
        handler, callers = _sides(new, self.new.protocol.sides)
        part: Part = "result" if isinstance(fact, NullResultChanged) else "params"
        flow: policy.Flow = "both" if handler == callers else "to-caller" if part == "result" else "to-handler"
        routes = _Joined((Route("params", old), old.params), (Route("params", new), new.params), flow, handler, callers)
        rule, judgement = judge(fact)
        witness = None
        if judgement.carried_by == "old":
            witness = self.court.loss(routes.sides, (), "old", smallest)
        return self._judged(rule, judgement, routes, fact, new.name, part, witness, proven=witness is not None)

    def _positions(self, old: ir.Method, new: ir.Method) -> Iterator[Judged]:
        """Params that are read as other params; where all of them are refused, that is told of what refuses them."""
        if old.params is None or new.params is None:
            return
        shapes = self.walk.shape(ir.Ref(old.params), 0), self.walk.shape(ir.Ref(new.params), 1)
        is_named = all(shape.of("object") for shape in shapes)
        fact = moved(old, new, is_named=is_named)
        found = None if fact is None else misread(self.doubts, old, new)
        if fact is None or found is None:
            return
        handler, callers = _sides(new, self.new.protocol.sides)
        flow: policy.Flow = "both" if handler == callers else "to-handler"
        routes = _Joined((Route("params", old), old.params), (Route("params", new), new.params), flow, handler, callers)
        rule, judgement = judge(fact)
        witness = None
        if found.value is not None:
            whole = message(self.new.protocol.envelope, routes.new[0], found.value)
            verified = all(self.court.accepts(routes.sides, revision, whole) for revision, _ in _DIRECTIONS)
            witness = self.court.carried(routes.sides, whole, "old") if verified else None
        if witness is None:
            judgement = replace(judgement, weight="undetermined", message=f"{judgement.message} {_UNPROVEN}")
        yield self._judged(rule, judgement, routes, fact, new.name, "params", witness, proven=True)

    def _batch(self) -> Iterator[Judged]:
        fact = BatchChanged(self.new.protocol.batch, old_at=self._root(self.old), new_at=self._root(self.new))
        rule, judgement = judge(fact)
        accepted_by: Revision = "new" if fact.allowed else "old"
        refused_by: Revision = "old" if fact.allowed else "new"
        witness = None
        routes = _Joined((Route("document", None), None), (Route("document", None), None), "both", "peer", "peer")
        for one, other in self._methods_of_both():
            method = _Joined((Route("params", one), one.params), (Route("params", other), other.params), "both", "", "")
            for value in self.court.messages(method.sides, (), accepted_by, smallest):
                verified = self.court.confirms(method.sides, accepted_by, [value])
                if verified and self.court.accepts(method.sides, refused_by, value):
                    witness = self.court.proof(method.sides, [value], accepted_by)
                    break
            if witness is not None:
                break
        yield self._judged(rule, judgement, routes, fact, None, "message", witness, proven=witness is not None)

    def _envelopes(self) -> Iterator[Judged]:
        """What changed in the envelopes that both revisions have under the same name."""
        for name, one, other in self.envelopes:
            route = Route("document", None, name)
            routes = _Joined((route, name), (route, name), "both", "peer", "peer")
            at: FactPlaces = {"old_at": self.old.bundle.origins[name], "new_at": self.new.bundle.origins[name]}
            for sender, receiver in _DIRECTIONS:
                sent = [as_declared(each) if by == sender else each for by, each in (("old", one), ("new", other))]
                relation = self.doubts.between(sent[0], sent[1], sender)
                if relation.verdict.value == "yes":
                    continue
                fact: Fact = Undetermined("the envelope cannot be compared", **at)
                witness = None
                value = relation.witness.value if relation.witness is not None else None
                verified = relation.witness is not None and self.court.confirms(routes.sides, sender, value)
                if verified:
                    fact = LimitChanged(OTHER, "", "", sender, value, **at)
                    witness = self.court.proof(routes.sides, value, sender)
                rule, judgement = judge(fact)
                told = self._judged(rule, judgement, routes, fact, None, name, witness, proven=verified)
                yield told if verified else replace(told, doubtful=(receiver,))

    # --- what no message holds ---

    def _beyond(self) -> Iterator[Judged]:
        """What has no counterpart, and what is not read."""
        for name in self.cover.gone:
            yield self._of_definition(DefinitionRemoved(name, old_at=self.old.definitions[name].at), name)
        for name in self.cover.added:
            yield self._of_definition(DefinitionAdded(name, new_at=self.new.definitions[name].at), name)
        for revision, name in self.cover.copied:
            old_at, new_at = (
                side.definitions[name].at if revision == named else ""
                for named, side in (("old", self.old), ("new", self.new))
            )
            yield self.on_paper(Restructured(name, but="copied", old_at=old_at, new_at=new_at))
        for name, reason in unread(self.old, self.new).items():
            at: FactPlaces = {
                "old_at": self.old.bundle.origins.get(name, ""),
                "new_at": self.new.bundle.origins.get(name, ""),
            }
            yield self._of_definition(NotCompared(name, reason, **at), name)
        yield from self._whole_messages()
        yield from self._roots()

    def _of_definition(self, fact: Fact, name: str) -> Judged:
        rule, judgement = judge(fact)
        return self._judged(rule, judgement, _document(name, name, name), fact, None, name, None, proven=True)

    def _whole_messages(self) -> Iterator[Judged]:
        """What definitions of whole messages demand beside params and result."""
        for each in self.frames:
            if each.of_root:
                continue
            (one, other), at = each.names, each.places(self.old, self.new)
            handler, callers = (
                _sides(each.kinds[1].method, self.new.protocol.sides) if each.kinds[1].method else ("", "")
            )
            flow: policy.Flow = "both" if handler == callers else "to-handler"
            routes = (Route("document", None, one), one), (Route("document", None, other), other)
            joined = _Joined(*routes, flow, handler, callers)
            doubtful: list[Revision] = []
            for sender, receiver in _DIRECTIONS:
                relation = self._fits(each, sender)
                if relation.verdict.value == "yes":
                    continue
                value = relation.witness.value if relation.witness is not None else None
                if relation.witness is None or not self.court.confirms(joined.sides, sender, value):
                    doubtful.append(receiver)
                    continue
                fact = LimitChanged(OTHER, "", "", sender, value, **at)
                rule, judgement = judge(fact)
                witness = self.court.proof(joined.sides, value, sender)
                cause = _Cause(each.base or other, (each.base or other, sender), judgement.message)
                yield self._judged(rule, judgement, joined, fact, None, other, witness, proven=True, cause=cause)
            if doubtful:
                told = self._of_definition(NotCompared(other, "the message around params or result", **at), other)
                yield replace(told, doubtful=tuple(doubtful))

    def _fits(self, each: Framed, sender: Revision) -> Relation:
        """Whether what one revision sends of a kind of message fits into the frame of the other; if not, by a whole message."""
        relation = self.doubts.between(*each.question(sender, declared=True), sender)
        if relation.verdict.value == "yes" or each.of_root:
            return relation
        return self.doubts.between(*each.question(sender, declared=True, whole=True), sender)

    def _roots(self) -> Iterator[Judged]:
        """What roots say beside definitions: what frames the messages, where there are any, and what is no keyword."""
        if self.old.roots is None or self.new.roots is None:
            return
        at: FactPlaces = {"old_at": self._root(self.old), "new_at": self._root(self.new)}
        doubtful = {
            receiver: None
            for each in self.frames
            for sender, receiver in _DIRECTIONS
            if each.of_root and self._fits(each, sender).verdict.value != "yes"
        }
        if doubtful:
            told = self._of_definition(
                NotCompared("", "the root schema constrains every message differently", **at), ""
            )
            yield replace(told, doubtful=tuple(doubtful))
        for key in dict.fromkeys((*self.old.roots.unread, *self.new.roots.unread)):
            if self.old.roots.unread.get(key) != self.new.roots.unread.get(key):
                yield self._of_definition(NotCompared(key, f"the content of {key!r} is not read", **at), key)

    def _is_included(self, pair: Pair, *, declared: bool) -> bool:
        """Whether both sides of a pair accept what the other has, or what it declares."""
        return all(self.doubts.included(pair, sender, declared=declared) == "yes" for sender, _ in _DIRECTIONS)

    def _is_alike(self, old: Schema, new: Schema) -> bool:
        """Whether two schemas admit the same."""
        relations = (self.doubts.between(old, new, sender) for sender, _ in _DIRECTIONS)
        return old == new or all(relation.verdict.value == "yes" for relation in relations)

    def _root(self, revised: Revised) -> str:
        first = next(iter(revised.bundle.origins.values()), "")
        return first.partition("#")[0] + "#" if first else ""

    # --- facts inside messages ---

    def _in_messages(self, joined: _Joined, pair: Pair, elsewhere: frozenset[Pair]) -> Iterator[Judged]:
        """The findings of one kind of message. What the facts could not tell apart comes last: others may explain it."""
        explained: list[tuple[tuple[Step, ...], Revision]] = []
        doubts: list[PlacedFact] = []
        answered: set[Revision] = set()
        for found in self.walk.wire_facts(pair, elsewhere):
            if isinstance(found.fact, Undetermined):
                doubts.append(found)  # both ways of one comparison may leave the same doubt
                continue
            for told in self._each_told(found, joined):
                yield told
                answered.update((*self._tolerated(found.fact), *told.refuses, *told.doubtful))
                if told.witness is not None and told.witness.accepted_by is not None:
                    explained.append((found.steps, told.witness.accepted_by))
                    answered.add(opposite(told.witness.accepted_by))
        for found in dict.fromkeys(doubts):
            for told in self._settled(found, joined, explained):
                yield told
                answered.update((*told.refuses, *told.doubtful))
        self.answered[pair] = answered
        inside = [*self._inside(pair)]
        if not any(child in elsewhere for child in inside):
            yield from self._unexplained(joined, pair, answered)
        elif any(map(self._asks_more, (pair, *inside))):
            self.parted.append((joined, pair))

    def _asks_more(self, pair: Pair) -> bool:
        """Whether more is asked of a value than of its parts, such as to fit no two alternatives: what takes more may make it take less."""
        for type_, number in pair.sides:
            shape = self.walk.shape(type_, number)
            side = (self.old, self.new)[number]
            if shape.exclusive or any(side.definitions[name].unenforced for name in shape.names):
                return True
        return False

    def _tolerated(self, fact: Fact) -> tuple[Revision, ...]:
        """The revision that refuses what a fact tells, where that is no break: receivers keep what they do not know, and everything in an
        object that declares nothing is free to have any form.
        """
        if isinstance(fact, ValueAdded | VariantAdded):
            return ("old",) if fact.old.openness == "tolerated" else ()
        if isinstance(fact, FieldAdded) and declares_nothing(fact.old, self.old.written):
            return ("new",)
        if isinstance(fact, FieldRemoved) and declares_nothing(fact.new, self.new.written):
            return ("old",)
        return ()

    def _inside(self, pair: Pair) -> Iterator[Pair]:
        """The pairs below a pair in which something has changed."""
        pending, seen = [pair], {pair}
        while pending:
            fresh = {child for _, child in self.walk.nodes[pending.pop()].children} - seen
            seen |= fresh
            changed = [child for child in fresh if self.walk.is_changed(child)]
            yield from changed
            pending.extend(changed)

    def _unexplained(self, joined: _Joined, pair: Pair, answered: Iterable[Revision]) -> Iterator[Judged]:
        """What the prover finds refused by a revision that no finding has answered for."""
        doubt = self._doubt("no known rule explains the difference", joined)
        yield from self._settled(PlacedFact(doubt, (), pair), joined, (), answered)

    def _unseen(self, joined: _Joined, pair: Pair) -> Iterator[Judged]:
        """What no fact tells of messages that are written differently: the prover has the last word."""
        if not self._is_rewritten(joined, pair):
            return
        yield from self._settled(PlacedFact(self._doubt("the schema was rewritten", joined), (), pair), joined, ())

    def _doubt(self, reason: str, joined: _Joined) -> Undetermined:
        (_, old), (_, new) = joined.old, joined.new
        places = [side.definitions[name].at if name else "" for side, name in ((self.old, old), (self.new, new))]
        return Undetermined(reason, old_at=places[0], new_at=places[1])

    def _is_rewritten(self, joined: _Joined, pair: Pair) -> bool:
        """Whether messages are written differently, and no fact tells why."""
        (_, old), (_, new) = joined.old, joined.new
        if old is None or new is None or self.walk.is_changed(pair):
            return False
        return old != new or old in self.rewritten

    def _settled(
        self,
        found: PlacedFact,
        joined: _Joined,
        explained: Sequence[tuple[tuple[Step, ...], Revision]],
        answered: Iterable[Revision] = (),
    ) -> Iterator[Judged]:
        """What the prover makes of a doubt: nothing where both directions are proven or explained, else a value, else the doubt.

        The revisions in `answered` are not asked about.
        """
        doubtful: list[Revision] = []
        limits: list[LimitChanged] = []
        for sender, receiver in _DIRECTIONS:
            if receiver in answered:
                continue
            answer = self.doubts.included(found.pair, sender)
            depth = len(found.steps)
            if answer == "yes" or (
                answer == "no" and any(by == sender and steps[:depth] == found.steps for steps, by in explained)
            ):
                continue
            value = self.doubts.counterexample(found.pair, sender)
            if value is not None:
                limit = LimitChanged(OTHER, "", "", sender, *value, old_at=found.fact.old_at, new_at=found.fact.new_at)
                told = self._told(replace(found, fact=limit), joined)
                if told is not None and told.witness is not None:
                    limits.append(limit)
                    continue
            doubtful.append(receiver)
        if limits:
            yield from self._each_told(replace(found, fact=joined_limits(limits)), joined)
        if doubtful and (told := self._told(found, joined)) is not None:
            yield replace(told, doubtful=tuple(doubtful))

    def _each_told(self, found: PlacedFact, joined: _Joined) -> Iterator[Judged]:
        """The findings of a fact: one, but where a change goes both ways and only one direction is refused, one for each direction."""
        whole = self._told(found, joined)
        parts = found.fact.parts if isinstance(found.fact, KindChanged | LimitChanged) else ()
        if len(parts) < 2 or found.free or (whole is not None and len(whole.refuses) == len(parts)):
            parts = ()
            if whole is not None:
                yield whole
        for part in parts:
            told = self._told(replace(found, fact=part), joined)
            if told is not None:
                yield told

    def _told(self, given: PlacedFact, joined: _Joined) -> Judged | None:
        """The finding of a fact; `None` where it is proven that nothing is refused after all."""
        found = replace(given, fact=self._asserted(given.fact)) if self.formats and not given.free else given
        if isinstance(found.fact, FieldAdded | FieldRemoved) and found.fact.by:
            example = self._example(found.fact)
            if example is None:
                return None
            found = replace(found, fact=example)
        if found.free and isinstance(found.fact, FieldAdded | FieldRemoved):
            found = replace(found, fact=replace(found.fact, harmless=True))
        rule, judgement = judge(found.fact)
        said = judgement.message
        if found.free:
            judgement = _only_read(judgement, found.fact)
        location = _location(joined.new[0], found.steps)
        witness = self._refusal(judgement, found.steps, joined) or self._counterexample(judgement, found, joined)
        if witness is None and isinstance(found.fact, FieldAdded | FieldRemoved) and found.fact.is_extension:
            return self._told(replace(given, fact=replace(found.fact, harmless=True)), joined)
        if witness is None and judgement.accepted_by is not None and judgement.leaf is not None:
            witness = self.court.loss_by_name(joined.sides, found.steps, judgement.accepted_by, judgement.leaf)
        if witness is None and self._is_harmless(judgement, found):
            overlooked = self._overlooked(judgement, found, joined)
            if overlooked is None:
                return None
            judgement, witness = overlooked
        elif witness is None and (mistaken := self._mistaken(judgement, found, joined)) is not None:
            judgement, witness = mistaken
        elif witness is None and judgement.carried_by is not None and judgement.leaf is not None:
            lost = (joined.sides, found.steps, judgement.carried_by, judgement.leaf)
            witness = self.court.refusal(*lost) or self.court.loss(*lost)
        told = self._judged(
            rule,
            judgement,
            joined,
            replace(found.fact, **self._at(found)),
            joined.method,
            location,
            witness,
            proven=witness is not None,
            cause=self._cause(found, joined, location, judgement.within, said),
        )
        if isinstance(found.fact, FormatChanged) and found.fact.doubtful:
            told = replace(told, doubtful=tuple(dict.fromkeys((*told.doubtful, *found.fact.doubtful))))
        return self._both_ways(told, judgement, found, joined)

    def _at(self, found: PlacedFact) -> FactPlaces:
        """Where a fact stands on both sides: where nothing nearer has a place, in the declaration around it."""
        old, new = (found.home or Home(found.pair)).names
        one, other = self._declaring(found)
        return {
            "old_at": one or self.old.bundle.origins.get(old or "", ""),
            "new_at": other or self.new.bundle.origins.get(new or "", ""),
        }

    def _declaring(self, found: PlacedFact) -> tuple[str, str]:
        """The places of a fact. Where one side has it in a base that the record refers to, and the other side has nothing nearer than the
        record, the place of the other side is its base.
        """
        at = [found.old_at, found.new_at]
        sides = self.old, self.new
        for number, holder in enumerate((found.home or Home(found.pair)).names):
            base, _ = sides[1 - number].owner(at[1 - number], declared=True)
            side = sides[number]
            is_whole = holder is not None and at[number] == side.bundle.origins.get(holder)
            if is_whole and base != holder and base in side.bundle.origins and base in closure(side, [str(holder)]):
                at[number] = side.bundle.origins[base]
        return at[0], at[1]

    def _example(self, fact: FieldAdded | FieldRemoved) -> FieldAdded | FieldRemoved | None:
        """The fact with a name that its pattern matches and the other revision does not declare; `None` where there is none."""
        names, patterns = fact.others
        ours: Schema = {"type": "string", **({"pattern": fact.pattern} if fact.pattern else {"const": fact.field.name})}
        theirs: Schema = {"anyOf": [{"enum": list(names)}, *({"pattern": each} for each in patterns)]}
        by_old = isinstance(fact, FieldRemoved)
        relation = self.doubts.between(*((ours, theirs) if by_old else (theirs, ours)), "old" if by_old else "new")
        if relation.verdict.value == "yes":
            return None
        name = relation.witness.value if relation.witness is not None else fact.field.name
        return replace(fact, field=replace(fact.field, name=str(name)))

    def _asserted(self, fact: Fact) -> Fact:
        """A changed format with what it refuses, as far as that is known."""
        if not isinstance(fact, FormatChanged) or fact.keyword != "format":
            return fact
        unknown = sorted({each.format for strings in fact.strings for each in strings if each.format} - FORMATS.keys())
        if unknown or not all(fact.strings):
            name = unknown[0] if unknown else fact.new or fact.old
            return replace(fact, doubtful=("new", "old"), doubt=f"what the format {name!r} refuses is not known")
        refused: list[tuple[Revision, str]] = []
        doubtful: dict[Revision, str] = {}
        for (sender, receiver), (strings, others) in zip(_DIRECTIONS, (fact.strings, fact.strings[::-1]), strict=True):
            relation = self.doubts.between(*_of_formats(sender, strings, others), sender)
            if relation.witness is not None and isinstance(relation.witness.value, str):
                refused.append((sender, relation.witness.value))
            elif relation.verdict.value != "yes":
                doubtful[receiver] = relation.reason
        doubt = next(iter(doubtful.values()), "")
        return replace(fact, refused=tuple(refused), doubtful=tuple(doubtful), doubt=doubt)

    def _both_ways(self, told: Judged, judgement: Judgement, found: PlacedFact, joined: _Joined) -> Judged:
        """The finding with the refusal that the change brings the other way round, where there is one."""
        if judgement.back is None or told.sender is None:
            return told
        sender = opposite(told.sender)
        if self.court.refusal(joined.sides, found.steps, sender, judgement.back) is None:
            return told
        breaks = dict.fromkeys((told.breaks, _breaks(replace(judgement, accepted_by=sender, carried_by=None), joined)))
        return replace(told, refuses=(*told.refuses, told.sender), breaks="; ".join(filter(None, breaks)))

    def _mistaken(self, judgement: Judgement, found: PlacedFact, joined: _Joined) -> tuple[Judgement, Witness] | None:
        """The finding where a variant refuses a message and another branch of its union takes it."""
        sender, leaf = judgement.accepted_by, judgement.leaf
        if sender is None or leaf is None or all(step.kind != "variant" for step in found.steps):
            return None
        for value in self.court.messages(joined.sides, found.steps, sender, leaf):
            verified = all(self.court.accepts(joined.sides, revision, value) for revision, _ in _DIRECTIONS)
            if verified:
                told = replace(
                    judgement,
                    weight="lost" if sender == "old" else "otherwise",
                    message=f"{judgement.message} Another branch of the union accepts it and decodes it as something else.",
                    accepted_by=None,
                    carried_by=sender,
                )
                return told, self.court.carried(joined.sides, value, sender)
        return None

    def _overlooked(
        self, judgement: Judgement, found: PlacedFact, joined: _Joined
    ) -> tuple[Judgement, Witness | None] | None:
        """The finding where all that an alternative sends is accepted by others, and some of it is no member that they declare; `None`
        where they declare all of it.
        """
        sender, fact = judgement.accepted_by, found.fact
        if sender is None or not isinstance(fact, AlternativeChanged):
            return None
        if joined.alone and _name_of(fact.alternative) in self._messages[sender]:
            return None  # the union lists messages, which their methods tell apart
        alternative = type_of(fact.alternative, found.pair.on(sender))
        relation = self.doubts.heard(found.pair, alternative, sender)
        if relation.verdict.value == "yes":
            return None
        told = replace(
            judgement,
            weight="lost" if sender == "old" else "otherwise",
            message=f"{judgement.message} Another alternative accepts its values and does not declare all that they hold.",
            accepted_by=None,
            carried_by=sender,
        )
        if sender == "new" and isinstance(fact.alternative, Objects):
            needed = [field.name for field in fact.alternative.fields if field.required]
            if self.doubts.heard(found.pair, alternative, sender, needed).verdict.value == "yes":
                told = replace(
                    judgement,
                    weight="claimed",
                    message=f"The alternative {fact.alternative.name} was added: another one with more optional fields.",
                    advice="None: old peers ignore the fields.",
                    accepted_by=None,
                    carried_by=None,
                )
                return told, None
        leaf = judgement.leaf if relation.witness is None else exactly(relation.witness.value)
        witness = None if leaf is None else self.court.loss(joined.sides, found.steps, sender, leaf)
        return told, None if relation.witness is None else witness

    def _is_harmless(self, judgement: Judgement, found: PlacedFact) -> bool:
        """Whether a doubt about acceptance is settled by a proof of inclusion."""
        sender = judgement.accepted_by
        if sender is None or (judgement.carried_by is not None and not isinstance(found.fact, AlternativeChanged)):
            return False
        return self.doubts.included(found.pair, sender) == "yes"

    def _refusal(self, judgement: Judgement, steps: Sequence[Step], joined: _Joined) -> Witness | None:
        if judgement.leaf is None or judgement.accepted_by is None:
            return None
        return self.court.refusal(joined.sides, steps, judgement.accepted_by, judgement.leaf)

    def _counterexample(self, judgement: Judgement, found: PlacedFact, joined: _Joined) -> Witness | None:
        """A refusal shown by a value that the prover finds: of an alternative where its plainest value fits another one, and of a limit
        where that which breaks it must be of a format.
        """
        fact, pair = found.fact, found.pair
        if judgement.accepted_by is None:
            return None
        if self.formats and isinstance(fact, LimitChanged):
            value = self.doubts.counterexample(pair, judgement.accepted_by)
            return (
                None if value is None else self._refusal(replace(judgement, leaf=exactly(*value)), found.steps, joined)
            )
        if not isinstance(fact, AlternativeChanged):
            return None
        sides = (
            (pair.old, type_of(fact.alternative, pair.new))
            if fact.added
            else (type_of(fact.alternative, pair.old), pair.new)
        )
        value = self.doubts.counterexample(Pair(*sides), judgement.accepted_by)
        if value is None:
            return None
        return self.court.refusal(joined.sides, found.steps, judgement.accepted_by, exactly(*value))

    def _cause(self, found: PlacedFact, joined: _Joined, location: str, within: str, said: str) -> _Cause:
        """What a fact is about, told by the nearest declarations around it: those are the same in whatever message they stand."""
        home, named = found.home or Home(found.pair), found.named or Home(found.pair)
        one, other = self._declaring(found)
        places = (self.old, one), (self.new, other)
        is_placed = bool(found.fact.old_at or found.fact.new_at)
        nearest = next((n for n, step in reversed(list(enumerate(found.steps, 1))) if step.old_at or step.new_at), 0)
        at_home = nearest <= home.depth and not is_placed
        if nearest and found.steps[nearest - 1].kind == "value":
            nearest -= 1  # what stands there is the record, not its member
        below = _path(found.steps[len(found.steps) if is_placed else max(nearest, home.depth) :])
        owners = home.names if at_home else tuple("".join(side.owner(at)) for side, at in places)
        key = (*owners, _within(below, within))
        declared = [side.owner(at, declared=True) for side, at in reversed(places) if at]
        is_own = at_home or not declared or bool({name for name, _ in declared} & {*named.names, ""})
        if joined.new[0].part == "document" and named.depth == 0 and is_own:
            return _Cause(_within(location, within), key, said)
        if is_own:
            label = (named.names[1] or named.names[0] or "") + _path(found.steps[named.depth :])
        else:
            name, rest = max(declared, key=lambda each: len(each[1]))
            label = name + _below(rest) + below
        return _Cause(label if within and label.endswith(f".{within}") else _within(label, within), key, said)

    def on_paper(self, fact: Fact) -> Judged:
        """The finding of a fact about files alone."""
        rule, judgement = judge(fact)
        nobody = _Joined((Route("document", None), None), (Route("document", None), None), "nobody", "peer", "peer")
        (old, below), (new, rest) = (
            side.owner(at, declared=True) for side, at in ((self.old, fact.old_at), (self.new, fact.new_at))
        )
        label = judgement.within or (new or old) + _below(rest if new else below)
        cause = _Cause(label, (old, new, label), judgement.message)
        return self._judged(rule, judgement, nobody, fact, None, "", None, proven=True, cause=cause)

    def _judged(
        self,
        rule: str,
        judgement: Judgement,
        joined: _Joined,
        fact: Fact,
        method: str | None,
        location: str,
        witness: Witness | None,
        *,
        proven: bool,
        cause: _Cause | None = None,
    ) -> Judged:
        gate = self._gate(judgement.gate, joined)
        severity = policy.SEVERITY[judgement.weight, joined.flow, gate]
        text = judgement.message
        if gate == "known" and judgement.gate is not None:
            text = f"{text} Its gate {judgement.gate} may already be advertised by old peers."
        wants = judgement.accepted_by is not None or judgement.carried_by is not None
        refuses: tuple[Revision, ...] = ()
        doubtful: tuple[Revision, ...] = ("old", "new") if judgement.weight == "undetermined" else ()
        refused_by: Revision = "new" if judgement.accepted_by == "old" else "old"
        if wants and severity in ("breaking", "risky") and not proven:
            severity, text = "undecided", f"{text} {_UNPROVEN}"
            doubtful = (refused_by,) if judgement.accepted_by is not None else ()
        elif witness is not None and witness.refused_by is not None and severity in ("breaking", "risky"):
            refuses = (witness.refused_by,)
        elif rule in _UNHEARD:
            refuses = _UNHEARD[rule]
        is_cut_off = severity == "undecided" and self.allowance.is_spent
        if is_cut_off:
            text = f"{text} {_SPENT.format(self.budget)}"
        shown = severity in ("breaking", "risky", "additive")
        place = _within(location, judgement.within)
        whole = cause or _Cause(method if method is not None else place, (method, place), judgement.message)
        return Judged(
            rule=rule,
            severity=severity,
            effect=_effect(judgement, witness),
            method=method,
            flow=joined.flow_name,
            location=place,
            old_at=fact.old_at,
            new_at=fact.new_at,
            message=text,
            advice=judgement.advice,
            breaks=_breaks(judgement, joined) if severity in ("breaking", "risky") else "",
            subject=judgement.subject,
            witness=witness if shown else None,
            declaration=whole.declaration,
            cause=whole.key,
            said=whole.said,
            refuses=refuses,
            doubtful=doubtful,
            sender=judgement.accepted_by or judgement.carried_by,
            alone=joined.alone or isinstance(fact, DefinitionAdded | DefinitionRemoved),
            is_cut_off=is_cut_off,
        )

    def _gate(self, capability: str | None, joined: _Joined) -> policy.Gate:
        """Whether a capability holds back what is new: it must be asked of the side that is sent it, and old peers must not have it."""
        if capability is None or capability.partition(":")[0] != joined.receiver:
            return "none"
        return "known" if self.old.advertises(capability) else "fresh"


@dataclass(frozen=True, slots=True)
class _Cause:
    """What a finding is about, however many messages hold it: its name for people, what tells it from others, and what its rule says."""

    declaration: str
    key: tuple[str | None, ...]
    said: str


def _only_read(judgement: Judgement, fact: Fact) -> Judgement:
    """The judgement where everything is accepted: what would be refused is read as something of no known form."""
    if judgement.accepted_by is None:
        return judgement
    if isinstance(fact, FieldRemoved):
        return replace(judgement, weight="lost", accepted_by=None, carried_by="old", leaf=having(fact.field.name))
    if isinstance(fact, FieldRenamed):
        return replace(judgement, accepted_by=None, back=None)
    if judgement.accepted_by == "old":
        return replace(
            judgement,
            weight="lost",
            message=f"{judgement.message} Any value is accepted here, so new peers do not recognise it.",
            accepted_by=None,
            carried_by="old",
        )
    if isinstance(fact, AlternativeChanged | KindChanged | ValueAdded | VariantAdded):
        return replace(judgement, weight="claimed", accepted_by=None, carried_by=None)
    return replace(
        judgement,
        weight="otherwise",
        message=f"{judgement.message} Any value is accepted here, so old peers do not recognise it.",
        accepted_by=None,
        carried_by="new",
    )


def rewritten(old: Revised, new: Revised, old_at: str, new_at: str) -> Judged:
    """The finding that names the classes of generated code that differ, where nothing else says why."""
    fact = Restructured(classes=broken(old, new), old_at=old_at, new_at=new_at)
    return replace(_Check(old, new).on_paper(fact), flow="both")


def restructured(old: Revised, new: Revised, old_at: str, new_at: str) -> Judged:
    """The finding that says that the files differ in nothing that matters."""
    fact = Restructured(old_at=old_at, new_at=new_at)
    return replace(_Check(old, new).on_paper(fact), flow="both")


def _of_formats(sender: Revision, strings: Sequence[ir.String], others: Sequence[ir.String]) -> tuple[Schema, Schema]:
    """The question which strings of a sender the receiver refuses for its format, as the schemas of the old side and the new one.

    A receiver with one format is asked about that alone: its limits are told elsewhere.
    """
    formats = [replace(ir.String(), format=each.format) for each in others] if len(others) == 1 else others
    sent, taken = ({"anyOf": [schema_of(each) for each in side]} for side in (strings, formats))
    return (sent, taken) if sender == "old" else (taken, sent)


def _refuses(witness: Witness | None, revision: Revision) -> bool:
    return witness is not None and witness.refused_by == revision


def _document(old: str, new: str, label: str) -> _Joined:
    """A definition that is compared on its own."""
    route = Route("document", None, label)
    return _Joined((route, old), (route, new), "both", "peer", "peer")


def _names(pair: Pair) -> tuple[str, str] | None:
    """The definitions of a pair of definitions."""
    return (pair.old.name, pair.new.name) if isinstance(pair.old, ir.Ref) and isinstance(pair.new, ir.Ref) else None


def _pair(joined: _Joined) -> Pair:
    types: list[ir.Type] = [ir.Anything() if name is None else ir.Ref(name) for _, name in (joined.old, joined.new)]
    return Pair(types[0], types[1])


def _route(part: str, method: ir.Method) -> Route:
    return Route("params" if part == "params" else "result", method)


def _sides(method: ir.Method, sides: Sequence[str]) -> tuple[str, str]:
    """Who handles a method, and who calls it; `peer` for either."""
    others = [side for side in sides if side != method.side]
    if method.side not in sides or len(others) != 1:
        return "peer", "peer"
    return method.side, others[0]


def _envelope_parts(revised: Revised, part: str) -> tuple[str, ...]:
    """The definitions of `error` or `id` in the envelopes of a schema, in alphabetical order."""
    found: set[str] = set()
    for schema in revised.bundle.definitions.values():
        if schema.get("x-docs-ignore") is True or "jsonrpc" in schema.get("properties", {}):
            for each in _with_alternatives(schema):
                name = lone_reference(each.get("properties", {}).get(part))
                if name is not None and name in revised.definitions:
                    found.add(name)
    return tuple(sorted(found))


def _with_alternatives(schema: Schema) -> Iterator[Schema]:
    yield schema
    for keyword in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(keyword, ()):
            if isinstance(branch, dict):
                yield branch


def _location(route: Route, steps: Sequence[Step]) -> str:
    """A place in a message for people: `params.update(tool_call).content[].path`."""
    text = route.definition if route.part == "document" else route.part
    return (text + _path(steps)).lstrip(".")


def _path(steps: Sequence[Step]) -> str:
    text = ""
    for step in steps:
        match step.kind:
            case "field":
                text += f".{step.name}"
            case "item":
                text += f"[{step.name}]"
            case "value":
                text += ".*"
            case "variant":
                text += "(any other)" if step.name == EXTENSION else f"({step.name})"
            case "untagged":
                text += "(untagged)"
            case "alternative":
                name = _name_of(step.new)
                text += f"({name})" if name else ""
    return text


def _below(pointer: str) -> str:
    """The fields and items on a pointer below a definition, for people."""
    text, parts = "", pointer_parts(pointer)
    for before, name in pairwise(("", *parts)):
        if before == "properties":
            text += f".{name}"
        elif name == "items" and before != "properties":
            text += "[]"
    return text


def _called(side: Revised, at: str) -> str:
    """What people call a place: the definition around it, with fields and items."""
    name, rest = side.owner(at)
    return name + _below(rest)


def _name_of(alternative: Alternative | None) -> str | None:
    """What people call an alternative; a list is called after its items."""
    if isinstance(alternative, ir.Array):
        return f"{alternative.items.name}[]" if isinstance(alternative.items, ir.Ref) else None
    return getattr(alternative, "name", None)


def _within(location: str, within: str) -> str:
    if not within or within.startswith("("):
        return location + within
    return f"{location}.{within}".lstrip(".")


def _effect(judgement: Judgement, witness: Witness | None) -> Effect:
    """What a finding does to messages, as far as its witness shows it."""
    if witness is None:
        return policy.EFFECTS[judgement.weight]
    return "refused" if witness.refused_by is not None else "lost"


def _breaks(judgement: Judgement, joined: _Joined) -> str:
    """Which exchange fails, in words."""
    sender, receiver = joined.sender, joined.receiver
    if judgement.between:
        return "; ".join(each.format(sender=sender, receiver=receiver) for each in judgement.between)
    if judgement.accepted_by == "new":
        return f"a new {sender} that talks to an old {receiver}"
    if judgement.carried_by == "new":
        return f"an old {receiver} that hears a new {sender}"
    return f"an old {sender} that talks to a new {receiver}"
