"""What a parsed JSON value is, said so that type checkers believe it."""

from __future__ import annotations

from typing import Any, TypeGuard


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether a JSON value is an array."""
    return isinstance(value, list)


def is_sequence(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """Whether a value is what decoding makes of an array."""
    return isinstance(value, list | tuple)


def holds(value: Any, step: str | int) -> bool:
    """Whether an object has a member of this name, or an array an item at this index."""
    if is_object(value):
        return step in value
    return is_array(value) and isinstance(step, int) and 0 <= step < len(value)
