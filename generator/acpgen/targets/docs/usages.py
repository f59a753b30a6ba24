"""Usages: the reverse of every reference, and what depends on each capability."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, assert_never

from acpgen import ir
from acpgen.targets.docs.type_text import list_type_references


@dataclass(frozen=True, slots=True)
class Usage:
    """One usage of a type or capability: `owner` is a method or a type, `member` its field, variant or value."""

    how: Literal[
        "params", "result", "field", "variant", "other variants", "body", "type", "method", "value", "required"
    ]
    owner: str
    member: str = ""


def find_usages(protocol: ir.Protocol) -> Mapping[str, tuple[Usage, ...]]:
    """The usages of each definition, methods first."""
    usages: dict[str, dict[Usage, None]] = {name: {} for name in protocol.definitions}
    for method in protocol.methods:
        if method.params is not None:
            usages[method.params][Usage("params", method.name)] = None
        if method.result is not None:
            usages[method.result][Usage("result", method.name)] = None
    for definition in protocol.definitions.values():
        for name, use in _list_uses(protocol, definition):
            usages[name][use] = None
    return {name: tuple(rows) for name, rows in usages.items()}


def find_capability_usages(protocol: ir.Protocol) -> Mapping[str, tuple[Usage, ...]]:
    """The usages of each capability, by side and path, in alphabetical order."""
    usages: dict[str, list[Usage]] = {}
    for path, gate in _list_gates(protocol):
        if gate not in usages.setdefault(path, []):
            usages[path].append(gate)
    return {path: tuple(usages[path]) for path in sorted(usages)}


def list_references(definition: ir.Definition) -> Iterator[str]:
    """Yield the types to which fields, variants and aliases refer."""
    match definition:
        case ir.Record():
            for member in definition.fields:
                yield from list_type_references(member.type)
        case ir.TaggedUnion():
            yield from (variant.type for variant in definition.variants)
            yield from (definition.default,) if definition.default is not None else ()
        case ir.Alias():
            yield from list_type_references(definition.type)
        case ir.Enum():
            pass
        case _:
            assert_never(definition)


def list_reachable_types(protocol: ir.Protocol, names: Iterable[str]) -> Iterator[str]:
    """Yield these types and all types reachable from them."""
    visited = dict.fromkeys(names)
    pending = [*visited]
    while pending:
        name = pending.pop()
        yield name
        unvisited = [
            reference
            for reference in dict.fromkeys(list_references(protocol.definitions[name]))
            if reference not in visited
        ]
        visited |= dict.fromkeys(unvisited)
        pending += unvisited


def _list_uses(protocol: ir.Protocol, definition: ir.Definition) -> Iterator[tuple[str, Usage]]:
    match definition:
        case ir.Record():
            for field in definition.fields:
                if field.owner in ("", definition.name) or field.owner not in protocol.definitions:
                    for name in list_type_references(field.type):
                        yield name, Usage("field", definition.name, field.name)
        case ir.TaggedUnion():
            for variant in definition.variants:
                yield variant.type, Usage("variant", definition.name, str(variant.tag))
                if variant.body is not None and variant.body in protocol.definitions and variant.body != variant.type:
                    yield variant.body, Usage("body", definition.name, str(variant.tag))
            for name in dict.fromkeys(
                filter(None, (definition.default, definition.fallback, *definition.fallback_shapes))
            ):
                yield name, Usage("other variants", definition.name)
        case ir.Enum():
            pass
        case ir.Alias():
            for name in list_type_references(definition.type):
                yield name, Usage("type", definition.name)
        case _:
            assert_never(definition)


def _list_gates(protocol: ir.Protocol) -> Iterator[tuple[str, Usage]]:
    for method in protocol.methods:
        if method.capability is not None:
            yield method.capability, Usage("method", method.name)
    for definition in protocol.definitions.values():
        match definition:
            case ir.Record():
                for field in definition.fields:
                    is_own = field.owner in ("", definition.name) or field.owner not in protocol.definitions
                    if field.capability is not None and is_own:
                        yield field.capability, Usage("field", definition.name, field.name)
                    if field.required_with is not None and is_own:
                        yield field.required_with, Usage("required", definition.name, field.name)
            case ir.TaggedUnion():
                for variant in definition.variants:
                    if variant.capability is not None:
                        yield variant.capability, Usage("variant", definition.name, str(variant.tag))
            case ir.Enum():
                for value in definition.values:
                    if value.capability is not None:
                        yield value.capability, Usage("value", definition.name, str(value.value))
            case ir.Alias():
                pass
            case _:
                assert_never(definition)
