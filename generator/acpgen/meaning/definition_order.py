"""An order of definitions for languages that want what is used before what uses it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from acpgen import ir


def references(definition: ir.Definition) -> tuple[str, ...]:
    """The definitions that one refers to, each once, in the order in which they stand."""
    return tuple(dict.fromkeys(_references(definition)))


def _references(definition: ir.Definition) -> Iterator[str]:
    match definition:
        case ir.Record(fields=fields, extra=extra, base=base):
            if base is not None:
                yield base
            for type_ in (*(field.type for field in fields), extra):
                yield from referred(type_)
        case ir.TaggedUnion(variants=variants, fallback=fallback, fallback_shapes=shapes, default=default):
            yield from (variant.type for variant in variants)
            yield from (name for name in (*shapes, fallback, default) if name is not None)
        case ir.Enum(base=base):
            yield from referred(base)
        case ir.Alias(type=type_):
            yield from referred(type_)


def referred(type_: ir.Type) -> Iterator[str]:
    """The definitions that a type names, in its order; one as often as it is named."""
    match type_:
        case ir.Ref(name=name):
            yield name
        case ir.Array(items=inner) | ir.Map(values=inner):
            yield from referred(inner)
        case ir.Tuple(first=first, rest=rest):
            for inner in (*first, rest):
                yield from referred(inner)
        case ir.AnyOf(types=types):
            for inner in types:
                yield from referred(inner)
        case _:
            return


def ordered(protocol: ir.Protocol) -> tuple[tuple[ir.Definition, ...], ...]:
    """All definitions in groups: each refers only to itself and to groups before it. A group of several is a circle.

    The order depends on the protocol alone, and is that of the schema where nothing else is needed.
    """
    names, definitions = tuple(protocol.definitions), protocol.definitions
    edges = {name: [other for other in references(definitions[name]) if other in definitions] for name in names}
    position = {name: index for index, name in enumerate(names)}
    return tuple(
        tuple(definitions[name] for name in sorted(group, key=position.__getitem__)) for group in _groups(edges)
    )


def _groups(edges: Mapping[str, list[str]]) -> Iterator[list[str]]:
    """Strongly connected components, what is referred to first (Tarjan's algorithm, without recursion)."""
    seen: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_: list[str] = []
    waiting: set[str] = set()
    for root in edges:
        if root in seen:
            continue
        path: list[tuple[str, Iterator[str]]] = []
        _enter(root, edges, seen, lowest, open_, waiting, path)
        while path:
            name, rest = path[-1]
            follower = next(rest, None)
            if follower is None:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[name])
                if lowest[name] == seen[name]:
                    group = open_[open_.index(name) :]
                    del open_[len(open_) - len(group) :]
                    waiting.difference_update(group)
                    yield group
            elif follower not in seen:
                _enter(follower, edges, seen, lowest, open_, waiting, path)
            elif follower in waiting:
                lowest[name] = min(lowest[name], seen[follower])


def _enter(
    name: str,
    edges: Mapping[str, list[str]],
    seen: dict[str, int],
    lowest: dict[str, int],
    open_: list[str],
    waiting: set[str],
    path: list[tuple[str, Iterator[str]]],
) -> None:
    seen[name] = lowest[name] = len(seen)
    open_.append(name)
    waiting.add(name)
    path.append((name, iter(edges[name])))
