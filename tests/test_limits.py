"""Whether values are within the limits of a type, judged as JSON Schema does: by the decimal fraction that the text denotes."""

from __future__ import annotations

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acpgen import ir
from acpgen.input.equality import to_fraction
from acpgen.meaning.limits import is_length_within, is_number_within, list_limits

SOME = st.sampled_from((-2, -1.5, -1, 0, 0.1, 0.3, 0.5, 1, 1.0, 1.5, 2, 3, 10**20, 1e20))
TYPES = st.builds(
    ir.Number,
    integer=st.booleans(),
    minimum=st.none() | SOME,
    maximum=st.none() | SOME,
    exclusive_minimum=st.none() | SOME,
    exclusive_maximum=st.none() | SOME,
    multiple_of=st.none() | st.sampled_from((0.1, 0.5, 1, 2, 3)),
)


@given(TYPES, SOME)
def test_a_number_is_within_a_type_where_its_schema_says_so(type_: ir.Number, value: float) -> None:
    schema = {"type": "integer" if type_.integer else "number", **list_limits(type_)}
    assert is_number_within(type_, value) == jsonschema_rs.is_valid(schema, value)


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_what_is_not_finite_is_no_number_of_json(value: float) -> None:
    assert not is_number_within(ir.Number(integer=False), value)


@given(
    st.builds(ir.String, min_length=st.none() | st.integers(0, 3), max_length=st.none() | st.integers(0, 3)), st.text()
)
def test_a_text_is_as_long_as_its_schema_says(type_: ir.String, text: str) -> None:
    assert is_length_within(type_, text) == jsonschema_rs.is_valid({"type": "string", **list_limits(type_)}, text)


def test_a_fraction_is_the_one_that_its_text_denotes() -> None:
    assert to_fraction(0.1) * 3 == to_fraction(0.3)
