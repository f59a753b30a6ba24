"""Along how many ways one value is judged: the schemas that apply to it in place, each as often as references lead to it.

A few lines suffice for more than anybody can walk: forty levels of `allOf: [{$ref: next}, {$ref: next}]` are 2^40. Judges that remember
nothing, and cannot be interrupted, are not given such a schema.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

from acpgen.errors import Faults
from acpgen.input.faults import TOO_LONG_CHAIN, TOO_MANY_WAYS
from acpgen.input.walk import Schema, is_array, is_object, strongly_connected
from acpgen.pointers import target

MOST_WAYS: Final = 50_000
"""Far more than real schemas need: the largest protocols at hand take a few hundred."""

LONGEST_CHAIN: Final = 150
"""Schemas in a row, each of which judges the value of the one before."""

_LISTS: Final = ("allOf", "anyOf", "oneOf")
_SINGLE: Final = ("if", "then", "else", "not")
_UNEVALUATED: Final = frozenset({"unevaluatedProperties", "unevaluatedItems"})


def require_few_ways(definitions: Mapping[str, Schema], origins: Mapping[str, str]) -> None:
    """Raise `Faults` for the first definition, from the leaves on, whose values are judged along too many ways."""
    for name, count in ways(definitions).items():
        if count > MOST_WAYS:
            raise Faults([TOO_MANY_WAYS(at=origins.get(name, name), limit=MOST_WAYS)])


def require_short_chains(definitions: Mapping[str, Schema], origins: Mapping[str, str]) -> None:
    """Raise `Faults` for the first definition, from the leaves on, whose values too many schemas judge one after the other."""
    inner = {name: depths_in_place(schema) for name, schema in definitions.items()}
    lengths: dict[str, int] = {}
    for name in _from_the_leaves(inner):
        found = inner[name]
        lengths[name] = max(
            (below + (0 if each is None else lengths.get(each, 0)) for each, below in found.items()), default=1
        )
        if lengths[name] > LONGEST_CHAIN:
            raise Faults([TOO_LONG_CHAIN(at=origins.get(name, name), limit=LONGEST_CHAIN)])


def depths_in_place(schema: Schema) -> dict[str | None, int]:
    """How deep in a schema each name is referred to, among what applies to the same value; of `None`, how deep all of that goes."""
    found: dict[str | None, int] = {None: 1}
    level, depth = [schema], 1
    while level:
        for each in level:
            if isinstance(each.get("$ref"), str):
                found[target(each["$ref"])] = depth
        found[None] = depth
        level, depth = [part for each in level for part in _parts(each) if is_object(part)], depth + 1
    return found


def _from_the_leaves(inner: Mapping[str, Iterable[str | None]]) -> Iterator[str]:
    """The names, each after those that it refers to, but where one leads back to itself."""
    edges = {
        name: [each for each in referred if each is not None and each in inner] for name, referred in inner.items()
    }
    return chain.from_iterable(strongly_connected(edges))


def ways(definitions: Mapping[str, Schema]) -> dict[str, int]:
    """For each definition how many schemas judge a value of it, from the leaves on; a definition that leads back to itself counts once."""
    inner = {name: Counter(_in_place(schema)) for name, schema in definitions.items()}
    found: dict[str, int] = {}
    for name in _from_the_leaves(inner):
        found[name] = 1 + sum(count * found.get(each, 1) for each, count in inner[name].items())
    return found


def _parts(schema: Schema) -> list[Any]:
    """What a schema applies to the value that it judges itself, but for references."""
    parts = [part for keyword in _LISTS if is_array(schema.get(keyword)) for part in schema[keyword]]
    parts += [schema[keyword] for keyword in _SINGLE if keyword in schema]
    parts += schema["dependentSchemas"].values() if is_object(schema.get("dependentSchemas")) else ()
    return parts


def _in_place(schema: Any) -> Iterator[str]:
    """What applies to the same value as a schema does: a name for a definition, as often as it does, and an empty one for all else."""
    if not is_object(schema):
        return
    parts = _parts(schema)
    # What is not evaluated is found out by judging all of these once more, and the same again inside of them.
    for _ in range(3 if not _UNEVALUATED.isdisjoint(schema) else 1):
        for part in parts:
            yield ""
            yield from _in_place(part)
        if isinstance(schema.get("$ref"), str):
            yield target(schema["$ref"])
