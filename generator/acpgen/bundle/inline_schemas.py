"""Which inline schemas of fields need a name, and fields less null."""

from __future__ import annotations

from collections.abc import Mapping

from acpgen.input.tagged_unions import branches_of, is_null, kinds, lone_reference
from acpgen.input.walk import Schema, asserts, is_array, is_object


def without_null(schema: Schema, definitions: Mapping[str, Schema]) -> tuple[Schema | None, bool]:
    """A field's schema less null, and whether null was there; `None` where nothing sensible is left."""
    union = branches_of(schema)
    if union is not None:
        keyword, branches = union
        left = [branch for branch in branches if not is_null(branch)]
        if len(left) == len(branches):
            return schema, False
        if any(asserts(key) for key in schema if key != keyword):
            return None, False  # what stands beside the union may refuse null
        if keyword == "oneOf" and any("null" in kinds(branch, definitions) for branch in left):
            return schema, False  # null may be two of the branches, and then it is refused
        if len(left) == 1:
            inner = left[0]
            return (inner if is_object(inner) and lone_reference(inner) is None else None), True
        return {**schema, keyword: left}, True
    types = schema.get("type")
    if is_array(types) and "null" in types and len(types) > 1:
        if not schema.keys().isdisjoint(("const", "$ref", "allOf", "not", "if")):
            return schema, False  # what stands beside the types may refuse null
        left_types = [name for name in types if name != "null"]
        narrowed = {**schema, "type": left_types[0] if len(left_types) == 1 else left_types}
        if is_array(schema.get("enum")):
            narrowed["enum"] = [value for value in schema["enum"] if value is not None]
            return narrowed, None in schema["enum"]
        return narrowed, True
    return schema, False


def needs_name(schema: Schema) -> bool:
    """Whether a schema is a record, a union, a set of constants or a pattern, and so a type that people name."""
    if schema.get("properties") or "patternProperties" in schema or "pattern" in schema:
        return True
    if is_array(schema.get("type")) and len(schema["type"]) > 1:
        return True
    if is_array(schema.get("enum")) and len(schema["enum"]) > 1:
        return True
    union = branches_of(schema)
    if union is not None and len([branch for branch in union[1] if not is_null(branch)]) > 1:
        return True
    return (
        len(
            [
                part
                for part in schema.get("allOf", ())
                if is_object(part) and (lone_reference(part) or "properties" in part)
            ]
        )
        > 1
    )
