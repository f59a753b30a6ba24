"""Definitions that are compiled together: a value stands under the reference to what it is to be."""

from __future__ import annotations

from typing import Any, Final

from acpgen.input.schema_validator import compile_definitions

DEFINITIONS: Final[dict[str, Any]] = {
    "Name": {"type": "string"},
    "Reply<Text>": {"type": "object", "properties": {"name": {"$ref": "#/$defs/Name"}, "size": {"type": "integer"}}},
}


def test_a_value_is_validated_under_the_reference_to_its_definition() -> None:
    validator = compile_definitions(DEFINITIONS)
    assert validator.is_valid({"#/$defs/Name": "a", "#/$defs/Reply%3CText%3E": {"name": "b"}})
    assert not validator.is_valid({"#/$defs/Name": 1})
    assert not validator.is_valid({"#/$defs/Reply%3CText%3E": {"name": 1}})


def test_places_in_definitions_are_further_references() -> None:
    size = "#/$defs/Reply%3CText%3E/properties/size"
    assert compile_definitions(DEFINITIONS).is_valid({size: "large"})
    assert not compile_definitions(DEFINITIONS, [size]).is_valid({size: "large"})
