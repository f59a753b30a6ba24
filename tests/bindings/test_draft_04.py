"""draft-04's `integer` is a number without a fraction: `1.0` is none, for every judge. Later drafts take it."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from bindings.subjects import Source, Subject, Subjects

INTEGER: Final = {"type": "integer"}
TAGGED: Final = {"type": "object", "properties": {"k": {"enum": ["a"]}, "v": INTEGER}, "required": ["k"]}
OTHER: Final = {"type": "object", "properties": {"k": {"enum": ["b"]}, "v": {"type": "number"}}, "required": ["k"]}
DEFINITIONS: Final[dict[str, Any]] = {
    "X": INTEGER,
    "Refers": {"$ref": "#/definitions/X"},
    "One": {"enum": [1]},
    "Float": {"enum": [1.0, 2]},
    "Listed": {"type": "integer", "enum": [1, 2]},
    "Number": {"type": ["integer", "number"]},
    "Excluding": {"not": INTEGER},
    "Either": {"oneOf": [INTEGER, {"type": "string"}]},
    "Exclusive": {"oneOf": [INTEGER, {"type": "number"}]},
    "All": {"allOf": [{"type": "number"}, INTEGER], "minimum": 2},
    "Record": {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 0, "exclusiveMinimum": True},
            "o": {"type": ["integer", "null"]},
            "l": {"type": "array", "items": INTEGER},
            "m": {"type": "object", "additionalProperties": INTEGER},
        },
    },
    "Tuple": {"type": "array", "items": [INTEGER, {"type": "string"}], "additionalItems": INTEGER},
    "Large": {"type": "integer", "maximum": 2**53 + 1},
    "Tagged": {"oneOf": [TAGGED, OTHER]},
}


def made(subjects: Subjects, name: str, draft: str, definitions: dict[str, Any]) -> Subject:
    file = subjects.folder / f"{name}.json"
    file.write_text(json.dumps({"$schema": f"http://json-schema.org/{draft}/schema#", "definitions": definitions}))
    return subjects.make(name, Source(file, f"test/{name}"))


@pytest.fixture(scope="module")
def subject(subjects: Subjects) -> Subject:
    """The bindings of these definitions."""
    return made(subjects, "draft_04", "draft-04", DEFINITIONS)


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("X", [1, 0, -5], [1.0, 1.5, "1"]),
        ("Refers", [1], [1.0]),
        ("One", [1, 1.0], [2, 2.0]),
        ("Float", [1, 1.0, 2, 2.0], [3]),
        ("Listed", [1, 2], [1.0, 2.0]),
        ("Number", [1, 1.0, 1.5], ["1"]),
        ("Excluding", [1.0, "a"], [1]),
        ("Either", [1, "a"], [1.0, 1.5]),
        ("Exclusive", [1.0, 1.5], [1]),
        ("All", [2], [2.0, 1]),
        ("Record", [{"n": 1}, {"o": None}, {"l": [1]}, {"m": {"a": 1}}], [{"n": 0}, {"n": 2.0}, {"o": 2.0}]),
        ("Record", [], [{"l": [1, 2.0]}, {"m": {"a": 1.0}}]),
        ("Tuple", [[1, "a", 2]], [[1.0], [1, "a", 2.0]]),
        ("Large", [4, 2**53 + 1], [4.0, 2**53 + 2]),
        ("Tagged", [{"k": "a", "v": 1}, {"k": "b", "v": 1.0}], [{"k": "a", "v": 1.0}]),
    ],
)  # fmt: skip
def test_an_integer_of_draft_04_has_no_fraction(
    subject: Subject, name: str, right: list[Any], wrong: list[Any]
) -> None:
    strict, runtime = subject.module.methods, subject.runtime
    for value in right:
        assert strict.validate_as(name, value) == ()
        assert subject.encoded(subject.module.decode_as(subject.type(name), value)) == value
    for value in wrong:
        assert strict.validate_as(name, value), value
        with pytest.raises(runtime.DecodeError):
            subject.module.decode_as(subject.type(name), value)
    assert subject.module.UNENFORCED == {}


def test_both_judges_say_why(subject: Subject) -> None:
    (problem,) = subject.module.methods.validate_as("Record", {"n": 2.0})
    with pytest.raises(subject.runtime.DecodeError) as caught:
        subject.module.decode_as(subject.type("Record"), {"n": 2.0})
    (other,) = caught.value.problems
    assert (problem.pointer, problem.sentence) == (other.pointer, other.sentence)
    assert problem.sentence == "an integer without a fraction is expected, not 2.0"


def test_an_integer_of_draft_06_is_one_however_it_is_written(subjects: Subjects) -> None:
    later = made(subjects, "draft_06", "draft-06", {"X": INTEGER})
    for value in (1, 1.0):
        assert later.module.methods.validate_as("X", value) == ()
        assert later.module.decode_as(later.type("X"), value) == 1
