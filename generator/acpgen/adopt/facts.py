"""The facts of a schema: the part shared with upstream, by which two schemas are compared.

Descriptions, examples, keywords that only we use, and differences of mere notation are left out. The rest keeps its order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from acpgen.input.keywords import TABLE
from acpgen.input.numbers import dumps
from acpgen.input.tagged_unions import find_constant
from acpgen.input.walk import MAPS, Schema, is_array, is_object, list_children, map_subschemas

Key: TypeAlias = tuple[str, ...]
"""What identifies a branch of a union across revisions."""

Parts: TypeAlias = tuple["str | Key", ...]
"""The path to a value: keys as in a JSON Pointer, but branch keys in place of the indexes of branches."""

WORDS: Final = frozenset({"description", "examples", "$comment", "discriminator"})
"""Keywords for documentation, and OpenAPI's `discriminator`, which repeats what the constants state."""

LENIENCY: Final = "x-deserialize-"
_UPSTREAMS: Final = ("x-method", "x-side", "x-docs-ignore")
OURS: Final = frozenset(
    row.name for row in TABLE if row.is_ours and row.name not in _UPSTREAMS and not row.name.startswith(LENIENCY)
)
"""The keywords of the dialect that upstream does not use."""

UNIONS: Final = ("anyOf", "oneOf")


def extract_facts(schema: Any) -> Any:
    """A schema without documentation and our annotations; an `allOf` of a single reference becomes that reference."""
    if not is_object(schema):
        return schema
    facts: Schema = {key: value for key, value in schema.items() if key not in WORDS and key not in OURS}
    return unwrap_reference(map_subschemas(facts, lambda _, child: extract_facts(child)))


def unwrap_reference(schema: Schema) -> Schema:
    """A schema with an `allOf` of a single reference, or of such an `allOf`, written as that reference; any other schema as it is."""
    parts = schema.get("allOf")
    if "$ref" in schema or not is_array(parts) or len(parts) != 1 or not is_object(parts[0]):
        return schema
    part = unwrap_reference(parts[0])
    if part.keys() - WORDS - OURS != {"$ref"}:
        return schema
    return {("$ref" if key == "allOf" else key): part["$ref"] if key == "allOf" else schema[key] for key in schema}


def state_the_same(left: Any, right: Any) -> bool:
    """Whether two schemas state the same facts, including the order of fields and branches."""
    return fingerprint(left) == fingerprint(right)


def fingerprint(schema: Any) -> str:
    """A text that is equal for two schemas if they state the same facts."""
    return dumps(_sort(extract_facts(schema)), ensure_ascii=False)


def _sort(value: Any) -> Any:
    """Normalize a schema: sorted keywords, maps of subschemas as lists, and integral numbers as integers."""
    if not is_object(value):
        return value
    subschema_keywords = {path[0] for path, _ in list_children(value)}
    subschemas = map_subschemas(value, lambda _, child: _sort(child))
    result: Schema = {}
    for keyword in sorted(subschemas):
        item = subschemas[keyword]
        if keyword in subschema_keywords:
            result[keyword] = list(item.items()) if keyword in MAPS else item
        else:
            result[keyword] = sorted(item) if keyword == "required" else _normalize(item)
    return result


def _normalize(value: Any) -> Any:
    if is_object(value):
        return {key: _normalize(value[key]) for key in sorted(value)}
    if is_array(value):
        return [_normalize(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def find_union_keyword(schema: Schema) -> str | None:
    """The keyword of the only union directly in a schema; `None` if there is none, or two."""
    keywords = [keyword for keyword in UNIONS if is_array(schema.get(keyword))]
    return keywords[0] if len(keywords) == 1 else None


def key_subschemas(keyword: str, subschemas: Iterable[Any]) -> dict[Key, Any]:
    """The subschemas of a list by what identifies them: their index in a tuple, else as in `key_branches`."""
    if keyword == "prefixItems":
        return {("", str(index)): schema for index, schema in enumerate(subschemas)}
    return key_branches(subschemas)


def key_branches(branches: Iterable[Any]) -> dict[Key, Any]:
    """The branches of a union by what identifies them: constant, tag, title, reference or type.

    If one of two branches is null, the other is identified by that alone.
    """
    branches = list(branches)
    keys = [_find_key(branch) for branch in branches]
    if len(keys) == 2 and _NULL in keys:
        keys = [key if key == _NULL else ("value",) for key in keys]
    result: dict[Key, Any] = {}
    for key, branch in zip(keys, branches, strict=True):
        unique, count = key, 1
        while unique in result:
            count += 1
            unique = (*key, str(count))
        result[unique] = branch
    return result


_NULL: Final = ("type", '"null"')


def _find_key(branch: Any) -> Key:
    if not is_object(branch):
        return ("", dumps(branch))
    branch = unwrap_reference(branch)
    if "const" in branch:
        return ("const", dumps(branch["const"]))
    required = branch.get("required", ())
    for name, field in branch.get("properties", {}).items():
        value = find_constant(field)
        if value is not None and name in required:
            return ("tag", name, dumps(value))
    for keyword in ("title", "$ref", "type"):
        if keyword in branch:
            return (keyword, dumps(branch[keyword]))
    parts = branch.get("allOf")
    if is_array(parts) and len(parts) == 1:
        return _find_key(parts[0])
    return ("",)


# --- conventions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Conventions:
    """The conventions by which our fields differ from upstream's: our facts by field name and upstream's facts.

    They are inferred: what was done to every field with that name and those facts, at least twice, is a convention.
    """

    rewritten: Mapping[tuple[str, str], Any]

    def adapt_field(self, name: str, schema: Any) -> Any:
        """Upstream's facts of a field with our conventions applied."""
        schema_here = self.rewritten.get((name, fingerprint(schema)))
        return self.adapt_schema(schema) if schema_here is None else schema_here

    def adapt_schema(self, schema: Any) -> Any:
        """Upstream's facts with our conventions applied to every field below."""
        if not is_object(schema):
            return schema
        return map_subschemas(
            schema,
            lambda path, child: (
                self.adapt_field(path[1], child) if path[0] == "properties" else self.adapt_schema(child)
            ),
        )


def find_conventions(base: Mapping[str, Schema], ours: Mapping[str, Schema]) -> Conventions:
    """Infer the conventions from the differences between upstream's definitions, as last adopted, and ours."""
    fields_by_facts: dict[tuple[str, str], list[Any]] = {}
    for definition in base.keys() & ours.keys():
        for name, field in base[definition].get("properties", {}).items():
            our_field = ours[definition].get("properties", {}).get(name)
            if our_field is not None:
                fields_by_facts.setdefault((name, fingerprint(field)), []).append(our_field)
    rewritten: dict[tuple[str, str], Any] = {}
    for key, fields in fields_by_facts.items():
        if len(fields) > 1:
            prints = {fingerprint(field) for field in fields}
            if len(prints) == 1 and prints != {key[1]}:
                rewritten[key] = extract_facts(fields[0])
    return Conventions(rewritten)
