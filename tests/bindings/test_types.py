"""Types that say what the schema says: what a generated annotation is, and that decoding goes by it."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import pytest

from bindings.subjects import Source, Subject, Subjects, same


def keyed(name: str, schema: Any) -> dict[str, Any]:
    """A variant as serde writes one: an object with one key of its own."""
    return {"type": "object", "properties": {name: schema}, "required": [name], "additionalProperties": False}


STRING: Final = {"type": "string"}
INTEGER: Final = {"type": "integer"}

DEFINITIONS: Final[dict[str, Any]] = {
    # told apart by their key
    "Source": {
        "oneOf": [
            {"type": "string", "enum": ["cli", "exec"]},
            {"type": "string", "const": "unknown", "description": "Nobody knows."},
            keyed("custom", STRING),
            {
                **keyed("sub_agent", {"type": "object", "properties": {"id": INTEGER}, "required": ["id"]}),
                "title": "Any",
            },
            keyed("pair", {"type": "array", "prefixItems": [STRING, INTEGER], "minItems": 2, "maxItems": 2}),
        ]
    },
    "Command": {"anyOf": [keyed("Run", STRING), keyed("Stop", {"type": "null"})]},
    "UsesSource": {
        "type": "object",
        "properties": {"source": {"anyOf": [{"$ref": "#/$defs/Source"}, {"type": "null"}]}},
    },
    # arrays with a type for each position
    "Point": {"type": "array", "prefixItems": [INTEGER, STRING], "minItems": 2, "maxItems": 2},
    "Closed": {"type": "array", "prefixItems": [INTEGER, STRING], "minItems": 2, "items": False},
    "GoesOn": {"type": "array", "prefixItems": [INTEGER, STRING], "minItems": 2, "items": {"type": "boolean"}},
    "GoesOnSoFar": {"type": "array", "prefixItems": [INTEGER], "minItems": 2, "maxItems": 3, "items": STRING},
    "MayStop": {"type": "array", "prefixItems": [INTEGER, STRING], "items": False},
    "AllAlike": {"type": "array", "prefixItems": [INTEGER, INTEGER], "items": False},
    "Empty": {"type": "array", "items": False},
    "Different": {
        "type": "array",
        "prefixItems": [INTEGER, INTEGER],
        "minItems": 2,
        "items": False,
        "uniqueItems": True,
    },
    "OfObjects": {
        "type": "object",
        "properties": {
            "pair": {
                "type": "array",
                "prefixItems": [{"type": "object", "properties": {"a": STRING}}, {"type": ["integer", "null"]}],
                "minItems": 2,
                "maxItems": 2,
            }
        },
    },
    # maps by patterns
    "ByPattern": {"type": "object", "patternProperties": {"^x-": INTEGER}, "additionalProperties": False},
    "ByPatternOfObjects": {
        "type": "object",
        "patternProperties": {"^x-": {"type": "object", "properties": {"a": STRING}}},
        "additionalProperties": False,
    },
    "NamedAndByPattern": {
        "type": "object",
        "properties": {"a": STRING},
        "patternProperties": {"^x-": INTEGER},
        "additionalProperties": {"type": "boolean"},
    },
    # what only narrows an object
    "EitherField": {
        "type": "object",
        "properties": {"a": STRING, "b": INTEGER},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    },
    "EitherFieldInherited": {
        "allOf": [{"$ref": "#/$defs/Base"}],
        "anyOf": [{"required": ["seq"]}, {"required": ["n"]}],
    },
    "SaysMoreOfFields": {
        "type": "object",
        "properties": {"a": STRING, "b": INTEGER},
        "anyOf": [{"properties": {"a": {"const": "x"}}}, {"properties": {"b": {"minimum": 5}}, "required": ["b"]}],
    },
    "Conditional": {
        "type": "object",
        "properties": {"a": STRING, "b": INTEGER},
        "if": {"required": ["a"]},
        "then": {"required": ["b"]},
        "not": {"required": ["c"]},
    },
    "WithoutType": {
        "properties": {"a": STRING},
        "required": ["a"],
        "anyOf": [{"required": ["b"]}, {"required": ["c"]}],
    },
    "TaggedByNarrowing": {
        "type": "object",
        "properties": {"kind": {"enum": ["a", "b"]}, "n": INTEGER},
        "required": ["kind"],
        "oneOf": [
            {"properties": {"kind": {"const": "a"}}, "required": ["n"]},
            {"properties": {"kind": {"const": "b"}}},
        ],
    },
    # a type beside a union, and constants that are no scalars
    "TextAlone": {"type": "string", "anyOf": [{"enum": ["a", "b"]}, {"pattern": "^x"}, {"type": "integer"}]},
    "ConstantObject": {"const": {"a": 1, "b": "x"}},
    "ConstantArray": {"const": [1, "x"]},
    "ConstantsTogether": {"oneOf": [{"const": "a"}, INTEGER, {"const": "b"}]},
    # narrowed fields
    "Base": {
        "type": "object",
        "properties": {
            "seq": INTEGER,
            "n": {"type": "number", "minimum": 1},
            "kind": {"enum": ["a", "b", "c"]},
            "text": {"type": "string", "minLength": 2},
            "either": {"anyOf": [STRING, INTEGER, {"$ref": "#/$defs/Inner"}, {"type": "null"}]},
            "body": {"type": ["object", "null", "string"]},
            "inner": {"$ref": "#/$defs/Inner"},
            "named": {"$ref": "#/$defs/Inner"},
        },
        "required": ["seq"],
    },
    "Inner": {"type": "object", "properties": {"x": INTEGER}},
    "Other": {"type": "object", "properties": {"y": INTEGER}},
    "Event": {
        "allOf": [
            {"$ref": "#/$defs/Base"},
            {
                "type": "object",
                "properties": {
                    "n": {"type": "integer", "maximum": 5},
                    "kind": {"enum": ["b", "c", "d"]},
                    "text": {"pattern": "^x"},
                    "either": {"type": ["integer", "object"]},
                    "body": {"type": "object", "required": ["reason"], "properties": {"reason": STRING}},
                    "inner": {"type": "object", "properties": {"z": INTEGER}},
                    "named": {"$ref": "#/$defs/Other"},
                },
                "required": ["body"],
            },
        ]
    },
    "LongId": {"allOf": [{"$ref": "#/$defs/Id"}, {"minLength": 3}]},
    "Id": STRING,
    "Never": {"allOf": [STRING, INTEGER]},
    # exactly one of objects without a tag
    "Exactly": {
        "oneOf": [
            {"type": "object", "properties": {"a": STRING}, "required": ["a"], "additionalProperties": False},
            {
                "type": "object",
                "properties": {"b": STRING, "c": STRING},
                "required": ["b"],
                "additionalProperties": False,
            },
        ]
    },
    "Overlapping": {
        "oneOf": [
            {"type": "object", "properties": {"a": STRING}, "required": ["a"]},
            {"type": "object", "properties": {"b": STRING}, "required": ["b"]},
        ]
    },
    # that lead to themselves
    "Json": {
        "anyOf": [
            {"type": ["string", "null"]},
            {"type": "array", "items": {"$ref": "#/$defs/Json"}},
            {"type": "object", "additionalProperties": {"$ref": "#/$defs/Json"}},
        ]
    },
    "class": {
        "type": "object",
        "properties": {
            "class": {"$ref": "#/$defs/class"},
            "import": {"type": "array", "items": {"$ref": "#/$defs/class"}},
            "def": {"type": "object", "additionalProperties": {"$ref": "#/$defs/class"}},
            "None": {"oneOf": [keyed("lambda", {"$ref": "#/$defs/class"}), {"type": "string", "enum": ["x"]}]},
            "tuple": {
                "type": "array",
                "prefixItems": [{"$ref": "#/$defs/class"}, {"$ref": "#/$defs/Nested"}],
                "minItems": 2,
                "maxItems": 2,
            },
        },
    },
    "Nested": {"type": "array", "items": {"$ref": "#/$defs/Nested"}},
    "Tree": {"type": "array", "prefixItems": [INTEGER], "items": {"$ref": "#/$defs/Tree"}, "minItems": 1},
}

ANNOTATIONS: Final = {
    "Source": (
        "Literal['cli', 'exec', 'unknown'] | CustomSource | SubAgentSource | PairSource",
        "Shapes()",
    ),
    "Command": ("RunCommand | StopCommand", "Shapes()"),
    "Point": ("tuple[int, str]",),
    "Closed": ("tuple[int, str]",),
    "GoesOn": ("tuple[int, str, *tuple[bool, ...]]",),
    "GoesOnSoFar": ("tuple[int, *tuple[str, ...]]", "Meta(min_length=2, max_length=3)"),
    "MayStop": ("list[int | str]", "Meta(max_length=2)"),
    "AllAlike": ("list[int]", "Meta(max_length=2)"),
    "Different": ("tuple[int, int]", "judged='Different'"),
    "OfObjects.pair": ("tuple[OfObjectsPairFirst, int | None]",),
    "ByPattern": ("dict[str, int]",),
    "ByPatternOfObjects": ("dict[str, ByPatternOfObjectsValue]",),
    "EitherField.a": ("str | UnsetType",),
    "SaysMoreOfFields.b": ("int | UnsetType",),
    "Conditional.a": ("str | UnsetType",),
    "WithoutType": ("WithoutTypeObject | list[Any] | bool | Number | str | None", "judged='WithoutType'"),
    "TaggedByNarrowing": ("ATaggedByNarrowing | BTaggedByNarrowing",),
    "TextAlone": ("Literal['a', 'b'] | Annotated[str, Meta(pattern='^x')]",),
    "ConstantObject": ("dict[str, Any]",),
    "ConstantArray": ("list[Any]",),
    "ConstantsTogether": ("Literal['a', 'b'] | int",),
    "Event.n": ("int", "| UnsetType", "Meta(ge=1, le=5)"),
    "Event.kind": ("EventKind | UnsetType",),
    "EventKind": ("Literal['b', 'c']",),
    "Event.text": ("EventText | UnsetType",),
    "EventText": ("str", "Meta(min_length=2, pattern='^x')"),
    "Event.either": ("EventEither | UnsetType",),
    "EventEither": ("int | Inner",),
    "Event.body": ("EventBody",),
    "Event.inner": ("EventInner | UnsetType",),
    "Event.named": ("EventNamed | UnsetType",),
    "LongId": ("str", "Meta(min_length=3)"),
    "Exactly": ("ExactlyWithA | ExactlyWithB", "Shapes()"),
    "Overlapping": ("OverlappingWithA | OverlappingWithB", "Shapes(exclusive=True)"),
}

VALUES: Final[dict[str, list[Any]]] = {
    "Source": [
        *("cli", "unknown", "other", 5, None, {}, {"custom": "x"}, {"custom": 1}, {"other": 1}, {"pair": ["a", 1]}),
        *({"sub_agent": {"id": 1}}, {"sub_agent": {}}, {"custom": "x", "sub_agent": {"id": 1}}, {"pair": ["a"]}),
    ],
    "Command": [{"Run": "x"}, {"Stop": None}, {"Stop": 1}, {}, {"Run": "x", "Stop": None}, "Stop"],
    "UsesSource": [{"source": None}, {"source": {"custom": "x"}}, {"source": {"x": 1}}, {}],
    "Point": [[1, "a"], [1], [], ["a", 1], [1, "a", 2], {}, [1.0, "a"], [True, "a"]],
    "Closed": [[1, "a"], [1], [1, "a", 2]],
    "GoesOn": [[1, "a"], [1], [1, "a", True, False], [1, "a", 1]],
    "GoesOnSoFar": [[1, "a"], [1], [1, "a", "b"], [1, "a", "b", "c"], [1, 2]],
    "MayStop": [[1, "a"], [1], [], [1, "a", 2]],
    "AllAlike": [[1, 2], [1], [], [1, 2, 3], ["a"]],
    "Empty": [[], [1], None],
    "Different": [[1, 2], [1, 1], [1, 1.0]],
    "OfObjects": [{"pair": [{"a": "x"}, None]}, {"pair": [{}, 1]}, {"pair": [1, 1]}, {"pair": [{"b": 1}, 1]}],
    "ByPattern": [{}, {"x-a": 1}, {"x-a": "b"}],
    "ByPatternOfObjects": [{}, {"x-a": {"a": "b"}}, {"x-a": {"a": 1}}, {"x-a": 1}],
    "NamedAndByPattern": [{"a": "b", "x-a": 1, "c": True}, {"a": 1}, {}],
    "EitherField": [{"a": "x"}, {"b": 1}, {"a": 1}, {"b": "x"}],
    "EitherFieldInherited": [{"seq": 1}, {"seq": "x"}, {}],
    "SaysMoreOfFields": [{"a": "x"}, {"b": 5}, {"a": 1}],
    "Conditional": [{"a": "x", "b": 1}, {"b": 1}, {"a": 1}],
    "WithoutType": [{"a": "x", "b": 1}, 5, "x", None, {"a": 5, "b": 1}, {"b": 1}],
    "TaggedByNarrowing": [{"kind": "a", "n": 1}, {"kind": "b"}, {"kind": "a"}, {"kind": "c"}],
    "TextAlone": ["a", "xyz", 5, "c"],
    "ConstantObject": [{"a": 1, "b": "x"}, 5],
    "ConstantArray": [[1, "x"], {}],
    "ConstantsTogether": ["a", "b", 5, "c"],
    "Event": [
        {"seq": 1, "body": {"reason": "x"}},
        *({"seq": 1, "body": body} for body in (None, "x", {}, {"reason": 1})),
        *({"seq": 1, "body": {"reason": "x"}, "n": n} for n in (1, 5, 0, 6, 1.5)),
        *({"seq": 1, "body": {"reason": "x"}, "kind": kind} for kind in ("b", "a", "d")),
        *({"seq": 1, "body": {"reason": "x"}, "text": text} for text in ("xy", "x", "yy")),
        *({"seq": 1, "body": {"reason": "x"}, "either": either} for either in (1, {"x": 1}, "a", None, {"x": "y"})),
        *({"seq": 1, "body": {"reason": "x"}, "inner": inner} for inner in ({"x": 1, "z": 1}, {"x": "a"}, {"z": "a"})),
        *({"seq": 1, "body": {"reason": "x"}, "named": named} for named in ({"x": 1, "y": 1}, {"x": "a"}, {"y": "a"})),
    ],
    "LongId": ["abc", "ab", 5],
    "Exactly": [{"a": "x"}, {"b": "x", "c": "y"}, {"a": "x", "b": "x"}, {}],
    "Overlapping": [{"a": "x"}, {"b": "x"}, {"a": "x", "b": "x"}, {}],
    "Json": ["x", None, [[["x"]]], {"a": {"b": [None]}}, {"a": [1]}, 1],
    "class": [
        {"class": {"class": {}}, "import": [{}, {"import": []}], "def": {"x": {"def": {}}}},
        *({"None": {"lambda": {"None": "x"}}}, {"None": "y"}, {"tuple": [{"tuple": [{}, []]}, [[]]]}, {"tuple": [{}]}),
    ],
    "Nested": [[], [[], [[]]], [1]],
    "Tree": [[1], [1, [2, [3]]], [[1]], [], [1, 2]],
}


@pytest.fixture(scope="session")
def types(subjects: Subjects) -> Subject:
    """Bindings of the small schemas."""
    return subjects.keep(subjects.small("types", DEFINITIONS))


@pytest.fixture(scope="session")
def written(types: Subject) -> dict[str, str]:
    """The annotation of every field (`Class.field`) and alias as source, and of a union that a hook reads what it goes by."""
    found: dict[str, str] = {}
    models = Path(types.module.__file__).with_name("models.py").read_text("utf-8")
    for statement in ast.parse(models).body:
        match statement:
            case ast.ClassDef(name=name, body=body):
                fields = [one for one in body if isinstance(one, ast.AnnAssign)]
                found |= {f"{name}.{ast.unparse(one.target)}": ast.unparse(one.annotation) for one in fields}
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found[name] = ast.unparse(value)
            case ast.If(
                orelse=[ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[_, read, *by], keywords=more))]
            ):
                found[name] = " ".join([_unquoted(read), *map(ast.unparse, [*by, *more])])
            case _:
                continue
    return found


def _unquoted(node: ast.expr) -> str:
    """The source of an alias, which is a text."""
    assert isinstance(node, ast.Constant) and isinstance(node.value, str)
    return ast.unparse(ast.parse(node.value.strip(), mode="eval"))


@pytest.mark.parametrize("place", ANNOTATIONS)
def test_an_annotation_says_what_the_schema_says(written: dict[str, str], place: str) -> None:
    found = written[place]
    for part in ANNOTATIONS[place]:
        assert part in found, found
    assert "exclusive" not in found or "exclusive" in str(ANNOTATIONS[place])


@pytest.mark.parametrize("name", VALUES)
def test_decoding_goes_by_the_type(types: Subject, name: str) -> None:
    judge = jsonschema_rs.validator_for({"$defs": DEFINITIONS, "$ref": f"#/$defs/{name}"})
    verdicts: set[bool] = set()
    for value in VALUES[name]:
        expected = judge.is_valid(value)
        verdicts.add(expected)
        if expected:
            found = types.module.decode_as(types.type(name), value, lenient=False)
            assert same(types.encoded(found), value), (value, found)
        else:
            assert types.problems(name, value), value
    assert verdicts == {True, False}


def test_what_a_type_cannot_say_is_noted(types: Subject) -> None:
    noted = {name: {at.rpartition("/")[2] for at in one.unenforced} for name, one in types.protocol.definitions.items()}
    assert {name: keywords for name, keywords in noted.items() if keywords} == {
        "MayStop": {"prefixItems"},
        "ByPattern": {"patternProperties", "additionalProperties"},
        "ByPatternOfObjects": {"patternProperties", "additionalProperties"},
        "NamedAndByPattern": {"patternProperties", "additionalProperties"},
        "EitherField": {"oneOf"},
        "EitherFieldInherited": {"anyOf"},
        "SaysMoreOfFields": {"anyOf"},
        "Conditional": {"if", "not"},
        "WithoutType": {"anyOf"},
        "WithoutTypeObject": {"anyOf"},
        "ConstantObject": {"const"},
        "ConstantArray": {"const"},
    }


def test_a_field_that_is_narrowed_has_a_class_that_extends_the_inherited_one(types: Subject) -> None:
    inner, joined = types.type("Inner"), types.type("EventNamed")
    assert issubclass(types.type("EventInner"), inner)
    assert issubclass(types.type("EitherFieldInherited"), types.type("Base"))
    found = types.module.decode_as(types.type("Event"), {"seq": 1, "body": {"reason": "x"}, "named": {"x": 1, "y": 2}})
    assert isinstance(found.named, joined)
    assert (found.named.x, found.named.y) == (1, 2)


def test_an_error_below_a_key_speaks_of_its_variant(types: Subject) -> None:
    def told(value: Any) -> list[str]:
        return [str(problem) for problem in types.problems("UsesSource", {"source": value})]

    assert told({"sub_agent": {"id": "x"}}) == ["/source/sub_agent/id: an integer is expected, not 'x'"]
    assert told({"custom": "x", "sub_agent": {"id": 1}}) == [
        "/source: 'sub_agent' is not allowed here (the nearest of 5 alternatives)"
    ]
    assert told({"pair": ["a"]}) == ["/source/pair: the array's length must be 2 or more"]
    assert told({"pair": ["a", 1, 2]}) == ["/source/pair: the array's length may be 2 at most"]
    assert told({"other": 1}) == [
        "/source: the object must have one field of 'custom', 'sub_agent', 'pair'; it has 'other'"
    ]
    assert [one.partition(":")[0] for one in told("cly")] == ["/source"]


def test_a_variant_with_a_key_can_be_made_and_written(types: Subject) -> None:
    made = types.type("UsesSource")(source=types.type("SubAgentSource")(sub_agent={"id": 1}))
    assert types.encoded(made) == {"source": {"sub_agent": {"id": 1}}}
    made = types.type("UsesSource")(source={"pair": ("a", 1)})
    assert made.source.pair == ("a", 1)
    assert json.loads(types.module.encode(made)) == {"source": {"pair": ["a", 1]}}


def test_a_variant_with_a_key_is_named_by_it(subjects: Subjects, tmp_path: Path) -> None:
    from acpgen.bundle.bundle import bundle
    from acpgen.input.load import load

    file = tmp_path / "named.json"
    file.write_text(json.dumps({"$defs": {"Source": DEFINITIONS["Source"]}}), "utf-8")
    assert subjects is not None
    found = bundle(load(file), names={"Source[custom]": "OwnSource"})
    assert {*found.definitions} == {"Source", "OwnSource", "SubAgentSource", "SourceSubAgent", "PairSource"}


def test_tuples_of_an_earlier_draft_are_tuples_too(subjects: Subjects, tmp_path: Path) -> None:
    file = tmp_path / "seven.json"
    pair = {"type": "array", "items": [STRING, INTEGER], "minItems": 2, "additionalItems": False}
    file.write_text(
        json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"Pair": pair}}), "utf-8"
    )
    subject = subjects.make("seven", Source(file, "test/seven"))
    assert subject.module.decode_as(subject.type("Pair"), ["a", 1]) == ("a", 1)
    assert subject.problems("Pair", ["a", 1, 2])
