"""Checkers in JavaScript: a constant for each definition of a bundle, composed of functions of `templates/typescript/runtime.js`.

A checker validates by the JSON Schema of the bundle; receivers use the definitions of `make_receiver_definitions` where these differ.
`_list_assertions` yields the checkers of a schema's own assertions, `_list_parts` those of its subschemas.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from typing import Any, Final
from urllib.parse import unquote

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.bundle.unknown_variants import make_receiver_definitions
from acpgen.embedded import discriminators
from acpgen.input.equality import index_by_key
from acpgen.input.expressions import describe_fault
from acpgen.input.numbers import dumps
from acpgen.input.schema_nodes import Schemas
from acpgen.input.step_budget import spend
from acpgen.input.tagged_unions import find_branches, is_of_type, list_constants
from acpgen.input.walk import Schema, asserts, find_cycles, is_object, list_references
from acpgen.naming.identifiers import make_javascript_key
from acpgen.pointers import read_reference, resolve

_LIMITS: Final = (
    *("minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
)
_NAME: Final = re.compile(r"\0([^\0]+)\0")
"""A placeholder for the name of a constant until all are known. No literal contains this character unescaped."""
_CHARACTERS_A_STEP: Final = 5
_EXACT: Final = " (exact)"
"""The suffix of the definitions that `make_receiver_definitions` uses for exclusion; their checkers are strict."""


class Checkers:
    """The checkers of one protocol. `names` are the names of definitions in the generated module."""

    def __init__(self, protocol: ir.Protocol, bundle: Bundle, names: Mapping[str, str]) -> None:
        self._protocol = protocol
        self._definitions: Mapping[str, Schema] = bundle.definitions
        self._receiving = make_receiver_definitions(
            bundle.definitions, bundle.unions, protocol.tolerated, protocol.fallbacks
        )
        self._all = {**self._receiving, **self._definitions}
        self._names = names
        self._unions = discriminators.Unions(self._resolve)
        self._checkers: dict[str, str] = {}
        self._sources: dict[str, str] = {}
        self._shared: dict[str, str] = {}
        self._late: set[str] = set()
        """The definitions that others refer to before they are known, as in a cycle of references."""
        self._evaluated: list[tuple[str, str]] = []
        """The definitions of which a constant says what they evaluate, and for which keyword."""
        self.lines: list[str] = []
        """The constants, each after those that it is made of."""
        edges: dict[str, list[str]] = {}
        for name, schema in chain(self._definitions.items(), self._receiving.items()):
            targets = edges.setdefault(name.removesuffix(_EXACT), [])
            targets += (reference.removesuffix(_EXACT) for reference in list_references(schema))
        self._exported = protocol.definitions.keys() & bundle.definitions.keys()
        for name in chain.from_iterable(find_cycles(edges)):
            if name in self._exported:
                self._checkers[name] = self._write_constant(name)
        for name, word in self._evaluated:  # each may ask for more
            self.lines.append(
                f"const {_name_evaluation(name, word)} = {self._write_evaluation(self._all[name], word)};"
            )

    def get_checker(self, name: str) -> str:
        """The checker of a definition of the bundle or of receivers; `lazy`, for a recursive reference."""
        name = name.removesuffix(_EXACT)
        if name not in self._checkers and (name in self._exported or name in self._late):
            self._late.add(name)
            return _write_call("lazy", f"() => {self._make_placeholder(name)}")
        if name not in self._checkers:
            self._late.add(name)
            self._checkers[name] = self._write_constant(name)
        return self._checkers[name]

    def _make_placeholder(self, name: str) -> str:
        return f"\0${self._names[name]}\0" if name in self._names else f"\0r{_hash(name)}\0"

    def _write_constant(self, name: str) -> str:
        """The checker of a definition, as the name of a constant if it is not just that of another one."""
        constant, source = self._make_placeholder(name), self._write_definition(name)
        if source in self._sources:
            self._shared[self._sources[source]] = self._shared[constant] = f"k{_hash(source)}"
        elif name in self._late or not (source.isidentifier() or _NAME.fullmatch(source)):
            self._sources[source] = constant
            self.lines.append(f"const {constant} = {source};")
        return self._sources.get(source, source)

    def replace_placeholders(self, text: str) -> str:
        """Replace the placeholders in a text by names. A constant of several definitions gets a name independent of them, which is
        stable.
        """
        return _NAME.sub(lambda name: self._shared.get(name[0], name[1]), text)

    def _write_definition(self, name: str) -> str:
        """The checker of a definition, which may differ for receivers: for a tagged union by one more branch."""
        if name not in self._definitions:
            return self.write(self._receiving[name])
        meaning, schema = self._protocol.definitions.get(name), self._definitions[name]
        received = self._receiving.get(name, schema)
        if isinstance(meaning, ir.TaggedUnion):
            (_, known_branches), (_, branches) = find_branches(schema) or ("", []), find_branches(received) or ("", [])
            return self.write(schema, meaning, next(iter(branches[len(known_branches) :]), None))
        strict, lenient = self.write(schema), self.write(received)
        return strict if strict == lenient else _write_call("open", strict, lenient)

    # --- schemas ---

    def write(self, schema: Any, meaning: ir.Definition | None = None, fallback: Any = None) -> str:
        """The checker of a schema, for a definition with this `meaning`. `fallback` is an additional branch of its union, for receivers."""
        if not is_object(schema):
            return "any" if schema else "never"
        checker = _join_checkers([*self._list_assertions(schema), *self._list_parts(schema, meaning, fallback)])
        for word in ("unevaluatedProperties", "unevaluatedItems"):
            if word in schema:
                says = self._write_evaluation({key: setting for key, setting in schema.items() if key != word}, word)
                checker = _write_call("unevaluated", checker, says, self.write(schema[word]), dumps(word))
                # It repeats the checkers inside it, and these those inside.
                spend(1 + len(checker) // _CHARACTERS_A_STEP)
        return checker

    def _list_parts(self, schema: Schema, meaning: ir.Definition | None, fallback: Any) -> Iterator[str]:
        """Yield the checkers of the subschemas that a schema applies in place."""
        if isinstance(schema.get("$ref"), str):
            yield self.get_checker(read_reference(schema["$ref"]))
        yield from (self.write(subschema) for subschema in schema.get("allOf", ()))
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                yield self._write_union(schema[keyword], keyword, meaning, fallback)
        for test, *branches in self._list_conditions(schema):
            if branches != [True, True]:
                yield _write_call("when", test, *map(self.write, branches))
        if schema.get("dependentRequired"):
            yield _write_call("dependents", dumps([*map(list, schema["dependentRequired"].items())]))

    def _list_conditions(self, schema: Schema) -> Iterator[tuple[str, Any, Any]]:
        """Yield a checker, the schema for values that pass it, and the schema for values that do not."""
        if "if" in schema:
            yield self.write(schema["if"]), schema.get("then", True), schema.get("else", True)
        for name, need in schema.get("dependentSchemas", {}).items():
            yield _write_call("record", "{}", "0", "0", dumps([name])), need, True

    def _resolve(self, reference: str) -> Any:
        return resolve({"$defs": self._all}, unquote(reference))

    def _list_assertions(self, schema: Schema) -> Iterator[str]:
        """Yield the checkers of a schema's own assertions, in the order of its keywords."""
        record, array = [*self._write_record(schema)], [*self._list_items(schema)]
        type_ = schema.get("type")
        branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
        is_told = type_ == "object" and bool(branches) and all(map(self._declares_object, branches))
        is_told |= bool(record) and self._check_other_types(schema, "object") != "any"
        is_told |= bool(array) and self._check_other_types(schema, "array") != "any"
        keyed_checkers = [
            *(("items", checker) for checker in array),
            *self._list_scalars(schema, None if is_told else type_),
        ]
        keyed_checkers += [*(("required", checker) for checker in record), *self._list_object(schema)]
        if "contains" in schema:
            limits = schema.get("minContains", 1), schema.get("maxContains", "Infinity")
            keyed_checkers.append(("items", _write_call("contains", self.write(schema["contains"]), *map(str, limits))))
        if "not" in schema:
            negated = schema["not"]
            is_list = is_object(negated) and negated.keys() == {"anyOf"}
            keyed_checkers.append(
                ("not", _write_call("not", *map(self.write, negated["anyOf"] if is_list else [negated])))
            )
        places = {keyword: place for place, keyword in enumerate(schema)}
        yield from (checker for _, checker in sorted(keyed_checkers, key=lambda entry: places.get(entry[0], -1)))

    def _declares_object(self, schema: Any) -> bool:
        return is_object(schema) and {**self._resolve(schema.get("$ref", "")), **schema}.get("type") == "object"

    def _list_scalars(self, schema: Schema, types: Any) -> Iterator[tuple[str, str]]:
        type_ = "any" if types is None else self._write_type(types)
        choice = next((keyword for keyword in schema if keyword in ("const", "enum", "type")), "type")
        if choice != "type" or not all(
            is_of_type(constant, schema) for constant in discriminators.list_constants(schema) or ()
        ):
            yield "type", type_
            type_ = "any"
        if "const" in schema:
            type_ = _write_call("constant", type_, _write_value(schema["const"]))
        yield choice, _write_call("literal", type_, *map(_write_value, schema["enum"])) if "enum" in schema else type_
        for keyword in _LIMITS:
            if keyword in schema and schema[keyword] is not False:
                is_last = "Items" in keyword and "items" in schema  # some may be left out
                yield "items" if is_last else keyword, _write_call(keyword, _write_limit(schema[keyword]))
        if isinstance(schema.get("pattern"), str):
            text = "" if schema.get("format") == "absolute-path" else schema["pattern"]
            yield "pattern", _write_call("pattern", _write_pattern(schema["pattern"]), dumps(text))

    def _write_type(self, types: str | Sequence[str]) -> str:
        names = [types] if isinstance(types, str) else sorted(types, key=lambda name: (name == "null", name))
        if len(names) == 1:
            return "nil" if names == ["null"] else names[0]
        name, source = "_or_".join(names), _write_call("type", *map(dumps, names))
        if source not in self._sources:
            self._sources[source] = name
            self.lines.append(f"const {name} = {source};")
        return name

    # --- arrays and objects ---

    def _write_record(self, schema: Schema) -> Iterator[str]:
        """Yield the checker of declared fields: the required ones first in their order, if JavaScript preserves it."""
        properties: Schema = schema.get("properties", {})
        required = [*dict.fromkeys(schema.get("required", ()))]
        if not properties and not required:
            return
        first = [] if any(name.isdigit() for name in (*properties, *required)) else required
        names = dict.fromkeys((*first, *properties))
        fields = {name: self._write_field(properties.get(name, True), is_required=name in required) for name in names}
        counts = Counter(leniency for name, (_, leniency) in fields.items() if name not in first)
        usual = max(counts, key=lambda leniency: counts[leniency], default=0)
        rows: list[str] = []
        for name, (checker, leniency) in fields.items():
            key = '["__proto__"]' if name == "__proto__" else make_javascript_key(name)
            rows.append(
                f"{key}: {checker if leniency == (0 if name in first else usual) else f'[{checker}, {leniency}]'}"
            )
        fields_source = f"{{ {', '.join(rows)} }}" if rows else "{}"
        arguments = dumps([] if first else required), self._check_other_types(schema, "object")
        yield _write_call("record", fields_source, *_drop_defaults(str(len(first)), str(usual), *arguments))

    def _write_field(self, schema: Any, *, is_required: bool) -> tuple[str, int]:
        """The checker of a field, and how receivers treat an invalid value, encoded as for `record`."""
        if not is_object(schema):
            return self.write(schema), 0
        says = ("default-on-error", "default-on-null", "skip-invalid-items")
        on_error, on_null, skips = (bool(schema.get(f"x-deserialize-{behaviour}")) for behaviour in says)
        is_array = self._unions.list_types(schema) - {"null"} == {"array"} and (
            skips or (is_required and (on_error or on_null))
        )
        return self.write(schema), on_error | on_null << 1 | is_array << 2 | skips << 3

    def _list_items(self, schema: Schema) -> Iterator[str]:
        first = [self.write(item) for item in schema.get("prefixItems", ())]
        rest_checker = self._check_rest(schema, "items")
        if first or rest_checker != "undefined":
            yield _write_call(
                "items",
                rest_checker,
                *_drop_defaults(f"[{', '.join(first)}]", self._check_other_types(schema, "array")),
            )

    def _check_other_types(self, schema: Schema, type_: str) -> str:
        """The checker of values that do not have this type."""
        types = schema.get("type", ())
        if type_ not in ([types] if isinstance(types, str) else types):
            return "any"
        return "undefined" if types in (type_, [type_]) else self._write_type(types)

    def _check_rest(self, schema: Schema, keyword: str) -> str:
        """The checker of a keyword for other members or items; `undefined` if it admits any."""
        checker = self.write(schema.get(keyword, True))
        return "undefined" if checker == "any" else checker

    def _write_evaluation(self, schema: Schema, word: str) -> str:
        """The members of objects, or the items, that a schema evaluates, as an argument of `unevaluated`."""
        names: list[str] = [*schema.get("properties", {})]
        rows = [("patterns", f"[{', '.join(map(_write_pattern, schema.get('patternProperties', {})))}]")]
        is_all = word in schema or "additionalProperties" in schema
        if word == "unevaluatedItems":
            names = [str(index) for index in range(len(schema.get("prefixItems", ())))]
            rows = [("contains", self.write(schema["contains"]))] if "contains" in schema else []
            is_all = word in schema or "items" in schema
        inner = [
            (self.write(subschema), subschema)
            for key in ("allOf", "anyOf", "oneOf")
            for subschema in schema.get(key, ())
        ]
        inner += [(self.write(schema["if"]), schema["if"])] if "if" in schema else []
        for test, then, otherwise in self._list_conditions(schema):
            inner += [
                (_join_checkers([test, self.write(then)]), then),
                (_join_checkers([_write_call("not", test), self.write(otherwise)]), otherwise),
            ]
        parts = [
            f"[{checker}, {self._write_evaluation(subschema, word)}]"
            for checker, subschema in inner
            if is_object(subschema)
        ]
        reference = schema.get("$ref")
        if isinstance(reference, str) and is_object(self._resolve(reference)):
            name = read_reference(reference)
            self._evaluated += [] if (name, word) in self._evaluated else [(name, word)]
            parts.append(f"[{self.get_checker(name)}, () => {_name_evaluation(name, word)}]")
        rows += [("isAll", "true" if is_all else "false"), ("names", dumps(names)), ("parts", f"[{', '.join(parts)}]")]
        return f"{{ {', '.join(f'{key}: {source}' for key, source in rows if _drop_defaults(source))} }}"

    def _list_object(self, schema: Schema) -> Iterator[tuple[str, str]]:
        additional = self._check_rest(schema, "additionalProperties")
        patterns = [
            f"[{_write_pattern(pattern)}, {self.write(subschema)}]"
            for pattern, subschema in schema.get("patternProperties", {}).items()
        ]
        if additional != "undefined" or patterns:
            names = dumps([*schema.get("properties", {})])
            yield (
                "additionalProperties",
                _write_call("members", additional, *_drop_defaults(names, f"[{', '.join(patterns)}]")),
            )
        if "propertyNames" in schema:
            yield "propertyNames", _write_call("names", self.write(schema["propertyNames"]))

    # --- unions ---

    def _write_union(self, branches: Sequence[Any], keyword: str, meaning: ir.Definition | None, fallback: Any) -> str:
        if len(branches) == 1 and not isinstance(meaning, ir.TaggedUnion):
            return self.write(branches[0])
        real = [index for index, branch in enumerate(branches) if not discriminators.is_null(branch)]
        if len(real) < len(branches) and keyword == "anyOf":
            non_null = [branches[index] for index in real]
            return _write_call("nullable", self._write_union(non_null, keyword, meaning, fallback)) if real else "nil"
        simple = self._write_simple(branches, is_exclusive=keyword == "oneOf") if len(real) == len(branches) else None
        if simple:
            return simple
        checkers = [self.write(branch) if index in real else "nil" for index, branch in enumerate(branches)]
        options = ["isExclusive: true"] if keyword == "oneOf" else []
        types = [
            sorted(self._unions.list_types(branches[index]) if index in real else ()) for index in range(len(branches))
        ]
        type_names = dumps([names[0] if len(names) == 1 else names for names in types])
        options += [f"types: {type_names}"] if any(names != ["object"] for names in types) else []
        tag = self._unions.find_discriminator(branches, real)
        if tag is not None:
            options += self._list_tags(tag, branches)
        elif keys := self._unions.find_keys(branches, real):
            rows = ", ".join(f"{index}: {dumps(key)}" for index, key in keys.items())
            options.append(f"byKey: {_write_call('keyed', f'{{ {rows} }}')}")
        arguments = [f"[{', '.join(checkers)}]", f"{{ {', '.join(options)} }}" if options else "{}"]
        if not isinstance(meaning, ir.TaggedUnion) or meaning.fallback is None:
            return _write_call("union", *_drop_defaults(*arguments))
        whole = self._resolve(fallback["$ref"]) if is_object(fallback) and "$ref" in fallback else fallback
        if whole is not None and meaning.default_tag is None and "isLoose: true" not in options:
            whole = {key: setting for key, setting in whole.items() if key != "not"}  # a known tag leads elsewhere
        known_tags = dumps([] if meaning.default_tag is None else [meaning.default_tag])
        return _write_call(
            "tolerant",
            *arguments,
            *_drop_defaults("undefined" if whole is None else self.write(whole), known_tags),
        )

    def _write_simple(self, branches: Sequence[Any], *, is_exclusive: bool) -> str | None:
        """The checker of a union of constants, of types, or of a type and subschemas of only that type; `None` for other unions."""
        branch_constants = [*map(list_constants, branches)]
        values = [value for branch_values in branch_constants for value in branch_values or ()]
        if None not in branch_constants:
            literal_checker = _write_call("literal", "any", *map(_write_value, values))
            if not is_exclusive or len({*map(dumps, values)}) == len(values):
                return literal_checker
            return _write_call(
                "when",
                literal_checker,
                _write_call("union", f"[{', '.join(map(self.write, branches))}]", "{ isExclusive: true }"),
                literal_checker,
            )
        type_branches = [branch for branch in branches if is_object(branch) and {*filter(asserts, branch)} == {"type"}]
        plain = [branch for branch in type_branches if isinstance(branch["type"], str)]
        types = {branch["type"] for branch in plain}
        if len(types) == len(branches) and not {"number", "integer"} <= types:
            return self._write_type(sorted(types))
        is_one = len(plain) == 1 and not is_exclusive
        return (
            self._write_type(plain[0]["type"])
            if is_one and all(_is_within(branch, plain[0]) for branch in branches)
            else None
        )

    def _list_tags(self, tag: discriminators.Discriminator, branches: Sequence[Any]) -> Iterator[str]:
        """Yield how tags discriminate the branches of a union, as members of an object."""
        tags = [
            [value for (_, value), owners in tag.owners.items() if index in owners] for index in range(len(branches))
        ]
        while not tags[-1]:
            tags.pop()
        rows = [dumps(constants[0] if len(constants) == 1 and constants != [None] else constants) for constants in tags]
        yield from (f"field: {dumps(tag.field)}", f"tags: [{', '.join(rows)}]")
        yield from [f"untagged: {[*tag.untagged]}"] if tag.untagged else []
        if any(len(owners) > 1 for owners in tag.owners.values()) or not all(
            self._excludes(branches[i], tag) for i in tag.free
        ):
            yield "isLoose: true"

    def _excludes(self, branch: Schema, tag: discriminators.Discriminator) -> bool:
        """Whether a branch rejects all objects with a known tag."""
        return (
            index_by_key(tag.list_tags()).keys()
            <= Schemas(self._all).make_node(branch).shape.excluded.get(tag.field, {}).keys()
        )


