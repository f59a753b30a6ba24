"""Keywords that have no effect where they stand, and that one revision has and the other has not, or otherwise."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from acpgen.compat.findings import Note, Spot
from acpgen.compat.sources import Input
from acpgen.compat.spots import Spots
from acpgen.errors import ForeignKeyword, LeftOut, UnknownKeyword
from acpgen.pointers import plain_pointer

_Said: TypeAlias = tuple[str, str]
"""The keyword, and its value as JSON."""

_NAMED: Final = 20
"""The places that have a note of their own. The rest is counted."""


def ignored_keywords(old: Input, new: Input, left_out: tuple[Iterable[LeftOut], Iterable[LeftOut]]) -> tuple[Note, ...]:
    """A note for each keyword without effect whose value is in one revision alone. `left_out` is what either does not read.

    A key that is like no keyword is an annotation of somebody else's.
    """
    sides = Spots(old), Spots(new)
    told = [
        [(each, _said(spots, each)) for each in found if _is_meant(each)]
        for spots, found in zip(sides, left_out, strict=True)
    ]
    counts = [Counter(said for _, said in side) for side in told]
    gone, new_ones = counts[0] - counts[1], counts[1] - counts[0]
    for said in [each for each in gone if each[0] in {keyword for keyword, _ in new_ones}]:
        del gone[said]  # it has changed, which is told once
    notes = [
        *_notes("Removed", sides[0], told[0], gone),
        *_notes("Added or changed", sides[1], told[1], new_ones),
    ]
    if len(notes) <= _NAMED:
        return tuple(notes)
    rest = len(notes) - _NAMED
    last = notes[_NAMED]
    message = f"{rest} more keyword{'s' if rest > 1 else ''} without effect differ{'' if rest > 1 else 's'}."
    return (*notes[:_NAMED], Note(last.rule, message, "'acpgen lint' lists them all.", last.at))


def keyword_ignored(how: str, why: str, at: Spot) -> Note:
    """A keyword that has no effect where it stands has changed: it is misspelt, `$ref` hides it, or the draft that the file names does not
    know it. No message is accepted or refused because of it, so that no finding is about it. It is a note and counts for nothing.
    """
    return Note(
        "keyword-ignored",
        f"{how} without effect: {why}",
        "If it should have an effect, correct it and compare again. Otherwise, no action is needed.",
        at,
    )


def _is_meant(note: LeftOut) -> bool:
    return isinstance(note, ForeignKeyword) or (isinstance(note, UnknownKeyword) and bool(note.meant))


def _said(spots: Spots, note: LeftOut) -> _Said:
    assert isinstance(note, ForeignKeyword | UnknownKeyword)
    value = spots.value(note.at)
    inner = value.get(note.keyword) if isinstance(value, dict) else None
    return note.keyword, json.dumps(inner, sort_keys=True)


def _notes(how: str, spots: Spots, side: list[tuple[LeftOut, _Said]], more: Counter[_Said]) -> Iterator[Note]:
    """What one side has more often than the other, from its end on: what is new mostly comes last."""
    found: list[Note] = []
    for note, said in reversed(side):
        if more[said] > 0:
            more[said] -= 1
            spot = spots.spot(f"{note.at}{plain_pointer(said[0])}") or spots.spot(note.at)
            assert spot is not None
            found.append(keyword_ignored(how, note.what(), spot))
    yield from reversed(found)
