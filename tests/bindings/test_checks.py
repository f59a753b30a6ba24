"""Checks: where types do not say what the schema does, decode judges by the schema, at the right place, in bounded steps."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from bindings.subjects import Subject, Subjects

TEXT: Final = {"type": "string"}
INTEGER: Final = {"type": "integer"}

DEFINITIONS: Final[Mapping[str, Any]] = {
    "Range": {
        "type": "object",
        "properties": {"low": INTEGER, "high": INTEGER, "unit": TEXT},
        "dependentRequired": {"unit": ["low"]},
        "maxProperties": 2,
    },
    "Shelf": {
        "type": "object",
        "properties": {
            "range": {"$ref": "#/$defs/Range"},
            "ranges": {"type": "array", "items": {"$ref": "#/$defs/Range"}},
            "either": {"anyOf": [{"$ref": "#/$defs/Range"}, {"type": "array", "contains": TEXT}]},
        },
    },
    "Named": {
        "type": "object",
        "properties": {"word": TEXT},
        "allOf": [{"properties": {"word": {"minLength": 2}, "next": {"type": "object", "minProperties": 1}}}],
    },
    "Rest": {"type": "object", "properties": {"a": True}, "unevaluatedProperties": False},
    "Chosen": {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "NotText": {"not": TEXT},
    "Sized": {"type": ["array", "object"], "minItems": 1, "minProperties": 1},
    "Odd": {"type": "object", "properties": {"n": INTEGER}, "if": {"required": ["n"]}, "then": {"required": ["m"]}},
    "camelCase": {"type": "object", "properties": {"camelName": TEXT, "b": TEXT}, "maxProperties": 1},
}


@pytest.fixture(scope="module")
def shelf(subjects: Subjects) -> Subject:
    return subjects.small("checks", DEFINITIONS)


def said(subject: Subject, definition: str, value: Any) -> list[tuple[str, str, str]]:
    """What decode says of a value that it refuses."""
    return [(one.pointer, one.schema, one.sentence) for one in subject.problems(definition, value)]


REFUSED: Final[Mapping[str, tuple[str, Any, list[tuple[str, str, str]]]]] = {
    "a limit": (
        "Range",
        {"low": 1, "high": 2, "x": 3},
        [("", "#/$defs/Range/maxProperties", "the number of fields may be 2 at most")],
    ),
    "two things": (
        "Range",
        {"unit": "m", "high": 2, "x": 3},
        [
            ("", "#/$defs/Range/dependentRequired", "the field 'low' is required beside 'unit'"),
            ("", "#/$defs/Range/maxProperties", "the number of fields may be 2 at most"),
        ],
    ),
    "in a field": (
        "Shelf",
        {"range": {"unit": "m"}},
        [("/range", "#/$defs/Range/dependentRequired", "the field 'low' is required beside 'unit'")],
    ),
    "in an item": (
        "Shelf",
        {"ranges": [{}, {"unit": "m"}]},
        [("/ranges/1", "#/$defs/Range/dependentRequired", "the field 'low' is required beside 'unit'")],
    ),
    "below itself": (
        "Named",
        {"word": "xx", "next": {}},
        [("/next", "#/$defs/Named/allOf/0/properties/next/minProperties", "the number of fields must be 1 or more")],
    ),
    "what nothing evaluates": (
        "Rest",
        {"a": 1, "b": 2, "c": 3},
        [("", "#/$defs/Rest/unevaluatedProperties", "'b', 'c' are not allowed here")],
    ),
    "too many alternatives": (
        "Chosen",
        {"a": 1, "b": 2},
        [("", "#/$defs/Chosen/oneOf", "more than one of the alternatives fits, and only one may")],
    ),
    "what is excluded": (
        "NotText",
        "x",
        [("", "#/$defs/NotText/not", "this is one of the values that are excluded here")],
    ),
    "a condition": ("Odd", {"n": 1}, [("", "#/$defs/Odd/then/required", "the field 'm' is required")]),
    "names of the wire": (
        "camelCase",
        {"camelName": "x", "b": "y"},
        [("", "#/$defs/camelCase/maxProperties", "the number of fields may be 1 at most")],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_problem_that_a_check_finds_has_its_place_in_the_value_and_in_the_schema(shelf: Subject, case: str) -> None:
    definition, value, problems = REFUSED[case]
    assert sorted(said(shelf, definition, value)) == problems


@pytest.mark.parametrize("case", [case for case in REFUSED if case not in ("below itself", "two things")])
def test_decode_and_the_strict_validators_say_the_same(shelf: Subject, case: str) -> None:
    definition, value, problems = REFUSED[case]
    found = shelf.module.validate_as(definition, value)
    told = {one.pointer: one.sentence for one in found}
    for pointer, _, sentence in problems:
        if "beside" not in sentence:  # of which the other engine only says the keyword
            assert told[pointer] == sentence


def test_all_that_is_wrong_is_told(shelf: Subject) -> None:
    problems = shelf.problems("Range", {"low": "x", "unit": "m", "high": 1})
    assert {(one.pointer, one.sentence) for one in problems} == {
        ("", "the number of fields may be 2 at most"),
        ("/low", "an integer is expected, not 'x'"),
    }


def test_checks_hold_inside_other_types(shelf: Subject) -> None:
    module, refused = shelf.module, shelf.runtime.DecodeError
    ranges: Any = list[shelf.type("Range")]  # type: ignore[misc]
    sized: Any = dict[str, shelf.type("Sized")]  # type: ignore[misc]
    values: tuple[tuple[Any, Any], ...] = (
        (ranges, [{"unit": "m"}]),
        (sized, {"a": []}),
        (module.NotText | None, "x"),
        (module.Shelf, {"either": {"unit": "m"}}),
        (module.Shelf, {"either": [1]}),
    )
    for type_, value in values:
        with pytest.raises(refused):
            module.decode_as(type_, value)
    assert module.decode_as(ranges, [{"unit": "m", "low": 1}])[0].low == 1
    assert module.decode_as(module.Shelf, {"either": ["x"]}).either == ["x"]


def test_a_value_goes_through_a_check_unchanged(shelf: Subject) -> None:
    value = {"range": {"unit": "m", "low": 1.0}, "ranges": [{"x": [1.5, None]}], "either": ["x", 1]}
    found = shelf.module.decode_as(shelf.module.Shelf, value)
    assert isinstance(found.range, shelf.module.Range)
    assert shelf.encoded(found) == value


def test_a_constructor_judges_the_record_and_an_assignment_its_field(shelf: Subject) -> None:
    refused = shelf.runtime.DecodeError
    with pytest.raises(refused, match="the field 'low' is required beside 'unit'"):
        shelf.module.Range(unit="m")
    made = shelf.module.Range(unit="m", low=1)
    made.high = 2  # one too many: fields are set one after the other
    with pytest.raises(shelf.runtime.EncodeError, match="the number of fields may be 2 at most"):
        shelf.module.encode(made)
    del made.unit
    assert shelf.encoded(made) == {"low": 1, "high": 2}
    shelves = shelf.module.Shelf()
    with pytest.raises(refused, match="/either"):
        shelves.either = [1]
    shelves.either = ["x", 1]
    assert shelf.encoded(shelves) == {"either": ["x", 1]}


BESIDE_NULL: Final[Mapping[str, Any]] = {
    "const": {"const": {"x": 1}},
    "$ref": {"$ref": "#/$defs/Full"},
    "allOf": {"allOf": [{"minProperties": 1, "type": "object"}]},
    "not": {"not": {"type": "null"}},
    "if": {"if": {"type": "null"}, "then": False},
}


def test_null_is_refused_where_what_stands_beside_the_types_refuses_it(subjects: Subjects) -> None:
    optional = {"type": ["object", "null"], "properties": {"x": INTEGER}}
    fields = {keyword.lstrip("$"): {**optional, **beside} for keyword, beside in BESIDE_NULL.items()}
    full = {"type": "object", "minProperties": 1}
    subject = subjects.small("beside_null", {"Full": full, "Row": {"type": "object", "properties": fields}})
    for field in fields:
        (problem,) = subject.problems("Row", {field: None})
        assert problem.pointer == f"/{field}"
        subject.module.decode_as(subject.type("Row"), {field: {"x": 1}})


def test_a_branch_of_another_type_takes_no_object(subjects: Subjects) -> None:
    inner = [kind("a"), {"type": "object", "properties": {"b": INTEGER}}]
    outer = {"type": "object", "required": ["b"], "oneOf": [{"type": "array", "oneOf": inner}, {"type": "object"}]}
    subject = subjects.small("branch_of_arrays", {"Row": outer})
    assert subject.module.decode_as(subject.type("Row"), {"b": 1})
    subject.problems("Row", {})
    subject.problems("Row", [])


# --- leniency and tolerance ------------------------------------------------------------------------------------------

FORGIVING: Final = {"x-deserialize-default-on-error": True}


@pytest.fixture(scope="module")
def lenient(subjects: Subjects) -> Subject:
    return subjects.small(
        "lenient_checks",
        {
            "Size": {"type": "object", "maxProperties": 1},
            "Box": {
                "type": "object",
                "properties": {
                    "size": {"$ref": "#/$defs/Size", **FORGIVING},
                    "sizes": {
                        "type": "array",
                        "items": {"$ref": "#/$defs/Size"},
                        "x-deserialize-skip-invalid-items": True,
                    },
                    "count": {"type": "integer", **FORGIVING},
                },
                "allOf": [{"properties": {"count": {"maximum": 5}}}],
                "if": {"required": ["count"]},
                "then": {"required": ["name"]},
            },
        },
    )


LARGE: Final = {"a": 1, "b": 2}
EMPTY: Final = dict[str, Any]()
FORGIVEN: Final[Mapping[str, tuple[Any, Any, list[str]]]] = {
    "a field": ({"size": LARGE}, EMPTY, ["/size"]),
    "an item": ({"sizes": [LARGE, EMPTY, LARGE]}, {"sizes": [EMPTY]}, ["/sizes/0", "/sizes/2"]),
    "what another part demands of a field": ({"count": 7, "name": "x"}, {"name": "x"}, ["/count"]),
    "before the whole is judged": ({"count": "x"}, EMPTY, ["/count"]),
}


@pytest.mark.parametrize("case", FORGIVEN)
def test_a_field_that_forgives_forgives_what_a_check_refuses(lenient: Subject, case: str) -> None:
    value, left, dropped = FORGIVEN[case]
    drops: list[Any] = []
    found = lenient.module.decode_as(lenient.module.Box, value, on_drop=drops.append)
    assert lenient.encoded(found) == left
    assert [drop.pointer for drop in drops] == dropped
    with pytest.raises(lenient.runtime.DecodeError):
        lenient.module.decode_as(lenient.module.Box, value, lenient=False)


def test_what_no_field_forgives_is_refused(lenient: Subject) -> None:
    (problem,) = lenient.problems("Box", {"count": 1}, lenient=True)
    assert problem.sentence == "the field 'name' is required"


def kind(tag: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"kind": {"const": tag}, **more}, "required": ["kind"]}


KEPT: Final[Mapping[str, Any]] = {
    "Animal": {"oneOf": [kind("cat"), kind("dog", age=INTEGER)]},
    "Colour": {"enum": ["red", "blue"]},
    "Number": {"enum": [1, 2]},
    "Zoo": {
        "type": "object",
        "properties": {
            "animal": {"$ref": "#/$defs/Animal"},
            "colour": {"$ref": "#/$defs/Colour"},
            "number": {"$ref": "#/$defs/Number"},
        },
        "maxProperties": 2,
    },
    "Wild": {"type": "object", "properties": {"animal": {"not": {"$ref": "#/$defs/Animal"}}}},
}


@pytest.mark.parametrize("how", ["keep_unknown", "x-unknown"])
def test_what_decoders_keep_is_kept_by_checks(subjects: Subjects, how: str) -> None:
    if how == "keep_unknown":
        zoo = subjects.small("zoo_option", KEPT, keep_unknown=True)
    else:
        marked = {"x-unknown": "keep"}
        zoo = subjects.small(
            "zoo_marked", {k: {**v, **(marked if k in ("Animal", "Colour", "Number") else {})} for k, v in KEPT.items()}
        )
    decode, type_ = zoo.module.decode_as, zoo.type("Zoo")
    assert decode(type_, {"animal": {"kind": "cow", "x": 1}, "colour": "green"}).colour == "green"
    assert decode(type_, {"number": 3}).number == 3
    for value in ({"animal": {"kind": "dog", "age": "x"}}, {"animal": {"x": 1}}, {"colour": 7}):
        zoo.problems("Zoo", value)
    (problem,) = zoo.problems("Zoo", {"animal": {"kind": "cow"}, "a": 1, "b": 2})
    assert problem.schema == "#/$defs/Zoo/maxProperties"
    # what the schema accepts is not refused for what decoders keep elsewhere
    assert decode(zoo.type("Wild"), {"animal": {"kind": "cow"}}).animal == {"kind": "cow"}
    zoo.problems("Wild", {"animal": {"kind": "cat"}})


def test_a_closed_union_stays_closed(subjects: Subjects) -> None:
    zoo = subjects.small("zoo_closed", KEPT)
    zoo.problems("Zoo", {"animal": {"kind": "cow"}})
    zoo.problems("Zoo", {"colour": "green"})


# --- what a default branch takes with a tag that is not known --------------------------------------------------------

STRAYS: Final[Mapping[str, Any]] = {
    "TypedRest": {"type": "object", "properties": {"n": INTEGER}, "additionalProperties": INTEGER},
    "Counted": {"type": "object", "properties": {"n": INTEGER}, "minProperties": 2},
    "TagOfAnotherType": {"type": "object", "properties": {"kind": INTEGER, "n": INTEGER}, "required": ["n"]},
    "Keyed": {"type": "object", "properties": {"n": INTEGER}, "propertyNames": {"maxLength": 1}},
}
TAGS: Final[tuple[Any, ...]] = ("a", "z", 1, 1.0, 2, 2.5, None, True)


@pytest.mark.parametrize("tag", ["a", 1.0, 2.5, True])
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_the_default_branch_of_a_union_judges_what_reaches_it(
    subjects: Subjects, tag: str | float | bool, keyword: str
) -> None:
    import jsonschema_rs

    definitions = {
        name: {keyword: [{"type": "object", "properties": {"kind": {"const": tag}}, "required": ["kind"]}, default]}
        for name, default in STRAYS.items()
    }
    name = f"strays_{keyword}_{TAGS.index(tag)}_{type(tag).__name__}".lower()
    subject = subjects.small(name, definitions)
    rest: tuple[dict[str, Any], ...] = ({}, {"n": 1}, {"n": "x"}, {"b": 1}, {"n": 1, "m": 2})
    values = [{"kind": one, **more} for one in TAGS for more in rest] + [*rest]
    for definition in definitions:
        judge = jsonschema_rs.Draft202012Validator({"$defs": definitions, "$ref": f"#/$defs/{definition}"})
        for value in values:
            try:
                subject.module.decode_as(subject.type(definition), value, lenient=False)
                accepted = True
            except subject.runtime.DecodeError:
                accepted = False
            assert accepted is judge.is_valid(value), (definition, value)


# --- steps -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile(subjects: Subjects) -> Subject:
    return subjects.small(
        "hostile_checks",
        {
            "Tree": {
                "type": "object",
                "properties": {
                    "left": {"$ref": "#/$defs/Tree"},
                    "right": {"$ref": "#/$defs/Tree"},
                    "all": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
                },
                "maxProperties": 3,
            },
            "Twice": {
                "oneOf": [
                    {"type": "object", "properties": {"next": {"$ref": "#/$defs/Twice"}}, "required": ["a"]},
                    {"type": "object", "properties": {"next": {"$ref": "#/$defs/Twice"}}, "required": ["b"]},
                    {"type": "object", "properties": {"next": {"$ref": "#/$defs/Twice"}}, "maxProperties": 1},
                ]
            },
            "Open": {
                "type": "object",
                "properties": {"next": {"$ref": "#/$defs/Open"}},
                "anyOf": [{"$ref": "#/$defs/OpenPart"}, {"properties": {"x": True}}],
                "unevaluatedProperties": False,
            },
            "OpenPart": {
                "type": "object",
                "properties": {"next": {"$ref": "#/$defs/Open"}, "y": True},
                "minProperties": 0,
                "propertyNames": {"maxLength": 9},
            },
            "Word": {"type": "object", "propertyNames": {"pattern": "^(a+)+$"}},
        },
    )


def chain(depth: int, **more: Any) -> dict[str, Any]:
    value: dict[str, Any] = dict(more)
    for _ in range(depth):
        value = {"next": value}
    return value


@pytest.mark.parametrize("depth", [24, 90, 190])
@pytest.mark.parametrize(
    ("definition", "ends"),
    [("Twice", {}), ("Twice", {"a": 1}), ("Twice", {"z": 1, "y": 2}), ("Open", {}), ("Open", {"z": 1})],
)
def test_a_deep_value_takes_no_steps_that_multiply(
    hostile: Subject, definition: str, ends: dict[str, Any], depth: int
) -> None:
    """A chain of twelve took a minute where each level was looked at once for each branch above it."""
    before = time.process_time()
    with suppress(hostile.runtime.DecodeError):
        hostile.module.decode_as(hostile.type(definition), chain(depth, **ends))
    assert time.process_time() - before < 10


def test_values_that_several_branches_read_are_read_once_a_level(subjects: Subjects) -> None:
    def fields(**each: Any) -> dict[str, Any]:
        return {"type": "object", "properties": each, "required": [*each]}

    node, text = {"$ref": "#/$defs/Node"}, {"type": "string"}
    branches = [fields(a=node, b=fields(x=text)), fields(a=node, b=fields(y=text)), {"type": "null"}]
    subject = subjects.small("read_once", {"Node": {"anyOf": branches}, "Box": fields(node=node)})
    value: Any = None
    for _ in range(60):
        value = {"a": value, "b": {"y": "y"}}
    before = time.process_time()
    assert subject.encoded(subject.module.decode_as("Box", {"node": value})) == {"node": value}
    subject.problems("Box", {"node": {"a": value, "b": {}}})
    assert time.process_time() - before < 10


def test_the_deepest_value_that_is_read_is_judged_or_refused(hostile: Subject) -> None:
    deepest = 195
    text = '{"next":' * deepest + "{}" + "}" * deepest
    value = json.loads(text)
    for definition in ("Tree", "Twice", "Open"):
        with suppress(hostile.runtime.DecodeError):
            hostile.module.decode_as(hostile.type(definition), value)


def test_a_pattern_that_would_take_a_backtracking_engine_ages_is_quick(hostile: Subject) -> None:
    hostile.problems("Word", {"a" * 5000 + "b": 1})
    hostile.module.decode_as(hostile.type("Word"), {"a" * 5000: 1})


# --- at no cost ------------------------------------------------------------------------------------------------------


def test_packages_that_need_no_check_have_none(subjects: Subjects) -> None:
    for name in ("own_v1", "own_v2", "own_roots"):
        folder = Path(subjects(name).module.__file__).parent
        assert "judged=" not in (folder / "models.py").read_text("utf-8")


def test_only_what_needs_a_check_has_one(shelf: Subject) -> None:
    text = Path(shelf.module.__file__).with_name("models.py").read_text("utf-8")
    assert "class Range(Record, judged=True)" in text
    assert "class Shelf(Record)" not in text, "one of its fields has a type that says too little"
    assert 'judged="NotText"' in text


def test_a_whole_number_with_a_fraction_is_read_beside_many_problems_of_other_branches(subjects: Subjects) -> None:
    numbers = {f"n{index}": {"type": "integer"} for index in range(30)}
    branches = {
        f"^{letter}": {
            "type": "object",
            "properties": {f"{letter}{index}": {"type": "string"} for index in range(30)},
            "additionalProperties": False,
        }
        for letter in "abcde"
    }
    branches["^n"] = {"type": "object", "properties": numbers, "additionalProperties": False}
    row = {"type": "object", "patternProperties": branches, "additionalProperties": False}
    subject = subjects.small("whole_among_many", {"Row": row, "Either": {"oneOf": [{"$ref": "#/$defs/Row"}, False]}})
    value = {"n": dict.fromkeys(numbers, 1) | {"n29": 2.0}}
    for name in ("Row", "Either"):
        decoded = subject.module.decode_as(subject.type(name), value)
        assert subject.encoded(decoded) == {"n": dict.fromkeys(numbers, 1) | {"n29": 2}}
