"""The smallest edits that restore the meaning of an old text in a new one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from acpgen.input.keywords import PROSE
from acpgen.input.numbers import dumps
from acpgen.input.text_edits import Edit
from acpgen.input.walk import DEFINITIONS, MAPS, is_array, is_object

if TYPE_CHECKING:
    from acpgen.input.text_edits import Keys

Edits: TypeAlias = Mapping[str, tuple[Edit, ...]]
"""Edits by file."""

_ORDERED: Final = ("prefixItems", "items", "params")
"""Arrays whose order matters; the last are the params of a method in an OpenRPC document."""
_SILENT: Final = frozenset({*PROSE, "x-docs-ignore", "x-migration", "x-name", "x-was", "$comment"})
"""Keywords that have no effect on messages."""


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A place in the files of one side."""

    path: str
    keys: Keys = ()

    def below(self, *keys: str | int) -> FilePlace:
        return FilePlace(self.path, (*self.keys, *keys))

    def holds(self, other: FilePlace | None) -> bool:
        """Whether another place is this one or below it."""
        return other is not None and self.path == other.path and self.keys == other.keys[: len(self.keys)]

    @property
    def above(self) -> FilePlace:
        return FilePlace(self.path, self.keys[:-1])

    @property
    def holder(self) -> str | int:
        """The key of the object or array that contains the place; empty for a file and its members."""
        return self.keys[-2] if len(self.keys) > 1 else ""


@dataclass(frozen=True)
class Reversal:
    """An edit of a new file. `old` is the place of the restored value, `value` the value restored or removed."""

    path: str
    edit: Edit
    old: FilePlace | None = None
    value: Any = field(default=None, compare=False, repr=False)

    @property
    def at(self) -> FilePlace:
        return FilePlace(self.path, self.edit.at)

    @cached_property
    def identity(self) -> tuple[str, str]:
        return self.path, self.edit.identity


def addition(at: FilePlace, value: Any, old: FilePlace | None = None, after: str | None = None) -> Reversal:
    """An edit that adds a value; a member is inserted after the one with the key `after`."""
    return Reversal(at.path, Edit("add", at.keys, value, after), old, value)


def removal(at: FilePlace, value: Any) -> Reversal:
    """An edit that removes the value at a place."""
    return Reversal(at.path, Edit("remove", at.keys), None, value)


def combine(parts: Iterable[Reversal], values: Mapping[str, Any]) -> Edits | None:
    """Combine edits, by file; `values` are the contents of the files. `None` if two edits conflict."""
    files: dict[str, dict[object, Edit]] = defaultdict(dict)
    for part in {part.identity: part for part in parts}.values():
        edits, edit = files[part.path], part.edit
        key = edit.identity if _is_item(edit) else edit.at
        if key in edits:
            one, other = edits[key].value, edit.value
            if edits[key].op != edit.op or edit.op != "add" or not is_object(one) or not is_object(other):
                return None
            if not all(equal(one[name], other[name]) for name in one if name in other):
                return None
            edit = replace(edits[key], value={**one, **other})
        edits[key] = edit
    result: dict[str, tuple[Edit, ...]] = {}
    for path, edits in files.items():
        removals = [each for each in edits.values() if each.op == "remove"]
        remaining = [each for each in edits.values() if each.op != "remove" or not any(map(each.inside, removals))]
        if any(each.inside(other) for each in remaining for other in remaining if not _is_item(other)):
            return None
        result[path] = tuple(_without_empty(remaining, values[path]))
    return result


def _is_item(edit: Edit) -> bool:
    """Whether an edit adds an array item, which never conflicts."""
    return edit.op == "add" and isinstance(edit.at[-1], int)


