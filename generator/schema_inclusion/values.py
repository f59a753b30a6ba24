"""JSON values as mathematics sees them: numbers are exact, and 1.0 is 1."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def exact(value: int | float) -> Fraction | None:
    """The number that the JSON text of `value` denotes; `None` for NaN and infinities.

    A float stands for its shortest decimal spelling: `0.1` is one tenth, not its binary neighbour.
    """
    if isinstance(value, int):
        return Fraction(value)
    return Fraction(repr(value)) if math.isfinite(value) else None


def spelled(number: Fraction) -> int | float | None:
    """The Python number whose JSON text denotes `number`; `None` if no float does, and for integers that Python writes in no text."""
    if number.denominator == 1:
        return number.numerator if number.numerator.bit_length() <= _LONGEST else None
    return as_float(number)


_LONGEST: Final = 14_000
"""Bits of an integer that Python writes as text: 4,300 digits have some more."""


def as_float(number: Fraction) -> float | None:
    """The float whose JSON text denotes `number`, if there is one."""
    try:
        close = float(number)
    except OverflowError:
        return None
    return close if exact(close) == number else None


def same(one: Json, other: Json) -> bool:
    """Whether two JSON values are equal: numbers by value, `true` never `1`, key order free.

    Walks with a list of its own, so that depth cannot overflow the stack.
    """
    pending: list[tuple[Json, Json]] = [(one, other)]
    while pending:
        left, right = pending.pop()
        if left is right and not isinstance(left, float):
            continue
        if isinstance(left, dict) and isinstance(right, dict):
            if left.keys() != right.keys():
                return False
            pending.extend((left[key], right[key]) for key in left)
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            pending.extend(zip(left, right, strict=True))
        elif isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
            return False
        elif isinstance(left, (int, float)) and isinstance(right, (int, float)):
            number = exact(left)
            if number is None or number != exact(right):
                return False
        elif not (isinstance(left, str) and isinstance(right, str) and left == right):
            return False
    return True


def all_distinct(values: list[Json]) -> bool:
    """Whether no two of the values are equal."""
    return not any(same(left, right) for i, left in enumerate(values) for right in values[:i])
