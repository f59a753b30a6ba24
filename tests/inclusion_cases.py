"""Pairs of schemas with the verdicts that their meaning demands, by subject: name, old, new, backward, forward.

`True` is "yes", `False` is "no"; every case must be decided.
"""

from __future__ import annotations

from string import ascii_letters, digits
from typing import TypeAlias

from schema_inclusion.values import Json

Schema: TypeAlias = "bool | dict[str, Json]"
Case: TypeAlias = tuple[str, Schema, Schema, bool, bool]

DRAFT_07 = "http://json-schema.org/draft-07/schema#"
STRING: dict[str, Json] = {"type": "string"}
INTEGER: dict[str, Json] = {"type": "integer"}
NUMBER: dict[str, Json] = {"type": "number"}


def record(properties: dict[str, Json], *required: str, **more: Json) -> dict[str, Json]:
    """An object schema."""
    return {"type": "object", "properties": properties, "required": [*required], **more}


def old_draft(schema: dict[str, Json]) -> dict[str, Json]:
    """The schema in draft-07."""
    return {"$schema": DRAFT_07, **schema}


CONTENT_MODELS: list[Case] = [
    ("open object gains untyped property", record({"a": STRING}), record({"a": STRING, "b": True}), True, True),
    ("open object gains typed property", record({"a": STRING}), record({"a": STRING, "b": STRING}), False, True),
    (
        "closed object gains property",
        record({"a": STRING}, additionalProperties=False),
        record({"a": STRING, "b": STRING}, additionalProperties=False),
        True,
        False,
    ),
    (
        "closed object loses property",
        record({"a": STRING, "b": STRING}, additionalProperties=False),
        record({"a": STRING}, additionalProperties=False),
        False,
        True,
    ),
    ("closed becomes open", record({"a": STRING}, additionalProperties=False), record({"a": STRING}), True, False),
    (
        "partially open becomes open",
        record({"a": STRING}, additionalProperties=STRING),
        record({"a": STRING}),
        True,
        False,
    ),
    (
        "partially open gains covered property",
        record({}, additionalProperties=NUMBER),
        record({"a": INTEGER}, additionalProperties=NUMBER),
        False,
        True,
    ),
    (
        "partially open gains the property it allowed",
        record({}, additionalProperties=INTEGER),
        record({"a": NUMBER}, additionalProperties=INTEGER),
        True,
        False,
    ),
    (
        "partially open with required name of the same type",
        record({}, additionalProperties=INTEGER),
        record({"a": INTEGER}, "a", additionalProperties=INTEGER),
        False,
        True,
    ),
    (
        "additional schema widened",
        record({}, additionalProperties=INTEGER),
        record({}, additionalProperties=NUMBER),
        True,
        False,
    ),
    (
        "patterns cover the removed property",
        record({"x-a": STRING}, additionalProperties=False),
        record({}, patternProperties={"^x-": STRING}, additionalProperties=False),
        True,
        False,
    ),
    (
        "pattern does not cover the removed property",
        record({"a": STRING}, additionalProperties=False),
        record({}, patternProperties={"^x-": STRING}, additionalProperties=False),
        False,
        False,
    ),
    (
        "pattern and property on one name",
        record({"x-a": {"maxLength": 3}}, patternProperties={"^x-": STRING}),
        record({"x-a": {"type": "string", "maxLength": 3}}, patternProperties={"^x-": STRING}),
        True,
        True,
    ),
    (
        "pattern widened to all names",
        {"patternProperties": {"": INTEGER}},
        {"additionalProperties": INTEGER},
        True,
        True,
    ),
    ("pattern narrowed", {"patternProperties": {"^x": INTEGER}}, {"patternProperties": {"^x-": INTEGER}}, True, False),
    (
        "property becomes required with default",
        record({"a": {"default": 1}}),
        record({"a": {"default": 1}}, "a"),
        False,
        True,
    ),
    ("required name without property", record({}, "a"), record({"a": True}, "a"), True, True),
    (
        "required in closed object that forbids it",
        record({}, "a", additionalProperties=False),
        {"type": "string", "enum": []},
        True,
        True,
    ),
    ("forbidden property", record({"a": False}), record({}), True, False),
    (
        "closed empty object is no member at all",
        {"type": "object", "additionalProperties": False},
        {"type": "object", "maxProperties": 0},
        True,
        True,
    ),
    ("names limited by length", {"propertyNames": {"maxLength": 3}}, {"propertyNames": {"maxLength": 4}}, True, False),
    (
        "names limited against closed by pattern",
        {"type": "object", "propertyNames": {"pattern": "^[ab]$"}},
        {"type": "object", "patternProperties": {"^[ab]$": True}, "additionalProperties": False},
        True,
        True,
    ),
    (
        "too many names needed",
        {"type": "object", "propertyNames": {"enum": ["a", "b"]}, "minProperties": 3},
        False,
        True,
        True,
    ),
    (
        "number of members limited by names",
        {"type": "object", "propertyNames": {"enum": ["a", "b"]}},
        {"type": "object", "maxProperties": 2},
        True,
        False,
    ),
    ("least number of members lowered", {"minProperties": 2}, {"minProperties": 1}, True, False),
    ("required implies number of members", record({}, "a", "b"), {"type": "object", "minProperties": 2}, True, False),
]

