"""Keywords that have no effect where they stand, and that one revision has and the other has not, or otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from acpgen.bundle.faults import FOREIGN_KEYWORD, HIDDEN_KEYWORD, MISSPELT_KEYWORD
from acpgen.compat.findings import Note, SourcePosition
from acpgen.compat.source_positions import SourcePositions
from acpgen.compat.sources import Input
from acpgen.errors import Fault
from acpgen.input.numbers import dumps
from acpgen.input.walk import is_object
from acpgen.pointers import plain_pointer

_MEANT: Final = (FOREIGN_KEYWORD, HIDDEN_KEYWORD, MISSPELT_KEYWORD)

_NAMED: Final = 20
"""The places that have a note of their own. The rest is counted."""


@dataclass(frozen=True, slots=True)
class _Ignored:
    """A keyword without effect, and its value as JSON."""

    note: Fault
    value: str

    @classmethod
    def of(cls, positions: SourcePositions, note: Fault) -> _Ignored:
        around = positions.value(note.at)
        value = around.get(str(note.values["keyword"])) if is_object(around) else None
        return cls(note, dumps(value, sort_keys=True))

    @property
    def keyword(self) -> str:
        return str(self.note.values["keyword"])

    @property
    def content(self) -> tuple[str, str]:
        """What it says, wherever it stands."""
        return self.keyword, self.value


def ignored_keywords(old: Input, new: Input, left_out: tuple[Iterable[Fault], Iterable[Fault]]) -> tuple[Note, ...]:
    """A note for each keyword without effect whose value is in one revision alone. `left_out` is what either does not read.

    A key that is like no keyword is an annotation of somebody else's.
    """
    positions = SourcePositions(old), SourcePositions(new)
    before, after = (
        [_Ignored.of(side, note) for note in notes if note.kind in _MEANT]
        for side, notes in zip(positions, left_out, strict=True)
    )
    gone, come = _without(before, after), _without(after, before)
    changed = {each.keyword for each in come}  # what has changed is told once
    notes = [
        *(_note("Removed", positions[0], each) for each in gone if each.keyword not in changed),
        *(_note("Added or changed", positions[1], each) for each in come),
    ]
    if len(notes) <= _NAMED:
        return tuple(notes)
    rest = len(notes) - _NAMED
    message = f"{rest} more keyword{'s' if rest > 1 else ''} without effect differ{'' if rest > 1 else 's'}."
    return (*notes[:_NAMED], replace(notes[_NAMED], message=message, advice="'acpgen lint' lists them all."))


def keyword_ignored(how: str, why: str, at: SourcePosition) -> Note:
    """The note of a keyword that has changed and has no effect where it stands."""
    return Note(
        "keyword-ignored",
        f"{how} without effect: {why}",
        "If it should have an effect, correct it and compare again. Otherwise, no action is needed.",
        at,
    )


def _without(side: Sequence[_Ignored], other: Sequence[_Ignored]) -> list[_Ignored]:
    """What one side says more often than the other. What both say at one place is no part of it if that can be."""
    more = Counter(each.content for each in side) - Counter(each.content for each in other)
    there = {(each.note.at, each.content) for each in other}
    found: list[_Ignored] = []
    for each in sorted(side, key=lambda each: (each.note.at, each.content) in there):
        if more[each.content] > 0:
            more[each.content] -= 1
            found.append(each)
    return found


def _note(how: str, positions: SourcePositions, each: _Ignored) -> Note:
    position = positions.position(f"{each.note.at}{plain_pointer(each.keyword)}")
    assert position is not None
    return keyword_ignored(how, each.note.what(), position)
