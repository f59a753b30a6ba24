"""Objects with named fields: which schemas are records, and which fields they and their parts name."""

from __future__ import annotations

from acpgen.input.equality import same
from acpgen.input.tagged_unions import OBJECTS, constrains
from acpgen.meaning.schema_nodes import Node


def is_record(node: Node) -> bool:
    """Whether a schema is of objects alone and names fields, or says nothing else."""
    if node.kinds != OBJECTS or "const" in node.says or "enum" in node.says:
        return False
    if node.union is not None:
        named = members(node)  # the union does not stand alone: it narrows the record
        return bool(node.says.get("properties")) or bool(
            named and all(constrains(one.schema, named) for one in node.union[1])
        )
    if "additionalProperties" in node.says and not node.says.get("properties"):
        return bool(node.parts) and bool(members(node))
    return node.reference is None and (not node.parts or "properties" in node.says or bool(members(node)))


def members(node: Node) -> dict[str, list[Node]]:
    """Each property with the schemas that judge it, own ones first, in source order."""
    found: dict[str, list[Node]] = {}
    for part in node.whole:
        for name, schema in part.named("properties").items():
            found.setdefault(name, []).append(schema)
    return found


def required(node: Node) -> set[str]:
    """The properties that an object must have."""
    return {name for part in node.whole for name in part.says.get("required", ())}


def body(node: Node) -> str | None:
    """The record whose content a variant adds to its tag; the first, where there are several."""
    return next((part.reference for part in node.parts if part.reference is not None), None)


def base(node: Node) -> str | None:
    """The body that a record may be a subclass of: that is a record, and none of its fields changes."""
    name = body(node)
    if name is None or not is_record(node.schemas[name]):
        return None
    above = node.schemas[name]
    theirs, own = members(above), members(node)
    is_kept = all(same(_written(own[key]), _written(schemas)) for key, schemas in theirs.items())
    return name if is_kept and required(node) & set(theirs) == required(above) & set(theirs) else None


def _written(nodes: list[Node]) -> list[object]:
    return [node.schema for node in nodes]


def names_fields(node: Node) -> bool:
    """Whether a schema names fields and accepts other values than objects, too, and beside that only narrows the objects."""
    if "object" not in node.kinds or any(keyword in node.says for keyword in ("$ref", "const", "enum")):
        return False
    fields = members(node)
    beside = [branch for keyword in ("allOf", "anyOf", "oneOf") for branch in node.each(keyword)]
    return bool(fields) and all("type" not in one.says and constrains(one.schema, fields) for one in beside)


__all__ = ["base", "body", "is_record", "members", "names_fields", "required"]
