"""Serialization of records to JSON and back: dataclasses, structs and faults, and the tuples, sets and mappings that contain them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec import Struct

if TYPE_CHECKING:
    from acpgen.ir import JSON

_TUPLE: Final = ""
_JSON: Final = "{}"
_SET: Final = "set"
_MAP: Final = "map"

_PLAIN: Final = (str, int, float, type(None))


def to_json(value: Any) -> JSON:
    """Encode a record as a list of its class name and its fields, a tuple as a list with an empty name, and a JSON value in a list of
    its own.
    """
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Struct) or is_dataclass(value):
        return [
            type(value).__name__,
            *(to_json(getattr(value, name)) for name in _list_names(cast("Any", type(value)))),
        ]
    if isinstance(value, Exception):
        return [type(value).__name__, *map(to_json, value.args)]
    if isinstance(value, tuple):
        return [_TUPLE, *map(to_json, cast("tuple[object, ...]", value))]
    if isinstance(value, frozenset):
        return [_SET, *sorted(map(to_json, cast("frozenset[object]", value)), key=repr)]
    if isinstance(value, Mapping) and not _is_json(cast("object", value)):
        return [_MAP, {key: to_json(item) for key, item in cast("Mapping[str, object]", value).items()}]
    return [_JSON, cast("JSON", value)]


def _is_json(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(_is_json, cast("dict[str, object]", value).values()))
    if isinstance(value, list):
        return all(map(_is_json, cast("list[object]", value)))
    return isinstance(value, _PLAIN)


def from_json(data: Any, classes: Mapping[str, Any]) -> Any:
    """Decode what `to_json` encoded; `classes` are the classes of its records, by name."""
    if not isinstance(data, list):
        return data
    kind, *inner = cast("Any", data)
    if kind == _JSON:
        return inner[0]
    if kind == _MAP:
        return {key: from_json(item, classes) for key, item in inner[0].items()}
    read = [from_json(item, classes) for item in inner]
    if kind in (_TUPLE, _SET):
        return tuple(read) if kind == _TUPLE else frozenset(read)
    record = classes[kind]
    if issubclass(record, Exception):
        return record(*read)
    return record(**dict(zip(_list_names(record), read, strict=True)))


@cache
def _list_names(record: Any) -> tuple[str, ...]:
    return record.__struct_fields__ if issubclass(record, Struct) else tuple(field.name for field in fields(record))
