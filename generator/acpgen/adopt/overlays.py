"""Adoption into a folder that extends another one (`x-extends`): only what it adds is written.

What an overlay cannot express, because the other folder has another value there, is left out: the caller compares the resulting files.
"""

from __future__ import annotations

import posixpath
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from acpgen.adopt.facts import UNIONS, Key, fingerprint, key_branches
from acpgen.errors import Faults
from acpgen.input.equality import make_key
from acpgen.input.faults import BAD_OVERLAY
from acpgen.input.load import display_path, parse_strict, read_bytes, read_folder
from acpgen.input.overlay import ADDS, EXTENDS, find_extended_folder, is_marked, list_folders
from acpgen.input.walk import MAPS, Schema, is_array, is_object
from acpgen.pointers import follow, split_pointer, write_pointer

_WORDS: Final = ("$schema", "title", "description")
_MAPS: Final = {(keyword,) for keyword in MAPS}
_MARK: Final = "x-unstable"


@dataclass(frozen=True, slots=True)
class Overlay:
    """The files of a folder as written, and those of the folder that they extend; `extends` is the path of that folder, relative to the
    first.
    """

    extends: str
    documents: Mapping[str, Schema] = field(repr=False)
    base: Mapping[str, Schema] = field(repr=False)

    def make_document(self, path: str, whole: Schema) -> Schema | None:
        """The document that, merged with the one it extends, gives `whole`; `None` if it would add nothing."""
        document = self.documents.get(path)
        name = path if document is None else _find_name(document)
        if name not in self.base:
            unmarked = {key: _remove_mark(definition) for key, definition in whole.get("$defs", {}).items()}
            return {**whole, "$defs": unmarked}
        head: Mapping[str, Any] = {"$schema": whole["$schema"]} if "$schema" in whole else {}
        head = {**head, EXTENDS: f"{self.extends}/{name}"} if document is None else document
        before: Mapping[str, Any] = head.get(ADDS, {})
        head = {key: value for key, value in head.items() if key not in (ADDS, "$defs")}
        adds = dict(_find_additions({**self.base[name], "$defs": self.base[name].get("$defs", {})}, whole))
        definitions = adds.pop("#/$defs", {})
        ordered = {key: adds[key] for key in (*before, *adds) if key in adds}
        result = {**head, **({ADDS: ordered} if ordered else {}), **({"$defs": definitions} if definitions else {})}
        return result if result.keys() - {"$schema", EXTENDS} else None

    def find_moved_places(self, base: Mapping[str, Schema]) -> Iterator[str]:
        """Yield the locations in `x-adds` that lead to another branch in `base` than in the extended files as read."""
        for path, value in self.documents.items():
            name = _find_name(value)
            for at in _list_keys(value.get(ADDS)):
                if _find_marks(self.base.get(name), at) != _find_marks(base.get(name), at):
                    yield f"{path}#/{ADDS}/{at}"

    def is_plain(self, path: str) -> bool:
        """Whether a file is one of the folder's own and extends no other."""
        return path in self.documents and EXTENDS not in self.documents[path]


def read_overlay(folder: Path) -> Overlay | None:
    """The overlay in a folder; `None` if the folder extends no other. Raises `Faults`, also if a folder below it extends one."""
    documents = _read_values(folder)
    extends_by_path = _find_extending(documents)
    if not extends_by_path:
        return None
    nested_paths = [path for path in extends_by_path if posixpath.dirname(path)]
    if nested_paths:
        reason = "this folder extends another one for itself, so it is not adopted together with the one around it"
        raise Faults(
            [
                BAD_OVERLAY(at=f"{display_path(folder)}/{path}#/{EXTENDS}", reason=reason, remedy="Name it alone")
                for path in nested_paths
            ]
        )
    extended_folder = find_extended_folder(extends_by_path, display_path(folder))
    return Overlay(extended_folder, documents, _read_values(folder / extended_folder))


def extends_folder(folder: Path, base: Path) -> bool:
    """Whether files directly in a folder extend files of the base; the folder need not be a valid overlay. Raises `Faults`."""
    extended_folders = (folder / extended for extended in list_folders(_find_extending(_read_direct(folder))))
    return any(extended.is_dir() and extended.resolve() == base.resolve() for extended in extended_folders)


