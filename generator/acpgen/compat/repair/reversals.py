"""The smallest edits that restore the meaning of an old value in a new one.

A place is the path of a file, followed by the keys and indices that lead to a value in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, Final, TypeAlias

from acpgen.input.equality import is_equal
from acpgen.input.keywords import PROSE
from acpgen.input.numbers import dumps
from acpgen.input.text_edits import Edit
from acpgen.input.walk import DEFINITIONS, MAPS, is_array, is_object

Place: TypeAlias = "tuple[str | int, ...]"

Edits: TypeAlias = Mapping[str, tuple[Edit, ...]]
"""Edits by file."""

_ORDERED: Final = ("prefixItems", "items", "params")
"""Arrays whose order matters; the last are the params of a method in an OpenRPC document."""
_SILENT: Final = frozenset({*PROSE, "x-docs-ignore", "x-migration", "x-name", "x-was", "$comment"})
"""Keywords that have no effect on messages."""


@dataclass(frozen=True)
class Reversal(Edit):
    """An edit of the new files; `old` is the place of the restored value in the old ones."""

    old: Place | None = field(default=None, compare=False)

    @cached_property
    def key(self) -> str:
        """The identity, which is asked for often."""
        return self.identity


def holds(place: Place | None, inner: Place | None) -> bool:
    """Whether a place is the inner one or contains it."""
    return place is not None and inner is not None and place == inner[: len(place)]


def find_holder(place: Place | None) -> str | int:
    """The key of the object or array that contains a place; empty for a file and its members."""
    return place[-2] if place is not None and len(place) > 2 else ""


def combine(parts: Iterable[Reversal], files: Mapping[str, Any]) -> Edits | None:
    """Combine edits, by file; `files` are the contents of the files. `None` if two edits conflict."""
    edits: dict[object, Edit] = {}
    for part in {part.key: part for part in parts}.values():
        key = part.key if _is_item(part) else part.at
        edit = _merge(edits[key], part) if key in edits else part
        if edit is None:
            return None
        edits[key] = edit
    removals = [edit for edit in edits.values() if edit.op == "remove"]
    effective = [edit for edit in edits.values() if edit.op != "remove" or not any(map(edit.is_inside, removals))]
    if any(edit.is_inside(outer) for edit in effective for outer in effective if not _is_item(outer)):
        return None
    by_file: dict[str, list[Edit]] = defaultdict(list)
    for edit in _without_empty(effective, files):
        by_file[str(edit.at[0])].append(Edit(edit.op, edit.at[1:], edit.value, edit.after))
    return {path: tuple(file_edits) for path, file_edits in by_file.items()}


def _merge(first: Edit, second: Edit) -> Edit | None:
    """Two additions of an object at one place as one; `None` if the edits contradict each other."""
    was, now = first.value, second.value
    if not first.op == second.op == "add" or not is_object(was) or not is_object(now):
        return None
    is_consistent = all(is_equal(was[name], now[name]) for name in was if name in now)
    return replace(second, value={**was, **now}) if is_consistent else None


def _is_item(edit: Edit) -> bool:
    """Whether an edit adds an array item, which never conflicts."""
    return edit.op == "add" and isinstance(edit.at[-1], int)


def _without_empty(edits: list[Edit], files: Mapping[str, Any]) -> list[Edit]:
    """The edits, with `required` removed if all its items are: draft-04 does not allow an empty array."""
    items = [edit for edit in edits if edit.at[-2:-1] == ("required",) and isinstance(edit.at[-1], int)]
    for at in dict.fromkeys(edit.at[:-1] for edit in items):
        array: Any = files
        for key in at:
            array = array[key]
        array_edits = [edit for edit in items if edit.at[:-1] == at]
        if len(array_edits) == len(array) and all(edit.op == "remove" for edit in array_edits):
            edits = [*(edit for edit in edits if edit not in array_edits), Edit("remove", at)]
    return edits


def find_reversals(old: Any, new: Any, was: Place, at: Place, *, schema: bool = True) -> Iterator[Reversal]:
    """Yield the edits that give the new value, at the place `at`, the meaning of the old one. `schema`: the value is a schema."""
    if is_equal(old, new):
        return
    if is_object(old) and is_object(new):
        yield from _reverse_members(old, new, was, at, schema)
    elif is_array(old) and is_array(new):
        yield from _reverse_items(old, new, was, at)
    else:
        yield Reversal("replace", at, old, old=was)


def _reverse_members(
    old: dict[str, Any], new: dict[str, Any], was: Place, at: Place, schema: bool
) -> Iterator[Reversal]:
    silent = _SILENT if schema else ()
    before = ""
    for key, value in old.items():
        if key in silent:
            continue
        if key not in new:
            yield Reversal("add", (*at, key), value, before, (*was, key))
        else:
            before = key
            inner = not (schema and key in (*MAPS, *DEFINITIONS))
            yield from find_reversals(value, new[key], (*was, key), (*at, key), schema=inner)
    yield from (Reversal("remove", (*at, key)) for key in new if key not in old and key not in silent)


def _reverse_items(old: list[Any], new: list[Any], was: Place, at: Place) -> Iterator[Reversal]:
    """Yield the edits of matching, removed and added items."""
    partner = _match_items(old, new)
    is_moved = len(old) != len(new) or list(partner.values()) != sorted(partner.values())
    if is_moved and at[-1] in _ORDERED:
        yield Reversal("replace", at, old, old=was)
        return
    following = 0
    for index, value in enumerate(old):
        if index in partner:
            following = partner[index] + 1
            yield from find_reversals(value, new[partner[index]], (*was, index), (*at, partner[index]))
        else:
            yield Reversal("add", (*at, following), value, old=(*was, index))
    yield from (Reversal("remove", (*at, index)) for index in range(len(new)) if index not in partner.values())


def _match_items(old: list[Any], new: list[Any]) -> dict[int, int]:
    """The index of the new item for each matching old item: equal, or with the same identifying mark."""
    partners: dict[int, int] = {}
    for mark in (_serialize, _mark):
        new_marks = [mark(item) for item in new]
        for index, item in enumerate(old):
            if index not in partners and (old_mark := mark(item)) is not None:
                matched = {*partners.values()}
                free = (i for i, new_mark in enumerate(new_marks) if new_mark == old_mark and i not in matched)
                partners.update((index, partner) for partner in islice(free, 1))
    return partners


def _serialize(item: Any) -> str | None:
    return dumps(item, sort_keys=True)


def _mark(item: Any) -> str | None:
    """The identifying mark of a branch: its constants, reference or title; for a method or param, its name."""
    members = item if is_object(item) else {}
    name = members.get("name") if isinstance(members.get("name"), str) else None
    marks = (list_constants(item), members.get("$ref"), name, members.get("title"), members.get("type"))
    return next((dumps(mark, sort_keys=True) for mark in marks if mark not in (None, {})), None)


def list_constants(branch: Any) -> dict[str, Any]:
    """The constants of a branch by property; the branch's own constant has the empty name."""
    members: Any = branch.get("properties") if is_object(branch) else None
    schemas = {"": branch, **(members if is_object(members) else {})}
    return {name: inner["const"] for name, inner in schemas.items() if is_object(inner) and "const" in inner}
