"""Compute how a schema relates to upstream: what equals the newest upstream release, what is kept, added or stricter, and why.

Facts are compared: descriptions and keywords unknown to upstream are ignored, except keywords that make receivers more lenient.
Definitions that only this schema names are inlined where they are referenced.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from acpgen.adopt.canonical import read_canonical
from acpgen.adopt.differences import Difference, find_differences
from acpgen.adopt.facts import LENIENCY, UNIONS, Parts, extract_facts
from acpgen.config.docs_inputs import INDEX, RELEASES, Releases
from acpgen.config.faults import BAD_PROJECT_FILE
from acpgen.errors import Faults
from acpgen.input.load import Document, Documents
from acpgen.input.walk import Schema, is_array, is_object, list_references, map_subschemas
from acpgen.pointers import read_reference, write_pointer
from acpgen.publish.first_releases import find_released_method, find_released_type
from acpgen.publish.release_contents import Kind, find_own_name
from acpgen.publish.release_verdicts import History
from acpgen.publish.versions import Version
from acpgen.targets.docs.page_notes import NO_ORIGINS, Divergence, Member, Origins, Way, merge_divergences

LENIENT: Final = ("x-null", "x-unknown")
"""Keywords of this project on a definition by which receivers accept what upstream's schema rejects."""

_BOUNDS: Final = frozenset(
    {
        *("format", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "multipleOf"),
    }
)
_ANY: Final = ("additionalProperties", "unevaluatedProperties")


def find_origins(version: Version, history: History | None, releases: Releases | None, root: str) -> Origins:
    """How everything in a version relates to the newest release, if the index of `releases` says that they are upstream's.

    `releases` are below the folder `root`. Raises `Faults`.
    """
    if history is None or releases is None or releases.differences is None:
        return NO_ORIGINS
    comparison = _Comparison(version, history, releases)
    origins = comparison.make_origins()
    unused = [
        (row, index, place)
        for row, reason in enumerate(releases.differences)
        for index, place in enumerate(reason.at)
        if place not in comparison.explained
    ]
    if unused:
        at = f"{root}/{RELEASES}/{version.protocol.name}/{INDEX}".lstrip("/")
        raise Faults(
            [
                BAD_PROJECT_FILE(
                    at=f"{at}{write_pointer('differences', str(row), 'at', str(index))}",
                    reason=f"nothing differs from {origins.upstream} at {place}",
                    remedy="Remove it, or name a definition, Definition.member or a keyword that does",
                )
                for row, index, place in unused
            ]
        )
    return origins


