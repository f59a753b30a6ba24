"""The frames of a method's messages: everything that a schema demands of a whole message besides its content.

Params, results and errors are compared separately and may be anything here. A definition that is referenced for the same message is part
of the frame: the base of an event as well as the event itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from acpgen import ir
from acpgen.compat.changes import ChangePlaces
from acpgen.compat.findings import Revision
from acpgen.compat.protocol.definition_coverage import branch_names, closure, message_of, root_frame
from acpgen.compat.protocol.revision import SchemaRevision, without_prose
from acpgen.input.tagged_unions import branches_of, constants, lone_reference
from acpgen.input.walk import Schema, asserts, is_array, is_object, references
from acpgen.meaning import envelopes
from acpgen.pointers import reference_to, target


@dataclass(frozen=True, slots=True)
class MessageKind:
    """One kind of message: the calls of a method or, without a method, responses with a result or an error."""

    envelope: ir.Envelope
    method: ir.Method | None
    held: envelopes.Held

    @property
    def carried(self) -> str:
        """The member that is compared separately."""
        return self.held if self.method is None else envelopes.key(self.envelope, self.method, self.held)

    @property
    def tag(self) -> str:
        """The member that names the method."""
        if self.envelope != "dap":
            return "method"
        return "event" if self.method is not None and self.method.kind == "notification" else "command"

    @property
    def plain(self) -> Schema:
        """What the envelope of the protocol demands of every such message; the content may be missing."""
        schema = envelopes.frame(self.envelope, self.method, self.held, True)
        names = [name for name in schema["required"] if name != self.carried or self.method is None]
        return {**schema, "required": names}


@dataclass(frozen=True, slots=True)
class Frame:
    """What one revision demands of a kind of message.

    `names` are the members that it mentions, `bases` the definitions that it includes.
    """

    schema: Schema
    names: tuple[str, ...]
    bases: tuple[str, ...]


def frame(revised: SchemaRevision, schema: Any, kind: MessageKind) -> Frame:
    """The frame of a schema, with its references inlined, without the content and without branches of other methods.

    Its `bases` are the definitions that were inlined.
    """
    work = _Framing(revised.demands, kind)
    whole = work.expand(without_prose(schema), ())
    return Frame(whole if is_object(whole) else {"not": {}}, tuple(work.names), tuple(work.bases))


def inclusion_question(
    kind: MessageKind, sent_frame: Frame, accepting_frame: Frame, *, declared: bool
) -> tuple[Schema, Schema]:
    """The two schemas of the question whether what one revision sends fits into the frame of the other.

    With `declared`, the sender sends only members that its schema or its envelope mentions, and extensions.
    """
    plain = kind.plain
    names = [{"enum": sorted({*sent_frame.names, *plain["properties"], kind.carried})}, {"pattern": "^_"}]
    restricted_schema: Schema = {"allOf": [sent_frame.schema, plain], "propertyNames": {"anyOf": names}}
    return (restricted_schema if declared else sent_frame.schema), (
        accepting_frame.schema if "id" in sent_frame.names else _without_id(accepting_frame.schema)
    )


def _without_id(schema: Any) -> Any:
    """The same frame with any identifier: identifiers are compared separately if the sender does not declare its own."""
    if is_array(schema):
        return [_without_id(each) for each in schema]
    if not is_object(schema):
        return schema
    result = {key: _without_id(value) if key in _PLACES else value for key, value in schema.items()}
    if is_object(schema.get("properties")) and "id" in schema["properties"]:
        result["properties"] = {**schema["properties"], "id": True}
    return result


_UNIONS: Final = ("anyOf", "oneOf")
_PLACES: Final = ("allOf", "anyOf")


class _Framing:
    def __init__(self, definitions: Mapping[str, Schema], kind: MessageKind) -> None:
        self.written = definitions
        self.kind = kind
        self.names: dict[str, None] = {}
        self.bases: dict[str, None] = {}

    def expand(self, schema: Any, around: tuple[str, ...]) -> Schema | bool:
        """A schema with its references inlined; `around` are the definitions that contain it."""
        if not is_object(schema):
            return schema is not False
        expanded = {key: value for key, value in schema.items() if key not in ("$ref", "allOf", *_UNIONS)}
        properties = expanded.get("properties")
        if is_object(properties):
            self.names |= dict.fromkeys(properties)
            expanded["properties"] = {name: self._member(name, each) for name, each in properties.items()}
        parts = [self.expand(each, around) for each in schema.get("allOf", ())]
        name = target(schema["$ref"]) if isinstance(schema.get("$ref"), str) else None
        if name is not None and name in self.written and name not in around:
            self.bases[name] = None
            parts.append(self.expand(self.written[name], (*around, name)))
        elif name is not None and name not in around:
            parts.append({"$ref": schema["$ref"]})
        unions = [[*self._branches(schema[keyword], around)] for keyword in _UNIONS if keyword in schema]
        parts += [{"anyOf": each or [False]} for each in unions]
        return {**expanded, **({"allOf": parts} if parts else {})}

    def _member(self, name: str, schema: Any) -> Any:
        """The schema of a member; any value if the member is compared separately."""
        if name == self.kind.carried or (name == "id" and _is_reference(schema)):
            return True
        return schema

    def _branches(self, branches: Any, around: tuple[str, ...]) -> Iterator[Schema | bool]:
        """Yield the branches that may be of this kind.

        A branch that other branches exclude counts, because the content may distinguish them.
        """
        names, bases = dict(self.names), dict(self.bases)
        for each in branches:
            branch = self.expand(each, around)
            if self._is_of_another(branch):
                self.names, self.bases = dict(names), dict(bases)
                continue
            names, bases = dict(self.names), dict(self.bases)
            yield branch

    def _is_of_another(self, schema: Schema | bool) -> bool:
        """Whether a branch is for batches, for another method, or for calls or responses when these are not asked about."""
        if not is_object(schema):
            return not schema
        if schema.get("type") == "array" or not self._others.isdisjoint(schema.get("required", ())):
            return True
        method, branches = self.kind.method, schema.get("anyOf")
        method_names = None if method is None else constants(schema.get("properties", {}).get(self.kind.tag))
        if method_names is not None and method is not None and method.name not in method_names:
            return True
        if branches and all(map(self._is_of_another, branches)):
            return True
        return any(map(self._is_of_another, schema.get("allOf", ())))

    @cached_property
    def _others(self) -> frozenset[str]:
        """The members that only other kinds of messages require."""
        method_members = {self.kind.tag} if self.kind.method is None else set[str]()
        answers = set[str]() if self.kind.envelope == "dap" else {*_ANSWERS}
        return frozenset(method_members | answers) - {self.kind.carried}


def _is_reference(schema: Any) -> bool:
    """Whether a schema only refers to a definition, possibly as the only branch of a union."""
    union = branches_of(schema) if is_object(schema) else None
    if union is not None and len(union[1]) == 1 and {key for key in schema if asserts(key)} == {union[0]}:
        return _is_reference(union[1][0])
    return lone_reference(schema) is not None


# --- of two revisions ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FrameDifference:
    """One kind of message whose frames differ between two revisions.

    `names` are its definitions, empty if the root frames it. `base` is the definition that differs, if it is not that of the message
    itself.
    """

    kinds: tuple[MessageKind, MessageKind]
    names: tuple[str, str]
    old: Frame
    new: Frame
    base: str = ""

    @property
    def of_root(self) -> bool:
        return self.names == ("", "")

    def question(self, sender: Revision, *, declared: bool, whole: bool = False) -> tuple[Schema, Schema]:
        """The question whether messages of one revision fit into the frame of the other, as two schemas; with `whole`, including their
        content.
        """
        side = 0 if sender == "old" else 1
        frames = (self.old, self.new)
        sent_schema, accepting_schema = inclusion_question(
            self.kinds[side], frames[side], frames[1 - side], declared=declared
        )
        if whole:
            sent_schema = {"allOf": [sent_schema, {"$ref": reference_to(self.names[side])}]}
        return (sent_schema, accepting_schema) if sender == "old" else (accepting_schema, sent_schema)

    def places(self, old: SchemaRevision, new: SchemaRevision) -> ChangePlaces:
        """The places of the difference in the sources."""
        one, other = (self.base or name for name in self.names)
        return {"old_at": old.bundle.origins.get(one, ""), "new_at": new.bundle.origins.get(other, "")}


_ANSWERS: Final[tuple[envelopes.Held, ...]] = ("result", "error")


def frame_differences(
    old: SchemaRevision, new: SchemaRevision, methods: Iterable[tuple[ir.Method, ir.Method]], rewritten: frozenset[str]
) -> Iterator[FrameDifference]:
    """Yield the kinds of messages whose frames differ between two revisions, by definitions of their own or by their roots.

    `methods` are those of both revisions, `rewritten` the definitions that differ.
    """
    pairs = list(methods)
    for before, after in pairs:
        names = message_of(old, before), message_of(new, after)
        if names[0] is not None and names[1] is not None:
            schemas: list[Schema] = [{"$ref": reference_to(name)} for name in names if name is not None]
            yield from _differing(old, new, (before, after), "params", schemas, (names[0], names[1]), rewritten)
    if old.roots is None or new.roots is None or old.roots.named:
        return
    schemas = [root_frame(old), root_frame(new)]
    if schemas[0] == schemas[1] and not rewritten:
        return
    for both in pairs:
        yield from _differing(old, new, both, "params", schemas, ("", ""), rewritten)
    for part in _ANSWERS:
        yield from _differing(old, new, (None, None), part, schemas, ("", ""), rewritten)


def _differing(
    old: SchemaRevision,
    new: SchemaRevision,
    methods: tuple[ir.Method | None, ir.Method | None],
    part: envelopes.Held,
    schemas: Sequence[Schema],
    names: tuple[str, str],
    rewritten: frozenset[str],
) -> Iterator[FrameDifference]:
    one, other = (
        MessageKind(old.protocol.envelope, methods[0], part),
        MessageKind(new.protocol.envelope, methods[1], part),
    )
    before, after = frame(old, schemas[0], one), frame(new, schemas[1], other)
    inner = closure(old, references(before.schema)) | closure(new, references(after.schema))
    if before.schema != after.schema or inner & rewritten:
        yield FrameDifference((one, other), names, before, after, _base(old, new, names, before, after))


def _base(old: SchemaRevision, new: SchemaRevision, names: tuple[str, str], before: Frame, after: Frame) -> str:
    """The base definition that differs, if the definitions of the messages themselves do not."""
    if old.demands.get(names[0]) != new.demands.get(names[1]):
        return ""
    shared_bases = [name for name in after.bases if name in before.bases and name not in names]
    differing = [name for name in shared_bases if old.demands[name] != new.demands[name]]
    return differing[-1] if differing else ""


# --- envelopes: whether a message as such is well formed, whatever it carries; identifiers and errors are compared alone ---

_CARRIED: Final = ("id", "params", "result", "error")
_TELLING: Final = ("method", "result", "error")


def find_envelopes(revised: SchemaRevision) -> Mapping[str, Schema]:
    """The envelopes and other definitions marked like them, by name; those that are no envelopes are unchanged.

    A union of only definitions frames nothing: its branches are compared separately.
    """
    definitions = ((name, revised.bundle.definitions[name]) for name in sorted(revised.bundle.framing))
    return {
        name: _emptied(without_prose(schema)) if carries(schema) else without_prose(schema)
        for name, schema in definitions
        if not branch_names(schema)
    }


def sent_envelope(envelope: Schema) -> Schema:
    """What a sender sends of an envelope: only the members that it declares, and extensions."""
    if not carries(envelope):
        return envelope
    names = {"jsonrpc", *_CARRIED, *(name for form in _forms(envelope) for name in form.get("properties", {}))}
    return {"allOf": [envelope], "propertyNames": {"anyOf": [{"enum": sorted(names)}, {"pattern": "^_"}]}}


def carries(schema: Schema) -> bool:
    """Whether a schema is an envelope of requests, notifications or responses."""
    return any(key in form.get("properties", {}) for form in _forms(schema) for key in _TELLING)


def in_place(node: Any, *, is_listed: bool = False) -> Any:
    """A schema with a separate constant in place of each reference, and one constant for all entries of a union.

    What remains is what it asserts inline, whichever messages there are.
    """
    if is_array(node):
        return [in_place(each, is_listed=is_listed) for each in node]
    if not is_object(node):
        return node
    result: Schema = {
        key: in_place(inner, is_listed=key in _UNIONS or (is_listed and key == "allOf"))
        for key, inner in node.items()
        if key != "$ref" and (inner != [] or key not in _UNIONS)
    }
    if isinstance(node.get("$ref"), str):
        result["const"] = _MESSAGE if is_listed else node["$ref"]
    if [] in (node.get("anyOf"), node.get("oneOf")):
        result["not"] = {}
    return result


_MESSAGE: Final = "any message"


def carried_parts(envelope: Schema) -> Schema:
    """What an envelope asserts of its content, form by form; empty for a schema that is no envelope."""
    if not carries(envelope):
        return {}
    forms = [
        {name: each for name, each in form.get("properties", {}).items() if name in _CARRIED}
        for form in _forms(envelope)
    ]
    return {"properties": {str(number): {"properties": form} for number, form in enumerate(forms)}}


def with_identifiers(inside: Schema, other: Schema, definition: Schema) -> Schema:
    """What an envelope asserts of its content, with its own identifiers from `definition` if another revision has different ones inline.

    Identifiers are compared as such, because null may have moved between their definition and the member that uses them.
    """
    forms, raw = inside["properties"], carried_parts(without_prose(definition))["properties"]
    theirs = other["properties"]
    result: Schema = {}
    for number, form in forms.items():
        properties = form["properties"]
        differs = "id" in properties and properties["id"] != theirs.get(number, {}).get("properties", {}).get("id")
        result[number] = {"properties": {**properties, **({"id": raw[number]["properties"]["id"]} if differs else {})}}
    return {"properties": result}


def plain_messages(envelope: Schema, methods: Sequence[str]) -> Schema:
    """The JSON-RPC 2.0 messages of the kinds that an envelope frames, with all members of such messages."""
    members = {key for form in _forms(envelope) for key in _TELLING if key in form.get("properties", {})}
    version: Schema = {"type": "object", "properties": {"jsonrpc": {"const": "2.0"}}}
    kinds: list[Schema] = []
    if "method" in members:
        properties: Schema = {
            **version["properties"],
            "method": {"enum": [*dict.fromkeys(methods)]} if methods else {"type": "string"},
        }
        kinds.append({**version, "properties": properties, "required": ["jsonrpc", "id", "method", "params"]})
    kinds += [{**version, "required": ["jsonrpc", "id", key]} for key in ("result", "error") if key in members]
    names = {"jsonrpc", "method", *_CARRIED}
    return {"anyOf": [{**kind, "propertyNames": {"enum": sorted(names)}} for kind in kinds]}


def _forms(schema: Schema) -> list[Schema]:
    return [schema, *(each for each in schema.get("anyOf", ()) if is_object(each))]


def _emptied(schema: Schema) -> Schema:
    result: Schema = dict(schema)
    properties: dict[str, Any] = schema.get("properties", {})
    if properties:
        result["properties"] = {name: True if name in _CARRIED else each for name, each in properties.items()}
    if "anyOf" in schema:
        result["anyOf"] = [_emptied(each) if is_object(each) else each for each in schema["anyOf"]]
    return result
