"""The converter from one version to the other, driven by a table of the differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast

from acp_session.diffs import as_object
from jsonrpc_bindings.json_types import is_array

from .losses import CARRIER, Place

K = TypeVar("K")
V = TypeVar("V")

Json: TypeAlias = "dict[str, Any]"
Hook: TypeAlias = "Callable[[Any, Place], Any]"
"""Converts a value instead of its row; `NOTHING` omits the value."""

MAX_KEPT: Final = 10_000
"""The maximum number of messages, tool calls and plans that are kept for a session; the oldest are deleted first."""
NOTHING: Final = object()
CONFLICT: Final = "the other version gives this a meaning of its own"


def omit(source: Mapping[str, Any], *keys: str) -> Json:
    """A copy of an object without some of its fields."""
    return {key: value for key, value in source.items() if key not in keys}


def get_or_add(entries: dict[K, V], key: K, new: Callable[[], V], most: int | None = None) -> V:
    """The value of a key, created if missing; if there are `most` entries already, the oldest is deleted."""
    if key not in entries and len(entries) >= (MAX_KEPT if most is None else most):
        del entries[next(iter(entries))]
    return entries.setdefault(key, new())


def with_original(source: Mapping[str, Any], original: Mapping[str, Any]) -> Json:
    """A copy of an object that carries its original in `_meta`."""
    return {**source, "_meta": {**as_object(source.get("_meta")), CARRIER: dict(original)}}


def get_original(source: Any) -> Json | None:
    """The original that an object carries in `_meta`, which has a type; `None` if there is none."""
    original = as_object(as_object(as_object(source).get("_meta")).get(CARRIER))
    return original if isinstance(original.get("type"), str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Object:
    """An object with differences. Fields that are not listed stay the same.

    `rename`: v1 fields and their names in v2. `fields`: v1 fields and the rows of their values, or of the items of list values.
    `only_v1` and `only_v2`: fields that the other version does not have, and why that matters; without a reason, v2 implies the field,
    and v1 keeps it as an extra field. `v1_needs` and `v2_needs`: defaults for fields that the source may omit but the target needs.
    `code`: fields, by either name, that code converts.
    """

    rename: Mapping[str, str] = field(default_factory=dict[str, str])
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    only_v1: Mapping[str, str] = field(default_factory=dict[str, str])
    only_v2: Mapping[str, str] = field(default_factory=dict[str, str])
    v1_needs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    v2_needs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    code: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Union:
    """A union with a tag.

    `rows`: the row for each tag that both versions have. `default`: the tag that v1 omits. `lost`: the reason when v1 does not have a
    tag. `only_v1` and `only_v2`: the tags of one version that code converts.
    """

    rows: Mapping[str, str]
    tag: str = "type"
    default: str | None = None
    lost: str = ""
    only_v1: frozenset[str] = frozenset()
    only_v2: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """An enumeration; v1 has only `v1_values`.

    `nearest`: the nearest v1 value for a v2 value; `fallback`: the one for any other value; `None`: the value is omitted.
    """

    v1_values: tuple[str, ...]
    fallback: str | None = None
    nearest: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Flag:
    """A capability: a boolean in v1, an object or absent in v2."""


Row: TypeAlias = "Object | Union | Values | Flag"


class Walker:
    """Converts to `version` by `table`.

    `hooks` convert the values of rows that need code; the hook `NAME?` converts a variant that v1 does not have.
    """

    def __init__(self, version: Literal[1, 2], table: Mapping[str, Row], hooks: Mapping[str, Hook]) -> None:
        self.version = version
        self._table = table
        self._hooks = hooks

    def convert(self, name: str, value: Any, place: Place) -> Any:
        """Convert a value, or each item of a list. `NOTHING` means that it has no form in the other version; in a list it is omitted."""
        if is_array(value):
            items = [self.convert(name, item, place.descend(index)) for index, item in enumerate(value)]
            return [item for item in items if item is not NOTHING]
        hook = self._hooks.get(name)
        return self.convert_row(name, value, place) if hook is None else hook(value, place)

    def convert_row(self, name: str, value: Any, place: Place) -> Any:
        """Convert a value like `convert`, but without a hook for the value itself."""
        match self._table.get(name), value:
            case Flag(), _ if self.version == 2:
                return {} if value is True else NOTHING
            case Flag(), _:
                place.lose_fields(as_object(value))
                return isinstance(value, dict)
            case Values() as row, str():
                return self._convert_word(row, value, place)
            case Union() as row, dict():
                return self._convert_variant(name, row, cast("Json", value), place)
            case Object() as row, dict():
                converted_fields = dict(self._convert_fields(row, cast("Json", value), place))
                return {**(row.v2_needs if self.version == 2 else row.v1_needs), **converted_fields}
            case _:
                return value

    def _convert_fields(self, row: Object, source: Json, place: Place) -> Iterator[tuple[str, Any]]:
        """Yield the fields in the other version. A source field whose name means something else there is lost."""
        to_v2 = self.version == 2
        renamed = row.rename if to_v2 else {new: old for old, new in row.rename.items()}
        dropped, added = (row.only_v1, row.only_v2) if to_v2 else (row.only_v2, row.only_v1)
        strange = {*renamed.values(), *(key for key, why in added.items() if why or not to_v2)} - renamed.keys()
        for key, value in source.items():
            if key in strange:
                place.descend(key).lose(CONFLICT, value)
            elif dropped.get(key):
                if _says_something(value):
                    place.descend(key).lose(dropped[key], value)
            elif key not in dropped or not to_v2:
                new = renamed.get(key, key)
                name = row.fields.get(key if to_v2 else new)
                result = value if name is None else self.convert(name, value, place.descend(key))
                if result is not NOTHING:
                    yield new, result

    def _convert_variant(self, name: str, row: Union, source: Json, place: Place) -> Any:
        to_v2 = self.version == 2
        tag: Any = source.get(row.tag, row.default)
        row_name = row.rows.get(tag) if isinstance(tag, str) else None
        if row_name is None and not to_v2:
            if f"{name}?" in self._hooks:
                return self._hooks[f"{name}?"](source, place)
            place.lose(row.lost, source)
            return NOTHING
        if row_name is None and isinstance(tag, str) and tag in row.only_v2:
            place.lose(CONFLICT, source)
            return NOTHING
        result = source if row_name is None else self.convert(row_name, source, place)
        if row.default is None or not isinstance(result, dict):
            return result
        fields = omit(cast("Json", result), row.tag)
        return {row.tag: tag, **fields} if to_v2 or tag != row.default else fields

    def _convert_word(self, row: Values, value: str, place: Place) -> Any:
        if self.version == 2 or value in row.v1_values:
            return value
        nearest = row.nearest.get(value, row.fallback)
        if nearest is None:
            place.lose(f"v1 has no {value!r} here", value)
            return NOTHING
        place.lose(f"v1 has no {value!r} here; {nearest!r} is sent instead", value, "changed")
        return nearest


def _says_something(value: Any) -> bool:
    """Whether a value is neither null nor false, nor a non-empty object of only such values."""
    if isinstance(value, dict) and value:
        return any(map(_says_something, cast("Json", value).values()))
    return value is not None and value is not False
