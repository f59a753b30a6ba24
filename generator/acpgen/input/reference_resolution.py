"""What references lead to: the addresses of schemas, their anchors, and the dynamic references that have one target.

Only what was entered is found; nothing is ever fetched.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from acpgen.input.drafts import MODERN, Draft, address, draft_of
from acpgen.input.file_discovery import address_of, beside
from acpgen.input.positions import DEEPEST
from acpgen.input.walk import DEFINITIONS, Schema
from acpgen.pointers import pointer, pointer_parts

REFERRING: Final = ("$ref", "$dynamicRef", "$recursiveRef")
"""The keywords that refer."""

_RECURSIVE: Final = ""
"""What `$recursiveAnchor` names: all of one schema, as an anchor without a name."""


@dataclass(frozen=True, slots=True)
class SchemaPlace:
    """A schema in a file: the file's path and the keys that lead to it there."""

    path: str
    parts: tuple[str, ...]

    @property
    def at(self) -> str:
        return self.path + pointer(*self.parts)

    def below(self, *keys: str) -> SchemaPlace:
        """What these keys lead to from here."""
        return SchemaPlace(self.path, (*self.parts, *keys))


@dataclass(frozen=True, slots=True)
class Resource:
    """A schema with an address of its own: a document, or a schema inside one that has an identifier."""

    place: SchemaPlace
    base: str
    draft: Draft


