"""Shapes that the published schemas do not have: small schemas of our own, judged by all three judges."""

from __future__ import annotations

from typing import Any, Final

import jsonschema
import pytest

from bindings.subjects import Subject, Subjects, same

NAMES: Final = (
    *("class", "self", "modelConfig", "copy", "json", "schema", "_meta", "__init__", "a-b", "é", "list", "1st", "$ref"),
)
NODE: Final = {
    "type": "object",
    "properties": {
        "value": {},
        "next": {"$ref": "#/$defs/Node"},
        "more": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
    },
}


def tagged(tag: str, value: Any, **properties: Any) -> dict[str, Any]:
    """A branch of a union."""
    return {"type": "object", "properties": {tag: {"const": value}, **properties}, "required": [tag]}


DEFINITIONS: Final[dict[str, Any]] = {
    "Numbers": {
        "type": "object",
        "properties": {
            "any": {"type": "number"},
            "bounded": {"type": "number", "minimum": 0},
            "between": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "whole": {"type": "integer"},
            "small": {"type": "integer", "minimum": -2, "maximum": 3},
            "even": {"type": "integer", "multipleOf": 2},
            "nullable": {"type": ["number", "null"]},
            "list": {"type": "array", "items": {"type": "number", "maximum": 1000}},
            "map": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
            "mapOrNull": {"type": ["object", "null"], "additionalProperties": {"type": "integer", "minimum": 1}},
        },
    },
    "Strings": {
        "type": "object",
        "properties": {
            "some": {"type": "string", "minLength": 1},
            "few": {"type": "string", "maxLength": 2},
            "letters": {"type": "string", "pattern": "^[a-z]+"},
            "inside": {"type": "string", "pattern": "b"},
            "nullable": {"type": ["string", "null"], "minLength": 2},
        },
    },
    "Constants": {
        "type": "object",
        "properties": {
            "one": {"const": 1},
            "yes": {"const": True},
            "none": {"const": None},
            "half": {"const": 0.5},
            "empty": {"const": ""},
            "mixed": {"enum": [1, "1", True, None]},
            "numbers": {"enum": [1, 2, 3]},
            "defaulted": {"const": "x", "default": "x"},
            "required": {"const": "r"},
        },
        "required": ["required"],
    },
    "Arrays": {
        "type": "object",
        "properties": {
            "some": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
            "free": {"type": "array"},
            "nested": {"type": "array", "items": {"type": "array", "items": {"type": ["string", "null"]}}},
            "orNull": {"type": ["array", "null"], "items": {"type": "boolean"}},
        },
    },
    "Node": NODE,
    "Nodes": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
    "Deep": {"type": "object", "additionalProperties": {"anyOf": [{"$ref": "#/$defs/Deep"}, {"type": "integer"}]}},
    "Closed": {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False},
    "Typed": {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}},
    "Exactly": {"oneOf": [{"type": "integer"}, {"type": "number"}, {"type": "string"}]},
    "ExactlyObjects": {
        "oneOf": [
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]},
        ]
    },
    "Either": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
    "ByNumber": {"oneOf": [tagged("v", 1, x={"type": "integer"}), tagged("v", 2, x={"type": "string"})]},
    "ByTruth": {"oneOf": [tagged("ok", True, x={"type": "integer"}), tagged("ok", False, x={"type": "string"})]},
    "ByTag": {
        "anyOf": [
            tagged("tag", "a", payload={"type": "integer"}),
            tagged("tag", "b", payload={"type": "string"}, tags={"type": "string"}),
            {
                "type": "object",
                "properties": {"tag": {"type": "string"}, "payload": {"type": "string"}},
                "required": ["tag", "payload"],
                "not": {"properties": {"tag": {"enum": ["a", "b"]}}, "required": ["tag"]},
            },
        ]
    },
    "Names": {
        "type": "object",
        "properties": {name: {"type": "integer"} for name in NAMES},
    },
    "Anything": {},
    "Nothing": {"type": "object", "properties": {"never": False, "any": True, "empty": {}}},
    "Defaults": {
        "type": "object",
        "properties": {
            "flag": {"type": "boolean", "default": False},
            "list": {"type": "array", "items": {"type": "string"}, "default": []},
            "filled": {"type": "array", "items": {"type": "string"}, "default": ["a"]},
            "record": {"$ref": "#/$defs/Closed", "default": {}},
            "given": {"$ref": "#/$defs/Closed", "default": {"a": 1}},
            "map": {"type": "object", "additionalProperties": {"type": "integer"}, "default": {}},
            "null": {"type": ["string", "null"], "default": None},
            "text": {"type": "string", "default": "\"'\\\n\u2028"},
            "wrong": {"type": "string", "default": 5},
        },
    },
}


