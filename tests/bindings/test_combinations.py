"""Schemas drawn from the combinations that published ones have, each with values at its edges, judged by jsonschema-rs.

What a schema accepts, decoding accepts and writes back; what it refuses, decoding refuses, unless the definition says that it does not.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import tiers
from acpgen import ir
from acpgen.bundle.bundle import bundle
from acpgen.bundle.faults import NAME_COLLISION, REFERENCE_LOOP
from acpgen.errors import Faults
from acpgen.input.load import Document, Documents
from acpgen.input.walk import is_array, is_object
from acpgen.meaning.definition_order import references
from bindings.subjects import Subject, Subjects, same

Schema: TypeAlias = "dict[str, Any] | bool"

NAMES: Final = ("a", "b", "kind", "class", "x-1")
PATTERNS: Final = ("^x-", "^[a-z]+$", "1")
TEXTS: Final = ("", "a", "b", "ab", "x-1", "x-2", "abc", "1")
NUMBERS: Final = (0, 1, 2, 3, -1, 1.0, 0.5)
DEFINITIONS: Final = ("D0", "D1", "D2", "D3")

_text = st.sampled_from(TEXTS)
_name = st.sampled_from(NAMES)
_number = st.sampled_from((0, 1, 2))


def _some(names: st.SearchStrategy[str], least: int = 0, most: int = 2) -> st.SearchStrategy[list[str]]:
    return st.lists(names, min_size=least, max_size=most, unique=True)


def _optional(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Any of some keywords."""
    return st.fixed_dictionaries({}, optional=keywords)


