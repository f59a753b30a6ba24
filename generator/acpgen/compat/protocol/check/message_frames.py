"""Changes around the params and results of messages: envelopes, definitions of whole messages, roots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from acpgen.compat.changes import Change, ChangePlaces, LimitChange, unexplained_limit
from acpgen.compat.findings import Reach, Revision, Witness, opposite
from acpgen.compat.protocol.check.context import Cause, Context
from acpgen.compat.protocol.check.message_pairs import DIRECTIONS, MessagePair, document_pair, method_pair, root_of
from acpgen.compat.protocol.definition_coverage import framing
from acpgen.compat.protocol.frames import (
    FrameDifference,
    carries,
    content_schemas,
    find_envelopes,
    in_place,
    plain_messages,
    sent_envelope,
)
from acpgen.compat.protocol.messages import Route
from acpgen.compat.rules import judge
from schema_inclusion import Relation


def of_envelopes(context: Context) -> Iterator[Reach]:
    """Yield the changes in the envelopes that both revisions have under the same name."""
    for name, schemas in context.envelopes:
        pair = document_pair(name, name, name)
        at = context.places(name, name)
        for sender, receiver in DIRECTIONS:
            relation = context.acceptance.include(sent_envelope(schemas[sender]), schemas[receiver], sender)
            refused = _refusal(context, relation, pair, sender, at)
            if refused is not None:
                change, witness = refused
                if witness is not None:
                    yield context.reach(*judge(change), pair, change, name, witness)
                else:
                    doubt = Change("undecided", detail="the envelope cannot be compared", **at)
                    yield context.of_definition(doubt, name, [receiver])


def of_whole_messages(context: Context) -> Iterator[Reach]:
    """Yield the changes in what definitions of whole messages require besides params and result."""
    for each in context.frames:
        if each.old.method is None or each.new.method is None or each.of_root:
            continue
        (one, other), at = each.names, each.places(context.old, context.new)
        pair = replace(
            method_pair(each.old.method, each.new.method, "params", context.new.protocol.sides),
            old=(Route("document", None, one), one),
            new=(Route("document", None, other), other),
        )
        doubtful: list[Revision] = []
        for sender, receiver in DIRECTIONS:
            refused = _refusal(context, _fits(context, each, sender), pair, sender, at)
            if refused is None:
                continue
            change, witness = refused
            if witness is None:
                doubtful.append(receiver)
                continue
            rule, judgement = judge(change)
            cause = Cause(each.base or other, (each.base or other, sender), judgement.message)
            yield context.reach(rule, judgement, pair, change, other, witness, cause=cause)
        if doubtful:
            yield context.not_compared(other, "the message around params or result", doubtful, at)


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
        yield context.not_compared("", "the root schema constrains every message differently", [*doubtful], at)
    before, after = context.old.roots.unread, context.new.roots.unread
    for key in dict.fromkeys((*before, *after)):
        if before.get(key) != after.get(key):
            yield context.not_compared(key, f"the content of {key!r} is not read", None, at)


def _refusal(
    context: Context, relation: Relation, pair: MessagePair, sender: Revision, at: ChangePlaces
) -> tuple[LimitChange, Witness | None] | None:
    """The change that messages may be refused, with the place and the message that shows it if one was found; `None` if none is."""
    if relation.verdict.value == "yes":
        return None
    change, validator = unexplained_limit(sender, at), context.validator
    witness = None if relation.witness is None else validator.proof(pair.sides, relation.witness.value, sender)
    place = "" if witness is None else validator.refused_at(pair.sides, opposite(sender), witness.value)
    return replace(change, detail=place), witness


def _fits(context: Context, each: FrameDifference, sender: Revision) -> Relation:
    """Whether what one revision sends of a kind of message fits into the frame of the other; if not, asked again with whole messages."""
    relation = context.acceptance.include(*each.question(sender, declared=True), sender)
    if relation.verdict.value == "yes" or each.of_root:
        return relation
    return context.acceptance.include(*each.question(sender, declared=True, whole=True), sender)


def of_frames(context: Context, findings: Sequence[Reach]) -> Iterator[Reach]:
    """Yield the differences of definitions that frame messages, or are a union of these, that no finding names.

    They are written differently or exist in one revision only.
    """
    renames = context.walk.renames()
    alone = context.old.bundle.definitions.keys() ^ context.new.bundle.definitions.keys()
    reported_places = {
        place for each in findings if each.rule != "text-reworded" for place in (each.old_at, each.new_at)
    }
    for name in dict.fromkeys((*framing(context.old), *framing(context.new))):
        at = context.places(name, name)
        places = [place for place in (at["old_at"], at["new_at"]) if place]
        is_named = not reported_places.isdisjoint(places) or name in {*renames, *renames.values()}
        if len(places) < 2:
            if not is_named and name not in {*context.cover.gone, *context.cover.added}:
                yield _of_one(context, name, "old" if at["old_at"] else "new")
            continue
        old = in_place(context.old.without(name, alone), renames)
        new = in_place(context.new.without(name, alone), {})
        if old == new:
            continue
        content = content_schemas((old, new), [side.bundle.definitions[name] for side in (context.old, context.new)])
        if content and not context.acceptance.is_alike(*content):
            detail = "the constraints that the message envelope places on params and results"
            yield context.not_compared(name, detail, ["old", "new"], at)
        elif not is_named:
            yield context.editorial(Change("structure", name=name, detail="carried", **at))


def _of_one(context: Context, name: str, revision: Revision) -> Reach:
    """The finding of a definition that frames messages in one revision only: whether it refuses any well-formed message."""
    side, at = context.old if revision == "old" else context.new, context.places(name, name)
    schema = find_envelopes(side).get(name)
    if schema is not None and not carries(schema):
        names = (name, None) if revision == "old" else (None, name)
        return context.of_definition(Change("definition", *names, **at), name)
    if schema is not None:
        sent_schema = plain_messages(schema, [each.name for each in side.methods])
        if context.acceptance.include(sent_schema, schema, opposite(revision)).verdict.value != "yes":
            return context.not_compared(name, "the message envelope is only in one revision", [revision], at)
    return context.editorial(Change("structure", name=name, detail="carried", **at))
