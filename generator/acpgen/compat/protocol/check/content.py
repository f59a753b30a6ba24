"""What changed inside messages, and inside definitions that stand on their own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

from acpgen import ir
from acpgen.compat.changes import (
    Change,
    ChangePlaces,
    FieldChange,
    FormatChange,
    LimitChange,
    join_limits,
    unexplained_limit,
)
from acpgen.compat.diff.pairs import Declaration, Pair, PlacedChange
from acpgen.compat.diff.shapes import Objects
from acpgen.compat.findings import Reach, Revision, opposite
from acpgen.compat.protocol.check.context import Cause, Context, breaks_of
from acpgen.compat.protocol.check.message_pairs import (
    DIRECTIONS,
    MessagePair,
    location_of,
    path_of,
    within_of,
)
from acpgen.compat.protocol.check.reception import Receiver, adapt_judgement, of_anything
from acpgen.compat.protocol.culprits import remainder
from acpgen.compat.protocol.definition_coverage import closure
from acpgen.compat.protocol.revision import fields_on
from acpgen.compat.protocol.sender_schemas import declares_nothing, schema_of
from acpgen.compat.rules import judge
from acpgen.input.walk import Schema, reachable
from acpgen.meaning import sample_texts
from schema_inclusion import FORMATS


class Content:
    """Makes the findings of what changed inside messages and definitions. What the prover answers with "no" has one."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._answered: dict[Pair, set[Revision]] = {}
        self._whole: list[MessagePair] = []

    def compare(self, messages: MessagePair, elsewhere: frozenset[Pair]) -> Iterator[Reach]:
        """The findings of the changes in one kind of message or document; what changed in the pairs `elsewhere` is reported there."""
        if not self.context.is_changed(messages):
            return
        self._whole.append(messages)
        explained: list[tuple[PlacedChange, Reach]] = []
        doubts: list[PlacedChange] = []
        for found in self.context.walk.wire_changes(messages.pair, elsewhere):
            if found.change.kind == "undecided":
                doubts.append(found)  # both ways of one comparison may leave the same doubt
                continue
            for each in self._each_way(found, messages):
                yield each
                self._answer(found, (*self._tolerant_revisions(found.change, messages), *each.refuses, *each.doubtful))
                if each.witness is not None and each.witness.refused_by is not None:
                    explained.append((found, each))
                    self._answer(found, (each.witness.refused_by,))
        for found in dict.fromkeys(doubts):
            depth = len(found.steps)
            below = [(change, each) for change, each in explained if change.steps[:depth] == found.steps]
            known: set[Revision] = {
                each.witness.refused_by for _, each in below if each.witness and each.witness.refused_by
            }
            referred = [Pair(ir.Ref(name), ir.Ref(name)) for name in found.change.within[0] or ()]
            if all(pair in self.context.walk.nodes for pair in referred):
                known = known.union(*map(self._answers, referred))
            for each in (*self._settle(found, messages, known), *self._hidden(found, messages, below)):
                yield each
                self._answer(found, (*each.refuses, *each.doubtful))

    def _hidden(
        self, found: PlacedChange, messages: MessagePair, below: Sequence[tuple[PlacedChange, Reach]]
    ) -> Iterator[Reach]:
        """What a difference that could not be taken apart refuses beside a milder change of the same thing."""
        for sender, receiver in DIRECTIONS:
            others = [(change, each) for change, each in below if each.witness and each.witness.refused_by == receiver]
            if not others or any(each.severity != "risky" or change.steps != found.steps for change, each in others):
                continue
            apart = [remainder(change.change, found.pair, sender) for change, _ in others]
            if all(each is not None for each in apart):
                limit = unexplained_limit(sender, {"old_at": found.change.old_at, "new_at": found.change.new_at})
                change = replace(limit, demand={"not": {"allOf": apart}})
                shown = self._reach(replace(found, change=change), messages)
                yield from () if shown is None or shown.witness is None else (shown,)

    def unexplained_refusals(self) -> Iterator[Reach]:
        """What one revision refuses of the other's messages, and no change inside explains."""
        old, new = self.context.old, self.context.new
        for messages in self._whole:
            pair = messages.pair
            names = (old, messages.old[1]), (new, messages.new[1])
            at = [side.definitions[name].at if name else "" for side, name in names]
            doubt = Change("undecided", detail="no rule explains the difference", old_at=at[0], new_at=at[1])
            yield from self._settle(PlacedChange(doubt, (), pair), messages, self._answers(pair))

    def _answers(self, pair: Pair) -> set[Revision]:
        """The revisions whose refusals of a pair the findings of it, and of what is in it, answer for."""
        found: set[Revision] = set()
        return found.union(*(self._answered.get(inner, ()) for inner in reachable([pair], self._changed)))

    def _answer(self, found: PlacedChange, revisions: Iterable[Revision]) -> None:
        """Note that a finding answers for what revisions refuse of a pair."""
        self._answered.setdefault(found.pair, set()).update(revisions)

    def _tolerant_revisions(self, change: Change, messages: MessagePair) -> tuple[Revision, ...]:
        """The revision that refuses what a change tells, where that is no break: receivers keep what they do not know, and senders of an
        object that declares nothing, and is no map, send nothing in it.
        """
        old, new = self.context.old.stable_schemas, self.context.new.stable_schemas
        if change.what in ("value-added", "variant-added"):
            return ("old",) if change.within[0].openness == "tolerated" else ()
        if change.what == "field-added" and _is_empty(change.within[0], old, messages):
            return ("new",)
        if change.what == "field-removed" and _is_empty(change.within[1], new, messages):
            return ("old",)
        return ()

    def _changed(self, pair: Pair) -> Iterator[Pair]:
        """The pairs right below a pair in which something has changed."""
        node, walk = self.context.walk.nodes.get(pair), self.context.walk
        return (child for _, child in (() if node is None else node.children) if walk.is_changed(child))

    def _settle(self, found: PlacedChange, messages: MessagePair, answered: Collection[Revision]) -> Iterator[Reach]:
        """What the prover makes of a doubt: nothing where both directions are proven or answered for, else a message, else the doubt."""
        doubtful: list[Revision] = []
        limits: list[LimitChange] = []
        for sender, receiver in DIRECTIONS:
            if receiver in answered or self.context.acceptance.included(messages.pair, sender) == "yes":
                continue
            limit = unexplained_limit(sender, {"old_at": found.change.old_at, "new_at": found.change.new_at})
            shown = self._reach(replace(found, change=limit), messages)
            if shown is not None and shown.witness is not None:
                limits.append(limit)
            elif shown is not None:
                doubtful.append(receiver)
        if limits:
            yield from self._each_way(replace(found, change=join_limits(limits)), messages)
        if doubtful and (doubt := self._reach(found, messages)) is not None:
            yield replace(doubt, doubtful=tuple(doubtful))

    def _each_way(self, found: PlacedChange, messages: MessagePair) -> Iterator[Reach]:
        """The findings of a change: one, but where a change goes both ways and only one direction is refused, one for each direction."""
        whole = self._reach(found, messages)
        parts = found.change.parts
        if len(parts) < 2 or found.free or (whole is not None and len(whole.refuses) == len(parts)):
            yield from () if whole is None else (whole,)
            return
        reaches = (self._reach(replace(found, change=part), messages) for part in parts)
        yield from (each for each in reaches if each is not None)

    def _reach(self, given: PlacedChange, messages: MessagePair) -> Reach | None:
        """The finding of a change; `None` where it is proven that nothing is refused after all."""
        context = self.context
        found = (
            replace(given, change=self._with_refused_texts(given.change))
            if context.formats and not given.free
            else given
        )
        if isinstance(found.change, FieldChange) and found.change.by:
            example = self._example(found.change)
            if example is None:
                return None
            found = replace(found, change=example)
        if _is_alone(found.change) and (found.free or _is_mark(found.change, messages)):
            found = replace(found, change=replace(found.change, harmless=True))
        rule, judgement = judge(found.change)
        said = judgement.message
        receiver = Receiver(context, found, messages)
        reception = receiver.reception(judgement)
        if found.free and (reception.witness is None or reception.witness.refused_by is None):
            judgement = of_anything(judgement, found.change)
            reception = receiver.reception(judgement)
        if judgement.effect == "taken" and reception.witness is None:
            assert isinstance(found.change, FieldChange)
            return self._reach(replace(given, change=replace(found.change, harmless=True)), messages)
        if reception.kind == "kept":
            return None
        witness = reception.witness
        if isinstance(found.change, LimitChange) and witness is not None and witness.refused_by is not None:
            place = context.validator.refused_at(messages.sides, witness.refused_by, witness.value)
            judgement = judge(replace(found.change, detail=place))[1]
        judgement = adapt_judgement(judgement, found.change, reception.kind)
        location = location_of(messages.new[0], found.steps, context.new)
        reach = context.reach(
            rule,
            judgement,
            messages,
            replace(found.change, **places_of(context, found)),
            location,
            reception.witness,
            method=messages.method,
            cause=cause_of(context, found, messages, location, judgement.within, said),
        )
        if isinstance(found.change, FormatChange) and found.change.doubtful:
            reach = replace(reach, doubtful=tuple(dict.fromkeys((*reach.doubtful, *found.change.doubtful))))
        if reach.sender is None or found.free:
            return reach
        sender = opposite(reach.sender)  # the change may be refused the other way round, too
        culprit = receiver.culprit(sender)
        if culprit is None or receiver.refusal(culprit, sender)[1] is None:
            return reach
        others = breaks_of(replace(judgement, accepted_by=sender, carried_by=None), messages)
        breaks = "; ".join(filter(None, dict.fromkeys((reach.breaks, others))))
        return replace(reach, refuses=(*reach.refuses, reach.sender), breaks=breaks)

    def _example(self, change: FieldChange) -> FieldChange | None:
        """The change with a name that its pattern matches and the other revision does not declare; `None` where there is none."""
        names, patterns = change.others
        one: Schema = {"pattern": change.pattern} if change.pattern else {"const": change.one.name}
        ours: Schema = {"type": "string", **one}
        theirs: Schema = {"anyOf": [{"enum": list(names)}, *({"pattern": each} for each in patterns)]}
        relation = self.context.acceptance.include(ours, theirs, "old" if change.new is None else "new")
        if relation.verdict.value == "yes":
            return None
        name = relation.witness.value if relation.witness is not None else change.one.name
        example = replace(change.one, name=str(name))
        return replace(change, old=example) if change.new is None else replace(change, new=example)

    def _with_refused_texts(self, change: Change) -> Change:
        """A changed format with what it refuses, as far as that is known."""
        if not isinstance(change, FormatChange) or change.keyword != "format":
            return change
        unknown = sorted({each.format for strings in change.within for each in strings if each.format} - FORMATS.keys())
        if unknown or not all(change.within):
            name = unknown[0] if unknown else change.new or change.old
            return replace(change, doubtful=("new", "old"), detail=f"what the format {name!r} refuses is not known")
        refused: list[tuple[Revision, str]] = []
        doubtful: dict[Revision, str] = {}
        for (sender, receiver), (strings, others) in zip(DIRECTIONS, (change.within, change.within[::-1]), strict=True):
            likely = [text for each in strings for text in sample_texts.of_format(each.format)]
            # A receiver that has a single one is asked about its format alone: its limits are reported elsewhere.
            formats = [replace(ir.String(), format=each.format) for each in others] if len(others) == 1 else others
            taken: Schema = {"anyOf": [schema_of(each) for each in formats]}
            sent: Schema = {"anyOf": [schema_of(each) for each in strings]}
            relation = self.context.acceptance.include({"allOf": [sent, {"enum": likely}]}, taken, sender)
            if not likely or relation.witness is None:
                relation = self.context.acceptance.include(sent, taken, sender)
            if relation.witness is not None and isinstance(relation.witness.value, str):
                refused.append((sender, relation.witness.value))
            elif relation.verdict.value != "yes":
                doubtful[receiver] = relation.reason
        doubt = next(iter(doubtful.values()), "")
        return replace(change, refused=tuple(refused), doubtful=tuple(doubtful), detail=doubt)


