"""Inline schemas of fields: which need a name, and their schemas without null."""

from __future__ import annotations

from acpgen.input.schema_nodes import Node
from acpgen.input.walk import Schema, is_array, is_object


def without_null(node: Node) -> tuple[Schema | None, bool]:
    """A field's schema without null, and whether it certainly allowed null; `None` if there is no such schema that could be named."""
    schema = node.says
    if node.union is not None:
        keyword, branches = node.union
        others = [branch for branch in branches if not branch.is_null]
        if len(others) == len(branches):
            return schema, False
        if node.demands != frozenset({keyword}):
            return None, False  # what stands beside the union may refuse null
        if keyword == "oneOf" and any("null" in branch.kinds for branch in others):
            return schema, False  # null may be two of the branches, and then it is refused
        if len(others) == 1:
            return (others[0].says if is_object(others[0].schema) and others[0].reference is None else None), True
        return {**schema, keyword: [branch.schema for branch in others]}, True
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
    """Whether a schema is a record, a union, an enumeration, or has a pattern, and therefore gets a named type."""
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
