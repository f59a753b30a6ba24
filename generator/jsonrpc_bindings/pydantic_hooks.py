"""The methods that pydantic calls on the types of a protocol. pydantic itself is imported on the first call."""

from __future__ import annotations

from typing import Any

from .annotations import Alias, Marker, Meta, Number
from .records import Record
from .string_enums import StringEnum


def _build_core_schema(annotation: Any, source: Any, handler: Any) -> Any:
    from .pydantic_guest import build_core_schema_for

    return build_core_schema_for(annotation, source, handler)


_CLASSES: tuple[Any, ...] = (Record, StringEnum, Number)
_ANNOTATIONS: tuple[Any, ...] = (Marker, Meta, Alias)

for _class in _CLASSES:
    type.__setattr__(_class, "__get_pydantic_core_schema__", classmethod(_build_core_schema))
for _annotation in _ANNOTATIONS:
    _annotation.__get_pydantic_core_schema__ = _build_core_schema
