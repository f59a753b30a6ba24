"""What the rules of lint look at: the files of one protocol, every schema in them with its place and role, and their bundle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

from acpgen.bundle.bundle import Bundle
from acpgen.bundle.bundle import bundle as bundled
from acpgen.bundle.collect import Collected, collect
from acpgen.errors import Fault, Faults
from acpgen.input.drafts import MODERN
from acpgen.input.load import Document, Documents, Source
from acpgen.input.reference_resolution import Addresses, SchemaPlace
from acpgen.input.schema_nodes import Node, Schemas
from acpgen.input.tagged_unions import Tagged, branches_of, is_null, recognise
from acpgen.input.walk import Schema, children, is_object
from acpgen.pointers import pointer

Role: TypeAlias = Literal["document", "definition", "field", "branch", "part"]

_ROLES: Mapping[str, Role] = {"$defs": "definition", "properties": "field", "anyOf": "branch", "oneOf": "branch"}


@dataclass(frozen=True)
class SourceNode:
    """One schema in a file: `parts` are the keys that lead to it, `owner` is the schema directly around it."""

    file: str
    parts: tuple[str, ...]
    schema: Schema = field(repr=False, compare=False)
    role: Role
    owner: SourceNode | None = field(repr=False, compare=False)

    @cached_property
    def is_choice(self) -> bool:
        """Whether the schema is a union with more than one branch beside null. Each of its branches asks."""
        union = branches_of(self.schema)
        return union is not None and sum(1 for branch in union[1] if not is_null(branch)) > 1

    @property
    def at(self) -> str:
        """`file#/pointer`, as the bundle writes origins."""
        return self.file + pointer(*self.parts)

    @property
    def name(self) -> str:
        """The last key: the name of a definition or field."""
        return self.parts[-1] if self.parts else self.file

    def around(self) -> Iterator[SourceNode]:
        """The schema itself and those around it, from the inside out."""
        node: SourceNode | None = self
        while node is not None:
            yield node
            node = node.owner


@dataclass(frozen=True, slots=True)
class Remark:
    """What a rule has to say about one place (`file#/pointer`)."""

    at: str
    sentence: str


def make_remark(fault: Fault) -> Remark:
    """A fault of the bundle as a remark."""
    what = fault.what()
    return Remark(fault.at, what[:1].upper() + what[1:])


@dataclass(frozen=True, slots=True)
class ObjectUnion:
    """A union of objects: its branches, null aside, and the tagged union that they make."""

    branches: tuple[Node, ...]
    tagged: Tagged | None


@dataclass(frozen=True, eq=False)
class Subject:
    """One protocol version under examination. Its parts are made when a rule first asks for them."""

    source: Source
    found: Documents

    @property
    def documents(self) -> tuple[Document, ...]:
        """The files of the protocol."""
        return self.found.documents

    @cached_property
    def nodes(self) -> tuple[SourceNode, ...]:
        """Every schema of every file, in the order of the text, boolean schemas left out."""
        return tuple(
            node
            for document in self.documents
            if isinstance(document.value, dict)
            for node in _walk(SourceNode(document.path, (), document.value, "document", None))
        )

    @cached_property
    def by_place(self) -> Mapping[str, SourceNode]:
        """Every schema by its `file#/pointer`."""
        return {node.at: node for node in self.nodes}

    @cached_property
    def definitions(self) -> tuple[SourceNode, ...]:
        """The members of `$defs` of every file."""
        return tuple(node for node in self.nodes if node.role == "definition")

    @cached_property
    def _bundled(self) -> Bundle | tuple[Fault, ...]:
        try:
            return bundled(self.found)
        except Faults as caught:
            return caught.faults

    @property
    def bundle(self) -> Bundle | None:
        """The files as one schema; `None` where they cannot be brought together, and `faults` says why."""
        return self._bundled if isinstance(self._bundled, Bundle) else None

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Why the files cannot be brought together; empty if they can."""
        return () if isinstance(self._bundled, Bundle) else self._bundled

    @cached_property
    def collected(self) -> Collected | None:
        """The definitions as they were written, under local names; `None` where a reference or a name stands in the way."""
        try:
            return collect(self.found)
        except Faults:
            return None

    @cached_property
    def object_unions(self) -> tuple[ObjectUnion, ...]:
        """Each union of objects in a definition, recognised once; what a `not` excludes and what an envelope lists are none."""
        if self.collected is None:
            return ()
        definitions = Schemas(self.collected.definitions, self.collected.origins)
        unions = (_make_object_union(union) for one in definitions.values() for union in _find_unions(one))
        return tuple(union for union in unions if union is not None)

    def target(self, node: SourceNode) -> SourceNode | None:
        """The schema that the `$ref` of `node` leads to; `None` where it leads nowhere or there is no `$ref`."""
        ref = node.schema.get("$ref")
        if not isinstance(ref, str):
            return None
        targets = self._addresses.targets(SchemaPlace(node.file, node.parts), ref)
        return self.by_place.get(targets[0].at) if len(targets) == 1 else None

    @cached_property
    def _addresses(self) -> Addresses:
        addresses = Addresses(self.found.reference_values)
        for node in self.nodes:
            if not node.parts:
                addresses.admit(node.file, node.schema)
            place = SchemaPlace(node.file, node.parts)
            addresses.enter(place, node.schema, addresses.draft(place, node.schema) or MODERN)
        return addresses

    def below(self, node: SourceNode) -> Iterator[SourceNode]:
        """The schemas directly inside `node`."""
        for path, child in children(node.schema):
            inner = self.by_place.get(node.file + pointer(*node.parts, *path)) if isinstance(child, dict) else None
            if inner is not None:
                yield inner

    def admits_null(self, node: SourceNode, answers: dict[str, bool] | None = None) -> bool:
        """Whether a schema accepts null, as far as types, constants, references and unions tell. `answers` are those that were reached."""
        answers = {} if answers is None else answers
        if node.at not in answers:
            answers[node.at] = False  # references that lead only to one another; another rule says so
            answers[node.at] = self._admits_null(node, answers)
        return answers[node.at]

    def _admits_null(self, node: SourceNode, answers: dict[str, bool]) -> bool:
        schema = node.schema
        types = schema.get("type", "null")
        if "null" not in (types if isinstance(types, list) else [types]):
            return False
        if schema.get("const") is not None or ("enum" in schema and None not in schema["enum"]):
            return False
        if "$ref" in schema:
            target = self.target(node)
            if target is None or not self.admits_null(target, answers):
                return False
        inside: dict[str, list[Any]] = {"anyOf": [], "oneOf": [], "allOf": []}
        for child in self.below(node):
            key = child.parts[len(node.parts)]
            if key in inside:
                inside[key].append(self.admits_null(child, answers))
        return all(any(inside[key]) for key in ("anyOf", "oneOf") if inside[key]) and all(inside["allOf"])


def _walk(node: SourceNode) -> Iterator[SourceNode]:
    yield node
    for path, child in children(node.schema):
        if is_object(child):
            role = _ROLES.get(path[0], "part")
            yield from _walk(SourceNode(node.file, (*node.parts, *path), child, role, node))


def _find_unions(node: Node) -> Iterator[Node]:
    """The unions in a definition."""
    if node.says.get("x-docs-ignore"):
        return
    if node.union is not None:
        yield node
    for keys, child in children(node.says):
        if is_object(child) and keys[0] != "not":
            yield from _find_unions(node.make(child, *keys))


def _make_object_union(union: Node) -> ObjectUnion | None:
    """A union of objects, null aside; `None` where a branch may be something else."""
    branches = tuple(branch for branch in union.branches if not branch.is_null)
    if not all(is_object(branch.schema) and branch.shape.is_object for branch in branches):
        return None
    return ObjectUnion(branches, recognise([branch.shape for branch in branches]))
