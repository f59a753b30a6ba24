"""Type guards and comparison of parsed JSON values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, TypeGuard


class Mismatch(Exception):
    """A value does not match its type, or this cannot be determined."""


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether a JSON value is an array."""
    return isinstance(value, list)


def is_sequence(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """Whether a value is a list or tuple, as arrays decode to."""
    return isinstance(value, list | tuple)


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Whether a Python value may be encoded as an object."""
    return isinstance(value, Mapping)


def to_integer(value: float) -> int:
    """A number without a fraction as the integer of its decimal text: 1e23 is 1 and 23 zeros, not the nearest double."""
    return int(value) if abs(value) < _EXACT else int(Decimal(repr(value)))


def to_comparable(value: int | float) -> int | float:
    """A number in a form that compares like its decimal text."""
    return to_integer(value) if isinstance(value, float) and abs(value) >= _EXACT else value


def make_scalar_key(value: Any) -> Any:
    """A key that is the same for scalars that are equal in JSON: 1 and 1.0 are equal, 1 and true are not."""
    is_whole = isinstance(value, float) and value.is_integer()
    return isinstance(value, bool), to_integer(value) if is_whole else value


def is_one_of(value: Any, constants: Iterable[Any]) -> bool:
    """Whether a value equals one of some scalars in JSON."""
    key = make_scalar_key(value)
    return any(key == make_scalar_key(constant) for constant in constants)


_EXACT = 2**53
"""From here on, not every integer is a double."""
