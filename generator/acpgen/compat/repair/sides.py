"""The files of both sides of a comparison: where their definitions stand, and the text of the old side as the new one says it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin

from acpgen.compat.repair.reversals import FilePlace, Reversal, addition, between
from acpgen.input.walk import ASSERTIONS, DEFINITIONS, is_array, is_object, refs_anywhere
from acpgen.pointers import as_fragment, follow, plain_pointer, pointer_parts

if TYPE_CHECKING:
    from acpgen.compat.findings import SourcePosition
    from acpgen.compat.sources import Input


@dataclass(frozen=True)
class Sides:
    """Both sides of a comparison."""

    old: Input
    new: Input

    def place(self, position: SourcePosition | None, side: Input) -> FilePlace | None:
        """Where a position is in the files of a side; `None` for nowhere, and for files that are given beside the schema."""
        files = {side.at(each.path): each.path for each in side.documents.documents}
        known = position is not None and position.file in files
        return (
            self.typed(files[position.file], pointer_parts(position.pointer), side)
            if position is not None and known
            else None
        )

    def typed(self, path: str, parts: Iterable[str], side: Input) -> FilePlace:
        """A place by the parts of its pointer, as far as it leads; an index is a number."""
        at = FilePlace(path)
        for part in parts:
            key = int(part) if is_array(self.value(at, side)) and part.isdecimal() else part
            if self.value(at.below(key), side) is None:
                break
            at = at.below(key)
        return at

    def value(self, at: FilePlace, side: Input) -> Any:
        """What stands at a place; `None` for nothing."""
        document = side.documents.find(at.path)
        try:
            return None if document is None else follow(document.value, map(str, at.keys))
        except KeyError:
            return None

    @cached_property
    def before(self) -> Mapping[str, FilePlace]:
        """The definitions of the old side, by name."""
        return dict(_definitions(self.old))

    @cached_property
    def after(self) -> Mapping[str, FilePlace]:
        """The definitions of the new side, by name."""
        return dict(_definitions(self.new))

    def around(self, at: FilePlace, side: Input) -> str:
        """The name of the innermost definition around a place; without any, the path of the file."""
        keys, known = tuple(map(str, at.keys)), self._names[side is self.old]
        around = (known.get((at.path, keys[:size])) for size in range(len(keys), 0, -1))
        return next((name for name in around if name is not None), at.path)

    def edited(self, part: Reversal) -> str:
        """The definition that an edit is about, or the file."""
        return self.around(part.at, self.new) if part.old is None else self.around(part.old, self.old)

    @cached_property
    def _links(self) -> frozenset[tuple[str, str]]:
        """The definitions and files of either side, each with those that it refers to."""
        found: set[tuple[str, str]] = set()
        for side, known in ((self.old, self.before), (self.new, self.after)):
            for document in side.documents.documents:
                root = document.value if is_object(document.value) else {}
                beside = {key: value for key, value in root.items() if key not in DEFINITIONS}
                found |= {(document.path, name) for name in self._references(beside, document.path, side)}
            for holder, at in known.items():
                found |= {(holder, name) for name in self._references(self.value(at, side), at.path, side)}
        return frozenset(found)

    def near(self, names: frozenset[str]) -> frozenset[str]:
        """The definitions with those that they refer to and those that refer to them."""
        return names.union(*(link for link in self._links if names.intersection(link)))

    @cached_property
    def reversals(self) -> tuple[Reversal, ...]:
        """Everything that makes the new side say what the old one does; what only the new side defines stays."""
        olds, news = ([each.path for each in side.documents.documents] for side in (self.old, self.new))
        pairs = [(at, self.after[name]) for name, at in self.before.items() if name in self.after]
        pairs += [(FilePlace(each), FilePlace(each)) for each in olds if each in news] or [
            (FilePlace(olds[0]), FilePlace(news[0]))
        ]
        found: dict[tuple[str, str], Reversal] = {}
        for old, new in pairs:
            before, after = self.translate(old, new.path), self.value(new, self.new)
            if not new.keys and is_object(before) and is_object(after):
                before, after = ({k: v for k, v in each.items() if k not in DEFINITIONS} for each in (before, after))
            found |= {each.identity: each for each in between(before, after, old, new)}
        return (*found.values(), *(self.restore(name) for name in self.before if name not in self.after))

    def restore(self, name: str) -> Reversal:
        """The definition that the old side alone has, behind the one that it follows there."""
        place, keys, old = self._target(name), list(self.before), self.before[name]
        value = self.translate(old, place.path)
        if self.value(FilePlace(place.path, place.keys[:1]), self.new) is None:
            for key in reversed(place.keys[1:]):
                value = {key: value}
            return addition(FilePlace(place.path, place.keys[:1]), value, old)
        earlier = [self.after[each] for each in keys[: keys.index(name)] if each in self.after]
        after = [str(each.keys[-1]) for each in earlier if each.path == place.path and len(place.keys) == 2]
        return addition(place, value, old, after[-1] if after else None)

    def complete(self, parts: Iterable[Reversal]) -> tuple[Reversal, ...]:
        """The edits with the definitions that they refer to and the new side has not."""
        found = {part.identity: part for part in parts}
        known = {part.old for part in found.values()}
        pending = [at for at in known if at is not None]
        while pending:
            at = pending.pop()
            for name in self.references(at):
                if name not in self.after and self.before[name] not in known:
                    again = self.restore(name)
                    found[again.identity] = again
                    known.add(again.old)
                    pending.append(self.before[name])
        return tuple(found.values())

    def references(self, at: FilePlace) -> Iterator[str]:
        """The definitions of the old side that what stands at a place of it refers to."""
        return self._references(self.value(at, self.old), at.path, self.old)

    def _references(self, value: Any, path: str, side: Input) -> Iterator[str]:
        for ref in refs_anywhere(value):
            yield from (name for name, _ in self._definition(ref, path, side))

    def _definition(self, written: str, path: str, side: Input) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The definition of a side that a reference in one of its files leads to, and the way on from there."""
        place, _, fragment = urljoin(path, unquote(written)).partition("#")
        parts = pointer_parts(fragment)
        for size in range(len(parts) + 1):
            name = self._names[side is self.old].get((place, parts[:size]))
            if name is not None:
                yield name, parts[size:]

    @cached_property
    def _names(self) -> tuple[Mapping[object, str], ...]:
        """The names of the definitions of the new and the old side, by place."""
        sides = (self.after, self.before)
        return tuple({(at.path, tuple(map(str, at.keys))): name for name, at in known.items()} for known in sides)

    def _target(self, name: str) -> FilePlace:
        """Where the new side has a definition, or would have it: in the file of the old one, else in the first."""
        if name in self.after:
            return self.after[name]
        old = self.before[name]
        paths = [each.path for each in self.new.documents.documents]
        path = old.path if old.path in paths else next((at.path for at in self.after.values()), paths[0])
        kept = (key for key in (old.keys[0], *DEFINITIONS) if self.value(FilePlace(path, (key,)), self.new) is not None)
        return FilePlace(path, (next(kept, old.keys[0]), *old.keys[1:]))

    def translate(self, at: FilePlace, into: str) -> Any:
        """What stands at a place of the old side as a new file says it: its references lead to the same definitions."""
        return self._translate(self.value(at, self.old), at.path, into)

    def _translate(self, value: Any, path: str, into: str) -> Any:
        if is_array(value):
            return [self._translate(item, path, into) for item in value]
        if not is_object(value):
            return value
        found = {key: self._translate(inner, path, into) for key, inner in value.items()}
        written = found.get("$ref")
        for name, rest in self._definition(written, path, self.old) if isinstance(written, str) else ():
            place, was = self._target(name), self.before[name]
            if (path, into, was.keys) != (was.path, place.path, place.keys):
                file = "" if place.path == into else posixpath.relpath(place.path, posixpath.dirname(into) or ".")
                found["$ref"] = f"{file}{as_fragment(plain_pointer(*place.keys, *rest))}"
        return found


def _definitions(side: Input) -> Iterator[tuple[str, FilePlace]]:
    for document in side.documents.documents:
        for key in DEFINITIONS:
            if is_object(document.value) and is_object(document.value.get(key)):
                yield from _members(document.value[key], FilePlace(document.path, (key,)), "")


def _members(inside: dict[str, Any], at: FilePlace, prefix: str) -> Iterator[tuple[str, FilePlace]]:
    """The definitions of an object, and those of the groups in it."""
    for name, value in inside.items():
        if is_object(value) and value and ASSERTIONS.isdisjoint(value) and all(map(is_object, value.values())):
            yield from _members(value, at.below(name), f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", at.below(name)
