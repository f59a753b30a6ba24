"""Changes inside messages, and inside definitions that are compared on their own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from acpgen import ir
from acpgen.compat.changes import (
    Change,
    ChangePlaces,
    DemandChange,
    FieldChange,
    FormatChange,
    LimitChange,
    join_limits,
    make_unexplained_limit,
)
from acpgen.compat.diff.pairs import DOUBT, INNER, Declaration, Pair, PairNode, PlacedChange, Step
from acpgen.compat.diff.shapes import Objects
from acpgen.compat.findings import REVISIONS, Reach, Revision, Sides, get_opposite
from acpgen.compat.protocol.check.context import Context, describe_break
from acpgen.compat.protocol.check.counterparts import (
    DIRECTIONS,
    Cause,
    MessagePair,
    extend_location,
    find_closure,
    get_names,
    write_location,
    write_path,
)
from acpgen.compat.protocol.check.reception import Receiver, is_meaningless, judge_as_misread
from acpgen.compat.protocol.culprits import make_value_culprit, write_inside
from acpgen.compat.protocol.revision import list_fields, scan_references, with_names
from acpgen.compat.protocol.sender_schemas import declares_nothing, write_schema
from acpgen.compat.rules import KINDS, judge
from acpgen.input.walk import Schema, find_reachable, find_sources
from acpgen.meaning import sample_texts
from acpgen.meaning.definition_order import list_references
from acpgen.pointers import resolve, split_pointer
from schema_inclusion import FORMATS

if TYPE_CHECKING:
    from schema_inclusion.validation import Path


class _Refusal(NamedTuple):
    """A change, and a revision that refuses something because of it."""

    placed: PlacedChange
    receiver: Revision


class Content:
    """Makes the findings of changes inside messages and definitions. Each pair that the prover answers with "no" gets a finding."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._answered: dict[Pair, set[Revision]] = {}
        self._explained: dict[Revision, AbstractSet[Pair]] = {}
        """The pairs whose refusals by a revision the findings so far explain; empty if there is a new one."""
        self._whole: list[MessagePair] = []

    def compare(self, messages: MessagePair, elsewhere: frozenset[Pair]) -> Iterator[Reach]:
        """Yield the findings of the changes in one kind of message or document. Changes in the pairs `elsewhere` are reported there."""
        if not self.context.is_changed(messages):
            return
        self._whole.append(messages)
        refused: list[_Refusal] = []
        doubts: dict[PlacedChange, None] = {}  # both ways of one comparison may leave the same doubt
        proven: dict[tuple[object, ...], list[Reach]] = {}
        for placed in self.context.walk.list_wire_changes(messages.pair, elsewhere):
            if placed.change.kind == "undecided":
                doubts[placed] = None
                continue
            place, identity = self._identify(placed, messages)
            reaches = [replace(reach, location=place) for reach in proven.get(identity, ())]
            if not reaches:
                reaches = [*self._check_each_way(placed, messages)]
                if all(reach.severity != "undecided" for reach in reaches):
                    proven[identity] = reaches
            yield from reaches
            for reach in reaches:
                self._answer(placed, self._find_tolerant(placed.change, messages))
                refused.extend(_Refusal(placed, revision) for revision in self._record_finding(placed, reach))
        referred = {placed: self._find_referred(placed.change.within) for placed in doubts}
        # What differs itself explains what only refers to it, and what is inside explains what is around it.
        doubted: dict[tuple[object, ...], set[Revision]] = {}
        for placed in sorted(
            doubts,
            key=lambda doubt: (
                referred[doubt] is not None,
                -len(doubt.steps),
                not doubt.change.name,
                doubt.change.detail == DOUBT,
            ),
        ):
            pair_names = referred[placed]
            if pair_names == []:
                continue  # the keywords say the same
            within, inner_pairs = placed.steps, set[Pair]()
            if isinstance(placed.change, DemandChange):
                within = (*within, Step("field", placed.change.path[1]))
            else:
                for inner, reach in self._settle_inside(placed, messages):
                    yield reach
                    refused.extend(_Refusal(inner, revision) for revision in reach.refuses)
                # The path to a pair inside may be noted at another place of the message.
                inner_pairs = {*find_reachable(self._list_changed(placed.pair), self._list_changed)} - {placed.pair}
            below = [refusal for refusal in refused if refusal.placed.steps[: len(within)] == within]
            explained: set[Revision] = {refusal.receiver for refusal in below}
            explained = explained.union(*(self._answered.get(pair, ()) for pair in inner_pairs))
            if pair_names is not None and all(names in self._pairs for names in pair_names):
                pairs = (pair for names in pair_names for pair in self._pairs[names])
                in_definitions = set[Revision]().union(*map(self._find_explained, pairs))
                self._answer(placed, in_definitions)
                explained |= in_definitions
            hidden = self._find_hidden_refusals(placed, messages, below, refused) if pair_names is None else ()
            doubtful = doubted.setdefault((placed.pair, placed.steps, placed.change.name), set())
            for reach in (*self._settle(placed, messages, explained | doubtful), *hidden):
                yield reach
                doubtful.update(reach.doubtful)
                refused.extend(_Refusal(placed, revision) for revision in self._record_finding(placed, reach))

    def _identify(self, placed: PlacedChange, messages: MessagePair) -> tuple[str, tuple[object, ...]]:
        """The place of a change in a message, and its identity: one message proves it for all places that refer to its declaration."""
        judgement = judge(placed.change)
        place = extend_location(write_location(messages.new, placed.steps, self.context.new), judgement.within)
        _, cause = declare(self.context, placed, messages, place, judgement.within, judgement.message)
        return place, (replace(judgement, within=""), cause.key, placed.free)

    @cached_property
    def _pairs(self) -> Mapping[Sides[str], list[Pair]]:
        """The pairs of definitions that are compared with each other, by their names."""
        pairs: dict[Sides[str], list[Pair]] = {}
        for pair in self.context.walk.nodes:
            if (names := get_names(pair)) is not None and not pair.free:
                pairs.setdefault(names, []).append(pair)
        return pairs

    @cached_property
    def _different(self) -> Mapping[Pair, list[tuple[Step, Pair]]]:
        """The pairs of values inside each pair that may be refused: not of equal shapes that refer to nothing that has changed."""
        old, new, rewritten = self.context.old, self.context.new, self.context.rewritten

        def is_equal(pair: Pair) -> bool:
            is_alike = pair.old == pair.new or old.get_shape(pair.old) == new.get_shape(pair.new)
            return is_alike and rewritten.isdisjoint(list_references(pair.old))

        def list_different(node: PairNode) -> list[tuple[Step, Pair]]:
            inner = ((step, pair) for step, pair in node.children if step.kind in INNER and step.was is None)
            return [(step, pair) for step, pair in inner if not pair.free and not is_equal(pair)]

        return {pair: list_different(node) for pair, node in self.context.walk.nodes.items()}

    @cached_property
    def _counterparts(self) -> Mapping[str, str]:
        """The new names of definitions that are compared, by the old name; a definition that keeps its name is its own."""
        names: set[Sides[str]] = {*self._pairs}
        for pair in self.context.walk.nodes:
            old, new = self.context.old.get_shape(pair.old).names, self.context.new.get_shape(pair.new).names
            names.update(map(Sides, old, new) if len(old) == len(new) else ())
        ordered = sorted(names, key=lambda name: (name.old == name.new, name))
        return dict(ordered)

    def _find_referred(self, texts: Sides[Sequence[str] | None]) -> list[Sides[str]] | None:
        """The names of definitions that keywords refer to and that differ; `None` if the texts of the keywords differ in more than
        renamed definitions.

        A definition that is not compared itself stands for those that refer to it.
        """

        def rename(name: str) -> str:
            return self._counterparts.get(name, name)

        def is_different(name: str) -> bool:
            new_name = rename(name)
            has_both = name in old.texts and new_name in new.texts
            return has_both and with_names(old.texts[name], rename) != with_names(new.texts[new_name], str)

        def list_referring(name: str) -> list[str]:
            is_compared = Sides(name, rename(name)) in self._pairs
            return (
                [] if is_compared else [referring for referring in reached if name in old.references.get(referring, ())]
            )

        old, new, rewritten = self.context.old, self.context.new, self.context.rewritten
        if texts.old is None or texts.new is None:
            return None
        if sorted(with_names(text, rename) for text in texts.old) != sorted(
            with_names(text, str) for text in texts.new
        ):
            return None
        start = {name for text in texts.old for name in scan_references(text)} & rewritten
        reached = find_reachable(start, lambda name: rewritten.intersection(old.references.get(name, ())))
        around = find_reachable(filter(is_different, reached), list_referring)
        return [Sides(name, rename(name)) for name in around if name in start or not list_referring(name)]

    def _find_hidden_refusals(
        self, placed: PlacedChange, messages: MessagePair, below: Sequence[_Refusal], known: Sequence[_Refusal]
    ) -> Iterator[Reach]:
        """Yield what an undecided difference refuses besides the refusals `below` it and those `known` of its types elsewhere."""
        for sender, receiver in DIRECTIONS:
            inner = [(change, self._write_rest(change, sender)) for change, by in below if by == receiver]
            schemas = [write_inside(change.steps[len(placed.steps) :], rest, sender) for change, rest in inner]
            if schemas and all(schema is not None for schema in schemas):
                limit, rest = _make_unexplained(placed.change, sender), Schema({"not": {"allOf": schemas}})
                limit = replace(limit, demand=rest if limit.demand is None else {"anyOf": [limit.demand, rest]})
                reach = self._reach(replace(placed, change=limit), messages)
                if reach is not None and reach.witness is not None:
                    message, validator = reach.witness.value, self.context.validator
                    at = self._locate_refusal(placed, messages, receiver, message)
                    path = split_pointer(at)[len(validator.find_envelope(messages.routes, sender)) :]
                    pairs = self.context.walk.find_pairs(messages.pair, path, sender)
                    rests = (
                        self._write_rest(change, sender)
                        for change, by in known
                        if by == receiver and change.pair in pairs
                    )
                    culprits = (make_value_culprit({"not": schema}) for schema in rests if schema is not None)
                    tests = (validator.make_culprit_test(sender, culprit) for culprit in culprits)
                    yield from () if any(test(resolve(message, at)) for test in tests) else (reach,)

    def _write_rest(self, placed: PlacedChange, sender: Revision) -> Schema | bool | None:
        """A schema of a sender's values of a pair that are not refused because of a change; `None` if no schema expresses it."""
        if isinstance(placed.change, DemandChange):
            return placed.change.write_demand(get_opposite(sender))
        if placed.change.kind != "undecided":
            return KINDS[placed.change.kind].write_remainder(placed.change, placed.pair, sender)
        # A reference would lead to the sender's definition.
        return False if placed.pair.is_named else write_schema(placed.pair.on(get_opposite(sender)))

    def find_unexplained_refusals(self) -> Iterator[Reach]:
        """Yield what one revision refuses of the other's messages where no change inside explains the refusal."""
        for messages in self._whole:
            around = Declaration(messages.pair)
            root = PlacedChange(self._doubt(messages.pair), (), messages.pair, declaration=around, named=around)
            yield from (reach for _, reach in self._settle_inside(root, messages))
            yield from self._settle(root, messages, self._find_explained(messages.pair))

    def _doubt(self, pair: Pair) -> Change:
        """The change of a pair of which some values are refused without any other change."""
        old_at, new_at = self.context.old.locate_type(pair.old), self.context.new.locate_type(pair.new)
        return Change("undecided", detail="no rule explains the difference", old_at=old_at, new_at=new_at)

    def _settle_inside(self, root: PlacedChange, messages: MessagePair) -> Iterator[tuple[PlacedChange, Reach]]:
        """Yield what no finding explains of the refusals inside a pair: innermost first, which explains what is around."""
        refusals: dict[PlacedChange, set[Revision]] = {}
        for sender, receiver in DIRECTIONS:
            for placed in self._find_unexplained(root, sender):
                refusals.setdefault(placed, set()).add(receiver)
        inner: list[_Refusal] = []
        for placed, receivers in sorted(refusals.items(), key=lambda entry: -len(entry[0].steps)):
            explained: set[Revision] = {*REVISIONS}
            explained -= receivers
            explained |= {
                refusal.receiver for refusal in inner if refusal.placed.steps[: len(placed.steps)] == placed.steps
            }
            for reach in self._settle(placed, messages, explained):
                refusing = self._record_finding(placed, reach)
                self._answer(root, refusing)
                inner.extend(_Refusal(placed, receiver) for receiver in refusing)
                yield placed, reach

    def _find_unexplained(self, root: PlacedChange, sender: Revision) -> Iterator[PlacedChange]:
        """Yield doubts about the pairs inside a pair that refuse what a sender has and that no finding explains."""
        context, receiver = self.context, get_opposite(sender)
        pending, visited = [root], {root.pair}
        for around in pending:  # which grows
            for step, pair in self._different[around.pair]:
                if pair in visited:
                    continue
                visited.add(pair)
                steps = (*around.steps, step)
                declaration = Declaration(pair, len(steps)) if pair.is_named else around.declaration
                named = declaration if context.walk.is_declared(pair) else around.named
                pending.append(PlacedChange(self._doubt(pair), steps, pair, declaration=declaration, named=named))
                is_open = receiver not in self._find_explained(pair)
                if is_open and context.acceptance.is_included(root.pair, sender) == "yes":
                    return
                if is_open and context.acceptance.is_included(pair, sender) == "no":
                    yield pending[-1]

    def _find_explained(self, pair: Pair) -> set[Revision]:
        """The revisions whose refusals of a pair are explained by the findings of the pair and of the pairs inside it."""
        if not self._explained:
            inner_pairs = {node: [*self._list_changed(node)] for node in self.context.walk.nodes}
            self._explained = {
                side: find_sources(
                    (node for node, sides in self._answered.items() if side in sides), inner_pairs
                ).keys()
                for side in REVISIONS
            }
        return {side for side in REVISIONS if pair in self._explained[side]}

    def _answer(self, placed: PlacedChange, revisions: Iterable[Revision]) -> None:
        """Record that a finding explains what these revisions refuse of a pair."""
        explained = self._answered.setdefault(placed.pair, set())
        count = len(explained)
        explained.update(revisions)
        if len(explained) > count:
            self._explained = {}

    def _record_finding(self, placed: PlacedChange, reach: Reach) -> Sequence[Revision]:
        """Record what a finding explains, and return the revisions that refuse something because of it."""
        witness = reach.witness.refused_by if reach.witness is not None else None
        refusing = tuple(dict.fromkeys((*reach.refuses, *((witness,) if witness is not None else ()))))
        self._answer(placed, (*refusing, *reach.doubtful))
        return refusing

    def _find_tolerant(self, change: Change, messages: MessagePair) -> tuple[Revision, ...]:
        """The revision that refuses the values of a change although this breaks nothing; empty if there is none.

        Either its receivers tolerate unknown values, or the sender's object declares no members and is no map, so that nothing is sent
        in it.
        """
        old, new = self.context.old.stable_schemas, self.context.new.stable_schemas
        if change.what in ("value-added", "variant-added"):
            return ("old",) if change.within.old.openness == "tolerated" else ()
        if change.what == "field-added" and _is_empty(change.within.old, old, messages):
            return ("new",)
        if change.what == "field-removed" and _is_empty(change.within.new, new, messages):
            return ("old",)
        return ()

    def _list_changed(self, pair: Pair) -> Iterator[Pair]:
        walk = self.context.walk
        children = walk.nodes[pair].children if pair in walk.nodes else ()
        return (child for _, child in children if walk.is_changed(child))

    def _settle(self, placed: PlacedChange, messages: MessagePair, explained: Collection[Revision]) -> Iterator[Reach]:
        """Settle a doubt with the prover.

        Nothing is yielded if both directions are proven or explained, otherwise a finding with a message, otherwise the doubt itself.
        """
        doubtful: list[Revision] = []
        limits: list[LimitChange] = []
        for sender, receiver in DIRECTIONS:
            if receiver in explained or self.context.acceptance.is_included(messages.pair, sender) == "yes":
                continue
            limit = _make_unexplained(placed.change, sender)
            reach = self._reach(replace(placed, change=limit), messages)
            if reach is not None and reach.witness is not None:
                limits.append(limit)
            elif reach is not None:
                doubtful.append(receiver)
        if limits:
            yield from self._check_each_way(replace(placed, change=join_limits(limits)), messages)
        if doubtful and (doubt := self._reach(placed, messages)) is not None:
            yield replace(doubt, doubtful=tuple(doubtful))

    def _check_each_way(self, placed: PlacedChange, messages: MessagePair) -> Iterator[Reach]:
        """Yield the findings of a change: one, or one for each direction if the change has two and only one of them is refused."""
        whole, parts = self._reach(placed, messages), placed.change.split()
        reaches = [whole]
        if len(parts) > 1 and not placed.free and (whole is None or len(whole.refuses) < len(parts)):
            reaches = [self._reach(replace(placed, change=part), messages) for part in parts]
        yield from (reach for reach in reaches if reach is not None)

    def _locate_refusal(self, placed: PlacedChange, messages: MessagePair, receiver: Revision, message: ir.JSON) -> str:
        """The pointer to the innermost refusal in a message along the way to a change and below it."""
        sender, validator = get_opposite(receiver), self.context.validator
        change_path = (
            *validator.find_envelope(messages.routes, sender),
            *(step.on(sender) for step in placed.steps if step.kind in INNER),
            *([placed.change.name] if placed.change.name else []),
        )

        def is_there(path: Path) -> bool:
            # Any item or member has no name.
            return all(step in ("", name) for step, name in zip(change_path, path, strict=False))

        return validator.locate_refusal(messages.routes, receiver, message, is_there)

    def _reach(self, original: PlacedChange, messages: MessagePair) -> Reach | None:
        """The finding of a change; `None` if it is proven that nothing is refused."""
        context, change = self.context, original.change
        if isinstance(change, FormatChange) and context.formats and not original.free:
            change = self._with_refused_texts(change)
        if isinstance(change, FieldChange):
            example = self._make_example(change) if change.by else change
            if example is None:
                return None
            is_alone = example.what != "field-changed"
            is_mark = messages.advertises and not example.part.name.startswith("_")
            change = replace(example, harmless=True) if is_alone and (original.free or is_mark) else example
        placed = replace(original, change=change)
        judgement = judge(change)
        text = judgement.message
        receiver = Receiver(context, placed, messages)
        received = receiver.receive(judgement)
        witness = None if received is None else received.witness
        if placed.free and (witness is None or witness.refused_by is None):
            if is_meaningless(change) and context.is_included(placed.pair, declared=False):
                return None
            judgement = judge_as_misread(judgement, change)
            received = receiver.receive(judgement)
        if judgement.effect == "taken" and (received is None or received.witness is None):
            assert isinstance(change, FieldChange)
            return self._reach(replace(original, change=replace(change, harmless=True)), messages)
        if received is None:
            return None
        judgement, witness = received
        if isinstance(change, LimitChange) and witness is not None and witness.refused_by is not None:
            place = self._locate_refusal(placed, messages, witness.refused_by, witness.value)
            judgement = judge(replace(change, detail=place))
        location = write_location(messages.new, placed.steps, context.new)
        place = extend_location(location, judgement.within)
        at, cause = declare(context, placed, messages, place, judgement.within, text)
        reach = context.reach(judgement, messages, replace(change, **at), location, witness, cause=cause)
        if isinstance(change, FormatChange) and change.doubtful:
            reach = replace(reach, doubtful=tuple(dict.fromkeys((*reach.doubtful, *change.doubtful))))
        if reach.sender is None or placed.free:
            return reach
        sender = get_opposite(reach.sender)  # the change may be refused in the opposite direction, too
        culprit = receiver.find_culprit(sender)
        if culprit is None or receiver.find_refusal(culprit, sender)[1] is None:
            return reach
        opposite_break = describe_break(replace(judgement, accepted_by=sender, carried_by=None), messages)
        breaks = "; ".join(filter(None, dict.fromkeys((reach.breaks, opposite_break))))
        return replace(reach, refuses=(*reach.refuses, reach.sender), breaks=breaks)

    def _make_example(self, change: FieldChange) -> FieldChange | None:
        """The change with an example of a name that matches its pattern and that the other revision does not declare; `None` if there is
        none.
        """
        names: Schema = {"pattern": change.pattern} if change.pattern else {"const": change.part.name}
        patterns = ({"pattern": pattern} for pattern in change.opposite_patterns)
        opposite_names: Schema = {"anyOf": [{"enum": list(change.opposite_names)}, *patterns]}
        sender: Revision = "old" if change.new is None else "new"
        relation = self.context.acceptance.include({"type": "string", **names}, opposite_names, sender)
        if relation.verdict.value == "yes":
            return None
        name = relation.witness.value if relation.witness is not None else change.part.name
        example = replace(change.part, name=str(name))
        return replace(change, old=example) if change.new is None else replace(change, new=example)

    def _with_refused_texts(self, change: FormatChange) -> FormatChange:
        """A changed format with the texts that it refuses, as far as they are known."""
        if change.keyword != "format":
            return change
        unknown = sorted(
            {string.format for strings in change.within for string in strings if string.format} - FORMATS.keys()
        )
        if unknown or not all(change.within):
            name = unknown[0] if unknown else change.new or change.old
            return replace(change, doubtful=("new", "old"), detail=f"what the format {name!r} refuses is not known")
        refused_texts: list[tuple[Revision, str]] = []
        doubtful: dict[Revision, str] = {}
        for sender, receiver in DIRECTIONS:
            strings, accepted = change.within.on(sender), change.within.on(receiver)
            likely = [text for string in strings for text in sample_texts.suggest_for_format(string.format)]
            # A receiver that has a single one is asked about its format alone: its limits are reported elsewhere.
            formats = [replace(ir.String(), format=accepted[0].format)] if len(accepted) == 1 else accepted
            accepted_schema: Schema = {"anyOf": [write_schema(string) for string in formats]}
            sent_schema: Schema = {"anyOf": [write_schema(string) for string in strings]}
            relation = self.context.acceptance.include(
                {"allOf": [sent_schema, {"enum": likely}]}, accepted_schema, sender
            )
            if not likely or relation.witness is None:
                relation = self.context.acceptance.include(sent_schema, accepted_schema, sender)
            if relation.witness is not None and isinstance(relation.witness.value, str):
                refused_texts.append((sender, relation.witness.value))
            elif relation.verdict.value != "yes":
                doubtful[receiver] = relation.reason
        doubt = next(iter(doubtful.values()), "")
        return replace(change, refused=tuple(refused_texts), doubtful=tuple(doubtful), detail=doubt)


