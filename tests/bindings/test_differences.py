"""Decoding beside JSON Schema: by its types where they say what the schema does, else by a check, and what is left is in `UNENFORCED`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, Final

import jsonschema
import pytest

from acpgen import ir
from acpgen.input.drafts import find_written_place
from bindings.subjects import Subject, Subjects

Schema = dict[str, Any]

VALUES: Final[tuple[Any, ...]] = (
    *(
        None,
        True,
        False,
        0,
        1,
        1.0,
        2,
        5,
        1.5,
        -1,
        "",
        "a",
        "b",
        "cli",
        "x1",
        [],
        ["a"],
        [1],
        [1, "a"],
        [1, 1],
        [1, True],
    ),
    *({}, {"a": 1}, {"a": "x"}, {"a": None}, {"b": 1}, {"a": 1, "b": 1}, {"custom": {"x": 1}}, {"custom": 1}),
    *({"kind": "a"}, {"kind": "b"}, {"kind": "b", "a": 1}, {"kind": "z"}, {"camelCase": "x"}, {"camel_case": "x"}),
    *({"body": None}, {"body": "x"}, {"body": {}}, {"body": {"reason": "x"}}, {"x-y": "s"}, [{"x": 1}, {"x": 1}]),
)


def tagged(*tags: str, **more: Any) -> list[Schema]:
    return [{"type": "object", "properties": {"kind": {"const": tag}}, "required": ["kind"], **more} for tag in tags]


ENFORCED: Final[Mapping[str, Any]] = {
    "ClosedAndRenamed": {
        "type": "object",
        "properties": {"camelCase": {"type": "string"}},
        "additionalProperties": False,
    },
    "ExternalTags": {
        "oneOf": [
            {"type": "string", "enum": ["cli"]},
            {
                "type": "object",
                "additionalProperties": False,
                "properties": {"custom": {"type": "object"}},
                "required": ["custom"],
            },
        ]
    },
    "TypeBesideAlternatives": {"type": "string", "anyOf": [{"enum": ["a", "b"]}, {"pattern": "^x"}]},
    "ConstantsBesideAnotherType": {"anyOf": [{"const": "a"}, {"type": "integer"}]},
    "ConstantBesideAnotherTypeInAField": {
        "type": "object",
        "properties": {"a": {"oneOf": [{"type": "string"}, {"const": False}]}},
    },
    "TypeBesideConstants": {"type": "string", "enum": ["a", 1, None]},
    "PropertiesWithoutType": {"properties": {"a": {"type": "integer"}}},
    "ObjectOrText": {"type": ["object", "string"], "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    "RequiredButUndeclared": {"type": "object", "required": ["a"]},
    "RequiredButTypedByTheRest": {
        "type": "object",
        "properties": {"b": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": {"type": "string"},
    },
    "BaseOfEvents": {"type": "object", "properties": {"body": {"type": ["object", "null", "string"]}}},
    "NarrowedEvent": {
        "allOf": [
            {"$ref": "#/$defs/BaseOfEvents"},
            {
                "type": "object",
                "properties": {
                    "body": {"type": "object", "properties": {"reason": {"type": "string"}}, "required": ["reason"]}
                },
                "required": ["body"],
            },
        ]
    },
    "EveryPartTrue": {"allOf": [True, {"type": "string"}]},
    "OnePartFalse": {"allOf": [True, False]},
    "ManyTimesAFraction": {"type": "integer", "multipleOf": 0.5},
    "ManyTimesASmallFraction": {"type": "number", "multipleOf": 0.123456789},
    "FractionalBoundsOfAnInteger": {"type": "integer", "minimum": 0.5, "exclusiveMaximum": 2.5},
    "LengthsWrittenAsFractions": {"type": "string", "minLength": 1.0, "maxLength": 2.0},
    "NoTwoAlike": {"type": "array", "uniqueItems": True},
    "NoTwoAlikeInAField": {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}},
    "TextOrNull": {"type": ["string", "null"]},
    "NullTwice": {"oneOf": [{"$ref": "#/$defs/TextOrNull"}, {"type": "null"}]},
    "NullInALongUnion": {"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
    "EitherConstant": {"oneOf": [{"const": 1}, {"const": True}, {"const": "a"}]},
    "TaggedOrAnything": {"anyOf": [*tagged("a", "b"), {"type": "object", "properties": {"b": {"type": "integer"}}}]},
    "Kindless": {
        "type": "object",
        "not": {"properties": {"kind": {"const": "a"}}, "required": ["kind"]},
    },
    "TwoUnknowns": {
        "type": "object",
        "anyOf": [
            *tagged("a"),
            {
                "type": "object",
                "properties": {"kind": {"type": "string"}},
                "required": ["kind"],
                "not": {"properties": {"kind": {"const": "a"}}, "required": ["kind"]},
                "oneOf": [
                    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
                    {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]},
                ],
            },
        ],
    },
    "Nothing": {"not": {}},
    "Message": {"type": "object", "properties": {"a": {"$ref": "#/$defs/Model"}}},
    "Model": {"type": "integer"},
    "TypeAlias": {"type": "object", "properties": {"a": {"$ref": "#/$defs/Message"}}},
}
"""Definitions whose types say what the schema does."""

CHECKED: Final[Mapping[str, tuple[Any, tuple[str, ...]]]] = {
    "PatternKeys": (
        {"type": "object", "patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": False},
        ("patternProperties", "additionalProperties"),
    ),
    "PatternKeysAndARest": (
        {
            "type": "object",
            "patternProperties": {"^a": {"type": "integer"}},
            "additionalProperties": {"type": "string"},
        },
        ("patternProperties", "additionalProperties"),
    ),
    "Tuple": (
        {"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "string"}},
        ("prefixItems", "items"),
    ),
    "RecordAndAlternatives": (
        {
            "type": "object",
            "properties": {"a": {"type": "integer"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        ("oneOf",),
    ),
    "ConstantObject": ({"const": {"a": 1}}, ("const",)),
    "ConstantsOfManyTypes": ({"enum": ["a", {"a": 1}, ["a"]]}, ("enum",)),
    "Condition": ({"type": "object", "if": {"required": ["a"]}, "then": {"required": ["b"]}}, ("if",)),
    "Counted": ({"type": "object", "minProperties": 1, "maxProperties": 1}, ("minProperties", "maxProperties")),
    "NamedKeys": ({"type": "object", "propertyNames": {"pattern": "^a"}}, ("propertyNames",)),
    "Dependent": (
        {"type": "object", "dependentRequired": {"a": ["b"]}, "dependentSchemas": {"b": {"required": ["a"]}}},
        ("dependentRequired", "dependentSchemas"),
    ),
    "Containing": ({"type": "array", "contains": {"type": "string"}}, ("contains",)),
    "Unevaluated": ({"type": "object", "unevaluatedProperties": False}, ("unevaluatedProperties",)),
    "NoType": ({"minLength": 1, "minimum": 1}, ("minLength", "minimum")),
    "ObjectOrNullAndNot": (
        {
            "type": ["object", "null"],
            "properties": {"a": {"type": "integer"}},
            "not": {"properties": {"kind": {"const": "a"}}, "required": ["kind"]},
        },
        ("not",),
    ),
    "NotAnInteger": ({"not": {"type": "integer"}}, ("not",)),
    "KnownOrText": ({"oneOf": [{"const": "a"}, {"type": "string"}]}, ("oneOf",)),
    "TaggedOrOneOther": (
        {"oneOf": [*tagged("a", "b"), {"type": "object", "properties": {"b": {"type": "integer"}}}]},
        ("oneOf",),
    ),
    "NullTwiceInAField": (
        {"type": "object", "properties": {"a": {"oneOf": [{"type": ["integer", "null"]}, {"type": "null"}]}}},
        ("properties/a/oneOf",),
    ),
    "NullTwiceUnnamed": ({"oneOf": [{"type": ["string", "null"]}, {"type": "null"}]}, ("oneOf",)),
    "ClosedBase": (
        {
            "allOf": [
                {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False},
                {"type": "object", "properties": {"b": {"type": "integer"}}},
            ]
        },
        ("allOf/0/additionalProperties",),
    ),
    "ClosedAroundTags": (
        {
            "type": "object",
            "properties": {"a": {"type": "integer"}},
            "additionalProperties": False,
            "oneOf": tagged("a", "b"),
        },
        ("oneOf",),
    ),
    "ClosedBesideAnother": (
        {
            "allOf": [{"properties": {"a": True}}],
            "anyOf": [{"properties": {"b": True}, "unevaluatedProperties": False}],
        },
        ("anyOf/0/unevaluatedProperties",),
    ),
    "InexactBranches": (
        {"oneOf": [{"type": "object", "minProperties": 2}, {"type": "object", "maxProperties": 1}]},
        ("oneOf/0/minProperties", "oneOf/1/maxProperties", "oneOf"),
    ),
    "InexactByReference": (
        {"oneOf": [{"$ref": "#/$defs/Counted"}, {"$ref": "#/$defs/NamedKeys"}]},
        ("oneOf",),
    ),
}
"""Definitions whose types are wider than the schema, each with the keywords that they leave to a check."""

LOOKING: Final[Mapping[str, Any]] = {
    "LooksAhead": {"type": "string", "pattern": "^(?!x)"},
    "LooksAheadInKeys": {
        "type": "object",
        "patternProperties": {"^(?!x)": {"type": "integer"}, "^b": {"type": "string"}},
    },
    "NoWordThatLooksAhead": {"not": {"$ref": "#/$defs/LooksAhead"}},
}
"""Definitions with patterns that no engine of linear time has."""

LISTED: Final[Mapping[str, tuple[Any, tuple[str, ...]]]] = {
    "NoPattern": ({"type": "string", "pattern": "(?i)x"}, ("pattern",)),
    "NoPatternOfKeys": (
        {"type": "object", "patternProperties": {"(?i)x": {"type": "integer"}}},
        ("patternProperties/(?i)x",),
    ),
}
"""Definitions with patterns that ECMA-262 does not have, each with the places that it lists."""


@pytest.fixture(scope="module")
def small(subjects: Subjects) -> Subject:
    return subjects.small(
        "differences", {**ENFORCED, **LOOKING, **{name: schema for name, (schema, _) in {**CHECKED, **LISTED}.items()}}
    )


def oracle(definitions: Mapping[str, Any], name: str) -> Callable[[Any], bool]:
    """The verdict of a validator on a definition as it was written."""
    judge: Any = jsonschema.Draft202012Validator({"$defs": definitions, "$ref": f"#/$defs/{name}"})
    return lambda value: bool(judge.is_valid(value))


def accepts(subject: Subject, name: str, value: Any) -> bool:
    """Whether decoding accepts a value. Whatever it raises but its own error fails the test."""
    try:
        subject.module.decode_as(subject.type(name), value, lenient=False)
    except subject.runtime.DecodeError:
        return False
    return True


def source_of(small: Subject) -> Mapping[str, Any]:
    (document,) = small.bundle.sources.values()
    found: Mapping[str, Any] = document["$defs"]
    return found


@pytest.mark.parametrize("name", [*ENFORCED, *LOOKING])
def test_decode_judges_as_the_schema_does_and_lists_nothing(small: Subject, name: str) -> None:
    judge = oracle(source_of(small), name)
    for value in VALUES:
        assert accepts(small, name, value) is judge(value), value
    assert name not in small.module.UNENFORCED


@pytest.mark.parametrize("name", CHECKED)
def test_decode_checks_what_types_leave(small: Subject, name: str) -> None:
    judge = oracle(source_of(small), name)
    for value in VALUES:
        assert accepts(small, name, value) is judge(value), value
    assert name not in small.module.UNENFORCED
    file = small.bundle.origins[name].partition("#")[0]
    places = {f"{file}#/$defs/{name}/{keyword}" for keyword in CHECKED[name][1]}
    noted = {place for place in left_by_types(small, name) if place.startswith(f"{file}#/$defs/{name}/")}
    assert {find_written_place(place, small.bundle.sources) for place in noted} == places


@pytest.mark.parametrize("name", LISTED)
def test_decode_refuses_nothing_for_a_pattern_that_it_cannot_have_and_lists_it(small: Subject, name: str) -> None:
    value: Any = "y" if name == "NoPattern" else {"x": "y"}
    assert accepts(small, name, value)
    file = small.bundle.origins[name].partition("#")[0]
    assert set(small.module.UNENFORCED[name]) == {f"{file}#/$defs/{name}/{at}" for at in LISTED[name][1]}


def test_what_can_be_judged_beside_such_a_pattern_is(small: Subject) -> None:
    assert not accepts(small, "LooksAheadInKeys", {"b": 1})
    assert not accepts(small, "LooksAheadInKeys", {"b": None})
    assert accepts(small, "LooksAheadInKeys", {"xb": "x"})


def test_a_record_among_other_types_has_a_class_and_its_definition_is_the_union(small: Subject) -> None:
    found = small.module.decode_as(small.module.PropertiesWithoutType, {"a": 1})
    assert isinstance(found, small.module.PropertiesWithoutTypeObject)
    assert found.a == 1
    assert small.module.decode_as(small.module.PropertiesWithoutType, "text") == "text"


def test_the_narrowed_class_is_the_type_of_the_field(small: Subject) -> None:
    event = small.protocol.definitions["NarrowedEvent"]
    assert isinstance(event, ir.Record)
    assert [(field.name, field.type, field.required) for field in event.fields] == [
        ("body", ir.Ref("NarrowedEventBody"), True)
    ]


def test_a_constant_that_a_lone_record_excludes_is_refused_with_its_reason(small: Subject) -> None:
    (problem,) = small.problems("Kindless", {"kind": "a"})
    assert problem.sentence == "this is one of the values that are excluded here"


def test_an_error_below_an_unnamed_union_has_its_place(subjects: Subjects) -> None:
    subject = subjects.small(
        "unnamed_union",
        {
            "Word": {"anyOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}, {"type": "boolean"}]},
            "Row": {
                "type": "object",
                "patternProperties": {"^x": {"$ref": "#/$defs/Word"}},
                "additionalProperties": {"type": "string"},
            },
        },
    )
    assert {problem.pointer for problem in subject.problems("Row", {"x": {"a": "b"}})} <= {"/x", "/x/a"}


# --- schemas that chance makes ---------------------------------------------------------------------------------------

KEYS: Final = ("a", "b", "kind", "x-y", "camelCase")
LEAVES: Final[tuple[Any, ...]] = (
    *(True, {}, {"type": "string"}, {"type": "integer"}, {"type": "null"}, {"type": "boolean"}, {"type": "number"}),
    *({"const": 1}, {"enum": ["a", "b"]}, {"type": ["string", "null"]}, {"enum": [1, True, None]}),
)


class Maker:
    """Draws schemas, and values for them, from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.names = [f"Drawn{index}" for index in range(8)]

    def definitions(self) -> dict[str, Any]:
        """Definitions that refer to one another."""
        return {name: self.schema(3) for name in self.names}

    def some(self, chance: float) -> bool:
        return self.random.random() < chance

    def schema(self, depth: int) -> Any:
        if depth <= 0 or self.some(0.08):
            return self.random.choice(LEAVES)
        if self.some(0.1):
            return {"$ref": f"#/$defs/{self.random.choice(self.names)}"}
        schema: Schema = {}
        kind = self.random.choice((None, "object", "object", "string", "array", "integer", ["object", "null"]))
        if kind is not None:
            schema["type"] = kind
        if kind is None or "object" in kind:
            schema |= self._of_objects(depth)
        if kind is None or kind == "array":
            schema |= self._chosen(
                ("items", 0.3, lambda: self.schema(depth - 1)),
                ("prefixItems", 0.15, lambda: [self.schema(depth - 1)]),
                ("maxItems", 0.15, lambda: 2.0),
                ("uniqueItems", 0.15, lambda: True),
                ("contains", 0.08, lambda: self.schema(depth - 1)),
            )
        if kind in (None, "string", "integer"):
            schema |= self._chosen(
                ("minLength", 0.2, lambda: 2),
                ("pattern", 0.15, lambda: self.random.choice(("^a", "(?!x)a", r"^\d+$"))),
                ("minimum", 0.2, lambda: 0.5),
                ("multipleOf", 0.1, lambda: 2),
            )
        return schema | self._combined(depth)

    def _of_objects(self, depth: int) -> Schema:
        return self._chosen(
            ("properties", 0.6, lambda: {key: self.schema(depth - 1) for key in self._keys()}),
            ("required", 0.35, self._keys),
            ("additionalProperties", 0.25, lambda: self.random.choice((False, False, self.schema(depth - 1)))),
            ("patternProperties", 0.12, lambda: {"^x": self.schema(depth - 1)}),
            ("propertyNames", 0.06, lambda: {"pattern": "^[a-z]+$"}),
            ("minProperties", 0.06, lambda: 1),
            ("dependentRequired", 0.05, lambda: {"a": ["b"]}),
            ("unevaluatedProperties", 0.04, lambda: False),
        )

    def _combined(self, depth: int) -> Schema:
        branches: list[Callable[[], list[Any]]] = [
            lambda: [self.schema(depth - 1) for _ in range(self.random.choice((1, 2, 3)))],
            lambda: tagged("a", "b", **self._of_objects(0)),
        ]
        return self._chosen(
            ("allOf", 0.12, branches[0]),
            ("anyOf", 0.12, branches[0]),
            ("oneOf", 0.15, lambda: self.random.choice(branches)()),
            ("not", 0.08, lambda: self.schema(depth - 1)),
            ("enum", 0.06, lambda: self.random.sample(["a", "b", 1, None, True, {"a": 1}, [1]], 3)),
            ("$ref", 0.08, lambda: f"#/$defs/{self.random.choice(self.names)}"),
        )

    def _chosen(self, *options: tuple[str, float, Callable[[], Any]]) -> Schema:
        return {keyword: make() for keyword, chance, make in options if self.some(chance)}

    def _keys(self) -> list[str]:
        return self.random.sample(KEYS, self.random.choice((1, 2)))

    def value(self, depth: int = 3) -> Any:
        """Any JSON value, with the keys and constants that the schemas know."""
        if depth == 0 or self.some(0.4):
            return self.random.choice((None, True, 0, 1, 2, 1.0, 1.5, "", "a", "b", "ab", "12", "c"))
        if self.some(0.3):
            return [self.value(depth - 1) for _ in range(self.random.choice((0, 1, 1, 2, 3)))]
        keys = self.random.sample((*KEYS, "zz", "Ax", "camel_case"), self.random.choice((0, 1, 1, 2, 3)))
        return {key: self.value(depth - 1) for key in keys}


