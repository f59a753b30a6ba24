"""What a release has, by the names that stand on the wire: methods, types, and their fields, variants and values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, assert_never

from acpgen import ir
from acpgen.compat.protocol.revision import SchemaRevision

Kind: TypeAlias = Literal["field", "variant", "value"]


@dataclass(frozen=True, slots=True)
class TypeContents:
    """A type: what its members are, `None` for what has none, and their names.

    `fields` are those of the records of a union, by tag: whether they stand in the record or beside its reference, they are the same on
    the wire.
    """

    kind: Kind | None
    members: frozenset[str] = frozenset()
    fields: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])


@dataclass(frozen=True, slots=True)
class ReleaseContents:
    """The types by name: those that the release names itself, `own`, and the params and results of its methods, by name and kind."""

    types: Mapping[str, TypeContents] = field(repr=False)
    methods: Mapping[tuple[str, str], tuple[str | None, str | None]] = field(repr=False)
    own: frozenset[str] = field(repr=False)


def summarize_release(release: SchemaRevision) -> ReleaseContents:
    """What a release contains."""
    methods: dict[tuple[str, str], tuple[str | None, str | None]] = {
        (each.name, each.kind): (each.params, each.result) for each in reversed(release.protocol.methods)
    }
    origins = release.bundle.origins.items()
    own = frozenset(name for name, at in origins if is_own(name, at) and name in release.definitions)
    named = own.union(name for told in methods.values() for name in told if name is not None)
    return ReleaseContents(
        types={name: summarize_type(release.definitions[name], release.definitions) for name in sorted(named)},
        methods=methods,
        own=own,
    )


def summarize_type(definition: ir.Definition, definitions: Mapping[str, ir.Definition]) -> TypeContents:
    """What a type contains."""
    kinds: Mapping[type[ir.Definition], Kind] = {ir.Record: "field", ir.TaggedUnion: "variant", ir.Enum: "value"}
    records = {tag: definitions[name] for tag, name in variants(definition)}
    return TypeContents(
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
