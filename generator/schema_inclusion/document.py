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

from schema_inclusion.values import Json

Registry: TypeAlias = "referencing.Registry[Any]"
SPECIFICATIONS: Final = cast("Registry", importlib.import_module("jsonschema_specifications").REGISTRY)
"""The published meta-schemas. The module that holds them has no types."""


class Dialect(Enum):
    """The versions of JSON Schema that are understood, by the address of their meta-schema."""

    DRAFT_04 = "http://json-schema.org/draft-04/schema"
    DRAFT_06 = "http://json-schema.org/draft-06/schema"
    DRAFT_07 = "http://json-schema.org/draft-07/schema"
    DRAFT_2019_09 = "https://json-schema.org/draft/2019-09/schema"
    DRAFT_2020_12 = "https://json-schema.org/draft/2020-12/schema"


@cache
def list_keywords() -> frozenset[str]:
    """The keywords of every draft, as the published meta-schemas list them."""
    listed = [cast("Json", SPECIFICATIONS.contents(address)) for address in SPECIFICATIONS]
    tables = [schema.get("properties") for schema in listed if isinstance(schema, dict)]
    return frozenset(name for table in tables if isinstance(table, dict) for name in table)


_LEGACY: Final = (Dialect.DRAFT_04, Dialect.DRAFT_06, Dialect.DRAFT_07)

_SCHEMA_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_SCHEMA_TABLES: Final = ("properties", "patternProperties", "dependentSchemas", "dependencies")
_DEFINITIONS: Final = ("$defs", "definitions")
_SCHEMAS: Final = (
    *("not", "if", "then", "else", "contains", "propertyNames", "additionalProperties", "additionalItems"),
    *("unevaluatedProperties", "unevaluatedItems", "items"),
)
_HOLDERS: Final = frozenset((*_SCHEMA_LISTS, *_SCHEMA_TABLES, *_DEFINITIONS, *_SCHEMAS))
"""The keywords that have schemas."""

_REFERENCES: Final = frozenset(("$ref", "$dynamicRef", "$recursiveRef"))

