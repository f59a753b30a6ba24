"""What a conjunction plainly says of a further schema, by pairs: that it holds too, that it cannot, or neither."""

from __future__ import annotations

from typing import Any, Final

import jsonschema_rs
import pytest

from schema_inclusion.budget import Budget
from schema_inclusion.document import Dialect, open_document
from schema_inclusion.factory import FormulaFactory
from schema_inclusion.forms import Forms
from schema_inclusion.formula import Formula, Kind
from schema_inclusion.normal import Normaliser

Schema = dict[str, Any]

INTEGER: Final[Schema] = {"type": "integer"}
NUMBER: Final[Schema] = {"type": "number"}
TEXT: Final[Schema] = {"type": "string"}
ARRAY: Final[Schema] = {"type": "array"}
OBJECT: Final[Schema] = {"type": "object"}
VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, *range(-2, 11), 0.5, 1.5, 2.5, 3.5, 0.25, "", "a", "b", "ab", "abc", "1"),
    *(
        [],
        [1],
        ["a"],
        [1, 1],
        [1, 2],
        ["a", 1],
        [1, "a"],
        ["a", "b"],
        ["a", "a"],
        [1, 2, 3],
        ["a", 1, "b"],
        [1, "a", "b"],
    ),
    *({}, {"a": 1}, {"a": "a"}, {"b": 1}, {"a": 1, "b": 1}, {"a": "a", "b": 1}, {"a": "a", "b": "b"}),
    *({"t": "x"}, {"t": "y"}, {"t": "z"}, {"t": "x", "a": 1}, {"t": "y", "a": 1}, {"t": "x", "a": "a"}, {"t": 1}),
    *({"a": 1, "b": 1, "t": 1}, {"t": "y", "b": "b"}, {"ab": 1}, {"ab": "a"}, {"a": {"a": 1}}, {"a": []}, {"a": 0.5}),
)


def formula(forms: Forms, schema: Schema) -> Formula:
    document = open_document(schema, Dialect.DRAFT_2020_12)
    return Normaliser(forms).read_whole(document.root, document.scope)


def said(known: Schema, further: Schema) -> bool | None:
    """What a conjunction makes of a further schema in an alternative: it is left out where it cannot hold, and the alternative where it
    holds anyway.
    """
    forms = FormulaFactory(Budget(100_000))
    one, other, doubt = formula(forms, known), formula(forms, further), forms.opaque("doubt")
    both = forms.all_of(one, forms.any_of(other, doubt))
    return True if both is one else False if both is forms.all_of(one, doubt) else None


def impossible(*schemas: Schema) -> bool:
    """Whether a conjunction is plainly of nothing."""
    forms = FormulaFactory(Budget(100_000))
    return forms.all_of(*(formula(forms, schema) for schema in schemas)) is forms.bottom


def an(**keywords: Any) -> Schema:
    """A schema of objects alone."""
    return {"type": "object", **keywords}


def tagged(tag: str, *required: str, **properties: Any) -> Schema:
    return {
        "type": "object",
        "properties": {"t": {"const": tag}, **properties},
        "required": ["t", *required],
    }


EITHER: Final[Schema] = {"anyOf": [tagged("x", a=INTEGER), tagged("y", "b")]}
PATTERNS: Final[Schema] = {"patternProperties": {"^a": INTEGER}}

