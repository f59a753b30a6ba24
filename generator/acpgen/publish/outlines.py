"""What a release has, by the names that stand on the wire: methods, types, and their fields, variants and values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, assert_never, cast

from acpgen import ir
from acpgen.compat.protocol.revision import Revised

Kind: TypeAlias = Literal["field", "variant", "value"]


@dataclass(frozen=True, slots=True)
class OutlinedType:
    """A type: what its members are, `None` for what has none, and their names.

    `fields` are those of the records of a union, by tag: whether they stand in the record or beside its reference, they are the same on
    the wire.
    """

    kind: Kind | None
    members: frozenset[str] = frozenset()
    fields: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])


@dataclass(frozen=True, slots=True)
class Outline:
    """The types by name, the params and result of methods by name and kind, and the types that the release names itself."""

    types: Mapping[str, OutlinedType] = field(repr=False)
    methods: Mapping[tuple[str, str], tuple[str | None, str | None]] = field(repr=False)
    own: frozenset[str] = field(repr=False)


def outline(release: Revised) -> Outline:
    """The outline of a release."""
    return Outline(
        types={name: outlined(definition, release.definitions) for name, definition in release.definitions.items()},
        methods={(each.name, each.kind): (each.params, each.result) for each in reversed(release.protocol.methods)},
        own=frozenset(name for name, at in release.bundle.origins.items() if is_own(name, at)),
    )


def outlined(definition: ir.Definition, definitions: Mapping[str, ir.Definition]) -> OutlinedType:
    """A type as it stands in an outline."""
    kinds: Mapping[type[ir.Definition], Kind] = {ir.Record: "field", ir.TaggedUnion: "variant", ir.Enum: "value"}
    records = {tag: definitions[name] for tag, name in variants(definition)}
    return OutlinedType(
        kinds.get(type(definition)),
        frozenset(name for _, name in members(definition)),
        {
            tag: frozenset(name for _, name in members(each))
            for tag, each in records.items()
            if isinstance(each, ir.Record)
        },
    )


def variants(definition: ir.Definition) -> Iterator[tuple[str, str]]:
    """The types of a union by tag, and that of unknown tags by none."""
    if isinstance(definition, ir.TaggedUnion):
        yield from ((str(variant.tag), variant.type) for variant in definition.variants)
        if definition.fallback is not None:
            yield "", definition.fallback


def members(definition: ir.Definition) -> Iterator[tuple[Kind, str]]:
    """The fields, variants or values of a type, in their order."""
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


def is_own(name: str, at: str) -> bool:
    """Whether a definition stands in its file under the name that it has here; others are named by this project."""
    return at.partition("#")[2] in (f"/$defs/{name}", f"/definitions/{name}")


def as_data(found: Outline) -> ir.JSON:
    """An outline as JSON that can be kept."""
    told: dict[str, Any] = {
        "types": {
            name: [each.kind, sorted(each.members), {tag: sorted(names) for tag, names in each.fields.items()}]
            for name, each in found.types.items()
        },
        "methods": [[*method, *types] for method, types in found.methods.items()],
        "own": sorted(found.own),
    }
    return told


def from_data(data: ir.JSON) -> Outline:
    """What `as_data` was given."""
    told = cast("Any", data)
    return Outline(
        types={
            name: OutlinedType(kind, frozenset(names), {tag: frozenset(each) for tag, each in fields.items()})
            for name, (kind, names, fields) in told["types"].items()
        },
        methods={(name, kind): (params, result) for name, kind, params, result in told["methods"]},
        own=frozenset(told["own"]),
    )