def each(name: str, *values: Any, **others: Any) -> list[dict[str, Any]]:
    """Objects with one field, each with another value."""
    return [{**others, name: value} for value in values]


VALUES: Final[dict[str, list[Any]]] = {
    "Numbers": [
        {},
        *each("any", 0, 1.5, 2**60, 2**60 + 1, 10**40, 1e300, True, None, "1", -0.0),
        *each("bounded", 0, 0.0, -1, 2**60 + 1, 10**40, 1e300, True, "1", 0.1),
        *each("between", 0, 1, 0.5, 0.0, 1.0, False),
        *each("whole", 1, 1.0, 1.5, 1e300, 2**80, True, "1", None, -0.0),
        *each("small", -2, 3, 3.0, 4, 4.0, -3, True, 2.5),
        *each("even", 2, 2.0, 3, 3.0, 0, 2**80, False),
        *each("nullable", None, 1, 1.5, True, "x", 2**60 + 1),
        *each("list", [], [1, 1.5, 2**9], [1001], [True], [None], [10**30], [-(10**30) - 1]),
        *each("map", {}, {"a": 1}, {"a": 0}, {"a": 1.0}, {"a": True}, {"a": None}, [], None),
        *each("mapOrNull", {}, {"a": 1}, {"a": 0}, {"a": 1.0}, {"a": True}, {"a": None}, [], None),
    ],
    "Strings": [
        *each("some", "", "a", "\u0000", None, 1),
        *each("few", "", "ab", "abc", "\U0001f600\U0001f600", "\U0001f600\U0001f600\U0001f600", "e\u0301x"),
        *each("letters", "a", "A", "aA", "", "1a", "\na"),
        *each("inside", "abc", "b", "a", "", "a\nb"),
        *each("nullable", None, "ab", "a", 5),
    ],
    "Constants": [
        {},
        {"required": "r"},
        {"required": "x"},
        {"required": None},
        *each("one", 1, 1.0, True, "1", 2, None, required="r"),
        *each("yes", True, False, 1, 1.0, "true", None, required="r"),
        *each("none", None, False, 0, "", {}, required="r"),
        *each("half", 0.5, 0, "0.5", 1, required="r"),
        *each("empty", "", None, "x", [], required="r"),
        *each("mixed", 1, 1.0, "1", True, None, False, 0, 2, "", required="r"),
        *each("numbers", 1, 2.0, 4, True, "1", 1.5, required="r"),
        *each("defaulted", "x", "y", None, required="r"),
    ],
    "Arrays": [
        *each("some", [], [1], [1, 2], [1, 2, 3], [1.0], [None], {}, None, "ab"),
        *each("free", [], [1, None, {"a": []}], None, {}),
        *each("nested", [], [[]], [["a", None]], [[1]], [None], ["a"]),
        *each("orNull", None, [], [True], [1], [None]),
    ],
    "Node": [
        {},
        {"next": {"next": {"next": {"value": None}}}},
        {"next": None},
        {"more": [{"more": [{}]}]},
        {"more": [{"more": [5]}]},
    ],
    "Nodes": [[], [{}], [{"next": 5}], {}, None],
    "Deep": [{}, {"a": {"b": {"c": 1}}}, {"a": {"b": {"c": "x"}}}, {"a": 1.0}, {"a": 1.5}, {"a": True}],
    "Closed": [{}, {"a": 1}, {"b": 1}, {"a": 1, "b": None}, {"A": 1}],
    "Typed": [{}, {"a": 1}, {"a": "x"}, {"b": "x"}, {"b": 1}, {"b": None}, {"b": "x", "c": "y"}],
    "Exactly": [1, 1.0, 1.5, "x", True, None, 2**70],
    "ExactlyObjects": [
        {"a": 1},
        {"b": 1},
        {"a": 1, "b": 1},
        {"a": 1, "b": "x"},
        {"a": "x", "b": 1.0},
        {"a": 1.0, "b": 1.0},
        {},
    ],
    "Either": ["x", 1, 1.0, 1.5, [1], [1.0], ["x"], [], None, True],
    "ByNumber": [
        {"v": 1, "x": 1},
        {"v": 1.0, "x": 1},
        {"v": 2, "x": "s"},
        {"v": 2.0, "x": 1},
        {"v": True},
        {"v": "1"},
        {"v": 3},
        {},
        {"v": None},
        {"v": [1]},
    ],
    "ByTruth": [
        {"ok": True, "x": 1},
        {"ok": False, "x": "s"},
        {"ok": 1, "x": 1},
        {"ok": 0},
        {"ok": 1.0},
        {"ok": "true"},
        {},
        {"ok": True, "x": "s"},
    ],
    "ByTag": [
        {"tag": "a", "payload": 1},
        {"tag": "a", "payload": "x"},
        {"tag": "b", "payload": "x", "tags": "t"},
        {"tag": "c", "payload": "x"},
        {"tag": "c", "payload": 1},
        {"tag": "c"},
        {"tag": 5, "payload": "x"},
        {"payload": "x"},
        {"tag": "_x", "payload": "p", "known_tags": 1, "unknown_tag_field": 2, "is_extension": 3, "is_reserved": 4},
    ],
    "Names": [
        {},
        dict.fromkeys(NAMES, 1),
        {"class": "x"},
        {
            "class_": 1,
            "self_": "kept",
            "model_config": 1,
            "copy_": [1],
            "meta": "m",
            "a_b": 2,
            "e": 3,
            "list_": 4,
            "n1st": 5,
            "ref": 6,
        },
        {"json_": 1, "json": 2},
        {
            "__class__": 1,
            "__dict__": 2,
            "__pydantic_extra__": 3,
            "model_extra": 4,
            "model_fields_set": 5,
            "__fields__": 6,
        },
    ],
    "Anything": [None, 1, "x", [], {}, {"a": [1]}, True, 1.5],
    "Nothing": [{}, {"never": 1}, {"never": None}, {"any": None}, {"any": {"a": 1}}, {"empty": [1, None]}],
    "Defaults": [
        {},
        {"flag": False},
        {"flag": True, "list": [], "filled": [], "record": {}, "given": {}, "map": {}, "null": None, "text": ""},
        {"null": "x", "list": ["a"], "given": {"a": 1}},
        {"record": None},
        {"flag": None},
        {"list": None},
        {"wrong": 5},
        {"wrong": "x"},
    ],
}


