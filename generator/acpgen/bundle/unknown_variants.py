"""What a decoder accepts beyond the schema: fallbacks of unions and enumerations that preserve unknown values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, TypeAlias

from acpgen.input.equality import is_equal
from acpgen.input.schema_nodes import Node, Schemas
from acpgen.input.tagged_unions import Tag, Tagged, find_own_tag, list_constants
from acpgen.input.walk import Schema, find_sources, is_array, is_object, list_references, map_subschemas
from acpgen.pointers import read_reference, write_reference

Unions: TypeAlias = Mapping[str, Tagged | None]
"""The tagged union that each definition is, if any, as in the bundle."""


def make_receiver_definitions(
    definitions: Mapping[str, Schema],
    unions: Unions,
    tolerated: Collection[str],
    fallbacks: Mapping[str, str] | None = None,
) -> dict[str, Schema]:
    """The definitions that a decoder validates by in place of those of the same name, apart from leniency, and additional ones that
    these need.

    The `tolerated` ones preserve unknown values. `fallbacks` are the names of the fallbacks of unions that have one.
    """
    names: Mapping[str, str] = {} if fallbacks is None else fallbacks
    schemas = Schemas(definitions)
    exact = _Exact(definitions, tolerated)
    receiving: dict[str, Schema] = {}
    for name in (name for name in definitions if name in exact.leading):
        is_apart = unions.get(name) is not None or name in tolerated
        node = schemas.make_node(exact.restore_exact(definitions[name], is_apart=is_apart))
        receiving[name] = _with_own_tags(node, unions.get(name), exact.leading)
        if name in tolerated:
            receiving[name] = _open_union(schemas.make_node(receiving[name]), unions.get(name), names.get(name))
    for name, fallback in names.items():
        tagged = unions.get(name) if fallback not in definitions else None
        if tagged is not None and name in tolerated:
            receiving[fallback] = _make_fallback(tagged, schemas[name].branches)
        elif tagged is not None:
            branches = schemas[name].branches
            place = tagged.fallback if tagged.fallback is not None else tagged.default
            base = {"allOf": [branches[place].schema]} if place is not None else {}
            fields = {**_collect_leniency(branches), tagged.tag: {"type": "string"}}
            receiving[fallback] = {**base, "type": "object", "properties": fields, "required": [tagged.tag]}
    changed_definitions = {name: schema for name, schema in receiving.items() if schema != definitions.get(name)}
    return {**changed_definitions, **exact.definitions}


_MOST_REPEATED: Final = 3
"""How deep a `oneOf` may lie directly in others whose exact branches exclude one another: each of these is repeated four times."""


class _Exact:
    """Keeps exclusions and conditions of a schema on definitions without fallbacks: there, a more tolerant definition would reject more."""

    def __init__(self, definitions: Mapping[str, Schema], opened: Collection[str]) -> None:
        self.definitions: Final[dict[str, Schema]] = {}
        self.leading: Final = find_sources(
            opened, {name: list_references(schema) for name, schema in definitions.items()}
        ).keys()
        """The definitions that lead to what is opened."""
        self._published: Final = definitions
        self._depth = 0
        """In how many unions the schema lies that is being changed, which are repeated."""

    def restore_exact(self, schema: Any, *, is_inside: bool = False, is_apart: bool = False) -> Any:
        """A schema whose exclusions and conditions refer to exact definitions.

        Of a `oneOf` the exact branches alone exclude one another, unless it `is_apart`: by its tags or constants.
        """
        if not is_object(schema):
            return schema
        union = {"oneOf": schema["oneOf"]} if is_array(schema.get("oneOf")) else {}
        if not (is_inside or is_apart) and not self.leading.isdisjoint(list_references(union)):
            whole = self.restore_exact({key: value for key, value in schema.items() if key != "oneOf"})
            self._depth += 1
            received, exact = self.restore_exact(union, is_apart=True), self.restore_exact(union, is_inside=True)
            self._depth -= 1
            parts = [{"anyOf": received["oneOf"]}]
            if self._depth < _MOST_REPEATED:
                parts.append({"if": {"anyOf": exact["oneOf"], "not": exact}, "then": received})
            return {**whole, "allOf": [*whole.get("allOf", ()), *parts]}
        result = map_subschemas(
            schema,
            lambda keys, subschema: self.restore_exact(subschema, is_inside=is_inside or keys[0] in ("not", "if")),
        )
        name = read_reference(schema["$ref"]) if is_inside and isinstance(schema.get("$ref"), str) else ""
        if name in self.leading:
            exact = f"{name} (exact)"
            if exact not in self.definitions:
                self.definitions[exact] = {}  # until it is made
                self.definitions[exact] = self.restore_exact(self._published[name], is_inside=True)
            result["$ref"] = write_reference(exact)
        return result


def _open_union(union: Node, tagged: Tagged | None, fallback: str | None) -> Schema:
    """A union or an enumeration with an additional branch for unknown values."""
    keywords = {key: value for key, value in union.says.items() if key not in ("anyOf", "oneOf", "enum")}
    branches = [branch.schema for branch in union.branches] or [{"enum": union.says["enum"]}]
    if tagged is None:
        values = [value for branch in branches for value in list_constants(branch) or ()]
        return {**keywords, "anyOf": [*branches, {"type": "string" if isinstance(values[0], str) else "integer"}]}
    if tagged.fallback is not None:
        return {**keywords, "anyOf": branches}
    fallback_branch = {"$ref": write_reference(fallback)} if fallback else _make_fallback(tagged, union.branches)
    return {**keywords, "anyOf": [*branches, fallback_branch]}


def _collect_leniency(branches: list[Node]) -> dict[str, Schema]:
    """The leniency keywords of the fields of a union's branches: they also apply to its fallback."""
    fields: dict[str, Schema] = {}
    for branch in branches:
        for name, (field, *_) in branch.shape.properties.items():
            keywords = {key: value for key, value in field.says.items() if key.startswith("x-deserialize")}
            fields |= {name: keywords} if keywords and name not in fields else {}
    return fields