class Addresses:
    """The addresses and anchors of documents. `given` are documents by address, among which meta-schemas are looked up."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given
        self._resources: dict[SchemaPlace, Resource] = {}
        self._by_address: defaultdict[str, dict[SchemaPlace, None]] = defaultdict(dict)
        self._written: dict[str, str] = {}
        self._by_written: defaultdict[str, dict[SchemaPlace, None]] = defaultdict(dict)
        self._anchors: defaultdict[tuple[SchemaPlace, str], dict[SchemaPlace, None]] = defaultdict(dict)
        self._holders: defaultdict[str, dict[SchemaPlace, SchemaPlace]] = defaultdict(dict)
        self._uses: list[tuple[SchemaPlace, str, str]] = []
        self._entries: list[SchemaPlace] = []
        self._divided = set[str]()
        self._known_ways: dict[str, Sequence[tuple[set[SchemaPlace], SchemaPlace | None]]] = {}
        self._graph: tuple[int, Mapping[SchemaPlace, frozenset[SchemaPlace]]] = (-1, {})

    def admit(self, path: str, value: Schema, known_as: str = "", *, is_entry: bool = True) -> None:
        """Enter a document under the address that it is `known_as`, else under its path. What is no entry is only referred to."""
        root = SchemaPlace(path, ())
        if root not in self._resources:
            draft = draft_of(value, self._given) or MODERN
            self._resources[root] = Resource(root, known_as or address_of(path), draft)
            self._by_address[address_of(path)][root] = None
            if is_entry:
                self._entries.append(root)
        if known_as:
            self._by_address[address(known_as)][root] = None

    def around(self, place: SchemaPlace) -> Resource:
        """The resource that a place belongs to."""
        deepest = len(place.parts) if place.path in self._divided else 0
        for depth in range(deepest, -1, -1):
            found = self._resources.get(SchemaPlace(place.path, place.parts[:depth]))
            if found is not None:
                return found
        raise KeyError(place.path)

    def draft(self, place: SchemaPlace, schema: Schema) -> Draft | None:
        """The draft of a schema at a place; `None` if its `$schema` names none. Only what has an identifier has a draft of its own."""
        around = self.around(place)
        is_own = not place.parts or isinstance(schema.get(around.draft.identifier), str) or "$id" in schema
        return (
            draft_of(schema, self._given, inherited=around.draft if place.parts else MODERN) if is_own else around.draft
        )

    def enter(self, place: SchemaPlace, schema: Schema, draft: Draft) -> None:
        """Enter the address and the anchors of a schema, and what it refers to."""
        own = schema.get(draft.identifier)
        if isinstance(own, str):
            self._identify(place, own, draft)
        root = self.around(place).place
        anchors = [schema.get(key) for key in ("$anchor", "$dynamicAnchor") if draft.knows(key)]
        for anchor in anchors:
            if isinstance(anchor, str):
                self._anchors[root, anchor][place] = None
        if draft.knows("$dynamicAnchor") and isinstance(schema.get("$dynamicAnchor"), str):
            self._holders[schema["$dynamicAnchor"]][root] = place
        if draft.knows("$recursiveAnchor") and schema.get("$recursiveAnchor") is True and place == root:
            self._holders[_RECURSIVE][root] = place
        self._uses.extend((place, key, schema[key]) for key in REFERRING if isinstance(schema.get(key), str))

    def _identify(self, place: SchemaPlace, written: str, draft: Draft) -> None:
        try:
            location, fragment = urldefrag(written)
            base = _join(self.around(place).base, location)
        except ValueError:  # no URI at all
            return
        if location:
            self._resources[place] = Resource(place, base, draft)
            self._divided.add(place.path)
            self._by_address[address(base)][place] = None
            if not place.parts and not urlsplit(location).scheme:
                self._written[place.path] = location
                self._by_written[address(location)][place] = None
        if fragment and draft.names_by_fragment:
            self._anchors[self.around(place).place, unquote(fragment)][place] = None

    # --- references ---

    def absolute(self, place: SchemaPlace, ref: str) -> str:
        """The address that a reference at a place names, without its fragment; empty if it is none."""
        try:
            return address(_join(self.around(place).base, _split(ref)[0]))
        except ValueError:
            return ""

    def knows(self, absolute: str) -> bool:
        """Whether a schema has this address."""
        return absolute in self._by_address

    def targets(self, place: SchemaPlace, ref: str) -> tuple[SchemaPlace, ...]:
        """The places that a plain reference leads to: none if it dangles, several if an address or an anchor occurs twice.

        If nothing has the address, relative identifiers of files count as they are written, whatever the folders of the files.
        """
        roots: Iterable[SchemaPlace] = (self.around(place).place,)
        try:
            location, fragment = _split(ref)
            if location:
                known = (address(location), self.absolute(place, ref), address_of(beside(place.path, location)))
                written = address(_join(self._written.get(place.path, ""), location))
                as_written = self._by_written.get(written, dict[SchemaPlace, None]())
                roots = next((self._by_address[each] for each in known if each in self._by_address), as_written)
        except ValueError:
            return ()
        name = unquote(fragment)
        if name and not name.startswith("/"):
            return tuple(found for root in roots for found in self._anchors.get((root, name), ()))
        parts = pointer_parts(name)
        if len(parts) > DEEPEST:
            return ()  # no file is as deep
        return tuple(root.below(*parts) for root in roots)

    def find(self, place: SchemaPlace, keyword: str, ref: str) -> tuple[SchemaPlace, ...]:
        """The places that a reference of any kind can lead to; none if it dangles."""
        first = self.targets(place, ref)
        if keyword == "$ref" or len(first) != 1:
            return first
        name = _RECURSIVE if keyword == "$recursiveRef" else unquote(urldefrag(ref)[1])
        holders = self._holders.get(name, {})
        if first[0] not in holders.values():
            return first
        site = self.around(place).place
        outermost = {first[0] if end is None else end for reached, end in self._ways(name) if site in reached}
        return tuple(sorted(outermost, key=lambda found: found.at)) or first

    def _ways(self, name: str) -> Sequence[tuple[set[SchemaPlace], SchemaPlace | None]]:
        """Of all ways from where reading begins: what lies on them, and the outermost place on them with a dynamic anchor.

        The place is nowhere as long as none was met. Then the anchor that a reference names itself counts.
        """
        edges, holders = self._edges(), self._holders[name]
        if name not in self._known_ways:
            found: list[tuple[set[SchemaPlace], SchemaPlace | None]] = []
            outermost: set[SchemaPlace] = set()
            for entry in self._beginnings(edges):
                plain, first = _until(entry, edges, holders)
                found.append((plain, None))
                outermost |= first
            self._known_ways[name] = [*found, *((_until(each, edges, {})[0], holders[each]) for each in outermost)]
        return self._known_ways[name]

    def _beginnings(self, edges: Mapping[SchemaPlace, frozenset[SchemaPlace]]) -> Iterator[SchemaPlace]:
        """Where reading can begin: at the documents, and at schemas in them that none of these leads to."""
        reached: set[SchemaPlace] = set()
        own = {entry.path for entry in self._entries}
        for root in (*self._entries, *(place for place in self._resources if place.path in own)):
            if root not in reached:
                yield root
                reached |= _until(root, edges, {})[0]

    def _edges(self) -> Mapping[SchemaPlace, frozenset[SchemaPlace]]:
        """The resources that each resource leads to."""
        size = len(self._uses) + len(self._resources)
        if self._graph[0] != size:
            edges: defaultdict[SchemaPlace, set[SchemaPlace]] = defaultdict(set)
            for place, _, ref in self._uses:
                edges[self.around(place).place].update(self.around(found).place for found in self.targets(place, ref))
            for place in self._resources:
                if place.parts:
                    outer = self.around(SchemaPlace(place.path, place.parts[:-1])).place
                    if not set(DEFINITIONS).intersection(place.parts[len(outer.parts) :]):
                        edges[outer].add(place)
            self._known_ways.clear()
            self._graph = size, {place: frozenset(found) for place, found in edges.items()}
        return self._graph[1]


def _until(
    start: SchemaPlace, edges: Mapping[SchemaPlace, frozenset[SchemaPlace]], stops: Mapping[SchemaPlace, SchemaPlace]
) -> tuple[set[SchemaPlace], set[SchemaPlace]]:
    """What is reached from a place before any of the stops, and the stops that are reached first."""
    plain: set[SchemaPlace] = set()
    first: set[SchemaPlace] = set()
    pending = [start]
    while pending:
        place = pending.pop()
        if place in stops:
            first.add(place)
        elif place not in plain:
            plain.add(place)
            pending.extend(edges.get(place, ()))
    return plain, first


_split: Final = lru_cache(maxsize=4096)(urldefrag)
"""The location and the fragment of a reference: each is asked for again and again."""


@lru_cache(maxsize=4096)
def _join(base: str, location: str) -> str:
    """An address as seen from another one, whatever its scheme. Raises `ValueError` for what is no address."""
    if not location:
        return base
    scheme, colon, rest = base.partition(":")
    if not colon or not rest.startswith("/") or scheme in ("http", "https", "file"):
        return urljoin(base, location)
    seen = urljoin(f"http:{rest}", location)  # the standard library joins only schemes that it knows
    return (
        seen if urldefrag(location)[0].partition(":")[1] and seen == location else f"{scheme}:{seen.partition(':')[2]}"
    )
