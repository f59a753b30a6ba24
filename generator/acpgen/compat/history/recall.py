"""Comparisons that are kept: what the rules said of two revisions, as JSON that is read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from acpgen import provenance
from acpgen.compat.compare import Side, checked
from acpgen.compat.protocol.check.judged import Checked
from acpgen.compat.remembering import recorded
from acpgen.kept import Kept

COMPARING: Final = ("acpgen.compat.compare", "acpgen.compat.history.recall")
"""The modules by which two sides are compared."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """Comparisons of sides, by their numbers. `contents` are what each side is made of."""

    sides: Sequence[Side]
    contents: Sequence[tuple[str, ...]]
    kept: Kept

    def __call__(self, old: int, new: int) -> Checked:
        """What the rules say of two sides: as it is kept, or compared now and kept. Raises `Faults`."""
        parts = (*self.contents[old], "", *self.contents[new])
        return recorded(
            self.kept, provenance.code(*COMPARING), "checked", parts, lambda: checked(self.sides[old], self.sides[new])
        )
