"""Where the parts of a schema stand in its files, found by walking only the way that leads to them.

The files have been read as strict JSON before, so the standard scanner may skip what lies beside the way.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from json import JSONDecoder
from typing import TYPE_CHECKING, Final

from acpgen.compat.findings import Spot
from acpgen.pointers import plain_pointer, pointer_parts

if TYPE_CHECKING:
    from acpgen.compat.sources import Input
    from acpgen.ir import JSON

_SPACE: Final = re.compile(r"[ \t\n\r]*+")
_READ: Final = JSONDecoder().raw_decode


@dataclass(slots=True)
class Spots:
    """Finds lines and columns in the files of one side."""

    side: Input
    _files: dict[str, _File] = field(default_factory=dict[str, "_File"])

    def spot(self, at: str) -> Spot | None:
        """The spot of `file#/pointer`: of what stands there, or of the nearest thing around it. Empty is nowhere."""
        if not at:
            return None
        path, _, fragment = at.partition("#")
        file = self._file(path)
        value = file.value
        offset, begins = 0, file.root
        parts: list[str] = []
        for part in pointer_parts(fragment):
            inside = file.inside(begins)
            key = part if part in inside else {"$defs": "definitions"}.get(part, part)
            if key not in inside:
                break
            offset, begins = inside[key]
            value = value[int(key)] if isinstance(value, list) else value[key] if isinstance(value, dict) else None
            parts.append(key)
        line = bisect_right(file.lines, offset)
        column = offset - file.lines[line - 1] + 1
        return Spot(self.side.at(path), plain_pointer(*parts), line, column, value if parts else None)

    def _file(self, path: str) -> _File:
        if path not in self._files:
            found = next((each for each in self.side.documents.documents if each.path == path), None)
            self._files[path] = _File("", None) if found is None else _File(found.text, found.value)
        return self._files[path]


class _File:
    """One file: its text and value, the offsets at which lines begin, and what has been found of it."""

    def __init__(self, text: str, value: JSON) -> None:
        self.text = text
        self.value = value
        self.lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self.root = self._space(0)
        self._inside: dict[int, dict[str, tuple[int, int]]] = {}

    def inside(self, begins: int) -> dict[str, tuple[int, int]]:
        """The members or items of the value that begins there: where each stands (a member at its key), and where its value begins."""
        if begins not in self._inside:
            self._inside[begins] = self._members(begins)
        return self._inside[begins]

    def _members(self, begins: int) -> dict[str, tuple[int, int]]:
        opener = self.text[begins : begins + 1]
        found: dict[str, tuple[int, int]] = {}
        if opener not in ("{", "["):
            return found
        at = self._space(begins + 1)
        while self.text[at] not in "}]":
            start, key = at, str(len(found))
            if opener == "{":
                key, at = _READ(self.text, at)
                at = self._space(self._space(at) + 1)  # beyond the colon
            found[key] = start, at
            at = self._space(_READ(self.text, at)[1])
            if self.text[at] == ",":
                at = self._space(at + 1)
        return found

    def _space(self, at: int) -> int:
        space = _SPACE.match(self.text, at)
        assert space is not None
        return space.end()
