"""JSON values: of which JSON type they are, and which of them are the same. Python holds 1 and true for equal, JSON does not."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Any, TypeVar

from acpgen.input.step_budget import spend
from acpgen.input.walk import is_array, is_object

Value = TypeVar("Value")


def kind_of(value: object) -> str:
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


def exact(value: int | float) -> Fraction:
    """A finite number as its JSON text denotes it: `0.1` is one tenth, not its binary neighbour."""
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def whole(value: int | float) -> int | None:
    """The integer that a number is, as its JSON text denotes it; `None` if it has a fraction."""
    number = exact(value)
    return number.numerator if number.denominator == 1 else None


def key_of(value: Any) -> Hashable:
    """A JSON value as something that is equal, and hashes equally, where the values are the same: 1.0 is 1, true is not."""
    spend()
    if is_object(value):
        return "object", frozenset((key, key_of(item)) for key, item in value.items())
    if is_array(value):
        return "array", tuple(map(key_of, value))
    if isinstance(value, float):
        number = whole(value)
        return "number", value if number is None else number
    return kind_of(value), value


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON value: 1.0 is 1, true is not."""
    spend()
    if is_object(one) and is_object(other):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if is_array(one) and is_array(other):
        return len(one) == len(other) and all(map(same, one, other))
    return one is other or (kind_of(one) == kind_of(other) and key_of(one) == key_of(other))


def by_key(values: Iterable[Value]) -> dict[Hashable, Value]:
    """Values by what tells them apart, each once: as a set whose members JSON compares."""
    return {key_of(value): value for value in values}
