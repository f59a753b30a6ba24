"""Names: nothing collides, nothing that is added elsewhere renames, and people choose by what things mean."""

from __future__ import annotations

import copy
import json
import random
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

import evidence
import tiers
from acpgen import compare
from acpgen.bundle.bundle import Bundle, bundle
from acpgen.bundle.faults import NAME_COLLISION, UNUSED_NAME
from acpgen.errors import Faults
from acpgen.input.faults import BAD_SETTING
from acpgen.input.load import Document, Documents
from acpgen.ir import Record
from acpgen.meaning.understanding import understand
from acpgen.naming.identifiers import (
    is_class_name,
    make_class_names,
    make_field_names,
    make_member_names,
    make_method_keys,
    make_method_names,
)
from acpgen.targets.python.naming import name_all

SEVENTH: Final = "http://json-schema.org/draft-07/schema#"
TEXT: Final = {"type": "string"}
SOME: Final = {"type": "string", "enum": ["a", "b"]}
OTHER: Final = {"type": "string", "enum": ["c", "d"]}


def documents(schema: Any, files: Mapping[str, Any] | None = None) -> Documents:
    named = {"schema": schema} if files is None else files
    return Documents("p", tuple(Document(f"{name}.json", value, json.dumps(value)) for name, value in named.items()))


def made(schema: Any, files: Mapping[str, Any] | None = None, *, names: Any = None) -> Bundle:
    return bundle(documents(schema, files), names=names)


def of(schema: Any, files: Mapping[str, Any] | None = None, *, names: Any = None) -> dict[str, str]:
    """The place of each name."""
    return dict(made(schema, files, names=names).origins)


