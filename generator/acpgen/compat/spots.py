"""Where the parts of a schema stand in its files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acpgen.compat.findings import Spot
from acpgen.pointers import plain_pointer, pointer_parts, resolve
from acpgen.schema.drafts import written_parts
from acpgen.schema.positions import Positions

if TYPE_CHECKING:
    from acpgen.compat.sources import Input
    from acpgen.ir import JSON


@dataclass(slots=True)
class Spots:
    """Finds lines and columns in the files of one side."""

    side: Input
    _files: dict[str, tuple[Positions, JSON]] = field(default_factory=dict[str, "tuple[Positions, JSON]"])

    def spot(self, at: str) -> Spot | None:
        """The spot of `file#/pointer`: of what stands there, or of the nearest thing around it. Empty is nowhere."""
        if not at:
            return None
        path, _, fragment = at.partition("#")
        positions, whole = self._file(path)
        offset, keys = positions.nearest(written_parts(pointer_parts(fragment), whole))
        place = plain_pointer(*keys)
        line, column = positions.line_and_column(offset)
        return Spot(self.side.at(path), place, line, column, resolve(whole, place) if keys else None)

    def value(self, at: str) -> JSON:
        """What stands at a place, or the nearest thing around it: the whole file where the place is its root."""
        spot = self.spot(at)
        return None if spot is None else spot.value if spot.pointer else self._file(at.partition("#")[0])[1]

    def _file(self, path: str) -> tuple[Positions, JSON]:
        if path not in self._files:
            found = self.side.documents.find(path)
            self._files[path] = (Positions(""), None) if found is None else (Positions(found.text), found.value)
        return self._files[path]