def _is_within(schema: Any, plain: Schema) -> bool:
    """Whether a schema declares that all its values are of this type."""
    values = list_constants(schema) or ()
    is_typed = is_object(schema) and schema.get("type") == plain["type"]
    return is_typed or (bool(values) and all(is_of_type(constant, plain) for constant in values))


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:6]


def _name_evaluation(name: str, word: str) -> str:
    return f"e{_hash(f'{name} {word}')}"


def _write_call(function: str, *arguments: str) -> str:
    return f"/* @__PURE__ */ {function}({', '.join(arguments)})"


def _join_checkers(checkers: Sequence[str]) -> str:
    """The conjunction of checkers."""
    distinct_checkers = [*dict.fromkeys(checker for checker in checkers if checker != "any")]
    return (
        _write_call("all", *distinct_checkers) if len(distinct_checkers) > 1 else next(iter(distinct_checkers), "any")
    )


def _drop_defaults(*arguments: str) -> list[str]:
    """Arguments without trailing default values."""
    remaining = [*arguments]
    while remaining and remaining[-1] in ("0", "[]", "{}", "false", "undefined"):
        remaining.pop()
    return remaining


def _write_value(value: ir.JSON) -> str:
    """A value as an expression. `__proto__` becomes a computed key, as otherwise it would set the prototype; an escaped quote begins no
    key.
    """
    is_long = isinstance(value, int) and abs(value) > 2**53
    return f"{value}n" if is_long else re.sub(r'(?<!\\)"__proto__":', '["__proto__"]:', dumps(value))


def _write_pattern(pattern: str) -> str:
    """A pattern as a JavaScript expression; a pattern that is invalid in ECMA-262 is not compiled."""
    return f"/* @__PURE__ */ expression({dumps(pattern)}{', []' if describe_fault(pattern) else ''})"


def _write_limit(limit: ir.JSON) -> str:
    """A limit as an expression: as a string if JavaScript would write the number differently."""
    is_same = isinstance(limit, bool) or (isinstance(limit, int) and abs(limit) <= 2**53)
    is_same |= isinstance(limit, float) and not limit.is_integer() and "e" not in str(limit)
    return dumps(limit if is_same else str(limit))
