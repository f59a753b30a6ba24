"""What a repair stands on: the files of both sides, where their definitions stand, and the text of the old side as the new one says it."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin

from acpgen.pointers import as_fragment, plain_pointer, pointer_parts
from acpgen.schema.drafts import draft_of
from acpgen.schema.walk import DEFINITIONS, asserts, is_array, is_object, refs_anywhere

if TYPE_CHECKING:
    from acpgen.compat.findings import Spot
    from acpgen.compat.protocol.revision import Revised
    from acpgen.compat.sources import Input
    from acpgen.schema.edits import Keys

_DEPRECATES = ("2019-09", "2020-12")
"""Drafts that have the keyword `deprecated`."""


@dataclass(frozen=True, slots=True)
class At:
    """A place in the files of one side."""

    path: str
    keys: Keys = ()

    def below(self, *keys: str | int) -> At:
        return At(self.path, (*self.keys, *keys))


@dataclass(frozen=True)
class Ground:
    """Both sides of a comparison. `meant` is the meaning of the new one, made when it is asked for."""

    old: Input
    new: Input
    meant: Callable[[], Revised | None] = field(repr=False)

    def place(self, spot: Spot | None, side: Input) -> At | None:
        """Where a spot is in the files of a side; `None` for nowhere, and for files that are given beside the schema."""
        if spot is None:
            return None
        path = next((each.path for each in side.documents.documents if side.at(each.path) == spot.file), None)
        if path is None:
            return None
        value = next(each.value for each in side.documents.documents if each.path == path)
        return At(path, typed(pointer_parts(spot.pointer), value))

    def value(self, at: At, side: Input) -> Any:
        """What stands at a place. Raises `KeyError`."""
        value: Any = next((each.value for each in side.documents.documents if each.path == at.path), None)
        for key in at.keys:
            try:
                value = value[key]
            except (IndexError, TypeError):
                raise KeyError(key) from None
        return value

    @cached_property
    def before(self) -> Mapping[str, At]:
        """The definitions of the old side, by name."""
        return dict(_definitions(self.old))

    @cached_property
    def after(self) -> Mapping[str, At]:
        """The definitions of the new side, by name."""
        return dict(_definitions(self.new))

    def definition(self, at: At, side: Input) -> tuple[str | None, At]:
        """The innermost definition around a place, and its name; without any, the root of the file."""
        known = self.before if side is self.old else self.after
        found: tuple[str | None, At] = (None, At(at.path))
        for name, place in known.items():
            if (
                place.path == at.path
                and at.keys[: len(place.keys)] == place.keys
                and len(place.keys) > len(found[1].keys)
            ):
                found = name, place
        return found

    def leads(self, at: At, side: Input) -> Iterator[tuple[str, At]]:
        """The definitions that all of what a place holds must follow, by its references."""
        known = self.before if side is self.old else self.after
        names = {(each.path, tuple(map(str, each.keys))): (name, each) for name, each in known.items()}
        seen: set[At] = set()
        pending = [at]
        while pending:
            place = pending.pop()
            try:
                schema = self.value(place, side)
            except KeyError:
                continue
            if place in seen or not is_object(schema):
                continue
            seen.add(place)
            if is_array(schema.get("allOf")):
                pending += [place.below("allOf", index) for index in range(len(schema["allOf"]))]
            if isinstance(schema.get("$ref"), str):
                path, _, fragment = urljoin(place.path, unquote(schema["$ref"])).partition("#")
                found = names.get((path, pointer_parts(fragment)))
                if found is not None:
                    yield found
                    pending.append(found[1])

    def home(self, name: str) -> At:
        """Where the new side has a definition, or would have it: in the file of the old one, else in the first."""
        if name in self.after:
            return self.after[name]
        old = self.before[name]
        paths = [each.path for each in self.new.documents.documents]
        path = old.path if old.path in paths else next((at.path for at in self.after.values()), paths[0])
        root = next(each.value for each in self.new.documents.documents if each.path == path)
        key = str(old.keys[0])
        if is_object(root) and key not in root:
            key = next((each for each in DEFINITIONS if each in root), key)
        return At(path, (key, *old.keys[1:]))

    def translated(self, value: Any, path: str, into: str) -> Any:
        """A value of an old file as a new file says it: its references lead to the same definitions."""
        if is_object(value):
            return {
                key: self._reference(inner, path, into)
                if key == "$ref" and isinstance(inner, str)
                else self.translated(inner, path, into)
                for key, inner in value.items()
            }
        if is_array(value):
            return [self.translated(item, path, into) for item in value]
        return value

    def _reference(self, written: str, path: str, into: str) -> str:
        name, below = self.referred(written, path)
        if name is None:
            return written
        home, was = self.home(name), self.before[name]
        if path == was.path and into == home.path and home.keys == was.keys:
            return written
        file = "" if home.path == into else posixpath.relpath(home.path, posixpath.dirname(into) or ".")
        return f"{file}{as_fragment(plain_pointer(*home.keys, *below))}"

    def referred(self, written: str, path: str) -> tuple[str | None, tuple[str, ...]]:
        """The definition of the old side that a reference in one of its files leads to, and the way on from there."""
        place, _, fragment = urljoin(path, unquote(written)).partition("#")
        if fragment and not fragment.startswith("/"):
            return None, ()
        parts = pointer_parts(fragment)
        for name, at in self.before.items():
            size = len(at.keys)
            if at.path == place and tuple(map(str, at.keys)) == parts[:size]:
                return name, parts[size:]
        return None, ()

    def as_new(self, name: str) -> Any:
        """A definition of the old side as the new file that is its home says it."""
        at = self.before[name]
        return self.translated(self.value(at, self.old), at.path, self.home(name).path)

    def missing(self, value: Any, path: str) -> list[str]:
        """The definitions that a value of a new file leads to, however far, and that the old side alone has."""
        found: dict[str, None] = {}
        pending = [(value, path)]
        while pending:
            node, where = pending.pop()
            for ref in refs_anywhere(node):
                place, _, fragment = urljoin(where, unquote(ref)).partition("#")
                name = self._gone.get((place, pointer_parts(fragment)))
                if name is not None and name not in found:
                    found[name] = None
                    pending.append((self.as_new(name), self.home(name).path))
        return list(found)

    @cached_property
    def _gone(self) -> Mapping[tuple[str, tuple[str, ...]], str]:
        """The definitions that the old side alone has, by where they would stand."""
        homes = {name: self.home(name) for name in self.before if name not in self.after}
        return {(at.path, tuple(map(str, at.keys))): name for name, at in homes.items()}

    def reached(self, name: str | None, side: Input) -> list[str]:
        """The definitions of one side that one of them leads to, itself first, and that the other side has too."""
        if name is None:
            return []
        ours, others = (self.before, self.after) if side is self.old else (self.after, self.before)
        known = {(at.path, tuple(map(str, at.keys))): each for each, at in ours.items()}
        found = {name: None}
        pending = [name]
        while pending:
            at = ours.get(pending.pop())
            if at is None:
                continue
            for ref in refs_anywhere(self.value(at, side)):
                place, _, fragment = urljoin(at.path, unquote(ref)).partition("#")
                inner = known.get((place, pointer_parts(fragment)))
                if inner is not None and inner not in found:
                    found[inner] = None
                    pending.append(inner)
        return [each for each in found if each in others and each in ours]

    def deprecates(self, path: str) -> bool:
        """Whether a file of the new side is of a draft that has `deprecated`."""
        value = next((each.value for each in self.new.documents.documents if each.path == path), None)
        draft = draft_of(value, self.new.documents.given)
        return draft is not None and draft.name in _DEPRECATES


def typed(parts: tuple[str, ...], value: Any) -> Keys:
    """The keys of a pointer with indices as numbers, as far as they lead."""
    keys: list[str | int] = []
    for part in parts:
        if is_array(value) and part.isdigit() and int(part) < len(value):
            keys.append(int(part))
            value = value[int(part)]
        elif is_object(value) and part in value:
            keys.append(part)
            value = value[part]
        else:
            break
    return tuple(keys)


def _definitions(side: Input) -> Iterator[tuple[str, At]]:
    for document in side.documents.documents:
        if not is_object(document.value):
            continue
        for key in DEFINITIONS:
            inside = document.value.get(key)
            if is_object(inside):
                yield from _members(inside, At(document.path, (key,)), "")


def _members(inside: dict[str, Any], at: At, prefix: str) -> Iterator[tuple[str, At]]:
    """The definitions of an object, and those of the groups in it."""
    for name, value in inside.items():
        place = at.below(name)
        is_group = is_object(value) and value and all(is_object(each) for each in value.values())
        if is_group and not any(asserts(key) and key in _TOLD for key in value):
            yield from _members(value, place, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", place


_TOLD = ("properties", "patternProperties", "items", "not", "if", "contains", "propertyNames", "additionalProperties")
"""Keywords that may make up a schema alone and hold objects alone, so that it looks like a group."""
