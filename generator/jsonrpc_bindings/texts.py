"""Named sets of texts as classes of `StrEnum`, where a package has them so."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Self

__all__ = ["OpenTexts", "Texts"]


class Texts(StrEnum):
    """A set of texts: decoding gives its members, and refuses others. A member is its text, so both compare."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from .pydantic_guest import core_schema_of

        return core_schema_of(cls, handler)


class OpenTexts(Texts):
    """A set of texts that may grow: an unknown text becomes a member of its own, which no loop over the class has."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        found = str.__new__(cls, value)
        found._name_ = found._value_ = str(value)
        return found
