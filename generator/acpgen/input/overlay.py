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
class SourceMap:
    """Where the parts of a merged file are written. `at` is the place of the extended file, `base` its bytes; `overlay` are the bytes of
    the extending file, if there is one.
    """

    at: str
    base: bytes = field(repr=False)
    overlay: bytes = field(default=b"", repr=False)

    def find_origin(self, keys: Sequence[str]) -> tuple[bool, tuple[str, ...]]:
        """Map keys of the merged file to its source: whether they are written in the extending file, and the keys there."""
        base_keys: list[str] = []
        for index, key in enumerate(keys if self.overlay else ()):
            if not base_keys and key in _WORDS and key in self._values[0]:
                return True, tuple(keys)
            if base_keys == ["$defs"] and key in self._values[0].get("$defs", {}):
                return True, tuple(keys)
            place, addition = self._adds.get(tuple(base_keys), ("", None))
            if is_object(addition) and addition.get(key) is not None:
                return True, (ADDS, place, *keys[index:])
            if is_array(addition) and key.isdecimal():
                first = _find_insertion(find_value(self._values[1], split_pointer(place)), place)
                if first <= int(key) < first + len(addition):
                    return True, (ADDS, place, str(int(key) - first), *keys[index + 1 :])
                base_keys.append(str(int(key) - len(addition)) if int(key) >= first else key)
            else:
                base_keys.append(key)
        return False, tuple(base_keys) if self.overlay else tuple(keys)

    @cached_property
    def _values(self) -> tuple[Any, Any]:
        return loads(self.overlay.decode()), loads(self.base.decode())

    @cached_property
    def _adds(self) -> Mapping[tuple[str, ...], tuple[str, Any]]:
        return {split_pointer(place): (place, addition) for place, addition in self._values[0].get(ADDS, {}).items()}


def extend_files(
    files: Contents, root: str, read_folder: Callable[[str], Contents], parse: Parse
) -> tuple[Contents, Mapping[str, SourceMap]]:
    """Merge the files of a folder with those that they extend, and say where each part is written. Files that extend nothing stay
    unchanged.

    Each subfolder extends a folder of its own. `root` is the displayed name of the folder, `read_folder` reads another folder by its
    relative path. Raises `Faults`.
    """
    overlay_folders = {posixpath.dirname(path) for path, content in files if f'"{EXTENDS}"'.encode() in content}
    whole, source_maps = dict(files), dict[str, SourceMap]()
    for subfolder in sorted(overlay_folders):
        group = {posixpath.basename(path): content for path, content in files if posixpath.dirname(path) == subfolder}

        def read(relative_path: str, subfolder: str = subfolder) -> Contents:
            return read_folder(posixpath.normpath(posixpath.join(subfolder, relative_path)))

        merged_files, group_maps = _extend(group, posixpath.join(root, subfolder) if subfolder else root, read, parse)
        whole |= {posixpath.join(subfolder, path): content for path, content in merged_files.items()}
        source_maps |= {posixpath.join(subfolder, path): source_map for path, source_map in group_maps.items()}
    return tuple(sorted(whole.items())), source_maps


def _extend(
    files: Mapping[str, bytes], root: str, read_folder: Callable[[str], Contents], parse: Parse
) -> tuple[Mapping[str, bytes], Mapping[str, SourceMap]]:
    """`extend_files` for a single folder."""
    overlays = {path: value for path, content in files.items() if is_object(value := parse(content, f"{root}/{path}"))}
    targets = {path: value[EXTENDS] for path, value in overlays.items() if EXTENDS in value}
    if not targets:
        return files, {}
    folder = find_extended_folder(targets, root)
    base = dict(read_folder(folder))
    elsewhere = posixpath.normpath(posixpath.join(root, folder))
    work = _Overlay(root, {path: parse(content, f"{elsewhere}/{path}") for path, content in base.items()})
    for path, value in overlays.items():
        work.add(path, value)
    if work.faults:
        raise Faults(work.faults)
    names = {path: path for path in base if path not in overlays}
    names |= {path: posixpath.basename(file) for path, file in targets.items()}
    source_maps = {
        path: SourceMap(f"{elsewhere}/{name}", base[name], files.get(path, b"")) for path, name in names.items()
    }
    texts = {path: f"{dumps(value, indent=2, ensure_ascii=False)}\n".encode() for path, value in work.merged.items()}
    return {**base, **files, **texts}, source_maps


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
        definitions = {name: _mark_unstable(definition) for name, definition in _list_members(value.get("$defs"))}
        if EXTENDS not in value:
            self.merged[path] = {**value, "$defs": definitions}
            return
        whole = copy_json(self.base.get(posixpath.basename(str(value[EXTENDS]))))
        if not is_object(whole):
            self._report_fault(path, EXTENDS, f"there is no schema file {value[EXTENDS]}", "Correct the path")
            return
        # Places are those of the other file as it is, so that none depends on what is added before it.
        additions = [
            (place, addition, find_value(whole, split_pointer(place)))
            for place, addition in _list_members(value.get(ADDS))
        ]
        for place, addition, target in additions:
            self._put(path, place, target, addition)
        definitions_of_base = whole.setdefault("$defs", {})
        for name, definition in definitions.items():
            if name in definitions_of_base:
                self._report_fault(
                    path, f"$defs/{name}", "the other file has this definition", f"Put what it gains into '{ADDS}'"
                )
            definitions_of_base[name] = definition
        words = {key: text for key, text in value.items() if key in _WORDS}
        self.merged[path] = {**whole, **words, "$defs": definitions_of_base}

    def _put(self, path: str, place: str, target: Any, addition: Any) -> None:
        has_mark = is_marked(place)
        if is_object(target) and is_object(addition):
            for key, member in addition.items():
                if member is None:
                    target.pop(key, None)
                    continue
                if key in target:
                    self._report_fault(
                        path, f"{ADDS}/{place}", f"the other file has {key!r} there already", "Leave it out"
                    )
                target[key] = _mark_unstable(member) if has_mark else member
        elif is_array(target) and is_array(addition):
            at = _find_insertion(target, place)
            target[at:at] = [_mark_unstable(item) if has_mark else item for item in addition]
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
