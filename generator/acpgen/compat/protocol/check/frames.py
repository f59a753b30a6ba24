"""Changes around the content of messages: in definitions of whole messages, in envelopes, and in roots.

The frame of a message is everything besides its content: params, results and errors are compared separately and may be anything here. A
definition that is referenced for the same message is part of the frame: the base of an event as well as the event itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from acpgen import ir
from acpgen.compat.changes import Change, ChangePlaces, make_unexplained_limit
from acpgen.compat.findings import Reach, Revision, Sides, get_opposite
from acpgen.compat.protocol.check.counterparts import (
    DIRECTIONS,
    Cause,
    MessagePair,
    find_closure,
    find_message,
    list_branch_names,
    list_framing,
    make_document_pair,
    make_method_pair,
)
from acpgen.compat.protocol.messages import Route
from acpgen.compat.protocol.revision import NOT_NULL, SchemaRevision
from acpgen.compat.protocol.sender_schemas import declares_batches, list_member_names
from acpgen.compat.rules import judge
from acpgen.input.walk import Schema, is_object, list_references
from acpgen.meaning import envelopes
from acpgen.pointers import write_reference

if TYPE_CHECKING:
    from acpgen.compat.protocol.check.context import Context
    from schema_inclusion import Relation

Kind: TypeAlias = "tuple[ir.Method | None, envelopes.Held]"
"""Messages of one kind: the calls of a method or, without a method, responses with a result or an error."""


class Frame(Struct, frozen=True):
    """Schemas of both revisions that frame messages and that differ.

    `names` are their definitions, empty for roots. `kinds` are the messages on each side, none for an envelope, which frames many kinds.
    `messages` says where a finding is, `at` its places.
    """

    schemas: Sides[Schema]
    messages: MessagePair
    at: ChangePlaces
    names: Sides[str] = Sides("", "")
    kinds: tuple[Sides[Kind], ...] = ()

    def ask(self, context: Context, sender: Revision, *, declared: bool = True) -> Relation:
        """Whether the messages of one revision fit into the frame of the other.

        With `declared`, only members that the schema or the envelope of the protocol mentions are sent, and extensions, in batches too if
        a root mentions arrays.
        """
        receiver = get_opposite(sender)
        side, frame, accepted = context.revisions.on(sender), self.schemas.on(sender), self.schemas.on(receiver)
        contents = context.contents.on(receiver)
        accepted_schema = context.revisions.on(receiver).write_frame(accepted, contents, frame)
        sent_schemas = [frame]
        if declared:
            kinds: list[Kind | None] = [pair.on(sender) for pair in self.kinds] or [None]
            members, patterns = list_member_names(frame, side.stable_schemas)
            plain = [_restrict(members.keys(), patterns, side, kind) for kind in kinds]
            is_reported = context.old.protocol.batch != context.new.protocol.batch
            if not (self.names.on(sender) or is_reported) and declares_batches(frame, side.stable_schemas):
                plain.append({"type": "array", "items": {"anyOf": [*plain]}})
            sent_schemas = [{"allOf": [frame, schema]} for schema in plain]
        relations = [context.acceptance.include(schema, accepted_schema, sender) for schema in sent_schemas]
        return max(relations, key=lambda relation: ("yes", "undecided", "no").index(relation.verdict.value))

    def locate_refusal(self, context: Context, receiver: Revision, message: ir.JSON) -> str:
        """The pointer to the innermost refusal in a message outside of its content."""
        contents = {_get_content(context.new, kinds.new) for kinds in self.kinds} or {*envelopes.CONTENTS}
        return context.validator.locate_refusal(
            self.messages.routes, receiver, message, lambda path: contents.isdisjoint(path[:2])
        )


_MEMBERS: Final = ("jsonrpc", "id", *envelopes.CONTENTS)
_ID: Final[Schema] = {"type": ["string", "integer"]}
"""The identifiers that every peer may use: JSON-RPC advises against null."""
_TELLING: Final = ("method", "result", "error")
"""The members by which an envelope tells what kind of message it is."""


def _restrict(names: AbstractSet[str], patterns: Iterable[str], side: SchemaRevision, kind: Kind | None) -> Schema:
    """What a sender sends of a frame: messages of the kind, with members that the frame or the envelope mentions, and extensions.

    `names` and `patterns` are those of the members that the frame mentions.
    """
    plain: Schema = {}
    if kind is not None:
        method, part = kind
        envelope = side.protocol.envelope
        content = _get_content(side, kind)
        plain = envelopes.make_frame(envelope, method, part, NOT_NULL)  # null is for the content to decide
        plain["required"] = [name for name in plain["required"] if name != content or method is None]
        if "id" not in names and plain["properties"].get("id"):
            plain["properties"]["id"] = _ID
        names |= {*plain["properties"], content}
    elif not names.isdisjoint(_TELLING):
        names |= {*_MEMBERS}
    elif not names:
        return {}
    allowed = [{"enum": sorted(names)}, *({"pattern": pattern} for pattern in patterns), {"pattern": "^_"}]
    return {**plain, "propertyNames": {"anyOf": allowed}}


def _get_content(side: SchemaRevision, kind: Kind) -> str:
    """The member that holds the content of messages of a kind."""
    method, part = kind
    return part if method is None else envelopes.get_key(side.protocol.envelope, method, part)


def find_frames(context: Context) -> Iterator[Frame]:
    """Yield the frames that differ between the revisions: of definitions of whole messages, of envelopes with the same name, of roots."""
    old, new = context.old, context.new
    for before, after in context.methods:
        old_name, new_name = find_message(old, before), find_message(new, after)
        if old_name is None or new_name is None:
            continue
        names, schemas = Sides(old_name, new_name), Sides(_refer(old_name), _refer(new_name))
        if _are_different(context, schemas):
            documents, base = make_document_pair(old_name, new_name, new_name), _find_base(context, names)
            pair = make_method_pair(before, after, "params", new.protocol.sides)
            messages = replace(pair, old=documents.old, new=documents.new)
            at = context.locate(base or old_name, base or new_name)
            yield Frame(schemas, messages, at, names, (Sides((before, "params"), (after, "params")),))
    for name in sorted(old.bundle.framing & new.bundle.framing):
        old_frame, new_frame = old.bundle.definitions[name], new.bundle.definitions[name]
        is_union = bool(list_branch_names(old_frame) or list_branch_names(new_frame))
        if is_union or _carries(old_frame) != _carries(new_frame):
            continue
        if _are_different(context, schemas := Sides(_refer(name), _refer(name))):
            messages, at = make_document_pair(name, name, name), context.locate(name, name)
            yield Frame(schemas, messages, at, Sides(name, name))
    if old.roots is None or new.roots is None or old.roots.definitions:
        return
    schemas = Sides(old.root_frame, new.root_frame)
    if _are_different(context, schemas):
        kinds: list[Sides[Kind]] = [Sides((before, "params"), (after, "params")) for before, after in context.methods]
        answers: tuple[Kind, ...] = ((None, "result"), (None, "error"))
        kinds += [Sides(answer, answer) for answer in answers]
        root = Route("root", None)
        yield Frame(schemas, MessagePair(root, root), context.locate_roots(), kinds=tuple(kinds))


def _refer(name: str) -> Schema:
    return {"$ref": write_reference(name)}


def _are_different(context: Context, schemas: Sides[Schema]) -> bool:
    """Whether frames differ in their own text or in that of a definition that they refer to outside of the content."""

    def collect_texts(revision: Revision) -> dict[str, str]:
        side = context.revisions.on(revision)
        names = find_closure(side, list_references(schemas.on(revision)), context.contents.on(revision))
        return {name: side.texts[name] for name in names if name in side.texts}

    return schemas.old != schemas.new or collect_texts("old") != collect_texts("new")


def _carries(schema: Schema) -> bool:
    """Whether a schema is an envelope of requests, notifications or responses."""
    return any(key in form.get("properties", {}) for form in _list_forms(schema) for key in _TELLING)


def _list_forms(schema: Schema) -> list[Schema]:
    return [schema, *(branch for branch in schema.get("anyOf", ()) if is_object(branch))]


# --- findings --------------------------------------------------------------------------------------------------------


def find_differences(context: Context) -> Iterator[Reach]:
    """Yield the changes in what definitions of whole messages, envelopes and roots require besides the content."""
    validator = context.validator
    for frame in context.frames:
        label = context.new.find_owner(frame.at["new_at"])[0] if frame.names.old else ""
        doubtful: list[Revision] = []
        for sender, receiver in DIRECTIONS:
            relation = frame.ask(context, sender)
            if relation.verdict.value == "yes":
                continue
            witness = validator.make_witness(frame.messages.routes, sender, relation.witness, is_refused=True)
            if witness is None:
                doubtful.append(receiver)
                continue
            place = frame.locate_refusal(context, receiver, witness.value)
            change = replace(make_unexplained_limit(sender, frame.at), detail=place)
            judgement = judge(change)
            cause = Cause(label, (label, sender), judgement.message)
            yield context.reach(judgement, frame.messages, change, frame.names.new, witness, cause=cause)
        if doubtful:
            yield context.report_not_compared(
                frame.names.new, "what surrounds the content of messages", doubtful, frame.at
            )


def _find_base(context: Context, names: Sides[str]) -> str:
    """The base definition that differs, if the definitions of the messages themselves do not."""
    old, new = context.old.demands, context.new.demands
    if old[names.old] != new[names.new]:
        return ""
    before = find_closure(context.old, [names.old], context.contents.old)
    after = find_closure(context.new, [names.new], context.contents.new)
    bases = (name for name in new if name in before & after and name not in names)
    return next((name for name in bases if old[name] != new[name]), "")


def find_unnamed(context: Context, findings: Sequence[Reach]) -> Iterator[Reach]:
    """Yield the differences of definitions that frame messages, or are a union of these, that no finding names.

    They are written differently or exist in one revision only.
    """
    renames = context.walk.find_renames()
    alone = context.old.bundle.definitions.keys() ^ context.new.bundle.definitions.keys()
    reported_places = {
        place for finding in findings if finding.rule != "text-reworded" for place in (finding.old_at, finding.new_at)
    }
    for name in dict.fromkeys((*list_framing(context.old), *list_framing(context.new))):
        at = context.locate(name, name)
        places = [place for place in (at["old_at"], at["new_at"]) if place]
        if not reported_places.isdisjoint(places) or name in {*renames, *renames.values()}:
            continue
        if len(places) < 2:
            if name not in {*context.cover.gone, *context.cover.added}:
                yield _report_unpaired(context, name, "old" if at["old_at"] else "new")
        elif context.old.write_demands(name, renames, alone) != context.new.write_demands(name, {}, alone):
            yield context.report_editorial(Change("structure", name=name, detail="carried", **at))


def _report_unpaired(context: Context, name: str, revision: Revision) -> Reach:
    """The finding of a definition that frames messages in one revision only: whether it refuses any well-formed message."""
    side, at = context.revisions.on(revision), context.locate(name, name)
    schema = side.bundle.definitions[name]
    if name in side.bundle.framing and not list_branch_names(schema):
        if not _carries(schema):
            old, new = (name, None) if revision == "old" else (None, name)
            return context.report_definition(Change("definition", old, new, **at), name)
        sent_schema = _write_plain_messages(schema, [method.name for method in side.methods])
        accepted_schema = side.write_frame(schema, context.contents.on(revision), schema)
        if context.acceptance.include(sent_schema, accepted_schema, get_opposite(revision)).verdict.value != "yes":
            return context.report_not_compared(name, "the message envelope is only in one revision", [revision], at)
    return context.report_editorial(Change("structure", name=name, detail="carried", **at))


def _write_plain_messages(envelope: Schema, methods: Sequence[str]) -> Schema:
    """The JSON-RPC 2.0 messages of the kinds that an envelope frames, with all members of such messages, and any content but null."""
    members = {key for form in _list_forms(envelope) for key in _TELLING if key in form.get("properties", {})}
    content = dict.fromkeys(envelopes.CONTENTS, NOT_NULL)
    version: Schema = {"type": "object", "properties": {"jsonrpc": {"const": "2.0"}, "id": _ID, **content}}
    kinds: list[Schema] = []
    if "method" in members:
        method: Schema = {"enum": [*dict.fromkeys(methods)]} if methods else {"type": "string"}
        properties: Schema = {**version["properties"], "method": method}
        kinds.append({**version, "properties": properties, "required": ["jsonrpc", "id", "method", "params"]})
    kinds += [{**version, "required": ["jsonrpc", "id", key]} for key in ("result", "error") if key in members]
    names = sorted({"method", *_MEMBERS})
    return {"anyOf": [{**kind, "propertyNames": {"enum": names}} for kind in kinds]}