def _is_alone(change: Change) -> TypeGuard[FieldChange]:
    """Whether it is a field that one revision alone has."""
    return change.what in ("field-added", "field-removed")


def _is_mark(change: FieldChange, messages: MessagePair) -> bool:
    """Whether the field is one of what peers advertise."""
    return messages.advertises and not change.one.name.startswith("_")


def _is_empty(objects: Objects, written: Mapping[str, Schema], messages: MessagePair) -> bool:
    return (messages.advertises or not objects.is_map) and declares_nothing(objects, written)


# --- where it is declared --------------------------------------------------------------------------------------------


def places_of(context: Context, found: PlacedChange) -> ChangePlaces:
    """Where a change stands on both sides: where nothing nearer has a place, in the declaration around it."""
    old, new = (found.declaration or Declaration(found.pair)).names
    one, other = _declaring(context, found)
    return {
        "old_at": one or context.old.bundle.origins.get(old or "", ""),
        "new_at": other or context.new.bundle.origins.get(new or "", ""),
    }


def _declaring(context: Context, found: PlacedChange) -> tuple[str, str]:
    """The places of a change. Where one side has it in a base that the record refers to, and the other side has nothing nearer than the
    record, the place of the other side is its base.
    """
    at = [found.old_at, found.new_at]
    sides = context.old, context.new
    for number, holder in enumerate((found.declaration or Declaration(found.pair)).names):
        base, _ = sides[1 - number].owner(at[1 - number], declared=True)
        side = sides[number]
        is_whole = holder is not None and at[number] == side.bundle.origins.get(holder)
        if is_whole and base != holder and base in side.bundle.origins and base in closure(side, [str(holder)]):
            at[number] = side.bundle.origins[base]
    return at[0], at[1]


