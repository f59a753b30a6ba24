"""Types of the IR as JSON Schema: complete, or only what a sender sends of them.

A sender sends members and values that its schema declares, and extensions, but never what only a fallback admits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias, assert_never

from msgspec import structs

from acpgen import ir
from acpgen.compat.diff.shapes import Objects
from acpgen.input.walk import Schema, is_array, is_object, list_references
from acpgen.meaning.limits import list_limits
from acpgen.pointers import find_value, split_pointer, write_plain_pointer, write_reference
from schema_inclusion.patterns import matches

Written: TypeAlias = "Schema | bool"

_EXTENSION: Final[Schema] = {"pattern": "^_"}

META: Final = "_meta"
"""The extension that has the same form everywhere, declared or not: an object that contains extensions."""

_META_BEFORE: Final[Schema] = {"type": "object", "propertyNames": _EXTENSION}
"""What a sender that does not know `_meta` at a place sends under it."""


def write_schema(type_: ir.Type, suffix: str = "") -> Written:
    """The type as a schema whose references end in `suffix`."""
    match type_:
        case ir.Anything():
            return True
        case ir.Nothing():
            return False
        case ir.Null():
            return {"type": "null"}
        case ir.Boolean():
            return {"type": "boolean"}
        case ir.Number(integer=integer):
            number_options = {"x-integer": "draft-04"} if type_.without_fraction else {}
            return {"type": "integer" if integer else "number"} | number_options | list_limits(type_) | _format(type_)
        case ir.String():
            return {"type": "string"} | list_limits(type_) | _format(type_)
        case ir.Array(items=items, unique=unique):
            rest = {"uniqueItems": True} if unique else {}
            return {"type": "array", "items": write_schema(items, suffix)} | list_limits(type_) | rest
        case ir.Tuple(first=first, rest=rest, unique=unique):
            whole = {"prefixItems": [write_schema(part, suffix) for part in first], "items": write_schema(rest, suffix)}
            return {"type": "array", **whole} | list_limits(type_) | ({"uniqueItems": True} if unique else {})
        case ir.Map(values=values):
            free = suffix and values == ir.Anything()
            meta: Schema = {"properties": {META: _META_BEFORE}} if free else {}
            names: Schema = {"propertyNames": _EXTENSION} if free and suffix == DECLARED else {}
            return {"type": "object", "additionalProperties": write_schema(values, suffix)} | meta | names
        case ir.Constant(values=constants):
            return {"enum": list(constants)}
        case ir.AnyOf(types=types, exclusive=exclusive):
            # What is sent is asked about together with the whole definition, which makes the demand that one branch alone fits.
            return {
                "oneOf" if exclusive and not suffix else "anyOf": [write_schema(branch, suffix) for branch in types]
            }
        case ir.Ref(name=name):
            return {"$ref": write_reference(f"{name}{suffix}")}
        case _:
            assert_never(type_)


def _format(type_: ir.Number | ir.String) -> Schema:
    return {} if type_.format is None else {"format": type_.format}


SENT: Final = " as sent"
"""The suffix of definitions that contain only what a sender sends."""

DECLARED: Final = " as declared"
"""The suffix of definitions that contain only what has a declared meaning: no member of an object or map that names none."""


def write_sender_definitions(
    definitions: Mapping[str, ir.Definition], schemas: Mapping[str, Schema], suffix: str = SENT
) -> dict[str, Schema]:
    """For each definition another one that restricts a sender to what the definition declares, without its other demands.

    `schemas` are those of the definitions: a sender may send every member that they name in any keyword. With `DECLARED`, the other
    demands apply too, because the branch of a union that declares a value must also accept it.
    """
    return {
        f"{name}{suffix}": {
            "allOf": [
                _write_sent(definition, schemas, suffix),
                *([{"$ref": write_reference(name)}] if suffix == DECLARED else []),
            ]
        }
        for name, definition in definitions.items()
    }


def _write_sent(definition: ir.Definition, schemas: Mapping[str, Schema], suffix: str) -> Written:
    match definition:
        case ir.Record(fields=fields, extra=extra):
            names, patterns = _list_names(definition.name, schemas)
            names |= {field.name: None for field in fields}
            free = extra == ir.Anything() and bool(names or patterns or suffix == DECLARED)
            declared = [{"enum": list(names)}, *({"pattern": pattern} for pattern in patterns), _EXTENSION]
            name_limits: Schema = {"propertyNames": {"anyOf": declared}} if free else {}
            rest: Written = (
                True
                if free or _is_joined(definition, f"{definition.at}/additionalProperties")
                else write_schema(extra, suffix)
            )
            properties: Schema = dict.fromkeys(names, True)
            is_judged_elsewhere = _make_elsewhere_test(definition, schemas)
            for field in fields:
                is_joined = _is_joined(definition, field.at) or is_judged_elsewhere(field.name)
                properties[field.name] = True if is_joined else write_schema(field.type, suffix)
            if extra == ir.Anything() and META not in names:
                properties[META] = _META_BEFORE
            by_pattern: Schema = {"patternProperties": dict.fromkeys(patterns, True)} if patterns else {}
            whole: Schema = {"properties": properties, **by_pattern, "additionalProperties": rest} | name_limits
            where = _write_condition(definition.name, names, schemas) if free and suffix == DECLARED else {}
            return {"allOf": [whole, where]} if where else whole
        case ir.TaggedUnion(tag=tag, variants=variants):
            branches: list[Written] = [
                {**_write_tagged(tag, {"const": variant.tag}), "$ref": write_reference(variant.type + suffix)}
                for variant in variants
            ]
            if definition.default is not None:
                branches.append(write_schema(ir.Ref(definition.default), suffix))
            if definition.openness == "open":
                names = {} if definition.fallback is None else _list_names(definition.fallback, schemas)[0]
                meta = {} if META in names else {META: _META_BEFORE}
                tagged = _write_tagged(tag, _EXTENSION)
                branches.append({**tagged, "properties": {**tagged["properties"], **meta}})
            return {"anyOf": branches} if branches else False
        case ir.Enum(values=values, openness=openness):
            constants: Schema = {"enum": [constant.value for constant in values]}
            return {"anyOf": [constants, _EXTENSION]} if openness == "open" else constants
        case ir.Alias(type=type_, unenforced=unenforced):
            return True if unenforced else write_schema(type_, suffix)
        case _:
            assert_never(definition)


def _write_tagged(tag: str, schema: Schema) -> Schema:
    """The schema of an object with a tag. Its type lets the prover distinguish many branches by their tags."""
    return {"type": "object", "properties": {tag: schema}, "required": [tag]}


def _write_condition(name: str, names: Mapping[str, None], schemas: Mapping[str, Schema]) -> Schema:
    """The demand that a member that only a condition declares occurs only if the condition holds; empty without conditions."""
    at_place = _list_conjuncts(name, schemas)
    if not any(keyword in schema for schema in at_place for keyword in ("if", "dependentSchemas")):
        return {}
    properties = {member for schema in at_place for member in schema.get("properties", {})}
    rest: Schema = dict.fromkeys((member for member in names if member not in properties), True)
    free: Schema = {_EXTENSION["pattern"]: True}
    reference: Schema = {"$ref": write_reference(name), "properties": rest, "patternProperties": free}
    return reference | {"unevaluatedProperties": False}


def _is_joined(record: ir.Record, at: str) -> bool:
    """Whether schemas besides the type in the IR apply at a place in a record.

    Each may name members that the others do not, so that senders send more than any one of them names.
    """
    return any(place == at or place.startswith(f"{at}/") for place in record.unenforced)


def _make_elsewhere_test(record: ir.Record, definitions: Mapping[str, Schema]) -> Callable[[str], bool]:
    """A test whether schemas that the IR does not represent apply to a member of a record, by conditions, by patterns or to all other
    members.
    """
    names: set[str] = set()
    patterns: list[str] = []
    rest: list[frozenset[str]] = []
    for at in record.unenforced:
        *around, keyword = split_pointer(at.removeprefix(record.at)) if at.startswith(f"{record.at}/") else ("", "")
        holder = find_value(definitions.get(record.name), around)
        if not is_object(holder) or keyword not in holder:
            continue
        start = {key: holder[key] for key in _TOGETHER.get(keyword, (keyword,)) if key in holder}
        for schema, _, _ in _list_subschemas(start, definitions):
            properties, is_start = schema.get("properties", {}), schema is start
            names.update(() if is_start else properties)
            patterns += schema.get("patternProperties", {})
            if any(is_object(schema.get(key)) for key in ("additionalProperties", "unevaluatedProperties")):
                rest.append(frozenset(holder.get("properties", {}) if is_start else properties))

    def is_judged(name: str) -> bool:
        by_name = name in names or any(name not in declared_names for declared_names in rest)
        return by_name or any(matches(pattern, name) is not False for pattern in patterns)

    return is_judged


_TOGETHER: Final = {"if": ("if", "then", "else")}


def declares_nothing(objects: Objects, schemas: Mapping[str, Schema]) -> bool:
    """Whether objects declare no members except unstable fields in any keyword, so that all their members are free."""
    if not all(field.unstable for field in objects.fields):
        return False
    names, patterns = _list_names(objects.name, schemas) if objects.name is not None else ({}, {})
    return not patterns and names.keys() <= {field.name for field in objects.fields}


def find_conditional_members(
    objects: Objects, schemas: Mapping[str, Schema], places: Mapping[str, str]
) -> dict[tuple[str, str], tuple[str, Written, str]]:
    """The members of objects, other than fields, that have a schema of their own under conditions or by a pattern.

    By name and pattern, which is the name too: the keyword other than `properties` that declares the member, its schema, and the place of
    the schema. `places` are those of the definitions. A pattern with an empty schema only permits names and is left out.
    """
    field_names = {field.name for field in objects.fields}
    members: dict[tuple[str, str], tuple[str, Written, str]] = {}
    name = objects.name or ""
    start = schemas.get(name), schemas, ("allOf", "anyOf", "oneOf", *_CONDITIONS)
    for schema, at, condition in _list_subschemas(*start, name=name, places={name: objects.at, **places}):
        for member, inner in schema.get("properties", {}).items():
            if member not in field_names:
                members.setdefault((member, ""), (condition, inner, f"{at}{write_plain_pointer('properties', member)}"))
        for pattern, inner in schema.get("patternProperties", {}).items():
            if inner is not True and inner != {}:
                place = f"{at}{write_plain_pointer('patternProperties', pattern)}"
                members.setdefault((pattern, pattern), ("patternProperties", inner, place))
    return members


_CONDITIONS: Final = ("then", "else", "dependentSchemas")
_IN_PLACE: Final = ("allOf", "anyOf", "oneOf", "if", *_CONDITIONS, "not")


def _list_subschemas(
    start: Any,
    schemas: Mapping[str, Schema],
    keywords: Sequence[str] = _IN_PLACE,
    *,
    name: str = "",
    places: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[tuple[Schema, str, str]]:
    """Yield a schema and all its subschemas that one of the keywords applies to the same value, through references too, nearest first.

    Each comes with its place and with the condition keyword that it is under, `properties` for none. `name` is the definition of the
    schema, `places` are those of all definitions.
    """
    pending: list[tuple[Any, str, str]] = [(start, places.get(name, ""), "properties")]
    visited = {name}
    for schema, at, condition in pending:  # which grows
        if not is_object(schema):
            continue
        yield schema, at, condition
        for key in keywords:
            inner: Any = schema.get(key)
            below = dict(enumerate(inner)) if is_array(inner) else inner if key == "dependentSchemas" else None
            under = key if key in _CONDITIONS else condition
            if is_object(below):
                pending += (
                    (subschema, f"{at}{write_plain_pointer(key, token)}", under) for token, subschema in below.items()
                )
            else:
                pending.append((inner, f"{at}{write_plain_pointer(key)}", under))
        reference = {"$ref": schema["$ref"]} if isinstance(schema.get("$ref"), str) else {}
        new_names = set(list_references(reference)) - visited
        visited |= new_names
        pending += ((schemas.get(target), places.get(target, ""), condition) for target in sorted(new_names))


def _list_names(name: str, schemas: Mapping[str, Schema]) -> tuple[dict[str, None], dict[str, None]]:
    """The member names that a definition mentions for the same object in any keyword, and the patterns of other names."""
    return list_member_names({"$ref": write_reference(name)}, schemas)


def list_member_names(start: Schema, schemas: Mapping[str, Schema]) -> tuple[dict[str, None], dict[str, None]]:
    """The member names that a schema mentions for the same object in any keyword, and the patterns of other names."""
    names: dict[str, None] = {}
    patterns: dict[str, None] = {}
    for schema, _, _ in _list_subschemas(start, schemas):
        properties, dependent = schema.get("properties", {}), schema.get("dependentRequired", {})
        names |= dict.fromkeys(
            (*properties, *schema.get("required", ()), *dependent, *schema.get("dependentSchemas", {}))
        )
        names |= dict.fromkeys(name for required_names in dependent.values() for name in required_names)
        patterns |= dict.fromkeys(schema.get("patternProperties", {}))
        name_schema = schema.get("propertyNames")
        if is_object(name_schema):
            constants = [*name_schema.get("enum", ()), *([name_schema["const"]] if "const" in name_schema else [])]
            names |= dict.fromkeys(constant for constant in constants if isinstance(constant, str))
            patterns |= {name_schema["pattern"]: None} if "pattern" in name_schema else {}
    return names, patterns


def declares_batches(start: Schema, schemas: Mapping[str, Schema]) -> bool:
    """Whether a schema mentions arrays, or what they contain, in any keyword for the same value."""
    return any(
        "items" in schema or "array" in schema.get("type", ()) for schema, _, _ in _list_subschemas(start, schemas)
    )


def list_permitted_patterns(name: str | None, definitions: Mapping[str, Schema]) -> tuple[str, ...]:
    """The patterns for the names of undeclared members of a definition that refuses all other names; empty if any name is allowed."""
    schemas = _list_conjuncts(name or "", definitions, ("allOf",))
    return tuple(key for schema in schemas for key in schema.get("patternProperties", ())) if _is_shut(schemas) else ()


def close_for(member: str, objects: Objects, definitions: Mapping[str, Schema]) -> Objects:
    """The objects as they treat a member that is no field: closed if they refuse it, by whichever keywords."""
    name = objects.name or ""
    names, patterns = _list_names(name, definitions)
    is_open = any(schema.get("additionalProperties", False) for schema in _list_conjuncts(name, definitions))
    is_refused = member not in names and all(matches(pattern, member) is False for pattern in patterns) and not is_open
    is_shut = is_refused and _is_shut(_list_conjuncts(name, definitions, ("allOf",)))
    return structs.replace(objects, extra=ir.Nothing()) if is_shut else objects


def _is_shut(schemas: Iterable[Schema]) -> bool:
    return any(schema.get(f"{kind}Properties") is False for schema in schemas for kind in ("additional", "unevaluated"))


def _list_conjuncts(name: str, schemas: Mapping[str, Schema], keywords: Sequence[str] = _IN_PLACE) -> list[Schema]:
    """A definition and all its subschemas that one of the keywords applies to the same value."""
    return [schema for schema, _, _ in _list_subschemas(schemas.get(name), schemas, keywords, name=name)]