@pytest.fixture(scope="session")
def shapes(subjects: Subjects) -> Subject:
    """Bindings of the small schemas."""
    return subjects.keep(subjects.small("shapes", DEFINITIONS))


@pytest.mark.parametrize("name", VALUES)
def test_the_judges_agree_on_every_shape(shapes: Subject, name: str) -> None:
    judge: Any = jsonschema.Draft202012Validator({"$defs": shapes.bundle.schema["$defs"], "$ref": f"#/$defs/{name}"})
    verdicts: set[bool] = set()
    for value in VALUES[name]:
        expected = judge.is_valid(value)
        verdicts.add(expected)
        assert shapes.meaning.accepts(name, value) is expected, ("meaning", value)
        if expected:
            found = shapes.module.decode_as(shapes.type(name), value, lenient=False)
            assert same(shapes.encoded(found), value), (value, found)
        else:
            assert shapes.problems(name, value), value
    assert True in verdicts
    assert False in verdicts or name == "Anything"


def test_nothing_of_these_schemas_is_left_unenforced(shapes: Subject) -> None:
    assert not {name for definition in shapes.protocol.definitions.values() for name in definition.unenforced}


def test_defaults_are_what_omitted_fields_hold_and_are_not_written(shapes: Subject) -> None:
    found = shapes.module.decode_as(shapes.type("Defaults"), {})
    assert found.flag is False
    assert found.list_ == []
    assert found.record == shapes.type("Closed")()
    assert found.given.a == 1
    assert found.null is None
    assert found.text == "\"'\\\n\u2028"
    assert found.wrong is shapes.runtime.UNSET
    found.list_.append("x")
    assert shapes.module.decode_as(shapes.type("Defaults"), {}).list_ == []


