"""Schemas of a few lines in which one definition is reached along more ways than anybody can walk. Without an end, these tests fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from schema_inclusion import Comparer, compare

Schema = dict[str, Any]
LEVELS: Final = 40

SHAPES: Final[dict[str, Callable[[Schema], Schema]]] = {
    "allOf": lambda each: {"allOf": [each, each]},
    "anyOf": lambda each: {"anyOf": [each, each]},
    "allOf and anyOf": lambda each: {"allOf": [each], "anyOf": [each]},
    "$ref and allOf": lambda each: {**each, "allOf": [each]},
    "parts that differ": lambda each: {
        "allOf": [{"properties": {"a": each}}, {"properties": {"a": each, "b": each}}],
    },
    "if": lambda each: {"if": each, "then": each, "else": each},
    "not": lambda each: {"allOf": [each, {"not": {"not": each}}]},
    "dependentSchemas": lambda each: {"dependentSchemas": {"a": each, "b": each}},
    "optional properties": lambda each: {"properties": {"a": each, "b": each}},
    "additionalProperties": lambda each: {"properties": {"a": each}, "additionalProperties": each},
    "alternatives": lambda each: {
        "anyOf": [{"required": [name], "properties": {name: each}} for name in ("a", "b")],
    },
}


def levels(shape: Callable[[Schema], Schema], last: Schema) -> Schema:
    """Definitions that each lead to the next one several times."""
    definitions = {f"A{level}": shape({"$ref": f"#/$defs/A{level + 1}"}) for level in range(LEVELS)}
    return {"$ref": "#/$defs/A0", "$defs": {**definitions, f"A{LEVELS}": last}}


def record(kind: str) -> Schema:
    return {"type": "object", "properties": {"x": {"type": kind}}, "required": ["x"]}


@pytest.mark.parametrize("name", SHAPES)
def test_what_is_met_again_is_decided_once(name: str) -> None:
    old, new, same = (levels(SHAPES[name], record(kind)) for kind in ("integer", "string", "integer"))
    comparison = compare(old, new)
    assert [one.verdict.value for one in (comparison.backward, comparison.forward)] == ["no", "no"]
    both = {**levels(SHAPES[name], record("integer"))["$defs"], "B": record("string")}
    wider: Schema = {"anyOf": [{"$ref": "#/$defs/A0"}, {"$ref": "#/$defs/B"}], "$defs": both}
    assert compare(same, wider).backward.verdict.value == "yes"


@pytest.mark.parametrize("name", SHAPES)
def test_what_is_met_again_is_decided_where_equal_schemas_are_read_as_one(name: str) -> None:
    comparer = Comparer(*(levels(SHAPES[name], record(kind)) for kind in ("integer", "string")))
    assert comparer.find_form({"$ref": "#/$defs/A0"}) is not None
    assert comparer.include().verdict.value == "no"


def members(each: Schema) -> Schema:
    return {"type": "object", "properties": {"a": each, "b": each}, "required": ["a", "b"]}


def items(each: Schema) -> Schema:
    return {"type": "array", "prefixItems": [each, each], "minItems": 2}


@pytest.mark.parametrize("shape", [members, items])
def test_a_value_too_large_to_write_down_is_undecided(shape: Callable[[Schema], Schema]) -> None:
    comparison = compare(levels(shape, record("integer")), levels(shape, record("string")))
    assert comparison.backward.verdict.value == "undecided"
    assert "too large to write down" in comparison.backward.reason


def test_what_no_validator_walks_to_its_end_is_undecided() -> None:
    def shape(each: Schema) -> Schema:
        return {"anyOf": [each, {"required": ["a"], **each}], "unevaluatedProperties": False}

    assert compare(levels(shape, record("integer")), levels(shape, record("string"))).backward.verdict.value != "yes"