def unenforced(subject: Subject, name: str) -> set[str]:
    """What a definition, and those that it leads to, list."""
    return {place for one in led(subject, name) for place in subject.module.UNENFORCED.get(one, ())}


def left_by_types(subject: Subject, name: str) -> set[str]:
    """What the types of a definition, and of those that it leads to, leave to checks."""
    return {place for one in led(subject, name) for place in subject.protocol.definitions[one].unenforced}


def led(subject: Subject, name: str) -> set[str]:
    """A definition and those that it leads to."""
    seen: set[str] = set()
    pending = [name]
    while pending:
        current = pending.pop()
        if current not in seen:
            seen.add(current)
            pending.extend(found for found in _names(subject.protocol.definitions[current]))
    return seen


def _names(part: object) -> Iterator[str]:
    """The definitions that a part of the IR names."""
    match part:
        case ir.Ref(name=name):
            yield name
        case ir.TaggedUnion():
            yield from (variant.type for variant in part.variants)
            yield from (name for name in (part.fallback, part.default, *part.fallback_shapes) if name)
        case ir.Record():
            for inner in (part.extra, *(field.type for field in part.fields)):
                yield from _names(inner)
        case ir.Alias(type=inner) | ir.Array(items=inner) | ir.Map(values=inner) | ir.Enum(base=inner):
            yield from _names(inner)
        case ir.AnyOf(types=types):
            for inner in types:
                yield from _names(inner)
        case _:
            pass


SEEDS: Final = (1, 3, 4, 6, 7, 8, 10, 11)


@pytest.mark.parametrize("seed", SEEDS)
def test_schemas_that_chance_makes_are_judged_right_or_listed(subjects: Subjects, seed: int) -> None:
    maker = Maker(seed)
    definitions = maker.definitions()
    subject = subjects.small(f"drawn_{seed}", definitions)
    for name in definitions:
        judge = oracle(definitions, name)
        lists = unenforced(subject, name)
        for value in (maker.value() for _ in range(60)):
            found, expected = accepts(subject, name, value), judge(value)
            assert found or not expected, ("valid and refused", name, value)
            assert found is expected or lists, ("invalid, accepted and not listed", name, value)