def _with(base: dict[str, Any], **keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Some keywords and any of others."""
    return _optional(**keywords).map(lambda more: {**base, **more})


CONSTANTS: Final = st.sampled_from((*TEXTS, 1, 1.5, True, None, {"a": 1}, {"a": 1, "b": "x"}, [1, "a"], [], {}))
SCALARS: Final = st.one_of(
    _with({"type": "string"}, minLength=_number, maxLength=_number, pattern=st.sampled_from(PATTERNS)),
    _with({"type": "integer"}, minimum=_number, maximum=_number, exclusiveMinimum=_number),
    _with({"type": "number"}, minimum=_number, exclusiveMaximum=_number, multipleOf=st.sampled_from((1, 2, 0.5))),
    st.sampled_from(({"type": "boolean"}, {"type": "null"}, {}, {"type": "object"}, {"type": "array"})),
    st.lists(
        st.sampled_from(("string", "integer", "object", "null", "array")), min_size=2, max_size=3, unique=True
    ).map(lambda types: {"type": types}),
    CONSTANTS.map(lambda value: {"const": value}),
    st.lists(CONSTANTS, min_size=1, max_size=3, unique_by=repr).map(lambda values: {"enum": values}),
    st.builds(lambda values: {"type": "string", "enum": values}, st.lists(_text, min_size=1, max_size=3, unique=True)),
    st.sampled_from(DEFINITIONS).map(lambda name: {"$ref": f"#/$defs/{name}"}),
)


def _demands(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """What only narrows an object that something else describes."""
    required = _some(_name, 1).map(lambda names: {"required": names})
    fields = st.dictionaries(_name, inner, min_size=1, max_size=2).map(lambda found: {"properties": found})
    both = st.builds(lambda one, other: {**one, **other}, fields, required)
    return st.one_of(
        required,
        fields,
        both,
        st.builds(lambda one: {"not": one}, required),
        st.builds(lambda one, other, third: {"if": one, "then": other, "else": third}, both, required, fields),
        st.builds(lambda one, names: {"dependentRequired": {one: names}}, _name, _some(_name, 1)),
        _number.map(lambda count: {"minProperties": count}),
        _some(_name, 1, 3).map(lambda names: {"propertyNames": {"enum": names}}),
    )


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    demands = _demands(inner)
    several = st.lists(demands, min_size=1, max_size=2)
    named = _with(
        {"type": "object"},
        properties=st.dictionaries(_name, inner, min_size=1, max_size=3),
        required=_some(_name),
        additionalProperties=st.one_of(st.booleans(), inner),
        patternProperties=st.dictionaries(st.sampled_from(PATTERNS), inner, min_size=1, max_size=2),
        oneOf=several,
        anyOf=several,
        allOf=several,
    )
    typeless = named.map(lambda schema: {key: value for key, value in schema.items() if key != "type"})
    extra = st.builds(lambda one, other: {**one, **other}, named, demands)
    return st.one_of(named, typeless, extra)


def _arrays(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return _with(
        {"type": "array"},
        prefixItems=st.lists(inner, min_size=1, max_size=2),
        items=st.one_of(st.booleans(), inner),
        minItems=_number,
        maxItems=st.sampled_from((1, 2, 3)),
        uniqueItems=st.booleans(),
    )


@st.composite
def _by_key(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> dict[str, Any]:
    """schemars' unions: the one key that an object has tells which variant it is."""
    names = draw(_some(_name, 1, 3))
    objects = [
        {"type": "object", "properties": {name: draw(inner)}, "required": [name], "additionalProperties": False}
        for name in names
    ]
    texts = draw(st.lists(_text, max_size=2, unique=True))
    return {
        draw(st.sampled_from(("oneOf", "anyOf"))): [*({"type": "string", "enum": [text]} for text in texts), *objects]
    }


@st.composite
def _narrowed(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> dict[str, Any]:
    """A definition or an object, with fields that it names narrowed."""
    base = draw(st.one_of(st.sampled_from(DEFINITIONS).map(lambda name: {"$ref": f"#/$defs/{name}"}), _objects(inner)))
    part: dict[str, Any] = {"type": "object", "properties": draw(st.dictionaries(_name, inner, min_size=1, max_size=2))}
    if draw(st.booleans()):
        part["required"] = draw(_some(_name))
    if draw(st.booleans()):
        return {"allOf": [base, part]}
    return {**part, "allOf": [base]}


def _unions(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    branches = st.lists(inner, min_size=1, max_size=3)
    keyword = st.sampled_from(("oneOf", "anyOf"))
    types = st.sampled_from(({}, {}, {"type": "string"}, {"type": "object"}, {"type": ["object", "string"]}))
    return st.builds(lambda type_, name, found: {**type_, name: found}, types, keyword, branches)


SCHEMAS: Final = st.recursive(
    SCALARS,
    lambda inner: st.one_of(_objects(inner), _arrays(inner), _by_key(inner), _narrowed(inner), _unions(inner)),
    max_leaves=8,
)


# --- values ----------------------------------------------------------------------------------------------------------


def near(schema: Any, random_: random.Random, definitions: Mapping[str, Any], depth: int = 0) -> Any:
    """A value that a schema may accept, or nearly."""
    if not is_object(schema) or depth > 4 or random_.random() < 0.08:
        return random_.choice((*TEXTS, *NUMBERS, True, None, [], {}, {"a": 1}, [1, "a"], {"x-1": 1}, [[]]))
    if "$ref" in schema and random_.random() < 0.9:
        return near(definitions.get(schema["$ref"].rpartition("/")[2], {}), random_, definitions, depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return random_.choice(schema["enum"])
    whole = [part for key in ("allOf", "oneOf", "anyOf") for part in schema.get(key, ())]
    own = {key for key in schema if key not in ("allOf", "oneOf", "anyOf")}
    if whole and (not own - {"type"} or random_.random() < 0.4):
        picked = random_.choice(whole)
        if is_object(picked) and is_object(schema.get("properties")):
            picked = {**picked, "properties": {**schema["properties"], **picked.get("properties", {})}}
        return near(picked, random_, definitions, depth)
    types = schema.get("type", "object" if own & {"properties", "required", "patternProperties", "if"} else None)
    type_ = random_.choice(types) if is_array(types) else types
    match type_:
        case "object":
            return _object(schema, whole, random_, definitions, depth)
        case "array":
            first = [near(one, random_, definitions, depth + 1) for one in schema.get("prefixItems", ())]
            rest = [
                near(schema.get("items", {}), random_, definitions, depth + 1) for _ in range(random_.choice((0, 1, 2)))
            ]
            return random_.choice((first, [*first, *rest], first[:1], rest))
        case "string":
            return random_.choice(TEXTS)
        case "integer" | "number":
            return random_.choice(NUMBERS)
        case "boolean":
            return random_.choice((True, False))
        case "null":
            return None
        case _:
            return random_.choice((*TEXTS, *NUMBERS, None, [], {}, {"a": 1}, True))


def _object(
    schema: dict[str, Any], parts: list[Any], random_: random.Random, definitions: Mapping[str, Any], depth: int
) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    required: set[str] = set()
    for part in (*parts, *(schema[key] for key in ("if", "then", "else") if key in schema), schema):
        node = part
        while is_object(node) and "$ref" in node and node["$ref"].rpartition("/")[2] in definitions and depth < 3:
            node, depth = definitions[node["$ref"].rpartition("/")[2]], depth + 1
        if is_object(node):
            fields.update(node.get("properties", {}))
            required.update(node.get("required", ()))
    value: dict[str, Any] = {}
    for name in (*fields, *required, *NAMES, "other"):
        chance = 0.85 if name in required else 0.5 if name in fields else 0.08
        if random_.random() < chance:
            value[name] = near(
                fields.get(name, schema.get("additionalProperties", {})), random_, definitions, depth + 1
            )
    for key, sub in schema.get("patternProperties", {}).items():
        for name in ("x-1", "x-2", "ab", "1"):
            if random_.random() < 0.2 and jsonschema_rs.is_valid({"pattern": key}, name):
                value[name] = near(sub, random_, definitions, depth + 1)
    return value


# --- judging ---------------------------------------------------------------------------------------------------------


def _is_bundled(definitions: dict[str, Any]) -> bool:
    """Whether a schema can be bundled: names may collide, and references lead to one another."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": json.loads(json.dumps(definitions))}
    text = json.dumps(schema)
    try:
        bundle(Documents(name="test/x", documents=(Document(path="x.json", text=text, value=schema),)))
    except Faults as faults:
        if all(fault.kind in (NAME_COLLISION, REFERENCE_LOOP) for fault in faults.faults):
            return False
        raise
    return True


def _unenforced(protocol: ir.Protocol, name: str) -> Iterator[str]:
    """The places that decoding a definition, and what it leads to, does not enforce."""
    pending, seen = [name], set[str]()
    while pending:
        one = pending.pop()
        if one not in seen:
            seen.add(one)
            yield from protocol.definitions[one].unenforced
            pending.extend(references(protocol.definitions[one]))


def _decoded(subject: Subject, name: str, value: Any) -> tuple[Any, str]:
    """What a value is decoded to, or why it is refused."""
    try:
        return subject.module.decode_as(subject.type(name), value, lenient=False), ""
    except subject.runtime.DecodeError as error:
        return None, str(error)


def judge(
    subject: Subject, definitions: dict[str, Any], name: str, random_: random.Random, count: int
) -> dict[str, int]:
    """Hold decoding a definition against jsonschema-rs; how many values were accepted, refused, and taken though refused."""
    counts = {"accepted": 0, "refused": 0, "wide": 0}
    validator = jsonschema_rs.validator_for(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": definitions, "$ref": f"#/$defs/{name}"}
    )
    gaps = [*_unenforced(subject.protocol, name)]
    for _ in range(count):
        value = near(definitions[name], random_, definitions)
        told = json.dumps({"definition": name, "value": value, "schemas": definitions, "gaps": gaps})
        expected = validator.is_valid(value)
        found, reason = _decoded(subject, name, value)
        if reason:
            assert not expected, f"refused: {reason}: {told}"
            counts["refused"] += 1
            continue
        assert same(subject.encoded(found), value), f"written otherwise: {subject.encoded(found)}: {told}"
        if expected:
            counts["accepted"] += 1
        else:
            assert gaps, f"accepted: {found!r}: {told}"
            counts["wide"] += 1
    return counts


NUMBERS_OF_PACKAGES: Final = itertools.count(1)


@pytest.mark.parametrize("whole", tiers.EXTENTS)
def test_what_a_drawn_schema_accepts_is_decoded_and_the_rest_refused_or_noted(subjects: Subjects, whole: bool) -> None:
    @settings(
        max_examples=120 if whole else 8,
        deadline=None,
        derandomize=True,
        phases=(Phase.generate,),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(drawn=st.lists(SCHEMAS, min_size=4, max_size=4), seed=st.integers(0, 2**32))
    def decode(drawn: list[Schema], seed: int) -> None:
        definitions: dict[str, Any] = dict(zip(DEFINITIONS, drawn, strict=True))
        for name, schema in definitions.items():
            alone: dict[str, Any] = {each: {} for each in DEFINITIONS}
            if not _is_bundled({**alone, name: schema}):
                definitions[name] = {"type": "object"}
        if not _is_bundled(definitions):
            return  # references that only lead to one another
        package = f"combination_{next(NUMBERS_OF_PACKAGES)}"
        subject = subjects.small(package, definitions)
        for name in definitions:
            judge(subject, definitions, name, random.Random(f"{seed} {name}"), 40)
        subjects.forget(package)

    decode()
