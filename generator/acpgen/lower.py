"""Bundle → IR: what the schema means. One function per shape; a shape that is not understood is said, never skipped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from acpgen import ir
from acpgen.bundle import Bundle, common_fields, frames
from acpgen.errors import Fault, Faults, MalformedKeyword, NothingDefined, UnknownLeniency
from acpgen.methods import find_methods
from acpgen.unions import (
    Tagged,
    branches_of,
    constant,
    excluded_tags,
    flatten,
    is_null,
    lone_reference,
    recognise,
)
from acpgen.walk import Schema, asserts, is_array, is_object, target

LENIENCY: Final = {
    "x-deserialize-default-on-error": "default_on_error",
    "x-deserialize-skip-invalid-items": "skip_invalid_items",
    "x-deserialize-default-on-null": "default_on_null",
}

_UNDERSTOOD: Final = frozenset(
    {
        *("type", "properties", "required", "additionalProperties", "allOf", "anyOf", "oneOf", "not", "$ref", "const"),
        *("enum", "items", "minItems", "maxItems", "uniqueItems", "minLength", "maxLength", "pattern", "minimum"),
        *("maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    }
)


def lower(bundle: Bundle, *, keep_unknown: bool = False) -> ir.Protocol:
    """Read the meaning of a bundle. `keep_unknown` makes every closed union and enumeration tolerated.

    Raises `Faults`: leniency that is not known, definitions that mark no method, and a schema without type and method.
    """
    work = _Lowering(bundle, keep_unknown=keep_unknown)
    definitions = {name: work.definition(name) for name in bundle.definitions if name not in work.framing}
    definitions.update(work.synthesised)
    if work.faults:
        raise Faults(work.faults)
    methods, sides = find_methods(bundle)
    if not definitions and not methods:
        raise Faults([NothingDefined(at=next(iter(bundle.files)) if len(bundle.files) == 1 else "")])
    return ir.Protocol(
        name=bundle.name,
        version=bundle.version,
        definitions=definitions,
        methods=methods,
        sides=sides,
        batch=any(is_object(b) and b.get("type") == "array" for b in bundle.schema.get("anyOf", ())),
        doc=str(bundle.schema.get("description", "")),
    )


class _Lowering:
    def __init__(self, bundle: Bundle, *, keep_unknown: bool) -> None:
        self.bundle = bundle
        self.schemas: Mapping[str, Schema] = bundle.definitions
        self.keep_unknown = keep_unknown
        self.faults: list[Fault] = []
        self.synthesised: dict[str, ir.Definition] = {}
        self.unenforced: list[str] = []
        self.framing = frames(self.schemas)

    # --- definitions ---

    def definition(self, name: str) -> ir.Definition:
        schema = self.schemas[name]
        at = self.bundle.origins[name]
        self.unenforced = []
        values = _enum_values(schema, at)
        if values is not None:
            return self._enum(name, schema, at, values)
        union = branches_of(schema)
        if union is not None:
            found = recognise([b for b in union[1] if not is_null(b)], self.schemas)
            if found is not None and _is_pure(schema) and not any(is_null(b) for b in union[1]):
                return self._tagged(name, schema, at, union, found)
        if self._is_record(schema):
            return self._record(name, schema, at)
        type_ = self.type_of(schema, at)
        return ir.Alias(name=name, type=type_, **self._common(schema, at))

    def _common(self, schema: Schema, at: str) -> dict[str, Any]:
        examples = schema.get("examples", [])
        return {
            "unstable": schema.get("x-unstable") is True,
            "unenforced": tuple(dict.fromkeys(self.unenforced)),
            "examples": tuple(examples) if is_array(examples) else (),
            "doc": str(schema.get("description", "")),
            "at": at,
        }

    def _openness(self, schema: Schema, *, is_open: bool) -> ir.Openness:
        if is_open:
            return "open"
        return "tolerated" if schema.get("x-unknown") == "keep" or self.keep_unknown else "closed"

    def _enum(self, name: str, schema: Schema, at: str, found: tuple[list[ir.EnumValue], ir.Type | None]) -> ir.Enum:
        values, base = found
        is_text = all(isinstance(value.value, str) for value in values)
        kind: ir.Type = ir.String() if is_text else ir.Number(integer=True)
        openness = self._openness(schema, is_open=base is not None)
        if openness == "tolerated" and len(values) == 1:
            openness = "closed"  # a lone constant is a mark, not a list that grows
        return ir.Enum(
            name=name, values=tuple(values), openness=openness, base=base or kind, **self._common(schema, at)
        )

    def _tagged(
        self, name: str, schema: Schema, at: str, union: tuple[str, list[Any]], found: Tagged
    ) -> ir.TaggedUnion:
        keyword, branches = union
        variants: list[ir.Variant] = []
        for index, tag in found.variants:
            branch, branch_at = branches[index], f"{at}/{keyword}/{index}"
            type_ = lone_reference({k: v for k, v in branch.items() if k != "not"})
            assert type_ is not None, f"variant {tag!r} of {name} was not named"
            owned = self.schemas[type_]
            variants.append(
                ir.Variant(
                    tag=tag,
                    type=type_,
                    body=self._body(owned),
                    capability=branch.get("x-capability", owned.get("x-capability")),
                    unstable=branch.get("x-unstable", owned.get("x-unstable")) is True,
                    doc=str(branch.get("description", owned.get("description", ""))),
                    at=branch_at,
                )
            )
        fallback: str | None = None
        shapes: tuple[str, ...] = ()
        if found.fallback is not None:
            fallback, shapes = self._fallback(branches[found.fallback])
        default: str | None = None
        admits_known = False
        if found.default is not None:
            branch = branches[found.default]
            default = lone_reference({k: v for k, v in branch.items() if k != "not"})
            assert default is not None, f"the default branch of {name} was not named"
            excluded = {
                **(excluded_tags(branch.get("not")) or {}),
                **(excluded_tags(self.schemas[default].get("not")) or {}),
            }
            judged = flatten({"allOf": [branch]}, self.schemas).properties.get(found.tag, [])
            admits_known = not (
                {tag for _, tag in found.variants} <= excluded.get(found.tag, set())
                or any(is_null(sub) for sub in judged)
            )
        openness = self._openness(schema, is_open=fallback is not None)
        if openness == "tolerated":
            if default is not None and admits_known:
                openness = "closed"  # the default branch reads unknown tags already
            else:
                fallback = self._synthesise(name, at, branches, found)
        return ir.TaggedUnion(
            name=name,
            tag=found.tag,
            variants=tuple(variants),
            openness=openness,
            fallback=fallback,
            fallback_shapes=shapes,
            default=default,
            default_admits_known=admits_known,
            **self._common(schema, at),
        )

    def _fallback(self, branch: Schema) -> tuple[str, tuple[str, ...]]:
        """The fallback's record, and the records of its shapes where it has several."""
        alone = lone_reference(branch)
        if alone is not None:
            return alone, ()
        union = branches_of(branch)
        assert union is not None
        shapes = tuple(target(shape["$ref"]) for shape in union[1])
        body = self._body(self.schemas[shapes[0]])
        assert body is not None
        return body, shapes

    def _synthesise(self, name: str, at: str, branches: list[Any], found: Tagged) -> str:
        """The record that keeps unknown tags of a tolerated union: the tag and what all variants share."""
        shared, required = common_fields([branches[i] for i, _ in found.variants], self.schemas, found.tag)
        fallback = f"Unknown{name}"
        first = lone_reference({k: v for k, v in branches[found.variants[0][0]].items() if k != "not"})
        assert first is not None
        owners = {key: subs[0][2] for key, subs in self._members(self.schemas[first], at, first).items()}
        tag = ir.Field(name=found.tag, type=ir.String(), required=True, owner=first, doc="The unknown tag.", at=at)
        fields = [
            self._field(key, sub, key in required, f"{at}/properties/{key}", owners.get(key, first))
            for key, sub in shared.items()
        ]
        known = tuple(tag for _, tag in found.variants)
        self.synthesised[fallback] = ir.Record(
            name=fallback,
            fields=(tag, *fields),
            excluded=((found.tag, known),),
            doc=f"A variant of {name} that this version does not know, kept as it came.",
            at=at,
        )
        return fallback

    def _body(self, schema: Schema) -> str | None:
        """The record whose content a variant adds to its tag; the first, where there are several."""
        parts = [*schema.get("allOf", ()), *([{"$ref": schema["$ref"]}] if "$ref" in schema else [])]
        bodies = [body for part in parts if (body := lone_reference(part)) is not None]
        return bodies[0] if bodies else None

    # --- records ---

    def _is_record(self, schema: Schema) -> bool:
        if schema.get("type", "object") != "object" or branches_of(schema) is not None:
            return False
        if "properties" in schema and (schema["properties"] or "additionalProperties" not in schema):
            return True
        parts = [*schema.get("allOf", ()), *([{"$ref": schema["$ref"]}] if "$ref" in schema else [])]
        if len(parts) > 1 or (parts and schema.get("type") == "object"):
            bodies = [lone_reference(part) for part in parts]
            return all(
                self._is_record(self.schemas[body] if body is not None else part)
                for body, part in zip(bodies, parts, strict=True)
            )
        return schema.get("type") == "object" and not parts and "additionalProperties" not in schema

    def _record(self, name: str, schema: Schema, at: str) -> ir.Record:
        members = self._members(schema, at, name)
        required = self._required(schema)
        fields: list[ir.Field] = []
        for key, subs in members.items():
            sub, place, owner = subs[0]
            for other, _, _ in subs[1:]:
                if other != sub:
                    sub = _narrower(sub, other)
            fields.append(self._field(key, sub, key in required, place, owner))
        undeclared = sorted(required - set(members))
        fields.extend(ir.Field(name=key, type=ir.Anything(), required=True, owner=name, at=at) for key in undeclared)
        extra: ir.Type = ir.Anything()
        if "additionalProperties" in schema:
            extra = self.type_of(schema["additionalProperties"], f"{at}/additionalProperties")
        excluded = excluded_tags(schema.get("not")) if "not" in schema else {}
        if excluded is None:
            self.unenforced.append(f"{at}/not")
        self._note(schema, at, {"properties", "required", "additionalProperties", "allOf", "$ref", "type", "not"})
        body = self._body(schema)
        return ir.Record(
            name=name,
            fields=tuple(fields),
            extra=extra,
            base=body if body is not None and self._extends(schema, body) else None,
            excluded=tuple((key, tuple(sorted(values, key=str))) for key, values in sorted((excluded or {}).items())),
            **self._common(schema, at),
        )

    def _extends(self, schema: Schema, body: str) -> bool:
        """Whether a record may be a subclass of its body: none of the body's fields changes."""
        theirs, own = self._members(self.schemas[body], "", body), self._members(schema, "", body)
        same = all([sub for sub, _, _ in own[key]] == [sub for sub, _, _ in subs] for key, subs in theirs.items())
        return same and self._required(schema) & set(theirs) == self._required(self.schemas[body]) & set(theirs)

    def _members(self, schema: Schema, at: str, owner: str) -> dict[str, list[tuple[Any, str, str]]]:
        """Each property with the schemas that judge it, their places and owners, own ones first, in source order."""
        members: dict[str, list[tuple[Any, str, str]]] = {}
        for key, sub in schema.get("properties", {}).items():
            place = f"{at}/properties/{key.replace('~', '~0').replace('/', '~1')}"
            members.setdefault(key, []).append((sub, place, owner))
        parts = [(part, f"{at}/allOf/{i}") for i, part in enumerate(schema.get("allOf", ())) if is_object(part)]
        if "$ref" in schema:
            parts.append(({"$ref": schema["$ref"]}, at))
        for part, place in parts:
            body = lone_reference(part)
            below = (
                self._members(self.schemas[body], self.bundle.origins[body], body)
                if body
                else self._members(part, place, owner)
            )
            for key, subs in below.items():
                members.setdefault(key, []).extend(subs)
        return members

    def _required(self, schema: Schema) -> set[str]:
        required = set(schema.get("required", ()))
        for part in [*schema.get("allOf", ()), *([{"$ref": schema["$ref"]}] if "$ref" in schema else [])]:
            body = lone_reference(part)
            required |= self._required(self.schemas[body] if body else part)
        return required

    def _field(self, name: str, schema: Any, required: bool, at: str, owner: str) -> ir.Field:
        if not is_object(schema):
            return ir.Field(name=name, type=self.type_of(schema, at), required=required, owner=owner, at=at)
        null = schema.get("x-null", self._inherited(schema, "x-null"))
        return ir.Field(
            name=name,
            type=self.type_of(schema, at),
            required=required,
            default=ir.Default(schema["default"]) if "default" in schema else None,
            null=null,
            leniency=self._leniency(schema, at),
            capability=schema.get("x-capability"),
            required_with=schema.get("x-required-with"),
            unstable=schema.get("x-unstable") is True,
            owner=owner,
            doc=str(schema.get("description") or _first_sentence(self._inherited(schema, "description"))),
            at=at,
        )

    def _inherited(self, schema: Schema, keyword: str) -> Any:
        """What the definition that a field refers to says, for what the field leaves unsaid."""
        reference = lone_reference(schema)
        if reference is None:
            rest = [branch for branch in (branches_of(schema) or ("", []))[1] if not is_null(branch)]
            reference = lone_reference(rest[0]) if len(rest) == 1 else None
        return None if reference is None else self.schemas[reference].get(keyword)

    def _leniency(self, schema: Schema, at: str) -> ir.Leniency:
        known: dict[str, bool] = {}
        for keyword, value in schema.items():
            if not keyword.startswith("x-deserialize-"):
                continue
            if keyword not in LENIENCY:
                self.faults.append(UnknownLeniency(at=at, keyword=keyword))
            else:
                known[LENIENCY[keyword]] = value is True
        return ir.Leniency(**known)

    # --- types ---

    def type_of(self, schema: Any, at: str) -> ir.Type:
        """The type that a schema describes. What bindings cannot enforce is noted with its place."""
        if schema is True:
            return ir.Anything()
        if schema is False or not is_object(schema):
            return ir.Nothing()
        reference = lone_reference(schema)
        if reference is not None:
            return ir.Ref(reference)
        if "const" in schema or "enum" in schema:
            self._note(schema, at, {"const", "enum", "type"})
            return self._constants(schema, at)
        union = branches_of(schema)
        if union is not None:
            self._note(schema, at, {union[0], "type"})
            return self._any_of(union, at)
        if "allOf" in schema or "$ref" in schema:
            parts = [*schema.get("allOf", ()), *([{"$ref": schema["$ref"]}] if "$ref" in schema else [])]
            self.unenforced.extend(f"{at}/allOf/{i}" for i in range(1, len(parts)))
            self._note(schema, at, {"allOf", "$ref", "type"})
            return self.type_of(parts[0], f"{at}/allOf/0")
        types = schema.get("type")
        if is_array(types):
            members = [self._plain({**schema, "type": name}, name, at) for name in types if name != "null"]
            if "null" in types:
                members.append(ir.Null())
            return members[0] if len(members) == 1 else ir.AnyOf(tuple(members))
        if types is None:
            self._note(schema, at, set())
            return ir.Anything()
        return self._plain(schema, types, at)

    def _constants(self, schema: Schema, at: str) -> ir.Type:
        values = [schema["const"]] if "const" in schema else list(schema["enum"])
        if any(isinstance(value, dict | list) for value in values):
            self.unenforced.append(f"{at}/{'const' if 'const' in schema else 'enum'}")
            return ir.Anything()
        if not values:
            return ir.Nothing()
        if values == [None]:
            return ir.Null()
        if None in values:
            rest = tuple(value for value in values if value is not None)
            return ir.AnyOf((ir.Constant(rest), ir.Null()))
        return ir.Constant(tuple(values))

    def _any_of(self, union: tuple[str, list[Any]], at: str) -> ir.Type:
        keyword, branches = union
        types: list[ir.Type] = []
        for index, branch in enumerate(branches):
            lowered = self.type_of(branch, f"{at}/{keyword}/{index}")
            for one in lowered.types if isinstance(lowered, ir.AnyOf) and keyword == "anyOf" else (lowered,):
                if one not in types:
                    types.append(one)
        if ir.Null() in types:
            types.remove(ir.Null())
            types.append(ir.Null())
        if len(types) == 1:
            return types[0]
        exclusive = keyword == "oneOf" and not _disjoint(types)
        return ir.AnyOf(tuple(types), exclusive=exclusive)

    def _plain(self, schema: Schema, kind: str, at: str) -> ir.Type:
        match kind:
            case "null":
                return ir.Null()
            case "boolean":
                return ir.Boolean()
            case "integer" | "number":
                self._note(schema, at, {"type", *_NUMBER.values()})
                bounds = {name: schema.get(keyword) for name, keyword in _NUMBER.items()}
                return ir.Number(integer=kind == "integer", format=schema.get("format"), **bounds)
            case "string":
                self._note(schema, at, {"type", "minLength", "maxLength", "pattern"})
                return ir.String(
                    min_length=schema.get("minLength"),
                    max_length=schema.get("maxLength"),
                    pattern=schema.get("pattern"),
                    format=schema.get("format"),
                    encoding=schema.get("contentEncoding"),
                )
            case "array":
                self._note(schema, at, {"type", "items", "minItems", "maxItems"})
                return ir.Array(
                    items=self.type_of(schema.get("items", True), f"{at}/items"),
                    min_items=schema.get("minItems"),
                    max_items=schema.get("maxItems"),
                    unique=schema.get("uniqueItems") is True,
                )
            case "object":
                self._note(
                    schema, at, {"type", "additionalProperties", *(() if schema.get("properties") else ("properties",))}
                )
                return ir.Map(self.type_of(schema.get("additionalProperties", True), f"{at}/additionalProperties"))
            case _:
                self.faults.append(MalformedKeyword(at=at, keyword="type", expected="a JSON type"))
                return ir.Nothing()

    def _note(self, schema: Schema, at: str, handled: set[str]) -> None:
        self.unenforced.extend(f"{at}/{key}" for key in schema if asserts(key) and key not in handled)