def _make_unexplained(change: Change, sender: Revision) -> LimitChange:
    limit = make_unexplained_limit(sender, {"old_at": change.old_at, "new_at": change.new_at})
    if not isinstance(change, DemandChange):
        return limit
    return replace(limit, name=change.name, demand=change.write_demand(get_opposite(sender)))


def _is_empty(objects: Objects, schemas: Mapping[str, Schema], messages: MessagePair) -> bool:
    return (messages.advertises or not objects.is_map) and declares_nothing(objects, schemas)


# --- where it is declared --------------------------------------------------------------------------------------------


def declare(
    context: Context, placed: PlacedChange, messages: MessagePair, place: str, within: str, text: str
) -> tuple[ChangePlaces, Cause]:
    """The places of a change on both sides, and its cause.

    Without a place of its own, a change has that of the declaration around it. The cause is identified by the nearest declarations, which
    are the same in every message that contains them. `place` is the place in the message, `within` what it names inside the pair.
    """
    declaration, named = (declaration or Declaration(placed.pair) for declaration in (placed.declaration, placed.named))
    at = _locate_declaration(context, placed)
    around = context.locate(*(name or "" for name in declaration.names))
    is_placed = bool(placed.change.old_at or placed.change.new_at)
    nearest = next((n for n, step in reversed(list(enumerate(placed.steps, 1))) if step.old_at or step.new_at), 0)
    is_at_declaration = not is_placed and nearest <= declaration.depth
    first, second = (around, at) if is_at_declaration else (at, around)
    places = ChangePlaces(old_at=first["old_at"] or second["old_at"], new_at=first["new_at"] or second["new_at"])
    if nearest and placed.steps[nearest - 1].kind == "value":
        nearest -= 1  # what stands there is the record, not its member
    below = write_path(placed.steps[len(placed.steps) if is_placed else max(nearest, declaration.depth) :])
    owners: Iterable[str | None] = declaration.names
    if not is_at_declaration:
        owners = ("".join(context.old.find_owner(at["old_at"])), "".join(context.new.find_owner(at["new_at"])))
    is_inherited = (at["old_at"], at["new_at"]) != (placed.old_at, placed.new_at)
    declared = [
        side.find_owner_or_root(place) if is_inherited else side.find_owner(place, declared=True)
        for side, place in ((context.new, at["new_at"]), (context.old, at["old_at"]))
        if place
    ]
    is_own = is_at_declaration or not declared or bool({name for name, _ in declared} & {*named.names, ""})
    key = (*owners, extend_location(below, within))
    if messages.new.part == "document" and named.depth == 0 and is_own:
        return places, Cause(place, key, text)
    if is_own and (None not in named.names or not any(rest for _, rest in declared)):
        label = (named.names.new or named.names.old or "") + write_path(placed.steps[named.depth :])
    else:
        name, rest = max(declared, key=lambda owner: len(owner[1]))
        label = name + list_fields(rest) + below
    is_whole = bool(within) and label.endswith(f".{within}")
    return places, Cause(label if is_whole else extend_location(label, within), key, text)


def _locate_declaration(context: Context, placed: PlacedChange) -> ChangePlaces:
    """The places of a change in both revisions.

    If one side declares it in a base that the record refers to, and the other side only has the place of the whole record, the base is
    the place on the other side too.
    """
    at: dict[Revision, str] = {"old": placed.old_at, "new": placed.new_at}
    for revision, opposite in DIRECTIONS:
        side = context.revisions.on(revision)
        holder, rest = side.find_owner(at[revision])
        base, _ = context.revisions.on(opposite).find_owner_or_root(at[opposite])
        if holder and not rest and base != holder and base in find_closure(side, [holder]):
            at[revision] = side.bundle.origins.get(base, at[revision])
    return {"old_at": at["old"], "new_at": at["new"]}
