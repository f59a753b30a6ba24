"""Numbers that no float holds, and the schema `false`: compared like any other, with a witness."""

from __future__ import annotations

from typing import Any

import pytest

from acpgen.input.numbers import loads
from compat.protocols import Schema, compared, go, protocol

LARGE = 10**400


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ({"type": "integer", "maximum": LARGE}, {"type": "integer", "maximum": LARGE - 1}),
        ({"type": "number", "exclusiveMinimum": -LARGE}, {"type": "number", "exclusiveMinimum": 0}),
        ({"type": "integer"}, {"type": "integer", "multipleOf": LARGE}),
        ({"type": "integer"}, {"type": "integer", "minimum": -LARGE}),
        ({"type": "integer", "maximum": 2**53 + 1}, {"type": "integer", "maximum": 2**53}),
        ({"enum": [LARGE, 1]}, {"enum": [1]}),
        ({"type": "string"}, {"type": "string", "maxLength": 3}),
        ({"type": "string"}, False),
        ({}, False),
        ({"type": "array"}, {"type": "array", "items": False}),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_is_refused_has_a_witness(wide: Schema, narrow: Any) -> None:
    sides = [protocol({"GoRequest": go({"x": each})}) for each in (wide, narrow)]
    tightened, loosened = compared(*sides), compared(*reversed(sides))
    assert (tightened.wire.backward, tightened.wire.forward) == ("no", "yes")
    assert (loosened.wire.backward, loosened.wire.forward) == ("yes", "no")
    assert any(each.witness is not None and each.severity == "breaking" for each in tightened.findings)


@pytest.mark.parametrize("length", [2**31 - 1, 10**18])
def test_what_only_a_text_of_gigabytes_would_show_is_undecided_and_said(length: int) -> None:
    shorter = {"type": "string", "maxLength": length}
    for old, new in (
        ({"type": "string"}, shorter),
        ({**shorter, "minLength": length - 9}, {**shorter, "minLength": length}),
    ):
        there, back = (compared(*sides) for sides in _both(old, new))
        assert (there.wire.backward, there.wire.forward) == ("undecided", "yes")
        assert (back.wire.backward, back.wire.forward) == ("yes", "undecided")
        for report in (there, back):
            (finding,) = report.findings
            assert "too long to write down" in finding.message


def _both(old: Schema, new: Schema) -> tuple[list[Any], list[Any]]:
    sides = [protocol({"GoRequest": go({"x": each})}) for each in (old, new)]
    return sides, sides[::-1]


CLOSE = loads("0.10000000000000000000001")
"""A number that Python would read as 0.1."""
EXPANSION = loads("0.1000000000000000055511151231257827021181583404541015625")
"""All digits of the double that stands for 0.1."""


@pytest.mark.parametrize(
    ("old", "new", "backward", "forward"),
    [
        ({"type": "number", "maximum": CLOSE}, {"type": "number", "maximum": 0.1}, "no", "yes"),
        ({"type": "number", "exclusiveMinimum": CLOSE}, {"type": "number", "minimum": 0.1}, "yes", "no"),
        ({"type": "number", "minimum": loads("1e-400")}, {"type": "number", "exclusiveMinimum": 0}, "yes", "no"),
        ({"enum": [CLOSE, 1]}, {"enum": [1, 0.1]}, "no", "no"),
        ({"const": EXPANSION}, {"const": 0.1}, "no", "no"),
        ({"enum": [CLOSE, "a"]}, {"enum": [loads("0.100000000000000000000010"), "a"]}, "yes", "yes"),
        ({"type": "number", "multipleOf": CLOSE}, {"type": "number", "multipleOf": 0.1}, "no", "no"),
        ({"type": "number", "maximum": loads("1e999")}, {"type": "number", "maximum": 1e308}, "no", "yes"),
        ({"const": 2**53 + 1}, {"const": loads("9007199254740993.0")}, "yes", "yes"),
        ({"items": {"const": EXPANSION}}, {"items": {"const": 0.1}}, "no", "no"),
    ],
    ids=str,
)
def test_numbers_that_python_would_round_are_compared_as_they_are_written(
    old: Schema, new: Schema, backward: str, forward: str
) -> None:
    report = compared(*(protocol({"GoRequest": go({"x": each})}) for each in (old, new)))
    assert (report.wire.backward, report.wire.forward) == (backward, forward)
    assert (report.language.backward, report.language.forward) == (backward, forward)
    assert (report.verdict == "identical") is (backward == forward == "yes")
    counted = [each for each in report.findings if each.severity in ("breaking", "risky")]
    assert bool(counted) is (backward == "no" or forward == "no") and all(each.witness for each in counted)


def test_a_default_and_a_message_keep_the_digits_of_the_schema() -> None:
    report = compared(
        *(protocol({"GoRequest": go({"x": {"type": "number", "default": each}})}) for each in (0.1, CLOSE))
    )
    assert "0.10000000000000000000001" in " ".join(each.message for each in report.findings)


OLDEST = "http://json-schema.org/draft-04/schema#"
MODERN = "https://json-schema.org/draft/2020-12/schema"
RECORD: Any = {
    "type": "object",
    "properties": {"n": {"type": ["integer", "null"]}, "l": {"items": {"type": "integer"}}},
}


@pytest.mark.parametrize("mode", ["language", "protocol"])
@pytest.mark.parametrize(
    ("old", "new", "backward", "forward"),
    [
        ({"$schema": OLDEST, "type": "integer"}, {"$schema": MODERN, "type": "integer"}, "yes", "no"),
        ({"$schema": OLDEST, **RECORD}, {"$schema": MODERN, **RECORD}, "yes", "no"),
        ({"$schema": OLDEST, "type": "integer"}, {"$schema": OLDEST, "type": "integer"}, "yes", "yes"),
        ({"$schema": OLDEST, "type": "integer"}, {"$schema": OLDEST, "type": "number"}, "yes", "no"),
        ({"$schema": OLDEST, "enum": [1, 2]}, {"$schema": MODERN, "enum": [1.0, 2]}, "yes", "yes"),
        ({"$schema": OLDEST, "type": "number"}, {"$schema": MODERN, "type": "number"}, "yes", "yes"),
        ({"$schema": OLDEST, "type": ["integer", "number"]}, {"$schema": MODERN, "type": "number"}, "yes", "yes"),
    ],
    ids=str,
)
def test_an_integer_of_draft_04_is_compared_as_one_without_a_fraction(
    mode: Any, old: Schema, new: Schema, backward: str, forward: str
) -> None:
    there, back = compared(old, new, mode=mode), compared(new, old, mode=mode)
    for report, answers in ((there, (backward, forward)), (back, (forward, backward))):
        assert (report.wire.backward, report.wire.forward) == answers
        assert (report.language.backward, report.language.forward) == answers
        assert all(each.witness for each in report.findings if each.severity in ("breaking", "risky"))
        assert any(each.witness for each in report.findings) or "no" not in answers or mode == "language"