def record(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


# --- what gets one name ----------------------------------------------------------------------------------------------


def test_a_definition_keeps_its_key_and_the_inline_type_gives_way() -> None:
    schema = {"$defs": {"Thing": record(kind=SOME), "ThingKind": OTHER}}
    assert of(schema)["ThingKind"] == "schema.json#/$defs/ThingKind"
    assert of(schema)["ThingKindConstant"] == "schema.json#/$defs/Thing/properties/kind"


def test_identical_inline_types_of_one_name_are_one() -> None:
    schema = {
        "$defs": {"Thing": {"oneOf": [record(kind=SOME, a=TEXT), record(kind={**SOME, "description": "!"}, b=TEXT)]}}
    }
    found = made(schema).definitions
    assert "ThingKind" in found
    assert sum(one.get("enum") == SOME["enum"] for one in found.values()) == 1


def test_the_branches_of_a_union_are_told_apart_by_what_they_say() -> None:
    branch = {"type": "object", "required": ["type"]}
    by_constant = [{**branch, **record(type={"const": value}, default=True)} for value in ("text", "number")]
    choice = {"type": "object", **record(type={"enum": ["text", "number"]}), "oneOf": by_constant}
    by_fields = {"oneOf": [{**record(a=TEXT, b=TEXT), "required": ["a", last]} for last in ("b", "c")]}
    found = of({"$defs": {"input": {**choice, "additionalProperties": False}, "Either": by_fields}})
    assert {"TextInput", "NumberInput"} <= found.keys()
    assert {"EitherWithA", "EitherWithAAndC"} <= found.keys()


def variants(name: str, *tags: object) -> set[str]:
    """The names of a union's variants, which are told apart by tags."""
    branches = [{**record(kind={"const": tag}, own=TEXT), "required": ["kind"]} for tag in tags]
    return of({"$defs": {name: {"oneOf": branches}}}).keys() - {name}


def test_a_number_a_lone_letter_and_what_a_branch_has_stand_behind_the_name_of_the_union() -> None:
    assert variants("Level", 0, 1) == {"Level0", "Level1"}
    assert variants("Version", "2.0", "draft") == {"Version20", "DraftVersion"}
    assert variants("V2", 0, 1) == {"V2Variant0", "V2Variant1"}
    assert variants("N", "c", "d") == {"NVariantC", "NVariantD"}
    assert variants("Node", "c", "leaf") == {"CNode", "LeafNode"}
    fields = {"X": {"oneOf": [{**record(op=TEXT), "required": ["op"]}, {**record(id=TEXT), "required": ["id"]}]}}
    assert of({"$defs": fields}).keys() == {"X", "XWithOp", "XWithId"}
    assert variants("Level", 0, 1) < variants("Level", 2, 0, 1)


def test_arrays_in_a_union_are_told_apart_by_their_items() -> None:
    names = ("Ask", "Tell", "Answer", "Fail")
    either = [
        {"type": "array", "items": {"anyOf": [{"$ref": f"#/$defs/{n}"} for n in pair]}}
        for pair in (names[:2], names[2:])
    ]
    found = of({"$defs": {"Batch": {"anyOf": either}, **{name: record(n=TEXT) for name in names}}})
    assert found["BatchItem"].endswith("/anyOf/0/items")
    assert found["AnswerOrFail"].endswith("/anyOf/1/items")


def test_types_inside_variants_have_the_name_of_their_variant() -> None:
    branches = [{**record(type={"const": tag}, data=record(**{tag: SOME})), "required": ["type"]} for tag in ("x", "y")]
    assert {"XBlockData", "YBlockData"} <= of({"$defs": {"Block": {"oneOf": branches}}}).keys()


def test_what_nothing_tells_apart_is_counted_among_its_likes_only() -> None:
    twins: list[Any] = [{**record(a={"type": "object", **record(n={"minimum": n})})} for n in (1, 2)]
    schema = {"$defs": {"Either": {"anyOf": [*twins]}}}
    before = of(schema)
    schema["$defs"]["Either"]["anyOf"].insert(0, {**record(zebra=SOME), "required": ["zebra"]})
    assert set(of(schema)) >= set(before)


def test_a_name_lists_three_things_at_most() -> None:
    def fields(*names: str) -> Any:
        return {**record(**dict.fromkeys(names, TEXT)), "required": [*names]}

    alike = {"$defs": {"Either": {"anyOf": [fields("a", "b", "c", "d", last) for last in "efgh"]}}}
    assert [*of(alike)] == ["Either", "EitherWithA", "EitherWithAAndB", "EitherWithAAndBAndC", "ObjectEither"]
    four = [{"$ref": f"#/$defs/{name}"} for name in "PQRS"]
    members: Any = {name: record(**{name: TEXT}) for name in "PQRS"}
    taken = {"$defs": {**members, "Thing": record(kind={"anyOf": four}), "ThingKind": TEXT}}
    assert "ThingKindChoice" in of(taken)
    taken["$defs"]["Thing"]["properties"]["kind"]["anyOf"].pop()
    assert "POrQOrR" in of(taken)


def test_a_comparison_names_variants_as_generation_does() -> None:
    def tagged(value: str) -> Any:
        return {"$ref": "#/$defs/Chunk", "properties": {"kind": {"const": value}}, "required": ["kind"]}

    union = {"type": "object", "oneOf": [tagged("user_chunk"), tagged("agent_chunk")]}
    schema = {"$defs": {"Chunk": record(text=TEXT), "Update": union}}
    generated = bundle(documents(schema))
    assert [*generated.definitions] == ["Chunk", "Update", "UserChunk", "AgentChunk"]
    assert generated.definitions == bundle(documents(schema), is_apart=True).definitions


def test_a_body_that_gets_a_second_reference_is_neither_renamed_nor_rewritten_for_the_check() -> None:
    def tagged(kind: str) -> Any:
        return {"$ref": f"#/$defs/{kind.title()}", "properties": {"kind": {"const": kind}}, "required": ["kind"]}

    send = {"x-method": "send", "x-side": "agent"}
    definitions = {
        "SendRequest": {**record(block={"$ref": "#/$defs/Block"}), **send},
        "SendResponse": {**record(), **send},
        "Block": {"oneOf": [tagged("text"), tagged("image")], "type": "object"},
        "Text": record(text=TEXT),
        "Image": record(data=TEXT),
    }
    echo = {**definitions, "SendResponse": {**record(echo={"$ref": "#/$defs/Text"}), **send}}
    report = compare(documents({"$defs": definitions}), documents({"$defs": echo}))
    assert [finding.rule for finding in report.findings] == ["field-added"]


# --- names in Python -------------------------------------------------------------------------------------------------


def test_properties_of_one_spelling_have_attributes_of_their_own() -> None:
    found = make_field_names(
        ["depends-on", "depends_on", "ref", "$ref", "class", "class_", "Foo", "foo", "FOO", "_meta", "meta"]
    )
    assert len(set(found.values())) == len(found)
    assert found["depends_on"] == "depends_on" and found["depends-on"] == "depends_dash_on"
    assert found["ref"] == "ref" and found["$ref"] == "dollar_ref"
    assert found["class_"] == "class_" and found["class"] == "class__"
    assert found["foo"] == "foo" and found["meta"] == "meta" and found["_meta"] == "underscore_meta"
    assert make_field_names(["depends-on"]) == {"depends-on": "depends_on"}


def test_names_do_not_depend_on_the_order() -> None:
    words = [
        "a b",
        "a_b",
        "a-b",
        "A_B",
        "aB",
        "AB",
        "a.b",
        "ab",
        "$",
        "$$",
        "",
        "é",
        "e\u0301",
        "1",
        "n1",
        "list",
        "None",
    ]
    for assign in (make_class_names, make_field_names, make_method_keys):
        found = assign(words)
        assert len(set(found.values())) == len(words)
        assert all(name.isidentifier() for name in found.values()) or assign is make_method_keys
        for seed in range(5):
            assert assign(random.Random(seed).sample(words, len(words))) == found


def test_definitions_that_differ_in_case_or_punctuation_have_classes_of_their_own() -> None:
    found = make_class_names(["Foo", "foo", "foo-bar", "foo_bar", "FooBar", "None"])
    assert found["Foo"] == "Foo" and found["foo"] == "Foo_"
    assert found["FooBar"] == "FooBar"
    assert {found["foo-bar"], found["foo_bar"]} == {"FooDashBar", "FooUnderscoreBar"}
    assert found["None"] == "None_"


def test_a_record_keeps_the_attributes_of_its_base() -> None:
    base = {**record(kind=TEXT, **{"depends-on": TEXT}), "required": ["kind"]}
    parts = {"oneOf": [{"$ref": "#/$defs/Base"}, {"allOf": [{"$ref": "#/$defs/Base"}, record(depends_on=SOME)]}]}
    protocol, _ = understand(
        documents(
            {
                "$defs": {
                    "Base": base,
                    "Child": {"allOf": [{"$ref": "#/$defs/Base"}, record(depends_on=TEXT)]},
                    "U": parts,
                }
            }
        )
    )
    names = name_all(protocol)
    for name, definition in protocol.definitions.items():
        if isinstance(definition, Record):
            assert len(set(names.fields[name].values())) == len(names.fields[name])
            if definition.base is not None:
                inherited = names.fields[definition.base]
                assert names.fields[name].items() >= inherited.items()


# --- several files ---------------------------------------------------------------------------------------------------


def test_identical_definitions_of_several_files_are_one() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    files = {
        name: {"$defs": {"Node": {**node, "description": name}, name.title(): {"$ref": "#/$defs/Node"}}}
        for name in "ab"
    }
    assert of(None, files).keys() == {"Node", "A", "B"}
    alias = {"$defs": {"Node": {"$ref": "b.json#/$defs/Node"}}}
    assert of(None, {"a": alias, "b": files["b"]})["Node"] == "b.json#/$defs/Node"
    assert of(None, {"b": files["b"], "a": alias}) == of(None, {"a": alias, "b": files["b"]})


def test_different_definitions_of_one_key_have_the_names_of_their_files() -> None:
    files = {
        "b": {"$defs": {"Key": TEXT, "Own": TEXT}},
        "a": {"$defs": {"Key": SOME, "Use": record(k={"$ref": "#/$defs/Key"})}},
    }
    found = made(None, files)
    assert found.definitions.keys() == {"AKey", "BKey", "Own", "Use"}
    assert found.definitions["Use"]["properties"]["k"] == {"$ref": "#/$defs/AKey"}
    assert of(None, dict(reversed(files.items()))) == dict(found.origins)
    assert of(None, files, names={"a.json#/$defs/Key": "Key"}).keys() == {"Key", "BKey", "Own", "Use"}


def test_definitions_of_one_shape_that_refer_to_different_ones_are_two() -> None:
    files = {
        name: {"$defs": {"Top": {"type": "array", "items": {"$ref": "#/$defs/Leaf"}}, "Leaf": leaf}}
        for name, leaf in (("a", SOME), ("b", OTHER))
    }
    assert of(None, files).keys() == {"ATop", "BTop", "ALeaf", "BLeaf"}


def test_a_root_gives_way_to_a_definition() -> None:
    assert of({"title": "Config", **record(a={"$ref": "#/$defs/Config"}), "$defs": {"Config": SOME}}).keys() == {
        "Config",
        "ConfigRoot",
    }


# --- names that people choose ----------------------------------------------------------------------------------------


def block(*tags: Any) -> dict[str, Any]:
    return {"oneOf": [{**record(type={"const": tag}, inner=record(n=SOME)), "required": ["type"]} for tag in tags]}


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("Thing", "#/definitions/Thing"),
        ("Thing.kind", "#/definitions/Thing/properties/kind"),
        ("Thing.list[]", "#/definitions/Thing/properties/list/items"),
        ("Thing.map{}", "#/definitions/Thing/properties/map/additionalProperties"),
        ("Thing.deep.kind", "#/definitions/Thing/properties/deep/properties/kind"),
        ("ThingDeep.kind", "#/definitions/Thing/properties/deep/properties/kind"),
        ("ThingKind", "#/definitions/Thing/properties/kind"),
        ("Block[text]", "#/definitions/Block/oneOf/1"),
        ("#/definitions/Block/oneOf[text]", "#/definitions/Block/oneOf/1"),
        ("schema.json#/$defs/Block/oneOf[text]", "#/definitions/Block/oneOf/1"),
        ("Block[text].inner", "#/definitions/Block/oneOf/1/properties/inner"),
        ("Block[text]/properties/inner", "#/definitions/Block/oneOf/1/properties/inner"),
        ("#/definitions/Block/oneOf[text]/properties/inner", "#/definitions/Block/oneOf/1/properties/inner"),
        ("#/definitions/Thing/properties/kind", "#/definitions/Thing/properties/kind"),
    ],
)
def test_a_place_is_named_by_its_meaning_or_its_pointer(key: str, place: str) -> None:
    thing = record(
        kind=SOME, list={"type": "array", "items": SOME}, map={"additionalProperties": SOME}, deep=record(kind=SOME)
    )
    schema = {"$schema": SEVENTH, "definitions": {"Thing": thing, "Block": block("image", "text")}}
    assert of(schema, names={key: "Chosen"})["Chosen"] == f"schema.json{place}"


