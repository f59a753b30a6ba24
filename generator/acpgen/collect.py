"""Many files become one document: every reference is local, every referenced place a definition of its own."""

from __future__ import annotations

import copy
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote, urldefrag

from acpgen.errors import (
    DanglingReference,
    Fault,
    Faults,
    MalformedKeyword,
    NameCollision,
    ReferenceLoop,
    UnsupportedKeyword,
)
from acpgen.load import Documents
from acpgen.names import class_name
from acpgen.walk import Schema, asserts, children, is_array, is_object, pointer, pointer_parts, reference_to, target

STRIPPED = ("customTypePath", "customBasePath", "customTypeImport")
"""Keywords by which a schema could make the record emitter import something."""

UNSUPPORTED = ("$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor")

MIGRATION: Final = "x-migration"
"""What a file says of things of the version before: about its schemas, and no part of them."""


@dataclass(slots=True)
class Collected:
    """The definitions of all files under local names, and the keywords of the root."""

    root: Schema
    root_at: str
    definitions: dict[str, Schema]
    origins: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Place:
    """A schema in a file: the file's path and the keys that lead to it."""

    path: str
    parts: tuple[str, ...]

    @property
    def at(self) -> str:
        return self.path + pointer(*self.parts)


def collect(documents: Documents, names: Mapping[str, str]) -> Collected:
    """Merge the files, make each `$ref` read `#/$defs/Name`, and bring draft-07 to 2020-12.

    `names` maps a pointer (`#/$defs/Old`, or `file.json#/…`) to the name that the thing there shall have.
    Raises `Faults`: dangling references, loops of references alone, two definitions of one name, keywords that cannot be supported.
    """
    return _Collector(documents, names).run()


class _Collector:
    def __init__(self, documents: Documents, names: Mapping[str, str]) -> None:
        self.names = names
        self.faults: list[Fault] = []
        self.files: dict[str, Schema] = {
            document.path: _modern(copy.deepcopy(document.value), strict_refs=_is_draft7(document.value))
            for document in documents.documents
        }
        self.bases = {
            value["$id"].rstrip("#"): path for path, value in self.files.items() if isinstance(value.get("$id"), str)
        }
        self.named: dict[_Place, str] = {}
        self.origins: dict[str, str] = {}
        self.anchors: dict[tuple[str, str], tuple[str, ...]] = {}

    def run(self) -> Collected:
        for path, value in self.files.items():
            for key in ("$defs",):
                for name, schema in value.get(key, {}).items():
                    self._define(_Place(path, (key, name)), self._wanted(path, (key, name), name, schema))
            self._scan(path, (), value)
            if not _is_migration(value.get(MIGRATION, {})):
                expected = "an object whose values are texts"
                self.faults.append(
                    MalformedKeyword(at=f"{path}{pointer(MIGRATION)}", keyword=MIGRATION, expected=expected)
                )
        for path, value in self.files.items():
            self._localise(path, (), value)
        if self.faults:
            raise Faults(self.faults)
        definitions = {name: self._take(place) for place, name in self.named.items()}
        _refuse_loops(definitions, self.origins)
        roots = [
            (path, root)
            for path, value in self.files.items()
            if (root := _without_definitions(value)) and any(asserts(key) for key in root)
        ]
        path, root = roots[0] if len(roots) == 1 else (next(iter(self.files)), {})
        return Collected(root=root, root_at=path + "#", definitions=definitions, origins=self.origins)

    def _wanted(self, path: str, parts: tuple[str, ...], default: str, schema: object) -> str:
        at = pointer(*parts)
        for key in (f"{path}{at}", at, at.replace("#/$defs/", "#/definitions/")):
            if key in self.names:
                return self.names[key]
        chosen = schema.get("x-name") if is_object(schema) else None
        return chosen if isinstance(chosen, str) else default

    def _define(self, place: _Place, name: str) -> None:
        if name in self.origins:
            self.faults.append(NameCollision(at=place.at, name=name, other=f"the definition at {self.origins[name]}"))
            return
        self.named[place] = name
        self.origins[name] = place.at

    def _scan(self, path: str, parts: tuple[str, ...], schema: object) -> None:
        """Check keywords and find anchors."""
        if not is_object(schema):
            return
        for keyword in [key for key in schema if key in STRIPPED or key.startswith("x-python-")]:
            del schema[keyword]
        for keyword in UNSUPPORTED:
            if keyword in schema:
                self.faults.append(UnsupportedKeyword(at=path + pointer(*parts), keyword=keyword))
        if parts and "$id" in schema:
            self.faults.append(UnsupportedKeyword(at=path + pointer(*parts), keyword="$id"))
        if isinstance(schema.get("$anchor"), str):
            self.anchors[path, schema["$anchor"]] = parts
        for below, child in children(schema):
            self._scan(path, (*parts, *below), child)

    def _localise(self, path: str, parts: tuple[str, ...], schema: object) -> None:
        """Rewrite the references of one file."""
        if not is_object(schema):
            return
        if "$ref" in schema:
            schema["$ref"] = self._local(path, parts, schema["$ref"])
        for below, child in children(schema):
            self._localise(path, (*parts, *below), child)

    def _local(self, path: str, parts: tuple[str, ...], ref: object) -> str:
        at = path + pointer(*parts)
        if not isinstance(ref, str):
            self.faults.append(MalformedKeyword(at=at, keyword="$ref", expected="a string"))
            return "#"
        target = self._target(path, ref)
        if target is None:
            self.faults.append(DanglingReference(at=at, ref=ref))
            return "#"
        if target not in self.named:
            self._define(target, self._wanted(target.path, target.parts, _name_of(target, self.files), None))
        return reference_to(self.named.get(target, ""))

    def _target(self, path: str, ref: str) -> _Place | None:
        location, fragment = urldefrag(ref)
        fragment = unquote(fragment)
        if location == "":
            file = path
        elif location in self.bases:
            file = self.bases[location]
        else:
            file = posixpath.normpath(posixpath.join(posixpath.dirname(path), location))
        if file not in self.files:
            return None
        if fragment and not fragment.startswith("/"):
            parts = self.anchors.get((file, fragment))
            return None if parts is None else _Place(file, parts)
        parts = pointer_parts(fragment)
        if parts[:1] == ("definitions",) and "definitions" not in self.files[file]:
            parts = ("$defs", *parts[1:])
        node: Any = self.files[file]
        for part in parts:
            if is_object(node) and part in node:
                node = node[part]
            elif is_array(node) and part.isdigit() and int(part) < len(node):
                node = node[int(part)]
            else:
                return None
        return _Place(file, parts) if isinstance(node, dict | bool) else None

    def _take(self, place: _Place) -> Schema:
        """The schema at a place; if it is not a definition, a reference to it takes its stead."""
        node: Any = self.files[place.path]
        parent: Any = None
        for part in place.parts:
            parent, node = node, _below(node, part)
        if isinstance(node, bool):
            node = {} if node else {"not": {}}
        if place.parts and place.parts[:-1] != ("$defs",):
            parent[_key(parent, place.parts[-1])] = {"$ref": reference_to(self.named[place])}
        return node if place.parts else _without_definitions(node)