ROWS: Final[tuple[tuple[Schema, Schema, bool | None], ...]] = (
    # kinds
    (INTEGER, NUMBER, True),
    (NUMBER, INTEGER, None),
    (TEXT, NUMBER, False),
    (INTEGER, {"minLength": 5}, True),
    (NUMBER, {"required": ["a"]}, True),
    ({"type": ["string", "number"]}, {"minLength": 2}, None),
    ({"type": ["string", "number"], "maxLength": 1}, {"minLength": 2}, None),
    # strings
    ({**TEXT, "minLength": 2}, {"minLength": 1}, True),
    ({**TEXT, "minLength": 2}, {"minLength": 2}, True),
    ({**TEXT, "minLength": 1}, {"minLength": 2}, None),
    ({**TEXT, "minLength": 2}, {"maxLength": 1}, False),
    ({**TEXT, "minLength": 1, "maxLength": 2}, {"minLength": 1, "maxLength": 3}, True),
    ({**TEXT, "pattern": "a"}, {"pattern": "a"}, True),
    ({**TEXT, "pattern": "a"}, {"not": {"pattern": "a"}}, False),
    ({**TEXT, "not": {"pattern": "a"}}, {"pattern": "a"}, False),
    ({**TEXT, "pattern": "a"}, {"pattern": "b"}, None),
    ({"enum": ["a", "b"]}, {"maxLength": 1}, True),
    ({"enum": ["a", "ab"]}, {"maxLength": 1}, None),
    ({"enum": ["a", "b"]}, {"minLength": 2}, False),
    ({"enum": ["a", "b"]}, {"enum": ["a", "b", "ab"]}, True),
    ({**TEXT, "not": {"enum": ["a", "b"]}}, {"not": {"const": "a"}}, True),
    ({**TEXT, "not": {"enum": ["a", "b"]}}, {"const": "a"}, False),
    ({**TEXT, "not": {"enum": ["a", "b"]}}, {"enum": ["a", "abc"]}, None),
    ({**TEXT, "not": {"enum": ["a", "b"]}}, {"not": {"enum": ["a", "abc"]}}, None),
    # numbers
    ({**NUMBER, "minimum": 1}, {"minimum": 0}, True),
    ({**NUMBER, "minimum": 1}, {"minimum": 1}, True),
    ({**NUMBER, "minimum": 1}, {"minimum": 2}, None),
    ({**NUMBER, "minimum": 1}, {"exclusiveMinimum": 1}, None),
    ({**NUMBER, "exclusiveMinimum": 1}, {"exclusiveMinimum": 1}, True),
    ({**NUMBER, "exclusiveMinimum": 1}, {"minimum": 1}, True),
    ({**NUMBER, "maximum": 1}, {"maximum": 2}, True),
    ({**NUMBER, "maximum": 1}, {"maximum": 1}, True),
    ({**NUMBER, "maximum": 2}, {"maximum": 1}, None),
    ({**NUMBER, "maximum": 1}, {"exclusiveMaximum": 1}, None),
    ({**NUMBER, "exclusiveMaximum": 1}, {"exclusiveMaximum": 1}, True),
    ({**NUMBER, "exclusiveMaximum": 1}, {"maximum": 1}, True),
    ({**NUMBER, "minimum": 2}, {"maximum": 1}, False),
    ({**NUMBER, "minimum": 1}, {"maximum": 1}, None),
    ({**NUMBER, "minimum": 1}, {"exclusiveMaximum": 1}, False),
    ({**NUMBER, "exclusiveMinimum": 1}, {"maximum": 1}, False),
    ({**NUMBER, "maximum": 1}, {"minimum": 2}, False),
    ({**NUMBER, "maximum": 1}, {"minimum": 1}, None),
    ({**NUMBER, "maximum": 1}, {"exclusiveMinimum": 1}, False),
    ({**NUMBER, "exclusiveMaximum": 1}, {"minimum": 1}, False),
    ({**NUMBER, "minimum": 1}, {"maximum": 3}, None),
    ({**NUMBER, "multipleOf": 4}, {"multipleOf": 2}, True),
    ({**NUMBER, "multipleOf": 2}, {"multipleOf": 4}, None),
    ({**NUMBER, "multipleOf": 2}, {"multipleOf": 2}, True),
    ({**NUMBER, "multipleOf": 4}, {"not": {"multipleOf": 2}}, False),
    ({**NUMBER, "not": {"multipleOf": 2}}, {"multipleOf": 2}, False),
    ({**NUMBER, "not": {"multipleOf": 2}}, {"not": {"multipleOf": 2}}, True),
    ({**NUMBER, "not": {"multipleOf": 4}}, {"multipleOf": 2}, None),
    ({"enum": [1, 2]}, {"maximum": 2}, True),
    ({"enum": [1, 2]}, {"maximum": 1}, None),
    ({"enum": [1, 2]}, {"exclusiveMinimum": 2}, False),
    ({"enum": [1, 2]}, INTEGER, True),
    ({"enum": [0.5, 1.5]}, INTEGER, False),
    ({"enum": [0.5, 1]}, INTEGER, None),
    ({**NUMBER, "not": {"enum": [1, 2]}}, {"not": {"const": 1}}, True),
    ({**NUMBER, "not": {"enum": [1, 2]}}, {"const": 1}, False),
    ({**NUMBER, "not": {"enum": [1, 2]}}, {"enum": [1, 3]}, None),
    # arrays
    ({**ARRAY, "minItems": 2}, {"minItems": 1}, True),
    ({**ARRAY, "minItems": 2}, {"maxItems": 1}, False),
    ({**ARRAY, "minItems": 1}, {"minItems": 2}, None),
    ({**ARRAY, "prefixItems": [TEXT], "minItems": 1}, {"prefixItems": [INTEGER]}, False),
    ({**ARRAY, "prefixItems": [TEXT]}, {"prefixItems": [INTEGER]}, None),
    ({**ARRAY, "prefixItems": [INTEGER]}, {"prefixItems": [NUMBER]}, True),
    ({**ARRAY, "items": INTEGER}, {"prefixItems": [True, NUMBER]}, True),
    ({**ARRAY, "maxItems": 1}, {"prefixItems": [True, INTEGER]}, True),
    ({**ARRAY, "maxItems": 2}, {"prefixItems": [True, INTEGER]}, None),
    ({**ARRAY, "items": INTEGER}, {"items": NUMBER}, True),
    ({**ARRAY, "items": TEXT, "minItems": 1}, {"items": INTEGER}, False),
    ({**ARRAY, "items": TEXT}, {"items": INTEGER}, None),
    ({**ARRAY, "prefixItems": [True, TEXT], "minItems": 2}, {"items": INTEGER}, False),
    ({**ARRAY, "prefixItems": [True, TEXT], "minItems": 1}, {"items": INTEGER}, None),
    ({**ARRAY, "prefixItems": [TEXT], "items": INTEGER}, {"prefixItems": [True], "items": NUMBER}, True),
    ({**ARRAY, "maxItems": 1}, {"prefixItems": [True], "items": INTEGER}, True),
    ({**ARRAY, "contains": TEXT, "minContains": 2}, {"contains": TEXT}, True),
    ({**ARRAY, "contains": TEXT}, {"contains": TEXT, "minContains": 2}, None),
    ({**ARRAY, "contains": TEXT, "maxContains": 1}, {"contains": TEXT, "minContains": 2}, False),
    ({**ARRAY, "contains": TEXT, "minContains": 0, "maxContains": 1}, {"contains": TEXT}, None),
    ({**ARRAY, "items": INTEGER}, {"contains": TEXT}, False),
    ({**ARRAY, "prefixItems": [INTEGER]}, {"contains": TEXT}, None),
    ({**ARRAY, "uniqueItems": True}, {"uniqueItems": True}, True),
    ({**ARRAY, "uniqueItems": True}, {"not": {"uniqueItems": True}}, False),
    ({**ARRAY, "minItems": 2}, {"uniqueItems": True}, None),
    # objects
    (an(required=["a"]), {"required": ["a"]}, True),
    (an(required=["a"]), {"not": {"required": ["a"]}}, False),
    (an(required=["a"]), {"required": ["b"]}, None),
    (an(properties={"a": False}), {"required": ["a"]}, False),
    (an(properties={"a": False}), {"not": {"required": ["a"]}}, True),
    (an(properties={"a": INTEGER}), {"properties": {"a": NUMBER}}, True),
    (an(properties={"a": INTEGER}), {"properties": {"a": TEXT}}, None),
    (an(properties={"a": INTEGER}, required=["a"]), {"properties": {"a": TEXT}}, False),
    (an(additionalProperties=INTEGER), {"properties": {"a": NUMBER}}, True),
    (an(**PATTERNS), {"patternProperties": {"^a": NUMBER}}, True),
    (an(**PATTERNS), {"patternProperties": {"^a": TEXT}}, None),
    (an(**PATTERNS, required=["ab"]), {"patternProperties": {"^a": TEXT}}, False),
    (an(**PATTERNS, required=["b"]), {"patternProperties": {"^a": TEXT}}, None),
    (an(required=["a", "b"]), {"minProperties": 2}, True),
    (an(required=["a", "b"]), {"maxProperties": 1}, False),
    (an(required=["a"]), {"minProperties": 2}, None),
    (an(maxProperties=1), {"maxProperties": 2}, True),
    (an(), {"minProperties": 1}, None),
    (an(minProperties=1), {"minProperties": 1}, True),
    ({"type": "object", "not": {"additionalProperties": INTEGER}}, {"minProperties": 1}, True),
    ({"type": "object", "not": {"additionalProperties": INTEGER}}, {"minProperties": 2}, None),
    ({"type": "object", "not": {"additionalProperties": INTEGER}}, {"not": {"additionalProperties": INTEGER}}, True),
    (an(additionalProperties=INTEGER), {"not": {"additionalProperties": NUMBER}}, False),
    (an(additionalProperties=NUMBER), {"not": {"additionalProperties": INTEGER}}, None),
    # several together
    ({**NUMBER, "minimum": 2}, {"minimum": 1, "maximum": 5}, None),
    ({**NUMBER, "minimum": 2, "maximum": 3}, {"minimum": 1, "maximum": 5}, True),
    ({**NUMBER, "minimum": 6}, {"minimum": 1, "maximum": 5}, False),
    (an(required=["a"], properties={"a": TEXT}), an(required=["a", "b"], properties={"a": INTEGER}), False),
    (an(required=["a"], properties={"a": TEXT}), an(required=["b"], properties={"a": INTEGER}), False),
    (an(properties={"a": TEXT}), an(required=["a"], properties={"a": INTEGER}), False),
    (an(properties={"a": TEXT}), an(required=["b"], properties={"a": INTEGER}), None),
    (an(required=["a"]), an(required=["b"], properties={"a": False}), False),
    ({**ARRAY, "minItems": 2}, {**ARRAY, "maxItems": 1, "items": TEXT}, False),
    ({**ARRAY, "prefixItems": [TEXT], "minItems": 1}, {**ARRAY, "prefixItems": [INTEGER], "maxItems": 5}, False),
    ({**ARRAY, "prefixItems": [TEXT]}, {**ARRAY, "prefixItems": [INTEGER], "minItems": 1}, False),
    ({**ARRAY, "prefixItems": [TEXT]}, {**ARRAY, "prefixItems": [INTEGER], "maxItems": 5}, None),
    ({**INTEGER, "minimum": 2}, {"anyOf": [{"maximum": 1}, {"multipleOf": 4}]}, None),
    ({**INTEGER, "minimum": 2}, {"anyOf": [{"minimum": 1}, {"multipleOf": 4}]}, True),
    ({**INTEGER, "minimum": 2}, {"anyOf": [{"maximum": 1}, {"maximum": 0}, {"minLength": 1, "type": "string"}]}, False),
    ({**INTEGER, "minimum": 2}, {"not": {"const": 5}, "anyOf": [{"maximum": 1}, {"type": "string"}]}, False),
    ({**INTEGER, "minimum": 2}, {"not": {"const": 5}, "anyOf": [{"maximum": 1}, {"multipleOf": 4}]}, None),
    # alternatives by a tag
    (tagged("x", a=INTEGER), EITHER, True),
    (tagged("x", a=TEXT), EITHER, None),
    (tagged("x", "a", a=TEXT), EITHER, False),
    (tagged("y", "b"), EITHER, True),
    (tagged("z"), EITHER, False),
    (an(properties={"t": {"const": "z"}}), EITHER, False),
    (an(properties={"t": {"enum": ["x", "y"]}}, required=["t"]), EITHER, None),
    (an(properties={"t": False}), EITHER, False),
    (an(), EITHER, None),
    (TEXT, EITHER, False),
)


