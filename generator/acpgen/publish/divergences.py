"""How a schema stands to upstream, computed: what is as in the newest release there, what is kept, added or stricter, and why.

Facts are compared, so words and the keywords that upstream does not have count for nothing, but for those by which receivers are more
lenient. What only this schema gives a name is read as if it stood where it is named.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from acpgen.adopt.canonical import read_canonical
from acpgen.adopt.differences import Difference, find_differences
from acpgen.adopt.facts import LENIENCY, UNIONS, Parts, extract_facts, rebuild
from acpgen.config.docs_inputs import INDEX, RELEASES, Releases
from acpgen.config.faults import BAD_MATERIAL
from acpgen.errors import Faults
from acpgen.input.load import Document, Documents
from acpgen.input.walk import Schema, is_array, is_object, references
from acpgen.pointers import pointer, target
from acpgen.publish.first_releases import find_released_method, find_released_type
from acpgen.publish.release_contents import Kind
from acpgen.publish.release_verdicts import History
from acpgen.publish.versions import Version
from acpgen.targets.docs.page_notes import NO_ORIGINS, Divergence, Member, Origins, Way, together

LENIENT: Final = ("x-null", "x-unknown")
"""Keywords of ours on a definition by which receivers take what upstream's schema refuses."""

_BOUNDS: Final = frozenset(
    {
        *("format", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "multipleOf"),
    }
)
_ANY: Final = ("additionalProperties", "unevaluatedProperties")


def find_origins(version: Version, history: History | None, given: Releases | None, root: str) -> Origins:
    """How everything in a version stands to the newest release, if the index of releases says that they are upstream's.

    `given` are the releases that are kept below the folder `root`. Raises `Faults`.
    """
    if history is None or given is None or given.differences is None:
        return NO_ORIGINS
    found = _Comparison(version, history, given)
    told = found.origins()
    unused = [
        (row, index, place)
        for row, reason in enumerate(given.differences)
        for index, place in enumerate(reason.at)
        if place not in found.explained
    ]
    if unused:
        at = f"{root}/{RELEASES}/{version.protocol.name}/{INDEX}".lstrip("/")
        raise Faults(
            [
                BAD_MATERIAL(
                    at=f"{at}{pointer('differences', str(row), 'at', str(index))}",
                    reason=f"nothing differs from {told.upstream} at {place}",
                    remedy="Remove it, or name a definition, Definition.member or a keyword that does",
                )
                for row, index, place in unused
            ]
        )
    return told


@dataclass(frozen=True, slots=True)
class _Difference:
    """One difference: its way, the member that it is in, if it is in one, and the places by which a reason may name it."""

    way: Way
    member: tuple[Kind, str] | None
    places: tuple[str, ...]


