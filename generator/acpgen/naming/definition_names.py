"""The names of the definitions of a protocol's files, and the resolution of collisions.

A name chosen by the user always applies. A definition keeps its key if no other definition of these files has it. Otherwise, those with
the same assertions are merged, and each of the others gets the name of its file as a prefix, so that the plain key never changes its
meaning. What has no key of its own (a root, the target of a reference) gets one of the remaining names.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from acpgen.input.step_budget import spend
from acpgen.input.tagged_unions import find_lone_reference
from acpgen.input.walk import DEFINITIONS, Schema, is_array, is_object, list_schemas, strip_prose
from acpgen.naming.identifiers import make_class_name
from acpgen.naming.qualifiers import number_names
from acpgen.pointers import read_reference, write_reference

Kind: TypeAlias = Literal["member", "inner", "place", "root"]


class NameRequest(Struct, frozen=True):
    """A request for a name: by a definition (`member`), one in a group or inside another definition (`inner`), a place that a reference
    leads to, or a root; with its place, the preferred name, and whether the user chose it.
    """

    kind: Kind
    path: str
    parts: tuple[str, ...]
    name: str
    is_chosen: bool = False


@dataclass(slots=True)
class Assignment:
    """The name of each request by its key; `first` maps a request to the one it was merged with; `conflicts` are names chosen twice."""

    names: dict[str, str] = field(default_factory=dict[str, str])
    first: dict[str, str] = field(default_factory=dict[str, str])
    conflicts: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


def assign_names(requests: Mapping[str, NameRequest], definitions: Mapping[str, Schema]) -> Assignment:
    """Name all requests. The definitions have the same keys, and refer to each other by them (`#/$defs/key`)."""
    work = _Assigner(requests, definitions)
    work.run()
    return work.assignment


def rename(definitions: Mapping[str, Schema], assignment: Assignment) -> dict[str, Schema]:
    """The definitions by their names, with references renamed."""
    schemas_by_key = {key: schema for key, schema in definitions.items() if key not in assignment.first}
    for schema in schemas_by_key.values():
        rename_references(schema, assignment)
    return {assignment.names[key]: schema for key, schema in schemas_by_key.items()}


def rename_references(schema: Any, assignment: Assignment) -> None:
    """Rename the references of a schema."""
    for subschema in list_schemas(schema):
        key = read_reference(subschema["$ref"]) if _is_local(subschema.get("$ref")) else ""
        if key in assignment.names:
            subschema["$ref"] = write_reference(assignment.names[key])


class _Assigner:
    def __init__(self, requests: Mapping[str, NameRequest], definitions: Mapping[str, Schema]) -> None:
        self.requests = requests
        self.definitions = definitions
        self.order = sorted(requests, key=self._locate)
        self.assignment = Assignment()
        self.holders: dict[str, str] = {}

    def run(self) -> None:
        self._take_chosen_names()
        self._name_by_keys(self._merge(self._list_requests("member"), self._get_last_key))
        inner = self._merge(self._list_requests("inner"), self._get_last_key)
        for key, name in _name_inner_definitions(
            {key: self.requests[key].parts for key in inner}, set(self.holders)
        ).items():
            self._take(key, [name])
        for key in self._list_requests("place"):
            request = self.requests[key]
            self._take(key, [request.name, f"{_get_stem(request.path)}{request.name}"])
        self._name_roots(self._merge(self._list_requests("root"), self._get_preferred_name))
        for key, first in self.assignment.first.items():
            self.assignment.names[key] = self.assignment.names[first]

    def _list_requests(self, kind: Kind) -> list[str]:
        """The requests of a kind without a chosen name."""
        return [key for key in self.order if self.requests[key].kind == kind and not self.requests[key].is_chosen]

    def _locate(self, key: str) -> tuple[object, ...]:
        request = self.requests[key]
        steps = ((int(part), "") if part.isdecimal() else (-1, part) for part in request.parts)
        return (len(request.parts), request.path, *steps)

    def _get_preferred_name(self, key: str) -> str:
        return make_class_name(self.requests[key].name)

    def _get_last_key(self, key: str) -> str:
        return self.requests[key].parts[-1]

    def _take_chosen_names(self) -> None:
        """Assign the names that the user chose; two things with the same name must have the same assertions."""
        for key in (key for key in self.order if self.requests[key].is_chosen):
            name = self.requests[key].name
            holder = self.holders.setdefault(make_class_name(name), key)
            if holder == key:
                self.assignment.names[key] = name
            elif self._is_same(key, holder):
                self.assignment.first[key] = holder
            else:
                self.assignment.conflicts.append((key, holder))
                self.assignment.names[key] = name

    def _name_by_keys(self, distinct_keys: Sequence[str]) -> None:
        """Name definitions by their keys; of several different ones with the same key, each is prefixed with the name of its file."""
        count = Counter(self._get_last_key(key) for key in distinct_keys)
        for key in distinct_keys:
            name = self._get_last_key(key)
            holder = self.holders.get(make_class_name(name))
            if holder is not None and self.requests[holder].name == name:
                if self.requests[holder].path == self.requests[key].path:
                    self.assignment.conflicts.append((key, holder))
                    self.assignment.names[key] = name
                elif count[name] == 1:
                    self._separate([key], name)
            elif count[name] == 1:
                self.holders.setdefault(make_class_name(name), key)
                self.assignment.names[key] = name
        for name in sorted(name for name, number in count.items() if number > 1):
            rivals = [
                key for key in distinct_keys if self._get_last_key(key) == name and key not in self.assignment.names
            ]
            self._separate(rivals, name)

    def _separate(self, keys: Sequence[str], name: str) -> None:
        """Name definitions with the same key in several files, or under both keywords of one file."""
        labels = _make_labels(sorted({self.requests[key].path for key in keys}))
        first: set[str] = set()
        for key in keys:
            request = self.requests[key]
            word = "" if len(keys) > 1 and len(labels) == 1 else labels[request.path]
            keyword = make_class_name(request.parts[0].strip("$")) if request.path in first and request.parts else ""
            first.add(request.path)
            self._take(key, [f"{keyword}{_prefix_name(word, make_class_name(name))}" if word or keyword else name])

    def _name_roots(self, keys: Sequence[str]) -> None:
        count = Counter(map(self._get_preferred_name, keys))
        for name in sorted(count):
            rivals = [key for key in keys if self._get_preferred_name(key) == name]
            if len(rivals) > 1:
                self._separate(rivals, name)
            else:
                self._take(
                    rivals[0], [name, f"{name}Root", _prefix_name(_get_stem(self.requests[rivals[0]].path), name)]
                )

    def _take(self, key: str, candidates: Sequence[str]) -> None:
        """Assign the first of these names that is free to a request."""
        names = chain(candidates, number_names(candidates[0]))
        name = next(name for name in names if make_class_name(name) not in self.holders)
        self.holders[make_class_name(name)] = key
        self.assignment.names[key] = name

    # --- what is the same ---

    def _merge(self, keys: Sequence[str], name_of: Callable[[str], str]) -> list[str]:
        """The keys without those that have the same name and the same assertions as one of another file."""
        groups: dict[str, list[str]] = {}
        for key in keys:
            groups.setdefault(name_of(key), []).append(key)
        for group in groups.values():
            distinct_keys: list[str] = []
            referents = {key: self._stands_for(key, group) for key in group}
            for key in sorted(group, key=lambda key: referents[key] is not None):
                alike = [candidate for candidate in distinct_keys if referents[key] == candidate]
                if not alike:
                    path = self.requests[key].path
                    candidates = (candidate for candidate in distinct_keys if self.requests[candidate].path != path)
                    alike = [*islice((candidate for candidate in candidates if self._is_same(key, candidate)), 1)]
                distinct_keys += [] if alike else [key]
                self.assignment.first.update({key: alike[0]} if alike else {})
        return [key for key in keys if key not in self.assignment.first]

    def _stands_for(self, key: str, group: Sequence[str]) -> str | None:
        """The member of a group that a definition merely refers to; `None` if there is none."""
        target = find_lone_reference(self.definitions[key])
        if target is None or target not in group or self.requests[key].path == self.requests[target].path:
            return None
        is_plain = not any(word.startswith("x-") for word in self.definitions[key])
        return target if is_plain and find_lone_reference(self.definitions[target]) not in group else None

    def _is_same(self, key: str, other_key: str) -> bool:
        """Whether two definitions have the same assertions, including those of definitions they refer to."""
        pending: list[tuple[Any, Any]] = [
            (strip_prose(self.definitions[key]), strip_prose(self.definitions[other_key]))
        ]
        assumed = {(key, other_key)}
        while pending:
            spend()
            left, right = pending.pop()
            if is_object(left) and is_object(right):
                if left.keys() != right.keys():
                    return False
                for word in left:
                    if word == "$ref" and _is_local(left[word]) and _is_local(right[word]):
                        ends = (read_reference(left[word]), read_reference(right[word]))
                        if ends[0] == ends[1] or ends in assumed:
                            continue
                        if not all(end in self.definitions for end in ends) or not self._is_alike(*ends):
                            return False
                        assumed.add(ends)
                        pending.append((strip_prose(self.definitions[ends[0]]), strip_prose(self.definitions[ends[1]])))
                    else:
                        pending.append((left[word], right[word]))
            elif is_array(left) and is_array(right):
                if len(left) != len(right):
                    return False
                pending.extend(zip(left, right, strict=True))
            elif type(left) is not type(right) or left != right:
                return False
        return True

    def _is_alike(self, key: str, other_key: str) -> bool:
        """Whether two definitions have the same last key and the same preferred name."""
        request, other_request = self.requests[key], self.requests[other_key]
        return request.parts[-1:] == other_request.parts[-1:] and request.name == other_request.name


def _is_local(ref: object) -> bool:
    return isinstance(ref, str) and ref.startswith("#/$defs/")


def _get_stem(path: str) -> str:
    return make_class_name(posixpath.basename(path).split(".")[0])


def _prefix_name(word: str, name: str) -> str:
    """A name prefixed with the name of its file, without duplication."""
    return word if word.endswith(name) and word != name else f"{word}{name}"


def _make_labels(paths: Sequence[str]) -> dict[str, str]:
    """A distinct word for each file, from as little of its path as possible."""
    base_names = {path: make_class_name(posixpath.basename(path).removesuffix(".json")) for path in paths}
    whole_paths = {path: make_class_name(path.removesuffix(".json")) for path in paths}
    for label_by_path in ({path: _get_stem(path) for path in paths}, base_names, whole_paths):
        if len(set(label_by_path.values())) == len(label_by_path):
            return label_by_path
    return {path: make_class_name(path) for path in paths}


def filter_steps(parts: Iterable[str]) -> list[str]:
    """The steps of a pointer without keywords that add nothing to a name."""
    return [part for part in parts if part not in (*DEFINITIONS, "properties", "items")]


def _name_inner_definitions(places: Mapping[str, tuple[str, ...]], used_names: set[str]) -> Mapping[str, str]:
    """Names of definitions in groups and inside others: the last key if it is unique, otherwise with the preceding one, and so on."""
    names: dict[str, str] = {}
    remaining = list(places)
    depth = 1
    while remaining:
        candidates = {key: "".join(map(make_class_name, filter_steps(places[key])[-depth:])) for key in remaining}
        count = Counter(candidates.values())
        last = depth >= max(len(places[key]) for key in remaining)
        for key, name in candidates.items():
            if last or (count[name] == 1 and name not in used_names):
                names[key] = places[key][-1] if depth == 1 else name
        used_names = {*used_names, *candidates.values()}
        remaining = [key for key in remaining if key not in names]
        depth += 1
    return {key: names[key] for key in places}