NUMBERS: list[Case] = [
    ("minimum raised", {"minimum": 1}, {"minimum": 2}, False, True),
    (
        "exclusive against inclusive on integers",
        {"type": "integer", "exclusiveMinimum": 0},
        {"type": "integer", "minimum": 1},
        True,
        True,
    ),
    ("exclusive against inclusive on numbers", {"exclusiveMinimum": 0}, {"minimum": 0}, True, False),
    ("fraction limit on integers", {"type": "integer", "maximum": 2.5}, {"type": "integer", "maximum": 2}, True, True),
    ("range as enum", {"type": "integer", "minimum": 1, "maximum": 3}, {"enum": [1, 2, 3]}, True, True),
    ("multiples of six are multiples of two", {"type": "integer", "multipleOf": 6}, {"multipleOf": 2}, True, False),
    (
        "multiples of two and three are multiples of six",
        {"type": "integer", "allOf": [{"multipleOf": 2}, {"multipleOf": 3}]},
        {"type": "integer", "multipleOf": 6},
        True,
        True,
    ),
    ("multiple of a half on integers", {"type": "integer", "multipleOf": 0.5}, INTEGER, True, True),
    (
        "multiple of one and a half on integers",
        {"type": "integer", "multipleOf": 1.5},
        {"type": "integer", "multipleOf": 3},
        True,
        True,
    ),
    ("integer within number", INTEGER, NUMBER, True, False),
    ("whole float constant", {"const": 1.0}, {"const": 1}, True, True),
    (
        "integer range without multiple",
        {"type": "integer", "multipleOf": 5, "minimum": 6, "maximum": 9},
        False,
        True,
        True,
    ),
    ("true is not one", {"const": True}, {"const": 1}, False, False),
    (
        "numbers split at zero",
        NUMBER,
        {"anyOf": [{"type": "number", "minimum": 0}, {"type": "number", "maximum": 0}]},
        True,
        True,
    ),
    (
        "numbers split around zero",
        NUMBER,
        {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "number", "exclusiveMaximum": 0}]},
        False,
        True,
    ),
    (
        "not a multiple",
        {"type": "integer", "not": {"multipleOf": 2}},
        {"type": "integer", "not": {"multipleOf": 4}},
        True,
        False,
    ),
    ("limits do not touch strings", {"minimum": 5}, {"anyOf": [STRING, {"minimum": 4}]}, True, False),
]

