"""A folder that adds to the files of another one: `x-extends` in a file names the file that it adds to, `x-adds` says what.

    {"x-extends": "../v1/updates.json",
     "x-adds": {"#/$defs/SessionUpdate/oneOf": [{"…": "a branch"}], "#/$defs/SessionInfo/properties": {"archived": {"…": "…"}}},
     "$defs": {"PlanRemoved": {"…": "…"}}}

Null takes a keyword away. The result is what both say, in files with the names of the other folder, so that every later stage sees
whole files. What is added may change without a new version, and is marked `x-unstable`.
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
from acpgen.input.walk import copied, is_array, is_object
from acpgen.pointers import follow, pointer_parts

Contents: TypeAlias = "tuple[tuple[str, bytes], ...]"
"""Path and bytes of each file of a folder."""

EXTENDS: Final = "x-extends"
ADDS: Final = "x-adds"

_WORDS: Final = ("title", "description")
"""What a file says of itself instead of the one that it extends."""

_SCHEMAS: Final = ("properties", "$defs", "anyOf", "oneOf")
"""Keywords whose members are marked when they are added."""


Parse: TypeAlias = Callable[[bytes, str], Any]
"""Reads strict JSON; the second argument is what people call the file. Raises `Faults`."""


@dataclass(frozen=True)
class Written:
    """Where the parts of a file are written that came of two: `at` is the place of the other one, `own` is empty if it came alone."""

    at: str
    other: bytes = field(repr=False)
    own: bytes = field(default=b"", repr=False)

    def origin(self, keys: Sequence[str]) -> tuple[bool, tuple[str, ...]]:
        """Whether a place in the whole is written in the folder's own file, and the keys that lead to it in its file."""
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
                first = _insertion(_reached(self._values[1], place), place)
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
        return {pointer_parts(place): (place, more) for place, more in self._values[0].get(ADDS, {}).items()}


def extended(
    files: Contents, root: str, read_folder: Callable[[str], Contents], parse: Parse
) -> tuple[Contents, Mapping[str, Written]]:
    """The files of a folder with what they extend, and where those of another folder are written; as they are, if none extends any.

    Each folder below it extends another one for itself. `root` is what people call the folder, `read_folder` reads another one by its
    path relative to this one. Raises `Faults`.
    """
    marked = {posixpath.dirname(path) for path, content in files if f'"{EXTENDS}"'.encode() in content}
    whole, taken = dict(files), dict[str, Written]()
    for inside in sorted(marked):
        group = {posixpath.basename(path): content for path, content in files if posixpath.dirname(path) == inside}

        def read(other: str, inside: str = inside) -> Contents:
            return read_folder(posixpath.normpath(posixpath.join(inside, other)))

        found, homes = _extended(group, posixpath.join(root, inside) if inside else root, read, parse)
        whole |= {posixpath.join(inside, path): content for path, content in found.items()}
        taken |= {posixpath.join(inside, path): home for path, home in homes.items()}
    return tuple(sorted(whole.items())), taken


def _extended(
    files: Mapping[str, bytes], root: str, read_folder: Callable[[str], Contents], parse: Parse
) -> tuple[Mapping[str, bytes], Mapping[str, Written]]:
    """What `extended` says, of one folder alone."""
    own = {path: value for path, content in files.items() if is_object(value := parse(content, f"{root}/{path}"))}
    said = {path: value[EXTENDS] for path, value in own.items() if EXTENDS in value}
    if not said:
        return files, {}
    folder = only_folder(said, root)
    base = dict(read_folder(folder))
    elsewhere = posixpath.normpath(posixpath.join(root, folder))
    work = _Overlay(root, {path: parse(content, f"{elsewhere}/{path}") for path, content in base.items()})
    for path, value in own.items():
        work.add(path, value)
    if work.faults:
        raise Faults(work.faults)
    names = {path: path for path in base if path not in own}
    names |= {path: posixpath.basename(file) for path, file in said.items()}
    taken = {path: Written(f"{elsewhere}/{name}", base[name], files.get(path, b"")) for path, name in names.items()}
    merged = {path: _text(value) for path, value in work.merged.items()}
    return {**base, **files, **merged}, taken


