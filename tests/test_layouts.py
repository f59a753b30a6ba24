"""Layouts of schemas: roots that are types, definitions in groups and inside definitions, several files, and what is no schema."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from acpgen.bundle.bundle import Bundle, bundle
from acpgen.bundle.faults import NOT_A_DEFINITION, UNUSED_NAME
from acpgen.errors import Fault, FaultKind, Faults
from acpgen.input.faults import DANGLING_REFERENCE, MALFORMED_KEYWORD, NOT_A_SCHEMA, REFERENCE_NOT_GIVEN, UNKNOWN_SIDE
from acpgen.input.load import Document, Documents
from acpgen.ir import Protocol
from acpgen.meaning.faults import NO_ROLE, NOTHING_DEFINED, ROLE_TAKEN, SIDES_DIFFER
from acpgen.meaning.understanding import understand
from acpgen.messages.validators import read_strict
from acpgen.naming.faults import NAMED_BY_POSITION

NEWEST: Final = "https://json-schema.org/draft/2020-12/schema"
SEVENTH: Final = "http://json-schema.org/draft-07/schema#"
NAMED: Final = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
TEXT: Final = {"type": "string"}


def documents(*values: Any, **files: Any) -> Documents:
    """Documents of one schema, `schema.json`, or of several by name."""
    named = {**({"schema": values[0]} if values else {}), **files}
    return Documents("p", tuple(Document(f"{name}.json", value, json.dumps(value)) for name, value in named.items()))


def meaning(*values: Any, names: dict[str, str] | None = None, **files: Any) -> Protocol:
    return understand(documents(*values, **files), names=names or {})[0]


def names_of(*values: Any, names: dict[str, str] | None = None, **files: Any) -> set[str]:
    return set(meaning(*values, names=names, **files).definitions)


def origins(*values: Any, **files: Any) -> dict[str, str]:
    return dict(bundle(documents(*values, **files)).origins)


def faults_of(*values: Any, names: dict[str, str] | None = None, **files: Any) -> tuple[Fault, ...]:
    with pytest.raises(Faults) as caught:
        understand(documents(*values, **files), names=names or {})
    return caught.value.faults


def places(faults: tuple[Fault, ...]) -> list[tuple[FaultKind, str]]:
    return [(fault.kind, fault.at) for fault in faults]


# --- roots -----------------------------------------------------------------------------------------------------------


def test_a_root_that_is_the_type_gets_a_class_of_its_title_or_its_file() -> None:
    person = {"$schema": NEWEST, "$id": "https://example.org/person", "title": "A person", **NAMED}
    assert origins(person) == {"APerson": "schema.json#"}
    assert names_of({**person, "x-name": "Human"}) == {"Human"}
    assert names_of({**person, "title": " "}) == {"Schema"}
    assert names_of(**{"home-address.v1": {"type": "object"}}) == {"HomeAddress"}
    assert names_of({**person, "title": "It has many words. " * 5}) == {"Schema"}
    assert names_of(person, names={"#": "Somebody"}) == {"Somebody"}
    assert names_of(person, names={"schema.json#": "Somebody"}) == {"Somebody"}


def test_the_bundle_of_a_root_type_says_the_same_as_its_file() -> None:
    made = bundle(documents({"$schema": NEWEST, "$id": "https://example.org/p", "title": "Person", **NAMED}))
    assert made.schema["$ref"] == "#/$defs/Person"
    assert made.definitions["Person"] == {"title": "Person", **NAMED}


def test_a_root_that_refers_to_itself_or_is_referred_to_is_one_type() -> None:
    node = {"type": "object", "title": "Node", "properties": {"next": {"$ref": "#"}, "list": {"$ref": "#/$defs/List"}}}
    list_ = {"type": "array", "items": {"$ref": "schema.json"}}
    assert origins({**node, "$defs": {"List": list_}}) == {"Node": "schema.json#", "List": "schema.json#/$defs/List"}


def test_a_root_that_only_refers_to_a_definition_needs_no_class() -> None:
    for root in ({"$ref": "#/definitions/Config"}, {"allOf": [{"$ref": "#/definitions/Config"}]}):
        schema = {"$schema": SEVENTH, "title": "Config", **root, "definitions": {"Config": NAMED}}
        assert names_of(schema) == {"Config"}


def test_each_root_of_several_files_gets_its_type() -> None:
    files: dict[str, Any] = {
        "person": {"title": "Person", "properties": {"home": {"$ref": "address.json"}}},
        "address": {"type": "object", "properties": {"of": {"$ref": "person.json#/properties/home"}}},
        "zip": {"type": "string", "pattern": "^[0-9]+$"},
        "meta": {"version": 3},
    }
    assert {"Person", "Address", "Zip"} <= names_of(**files)
    assert set(bundle(documents(**files)).schema) == {"$schema", "$defs"}


def test_two_roots_of_one_name_are_told_apart_by_their_files() -> None:
    assert names_of(**{"a/door": {"type": "object"}, "b/door": {"type": "string"}}) == {"ADoor", "BDoor"}
    renamed = names_of(**{"a/door": {"type": "object"}, "b/door": {"type": "string"}}, names={"b/door.json#": "Handle"})
    assert renamed == {"Door", "Handle"}


@pytest.mark.parametrize("items", [{"$ref": "#/$defs/Message"}, {"type": "object"}])
@pytest.mark.parametrize("mark", [{"x-docs-ignore": True}, {"properties": {"jsonrpc": {"const": "2.0"}}}])
def test_a_root_that_is_the_envelope_of_a_protocol_is_no_type(mark: dict[str, Any], items: dict[str, Any]) -> None:
    message = {"type": "object", **mark}
    schema = {
        "title": "Doors",
        "anyOf": [{"$ref": "#/$defs/Message"}, {"type": "array", "items": items}],
        "$defs": {"Message": message, "OpenRequest": {"type": "object", "x-method": "open", "x-side": "server"}},
    }
    assert "Doors" not in names_of(schema)
    assert meaning(schema).batch
    assert bundle(documents(schema)).schema["anyOf"][0] == {"$ref": "#/$defs/Message"}
    del schema["$defs"]["OpenRequest"]["x-method"]  # type: ignore[index]
    assert "Doors" in names_of(schema)


NOTHING: Final[list[Any]] = [
    {},
    {"$schema": NEWEST, "title": "Nothing", "description": "Nothing at all."},
    {"openapi": "3.1.0", "info": {}, "paths": {}, "components": {"schemas": {"A": {"type": "object"}}}},
    {"openrpc": "1.3.2", "info": {}, "components": {"schemas": {"A": {"type": "object"}}}},
    {"name": "a-package", "version": "1.0.0", "dependencies": {}, "scripts": {"test": "true"}},
    {"$defs": {}},
    {"$defs": {"Frame": {"type": "object", "x-docs-ignore": True}}},
]


@pytest.mark.parametrize("value", NOTHING)
def test_what_yields_neither_type_nor_method_is_refused(value: Any) -> None:
    assert places(faults_of(value)) == [(NOTHING_DEFINED, "schema.json")]
    with pytest.raises(Faults, match="no type and no method"):
        read_strict(documents(value))


def test_keywords_that_only_inform_make_a_root_a_schema_where_it_says_so() -> None:
    assert names_of({"$schema": NEWEST, "format": "email"}) == {"Schema"}
    assert places(faults_of({"format": "email"})) == [(NOTHING_DEFINED, "schema.json")]


# --- groups and nested definitions -----------------------------------------------------------------------------------


def test_definitions_in_groups_are_definitions() -> None:
    schema = {
        "$schema": SEVENTH,
        "definitions": {
            "Door": {"type": "object", "properties": {"lock": {"$ref": "#/definitions/v2/Lock"}}},
            "v2": {
                "$comment": "The second version.",
                "Lock": {"type": "object", "properties": {"key": {"$ref": "#/definitions/v2/Key"}}},
                "Key": TEXT,
                "Door": {"type": "integer"},
                "inner": {"Key": {"type": "boolean"}, "Hinge": True},
            },
            "v3": {"Bolt": {"properties": {"of": {"$ref": "#/definitions/v3/deep/Bolt"}}}, "deep": {"Bolt": TEXT}},
        },
    }
    assert origins(schema) == {
        "Door": "schema.json#/definitions/Door",
        "Lock": "schema.json#/definitions/v2/Lock",
        "V2Key": "schema.json#/definitions/v2/Key",
        "V2Door": "schema.json#/definitions/v2/Door",
        "InnerKey": "schema.json#/definitions/v2/inner/Key",
        "Hinge": "schema.json#/definitions/v2/inner/Hinge",
        "V3Bolt": "schema.json#/definitions/v3/Bolt",
        "DeepBolt": "schema.json#/definitions/v3/deep/Bolt",
    }
    made = bundle(documents(schema))
    assert made.definitions["Lock"]["properties"] == {"key": {"$ref": "#/$defs/V2Key"}}
    assert references_of(made) <= set(made.definitions)


def references_of(made: Bundle) -> set[str]:
    text = json.dumps(made.schema)
    return {part.split('"')[0] for part in text.split('"#/$defs/')[1:]}


def test_a_group_may_hold_what_is_called_like_a_keyword_if_references_go_through_it() -> None:
    schema = {
        "$defs": {
            "common": {"items": {"type": "array"}, "Id": TEXT},
            "Thing": {"properties": {"id": {"$ref": "#/$defs/common/Id"}}},
        }
    }
    assert set(origins(schema)) == {"items", "Id", "Thing"}


def test_what_a_reference_leads_to_is_a_schema_and_no_group() -> None:
    inner = {"type": "object", "properties": {"a": {"type": "string"}}}
    user = {"type": "object", "properties": {"t": {"$ref": "#/definitions/T"}, "s": {"$ref": "#/definitions/T/schema"}}}
    found = origins({"$schema": SEVENTH, "definitions": {"T": {"schema": inner}, "U": user}})
    assert found["T"] == "schema.json#/definitions/T"
    assert "schema.json#/definitions/T/schema" in found.values()


def test_a_definition_with_keywords_of_others_is_no_group() -> None:
    noted = {"markdownDescription": "A door.", "meta:enum": {"open": "It is open.", "type": "It has a type."}}
    for schema in (
        noted,
        {"type": "object", "uses": {"Lock": TEXT}},
        {"x-group": {"Lock": TEXT}},
        {"title": "Any"},
        {},
    ):
        assert names_of({"$defs": {"Door": schema}}) == {"Door"}


def test_definitions_inside_definitions_are_definitions() -> None:
    schema = {
        "$schema": SEVENTH,
        "definitions": {
            "job": {
                "properties": {"out": {"$ref": "#/definitions/job/definitions/artifact"}},
                "definitions": {
                    "artifact": {"type": "object", "properties": {"s": {"$ref": "#/definitions/job/definitions/step"}}},
                    "step": TEXT,
                },
            },
            "plan": {
                "properties": {
                    "steps": {"items": {"$defs": {"step": {"type": "integer"}}, "$ref": "#/definitions/job"}}
                }
            },
        },
    }
    assert origins(schema) == {
        "job": "schema.json#/definitions/job",
        "plan": "schema.json#/definitions/plan",
        "artifact": "schema.json#/definitions/job/definitions/artifact",
        "JobStep": "schema.json#/definitions/job/definitions/step",
        "StepsStep": "schema.json#/definitions/plan/properties/steps/items/$defs/step",
    }


def test_a_definition_that_joins_takes_no_name_from_another() -> None:
    before = {"$defs": {"v2": {"Lock": TEXT, "Door": TEXT}, "Door": TEXT}}
    after = {"$defs": {"v2": {"Lock": TEXT, "Door": TEXT, "Key": TEXT}, "Door": TEXT, "Bolt": TEXT}}
    assert origins(before).items() <= origins(after).items()


def test_a_schema_that_only_a_reference_reaches_is_read_with_all_that_it_refers_to() -> None:
    schema = {
        "$ref": "#/components/schemas/Door",
        "components": {
            "schemas": {"Door": {"properties": {"l": {"$ref": "#/components/schemas/Lock"}}}, "Lock": TEXT},
        },
    }
    made = bundle(documents(schema))
    assert set(made.definitions) == {"ComponentsSchemasDoor", "ComponentsSchemasLock"}
    assert made.definitions["ComponentsSchemasDoor"]["properties"]["l"]["$ref"] == "#/$defs/ComponentsSchemasLock"


def test_places_that_lie_in_one_another_can_both_be_referred_to() -> None:
    inner = {"type": "object", "properties": {"b": {"type": "object", "properties": {"c": TEXT}}}}
    schema = {
        "title": "Whole",
        "properties": {"a": inner, "x": {"$ref": "#/properties/a"}, "y": {"$ref": "#/properties/a/properties/b"}},
    }
    made = bundle(documents(schema))
    assert made.definitions["A"]["properties"]["b"] == {"$ref": "#/$defs/AB"}
    assert made.definitions["AB"]["properties"] == {"c": TEXT}


def test_a_relative_reference_is_resolved_against_the_identifier_of_its_file() -> None:
    other = {"$id": "https://example.org/schemas/lock.json", "title": "Lock", "type": "string"}
    door = {
        "$id": "https://example.org/schemas/door.json",
        "title": "Door",
        "type": "object",
        "properties": {"l": {"$ref": "lock.json"}},
    }
    assert names_of(one=door, two=other) == {"Door", "Lock"}


def test_tuples_and_dependencies_of_draft_07_keep_their_pointers() -> None:
    schema = {
        "$schema": SEVENTH,
        "definitions": {
            "Pair": {"type": "array", "items": [TEXT, {"type": "object", "properties": {"a": TEXT}}]},
            "Part": {
                "properties": {"second": {"$ref": "#/definitions/Pair/items/1"}},
                "dependencies": {"a": {"$ref": "#/definitions/Pair"}},
            },
        },
    }
    made = bundle(documents(schema))
    assert made.origins["PairN1"] == "schema.json#/definitions/Pair/items/1"
    assert made.definitions["Pair"]["prefixItems"][1] == {"$ref": "#/$defs/PairN1"}
    assert made.definitions["Part"]["dependentSchemas"] == {"a": {"$ref": "#/$defs/Pair"}}


NO_SCHEMAS: Final[list[tuple[Any, tuple[FaultKind, str]]]] = [
    (
        {"$schema": SEVENTH, "$defs": {"A": {"$ref": "#/$defs/description"}, "description": "text"}},
        (DANGLING_REFERENCE, "#/$defs/A"),
    ),
    ({"$defs": {"g": {"A": TEXT, "B": 3}}}, (NOT_A_DEFINITION, "#/$defs/g")),
    ({"$defs": {"g": {"A": TEXT, "B": {"properties": 3}}}}, (NOT_A_SCHEMA, "#/$defs/g/B/properties")),
    ({"$defs": {"A": {"$ref": "#/$defs"}}}, (DANGLING_REFERENCE, "#/$defs/A")),
    ({"$defs": {"A": {"$ref": "#/notes"}}, "notes": {"a": 1}}, (DANGLING_REFERENCE, "#/$defs/A")),
    ({"$defs": {"A": {"$ref": "#/notes"}}, "notes": {"type": "note"}}, (NOT_A_SCHEMA, "#/notes/type")),
    ({"$defs": {"A": {"$ref": "#/$defs/A/enum/0"}, "B": {"enum": ["a"]}}}, (DANGLING_REFERENCE, "#/$defs/A")),
    ({"$defs": {"A": {"$ref": "http://["}}}, (REFERENCE_NOT_GIVEN, "#/$defs/A")),
    ({"$defs": {"A": {"$ref": "#/$defs/B/anyOf/²"}, "B": {"anyOf": [{}]}}}, (DANGLING_REFERENCE, "#/$defs/A")),
]


@pytest.mark.parametrize(("schema", "expected"), NO_SCHEMAS)
def test_what_is_no_schema_is_told_where_it_stands(schema: Any, expected: tuple[FaultKind, str]) -> None:
    kind, at = expected
    assert (kind, f"schema.json{at}") in places(faults_of(schema))


def test_a_reference_to_a_file_that_was_not_given_says_so() -> None:
    (fault,) = faults_of({"$defs": {"A": {"$ref": "https://example.org/other.json#/$defs/B"}}})
    assert "none of the given files has a schema there" in str(fault)


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf", "prefixItems"])
@pytest.mark.parametrize(
    "branches", [[True], [False], [True, {"type": "object", "properties": {"a": True}}], [False, NAMED]]
)
def test_booleans_stand_wherever_schemas_do(keyword: str, branches: list[Any]) -> None:
    schema: dict[str, Any] = {"$defs": {"A": {keyword: branches}, "B": {"type": "object", keyword: branches}}}
    schema["$defs"]["C"] = {"properties": {"a": False, "b": {keyword: branches}}, "items": False, "not": True}
    assert {"A", "B", "C"} <= names_of(schema)


# --- the dialect -----------------------------------------------------------------------------------------------------


def test_wrong_values_of_the_dialect_are_refused_and_keywords_of_others_are_not() -> None:
    schema = {"type": "object", "x-side": "tower", "x-tower": 3, "properties": {"x-null": {"type": "string"}}}
    found = faults_of({"$defs": {"A": schema, "B": {"anyOf": [{"x-name": 3}]}}})
    assert places(found) == [
        (UNKNOWN_SIDE, "schema.json#/$defs/A"),
        (MALFORMED_KEYWORD, "schema.json#/$defs/B/anyOf/0"),
    ]
    assert "'x-side' names the side 'tower', and nothing declares it." in str(found[0])


def test_a_mark_of_a_method_that_binds_nothing_is_refused() -> None:
    marked = {"type": "object", "x-method": "open", "x-side": "server"}
    assert places(faults_of({"$defs": {"Open": marked}})) == [(NO_ROLE, "schema.json#/$defs/Open")]
    assert [m.name for m in meaning({"$defs": {"Open": {**marked, "x-name": "OpenRequest"}}}).methods] == ["open"]
    twice = faults_of({"$defs": {"OpenRequest": marked, "UnlockRequest": marked}})
    assert places(twice) == [(ROLE_TAKEN, "schema.json#/$defs/UnlockRequest")]


def test_the_params_and_the_result_of_a_method_name_one_side() -> None:
    params, result = ({"type": "object", "x-method": "open", "x-side": side} for side in ("server", "client"))
    found = faults_of({"$defs": {"OpenRequest": params, "OpenResponse": result}})
    assert places(found) == [(SIDES_DIFFER, "schema.json#/$defs/OpenResponse")]
    silent = {"type": "object", "x-method": "open"}
    for pair in ((silent, result), (result, silent)):
        (method,) = meaning({"$defs": dict(zip(("OpenRequest", "OpenResponse"), pair, strict=True))}).methods
        assert method.side == "client"


def test_a_method_of_the_proxy_has_peers_that_send_and_answer_it() -> None:
    schema = {"$defs": {"OpenRequest": {"type": "object", "x-method": "open", "x-side": "proxy"}}}
    assert meaning(schema).sides == ("client", "proxy")
    judge = read_strict(documents(schema))
    assert not judge.judge({"jsonrpc": "2.0", "id": 1, "result": {}}, sender="proxy", method="open")
    assert judge.judge({"jsonrpc": "2.0", "id": 1, "method": "open"}, sender="proxy")


# --- names that people choose ----------------------------------------------------------------------------------------


def block(*tags: str) -> dict[str, Any]:
    inner = {"type": "object", "properties": {"n": {"type": "integer"}}}
    branches: list[dict[str, Any]] = [{"properties": {"type": {"const": tag}}, "required": ["type"]} for tag in tags]
    branches[-1]["properties"]["inner"] = inner
    return {"type": "object", "oneOf": branches}


@pytest.mark.parametrize("tags", [("text", "image"), ("sound", "text", "image")])
def test_a_variant_is_named_by_its_tag_wherever_it_stands(tags: tuple[str, ...]) -> None:
    names = {"Block[text]": "Words", "Block[image]/properties/inner": "Size"}
    made = bundle(documents({"$defs": {"Block": block(*tags)}}), names=names)
    assert made.definitions["Words"]["properties"]["type"] == {"const": "text"}
    assert made.definitions["ImageBlock"]["properties"]["inner"] == {"$ref": "#/$defs/Size"}


def test_a_pointer_that_counts_variants_is_refused_and_told_the_tag() -> None:
    schema = {
        "$schema": SEVENTH,
        "definitions": {"Block": block("text"), "Page": {"properties": {"top": block("a", "b")}}},
    }
    names = {
        "#/definitions/Block/oneOf/0": "A",
        "schema.json#/definitions/Block/oneOf/0/properties/inner": "B",
        "#/definitions/Page/properties/top/oneOf/1": "C",
    }
    found = faults_of(schema, names=names)
    assert {(fault.at, fault.values["instead"]) for fault in found if fault.kind == NAMED_BY_POSITION} == {
        ("#/definitions/Block/oneOf/0", "Block[text]"),
        ("schema.json#/definitions/Block/oneOf/0/properties/inner", "Block[text]/properties/inner"),
        ("#/definitions/Page/properties/top/oneOf/1", "PageTop[b]"),
    }
    assert "Sound" in names_of(
        {"$defs": {"Page": {"properties": {"top": block("a", "b")}}}}, names={"PageTop[b]": "Sound"}
    )


def test_a_union_without_tags_is_named_by_position() -> None:
    schema = {"$defs": {"Either": {"anyOf": [{**NAMED, "required": [name]} for name in ("a", "b")]}}}
    assert {"First", "EitherWithB"} <= names_of(schema, names={"#/$defs/Either/anyOf/0": "First"})


def test_pointers_of_draft_07_name_what_the_file_has_there() -> None:
    schema = {
        "$schema": SEVENTH,
        "definitions": {"Thing": {"type": "object", "properties": {"part": NAMED}}, "v2": {"Key": TEXT}},
    }
    for root in ("#/definitions", "#/$defs", "schema.json#/definitions"):
        names = {f"{root}/Thing": "Item", f"{root}/Thing/properties/part": "Piece", f"{root}/v2/Key": "Opener"}
        assert names_of(schema, names=names) == {"Item", "Piece", "Opener"}


def test_definitions_under_both_keywords_are_told_apart_by_their_pointers() -> None:
    schema = {"$schema": SEVENTH, "definitions": {"A": TEXT, "B": TEXT}, "$defs": {"A": {"type": "integer"}}}
    assert origins(schema)["A"] == "schema.json#/$defs/A"
    assert names_of(schema) == {"A", "DefinitionsA", "B"}
    assert names_of(schema, names={"#/definitions/A": "C"}) == {"A", "B", "C"}


def test_an_entry_that_matches_nothing_is_refused() -> None:
    schema = {"$schema": SEVENTH, "definitions": {"Block": block("text")}}
    for key in ("Block[image]", "Other[text]", "#/definitions/Blok", "#/$defs/Block/anyOf/0", "#"):
        assert places(faults_of(schema, names={key: "X"})) == [(UNUSED_NAME, key)]
