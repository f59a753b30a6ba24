"""The reference validator says what the published one says, and reads a schema once for all values."""

from __future__ import annotations

import random
from typing import Any, Final, cast

import jsonschema.validators
import pytest
import referencing.exceptions

from schema_inclusion import Verdict, compare
from schema_inclusion.document import Dialect, open_document
from schema_inclusion.validation import DocumentValidator, open_validator
from schema_inclusion.values import Json

TAGGED: Final[list[dict[str, Json]]] = [
    {"tag": tag, **more} for tag in ("t0", "t3", "other", 3, None) for more in ({}, {"text": ""}, {"text": 1})
]
VALUES: Final[list[Json]] = [*TAGGED, {"text": "t3"}, {"text": 1}, [], "t3", 3, {}]


def branch(number: int, drawn: random.Random) -> dict[str, Json]:
    """A branch of a union, with a tag or something like one."""
    tags: list[Json] = [
        {"const": f"t{number}"},
        {"enum": [f"t{number}", "other"]},
        {"enum": [f"t{number}", 3]},
        {"const": f"t{number}", "type": "string"},
        {"const": number},
        {"not": {"const": "t3"}},
        {"$ref": "#/definitions/text", "const": f"t{number}"},
        True,
    ]
    found: dict[str, Json] = {"properties": {"tag": drawn.choice(tags)}, "required": [drawn.choice(["tag", "text"])]}
    more: list[dict[str, Json]] = [
        {},
        {"type": "object"},
        {"$ref": "#/definitions/named"},
        {"allOf": [{"$ref": "#/definitions/named"}]},
        {"$id": "http://x.example/inner"},
        {"$schema": Dialect.DRAFT_2020_12.value},
    ]
    return found | drawn.choice(more)


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("seed", range(12))
def test_unions_of_many_branches_are_judged_as_the_published_validator_does(dialect: Dialect, seed: int) -> None:
    drawn = random.Random(seed)
    definitions: dict[str, Json] = {
        "text": {"type": "string"},
        "named": {"properties": {"tag": {"enum": ["t3"]} if drawn.random() < 0.5 else {"type": "string"}}},
    }
    for keyword in ("anyOf", "oneOf"):
        branches: list[Json] = [branch(drawn.randrange(12), drawn) for _ in range(12)]
        schema: dict[str, Json] = {"$schema": dialect.value, "definitions": definitions, keyword: branches}
        published: Any = jsonschema.validators.validator_for(schema)
        validator = DocumentValidator(open_document(schema)).of(schema)
        for value in VALUES:
            try:
                expected = published(schema).is_valid(value)
            except referencing.exceptions.Unresolvable:
                expected = None
            assert validator.accepts(value) is expected


def test_a_reference_is_followed_once_for_all_values(monkeypatch: pytest.MonkeyPatch) -> None:
    schema: Json = {
        "$defs": {"a": {"type": "string"}},
        "properties": {"a": {"$ref": "#/$defs/a"}, "b": {"not": {"$ref": "#/$defs/a"}}},
    }
    followed: list[str] = []
    resolver = cast("Any", type(open_document(schema).scope.resolver))
    plain = resolver.lookup

    def lookup(self: Any, reference: str) -> Any:
        followed.append(reference)
        return plain(self, reference)

    validator = DocumentValidator(open_document(schema)).of(schema)
    monkeypatch.setattr(resolver, "lookup", lookup)
    values: list[Json] = [{"a": "", "b": 1}, {"a": 1}, {"b": ""}, {"a": "x", "b": []}]
    assert [validator.accepts(each) for each in values] == [True, False, False, True]
    assert followed == ["#/$defs/a"]


def test_a_refusal_is_located_at_the_innermost_part_that_contains_all_of_it() -> None:
    pair: Json = {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]}
    schema: Json = {
        "properties": {"a": {"anyOf": [pair, {"type": "string"}]}, "list": {"items": pair}, "open": {}},
        "required": ["open"],
        "additionalProperties": False,
    }
    cases: list[tuple[Json, tuple[str | int, ...]]] = [
        ({"open": 1}, ()),
        ([], ()),
        ({}, ("open",)),
        ({"open": 1, "other": 2}, ("other",)),
        ({"open": 1, "other": 2, "more": 3}, ()),
        ({"open": 1, "list": [{"b": 1}, {"b": "x"}]}, ("list", 1, "b")),
        ({"open": 1, "list": [{"b": 1}, {}]}, ("list", 1, "b")),
        ({"open": 1, "list": [{}, {}]}, ("list",)),
        ({"open": 1, "a": {"b": "x"}}, ("a",)),
        ({"list": [{}]}, ()),
    ]
    validator = open_validator(schema).of(schema)
    assert [validator.locate_refusal(value) for value, _ in cases] == [path for _, path in cases]


def test_a_validator_lists_errors_and_asserts_the_formats_that_it_is_given() -> None:
    root: Json = {"$defs": {"day": {"type": "string", "format": "date"}}}
    schema: Json = {"items": {"$ref": "#/$defs/day"}}
    value: Json = ["2026-07-02", "today", 1]
    errors = {
        formats: [
            (error.validator, *error.path)
            for error in open_validator(root, formats=formats).of(schema).list_errors(value)
        ]
        for formats in (frozenset[str](), frozenset({"date"}))
    }
    assert errors == {frozenset(): [("type", 2)], frozenset({"date"}): [("format", 1), ("type", 2)]}
    assert open_validator(root).of({"$ref": "#/$defs/none"}).list_errors(value) == []


def test_a_long_way_through_definitions_is_judged() -> None:
    def chain(last: dict[str, Json]) -> Json:
        links = {f"d{at}": {"properties": {"x": {"$ref": f"#/$defs/d{at + 1}"}}} for at in range(40)}
        back = {f"{name}": {"properties": {"x": {"$ref": "#/$defs/start"}}} for name in ("first", "last")}
        ways = {name: {"$ref": f"#/$defs/{name}"} for name in ("first", "d0", "last")}
        return cast(
            "Json", {"$ref": "#/$defs/start", "$defs": {"start": {"properties": ways}, **links, **back, "d40": last}}
        )

    comparison = compare(chain({"type": "integer"}), chain({"type": "integer", "minimum": 0}))
    assert (comparison.backward.verdict, comparison.forward.verdict) == (Verdict.NO, Verdict.YES)


@pytest.mark.parametrize(
    ("pattern", "text", "accepted"),
    [
        (r"^(?:(x+)x*)+(?<=y)$", "x" * 60, None),
        (r"^(?=(?:x+)+$)", "x" * 60, True),
        (r"^(x+)\1$", "x" * 60, True),
        (r"^(?:x+)+(?=y)(x+)\1$", "x" * 60, False),
        (r"^(x|xx)+(?=y)\1$", "x" * 60, None),
        (r"(x+)(?=.*y)\1", "x" * 20_000, None),
        (r"^(?:(?!xxxxy).)*z", "x" * 20_000, False),
    ],
)
def test_a_pattern_that_goes_back_and_tries_again_is_judged_within_a_number_of_steps(
    pattern: str, text: str, accepted: bool | None
) -> None:
    schema: Json = {"pattern": pattern}
    assert DocumentValidator(open_document(schema)).of(schema).accepts(text) is accepted


def test_references_that_lead_back_to_themselves_are_given_up_at_once() -> None:
    schema: Json = {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}}}
    assert DocumentValidator(open_document(schema)).of(schema).accepts(1) is None
