"""The files of both sides of a comparison: the places of their definitions, and old values translated for the new files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin

from acpgen.compat.repair.reversals import Place, Reversal, find_reversals
from acpgen.input.walk import ASSERTIONS, DEFINITIONS, find_refs_anywhere, find_sources, is_array, is_object
from acpgen.pointers import as_fragment, find_value, split_pointer, write_plain_pointer

if TYPE_CHECKING:
    from acpgen.compat.findings import SourcePosition
    from acpgen.compat.sources import Input


class SchemaFiles:
    """The files of one side by path, and the places of its definitions by name."""

    def __init__(self, side: Input) -> None:
        self.input = side
        self.values: Mapping[str, Any] = {document.path: document.value for document in side.documents.documents}
        self.definitions: Mapping[str, Place] = {
            name: at
            for path, value in self.values.items()
            for key in DEFINITIONS
            if is_object(value) and is_object(value.get(key))
            for name, at in _list_definitions(value[key], (path, key), "")
        }
        self._names = {tuple(map(str, at)): name for name, at in self.definitions.items()}

    def find_place(self, position: SourcePosition | None) -> Place | None:
        """The place of a position; `None` without a position, and for files outside the schema."""
        for path in self.values if position is not None else ():
            if position is not None and self.input.locate(path) == position.file:
                return self.parse_parts(path, split_pointer(position.pointer))
        return None

    def parse_parts(self, path: str, parts: Iterable[str]) -> Place:
        """The place for the parts of a pointer, as far as it resolves; indexes become numbers."""
        at: Place = (path,)
        for part in parts:
            key = int(part) if is_array(self.get_value(at)) and part.isdecimal() else part
            if self.get_value((*at, key)) is None:
                break
            at = (*at, key)
        return at

    def get_value(self, at: Place | None) -> Any:
        """The value at a place; `None` if there is none."""
        return None if at is None else find_value(self.values, map(str, at))

    def find_definition(self, at: Place) -> str:
        """The name of the innermost definition that contains a place; the path of the file if there is none."""
        keys = tuple(map(str, at))
        return next((self._names[keys[:n]] for n in range(len(keys), 1, -1) if keys[:n] in self._names), keys[0])

    def list_references(self, value: Any, path: str | int) -> Iterable[str]:
        """The names of the definitions that a value in a file refers to."""
        targets = (self.resolve_reference(ref, path) for ref in find_refs_anywhere(value))
        return dict.fromkeys(target[0] for target in targets if target is not None)

    def resolve_reference(self, reference: str, path: str | int) -> tuple[str, Place] | None:
        """The definition that a reference in a file points into, with the remaining path below it."""
        file, _, fragment = urljoin(str(path), unquote(reference)).partition("#")
        keys = (file, *split_pointer(fragment))
        return next(
            ((self._names[keys[:n]], keys[n:]) for n in range(1, len(keys) + 1) if keys[:n] in self._names), None
        )

    @cached_property
    def links(self) -> frozenset[tuple[str, str]]:
        """The pairs of a definition or file and a definition that it refers to."""
        holders = [(name, at[0], self.get_value(at)) for name, at in self.definitions.items()]
        holders += [(path, path, _without_definitions(value)) for path, value in self.values.items()]
        return frozenset(
            (name, target) for name, path, value in holders for target in self.list_references(value, path)
        )


class SchemaPair:
    """Both sides of a comparison."""

    def __init__(self, old: Input, new: Input) -> None:
        self.old = SchemaFiles(old)
        self.new = SchemaFiles(new)

    def find_changed_definition(self, edit: Reversal) -> str:
        """The definition that an edit belongs to, or the path of the file."""
        return self.new.find_definition(edit.at) if edit.old is None else self.old.find_definition(edit.old)

    @cached_property
    def reversals(self) -> tuple[Reversal, ...]:
        """All edits that restore the meaning of the old side; definitions that only the new side has stay."""
        before, after = self.old.definitions, self.new.definitions
        pairs = [(at, after[name]) for name, at in before.items() if name in after]
        roots: list[tuple[Place, Place]] = [((path,), (path,)) for path in self.old.values if path in self.new.values]
        pairs += roots or [((next(iter(self.old.values)),), (next(iter(self.new.values)),))]
        edits: dict[str, Reversal] = {}
        for was, at in pairs:
            old, new = self.translate(self.old.get_value(was), was[0], at[0]), self.new.get_value(at)
            if len(at) == 1 and is_object(old) and is_object(new):
                old, new = _without_definitions(old), _without_definitions(new)
            edits |= {edit.key: edit for edit in find_reversals(old, new, was, at)}
        return (*edits.values(), *(self.restore(name) for name in before if name not in after))

    def restore(self, name: str) -> Reversal:
        """The edit that restores a definition of the old side, after the one that it follows there."""
        place, names, was = self._choose_target(name), list(self.old.definitions), self.old.definitions[name]
        value: Any = self.translate(self.old.get_value(was), was[0], place[0])
        if self.new.get_value(place[:2]) is None:
            for key in reversed(place[2:]):
                value = {key: value}
            return Reversal("add", place[:2], value, old=was)
        definitions = self.new.definitions
        earlier = [definitions[sibling] for sibling in names[: names.index(name)] if sibling in definitions]
        after = [str(at[-1]) for at in earlier if at[0] == place[0] and len(place) == 3]
        return Reversal("add", place, value, after[-1] if after else None, was)

    def remove_definition(self, name: str) -> tuple[Reversal, ...]:
        """The edits that remove a definition of the new side alone and restore what refers to it; none if both sides have it.

        Some definitions have an effect whatever refers to them: a profile names them, or they have the name of an inner type.
        """
        gone = set(find_sources({name} & self._added.keys(), self._added))
        edits = (Reversal("remove", self.new.definitions[added]) for added in sorted(gone))
        referring = [edit for edit in self.reversals if gone and self._refers(edit.at, gone)]
        parents = {edit.at[:-1] for edit in referring if edit.at[-1] == "$ref"}
        return (*edits, *referring, *(edit for edit in self.reversals if edit.at[:-1] in parents))

    @cached_property
    def _added(self) -> Mapping[str, Iterable[str]]:
        """The definitions of the new side alone, each with those that it refers to."""
        places = {name: at for name, at in self.new.definitions.items() if name not in self.old.definitions}
        return {name: self.new.list_references(self.new.get_value(at), at[0]) for name, at in places.items()}

    def _refers(self, at: Place, names: set[str]) -> bool:
        return not names.isdisjoint(self.new.list_references({at[-1]: self.new.get_value(at)}, at[0]))

    def complete(self, parts: Iterable[Reversal]) -> tuple[Reversal, ...]:
        """The edits with the definitions that they refer to and that the new side lacks."""
        edits = {part.key: part for part in parts}
        pending = [part.old for part in edits.values() if part.old is not None]
        places = set(pending)
        while pending:
            at = pending.pop()
            for name in self.old.list_references(self.old.get_value(at), at[0]):
                was = self.old.definitions[name]
                if name not in self.new.definitions and was not in places:
                    restored = self.restore(name)
                    edits[restored.key] = restored
                    places.add(was)
                    pending.append(was)
        return tuple(edits.values())

    def _choose_target(self, name: str) -> Place:
        """The actual or intended place of a definition on the new side: in the file with the path of the old one, else in the first."""
        if name in self.new.definitions:
            return self.new.definitions[name]
        path, keyword, *rest = self.old.definitions[name]
        if path not in self.new.values:
            path = next((at[0] for at in self.new.definitions.values()), next(iter(self.new.values)))
        keywords = (key for key in (keyword, *DEFINITIONS) if self.new.get_value((path, key)) is not None)
        return (path, next(keywords, keyword), *rest)

    def translate(self, value: Any, path: str | int, into: str | int) -> Any:
        """A value in a file of the old side, with its references rewritten for a new file."""
        if is_array(value):
            return [self.translate(item, path, into) for item in value]
        if not is_object(value):
            return value
        translated = {key: self.translate(inner, path, into) for key, inner in value.items()}
        reference = translated.get("$ref")
        target = self.old.resolve_reference(reference, path) if isinstance(reference, str) else None
        if target is not None:
            name, rest = target
            place, was = self._choose_target(name), self.old.definitions[name]
            if (path, into, was[1:]) != (was[0], place[0], place[1:]):
                file = posixpath.relpath(str(place[0]), posixpath.dirname(str(into)) or ".") if place[0] != into else ""
                translated["$ref"] = f"{file}{as_fragment(write_plain_pointer(*place[1:], *rest))}"
        return translated


def _without_definitions(root: Any) -> dict[str, Any]:
    return {key: value for key, value in root.items() if key not in DEFINITIONS} if is_object(root) else {}


def _list_definitions(members: dict[str, Any], at: Place, prefix: str) -> Iterator[tuple[str, Place]]:
    """Yield the definitions of an object, including those in groups."""
    for name, value in members.items():
        if is_object(value) and value and ASSERTIONS.isdisjoint(value) and all(map(is_object, value.values())):
            yield from _list_definitions(value, (*at, name), f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", (*at, name)
