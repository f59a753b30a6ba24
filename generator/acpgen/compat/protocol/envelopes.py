"""The envelopes of a schema without what they carry: whether a message as such is well formed.

What is carried is compared method by method, identifiers and errors on their own; here they may be anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from acpgen.bundle import frames
from acpgen.compat.protocol.revision import Revised, wordless
from acpgen.walk import Schema, is_object

_CARRIED: Final = ("id", "params", "result", "error")
_TELLING: Final = ("method", "result", "error")


def envelopes(revised: Revised) -> Mapping[str, Schema]:
    """The envelopes by the names of their definitions."""
    found: dict[str, Schema] = {}
    framing = frames(revised.bundle.definitions)
    for name, schema in revised.bundle.definitions.items():
        forms = [schema, *(each for each in schema.get("anyOf", ()) if is_object(each))]
        if name in framing and any(key in form.get("properties", {}) for form in forms for key in _TELLING):
            found[name] = _emptied(wordless(schema))
    return found


def as_declared(envelope: Schema) -> Schema:
    """The envelope with the members that it declares, and extensions, alone: what a sender sends."""
    forms = [envelope, *(each for each in envelope.get("anyOf", ()) if is_object(each))]
    names = {"jsonrpc", *_CARRIED, *(name for form in forms for name in form.get("properties", {}))}
    return {"allOf": [envelope], "propertyNames": {"anyOf": [{"enum": sorted(names)}, {"pattern": "^_"}]}}


def _emptied(schema: Schema) -> Schema:
    emptied: Schema = dict(schema)
    properties: dict[str, Any] = schema.get("properties", {})
    if properties:
        emptied["properties"] = {name: True if name in _CARRIED else each for name, each in properties.items()}
    if "anyOf" in schema:
        emptied["anyOf"] = [_emptied(each) if is_object(each) else each for each in schema["anyOf"]]
    return emptied
