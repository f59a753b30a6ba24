"""Schemas that are written differently and are equal for that reason alone, and others that look so."""

from __future__ import annotations

from typing import Any, Final

import pytest

from schema_inclusion import Comparer, Dialect

Schema = dict[str, Any]

A: Final[Schema] = {"$ref": "#/$defs/A"}
B: Final[Schema] = {"$ref": "#/$defs/B"}
TREE: Final[Schema] = {
    "oneOf": [{"type": "object", "properties": {"a": A}}, {"type": "array", "items": A}, {"type": "string"}]
}

EQUAL: Final[dict[str, tuple[Schema, Schema]]] = {
    "branches in another order": ({"A": TREE}, {"A": {"oneOf": [*reversed(TREE["oneOf"])]}}),
    "an alias": (
        {"A": TREE},
        {"A": {**TREE, "oneOf": [*TREE["oneOf"][:1], {"type": "array", "items": B}, TREE["oneOf"][2]]}, "B": A},
    ),
    "a branch with a name": ({"A": TREE}, {"A": {"oneOf": [B, *TREE["oneOf"][1:]]}, "B": TREE["oneOf"][0]}),
    "a union in a union": (
        {"A": {"anyOf": [{"type": "null"}, {"type": "array", "items": A}, {"type": "string"}]}},
        {"A": {"anyOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "array", "items": A}]}},
    ),
    "parts of a conjunction": (
        {"A": {"type": "object", "properties": {"a": A, "b": True}, "required": ["a"], "additionalProperties": False}},
        {
            "A": {"allOf": [B, {"type": "object"}]},
            "B": {"required": ["a"], "additionalProperties": False, "properties": {"b": True, "a": A}},
        },
    ),
    "a type that all branches have": (
        {"A": {"anyOf": [{"type": "object", "required": ["a"]}, {"type": "object", "properties": {"b": A}}]}},
        {
            "A": {
                "type": "object",
                "anyOf": [{"type": "object", "properties": {"b": A}}, {"type": "object", "required": ["a"]}],
            }
        },
    ),
}

DIFFERENT: Final[dict[str, tuple[Schema, Schema]]] = {
    "a leaf far inside": (
        {"A": {"items": {"items": A, "type": "array"}}},
        {"A": {"items": {"items": A, "type": "object"}}},
    ),
    "oneOf with a branch twice": ({"A": {"oneOf": [TREE, TREE]}}, {"A": {"oneOf": [TREE]}}),
    "entries by position": (
        {"A": {"prefixItems": [True, A, B]}, "B": {"type": "null"}},
        {"A": {"prefixItems": [True, B, A]}, "B": {"type": "null"}},
    ),
    "what other members are": (
        {"A": {"properties": {"a": A}, "additionalProperties": {"type": "string"}}},
        {"A": {"allOf": [{"properties": {"a": A}}, {"additionalProperties": {"type": "string"}}]}},
    ),
    "what else was evaluated": (
        {"A": {"allOf": [{"properties": {"a": A}}], "unevaluatedProperties": False}},
        {"A": {"allOf": [{"properties": {"a": A}}, {"unevaluatedProperties": False}]}},
    ),
    "a condition torn apart": (
        {"A": {"if": {"type": "string"}, "then": {"minLength": 1}}},
        {"A": {"allOf": [{"if": {"type": "string"}}, {"then": {"minLength": 1}}]}},
    ),
    "how many contain": ({"A": {"contains": A, "minContains": 2}}, {"A": {"contains": A}}),
    "what a dependency refers to, beside one of names": (
        {"A": {"dependencies": {"a": ["b"], "c": B}}, "B": {"required": ["d"]}},
        {"A": {"dependencies": {"a": ["b"], "c": B}}, "B": {"required": ["e"]}},
    ),
    "an entry and all entries": ({"A": {"items": A, "prefixItems": [True]}}, {"A": {"items": A}}),
}


def are_equal(old: Schema, new: Schema) -> bool:
    dialect = Dialect.DRAFT_07 if "dependencies" in old["A"] else Dialect.DRAFT_2020_12
    return Comparer({"$defs": old}, {"$defs": new}, dialect=dialect).are_equal(A, A)


@pytest.mark.parametrize("name", EQUAL)
def test_what_is_written_differently_is_equal(name: str) -> None:
    old, new = EQUAL[name]
    assert are_equal(old, new) and are_equal(new, old)
    comparer = Comparer({"$defs": old}, {"$defs": new}, dialect=Dialect.DRAFT_2020_12)
    assert comparer.find_form({**A}) is comparer.find_form({**A}, is_new=True)


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_only_looks_equal_is_not(name: str) -> None:
    old, new = DIFFERENT[name]
    assert not are_equal(old, new) and not are_equal(new, old)


def test_the_type_of_a_branch_is_that_of_its_own_document() -> None:
    union: Schema = {"anyOf": [B, {"$ref": "#/$defs/D"}]}
    definitions: Schema = {"A": union, "C": {"type": "string", **union}, "D": {"type": "string", "minLength": 1}}
    old, new = {**definitions, "B": {"type": "string"}}, {**definitions, "B": {"maxLength": 1}}
    comparer = Comparer({"$defs": old}, {"$defs": new}, dialect=Dialect.DRAFT_2020_12)
    forms = [comparer.find_form({"$ref": f"#/$defs/{name}"}, is_new=True) for name in "AC"]
    assert forms[0] is not forms[1]


def test_a_reference_that_leads_to_itself_is_equal_to_nothing_else() -> None:
    itself = {"allOf": [A, {"type": "string"}]}
    assert not are_equal({"A": itself}, {"A": {"type": "string"}})


def test_equal_unions_whose_proof_has_no_end_are_equal() -> None:
    inner: Schema = {"type": "array", "items": {"anyOf": [A, B]}}
    branches: list[Schema] = [
        {"type": "object", "properties": {"a": A, "b": B}, "required": ["b"]},
        {"type": "object", "properties": {"b": inner, "c": A}, "required": ["c"]},
        {"type": "object", "additionalProperties": inner},
        inner,
    ]
    other: list[Schema] = [
        {"type": "object", "properties": {"a": A}},
        {"type": "object", "properties": {"d": B}, "required": ["d"]},
    ]
    old: Schema = {"A": {"oneOf": branches}, "B": {"oneOf": [*other, {"type": "string"}]}}
    new: Schema = {"A": {"oneOf": branches[::-1]}, "B": {"oneOf": [{"type": "string"}, *other[::-1]]}}
    comparison = Comparer({"$ref": "#/$defs/A", "$defs": old}, {"$ref": "#/$defs/A", "$defs": new}).compare(A, A)
    assert [comparison.backward.verdict.value, comparison.forward.verdict.value] == ["yes", "yes"]