_NUMBER: Final = {
    "minimum": "minimum",
    "maximum": "maximum",
    "exclusive_minimum": "exclusiveMinimum",
    "exclusive_maximum": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}


def _first_sentence(text: Any) -> str:
    """What a description says first: enough for a field that only refers to the definition it describes."""
    first = re.match(r".*?[.!?](?=\s|$)", text, re.DOTALL) if isinstance(text, str) else None
    return first[0] if first else text or ""


def _is_pure(schema: Schema) -> bool:
    """Whether a schema is a union of objects and nothing else."""
    return {key for key in schema if asserts(key)} <= {"anyOf", "oneOf", "type"}


def _enum_values(schema: Schema, at: str) -> tuple[list[ir.EnumValue], ir.Type | None] | None:
    """The constants of an enumeration and, for an open one, the type of other values; `None` if it is something else."""
    if is_array(schema.get("enum")):
        values = schema["enum"]
        if not values or any(isinstance(value, dict | list | None) for value in values):
            return None
        return [ir.EnumValue(value=value, at=f"{at}/enum/{i}") for i, value in enumerate(values)], None
    union = branches_of(schema)
    if union is None:
        return None
    keyword, branches = union
    found: list[ir.EnumValue] = []
    base: ir.Type | None = None
    for index, branch in enumerate(branches):
        value = constant(branch)
        if value is not None:
            found.append(
                ir.EnumValue(
                    value=value,
                    title=branch.get("title"),
                    capability=branch.get("x-capability"),
                    unstable=branch.get("x-unstable") is True,
                    doc=str(branch.get("description", "")),
                    at=f"{at}/{keyword}/{index}",
                )
            )
        elif base is None and is_object(branch) and {k for k in branch if asserts(k)} == {"type"}:
            if branch["type"] not in ("string", "integer"):
                return None
            base = ir.String() if branch["type"] == "string" else ir.Number(integer=True, format=branch.get("format"))
        else:
            return None
    return (found, base) if found else None


def _narrower(first: Any, second: Any) -> Any:
    """Of two schemas for one property the one that says more; both together where neither contains the other."""
    if not _demands(first):
        return second
    if not _demands(second):
        return first
    if constant(second) is not None:
        return {**{k: v for k, v in first.items() if not asserts(k)}, **second}
    if constant(first) is not None or lone_reference(first) == lone_reference(second) is not None:
        return first
    return {**{k: v for k, v in first.items() if not asserts(k)}, "allOf": [first, second]}


def _demands(schema: Any) -> bool:
    return schema is False or (is_object(schema) and any(asserts(key) for key in schema))


def _disjoint(types: list[ir.Type]) -> bool:
    """Whether no value can be of two of these types, judged by JSON types and constants alone."""
    kinds = [_kind(type_) for type_ in types]
    return None not in kinds and len(set(kinds)) == len(kinds)


def _kind(type_: ir.Type) -> str | None:
    match type_:
        case ir.Null():
            return "null"
        case ir.Boolean():
            return "boolean"
        case ir.Number():
            return "number"
        case ir.String():
            return "string"
        case ir.Array():
            return "array"
        case ir.Map():
            return "object"
        case _:
            return None
