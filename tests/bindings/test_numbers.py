"""Numbers of a schema that no double equals: both judges take what they say of each number that is read of a message."""

from __future__ import annotations

from typing import Any, Final

import pytest

from acpgen.input.numbers import loads
from bindings.subjects import Subject, Subjects

CLOSE: Final = loads("0.10000000000000000000001")
BELOW: Final = loads("0.09999999999999999999999")
DEFINITIONS: Final[dict[str, Any]] = {
    "AtMost": {"type": "number", "maximum": CLOSE},
    "AtMostBelow": {"type": "number", "maximum": BELOW},
    "Less": {"type": "number", "exclusiveMaximum": CLOSE},
    "AtLeast": {"type": "number", "minimum": CLOSE},
    "More": {"type": "number", "exclusiveMinimum": BELOW},
    "Positive": {"type": "number", "minimum": loads("1e-400")},
    "Between": {"type": "number", "minimum": 0, "maximum": CLOSE},
    "Nullable": {"type": ["number", "null"], "maximum": CLOSE},
    "List": {"type": "array", "items": {"type": ["number", "null"], "minimum": BELOW, "maximum": CLOSE}},
    "Field": {"type": "object", "properties": {"n": {"type": ["number", "null"], "maximum": CLOSE}}},
    "Large": {"type": "number", "maximum": loads("9007199254740993.5")},
    "Step": {"type": "number", "multipleOf": CLOSE},
    "Constant": {"const": CLOSE},
    "Some": {"enum": [0.1, CLOSE, "a"]},
    "Huge": {"const": loads("1e400")},
    "Unsaid": {"type": "object", "properties": {"n": {"if": {"minimum": CLOSE}, "then": {"const": 7}}}},
}


@pytest.fixture(scope="module")
def subject(subjects: Subjects) -> Subject:
    """The bindings of these definitions."""
    return subjects.small("numbers", DEFINITIONS)


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("AtMost", [0.1, 0, -1], [0.10000000000000002, 1]),
        ("AtMostBelow", [0.09999999999999999], [0.1]),
        ("Less", [0.1], [0.10000000000000002]),
        ("AtLeast", [0.10000000000000002, 1], [0.1, 0]),
        ("More", [0.1], [0.09999999999999999]),
        ("Positive", [5e-324, 1], [0, 0.0, -1]),
        ("Large", [9007199254740993, 1.5], [9007199254740994, 1e300]),
        ("Step", [0, 10000000000000000000001], [0.1, 1, 10000000000000000000002]),
        ("Constant", [], [0.1, 0, "0.1"]),
        ("Some", [0.1, "a"], [0.10000000000000002, "b"]),
        ("Huge", [10**400], [1, 10**399]),
        ("Unsaid", [{"n": 0.1}, {"n": 7}], [{"n": 0.2}, {"n": 8}]),
    ],
)
def test_a_limit_that_no_double_equals_judges_every_number_that_is_read(
    subject: Subject, name: str, right: list[Any], wrong: list[Any]
) -> None:
    for value in (*right, *wrong):
        is_valid = value in right
        assert bool(subject.module.methods.validate_as(name, value)) is not is_valid, value
        if is_valid:
            assert subject.encoded(subject.module.decode_as(subject.type(name), value)) == value
        else:
            with pytest.raises(subject.runtime.DecodeError):
                subject.module.decode_as(subject.type(name), value)


@pytest.mark.parametrize(
    ("name", "value", "limit"),
    [
        ("AtMost", 1, "may be 0.10000000000000000000001 at most"),
        ("AtMostBelow", 1, "may be 0.09999999999999999999999 at most"),
        ("Less", 1, "must be less than 0.10000000000000000000001"),
        ("AtLeast", 0, "must be 0.10000000000000000000001 or more"),
        ("More", 0, "must be more than 0.09999999999999999999999"),
        ("Positive", 0, "must be 1e-400 or more"),
        ("Large", 1e300, "may be 9007199254740993.5 at most"),
        ("Between", 1, "may be 0.10000000000000000000001 at most"),
        ("Between", -1, "must be 0 or more"),
        ("Nullable", 1, "may be 0.10000000000000000000001 at most"),
        ("List", [None, 1], "may be 0.10000000000000000000001 at most"),
        ("Field", {"n": 1}, "may be 0.10000000000000000000001 at most"),
        ("Step", 0.1, "must be a multiple of 0.10000000000000000000001"),
    ],
)
def test_a_limit_is_told_as_the_schema_has_it(subject: Subject, name: str, value: Any, limit: str) -> None:
    for (problem,) in (subject.problems(name, value), subject.module.methods.validate_as(name, value)):
        assert problem.sentence.replace("E", "e") == f"the number {limit}"  # jsonschema-rs tells of 1E-400


@pytest.mark.parametrize(
    ("written", "encoded"),
    [
        ("2.50", "2.5"),
        ("1e2", "100.0"),
        ("9007199254740993.0", "9007199254740993"),
        ("0.10000000000000000000001", "0.1"),
        ("1e-400", "0.0"),
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("-1e-400", "-0.0"),
    ],
)
def test_what_an_unknown_field_keeps_of_a_number_is_its_nearest_double(written: str, encoded: str) -> None:
    from acp_bindings import v1

    line = b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/a","mcpServers":[],"n":%b}}'
    message = v1.decode(line % written.encode(), sender="client")
    assert b'"n":%b,' % encoded.encode() in v1.encode(message)
