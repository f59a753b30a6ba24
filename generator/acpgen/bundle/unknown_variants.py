"""What a decoder accepts beyond the schema: the fallbacks of unions and enumerations that keep what is unknown."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, TypeAlias

from acpgen.input.equality import same
from acpgen.input.schema_nodes import Node, Schemas
from acpgen.input.tagged_unions import Tag, Tagged, constants, own_tag
from acpgen.input.walk import LISTS, MAPS, SINGLE, Schema, is_array, is_object, references
from acpgen.pointers import reference_to, target

Unions: TypeAlias = Mapping[str, Tagged | None]
"""The tagged union that each definition is, as the bundle has them."""


def of_receivers(
    definitions: Mapping[str, Schema],
    unions: Unions,
    tolerated: Collection[str],
    fallbacks: Mapping[str, str] | None = None,
) -> dict[str, Schema]:
    """The definitions that a decoder judges by in place of their namesakes, leniency aside, and those that these need beside them.

    The `tolerated` ones keep what is unknown. `fallbacks` are the names of the fallbacks of unions that have one.
    """
    names: Mapping[str, str] = {} if fallbacks is None else fallbacks
    schemas = Schemas(definitions)
    exact = _Exact(definitions, tolerated)
    receiving: dict[str, Schema] = {}
    for name in (name for name in definitions if name in exact.leading):
        one = schemas.node(exact.outside(definitions[name]))
        receiving[name] = _with_own_tags(one, unions.get(name), exact.leading)
        if name in tolerated:
            receiving[name] = _opened(schemas.node(receiving[name]), unions.get(name), names.get(name))
    for name, fallback in names.items():
        tagged = unions.get(name) if fallback not in definitions else None
        if tagged is not None and name in tolerated:
            receiving[fallback] = _fallback(tagged, schemas[name].branches)
        elif tagged is not None:
            branches = schemas[name].branches
            place = tagged.fallback if tagged.fallback is not None else tagged.default
            other = {"allOf": [branches[place].schema]} if place is not None else {}
            fields = {**_leniency(branches), tagged.tag: {"type": "string"}}
            receiving[fallback] = {**other, "type": "object", "properties": fields, "required": [tagged.tag]}
    changed = {name: one for name, one in receiving.items() if one != definitions.get(name)}
    return {**changed, **exact.definitions}


class _Exact:
    """Holds what a schema excludes and asks for to the definitions without fallbacks: there, what keeps more would refuse more."""

    def __init__(self, definitions: Mapping[str, Schema], opened: Collection[str]) -> None:
        self.definitions: Final[dict[str, Schema]] = {}
        self.leading: Final = set(opened)
        """The definitions that lead to what is opened."""
        self._published: Final = definitions
        while more := {name for name, one in definitions.items() if self.leading & {*references(one)}} - self.leading:
            self.leading.update(more)

    def outside(self, schema: Any, *, is_inside: bool = False) -> Any:
        """A schema with its exclusions and conditions made exact."""
        if is_array(schema):
            return [self.outside(one, is_inside=is_inside) for one in schema]
        if not is_object(schema):
            return schema
        found: dict[str, Any] = {}
        for key, one in schema.items():
            if key in MAPS and is_object(one):
                found[key] = {name: self.outside(each, is_inside=is_inside) for name, each in one.items()}
            else:
                is_exact = is_inside or key in ("not", "if")
                found[key] = self.outside(one, is_inside=is_exact) if key in (*SINGLE, *LISTS) else one
        name = target(schema["$ref"]) if is_inside and isinstance(schema.get("$ref"), str) else ""
        if name in self.leading:
            exact = f"{name} (exact)"
            if exact not in self.definitions:
                self.definitions[exact] = {}  # until it is made
                self.definitions[exact] = self.outside(self._published[name], is_inside=True)
            found["$ref"] = reference_to(exact)
        return found


def _opened(union: Node, found: Tagged | None, fallback: str | None) -> Schema:
    """A union or an enumeration with one more branch, for what is unknown."""
    rest = {key: value for key, value in union.says.items() if key not in ("anyOf", "oneOf", "enum")}
    branches = [branch.schema for branch in union.branches] or [{"enum": union.says["enum"]}]
    if found is None:
        values = [value for branch in branches for value in constants(branch) or ()]
        return {**rest, "anyOf": [*branches, {"type": "string" if isinstance(values[0], str) else "integer"}]}
    if found.fallback is not None:
        return {**rest, "anyOf": branches}
    other = {"$ref": reference_to(fallback)} if fallback else _fallback(found, union.branches)
    return {**rest, "anyOf": [*branches, other]}


def _leniency(branches: list[Node]) -> dict[str, Schema]:
    """What the branches of a union say of lenient fields: a fallback is as lenient."""
    fields: dict[str, Schema] = {}
    for branch in branches:
        for name, (field, *_) in branch.shape.properties.items():
            says = {key: value for key, value in field.says.items() if key.startswith("x-deserialize")}
            fields |= {name: says} if says and name not in fields else {}
    return fields


def _with_own_tags(union: Node, found: Tagged | None, leading: Collection[str]) -> Schema:
    """A union whose branches keep to their tags, though what they refer to keeps what is unknown where it stands alone."""
    if found is None or union.union is None:
        return union.says
    tags: dict[int, list[Tag]] = {}
    for index, tag in found.variants:
        if union.branches[index].reference in leading:
            tags.setdefault(index, []).append(tag)
    branches = [
        {**branch.says, "properties": {found.tag: {"enum": tags[index]}}} if index in tags else branch.schema
        for index, branch in enumerate(union.branches)
    ]
    return {**union.says, union.union[0]: branches}


def sharing(found: Tagged, branches: list[Node]) -> list[Node]:
    """The branches whose common fields an unknown variant has too: all but a fallback."""
    places = [*(index for index, _ in found.variants), *([] if found.default is None else [found.default])]
    return [branches[index] for index in dict.fromkeys(places)]


def common_fields(branches: list[Node], tag: str) -> tuple[dict[str, Node], list[str]]:
    """The properties that every branch declares alike, and those of them that every branch requires."""
    shapes = [branch.shape for branch in branches]
    shared = {
        name: first
        for name, (first, *_) in shapes[0].properties.items()
        if name != tag
        and all(name in shape.properties and same(shape.properties[name][0].schema, first.schema) for shape in shapes)
    }
    return shared, [name for name in shared if all(name in shape.required for shape in shapes)]


def _fallback(found: Tagged, branches: list[Node]) -> Schema:
    shared, required = common_fields(sharing(found, branches), found.tag)
    own = own_tag(found, branches[found.default]) if found.default is not None else None
    tags = [*(tag for _, tag in found.variants), *([own] if own is not None else [])]
    return {
        "type": "object",
        "properties": {found.tag: {"type": "string"}, **{name: field.schema for name, field in shared.items()}},
        "required": [found.tag, *required],
        "not": {"required": [found.tag], "properties": {found.tag: {"enum": tags}}},
    }
