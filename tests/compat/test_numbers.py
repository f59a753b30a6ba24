"""Numbers that no float holds, and the schema `false`: compared like any other, with a witness."""

from __future__ import annotations

from typing import Any

import pytest

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
            assert "over 1000000 characters" in finding.message


def _both(old: Schema, new: Schema) -> tuple[list[Any], list[Any]]:
    sides = [protocol({"GoRequest": go({"x": each})}) for each in (old, new)]
    return sides, sides[::-1]
