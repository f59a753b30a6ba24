"""Named sets of texts as classes of `StrEnum`, where a package has them so."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Self, TypeGuard

__all__ = ["OpenStringEnum", "StringEnum"]


class StringEnum(StrEnum):
    """A set of texts: decoding gives its members, and refuses others. A member is its text, so both compare."""


class OpenStringEnum(StringEnum):
    """A set of texts that may grow: an unknown text becomes a member of its own, which no loop over the class has."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        found = str.__new__(cls, value)
        found._name_ = found._value_ = str(value)
        return found


def is_string_enum(annotation: Any) -> TypeGuard[type[StringEnum]]:
    """Whether an annotation is a set of texts."""
    return isinstance(annotation, type) and issubclass(annotation, StringEnum)


def members_of(cls: type[StringEnum]) -> Callable[[str], StringEnum | None]:
    """What gives the member of a text; `None` for one that the set does not take."""
    known: dict[str, StringEnum] = {one.value: one for one in cls}
    if not issubclass(cls, OpenStringEnum):
        return known.get
    return lambda text: known.get(text) or cls(text)
