"""What may be tried: edits of the new files with words for them, and several of them at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from acpgen.compat.repair.reversals import same
from acpgen.schema.edits import Edit
from acpgen.schema.walk import is_array, is_object

if TYPE_CHECKING:
    from acpgen.compat.repair.ground import At

Edits: TypeAlias = Mapping[str, tuple[Edit, ...]]
"""Edits by the file that they are made in."""


@dataclass(frozen=True, slots=True)
class FileEdit:
    """An edit of one file."""

    path: str
    edit: Edit

    @property
    def identity(self) -> tuple[str, str]:
        return self.path, self.edit.identity


@dataclass(frozen=True, slots=True)
class Candidate:
    """Edits that may repair a finding. `keeps`: what the change was made for remains.

    `parts` that are not needed may be left out of one that is `divisible`.
    """

    description: str
    keeps: bool
    parts: tuple[FileEdit, ...] = field(repr=False)
    divisible: bool = False

    @property
    def identity(self) -> frozenset[tuple[str, str]]:
        return frozenset(part.identity for part in self.parts)


def added(at: At, value: Any, after: str | None = None) -> FileEdit:
    """Something new at a place; a member stands behind the one with the key `after`."""
    return FileEdit(at.path, Edit("add", at.keys, value, after))


def removed(at: At) -> FileEdit:
    """Nothing at a place any more."""
    return FileEdit(at.path, Edit("remove", at.keys))


def replaced(at: At, value: Any) -> FileEdit:
    """Something else at a place."""
    return FileEdit(at.path, Edit("replace", at.keys, value))


def combined(parts: Iterable[FileEdit], values: Mapping[str, Any]) -> Edits | None:
    """All edits at once, by file; `values` are the files. `None` if two of them contradict one another."""
    unique = {part.identity: part for part in parts}
    files: dict[str, list[Edit]] = defaultdict(list)
    for part in unique.values():
        files[part.path].append(part.edit)
    result: dict[str, tuple[Edit, ...]] = {}
    for path, edits in files.items():
        joined = _joined(edits)
        if joined is None:
            return None
        result[path] = tuple(_without_empty(joined, values[path]))
    return result


def _joined(edits: list[Edit]) -> list[Edit] | None:
    found: list[Edit] = []
    members: dict[tuple[str | int, ...], int] = {}
    for edit in edits:
        if _is_item(edit):
            found.append(edit)
            continue
        if edit.at not in members:
            members[edit.at] = len(found)
            found.append(edit)
            continue
        other = found[members[edit.at]]
        whole = _union(other.value, edit.value) if (other.op, edit.op) == ("add", "add") else None
        if whole is None:
            return None
        found[members[edit.at]] = replace(other, value=whole)
    overwritten = [edit for edit in found if not _is_item(edit)]
    if any(one.inside(other) for one in found for other in overwritten):
        return None
    return found


def _is_item(edit: Edit) -> bool:
    """Whether an edit adds an item, which contradicts no other."""
    return edit.op == "add" and isinstance(edit.at[-1], int)


def _union(one: Any, other: Any) -> Any:
    """What two additions at the same place come to; `None` if they contradict one another."""
    if is_array(one) and is_array(other):
        return [*one, *(item for item in other if item not in one)]
    if is_object(one) and is_object(other) and all(same(one[key], other[key]) for key in one if key in other):
        return {**one, **other}
    return None


def _without_empty(edits: list[Edit], value: Any) -> list[Edit]:
    """The edits with `required` gone where all of its items go: draft-04 has no empty one, and it says nothing."""
    going: dict[tuple[str | int, ...], list[Edit]] = defaultdict(list)
    coming = {edit.at[:-1] for edit in edits if _is_item(edit)}
    for edit in edits:
        if edit.op == "remove" and edit.at[-2:-1] == ("required",) and isinstance(edit.at[-1], int):
            going[edit.at[:-1]].append(edit)
    for at, gone in going.items():
        held: Any = value
        for key in at:
            held = held[key]
        if len(gone) == len(held) and at not in coming:
            edits = [*(edit for edit in edits if edit not in gone), Edit("remove", at)]
    return edits