class _Comparison:
    """The definitions of this schema and those of the newest release. `explained` are the places whose reasons were used."""

    def __init__(self, version: Version, history: History, releases: Releases) -> None:
        self.version = version
        self.typescript = releases.typescript
        self.history = history
        self.newest = history[-1]
        self.why = {place: reason.why for reason in releases.differences or () for place in reason.at}
        self.explained: set[str] = set()
        sources = tuple(Document(path, value, "") for path, value in version.bundle.sources.items())
        self.ours = read_canonical(Documents(version.protocol.name, sources)).definitions
        self.theirs = read_canonical(self.newest.documents).definitions
        self.named_here = self.ours.keys() - self.theirs.keys()
        places = {name: find_own_name(at) for name, at in version.bundle.origins.items()}
        self.names_here = {own_name: name for name, own_name in places.items() if own_name in self.ours}
        """The names in the protocol of the definitions of the files."""

    def make_origins(self) -> Origins:
        types: dict[str, tuple[Divergence, ...]] = {}
        members: dict[Member, tuple[Divergence, ...]] = {}
        borrowed: set[str] = set()
        for name in self.ours.keys() & self.theirs.keys():
            whole: dict[Divergence, None] = {}
            member_divergences: list[tuple[str, Divergence]] = []
            for way, member, places in self._list_differences(name):
                borrowed |= self.named_here & {*places}
                origin = Divergence(way, self._find_reason(places))
                if member is None:
                    whole[origin] = None
                else:
                    member_divergences.append((member[1], Divergence(way)))
                    key = (self.names_here.get(name, name), *member)
                    members[key] = tuple(dict.fromkeys((*members.get(key, ()), origin)))
            types[self.names_here.get(name, name)] = (*whole, *merge_divergences(member_divergences))
        methods = dict(self._list_methods())
        added = {
            part
            for method in self.version.protocol.methods
            for part in (method.params, method.result)
            if method.name in methods
        }
        for name in self.named_here:
            name_here = self.names_here.get(name, name)
            if name in borrowed or name_here in added:
                present = [find_released_type(self.version, name_here, past) is not None for past in self.history]
                types[name_here] = (self._describe_missing(present, (name,)),)
            elif any(name in list_references(schema) for schema in self.ours.values()):
                types[name_here] = ()  # it only names what upstream writes out
        return Origins(self.newest.title, types, members, dict(self._list_parts()), methods, self.typescript)

    def _list_differences(self, name: str) -> Iterator[tuple[Way, tuple[Kind, str] | None, Sequence[str]]]:
        """Yield the way of each difference, the member that it is in, if any, and the places by which a reason may name it."""
        schema = self.ours[name]
        for difference in find_differences(
            _simplify(extract_facts(self.theirs[name])), self._inline(extract_facts(schema))
        ):
            member, subschema = _find_member(difference), self._find_property(schema, difference.at)
            own_targets = [target for target in dict.fromkeys(list_references(subschema)) if target in self.named_here]
            yield _find_way(difference), member, (*((f"{name}.{member[1]}",) if member else ()), name, *own_targets)
        for keyword in LENIENT:
            if keyword in schema:
                yield "more lenient", None, (keyword,)

    def _inline(self, schema: Any, ancestors: frozenset[str] = frozenset()) -> Any:
        """The facts of a schema of ours, with references to definitions that only this schema has replaced by their content."""
        if not is_object(schema):
            return schema
        name = read_reference(schema["$ref"]) if isinstance(schema.get("$ref"), str) else ""
        if name in self.named_here and name not in ancestors:
            siblings = {key: value for key, value in schema.items() if key != "$ref"}
            return self._inline({**extract_facts(self.ours[name]), **siblings}, ancestors | {name})
        return _simplify_one(map_subschemas(schema, lambda _, child: self._inline(child, ancestors)))

    def _find_property(self, schema: Schema, at: Parts) -> Any:
        """The property of a definition that contains a place; an empty schema if the place is in none."""
        fields = schema.get("properties", {})
        name = at[1] if len(at) > 1 and at[0] == "properties" else None
        return fields.get(name, {}) if isinstance(name, str) else {}

    def _list_methods(self) -> Iterator[tuple[str, Divergence]]:
        for method in self.version.protocol.methods:
            present = [find_released_method(method, past) is not None for past in self.history]
            if not present[-1]:
                places = tuple(part for part in (method.params, method.result) if part is not None)
                yield method.name, self._describe_missing(present, places)

    def _describe_missing(self, present: Sequence[bool], places: Sequence[str]) -> Divergence:
        newest = max((index for index, is_present in enumerate(present) if is_present), default=None)
        why = self._find_reason(places)
        return Divergence("added", why) if newest is None else Divergence("kept", why, gone=self.history[newest].title)

    def _find_reason(self, places: Iterable[str]) -> str:
        """The reason of the first of these places that has one; empty if none has."""
        first_place = next((place for place in places if place in self.why), None)
        if first_place is None:
            return ""
        self.explained.add(first_place)
        return self.why[first_place]

    def _list_parts(self) -> Iterator[tuple[str, str]]:
        """Yield the types without a definition of their own in the files, each with the definition that contains it."""
        for name, at in self.version.bundle.origins.items():
            keys = at.partition("#")[2].split("/")
            if name not in self.ours and len(keys) > 3 and keys[1] == "$defs" and keys[2] in self.ours:
                yield name, self.names_here.get(keys[2], keys[2])


def _simplify(schema: Any) -> Any:
    """Normalize facts: remove both keywords that allow any additional property, and move null into `type`."""
    return _simplify_one(map_subschemas(schema, lambda _, child: _simplify(child))) if is_object(schema) else schema


def _simplify_one(schema: Schema) -> Schema:
    """Normalize one schema whose subschemas are normalized already."""
    keywords = {key: value for key, value in schema.items() if key not in _ANY or value is not True}
    branches = keywords.get("anyOf")
    if is_array(branches) and len(branches) == 2 and branches[1] == {"type": "null"}:
        first: Any = branches[0]
        if is_object(first) and isinstance(first.get("type"), str) and not {*first} & {"enum", "const"}:
            siblings = {key: value for key, value in keywords.items() if key != "anyOf"}
            return {**first, "type": [first["type"], "null"], **siblings}
    return keywords


def _find_way(difference: Difference) -> Way:
    step = difference.at[-1] if difference.at else ""
    if difference.kind == "required":
        return "stricter" if difference.old is None else "more lenient"
    if difference.kind == "member" and (isinstance(step, tuple) or difference.at[-2:-1] == ("properties",)):
        return "added" if difference.old is None else "different"
    if isinstance(step, str) and step.startswith(LENIENCY):
        return "stricter" if difference.new is None else "more lenient"
    if step == "not" or step in _BOUNDS:
        return "stricter" if difference.old is None else "more lenient" if difference.new is None else "different"
    return "different"


def _find_member(difference: Difference) -> tuple[Kind, str] | None:
    """The member of a definition that a difference is in: a field by its name, a branch by its tag or value; `None` if it is in none."""
    if difference.kind == "required" and len(difference.at) == 1:
        return "field", str(difference.new if difference.old is None else difference.old)
    if len(difference.at) < 2:
        return None
    if difference.at[0] == "properties":
        return "field", str(difference.at[1])
    match difference.at[1]:
        case ("tag", _, value, *_) if difference.at[0] in UNIONS:
            return "variant", str(json.loads(value))
        case ("const", value, *_) if difference.at[0] in UNIONS:
            return "value", str(json.loads(value))
        case _:
            return None
