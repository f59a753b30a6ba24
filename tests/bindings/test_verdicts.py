"""Schemas whose meaning is easily taken for another one: decoding and `validate` judge as the reference does, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

import jsonschema_rs
import pytest

import tiers
from bindings.subjects import Subject, Subjects, forget
from bindings.test_differences import unenforced

Schema = dict[str, Any]


def tagged(tag: object, **fields: Schema) -> Schema:
    """A variant with a tag."""
    return {"type": "object", "properties": {"kind": {"const": tag}, **fields}, "required": ["kind"]}


def rest(*known: object, **fields: Schema) -> Schema:
    """A branch for objects whose tag is text, and none of the known ones."""
    listed = {"required": ["kind"], "properties": {"kind": {"enum": [*known]}}}
    properties = {"kind": {"type": "string"}, **fields}
    return {"type": "object", "properties": properties, "required": ["kind"], "not": listed}


def untyped(branch: Schema) -> Schema:
    """A branch whose tag may be of any type."""
    return {**branch, "properties": {}}


def without_text(**kept: Schema) -> Schema:
    """A branch for objects whose tag is no text, or but the text kept."""
    return {"type": "object", "not": {"required": ["kind"], "properties": {"kind": {"type": "string", **kept}}}}


class Case(NamedTuple):
    """Definitions, of which the first is decoded, and values that tell readings of it apart."""

    definitions: Mapping[str, Schema]
    values: tuple[Any, ...]


OBJECTS: Final[tuple[Any, ...]] = (
    *({}, {"kind": "a"}, {"kind": "A"}, {"kind": "z"}, {"kind": "z", "x": "s"}, {"kind": "z", "x": 1}, {"x": "s"}),
    *({"kind": 1}, {"kind": 1.0}, {"kind": True}, {"kind": 5}, {"kind": None}, {"kind": "a", "x": "s"}, -1, None),
)

UNIONS: Final[Mapping[str, tuple[Schema, ...]]] = {
    "a fallback that excludes more than the variants": (tagged("a"), {"type": "object"}, rest("a", "A")),
    "a fallback that asks for more than the default": (
        tagged("a"),
        {"type": "object"},
        rest("a", x={"type": "integer"}),
    ),
    "a fallback that asks for less than the default": (tagged("a"), {"type": "object", "required": ["x"]}, rest("a")),
    "a fallback for all but objects without a tag": (
        tagged("a"),
        {"type": "object", "required": ["x"]},
        untyped(rest("a")),
    ),
    "a fallback for tags of any type": (tagged("a"), untyped(rest("a"))),
    "a fallback that reserves a tag": (tagged("a"), rest("a", "A")),
    "a fallback that excludes a number": (tagged("a"), rest("a", 5)),
    "a fallback beside a default without text": (tagged("a"), without_text(), rest("a")),
    "a fallback beside a default with a tag of its own": (
        tagged("a"),
        without_text(**{"not": {"const": "A"}}),
        rest("a"),
    ),
    "an exclusion that lists more than scalars": (tagged("a"), untyped(rest("a", ["A"]))),
    "tags 1 and true": (tagged(1), tagged(True), tagged("a")),
    "tags 1 and 1.0": (tagged(1.0), tagged(1, x={"type": "string"})),
    "1 excluded beside true": (tagged(1), rest(True)),
    "1 and true excluded": (tagged(1), tagged(True), rest(1, True)),
    "a branch without a type": ({"properties": {}}, {"properties": {"x": {"const": 1}}, "required": ["x"]}),
    "branches without a type": tuple({"properties": {"kind": {"const": tag}}, "required": ["kind"]} for tag in "az"),
}

BESIDE_NULL: Final[Mapping[str, Schema]] = {
    "nothing": {},
    "constants that are not null": {"enum": ["a"]},
    "no constants": {"enum": []},
    "another constant": {"const": 0},
    "null": {"enum": [None, 1]},
    "its own exclusion": {"not": {"const": None}},
    "a limit of texts": {"minLength": 2},
}

CASES: Final[Mapping[str, Case]] = {
    **{
        f"{name}, {keyword}{', of objects' if more else ''}": Case({"U": {**more, keyword: [*branches]}}, OBJECTS)
        for name, branches in UNIONS.items()
        for keyword in ("anyOf", "oneOf")
        for more in ({}, {"type": "object"})
    },
    "a branch that refers to a schema without a type": Case(
        {
            "U": {"type": "object", "anyOf": [{"$ref": "#/$defs/Any"}, tagged("a")]},
            "Any": {"properties": {"x": {"type": "string"}}},
        },
        OBJECTS,
    ),
    "constants that differ in their JSON types, in a union of unions": Case(
        {"U": {"oneOf": [{"oneOf": [tagged(1), tagged(True)]}]}}, OBJECTS
    ),
    "constants that differ in their JSON types, in definitions of one name": Case(
        {"U": {"type": "object", "properties": {"one": {"oneOf": [tagged(1)]}, "two": {"oneOf": [tagged(True)]}}}},
        tuple({key: {"kind": value}} for key in ("one", "two") for value in (1, True, 1.0, False)),
    ),
    "a field that its base has with another constant": Case(
        {"U": {"allOf": [{"$ref": "#/$defs/Base"}, tagged(True)]}, "Base": tagged(1)}, OBJECTS
    ),
    **{
        f"null beside {name}": Case(
            {
                "U": {
                    "type": "object",
                    "properties": {"x": {"anyOf": [{"enum": ["a", "b"]}, {"type": "null", **beside}]}},
                }
            },
            ({}, {"x": None}, {"x": "a"}, {"x": 1}),
        )
        for name, beside in BESIDE_NULL.items()
    },
    **{
        f"unions that multiply, {keyword}": Case(
            {
                "U": {
                    "type": "object",
                    "allOf": [
                        {keyword: [{"properties": {key: {"const": tag}}, "required": [key]} for tag in (1, 2, 3)]}
                        for key in "abcdef"
                    ],
                }
            },
            (dict.fromkeys("abcdef", 1), {**dict.fromkeys("abcdef", 3), "z": 1}, dict.fromkeys("abcde", 1), {}, 1),
        )
        for keyword in ("anyOf", "oneOf")
    },
    "items that are null but not": Case(
        {
            "U": {
                "type": "array",
                "items": {"anyOf": [{"$ref": "#/$defs/U"}, {"enum": ["a"], "type": "null"}, {"type": "string"}]},
            }
        },
        ([None], [[]], [], [[None]]),
    ),
}

HUGE: Final = (2**53 + 1, 2**63 - 1, 2**63, 2**64, 1e22, 10**30, 1e30, 1e308)
"""Numbers at which machine integers end, and those that binary fractions only come near to."""

CASES_OF_NUMBERS: Final[Mapping[str, Case]] = {
    **{
        f"{kind} with {keyword} {limit}": Case(
            {
                "U": {"type": kind, keyword: limit},
                "Held": {"type": "object", "properties": {"x": {"$ref": "#/$defs/U"}}},
            },
            (1, 1.0, 1.5, 2**53, 1e22, 1e23, 10**23, 1e30, 10**30, 10**30 + 1, 1e308, -1e30, True),
        )
        for kind in ("integer", "number")
        for keyword in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf")
        for limit in (100, *HUGE)
    },
    **{
        f"{keyword} {limit}": Case(
            {"U": {"type": "object", "properties": {"x": {"type": kind, keyword: limit}}}},
            ({}, {"x": ""}, {"x": "a"}, {"x": []}, {"x": ["a", "b"]}, {"x": {}}, {"x": {"a": 1}}),
        )
        for limit in HUGE
        for kind, keyword in (
            *(("string", "minLength"), ("string", "maxLength"), ("array", "minItems"), ("array", "maxItems")),
            *(("object", "minProperties"), ("object", "maxProperties")),
        )
    },
    "constants that binary fractions come near to": Case(
        {"U": {"enum": [10**23, 1e30, True, 0.1]}}, (1e23, 10**23, 10**30, 1e30, 1, 0.1, 99999999999999991611392)
    ),
    "items that are written in two ways": Case(
        {"U": {"type": "array", "uniqueItems": True}}, ([1e23, 10**23], [1, 1.0], [1, True], [10**30, 10**30 + 1])
    ),
    "multiples whose common multiple is too long for a schema": Case(
        {"U": {"allOf": [{"type": "integer", "multipleOf": 10**398 + odd} for odd in range(1, 25, 2)]}},
        (0, 0.0, 1, 10**398 + 1, (10**398 + 1) * (10**398 + 3)),
    ),
    "an exclusion that a check judges": Case(
        {"U": {"type": "number", "not": {"const": 10**23}}}, (1e23, 10**23, 10**23 + 1, 1.5)
    ),
}


@pytest.mark.parametrize("name", tiers.sample(CASES, 25))
def test_a_value_is_judged_as_by_the_reference(subjects: Subjects, name: str) -> None:
    _compare(subjects, f"union_{list(CASES).index(name)}", CASES[name])


@pytest.mark.parametrize("name", tiers.sample(CASES_OF_NUMBERS, 25))
def test_a_number_is_judged_as_it_is_written(subjects: Subjects, name: str) -> None:
    _compare(subjects, f"number_{list(CASES_OF_NUMBERS).index(name)}", CASES_OF_NUMBERS[name])


@pytest.mark.parametrize(
    ("default", "made"),
    [({"c": 1.0}, None), ({"c": "abc"}, {"c": "abc"}), ({"x": 2.0}, {"x": 2}), ({"x": 1.5}, None), ({}, {})],
)
def test_a_default_that_its_own_schema_refuses_makes_nothing(subjects: Subjects, default: Schema, made: Any) -> None:
    field = {"type": "object", "properties": {"x": {"type": "integer"}}, "additionalProperties": {"const": "abc"}}
    definitions = {"U": {"type": "object", "properties": {"foo": {**field, "default": default}}}}
    name = f"default_{json.dumps(default)}".translate(dict.fromkeys(map(ord, '{}": .'), "_"))
    subject = subjects.small(name, definitions, shared="verdicts")
    found = subject.module.decode_as(subject.type("U"), {})
    assert subject.encoded(found) == {}
    held = subject.type("U")().foo
    assert (None if held is subject.runtime.UNSET else subject.encoded(held)) == made


def _compare(subjects: Subjects, name: str, case: Case) -> None:
    """Judge the values of a case by decoding, by `validate` and by the reference."""
    definitions, values = case
    subject = subjects.small(name, definitions, shared="verdicts")
    first = next(iter(definitions))
    judge = jsonschema_rs.Draft202012Validator({"$defs": {**definitions}, "$ref": f"#/$defs/{first}"})
    assert not unenforced(subject, first)
    for value in values:
        expected = judge.is_valid(value)
        assert (_written(subject, first, value) is not None) is expected, value
        assert (not subject.module.validate_as(subject.type(first), value)) is expected, value
    forget(subject.module.__name__)


def _written(subject: Subject, name: str, value: Any) -> bytes | None:
    """What decoding and encoding make of a value; `None` where it is refused."""
    try:
        found = subject.module.decode_as(subject.type(name), value, lenient=False)
    except subject.runtime.DecodeError:
        return None
    text: bytes = subject.module.encode(found)
    assert _numbers(text) == _numbers(json.dumps(value)), (value, text)
    return text


def _numbers(text: str | bytes) -> Any:
    """A JSON text as a value whose numbers are compared as they are written."""
    return json.loads(text, parse_float=_number, parse_int=_number)


def _number(text: str) -> tuple[str, Decimal]:
    return "number", Decimal(text)  # which is not equal to true