def test_a_default_that_is_written_out_comes_back_written_out(shapes: Subject) -> None:
    written: list[Any] = [{"flag": False}, {"record": {}}, {"given": {"a": 1}}, {"filled": ["a"]}, {"null": None}]
    for value in written:
        assert shapes.encoded(shapes.module.decode_as(shapes.type("Defaults"), value)) == value


def test_a_recursive_value_is_read_as_deep_as_json_is_and_never_breaks(shapes: Subject) -> None:
    refused: set[int] = set()
    for depth in (10, 60, 90, 150, 250, 1000, 50_000):
        for key in ("next", "more"):
            value: Any = {"value": key}
            for _ in range(depth):
                value = {key: value} if key == "next" else {key: [value]}
            try:
                found = shapes.module.decode_as(shapes.type("Node"), value)
            except shapes.runtime.DecodeError:
                refused.add(depth)
                continue
            assert same(shapes.encoded(found), value)
    assert min(refused) > 90


def test_values_are_read_and_judged_by_the_name_of_a_class_where_the_definition_has_another(subjects: Subjects) -> None:
    definitions = {"tide-table": {"type": "object", "required": ["at"]}, "levels": {"type": "array", "items": {}}}
    found = subjects.small("other_names", definitions)
    module = found.module
    for class_, definition, bad in (("TideTable", "tide-table", {}), ("Levels", "levels", 5)):
        assert module.validate_as(class_, bad) == module.validate_as(definition, bad) != ()
        for name in (class_, definition):
            with pytest.raises(found.runtime.DecodeError):
                module.decode_as(name, bad)


def test_a_field_may_have_the_empty_name_or_be_called_cls(subjects: Subjects) -> None:
    properties = {"": {"type": "integer"}, "cls": {"type": "string"}, "self": {"type": "string"}}
    found = subjects.small("odd_names", {"Odd": {"type": "object", "properties": properties, "required": ["", "cls"]}})
    read = found.module.decode_as("Odd", {"": 1, "cls": "x"})
    assert isinstance(read, found.type("Odd"))
    assert found.encoded(read) == {"": 1, "cls": "x"}
    assert found.problems("Odd", {"empty": 1, "cls": "x"})
    made = found.type("Odd")(**{"": 2}, cls="y").__replace__(self="z")
    assert found.encoded(made) == {"": 2, "cls": "y", "self": "z"}