def _without_empty(edits: list[Edit], value: Any) -> list[Edit]:
    """The edits, with `required` removed if all its items are: draft-04 does not allow an empty array."""
    items = [edit for edit in edits if edit.at[-2:-1] == ("required",) and isinstance(edit.at[-1], int)]
    for at in dict.fromkeys(edit.at[:-1] for edit in items):
        array: Any = value
        for key in at:
            array = array[key]
        these = [edit for edit in items if edit.at[:-1] == at]
        if len(these) == len(array) and all(edit.op == "remove" for edit in these):
            edits = [*(edit for edit in edits if edit not in these), Edit("remove", at)]
    return edits


def equal(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal; `1` and `true` are not."""
    return one == other and dumps(one, sort_keys=True) == dumps(other, sort_keys=True)


def between(old: Any, new: Any, was: FilePlace, at: FilePlace, *, schema: bool = True) -> Iterator[Reversal]:
    """Yield the edits that give the new value, at the place `at`, the meaning of the old one. `schema`: the value is a schema."""
    if equal(old, new):
        return
    if is_object(old) and is_object(new):
        yield from _members(old, new, was, at, schema)
    elif is_array(old) and is_array(new):
        yield from _items(old, new, was, at)
    else:
        yield Reversal(at.path, Edit("replace", at.keys, old), was, old)


def _members(
    old: dict[str, Any], new: dict[str, Any], was: FilePlace, at: FilePlace, schema: bool
) -> Iterator[Reversal]:
    before = ""
    for key, value in old.items():
        if schema and key in _SILENT:
            continue
        if key not in new:
            yield addition(at.below(key), value, was.below(key), before)
        else:
            before = key
            inner = not (schema and key in (*MAPS, *DEFINITIONS))
            yield from between(value, new[key], was.below(key), at.below(key), schema=inner)
    for key, value in new.items():
        if key not in old and not (schema and key in _SILENT):
            yield removal(at.below(key), value)


def _items(old: list[Any], new: list[Any], was: FilePlace, at: FilePlace) -> Iterator[Reversal]:
    """Yield the edits of matching, removed and added items."""
    partner = _partners(old, new)
    is_moved = len(old) != len(new) or list(partner.values()) != sorted(partner.values())
    if is_moved and at.keys and at.keys[-1] in _ORDERED:
        yield Reversal(at.path, Edit("replace", at.keys, old), was, old)
        return
    following = 0
    for index, value in enumerate(old):
        if index in partner:
            following = partner[index] + 1
            yield from between(value, new[partner[index]], was.below(index), at.below(partner[index]))
        else:
            yield addition(at.below(following), value, was.below(index))
    partner_indexes = set(partner.values())
    yield from (removal(at.below(index), value) for index, value in enumerate(new) if index not in partner_indexes)


def _partners(old: list[Any], new: list[Any]) -> dict[int, int]:
    """The index of the new item for each matching old item: equal, or with the same identifying mark."""
    partners: dict[int, int] = {}
    for mark in (_text, _mark):
        new_marks = [mark(item) for item in new]
        for index, item in enumerate(old):
            if index not in partners and (old_mark := mark(item)) is not None:
                free = [i for i, other in enumerate(new_marks) if other == old_mark and i not in partners.values()]
                partners |= {index: free[0]} if free else {}
    return partners


def _text(item: Any) -> str | None:
    return dumps(item, sort_keys=True)


def _mark(item: Any) -> str | None:
    """The identifying mark of a branch: its constants, reference or title; for a method or param, its name."""
    members = item if is_object(item) else {}
    name = members.get("name") if isinstance(members.get("name"), str) else None
    marks = (constants(item), members.get("$ref"), name, members.get("title"), members.get("type"))
    return next((dumps(mark, sort_keys=True) for mark in marks if mark not in (None, {})), None)


def constants(branch: Any) -> dict[str, Any]:
    """The constants of a branch by property; the branch's own constant has the empty name."""
    members: Any = branch.get("properties") if is_object(branch) else None
    schemas = {"": branch, **(members if is_object(members) else {})}
    return {name: inner["const"] for name, inner in schemas.items() if is_object(inner) and "const" in inner}
