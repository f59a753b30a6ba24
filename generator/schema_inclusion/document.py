"""Open a schema document and resolve its references without fetching anything."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property, lru_cache
from typing import Any, Final, TypeAlias, cast
from urllib.parse import unquote

import referencing
import referencing.exceptions
import referencing.jsonschema
from msgspec import Struct

from schema_inclusion.values import Json

Registry: TypeAlias = "referencing.Registry[Any]"
SPECIFICATIONS: Final = cast("Registry", importlib.import_module("jsonschema_specifications").REGISTRY)
"""The published meta-schemas. The package that provides them has no types."""


class Dialect(Enum):
    """The supported versions of JSON Schema, by the URI of their meta-schema."""

    DRAFT_04 = "http://json-schema.org/draft-04/schema"
    DRAFT_06 = "http://json-schema.org/draft-06/schema"
    DRAFT_07 = "http://json-schema.org/draft-07/schema"
    DRAFT_2019_09 = "https://json-schema.org/draft/2019-09/schema"
    DRAFT_2020_12 = "https://json-schema.org/draft/2020-12/schema"


@cache
def list_keywords() -> frozenset[str]:
    """The keywords of all drafts, according to the published meta-schemas."""
    meta_schemas = [cast("Json", SPECIFICATIONS.contents(address)) for address in SPECIFICATIONS]
    tables = [schema.get("properties") for schema in meta_schemas if isinstance(schema, dict)]
    return frozenset(name for table in tables if isinstance(table, dict) for name in table)


_LEGACY: Final = (Dialect.DRAFT_04, Dialect.DRAFT_06, Dialect.DRAFT_07)

SCHEMA_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
SCHEMA_TABLES: Final = ("properties", "patternProperties", "dependentSchemas", "dependencies")
DEFINITIONS: Final = ("$defs", "definitions")
SCHEMAS: Final = (
    *("not", "if", "then", "else", "contains", "propertyNames", "additionalProperties", "additionalItems"),
    *("unevaluatedProperties", "unevaluatedItems", "items"),
)
_HOLDERS: Final = frozenset((*SCHEMA_LISTS, *SCHEMA_TABLES, *DEFINITIONS, *SCHEMAS))
"""The keywords that have subschemas."""

_REFERENCES: Final = frozenset(("$ref", "$dynamicRef", "$recursiveRef"))

_ONLY_LEGACY: Final = frozenset({"additionalItems", "dependencies"})
_ONLY_MODERN: Final = frozenset(
    {
        *("prefixItems", "dependentRequired", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems"),
        *("minContains", "maxContains", "$dynamicRef", "$dynamicAnchor", "$anchor"),
    }
)


class UnknownDialect(ValueError):
    """A document names a dialect that is not supported."""


def _list_subschemas(schema: dict[str, Json], *, definitions: bool) -> Iterator[Json]:
    """Yield the direct subschemas of a schema, in any dialect, with or without those in definitions."""
    if _HOLDERS.isdisjoint(schema):
        return
    for keyword in SCHEMAS:
        if keyword in schema:
            inner = schema[keyword]
            if isinstance(inner, list):
                yield from inner
            else:
                yield inner
    for keyword in SCHEMA_LISTS:
        subschemas = schema.get(keyword)
        if isinstance(subschemas, list):
            yield from subschemas
    for keyword in (*SCHEMA_TABLES, *(DEFINITIONS if definitions else ())):
        table = schema.get(keyword)
        if isinstance(table, dict):
            yield from table.values()


def list_schemas(root: Json) -> Iterator[dict[str, Json]]:
    """Yield the schema objects of a document, each once.

    These are all its objects if a reference leads to a place that is not a subschema of any keyword.
    """
    schemas = list(walk_schemas(root))
    return _walk_objects(root) if any(map(_leads_elsewhere, schemas)) else iter(schemas)


def walk_schemas(root: Json, *, definitions: bool = True) -> Iterator[dict[str, Json]]:
    """Yield a schema and its nested subschemas, with or without definitions, each object once. Not recursive."""
    pending = [root]
    visited: set[int] = set()
    while pending:
        schema = pending.pop()
        if isinstance(schema, dict) and id(schema) not in visited:
            visited.add(id(schema))
            yield schema
            pending.extend(_list_subschemas(schema, definitions=definitions))


def _walk_objects(root: Json) -> Iterator[dict[str, Json]]:
    """Yield all objects of a document, each once, also those that are a schema only because a reference leads to them."""
    pending = [root]
    visited: set[int] = set()
    while pending:
        value = pending.pop()
        if id(value) in visited or not isinstance(value, (dict, list)):
            continue
        visited.add(id(value))
        if isinstance(value, dict):
            yield value
            pending.extend(value.values())
        else:
            pending.extend(value)


def _leads_elsewhere(schema: dict[str, Json]) -> bool:
    """Whether a reference of the schema has a JSON Pointer through anything but keywords that have subschemas."""
    return not _REFERENCES.isdisjoint(schema) and any(
        _is_elsewhere(str(schema[key])) for key in _REFERENCES & schema.keys()
    )


_NAMED: Final = "|".join((*SCHEMA_TABLES, *DEFINITIONS)).replace("$", r"\$")
_PLACE_OF_SCHEMA: Final = re.compile(
    rf"(?:/(?:(?:{_NAMED})/[^/]*|(?:{'|'.join(SCHEMA_LISTS)}|items)/\d+|(?:{'|'.join(SCHEMAS)})))*"
)


@lru_cache(maxsize=4096)
def _is_elsewhere(reference: str) -> bool:
    fragment = reference.partition("#")[2]
    return fragment.startswith(("/", "%")) and not _PLACE_OF_SCHEMA.fullmatch(unquote(fragment))


def find_dialect(root: Json, unnamed: Dialect | None = None) -> Dialect:
    """The dialect that a document names; otherwise `unnamed`, or the dialect that its keywords indicate, by default 2020-12.

    Raises `UnknownDialect`.
    """
    uri = root.get("$schema") if isinstance(root, dict) else None
    if isinstance(uri, str):
        dialect = _find_dialect(uri)
        if dialect is None:
            raise UnknownDialect(uri)
        return dialect
    return unnamed or _guess_dialect(root)


def _find_dialect(address: str) -> Dialect | None:
    plain = address.rstrip("#").replace("https:", "http:")
    return next((dialect for dialect in Dialect if dialect.value.replace("https:", "http:") == plain), None)


def names_other_dialect(schema: dict[str, Json], dialect: Dialect) -> bool:
    """Whether a schema names a dialect other than that of the document."""
    uri = schema.get("$schema")
    return isinstance(uri, str) and _find_dialect(uri) is not dialect


def _guess_dialect(root: Json) -> Dialect:
    legacy = False
    for schema in walk_schemas(root):
        if not _ONLY_MODERN.isdisjoint(schema):
            return Dialect.DRAFT_2020_12
        if isinstance(schema.get("exclusiveMinimum"), bool) or isinstance(schema.get("exclusiveMaximum"), bool):
            return Dialect.DRAFT_04
        legacy = legacy or not _ONLY_LEGACY.isdisjoint(schema) or isinstance(schema.get("items"), list)
    return Dialect.DRAFT_07 if legacy else Dialect.DRAFT_2020_12


class Anchors(Struct, frozen=True):
    """The anchors that decide the targets of the dynamic references of a document.

    `dynamic` and `recursive` count its anchors, `resources` has the identities of its schemas. The published meta-schemas are shared by
    all documents; `is_own`: this document has none of their anchors and refers only to the meta-schema of its dialect, so that every
    path into them begins there, and their dynamic references lead there.
    """

    dynamic: Counter[str]
    recursive: int
    resources: frozenset[int]
    is_own: bool


NAMING: Final = frozenset(("$anchor", "$dynamicAnchor", "$id", "id"))
_LEADING: Final = frozenset((*_REFERENCES, "$dynamicAnchor", "$recursiveAnchor", "$id"))


class Scope(Struct, frozen=True, eq=False):
    """The base for resolving references: a resource, by the identity of its schema, in a document with the anchors.

    The resolver is that of `referencing`, which does not export its class.
    """

    resolver: Any
    resource: int
    dialect: Dialect
    anchors: Anchors

    @property
    def key(self) -> tuple[int, str, bool]:
        """A key that is equal for scopes in which every schema has the same meaning."""
        return self.resource, self.dialect.value, self.anchors.is_own

    @property
    def legacy(self) -> bool:
        """Whether the dialect is draft-07 or older."""
        return self.dialect in _LEGACY


class Target(Struct, frozen=True, eq=False):
    """The target of a reference, and the scope to read it in."""

    schema: Json
    scope: Scope


@dataclass(frozen=True, eq=False)
class SchemaDocument:
    """A schema document with all schemas in it. Its parts are identified by their Python identity, so it must not change."""

    root: Json
    dialect: Dialect
    scope: Scope
    registry: Registry
    schemas: tuple[dict[str, Json], ...]

    @cached_property
    def is_dynamic(self) -> bool:
        """Whether the meaning of a reference may depend on the path to it.

        The published meta-schemas have dynamic references, too.
        """
        return any(
            "$dynamicRef" in schema or "$recursiveRef" in schema or "json-schema.org/" in str(schema.get("$ref", ""))
            for schema in self.schemas
        )


def open_document(
    root: Json, dialect: Dialect | None = None, schemas: tuple[dict[str, Json], ...] | None = None
) -> SchemaDocument:
    """Open a schema as a document, in the given dialect or its own. `schemas` is the result of `list_schemas`, if available.

    Raises `UnknownDialect`.
    """
    effective_dialect = find_dialect(root) if dialect is None else dialect
    schema_objects = tuple(list_schemas(root)) if schemas is None else schemas
    resource = _make_resource(root, effective_dialect)
    registry = _make_registry(resource, schema_objects)
    anchors = Anchors(
        Counter(str(schema["$dynamicAnchor"]) for schema in schema_objects if "$dynamicAnchor" in schema),
        sum(schema.get("$recursiveAnchor") is True for schema in schema_objects),
        frozenset((id(root), *map(id, schema_objects))),
        all(_leads_to(effective_dialect.value, schema) for schema in schema_objects if not _LEADING.isdisjoint(schema)),
    )
    scope = Scope(registry.resolver(resource.id() or ""), id(root), effective_dialect, anchors)
    return SchemaDocument(root, effective_dialect, scope, registry, schema_objects)


def _make_registry(resource: referencing.Resource[Any], schemas: tuple[dict[str, Json], ...]) -> Registry:
    """A registry of the published meta-schemas and a schema, with indexed anchors and identifiers: no lookup searches the schema."""
    plain: Registry = SPECIFICATIONS.with_resource(resource.id() or "", resource)
    if not any(not NAMING.isdisjoint(schema) for schema in schemas):
        return plain
    try:
        full_registry: Registry = plain.crawl()
    except (referencing.exceptions.Unresolvable, AttributeError, KeyError, ValueError, TypeError):
        return plain  # an odd identifier or keyword: the lookup that comes to it says so
    # An identifier inside names nothing that is known by it already: the whole, or a meta-schema.
    return full_registry if all(full_registry[uri].contents is plain[uri].contents for uri in plain) else plain


def _make_resource(root: Json, dialect: Dialect) -> referencing.Resource[Any]:
    return referencing.jsonschema.specification_with(dialect.value).create_resource(cast("Any", root))


def enter(scope: Scope, schema: dict[str, Json]) -> Scope:
    """The scope inside a schema: a new one if the schema has its own identifier."""
    identifier = schema.get("id" if scope.dialect is Dialect.DRAFT_04 else "$id")
    if not isinstance(identifier, str) or id(schema) == scope.resource:
        return scope
    if scope.legacy and ("$ref" in schema or identifier.startswith("#")):
        return scope
    resolver = scope.resolver.in_subresource(_make_resource(schema, scope.dialect))
    return Scope(resolver, id(schema), scope.dialect, scope.anchors)


def resolve(scope: Scope, reference: str) -> Target | None:
    """Resolve a reference; `None` if its target is outside the document and the published meta-schemas."""
    try:
        resolution = scope.resolver.lookup(reference)
        resource = resolution.resolver.lookup("#").contents
    except (referencing.exceptions.Unresolvable, KeyError, ValueError, TypeError):
        # `referencing` lets a pointer through a number or a word escape as a `TypeError`, an odd address as `ValueError`, and an anchor
        # of a resource that no keyword leads to as a `KeyError`.
        return None
    return Target(
        cast("Json", resolution.contents), Scope(resolution.resolver, id(resource), scope.dialect, scope.anchors)
    )


def list_references(schema: Json) -> Iterator[str]:
    """Yield the references of a schema and its subschemas, percent-decoded. One into a definition is yielded as one to the definition."""
    for subschema in walk_schemas(schema):
        if not _REFERENCES.isdisjoint(subschema):
            for keyword in _REFERENCES & subschema.keys():
                yield "/".join(unquote(str(subschema[keyword])).split("/", 3)[:3])


def find_unplaced(document: SchemaDocument) -> Iterator[Json]:
    """Yield the targets of references that are not subschemas of any keyword.

    Validating the document by its meta-schema does not cover them.
    """
    if not any(map(_leads_elsewhere, document.schemas)):
        return
    placed_schemas = set(map(id, walk_schemas(document.root)))
    pending: list[tuple[Json, Scope]] = [(document.root, document.scope)]
    visited: set[int] = set()
    while pending:
        schema, outer_scope = pending.pop()
        if not isinstance(schema, dict) or id(schema) in visited:
            continue
        visited.add(id(schema))
        scope = enter(outer_scope, schema)
        pending.extend((subschema, scope) for subschema in _list_subschemas(schema, definitions=True))
        for reference in (schema[keyword] for keyword in _REFERENCES if keyword in schema):
            target = resolve(scope, reference) if isinstance(reference, str) else None
            if target is None or id(target.schema) in placed_schemas or target.scope.resource in _list_published():
                continue
            if isinstance(target.schema, bool):
                continue
            placed_schemas.add(id(target.schema))
            yield target.schema
            pending.append((target.schema, target.scope))


def has_only_dynamic_target(scope: Scope, reference: str) -> bool:
    """Whether a dynamic reference can only have one target in the document."""
    name = reference.rpartition("#")[2]
    return scope.resource in scope.anchors.resources and scope.anchors.dynamic[name] <= 1


def has_only_recursive_target(scope: Scope) -> bool:
    """Whether a recursive reference of 2019-09 can only have the resource that contains it as its target."""
    return scope.resource in scope.anchors.resources and scope.anchors.recursive <= 1


def find_outermost_published(scope: Scope, keyword: str, name: Json) -> Target | None:
    """The target of a dynamic reference in the published meta-schemas: the outermost anchor `name` on every path to it.

    `None` if paths differ in it.
    """
    if scope.resource not in _list_published() or not scope.anchors.is_own:
        return None
    target = resolve(scope, scope.dialect.value)
    contents = target.schema if target is not None else None
    return target if isinstance(contents, dict) and contents.get(keyword) == name else None


def _leads_to(meta_schema: str, schema: dict[str, Json]) -> bool:
    """Whether a schema has no anchor of the meta-schemas, and refers to no published meta-schema except `meta_schema`."""
    return (
        schema.get("$dynamicAnchor") != "meta"
        and schema.get("$recursiveAnchor") is not True
        and "json-schema.org" not in str(schema.get("$id"))
        and not any(_is_foreign(str(schema[keyword]), meta_schema) for keyword in _REFERENCES & schema.keys())
    )


def _is_foreign(reference: str, meta_schema: str) -> bool:
    return "json-schema.org" in reference and reference.partition("#")[0] != meta_schema


@cache
def _list_published() -> frozenset[int]:
    return frozenset(id(SPECIFICATIONS[address].contents) for address in SPECIFICATIONS)


def names_one_of_several(scope: Scope, reference: str) -> bool:
    """Whether a plain reference names a dynamic anchor whose name is not unique in the document.

    Its target is the anchor in the resource that it leads to; but `referencing`, and thus its validators, take the outermost one.
    """
    name = reference.rpartition("#")[2]
    if scope.dialect is not Dialect.DRAFT_2020_12 or "#" not in reference or not name or name.startswith("/"):
        return False
    return not has_only_dynamic_target(scope, reference)
