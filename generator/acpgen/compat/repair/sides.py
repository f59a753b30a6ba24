"""The files of both sides of a comparison: the places of their definitions, and old values translated for the new files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin

from acpgen.compat.repair.reversals import FilePlace, Reversal, addition, between, removal
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
        """The place of a position in the files of a side; `None` without a position, and for files outside the schema."""
        files = {side.at(each.path): each.path for each in side.documents.documents}
        is_in_side = position is not None and position.file in files
        return (
            self.typed(files[position.file], pointer_parts(position.pointer), side)
            if position is not None and is_in_side
            else None
        )

    def typed(self, path: str, parts: Iterable[str], side: Input) -> FilePlace:
        """The place for the parts of a pointer, as far as it resolves; indexes become numbers."""
        at = FilePlace(path)
        for part in parts:
            key = int(part) if is_array(self.value(at, side)) and part.isdecimal() else part
            if self.value(at.below(key), side) is None:
                break
            at = at.below(key)
        return at

    def value(self, at: FilePlace, side: Input) -> Any:
        """The value at a place; `None` if there is none."""
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
        """The name of the innermost definition that contains a place; the path of the file if there is none."""
        keys, names_by_place = tuple(map(str, at.keys)), self._names[side is self.old]
        around = (names_by_place.get((at.path, keys[:size])) for size in range(len(keys), 0, -1))
        return next((name for name in around if name is not None), at.path)

    def edited(self, part: Reversal) -> str:
        """The definition that an edit belongs to, or the path of the file."""
        return self.around(part.at, self.new) if part.old is None else self.around(part.old, self.old)

    @cached_property
    def _links(self) -> frozenset[tuple[str, str]]:
        """The pairs of a definition or file and a definition that it refers to, on either side."""
        links: set[tuple[str, str]] = set()
        for side, definitions in ((self.old, self.before), (self.new, self.after)):
            for document in side.documents.documents:
                root = document.value if is_object(document.value) else {}
                beside = {key: value for key, value in root.items() if key not in DEFINITIONS}
                links |= {(document.path, name) for name in self._references(beside, document.path, side)}
            for holder, at in definitions.items():
                links |= {(holder, name) for name in self._references(self.value(at, side), at.path, side)}
        return frozenset(links)

    def near(self, names: frozenset[str]) -> frozenset[str]:
        """The definitions with those that they refer to and those that refer to them."""
        return names.union(*(link for link in self._links if names.intersection(link)))

    @cached_property
    def reversals(self) -> tuple[Reversal, ...]:
        """All edits that restore the meaning of the old side; definitions that only the new side has stay."""
        olds, news = ([each.path for each in side.documents.documents] for side in (self.old, self.new))
        pairs = [(at, self.after[name]) for name, at in self.before.items() if name in self.after]
        pairs += [(FilePlace(each), FilePlace(each)) for each in olds if each in news] or [
            (FilePlace(olds[0]), FilePlace(news[0]))
        ]
        edits: dict[tuple[str, str], Reversal] = {}
        for old, new in pairs:
            before, after = self.translate(old, new.path), self.value(new, self.new)
            if not new.keys and is_object(before) and is_object(after):
                before, after = ({k: v for k, v in each.items() if k not in DEFINITIONS} for each in (before, after))
            edits |= {each.identity: each for each in between(before, after, old, new)}
        return (*edits.values(), *(self.restore(name) for name in self.before if name not in self.after))

    def removal_of(self, name: str) -> tuple[Reversal, ...]:
        """The edits that remove a definition of the new side alone and restore what refers to it; none if both sides have it.

        Some definitions have an effect whatever refers to them: a profile names them, or they have the name of an inner type.
        """
        added = {each: at for each, at in self.after.items() if each not in self.before}
        removed = {name} & added.keys()
        while more := {each for each, at in added.items() if each not in removed and self._refers(at, removed)}:
            removed |= more
        edits = [removal(added[each], self.value(added[each], self.new)) for each in sorted(removed)]
        referring = [each for each in self.reversals if removed and self._refers(each.at, removed)]
        beside = {each.at.above for each in referring if each.at.keys[-1] == "$ref"}
        return (*edits, *referring, *(each for each in self.reversals if each.at.above in beside))

    def _refers(self, at: FilePlace, names: set[str]) -> bool:
        value = {at.keys[-1]: self.value(at, self.new)}
        return not names.isdisjoint(self._references(value, at.path, self.new))

    def restore(self, name: str) -> Reversal:
        """The edit that restores a definition of the old side, after the one that it follows there."""
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
        """The edits with the definitions that they refer to and that the new side lacks."""
        edits = {part.identity: part for part in parts}
        places = {part.old for part in edits.values()}
        pending = [at for at in places if at is not None]
        while pending:
            at = pending.pop()
            for name in self.references(at):
                if name not in self.after and self.before[name] not in places:
                    again = self.restore(name)
                    edits[again.identity] = again
                    places.add(again.old)
                    pending.append(self.before[name])
        return tuple(edits.values())

    def references(self, at: FilePlace) -> Iterator[str]:
        """The names of the definitions that the value at a place of the old side refers to."""
        return self._references(self.value(at, self.old), at.path, self.old)

    def _references(self, value: Any, path: str, side: Input) -> Iterator[str]:
        for ref in refs_anywhere(value):
            yield from (name for name, _ in self._definition(ref, path, side))

    def _definition(self, reference: str, path: str, side: Input) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the definition that a reference in a file of a side points into, with the remaining path below it."""
        place, _, fragment = urljoin(path, unquote(reference)).partition("#")
        parts = pointer_parts(fragment)
        for size in range(len(parts) + 1):
            name = self._names[side is self.old].get((place, parts[:size]))
            if name is not None:
                yield name, parts[size:]

    @cached_property
    def _names(self) -> tuple[Mapping[object, str], ...]:
        """The names of the definitions of the new and the old side, by place."""
        sides = (self.after, self.before)
        return tuple(
            {(at.path, tuple(map(str, at.keys))): name for name, at in definitions.items()} for definitions in sides
        )

    def _target(self, name: str) -> FilePlace:
        """The actual or intended place of a definition on the new side: in the file with the path of the old one, else in the first."""
        if name in self.after:
            return self.after[name]
        old = self.before[name]
        paths = [each.path for each in self.new.documents.documents]
        path = old.path if old.path in paths else next((at.path for at in self.after.values()), paths[0])
        keywords = (
            key for key in (old.keys[0], *DEFINITIONS) if self.value(FilePlace(path, (key,)), self.new) is not None
        )
        return FilePlace(path, (next(keywords, old.keys[0]), *old.keys[1:]))

    def translate(self, at: FilePlace, into: str) -> Any:
        """The value at a place of the old side, with its references rewritten for a new file."""
        return self._translate(self.value(at, self.old), at.path, into)

    def _translate(self, value: Any, path: str, into: str) -> Any:
        if is_array(value):
            return [self._translate(item, path, into) for item in value]
        if not is_object(value):
            return value
        translated = {key: self._translate(inner, path, into) for key, inner in value.items()}
        reference = translated.get("$ref")
        for name, rest in self._definition(reference, path, self.old) if isinstance(reference, str) else ():
            place, was = self._target(name), self.before[name]
            if (path, into, was.keys) != (was.path, place.path, place.keys):
                file = "" if place.path == into else posixpath.relpath(place.path, posixpath.dirname(into) or ".")
                translated["$ref"] = f"{file}{as_fragment(plain_pointer(*place.keys, *rest))}"
        return translated


def _definitions(side: Input) -> Iterator[tuple[str, FilePlace]]:
    for document in side.documents.documents:
        for key in DEFINITIONS:
            if is_object(document.value) and is_object(document.value.get(key)):
                yield from _members(document.value[key], FilePlace(document.path, (key,)), "")


def _members(inside: dict[str, Any], at: FilePlace, prefix: str) -> Iterator[tuple[str, FilePlace]]:
    """Yield the definitions of an object, including those in groups."""
    for name, value in inside.items():
        if is_object(value) and value and ASSERTIONS.isdisjoint(value) and all(map(is_object, value.values())):
            yield from _members(value, at.below(name), f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", at.below(name)
