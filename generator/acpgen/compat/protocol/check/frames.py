"""Changes around the content of messages: what a schema demands of whole messages, envelopes, and roots.

The frame of a message is everything besides its content: params, results and errors are compared separately and may be anything here. A
definition that is referenced for the same message is part of the frame: the base of an event as well as the event itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from acpgen import ir
from acpgen.compat.changes import Change, ChangePlaces, LimitChange, make_unexplained_limit
from acpgen.compat.findings import Reach, Revision, Witness, get_opposite
from acpgen.compat.protocol.check.counterparts import (
    DIRECTIONS,
    Cause,
    MessagePair,
    find_message,
    list_branch_names,
    list_framing,
    locate_root,
    make_document_pair,
    make_method_pair,
)
from acpgen.compat.protocol.messages import Route
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.compat.rules import judge
from acpgen.input.tagged_unions import find_branches, find_lone_reference, list_constants
from acpgen.input.walk import Schema, asserts, find_sources, is_array, is_object, list_references, without_prose
from acpgen.meaning import envelopes
from acpgen.pointers import read_reference, write_reference

if TYPE_CHECKING:
    from acpgen.compat.protocol.check.context import Context
    from schema_inclusion import Relation

_UNIONS: Final = ("anyOf", "oneOf")
_ANSWERS: Final[tuple[envelopes.Held, ...]] = ("result", "error")


class Frame:
    """What one revision demands of one kind of message, with its references inlined.

    The kind is the calls of a method or, without a method, responses with a result or an error. `names` are the members that the frame
    mentions, `bases` the definitions that were inlined, and `plain` is what the envelope of the protocol demands; the content may be
    missing.
    """

    def __init__(self, revised: SchemaRevision, schema: Any, method: ir.Method | None, held: envelopes.Held) -> None:
        """Make the frame of a schema, without the content and without branches for other kinds of messages."""
        envelope = revised.protocol.envelope
        self.method = method
        self.content = held if method is None else envelopes.get_key(envelope, method, held)
        plain = envelopes.make_frame(envelope, method, held, True)
        required = [name for name in plain["required"] if name != self.content or method is None]
        self.plain: Schema = {**plain, "required": required}
        self._tag = "method"
        if envelope == "dap":
            self._tag = "event" if method is not None and method.kind == "notification" else "command"
        others = {*(() if method is not None else (self._tag,)), *(() if envelope == "dap" else _ANSWERS)}
        self._members_of_others = others - {self.content}
        self._definitions = revised.demands
        self.names: dict[str, None] = {}
        self.bases: dict[str, None] = {}
        whole = self._expand(without_prose(schema), ())
        self.schema: Schema = whole if is_object(whole) else {"not": {}}

    def write_sent(self, *, declared: bool) -> Schema:
        """What is sent of the messages: with `declared`, only members that the schema or the envelope mentions, and extensions."""
        if not declared:
            return self.schema
        names = [{"enum": sorted({*self.names, *self.plain["properties"], self.content})}, {"pattern": "^_"}]
        return {"allOf": [self.schema, self.plain], "propertyNames": {"anyOf": names}}

    def write_accepted(self, sent: Frame) -> Schema:
        """What is accepted of another frame: any identifier if the sender does not declare its own, for these are compared separately."""
        schema: Schema = self.schema if "id" in sent.names else _without_id(self.schema)
        return schema

    def _expand(self, schema: Any, around: tuple[str, ...]) -> Schema | bool:
        """A schema with its references inlined; `around` are the definitions that contain it."""
        if not is_object(schema):
            return schema is not False
        expanded = {key: value for key, value in schema.items() if key not in ("$ref", "allOf", *_UNIONS)}
        properties = expanded.get("properties")
        if is_object(properties):
            self.names |= dict.fromkeys(properties)
            free = {name for name, each in properties.items() if name == "id" and _is_reference(each)} | {self.content}
            expanded["properties"] = {name: name in free or each for name, each in properties.items()}
        parts = [self._expand(each, around) for each in schema.get("allOf", ())]
        name = read_reference(schema["$ref"]) if isinstance(schema.get("$ref"), str) else None
        if name is not None and name in self._definitions and name not in around:
            self.bases[name] = None
            parts.append(self._expand(self._definitions[name], (*around, name)))
        elif name is not None and name not in around:
            parts.append({"$ref": schema["$ref"]})
        unions = [[*self._list_branches(schema[keyword], around)] for keyword in _UNIONS if keyword in schema]
        parts += [{"anyOf": each or [False]} for each in unions]
        return {**expanded, **({"allOf": parts} if parts else {})}

    def _list_branches(self, branches: Any, around: tuple[str, ...]) -> Iterator[Schema | bool]:
        """Yield the branches that may be of this kind.

        A branch that other branches exclude counts, because the content may distinguish them.
        """
        for each in branches:
            names, bases = dict(self.names), dict(self.bases)
            branch = self._expand(each, around)
            if self._is_of_another(branch):
                self.names, self.bases = names, bases
            else:
                yield branch

    def _is_of_another(self, schema: Schema | bool) -> bool:
        """Whether a branch is for batches, for another method, or for calls or responses when these are not asked about."""
        if not is_object(schema):
            return not schema
        if schema.get("type") == "array" or not self._members_of_others.isdisjoint(schema.get("required", ())):
            return True
        branches = schema.get("anyOf")
        method_names = list_constants(schema.get("properties", {}).get(self._tag))
        if self.method is not None and method_names is not None and self.method.name not in method_names:
            return True
        if branches and all(map(self._is_of_another, branches)):
            return True
        return any(map(self._is_of_another, schema.get("allOf", ())))


def _without_id(schema: Any) -> Any:
    """The same frame with any identifier."""
    if not is_object(schema):
        return schema
    parts = {key: [*map(_without_id, schema[key])] for key in ("allOf", "anyOf") if key in schema}
    properties = schema.get("properties")
    free = {"properties": {**properties, "id": True}} if is_object(properties) and "id" in properties else {}
    return {**schema, **parts, **free}


def _is_reference(schema: Any) -> bool:
    """Whether a schema only refers to a definition, possibly as the only branch of a union."""
    union = find_branches(schema) if is_object(schema) else None
    if union is not None and len(union[1]) == 1 and {key for key in schema if asserts(key)} == {union[0]}:
        return _is_reference(union[1][0])
    return find_lone_reference(schema) is not None


# --- of two revisions ------------------------------------------------------------------------------------------------


class FrameDifference(Struct, frozen=True):
    """One kind of message whose frames differ between two revisions.

    `names` are its definitions, empty if the root frames it. `base` is the definition that differs, if it is not that of the message
    itself.
    """

    old: Frame
    new: Frame
    names: tuple[str, str]
    base: str = ""

    @property
    def of_root(self) -> bool:
        return self.names == ("", "")

    def write_question(self, sender: Revision, *, declared: bool, whole: bool = False) -> tuple[Schema, Schema]:
        """The question whether messages of one revision fit into the frame of the other: what is sent and what is accepted.

        With `whole`, the messages include their content.
        """
        one, other = (self.old, self.new) if sender == "old" else (self.new, self.old)
        sent_schema = one.write_sent(declared=declared)
        if whole:
            name = self.names[0 if sender == "old" else 1]
            sent_schema = {"allOf": [sent_schema, {"$ref": write_reference(name)}]}
        return sent_schema, other.write_accepted(one)


def find_frame_differences(
    old: SchemaRevision, new: SchemaRevision, methods: Iterable[tuple[ir.Method, ir.Method]], rewritten: frozenset[str]
) -> Iterator[FrameDifference]:
    """Yield the kinds of messages whose frames differ between two revisions, by definitions of their own or by their roots.

    `methods` are those of both revisions, `rewritten` the definitions that differ.
    """
    kinds: list[tuple[ir.Method | None, ir.Method | None, envelopes.Held]] = [(*each, "params") for each in methods]
    leading = [find_sources(rewritten, side.references) for side in (old, new)]

    def find_difference(
        kind: int, schemas: Sequence[Schema], names: tuple[str, str] = ("", "")
    ) -> Iterator[FrameDifference]:
        one, other, part = kinds[kind]
        before, after = Frame(old, schemas[0], one, part), Frame(new, schemas[1], other, part)
        sides = zip((before, after), leading, strict=True)
        inner = any(name in sources for side, sources in sides for name in list_references(side.schema))
        if before.schema != after.schema or inner:
            yield FrameDifference(before, after, names, _find_base(old, new, names, before, after))

    for number, (before, after, _) in enumerate(kinds):
        assert before is not None and after is not None
        one, other = find_message(old, before), find_message(new, after)
        if one is not None and other is not None:
            yield from find_difference(number, [{"$ref": write_reference(name)} for name in (one, other)], (one, other))
    if old.roots is None or new.roots is None or old.roots.standing:
        return
    # What the roots that are no definitions demand of every message.
    sides = (old, old.roots.said), (new, new.roots.said)
    schemas = [
        {"allOf": [each for path, each in roots.items() if path not in side.root_definitions]} for side, roots in sides
    ]
    kinds.extend((None, None, part) for part in _ANSWERS)
    for number in range(len(kinds) if schemas[0] != schemas[1] or rewritten else 0):
        yield from find_difference(number, schemas)


def _find_base(old: SchemaRevision, new: SchemaRevision, names: tuple[str, str], before: Frame, after: Frame) -> str:
    """The base definition that differs, if the definitions of the messages themselves do not."""
    if old.demands.get(names[0]) != new.demands.get(names[1]):
        return ""
    shared_bases = [name for name in after.bases if name in before.bases and name not in names]
    differing = [name for name in shared_bases if old.demands[name] != new.demands[name]]
    return differing[-1] if differing else ""


# --- envelopes: whether a message as such is well formed, whatever it carries; identifiers and errors are compared alone ---

_CONTENT: Final = ("id", "params", "result", "error")
_TELLING: Final = ("method", "result", "error")


def find_envelopes(revised: SchemaRevision) -> Mapping[str, Schema]:
    """The envelopes and other definitions marked like them, by name; those that are no envelopes are unchanged.

    A union of only definitions frames nothing: its branches are compared separately.
    """
    definitions = ((name, revised.bundle.definitions[name]) for name in sorted(revised.bundle.framing))
    return {
        name: _empty_contents(without_prose(schema)) if carries(schema) else without_prose(schema)
        for name, schema in definitions
        if not list_branch_names(schema)
    }


def restrict_envelope(envelope: Schema) -> Schema:
    """What a sender sends of an envelope: only the members that it declares, and extensions."""
    if not carries(envelope):
        return envelope
    names = {"jsonrpc", *_CONTENT, *(name for form in _list_forms(envelope) for name in form.get("properties", {}))}
    return {"allOf": [envelope], "propertyNames": {"anyOf": [{"enum": sorted(names)}, {"pattern": "^_"}]}}


def carries(schema: Schema) -> bool:
    """Whether a schema is an envelope of requests, notifications or responses."""
    return any(key in form.get("properties", {}) for form in _list_forms(schema) for key in _TELLING)


def in_place(node: Any, names: Mapping[str, str], *, is_listed: bool = False) -> Any:
    """A schema with a separate constant in place of each reference, and one constant for all entries of a union.

    What remains is what it asserts inline, whichever messages there are. `names` are other names for definitions.
    """
    if is_array(node):
        return [in_place(each, names, is_listed=is_listed) for each in node]
    if not is_object(node):
        return node
    result: Schema = {
        key: in_place(inner, names, is_listed=key in _UNIONS or (is_listed and key == "allOf"))
        for key, inner in node.items()
        if key != "$ref" and (inner != [] or key not in _UNIONS)
    }
    if isinstance(node.get("$ref"), str):
        name = read_reference(node["$ref"]) if node["$ref"].startswith("#/$defs/") else node["$ref"]
        result["const"] = "any message" if is_listed else names.get(name, name)
    if [] in (node.get("anyOf"), node.get("oneOf")):
        result["not"] = {}
    return result


def list_content_schemas(sides: Sequence[Schema], definitions: Sequence[Schema]) -> list[Schema]:
    """What the envelopes of both sides assert of their content, form by form; empty if one is no envelope.

    `sides` have constants in place of references. Identifiers that differ are compared as in the `definitions`, because null may have
    moved between a definition and the member that uses it.
    """
    if not all(map(carries, sides)):
        return []
    old, new, *raw = (
        [{name: schema for name, schema in form.get("properties", {}).items() if name in _CONTENT} for form in forms]
        for forms in map(_list_forms, (*sides, *definitions))
    )
    for one, other, *own in zip(old, new, *raw, strict=False):
        if one.get("id") != other.get("id"):
            for form, definition in zip((one, other), own, strict=True):
                form |= {"id": without_prose(definition["id"])} if "id" in form else {}
    return [{"properties": {str(n): {"properties": form} for n, form in enumerate(forms)}} for forms in (old, new)]


def write_plain_messages(envelope: Schema, methods: Sequence[str]) -> Schema:
    """The JSON-RPC 2.0 messages of the kinds that an envelope frames, with all members of such messages."""
    members = {key for form in _list_forms(envelope) for key in _TELLING if key in form.get("properties", {})}
    version: Schema = {"type": "object", "properties": {"jsonrpc": {"const": "2.0"}}}
    kinds: list[Schema] = []
    if "method" in members:
        method: Schema = {"enum": [*dict.fromkeys(methods)]} if methods else {"type": "string"}
        properties: Schema = {**version["properties"], "method": method}
        kinds.append({**version, "properties": properties, "required": ["jsonrpc", "id", "method", "params"]})
    kinds += [{**version, "required": ["jsonrpc", "id", key]} for key in ("result", "error") if key in members]
    names = {"jsonrpc", "method", *_CONTENT}
    return {"anyOf": [{**kind, "propertyNames": {"enum": sorted(names)}} for kind in kinds]}


def _list_forms(schema: Schema) -> list[Schema]:
    return [schema, *(each for each in schema.get("anyOf", ()) if is_object(each))]


def _empty_contents(schema: Schema) -> Schema:
    result: Schema = dict(schema)
    properties: dict[str, Any] = schema.get("properties", {})
    if properties:
        result["properties"] = {name: name in _CONTENT or each for name, each in properties.items()}
    if "anyOf" in schema:
        result["anyOf"] = [_empty_contents(each) if is_object(each) else each for each in schema["anyOf"]]
    return result


# --- findings --------------------------------------------------------------------------------------------------------


def of_envelopes(context: Context) -> Iterator[Reach]:
    """Yield the changes in the envelopes that both revisions have under the same name."""
    for name, schemas in context.envelopes:
        pair = make_document_pair(name, name, name)
        at = context.locate(name, name)
        for sender, receiver in DIRECTIONS:
            relation = context.acceptance.include(restrict_envelope(schemas[sender]), schemas[receiver], sender)
            refused = _find_refusal(context, relation, pair, sender, at)
            if refused is not None:
                change, witness = refused
                if witness is not None:
                    yield context.reach(judge(change), pair, change, name, witness)
                else:
                    doubt = Change("undecided", detail="the envelope cannot be compared", **at)
                    yield context.of_definition(doubt, name, [receiver])


def of_whole_messages(context: Context) -> Iterator[Reach]:
    """Yield the changes in what definitions of whole messages require besides params and result."""
    for each in context.frames:
        if each.old.method is None or each.new.method is None or each.of_root:
            continue
        one, other = each.names
        at = context.locate(each.base or one, each.base or other)
        pair = replace(
            make_method_pair(each.old.method, each.new.method, "params", context.new.protocol.sides),
            old=Route("document", None, one, one),
            new=Route("document", None, other, other),
        )
        doubtful: list[Revision] = []
        for sender, receiver in DIRECTIONS:
            refused = _find_refusal(context, _fits(context, each, sender), pair, sender, at)
            if refused is None:
                continue
            change, witness = refused
            if witness is None:
                doubtful.append(receiver)
                continue
            judgement = judge(change)
            name = each.base or other
            cause = Cause(name, (name, sender), judgement.message)
            yield context.reach(judgement, pair, change, other, witness, cause=cause)
        if doubtful:
            yield context.not_compared(other, "the message around params or result", doubtful, at)


def of_roots(context: Context) -> Iterator[Reach]:
    """Yield the changes of root schemas besides their definitions: the frame of messages, if there are any, and unknown keywords."""
    if context.old.roots is None or context.new.roots is None:
        return
    at: ChangePlaces = {"old_at": locate_root(context.old), "new_at": locate_root(context.new)}
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


def _find_refusal(
    context: Context, relation: Relation, pair: MessagePair, sender: Revision, at: ChangePlaces
) -> tuple[LimitChange, Witness | None] | None:
    """The change that messages may be refused, with the place and the message that shows it if one was found; `None` if none is."""
    if relation.verdict.value == "yes":
        return None
    change, validator = make_unexplained_limit(sender, at), context.validator
    witness = validator.make_witness(pair.sides, sender, relation.witness, is_refused=True)
    place = "" if witness is None else validator.locate_refusal(pair.sides, get_opposite(sender), witness.value)
    return replace(change, detail=place), witness


def _fits(context: Context, each: FrameDifference, sender: Revision) -> Relation:
    """Whether what one revision sends of a kind of message fits into the frame of the other; if not, asked again with whole messages."""
    relation = context.acceptance.include(*each.write_question(sender, declared=True), sender)
    if relation.verdict.value == "yes" or each.of_root:
        return relation
    return context.acceptance.include(*each.write_question(sender, declared=True, whole=True), sender)


def of_frames(context: Context, findings: Sequence[Reach]) -> Iterator[Reach]:
    """Yield the differences of definitions that frame messages, or are a union of these, that no finding names.

    They are written differently or exist in one revision only.
    """
    renames = context.walk.find_renames()
    alone = context.old.bundle.definitions.keys() ^ context.new.bundle.definitions.keys()
    reported_places = {
        place for each in findings if each.rule != "text-reworded" for place in (each.old_at, each.new_at)
    }
    for name in dict.fromkeys((*list_framing(context.old), *list_framing(context.new))):
        at = context.locate(name, name)
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
        content = list_content_schemas(
            (old, new), [side.bundle.definitions[name] for side in (context.old, context.new)]
        )
        if content and not context.acceptance.is_alike(*content):
            detail = "the constraints that the message envelope places on params and results"
            yield context.not_compared(name, detail, ["old", "new"], at)
        elif not is_named:
            yield context.report_editorial(Change("structure", name=name, detail="carried", **at))


def _of_one(context: Context, name: str, revision: Revision) -> Reach:
    """The finding of a definition that frames messages in one revision only: whether it refuses any well-formed message."""
    side, at = context.old if revision == "old" else context.new, context.locate(name, name)
    schema = find_envelopes(side).get(name)
    if schema is not None and not carries(schema):
        names = (name, None) if revision == "old" else (None, name)
        return context.of_definition(Change("definition", *names, **at), name)
    if schema is not None:
        sent_schema = write_plain_messages(schema, [each.name for each in side.methods])
        if context.acceptance.include(sent_schema, schema, get_opposite(revision)).verdict.value != "yes":
            return context.not_compared(name, "the message envelope is only in one revision", [revision], at)
    return context.report_editorial(Change("structure", name=name, detail="carried", **at))