def judged(schema: Schema) -> list[bool]:
    judge = jsonschema_rs.validator_for(schema)
    return [judge.is_valid(value) for value in VALUES]


@pytest.mark.parametrize(("known", "further", "answer"), ROWS, ids=str)
def test_a_conjunction_tells_whether_a_further_schema_holds_too(
    known: Schema, further: Schema, answer: bool | None
) -> None:
    both = {further for accepted, further in zip(judged(known), judged(further), strict=True) if accepted}
    assert both == ({True, False} if answer is None else {answer})
    assert said(known, further) is answer


IMPOSSIBLE: Final[tuple[tuple[Schema, Schema], ...]] = (
    ({**TEXT, "minLength": 2}, {"maxLength": 1}),
    ({"enum": ["a", "ab"]}, {"minLength": 3}),
    ({"enum": ["a", "b"]}, {"not": {"enum": ["a", "b"]}, "type": "string"}),
    ({"enum": ["a", "b"]}, {"pattern": "c"}),
    ({**TEXT, "pattern": "a"}, {"not": {"pattern": "a"}}),
    ({**NUMBER, "minimum": 2}, {"maximum": 1}),
    ({**NUMBER, "minimum": 2}, {"exclusiveMaximum": 2}),
    ({**NUMBER, "exclusiveMinimum": 2}, {"maximum": 2}),
    ({**NUMBER, "minimum": 2}, {"maximum": 2, "multipleOf": 3}),
    ({**NUMBER, "minimum": 2, "maximum": 2}, {"not": {"const": 2}}),
    ({"enum": [1, 2]}, {"exclusiveMaximum": 1}),
    ({"enum": [1, 2]}, {"exclusiveMinimum": 2}),
    ({"enum": [1, 2]}, {"multipleOf": 4}),
    ({"enum": [1, 2]}, {"not": {"enum": [1, 2, 3]}}),
    ({"enum": [0.5]}, INTEGER),
    ({**NUMBER, "multipleOf": 4}, {"not": {"multipleOf": 2}}),
    (INTEGER, {"not": {"multipleOf": 0.5}}),
    ({**INTEGER, "multipleOf": 1.5}, {"not": {"multipleOf": 3}}),
    ({**INTEGER, "not": {"multipleOf": 1.5}}, {"multipleOf": 3}),
    ({**INTEGER, "exclusiveMinimum": 1}, {"exclusiveMaximum": 2}),
    ({**INTEGER, "minimum": 1.25}, {"maximum": 1.75}),
    ({**NUMBER, "multipleOf": 2}, {"not": {"type": "integer"}}),
    ({**ARRAY, "minItems": 2}, {"maxItems": 1}),
    ({**ARRAY, "items": False}, {"minItems": 1}),
    ({**ARRAY, "prefixItems": [True, False]}, {"minItems": 2}),
    ({**ARRAY, "prefixItems": [TEXT], "minItems": 1}, {"prefixItems": [INTEGER]}),
    ({**ARRAY, "items": TEXT}, {"prefixItems": [INTEGER], "minItems": 1}),
    ({**ARRAY, "items": TEXT}, {"contains": INTEGER}),
    ({**ARRAY, "contains": TEXT, "minContains": 3}, {"contains": TEXT, "maxContains": 2}),
    ({**ARRAY, "contains": TEXT}, {"contains": TEXT, "minContains": 0, "maxContains": 0}),
    ({**ARRAY, "contains": TEXT, "minContains": 2}, {"maxItems": 1}),
    ({**ARRAY, "uniqueItems": True}, {"not": {"uniqueItems": True}}),
    ({**ARRAY, "maxItems": 1}, {"not": {"uniqueItems": True}}),
    (an(required=["a"]), {"properties": {"a": False}}),
    (an(required=["a"]), {"maxProperties": 0}),
    (an(required=["a"], properties={"a": TEXT}), {"properties": {"a": INTEGER}}),
    (an(required=["ab"], properties={"ab": TEXT}), PATTERNS),
    (an(minProperties=2), {"maxProperties": 1}),
    (an(additionalProperties=INTEGER), {"not": {"additionalProperties": NUMBER}}),
    (an(maxProperties=0), {"not": {"additionalProperties": NUMBER}}),
    (tagged("z"), EITHER),
    (tagged("x"), tagged("y")),
    (an(), {"not": {"type": ["object", "array"]}}),
)
POSSIBLE: Final[tuple[tuple[Schema, Schema], ...]] = (
    ({**TEXT, "minLength": 2}, {"maxLength": 2}),
    ({"enum": ["a", "ab"]}, {"minLength": 2}),
    ({"enum": ["a", "b"]}, {"not": {"enum": ["a"]}}),
    ({**NUMBER, "minimum": 2}, {"maximum": 2}),
    ({"enum": [1, 2]}, {"maximum": 1}),
    ({"enum": [1, 2]}, {"minimum": 2}),
    ({"enum": [1, 2]}, {"not": {"enum": [1, 3]}}),
    ({**NUMBER, "multipleOf": 2}, {"not": {"multipleOf": 4}}),
    (INTEGER, {"not": {"multipleOf": 1.5}}),
    ({**INTEGER, "multipleOf": 1.5}, {"multipleOf": 2}),
    ({**INTEGER, "exclusiveMinimum": 1}, {"exclusiveMaximum": 3}),
    ({**INTEGER, "minimum": 1.25}, {"maximum": 2}),
    ({**ARRAY, "minItems": 2}, {"maxItems": 2}),
    ({**ARRAY, "items": False}, {"maxItems": 1}),
    ({**ARRAY, "prefixItems": [True, False]}, {"minItems": 1}),
    ({**ARRAY, "prefixItems": [TEXT]}, {"prefixItems": [INTEGER]}),
    ({**ARRAY, "prefixItems": [TEXT]}, {"contains": INTEGER}),
    ({**ARRAY, "prefixItems": [INTEGER], "items": TEXT}, {"contains": INTEGER}),
    ({**ARRAY, "contains": TEXT, "minContains": 2}, {"contains": TEXT, "maxContains": 2}),
    ({**ARRAY, "contains": TEXT, "minContains": 2}, {"maxItems": 2}),
    ({**ARRAY, "contains": TEXT, "minContains": 0, "maxContains": 1}, {"items": INTEGER}),
    ({**ARRAY, "maxItems": 2}, {"not": {"uniqueItems": True}}),
    (an(required=["b"]), {"properties": {"a": False}}),
    (an(required=["a"]), {"maxProperties": 1}),
    (an(properties={"a": TEXT}), {"properties": {"a": INTEGER}}),
    (an(minProperties=1), {"maxProperties": 1}),
    (an(additionalProperties=NUMBER), {"not": {"additionalProperties": INTEGER}}),
    (an(maxProperties=1), {"not": {"additionalProperties": NUMBER}}),
    (an(properties={"t": {"enum": ["z", "y"]}}), EITHER),
    ({"allOf": [an(properties={"t": {"enum": ["x", "y"]}}, required=["t"]), EITHER]}, tagged("x")),
    ({"allOf": [an(properties={"t": {"enum": ["x", "y"]}}, required=["t"]), EITHER]}, tagged("y")),
)