def test_further_fields_may_be_maps_themselves(subjects: Subjects) -> None:
    maps = {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": {"type": "integer"}}}
    found = subjects.small("maps_of_maps", {"Maps": {**maps, "properties": {"id": {"type": "string"}}}})
    value = {"id": "x", "tide": {"high": 2, "low": 1}, "ebb": {}}
    assert same(found.encoded(found.module.decode_as("Maps", value)), value)
    assert [one.pointer for one in found.problems("Maps", {"tide": {"high": "x"}})] == ["/tide/high"]


def test_null_may_be_any_number_of_branches(subjects: Subjects) -> None:
    null: Any = {"type": "null"}
    definitions: dict[str, Any] = {
        "Twice": {"anyOf": [null, null]},
        "Constant": {"anyOf": [{"const": None}, null]},
        "Set": {"enum": [None]},
        "Reference": {"anyOf": [{"$ref": "#/$defs/Set"}, null]},
        "References": {"anyOf": [{"$ref": "#/$defs/Twice"}, {"$ref": "#/$defs/Set"}, null]},
        "Nested": {"anyOf": [{"anyOf": [null, {"const": None}]}, {"$ref": "#/$defs/References"}]},
        "Exclusive": {"oneOf": [{"$ref": "#/$defs/Twice"}, null]},
    }
    fields = {name: {"anyOf": [{"$ref": f"#/$defs/{name}"}, null]} for name in definitions if name != "Exclusive"}
    found = subjects.small("nulls", {**definitions, "Row": {"type": "object", "properties": fields}})
    for name in definitions:
        assert bool(found.module.validate_as(name, None)) == (name == "Exclusive"), name
        refused: tuple[object, ...] = (1, {}, None) if name == "Exclusive" else (1, {})
        for value in refused:
            assert found.problems(name, value), (name, value)
    assert found.module.validate_as("Twice", 1)[0].sentence == "null is expected, not 1"
    row = dict.fromkeys(fields)
    assert found.encoded(found.module.decode_as("Row", row)) == row
    assert [one.pointer for one in found.problems("Row", {**row, "Set": 1})] == ["/Set"]


def test_of_equal_constants_only_one_may_fit(subjects: Subjects) -> None:
    one = {"const": "a"}
    definitions: dict[str, Any] = {
        "A": one,
        "Equal": {"oneOf": [one, one, {"const": "b"}]},
        "Named": {"oneOf": [{"$ref": "#/$defs/A"}, one, {"type": "integer"}]},
        "Nullable": {"oneOf": [one, one, {"type": "null"}, {"const": "b"}]},
    }
    found = subjects.small("equal_constants", definitions)
    for name, fits in {"Equal": "b", "Named": 1, "Nullable": "b"}.items():
        assert found.module.decode_as(name, fits) == fits
        assert found.module.validate_as(name, "a")
        assert found.problems(name, "a")


def test_what_is_decoded_by_name_is_told_all_that_the_definition_says(subjects: Subjects) -> None:
    definitions: dict[str, Any] = {
        "Text": {"type": "string", "properties": {"a": {"type": "integer"}}},
        "Count": {"type": "integer", "required": ["z"], "items": {"type": "string"}},
        "Null": {"type": "null", "const": None},
        "Other": {"type": "string"},
    }
    found = subjects.small("scalars_with_more", definitions)
    for name in definitions:
        for value in ({"a": "x"}, [1], 1.5):
            with pytest.raises(found.runtime.DecodeError) as refused:
                found.module.decode_as(name, value)
            told = [(one.pointer, one.sentence) for one in refused.value.problems]
            assert told == [(one.pointer, one.sentence) for one in found.module.validate_as(name, value)], (name, value)
    assert [one.pointer for one in found.module.validate_as("Text", {"a": "x"})] == ["", "/a"]


@pytest.mark.parametrize("own", [{"properties": {"op": True, "n": {"type": "integer"}}}, {"properties": {"op": True}}])
def test_a_record_says_the_type_of_a_field_that_its_base_only_requires(subjects: Subjects, own: dict[str, Any]) -> None:
    base = {"type": "object", "required": ["n"]}
    sub = {"$ref": "#/$defs/Base", "type": "object", "additionalProperties": {"type": "integer"}, **own}
    name = f"only_required_{len(own['properties'])}"
    subject = subjects.small(name, {"Base": base, "Sub": sub, "Other": {"$ref": "#/$defs/Base"}})
    assert subject.encoded(subject.module.decode_as("Sub", {"op": 1, "n": 1})) == {"op": 1, "n": 1}
    (problem,) = subject.problems("Sub", {"op": 1, "n": "x"})
    assert problem.pointer == "/n"
