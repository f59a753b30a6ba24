"""Find the schemas of two documents that differ only in names, in references, and in the order of keywords and branches.

They accept the same values, so one is read instead of the other. Definitions that lead back to themselves are taken to be equal until
something inside them differs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from msgspec import Struct

from schema_inclusion.document import (
    DEFINITIONS,
    NAMING,
    SCHEMA_LISTS,
    SCHEMA_TABLES,
    SCHEMAS,
    Dialect,
    SchemaDocument,
    Target,
    list_references,
    resolve,
)
from schema_inclusion.values import Json

MOST_STEPS: Final = 200_000
"""The maximum number of schemas that are classified, each counted in every round. About a second."""

_ANNOTATIONS: Final = frozenset(
    {
        *("title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly"),
        *(*NAMING, *DEFINITIONS),
    }
)
"""Keywords that accept every value. All other keywords without subschemas are compared by their text."""
_SETS: Final = frozenset(("required", "enum", "type"))
_REFERENCES: Final = frozenset(("$ref", "$dynamicRef", "$recursiveRef"))


_Combine: TypeAlias = Callable[[Iterable[int]], Hashable]


def _count(classes: Iterable[int]) -> Hashable:
    return tuple(sorted(classes))


_UNEVALUATED: Final = frozenset(("unevaluatedItems", "unevaluatedProperties"))
_ADJACENT: Final[Mapping[str, tuple[str, ...]]] = {
    "additionalProperties": ("properties", "patternProperties"),
    "additionalItems": ("items",),
    "items": ("prefixItems",),
    "contains": ("minContains", "maxContains"),
}
"""Keywords with a subschema that depend on adjacent keywords."""
MOST_PARTS: Final = 100
"""The maximum number of schemas that are joined to one conjunction."""


def _write_label(keyword: str, schema: Mapping[str, Json]) -> str:
    """The keyword with what adjacent keywords contribute: their names, their number, or their value."""
    adjacent_values = [schema.get(adjacent_keyword) for adjacent_keyword in _ADJACENT.get(keyword, ())]
    return " ".join(
        (
            keyword,
            *(
                repr(len(value) if isinstance(value, list) else sorted(value) if isinstance(value, dict) else value)
                for value in adjacent_values
            ),
        )
    )


_UNORDERED: Final[Mapping[str, _Combine]] = {
    "allOf": frozenset,
    "anyOf": frozenset,
    "oneOf": _count,
}
"""Keywords with branches in any order; `oneOf` counts equal ones."""

_Key: TypeAlias = tuple[int, tuple[int, str, bool]]
"""A schema by its identity, with the key of its scope."""


class Equivalents(Struct, frozen=True):
    """The schemas to read instead of others, and the references to definitions that mean the same in both documents."""

    twins: Mapping[_Key, Target]
    shared: Collection[str]


def find_written_alike(old: SchemaDocument, new: SchemaDocument) -> Equivalents:
    """The definitions that are written alike in two documents, with all that they refer to, which is nothing but definitions."""
    if not _are_comparable(old, new):
        return Equivalents({}, ())
    pairs = dict(_pair_definitions(old, new))
    places = _select_alike(pairs)
    return Equivalents(
        {_make_key(new, pairs[place][1]): Target(pairs[place][0], old.scope) for place in places}, places
    )


def find_equivalents(old: SchemaDocument, new: SchemaDocument) -> Equivalents:
    """The equal schemas of two documents, however they are written. Slower by far."""
    if not _are_comparable(old, new):
        return Equivalents({}, ())
    classes = _Classes()
    try:
        classes.classify(old, new)
    except RecursionError:
        return Equivalents({}, ())
    pairs = _pair_definitions(old, new)
    shared = [
        place for place, (old_schema, new_schema) in pairs if classes.are_equal((old, old_schema), (new, new_schema))
    ]
    return Equivalents(classes.find_twins(), frozenset(shared))


def _are_comparable(left: SchemaDocument, right: SchemaDocument) -> bool:
    """Whether two documents have one dialect, and no identifiers or anchors inside them."""
    inner = (schema for document in (left, right) for schema in document.schemas if schema is not document.root)
    return left.dialect is right.dialect and all(NAMING.isdisjoint(schema) for schema in inner)


def _make_key(document: SchemaDocument, schema: Json) -> _Key:
    return id(schema), document.scope.key


# Definitions that are written alike.


def _pair_definitions(old: SchemaDocument, new: SchemaDocument) -> Iterator[tuple[str, tuple[Json, Json]]]:
    """Yield the definitions with the same name in two documents, with the reference to them."""
    if isinstance(old.root, dict) and isinstance(new.root, dict):
        for keyword in DEFINITIONS:
            old_table, new_table = old.root.get(keyword), new.root.get(keyword)
            if isinstance(old_table, dict) and isinstance(new_table, dict):
                for name in (name for name in old_table if name in new_table):
                    place = name.replace("~", "~0").replace("/", "~1")
                    yield f"#/{keyword}/{place}", (old_table[name], new_table[name])


def _select_alike(pairs: Mapping[str, tuple[Json, Json]]) -> Collection[str]:
    definitions = {place: pair for place, pair in pairs.items() if is_written_alike(*pair)}
    users: dict[str, list[str]] = {}
    for place, (schema, _) in definitions.items():
        for reference in list_references(schema):
            users.setdefault(reference, []).append(place)
    pending = [reference for reference in users if reference not in definitions]
    for reference in pending:  # which grows
        removals = [place for place in users.get(reference, ()) if definitions.pop(place, None) is not None]
        pending += removals
    return definitions.keys()


def is_written_alike(left: Json, right: Json) -> bool:
    """Whether two JSON values are equal and have their members in the same order; fast, but it misses some equal values."""
    try:
        return left == right and repr(left) == repr(right)
    except RecursionError:
        return False


# Schemas that are equal.


class _Node(Struct, frozen=True):
    """A schema: its keywords without subschemas, and its subschemas by keyword, with what makes them one part of its content.

    `depth` is the number of schemas inside whose keywords or branches became its own.
    """

    document: SchemaDocument
    schema: dict[str, Json]
    plain: Hashable
    inner: tuple[tuple[str, _Combine, tuple[_Key | bool, ...]], ...]
    depth: int


@dataclass(slots=True)
class _Classes:
    """Divides schemas into classes of equal ones. `numbers` are the classes."""

    numbers: dict[_Key | bool, int] = field(default_factory=lambda: {False: 0, True: 1})
    _nodes: dict[_Key, _Node] = field(default_factory=dict[_Key, _Node])
    _pending: list[tuple[SchemaDocument, dict[str, Json]]] = field(
        default_factory=list[tuple[SchemaDocument, dict[str, Json]]]
    )
    _found: set[_Key] = field(default_factory=set[_Key])
    _targets: dict[tuple[int, str], Json] = field(default_factory=dict[tuple[int, str], Json])
    _types: dict[_Key, Json] = field(default_factory=dict[_Key, Json])
    _by_content: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    _joined: int = 0

    def classify(self, *documents: SchemaDocument) -> None:
        """Give classes to the roots of documents, to their definitions, and to all that these lead to, as far as `MOST_STEPS` allow."""
        for document in documents:
            root = document.root
            tables = [root.get(keyword) for keyword in DEFINITIONS] if isinstance(root, dict) else []
            for schema in (root, *(schema for table in tables if isinstance(table, dict) for schema in table.values())):
                self._find(document, schema)
        for document, schema in self._pending:  # which grows
            self._nodes[_make_key(document, schema)] = self._read(document, schema)
        self._number_acyclic()
        self._number_cyclic()

    def are_equal(self, *sides: tuple[SchemaDocument, Json]) -> bool:
        """Whether schemas are of one class."""
        keys = (self._find(document, schema) for document, schema in sides)
        numbers = {None if key is None else self.numbers.get(key) for key in keys}
        return None not in numbers and len(numbers) == 1

    def find_twins(self) -> dict[_Key, Target]:
        """The first schema of its class that is not made of others of its class, for each other one that was read."""
        firsts: dict[int, _Node] = {}
        nodes = sorted(self._nodes.items(), key=lambda entry: entry[1].depth)
        numbered = ((key, node, self.numbers[key]) for key, node in nodes if key in self.numbers)
        twins = ((key, node, firsts.setdefault(number, node)) for key, node, number in numbered)
        return {key: Target(first.schema, first.document.scope) for key, node, first in twins if first is not node}

    def _number_acyclic(self) -> None:
        users: dict[_Key | bool, list[_Key]] = {}
        unnumbered: dict[_Key, int] = {}
        for key, node in self._nodes.items():
            inner = {
                inner_key for _, _, schemas in node.inner for inner_key in schemas if inner_key not in self.numbers
            }
            unnumbered[key] = len(inner)
            for inner_key in inner:
                users.setdefault(inner_key, []).append(key)
        ready = [key for key, count in unnumbered.items() if not count]
        for key in ready:  # which grows
            self.numbers[key] = self._number(self._nodes[key])
            for user in users.get(key, ()):
                unnumbered[user] -= 1
                if not unnumbered[user]:
                    ready.append(user)

    def _number_cyclic(self) -> None:
        """Divide the schemas that lead back to themselves, which are one class at first, until nothing changes."""
        cyclic = [key for key in self._nodes if key not in self.numbers]
        self.numbers |= dict.fromkeys(cyclic, 2)
        count = 1
        for _ in range(MOST_STEPS // max(len(cyclic), 1)):
            numbers: dict[_Key | bool, int] = {key: self._number(self._nodes[key]) for key in cyclic}
            self.numbers |= numbers
            before, count = count, len(set(numbers.values()))
            if count == before:
                return
        for key in cyclic:
            del self.numbers[key]

    def _number(self, node: _Node) -> int:
        inner = ((label, combine(self.numbers[key] for key in schemas)) for label, combine, schemas in node.inner)
        return self._by_content.setdefault((node.plain, frozenset(inner)), 3 + len(self._by_content))

    # Reading.

    def _find(self, document: SchemaDocument, schema: Json) -> _Key | bool | None:
        """The key of the schema that a schema stands for, which is to be read; `None` if it is not a schema."""
        schema = self._unwrap(document, schema)
        if not isinstance(schema, dict):
            return schema if isinstance(schema, bool) else None
        key = _make_key(document, schema)
        if key not in self._found:
            self._found.add(key)
            self._pending.append((document, schema))
        return key

    def _unwrap(self, document: SchemaDocument, schema: Json) -> Json:
        """The schema that a schema stands for: the target of a reference, or the only branch, if there is nothing else in it."""
        visited: set[int] = set()
        while isinstance(schema, dict) and id(schema) not in visited:
            visited.add(id(schema))
            match self._list_assertions(document, schema):
                case [("$ref", reference)]:
                    target = self._look_up(document, reference)
                    schema = schema if target is None else target
                case [(keyword, [branch])] if keyword in _UNORDERED:
                    schema = branch
                case _:
                    pass
        return schema

    def _look_up(self, document: SchemaDocument, reference: Json) -> Json:
        """The target of a reference inside a document; `None` for any other."""
        if not isinstance(reference, str):
            return None
        key = (id(document), reference)
        if key not in self._targets:
            target = resolve(document.scope, reference)
            is_inside = target is not None and target.scope.key == document.scope.key
            self._targets[key] = target.schema if target is not None and is_inside else None
        return self._targets[key]

    def _list_assertions(self, document: SchemaDocument, schema: dict[str, Json]) -> list[tuple[str, Json]]:
        """The keywords of a schema without those that accept every value, and without a `type` that all branches have."""
        if document.scope.legacy and "$ref" in schema:
            return [("$ref", schema["$ref"])]
        assertions = {key: value for key, value in schema.items() if key not in _ANNOTATIONS}
        if "type" in assertions and self._find_branch_type(document, schema) == assertions["type"]:
            del assertions["type"]
        return list(assertions.items())

    def _find_type(self, document: SchemaDocument, schema: Json) -> Json:
        """The type that a schema, the target of its reference, or all its branches name; `None` for no or several types."""
        if not isinstance(schema, dict):
            return None
        is_reference = "$ref" in schema and ("type" not in schema or document.scope.legacy)
        if "type" in schema and not is_reference:
            return schema["type"]
        key = _make_key(document, schema)
        if key not in self._types:
            self._types[key] = None
            target = self._look_up(document, schema["$ref"]) if is_reference else None
            self._types[key] = self._find_type(document, target) or self._find_branch_type(document, schema)
        return self._types[key]

    def _find_branch_type(self, document: SchemaDocument, schema: dict[str, Json]) -> Json:
        """The type that all branches of a union in a schema name."""
        for union in (schema[keyword] for keyword in ("anyOf", "oneOf") if keyword in schema):
            types = [self._find_type(document, branch) for branch in union] if isinstance(union, list) else []
            if types and all(branch_type == types[0] for branch_type in types):
                return types[0]
        return None

    def _read(self, document: SchemaDocument, schema: dict[str, Json]) -> _Node:
        plain: set[Hashable] = set()
        inner: list[tuple[str, _Combine, tuple[_Key | bool, ...]]] = []
        before = self._joined
        for part, keyword, value in self._list_conjuncts(document, schema):
            subschemas = self._list_inner(document, part, keyword, value)
            for label, combine, schemas in subschemas:
                keys = [self._find(document, subschema) for subschema in schemas]
                known_keys = tuple(key for key in keys if key is not None)
                if len(known_keys) == len(keys):
                    inner.append((label, combine, known_keys))
                elif keyword == "dependencies" and isinstance(schemas[0], list):
                    plain.add((label, repr(schemas)))
                else:  # what it means is unknown
                    plain.add((label, _make_key(document, schema)))
            if subschemas:
                continue
            if keyword in _REFERENCES:
                plain.add((keyword, _make_key(document, schema)))
            elif keyword == "required" and isinstance(value, list):
                plain |= {(keyword, repr(name)) for name in value}
            elif keyword in _SETS:
                plain.add((keyword, frozenset(map(repr, value if isinstance(value, list) else [value]))))
            else:
                plain.add((keyword, repr(value)))
        return _Node(document, schema, frozenset(plain), tuple(inner), self._joined - before)

    def _list_conjuncts(
        self, document: SchemaDocument, schema: dict[str, Json]
    ) -> list[tuple[dict[str, Json], str, Json]]:
        """The assertions of a schema, of its `allOf` and of its reference, with the schema around each.

        What does not concern the schema alone stays together.
        """
        conjuncts: list[tuple[dict[str, Json], str, Json]] = []
        pending, visited = [schema], {id(schema)}
        for part in pending:  # which grows
            for keyword, value in self._list_assertions(document, part):
                targets = (
                    [self._look_up(document, value)] if keyword == "$ref" else value if keyword == "allOf" else None
                )
                schemas = [self._unwrap(document, target) for target in targets] if isinstance(targets, list) else []
                objects = [conjunct for conjunct in schemas if isinstance(conjunct, dict)]
                is_joint = (
                    len(schemas) == len(objects) > 0
                    and len(visited) <= MOST_PARTS
                    and document.dialect is not Dialect.DRAFT_04
                    and all(_UNEVALUATED.isdisjoint(conjunct) for conjunct in (part, schema, *objects))
                )
                if not is_joint or any(conjunct is schema for conjunct in objects):
                    conjuncts.append((part, keyword, value))
                    continue
                fresh = [conjunct for conjunct in objects if id(conjunct) not in visited]
                visited.update(map(id, fresh))
                pending += fresh
                self._joined += len(fresh)
        return conjuncts

    def _list_inner(
        self, document: SchemaDocument, around: dict[str, Json], keyword: str, value: Json
    ) -> list[tuple[str, _Combine, list[Json]]]:
        """The subschemas of a keyword, and what its reference leads to, by a label with what makes them one part of the content."""
        match keyword, value:
            case "$ref", _:
                return [(keyword, tuple, [self._look_up(document, value)])]
            case (("allOf" | "anyOf" | "oneOf"), list()):
                return [(keyword, _UNORDERED[keyword], self._flatten(document, keyword, value))]
            case "if", _:
                return [(keyword, tuple, [value, around.get("then", True), around.get("else", True)])]
            case _, list() if keyword in SCHEMA_LISTS or keyword in SCHEMAS:
                return [(f"{keyword}/", tuple, value)]
            case _, dict() if keyword in SCHEMA_TABLES:
                return [(f"{keyword}/{name}", tuple, [subschema]) for name, subschema in value.items()]
            case _:
                return [(_write_label(keyword, around), tuple, [value])] if keyword in SCHEMAS else []

    def _flatten(self, document: SchemaDocument, keyword: str, branches: list[Json]) -> list[Json]:
        """The branches, with those of branches that are nothing but such a list themselves in their place."""
        pending, flat = list(branches), list[Json]()
        visited = {id(branches)}
        for branch in pending:  # which grows
            schema = self._unwrap(document, branch)
            match self._list_assertions(document, schema) if isinstance(schema, dict) else []:
                case [(name, list(nested))] if name == keyword and keyword != "oneOf" and nested is not branches:
                    pending += () if id(nested) in visited else nested
                    visited.add(id(nested))
                    self._joined += 1
                case _:
                    flat.append(schema)
        return flat
