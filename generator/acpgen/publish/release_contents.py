"""The contents of a release by the names used in messages: methods, types, and their fields, variants and values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias, assert_never

from msgspec import Struct

from acpgen import ir
from acpgen.compat.protocol.revision import SchemaRevision

Kind: TypeAlias = Literal["field", "variant", "value"]


class TypeContents(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The contents of a type: the kind of its members (`None` if it has none), whether the release names it itself, and the members'
    names.

    `fields` are the fields of a union's records, by tag. Whether a field is in the record or beside its reference makes no difference in
    messages.
    """

    kind: Kind | None = None
    named: bool = False
    members: tuple[str, ...] = ()
    fields: dict[str, tuple[str, ...]] = {}


def summarize_release(release: SchemaRevision) -> dict[str, Any]:
    """Summarize a release: the params and results of its requests and notifications, the types that it names itself, and those of its
    methods.
    """
    methods = {
        kind: {
            method.name: (method.params, method.result)
            for method in reversed(release.protocol.methods)
            if method.kind == kind
        }
        for kind in ("request", "notification")
    }
    origins = release.bundle.origins.items()
    own_types = {name for name, at in origins if find_own_name(at) == name and name in release.definitions}
    message_types = {
        name for by_name in methods.values() for pair in by_name.values() for name in pair if name is not None
    }
    types = {name: _summarize_type(name, release.definitions, own_types) for name in sorted(own_types | message_types)}
    return {**methods, "types": types}


def _summarize_type(name: str, definitions: Mapping[str, ir.Definition], own_types: set[str]) -> TypeContents:
    """Summarize the contents of a type."""
    kinds: Mapping[type[ir.Definition], Kind] = {ir.Record: "field", ir.TaggedUnion: "variant", ir.Enum: "value"}
    definition = definitions[name]
    records = {tag: definitions[type_] for tag, type_ in sorted(find_variants(definition))}
    return TypeContents(
        kinds.get(type(definition)),
        name in own_types,
        _list_names(definition),
        {tag: _list_names(record) for tag, record in records.items() if isinstance(record, ir.Record)},
    )


def _list_names(definition: ir.Definition) -> tuple[str, ...]:
    return tuple(sorted({name for _, name in list_members(definition)}))


def find_variants(definition: ir.Definition) -> Iterator[tuple[str, str]]:
    """Yield the tag and type of each variant of a union; the fallback branch has an empty tag."""
    if isinstance(definition, ir.TaggedUnion):
        yield from ((str(variant.tag), variant.type) for variant in definition.variants)
        if definition.fallback is not None:
            yield "", definition.fallback


def list_members(definition: ir.Definition) -> Iterator[tuple[Kind, str]]:
    """Yield the fields, variants or values of a type, in order."""
    match definition:
        case ir.Record():
            for field_ in definition.fields:
                yield "field", field_.name
        case ir.TaggedUnion():
            for variant in definition.variants:
                yield "variant", str(variant.tag)
        case ir.Enum():
            for value in definition.values:
                yield "value", str(value.value)
        case ir.Alias():
            pass
        case _:
            assert_never(definition)


def find_own_name(at: str) -> str:
    """The name in its file of the definition at a place; empty if the place is inside a definition, which this project named."""
    match at.partition("#")[2].split("/"):
        case ["", "$defs" | "definitions", name]:
            return name
        case _:
            return ""