def _with_own_tags(union: Node, tagged: Tagged | None, leading: Collection[str]) -> Schema:
    """A union whose branches accept only their own tags, though the definitions they refer to preserve unknown values on their own."""
    if tagged is None or union.union is None:
        return union.says
    tags: dict[int, list[Tag]] = {}
    for index, tag in tagged.variants:
        if union.branches[index].reference in leading:
            tags.setdefault(index, []).append(tag)
    branches = [
        {**branch.says, "properties": {tagged.tag: {"enum": tags[index]}}} if index in tags else branch.schema
        for index, branch in enumerate(union.branches)
    ]
    return {**union.says, union.union[0]: branches}


def find_common_fields(branches: list[Node], tag: str) -> tuple[dict[str, Node], list[str]]:
    """The properties that all branches declare with the same schema, and those of them that all require."""
    shapes = [branch.shape for branch in branches]
    common = {
        name: first
        for name, (first, *_) in shapes[0].properties.items()
        if name != tag
        and all(
            name in shape.properties and is_equal(shape.properties[name][0].schema, first.schema) for shape in shapes
        )
    }
    return common, [name for name in common if all(name in shape.required for shape in shapes)]


def _make_fallback(tagged: Tagged, branches: list[Node]) -> Schema:
    common, required = find_common_fields([branches[index] for index in tagged.own_branches], tagged.tag)
    default_tag = find_own_tag(tagged, branches[tagged.default]) if tagged.default is not None else None
    tags = [*(tag for _, tag in tagged.variants), *([default_tag] if default_tag is not None else [])]
    return {
        "type": "object",
        "properties": {tagged.tag: {"type": "string"}, **{name: field.schema for name, field in common.items()}},
        "required": [tagged.tag, *required],
        "not": {"required": [tagged.tag], "properties": {tagged.tag: {"enum": tags}}},
    }
