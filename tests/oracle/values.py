"""JSON values, told apart so that type checkers follow."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard

Schema: TypeAlias = dict[str, Any]


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a value is a JSON object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether a value is a JSON array."""
    return isinstance(value, list)
