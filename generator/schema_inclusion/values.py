"""Read, write and compare JSON values with exact numbers: 1.0 is 1.

A float represents its shortest decimal text. A number that no float represents is read as an `int` if it is an integer, and as an
`ExactNumber` otherwise.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Final, Self, TypeAlias, TypeGuard, TypeVar

_Number = TypeVar("_Number", "ExactNumber", Decimal)

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MOST_DIGITS: Final = 4_000
"""The maximum number of digits of a number written without an exponent: Python converts integers of up to 4,300 digits to text."""


class ExactNumber(float):
    """A fraction that no float represents: the nearest float, with the shortest text of the number, which is used in comparisons."""

    __slots__ = ("text",)

    text: str

    def __new__(cls, text: str) -> Self:
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]
        return (self.text,)

    def __repr__(self) -> str:
        return self.text

    __str__ = __repr__

    def __hash__(self) -> int:
        return hash(Fraction(self.text))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (int, float)) and Fraction(self.text) == to_exact(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: float) -> bool:
        return Fraction(self.text) < _to_comparable(other)

    def __le__(self, other: float) -> bool:
        return Fraction(self.text) <= _to_comparable(other)

    def __gt__(self, other: float) -> bool:
        return Fraction(self.text) > _to_comparable(other)

    def __ge__(self, other: float) -> bool:
        return Fraction(self.text) >= _to_comparable(other)

    def is_integer(self) -> bool:
        """Always `False`: integers are read as `int`."""
        return False


def _to_comparable(value: float) -> Fraction | float:
    number = to_exact(value)
    return value if number is None else number


def parse_number(text: str) -> int | float:
    """The exact number that JSON text denotes. Raises `ValueError` for one with more than `MOST_DIGITS` digits."""
    if len(text) <= MOST_DIGITS:
        if text.removeprefix("-").isdigit():
            return int(text)
        close = float(text)
        if repr(close) == text or not _DIGIT.search(text.lower().partition("e")[0]):
            return close
        if _is_short(text):
            denoted = Fraction(text)
            if to_exact(close) == denoted:
                return close
            exactly = to_number(denoted)
            assert exactly is not None, text
            return exactly
    raise ValueError(f"a number has more than {MOST_DIGITS} digits")


def _is_short(text: str) -> bool:
    """Whether a number, written without an exponent, has at most `MOST_DIGITS` digits before its point, and fewer after it."""
    try:
        decimal = Decimal(text)
    except InvalidOperation:  # an exponent beyond all limits
        return False
    exponent = decimal.as_tuple().exponent
    assert isinstance(exponent, int)
    return decimal.adjusted() < MOST_DIGITS and exponent > -MOST_DIGITS


_DIGIT: Final = re.compile("[1-9]")
"""A digit that zero does not contain, whatever its exponent."""


def loads(text: str, **options: Any) -> Any:
    """Parse JSON text with exact numbers. Raises `ValueError`. The options are those of `json.loads`."""
    return json.loads(text, parse_int=parse_number, parse_float=parse_number, **options)


def dumps(value: Any, **options: Any) -> str:
    """Write JSON text in which every number is exact. The options are those of `json.dumps`."""
    if not _has_exact_number(value):
        return json.dumps(value, **options)
    mark = "number "
    while mark in json.dumps(value):
        mark += "-"

    placeholders = _replace(value, ExactNumber, lambda exact: f"{mark}{exact.text}")
    return re.sub(f'"{mark}([^"]*)"', r"\1", json.dumps(placeholders, **options))


def with_decimals(value: Any) -> Any:
    """Replace each `ExactNumber` by a `Decimal`, as `jsonschema-rs` requires."""
    return _replace(value, ExactNumber, lambda exact: Decimal(exact.text)) if _has_exact_number(value) else value


def _is_object(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, dict)


def _is_array(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def _has_exact_number(value: Any) -> bool:
    pending = [value]
    for inner in pending:  # which grows
        kind = inner.__class__
        if kind in _PLAIN:
            continue
        if kind is ExactNumber:
            return True
        if isinstance(inner, dict):
            pending += inner.values()
        elif isinstance(inner, (list, tuple)):
            pending += inner
    return False


_WORDS: Final = frozenset({str, bool, type(None)})
_PLAIN: Final = _WORDS | {int, float}
"""The types of most values that contain no other values."""


def _replace(value: Any, kind: type[_Number], replacement: Callable[[_Number], object]) -> Any:
    """Replace each number of a type. Not recursive, so that depth cannot overflow the stack."""
    top: list[Any] = [value]
    pending: list[Any] = [top]
    for node in pending:  # which grows
        holder: Any = node
        places: list[tuple[Any, Any]] = [*(holder.items() if isinstance(holder, dict) else enumerate(holder))]
        for key, child in places:
            if isinstance(child, kind):
                holder[key] = replacement(child)
            elif _is_object(child) or _is_array(child):
                inner: Any = dict(child) if _is_object(child) else list(child)
                holder[key] = inner
                pending.append(inner)
    return top[0]


def as_json(value: Any) -> Json:
    """Convert a Python value to JSON: a `Decimal` becomes the number that it represents.

    Raises `ValueError`, with a JSON Pointer, for what is not JSON.
    """
    has_decimals, pending = False, [value]
    for inner in pending:  # which grows
        if inner.__class__ in _WORDS:
            continue
        if isinstance(inner, dict):
            pending += inner.values()
        elif isinstance(inner, list):
            pending += inner
        elif isinstance(inner, (Decimal, int, float)):
            has_decimals = has_decimals or isinstance(inner, Decimal)
            if _describe_fault(inner):
                raise ValueError(_locate_fault(value))
    result: Json = _replace(value, Decimal, lambda decimal: parse_number(str(decimal))) if has_decimals else value
    return result


def _describe_fault(value: Decimal | float) -> str:
    """Why a number is not a supported JSON number; empty if it is."""
    if isinstance(value, int):
        return "" if value.bit_length() <= _LONGEST else f"has more than {MOST_DIGITS} digits"
    if isinstance(value, ExactNumber):
        return ""
    if not math.isfinite(value) if isinstance(value, float) else not value.is_finite():
        return f"is {value}, which is not a number of JSON"
    is_read = isinstance(value, float) or value.is_zero() or _is_short(str(value))
    return "" if is_read else f"has more than {MOST_DIGITS} digits"


def _locate_fault(value: Any) -> str:
    pending: list[tuple[Any, str]] = [(value, "")]
    for inner, at in pending:  # which grows
        if _is_object(inner):
            pending += [(item, f"{at}/{str(key).replace('~', '~0').replace('/', '~1')}") for key, item in inner.items()]
        elif _is_array(inner):
            pending += [(item, f"{at}/{index}") for index, item in enumerate(inner)]
        elif isinstance(inner, (Decimal, int, float)) and (fault := _describe_fault(inner)):
            return f"the number at {at!r} {fault}"
    raise AssertionError("there was a fault")


def to_exact(value: int | float) -> Fraction | None:
    """The number that the JSON text of `value` denotes; `None` for NaN and infinities.

    A float represents its shortest decimal text: `0.1` is one tenth, not the binary number near it.
    """
    if isinstance(value, int):
        return Fraction(value)
    return Fraction(repr(value)) if isinstance(value, ExactNumber) or math.isfinite(value) else None


def get_number(value: Json) -> Fraction | None:
    """The exact value of a JSON number; `None` for any other value."""
    return to_exact(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def to_number(number: Fraction) -> int | float | None:
    """The Python number whose JSON text denotes `number`; `None` if no decimal does, or if it has too many digits."""
    if number.denominator == 1:
        return number.numerator if number.numerator.bit_length() <= _LONGEST else None
    close = as_float(number)
    if close is not None or number.denominator.bit_length() > _LONGEST:
        return close
    places = 0
    for factor in (2, 5):
        quotient, times = number.denominator, 0
        while quotient % factor == 0:
            quotient, times = quotient // factor, times + 1
        places = max(places, times)
    digits, remainder = divmod(number.numerator * 10**places, number.denominator)
    if remainder or abs(digits).bit_length() > _LONGEST or places >= MOST_DIGITS:
        return None
    sign, tens, _ = Decimal(digits).as_tuple()
    return ExactNumber(str(Decimal((sign, tens, -places))).lower())


_LONGEST: Final = 14_000
"""The maximum number of bits of an integer: those of `MOST_DIGITS` digits, and some more."""


def as_float(number: Fraction) -> float | None:
    """The float whose JSON text denotes `number`, if there is one."""
    try:
        close = float(number)
    except OverflowError:
        return None
    return close if to_exact(close) == number else None


def is_equal(left: Json, right: Json) -> bool:
    """Whether two JSON values are equal: numbers by value, `true` is not `1`, members in any order.

    Not recursive, so that depth cannot overflow the stack.
    """
    pending: list[tuple[Json, Json]] = [(left, right)]
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
            number = to_exact(left)
            if number is None or number != to_exact(right):
                return False
        elif not (isinstance(left, str) and isinstance(right, str) and left == right):
            return False
    return True


def are_distinct(values: list[Json]) -> bool:
    """Whether no two of the values are equal."""
    return not any(is_equal(left, right) for i, left in enumerate(values) for right in values[:i])
