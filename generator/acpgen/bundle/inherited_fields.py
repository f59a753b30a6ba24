"""Fields that a definition narrows beside another that has them: what the field's own type says, and what is inherited, is one type."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, TypeAlias

from acpgen.input.tagged_unions import OBJECTS, is_null, kinds, lone_reference
from acpgen.input.walk import Schema, asserts, copied, is_array, is_object
from acpgen.pointers import escape, reference_to, target

Definitions: TypeAlias = dict[str, Schema]
Join: TypeAlias = Callable[[str, str, Schema, str], Schema]
"""Makes a definition for a field of an owner from a schema and its place, and says how it is referred to."""


def narrow_inherited(
    name: str, definitions: Definitions, origins: Mapping[str, str], shared: Collection[str], join: Join
) -> Iterator[str]:
    """Write what `name` inherits of a field into the type that was taken out of the field, so that this type says all of it.

    Yields the types that say more now. Those that are `shared` with other fields stay.
    """
    for part, at in _own_parts(definitions[name], origins[name]):
        for field, schema in part.get("properties", {}).items():
            own = _without_null(schema)
            reference = lone_reference(own)
            if reference is None or reference not in definitions:
                continue
            place = f"{at}/properties/{escape(field)}"
            theirs = [*_telling(name, part, field, definitions, reference)]
            if origins[reference] == place and theirs and reference not in shared:
                node = definitions[reference]
                node["allOf"] = [*theirs, *node.get("allOf", ())]
                yield reference
            elif theirs and all(_is_record(one, definitions) for one in (own, *theirs)):
                joined = join(name, field, {"allOf": [own, *theirs]}, place)
                part["properties"][field] = _with(schema, own, joined)


def _own_parts(schema: Schema, at: str) -> Iterator[tuple[Schema, str]]:
    """A schema and the parts that it writes out itself."""
    yield schema, at
    for index, part in enumerate(schema.get("allOf", ())):
        if is_object(part):
            yield from _own_parts(part, f"{at}/allOf/{index}")


def _telling(name: str, part: Schema, field: str, definitions: Definitions, reference: str) -> Iterator[Schema]:
    """What other parts of a definition say of a field and the definition that its type refers to does not."""
    known = lineage(reference, definitions)
    for schema in _inherited(definitions[name], part, field, definitions, set()):
        own = _without_null(schema)
        above = lone_reference(own)
        if above is not None and above in known:
            continue
        if above is not None and reference in lineage(above, definitions):
            continue  # it says more than this one
        demands = {key: copied(value) for key, value in own.items() if asserts(key)}
        if not demands or _are_types_of(own, reference, definitions):
            continue
        known |= lineage(above, definitions) if above is not None else set()
        yield demands


def _inherited(schema: Any, without: Schema, field: str, definitions: Definitions, seen: set[str]) -> Iterator[Schema]:
    """What a schema and its parts, but for one, say of a field; the nearest first."""
    if not is_object(schema):
        return
    own = schema.get("properties", {}).get(field)
    if schema is not without and is_object(own):
        yield own
    for part in schema.get("allOf", ()):
        yield from _inherited(part, without, field, definitions, seen)
    name = target(schema["$ref"]) if isinstance(schema.get("$ref"), str) else None
    if name is not None and name not in seen:
        seen.add(name)
        yield from _inherited(definitions.get(name), without, field, definitions, seen)


def lineage(name: str, definitions: Mapping[str, Schema]) -> set[str]:
    """A definition and those whose demands are all its own."""
    found: set[str] = set()
    pending: list[Any] = [{"$ref": reference_to(name)}]
    while pending:
        node = pending.pop()
        if is_object(node):
            pending.extend(node.get("allOf", ()))
            above = target(node["$ref"]) if isinstance(node.get("$ref"), str) else None
            if above is not None and above not in found:
                found.add(above)
                pending.append(definitions.get(above))
    return found


def _are_types_of(schema: Schema, reference: str, definitions: Definitions) -> bool:
    """Whether a schema only names types, those of a definition among them."""
    name = lone_reference(schema)
    demands = {key for key in schema if asserts(key)}
    if name is not None:
        return _are_types_of(definitions.get(name, {}), reference, definitions) if len(demands) == 1 else False
    types = schema.get("type", [])
    whole = "integer" not in (types if is_array(types) else [types])
    return demands == {"type"} and whole and kinds(definitions[reference], definitions) <= kinds(schema, definitions)


def _is_record(schema: Schema, definitions: Definitions) -> bool:
    name = lone_reference(schema)
    named = definitions.get(name, {}) if name is not None else schema
    return kinds(named, definitions) == OBJECTS and ("properties" in named or "allOf" in named)


def _without_null(schema: Any) -> Schema:
    """What a field accepts beside null, where that is one schema."""
    for keyword in ("anyOf", "oneOf"):
        if is_object(schema) and {key for key in schema if asserts(key)} == {keyword}:
            left = [branch for branch in schema[keyword] if not is_null(branch)]
            if len(left) == 1 and is_object(left[0]):
                return left[0]
    return schema if is_object(schema) else {}


def _with(schema: Schema, old: Schema, new: Schema) -> Schema:
    """A field's schema with another type, null and words as they are."""
    words = {key: value for key, value in schema.items() if not asserts(key)}
    if schema is old:
        return {**words, **new}
    keyword = "anyOf" if "anyOf" in schema else "oneOf"
    return {**words, keyword: [new if branch is old else branch for branch in schema[keyword]]}
