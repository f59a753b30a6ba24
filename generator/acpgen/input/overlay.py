"""Overlays: a folder extends the files of another. `x-extends` in a file names the file that it extends, `x-adds` says what it adds.

    {"x-extends": "../v1/updates.json",
     "x-adds": {"#/$defs/SessionUpdate/oneOf": [{"…": "a branch"}], "#/$defs/SessionInfo/properties": {"archived": {"…": "…"}}},
     "$defs": {"PlanRemoved": {"…": "…"}}}

Null removes a keyword. The result has both contents in files with the names of the other folder, so that all later stages see whole
files. What is added may change without a new version and is marked `x-unstable`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeAlias

from acpgen.errors import Fault, Faults
from acpgen.input.faults import BAD_OVERLAY
from acpgen.input.numbers import dumps, loads
from acpgen.input.walk import copy_json, is_array, is_object
from acpgen.pointers import find_value, split_pointer

Contents: TypeAlias = "tuple[tuple[str, bytes], ...]"
"""Path and bytes of each file of a folder."""

EXTENDS: Final = "x-extends"
ADDS: Final = "x-adds"

_WORDS: Final = ("title", "description")
"""Keywords of the file itself that replace those of the file that it extends."""

_SCHEMAS: Final = ("properties", "$defs", "anyOf", "oneOf")
"""Keywords whose added members are marked."""


Parse: TypeAlias = Callable[[bytes, str], Any]
"""Parse strict JSON; the second argument is the displayed name of the file. Raises `Faults`."""


@dataclass(frozen=True)
class Written:
    """Where the parts of a merged file are written: `at` is the place of the extended file, `own` the bytes of the extending one, if
    there is one.
    """

    at: str
    other: bytes = field(repr=False)
    own: bytes = field(default=b"", repr=False)

    def find_origin(self, keys: Sequence[str]) -> tuple[bool, tuple[str, ...]]:
        """Map keys of the merged file to its source: whether they are written in the extending file, and the keys there."""
        here: list[str] = []
        for index, key in enumerate(keys if self.own else ()):
            if not here and key in _WORDS and key in self._values[0]:
                return True, tuple(keys)
            if here == ["$defs"] and key in self._values[0].get("$defs", {}):
                return True, tuple(keys)
            place, more = self._adds.get(tuple(here), ("", None))
            if is_object(more) and more.get(key) is not None:
                return True, (ADDS, place, *keys[index:])
            if is_array(more) and key.isdecimal():
                first = _find_insertion(find_value(self._values[1], split_pointer(place)), place)
                if first <= int(key) < first + len(more):
                    return True, (ADDS, place, str(int(key) - first), *keys[index + 1 :])
                here.append(str(int(key) - len(more)) if int(key) >= first else key)
            else:
                here.append(key)
        return False, tuple(here) if self.own else tuple(keys)

    @cached_property
    def _values(self) -> tuple[Any, Any]:
        return loads(self.own.decode()), loads(self.other.decode())

    @cached_property
    def _adds(self) -> Mapping[tuple[str, ...], tuple[str, Any]]:
        return {split_pointer(place): (place, more) for place, more in self._values[0].get(ADDS, {}).items()}


def extend_files(
    files: Contents, root: str, read_folder: Callable[[str], Contents], parse: Parse
) -> tuple[Contents, Mapping[str, Written]]:
    """Merge the files of a folder with those that they extend, and say where each part is written. Files that extend nothing stay
    unchanged.

    Each subfolder extends a folder of its own. `root` is the displayed name of the folder, `read_folder` reads another folder by its
    relative path. Raises `Faults`.
    """
    overlay_folders = {posixpath.dirname(path) for path, content in files if f'"{EXTENDS}"'.encode() in content}
    whole, parts_by_path = dict(files), dict[str, Written]()
    for inside in sorted(overlay_folders):
        group = {posixpath.basename(path): content for path, content in files if posixpath.dirname(path) == inside}

        def read(other: str, inside: str = inside) -> Contents:
            return read_folder(posixpath.normpath(posixpath.join(inside, other)))

        merged_files, homes = _extend(group, posixpath.join(root, inside) if inside else root, read, parse)
        whole |= {posixpath.join(inside, path): content for path, content in merged_files.items()}
        parts_by_path |= {posixpath.join(inside, path): home for path, home in homes.items()}
    return tuple(sorted(whole.items())), parts_by_path


def _extend(
    files: Mapping[str, bytes], root: str, read_folder: Callable[[str], Contents], parse: Parse
) -> tuple[Mapping[str, bytes], Mapping[str, Written]]:
    """`extend_files` for a single folder."""
    own = {path: value for path, content in files.items() if is_object(value := parse(content, f"{root}/{path}"))}
    targets = {path: value[EXTENDS] for path, value in own.items() if EXTENDS in value}
    if not targets:
        return files, {}
    folder = find_extended_folder(targets, root)
    base = dict(read_folder(folder))
    elsewhere = posixpath.normpath(posixpath.join(root, folder))
    work = _Overlay(root, {path: parse(content, f"{elsewhere}/{path}") for path, content in base.items()})
    for path, value in own.items():
        work.add(path, value)
    if work.faults:
        raise Faults(work.faults)
    names = {path: path for path in base if path not in own}
    names |= {path: posixpath.basename(file) for path, file in targets.items()}
    parts_by_path = {
        path: Written(f"{elsewhere}/{name}", base[name], files.get(path, b"")) for path, name in names.items()
    }
    texts = {path: f"{dumps(value, indent=2, ensure_ascii=False)}\n".encode() for path, value in work.merged.items()}
    return {**base, **files, **texts}, parts_by_path


def list_folders(targets: Mapping[str, Any]) -> set[str]:
    """The folders that the values of `x-extends` name, as relative paths; empty for the folder of the files themselves."""
    return {posixpath.dirname(file) for file in targets.values() if isinstance(file, str)}


def find_extended_folder(targets: Mapping[str, Any], root: str) -> str:
    """The single other folder that the files of `root` extend. `targets` maps files to their values of `x-extends`. Raises `Faults`."""
    folders = list_folders(targets)
    if len(folders) != 1 or "" in folders:
        reason = "the files of this folder extend files of several folders, or of no other one"
        remedy = "Name one folder in all of them"
        raise Faults([BAD_OVERLAY(f"{root}/{path}#/{EXTENDS}", reason=reason, remedy=remedy) for path in targets])
    return folders.pop()


class _Overlay:
    def __init__(self, root: str, base: Mapping[str, Any]) -> None:
        self.root, self.base = root, base
        self.merged: dict[str, dict[str, Any]] = {}
        self.faults: list[Fault] = []

    def add(self, path: str, value: dict[str, Any]) -> None:
        """Merge one file with the file that it extends."""
        definitions = {name: _mark_unstable(one) for name, one in _list_members(value.get("$defs"))}
        if EXTENDS not in value:
            self.merged[path] = {**value, "$defs": definitions}
            return
        whole = copy_json(self.base.get(posixpath.basename(str(value[EXTENDS]))))
        if not is_object(whole):
            self._report_fault(path, EXTENDS, f"there is no schema file {value[EXTENDS]}", "Correct the path")
            return
        # Places are those of the other file as it is, so that none depends on what is added before it.
        additions = [
            (place, more, find_value(whole, split_pointer(place))) for place, more in _list_members(value.get(ADDS))
        ]
        for place, more, target in additions:
            self._put(path, place, target, more)
        definitions_of_base = whole.setdefault("$defs", {})
        for name, one in definitions.items():
            if name in definitions_of_base:
                self._report_fault(
                    path, f"$defs/{name}", "the other file has this definition", f"Put what it gains into '{ADDS}'"
                )
            definitions_of_base[name] = one
        words = {key: one for key, one in value.items() if key in _WORDS}
        self.merged[path] = {**whole, **words, "$defs": definitions_of_base}

    def _put(self, path: str, place: str, target: Any, more: Any) -> None:
        has_mark = is_marked(place)
        if is_object(target) and is_object(more):
            for key, one in more.items():
                if one is None:
                    target.pop(key, None)
                    continue
                if key in target:
                    self._report_fault(
                        path, f"{ADDS}/{place}", f"the other file has {key!r} there already", "Leave it out"
                    )
                target[key] = _mark_unstable(one) if has_mark else one
        elif is_array(target) and is_array(more):
            at = _find_insertion(target, place)
            target[at:at] = [_mark_unstable(one) if has_mark else one for one in more]
        else:
            self._report_fault(
                path, f"{ADDS}/{place}", "the other file has no list or object of this kind there", "Correct the place"
            )

    def _report_fault(self, path: str, place: str, reason: str, remedy: str) -> None:
        self.faults.append(BAD_OVERLAY(f"{self.root}/{path}#/{place}", reason=reason, remedy=remedy))


def is_marked(place: str) -> bool:
    """Whether what is added at a place of `x-adds` is marked as unstable."""
    return place.rpartition("/")[2] in _SCHEMAS and "/not/" not in place


def _find_insertion(target: Any, place: str) -> int:
    """The index at which items are inserted: the fallback or default branch of a union stays last."""
    items: list[Any] = target if is_array(target) else []
    has_fallback = is_marked(place) and items and is_object(items[-1]) and "not" in items[-1]
    return len(items) - 1 if has_fallback else len(items)


def _list_members(value: Any) -> Iterator[tuple[str, Any]]:
    yield from value.items() if is_object(value) else ()


def _mark_unstable(schema: Any) -> Any:
    return {**schema, "x-unstable": True} if is_object(schema) else schema