def _key(parent: Any, part: str) -> Any:
    return int(part) if is_array(parent) else part


def _below(parent: Any, part: str) -> Any:
    return parent[_key(parent, part)]


def _name_of(place: _Place, files: Mapping[str, Schema]) -> str:
    """A name for a place that is referenced and has none: its owner's name and its keys."""
    if not place.parts:
        title = files[place.path].get("title")
        return class_name(title if isinstance(title, str) else posixpath.basename(place.path).split(".")[0])
    skipped = ("$defs", "properties", "items")
    return "".join(class_name(part) for part in place.parts if part not in skipped)


def _is_migration(declared: object) -> bool:
    return is_object(declared) and all(isinstance(text, str) for text in declared.values())


def _without_definitions(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key not in ("$defs", MIGRATION)}


def _is_draft7(value: object) -> bool:
    dialect = value.get("$schema") if is_object(value) else None
    return isinstance(dialect, str) and any(f"draft-0{n}" in dialect for n in (4, 6, 7))


def _modern(schema: Any, *, strict_refs: bool) -> Any:
    """The same schema with 2020-12's keywords; where `$ref` hides its siblings, only descriptions stay beside it."""
    if not is_object(schema):
        return schema
    if "definitions" in schema:
        schema = {("$defs" if key == "definitions" and "$defs" not in schema else key): v for key, v in schema.items()}
    if strict_refs:
        if "$ref" in schema:
            schema = {key: v for key, v in schema.items() if key in ("$ref", "description", "title", "$defs")}
        schema = _tuples_and_dependencies(schema)
    for below, child in list(children(schema)):
        parent: Any = schema
        for part in below[:-1]:
            parent = parent[part]
        parent[_key(parent, below[-1])] = _modern(child, strict_refs=strict_refs)
    return schema


def _tuples_and_dependencies(schema: Schema) -> Schema:
    changed = dict(schema)
    if is_array(schema.get("items")):
        changed["prefixItems"] = changed.pop("items")
        if "additionalItems" in changed:
            changed["items"] = changed.pop("additionalItems")
    else:
        changed.pop("additionalItems", None)
    dependencies = changed.pop("dependencies", None)
    if is_object(dependencies):
        required = {key: value for key, value in dependencies.items() if is_array(value)}
        schemas = {key: value for key, value in dependencies.items() if not is_array(value)}
        if required:
            changed["dependentRequired"] = required
        if schemas:
            changed["dependentSchemas"] = schemas
    return changed


def _refuse_loops(definitions: Mapping[str, Schema], origins: Mapping[str, str]) -> None:
    """Raise `Faults` where definitions reach themselves without passing a property or an item."""
    faults: list[Fault] = []
    done: set[str] = set()
    for start in definitions:
        trail: list[str] = []
        stack: list[tuple[str, list[str]]] = [(start, list(_in_place(definitions[start])))]
        if start in done:
            continue
        trail.append(start)
        while stack:
            name, rest = stack[-1]
            if not rest:
                done.add(name)
                stack.pop()
                trail.pop()
                continue
            following = rest.pop()
            if following in trail:
                loop = (*trail[trail.index(following) :], following)
                faults.append(ReferenceLoop(at=origins[following], names=loop))
            elif following not in done and following in definitions:
                trail.append(following)
                stack.append((following, list(_in_place(definitions[following]))))
    if faults:
        raise Faults(faults)


_SAME_VALUE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")


def _in_place(schema: Schema) -> list[str]:
    """The definitions that judge the same value as `schema` does."""
    found: list[str] = []
    if isinstance(schema.get("$ref"), str):
        found.append(target(schema["$ref"]))
    for below, child in children(schema):
        if below[0] in _SAME_VALUE and is_object(child):
            found.extend(_in_place(child))
    return found
