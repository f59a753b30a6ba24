"""What the target `python` writes of each construct: classes, unions and named types as a person would write them."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from acpgen.bundle.bundle import bundle
from acpgen.input.expressions import translate_to_python
from acpgen.input.load import load
from acpgen.meaning.lower import lower
from acpgen.targets.installed import TARGETS
from acpgen.targets.interface import Settings

TEXT = {"type": "string"}
CIRCLE = {
    "type": "object",
    "properties": {"kind": {"const": "circle"}, "radius": {"type": "integer"}},
    "required": ["kind", "radius"],
}
SQUARE = {
    "type": "object",
    "properties": {"kind": {"const": "square"}, "side": {"type": "integer"}},
    "required": ["kind", "side"],
}


class Written:
    """The modules that a schema makes."""

    def __init__(self, folder: Path, definitions: Mapping[str, Any], **options: Any) -> None:
        file = folder / "schema.json"
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": definitions}
        file.write_text(json.dumps(schema), "utf-8")
        bundled = bundle(load(file, name="test"))
        settings = Settings(package="made.v1", distribution="made", options={"line-length": 120, **options})
        self.files = TARGETS["python"](lower(bundled), bundled, settings)
        self.models = self.files["made/v1/models.py"]
        self.schema: dict[str, Any] = json.loads(self.files["made/v1/_schema.json"])

    def of(self, name: str) -> str:
        """The statement that makes a type."""
        for node in ast.parse(self.models).body:
            made = [node.name] if isinstance(node, ast.ClassDef) else _targets(node)
            if name in made:
                return ast.get_source_segment(self.models, node) or ""
        raise AssertionError(f"{name} is not made:\n{self.models}")

    def body(self, name: str) -> list[str]:
        """The fields of a class."""
        (node,) = (one for one in ast.parse(self.models).body if isinstance(one, ast.ClassDef) and one.name == name)
        return [ast.get_source_segment(self.models, one) or "" for one in node.body if isinstance(one, ast.AnnAssign)]


def _targets(node: ast.AST) -> list[str]:
    names = [node.target.id] if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else []
    return [*names, *(name for one in (node.body if isinstance(node, ast.If) else []) for name in _targets(one))]


def record(properties: Mapping[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), **more}


@pytest.mark.parametrize(
    ("schema", "required", "written"),
    [
        (TEXT, True, "the_field: str"),
        (TEXT, False, "the_field: str | UnsetType = UNSET"),
        ({"type": ["string", "null"]}, False, "the_field: str | None | UnsetType = UNSET"),
        ({"type": ["string", "null"], "x-null": "omitted"}, False, "the_field: str | None = None"),
        ({"type": ["string", "null"], "x-null": "clears"}, False, "the_field: str | None | UnsetType = UNSET"),
        ({"type": "integer", "default": 3}, False, "the_field: int = 3"),
        ({"type": "array", "items": TEXT, "default": []}, False, None),
        ({"const": "2.0"}, True, 'the_field: Literal["2.0"] = "2.0"'),
        ({"const": True}, True, "the_field: Literal[True] = True"),
        ({"const": "2.0"}, False, 'the_field: Literal["2.0"] | UnsetType = UNSET'),
        ({"type": "integer", "minimum": 0, "exclusiveMaximum": 9}, True, "the_field: Annotated[int, Meta(ge=0, le=8)]"),
        ({"type": "integer", "multipleOf": 5}, True, "the_field: Annotated[int, Meta(multiple_of=5)]"),
        ({"type": "string", "minLength": 1}, True, "the_field: Annotated[str, Meta(min_length=1)]"),
        ({"type": "array", "items": TEXT, "maxItems": 2}, True, "the_field: Annotated[list[str], Meta(max_length=2)]"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, True, "the_field: dict[str, int]"),
        ({"type": "number"}, True, "the_field: Number"),
        ({}, True, "the_field: Any"),
        (
            {"type": "array", "prefixItems": [TEXT, {"type": "integer"}], "items": False, "minItems": 2},
            True,
            "the_field: tuple[str, int]",
        ),
    ],
)
def test_a_field_says_its_type_and_what_an_omitted_one_holds(
    schema: Any, required: bool, written: str | None, tmp_path: Path
) -> None:
    made = Written(tmp_path, {"Thing": record({"the_field": schema}, *(["the_field"] if required else []))})
    (found,) = made.body("Thing")
    if written is not None:
        assert found == written
    else:
        assert found == "the_field: list[str] = field(default_factory=lambda: list[str]())"
    assert "judged" not in made.of("Thing")


def test_a_field_has_its_name_on_the_wire_where_python_has_another(tmp_path: Path) -> None:
    fields = {
        "mimeType": TEXT,
        "_meta": {"type": ["object", "null"], "x-null": "omitted"},
        "class": TEXT,
        "str": TEXT,
        "field": TEXT,
    }
    made = Written(tmp_path, {"Thing": record(fields, "mimeType", "class", "str", "field")})
    assert made.body("Thing") == [
        'mime_type: str = _field(name="mimeType")',
        'meta: dict[str, Any] | None = _field(name="_meta", default=None)',
        'class_: str = _field(name="class")',
        'str_: str = _field(name="str")',
        "field: str",
    ]


def test_what_pydantic_had_names_for_is_free(tmp_path: Path) -> None:
    made = Written(tmp_path, {"Thing": record({"schema": TEXT, "copy": TEXT, "model_config": TEXT, "json": TEXT})})
    assert [line.partition(":")[0] for line in made.body("Thing")] == ["schema", "copy", "model_config", "json"]


def test_a_default_that_is_an_object_is_made_of_classes(tmp_path: Path) -> None:
    inner = record({"isGood": {"type": "boolean", "default": False}, "size": {"type": "integer", "default": 1}})
    field = {"$ref": "#/$defs/Inner", "default": {"isGood": True, "size": 1}}
    made = Written(tmp_path, {"Inner": inner, "Thing": record({"inner": field})})
    assert made.body("Thing") == ["inner: Inner = field(default_factory=lambda: Inner(is_good=True))"]


@pytest.mark.parametrize(
    ("schema", "default", "written"),
    [
        ({"enum": ["a", "b"]}, "a", '"a"'),
        ({"enum": ["a", "b"]}, "c", "UNSET"),
        ({"enum": ["a", "b"], "x-unknown": "keep"}, "b", '"b"'),
        ({"type": "integer", "minimum": 3}, 4, "4"),
        ({"type": "integer", "minimum": 3}, 1, "UNSET"),
        ({"type": "array", "items": TEXT}, ["x"], 'field(default_factory=lambda: ["x"])'),
        ({"type": "object", "additionalProperties": TEXT}, {"x": "y"}, 'field(default_factory=lambda: {"x": "y"})'),
        (  # of a union, mypy does not infer the type of the items
            {"anyOf": [{"type": "array", "items": {"const": "x"}}, TEXT]},
            ["x"],
            'field(default_factory=lambda: list[Literal["x"]](["x"]))',
        ),
        (
            {"$ref": "#/$defs/Circle"},
            {"kind": "circle", "radius": 2},
            "field(default_factory=lambda: Circle(radius=2))",
        ),
        (
            {"oneOf": [{"$ref": "#/$defs/Circle"}, {"$ref": "#/$defs/Square"}]},
            {"kind": "square", "side": 1},
            "field(default_factory=lambda: Square(side=1))",
        ),
    ],
    ids=str,
)
def test_a_default_of_a_definition_is_that_of_the_field(
    schema: Any, default: Any, written: str, tmp_path: Path
) -> None:
    thing = record({"the_field": {"$ref": "#/$defs/Kind", "default": default}})
    made = Written(tmp_path, {"Circle": CIRCLE, "Square": SQUARE, "Kind": schema, "Thing": thing})
    assert made.body("Thing")[-1].endswith(f" = {written}")


def test_the_items_of_a_default_have_a_type_where_the_list_is_one_of_the_branches_of_a_definition(
    tmp_path: Path,
) -> None:
    size = {"anyOf": [{"type": "array", "items": {"type": "number"}}, TEXT]}
    field = {"anyOf": [{"$ref": "#/$defs/Size"}, {"type": "null"}], "default": [10]}
    made = Written(tmp_path, {"Size": size, "Thing": record({"the_field": field})})
    assert made.body("Thing")[-1].endswith(" = field(default_factory=lambda: list[Number]([10]))")


@pytest.mark.parametrize(("default", "written"), [([], "list[Any]()"), ({"a": []}, 'dict[str, Any]({"a": []})')])
def test_the_items_of_a_default_have_a_type_where_anything_is_allowed(
    default: Any, written: str, tmp_path: Path
) -> None:
    made = Written(tmp_path, {"Thing": record({"the_field": {"default": default}})})
    assert made.body("Thing") == [f"the_field: Any = field(default_factory=lambda: {written})"]


def test_records_that_name_fields_by_patterns_alone_refuse_others_where_unknown_fields_are_refused(
    tmp_path: Path,
) -> None:
    patterns = {"patternProperties": {"^x-": TEXT}}
    definitions = {
        "Base": record({}, **patterns),
        "Below": {"allOf": [{"$ref": "#/$defs/Base"}], **record({"size": TEXT})},
        "Free": record({}, **patterns, additionalProperties=True),
        "Thing": record({"id": TEXT}, **patterns),
    }
    for value, names in (("keep", []), ("ignore", []), ("refuse", ["Thing"])):
        receiving = Written(tmp_path, definitions, **{"unknown-fields": value}).schema["x-protocol"]["receiving"]
        assert [name for name, one in receiving.items() if one["unevaluatedProperties"] is False] == names


def test_a_default_that_is_an_empty_object_is_made_anew(tmp_path: Path) -> None:
    made = Written(
        tmp_path, {"Thing": record({"env": {"type": "object", "additionalProperties": TEXT, "default": {}}})}
    )
    assert made.body("Thing") == ["env: dict[str, str] = field(default_factory=lambda: dict[str, str]())"]


def test_a_default_that_makes_its_own_record_again_is_words(tmp_path: Path) -> None:
    node = record({"next": {"$ref": "#/$defs/Next", "default": {}}})
    made = Written(
        tmp_path,
        {
            "Node": node,
            "Next": {"$ref": "#/$defs/Node"},
            "Thing": record({"node": {"$ref": "#/$defs/Node", "default": {}}}),
        },
    )
    assert made.body("Node") == ["next: Next | UnsetType = UNSET"]


def test_a_tagged_union_is_a_union_of_classes_that_say_their_tags(tmp_path: Path) -> None:
    union = {"oneOf": [{"$ref": "#/$defs/Circle"}, {"$ref": "#/$defs/Square"}], "x-unknown": "keep"}
    lone = record({"shape": {"anyOf": [{"$ref": "#/$defs/Shape"}, {"type": "null"}], "x-null": "omitted"}})
    made = Written(tmp_path, {"Circle": CIRCLE, "Square": SQUARE, "Shape": union, "Lone": lone})
    assert made.body("Lone") == ["shape: Shape | None = None"]
    assert made.of("Circle").startswith('class Circle(Record, tag_field="kind", tag="circle"):')
    assert made.body("Circle") == ['kind: ClassVar[Literal["circle"]] = "circle"', "radius: int"]
    assert made.of("UnknownShape").startswith(
        'class UnknownShape(Unknown, tag_field="kind", known=("circle", "square"), init=False):'
    )
    assert made.of("Shape") == 'Shape: TypeAlias = Annotated[Circle | Square | UnknownShape, Tagged("kind")]'


def test_a_body_that_stands_alone_is_the_base_of_its_variant(tmp_path: Path) -> None:
    update = record({"size": {"type": "integer"}}, "size")
    branch = {
        "allOf": [{"$ref": "#/$defs/Update"}],
        "properties": {"kind": {"const": "update"}},
        "required": ["kind"],
    }
    union = {"oneOf": [{"$ref": "#/$defs/Circle"}, branch]}
    made = Written(
        tmp_path,
        {"Update": update, "Circle": CIRCLE, "Any": union, "Lone": record({"update": {"$ref": "#/$defs/Update"}})},
    )
    (variant,) = (
        one for one in ast.parse(made.models).body if isinstance(one, ast.ClassDef) and "(Update," in made.of(one.name)
    )
    assert made.of("Update").startswith("class Update(Record):")
    assert made.body(variant.name) == ['kind: ClassVar[Literal["update"]] = "update"']
    assert variant.name in made.of("Any")
    assert made.body("Lone") == ["update: Update | UnsetType = UNSET"]


@pytest.mark.parametrize(
    ("branches", "how"),
    [
        ([record({"a": TEXT}, "a"), record({"b": TEXT}, "b")], "Shapes()"),
        (
            [
                record({"a": TEXT}, "a", additionalProperties=False),
                record({"b": TEXT}, "b", additionalProperties=False),
            ],
            "Shapes()",
        ),
        ([CIRCLE, record({"size": TEXT, "kind": {"const": "plain"}})], 'Tagged("kind")'),
        ([CIRCLE, record({"kind": {"enum": ["line", "dot"]}}, "kind")], 'Tagged("kind")'),
    ],
)
def test_a_union_says_how_its_branches_are_told_apart(branches: list[Any], how: str, tmp_path: Path) -> None:
    union = {"anyOf": [{"$ref": "#/$defs/One"}, {"$ref": "#/$defs/Two"}]}
    found = Written(tmp_path, {"One": branches[0], "Two": branches[1], "Both": union}).of("Both")
    one_line = " ".join(found.split()).replace("( ", "(").replace(", )", ")")
    assert one_line.startswith("Both: TypeAlias = Annotated[One | ")
    assert one_line.endswith(f", {how}]")


def test_what_has_no_name_in_the_schema_stands_where_it_is(tmp_path: Path) -> None:
    limited = {"type": "number", "minimum": 0, "maximum": 1}
    either = {"oneOf": [record({"a": TEXT}), record({"b": TEXT})]}
    made = Written(
        tmp_path,
        {"Thing": record({"share": limited, "other": {"type": ["number", "null"], "minimum": 0}, "either": either})},
    )
    assert made.body("Thing") == [
        "share: Annotated[Number, Meta(ge=0, le=1)] | UnsetType = UNSET",
        "other: Annotated[Number, Meta(ge=0)] | None | UnsetType = UNSET",
        "either: ThingEither | UnsetType = UNSET",
    ]
    assert "Shapes(exclusive=True)]" in made.of("ThingEither")


@pytest.mark.parametrize(
    ("branches", "written"),
    [
        ([TEXT, {"type": "integer"}], "str | int"),
        ([TEXT, {"enum": ["a", 1]}], 'judged="Both")'),
        ([{"enum": ["a"]}, {"enum": ["b"]}], 'Literal["a", "b"]'),
        ([{"enum": ["a", "b"]}, {"enum": ["b", 1]}], 'judged="Both")'),
        ([{"type": "integer"}, {"type": "number"}], "Annotated[int | Number, Shapes(exclusive=True)]"),
        (
            [{"type": "array", "items": TEXT}, {"type": "array"}],
            "Annotated[list[str] | list[Any], Shapes(exclusive=True)]",
        ),
        ([CIRCLE, SQUARE], 'Annotated[CircleBoth | SquareBoth, Tagged("kind")]'),
    ],
)
def test_what_exactly_one_branch_may_take_says_so_where_two_could(
    branches: list[Any], written: str, tmp_path: Path
) -> None:
    made = Written(tmp_path, {"Both": {"oneOf": branches}, "Thing": record({"both": {"$ref": "#/$defs/Both"}})})
    assert " ".join(made.of("Both").split()).endswith(
        written if "judged" in written else f"Both: TypeAlias = {written}"
    )


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({"enum": ["a", "b"]}, 'Kind: TypeAlias = Literal["a", "b"]'),
        ({"enum": ["a", "b"], "x-unknown": "keep"}, 'Kind: TypeAlias = Literal["a", "b"] | str'),
        ({"enum": [1, True, None]}, "Kind: TypeAlias = Literal[1, True] | None"),
        ({"anyOf": [TEXT, {"type": "integer"}, {"type": "null"}]}, "Kind: TypeAlias = str | int | None"),
        (TEXT, "Kind: TypeAlias = str"),
        ({"type": "string", "pattern": "^[a-c]+$"}, 'Kind: TypeAlias = Annotated[str, Meta(pattern="^[a-c]+\\\\Z")]'),
    ],
)
def test_a_named_type_is_its_value(schema: Any, written: str, tmp_path: Path) -> None:
    made = Written(tmp_path, {"Kind": schema, "Thing": record({"kind": {"$ref": "#/$defs/Kind"}}, "kind")})
    assert made.of("Kind") == written
    assert made.body("Thing") == ["kind: Kind"]


def test_a_set_of_texts_can_be_a_class(tmp_path: Path) -> None:
    kind = {"enum": ["in_progress", "done"], "x-unknown": "keep"}
    made = Written(tmp_path, {"Kind": kind, "Thing": record({"kind": {"$ref": "#/$defs/Kind"}})}, enums="str-enum")
    assert made.of("Kind").startswith("class Kind(OpenStringEnum):")
    assert 'IN_PROGRESS = "in_progress"' in made.of("Kind")


@pytest.mark.parametrize(
    ("more", "keyword"),
    [
        ({"additionalProperties": False}, "extra=None"),
        ({"additionalProperties": {"type": "integer"}}, "extra=int"),
        ({"additionalProperties": {"type": "array"}}, "extra=list[Any]"),  # in text, checkers do not see the import
        ({"additionalProperties": {"$ref": "#/$defs/Thing"}}, 'extra="Thing"'),
        ({"additionalProperties": {"type": "null"}}, 'extra="None"'),
        ({"minProperties": 1}, "judged=True"),
        ({"properties": {"list": {"type": "array", "items": TEXT, "uniqueItems": True}}}, "judged=True"),
        ({"properties": {"text": {"type": "string", "pattern": "(a+)+$"}}}, "judged=True"),
    ],
)
def test_a_class_says_what_its_fields_do_not(more: Any, keyword: str, tmp_path: Path) -> None:
    made = Written(tmp_path, {"Thing": {**record({"name": TEXT}), **more}})
    assert made.of("Thing").startswith(f"class Thing(Record, {keyword}):")


@pytest.mark.parametrize(("option", "keyword"), [("ignore", "drop=True"), ("refuse", "extra=None")])
def test_unknown_fields_are_dropped_or_refused_on_demand(option: str, keyword: str, tmp_path: Path) -> None:
    definitions = {"Thing": record({"name": TEXT}), "Open": record({"name": TEXT}, additionalProperties=True)}
    made = Written(tmp_path, definitions, **{"unknown-fields": option})
    assert made.of("Thing").startswith(f"class Thing(Record, {keyword}):")
    assert made.of("Open").startswith("class Open(Record):")


def test_a_schema_of_two_types_is_a_package_of_six_files(tmp_path: Path) -> None:
    made = Written(tmp_path, {"One": record({"two": {"$ref": "#/$defs/Two"}}), "Two": TEXT})
    assert len(set(made.files) - {"pyproject.toml", "README.md"}) == 6


def test_the_schema_of_a_package_says_what_receivers_may_do(tmp_path: Path) -> None:
    lenient = {"type": ["string", "null"], "x-deserialize-default-on-error": True, "description": "Prose."}
    made = Written(tmp_path, {"thing-a": record({"name": lenient})})
    assert made.schema["$defs"]["thing-a"]["properties"]["name"] == {
        "type": ["string", "null"],
        "x-deserialize-default-on-error": True,
    }
    assert made.schema["x-protocol"]["definitions"] == {"ThingA": "thing-a"}


@pytest.mark.parametrize(
    ("pattern", "is_quick"),
    [
        ("^[a-z]+$", True),
        ("^https?://.+$", True),
        ("^(a|b)c{2,5}$", True),
        ("[0-9]{4}-[0-9]{2}", True),
        ("(a+)+$", False),
        ("^(a|a)+$", False),
        ("^a+b+$", False),
        ("a+b", False),
        ("^(a?){50}a{50}$", False),
        (f"^({'(a|b)' * 400}){{9}}$", False),  # more ways than a float can count
        ("^(?=a)b", False),
        (r"^\p{L}$", False),
    ],
)
def test_python_judges_by_patterns_that_take_a_few_steps_a_character(pattern: str, is_quick: bool) -> None:
    assert (translate_to_python(pattern) is not None) is is_quick
