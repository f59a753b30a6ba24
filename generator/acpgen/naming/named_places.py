"""The names that users choose for places of a schema, and the forms in which a place can be written."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from acpgen.errors import Fault
from acpgen.input.drafts import spelled_as_written
from acpgen.input.schema_nodes import Node, keyed
from acpgen.input.tagged_unions import Tag, Tagged
from acpgen.naming.faults import NAMED_BY_POSITION
from acpgen.naming.name_overrides import ChosenNames, meanings, tag_text


@dataclass(slots=True)
class NamedPlaces:
    """The user's names for places, and the forms in which a place can be written.

    `files` are the contents by path, and `named_at` the names of places. `tags` have the tag of each branch of a tagged union,
    `variants` the entry that names it by that tag, and `keyed` are the branches whose tag is the only key of an object.
    """

    names: ChosenNames
    files: Mapping[str, Any]
    named_at: dict[str, str]
    may_count: bool
    variants: dict[str, str] = field(default_factory=dict[str, str])
    tags: dict[str, str] = field(default_factory=dict[str, str])
    keyed: set[str] = field(default_factory=set[str])

    def name(self, at: str, default_name: str) -> str | None:
        """The name that the user chose for a place."""
        return self.names.find([*self.keys(at), default_name]) if self.names else None

    def keys(self, at: str) -> list[str]:
        """The forms in which a place can be written: as a pointer, with tags, or symbolically."""
        steps = at.split("/")
        tagged = at
        for depth in range(len(steps), 1, -1):
            place = "/".join(steps[:depth])
            if place in self.tags:
                tagged = f"{'/'.join(steps[: depth - 1])}[{self.tags[place]}]{tagged.removeprefix(place)}"
        source_place = spelled_as_written(at, self.files)
        keys = [key for each in (source_place, at) for key in (each, _fragment(each))]
        keys += [*([tagged, _fragment(tagged)] if tagged != at else []), *self._meanings(at)]
        for depth in range(len(steps), 1, -1):
            if (place := "/".join(steps[:depth])) in self.tags:
                rest = steps[depth:]
                keys += ["/".join((meaning, *rest)) for meaning in self._meanings(place)] if rest else []
                break
        return keys

    def _meanings(self, at: str) -> list[str]:
        """The symbolic forms of a place."""
        return meanings(at, self.tags, self.named_at)

    def counting(self) -> Iterator[Fault]:
        """Yield a fault for each entry that addresses variants of a tagged union by index, unless that is allowed."""
        variants = self._places()
        for entry in () if self.may_count else [*self.names.names]:
            if (place := _above(entry, variants)) is not None:
                rest = _spelled(entry).removeprefix(place)
                yield NAMED_BY_POSITION(at=entry, instead=f"{variants[place][1]}{rest}")

    def unused(self) -> Mapping[str, str]:
        """The remaining entries that match nothing, each with a hint."""
        variants: Mapping[str, tuple[str, str]] = {} if self.may_count else self._places()
        entries = [one for one in self.names.names if one not in self.names.used and _above(one, variants) is None]
        return {entry: self.names.hint(entry) for entry in entries}

    def _places(self) -> Mapping[str, tuple[str, str]]:
        """The places of tagged variants in each pointer form, with the form that uses the tag."""
        return {_spelled(key): (at, tag) for at, tag in self.variants.items() for key in (at, _fragment(at))}

    def mark_variants(self, owner: str, node: Node, tagged: Tagged | None) -> None:
        """Record the tags, or the only keys, of the branches of a union."""
        union = self.variants.get(node.at, owner)
        for index, key in keyed(node.branches).items() if tagged is None else ():
            self.mark(node.branches[index].at, union, key)
            self.keyed.add(node.branches[index].at)
        for index, tag in tagged.first_tags.items() if tagged is not None else ():
            if node.branches[index].without("not").reference is None:
                self.mark(node.branches[index].at, union, tag)

    def mark(self, at: str, union: str, tag: Tag) -> None:
        """Record the tag of a branch."""
        self.tags[at] = tag_text(tag)
        self.variants[at] = f"{union}[{tag_text(tag)}]"


def _above(entry: str, places: Collection[str]) -> str | None:
    """The one of these places that an entry names or is below; `None` if there is none."""
    steps = _spelled(entry).split("/")
    above = ("/".join(steps[:depth]) for depth in range(len(steps), 0, -1))
    return next((place for place in above if place in places), None)


def _spelled(key: str) -> str:
    return key.replace("#/definitions/", "#/$defs/")


def _fragment(at: str) -> str:
    return "#" + at.partition("#")[2]
