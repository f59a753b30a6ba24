"""The envelopes of a schema without what they carry: whether a message as such is well formed.

What is carried is compared method by method, identifiers and errors on their own; here they may be anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from acpgen.compat.protocol.covered import branch_names
from acpgen.compat.protocol.revision import Revised, wordless
from acpgen.schema.walk import Schema, is_array, is_object

_CARRIED: Final = ("id", "params", "result", "error")
_TELLING: Final = ("method", "result", "error")


def envelopes(revised: Revised) -> Mapping[str, Schema]:
    """The envelopes by the names of their definitions, and whatever else is marked like them, as it is.

    What is a union of definitions and nothing else frames nothing: its branches are compared by themselves.
    """
    written = ((name, revised.bundle.definitions[name]) for name in sorted(revised.bundle.framing))
    return {
        name: _emptied(wordless(schema)) if carries(schema) else wordless(schema)
        for name, schema in written
        if not branch_names(schema)
    }


def as_declared(envelope: Schema) -> Schema:
    """The envelope with the members that it declares, and extensions, alone: what a sender sends."""
    if not carries(envelope):
        return envelope
    names = {"jsonrpc", *_CARRIED, *(name for form in _forms(envelope) for name in form.get("properties", {}))}
    return {"allOf": [envelope], "propertyNames": {"anyOf": [{"enum": sorted(names)}, {"pattern": "^_"}]}}


def carries(schema: Schema) -> bool:
    """Whether a schema is that of requests, notifications or responses."""
    return any(key in form.get("properties", {}) for form in _forms(schema) for key in _TELLING)


def in_place(node: Any, *, is_listed: bool = False) -> Any:
    """A schema with a constant of its own in place of each reference, and one constant for all that a union lists: what is left is what
    it says in place, whichever messages there are.
    """
    if is_array(node):
        return [in_place(each, is_listed=is_listed) for each in node]
    if not is_object(node):
        return node
    kept: Schema = {
        key: in_place(inner, is_listed=key in _UNIONS or (is_listed and key == "allOf"))
        for key, inner in node.items()
        if key != "$ref" and (inner != [] or key not in _UNIONS)
    }
    if isinstance(node.get("$ref"), str):
        kept["const"] = _MESSAGE if is_listed else node["$ref"]
    if [] in (node.get("anyOf"), node.get("oneOf")):
        kept["not"] = {}
    return kept


_UNIONS: Final = ("anyOf", "oneOf")
_MESSAGE: Final = "any message"


def carried(envelope: Schema) -> Schema:
    """What an envelope says of what it carries, form by form. What is none carries nothing."""
    if not carries(envelope):
        return {}
    forms = [
        {name: each for name, each in form.get("properties", {}).items() if name in _CARRIED}
        for form in _forms(envelope)
    ]
    return {"properties": {str(number): {"properties": form} for number, form in enumerate(forms)}}


def with_identifiers(inside: Schema, other: Schema, written: Schema) -> Schema:
    """What an envelope says of what it carries, with the identifiers as they are `written` where another revision has others in place.

    They are compared as such, so that null may have moved from the definition of identifiers to where it is taken.
    """
    forms, raw = inside["properties"], carried(wordless(written))["properties"]
    theirs = other["properties"]
    made: Schema = {}
    for number, form in forms.items():
        named = form["properties"]
        moved = "id" in named and named["id"] != theirs.get(number, {}).get("properties", {}).get("id")
        made[number] = {"properties": {**named, **({"id": raw[number]["properties"]["id"]} if moved else {})}}
    return {"properties": made}


def plain_messages(envelope: Schema, methods: Sequence[str]) -> Schema:
    """The messages of JSON-RPC 2.0 of the kinds that an envelope frames, with all members that such messages have."""
    carried = {key for form in _forms(envelope) for key in _TELLING if key in form.get("properties", {})}
    version: Schema = {"type": "object", "properties": {"jsonrpc": {"const": "2.0"}}}
    kinds: list[Schema] = []
    if "method" in carried:
        called: Schema = {
            **version["properties"],
            "method": {"enum": [*dict.fromkeys(methods)]} if methods else {"type": "string"},
        }
        kinds.append({**version, "properties": called, "required": ["jsonrpc", "id", "method", "params"]})
    kinds += [{**version, "required": ["jsonrpc", "id", key]} for key in ("result", "error") if key in carried]
    names = {"jsonrpc", "method", *_CARRIED}
    return {"anyOf": [{**kind, "propertyNames": {"enum": sorted(names)}} for kind in kinds]}


def _forms(schema: Schema) -> list[Schema]:
    return [schema, *(each for each in schema.get("anyOf", ()) if is_object(each))]


def _emptied(schema: Schema) -> Schema:
    emptied: Schema = dict(schema)
    properties: dict[str, Any] = schema.get("properties", {})
    if properties:
        emptied["properties"] = {name: True if name in _CARRIED else each for name, each in properties.items()}
    if "anyOf" in schema:
        emptied["anyOf"] = [_emptied(each) if is_object(each) else each for each in schema["anyOf"]]
    return emptied
