"""Named string enumerations as `StrEnum` classes, for packages that are generated with them."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Self, TypeGuard

__all__ = ["OpenStringEnum", "StringEnum"]


class StringEnum(StrEnum):
    """A closed set of strings: decoding returns its members, and rejects other strings. A member equals its string."""


class OpenStringEnum(StringEnum):
    """An open set of strings: an unknown string becomes a member of its own, which iteration over the class does not include."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        member = str.__new__(cls, value)
        member._name_ = member._value_ = str(value)
        return member


def is_string_enum(annotation: Any) -> TypeGuard[type[StringEnum]]:
    """Whether an annotation is a string enumeration."""
    return isinstance(annotation, type) and issubclass(annotation, StringEnum)
