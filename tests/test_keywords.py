"""The table of keywords has each of them once, and knows all that JSON Schema and the dialect have."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import jsonschema_rs
import pytest

from acpgen.input.dialect import read_keywords
from acpgen.input.keywords import TABLE, Keyword
from acpgen.input.load import Document, Documents
from acpgen.input.walk import is_array, is_object
from acpgen.meaning.understanding import understand

SPECIFICATIONS: Any = import_module("jsonschema_specifications").REGISTRY

OLDER = frozenset(
    {"definitions", "dependencies", "additionalItems", "$recursiveAnchor", "$recursiveRef", "discriminator"}
)
"""Keywords of other drafts, and of OpenAPI."""

VALUES: tuple[Any, ...] = (None, True, 0, 0.5, 7, "", "text", [], [1, 1], {}, {"a": 1})
SOME: tuple[Any, ...] = (False, True, 0, 1, 3, "a", [], ["a"], [False], {"a": False}, {"a": ["b"]}, "integer", [1])
"""Values of keywords: whichever of them is of the keyword's form."""


def test_each_keyword_has_one_row() -> None:
    assert len({keyword.name for keyword in TABLE}) == len(TABLE)


def test_the_dialect_and_the_table_have_the_same_keywords() -> None:
    assert {keyword.name for keyword in TABLE if keyword.is_ours} == read_keywords().keys()


def test_the_keywords_of_the_vocabularies_have_rows() -> None:
    rows = {keyword.name for keyword in TABLE if not keyword.is_ours}
    assert rows - OLDER == {name for vocabulary in vocabularies() for name in vocabulary["properties"]}


def vocabularies() -> list[Any]:
    names = ("core", "applicator", "unevaluated", "validation", "meta-data", "format-annotation", "content")
    return [SPECIFICATIONS.contents(f"https://json-schema.org/draft/2020-12/meta/{name}") for name in names]


@pytest.mark.parametrize("keyword", [row for row in TABLE if not row.is_ours], ids=lambda row: row.name)
def test_an_assertion_refuses_values_of_its_type_alone_and_nothing_else_refuses_any(keyword: Keyword) -> None:
    refused: set[str] = set()
    for given in SOME:
        schema = {keyword.name: given}
        try:
            validator = jsonschema_rs.Draft202012Validator(schema)
        except (jsonschema_rs.ValidationError, ValueError):
            continue
        refused |= {kind(value) for value in VALUES if not validator.is_valid(value)}
    if keyword.role != "asserts":
        assert keyword.role == "elsewhere" or not refused, json.dumps(sorted(refused))
    elif keyword.instance_type:
        assert refused <= {keyword.instance_type}


def kind(value: object) -> str:
    names: dict[type, str] = {
        bool: "boolean",
        int: "number",
        float: "number",
        str: "string",
        list: "array",
        dict: "object",
    }
    return names.get(type(value), "null")


THING: Any = {"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": False}


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/Thing"},
        {"type": "object", "$ref": "#/$defs/Either"},
        {"anyOf": [{"$ref": "#/$defs/Thing"}, {"type": "null"}]},
        {"allOf": [{"$ref": "#/$defs/Thing"}]},
        {"enum": ["a", "b"]},
        {"oneOf": [{"const": "a"}, {"const": "b"}]},
        {"oneOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]},
    ],
    ids=json.dumps,
)
@pytest.mark.parametrize("key", ["markdownDescription", "defaultSnippets", "id", "example"])
def test_a_key_that_is_no_keyword_changes_no_type(key: str, schema: Any) -> None:
    def fields(said: dict[str, Any]) -> Any:
        def marked(value: Any) -> Any:
            if is_array(value):
                return [marked(item) for item in value]
            return {**{name: marked(inner) for name, inner in value.items()}, **said} if is_object(value) else value

        def tagged(name: str) -> Any:
            return {"type": "object", "properties": {"kind": {"const": name}}, "required": ["kind"], **said}

        either: Any = {"oneOf": [{"type": "string", **said}, {**THING, **said}], **said}
        definitions: Any = {"Thing": {**THING, **said}, "Either": either, "A": tagged("a"), "B": tagged("b")}
        holder: Any = {"type": "object", "properties": {"field": marked(schema)}, **said}
        value: Any = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": {**definitions, "Holder": holder},
        }
        protocol, _ = understand(Documents("p", (Document("p.json", value, ""),)))
        return protocol.definitions

    assert fields({key: "said"}) == fields({})
