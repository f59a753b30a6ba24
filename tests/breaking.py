"""Values that break what the schema says at a place: those of a definition that the vectors call valid, changed at that place alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from acpgen.input.walk import is_array, is_object
from acpgen.pointers import split_pointer
from acpgen.publish.requirement_table import SchemaPlaces

VECTORS: Final = Path(__file__).parents[1] / "generated" / "vectors"
JUNK: Final[tuple[Any, ...]] = (None, True, -1, 0.5, 2**70, "", " ", "a", "a b", [], [None], [[]], {}, {"a": None})


@cache
def valid(protocol: str) -> Mapping[str, tuple[Any, ...]]:
    """The valid values of each definition."""
    found: dict[str, list[Any]] = {}
    for file in sorted((VECTORS / protocol / "types").glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            if row["valid"] and "message" in row:
                found.setdefault(row["type"], []).append(row["message"])
    return {name: tuple(values) for name, values in found.items()}


def is_breakable(place: SchemaPlaces, where: str) -> bool:
    """Whether a value can break what stands there: not that a name exists, nor that something is lacking."""
    parts = list(split_pointer(where.partition("#")[2]))
    return bool(place.has) and len(parts) > 1 and parts[-1] not in ("properties", "$defs")


def broken(place: SchemaPlaces, where: str) -> Iterator[tuple[str, Any, Any]]:
    """The definition at a place, a valid value of it, and that value made wrong there. Whether it is refused is for the schema to say."""
    protocol, _, fragment = where.partition("#")
    _, definition, *parts = split_pointer(fragment)
    values = valid(protocol)[definition]
    if parts[-1:] == ["required"]:
        for name in place.has:
            for value in values:
                if is_object(value) and name in value:
                    yield definition, value, {key: held for key, held in value.items() if key != name}
        return
    for value in values:
        for junk in JUNK:
            for changed in put(value, parts, junk):
                yield definition, value, changed


def put(value: Any, parts: list[str], junk: Any) -> Iterator[Any]:
    """A value with junk where the schema's pointer leads."""
    match parts:
        case ["properties", name, *rest] if is_object(value):
            if rest and name in value:
                for inner in put(value[name], rest, junk):
                    yield {**value, name: inner}
            elif not rest:
                yield {**value, name: junk}
        case ["items" | "additionalProperties", *rest] if is_array(value) and value:
            for inner in put(value[0], rest, junk):
                yield [inner, *value[1:]]
        case ["oneOf" | "anyOf" | "allOf", _, *rest]:
            yield from put(value, rest, junk)
        case []:
            yield junk
        case _:
            yield junk
