"""JSON values: their types and their equality. Python treats 1 and true as equal, JSON does not."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Any, TypeVar

from acpgen.input.step_budget import spend
from acpgen.input.walk import is_array, is_object

Value = TypeVar("Value")


def get_kind(value: object) -> str:
    """The JSON type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def to_fraction(value: int | float) -> Fraction:
    """A finite number as its JSON text denotes it: `0.1` is one tenth, not the nearest double."""
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def to_integer(value: int | float) -> int | None:
    """The integer that a number equals, as its JSON text denotes it; `None` if it has a fraction."""
    number = to_fraction(value)
    return number.numerator if number.denominator == 1 else None


def make_key(value: Any) -> Hashable:
    """A hashable key of a JSON value: keys are equal exactly where the values are. 1.0 equals 1, true does not."""
    spend()
    if is_object(value):
        return "object", frozenset((key, make_key(item)) for key, item in value.items())
    if is_array(value):
        return "array", tuple(map(make_key, value))
    if isinstance(value, float):
        number = to_integer(value)
        return "number", value if number is None else number
    return get_kind(value), value


def is_equal(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal: 1.0 equals 1, true does not."""
    spend()
    if is_object(left) and is_object(right):
        return left.keys() == right.keys() and all(is_equal(left[key], right[key]) for key in left)
    if is_array(left) and is_array(right):
        return len(left) == len(right) and all(map(is_equal, left, right))
    return left is right or (get_kind(left) == get_kind(right) and make_key(left) == make_key(right))


def index_by_key(values: Iterable[Value]) -> dict[Hashable, Value]:
    """Index values by `make_key`: a set under JSON equality."""
    return {make_key(value): value for value in values}
