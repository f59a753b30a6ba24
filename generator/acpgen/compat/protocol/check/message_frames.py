"""Changes around the params and results of messages: envelopes, definitions of whole messages, roots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from acpgen.compat.changes import Change, ChangePlaces, LimitChange, unexplained_limit
from acpgen.compat.findings import Reach, Revision, Witness, opposite
from acpgen.compat.protocol.check.context import Cause, Context
from acpgen.compat.protocol.check.message_pairs import DIRECTIONS, MessagePair, document_pair, root_of, sides_of
from acpgen.compat.protocol.definition_coverage import framing
from acpgen.compat.protocol.frames import (
    FrameDifference,
    carried_parts,
    carries,
    find_envelopes,
    in_place,
    plain_messages,
    sent_envelope,
    with_identifiers,
)
from acpgen.compat.protocol.messages import Route
from acpgen.compat.rules import judge
from acpgen.input.numbers import loads
from acpgen.input.walk import Schema
from schema_inclusion import Relation


def of_envelopes(context: Context) -> Iterator[Reach]:
    """Yield the changes in the envelopes that both revisions have under the same name."""
    for name, one, other in context.envelopes:
        pair = document_pair(name, name, name)
        at: ChangePlaces = {"old_at": context.old.bundle.origins[name], "new_at": context.new.bundle.origins[name]}
        for sender, receiver in DIRECTIONS:
            old, new = (sent_envelope(each) if by == sender else each for by, each in (("old", one), ("new", other)))
            relation = context.acceptance.between(old, new, sender)
            if relation.verdict.value == "yes":
                continue
            witness = _proof(context, relation, pair, sender)
            if witness is None:
                doubt = Change("undecided", detail="the envelope cannot be compared", **at)
                yield context.of_definition(doubt, name, [receiver])
            else:
                change = _refusal(context, pair, sender, witness, at)
                yield context.reach(*judge(change), pair, change, name, witness)


def of_whole_messages(context: Context) -> Iterator[Reach]:
    """Yield the changes in what definitions of whole messages require besides params and result."""
    for each in context.frames:
        if each.of_root:
            continue
        (one, other), at = each.names, each.places(context.old, context.new)
        method = each.kinds[1].method
        handler, callers = sides_of(method, context.new.protocol.sides) if method else ("", "")
        routes = (Route("document", None, one), one), (Route("document", None, other), other)
        pair = MessagePair(*routes, "both" if handler == callers else "to-handler", handler, callers)
        doubtful: list[Revision] = []
        for sender, receiver in DIRECTIONS:
            relation = _fits(context, each, sender)
            if relation.verdict.value == "yes":
                continue
            witness = _proof(context, relation, pair, sender)
            if witness is None:
                doubtful.append(receiver)
                continue
            change = _refusal(context, pair, sender, witness, at)
            rule, judgement = judge(change)
            cause = Cause(each.base or other, (each.base or other, sender), judgement.message)
            yield context.reach(rule, judgement, pair, change, other, witness, cause=cause)
        if doubtful:
            doubt = Change("not-compared", name=other, detail="the message around params or result", **at)
            yield context.of_definition(doubt, other, doubtful)


def of_roots(context: Context) -> Iterator[Reach]:
    """Yield the changes of root schemas besides their definitions: the frame of messages, if there are any, and unknown keywords."""
    if context.old.roots is None or context.new.roots is None:
        return
    at: ChangePlaces = {"old_at": root_of(context.old), "new_at": root_of(context.new)}
    doubtful: dict[Revision, None] = {
        receiver: None
        for each in context.frames
        for sender, receiver in DIRECTIONS
        if each.of_root and _fits(context, each, sender).verdict.value != "yes"
    }
    if doubtful:
        doubt = Change("not-compared", detail="the root schema constrains every message differently", **at)
        yield context.of_definition(doubt, "", [*doubtful])
    before, after = context.old.roots.unread, context.new.roots.unread
    for key in dict.fromkeys((*before, *after)):
        if before.get(key) != after.get(key):
            detail = f"the content of {key!r} is not read"
            yield context.of_definition(Change("not-compared", name=key, detail=detail, **at), key)


def _proof(context: Context, relation: Relation, pair: MessagePair, sender: Revision) -> Witness | None:
    if relation.witness is None:
        return None
    return context.validator.proof(pair.sides, relation.witness.value, sender)


def _refusal(context: Context, pair: MessagePair, sender: Revision, witness: Witness, at: ChangePlaces) -> LimitChange:
    """The change that a message is refused, with the place in it."""
    place = context.validator.refused_at(pair.sides, opposite(sender), witness.value)
    return replace(unexplained_limit(sender, at), detail=place)


def _fits(context: Context, each: FrameDifference, sender: Revision) -> Relation:
    """Whether what one revision sends of a kind of message fits into the frame of the other; if not, asked again with whole messages."""
    relation = context.acceptance.between(*each.question(sender, declared=True), sender)
    if relation.verdict.value == "yes" or each.of_root:
        return relation
    return context.acceptance.between(*each.question(sender, declared=True, whole=True), sender)


def of_frames(context: Context, findings: Sequence[Reach]) -> Iterator[Reach]:
    """Yield the differences of definitions that frame messages, or are a union of these, that no finding names.

    They are written differently or exist in one revision only.
    """
    renamed = context.walk.renames()
    alone = context.old.bundle.definitions.keys() ^ context.new.bundle.definitions.keys()
    reported_places = {
        place for each in findings if each.rule != "text-reworded" for place in (each.old_at, each.new_at)
    }
    names = [framing(side) for side in (context.old, context.new)]
    for name in dict.fromkeys((*names[0], *names[1])):
        sides = [side.bundle.origins.get(name, "") for side in (context.old, context.new)]
        at: ChangePlaces = {"old_at": sides[0], "new_at": sides[1]}
        is_named = any(place in reported_places for place in sides if place) or name in {*renamed, *renamed.values()}
        if not all(sides):
            if not is_named and name not in {*context.cover.gone, *context.cover.added}:
                yield _of_one(context, name, "old" if sides[0] else "new", at)
            continue
        old = in_place(loads(context.old.frame_text(name, renamed, alone)))
        new = in_place(loads(context.new.frame_text(name, {}, alone)))
        if old == new:
            continue
        inside = carried_parts(old), carried_parts(new)
        if all(inside) and not context.is_alike(*inside) and not context.is_alike(*_identified(context, name, *inside)):
            detail = "the constraints that the message envelope places on params and results"
            yield context.of_definition(Change("not-compared", name=name, detail=detail, **at), name, ["old", "new"])
        elif not is_named:
            yield context.editorial(Change("structure", name=name, detail="carried", **at))


def _identified(context: Context, name: str, old: Schema, new: Schema) -> tuple[Schema, Schema]:
    """The parts that the envelopes of a name carry, with the definitions of identifiers if these differ."""
    ours, theirs = (side.bundle.definitions[name] for side in (context.old, context.new))
    return with_identifiers(old, new, ours), with_identifiers(new, old, theirs)


def _of_one(context: Context, name: str, revision: Revision, at: ChangePlaces) -> Reach:
    """The finding of a definition that frames messages in one revision only: whether it refuses any well-formed message."""
    side = context.old if revision == "old" else context.new
    schema = find_envelopes(side).get(name)
    if schema is not None and not carries(schema):
        names = (name, None) if revision == "old" else (None, name)
        return context.of_definition(Change("definition", *names, **at), name)
    if schema is not None:
        sent_schema = plain_messages(schema, [each.name for each in side.methods])
        one, other = (schema, sent_schema) if revision == "old" else (sent_schema, schema)
        if context.acceptance.between(one, other, opposite(revision)).verdict.value != "yes":
            detail = "the message envelope is only in one revision"
            return context.of_definition(Change("not-compared", name=name, detail=detail, **at), name, [revision])
    return context.editorial(Change("structure", name=name, detail="carried", **at))