_ONLY_LEGACY: Final = frozenset({"additionalItems", "dependencies"})
_ONLY_MODERN: Final = frozenset(
    {
        *("prefixItems", "dependentRequired", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems"),
        *("minContains", "maxContains", "$dynamicRef", "$dynamicAnchor", "$anchor"),
    }
)


class UnknownDialect(ValueError):
    """The document names a dialect that is not understood."""


def _list_subschemas(schema: dict[str, Json], *, definitions: bool) -> Iterator[Json]:
    """The schemas directly inside a schema, of whatever dialect; with or without those that it only defines."""
    if _HOLDERS.isdisjoint(schema):
        return
    for keyword in _SCHEMAS:
        if keyword in schema:
            inner = schema[keyword]
            if isinstance(inner, list):
                yield from inner
            else:
                yield inner
    for keyword in _SCHEMA_LISTS:
        listed = schema.get(keyword)
        if isinstance(listed, list):
            yield from listed
    for keyword in (*_SCHEMA_TABLES, *(_DEFINITIONS if definitions else ())):
        table = schema.get(keyword)
        if isinstance(table, dict):
            yield from table.values()


def list_schemas(root: Json) -> Iterator[dict[str, Json]]:
    """All schema objects of a document, each once: all objects if a reference leads to a place where no keyword has a schema."""
    known = list(walk_schemas(root))
    return _walk_objects(root) if any(map(_leads_elsewhere, known)) else iter(known)


def walk_schemas(root: Json, *, definitions: bool = True) -> Iterator[dict[str, Json]]:
    """The schema objects where keywords have schemas, or all but definitions, each once; walks with a list of its own."""
    pending = [root]
    seen: set[int] = set()
    while pending:
        schema = pending.pop()
        if isinstance(schema, dict) and id(schema) not in seen:
            seen.add(id(schema))
            yield schema
            pending.extend(_list_subschemas(schema, definitions=definitions))


def _walk_objects(root: Json) -> Iterator[dict[str, Json]]:
    """All objects of a document, those too that are a schema only because a reference leads to them, each once."""
    pending = [root]
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if id(value) in seen or not isinstance(value, (dict, list)):
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            yield value
            pending.extend(value.values())
        else:
            pending.extend(value)


def _leads_elsewhere(schema: dict[str, Json]) -> bool:
    """Whether a reference of the schema has a JSON Pointer through anything but keywords that have schemas."""
    return not _REFERENCES.isdisjoint(schema) and any(
        _is_elsewhere(str(schema[key])) for key in _REFERENCES & schema.keys()
    )


_NAMED: Final = "|".join((*_SCHEMA_TABLES, *_DEFINITIONS)).replace("$", r"\$")
_PLACE_OF_SCHEMA: Final = re.compile(
    rf"(?:/(?:(?:{_NAMED})/[^/]*|(?:{'|'.join(_SCHEMA_LISTS)}|items)/\d+|(?:{'|'.join(_SCHEMAS)})))*"
)


@lru_cache(maxsize=4096)
def _is_elsewhere(reference: str) -> bool:
    fragment = reference.partition("#")[2]
    return fragment.startswith(("/", "%")) and not _PLACE_OF_SCHEMA.fullmatch(unquote(fragment))


def dialect_of(root: Json, unnamed: Dialect | None = None) -> Dialect:
    """The dialect that a document names; if none, the one given, or that of its keywords, and 2020-12 if they do not tell.

    Raises `UnknownDialect`.
    """
    named = root.get("$schema") if isinstance(root, dict) else None
    if isinstance(named, str):
        dialect = _find_dialect(named)
        if dialect is None:
            raise UnknownDialect(named)
        return dialect
    return unnamed or _guess_dialect(root)


def _find_dialect(address: str) -> Dialect | None:
    plain = address.rstrip("#").replace("https:", "http:")
    return next((each for each in Dialect if each.value.replace("https:", "http:") == plain), None)


def in_another_dialect(schema: dict[str, Json], dialect: Dialect) -> bool:
    """Whether a schema names a dialect that is not the document's."""
    named = schema.get("$schema")
    return isinstance(named, str) and _find_dialect(named) is not dialect


def _guess_dialect(root: Json) -> Dialect:
    legacy = False
    for schema in walk_schemas(root):
        if not _ONLY_MODERN.isdisjoint(schema):
            return Dialect.DRAFT_2020_12
        if isinstance(schema.get("exclusiveMinimum"), bool) or isinstance(schema.get("exclusiveMaximum"), bool):
            return Dialect.DRAFT_04
        legacy = legacy or not _ONLY_LEGACY.isdisjoint(schema) or isinstance(schema.get("items"), list)
    return Dialect.DRAFT_07 if legacy else Dialect.DRAFT_2020_12


@dataclass(frozen=True, slots=True)
class Anchors:
    """What decides where the dynamic references of a document lead.

    `dynamic` and `recursive` count its anchors, `resources` has the identities of its schemas. The published meta-schemas are the
    same for all documents; `is_own` says that this one has no anchor of theirs and leads to the meta-schema of its dialect alone:
    there every way into them begins, and there their dynamic references lead.
    """

    dynamic: Counter[str]
    recursive: int
    resources: frozenset[int]
    is_own: bool


_NAMING: Final = frozenset(("$anchor", "$dynamicAnchor", "$id", "id"))
_LEADING: Final = frozenset((*_REFERENCES, "$dynamicAnchor", "$recursiveAnchor", "$id"))


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """Where references are resolved from: a resource, by the identity of its schema, of a document with the anchors.

    The resolver is one of `referencing`, which does not export their class.
    """

    resolver: Any
    resource: int
    dialect: Dialect
    anchors: Anchors

    @property
    def key(self) -> tuple[int, str, bool]:
        """What is the same of scopes in which every schema means the same."""
        return self.resource, self.dialect.value, self.anchors.is_own

    @property
    def legacy(self) -> bool:
        """Whether the dialect is draft-07 or older."""
        return self.dialect in _LEGACY


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """What a reference points at, and the scope to read it in."""

    schema: Json
    scope: Scope


@dataclass(frozen=True, eq=False)
class SchemaDocument:
    """One schema document, with every schema in it. Its parts are known by their Python identity, so it must not change."""

    root: Json
    dialect: Dialect
    scope: Scope
    registry: Registry
    schemas: tuple[dict[str, Json], ...]

    @cached_property
    def is_dynamic(self) -> bool:
        """Whether what a reference says may depend on the way to it: the published meta-schemas have dynamic references, too."""
        return any(
            "$dynamicRef" in each or "$recursiveRef" in each or "json-schema.org/" in str(each.get("$ref", ""))
            for each in self.schemas
        )


def open_document(
    root: Json, dialect: Dialect | None = None, schemas: tuple[dict[str, Json], ...] | None = None
) -> SchemaDocument:
    """The document of a schema, in the dialect given or its own; `schemas` are `list_schemas` of it, where they are known.

    Raises `UnknownDialect`.
    """
    chosen = dialect_of(root) if dialect is None else dialect
    known = tuple(list_schemas(root)) if schemas is None else schemas
    resource = _make_resource(root, chosen)
    registry = _make_registry(resource, known)
    anchors = Anchors(
        Counter(str(each["$dynamicAnchor"]) for each in known if "$dynamicAnchor" in each),
        sum(each.get("$recursiveAnchor") is True for each in known),
        frozenset((id(root), *map(id, known))),
        all(_leads_to(chosen.value, each) for each in known if not _LEADING.isdisjoint(each)),
    )
    scope = Scope(registry.resolver(resource.id() or ""), id(root), chosen, anchors)
    return SchemaDocument(root, chosen, scope, registry, known)


def _make_registry(resource: referencing.Resource[Any], schemas: tuple[dict[str, Json], ...]) -> Registry:
    """The published meta-schemas and a schema, with what its anchors and identifiers name: no lookup has to walk the schema for them."""
    plain: Registry = SPECIFICATIONS.with_resource(resource.id() or "", resource)
    if not any(not _NAMING.isdisjoint(each) for each in schemas):
        return plain
    try:
        known: Registry = plain.crawl()
    except (referencing.exceptions.Unresolvable, AttributeError, KeyError, ValueError, TypeError):
        return plain  # an odd identifier or keyword: the lookup that comes to it says so
    # An identifier inside names nothing that is known by it already: the whole, or a meta-schema.
    return known if all(known[each].contents is plain[each].contents for each in plain) else plain


def _make_resource(root: Json, dialect: Dialect) -> referencing.Resource[Any]:
    return referencing.jsonschema.specification_with(dialect.value).create_resource(cast("Any", root))


def enter(scope: Scope, schema: dict[str, Json]) -> Scope:
    """The scope inside a schema: another one if the schema has an identifier of its own."""
    identifier = schema.get("id" if scope.dialect is Dialect.DRAFT_04 else "$id")
    if not isinstance(identifier, str) or id(schema) == scope.resource:
        return scope
    if scope.legacy and ("$ref" in schema or identifier.startswith("#")):
        return scope
    resolver = scope.resolver.in_subresource(_make_resource(schema, scope.dialect))
    return Scope(resolver, id(schema), scope.dialect, scope.anchors)


def resolve(scope: Scope, reference: str) -> Target | None:
    """What a reference points at; `None` if that is outside the document and the published meta-schemas."""
    try:
        found = scope.resolver.lookup(reference)
        resource = found.resolver.lookup("#").contents
    except (referencing.exceptions.Unresolvable, KeyError, ValueError, TypeError):
        # `referencing` lets a pointer through a number or a word escape as a `TypeError`, an odd address as `ValueError`, and an anchor
        # of a resource that no keyword leads to as a `KeyError`.
        return None
    return Target(cast("Json", found.contents), Scope(found.resolver, id(resource), scope.dialect, scope.anchors))


def list_references(schema: Json) -> Iterator[str]:
    """The references of a schema and of all schemas in it, with nothing quoted: those into a definition as those to it."""
    for each in walk_schemas(schema):
        if not _REFERENCES.isdisjoint(each):
            for keyword in _REFERENCES & each.keys():
                yield "/".join(unquote(str(each[keyword])).split("/", 3)[:3])


def find_shared(one: SchemaDocument, other: SchemaDocument) -> dict[str, tuple[Json, Json]]:
    """The definitions that two documents write alike, with all that these refer to: both texts, by the references that lead there.

    What refers to anything but definitions is left out, and all of it where there are identifiers or anchors inside, or two dialects.
    """
    within = (each for document in (one, other) for each in document.schemas if each is not document.root)
    if one.dialect is not other.dialect or any(not _NAMING.isdisjoint(each) for each in within):
        return {}
    found = {place: pair for place, pair in _pair_definitions(one, other) if is_written_alike(*pair)}
    users: dict[str, list[str]] = {}
    for place, (schema, _) in found.items():
        for reference in list_references(schema):
            users.setdefault(reference, []).append(place)
    pending = [reference for reference in users if reference not in found]
    for reference in pending:  # which grows
        gone = [place for place in users.get(reference, ()) if found.pop(place, None) is not None]
        pending += gone
    return found


def _pair_definitions(one: SchemaDocument, other: SchemaDocument) -> Iterator[tuple[str, tuple[Json, Json]]]:
    """The definitions of the same name in two documents, by the references to them."""
    if isinstance(one.root, dict) and isinstance(other.root, dict):
        for keyword in _DEFINITIONS:
            ours, theirs = one.root.get(keyword), other.root.get(keyword)
            if isinstance(ours, dict) and isinstance(theirs, dict):
                for name in ours.keys() & theirs.keys():
                    place = name.replace("~", "~0").replace("/", "~1")
                    yield f"#/{keyword}/{place}", (ours[name], theirs[name])


def is_written_alike(one: Json, other: Json) -> bool:
    """Whether two JSON values are equal and have their members in the same order; a quick test that finds less equal than there is."""
    try:
        return one == other and repr(one) == repr(other)
    except RecursionError:
        return False


def find_unplaced(document: SchemaDocument) -> Iterator[Json]:
    """What references lead to where no keyword has a schema: the meta-schema says nothing of it when it judges the document."""
    if not any(map(_leads_elsewhere, document.schemas)):
        return
    placed = set(map(id, walk_schemas(document.root)))
    pending: list[tuple[Json, Scope]] = [(document.root, document.scope)]
    seen: set[int] = set()
    while pending:
        schema, around = pending.pop()
        if not isinstance(schema, dict) or id(schema) in seen:
            continue
        seen.add(id(schema))
        scope = enter(around, schema)
        pending.extend((each, scope) for each in _list_subschemas(schema, definitions=True))
        for reference in (schema[keyword] for keyword in _REFERENCES if keyword in schema):
            target = resolve(scope, reference) if isinstance(reference, str) else None
            if target is None or id(target.schema) in placed or target.scope.resource in _list_published():
                continue
            if isinstance(target.schema, bool):
                continue
            placed.add(id(target.schema))
            yield target.schema
            pending.append((target.schema, target.scope))


def only_dynamic_target(scope: Scope, reference: str) -> bool:
    """Whether a dynamic reference can only ever mean one place of the document."""
    name = reference.rpartition("#")[2]
    return scope.resource in scope.anchors.resources and scope.anchors.dynamic[name] <= 1


def only_recursive_target(scope: Scope) -> bool:
    """Whether a recursive reference of 2019-09 can only ever mean the resource that it stands in."""
    return scope.resource in scope.anchors.resources and scope.anchors.recursive <= 1


def find_outermost_published(scope: Scope, keyword: str, name: Json) -> Target | None:
    """What a reference inside the published meta-schemas means by an anchor of the name, the outermost one of every way to it.

    `None` if that is not the same on every way.
    """
    if scope.resource not in _list_published() or not scope.anchors.is_own:
        return None
    target = resolve(scope, scope.dialect.value)
    contents = target.schema if target is not None else None
    return target if isinstance(contents, dict) and contents.get(keyword) == name else None


def _leads_to(meta_schema: str, schema: dict[str, Json]) -> bool:
    """Whether a schema has no anchor of the meta-schemas, and names no place of them but inside this one."""
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
    """Whether a plain reference names a dynamic anchor that is not the only one of its name.

    It means the anchor of the resource that it leads to; but `referencing`, and validators with it, take the outermost.
    """
    name = reference.rpartition("#")[2]
    if scope.dialect is not Dialect.DRAFT_2020_12 or "#" not in reference or not name or name.startswith("/"):
        return False
    return not only_dynamic_target(scope, reference)
