"""Places that several schemas judge at once: each names members that the others do not, and a sender sends all of them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from compat.protocols import Schema, compared


def union(tag: str) -> Schema:
    return {"oneOf": [{"type": "object", "properties": {tag: {"const": each}}, "required": [tag]} for each in range(2)]}


DEFINED: Schema = {
    "Left": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
    "Right": {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]},
    "Union": union("k0"),
    "Other": union("k1"),
}

JOINED: dict[str, Schema] = {
    "two unions": {"allOf": [union("k0"), union("k1")]},
    "two records": {"allOf": [{"$ref": "#/$defs/Left"}, {"$ref": "#/$defs/Right"}]},
    "a record and a condition": {
        "$ref": "#/$defs/Left",
        "then": {"properties": {"z": {"type": "integer"}}, "required": ["z"]},
        "if": {"properties": {"a": {"const": "x"}}},
        "required": ["z"],
    },
    "a union and a union beside it": {"$ref": "#/$defs/Union", "allOf": [{"$ref": "#/$defs/Other"}]},
    "inside a record": {
        "type": "object",
        "properties": {"q": {"allOf": [union("k0"), union("k1")]}},
        "required": ["q"],
    },
}

TAGGED: Schema = {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]}

PLACES: dict[str, Callable[[Schema], Schema]] = {
    "field": lambda schema: {"properties": {"p": schema}, "required": ["p"]},
    "optional field": lambda schema: {"properties": {"p": schema, "o": {"type": "integer"}}},
    "items": lambda schema: {"properties": {"p": {"type": "array", "items": schema}}},
    "entries": lambda schema: {"properties": {"p": {"type": "array", "prefixItems": [schema]}}},
    "values": lambda schema: {"properties": {"p": {"type": "object", "additionalProperties": schema}}},
    "rest": lambda schema: {"properties": {"o": {"type": "integer"}}, "additionalProperties": schema},
    "nullable": lambda schema: {"properties": {"p": {"anyOf": [schema, {"type": "null"}]}}},
    "variant": lambda schema: {
        "properties": {
            "p": {
                "oneOf": [
                    {"type": "object", "properties": {"kind": {"const": "a"}, "w": schema}, "required": ["kind", "w"]},
                    TAGGED,
                ]
            }
        }
    },
    "params": lambda schema: schema,
}


def request(params: Schema) -> Schema:
    definitions = {"GoRequest": {"type": "object", "x-method": "t/go", "x-side": "agent", **params}}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {**definitions, **DEFINED}}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("joined", JOINED)
def test_what_refuses_all_that_stands_there_is_never_safe(joined: str, place: str) -> None:
    schema: Any = JOINED[joined]
    report = compared(
        request(PLACES[place](copy.deepcopy(schema))),
        request(PLACES[place]({**copy.deepcopy(schema), "minProperties": 9})),
    )
    assert report.wire.backward != "yes"
    assert report.verdict in ("breaking", "undecided")
