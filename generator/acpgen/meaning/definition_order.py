"""An order of definitions for languages that require declaration before use."""

from __future__ import annotations

from collections.abc import Iterator

from acpgen import ir
from acpgen.input.walk import find_cycles


def references(definition: ir.Definition) -> tuple[str, ...]:
    """The names of the definitions that a definition refers to, without duplicates, in order of occurrence."""
    return tuple(dict.fromkeys(_walk_references(definition)))


def _walk_references(definition: ir.Definition) -> Iterator[str]:
    match definition:
        case ir.Record(fields=fields, extra=extra, base=base):
            if base is not None:
                yield base
            for type_ in (*(field.type for field in fields), extra):
                yield from list_references(type_)
        case ir.TaggedUnion(variants=variants, fallback=fallback, fallback_shapes=shapes, default=default):
            yield from (variant.type for variant in variants)
            yield from (name for name in (*shapes, fallback, default) if name is not None)
        case ir.Enum(base=base):
            yield from list_references(base)
        case ir.Alias(type=type_):
            yield from list_references(type_)


def list_references(type_: ir.Type) -> Iterator[str]:
    """The names of the definitions that a type refers to, in order, with duplicates."""
    if isinstance(type_, ir.Ref):
        yield type_.name
    for inner in list_parts(type_):
        yield from list_references(inner)


def list_parts(type_: ir.Type) -> tuple[ir.Type, ...]:
    """The types that a type consists of: of its items, values or alternatives."""
    match type_:
        case ir.Array(items=inner) | ir.Map(values=inner):
            return (inner,)
        case ir.Tuple(first=first, rest=rest):
            return (*first, rest)
        case ir.AnyOf(types=types):
            return types
        case _:
            return ()


def order_definitions(protocol: ir.Protocol) -> tuple[tuple[ir.Definition, ...], ...]:
    """All definitions in groups, each of which refers only to itself and to earlier groups.

    A group of several definitions is a reference cycle. The order depends on the protocol alone, and is that of the schema where
    possible.
    """
    names, definitions = tuple(protocol.definitions), protocol.definitions
    edges = {
        name: [reference for reference in references(definitions[name]) if reference in definitions] for name in names
    }
    position = {name: index for index, name in enumerate(names)}
    return tuple(
        tuple(definitions[name] for name in sorted(group, key=position.__getitem__)) for group in find_cycles(edges)
    )
