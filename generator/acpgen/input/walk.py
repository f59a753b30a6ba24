"""Where subschemas stand in a schema, and which keywords assert: the table of keywords as sets."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeGuard, TypeVar, cast

from acpgen.input.keywords import PROSE, TABLE
from acpgen.input.step_budget import spend
from acpgen.pointers import read_reference

Schema = dict[str, Any]
J = TypeVar("J")
K = TypeVar("K", bound=Hashable)

SINGLE: Final = tuple(keyword.name for keyword in TABLE if keyword.holds == "schema")
LISTS: Final = tuple(keyword.name for keyword in TABLE if keyword.holds == "list")
MAPS: Final = tuple(keyword.name for keyword in TABLE if keyword.holds == "map")
HOLDS: Final = {keyword.name: keyword.holds for keyword in TABLE if keyword.holds in ("schema", "list", "map")}
"""The keywords that hold schemas: one, a list, or a map of them."""

ANNOTATIONS: Final = frozenset(keyword.name for keyword in TABLE if keyword.role == "annotates" and not keyword.is_ours)
"""Keywords that describe a value and assert nothing. Keywords that begin with `x-` are annotations too."""

BY_KIND: Final[Mapping[str, frozenset[str]]] = {
    kind: frozenset(keyword.name for keyword in TABLE if keyword.instance_type == kind)
    for kind in ("number", "string", "array", "object", "null", "boolean")
}
"""The assertions of 2020-12 that apply to one JSON type only; an integer is a number."""

ASSERTIONS: Final = frozenset(keyword.name for keyword in TABLE if keyword.role == "asserts")
"""Every keyword by which a 2020-12 validator can refuse a value."""


IN_PLACE: Final = (
    *(keyword.name for keyword in TABLE if keyword.role == "asserts" and keyword.holds and not keyword.instance_type),
    "dependentSchemas",
)
"""Keywords whose subschemas apply to the same value."""


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a JSON value is an object; a schema that is not a boolean is one."""
    return isinstance(value, dict)


def as_object(schema: Any) -> Schema:
    """A schema as an object: `{}` for `true`, `{"not": {}}` for `false`."""
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    return schema  # type: ignore[no-any-return]


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether a JSON value is an array."""
    return isinstance(value, list)


TYPES: Final = frozenset({*BY_KIND, "integer"})
"""The values of `type`."""

DEFINITIONS: Final = tuple(keyword.name for keyword in TABLE if keyword.role == "defines")
"""Keywords that hold definitions."""

KEYWORDS: Final = frozenset(keyword.name for keyword in TABLE if not keyword.is_ours)
"""Keywords of JSON Schema in all supported drafts."""


_MAY_ASSERT: Final = frozenset(keyword.name for keyword in TABLE if keyword.role in ("asserts", "elsewhere"))


def asserts(keyword: str) -> bool:
    """Whether a keyword can refuse a value; false for unknown keywords."""
    return keyword in _MAY_ASSERT


def select_assertions(schema: Schema) -> Schema:
    """The keywords of a schema that can refuse a value."""
    return {key: value for key, value in schema.items() if key in _MAY_ASSERT}


def select_annotations(schema: Schema) -> Schema:
    """The keywords of a schema that refuse no value, unknown ones included."""
    return {key: value for key, value in schema.items() if key not in _MAY_ASSERT}


@lru_cache(maxsize=256)
def may_hold_schemas(key: str) -> bool:
    """Whether a member of a schema, or of another object, may hold schemas: it is no annotation and holds no definitions."""
    return key not in ANNOTATIONS and not key.startswith("x-") and key not in DEFINITIONS


def copy_json(value: J) -> J:
    """Copy a JSON value deeply. Half again as fast as `copy.deepcopy`, which tracks what it has copied."""
    if is_object(value):
        members: dict[str, Any] = {
            key: copy_json(member) if _holds(member) else member for key, member in value.items()
        }
        return cast("J", members)
    if is_array(value):
        return cast("J", [copy_json(item) if _holds(item) else item for item in value])
    return value


def _holds(value: object) -> bool:
    """Whether a value is an array or an object."""
    return isinstance(value, (dict, list))


def list_children(schema: Schema) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the direct subschemas with their keys."""
    spend()
    for key, value in schema.items():
        holds = HOLDS.get(key)
        if holds is None:
            continue
        if is_array(value) and holds != "map":  # tuples of draft-07, too
            for index, item in enumerate(value):
                yield (key, str(index)), item
        elif holds == "schema":
            yield (key,), value
        elif holds == "map" and is_object(value):
            for name, item in value.items():
                yield (key, name), item


def map_subschemas(schema: Schema, change: Callable[[tuple[str, ...], Any], Any]) -> Schema:
    """A schema with its direct subschemas replaced by what `change` makes of their keys and of each."""
    result = dict(schema)
    for (key, *below), child in list_children(schema):
        inner = change((key, *below), child)
        if not below:
            result[key] = inner
            continue
        if result[key] is schema[key]:
            result[key] = schema[key].copy()
        result[key][below[0] if is_object(result[key]) else int(below[0])] = inner
    return result