def test_tags_that_read_alike_have_entries_of_their_own() -> None:
    schema = {"$defs": {"Level": block(1, "1", True, "true", "plain")}}
    names = {
        "Level[1]": "One",
        'Level["1"]': "OneText",
        "Level[true]": "Yes",
        'Level["true"]': "YesText",
        'Level["plain"]': "Plain",
    }
    found = of(schema, names=names)
    assert [found[name][-1] for name in ("One", "OneText", "Yes", "YesText", "Plain")] == ["0", "1", "2", "3", "4"]


def faults_of(schema: Any, names: Any) -> tuple[Any, ...]:
    with pytest.raises(Faults) as caught:
        made(schema, names=names)
    return caught.value.faults


def test_an_entry_that_matches_nothing_is_told_the_nearest_place() -> None:
    schema = {"$defs": {"Thing": record(kind=SOME), "Block": block("text")}}
    for key, near in (
        ("Thing.kinds", "Thing.kind"),
        ("Block[texts]", "Block[text]"),
        ("#/$defs/Thin", "#/$defs/Thing"),
    ):
        (fault,) = faults_of(schema, {key: "Chosen"})
        assert fault.kind == UNUSED_NAME and near in fault.join_text()


@pytest.mark.parametrize("name", [3, None, "", "lower", "With space", "None", ["A"], {"a": "A"}])
def test_a_name_that_is_none_is_a_fault(name: object) -> None:
    (fault,) = faults_of({"$defs": {"A": SOME}}, {"#/$defs/A": name})
    assert fault.kind == BAD_SETTING and "#/$defs/A" in str(fault)