STRINGS: list[Case] = [
    ("length raised", {"type": "string", "minLength": 1}, {"type": "string", "minLength": 2}, False, True),
    (
        "length by pattern",
        {"type": "string", "pattern": "^.{2,3}$"},
        {"type": "string", "minLength": 2, "maxLength": 3},
        True,
        False,
    ),
    ("alternatives as class", {"pattern": "^(a|b|c)$"}, {"pattern": "^[a-c]$"}, True, True),
    ("pattern implies prefix", {"pattern": "^abc"}, {"pattern": "^ab"}, True, False),
    ("pattern is searched, not matched", {"pattern": "b"}, {"pattern": "^b"}, False, True),
    ("pattern against enum", {"type": "string", "pattern": "^(on|off)$"}, {"enum": ["on", "off"]}, True, True),
    ("contrary patterns", {"type": "string", "pattern": "^a", "not": {"pattern": "a"}}, False, True, True),
    ("impossible pattern", {"type": "string", "pattern": "a^b"}, False, True, True),
    ("class shorthand", {"pattern": r"^\d+$"}, {"pattern": "^[0-9]+$"}, True, True),
    ("bounded repeat", {"pattern": "^[a-z]{1,64}$"}, {"pattern": "^[a-z0-9]{1,65}$"}, True, False),
    (
        "domain label",
        {"pattern": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"},
        {"pattern": "^[-a-z0-9]{1,63}$"},
        True,
        False,
    ),
    ("format is an annotation", {"type": "string", "format": "email"}, STRING, True, True),
    ("look-ahead the same on both sides", {"pattern": "(?=a)b"}, {"pattern": "(?=a)b", "title": "x"}, True, True),
    ("enum of lengths", {"enum": ["a", "bb"]}, {"type": "string", "maxLength": 2}, True, False),
    (
        "letters and digits are not all characters",
        {"type": "string", "minLength": 1, "maxLength": 1},
        {"enum": [*ascii_letters, *digits]},
        False,
        True,
    ),
    ("a pattern of the empty text or a letter", {**STRING, "pattern": "^"}, {**STRING, "pattern": "a|$^"}, False, True),
    ("lengths count characters beyond 16 bits once", {"const": "😀"}, {**STRING, "maxLength": 1}, True, False),
]

ARRAYS: list[Case] = [
    ("items widened", {"items": INTEGER}, {"items": NUMBER}, True, False),
    (
        "items of an empty array do not matter",
        {"type": "array", "maxItems": 0},
        {"type": "array", "items": STRING},
        True,
        False,
    ),
    ("items that cannot be", {"type": "array", "items": False}, {"type": "array", "maxItems": 0}, True, True),
    (
        "tuple closed",
        {"type": "array", "prefixItems": [STRING], "items": False},
        {"type": "array", "prefixItems": [STRING], "maxItems": 1},
        True,
        True,
    ),
    (
        "tuple extended closed",
        {"prefixItems": [STRING], "items": False},
        {"prefixItems": [STRING, STRING], "items": False},
        True,
        False,
    ),
    (
        "tuple by rest",
        {"type": "array", "prefixItems": [INTEGER, INTEGER], "items": INTEGER},
        {"type": "array", "items": INTEGER},
        True,
        True,
    ),
    ("impossible first item", {"type": "array", "prefixItems": [False], "minItems": 1}, False, True, True),
    ("contains as a least size", {"type": "array", "contains": True}, {"type": "array", "minItems": 1}, True, True),
    ("contains widened", {"contains": INTEGER}, {"contains": NUMBER}, True, False),
    (
        "all items of a kind contain it",
        {"type": "array", "items": INTEGER, "minItems": 1},
        {"contains": NUMBER},
        True,
        False,
    ),
    (
        "contains nothing is its contrary",
        {"type": "array", "not": {"contains": STRING}},
        {"type": "array", "items": {"not": STRING}},
        True,
        True,
    ),
    (
        "at most one of them",
        {"type": "array", "contains": INTEGER, "minContains": 0, "maxContains": 1},
        {"type": "array", "contains": INTEGER, "minContains": 0, "maxContains": 2},
        True,
        False,
    ),
    (
        "two kinds contained need two items",
        {"type": "array", "allOf": [{"contains": STRING}, {"contains": INTEGER}]},
        {"type": "array", "minItems": 2},
        True,
        False,
    ),
    (
        "more contained than allowed",
        {"type": "array", "contains": STRING, "minContains": 3, "maxItems": 2},
        False,
        True,
        True,
    ),
    ("unique dropped", {"type": "array", "uniqueItems": True}, {"type": "array"}, True, False),
    (
        "unique items of a small set",
        {"type": "array", "uniqueItems": True, "items": {"enum": [1, 2]}},
        {"type": "array", "maxItems": 2},
        True,
        False,
    ),
    (
        "unique booleans",
        {"type": "array", "uniqueItems": True, "items": {"type": "boolean"}, "minItems": 3},
        False,
        True,
        True,
    ),
    (
        "unique items that must be equal",
        {"type": "array", "uniqueItems": True, "prefixItems": [{"const": 1}, {"const": 1.0}], "minItems": 2},
        False,
        True,
        True,
    ),
    (
        "a repeated item needs two",
        {"type": "array", "not": {"uniqueItems": True}},
        {"type": "array", "minItems": 2},
        True,
        False,
    ),
    (
        "unique single item",
        {"type": "array", "maxItems": 1, "uniqueItems": True},
        {"type": "array", "maxItems": 1},
        True,
        True,
    ),
    (
        "unevaluated items",
        {"type": "array", "prefixItems": [STRING], "unevaluatedItems": False},
        {"type": "array", "prefixItems": [STRING], "items": False},
        True,
        True,
    ),
    (
        "unevaluated items beside contains",
        {"type": "array", "contains": STRING, "unevaluatedItems": False},
        {"type": "array", "items": STRING, "minItems": 1},
        True,
        True,
    ),
    (
        "an item without a rule between items with one",
        {
            "type": "array",
            "prefixItems": [STRING, True, True],
            "items": STRING,
            "anyOf": [{"contains": INTEGER}, {"maxItems": 0}],
        },
        {"type": "array", "maxItems": 0},
        False,
        True,
    ),
    (
        "an item without a rule behind the last item with one",
        {"type": "array", "prefixItems": [STRING, True], "items": STRING},
        {"type": "array", "anyOf": [{"items": STRING}, {"not": {"contains": INTEGER}}]},
        False,
        False,
    ),
]

COMBINATIONS: list[Case] = [
    ("allOf merged", {"allOf": [STRING, {"maxLength": 3}]}, {"type": "string", "maxLength": 3}, True, True),
    ("allOf gains a part", {"allOf": [STRING]}, {"allOf": [STRING, {"minLength": 1}]}, False, True),
    ("anyOf gains a branch", {"anyOf": [STRING]}, {"anyOf": [STRING, INTEGER]}, True, False),
    ("anyOf branches swapped", {"anyOf": [STRING, INTEGER]}, {"anyOf": [INTEGER, STRING]}, True, True),
    ("oneOf against anyOf of different types", {"oneOf": [STRING, INTEGER]}, {"anyOf": [INTEGER, STRING]}, True, True),
    ("oneOf of overlapping branches", {"oneOf": [INTEGER, NUMBER]}, {"anyOf": [INTEGER, NUMBER]}, True, False),
    (
        "oneOf of overlapping branches is the difference",
        {"oneOf": [INTEGER, NUMBER]},
        {"type": "number", "not": INTEGER},
        True,
        True,
    ),
    ("oneOf of twins is nothing", {"oneOf": [STRING, {"type": "string", "title": "again"}]}, False, True, True),
    ("single oneOf", {"oneOf": [STRING]}, STRING, True, True),
    ("not twice", {"not": {"not": INTEGER}}, INTEGER, True, True),
    ("not of everything", {"not": {}}, False, True, True),
    ("de Morgan", {"not": {"anyOf": [STRING, INTEGER]}}, {"allOf": [{"not": INTEGER}, {"not": STRING}]}, True, True),
    (
        "distribution",
        {"allOf": [{"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"required": ["c"]}]},
        {"anyOf": [{"required": ["a", "c"]}, {"required": ["b", "c"]}]},
        True,
        True,
    ),
    (
        "enum as oneOf of constants",
        {"enum": ["a", 1, None]},
        {"oneOf": [{"const": None}, {"const": "a"}, {"const": 1}]},
        True,
        True,
    ),
    (
        "enum of objects",
        {"enum": [{"a": 1}, {"a": 2}]},
        record({"a": {"enum": [1, 2]}}, "a", additionalProperties=False),
        True,
        True,
    ),
    (
        "constant array",
        {"const": [1, "a"]},
        {"type": "array", "prefixItems": [INTEGER, STRING], "minItems": 2},
        True,
        False,
    ),
    (
        "if then else as alternatives",
        {"if": STRING, "then": {"minLength": 1}, "else": INTEGER},
        {"anyOf": [{"type": "string", "minLength": 1}, INTEGER]},
        True,
        True,
    ),
    ("if without then", {"if": STRING}, True, True, True),
    ("else forbidden", {"if": STRING, "else": False}, STRING, True, True),
    (
        "dependent required by alternatives",
        {"dependentRequired": {"a": ["b"]}},
        {"anyOf": [{"not": {"type": "object", "required": ["a"]}}, {"required": ["b"]}]},
        True,
        True,
    ),
    ("dependency dropped", {"dependentRequired": {"a": ["b", "c"]}}, {"dependentRequired": {"a": ["b"]}}, True, False),
    (
        "dependent schema",
        {"dependentSchemas": {"a": {"required": ["b"]}}},
        {"dependentRequired": {"a": ["b"]}},
        True,
        True,
    ),
    (
        "chain of dependencies",
        {"dependentRequired": {"a": ["b"], "b": ["c"]}},
        {"dependentRequired": {"a": ["c"]}},
        True,
        False,
    ),
    (
        "boolean tags",
        {"oneOf": [record({"ok": {"const": True}, "v": STRING}, "ok"), record({"ok": {"const": False}}, "ok")]},
        record({"ok": {"type": "boolean"}}, "ok"),
        True,
        False,
    ),
    (
        "number tags",
        {"anyOf": [record({"k": {"const": 1}, "v": STRING}, "k"), record({"k": {"const": 2}}, "k")]},
        {"anyOf": [record({"k": {"const": 2.0}}, "k"), record({"k": {"const": 1}}, "k")]},
        True,
        False,
    ),
    (
        "nested unions on one tag",
        {
            "anyOf": [
                {"anyOf": [record({"t": {"const": "a"}}, "t"), record({"t": {"const": "b"}}, "t")]},
                record({"t": {"const": "c"}}, "t"),
            ]
        },
        record({"t": {"enum": ["a", "b", "c"]}}, "t"),
        True,
        True,
    ),
    (
        "unevaluated across branches",
        {
            "type": "object",
            "oneOf": [record({"t": {"const": "a"}, "x": True}, "t"), record({"t": {"const": "b"}, "y": True}, "t")],
            "unevaluatedProperties": False,
        },
        {
            "oneOf": [
                record({"t": {"const": "a"}, "x": True}, "t", additionalProperties=False),
                record({"t": {"const": "b"}, "y": True}, "t", additionalProperties=False),
            ]
        },
        True,
        True,
    ),
    (
        "unevaluated by condition",
        {
            "type": "object",
            "if": {"required": ["a"], "properties": {"a": True}},
            "then": {"properties": {"b": True}},
            "unevaluatedProperties": False,
        },
        {"type": "object", "properties": {"a": True, "b": True}, "additionalProperties": False},
        True,
        False,
    ),
    (
        "null by type list",
        {"type": ["string", "null"], "minLength": 1},
        {"anyOf": [{"type": "null"}, {"type": "string", "minLength": 1}]},
        True,
        True,
    ),
]

REFERENCES: list[Case] = [
    (
        "reference with a sibling",
        {"$ref": "#/$defs/A", "maxLength": 2, "$defs": {"A": STRING}},
        {"type": "string", "maxLength": 2},
        True,
        True,
    ),
    ("reference by anchor", {"$ref": "#a", "$defs": {"A": {"$anchor": "a", "type": "string"}}}, STRING, True, True),
    (
        "reference to the whole",
        record({"next": {"$ref": "#"}}),
        record({"next": {"$ref": "#"}}, title="again"),
        True,
        True,
    ),
    (
        "recursive list against its unrolling",
        record({"next": {"$ref": "#"}}),
        record({"next": record({"next": {"$ref": "#"}})}),
        True,
        True,
    ),
    (
        "recursive tree narrowed",
        record({"kids": {"type": "array", "items": {"$ref": "#"}}}),
        record({"kids": {"type": "array", "items": {"$ref": "#"}, "maxItems": 1}}),
        False,
        True,
    ),
    (
        "mutual recursion against direct",
        {
            "$ref": "#/$defs/A",
            "$defs": {"A": record({"n": {"$ref": "#/$defs/B"}}), "B": record({"n": {"$ref": "#/$defs/A"}})},
        },
        {"$ref": "#/$defs/N", "$defs": {"N": record({"n": {"$ref": "#/$defs/N"}})}},
        True,
        True,
    ),
    ("recursion without an end is nothing", record({"n": {"$ref": "#"}}, "n"), False, True, True),
    (
        "recursion with an end",
        record({"n": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}, "n"),
        record({"n": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}}, "n", minProperties=1),
        True,
        True,
    ),
    (
        "recursion through not",
        record({"n": {"not": {"$ref": "#"}}}),
        record({"n": {"not": {"$ref": "#"}}}, title="x"),
        True,
        True,
    ),
    (
        "definitions of one document by identifier",
        {"$id": "https://example.org/a", "$ref": "b", "$defs": {"B": {"$id": "b", "type": "integer"}}},
        INTEGER,
        True,
        True,
    ),
]

# T needs an S, and S may hold a T.
LEANING: dict[str, Json] = {
    "S": {"type": "object", "anyOf": [record({"t": {"$ref": "#/$defs/T"}}, "t"), {"required": ["x"]}]},
    "T": record({"s": {"$ref": "#/$defs/S"}}, "s"),
}
REFERENCES.append(
    (
        "two types, each of which may hold the other",
        record({"p": {"$ref": "#/$defs/S"}, "q": {"$ref": "#/$defs/T"}}, "p", "q", **{"$defs": LEANING}),
        False,
        False,
        True,
    )
)

OLDER_DRAFTS: list[Case] = [
    (
        "tuple of draft-07",
        old_draft({"items": [STRING], "additionalItems": False}),
        {"prefixItems": [STRING], "items": False},
        True,
        True,
    ),
    (
        "tuple of draft-07 opened",
        old_draft({"items": [STRING], "additionalItems": False}),
        old_draft({"items": [STRING]}),
        True,
        False,
    ),
    (
        "additionalItems without tuple",
        old_draft({"items": STRING, "additionalItems": False}),
        {"items": STRING},
        True,
        True,
    ),
    (
        "dependencies both ways",
        old_draft({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}),
        {"dependentRequired": {"a": ["b"], "c": ["d"]}},
        True,
        True,
    ),
    (
        "siblings of a reference do not count in draft-07",
        old_draft({"properties": {"a": {"$ref": "#/definitions/A", "maxLength": 1}}, "definitions": {"A": STRING}}),
        {"properties": {"a": STRING}},
        True,
        True,
    ),
    (
        "tuple without a dialect",
        {"items": [STRING], "additionalItems": False},
        {"items": [STRING, INTEGER], "additionalItems": False},
        True,
        False,
    ),
    (
        "exclusive limits of draft-04",
        {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 0, "exclusiveMinimum": True},
        {"exclusiveMinimum": 0},
        True,
        True,
    ),
    (
        "content keywords are annotations",
        old_draft({"type": "string", "contentEncoding": "base64"}),
        STRING,
        True,
        True,
    ),
]

CASES = [*CONTENT_MODELS, *NUMBERS, *STRINGS, *ARRAYS, *COMBINATIONS, *REFERENCES, *OLDER_DRAFTS]
