"""The second verdict: whether generated classes and fields keep their names and types. Decided by names, not by pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias, assert_never

from acpgen import ir
from acpgen.compat.diff.renames import find_renamed_definitions
from acpgen.compat.findings import Bindings
from acpgen.compat.protocol.check.counterparts import find_file_renames
from acpgen.compat.protocol.revision import SchemaRevision

Fact: TypeAlias = "tuple[str, object]"
"""One fact that users of a generated class rely on, with the name of the class in the new revision; the name is empty for a method."""


def compare_bindings(old: SchemaRevision, new: SchemaRevision) -> Bindings:
    """The verdict on generated code.

    `identical`: the same names and types; `additive`: only additions; `breaking`: some names or types are removed or differ.
    """
    before, after = _collect_facts(old, _find_renames(old, new)), _collect_facts(new, {})
    more = after - before or find_renamed_definitions(old.definitions, new).keys() - find_file_renames(old, new).keys()
    return "breaking" if before - after else "additive" if more else "identical"


def list_broken_classes(old: SchemaRevision, new: SchemaRevision, reported: Mapping[str, str]) -> tuple[str, ...]:
    """The definitions of the old revision whose generated classes are removed or differ in more than the `reported` renames.

    `reported` leads from the place of an old definition to the place of the new one.
    """
    new_names = {definition.at: name for name, definition in new.definitions.items()}
    renames = {
        **{
            name: new_names[reported[definition.at]]
            for name, definition in old.definitions.items()
            if definition.at in reported
        },
        **_find_renames(old, new),
    }
    broken_names = {name for name, _ in _collect_facts(old, renames) - _collect_facts(new, {})}
    return tuple(name for name in old.definitions if renames.get(name, name) in broken_names)


def _find_renames(old: SchemaRevision, new: SchemaRevision) -> Mapping[str, str]:
    return {**find_file_renames(old, new), **find_renamed_definitions(old.definitions, new)}


def _collect_facts(side: SchemaRevision, renames: Mapping[str, str]) -> set[Fact]:
    """Everything that the generated code of a revision offers, under the names that its classes have after renaming."""
    definitions = [definition for definition in side.stable_definitions.values() if side.keeps(definition.unstable)]
    methods: set[Fact] = {("", (method.name, method.side, method.kind)) for method in side.methods}
    return methods | {
        (renames.get(definition.name, definition.name), fact)
        for definition in definitions
        for fact in _list_offers(definition, renames)
    }


def _list_offers(definition: ir.Definition, renames: Mapping[str, str]) -> Iterator[object]:
    """What users of a class rely on. Additions break nobody, except a new required field."""
    yield type(definition)
    match definition:
        case ir.Record(fields=fields):
            yield frozenset(field.name for field in fields if field.required)
            yield from ((field.name, _describe_type(field.type, renames)) for field in fields)
        case ir.TaggedUnion(tag=tag, variants=variants):
            yield tag
            yield from ((variant.tag, renames.get(variant.type, variant.type)) for variant in variants)
            branches = ("default", definition.default), ("fallback", definition.fallback)
            yield from ((word, renames.get(name, name)) for word, name in branches if name is not None)
        case ir.Enum(values=values, openness=openness):
            yield _describe_type(definition.base, renames)
            yield from (("value", constant.value) for constant in values)
            yield from () if openness == "closed" else (openness,)
        case ir.Alias(type=type_):
            visible_type = _describe_type(type_, renames)
            yield isinstance(visible_type, frozenset)
            yield from visible_type if isinstance(visible_type, frozenset) else (visible_type,)
        case _:
            assert_never(definition)


def _describe_type(type_: ir.Type, renames: Mapping[str, str]) -> object:
    """A type as a type checker sees it: without limits and formats."""
    match type_:
        case ir.Anything() | ir.Nothing() | ir.Null() | ir.Boolean():
            return type_
        case ir.Number(integer=integer):
            return ir.Number(integer=integer)
        case ir.String():
            return ir.String()
        case ir.Constant(values):
            return frozenset((type(value).__name__, value) for value in values)
        case ir.Array(items=items):
            return ("list", _describe_type(items, renames))
        case ir.Tuple(first=first, rest=rest):
            return ("tuple", tuple(_describe_type(part, renames) for part in first), _describe_type(rest, renames))
        case ir.Map(values):
            return ("dict", _describe_type(values, renames))
        case ir.Ref(name):
            return ("class", renames.get(name, name))
        case ir.AnyOf(types):
            return frozenset(_describe_type(branch, renames) for branch in types)
        case _:
            assert_never(type_)
