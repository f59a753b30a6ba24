"""The schemas of a bundle as nodes: what each says, where it stands in the source, and what follows from it, found out once.

A node is read, never changed. What it refers to is looked up among the definitions that it lives among.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from acpgen.bundle.bundle import Bundle
from acpgen.importers.documents import relocated
from acpgen.input.tagged_unions import (
    OBJECTS,
    Flat,
    Tagged,
    Tags,
    branches_of,
    excluded_tags,
    flatten,
    kinds,
    lone_reference,
    recognise,
)
from acpgen.input.walk import ASSERTIONS, BY_KIND, Schema, is_array, is_object
from acpgen.pointers import pointer


class Schemas(Mapping[str, "Node"]):
    """The definitions of a bundle by name. `framing` are those that only frame messages."""

    def __init__(self, bundle: Bundle) -> None:
        self.written: Final = bundle.definitions
        self.framing: Final = bundle.framing
        self.bundle: Final = bundle
        self._nodes: Final = {name: Node(self, self.written[name], at, name) for name, at in bundle.origins.items()}
        self._kinds: Final = dict[str, frozenset[str]]()
        self.flats: Final = dict[str, Flat]()

    def __getitem__(self, name: str) -> Node:
        return self._nodes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.written)

    def __len__(self) -> int:
        return len(self.written)

    def place_of_keyword(self, at: str) -> str:
        """The place in the documents of a keyword: that of its schema, and the keyword."""
        schema, _, keyword = at.rpartition("/")
        return f"{relocated(schema, self.bundle.places)}/{keyword}"

    def kinds(self, schema: object) -> frozenset[str]:
        """The JSON types that a schema can accept at most."""
        return kinds(schema, self.written, self._kinds)


@dataclass(frozen=True, eq=False)
class Node:
    """One schema. `at` is its place in the source (`file#/pointer`), `owner` the definition that it belongs to."""

    schemas: Schemas = field(repr=False)
    schema: Any
    at: str
    owner: str = ""

    @property
    def place(self) -> str:
        """Its place in the documents: `at`, unless the schema was made of another document, or a field was moved here."""
        return relocated(self.at, self.schemas.bundle.places)

    # --- what it says ---

    @cached_property
    def says(self) -> Schema:
        """Its keywords; none, if it is `true` or `false`."""
        return self.schema if is_object(self.schema) else {}

    @cached_property
    def demands(self) -> frozenset[str]:
        """The keywords by which it can refuse a value."""
        return frozenset(key for key in self.says if key in ASSERTIONS)

    @property
    def refuses_all(self) -> bool:
        """Whether it is `false`."""
        return self.schema is False

    def text(self, keyword: str) -> str:
        """What a keyword says, as text; empty if it says nothing."""
        return str(self.says.get(keyword, ""))

    @property
    def types(self) -> list[str]:
        """What `type` names."""
        named = self.says.get("type", [])
        return list(named) if is_array(named) else [named]

    # --- the schemas in it ---

    def made(self, schema: Any, *below: str) -> Node:
        """A schema that stands at a place below this one, or is made of it."""
        return Node(self.schemas, schema, self.at + pointer(*below)[1:] if below else self.at, self.owner)

    def with_keywords(self, **keywords: Any) -> Node:
        """The same schema with other values of some keywords."""
        return self.made({**self.says, **keywords})

    def without(self, *keywords: str) -> Node:
        """The same schema less some keywords."""
        return self.made({key: value for key, value in self.says.items() if key not in keywords})

    def inside(self, keyword: str) -> Node:
        """The schema of a keyword that holds one; everything is accepted where the keyword is not there."""
        return self.made(self.says.get(keyword, True), keyword)

    def each(self, keyword: str) -> list[Node]:
        """The schemas of a keyword that holds a list of them."""
        listed = self.says.get(keyword, ())
        return [self.made(schema, keyword, str(index)) for index, schema in enumerate(listed)]

    def named(self, keyword: str) -> dict[str, Node]:
        """The schemas of a keyword that holds them by name."""
        return {name: self.made(schema, keyword, name) for name, schema in self.says.get(keyword, {}).items()}

    @cached_property
    def parts(self) -> list[Node]:
        """The schemas that judge the same value as this one does: those of `allOf`, and what `$ref` leads to."""
        whole = [self.made({"$ref": self.says["$ref"]})] if "$ref" in self.says else []
        return [*self.each("allOf"), *whole]

    @cached_property
    def whole(self) -> list[Node]:
        """It, its parts and theirs, at any depth: all that judges the same value, each definition once, a part after what has it."""
        found: list[Node] = []
        seen: set[str] = set()
        pending: list[Node] = [self]
        while pending:
            node = pending.pop()
            name = node.reference
            if name is not None and node is not self:
                if name in seen:
                    continue
                seen.add(name)
                node = node.schemas[name]
            found.append(node)
            pending.extend(reversed(node.parts))
        return found

    @cached_property
    def union(self) -> tuple[str, list[Node]] | None:
        """The keyword and branches of the first union that stands directly in it."""
        found = branches_of(self.says)
        return None if found is None else (found[0], self.each(found[0]))

    # --- what follows ---

    @cached_property
    def reference(self) -> str | None:
        """The definition that it only refers to."""
        return lone_reference(self.schema)

    @property
    def referred(self) -> Node | None:
        """The definition that it only refers to, as a node."""
        return None if self.reference is None else self.schemas[self.reference]

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The JSON types that it can accept at most."""
        return self.schemas.kinds(self.schema)

    @cached_property
    def flat(self) -> Flat:
        """What it demands of an object."""
        return flatten({"allOf": [self.schema]}, self.schemas.written, self.schemas.flats)

    @cached_property
    def excluded(self) -> Mapping[str, Tags] | None:
        """The constants per property that `not` refuses; `None` if `not` says anything else."""
        return excluded_tags(self.says["not"]) if "not" in self.says else {}

    @cached_property
    def is_of_objects(self) -> bool:
        """Whether it accepts objects alone: by its type, or because two branches of a `oneOf` accept every other value."""
        if self.kinds == OBJECTS or self.union is None or self.union[0] != "oneOf":
            return self.kinds == OBJECTS
        return sum(all(one.demands <= _OF_OBJECTS for one in branch.whole) for branch in self.union[1]) > 1

    @cached_property
    def tagged(self) -> Tagged | None:
        """The tagged union that it is: a union of objects with a tag, and nothing else."""
        if self.union is None or not self.demands <= {self.union[0], "type"} or not self.is_of_objects:
            return None
        unions = self.schemas.bundle.unions
        if self.owner in unions and self is self.schemas[self.owner]:
            found = unions[self.owner]
        else:
            found = recognise([branch.schema for branch in self.union[1]], self.schemas.written, self.schemas.flats)
        if found is not None and any(branch.kinds != OBJECTS for branch in self.union[1]):
            return found if found.default is None and found.fallback is None else None
        return found


_OF_OBJECTS: Final = BY_KIND["object"] | {"$ref", "allOf"}
