"""The names that users choose: entries of a file or a project from places to names.

A place is written as a pointer (`#/$defs/Thing`, `file.json#/…`, `#` for the root), with the tag of a variant instead of its index
(`#/$defs/Block/oneOf[text]`), or symbolically: `Thing`, `Thing.field`, `Thing.list[]` for the items, `Thing.map{}` for the values,
`Union[tag]` for a variant. A text tag is written as it is, another one as in JSON (`Level[1]`); text that looks like that is quoted
(`Level["1"]`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final, cast

from acpgen.errors import Fault, Faults, show
from acpgen.input.drafts import restore_keywords
from acpgen.input.equality import get_kind
from acpgen.input.faults import BAD_SETTING
from acpgen.input.schema_nodes import Node, find_keys
from acpgen.input.tagged_unions import Tag, Tagged
from acpgen.input.walk import DEFINITIONS
from acpgen.naming.faults import NAMED_BY_POSITION
from acpgen.naming.identifiers import is_class_name
from acpgen.pointers import unescape

_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_CONSTANTS: Final = ("null", "boolean", "number")
_QUOTED: Final = re.compile(r'\[("(?:[^"\\]|\\.)*")\]')


class NameOverrides:
    """The entries, and which of them were used. Raises `Faults` for an invalid name."""

    def __init__(self, names: Mapping[str, str]) -> None:
        entries = cast("Mapping[str, object]", names)  # a library's user may pass anything
        wrong = [key for key, name in entries.items() if not isinstance(name, str) or not is_class_name(name)]
        if wrong:
            expected = "the name of a Python class: letters, digits and '_', a capital first"
            raise Faults(
                [
                    BAD_SETTING(at="names", key=f"the value of {show(key)}", expected=expected, hint="Correct it.")
                    for key in wrong
                ]
            )
        self.names = names
        self.keys_by_form = {_normalize(key): key for key in names}
        self.used: set[str] = set()
        self.requested: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self.names)

    def find(self, keys: Iterable[str], *, is_exact: bool = False) -> str | None:
        """The name in the entry for one of these keys of a place. `is_exact`: `definitions` and `$defs` are distinct places."""
        chosen_name: str | None = None
        for key in keys:
            self.requested.add(key)
            entry = key if key in self.names else self._find_alike(key, is_exact)
            if entry is not None:
                self.used.add(entry)
                chosen_name = self.names[entry] if chosen_name is None else chosen_name
        return chosen_name

    def _find_alike(self, key: str, is_exact: bool) -> str | None:
        entry = self.keys_by_form.get(_normalize(key))
        is_other = is_exact and entry is not None and "#/definitions/" in f"{key}{entry}"
        return None if is_other else entry

    def hint(self, key: str) -> str:
        """A suggestion of the place most similar to that of an entry; empty if none is."""
        close = get_close_matches(key, sorted(self.requested), n=1)
        return f"Did you mean {show(close[0])}?" if close else ""


def tag_text(value: Tag) -> str:
    """A tag as users write it: as plain text, unless that would read as another constant or begins with a quote."""
    if not isinstance(value, str):
        return json.dumps(value)
    return json.dumps(value) if value.startswith('"') or _read_kind(value) in _CONSTANTS else value


def list_meanings(at: str, tags: Mapping[str, str] = _NONE, names: Mapping[str, str] = _NONE) -> list[str]:
    """The symbolic forms of a place: `Thing.field`, `Union[tag]`, … `tags` and `names` are by place."""
    above, _, last = at.rpartition("/")
    further, _, keyword = above.rpartition("/")
    forms = [names[at]] if at in names else []
    if at in tags:
        forms += [f"{meaning}[{tags[at]}]" for meaning in list_meanings(further, tags, names)]
    elif keyword == "properties":
        forms += [f"{meaning}.{unescape(last)}" for meaning in list_meanings(further, tags, names)]
    elif keyword in DEFINITIONS:
        forms += [unescape(last)]
    elif keyword in ("allOf", "anyOf", "oneOf"):
        forms += list_meanings(further, tags, names)
    elif last in ("items", "additionalProperties"):
        forms += [f"{meaning}{'[]' if last == 'items' else '{}'}" for meaning in list_meanings(above, tags, names)]
    return list(dict.fromkeys(forms))


def _read_kind(text: str) -> str:
    """The JSON type of what a text denotes; empty if it is no JSON."""
    try:
        return get_kind(json.loads(text))
    except (ValueError, RecursionError):
        return ""


def _replace_definitions(key: str) -> str:
    return key.replace("#/definitions/", "#/$defs/")


def _normalize(key: str) -> str:
    """A key in normal form: definitions in `$defs`, and no unnecessary quotes around tags."""
    return _QUOTED.sub(
        lambda match: f"[{tag_text(str(json.loads(match[1])))}]" if _read_kind(match[1]) else match[0],
        _replace_definitions(key),
    )


@dataclass(slots=True)
class NamedPlaces:
    """The user's names for places, and the forms in which a place can be written.

    `files` are the contents by path, and `named_at` the names of places. `tags` have the tag of each branch of a tagged union,
    `variants` the entry that names it by that tag, and `keyed` are the branches whose tag is the only key of an object.
    """

    names: NameOverrides
    files: Mapping[str, Any]
    named_at: dict[str, str]
    may_count: bool
    variants: dict[str, str] = field(default_factory=dict[str, str])
    tags: dict[str, str] = field(default_factory=dict[str, str])
    keyed: set[str] = field(default_factory=set[str])

    def name(self, at: str, default_name: str) -> str | None:
        """The name that the user chose for a place."""
        return self.names.find([*self.list_keys(at), default_name]) if self.names else None

    def list_keys(self, at: str) -> list[str]:
        """The forms in which a place can be written: as a pointer, with tags, or symbolically."""
        steps = at.split("/")
        above = ("/".join(steps[:depth]) for depth in range(len(steps), 1, -1))
        variants = [place for place in above if place in self.tags]
        tagged = at
        for place in variants:
            tagged = f"{place.rpartition('/')[0]}[{self.tags[place]}]{tagged.removeprefix(place)}"
        source_place = restore_keywords(at, self.files)
        keys = [key for pointer in (source_place, at) for key in (pointer, _make_fragment(pointer))]
        keys += [*([tagged, _make_fragment(tagged)] if tagged != at else []), *self._find_meanings(at)]
        if variants and variants[0] != at:
            keys += [f"{meaning}{at.removeprefix(variants[0])}" for meaning in self._find_meanings(variants[0])]
        return keys

    def _find_meanings(self, at: str) -> list[str]:
        return list_meanings(at, self.tags, self.named_at)

    def check_indexes(self) -> Iterator[Fault]:
        """Yield a fault for each entry that addresses variants of a tagged union by index, unless that is allowed."""
        variants = self._list_places()
        for entry in () if self.may_count else [*self.names.names]:
            if (place := _find_container(entry, variants)) is not None:
                suffix = _replace_definitions(entry).removeprefix(place)
                yield NAMED_BY_POSITION(at=entry, instead=f"{variants[place][1]}{suffix}")

    def find_unused(self) -> Mapping[str, str]:
        """The remaining entries that match nothing, each with a hint."""
        variants: Mapping[str, tuple[str, str]] = {} if self.may_count else self._list_places()
        entries = [
            entry
            for entry in self.names.names
            if entry not in self.names.used and _find_container(entry, variants) is None
        ]
        return {entry: self.names.hint(entry) for entry in entries}

    def _list_places(self) -> Mapping[str, tuple[str, str]]:
        """The places of tagged variants in each pointer form, with the form that uses the tag."""
        return {
            _replace_definitions(key): (at, tag)
            for at, tag in self.variants.items()
            for key in (at, _make_fragment(at))
        }

    def mark_variants(self, owner: str, node: Node, tagged: Tagged | None) -> None:
        """Record the tags, or the only keys, of the branches of a union."""
        union = self.variants.get(node.at, owner)
        for index, key in find_keys(node.branches).items() if tagged is None else ():
            self.mark(node.branches[index].at, union, key)
            self.keyed.add(node.branches[index].at)
        for index, tag in tagged.first_tags.items() if tagged is not None else ():
            if node.branches[index].without("not").reference is None:
                self.mark(node.branches[index].at, union, tag)

    def mark(self, at: str, union: str, tag: Tag) -> None:
        """Record the tag of a branch."""
        self.tags[at] = tag_text(tag)
        self.variants[at] = f"{union}[{tag_text(tag)}]"


def _find_container(entry: str, places: Collection[str]) -> str | None:
    """The one of these places that an entry names or is below; `None` if there is none."""
    steps = _replace_definitions(entry).split("/")
    above = ("/".join(steps[:depth]) for depth in range(len(steps), 0, -1))
    return next((place for place in above if place in places), None)


def _make_fragment(at: str) -> str:
    return "#" + at.partition("#")[2]