def folders_of(said: Mapping[str, Any]) -> set[str]:
    """The folders, by their paths, that what files say of `x-extends` names; empty for the folder of the files itself."""
    return {posixpath.dirname(file) for file in said.values() if isinstance(file, str)}


def only_folder(said: Mapping[str, Any], root: str) -> str:
    """The one other folder that the files of the folder `root` extend: `said` is what each of them names. Raises `Faults`."""
    folders = folders_of(said)
    if len(folders) != 1 or "" in folders:
        reason = "the files of this folder extend files of several folders, or of no other one"
        remedy = "Name one folder in all of them"
        raise Faults([BAD_OVERLAY(f"{root}/{path}#/{EXTENDS}", reason=reason, remedy=remedy) for path in said])
    return folders.pop()


class _Overlay:
    def __init__(self, root: str, base: Mapping[str, Any]) -> None:
        self.root, self.base = root, base
        self.merged: dict[str, dict[str, Any]] = {}
        self.faults: list[Fault] = []

    def add(self, path: str, value: dict[str, Any]) -> None:
        """Join one file with the one that it extends."""
        definitions = {name: _marked(one) for name, one in _members(value.get("$defs"))}
        if EXTENDS not in value:
            self.merged[path] = {**value, "$defs": definitions}
            return
        whole = copied(self.base.get(posixpath.basename(str(value[EXTENDS]))))
        if not is_object(whole):
            self._fault(path, EXTENDS, f"there is no schema file {value[EXTENDS]}", "Correct the path")
            return
        # Places are those of the other file as it is, so that none depends on what is added before it.
        found = [(place, more, _reached(whole, place)) for place, more in _members(value.get(ADDS))]
        for place, more, target in found:
            self._put(path, place, target, more)
        known = whole.setdefault("$defs", {})
        for name, one in definitions.items():
            if name in known:
                self._fault(
                    path, f"$defs/{name}", "the other file has this definition", f"Put what it gains into '{ADDS}'"
                )
            known[name] = one
        words = {key: one for key, one in value.items() if key in _WORDS}
        self.merged[path] = {**whole, **words, "$defs": known}

    def _put(self, path: str, place: str, target: Any, more: Any) -> None:
        has_mark = is_marked(place)
        if is_object(target) and is_object(more):
            for key, one in more.items():
                if one is None:
                    target.pop(key, None)
                    continue
                if key in target:
                    self._fault(path, f"{ADDS}/{place}", f"the other file has {key!r} there already", "Leave it out")
                target[key] = _marked(one) if has_mark else one
        elif is_array(target) and is_array(more):
            at = _insertion(target, place)
            target[at:at] = [_marked(one) if has_mark else one for one in more]
        else:
            self._fault(
                path, f"{ADDS}/{place}", "the other file has no list or object of this kind there", "Correct the place"
            )

    def _fault(self, path: str, place: str, reason: str, remedy: str) -> None:
        self.faults.append(BAD_OVERLAY(f"{self.root}/{path}#/{place}", reason=reason, remedy=remedy))


def is_marked(place: str) -> bool:
    """Whether what is added at a place of `x-adds` is marked as unstable."""
    return place.rpartition("/")[2] in _SCHEMAS and "/not/" not in place


def _insertion(target: Any, place: str) -> int:
    """Before which item of a list what is added comes: the fallback or default of a union stays the last."""
    items: list[Any] = target if is_array(target) else []
    has_fallback = is_marked(place) and items and is_object(items[-1]) and "not" in items[-1]
    return len(items) - 1 if has_fallback else len(items)


def _reached(whole: Any, place: str) -> Any:
    try:
        return follow(whole, pointer_parts(place))
    except KeyError:
        return None


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    yield from value.items() if is_object(value) else ()


def _marked(schema: Any) -> Any:
    return {**schema, "x-unstable": True} if is_object(schema) else schema


def _text(value: Any) -> bytes:
    return (dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
