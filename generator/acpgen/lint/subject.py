"""The input of lint rules: the files of one protocol, every schema in them with its location and role, and their bundle."""

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
from acpgen.input.reference_resolution import ReferenceResolver, SchemaPlace
from acpgen.input.schema_nodes import Node, Schemas
from acpgen.input.tagged_unions import Tagged, find_branches, is_null, list_type_names, recognise
from acpgen.input.walk import Schema, is_object, list_children
from acpgen.pointers import write_pointer

Role: TypeAlias = Literal["document", "definition", "field", "branch", "part"]

_ROLES: Mapping[str, Role] = {"$defs": "definition", "properties": "field", "anyOf": "branch", "oneOf": "branch"}


@dataclass(frozen=True)
class SourceNode:
    """One schema in a file: `parts` are the keys that lead to it, `owner` is the directly enclosing schema."""

    file: str
    parts: tuple[str, ...]
    schema: Schema = field(repr=False, compare=False)
    role: Role
    owner: SourceNode | None = field(repr=False, compare=False)

    @cached_property
    def is_choice(self) -> bool:
        """Whether the schema is a union with more than one branch besides null. Cached, because each of its branches needs it."""
        union = find_branches(self.schema)
        return union is not None and sum(1 for branch in union[1] if not is_null(branch)) > 1

    @property
    def at(self) -> str:
        """`file#/pointer`, the format of origins in the bundle."""
        return self.file + write_pointer(*self.parts)

    @property
    def name(self) -> str:
        """The last key: the name of a definition or field; of a whole file, its path."""
        return self.parts[-1] if self.parts else self.file

    def list_enclosing(self) -> Iterator[SourceNode]:
        """Yield the schema itself and its enclosing schemas, innermost first."""
        node: SourceNode | None = self
        while node is not None:
            yield node
            node = node.owner


@dataclass(frozen=True, slots=True)
class Remark:
    """The message of a rule about one location (`file#/pointer`)."""

    at: str
    sentence: str


def make_remark(fault: Fault) -> Remark:
    """Convert a fault of the bundle to a remark."""
    sentence = fault.join_text()
    return Remark(fault.at, sentence[:1].upper() + sentence[1:])


@dataclass(frozen=True, slots=True)
class ObjectUnion:
    """A union of objects: its branches without null, and the tagged union that they form; `None` if they form none."""

    branches: tuple[Node, ...]
    tagged: Tagged | None


@dataclass(frozen=True, eq=False)
class Subject:
    """One protocol version to lint. Its parts are computed on first use."""

    source: Source
    found: Documents

    @property
    def documents(self) -> tuple[Document, ...]:
        """The files of the protocol."""
        return self.found.documents

    @cached_property
    def nodes(self) -> tuple[SourceNode, ...]:
        """Every schema of every file, in the order of the text, without boolean schemas."""
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
        """The files as one schema; `None` if they cannot be bundled, for the reasons in `faults`."""
        return self._bundled if isinstance(self._bundled, Bundle) else None

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The reasons why the files cannot be bundled; empty if they can."""
        return () if isinstance(self._bundled, Bundle) else self._bundled

    @cached_property
    def collected(self) -> Collected | None:
        """The definitions as written in the files, under local names; `None` if a reference or a name makes that impossible."""
        try:
            return collect(self.found)
        except Faults:
            return None

    @cached_property
    def object_unions(self) -> tuple[ObjectUnion, ...]:
        """Each union of objects in a definition; schemas under `not` and envelopes are left out."""
        if self.collected is None:
            return ()
        definitions = Schemas(self.collected.definitions, self.collected.origins)
        unions = (_make_object_union(union) for node in definitions.values() for union in _find_unions(node))
        return tuple(union for union in unions if union is not None)

    def find_target(self, node: SourceNode) -> SourceNode | None:
        """The target of the `$ref` of `node`; `None` if there is no `$ref` or it does not have exactly one target."""
        ref = node.schema.get("$ref")
        if not isinstance(ref, str):
            return None
        targets = self._addresses.find_targets(SchemaPlace(node.file, node.parts), ref)
        return self.by_place.get(targets[0].at) if len(targets) == 1 else None

    @cached_property
    def _addresses(self) -> ReferenceResolver:
        addresses = ReferenceResolver(self.found.values_by_uri)
        for node in self.nodes:
            if not node.parts:
                addresses.admit(node.file, node.schema)
            place = SchemaPlace(node.file, node.parts)
            addresses.enter(place, node.schema, addresses.find_draft(place, node.schema) or MODERN)
        return addresses

    def list_subschemas(self, node: SourceNode) -> Iterator[SourceNode]:
        """Yield the direct subschemas of `node`, without boolean schemas."""
        for path, child in list_children(node.schema):
            inner = (
                self.by_place.get(node.file + write_pointer(*node.parts, *path)) if isinstance(child, dict) else None
            )
            if inner is not None:
                yield inner

    def admits_null(self, node: SourceNode, answers: dict[str, bool] | None = None) -> bool:
        """Whether a schema accepts null, judging by types, constants, references and unions. `answers` caches results by location."""
        answers = {} if answers is None else answers
        if node.at not in answers:
            answers[node.at] = False  # references that lead only to one another; another rule says so
            answers[node.at] = self._admits_null(node, answers)
        return answers[node.at]

    def _admits_null(self, node: SourceNode, answers: dict[str, bool]) -> bool:
        schema = node.schema
        if "null" not in (list_type_names(schema) or ["null"]):
            return False
        if schema.get("const") is not None or ("enum" in schema and None not in schema["enum"]):
            return False
        if "$ref" in schema:
            target = self.find_target(node)
            if target is None or not self.admits_null(target, answers):
                return False
        admissions: dict[str, list[Any]] = {"anyOf": [], "oneOf": [], "allOf": []}
        for child in self.list_subschemas(node):
            key = child.parts[len(node.parts)]
            if key in admissions:
                admissions[key].append(self.admits_null(child, answers))
        return all(any(admissions[key]) for key in ("anyOf", "oneOf") if admissions[key]) and all(admissions["allOf"])


def _walk(node: SourceNode) -> Iterator[SourceNode]:
    yield node
    for path, child in list_children(node.schema):
        if is_object(child):
            role = _ROLES.get(path[0], "part")
            yield from _walk(SourceNode(node.file, (*node.parts, *path), child, role, node))


def _find_unions(node: Node) -> Iterator[Node]:
    """Yield the unions in a definition."""
    if node.says.get("x-docs-ignore"):
        return
    if node.union is not None:
        yield node
    for keys, child in list_children(node.says):
        if is_object(child) and keys[0] != "not":
            yield from _find_unions(node.make(child, *keys))


def _make_object_union(union: Node) -> ObjectUnion | None:
    """Make a union of objects, without null; `None` if a branch may be something else."""
    branches = tuple(branch for branch in union.branches if not branch.is_null)
    if not all(is_object(branch.schema) and branch.shape.is_object for branch in branches):
        return None
    return ObjectUnion(branches, recognise([branch.shape for branch in branches]))