@pytest.mark.parametrize(("one", "other"), [*IMPOSSIBLE, *POSSIBLE], ids=str)
def test_a_conjunction_of_nothing_is_seen(one: Schema, other: Schema) -> None:
    is_nothing = (one, other) in IMPOSSIBLE
    assert impossible(one, other) is impossible(other, one) is is_nothing
    assert any(map(all, zip(judged(one), judged(other), strict=True))) is not is_nothing


ALIKE: Final[tuple[tuple[tuple[Schema, ...], Schema], ...]] = (
    (({"enum": ["a", "ab"]}, {"maxLength": 1}), {"const": "a"}),
    (({"enum": ["a", "ab"]}, {"pattern": "b"}), {"const": "ab"}),
    (({**TEXT, "maxLength": 1}, {"not": {"enum": ["abc", "a"]}}), {**TEXT, "maxLength": 1, "not": {"const": "a"}}),
    (({"enum": [1, 2]}, {"minimum": 0, "maximum": 2}), {"enum": [1, 2]}),
    (({"enum": [1, 2.5]}, INTEGER), {"const": 1}),
    (({**NUMBER, "minimum": 2}, {"maximum": 2}), {"const": 2}),
    (({**NUMBER, "minimum": 2}, {"not": {"enum": [1, 3]}}), {**NUMBER, "minimum": 2, "not": {"const": 3}}),
    (({**NUMBER, "minimum": 2}, {"exclusiveMinimum": 2}), {**NUMBER, "exclusiveMinimum": 2}),
    (({**NUMBER, "maximum": 2}, {"exclusiveMaximum": 2}), {**NUMBER, "exclusiveMaximum": 2}),
    (({**NUMBER, "maximum": 2}, {"maximum": 3}), {**NUMBER, "maximum": 2}),
    (({**NUMBER, "minimum": 2}, {"minimum": 1}), {**NUMBER, "minimum": 2}),
    ((INTEGER, {"minimum": 0.5}), {**INTEGER, "minimum": 1}),
    ((INTEGER, {"exclusiveMinimum": 1}), {**INTEGER, "minimum": 2}),
    ((INTEGER, {"exclusiveMinimum": 0.5}), {**INTEGER, "minimum": 1}),
    ((INTEGER, {"maximum": 1.5}), {**INTEGER, "maximum": 1}),
    ((INTEGER, {"exclusiveMaximum": 2}), {**INTEGER, "maximum": 1}),
    ((INTEGER, {"exclusiveMaximum": 1.5}), {**INTEGER, "maximum": 1}),
    ((INTEGER, {"multipleOf": 0.5}), INTEGER),
    ((INTEGER, {"multipleOf": 1.5}), {**INTEGER, "multipleOf": 3}),
    (({**NUMBER, "multipleOf": 2}, {"multipleOf": 4}), {**INTEGER, "multipleOf": 4}),
    (({**ARRAY, "prefixItems": [True, TEXT]}, {"maxItems": 1}), {**ARRAY, "maxItems": 1}),
    (({**ARRAY, "prefixItems": [True], "items": TEXT}, {"maxItems": 1}), {**ARRAY, "maxItems": 1}),
    (({**ARRAY, "prefixItems": [True], "items": False},), {**ARRAY, "maxItems": 1}),
    (({**ARRAY, "prefixItems": [True, False]},), {**ARRAY, "maxItems": 1}),
    (({**ARRAY, "maxItems": 5}, {"items": False}), {**ARRAY, "maxItems": 0}),
    (({**ARRAY, "items": TEXT}, {"items": INTEGER}), {**ARRAY, "maxItems": 0}),
    (({**ARRAY, "uniqueItems": True}, {"maxItems": 1}), {**ARRAY, "maxItems": 1}),
    (({**ARRAY, "contains": TEXT, "minContains": 2},), {**ARRAY, "contains": TEXT, "minContains": 2, "minItems": 2}),
    (({**ARRAY, "contains": TEXT, "minContains": 0, "maxContains": 0},), {**ARRAY, "items": {"not": TEXT}}),
    ((ARRAY, {"not": {"uniqueItems": True}}), {**ARRAY, "not": {"uniqueItems": True}, "minItems": 2}),
    ((INTEGER, {"minLength": 5, "pattern": "a"}), INTEGER),
    ((INTEGER, {"minItems": 5, "uniqueItems": True}), INTEGER),
    ((INTEGER, {"required": ["a"], "maxProperties": 5}), INTEGER),
    ((TEXT, {"minimum": 5, "multipleOf": 3}), TEXT),
    ((an(properties={"a": TEXT}), {"properties": {"a": INTEGER}}), an(properties={"a": False})),
    ((an(properties={"a": False}), {"properties": {"a": TEXT}}), an(properties={"a": False})),
    ((an(required=["a"], minProperties=1),), an(required=["a"])),
    ((an(required=["a", "b"]), {"minProperties": 2}), an(required=["a", "b"])),
    ((an(properties={"t": False}), {"not": {"required": ["t"]}}), an(properties={"t": False})),
    ((tagged("x"), EITHER), tagged("x", a=INTEGER)),
    ((an(properties={"t": {"const": "y"}}, required=["t"]), EITHER), tagged("y", "b")),
)


