"""Types of the IR as JSON Schema: as a whole, or only what a sender sends of them.

A sender sends members and values that its schema declares, and extensions; never what only a fallback admits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias, assert_never

from acpgen import ir
from acpgen.compat.diff.shapes import Objects
from acpgen.input.walk import Schema, is_array, is_object, references
from acpgen.meaning.limits import limits_of
from acpgen.pointers import follow, plain_pointer, pointer_parts, reference_to
from schema_inclusion.patterns import matches

Written: TypeAlias = "Schema | bool"

_EXTENSION: Final[Schema] = {"pattern": "^_"}

META: Final = "_meta"
"""The extension that has one form wherever it stands, declared or not: an object that holds extensions."""

_META_BEFORE: Final[Schema] = {"type": "object", "propertyNames": _EXTENSION}
"""What a sender that does not know `_meta` at a place sends under it."""


def schema_of(type_: ir.Type, suffix: str = "") -> Written:
    """The type as a schema. Its references end in `suffix`."""
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
            written = {"x-integer": "draft-04"} if type_.without_fraction else {}
            return {"type": "integer" if integer else "number"} | written | limits_of(type_) | _format(type_)
        case ir.String():
            return {"type": "string"} | limits_of(type_) | _format(type_)
        case ir.Array(items=items, unique=unique):
            rest = {"uniqueItems": True} if unique else {}
            return {"type": "array", "items": schema_of(items, suffix)} | limits_of(type_) | rest
        case ir.Tuple(first=first, rest=rest, unique=unique):
            whole = {"prefixItems": [schema_of(each, suffix) for each in first], "items": schema_of(rest, suffix)}
            return {"type": "array", **whole} | limits_of(type_) | ({"uniqueItems": True} if unique else {})
        case ir.Map(values=values):
            free = suffix and values == ir.Anything()
            meta: Schema = {"properties": {META: _META_BEFORE}} if free else {}
            names: Schema = {"propertyNames": _EXTENSION} if free and suffix == DECLARED else {}
            return {"type": "object", "additionalProperties": schema_of(values, suffix)} | meta | names
        case ir.Constant(values=constants):
            return {"enum": list(constants)}
        case ir.AnyOf(types=types, exclusive=exclusive):
            # What is sent is asked about together with the whole definition, which makes the demand that one branch alone fits.
            return {"oneOf" if exclusive and not suffix else "anyOf": [schema_of(each, suffix) for each in types]}
        case ir.Ref(name=name):
            return {"$ref": reference_to(f"{name}{suffix}")}
        case _:
            assert_never(type_)


def _format(type_: ir.Number | ir.String) -> Schema:
    return {} if type_.format is None else {"format": type_.format}


SENT: Final = " as sent"
"""What ends the names of definitions that hold only what a sender sends."""

DECLARED: Final = " as declared"
"""What ends the names of definitions that hold only what has a declared meaning: no member of an object or map that names none."""


def sender_definitions(
    definitions: Mapping[str, ir.Definition], written: Mapping[str, Schema], suffix: str = SENT
) -> dict[str, Schema]:
    """For each definition another one, which keeps a sender to what the definition declares. It leaves out other demands.

    `written` are the schemas of the definitions: whatever member these name in any keyword, a sender may send. What is `DECLARED` makes
    the other demands too: the branch of a union that declares a value is one that accepts it.
    """
    return {
        f"{name}{suffix}": {
            "allOf": [_sent(each, written, suffix), *([{"$ref": reference_to(name)}] if suffix == DECLARED else [])]
        }
        for name, each in definitions.items()
    }


def _sent(definition: ir.Definition, written: Mapping[str, Schema], suffix: str) -> Written:
    match definition:
        case ir.Record(fields=fields, extra=extra):
            names, patterns = _named(definition.name, written)
            names |= {field.name: None for field in fields}
            free = extra == ir.Anything() and bool(names or patterns or suffix == DECLARED)
            declared = [{"enum": list(names)}, *({"pattern": each} for each in patterns), _EXTENSION]
            kept: Schema = {"propertyNames": {"anyOf": declared}} if free else {}
            rest: Written = (
                True
                if free or _is_joined(definition, f"{definition.at}/additionalProperties")
                else schema_of(extra, suffix)
            )
            properties: Schema = dict.fromkeys(names, True)
            elsewhere = _elsewhere(definition, written)
            for field in fields:
                joined = _is_joined(definition, field.at) or elsewhere(field.name)
                properties[field.name] = True if joined else schema_of(field.type, suffix)
            if extra == ir.Anything() and META not in names:
                properties[META] = _META_BEFORE
            others: Schema = {"patternProperties": dict.fromkeys(patterns, True)} if patterns else {}
            whole: Schema = {"properties": properties, **others, "additionalProperties": rest} | kept
            where = _where_it_holds(definition.name, names, written) if free and suffix == DECLARED else {}
            return {"allOf": [whole, where]} if where else whole
        case ir.TaggedUnion(tag=tag, variants=variants):
            known: list[Written] = [
                {
                    **_tagged(tag, {"const": each.tag}),
                    "$ref": reference_to(each.type + suffix),
                }
                for each in variants
            ]
            if definition.default is not None:
                known.append(schema_of(ir.Ref(definition.default), suffix))
            if definition.openness == "open":
                names = {} if definition.fallback is None else _named(definition.fallback, written)[0]
                held = {} if META in names else {META: _META_BEFORE}
                tagged = _tagged(tag, _EXTENSION)
                known.append({**tagged, "properties": {**tagged["properties"], **held}})
            return {"anyOf": known}
        case ir.Enum(values=values, openness=openness):
            constants: Schema = {"enum": [each.value for each in values]}
            return {"anyOf": [constants, _EXTENSION]} if openness == "open" else constants
        case ir.Alias(type=type_, unenforced=unenforced):
            return True if unenforced else schema_of(type_, suffix)
        case _:
            assert_never(definition)


def _tagged(tag: str, schema: Schema) -> Schema:
    """An object that a tag marks. Its type lets the prover tell many branches by their tags."""
    return {"type": "object", "properties": {tag: schema}, "required": [tag]}


def _where_it_holds(name: str, names: Mapping[str, None], written: Mapping[str, Schema]) -> Schema:
    """The demand that a member which only a condition declares is there only where the condition holds; none without conditions."""
    at_place = _at_one_place(name, written)
    if not any(keyword in each for each in at_place for keyword in ("if", "dependentSchemas")):
        return {}
    properties = {each for schema in at_place for each in schema.get("properties", {})}
    others: Schema = dict.fromkeys((each for each in names if each not in properties), True)
    free: Schema = {_EXTENSION["pattern"]: True}
    reference: Schema = {"$ref": reference_to(name), "properties": others, "patternProperties": free}
    return reference | {"unevaluatedProperties": False}


def _is_joined(record: ir.Record, at: str) -> bool:
    """Whether schemas beside the type that the IR knows judge what stands at a place in a record.

    Each may name members that the others do not: what their senders send is more than either names.
    """
    return any(each == at or each.startswith(f"{at}/") for each in record.unenforced)


def _elsewhere(record: ir.Record, written: Mapping[str, Schema]) -> Callable[[str], bool]:
    """Whether schemas that the IR does not carry judge a member of a record, from under conditions, patterns or for all other members."""
    schemas: list[tuple[Schema, Schema]] = []
    for at in record.unenforced:
        *around, keyword = pointer_parts(at.removeprefix(record.at)) if at.startswith(f"{record.at}/") else ("", "")
        try:
            holder: Any = follow(written.get(record.name), around)
        except KeyError:
            continue
        if is_object(holder) and keyword in holder:
            keywords = ("if", "then", "else") if keyword == "if" else (keyword,)
            schemas.append((holder, {each: holder[each] for each in keywords if each in holder}))
    names: set[str] = set()
    patterns: list[str] = []
    rest: list[frozenset[str]] = []
    for holder, start in schemas:
        for schema, _, _ in _in_place(start, written):
            is_start = schema is start
            names.update(() if is_start else schema.get("properties", {}))
            patterns += schema.get("patternProperties", {})
            if any(is_object(schema.get(key)) for key in ("additionalProperties", "unevaluatedProperties")):
                rest.append(frozenset((holder if is_start else schema).get("properties", {})))

    def is_judged(name: str) -> bool:
        by_name = name in names or any(name not in known for known in rest)
        return by_name or any(matches(each, name) is not False for each in patterns)

    return is_judged


def declares_nothing(objects: Objects, written: Mapping[str, Schema]) -> bool:
    """Whether objects name no member, in whatever keyword, but unstable fields: all that is in them is free."""
    names, patterns = _named(objects.name, written) if objects.name is not None else ({}, {})
    others = names.keys() - {field.name for field in objects.fields}
    return all(field.unstable for field in objects.fields) and not (others or patterns)


@dataclass(frozen=True, slots=True)
class ConditionalMember:
    """A member that a keyword beside `properties` declares: its name, or the pattern of its names, its schema, and where that stands."""

    name: str
    pattern: str
    by: str
    schema: Written
    at: str


def conditional_members(
    objects: Objects, written: Mapping[str, Schema], places: Mapping[str, str]
) -> dict[tuple[str, str], ConditionalMember]:
    """The members of objects that have a schema of their own where conditions hold, or by a pattern, and are no fields.

    By name and pattern; `places` are those of the definitions. A pattern that says nothing of its members only permits their names.
    """
    known = {field.name for field in objects.fields}
    found: dict[tuple[str, str], ConditionalMember] = {}
    name = objects.name or ""
    start = written.get(name), written, ("allOf", "anyOf", "oneOf", *_CONDITIONS)
    for schema, at, by in _in_place(*start, name=name, places={name: objects.at, **places}):
        for member, inner in schema.get("properties", {}).items():
            if member not in known:
                place = f"{at}{plain_pointer('properties', member)}"
                found.setdefault((member, ""), ConditionalMember(member, "", by, inner, place))
        for pattern, inner in schema.get("patternProperties", {}).items():
            if inner is not True and inner != {}:
                place = f"{at}{plain_pointer('patternProperties', pattern)}"
                member = ConditionalMember(pattern, pattern, "patternProperties", inner, place)
                found.setdefault((pattern, pattern), member)
    return found


_TYPES: Final[Mapping[str, ir.Type]] = {
    "null": ir.Null(),
    "boolean": ir.Boolean(),
    "integer": ir.Number(integer=True),
    "number": ir.Number(integer=False),
    "string": ir.String(),
    "array": ir.Array(ir.Anything()),
    "object": ir.Map(ir.Anything()),
}


def likely_type(schema: Written, definitions: Mapping[str, ir.Definition]) -> ir.Type:
    """A type whose values a schema likely accepts, to make an example from."""
    if not is_object(schema):
        return ir.Anything()
    named = next((name for name in references(schema) if name in definitions), None)
    if "$ref" in schema and named is not None:
        return ir.Ref(named)
    constants = [schema["const"]] if "const" in schema else schema.get("enum")
    if constants:
        return ir.Constant(tuple(constants))
    kind = schema.get("type")
    return _TYPES.get(kind if isinstance(kind, str) else next(iter(kind or ()), ""), ir.Anything())


_CONDITIONS: Final = ("then", "else", "dependentSchemas")
_IN_PLACE: Final = ("allOf", "anyOf", "oneOf", "if", *_CONDITIONS, "not")


def _in_place(
    start: Any,
    written: Mapping[str, Schema],
    keywords: Sequence[str] = _IN_PLACE,
    *,
    name: str = "",
    places: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[tuple[Schema, str, str]]:
    """A schema and all in it that judge the same value by one of the keywords, through references too, nearest first: each with its
    place, and the condition that it stands under, `properties` for none. `name` is the definition that it is, `places` are those of all.
    """
    pending: list[tuple[Any, str, str]] = [(start, places.get(name, ""), "properties")]
    seen = {name}
    for schema, at, by in pending:  # which grows
        if not is_object(schema):
            continue
        yield schema, at, by
        for key in keywords:
            inner: Any = schema.get(key)
            below = dict(enumerate(inner)) if is_array(inner) else inner if key == "dependentSchemas" else None
            under = key if key in _CONDITIONS else by
            if is_object(below):
                pending += ((each, f"{at}{plain_pointer(key, each_key)}", under) for each_key, each in below.items())
            else:
                pending.append((inner, f"{at}{plain_pointer(key)}", under))
        fresh = set(references({"$ref": schema["$ref"]})) - seen if isinstance(schema.get("$ref"), str) else set[str]()
        seen |= fresh
        pending += ((written.get(other), places.get(other, ""), by) for other in sorted(fresh))


def _named(name: str, written: Mapping[str, Schema]) -> tuple[dict[str, None], dict[str, None]]:
    """The names of members that a definition speaks of for the same object, in whatever keyword, and the patterns of others."""
    names: dict[str, None] = {}
    patterns: dict[str, None] = {}
    for schema in _at_one_place(name, written):
        properties, dependent = schema.get("properties", {}), schema.get("dependentRequired", {})
        names |= dict.fromkeys(
            (*properties, *schema.get("required", ()), *dependent, *schema.get("dependentSchemas", {}))
        )
        names |= dict.fromkeys(each for needed in dependent.values() for each in needed)
        patterns |= dict.fromkeys(schema.get("patternProperties", {}))
        allowed = schema.get("propertyNames")
        if is_object(allowed):
            known = [*allowed.get("enum", ()), *([allowed["const"]] if "const" in allowed else [])]
            names |= dict.fromkeys(each for each in known if isinstance(each, str))
            patterns |= {allowed["pattern"]: None} if "pattern" in allowed else {}
    return names, patterns


def permitted_patterns(name: str | None, written: Mapping[str, Schema]) -> tuple[str, ...]:
    """The patterns that the names of undeclared members of a definition match, where others are refused; none where any name will do."""
    schemas = [] if name is None else _at_one_place(name, written, ("allOf",))
    is_shut = any(
        each.get(key) is False for each in schemas for key in ("additionalProperties", "unevaluatedProperties")
    )
    return tuple(pattern for each in schemas for pattern in each.get("patternProperties", ())) if is_shut else ()


def _at_one_place(name: str, written: Mapping[str, Schema], keywords: Sequence[str] = _IN_PLACE) -> list[Schema]:
    """A definition and all schemas in it that judge the same value by one of the keywords."""
    return [schema for schema, _, _ in _in_place(written.get(name), written, keywords, name=name)]
