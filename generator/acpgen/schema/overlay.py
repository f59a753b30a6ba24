"""A folder that adds to the files of another one: `x-extends` in a file names the file that it adds to, `x-adds` says what.

    {"x-extends": "../v1/updates.json",
     "x-adds": {"#/$defs/SessionUpdate/oneOf": [{"…": "a branch"}], "#/$defs/SessionInfo/properties": {"archived": {"…": "…"}}},
     "$defs": {"PlanRemoved": {"…": "…"}}}

Null takes a keyword away. The result is what both say, in files with the names of the other folder, so that every later stage sees
whole files. What is added may change without a new version, and is marked `x-unstable`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from acpgen.errors import BadOverlay, Fault, Faults
from acpgen.pointers import follow, pointer_parts
from acpgen.schema.numbers import dumps
from acpgen.schema.walk import copied, is_array, is_object

Contents: TypeAlias = "tuple[tuple[str, bytes], ...]"
"""Path and bytes of each file of a folder."""

EXTENDS: Final = "x-extends"
ADDS: Final = "x-adds"

_SCHEMAS: Final = ("properties", "$defs", "anyOf", "oneOf")
"""Keywords whose members are marked when they are added."""


Parse: TypeAlias = Callable[[bytes, str], Any]
"""Reads strict JSON; the second argument is what people call the file. Raises `Faults`."""


def extended(
    files: Contents, root: str, read_folder: Callable[[str], Contents], parse: Parse
) -> tuple[Contents, Mapping[str, str]]:
    """The files of a folder with what they extend, and where those lie that were taken over unchanged; as they are, if none extends any.

    Each folder below it extends another one for itself. `root` is what people call the folder, `read_folder` reads another one by its
    path relative to this one. Raises `Faults`.
    """
    marked = {posixpath.dirname(path) for path, content in files if f'"{EXTENDS}"'.encode() in content}
    whole, taken = dict(files), dict[str, str]()
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
) -> tuple[Mapping[str, bytes], Mapping[str, str]]:
    """What `extended` says, of one folder alone."""
    own = {path: value for path, content in files.items() if is_object(value := parse(content, f"{root}/{path}"))}
    said = {path: value[EXTENDS] for path, value in own.items() if EXTENDS in value}
    folders = {posixpath.dirname(file) for file in said.values() if isinstance(file, str)}
    if not said:
        return files, {}
    if len(folders) != 1 or not next(iter(folders)):
        reason = "the files of this folder extend files of several folders, or of no other one. Name one folder in all of them"
        raise Faults([BadOverlay(at=f"{root}/{path}#/{EXTENDS}", reason=reason) for path in said])
    (folder,) = folders
    base = dict(read_folder(folder))
    elsewhere = posixpath.normpath(posixpath.join(root, folder))
    work = _Overlay(root, {path: parse(content, f"{elsewhere}/{path}") for path, content in base.items()})
    for path, value in own.items():
        work.add(path, value)
    if work.faults:
        raise Faults(work.faults)
    taken = {path: f"{elsewhere}/{path}" for path in base if path not in own}
    merged = {path: _text(value) for path, value in work.merged.items()}
    return {**base, **files, **merged}, taken


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
            self._fault(path, EXTENDS, f"there is no schema file {value[EXTENDS]}. Correct the path")
            return
        # Places are those of the other file as it is, so that none depends on what is added before it.
        found = [(place, more, _reached(whole, place)) for place, more in _members(value.get(ADDS))]
        for place, more, target in found:
            self._put(path, place, target, more)
        known = whole.setdefault("$defs", {})
        for name, one in definitions.items():
            if name in known:
                self._fault(
                    path, f"$defs/{name}", f"the other file has this definition. Put what it gains into '{ADDS}'"
                )
            known[name] = one
        words = {key: one for key, one in value.items() if key in ("title", "description")}
        self.merged[path] = {**whole, **words, "$defs": known}

    def _put(self, path: str, place: str, target: Any, more: Any) -> None:
        is_marked = place.rpartition("/")[2] in _SCHEMAS and "/not/" not in place
        if is_object(target) and is_object(more):
            for key, one in more.items():
                if one is None:
                    target.pop(key, None)
                    continue
                if key in target:
                    self._fault(path, f"{ADDS}/{place}", f"the other file has {key!r} there already. Leave it out")
                target[key] = _marked(one) if is_marked else one
        elif is_array(target) and is_array(more):
            at = len(target)
            if is_marked and target and is_object(target[-1]) and "not" in target[-1]:
                at -= 1  # the fallback or default of a union stays the last
            target[at:at] = [_marked(one) if is_marked else one for one in more]
        else:
            self._fault(
                path, f"{ADDS}/{place}", "the other file has no list or object of this kind there. Correct the place"
            )

    def _fault(self, path: str, place: str, reason: str) -> None:
        self.faults.append(BadOverlay(at=f"{self.root}/{path}#/{place}", reason=reason))


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
