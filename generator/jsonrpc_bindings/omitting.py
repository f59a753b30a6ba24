"""Omitted fields as `None`, where a package has them so."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic_core import core_schema

__all__ = ["OMITTED", "Omitted", "Omitting"]


class Omitted:
    """A marker of fields that hold `None` where they are omitted, and for which the schema has no null."""

    __slots__ = ()

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        left = tuple(member for member in get_args(source) if member is not types.NoneType)
        is_union = get_origin(source) in (Union, types.UnionType)
        return handler.generate_schema(_either(left)) if is_union and left else handler(source)


def _either(types_: tuple[Any, ...]) -> Any:
    """The union of some types."""
    found = types_[0]
    for one in types_[1:]:
        found = found | one
    return found


OMITTED = Omitted()
"""What stands for a field that is left out."""


class Omitting(BaseModel):
    """A record whose constructor and attributes take `None` for "not there", where the schema has no null."""

    def __init__(self, /, **data: Any) -> None:
        empty = [name for name, value in data.items() if value is None]
        if empty:
            names = _names(type(self))
            data = {name: value for name, value in data.items() if value is not None or name not in names}
        super().__init__(**data)

    __init__.__dict__["__pydantic_base_init__"] = True

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None:
            if value is None and name in _names(type(self)):
                self.__dict__[name] = None
                self.__pydantic_fields_set__.discard(name)
            else:
                super().__setattr__(name, value)


def _names(model: type[BaseModel]) -> frozenset[str]:
    """The fields of a record that are marked, by Python and wire name."""
    found = _NAMES.get(model)
    if found is None:
        marked = {
            name: field
            for name, field in model.__pydantic_fields__.items()
            if any(isinstance(one, Omitted) for one in field.metadata)
        }
        found = _NAMES[model] = frozenset({*marked, *(field.alias or name for name, field in marked.items())})
    return found


_NAMES: dict[type[BaseModel], frozenset[str]] = {}
