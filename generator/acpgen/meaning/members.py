"""Objects with named fields: which schemas are records, and what they extend."""

from __future__ import annotations

from acpgen.input.equality import same
from acpgen.input.schema_nodes import OBJECTS, Node


def is_record(node: Node) -> bool:
    """Whether a schema accepts only objects and declares fields, or asserts nothing else."""
    if node.kinds != OBJECTS or "const" in node.says or "enum" in node.says:
        return False
    if node.union is not None:
        fields = node.fields  # the union does not stand alone: it narrows the record
        return bool(node.says.get("properties")) or bool(fields and all(one.narrows(fields) for one in node.branches))
    if "additionalProperties" in node.says and not node.says.get("properties"):
        return bool(node.parts) and bool(node.fields)
    return node.reference is None and (not node.parts or "properties" in node.says or bool(node.fields))


def body(node: Node) -> str | None:
    """The name of the record whose fields a variant adds to its tag; the first one if there are several."""
    return next((part.reference for part in node.parts if part.reference is not None), None)


def base(node: Node) -> str | None:
    """The body that a record may extend: a record none of whose fields is changed; `None` if there is none."""
    name = body(node)
    if name is None or not is_record(node.schemas[name]):
        return None
    above = node.schemas[name]
    theirs, own = above.fields, node.fields
    is_kept = all(same(_written(own[key]), _written(schemas)) for key, schemas in theirs.items())
    return name if is_kept and node.required & set(theirs) == above.required & set(theirs) else None


def _written(nodes: list[Node]) -> list[object]:
    return [node.schema for node in nodes]


def names_fields(node: Node) -> bool:
    """Whether a schema declares fields, also accepts other values than objects, and otherwise only narrows the objects."""
    if "object" not in node.kinds or any(keyword in node.says for keyword in ("$ref", "const", "enum")):
        return False
    fields = node.fields
    beside = [branch for keyword in ("allOf", "anyOf", "oneOf") for branch in node.each(keyword)]
    return bool(fields) and all("type" not in one.says and one.narrows(fields) for one in beside)
