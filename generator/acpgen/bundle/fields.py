"""The schemas of fields: which need a name, and how a field that a definition inherits and narrows gets one type."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias

from acpgen.input.schema_nodes import OBJECTS, Node, Schemas
from acpgen.input.walk import Schema, copy_json, is_array, is_object, select_annotations, select_assertions

Join: TypeAlias = Callable[[str, str, Schema, str], Schema]
"""Makes a definition for a field from the owner, the field's name, a schema and its place, and returns a reference to it."""


def without_null(node: Node) -> tuple[Schema | None, bool]:
    """A field's schema without null, and whether it certainly allowed null; `None` if there is no such schema that could be named."""
    schema = node.says
    if node.union is not None:
        keyword, branches = node.union
        non_null = [branch for branch in branches if not branch.is_null]
        if len(non_null) == len(branches):
            return schema, False
        if node.demands != frozenset({keyword}):
            return None, False  # what stands beside the union may refuse null
        if keyword == "oneOf" and any("null" in branch.kinds for branch in non_null):
            return schema, False  # null may be two of the branches, and then it is refused
        if len(non_null) == 1:
            return (non_null[0].says if is_object(non_null[0].schema) and non_null[0].reference is None else None), True
        return {**schema, keyword: [branch.schema for branch in non_null]}, True
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
    parts = [part for part in node.get_subschemas("allOf") if part.reference or "properties" in part.says]
    return (
        bool(node.says.get("properties"))
        or "patternProperties" in node.says
        or "pattern" in node.says
        or len(node.types) > 1
        or len(node.says.get("enum", ())) > 1
        or len([branch for branch in node.branches if not branch.is_null]) > 1
        or len(parts) > 1
    )


def intersect_inherited_fields(name: str, schemas: Schemas, shared: Collection[str], join: Join) -> Iterator[str]:
    """Add what `name` inherits for a field to the definition hoisted out of the field, so that its type is complete.

    Yields the names of the types that were extended. Those in `shared`, which other fields use, stay unchanged.
    """
    for part in _list_own_parts(schemas[name]):
        for field, node in part.get_subschema_map("properties").items():
            field_node = node.beside_null
            if field_node.referred is None:
                continue
            demands = [*_find_more(schemas[name], part, field, field_node.referred)]
            type_ = schemas.written[field_node.referred.owner]
            if field_node.referred.at == node.at and demands and field_node.referred.owner not in shared:
                type_["allOf"] = [*demands, *type_.get("allOf", ())]
                schemas.forget()
                yield field_node.referred.owner
            elif demands and all(map(_is_record, (field_node, *map(schemas.make_node, demands)))):
                joint_type = join(name, field, {"allOf": [field_node.schema, *demands]}, node.at)
                part.says["properties"][field] = _with_type(node, field_node, joint_type)
                schemas.forget()


def _list_own_parts(node: Node) -> Iterator[Node]:
    """Yield a schema and its inline parts."""
    yield node
    for part in node.get_subschemas("allOf"):
        yield from _list_own_parts(part)


def _find_more(definition: Node, part: Node, field: str, type_: Node) -> Iterator[Schema]:
    """Yield what other parts of a definition demand of a field beyond the definition that is its type; the nearest first."""
    lineage = set(type_.lineage)
    for candidate in definition.all_parts:
        if candidate.keys == part.keys and candidate.owner == part.owner:
            continue
        field_node = candidate.get_subschema_map("properties").get(field)
        field_node = None if field_node is None or not is_object(field_node.schema) else field_node.beside_null
        if field_node is None or field_node.reference in lineage:
            continue
        if field_node.referred is not None and type_.owner in field_node.referred.lineage:
            continue  # it says more than this one
        demands = copy_json(select_assertions(field_node.says))
        if demands and not _are_types_of(field_node, type_):
            lineage |= field_node.referred.lineage if field_node.referred is not None else set()
            yield demands


def _are_types_of(node: Node, type_: Node) -> bool:
    """Whether a schema only lists JSON types, among them those of a definition."""
    if node.referred is not None:
        return _are_types_of(node.referred, type_)
    return node.demands == frozenset({"type"}) and "integer" not in node.types and type_.kinds <= node.kinds


def _is_record(node: Node) -> bool:
    definition = node if node.referred is None else node.referred
    return definition.kinds == OBJECTS and ("properties" in definition.says or "allOf" in definition.says)


def _with_type(field: Node, old: Node, new: Schema) -> Schema:
    """A field's schema with another type; null and annotations are unchanged."""
    words = select_annotations(field.says)
    if field is old:
        return {**words, **new}
    keyword = "anyOf" if "anyOf" in field.says else "oneOf"
    return {**words, keyword: [new if branch is old else branch.schema for branch in field.branches]}
