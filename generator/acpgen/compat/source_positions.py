"""Finds the positions of schema parts in their files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from acpgen.compat.findings import SourcePosition
from acpgen.input.drafts import restore_keys
from acpgen.input.positions import Positions
from acpgen.input.walk import is_array, is_object
from acpgen.pointers import find_value, resolve, split_pointer, write_plain_pointer

if TYPE_CHECKING:
    from acpgen.compat.sources import Input
    from acpgen.ir import JSON


_APPLY: Final = ("anyOf", "oneOf", "allOf")
"""Keywords whose items share the properties of the enclosing object."""


@dataclass(slots=True)
class SourcePositions:
    """Finds lines and columns in the files of one side."""

    side: Input
    _files: dict[str, tuple[Positions, JSON]] = field(default_factory=dict[str, "tuple[Positions, JSON]"])

    def find_position(self, at: str) -> SourcePosition | None:
        """The position of `file#/pointer`: of the value there, or of the nearest enclosing one. `None` for an empty place."""
        if not at:
            return None
        path, _, fragment = at.partition("#")
        positions, whole = self._read_file(path)
        parts = split_pointer(fragment)
        file_parts = restore_keys(parts, whole)
        offset, keys = positions.find_nearest(
            find_declaration(file_parts, parts[len(file_parts) :], whole) or file_parts
        )
        place = write_plain_pointer(*keys)
        line, column = positions.locate_offset(offset)
        return SourcePosition(self.side.locate(path), place, line, column, resolve(whole, place) if keys else None)

    def get_value(self, at: str) -> JSON:
        """The value at a place, or the nearest enclosing one; the whole file for its root."""
        position = self.find_position(at)
        return (
            None
            if position is None
            else position.value
            if position.pointer
            else self._read_file(at.partition("#")[0])[1]
        )

    def _read_file(self, path: str) -> tuple[Positions, JSON]:
        if path not in self._files:
            document = self.side.documents.find(path)
            self._files[path] = (
                (Positions(""), None) if document is None else (Positions(document.text), document.value)
            )
        return self._files[path]


def find_declaration(prefix: tuple[str, ...], rest: tuple[str, ...], whole: JSON) -> tuple[str, ...] | None:
    """The place of a property that a branch shares with the enclosing object or gets from a reference; `None` if there is none.

    `prefix` leads to the branch or its `properties`, `rest` from there to the property.
    """
    if prefix[-1:] == ("properties",) and prefix[-2:-1] != ("properties",):
        prefix, rest = prefix[:-1], ("properties", *rest)
    if len(rest) != 2 or rest[0] != "properties":
        return None
    while True:
        property_place = _find_inside(prefix, rest[1], whole)
        if property_place is not None or prefix[-2:-1] not in {(keyword,) for keyword in _APPLY}:
            return property_place
        prefix = prefix[:-2]


def _find_inside(at: tuple[str, ...], name: str, whole: Any) -> tuple[str, ...] | None:
    """The place where a schema declares a property, either itself or by `$ref` or `allOf`."""
    visited: set[tuple[str, ...]] = set()
    pending = [at]
    while pending:
        place = pending.pop()
        schema = find_value(whole, place)
        if place in visited or not is_object(schema):
            continue
        visited.add(place)
        properties, ref, parts = (schema.get(key) for key in ("properties", "$ref", "allOf"))
        if is_object(properties) and name in properties:
            return (*place, "properties", name)
        if is_array(parts):
            pending += [(*place, "allOf", str(index)) for index in reversed(range(len(parts)))]
        if isinstance(ref, str) and ref.startswith("#/"):
            pending.append(split_pointer(unquote(ref[1:])))
    return None