@pytest.mark.parametrize(("schemas", "whole"), ALIKE, ids=str)
def test_schemas_together_are_the_same_formula_as_the_schema_that_says_so(
    schemas: tuple[Schema, ...], whole: Schema
) -> None:
    forms = FormulaFactory(Budget(100_000))
    expected = formula(forms, whole)
    assert forms.all_of(*(formula(forms, schema) for schema in schemas)) is expected
    assert forms.all_of(*(formula(forms, schema) for schema in reversed(schemas))) is expected
    assert [all(each) for each in zip(*map(judged, schemas), strict=True)] == judged(whole)


def test_what_is_not_looked_into_holds_where_it_is_known_and_not_where_its_contrary_is() -> None:
    forms = FormulaFactory(Budget(100_000))
    text, doubt, more = forms.types(Kind.STRING), forms.opaque("one"), forms.opaque("more")
    for known, contrary in ((doubt, forms.negate(doubt)), (forms.ref(3), forms.negate(forms.ref(3)))):
        for one, other in ((known, contrary), (contrary, known)):
            assert forms.all_of(text, one, forms.any_of(one, more)) is forms.all_of(text, one)
            assert forms.all_of(text, one, other) is forms.bottom
    assert forms.all_of(text, forms.ref(3), forms.any_of(forms.negate(forms.ref(3)), more)) is forms.all_of(
        text, forms.ref(3), more
    )
    assert forms.all_of(forms.ref(3), forms.ref(4, holds=False)) is not forms.bottom
    either = forms.any_of(forms.ref(4), more)
    assert forms.all_of(forms.ref(3), either) is not forms.ref(3)
    assert forms.all_of(forms.opaque("other"), forms.any_of(doubt, more)) is not forms.opaque("other")
