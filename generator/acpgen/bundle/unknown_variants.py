"""What a decoder accepts beyond the schema: the fallbacks of unions and enumerations that keep what is unknown."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, TypeAlias

from acpgen.input.equality import same
from acpgen.input.tagged_unions import Tag, Tagged, branches_of, constants, flatten, lone_reference, own_tag
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
    exact = _Exact(definitions, tolerated)
    found: dict[str, Schema] = {}
    for name in (name for name in definitions if name in exact.leading):
        found[name] = _with_own_tags(exact.outside(definitions[name]), unions.get(name), exact.leading)
        if name in tolerated:
            found[name] = _opened(found[name], unions.get(name), definitions, names.get(name))
    for name, fallback in names.items():
        _, branches = branches_of(definitions.get(name, {})) or ("", [])
        tagged = unions.get(name) if fallback not in definitions else None
        if tagged is not None and name in tolerated:
            found[fallback] = _fallback(tagged, branches, definitions)
        elif tagged is not None:
            place = tagged.fallback if tagged.fallback is not None else tagged.default
            other = {"allOf": [branches[place]]} if place is not None else {}
            fields = {**_leniency(branches, definitions), tagged.tag: {"type": "string"}}
            found[fallback] = {**other, "type": "object", "properties": fields, "required": [tagged.tag]}
    return {**{name: one for name, one in found.items() if one != definitions.get(name)}, **exact.definitions}


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


def _opened(
    definition: Schema, found: Tagged | None, definitions: Mapping[str, Schema], fallback: str | None
) -> Schema:
    rest = {key: value for key, value in definition.items() if key not in ("anyOf", "oneOf", "enum")}
    union = branches_of(definition)
    branches = union[1] if union is not None else [{"enum": definition["enum"]}]
    if found is None:
        values = [value for branch in branches for value in constants(branch) or ()]
        return {**rest, "anyOf": [*branches, {"type": "string" if isinstance(values[0], str) else "integer"}]}
    if found.fallback is not None:
        return {**rest, "anyOf": branches}
    other = {"$ref": reference_to(fallback)} if fallback else _fallback(found, branches, definitions)
    return {**rest, "anyOf": [*branches, other]}


def _leniency(branches: list[Schema], definitions: Mapping[str, Schema]) -> dict[str, Schema]:
    """What the branches of a union say of lenient fields: a fallback is as lenient."""
    found: dict[str, Schema] = {}
    for branch in branches:
        for name, (sub, *_) in flatten(branch, definitions).properties.items():
            says = {key: value for key, value in sub.items() if key.startswith("x-deserialize")}
            found |= {name: says} if says and name not in found else {}
    return found


def _with_own_tags(definition: Schema, found: Tagged | None, leading: Collection[str]) -> Schema:
    """A union whose branches keep to their tags, though what they refer to keeps what is unknown where it stands alone."""
    if found is None:
        return definition
    keyword, branches = branches_of(definition) or ("", [])
    tags: dict[int, list[Tag]] = {}
    for index, tag in found.variants:
        if lone_reference(branches[index]) in leading:
            tags.setdefault(index, []).append(tag)
    told = {index: {**branches[index], "properties": {found.tag: {"enum": own}}} for index, own in tags.items()}
    return {**definition, keyword: [told.get(index, branch) for index, branch in enumerate(branches)]}


def sharing(found: Tagged, branches: list[Schema]) -> list[Schema]:
    """The branches whose common fields an unknown variant has too: all but a fallback."""
    places = [*(index for index, _ in found.variants), *([] if found.default is None else [found.default])]
    return [branches[index] for index in dict.fromkeys(places)]


def common_fields(branches: list[Schema], definitions: Mapping[str, Schema], tag: str) -> tuple[Schema, list[str]]:
    """The properties that every branch declares alike, and those of them that every branch requires."""
    flats = [flatten(branch, definitions) for branch in branches]
    shared = {
        name: subs[0]
        for name, subs in flats[0].properties.items()
        if name != tag and all(same(flat.properties.get(name, [None])[0], subs[0]) for flat in flats)
    }
    required = [name for name in shared if all(name in flat.required for flat in flats)]
    return shared, required


def _fallback(found: Tagged, branches: list[Schema], definitions: Mapping[str, Schema]) -> Schema:
    shared, required = common_fields(sharing(found, branches), definitions, found.tag)
    known = [tag for _, tag in found.variants]
    own = own_tag(found, branches[found.default], definitions) if found.default is not None else None
    known += [own] if own is not None else []
    return {
        "type": "object",
        "properties": {found.tag: {"type": "string"}, **shared},
        "required": [found.tag, *required],
        "not": {"required": [found.tag], "properties": {found.tag: {"enum": known}}},
    }
