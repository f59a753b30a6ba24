"""Named sets of texts as classes of `StrEnum`, where a package has them so."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import core_schema

from .markers import KNOWN
from .published import Defined

__all__ = ["OpenTexts", "Texts"]


class Texts(StrEnum):
    """A set of texts: decoding gives its members, and refuses others. A member is its text, so both compare."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_before_validator_function(
            _plain, core_schema.no_info_after_validator_function(cls, cls._of_text())
        )

    @classmethod
    def _of_text(cls) -> core_schema.CoreSchema:
        return core_schema.literal_schema([member.value for member in cls])

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return Defined(cls.__module__, cls.__name__).__get_pydantic_json_schema__(schema, handler)


class OpenTexts(Texts):
    """A set of texts that may grow: an unknown text becomes a member of its own, which no loop over the class has."""

    @classmethod
    def _of_text(cls) -> core_schema.CoreSchema:
        return core_schema.str_schema(strict=True, metadata={KNOWN: frozenset(member.value for member in cls)})

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        found = str.__new__(cls, value)
        found._name_ = found._value_ = str(value)
        return found


def _plain(value: Any) -> Any:
    """A member as the text that it is."""
    return value.value if isinstance(value, StrEnum) else value
