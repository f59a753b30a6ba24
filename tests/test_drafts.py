"""Every draft of JSON Schema means the same after it was brought to 2020-12, and one table says what each draft knows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import pytest
from typer.testing import CliRunner

import json_schema_suite as suite
from acpgen import cli
from acpgen.bundle.bundle import Bundle, bundle
from acpgen.bundle.faults import NAME_COLLISION, SEVERAL_TARGETS, UNCLEAR_DRAFT
from acpgen.errors import Fault, FaultKind, Faults
from acpgen.input.drafts import ALL, BY_NAME, MODERN, Draft, find_draft, find_written_place, restore_keywords
from acpgen.input.faults import UNKNOWN_DIALECT, UNKNOWN_VOCABULARY
from acpgen.input.keywords import DRAFTS, TABLE
from acpgen.input.load import Document, Documents, Source, check, parse
from acpgen.input.schema_validator import Validator
from drafts_drawn import Maker
from tiers import EXTENTS

ENGINES: Final[Mapping[str, Any]] = {
    "draft-04": jsonschema_rs.Draft4Validator,
    "draft-06": jsonschema_rs.Draft6Validator,
    "draft-07": jsonschema_rs.Draft7Validator,
    "2019-09": jsonschema_rs.Draft201909Validator,
    "2020-12": jsonschema_rs.Draft202012Validator,
}
SEEDS: Final = range(120)


def named(draft: str) -> str:
    return BY_NAME[draft].address


def document(value: Any, path: str = "schema.json") -> Document:
    return Document(path, value, json.dumps(value))


def bundled(value: Any, **references: Any) -> Bundle:
    return bundle(Documents("p", (document(value),), {k: document(v, f"{k}.json") for k, v in references.items()}))


def accepts(made: Bundle, value: Any) -> bool:
    return Validator(made.schema).is_valid(value)


def faults_of(value: Any) -> tuple[Fault, ...]:
    with pytest.raises(Faults) as caught:
        bundled(value)
    return caught.value.faults


def made_or_refused(documents: Documents, expected: set[FaultKind]) -> Bundle | None:
    """The bundle, or nothing where one of the expected faults refuses it."""
    try:
        return bundle(documents)
    except Faults as caught:
        if {fault.kind for fault in caught.faults} <= expected:
            return None
        raise


# --- the public test suites ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stride", [pytest.param(6, id="each sixth"), pytest.param(1, id="each", marks=pytest.mark.exhaustive)]
)
@pytest.mark.parametrize("draft", ALL, ids=lambda draft: draft.name)
@pytest.mark.evidence(suite.REMOTES, *suite.FOLDERS.values())
def test_the_strict_judge_is_right_about_every_required_test_or_refuses_the_schema_by_name(
    draft: Draft, stride: int
) -> None:
    beside = suite.remotes(draft)
    right = refused = 0
    for name, schema, tests in list(suite.groups(draft))[::stride]:
        made = made_or_refused(Documents("suite", (document(schema),), beside), {SEVERAL_TARGETS})
        if made is None:
            refused += len(tests)
            continue
        for test in tests:
            assert accepts(made, test["data"]) is test["valid"], (name, test["description"])
            right += 1
    print(f"{draft.name}: {right} right, 0 wrong, {refused} refused by name")
    assert right > 600 // stride
    assert refused <= (6 if draft.vocabularies else 0)


# --- drawn schemas ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("whole", EXTENTS)
@pytest.mark.parametrize("draft", ALL, ids=lambda draft: draft.name)
def test_a_schema_means_in_2020_12_what_it_means_in_its_draft(draft: Draft, whole: bool) -> None:
    judged = 0
    for seed in SEEDS[:: 1 if whole else 6]:
        maker = Maker(seed, draft)
        schema = maker.document()
        if list(check(schema, "schema.json")):
            continue
        made = made_or_refused(Documents("p", (document(schema),)), {NAME_COLLISION})
        if made is None:
            continue
        engine = ENGINES[draft.name](schema)
        for value in (maker.value() for _ in range(30)):
            assert accepts(made, value) is engine.is_valid(value), (seed, schema, value)
            judged += 1
    assert judged > (2000 if whole else 250)


CLOSED: Final = {"unevaluatedProperties": False}


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"properties": {"foo": True}}], "anyOf": [{"properties": {"bar": True}, **CLOSED}]},
        {"anyOf": [{"properties": {"foo": True}}, {"properties": {"bar": True}}], **CLOSED},
        {"type": "object", "oneOf": [{"required": ["foo"]}, {"properties": {"bar": True}, **CLOSED}]},
        {"$ref": "#/$defs/Foo", "properties": {"bar": True}, **CLOSED},
        {"allOf": [{"$ref": "#/$defs/Foo"}], "oneOf": [{"properties": {"bar": True}}], **CLOSED},
        {"if": {"properties": {"foo": {"const": 1}}, "required": ["foo"]}, "then": {"required": ["bar"]}, **CLOSED},
        {"type": "object", "properties": {"inner": {"anyOf": [{"$ref": "#/$defs/Foo"}], **CLOSED}}},
    ],
)
def test_what_is_evaluated_stays_so(schema: dict[str, Any]) -> None:
    whole = {"$schema": MODERN.address, **schema, "$defs": {"Foo": {"properties": {"foo": True}, "type": "object"}}}
    made, original = bundled(whole), jsonschema_rs.Draft202012Validator(whole)
    objects: list[Any] = [{}, {"foo": 1}, {"bar": 1}, {"foo": 1, "bar": 2}, {"foo": 2, "baz": 3}, {"bar": 1, "baz": 1}]
    for value in (5, "x", None, *objects, *({"inner": each} for each in objects)):
        assert accepts(made, value) is original.is_valid(value), value


@pytest.mark.parametrize("one", [True, False, {"type": "object"}, {"not": {}}])
@pytest.mark.parametrize("other", [True, False, {"type": "object"}, {"not": {}}])
@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_a_field_that_a_union_and_its_branch_declare_meets_both(keyword: str, one: Any, other: Any) -> None:
    whole = {
        "$schema": MODERN.address,
        "properties": {"a": one},
        "allOf": [{keyword: [{"type": "object", "properties": {"a": other}}]}],
    }
    made, original = bundled(whole), jsonschema_rs.Draft202012Validator(whole)
    values: tuple[Any, ...] = ({}, {"a": {}}, {"a": 1})
    for value in values:
        assert accepts(made, value) is original.is_valid(value), value


UNNAMED: Final[list[dict[str, Any]]] = [
    {
        "allOf": [
            {
                "allOf": [{"additionalProperties": {}}],
                "oneOf": [{"properties": {"b": {}}, "additionalProperties": False}],
            }
        ]
    },
    {
        "properties": {"b": True},
        "allOf": [{"allOf": [{"type": "object", "additionalProperties": False}], "oneOf": [{"properties": {}}]}],
    },
    {
        "additionalProperties": {"type": "string"},
        "oneOf": [
            {"properties": {}, "additionalProperties": {"const": "x"}},
            {"type": "object", "required": ["a"]},
        ],
    },
    {
        "patternProperties": {"^b": {"type": "string"}},
        "additionalProperties": {"type": "string"},
        "oneOf": [{"type": "object", "patternProperties": {"^b": {"const": "x"}}}],
    },
]


@pytest.mark.parametrize("schema", UNNAMED)
def test_what_judges_the_fields_without_a_name_judges_the_same_fields(schema: dict[str, Any]) -> None:
    whole = {"$schema": MODERN.address, "type": "object", **schema}
    made, original = bundled(whole), jsonschema_rs.Draft202012Validator(whole)
    for value in ({}, {"b": None}, {"b": "x"}, {"b": "y"}, {"a": "x"}, {"a": "y"}, {"a": 1, "b": "x"}):
        assert accepts(made, value) is original.is_valid(value), value


# --- the table -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rest", [{}, CLOSED, {"then": {"required": ["b"]}}], ids=str)
def test_if_with_else_alone_is_the_union_of_both_unless_something_counts_what_they_evaluate(rest: Any) -> None:
    known = {"A": {"required": ["a"], "properties": {"a": True}}, "B": {"properties": {"b": {"type": "string"}}}}
    written = {"type": "object", "if": {"$ref": "#/$defs/A"}, "else": {"$ref": "#/$defs/B"}, **rest}
    made = bundled({"$schema": MODERN.address, "$defs": {"D": written, **known}})
    assert made.definitions["D"].keys() & {"if", "anyOf"} == ({"if"} if rest else {"anyOf"})
    judge, original = (
        jsonschema_rs.Draft202012Validator({"$ref": "#/$defs/D", "$defs": each})
        for each in (made.definitions, {"D": written, **known})
    )
    for value in ({"a": 1}, {"a": 1, "b": "x"}, {"b": "x"}, {"b": 1}, {"a": 1, "b": 1}):
        assert judge.is_valid(value) is original.is_valid(value), value


def test_the_table_names_drafts_that_are_read() -> None:
    assert tuple(draft.name for draft in ALL) == DRAFTS
    for row in TABLE:
        assert DRAFTS.index(row.since) <= DRAFTS.index(row.until)


ASSERTIONS: Final = [
    row for row in TABLE if row.role == "asserts" and not row.is_ours and row.name not in ("$ref", "then", "else")
]


@pytest.mark.parametrize("row", ASSERTIONS, ids=lambda row: row.name)
@pytest.mark.parametrize("draft", ALL, ids=lambda draft: draft.name)
def test_an_engine_knows_an_assertion_exactly_if_the_table_does(draft: Draft, row: Any) -> None:
    schema, value = REFUSING[row.name]
    if draft.name == "draft-04" and row.name in ("exclusiveMinimum", "exclusiveMaximum"):
        schema = {row.name: True, row.name.replace("exclusiveM", "m"): 1}
    if row.name == "prefixItems" or (draft.name == "draft-04" and row.name in ("items", "not", "additionalProperties")):
        schema = json.loads(json.dumps(schema).replace("false", '{"not": {}}'))
    assert ENGINES[draft.name](schema).is_valid(value) is not draft.knows(row.name)


REFUSING: Final[Mapping[str, tuple[dict[str, Any], Any]]] = {
    "type": ({"type": "string"}, 1),
    "enum": ({"enum": [1]}, 2),
    "const": ({"const": 1}, 2),
    "allOf": ({"allOf": [{"type": "string"}]}, 1),
    "anyOf": ({"anyOf": [{"type": "string"}]}, 1),
    "oneOf": ({"oneOf": [{"type": "string"}]}, 1),
    "not": ({"not": {}}, 1),
    "if": ({"if": {}, "then": {"type": "string"}}, 1),
    "minimum": ({"minimum": 2}, 1),
    "maximum": ({"maximum": 1}, 2),
    "exclusiveMinimum": ({"exclusiveMinimum": 1}, 1),
    "exclusiveMaximum": ({"exclusiveMaximum": 1}, 1),
    "multipleOf": ({"multipleOf": 2}, 1),
    "minLength": ({"minLength": 2}, "a"),
    "maxLength": ({"maxLength": 1}, "ab"),
    "pattern": ({"pattern": "b"}, "a"),
    "items": ({"items": {"type": "string"}}, [1]),
    "prefixItems": ({"prefixItems": [{"type": "string"}]}, [1]),
    "contains": ({"contains": {"type": "string"}}, [1]),
    "minContains": ({"contains": {}, "minContains": 2}, [1]),
    "maxContains": ({"contains": {}, "maxContains": 1}, [1, 1]),
    "minItems": ({"minItems": 1}, []),
    "maxItems": ({"maxItems": 0}, [1]),
    "uniqueItems": ({"uniqueItems": True}, [1, 1]),
    "unevaluatedItems": ({"unevaluatedItems": {"type": "string"}}, [1]),
    "properties": ({"properties": {"a": {"type": "string"}}}, {"a": 1}),
    "patternProperties": ({"patternProperties": {"a": {"type": "string"}}}, {"a": 1}),
    "additionalProperties": ({"additionalProperties": {"type": "string"}}, {"a": 1}),
    "propertyNames": ({"propertyNames": {"maxLength": 0}}, {"a": 1}),
    "required": ({"required": ["a"]}, {}),
    "minProperties": ({"minProperties": 1}, {}),
    "maxProperties": ({"maxProperties": 0}, {"a": 1}),
    "dependentRequired": ({"dependentRequired": {"a": ["b"]}}, {"a": 1}),
    "dependentSchemas": ({"dependentSchemas": {"a": {"type": "string"}}}, {"a": 1}),
    "unevaluatedProperties": ({"unevaluatedProperties": {"type": "string"}}, {"a": 1}),
}
"""A schema for each assertion, and a value that it refuses."""


@pytest.mark.parametrize(
    ("draft", "schema", "keyword"),
    [
        ("draft-06", {"if": {}, "then": {"type": "string"}}, "if"),
        ("draft-07", {"type": "object", "unevaluatedProperties": False}, "unevaluatedProperties"),
        ("draft-07", {"type": "object", "dependentRequired": {"a": ["b"]}}, "dependentRequired"),
        ("draft-04", {"type": "object", "const": {}}, "const"),
        ("2020-12", {"type": "object", "dependencies": {"a": ["b"]}}, "dependencies"),
        ("2019-09", {"type": "array", "prefixItems": [{"type": "string"}]}, "prefixItems"),
        ("draft-07", {"$ref": "#/definitions/Any", "required": ["b"]}, "required"),
    ],
)
def test_what_a_draft_does_not_know_means_nothing_and_is_told(draft: str, schema: Any, keyword: str) -> None:
    made = bundled({"$schema": named(draft), "definitions": {"One": schema, "Any": {}}})
    assert keyword in {note.values["keyword"] for note in made.notes}
    assert {note.at for note in made.notes} == {"schema.json#/definitions/One"}
    assert keyword not in made.definitions["One"]


def test_what_means_nothing_is_told_at_the_end_of_each_run_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    closed = {"type": "object", "unevaluatedProperties": False}
    value = {"$schema": named("draft-07"), "definitions": {**{f"A{n}": closed for n in range(5)}, "text": "no schema"}}
    (tmp_path / "one.json").write_text(json.dumps(value), "utf-8")
    for _ in range(2):
        result = CliRunner().invoke(cli.app, ["generate", "--schema", "one.json", "--target", "bundle", "--out", "out"])
        notes = [line for line in result.output.splitlines() if line.startswith("note: ")]
        assert [line.partition(": ")[2].partition(": ")[0] for line in notes[:3]] == [
            f"one.json#/definitions/A{n}" for n in range(3)
        ]
        assert notes[3] == "note: 'unevaluatedProperties' has no meaning in draft-07 at 2 more places."
        assert notes[4].startswith("note: one.json#/definitions/text: this is not a schema")


def test_a_keyword_of_older_drafts_needs_a_draft_that_is_named() -> None:
    card = {"type": "object", "dependencies": {"number": ["expires"]}}
    assert faults_of({"$defs": {"Card": card}}) == (
        UNCLEAR_DRAFT(at="schema.json#/$defs/Card", keyword="dependencies"),
    )
    made = bundled({"$schema": named("draft-07"), "definitions": {"Card": card}})
    assert made.definitions["Card"]["dependentRequired"] == {"number": ["expires"]}


@pytest.mark.parametrize("written", ["{}", "{}#"])
@pytest.mark.parametrize("draft", ALL, ids=lambda draft: draft.name)
def test_a_draft_is_known_by_http_and_https_with_an_empty_fragment_and_without(draft: Draft, written: str) -> None:
    rest = written.format(draft.address.partition("://")[2])
    assert [find_draft({"$schema": f"{scheme}://{rest}"}, {}) for scheme in ("http", "https")] == [draft, draft]


def test_each_document_is_checked_against_the_meta_schema_of_its_draft() -> None:
    limits: dict[str, Any] = {"type": "number", "minimum": 1, "exclusiveMinimum": True}
    assert not list(check({"$schema": named("draft-04"), **limits}, "x.json"))
    for draft in ALL[1:]:
        (fault,) = check({"$schema": draft.address, **limits}, "x.json")
        assert fault.at == "x.json#/exclusiveMinimum"
        assert draft.name in str(fault)


# --- meta-schemas of one's own ---------------------------------------------------------------------------------------

OWN: Final = "https://example.com/dialect"


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ({"$schema": named("draft-07")}, "draft-07"),
        ({"$schema": named("draft-04")}, "draft-04"),
        ({"$schema": OWN, "properties": {"if": {}, "then": {}, "else": {}}}, "draft-07"),
        ({"$schema": MODERN.address}, "2020-12"),
        ({}, "2020-12"),
    ],
)
def test_a_meta_schema_that_is_given_tells_the_draft(meta: Any, expected: str) -> None:
    found = find_draft({"$schema": f"{OWN}#"}, {OWN: meta})
    assert found is not None
    assert found.name == expected


def test_a_meta_schema_in_the_folder_tells_the_draft_of_the_files_that_name_it() -> None:
    meta = {"$schema": named("draft-07"), "$id": f"{OWN}#", "type": "object"}
    files = {"a.json": {"$schema": OWN, "definitions": {"A": {"items": [{"type": "string"}]}}}, "meta.json": meta}
    source = Source("p", "p", tuple((path, json.dumps(value).encode()) for path, value in files.items()))
    assert bundle(parse(source)).definitions["A"] == {"prefixItems": [{"type": "string"}]}


def test_a_meta_schema_that_is_not_given_is_refused_with_what_to_do() -> None:
    (fault,) = check({"$schema": OWN}, "x.json")
    assert fault == UNKNOWN_DIALECT(at="x.json#/$schema", dialect=OWN)
    assert "--ref URL=FILE" in str(fault)
    assert list(check({"$schema": OWN}, "x.json", {OWN: {"$schema": "https://example.com/other"}})) == [fault]
    assert list(check({"$schema": OWN}, "x.json", {OWN: {"$schema": OWN}})) == [fault]


def test_keywords_of_a_vocabulary_that_is_left_out_mean_nothing() -> None:
    core, applicator = (f"{MODERN.vocabularies}{name}" for name in ("core", "applicator"))
    meta = document({"$schema": MODERN.address, "$id": OWN, "$vocabulary": {core: True, applicator: True}}, "meta.json")
    value = {"$schema": OWN, "$defs": {"A": {"properties": {"a": {"type": "string"}}}}}
    made = bundle(Documents("p", (document(value),), {OWN: meta}))
    assert made.definitions["A"] == {"properties": {"a": {}}}
    assert [note.at for note in made.notes] == ["schema.json#/$defs/A/properties/a"]
    needy: dict[str, Any] = {**value, "$vocabulary": {}}
    wanting: dict[str, Any] = {
        "$schema": MODERN.address,
        "$vocabulary": {core: True, "https://example.com/units": True, "urn:x": False},
    }
    assert list(check(needy, "x.json", {OWN: wanting})) == [
        UNKNOWN_VOCABULARY(at="x.json#/$schema", vocabulary="https://example.com/units")
    ]


# --- places ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("#/$defs/A/prefixItems/0/type", "#/definitions/A/items/0/type"),
        ("#/$defs/A/items/type", "#/definitions/A/additionalItems/type"),
        ("#/definitions/A/items/0", "#/definitions/A/items/0"),
        ("#/$defs/B/dependentRequired/a", "#/definitions/B/dependencies/a"),
        ("#/$defs/B/exclusiveMinimum", "#/definitions/B/exclusiveMinimum"),
        ("#/$defs/C/items/items/type", "#/definitions/C/items/items/type"),
        ("#/$defs/B/allOf/3", "#/definitions/B"),
    ],
)
def test_a_place_of_the_bundle_is_told_as_the_file_has_it(place: str, expected: str) -> None:
    text = {"type": "string"}
    value = {
        "definitions": {
            "A": {"items": [text], "additionalItems": text},
            "B": {"dependencies": {"a": ["b"]}, "minimum": 1, "exclusiveMinimum": True},
            "C": {"items": {"items": text}},
        }
    }
    assert find_written_place(f"f.json{place}", {"f.json": value}) == f"f.json{expected}"
    assert find_written_place("Union[tag]", {"f.json": value}) == "Union[tag]"
    assert restore_keywords("f.json#/$defs/B/allOf/3", {"f.json": value}) == "f.json#/definitions/B/allOf/3"


def test_faults_and_origins_are_told_as_the_file_has_them() -> None:
    choice = {"type": "object", "properties": {"a": {"enum": ["x", "y"]}}}
    value = {
        "$schema": named("draft-07"),
        "definitions": {"A": {"type": "array", "items": [choice], "additionalItems": choice}},
    }
    made = bundled(value)
    assert "schema.json#/definitions/A/additionalItems" in made.origins.values()
    assert not any("$defs" in at or "prefixItems" in at for at in made.origins.values())


# --- keys that mean nothing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draft", "keyword", "value"),
    [
        ("draft-07", "deprecated", "use the other one"),
        ("draft-04", "readOnly", "in part"),
        ("draft-04", "writeOnly", 1),
        ("draft-07", "contentSchema", 5),
        ("draft-04", "examples", "like this"),
        ("draft-06", "$comment", ["a", "b"]),
    ],
)
def test_an_annotation_that_the_draft_does_not_know_may_say_anything_and_is_told(
    draft: str, keyword: str, value: Any
) -> None:
    made = bundled({"$schema": named(draft), "properties": {"a": {"type": "string", keyword: value}}})
    assert [(note.at, keyword in note.join_text(), draft in note.join_text()) for note in made.notes] == [
        ("schema.json#/properties/a", True, True)
    ]
    assert accepts(made, {"a": "x"})
    assert not accepts(made, {"a": 1})


def test_an_annotation_that_has_the_kind_of_value_that_later_drafts_give_it_is_kept() -> None:
    made = bundled({"$schema": named("draft-07"), "properties": {"a": {"type": "string", "deprecated": True}}})
    assert not made.notes
    assert made.definitions["Schema"]["properties"]["a"]["deprecated"] is True


def test_a_key_that_is_no_keyword_is_told_with_what_was_meant() -> None:
    field = {"type": "string", "minLenght": 2, "nullable": True, "x-vendor": 1, "tsType": "A"}
    made = bundled({"type": "object", "propertis": {}, "properties": {"a": field, "b": {"tsType": "B"}}})
    assert [str(note) for note in made.notes] == [
        "schema.json#: 'propertis' is not a keyword of JSON Schema, and has no effect. Did you mean 'properties'?",
        "schema.json#/properties/a: 'minLenght' is not a keyword of JSON Schema, and has no effect. Did you mean 'minLength'?",
        (
            "schema.json#/properties/a: 'nullable' is not a keyword of JSON Schema, and has no effect. "
            "Did you mean null in 'type' (OpenAPI 3.0 alone has 'nullable')?"
        ),
        "schema.json#/properties/a: 'tsType' is not a keyword of JSON Schema, and has no effect, here and at 1 more place.",
    ]


def test_a_file_that_holds_definitions_alone_may_have_members_of_its_own_but_no_misspelt_keyword() -> None:
    made = bundled({"version": "1.0", "defintions": {}, "$defs": {"A": {"type": "string"}}})
    assert [str(note) for note in made.notes] == [
        "schema.json#: 'defintions' is not a keyword of JSON Schema, and has no effect. Did you mean 'definitions'?"
    ]


def test_a_file_that_holds_definitions_alone_is_told_what_looks_like_schemas_and_is_not_read() -> None:
    document = {
        "swagger": "2.0",
        "paths": {"/a": {"schema": {"$ref": "#/definitions/A"}}},
        "definitions": {"A": {"$ref": "#/parts/B"}},
        "parts": {"B": {"type": "string"}},
    }
    assert [str(note) for note in bundled(document).notes] == [
        "schema.json#: 'paths' is not a keyword of JSON Schema, and has no effect."
    ]
