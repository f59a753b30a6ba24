"""The frames of messages: everything that a schema demands of a whole message besides its content.

Params, results and errors are compared separately and may be anything here. A definition that is referenced for the same message is part
of the frame: the base of an event as well as the event itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
        self.content = held if method is None else envelopes.key(envelope, method, held)
        plain = envelopes.frame(envelope, method, held, True)
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

    def sent(self, *, declared: bool) -> Schema:
        """What is sent of the messages: with `declared`, only members that the schema or the envelope mentions, and extensions."""
        if not declared:
            return self.schema
        names = [{"enum": sorted({*self.names, *self.plain["properties"], self.content})}, {"pattern": "^_"}]
        return {"allOf": [self.schema, self.plain], "propertyNames": {"anyOf": names}}

    def accepted(self, sent: Frame) -> Schema:
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
        name = target(schema["$ref"]) if isinstance(schema.get("$ref"), str) else None
        if name is not None and name in self._definitions and name not in around:
            self.bases[name] = None
            parts.append(self._expand(self._definitions[name], (*around, name)))
        elif name is not None and name not in around:
            parts.append({"$ref": schema["$ref"]})
        unions = [[*self._branches(schema[keyword], around)] for keyword in _UNIONS if keyword in schema]
        parts += [{"anyOf": each or [False]} for each in unions]
        return {**expanded, **({"allOf": parts} if parts else {})}

    def _branches(self, branches: Any, around: tuple[str, ...]) -> Iterator[Schema | bool]:
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
        method_names = constants(schema.get("properties", {}).get(self._tag))
        if self.method is not None and method_names is not None and self.method.name not in method_names:
            return True
        if branches and all(map(self._is_of_another, branches)):
            return True
        return any(map(self._is_of_another, schema.get("allOf", ())))


def _without_id(schema: Any) -> Any:
    """The same frame with any identifier."""
    if is_array(schema):
        return [_without_id(each) for each in schema]
    if not is_object(schema):
        return schema
    result = {key: _without_id(value) if key in ("allOf", "anyOf") else value for key, value in schema.items()}
    if is_object(schema.get("properties")) and "id" in schema["properties"]:
        result["properties"] = {**schema["properties"], "id": True}
    return result


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

    old: Frame
    new: Frame
    names: tuple[str, str]
    base: str = ""

    @property
    def of_root(self) -> bool:
        return self.names == ("", "")

    def question(self, sender: Revision, *, declared: bool, whole: bool = False) -> tuple[Schema, Schema]:
        """The question whether messages of one revision fit into the frame of the other: what is sent and what is accepted.

        With `whole`, the messages include their content.
        """
        one, other = (self.old, self.new) if sender == "old" else (self.new, self.old)
        sent_schema = one.sent(declared=declared)
        if whole:
            name = self.names[0 if sender == "old" else 1]
            sent_schema = {"allOf": [sent_schema, {"$ref": reference_to(name)}]}
        return sent_schema, other.accepted(one)

    def places(self, old: SchemaRevision, new: SchemaRevision) -> ChangePlaces:
        """The places of the difference in the sources."""
        one, other = (self.base or name for name in self.names)
        return {"old_at": old.bundle.origins.get(one, ""), "new_at": new.bundle.origins.get(other, "")}


def frame_differences(
    old: SchemaRevision, new: SchemaRevision, methods: Iterable[tuple[ir.Method, ir.Method]], rewritten: frozenset[str]
) -> Iterator[FrameDifference]:
    """Yield the kinds of messages whose frames differ between two revisions, by definitions of their own or by their roots.

    `methods` are those of both revisions, `rewritten` the definitions that differ.
    """
    kinds: list[tuple[ir.Method | None, ir.Method | None, envelopes.Held]] = [(*each, "params") for each in methods]

    def difference(
        kind: int, schemas: Sequence[Schema], names: tuple[str, str] = ("", "")
    ) -> Iterator[FrameDifference]:
        one, other, part = kinds[kind]
        before, after = Frame(old, schemas[0], one, part), Frame(new, schemas[1], other, part)
        inner = closure(old, references(before.schema)) | closure(new, references(after.schema))
        if before.schema != after.schema or inner & rewritten:
            yield FrameDifference(before, after, names, _base(old, new, names, before, after))

    for number, (before, after, _) in enumerate(kinds):
        assert before is not None and after is not None
        one, other = message_of(old, before), message_of(new, after)
        if one is not None and other is not None:
            yield from difference(number, [{"$ref": reference_to(name)} for name in (one, other)], (one, other))
    if old.roots is None or new.roots is None or old.roots.standing:
        return
    schemas = [root_frame(old), root_frame(new)]
    kinds += [(None, None, part) for part in _ANSWERS]
    for number in range(len(kinds) if schemas[0] != schemas[1] or rewritten else 0):
        yield from difference(number, schemas)


def _base(old: SchemaRevision, new: SchemaRevision, names: tuple[str, str], before: Frame, after: Frame) -> str:
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
        name: _emptied(without_prose(schema)) if carries(schema) else without_prose(schema)
        for name, schema in definitions
        if not branch_names(schema)
    }


def sent_envelope(envelope: Schema) -> Schema:
    """What a sender sends of an envelope: only the members that it declares, and extensions."""
    if not carries(envelope):
        return envelope
    names = {"jsonrpc", *_CONTENT, *(name for form in _forms(envelope) for name in form.get("properties", {}))}
    return {"allOf": [envelope], "propertyNames": {"anyOf": [{"enum": sorted(names)}, {"pattern": "^_"}]}}


def carries(schema: Schema) -> bool:
    """Whether a schema is an envelope of requests, notifications or responses."""
    return any(key in form.get("properties", {}) for form in _forms(schema) for key in _TELLING)


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
        name = target(node["$ref"]) if node["$ref"].startswith("#/$defs/") else node["$ref"]
        result["const"] = "any message" if is_listed else names.get(name, name)
    if [] in (node.get("anyOf"), node.get("oneOf")):
        result["not"] = {}
    return result


def content_schemas(sides: Sequence[Schema], definitions: Sequence[Schema]) -> list[Schema]:
    """What the envelopes of both sides assert of their content, form by form; empty if one is no envelope.

    `sides` have constants in place of references. Identifiers that differ are compared as in the `definitions`, because null may have
    moved between a definition and the member that uses it.
    """
    if not all(map(carries, sides)):
        return []
    old, new, *raw = (
        [{name: schema for name, schema in form.get("properties", {}).items() if name in _CONTENT} for form in forms]
        for forms in map(_forms, (*sides, *definitions))
    )
    for one, other, *own in zip(old, new, *raw, strict=False):
        if one.get("id") != other.get("id"):
            for form, definition in zip((one, other), own, strict=True):
                form |= {"id": without_prose(definition["id"])} if "id" in form else {}
    return [{"properties": {str(n): {"properties": form} for n, form in enumerate(forms)}} for forms in (old, new)]


def plain_messages(envelope: Schema, methods: Sequence[str]) -> Schema:
    """The JSON-RPC 2.0 messages of the kinds that an envelope frames, with all members of such messages."""
    members = {key for form in _forms(envelope) for key in _TELLING if key in form.get("properties", {})}
    version: Schema = {"type": "object", "properties": {"jsonrpc": {"const": "2.0"}}}
    kinds: list[Schema] = []
    if "method" in members:
        method: Schema = {"enum": [*dict.fromkeys(methods)]} if methods else {"type": "string"}
        properties: Schema = {**version["properties"], "method": method}
        kinds.append({**version, "properties": properties, "required": ["jsonrpc", "id", "method", "params"]})
    kinds += [{**version, "required": ["jsonrpc", "id", key]} for key in ("result", "error") if key in members]
    names = {"jsonrpc", "method", *_CONTENT}
    return {"anyOf": [{**kind, "propertyNames": {"enum": sorted(names)}} for kind in kinds]}


def _forms(schema: Schema) -> list[Schema]:
    return [schema, *(each for each in schema.get("anyOf", ()) if is_object(each))]


def _emptied(schema: Schema) -> Schema:
    result: Schema = dict(schema)
    properties: dict[str, Any] = schema.get("properties", {})
    if properties:
        result["properties"] = {name: name in _CONTENT or each for name, each in properties.items()}
    if "anyOf" in schema:
        result["anyOf"] = [_emptied(each) if is_object(each) else each for each in schema["anyOf"]]
    return result
