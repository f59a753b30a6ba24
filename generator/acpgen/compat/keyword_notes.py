"""Notes on keywords that have no effect where they stand, and that differ between the two revisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from acpgen.bundle.faults import FOREIGN_KEYWORD, HIDDEN_KEYWORD, MISSPELT_KEYWORD
from acpgen.compat.findings import Note
from acpgen.compat.source_positions import SourcePositions
from acpgen.compat.sources import Input
from acpgen.errors import Fault
from acpgen.input.numbers import dumps
from acpgen.input.walk import is_object
from acpgen.pointers import write_plain_pointer

_MEANT: Final = (FOREIGN_KEYWORD, HIDDEN_KEYWORD, MISSPELT_KEYWORD)

_NAMED: Final = 20
"""The maximum number of places with a note of their own; the others are counted."""


def note_ignored_keywords(
    old: Input, new: Input, left_out: tuple[Iterable[Fault], Iterable[Fault]]
) -> tuple[Note, ...]:
    """A note for each keyword without effect whose value is only in one revision; `left_out` are the ignored keywords of each.

    A key that resembles no keyword is a foreign annotation and gets no note.
    """
    old_positions, new_positions = SourcePositions(old), SourcePositions(new)
    before, after = (
        {(note.at, *_make_content(positions, note)): note for note in notes if note.kind in _MEANT}
        for positions, notes in zip((old_positions, new_positions), left_out, strict=True)
    )
    removed, added = _subtract(before, after), _subtract(after, before)
    changed_keywords = {note.values["keyword"] for note in added}  # what has changed is reported once
    notes = [
        *(_note("Removed", old_positions, note) for note in removed if note.values["keyword"] not in changed_keywords),
        *(_note("Added or changed", new_positions, note) for note in added),
    ]
    if len(notes) <= _NAMED:
        return tuple(notes)
    rest = len(notes) - _NAMED
    message = f"{rest} more keyword{'s' if rest > 1 else ''} without effect differ{'' if rest > 1 else 's'}."
    return (*notes[:_NAMED], replace(notes[_NAMED], message=message, advice="'acpgen lint' lists them all."))


def _make_content(positions: SourcePositions, note: Fault) -> tuple[str, str]:
    """The content of a keyword without effect, independent of its place: the keyword and its value as JSON."""
    around, keyword = positions.get_value(note.at), str(note.values["keyword"])
    return keyword, dumps(around.get(keyword) if is_object(around) else None, sort_keys=True)


Ignored: TypeAlias = "Mapping[tuple[str, str, str], Fault]"
"""Keywords without effect, by place, keyword and value."""


def _subtract(side: Ignored, opposite: Ignored) -> list[Fault]:
    """The keywords that one side has more often than the other; those that both have at the same place are matched first."""
    more = Counter(key[1:] for key in side) - Counter(key[1:] for key in opposite)
    surplus: list[Fault] = []
    for key in sorted(side, key=opposite.__contains__):
        if more[key[1:]] > 0:
            more[key[1:]] -= 1
            surplus.append(side[key])
    return surplus


def _note(verb: str, positions: SourcePositions, fault: Fault) -> Note:
    position = positions.find_position(f"{fault.at}{write_plain_pointer(str(fault.values['keyword']))}")
    assert position is not None
    advice = "If it should have an effect, correct it and compare again. Otherwise, no action is needed."
    return Note("keyword-ignored", f"{verb} without effect: {fault.join_text()}", advice, position)
