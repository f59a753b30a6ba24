"""Schemas and values drawn over a small world of names, texts and numbers, so that keywords meet, and judges of them."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import jsonschema
import jsonschema_rs
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from schema_inclusion.budget import Budget
from schema_inclusion.document import Dialect, open_document
from schema_inclusion.factory import FormulaFactory
from schema_inclusion.inclusion import Prover
from schema_inclusion.normal import Normaliser
from schema_inclusion.results import Result, Satisfied
from schema_inclusion.values import Json

Schema: TypeAlias = dict[str, Any]
Draw: TypeAlias = Callable[[st.SearchStrategy[Any]], Any]

MANY = 20
"""How many times as much the whole tests draw."""


def drawing(examples: int, *, whole: bool) -> settings:
    """How a test draws: the same examples in every run, or many others each time."""
    return settings(
        max_examples=examples * (MANY if whole else 1),
        derandomize=not whole,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )


NAMES = ["a", "b", "t"]
TEXTS = ["", "a", "b", "ab", "abc", "x-a", "/"]

SCALARS: st.SearchStrategy[Json] = st.sampled_from([None, True, False, 0, 1, 2, 3, -1, 5, 0.5, 1.5, 2.0, -0.5, *TEXTS])
VALUES: st.SearchStrategy[Json] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from([*NAMES, "x-a", "c"]), inner, max_size=3)
    ),
    max_leaves=4,
)


def some_values(amount: int) -> list[Json]:
    """Values to judge by, the same in every run."""
    chance = random.Random(7)

    def value(depth: int) -> Json:
        kind = chance.randrange(9 if depth < 2 else 7)
        if kind == 7:
            return [value(depth + 1) for _ in range(chance.randrange(4))]
        if kind == 8:
            return {name: value(depth + 1) for name in chance.sample([*NAMES, "x-a", "c"], chance.randrange(4))}
        scalars: list[Json] = [
            None,
            chance.random() < 0.5,
            chance.randrange(-1, 6),
            chance.choice([0.5, 1.5, 2.0, -0.5]),
        ]
        return scalars[kind] if kind < 4 else chance.choice(TEXTS)

    return [value(0) for _ in range(amount)]


POOL = some_values(250)


def keywords(inner: st.SearchStrategy[Any]) -> list[st.SearchStrategy[Schema]]:
    """One strategy for each kind of keyword, with subschemas drawn from `inner`."""
    kinds = ["string", "integer", "number", "object", "array", "null", "boolean"]

    def one(name: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Schema]:
        return values.map(lambda value: {name: value})

    few = st.integers(0, 3)
    lists = st.lists(inner, min_size=1, max_size=3)
    tagged = st.lists(st.sampled_from(["a", "b", "ab", 1, True]), min_size=2, max_size=3, unique_by=repr)
    return [
        one(
            "type",
            st.one_of(st.sampled_from(kinds), st.lists(st.sampled_from(kinds), min_size=1, max_size=2, unique=True)),
        ),
        one("type", st.sampled_from(["object", "array"])),
        one("enum", st.lists(VALUES, min_size=1, max_size=3)),
        one("const", VALUES),
        st.sampled_from(
            [{"minimum": 0}, {"minimum": 1.5}, {"maximum": 2}, {"exclusiveMinimum": 0}, {"exclusiveMaximum": 2.5}]
        ),
        one("multipleOf", st.sampled_from([1, 2, 3, 0.5, 4])),
        one("minLength", few),
        one("maxLength", few),
        one("pattern", st.sampled_from(["^a", "b$", "^[ab]*$", "^(a|b)$", "x", "^x-"])),
        one("properties", st.dictionaries(st.sampled_from(NAMES), inner, min_size=1, max_size=2)),
        one("properties", st.dictionaries(st.sampled_from(NAMES), inner, min_size=1, max_size=2)),
        one("required", st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True)),
        one("additionalProperties", st.one_of(st.just(False), inner)),
        one(
            "patternProperties", st.dictionaries(st.sampled_from(["^x-", "a", "^[ab]$"]), inner, min_size=1, max_size=1)
        ),
        one("propertyNames", st.sampled_from([{"maxLength": 1}, {"enum": ["a", "b"]}, {"pattern": "^[abt]$"}])),
        one("minProperties", few),
        one("maxProperties", few),
        one("items", st.one_of(st.just(False), inner)),
        one("prefixItems", st.lists(inner, min_size=1, max_size=2)),
        one("minItems", few),
        one("maxItems", few),
        one("uniqueItems", st.just(True)),
        st.fixed_dictionaries({"contains": inner}, optional={"minContains": few, "maxContains": few}),
        one("not", inner),
        one("allOf", lists),
        one("anyOf", lists),
        one("oneOf", lists),
        one(
            "anyOf",
            st.tuples(tagged, inner).map(
                lambda pair: [
                    {"type": "object", "properties": {"t": {"const": tag}, "a": pair[1]}, "required": ["t"]}
                    for tag in pair[0]
                ]
            ),
        ),
        st.fixed_dictionaries({"if": inner}, optional={"then": inner, "else": inner}),
        one("dependentRequired", st.just({"a": ["b"]})),
        one("dependentSchemas", inner.map(lambda each: {"a": each})),
        one("unevaluatedProperties", st.one_of(st.just(False), st.just({"type": "string"}))),
        one("unevaluatedItems", st.just(False)),
        st.sampled_from([{"$ref": "#/$defs/X"}, {"$ref": "#/$defs/Y"}]),
    ]


def merged(parts: list[Schema]) -> Schema:
    """The keywords of all parts; of two with one name the last."""
    whole: Schema = {}
    for part in parts:
        whole.update(part)
    return whole


LEAVES: st.SearchStrategy[Any] = st.sampled_from([True, False, {}, {"type": "string"}, {"type": "integer"}])
SCHEMAS = st.recursive(
    LEAVES, lambda inner: st.lists(st.one_of(keywords(inner)), min_size=1, max_size=3).map(merged), max_leaves=6
)
CHANGES = st.one_of(keywords(LEAVES))


@st.composite
def documents(draw: Draw) -> Schema:
    """A schema with two definitions, one of them recursive."""
    root = draw(SCHEMAS)
    node = draw(SCHEMAS)
    inside: Schema = cast("Schema", node) if isinstance(node, dict) else {}
    in_place = {"$ref", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas"}
    plain: Schema = {name: value for name, value in inside.items() if name not in in_place}
    plain["properties"] = {"b": {"$ref": "#/$defs/X"}, "a": draw(LEAVES)}
    schema: Schema = cast("Schema", root) if isinstance(root, dict) else {"allOf": [root]}
    return {**schema, "$defs": {"X": plain, "Y": draw(LEAVES)}}


def places(schema: Json) -> list[Schema]:
    """The objects inside a schema, tables of schemas and constants among them."""
    found: list[Schema] = []
    pending = [schema]
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            found.append(each)
            pending.extend(each.values())
        elif isinstance(each, list):
            pending.extend(each)
    return found


@st.composite
def pairs(draw: Draw) -> tuple[Schema, Schema]:
    """Two schemas: unrelated, or the second is the first with one or two random changes."""
    old = draw(documents())
    if draw(st.integers(0, 3)) == 0:
        return old, draw(documents())
    new = copy.deepcopy(old)
    for _ in range(draw(st.integers(1, 2))):
        targets = [each for each in places({name: part for name, part in new.items() if name != "$defs"}) if each]
        target = draw(st.sampled_from(targets)) if targets and draw(st.booleans()) else new
        if draw(st.booleans()) or len(target) < 2:
            target.update(copy.deepcopy(draw(CHANGES)))
        else:
            target.pop(draw(st.sampled_from([name for name in target if name != "$defs"])))
    return old, new


def is_schema(schema: Any) -> bool:
    """Whether the drawn changes have left a schema."""
    return jsonschema_rs.meta.is_valid(schema)


def judged(schema: Schema, value: Json) -> bool:
    """What the reference judge says."""
    return bool(cast("Any", jsonschema.Draft202012Validator(schema)).is_valid(value))


def counterexample(accepts: Schema, refuses: Schema, values: list[Json]) -> Json | None:
    """A list with one value that refutes inclusion, if there is one."""
    one, other = jsonschema_rs.validator_for(accepts), jsonschema_rs.validator_for(refuses)
    suspects = (value for value in values if one.is_valid(value) and not other.is_valid(value))
    return next(([value] for value in suspects if judged(accepts, value) and not judged(refuses, value)), None)


def models(schema: Schema, amount: int) -> list[Json]:
    """Some values of a schema, made by the prover itself: nearer to the point than values drawn blindly."""
    forms = FormulaFactory(Budget(20_000))
    document = open_document(schema, Dialect.DRAFT_2020_12)
    formula = Normaliser(forms).read_whole(document.root, document.scope)
    prover = Prover(forms)
    found: list[Json] = []
    for _ in range(amount):
        outcome: Result = prover.decide(formula)
        if not isinstance(outcome, Satisfied):
            break
        found.append(outcome.value)
        formula = forms.all_of(formula, forms.negate(forms.constant(outcome.value)))
    return found
