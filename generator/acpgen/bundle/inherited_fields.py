"""Fields that a definition inherits and narrows: the field's own type and what is inherited become one type."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias

from acpgen.input.schema_nodes import OBJECTS, Node, Schemas
from acpgen.input.walk import Schema, asserts, copied, is_object

Join: TypeAlias = Callable[[str, str, Schema, str], Schema]
"""Makes a definition for a field from the owner, the field's name, a schema and its place, and returns a reference to it."""


def narrow_inherited(name: str, schemas: Schemas, shared: Collection[str], join: Join) -> Iterator[str]:
    """Add what `name` inherits for a field to the definition hoisted out of the field, so that its type is complete.

    Yields the names of the types that were extended. Those in `shared`, which other fields use, stay unchanged.
    """
    for part in _own_parts(schemas[name]):
        for field, node in part.named("properties").items():
            own = node.beside_null
            if own.referred is None:
                continue
            theirs = [*_find_more(schemas[name], part, field, own.referred)]
            type_ = schemas.written[own.referred.owner]
            if own.referred.at == node.at and theirs and own.referred.owner not in shared:
                type_["allOf"] = [*theirs, *type_.get("allOf", ())]
                schemas.forget()
                yield own.referred.owner
            elif theirs and all(map(_is_record, (own, *map(schemas.node, theirs)))):
                joint_type = join(name, field, {"allOf": [own.schema, *theirs]}, node.at)
                part.says["properties"][field] = _with_type(node, own, joint_type)
                schemas.forget()


def _own_parts(node: Node) -> Iterator[Node]:
    """Yield a schema and its inline parts."""
    yield node
    for part in node.each("allOf"):
        yield from _own_parts(part)


def _find_more(definition: Node, part: Node, field: str, type_: Node) -> Iterator[Schema]:
    """Yield what other parts of a definition demand of a field beyond the definition that is its type; the nearest first."""
    lineage = set(type_.lineage)
    for other in definition.whole:
        if other.keys == part.keys and other.owner == part.owner:
            continue
        own = other.named("properties").get(field)
        own = None if own is None or not is_object(own.schema) else own.beside_null
        if own is None or own.reference in lineage:
            continue
        if own.referred is not None and type_.owner in own.referred.lineage:
            continue  # it says more than this one
        demands = {key: copied(value) for key, value in own.says.items() if asserts(key)}
        if demands and not _are_types_of(own, type_):
            lineage |= own.referred.lineage if own.referred is not None else set()
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
    words = {key: value for key, value in field.says.items() if not asserts(key)}
    if field is old:
        return {**words, **new}
    keyword = "anyOf" if "anyOf" in field.says else "oneOf"
    return {**words, keyword: [new if branch is old else branch.schema for branch in field.branches]}
