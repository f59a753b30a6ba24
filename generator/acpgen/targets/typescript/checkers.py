"""Checkers in JavaScript: a function for each definition of a bundle, and constants for the schemas inside them.

A checker judges by the JSON Schema of the bundle; receivers also keep what the IR says that they keep. The functions of
`templates/typescript/runtime.js` are what checkers are made of.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.embedded import discriminators
from acpgen.input.expressions import fault_of
from acpgen.input.numbers import dumps
from acpgen.input.walk import Schema, is_object
from acpgen.meaning.limits import limits_of
from acpgen.pointers import pointer_parts, reference_to, resolve

_SCALARS: Final = {
    "array": "array",
    "boolean": "boolean",
    "integer": "integer",
    "null": "nil",
    "number": "number",
    "object": "object",
    "string": "string",
}
_INHERITED: Final = frozenset(
    {
        *("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString"),
        *("valueOf", "__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"),
    }
)
"""The members that every object of JavaScript has."""
_OFTEN: Final = 4
"""A field that more records have is a function of its own."""
_LIMITS: Final = (
    *("minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
)
_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


class Checkers:
    """The checkers of one protocol. `names` are the names of definitions in the generated module."""

    def __init__(self, protocol: ir.Protocol, bundle: Bundle, names: Mapping[str, str]) -> None:
        self._protocol = protocol
        self._definitions: Mapping[str, Schema] = bundle.definitions
        self._names = names
        self._unions = discriminators.Unions(self._at)
        self._constants: dict[str, str] = {}
        self._lines: list[str] = []
        self._inner: dict[str, str] = {}
        self._evaluators: dict[str, str] = {}
        self._shared: list[str] = []
        self._bodies: dict[str, str] = {}
        self._checkers: dict[str, str] = {}
        self._within: list[str] = []
        self._recursive: set[str] = set()

    def render(self) -> str:
        """The source of all checkers: constants after the functions that they refer to, which are hoisted."""
        for name in self.offered():
            self.name(name)
        source = "\n".join(self._lines)
        for line, count in Counter(re.findall(r"^    optional\(.*\);$", source, re.MULTILINE)).items():
            if count > _OFTEN:
                name = f"f{len(self._shared)}"
                self._shared.append(f"function {name}(v, p, c) {{\n  {line.strip()}\n}}")
                source = source.replace(line, f"    {name}(v, p, c);")
        return "\n".join([source, *self._shared])

    def offered(self) -> list[str]:
        """The definitions that have a checker of their own: all but those that only frame messages."""
        return [name for name in self._definitions if name in self._protocol.definitions]

    def name(self, definition: str) -> str:
        """What the module calls the checker of a definition: its function, or what it is another name for."""
        if definition not in self._checkers:
            schema = self._definitions[definition]
            self._checkers[definition] = function = f"${self._names[definition]}"  # where it refers to itself
            self._within.append(definition)
            if self._has_fields(schema):
                body = self._body(schema, function, self._protocol.definitions[definition])
                self._checkers[definition] = self._add(function, body)
            else:
                found = self._joined(self._parts(schema, self._protocol.definitions[definition]))
                if definition in self._recursive:
                    self._add(function, f"  return {found}(v, p, c);")
                else:
                    self._checkers[definition] = found
            self._within.pop()
        elif definition in self._within:
            self._recursive.add(definition)
        return self._checkers[definition]

    def _add(self, function: str, body: str) -> str:
        """Add a function, unless there is one that does the same and may stand for it; returns its name."""
        key = body.replace(f"{function})", ")").replace(f"{function},", ",")
        if function in key or self._bodies.setdefault(key, function) == function:
            self._lines.append(f"function {function}(v, p, c) {{\n{body}\n}}")
            return function
        return self._bodies[key]

    def _body(self, schema: Any, function: str, definition: ir.Definition | None) -> str:
        if is_object(schema) and self._has_fields(schema):
            lines = self._fields(schema, function)
            rest = {key: value for key, value in schema.items() if key != "type" or value != "object"}
            parts = self._parts(rest, definition, with_fields=False)
            lines += [f"  if (!c.keys) v = {one}(v, p, c);" for one in parts]
            return "\n".join([*lines, "  return v;"])
        return f"  return {self._joined(self._parts(schema, definition))}(v, p, c);"

    def _has_fields(self, schema: Schema) -> bool:
        return bool(schema.get("properties") or schema.get("required"))

    def _fields(self, schema: Schema, function: str) -> list[str]:
        properties: Schema = schema.get("properties", {})
        required = dict.fromkeys(schema.get("required", ()))
        lines = [f"  if ({'record' if schema.get('type') == 'object' else 'fields'}(v, p, c)) {{"]
        for name in [*properties, *(one for one in required if one not in properties)]:
            sub = properties.get(name, True)
            how = self._leniency(sub)
            is_list = how and name in required and self._is_list(sub)
            how |= (4 if is_list else 0) | (16 if name in _INHERITED else 0) | (32 if "~" in name or "/" in name else 0)
            checker = self.of(sub, drops=bool(is_object(sub) and sub.get("x-deserialize-skip-invalid-items")))
            given = ["v", dumps(name), "p", "c", checker]
            if name in required:
                lines.append(f"    required({', '.join([*given, function, *([str(how)] if how else [])])});")
            else:
                lines.append(f"    optional({', '.join([*given, *([str(how)] if how else [])])});")
        return [*lines, "  }"]

    def _leniency(self, sub: Any) -> int:
        if not is_object(sub):
            return 0
        on_error = 1 if sub.get("x-deserialize-default-on-error") else 0
        return on_error | (2 if sub.get("x-deserialize-default-on-null") else 0)

    def _is_list(self, schema: Any) -> bool:
        """Whether what a schema takes is an array, or null."""
        return self._types(schema, frozenset()) - {"null"} == {"array"}

    def _types(self, schema: Any, seen: frozenset[str]) -> set[str]:
        if not is_object(schema):
            return set()
        declared = schema.get("type", [])
        found = {declared} if isinstance(declared, str) else set(declared)
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference not in seen:
            found |= self._types(self._at(reference), seen | {reference})
        for keyword in ("anyOf", "oneOf", "allOf"):
            found.update(*(self._types(one, seen) for one in schema.get(keyword, ())))
        return found

    # --- schemas ---

    def of(self, schema: Any, *, drops: bool = False) -> str:
        """A checker of a schema: the name of a function. `drops`: receivers leave out items that are wrong."""
        if is_object(schema) and self._has_fields(schema):
            return self._function(schema)
        if drops and is_object(schema) and "$ref" in schema:
            schema = {**schema, **self._at(schema["$ref"])}
            schema.pop("$ref")
        return self._joined(self._parts(schema, None, drops=drops))

    def _function(self, schema: Schema) -> str:
        """The function of an object that has no definition of its own."""
        key = json.dumps(schema, sort_keys=True)
        if key not in self._inner:
            self._inner[key] = function = f"o{len(self._inner)}"
            self._add(function, self._body(schema, function, None))
        return self._inner[key]

    def _joined(self, parts: Sequence[str]) -> str:
        if len(parts) == 1:
            return parts[0]
        return self._constant(f"all({', '.join(parts)})") if parts else "any"

    def _constant(self, source: str) -> str:
        """The name of a constant with this value; each value is made once."""
        if source not in self._constants:
            self._constants[source] = name = f"k{len(self._constants)}"
            self._lines.append(f"const {name} = /* @__PURE__ */ {source};")
        return self._constants[source]

    def _parts(
        self, schema: Any, definition: ir.Definition | None, *, with_fields: bool = True, drops: bool = False
    ) -> list[str]:
        """The checkers whose conjunction is a schema."""
        if schema is True or schema == {}:
            return []
        if schema is False:
            return ["never"]
        found: list[str] = []
        if with_fields and self._has_fields(schema):
            return [self._function(schema)]
        constants = self._only_constants(schema)
        if constants is not None and self._is_open(definition):
            return [self._constant(f"open({self._literal(constants)}, string)")]
        if constants is not None:
            return [self._literal(constants)]
        if isinstance(schema.get("$ref"), str):
            found.append(self._reference(schema["$ref"]))
        found += self._scalars(schema)
        found += self._array(schema, drops=drops)
        found += self._object(schema)
        found += [self.of(one) for one in schema.get("allOf", ())]
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                found.append(self._union(schema, keyword, definition, drops=drops))
        if "not" in schema:
            found.append(self._constant(f"not({self.of(schema['not'])})"))
        if "if" in schema and ("then" in schema or "else" in schema):
            branches = (self.of(schema.get(keyword, True)) for keyword in ("if", "then", "else"))
            found.append(self._constant(f"when({', '.join(branches)})"))
        found += self._unevaluated(schema)
        return found

    def _reference(self, reference: str) -> str:
        parts = pointer_parts(unquote(reference))
        if len(parts) == 2 and parts[0] == "$defs" and parts[1] in self._protocol.definitions:
            return self.name(parts[1])
        key = f"\0{reference}"
        if key not in self._inner:
            self._inner[key] = function = f"o{len(self._inner)}"
            target = self._at(reference)
            self._add(function, self._body(target, function, None))
        return self._inner[key]

    def _at(self, reference: str) -> Any:
        return resolve({"$defs": self._definitions}, unquote(reference))

    # --- scalars ---

    def _only_constants(self, schema: Schema) -> list[ir.JSON] | None:
        """The constants of a schema that admits nothing else."""
        if "const" in schema or "enum" in schema:
            if any(key in schema for key in ("$ref", "allOf", "anyOf", "oneOf", "not", "if", *_LIMITS, "pattern")):
                return None
            values = [schema["const"]] if "const" in schema else list(schema["enum"])
            types = schema.get("type")
            return values if types is None or all(map(_fits(types), values)) else None
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema and schema.keys().isdisjoint(
                {*_LIMITS, "$ref", "allOf", "not", "if", "pattern", "format"}
            ):
                found = [self._only_constants(one) if is_object(one) else None for one in schema[keyword]]
                values = [value for one in found for value in one or ()]
                is_exclusive = keyword == "oneOf" and len(set(map(json.dumps, values))) < len(values)
                if found and None not in found and not is_exclusive and len(found) > 1:
                    return values
        return None

    def _is_open(self, definition: ir.Definition | None) -> bool:
        return isinstance(definition, ir.Enum) and definition.openness == "tolerated"

    def _literal(self, values: Sequence[ir.JSON]) -> str:
        return self._constant(f"literal({', '.join(map(dumps, values))})")

    def _scalars(self, schema: Schema) -> list[str]:
        found: list[str] = []
        types = schema.get("type")
        if isinstance(types, str):
            found.append(_SCALARS[types])
        elif types is not None:
            ordered = sorted(types, key=lambda name: (name == "null", name))
            found.append(self._constant(f"type({', '.join(map(dumps, ordered))})"))
        if "const" in schema or "enum" in schema:
            found.append(self._literal([schema["const"]] if "const" in schema else schema["enum"]))
        limits = {key: schema[key] for key in _LIMITS if key in schema and schema[key] is not False}
        if limits:
            found.append(self._constant(f"limits({dumps(limits)})"))
        if isinstance(schema.get("pattern"), str):
            text = "" if schema.get("format") == "absolute-path" else schema["pattern"]
            if not fault_of(schema["pattern"]):
                found.append(self._constant(f"pattern({_expression(schema['pattern'])}, {dumps(text)})"))
        return found

    # --- arrays and objects ---

    def _array(self, schema: Schema, *, drops: bool) -> list[str]:
        found: list[str] = []
        first = [self.of(one) for one in schema.get("prefixItems", ())]
        rest = self.of(schema.get("items", True))
        if first or rest != "any":
            more = [f"[{', '.join(first)}]"] if first or drops else []
            found.append(self._constant(f"items({', '.join([rest, *more, *(['true'] if drops else [])])})"))
        if "contains" in schema:
            most = schema.get("maxContains", "Infinity")
            found.append(
                self._constant(f"contains({self.of(schema['contains'])}, {schema.get('minContains', 1)}, {most})")
            )
        return found

    def _object(self, schema: Schema) -> list[str]:
        found: list[str] = []
        rest = self.of(schema.get("additionalProperties", True))
        patterns = [f"[{_expression(one)}, {self.of(sub)}]" for one, sub in schema.get("patternProperties", {}).items()]
        if rest != "any" or patterns:
            declared = ", ".join(map(dumps, schema.get("properties", {})))
            found.append(self._constant(f"members([{declared}], [{', '.join(patterns)}], {rest})"))
        if "propertyNames" in schema:
            found.append(self._constant(f"names({self.of(schema['propertyNames'])})"))
        needs = {name: dumps(need) for name, need in schema.get("dependentRequired", {}).items()}
        rows = [f"[{dumps(name)}, {need}]" for name, need in needs.items()]
        rows += [f"[{dumps(name)}, {self.of(need)}]" for name, need in schema.get("dependentSchemas", {}).items()]
        if rows:
            found.append(self._constant(f"dependents([{', '.join(rows)}])"))
        return found

    def _unevaluated(self, schema: Schema) -> list[str]:
        return [
            self._constant(
                f"unevaluated((v, c) => {self._evaluator(schema, is_inner=False)}()(v, c), {self.of(schema[word])}, {dumps(word)})"
            )
            for word in ("unevaluatedProperties", "unevaluatedItems")
            if word in schema
        ]

    def _evaluator(self, schema: Schema, *, is_inner: bool) -> str:
        """A function that gives what says which members or items a schema evaluates; an inner schema evaluates what is left, too."""
        key = json.dumps([is_inner, schema], sort_keys=True)
        if key in self._evaluators:
            return self._evaluators[key]
        self._evaluators[key] = name = f"e{len(self._evaluators)}"
        rows = [
            f"[{test}, {self._evaluator(one, is_inner=True)}]"
            for test, one in self._evaluating(schema)
            if is_object(one)
        ]
        given = {
            "names": f"[{', '.join(map(dumps, schema.get('properties', {})))}]",
            "patterns": f"[{', '.join(map(_expression, schema.get('patternProperties', {})))}]",
            "allNames": _js("additionalProperties" in schema or (is_inner and "unevaluatedProperties" in schema)),
            "first": str(len(schema.get("prefixItems", ()))),
            "allItems": _js("items" in schema or (is_inner and "unevaluatedItems" in schema)),
            "contains": self.of(schema["contains"]) if "contains" in schema else "",
        }
        told = ", ".join(f"{word}: {text}" for word, text in given.items() if text not in ("", "[]", "0", "false"))
        self._lines.append(
            f"let m{name};\nconst {name} = () => (m{name} ??= evaluate({{ {told} }}, [{', '.join(rows)}]));"
        )
        return name

    def _evaluating(self, schema: Schema) -> Iterator[tuple[str, Any]]:
        """The schemas that evaluate for another one, each with the checker that must hold, or `null`."""
        if isinstance(schema.get("$ref"), str):
            yield "null", self._at(schema["$ref"])
        yield from (("null", one) for one in schema.get("allOf", ()))
        for keyword in ("anyOf", "oneOf"):
            yield from ((self.of(one), one) for one in schema.get(keyword, ()))
        if "if" in schema:
            test = self.of(schema["if"])
            yield test, schema["if"]
            yield test, schema.get("then", True)
            yield self.of({"not": schema["if"]}), schema.get("else", True)
        for name, sub in schema.get("dependentSchemas", {}).items():
            yield self.of({"type": "object", "required": [name]}), sub

    # --- unions ---

    def _union(self, schema: Schema, keyword: str, definition: ir.Definition | None, *, drops: bool) -> str:
        branches: list[Any] = schema[keyword]
        real = [index for index, one in enumerate(branches) if not discriminators.is_null(one)]
        nulls = [index for index in range(len(branches)) if index not in real]
        if nulls and len(real) == 1 and len(nulls) == 1 and "null" not in self._types(branches[real[0]], frozenset()):
            return self._constant(f"nullable({self.of(branches[real[0]], drops=drops)})")
        plain = [_plain_type(branches[index]) for index in real]
        if len(real) > 1 and all(plain) and len(set(plain)) == len(plain) and not {"number", "integer"} <= set(plain):
            source = self._constant(f"type({', '.join(map(dumps, sorted(map(str, plain))))})")
            return self._constant(f"nullable({source})") if nulls else source
        told = self._told(branches, real, nulls, definition)
        checkers = [self.of(one, drops=drops) for one in branches]
        is_exclusive = str(keyword == "oneOf").lower()
        return self._constant(f"union([{', '.join(checkers)}], {is_exclusive}{', ' + told if told else ''})")

    def _told(
        self, branches: Sequence[Any], real: Sequence[int], nulls: Sequence[int], definition: ir.Definition | None
    ) -> str:
        """How the branches of a union are told apart, as an object of JavaScript."""
        rows: list[str] = []
        if nulls:
            rows.append(f"nulls: {list(nulls)}")
        tag = self._unions.discriminator(branches, real)
        if tag is not None:
            rows += _tag_rows(tag)
        else:
            keys = self._unions.keys(branches, real)
            if keys:
                inside = ", ".join(f"{index}: {dumps(key)}" for index, key in keys.items())
                rows.append(f"keys: {{ {inside} }}")
        if isinstance(definition, ir.TaggedUnion) and definition.fallback is not None and tag is not None:
            known = definition.default_tag
            rows.append(f"unknown: [{dumps(known) if known is not None else ''}]")
            shared = [one.name for one in constant_fields(definition, self._protocol)]
            rows += [f"shared: {dumps(shared)}"] if shared else []
            if definition.openness == "tolerated":
                rows.append(f"fallback: {self._fallback(definition)}")
        return f"{{ {', '.join(rows)} }}" if rows else ""

    def _fallback(self, union: ir.TaggedUnion) -> str:
        """The checker of the record that keeps what is unknown, which no definition of the bundle is."""
        name = str(union.fallback)
        record = self._protocol.definitions[name]
        assert isinstance(record, ir.Record)
        properties: dict[str, Any] = {}
        for field in record.fields:
            properties[field.name] = {**schema_of(field.type), **_leniency_words(field.leniency)}
        required = [field.name for field in record.fields if field.required]
        return self._function({"type": "object", "properties": properties, "required": required})


def constant_fields(union: ir.TaggedUnion, protocol: ir.Protocol) -> list[ir.Field]:
    """The fields that have one value in every object whose tag is unknown: the tags of unions around this one."""
    record = protocol.definitions.get(union.fallback or "")
    fields = record.fields if isinstance(record, ir.Record) else ()
    return [one for one in fields if one.required and isinstance(one.type, ir.Constant) and one.name != union.tag]


def schema_of(type_: ir.Type) -> dict[str, Any]:
    """A type of the IR as JSON Schema."""
    match type_:
        case ir.Nothing():
            return {"not": {}}
        case ir.Null():
            return {"type": "null"}
        case ir.Boolean():
            return {"type": "boolean"}
        case ir.Number():
            return {"type": "integer" if type_.integer else "number", **limits_of(type_)}
        case ir.String():
            return {"type": "string", **limits_of(type_)}
        case ir.Constant():
            return {"enum": list(type_.values)}
        case ir.Array():
            unique = {"uniqueItems": True} if type_.unique else {}
            return {"type": "array", "items": schema_of(type_.items), **limits_of(type_), **unique}
        case ir.Tuple():
            unique = {"uniqueItems": True} if type_.unique else {}
            first = [*map(schema_of, type_.first)]
            return {"type": "array", "prefixItems": first, "items": schema_of(type_.rest), **limits_of(type_), **unique}
        case ir.Map():
            return {"type": "object", "additionalProperties": schema_of(type_.values)}
        case ir.Ref():
            return {"$ref": reference_to(type_.name)}
        case ir.AnyOf():
            return {"oneOf" if type_.exclusive else "anyOf": [*map(schema_of, type_.types)]}
        case _:
            return {}


def _leniency_words(leniency: ir.Leniency) -> dict[str, bool]:
    words = {
        "x-deserialize-default-on-error": leniency.default_on_error,
        "x-deserialize-skip-invalid-items": leniency.skip_invalid_items,
        "x-deserialize-default-on-null": leniency.default_on_null,
    }
    return {word: True for word, holds in words.items() if holds}


def _tag_rows(tag: discriminators.Discriminator) -> list[str]:
    known = ", ".join(f"{_tag_key(value)}: {list(owners)}" for (_, value), owners in tag.known.items())
    rows = [f"field: {dumps(tag.field)}", f"known: {{ __proto__: null, {known} }}"]
    rows += [f"others: {list(tag.others)}"] if tag.others else []
    return [*rows, *([f"untagged: {list(tag.untagged)}"] if tag.untagged else [])]


def _tag_key(value: ir.JSON) -> str:
    text = value if isinstance(value, str) else f"\0{dumps(value)}"
    return text if _NAME.fullmatch(text) else dumps(text) if text != "__proto__" else '["__proto__"]'


def _js(holds: bool) -> str:
    return "true" if holds else "false"


def _expression(pattern: str) -> str:
    """A pattern as an expression of JavaScript."""
    if fault_of(pattern):
        return "/(?!)/u"
    return f"new RegExp({dumps(pattern)}, 'u')"


def _plain_type(schema: Any) -> str | None:
    """The type of a schema that says nothing else."""
    if not is_object(schema) or not isinstance(schema.get("type"), str):
        return None
    return (
        None
        if schema.keys() - {"type", "title", "description", "format", "examples", "default", "deprecated"}
        else schema["type"]
    )


def _fits(types: Any) -> Any:
    names = {types} if isinstance(types, str) else set(types)

    def fits(value: Any) -> bool:
        match value:
            case bool():
                return "boolean" in names
            case None:
                return "null" in names
            case int():
                return bool(names & {"integer", "number"})
            case float():
                return "number" in names or ("integer" in names and value.is_integer())
            case str():
                return "string" in names
            case list():
                return "array" in names
            case _:
                return "object" in names

    return fits
