"""What a receiver decodes leniently: values that the schema allows to drop are dropped, and every drop is told.

The message is never changed in place. Edits are kept in the message's own coordinates, so pointers stay true after items were dropped.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .contract import Path
from .errors import Dropped, Problem
from .json_types import integer_of, is_array, is_object
from .pointers import json_pointer
from .trace import FieldPlace, PlacedError, is_whole_number, problem


class Leniency(NamedTuple):
    """What one field decodes leniently: any bad value, bad items of its array, null in place of an array."""

    error: bool = False
    items: bool = False
    null: bool = False


Table = Mapping[str, Mapping[str, Leniency]]
Owners = Mapping[str, Mapping[str, str]]


class Edits:
    """Changes to a message: items dropped from arrays, fields removed, values put in place of others."""

    def __init__(self) -> None:
        self.items: dict[Path, set[int]] = {}
        self.removed: set[Path] = set()
        self.replaced: dict[Path, Any] = {}
        self.defaulted: dict[Path, Problem] = {}
        """Where a default was put in place of a bad value, and what was wrong. If the default does not fit, the place is strict."""
        self._shifts: dict[Path, list[int]] = {}

    def original(self, path: Path) -> Path:
        """Where something at `path` of the edited message stood in the original."""
        result: list[str | int] = []
        for step in path:
            array = tuple(result)
            if isinstance(step, int) and array in self.items:
                step += bisect_right(self._shift(array), step)
            result.append(step)
        return tuple(result)

    def _shift(self, array: Path) -> list[int]:
        """From which index on, of the items that are left, one more was dropped before."""
        if array not in self._shifts:
            self._shifts[array] = [index - before for before, index in enumerate(sorted(self.items[array]))]
        return self._shifts[array]

    def change(self, path: Path, replacement: Any, why: Problem) -> None:
        """Put `replacement` at a place of the original; `None` drops what is there."""
        if replacement is not None:
            self.replaced[path] = replacement
            self.defaulted[path] = why
        elif isinstance(path[-1], int):
            self.items.setdefault(path[:-1], set()).add(path[-1])
            self._shifts.pop(path[:-1], None)
        else:
            self.removed.add(path)

    def make_whole(self, errors: Sequence[PlacedError]) -> bool:
        """Write whole numbers that came with a fraction of zero as the integers that they are; whether there were any."""
        found = {
            self.original(error.path): integer_of(error.details["input"])
            for error in errors
            if is_whole_number(error.details)
        }
        self.replaced.update(found)
        return bool(found)

    def apply(self, value: Any) -> Any:
        """The edited message."""
        edits = (*self.items, *self.removed, *self.replaced)
        touched = {edit[:length] for edit in edits for length in range(len(edit) + 1)}
        added: dict[Path, list[str | int]] = {}
        for edit in self.replaced:
            added.setdefault(edit[:-1], []).append(edit[-1] if edit else 0)
        return self._applied(value, (), touched, added)

    def _applied(self, value: Any, path: Path, touched: set[Path], added: Mapping[Path, list[str | int]]) -> Any:
        if path in self.replaced:
            return self.replaced[path]
        if path not in touched:
            return value
        if is_object(value):
            kept = {
                key: self._applied(item, (*path, key), touched, added)
                for key, item in value.items()
                if (*path, key) not in self.removed
            }
            return {**kept, **{key: self.replaced[*path, key] for key in added.get(path, ()) if key not in value}}
        if is_array(value):
            dropped = self.items.get(path, set())
            return [self._applied(item, (*path, i), touched, added) for i, item in enumerate(value) if i not in dropped]
        return value


def repair(
    errors: Sequence[PlacedError], edits: Edits, original: Any, table: Table | None, owners: Owners, prefix: Path
) -> tuple[list[Dropped], list[PlacedError]]:
    """Add the edits that mend these errors; return what they drop, and the errors that nothing mends.

    Without a `table` everything is decoded strictly.
    """
    drops: list[Dropped] = []
    left: list[PlacedError] = []
    changes: list[tuple[Path, Any, Problem]] = []
    for error in errors:
        place = None if table is None else _lenient_place(error, table, edits)
        if place is None:
            left.append(error)
            continue
        path, replacement = place
        where = edits.original(path)
        told = placed(error, edits, owners, prefix)
        changes.append((where, replacement, told))
        drops.append(Dropped(json_pointer((*prefix, *where)), _value_at(original, where), told))
    for change in changes:  # only now: the errors' paths count the items that are there
        edits.change(*change)
    return drops, left


def placed(error: PlacedError, edits: Edits, owners: Owners, prefix: Path) -> Problem:
    """The problem that an error tells, with its pointer into the message as it came."""
    where = edits.original(error.path)
    if where in edits.defaulted:
        return edits.defaulted[where]
    found = problem(error, owners)
    return Problem(json_pointer((*prefix, *where)), found.schema, found.sentence)


def explained(problems: Iterable[Problem], drops: Sequence[Dropped]) -> Iterator[Problem]:
    """The problems, each followed by those of the items that were dropped below it: an array may be too short for that."""
    items: dict[str, list[Problem]] = {}
    for drop in drops:
        array, _, step = drop.pointer.rpartition("/")
        if step.isdigit():
            items.setdefault(array, []).append(drop.problem)
    for found in problems:
        yield found
        yield from items.get(found.pointer, ())


def _lenient_place(error: PlacedError, table: Table, edits: Edits) -> tuple[Path, Any] | None:
    """The nearest place that is lenient about this error: what to drop, and what to put there instead (`None`: nothing)."""
    for place in reversed(error.places):
        leniency = _leniency(place, table)
        if leniency is None:
            continue
        depth = len(place.path)
        absent = error.details["type"] == "missing" and depth == len(error.path) + 1
        if leniency.items and place.is_list and len(error.path) > depth and not absent:
            return error.path[: depth + 1], None
        is_null = leniency.null and error.path == place.path and error.details.get("input", 0) is None
        if not leniency.error and not is_null:
            continue
        if place.required and place.is_list and edits.original(place.path) not in edits.defaulted:
            return place.path, []
        if not place.required and not absent:
            return place.path, None
    return None


def _leniency(place: FieldPlace, table: Table) -> Leniency | None:
    for record in place.record.__mro__:
        found = table.get(record.__name__, {}).get(place.field)
        if found is not None:
            return found
    return None


def _value_at(value: Any, path: Path) -> Any:
    for step in path:
        if is_object(value):
            value = value.get(str(step))
        elif is_array(value) and isinstance(step, int):
            value = value[step]
    return value


def without_repeats(drops: list[Dropped]) -> list[Dropped]:
    """One drop per place, and none below a place that is dropped whole."""
    places = {drop.pointer for drop in drops}
    kept: dict[str, Dropped] = {}
    for drop in drops:
        parts = drop.pointer.split("/")
        if not any("/".join(parts[:length]) in places for length in range(1, len(parts))):
            kept.setdefault(drop.pointer, drop)
    return list(kept.values())