def walk_schemas(schema: object) -> Iterator[tuple[tuple[str, ...], Schema]]:
    """Yield a schema and its subschemas at any depth with their keys, in the order of the text; booleans are left out.

    The caller may change a schema before it takes the next one.
    """
    pending: list[tuple[tuple[str, ...], object]] = [((), schema)]
    while pending:
        keys, node = pending.pop()
        if is_object(node):
            yield keys, node
            pending += [((*keys, *below), child) for below, child in list_children(node)][::-1]


def list_schemas(schema: object) -> Iterator[Schema]:
    """The schemas of `walk_schemas` without their keys."""
    return (node for _, node in walk_schemas(schema))


def list_unapplied(schema: Schema) -> Iterator[object]:
    """Yield the direct subschemas that never apply: `contentSchema`, and an `if` without `then` and `else`."""
    if "contentSchema" in schema:
        yield schema["contentSchema"]
    if "if" in schema and schema.keys().isdisjoint(("then", "else")):
        yield schema["if"]


def strip_prose(schema: Schema) -> Schema:
    """A schema without the keywords in which two equal definitions may differ: prose and the requested name."""
    spend()
    return {key: value for key, value in schema.items() if key not in PROSE and key != "x-name"}


_VALUES: Final = ("const", "enum", "default")


def without_prose(node: Any) -> Any:
    """A tree without prose. Properties named like a prose keyword stay, and values are unchanged."""
    if is_object(node):
        return {
            key: value if key in _VALUES else without_prose(value)
            for key, value in node.items()
            if key not in PROSE or not isinstance(value, str | list)
        }
    return [without_prose(item) for item in node] if is_array(node) else node


def is_definition(parts: Sequence[str]) -> bool:
    """Whether keys lead from a document to a member of `$defs` or `definitions`, where these are keywords and not names."""
    around = "schema"
    for index, part in enumerate(parts):
        if around != "schema":
            around = "schema"
        elif part in DEFINITIONS:
            around = "definitions"
        elif part in MAPS or part in LISTS:
            around = "others"
        elif part not in SINGLE:
            return False
        elif index + 1 < len(parts) and parts[index + 1].isdigit():  # tuples of earlier drafts
            around = "others"
        if around == "definitions" and index + 2 == len(parts):
            return True
    return False


def list_refs(schema: object) -> Iterator[str]:
    """The values of `$ref` in a schema and its subschemas."""
    return (node["$ref"] for node in list_schemas(schema) if isinstance(node.get("$ref"), str))


def list_references(schema: object) -> Iterator[str]:
    """The definitions that a bundled schema refers to at any depth."""
    return (read_reference(ref) for ref in list_refs(schema) if ref.startswith("#/$defs/"))


def find_refs_anywhere(value: object, keywords: Sequence[str] = ("$ref",)) -> Iterator[str]:
    """Yield every string at a key `$ref`, or at one of these keywords, whether a keyword leads there or not."""
    if is_object(value):
        yield from (value[keyword] for keyword in keywords if isinstance(value.get(keyword), str))
        for child in value.values():
            yield from find_refs_anywhere(child, keywords)
    elif is_array(value):
        for child in value:
            yield from find_refs_anywhere(child, keywords)


def find_reachable(start: Iterable[K], below: Callable[[K], Iterable[K]]) -> dict[K, None]:
    """The nodes reachable from the start nodes, start included."""
    visited: dict[K, None] = {}
    pending = list(start)
    while pending:
        node = pending.pop()
        if node not in visited:
            visited[node] = None
            pending.extend(below(node))
    return visited


def find_sources(ends: Iterable[K], edges: Mapping[K, Iterable[K]]) -> dict[K, None]:
    """The nodes from which an end can be reached, ends included."""
    sources: dict[K, list[K]] = {}
    for source, targets in edges.items():
        for target in targets:
            sources.setdefault(target, []).append(source)
    return find_reachable(ends, lambda node: sources.get(node, ()))


def find_cycles(edges: Mapping[K, Iterable[K]]) -> Iterator[list[K]]:
    """Yield the strongly connected components, targets before sources; every node has edges (Tarjan's algorithm, iterative)."""
    indices: dict[K, int] = {}
    lowest: dict[K, int] = {}
    stack: dict[K, None] = {}
    for root in edges:
        path: list[tuple[K, Iterator[K]]] = []
        entering: K | None = root if root not in indices else None
        while entering is not None or path:
            if entering is not None:
                indices[entering] = lowest[entering] = len(indices)
                stack[entering] = None
                path.append((entering, iter(edges[entering])))
            source, targets = path[-1]
            entering = None
            for target in targets:
                if target not in indices:
                    entering = target
                    break
                if target in stack:
                    lowest[source] = min(lowest[source], indices[target])
            else:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[source])
                if lowest[source] == indices[source]:
                    group: list[K] = []
                    while source in stack:
                        group.append(stack.popitem()[0])
                    yield group[::-1]
