"""What a decoder accepts beyond the schema: the fallbacks of unions and enumerations that keep what is unknown."""

from __future__ import annotations

from collections.abc import Mapping

from acpgen.schema.equality import same
from acpgen.schema.unions import Tagged, branches_of, flatten, own_tag, recognise
from acpgen.schema.walk import Schema, copied


def tolerant(schema: Schema) -> Schema:
    """The bundle's schema with the fallbacks of `x-unknown: keep` written in: what a decoder accepts, leniency aside."""
    changed = copied(schema)
    definitions = changed["$defs"]
    for definition in definitions.values():
        if definition.get("x-unknown") != "keep":
            continue
        union = branches_of(definition)
        if union is None:
            values = definition.pop("enum", None)
            assert values is not None, "x-unknown stands on unions and enumerations"
            definition["anyOf"] = [{"enum": values}, {"type": "string"}]
            continue
        keyword, branches = union
        found = recognise(branches, definitions)
        definition.pop(keyword)
        if found is None:
            definition["anyOf"] = [*branches, {"type": "string"}]
        elif found.fallback is None:
            definition["anyOf"] = [*branches, _fallback(found, branches, definitions)]
    return changed


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
