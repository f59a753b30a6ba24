"""Resolution of references: the URIs of schemas, their anchors, and dynamic references with a single target.

Only entered documents are found; nothing is ever fetched.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from msgspec import Struct

from acpgen.input.drafts import MODERN, Draft, find_draft, normalize_uri
from acpgen.input.file_discovery import make_address, resolve_path
from acpgen.input.positions import DEEPEST
from acpgen.input.walk import DEFINITIONS, Schema, find_reachable
from acpgen.pointers import split_pointer, write_pointer

REFERRING: Final = ("$ref", "$dynamicRef", "$recursiveRef")
"""The keywords that refer."""

_RECURSIVE: Final = ""
"""The name of `$recursiveAnchor`: the anchor of a whole schema, without a name."""


class SchemaPlace(Struct, frozen=True):
    """The place of a schema: the path of its file and the keys that lead to it."""

    path: str
    parts: tuple[str, ...]

    @property
    def at(self) -> str:
        return self.path + write_pointer(*self.parts)

    def descend(self, *keys: str) -> SchemaPlace:
        """The place that these keys lead to from here."""
        return SchemaPlace(self.path, (*self.parts, *keys))


class Resource(Struct, frozen=True):
    """A schema resource: a document, or a schema inside one that has its own identifier."""

    place: SchemaPlace
    base: str
    draft: Draft


class ReferenceResolver:
    """The URIs and anchors of documents. `documents` maps URIs to documents, in which meta-schemas are looked up."""

    def __init__(self, documents: Mapping[str, Any]) -> None:
        self._given = documents
        self._resources: dict[SchemaPlace, Resource] = {}
        self._by_address: defaultdict[str, dict[SchemaPlace, None]] = defaultdict(dict)
        self._written: dict[str, str] = {}
        self._by_written: defaultdict[str, dict[SchemaPlace, None]] = defaultdict(dict)
        self._anchors: defaultdict[tuple[SchemaPlace, str], dict[SchemaPlace, None]] = defaultdict(dict)
        self._holders: defaultdict[str, dict[SchemaPlace, SchemaPlace]] = defaultdict(dict)
        self._uses: list[tuple[SchemaPlace, str, str]] = []
        self._entries: list[SchemaPlace] = []
        self._divided = set[str]()
        self._paths_by_anchor: dict[str, Sequence[tuple[set[SchemaPlace], SchemaPlace | None]]] = {}
        self._graph: tuple[int, Mapping[SchemaPlace, frozenset[SchemaPlace]]] = (-1, {})

    def admit(self, path: str, value: Schema, known_as: str = "", *, is_entry: bool = True) -> None:
        """Enter a document under the URI that it is `known_as`, else under its path. A document that is no entry is only referred to."""
        root = SchemaPlace(path, ())
        if root not in self._resources:
            draft = find_draft(value, self._given) or MODERN
            self._resources[root] = Resource(root, known_as or make_address(path), draft)
            self._by_address[make_address(path)][root] = None
            if is_entry:
                self._entries.append(root)
        if known_as:
            self._by_address[normalize_uri(known_as)][root] = None

    def find_resource(self, place: SchemaPlace) -> Resource:
        """The resource that a place belongs to."""
        deepest = len(place.parts) if place.path in self._divided else 0
        for depth in range(deepest, -1, -1):
            resource = self._resources.get(SchemaPlace(place.path, place.parts[:depth]))
            if resource is not None:
                return resource
        raise KeyError(place.path)

    def find_draft(self, place: SchemaPlace, schema: Schema) -> Draft | None:
        """The draft of a schema at a place; `None` if its `$schema` names an unknown one. Only a schema with an identifier has its own
        draft.
        """
        around = self.find_resource(place)
        is_own = not place.parts or isinstance(schema.get(around.draft.identifier), str) or "$id" in schema
        return (
            find_draft(schema, self._given, inherited=around.draft if place.parts else MODERN)
            if is_own
            else around.draft
        )

    def enter(self, place: SchemaPlace, schema: Schema, draft: Draft) -> None:
        """Enter the URI and anchors of a schema, and its references."""
        identifier = schema.get(draft.identifier)
        if isinstance(identifier, str):
            self._identify(place, identifier, draft)
        root = self.find_resource(place).place
        for key in ("$anchor", "$dynamicAnchor"):
            if draft.knows(key) and isinstance(schema.get(key), str):
                self._anchors[root, schema[key]][place] = None
                if key == "$dynamicAnchor":
                    self._holders[schema[key]][root] = place
        if draft.knows("$recursiveAnchor") and schema.get("$recursiveAnchor") is True and place == root:
            self._holders[_RECURSIVE][root] = place
        self._uses.extend((place, key, schema[key]) for key in REFERRING if isinstance(schema.get(key), str))

    def _identify(self, place: SchemaPlace, identifier: str, draft: Draft) -> None:
        try:
            location, fragment = urldefrag(identifier)
            base = _join(self.find_resource(place).base, location)
        except ValueError:  # no URI at all
            return
        if location:
            self._resources[place] = Resource(place, base, draft)
            self._divided.add(place.path)
            self._by_address[normalize_uri(base)][place] = None
            if not place.parts and not urlsplit(location).scheme:
                self._written[place.path] = location
                self._by_written[normalize_uri(location)][place] = None
        if fragment and draft.names_by_fragment:
            self._anchors[self.find_resource(place).place, unquote(fragment)][place] = None

    # --- references ---

    def resolve_uri(self, place: SchemaPlace, ref: str) -> str:
        """The URI that a reference at a place names, without its fragment; empty if it is not a URI."""
        try:
            return normalize_uri(_join(self.find_resource(place).base, _split(ref)[0]))
        except ValueError:
            return ""

    def knows(self, absolute: str) -> bool:
        """Whether a schema has this URI."""
        return absolute in self._by_address

    def find_targets(self, place: SchemaPlace, ref: str) -> tuple[SchemaPlace, ...]:
        """The places that a plain reference leads to: none if it dangles, several if a URI or an anchor occurs twice.

        If nothing has the URI, relative identifiers of files count as written, whatever the folders of the files are.
        """
        roots: Iterable[SchemaPlace] = (self.find_resource(place).place,)
        try:
            location, fragment = _split(ref)
            if location:
                candidates = (
                    normalize_uri(location),
                    self.resolve_uri(place, ref),
                    make_address(resolve_path(place.path, location)),
                )
                relative_uri = normalize_uri(_join(self._written.get(place.path, ""), location))
                as_written = self._by_written.get(relative_uri, dict[SchemaPlace, None]())
                roots = next((self._by_address[uri] for uri in candidates if uri in self._by_address), as_written)
        except ValueError:
            return ()
        name = unquote(fragment)
        if name and not name.startswith("/"):
            return tuple(anchor_place for root in roots for anchor_place in self._anchors.get((root, name), ()))
        parts = split_pointer(name)
        if len(parts) > DEEPEST:
            return ()  # no file is as deep
        return tuple(root.descend(*parts) for root in roots)

    def find(self, place: SchemaPlace, keyword: str, ref: str) -> tuple[SchemaPlace, ...]:
        """The places that any kind of reference can lead to; none if it dangles."""
        first = self.find_targets(place, ref)
        if keyword == "$ref" or len(first) != 1:
            return first
        name = _RECURSIVE if keyword == "$recursiveRef" else unquote(urldefrag(ref)[1])
        holders = self._holders.get(name, {})
        if first[0] not in holders.values():
            return first
        site = self.find_resource(place).place
        outermost = {first[0] if end is None else end for reached, end in self._list_paths(name) if site in reached}
        return tuple(sorted(outermost, key=lambda target: target.at)) or first

    def _list_paths(self, name: str) -> Sequence[tuple[set[SchemaPlace], SchemaPlace | None]]:
        """For each path from an entry: the places on it, and the outermost one with the dynamic anchor.

        The latter is `None` as long as none was reached; then the anchor that the reference itself names counts.
        """
        edges, holders = self._list_edges(), self._holders[name]
        if name not in self._paths_by_anchor:
            routes: list[tuple[set[SchemaPlace], SchemaPlace | None]] = []
            outermost: set[SchemaPlace] = set()
            for entry in self._find_beginnings(edges):
                plain, first = _walk_until(entry, edges, holders)
                routes.append((plain, None))
                outermost |= first
            self._paths_by_anchor[name] = [
                *routes,
                *((_walk_until(start, edges, {})[0], holders[start]) for start in outermost),
            ]
        return self._paths_by_anchor[name]

    def _find_beginnings(self, edges: Mapping[SchemaPlace, frozenset[SchemaPlace]]) -> Iterator[SchemaPlace]:
        """Yield where evaluation can begin: the documents, and the schemas in them that no other one leads to."""
        reached: set[SchemaPlace] = set()
        entry_paths = {entry.path for entry in self._entries}
        for root in (*self._entries, *(place for place in self._resources if place.path in entry_paths)):
            if root not in reached:
                yield root
                reached |= _walk_until(root, edges, {})[0]

    def _list_edges(self) -> Mapping[SchemaPlace, frozenset[SchemaPlace]]:
        """The resources that each resource refers to or contains."""
        size = len(self._uses) + len(self._resources)
        if self._graph[0] != size:
            edges: defaultdict[SchemaPlace, set[SchemaPlace]] = defaultdict(set)
            for place, _, ref in self._uses:
                edges[self.find_resource(place).place].update(
                    self.find_resource(target).place for target in self.find_targets(place, ref)
                )
            for place in self._resources:
                if place.parts:
                    outer = self.find_resource(SchemaPlace(place.path, place.parts[:-1])).place
                    if not set(DEFINITIONS).intersection(place.parts[len(outer.parts) :]):
                        edges[outer].add(place)
            self._paths_by_anchor.clear()
            self._graph = size, {place: frozenset(targets) for place, targets in edges.items()}
        return self._graph[1]


def _walk_until(
    start: SchemaPlace, edges: Mapping[SchemaPlace, frozenset[SchemaPlace]], stops: Mapping[SchemaPlace, SchemaPlace]
) -> tuple[set[SchemaPlace], set[SchemaPlace]]:
    """The places reached from a start before any stop, and the stops that are reached first."""
    reached = find_reachable([start], lambda place: () if place in stops else edges.get(place, ()))
    return {place for place in reached if place not in stops}, {place for place in reached if place in stops}


_split: Final = lru_cache(maxsize=4096)(urldefrag)
"""The location and fragment of a reference, cached."""


@lru_cache(maxsize=4096)
def _join(base: str, location: str) -> str:
    """Resolve a URI reference against a base with any scheme. Raises `ValueError` for an invalid URI."""
    if not location:
        return base
    scheme, colon, hierarchy = base.partition(":")
    if not colon or not hierarchy.startswith("/") or scheme in ("http", "https", "file"):
        return urljoin(base, location)
    joined_uri = urljoin(f"http:{hierarchy}", location)  # the standard library joins only schemes that it knows
    is_whole = ":" in urldefrag(location)[0] and joined_uri == location
    return joined_uri if is_whole else f"{scheme}:{joined_uri.partition(':')[2]}"
