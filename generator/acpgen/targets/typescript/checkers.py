"""Checkers in JavaScript: a constant for each definition of a bundle, made of the functions of `templates/typescript/runtime.js`.

A checker judges by the JSON Schema of the bundle; receivers judge by the definitions of `of_receivers` where these differ.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final
from urllib.parse import unquote

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.bundle.unknown_variants import of_receivers
from acpgen.embedded import discriminators
from acpgen.input.equality import by_key
from acpgen.input.expressions import fault_of
from acpgen.input.numbers import dumps
from acpgen.input.schema_nodes import Schemas
from acpgen.input.tagged_unions import is_of_type
from acpgen.input.walk import ASSERTIONS, Schema, is_object
from acpgen.pointers import pointer_parts, resolve

_SCALARS: Final = {
    "array": "array",
    "boolean": "boolean",
    "integer": "integer",
    "null": "nil",
    "number": "number",
    "object": "object",
    "string": "string",
}
_LIMITS: Final = (
    *("minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
)
_KINDS: Final[dict[type, str]] = {str: "string", int: "integer", bool: "boolean", type(None): "null"}
_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_TOKEN: Final = re.compile(r"\0(\d+)\0")
"""Stands for a constant in the source of others until all are known. No literal holds this character as it is."""
_COPIES: Final = 130
"""The most characters that copies of a constant may add: a few short ones compress better than a name."""
_EXACT: Final = " (exact)"
"""The end of names of definitions that `of_receivers` excludes by; checkers judge strictly there."""


class Checkers:
    """The checkers of one protocol. `names` are the names of definitions in the generated module."""

    def __init__(self, protocol: ir.Protocol, bundle: Bundle, names: Mapping[str, str]) -> None:
        self._protocol = protocol
        self._definitions: Mapping[str, Schema] = bundle.definitions
        self._receiving = of_receivers(bundle.definitions, bundle.unions, protocol.tolerated, protocol.fallbacks)
        self._names = names
        self._unions = discriminators.Unions(self._at)
        self._sources: list[str] = []
        self._tokens: dict[str, str] = {}
        self._order: list[int] = []
        self._found: dict[str, str] = {}
        self._pending: dict[str, int] = {}
        self._kept: dict[int, str] = {}
        self._named: dict[int, list[str]] = {}
        self._evaluators: dict[str, str] = {}

    def render(self, others: Mapping[str, str]) -> tuple[str, dict[str, str]]:
        """The source of all checkers, each constant after those that it is made of, and `others` with the names in place.

        What one place alone uses stands there, and what is short in a few. What several definitions share has the name of none of them.
        """
        uses = Counter(_TOKEN.findall("".join([*self._sources, *others.values()])))
        texts: dict[str, str] = {}

        def resolved(text: str) -> str:
            return _TOKEN.sub(lambda found: texts[found[1]], text)

        lines: list[str] = []
        taken: set[str] = set()
        own = {index: names[0] for index, names in self._named.items() if len(names) == 1}
        own |= self._kept
        for index in self._order:
            texts[str(index)] = own.get(index, "")
        for index in self._order:
            source = resolved(self._sources[index])
            is_short = (uses[str(index)] - 1) * len(source) <= _COPIES
            if index not in own.keys() | self._named.keys() and (is_short or _TOKEN.fullmatch(self._sources[index])):
                texts[str(index)] = source
                continue
            name = own.get(index) or _constant_name(source, taken)
            taken.add(name)
            texts[str(index)] = name
            lines.append(f"const {name} = {source};")
        return "\n".join(lines), {key: resolved(text) for key, text in others.items()}

    def offered(self) -> list[str]:
        """The definitions that have a checker of their own: all but those that only frame messages."""
        return [name for name in self._definitions if name in self._protocol.definitions]

    def of_definition(self, name: str) -> str:
        """The checker of a definition, of the bundle or of receivers."""
        name = name.removesuffix(_EXACT)
        if name not in self._definitions:
            return self._once(name, lambda: self.of(self._receiving[name]))
        return self._once(name, lambda: self._both(name), self._names.get(name, ""))

    def export(self, name: str) -> str:
        """The checker of a definition under a name of its own."""
        source = self.of_definition(name)
        token = _TOKEN.fullmatch(source)
        if token:
            self._named.setdefault(int(token[1]), []).append(f"${self._names[name]}")
        return source

    def _both(self, name: str) -> str:
        """The checker of a definition, which receivers may judge by another one: most add a branch to a union."""
        meaning, schema = self._protocol.definitions.get(name), self._definitions[name]
        received, fallback = self._receiving.get(name, schema), None
        if isinstance(meaning, ir.TaggedUnion):
            received, fallback = _parted(received, schema)
        strict = self._join_checks(self._parts(schema, meaning, fallback=fallback))
        if received == schema:
            return strict
        return self._call("open", strict, self._join_checks(self._parts(received, meaning)))

    def _once(self, key: str, make: Any, name: str = "") -> str:
        """What `make` gives, made once; where it refers to itself, what looks it up when it is called."""
        if key in self._pending:
            self._kept.setdefault(self._pending[key], f"${name}" if name else f"r{self._pending[key]}")
            return self._call("lazy", f"() => \0{self._pending[key]}\0")
        if key not in self._found:
            self._pending[key] = index = len(self._sources)
            self._sources.append("")
            self._found[key] = found = make()
            del self._pending[key]
            if index in self._kept:
                self._sources[index] = found
                self._order.append(index)
                self._found[key] = f"\0{index}\0"
        return self._found[key]

    def _call(self, function: str, *arguments: str) -> str:
        """The constant that a call gives; each is made once."""
        return self._constant(f"/* @__PURE__ */ {function}({', '.join(arguments)})")

    def _constant(self, source: str) -> str:
        if source not in self._tokens:
            self._tokens[source] = f"\0{len(self._sources)}\0"
            self._order.append(len(self._sources))
            self._sources.append(source)
        return self._tokens[source]

    # --- schemas ---

    def of(self, schema: Any, *, drops: bool = False) -> str:
        """The checker of a schema. `drops`: receivers leave out items that are wrong."""
        if drops and "$ref" in schema:
            schema = {**schema, **self._at(schema["$ref"])}
            del schema["$ref"]
        return self._join_checks(self._parts(schema, drops=drops))

    def _join_checks(self, parts: Sequence[str]) -> str:
        if len(parts) == 1:
            return parts[0]
        return self._call("all", *parts) if parts else "any"

    def _parts(
        self, schema: Any, meaning: ir.Definition | None = None, *, fallback: Any = None, drops: bool = False
    ) -> list[str]:
        """The checkers whose conjunction is a schema. `fallback` is one more branch of its union, for receivers."""
        if not is_object(schema):
            return [] if schema else ["never"]
        found = [self._reference(schema["$ref"])] if isinstance(schema.get("$ref"), str) else []
        record, array = self._record(schema), self._array(schema, drops=drops)
        found += array  # what receivers leave out counts no more
        branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
        is_of_objects = bool(branches) and all(self._types(one, "any") == {"object"} for one in branches)
        types_told = ("array", "object") if is_of_objects else ("array",)
        found += self._scalars(schema, has_type=not record and schema.get("type") not in types_told)
        found += record
        found += self._object(schema)
        found += [self.of(one) for one in schema.get("allOf", ())]
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                found.append(self._union(schema[keyword], keyword, meaning, fallback=fallback, drops=drops))
        if "not" in schema:
            excluded = schema["not"]
            is_list = is_object(excluded) and excluded.keys() == {"anyOf"}
            found.append(self._call("not", *map(self.of, excluded["anyOf"] if is_list else [excluded])))
        if "if" in schema and ("then" in schema or "else" in schema):
            found.append(self._call("when", *(self.of(schema.get(word, True)) for word in ("if", "then", "else"))))
        found = [*dict.fromkeys(one for one in found if one != "any")]
        for word in ("unevaluatedProperties", "unevaluatedItems"):
            if word in schema:
                given = [f"() => {self._evaluator(schema, is_inner=False)}", self.of(schema[word]), dumps(word)]
                if word == "unevaluatedItems":
                    found, given = [], [*given, self._join_checks(found)]
                found.append(self._call("unevaluated", *given))
        return found

    def _reference(self, reference: str) -> str:
        parts = pointer_parts(unquote(reference))
        if len(parts) == 2 and parts[0] == "$defs":
            return self.of_definition(parts[1])
        return self._once(f"\0{reference}", lambda: self.of(self._at(reference)))

    def _at(self, reference: str) -> Any:
        return resolve({"$defs": {**self._receiving, **self._definitions}}, unquote(reference))

    # --- scalars ---

    def _scalars(self, schema: Schema, *, has_type: bool) -> Iterator[str]:
        types = schema.get("type") if has_type else None
        type_ = "any" if types is None else self._type(types)
        constants = [schema["const"]] if "const" in schema else schema.get("enum", ())
        if has_type and not all(is_of_type(one, schema) for one in constants):
            yield type_
            type_ = "any"
        if "const" in schema:
            type_ = self._call("constant", type_, _value(schema["const"]))
        yield self._literal(type_, schema["enum"]) if "enum" in schema else type_
        for keyword in _LIMITS:
            if keyword in schema and schema[keyword] is not False:
                yield self._call(keyword, _limit(schema[keyword]))
        if isinstance(schema.get("pattern"), str):
            text = "" if schema.get("format") == "absolute-path" else schema["pattern"]
            yield self._call("pattern", _expression(schema["pattern"]), dumps(text))

    def _type(self, types: str | Sequence[str]) -> str:
        names = [types] if isinstance(types, str) else sorted(types, key=lambda name: (name == "null", name))
        return _SCALARS[names[0]] if len(names) == 1 else self._call("type", *map(dumps, names))

    def _literal(self, type_: str, values: Sequence[ir.JSON]) -> str:
        return self._call("literal", type_, *map(_value, values))

    # --- arrays and objects ---

    def _record(self, schema: Schema) -> list[str]:
        """The checker of declared fields: first those that are required, if JavaScript keeps the order."""
        properties: Schema = schema.get("properties", {})
        required = [*dict.fromkeys(schema.get("required", ()))]
        if not properties and not required:
            return []
        first = [] if any(name.isdigit() for name in properties) else [one for one in properties if one in required]
        fields = {name: self._field(properties[name], is_required=name in required) for name in properties}
        usual = Counter(how for name, (_, how) in fields.items() if name not in first).most_common(1)
        rows: list[str] = []
        for name in [*first, *(one for one in properties if one not in first)]:
            checker, how = fields[name]
            is_usual = how == (0 if name in first or not usual else usual[0][0])
            rows.append(f"{_key(name)}: {checker if is_usual else f'[{checker}, {how}]'}")
        given = [f"{{ {', '.join(rows)} }}" if rows else "{}", len(first), usual[0][0] if usual else 0]
        given += [dumps([name for name in required if name not in first]), _js(schema.get("type") != "object")]
        while given[-1] in (0, "[]", "false"):
            given.pop()
        found = [self._type(schema["type"])] if schema.get("type", "object") != "object" else []
        return [*found, self._call("record", *map(str, given))]

    def _field(self, schema: Any, *, is_required: bool) -> tuple[str, int]:
        """The checker of a field, and what receivers do where it is wrong, as `record` has it."""
        if not is_object(schema):
            return self.of(schema), 0
        on_error, on_null = (bool(schema.get(f"x-deserialize-default-on-{one}")) for one in ("error", "null"))
        is_list = is_required and (on_error or on_null) and self._types(schema) - {"null"} == {"array"}
        checker = self.of(schema, drops=bool(schema.get("x-deserialize-skip-invalid-items")))
        return checker, on_error | on_null << 1 | is_list << 2

    def _types(self, schema: Any, undeclared: str | None = None, seen: frozenset[str] = frozenset()) -> set[str]:
        """The types that a schema declares, or the definition that it refers to, or its branches; `undeclared` stands for none."""
        if not is_object(schema):
            return {undeclared} if undeclared else set()
        declared, reference = schema.get("type", []), schema.get("$ref")
        if declared:
            return {declared} if isinstance(declared, str) else set(declared)
        parts = [self._types(one, undeclared, seen) for word in ("anyOf", "oneOf") for one in schema.get(word, ())]
        if isinstance(reference, str):
            is_known = reference in seen
            parts += [set() if is_known else self._types(self._at(reference), undeclared, seen | {reference})]
        return set[str]().union(*(parts or [self._types(False, undeclared)]))

    def _array(self, schema: Schema, *, drops: bool) -> list[str]:
        found: list[str] = []
        first = [self.of(one) for one in schema.get("prefixItems", ())]
        rest = self.of(schema.get("items", True))
        how = [_js(drops)] if drops or first else []
        if schema.get("type") == "array":
            found.append("array" if first or rest == "any" else self._call("list", rest, *how))
        if found in ([], ["array"]) and (first or rest != "any"):
            found.append(self._call("items", rest, *how, *([f"[{', '.join(first)}]"] if first else [])))
        if "contains" in schema:
            most = schema.get("maxContains", "Infinity")
            found.append(
                self._call("contains", self.of(schema["contains"]), str(schema.get("minContains", 1)), str(most))
            )
        return found

    def _object(self, schema: Schema) -> Iterator[str]:
        rest = self.of(schema.get("additionalProperties", True))
        patterns = [f"[{_expression(one)}, {self.of(sub)}]" for one, sub in schema.get("patternProperties", {}).items()]
        if rest != "any" or patterns:
            given = [rest, dumps([*schema.get("properties", {})]), f"[{', '.join(patterns)}]"]
            while given[-1] == "[]":
                given.pop()
            yield self._call("members", *given)
        if "propertyNames" in schema:
            yield self._call("names", self.of(schema["propertyNames"]))
        rows = [f"[{dumps(name)}, {dumps(need)}]" for name, need in schema.get("dependentRequired", {}).items()]
        rows += [f"[{dumps(name)}, {self.of(need)}]" for name, need in schema.get("dependentSchemas", {}).items()]
        if rows:
            yield self._call("dependents", f"[{', '.join(rows)}]")

    def _evaluator(self, schema: Schema, *, is_inner: bool) -> str:
        """What says which members or items a schema evaluates; an inner schema evaluates what is left, too."""
        key = dumps([is_inner, schema], sort_keys=True)
        if key in self._evaluators:
            return self._evaluators[key]
        index = len(self._sources)
        self._evaluators[key] = f"\0{index}\0"
        self._kept[index] = f"e{index}"
        self._sources.append("")
        inner = [(test, one) for test, one in self._evaluating(schema) if is_object(one)]
        rows = [f"[{test}, () => {self._evaluator(one, is_inner=True)}]" for test, one in inner]
        given = {
            "names": dumps([*schema.get("properties", {})]),
            "patterns": f"[{', '.join(map(_expression, schema.get('patternProperties', {})))}]",
            "allNames": _js("additionalProperties" in schema or (is_inner and "unevaluatedProperties" in schema)),
            "first": str(len(schema.get("prefixItems", ()))),
            "allItems": _js("items" in schema or (is_inner and "unevaluatedItems" in schema)),
            "contains": self.of(schema["contains"]) if "contains" in schema else "",
        }
        members = ", ".join(f"{word}: {text}" for word, text in given.items() if text not in ("", "[]", "0", "false"))
        self._sources[index] = f"/* @__PURE__ */ evaluate({{ {members} }}, [{', '.join(rows)}])"
        self._order.append(index)
        return self._evaluators[key]

    def _evaluating(self, schema: Schema) -> Iterator[tuple[str, Any]]:
        """The schemas that evaluate for another one, each with the checker that must hold."""
        if isinstance(schema.get("$ref"), str):
            yield self._reference(schema["$ref"]), self._at(schema["$ref"])
        for keyword in ("allOf", "anyOf", "oneOf"):
            yield from ((self.of(one), one) for one in schema.get(keyword, ()))
        if "if" in schema:
            test = self.of(schema["if"])
            yield test, schema["if"]
            yield test, schema.get("then", True)
            yield self.of({"not": schema["if"]}), schema.get("else", True)
        for name, sub in schema.get("dependentSchemas", {}).items():
            yield self.of({"type": "object", "required": [name]}), sub

    # --- unions ---

    def _union(
        self, branches: Sequence[Any], keyword: str, meaning: ir.Definition | None, *, fallback: Any, drops: bool
    ) -> str:
        if len(branches) == 1 and not isinstance(meaning, ir.TaggedUnion):
            return self.of(branches[0], drops=drops)
        real = [index for index, one in enumerate(branches) if not discriminators.is_null(one)]
        nulls = len(branches) - len(real)
        inner = [branches[index] for index in real]
        if nulls and (keyword == "anyOf" or (nulls == 1 and all(map(self._excludes_null, inner)))):
            others = self._union(inner, keyword, meaning, fallback=fallback, drops=drops) if real else ""
            return self._call("nullable", others) if others else "nil"
        simple = None if nulls else self._simple(branches, is_exclusive=keyword == "oneOf")
        if simple:
            return simple
        checkers = [self.of(one, drops=drops) if index in real else "nil" for index, one in enumerate(branches)]
        given = f"[{', '.join(checkers)}]"
        rows = ["isExclusive: true"] if keyword == "oneOf" else []
        tag = self._unions.discriminator(branches, real)
        assert tag is not None or fallback is None
        if tag is None:
            keys = self._unions.keys(branches, real)
            inside = ", ".join(f"{index}: {dumps(key)}" for index, key in keys.items())
            types = set[str]().union(*(self._types(branches[index]) for index in real))
            rows += [f"types: {dumps(sorted(types))}"] if types else []
            rows += [f"byKey: /* @__PURE__ */ keyed({{ {inside} }})"] if keys else []
        else:
            rows += self._tag_rows(tag, branches, meaning, fallback)
        return self._call("union", given, *([f"{{ {', '.join(rows)} }}"] if rows else []))

    def _tag_rows(
        self, tag: discriminators.Discriminator, branches: Sequence[Any], meaning: ir.Definition | None, fallback: Any
    ) -> Iterator[str]:
        """How the branches of a union are told apart, as members of an object."""
        tags = [[value for (_, value), own in tag.known.items() if index in own] for index in range(len(branches))]
        while not tags[-1]:
            tags.pop()
        rows = [dumps(one[0] if len(one) == 1 and one != [None] else one) for one in tags]
        yield from (f"field: {dumps(tag.field)}", f"tags: [{', '.join(rows)}]")
        yield from [f"untagged: {[*tag.untagged]}"] if tag.untagged else []
        is_apart = all(len(own) == 1 for own in tag.known.values())
        is_apart = is_apart and all(self._excludes(branches[one], tag) for one in tag.others)
        if not is_apart:
            yield "isLoose: true"
        if not isinstance(meaning, ir.TaggedUnion) or meaning.fallback is None:
            yield "unknown: null"
            return
        own = meaning.default_tag
        if fallback is not None:
            is_by_tag = is_apart and own is None
            whole = self._at(fallback["$ref"]) if "$ref" in fallback else fallback
            yield f"fallback: {self.of({key: one for key, one in whole.items() if key != 'not' or not is_by_tag})}"
        if own is not None:
            yield f"unknown: {dumps([own])}"

    def _excludes_null(self, branch: Any) -> bool:
        """Whether the types that a schema declares leave null out."""
        return self._types(branch, "any").isdisjoint(("any", "null"))

    def _excludes(self, branch: Schema, tag: discriminators.Discriminator) -> bool:
        """Whether a branch takes no object with a known tag."""
        shape = Schemas({**self._receiving, **self._definitions}).node(branch).shape
        return by_key(tag.tags()).keys() <= shape.excluded.get(tag.field, {}).keys()

    def _simple(self, branches: Sequence[Any], *, is_exclusive: bool) -> str | None:
        """The checker of a union of types, of constants, or of a type and constants of it."""
        plain = [one["type"] for one in branches if _is_plain(one)]
        others = [(one, _constants(one)) for one in branches if not _is_plain(one)]
        if len(branches) == 1 or any(values is None for _, values in others):
            return None
        values = [value for _, found in others for value in found or ()]
        if not plain and not (is_exclusive and len({*map(dumps, values)}) < len(values)):
            return self._literal("any", values)
        if not others and len({*plain}) == len(plain) and not {"number", "integer"} <= {*plain}:
            return self._type(sorted(plain))
        if len(plain) != 1 or is_exclusive:
            return None
        is_one = all(isinstance(one, str) for one in values) if plain == ["string"] else False
        return _SCALARS[plain[0]] if is_one or all(one.get("type") == plain[0] for one, _ in others) else None


def _constant_name(source: str, taken: Collection[str]) -> str:
    """A name for a constant that comes from its source, so that no addition elsewhere renames it."""
    digest = sha256(source.encode()).hexdigest()
    return next(name for end in range(5, len(digest)) if (name := f"k{digest[:end]}") not in taken)


def _parted(received: Schema, published: Schema) -> tuple[Schema, Any]:
    """A definition of receivers, and the branch that it adds to a union; the others are as they are published: tags alone lead to them."""
    keyword, own = ("anyOf" if "anyOf" in one else "oneOf" for one in (received, published))
    branches, known = received.get(keyword, []), published.get(own, [])
    if not known or [{**one, "properties": 0} for one in branches[: len(known)]] != [
        {**one, "properties": 0} for one in known
    ]:
        return received, None
    rest = {key: one for key, one in received.items() if key != keyword}
    is_same = rest == {key: one for key, one in published.items() if key != own}
    more = branches[len(known) :]
    return (published, more[0] if more else None) if is_same else ({**rest, keyword: [*known, *more]}, None)


def _key(name: str) -> str:
    return name if _NAME.fullmatch(name) and name != "__proto__" else f"[{dumps(name)}]"


def _value(value: ir.JSON) -> str:
    """A value as an expression. A key `__proto__` that is not computed sets the prototype; an escaped quote begins no key."""
    return re.sub(r'(?<!\\)"__proto__":', '["__proto__"]:', dumps(value))


def _js(holds: bool) -> str:
    return "true" if holds else "false"


def _expression(pattern: str) -> str:
    """A pattern as an expression of JavaScript; one that ECMA-262 does not define is read in no way."""
    return f"/* @__PURE__ */ expression({dumps(pattern)}{', []' if fault_of(pattern) else ''})"


def _limit(given: ir.JSON) -> str:
    """A limit as an expression: its text, where JavaScript writes the number otherwise."""
    is_same = isinstance(given, bool) or (isinstance(given, int) and abs(given) <= 2**53)
    is_same |= isinstance(given, float) and not given.is_integer() and "e" not in str(given)
    return dumps(given if is_same else str(given))


def _is_plain(schema: Any) -> bool:
    """Whether a schema says nothing but its one type."""
    return is_object(schema) and isinstance(schema.get("type"), str) and ASSERTIONS.isdisjoint(schema.keys() - {"type"})


def _constants(schema: Any) -> list[ir.JSON] | None:
    """The constants of a schema that says nothing else."""
    found = discriminators.constants(schema)
    if found is None or not ASSERTIONS.isdisjoint(schema.keys() - {"type", "const", "enum"}):
        return None
    kinds = {kind for kind, name in _KINDS.items() if schema.get("type") in (None, name)}
    return found if "type" not in schema or all(type(one) in kinds for one in found) else None