def test_one_chosen_name_for_two_things_is_a_fault_unless_they_are_the_same() -> None:
    schema = {"$defs": {"A": record(k=SOME), "B": record(k=SOME), "C": record(k=OTHER)}}
    assert "Kind" in of(schema, names={"A.k": "Kind", "B.k": "Kind"})
    assert all(fault.kind == NAME_COLLISION for fault in faults_of(schema, {"A.k": "Kind", "C.k": "Kind"}))


# --- growth ----------------------------------------------------------------------------------------------------------

GROWING: Final[dict[str, Any]] = {
    "Message": {
        "anyOf": [
            {"$ref": "#/$defs/Ask"},
            {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/Ask"}, {"$ref": "#/$defs/Tell"}]}},
        ]
    },
    "Ask": {
        **record(id=TEXT, kind=SOME, more=record(kind=OTHER, list={"type": "array", "items": {**record(a=SOME)}})),
        "required": ["id"],
    },
    "Tell": {"allOf": [{"$ref": "#/$defs/Ask"}, record(tone=SOME)]},
    "Block": block("text", "image", "sound"),
    "Shape": {
        "oneOf": [{"title": "Round", **record(radius=SOME)}, record(side=SOME, corners=OTHER), {"type": "string"}]
    },
    "Map": {"type": "object", "additionalProperties": {"oneOf": [record(a=SOME), record(b=OTHER)]}},
}


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(inner)


def _grown(schema: dict[str, Any], seed: int) -> dict[str, Any]:
    """The schema with a definition, a property or a branch more, somewhere, that has nothing to do with the others."""
    draw = random.Random(seed)
    grown = copy.deepcopy(schema)
    new = {**record(zebraField=SOME), "required": ["zebraField"]}
    keyword = "$defs" if "$defs" in grown else "definitions"
    nodes = [
        node
        for node in _objects(grown.get(keyword, {}))
        if isinstance(node.get("type", ""), str) and "enum" not in node
    ]
    with_fields = [
        n for n in nodes if n.get("type") == "object" and isinstance(n.get("properties"), dict) and n["properties"]
    ]
    unions = [n[k] for n in nodes for k in ("oneOf", "anyOf") if isinstance(n.get(k), list) and len(n[k]) > 1]
    kind = draw.choice(("definition", "property", "branch"))
    if kind == "branch" and unions:
        branches = draw.choice(unions)
        branches.insert(draw.randint(0, len(branches)), new)
    elif kind == "property" and with_fields:
        properties = draw.choice(with_fields)["properties"]
        items = [*properties.items()]
        items.insert(draw.randint(0, len(items)), ("zebraField", record(stripes=SOME)))
        properties.clear()
        properties.update(items)
    else:
        grown[keyword] = {"Zebra": new, **grown.get(keyword, {})}
    return grown


def _shuffled(value: Any, draw: random.Random) -> Any:
    if isinstance(value, dict):
        items = [(key, _shuffled(inner, draw)) for key, inner in value.items()]
        draw.shuffle(items)
        return dict(items)
    return [_shuffled(inner, draw) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("seed", range(60))
def test_what_is_added_elsewhere_renames_nothing(seed: int) -> None:
    schema = {"$defs": GROWING}
    before, after = of(schema), of(_grown(schema, seed))
    assert before.keys() <= after.keys()


@pytest.mark.parametrize("name", tiers.sample(evidence.known("wild/*.json", "wild/*-dir"), 3))
def test_published_schemas_grow_without_renaming(name: str) -> None:
    path = evidence.path(name)
    if not path.exists():
        evidence.need(name)
    files = [path] if path.is_file() else sorted(path.glob("*.json"))
    schemas = {file.stem: json.loads(file.read_text("utf-8")) for file in files}
    try:
        before = made(None, schemas).origins
    except Faults as refused:
        pytest.skip(str(refused))
    biggest = max(schemas, key=lambda one: len(json.dumps(schemas[one])))
    for seed in range(3):
        after = made(None, {**schemas, biggest: _grown(schemas[biggest], seed)}).origins
        assert before.keys() <= after.keys()
    shuffled = {stem: _shuffled(schema, random.Random(0)) for stem, schema in reversed(schemas.items())}
    assert made(None, shuffled).origins.keys() == before.keys()


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_keys_names_nothing(seed: int) -> None:
    schema = {"$defs": GROWING}
    assert of(_shuffled(schema, random.Random(seed))) == of(schema)


# --- names of ours ---------------------------------------------------------------------------------------------------


VALUES: Final[tuple[tuple[Callable[[str], Any], Callable[[str], Any]], ...]] = (
    (
        lambda name: {
            **record(kindOf={"const": name}, n={"type": "number"}, free=True, k=SOME),
            "required": ["kindOf"],
        },
        lambda name: {"kindOf": name, "n": 1.5, "free": {"a": 1}, "k": "a"},
    ),
    (lambda name: {"type": "string", "enum": ["x", name]}, lambda name: name),
    (lambda name: block("a", "b"), lambda name: {"type": "b", "inner": {"n": "a"}}),
    (
        lambda name: {
            **record(fooBar={"type": "array", "items": TEXT, "uniqueItems": True}),
            "additionalProperties": {"type": "integer"},
        },
        lambda name: {"fooBar": ["x"], "more": 3},
    ),
)


def _names_in_generated_code(root: Path) -> set[str]:
    """Every name that generated modules bind or use, with those of the modules that they import from."""
    import ast
    import builtins
    import typing

    import pydantic

    found = {name for module in (builtins, typing) for name in dir(module)} | set(pydantic.__all__)
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case (
                    ast.Name(id=name) | ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.Attribute(attr=name)
                ):
                    found.add(name)
                case ast.alias(name=name, asname=other):
                    found.update({name, other or name})
                case _:
                    continue
    return {
        name for name in found if name.isidentifier() and name[0].isupper() and name == make_class_names([name])[name]
    }


def test_definitions_keep_every_name_that_generated_code_uses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from acpgen import Settings, generate

    root = Path(__file__).parents[1]
    names = sorted(
        {*_names_in_generated_code(root / "generated/python/mcp-bindings"), "Message", "Request", "Codec", "Record"}
    )
    defs = {name: VALUES[index % len(VALUES)][0](name) for index, name in enumerate(names)}
    files = generate(documents({"$defs": defs}), {"python": Settings(package="ours_give_way.v1")})["python"]
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import importlib

    package = importlib.import_module("ours_give_way.v1")
    try:
        for index, name in enumerate(names):
            value = VALUES[index % len(VALUES)][1](name)
            decoded = package.decode_as(getattr(package, name), value)
            assert json.loads(package.encode(decoded)) == value
        assert package.AnyMessage is package.methods.Message
        assert package.Message is importlib.import_module("ours_give_way.v1.models").Message
        assert "`AnyMessage` is the package's own `Message`" in str(package.__doc__)
    finally:
        for module in [module for module in sys.modules if module.startswith("ours_give_way")]:
            del sys.modules[module]


@pytest.mark.parametrize("names", [("True", "true"), ("None", "none"), ("False", "false", "FALSE")])
def test_definitions_whose_names_python_keeps_for_itself_get_names_of_classes(names: tuple[str, ...]) -> None:
    found = make_class_names(names)
    assert len(set(found.values())) == len(names)
    assert all(is_class_name(one) for one in found.values())


@pytest.mark.parametrize(
    "text", ["a\u0bf0", "\u0bf0a", "\u09f4", "\u0390x", "a \u03b0b", "\u2e2fa", "\u01f0b", "\u00bd"]
)
def test_every_name_is_one_that_python_reads_as_it_is_written(text: str) -> None:
    (class_,), (field,) = make_class_names([text]).values(), make_field_names([text]).values()
    for name in (class_, field, *make_member_names([text]).values(), *make_method_names({text: text}, ()).values()):
        assert name.isidentifier() and unicodedata.normalize("NFKC", name) == name
    assert len({*make_class_names(["a", text]).values()}) == len({*make_field_names(["a", text]).values()}) == 2


def test_a_definition_may_have_an_empty_name() -> None:
    from acpgen import Settings, generate

    defs = {"": record(a=TEXT), "Other": record(a=TEXT, b=TEXT)}
    files = generate(documents({"$defs": defs}), {"python": Settings(package="empty.v1"), "typescript": Settings()})
    assert "class Empty(Record):" in files["python"]["empty/v1/models.py"]
    declarations = next(text for path, text in files["typescript"].items() if path.endswith("index.d.ts"))
    assert re.search(r"interface Other \{[^}]*\ba\?: string[^}]*\bb\?: string", declarations)


def test_a_union_may_be_named_like_another_one_behind_a_letter_beyond_ascii() -> None:
    unions = {
        "\u00c9A": {"type": ["string", "null"]},
        "A": {"anyOf": [{"$ref": "#/$defs/\u00c9A"}, {"type": "boolean"}]},
    }
    from acpgen import Settings, generate

    files = generate(documents({"$defs": unions}), {"python": Settings(package="letters.v1")})["python"]
    assert "\nA: TypeAlias = \u00c9A | bool" in files["letters/v1/models.py"]
