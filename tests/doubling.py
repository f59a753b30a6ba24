"""Schemas of about 1 KB that mean much more than they say: references that lead to the same definitions twice, level by level."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

Schema = dict[str, Any]

SIZE: Final = 1024


def level(number: int) -> Schema:
    return {"$ref": f"#/$defs/L{number}"}


def chain(make: Callable[[int], Schema], last: Schema, size: int = SIZE) -> Schema:
    """As many levels as this size holds, each made from its number, with the next one in it."""
    count = 1
    while True:
        found = {f"L{number}": make(number) for number in range(count)} | {f"L{count}": last}
        if len(json.dumps(found, separators=(",", ":"))) > size:
            return found
        count += 1


def pair(keyword: str) -> Callable[[int], Schema]:
    return lambda n: {keyword: [level(n + 1), level(n + 1)]}


def keyed(n: int, value: str) -> Schema:
    return {"properties": {f"k{n}": {"const": value}}, "required": [f"k{n}"]}


TEXT: Final[Schema] = {"type": "string"}
OBJECT: Final[Schema] = {"type": "object", "properties": {"z": TEXT}}

SHAPES: Final[Mapping[str, Schema]] = {
    "all-of": chain(pair("allOf"), TEXT),
    "any-of": chain(pair("anyOf"), TEXT),
    "one-of": chain(pair("oneOf"), TEXT),
    "no-value": chain(pair("anyOf"), {"not": {}}),
    "if-then": chain(lambda n: {"if": level(n + 1), "then": level(n + 1), "else": level(n + 1)}, TEXT),
    "dependent": chain(lambda n: {"dependentSchemas": {"a": level(n + 1), "b": level(n + 1)}}, OBJECT),
    "unevaluated": chain(lambda n: {**pair("allOf")(n), "unevaluatedProperties": False}, OBJECT),
    "unevaluated-any-of": chain(
        lambda n: {"anyOf": [level(n + 1), {"properties": {f"p{n}": True}}], "unevaluatedProperties": False}, OBJECT
    ),
    "not": chain(lambda n: {"not": pair("allOf")(n)}, TEXT),
    "fields": chain(
        lambda n: {"type": "object", "properties": {"a": level(n + 1), "b": level(n + 1)}, "required": ["a", "b"]}, TEXT
    ),
    "positions": chain(lambda n: {"type": "array", "prefixItems": [level(n + 1), level(n + 1)], "minItems": 2}, TEXT),
    "variants-of-variants": chain(
        lambda n: {"allOf": [level(n + 1), {"oneOf": [{"properties": {"k": {"const": each}}} for each in "ab"]}]},
        OBJECT,
    ),
    "variants-by-many-keys": chain(
        lambda n: {"allOf": [level(n + 1), {"oneOf": [keyed(n, "a"), keyed(n, "b")]}]}, OBJECT
    ),
    "with-and-without": chain(
        lambda n: {"oneOf": [level(n + 1), {"allOf": [level(n + 1), {"required": [f"q{n}"]}]}]}, OBJECT
    ),
    "one-or-the-other": {
        "L0": {"allOf": [{"anyOf": [{"required": [f"a{n}"]}, {"required": [f"b{n}"]}]} for n in range(16)]}
    },
    "recursive": {
        "L0": {"anyOf": [{"properties": {"a": level(0), "b": level(0)}}, {"items": level(0)}, pair("allOf")(0)]},
        "L1": {"oneOf": [level(2), {"type": "object", "properties": {"c": level(0)}}]},
        "L2": {"allOf": [{"type": "object", "properties": {"d": level(1)}}]},
    },
    "constants": {"L0": {"allOf": [{"enum": [*range(120)]}, {"enum": [*range(60, 180)]}]}},
    "patterns": {"L0": {"type": "string", "allOf": [{"pattern": f"^(a|b)*a(a|b){{{n}}}$"} for n in range(5, 25)]}},
    "names": {"L0": {"type": "object", "patternProperties": {f"^a{{0,{n}}}b*": {"minLength": n} for n in range(20)}}},
    "many-items": {"L0": {"type": "array", "minItems": 10**9, "items": {"type": "string", "minLength": 10**9}}},
}
"""Definitions by what doubles in them; `L0` is the whole."""


LONGER: Final[Mapping[str, Schema]] = {
    "long-fields": chain(
        lambda n: {"type": "object", "properties": {"a": level(n + 1), "b": level(n + 1)}, "required": ["a", "b"]},
        TEXT,
        3 * SIZE,
    ),
    "long-without-value": chain(
        lambda n: {
            "anyOf": [
                {"type": "object", "properties": {key: level(n + 1)}, "required": [key]} for key in (f"a{n}", f"b{n}")
            ]
        },
        {"not": {}},
        3 * SIZE,
    ),
    "long-product": {
        "L0": {
            "allOf": [
                {"anyOf": [{"type": "string", "maxLength": n}, {"type": "array", "minItems": n}, {"maximum": n}] * 2}
                for n in range(14)
            ]
        }
    },
}
"""The same for what doubles too seldom in 1 KB."""


def protocol(shape: str, *, changed: bool = False) -> Schema:
    """A protocol whose one request holds such a value, which `changed` must not be null."""
    value = {"allOf": [level(0), {"not": {"type": "null"}}]} if changed else level(0)
    request = {"type": "object", "properties": {"x": value}, "x-method": "go", "x-side": "agent"}
    return {"$defs": {**{**SHAPES, **LONGER}[shape], "GoRequest": request}}
