"""What a parsed JSON value is, said so that type checkers believe it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, TypeGuard


class Mismatch(Exception):
    """A value is none of its type, or cannot be told to be one."""


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether a JSON value is an array."""
    return isinstance(value, list)


def is_sequence(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """Whether a value is what decoding makes of an array."""
    return isinstance(value, list | tuple)


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Whether a Python value may be written as an object."""
    return isinstance(value, Mapping)


def integer_of(value: float) -> int:
    """A number without a fraction as the integer that its text denotes: 1e23 is 1 and 23 zeros, and not its binary neighbour."""
    return int(value) if abs(value) < _EXACT else int(Decimal(repr(value)))


def comparable(value: int | float) -> int | float:
    """A number that compares with others as their texts do."""
    return integer_of(value) if isinstance(value, float) and abs(value) >= _EXACT else value


def scalar_key(value: Any) -> Any:
    """What scalars have in common that are equal as JSON: true is not 1, and 1.0 is."""
    is_whole = isinstance(value, float) and value.is_integer()
    return isinstance(value, bool), integer_of(value) if is_whole else value


def is_one_of(value: Any, constants: Iterable[Any]) -> bool:
    """Whether a value equals one of some scalars as JSON."""
    key = scalar_key(value)
    return any(key == scalar_key(one) for one in constants)


_EXACT = 2**53
"""From here on, binary numbers lie further apart than whole ones."""
