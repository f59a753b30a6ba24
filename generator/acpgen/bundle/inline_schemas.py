"""Which inline schemas of fields need a name, and fields less null."""

from __future__ import annotations

from acpgen.input.schema_nodes import Node
from acpgen.input.walk import Schema, is_array, is_object


def without_null(node: Node) -> tuple[Schema | None, bool]:
    """A field's schema less null, and whether null was there; `None` where nothing sensible is left."""
    schema = node.says
    if node.union is not None:
        keyword, branches = node.union
        left = [branch for branch in branches if not branch.is_null]
        if len(left) == len(branches):
            return schema, False
        if node.demands != frozenset({keyword}):
            return None, False  # what stands beside the union may refuse null
        if keyword == "oneOf" and any("null" in branch.kinds for branch in left):
            return schema, False  # null may be two of the branches, and then it is refused
        if len(left) == 1:
            return (left[0].says if is_object(left[0].schema) and left[0].reference is None else None), True
        return {**schema, keyword: [branch.schema for branch in left]}, True
    if is_array(schema.get("type")) and "null" in node.types and len(node.types) > 1:
        if not node.demands.isdisjoint(("const", "$ref", "allOf", "not", "if")):
            return schema, False  # what stands beside the types may refuse null
        types = [name for name in node.types if name != "null"]
        narrowed = {**schema, "type": types[0] if len(types) == 1 else types}
        if "enum" in schema:
            narrowed["enum"] = [value for value in schema["enum"] if value is not None]
            return narrowed, None in schema["enum"]
        return narrowed, True
    return schema, False


def needs_name(node: Node) -> bool:
    """Whether a schema is a record, a union, a set of constants or a pattern, and so a type that people name."""
    parts = [part for part in node.each("allOf") if part.reference or "properties" in part.says]
    return (
        bool(node.says.get("properties"))
        or "patternProperties" in node.says
        or "pattern" in node.says
        or len(node.types) > 1
        or len(node.says.get("enum", ())) > 1
        or len([branch for branch in node.branches if not branch.is_null]) > 1
        or len(parts) > 1
    )
