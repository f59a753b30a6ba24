"""Where the parts of a schema stand in its files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from acpgen.compat.findings import SourcePosition
from acpgen.input.drafts import written_parts
from acpgen.input.positions import Positions
from acpgen.input.walk import is_array, is_object
from acpgen.pointers import follow, plain_pointer, pointer_parts, resolve

if TYPE_CHECKING:
    from acpgen.compat.sources import Input
    from acpgen.ir import JSON


_APPLY: Final = ("anyOf", "oneOf", "allOf")
"""Keywords whose items share the properties of the object around them."""


@dataclass(slots=True)
class SourcePositions:
    """Finds lines and columns in the files of one side."""

    side: Input
    _files: dict[str, tuple[Positions, JSON]] = field(default_factory=dict[str, "tuple[Positions, JSON]"])

    def position(self, at: str) -> SourcePosition | None:
        """The position of `file#/pointer`: of what stands there, or of the nearest thing around it. Empty is nowhere."""
        if not at:
            return None
        path, _, fragment = at.partition("#")
        positions, whole = self._file(path)
        wanted = pointer_parts(fragment)
        passed = written_parts(wanted, whole)
        offset, keys = positions.nearest(declared(passed, wanted[len(passed) :], whole) or passed)
        place = plain_pointer(*keys)
        line, column = positions.line_and_column(offset)
        return SourcePosition(self.side.at(path), place, line, column, resolve(whole, place) if keys else None)

    def value(self, at: str) -> JSON:
        """What stands at a place, or the nearest thing around it: the whole file where the place is its root."""
        position = self.position(at)
        return None if position is None else position.value if position.pointer else self._file(at.partition("#")[0])[1]

    def _file(self, path: str) -> tuple[Positions, JSON]:
        if path not in self._files:
            found = self.side.documents.find(path)
            self._files[path] = (Positions(""), None) if found is None else (Positions(found.text), found.value)
        return self._files[path]


def declared(passed: tuple[str, ...], rest: tuple[str, ...], whole: JSON) -> tuple[str, ...] | None:
    """The place of a property that a branch shares with the object around it, or has from what it refers to; `None` for none.

    `passed` leads to the branch or to its `properties`, `rest` from there to the property.
    """
    if passed[-1:] == ("properties",) and passed[-2:-1] != ("properties",):
        passed, rest = passed[:-1], ("properties", *rest)
    if len(rest) != 2 or rest[0] != "properties":
        return None
    while True:
        found = _inside(passed, rest[1], whole)
        if found is not None or passed[-2:-1] not in {(each,) for each in _APPLY}:
            return found
        passed = passed[:-2]


def _inside(at: tuple[str, ...], name: str, whole: Any) -> tuple[str, ...] | None:
    """Where the schema at a place declares a property: itself, or in what all of it must follow."""
    seen: set[tuple[str, ...]] = set()
    pending = [at]
    while pending:
        place = pending.pop()
        try:
            schema: Any = follow(whole, place)
        except KeyError:
            continue
        if place in seen or not is_object(schema):
            continue
        seen.add(place)
        properties, ref, parts = (schema.get(key) for key in ("properties", "$ref", "allOf"))
        if is_object(properties) and name in properties:
            return (*place, "properties", name)
        if is_array(parts):
            pending += [(*place, "allOf", str(index)) for index in reversed(range(len(parts)))]
        if isinstance(ref, str) and ref.startswith("#/"):
            pending.append(pointer_parts(unquote(ref[1:])))
    return None
