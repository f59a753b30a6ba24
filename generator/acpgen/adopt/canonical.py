"""Conversion between our files and one set of definitions: which file holds each, and how references are written.

In the set, every reference to a definition is `#/$defs/Name`, as in upstream's single file.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from acpgen.input.load import Documents
from acpgen.input.walk import Schema, as_object, asserts, is_object, list_references, map_subschemas
from acpgen.pointers import read_reference

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE: Final = re.compile(r"(?P<file>[^#]*)(?P<place>#/\$defs/.+)")


@dataclass(frozen=True, slots=True)
class Canonical:
    """The files of one protocol version: the content of each besides its definitions (its head), and all definitions with the file of
    each.
    """

    heads: Mapping[str, Schema] = field(repr=False)
    definitions: Mapping[str, Schema] = field(repr=False)
    paths: Mapping[str, str]

    @property
    def root(self) -> str | None:
        """The file whose root describes a message; `None` if there is none, or several."""
        paths = [path for path, head in self.heads.items() if any(map(asserts, set(head) - {"$schema"}))]
        return paths[0] if len(paths) == 1 else None

    def make_documents(self) -> dict[str, Schema]:
        """The files by path, without those that have neither definitions nor the root."""
        result: dict[str, Schema] = {}
        for path, head in self.heads.items():
            definitions = {name: schema for name, schema in self.definitions.items() if self.paths[name] == path}
            if definitions or path == self.root:
                document = {**head, "$defs": definitions}
                result[path] = _make_references_local(document, path, self.paths)
        return result


def read_canonical(documents: Documents) -> Canonical:
    """The definitions of some files. Names must be unique and references must resolve, as `bundle` checks."""
    heads: dict[str, Schema] = {}
    definitions: dict[str, Schema] = {}
    paths: dict[str, str] = {}
    for document in documents.documents:
        assert is_object(document.value)
        whole = _make_references_global(document.value)
        heads[document.path] = without_definitions(whole)
        for name, schema in whole.get("$defs", {}).items():
            definitions[name] = as_object(schema)
            paths[name] = document.path
    return Canonical(heads, definitions, paths)


def without_definitions(schema: Schema) -> Schema:
    """The head of a file: its content besides its definitions."""
    return {key: value for key, value in schema.items() if key != "$defs"}


def _make_references_global(schema: Any) -> Any:
    """Rewrite the references in a file's schema as if all definitions were in one file."""

    def simplify_reference(reference: str) -> str:
        match = _REFERENCE.fullmatch(reference)
        return match["place"] if match else reference

    return _change_references(schema, simplify_reference)


def _make_references_local(schema: Any, path: str, paths: Mapping[str, str]) -> Any:
    """Rewrite the references in a schema relative to the file `path`."""

    def relativize(reference: str) -> str:
        home = paths.get(read_reference(reference), path) if reference.startswith("#/$defs/") else path
        return reference if home == path else posixpath.relpath(home, posixpath.dirname(path) or ".") + reference

    return _change_references(schema, relativize)


def _change_references(schema: Any, change: Callable[[str], str]) -> Any:
    if not is_object(schema):
        return schema
    result = map_subschemas(schema, lambda _, child: _change_references(child, change))
    if isinstance(schema.get("$ref"), str):
        result["$ref"] = change(schema["$ref"])
    return result


# --- places for what is new ------------------------------------------------------------------------------------------


def place_definitions(ours: Canonical, merged_definitions: Mapping[str, Schema]) -> Canonical:
    """Assign the merged definitions to files: ours stay, new ones go beside definitions that refer to them, methods beside related
    methods.
    """
    work = _Placement(ours, merged_definitions)
    work.run()
    definitions = {
        name: merged_definitions[name] for path in work.heads for name in work.order if work.paths[name] == path
    }
    return Canonical(work.heads, definitions, work.paths)


class _Placement:
    def __init__(self, ours: Canonical, merged_definitions: Mapping[str, Schema]) -> None:
        self.ours = ours
        self.merged = merged_definitions
        self.heads = dict(ours.heads)
        self.paths = {name: ours.paths[name] for name in ours.definitions if name in merged_definitions}
        self.order = list(self.paths)
        self.new = [name for name in merged_definitions if name not in self.paths]

    def run(self) -> None:
        for name in sorted(self.new, key=lambda name: name.endswith("Response")):
            if "x-method" in self.merged[name]:
                self._place_beside_kin(name)
        users = find_users(self.merged)
        while waiting := [name for name in self.new if name not in self.paths]:
            near = {name: self._list_users_with_file(users.get(name, ())) for name in waiting}
            name = next((name for name in waiting if near[name]), waiting[0])
            home = (
                _find_commonest(self.paths[user] for user in near[name])
                if near[name]
                else self.ours.root or next(iter(self.heads))
            )
            self._place_after(name, home, near[name])

    def _list_users_with_file(self, users: Sequence[str]) -> list[str]:
        """The users of a definition that have a file; envelopes, which refer to everything, only if there is no other."""
        housed = [user for user in users if user in self.paths]
        return [user for user in housed if not self.merged[user].get("x-docs-ignore")] or housed

    def _place_beside_kin(self, name: str) -> None:
        """Place params or a result beside those of the same method, else of methods with the same prefix."""
        method = str(self.merged[name]["x-method"])
        methods = {
            entry: str(self.merged[entry]["x-method"]) for entry in self.order if "x-method" in self.merged[entry]
        }
        prefix = method.split("/")[0]
        kin = [entry for entry, entry_method in methods.items() if entry_method == method]
        kin = kin or [entry for entry, entry_method in methods.items() if entry_method.split("/")[0] == prefix]
        self._place_after(
            name, _find_commonest(self.paths[entry] for entry in kin) if kin else self._ensure_area(prefix), kin
        )

    def _ensure_area(self, prefix: str) -> str:
        """The file named after a method prefix; created if there is none."""
        stem = re.sub(r"[^a-z0-9]+", "-", prefix.lower()).strip("-") or "methods"
        path = next((path for path in (f"{stem}.json", f"{stem}s.json") if path in self.heads), f"{stem}.json")
        if path not in self.heads:
            title = stem.replace("-", " ").capitalize()
            self.heads[path] = {"$schema": _DIALECT, "title": title, "description": ""}
        return path

    def _place_after(self, name: str, home: str, neighbours: Sequence[str]) -> None:
        """Place a definition in a file, behind its neighbours there and the new definitions that follow them."""
        self.paths[name] = home
        places = [self.order.index(neighbour) for neighbour in neighbours if self.paths[neighbour] == home]
        behind = max(places, default=len(self.order) - 1) + 1
        while behind < len(self.order) and self.order[behind] in self.new:
            behind += 1
        self.order.insert(behind, name)


def find_users(definitions: Mapping[str, Schema]) -> dict[str, list[str]]:
    """The definitions that refer to each definition, without itself."""
    result: dict[str, list[str]] = {}
    for name, schema in definitions.items():
        for target_name in dict.fromkeys(list_references(schema)):
            if target_name != name:
                result.setdefault(target_name, []).append(name)
    return result


def _find_commonest(paths: Iterator[str]) -> str:
    """The most frequent path; of several, the first."""
    return Counter(paths).most_common(1)[0][0]