def find_added(folder: Path) -> set[str]:
    """The names of the definitions in a folder's own files; the folder need not be a valid overlay. Raises `Faults`."""
    return {name for value in _read_direct(folder).values() for name in _list_keys(value.get("$defs"))}


def find_overlays(schema: Path) -> Mapping[str, Path]:
    """The protocols below a schema folder that extend another one, with the folder of each. Raises `Faults`."""
    folders = {path.parent for path in sorted(schema.rglob("[!.]*.json")) if _extends(path)}
    return {folder.relative_to(schema).as_posix(): folder for folder in sorted(folders)}


def _extends(path: Path) -> bool:
    content = read_bytes(path) if path.is_file() else b""
    value = parse_strict(content, display_path(path)) if f'"{EXTENDS}"'.encode() in content else None
    return is_object(value) and EXTENDS in value


def _find_marks(value: Any, at: str) -> list[str | Key]:
    """The path to a location, with branch keys in place of indexes; it ends where nothing exists."""
    marks: list[str | Key] = []
    keyword = ""
    for key in split_pointer(at):
        is_branch = is_array(value) and key.isdecimal() and int(key) < len(value) and keyword in UNIONS
        marks.append(list(key_branches(value))[int(key)] if is_branch else key)
        try:
            value = follow(value, [key])
        except KeyError:
            return marks[:-1]
        keyword = key
    return marks


def _find_extending(values: Mapping[str, Schema]) -> dict[str, Any]:
    """The value of `x-extends` for each file that has one."""
    return {path: value[EXTENDS] for path, value in values.items() if EXTENDS in value}


def _find_name(value: Schema) -> str:
    """The name of the file that a file extends; empty if it extends none."""
    return posixpath.basename(str(value.get(EXTENDS, "")))


def _list_keys(value: Any) -> Iterator[str]:
    yield from value if is_object(value) else ()


def _read_direct(folder: Path) -> dict[str, Schema]:
    """The files of a folder, without those of folders below it."""
    return {path: value for path, value in _read_values(folder).items() if not posixpath.dirname(path)}


def _read_values(folder: Path) -> dict[str, Schema]:
    read = {path: parse_strict(content, display_path(folder / path)) for path, content in read_folder(folder)}
    return {path: value for path, value in read.items() if is_object(value)}


def _find_additions(base: Any, whole: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield the members of `x-adds` that turn `base` into `whole`, by location."""
    at = write_pointer(*keys)
    if is_object(base) and is_object(whole):
        words = () if keys else _WORDS
        removed_keys = {*base} - {*whole, *words} if keys[-1:] not in _MAPS else set[str]()  # what is stable stays
        additions: Schema = {key: None for key in base if key in removed_keys}
        additions |= {key: whole[key] for key in whole if key not in base and key not in words}
        if additions:
            yield at, {key: _remove_mark(member) for key, member in additions.items()} if is_marked(at) else additions
        for key in base.keys() & whole.keys():
            yield from _find_additions(base[key], whole[key], (*keys, key))
    elif is_array(base) and is_array(whole):
        pairs = _pair_items(base, whole, is_union=keys[-1] in UNIONS)
        new_items = [item for index, item in enumerate(whole) if index not in pairs.values()]
        if new_items:
            yield at, [_remove_mark(item) for item in new_items] if is_marked(at) else new_items
        for index, partner in pairs.items():
            yield from _find_additions(base[index], whole[partner], (*keys, str(index)))


def _pair_items(base: Sequence[Any], whole: Sequence[Any], *, is_union: bool) -> dict[int, int]:
    """The index in `whole` for each item of `base` that is still there: an equal item or, in a union, the branch with the same facts or
    key.
    """
    signs: list[list[list[Hashable]]] = [[[make_key(item) for item in side] for side in (base, whole)]]
    if is_union:
        signs.append([[fingerprint(item) for item in side] for side in (base, whole)])
        signs.append([list(key_branches(side)) for side in (base, whole)])
    result: dict[int, int] = {}
    for before, after in signs:
        for index, sign in enumerate(before):
            free = (position for position, key in enumerate(after) if key == sign and position not in result.values())
            partner = None if index in result else next(free, None)
            if partner is not None:
                result[index] = partner
    return result


def _remove_mark(schema: Any) -> Any:
    return {key: value for key, value in schema.items() if key != _MARK} if is_object(schema) else schema