class _Comparison:
    """Our definitions beside those of the newest release. `explained` are the places whose reasons were used."""

    def __init__(self, version: Version, history: History, given: Releases) -> None:
        self.version = version
        self.typescript = given.typescript
        self.history = history
        self.newest = history[-1]
        self.why = {place: reason.why for reason in given.differences or () for place in reason.at}
        self.explained: set[str] = set()
        sources = tuple(Document(path, value, "") for path, value in version.bundle.sources.items())
        self.ours = read_canonical(Documents(version.protocol.name, sources)).definitions
        self.theirs = read_canonical(self.newest.documents).definitions
        self.named_here = self.ours.keys() - self.theirs.keys()

    def origins(self) -> Origins:
        types: dict[str, tuple[Divergence, ...]] = {}
        members: dict[Member, tuple[Divergence, ...]] = {}
        borrowed: set[str] = set()
        for name in self.ours.keys() & self.theirs.keys():
            found = list(self._differences(name))
            borrowed |= {place for each in found for place in each.places if place in self.named_here}
            for each in found:
                if each.member is not None:
                    key = (name, *each.member)
                    origin = Divergence(each.way, self._because(each.places))
                    members[key] = tuple(dict.fromkeys((*members.get(key, ()), origin)))
            whole = dict.fromkeys(
                Divergence(each.way, self._because(each.places)) for each in found if each.member is None
            )
            inside = [(each.member[1], Divergence(each.way)) for each in found if each.member is not None]
            types[name] = (*whole, *together(inside))
        methods = dict(self._methods())
        for name in self.named_here:
            if name in borrowed or self._is_of(name, methods):
                types[name] = (self._own(name),)
            elif any(name in references(schema) for schema in self.ours.values()):
                types[name] = ()  # it only names what upstream writes out
        return Origins(self.newest.title, types, members, dict(self._parts()), methods, self.typescript)

    def _differences(self, name: str) -> Iterator[_Difference]:
        ours = self.ours[name]
        for each in find_differences(
            _simplify(extract_facts(self.theirs[name])), self._written_out(extract_facts(ours))
        ):
            way, member = _find_way(each), _find_member(each)
            inside = self._within(ours, each.at)
            here = [target_ for target_ in dict.fromkeys(references(inside)) if target_ in self.named_here]
            places = (*((f"{name}.{member[1]}",) if member else ()), name, *here)
            yield _Difference(way, member, places)
        for keyword in LENIENT:
            if keyword in ours:
                yield _Difference("more lenient", None, (keyword,))

    def _written_out(self, schema: Any, inside: frozenset[str] = frozenset()) -> Any:
        """Facts of ours, with what only we name in the place of its name."""
        if not is_object(schema):
            return schema
        name = target(schema["$ref"]) if isinstance(schema.get("$ref"), str) else ""
        if name in self.named_here and name not in inside:
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            return self._written_out({**extract_facts(self.ours[name]), **beside}, inside | {name})
        return _simplify_one(rebuild(schema, lambda _, child: self._written_out(child, inside)))

    def _within(self, schema: Schema, at: Parts) -> Any:
        """The member of a definition in which a place lies; the definition where it lies in none."""
        fields = schema.get("properties", {})
        name = at[1] if len(at) > 1 and at[0] == "properties" else None
        return fields.get(name, {}) if isinstance(name, str) else {}

    def _methods(self) -> Iterator[tuple[str, Divergence]]:
        for method in self.version.protocol.methods:
            present = [find_released_method(method, past) is not None for past in self.history]
            if not present[-1]:
                places = tuple(part for part in (method.params, method.result) if part is not None)
                yield method.name, self._missing(present, places)

    def _is_of(self, name: str, methods: Mapping[str, Divergence]) -> bool:
        """Whether a definition is the params or the result of a method that upstream does not have."""
        known = (method for method in self.version.protocol.methods if method.name in methods)
        return any(name in (method.params, method.result) for method in known)

    def _own(self, name: str) -> Divergence:
        present = [find_released_type(self.version, name, past) is not None for past in self.history]
        return self._missing(present, (name,))

    def _missing(self, present: Sequence[bool], places: Sequence[str]) -> Divergence:
        last = max((index for index, there in enumerate(present) if there), default=None)
        why = self._because(places)
        return Divergence("added", why) if last is None else Divergence("kept", why, gone=self.history[last].title)

    def _because(self, places: Iterable[str]) -> str:
        """The reason that stands at the first of these places that has one."""
        found = next((place for place in places if place in self.why), None)
        if found is None:
            return ""
        self.explained.add(found)
        return self.why[found]

    def _parts(self) -> Iterator[tuple[str, str]]:
        """The types that have no definition of their own in the files, with the one that they stand in."""
        for name, at in self.version.bundle.origins.items():
            keys = at.partition("#")[2].split("/")
            if name not in self.ours and len(keys) > 2 and keys[1] == "$defs" and keys[2] in self.ours:
                yield name, keys[2]


def _simplify(schema: Any) -> Any:
    """Facts without the two ways to write that anything may be added, and with null among the types."""
    return _simplify_one(rebuild(schema, lambda _, child: _simplify(child))) if is_object(schema) else schema


def _simplify_one(schema: Schema) -> Schema:
    """The same of a schema in which everything below is plain."""
    kept = {key: value for key, value in schema.items() if key not in _ANY or value is not True}
    branches = kept.get("anyOf")
    if is_array(branches) and len(branches) == 2 and branches[1] == {"type": "null"}:
        first: Any = branches[0]
        if is_object(first) and isinstance(first.get("type"), str) and not {*first} & {"enum", "const"}:
            rest = {key: value for key, value in kept.items() if key != "anyOf"}
            return {**first, "type": [first["type"], "null"], **rest}
    return kept


def _find_way(found: Difference) -> Way:
    last = found.at[-1] if found.at else ""
    if found.kind == "required":
        return "stricter" if found.old is None else "more lenient"
    if found.kind == "member" and (isinstance(last, tuple) or found.at[-2:-1] == ("properties",)):
        return "added" if found.old is None else "different"
    if isinstance(last, str) and last.startswith(LENIENCY):
        return "stricter" if found.new is None else "more lenient"
    if last == "not" or last in _BOUNDS:
        return "stricter" if found.old is None else "more lenient" if found.new is None else "different"
    return "different"


def _find_member(found: Difference) -> tuple[Kind, str] | None:
    """The member of a definition in which a difference lies: a field by its name, a branch by its tag or its value."""
    if found.kind == "required" and len(found.at) == 1:
        return "field", str(found.new if found.old is None else found.old)
    if len(found.at) < 2:
        return None
    if found.at[0] == "properties":
        return "field", str(found.at[1])
    match found.at[1]:
        case ("tag", _, value, *_) if found.at[0] in UNIONS:
            return "variant", str(json.loads(value))
        case ("const", value, *_) if found.at[0] in UNIONS:
            return "value", str(json.loads(value))
        case _:
            return None
