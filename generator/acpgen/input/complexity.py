"""Count the evaluation paths of a schema: how many subschemas apply to one instance, counted once per reference that leads to them.

A few lines can expand to more paths than any validator can walk: forty levels of `allOf: [{$ref: next}, {$ref: next}]` are 2^40.
Validators that cache nothing and cannot be interrupted never get such a schema.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

from acpgen.errors import Faults
from acpgen.input.faults import TOO_LONG_CHAIN, TOO_MANY_PATHS
from acpgen.input.walk import IN_PLACE, Schema, find_cycles, is_object, list_children
from acpgen.pointers import read_reference

MOST_PATHS: Final = 50_000
"""Far above real schemas: the largest protocols need a few hundred."""

LONGEST_CHAIN: Final = 150
"""The longest chain of schemas that apply to one instance, each through the one before."""

_UNEVALUATED: Final = frozenset({"unevaluatedProperties", "unevaluatedItems"})


def require_few_paths(definitions: Mapping[str, Schema], origins: Mapping[str, str]) -> None:
    """Raise `Faults` for the first definition, leaves first, that has too many evaluation paths."""
    for name, count in count_paths(definitions).items():
        if count > MOST_PATHS:
            raise Faults([TOO_MANY_PATHS(at=origins.get(name, name), limit=MOST_PATHS)])


def require_short_chains(definitions: Mapping[str, Schema], origins: Mapping[str, str]) -> None:
    """Raise `Faults` for the first definition, leaves first, whose chain of references is too long."""
    inner = {name: measure_depths(schema) for name, schema in definitions.items()}
    lengths: dict[str | None, int] = {}
    for name in _order_from_leaves(inner):
        lengths[name] = max(depth + lengths.get(referred, 0) for referred, depth in inner[name].items())
        if lengths[name] > LONGEST_CHAIN:
            raise Faults([TOO_LONG_CHAIN(at=origins.get(name, name), limit=LONGEST_CHAIN)])


def measure_depths(schema: Schema) -> dict[str | None, int]:
    """The depth at which a schema refers to each name in place, i.e. for the same instance; the value of `None` is the depth of the
    whole schema.
    """
    depths: dict[str | None, int] = {None: 1}
    level, depth = [schema], 1
    while level:
        for part in level:
            if isinstance(part.get("$ref"), str):
                depths[read_reference(part["$ref"])] = depth
        depths[None] = depth
        level = [subschema for part in level for subschema in _list_parts(part) if is_object(subschema)]
        depth += 1
    return depths


def _order_from_leaves(inner: Mapping[str, Iterable[str | None]]) -> Iterator[str]:
    """Order the names so that each follows those that it refers to; cycles keep no order."""
    edges = {
        name: [target for target in referred if target is not None and target in inner]
        for name, referred in inner.items()
    }
    return chain.from_iterable(find_cycles(edges))


def count_paths(definitions: Mapping[str, Schema]) -> dict[str, int]:
    """The number of evaluation paths of each definition, leaves first. A reference back to an ancestor counts once."""
    inner = {name: _count_in_place(schema) for name, schema in definitions.items()}
    counts: dict[str, int] = {}
    for name in _order_from_leaves(inner):
        counts[name] = 1 + sum(count * counts.get(referred, 1) for referred, count in inner[name].items())
    return counts


def _list_parts(schema: Schema) -> list[Any]:
    """The subschemas that a schema applies in place, without references."""
    return [part for keys, part in list_children(schema) if keys[0] in IN_PLACE]


def _count_in_place(schema: Any) -> Counter[str]:
    """How often a schema applies each definition in place, by name; other subschemas have an empty name."""
    counts = Counter[str]()
    if is_object(schema):
        for part in _list_parts(schema):
            counts.update([""])
            counts.update(_count_in_place(part))
        counts.update([read_reference(schema["$ref"])] if isinstance(schema.get("$ref"), str) else ())
        # What is not evaluated is found out by judging all of these once more, and the same again inside of them.
        times = 1 if _UNEVALUATED.isdisjoint(schema) else 3
        counts = Counter({name: count * times for name, count in counts.items()})
    return counts