def cause_of(
    context: Context, found: PlacedChange, messages: MessagePair, location: str, within: str, said: str
) -> Cause:
    """What a change is about, known by the nearest declarations around it: those are the same in whatever message they stand."""
    declaration, named = found.declaration or Declaration(found.pair), found.named or Declaration(found.pair)
    one, other = _declaring(context, found)
    places = (context.old, one), (context.new, other)
    is_placed = bool(found.change.old_at or found.change.new_at)
    nearest = next((n for n, step in reversed(list(enumerate(found.steps, 1))) if step.old_at or step.new_at), 0)
    is_at_declaration = nearest <= declaration.depth and not is_placed
    if nearest and found.steps[nearest - 1].kind == "value":
        nearest -= 1  # what stands there is the record, not its member
    below = path_of(found.steps[len(found.steps) if is_placed else max(nearest, declaration.depth) :])
    owners = declaration.names if is_at_declaration else tuple("".join(side.owner(at)) for side, at in places)
    key = (*owners, within_of(below, within))
    declared = [side.owner(at, declared=True) for side, at in reversed(places) if at]
    is_own = is_at_declaration or not declared or bool({name for name, _ in declared} & {*named.names, ""})
    if messages.new[0].part == "document" and named.depth == 0 and is_own:
        return Cause(within_of(location, within), key, said)
    if is_own and (None not in named.names or not any(rest for _, rest in declared)):
        label = (named.names[1] or named.names[0] or "") + path_of(found.steps[named.depth :])
    else:
        name, rest = max(declared, key=lambda each: len(each[1]))
        label = name + fields_on(rest) + below
    return Cause(label if within and label.endswith(f".{within}") else within_of(label, within), key, said)
