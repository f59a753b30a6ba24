"""Fields that a definition narrows beside another that has them: what the field's own type says, and what is inherited, is one type."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias

from acpgen.input.schema_nodes import OBJECTS, Node, Schemas
from acpgen.input.walk import Schema, asserts, copied, is_object

Join: TypeAlias = Callable[[str, str, Schema, str], Schema]
"""Makes a definition for a field of an owner from a schema and its place, and says how it is referred to."""


def narrow_inherited(name: str, schemas: Schemas, shared: Collection[str], join: Join) -> Iterator[str]:
    """Write what `name` inherits of a field into the type that was taken out of the field, so that this type says all of it.

    Yields the types that say more now. Those that are `shared` with other fields stay.
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
                joined = join(name, field, {"allOf": [own.schema, *theirs]}, node.at)
                part.says["properties"][field] = _with_type(node, own, joined)
                schemas.forget()


def _own_parts(node: Node) -> Iterator[Node]:
    """A schema and the parts that it writes out itself."""
    yield node
    for part in node.each("allOf"):
        yield from _own_parts(part)


def _find_more(definition: Node, part: Node, field: str, type_: Node) -> Iterator[Schema]:
    """What other parts of a definition say of a field and the definition that is its type does not; the nearest first."""
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
    """Whether a schema only names types, those of a definition among them."""
    if node.referred is not None:
        return _are_types_of(node.referred, type_)
    return node.demands == frozenset({"type"}) and "integer" not in node.types and type_.kinds <= node.kinds


def _is_record(node: Node) -> bool:
    named = node if node.referred is None else node.referred
    return named.kinds == OBJECTS and ("properties" in named.says or "allOf" in named.says)


def _with_type(field: Node, old: Node, new: Schema) -> Schema:
    """A field's schema with another type, null and words as they are."""
    words = {key: value for key, value in field.says.items() if not asserts(key)}
    if field is old:
        return {**words, **new}
    keyword = "anyOf" if "anyOf" in field.says else "oneOf"
    return {**words, keyword: [new if branch is old else branch.schema for branch in field.branches]}
