"""What references lead to: addresses, anchors, dynamic references with one target, meta-schemas, and what --ref gives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import pytest
from typer.testing import CliRunner

import acpgen
import evidence
from acpgen import cli
from acpgen.bundle.bundle import Bundle, bundle
from acpgen.bundle.faults import SEVERAL_TARGETS
from acpgen.errors import Fault, Faults
from acpgen.input.faults import BAD_SETTING, DANGLING_REFERENCE, REFERENCE_NOT_GIVEN, TOO_LARGE
from acpgen.input.load import LARGEST, Document, Documents, find_meta_schema, load
from acpgen.meaning.understanding import understand

MODERN: Final = "https://json-schema.org/draft/2020-12/schema"
SEVENTH: Final = "http://json-schema.org/draft-07/schema#"
FOURTH: Final = "http://json-schema.org/draft-04/schema#"
TEXT: Final = {"type": "string"}
COMMON: Final = "https://example.com/common.json"


def documents(files: Mapping[str, Any], references: Mapping[str, Any] | None = None) -> Documents:
    made = tuple(Document(path, value, json.dumps(value)) for path, value in sorted(files.items()))
    beside = {url: Document(f"beside{n}.json", value, "") for n, (url, value) in enumerate((references or {}).items())}
    return Documents("p", made, beside)


def bundled(value: Any, references: Mapping[str, Any] | None = None, **others: Any) -> Bundle:
    return bundle(
        documents({"schema.json": value, **{f"{name}.json": one for name, one in others.items()}}, references)
    )


def faults_of(value: Any, references: Mapping[str, Any] | None = None) -> tuple[Fault, ...]:
    with pytest.raises(Faults) as caught:
        bundled(value, references)
    return caught.value.faults


def origin(made: Bundle, definition: str, field: str) -> str:
    """The place that the type of a field comes from."""
    return made.origins[made.definitions[definition]["properties"][field]["$ref"].removeprefix("#/$defs/")]


# --- identifiers and anchors -----------------------------------------------------------------------------------------

NESTED: Final = {
    "$schema": MODERN,
    "$id": "https://example.com/root.json",
    "$defs": {
        "Use": {
            "properties": {
                "relative": {"$ref": "inner/one.json"},
                "absolute": {"$ref": "https://example.com/inner/one.json"},
                "anchor": {"$ref": "inner/one.json#part"},
                "pointer": {"$ref": "inner/one.json#/properties/p"},
                "own": {"$ref": "#top"},
            }
        },
        "One": {
            "$id": "inner/one.json",
            "type": "object",
            "properties": {"p": {"type": "object", "$anchor": "part", "properties": {"q": {"$ref": "two.json"}}}},
        },
        "Two": {"$id": "inner/two.json", "type": "string"},
        "Top": {"$anchor": "top", "type": "number"},
    },
}


@pytest.mark.parametrize(
    ("field", "place"),
    [
        ("relative", "#/$defs/One"),
        ("absolute", "#/$defs/One"),
        ("anchor", "#/$defs/One/properties/p"),
        ("pointer", "#/$defs/One/properties/p"),
        ("own", "#/$defs/Top"),
    ],
)
def test_a_reference_is_read_from_the_address_of_the_schema_around_it(field: str, place: str) -> None:
    made = bundled(NESTED)
    assert origin(made, "Use", field) == f"schema.json{place}"
    (inner,) = (name for name, at in made.origins.items() if at.endswith("/properties/p"))
    assert origin(made, inner, "q") == "schema.json#/$defs/Two"
    assert "$id" not in json.dumps(made.schema)
    assert "$anchor" not in json.dumps(made.schema)


@pytest.mark.parametrize(("draft", "identifier"), [(FOURTH, "id"), (SEVENTH, "$id")])
def test_an_identifier_that_is_a_fragment_is_an_anchor_in_older_drafts(draft: str, identifier: str) -> None:
    schema = {
        "$schema": draft,
        identifier: "urn:example:root",
        "definitions": {
            "Use": {"properties": {"a": {"$ref": "#here"}, "b": {"$ref": "urn:example:root#here"}}},
            "Here": {identifier: "#here", **TEXT},
            "Hidden": {"$ref": "#here", identifier: "#nowhere"},
        },
    }
    made = bundled(schema)
    assert origin(made, "Use", "a") == origin(made, "Use", "b") == "schema.json#/definitions/Here"
    assert made.definitions["Here"] == TEXT
    schema["definitions"]["Use"]["properties"]["a"]["$ref"] = "#nowhere"  # type: ignore[index]
    assert [fault.kind for fault in faults_of(schema)] == [DANGLING_REFERENCE]


def test_a_property_called_id_is_no_identifier() -> None:
    fields = {"properties": {"id": TEXT, "$id": TEXT, "$ref": TEXT, "$anchor": TEXT}, "enum": [{"$id": "x"}]}
    made = bundled({"$schema": FOURTH, "definitions": {"A": {"id": "#a", **fields}}})
    assert made.definitions["A"] == fields


def test_files_refer_to_each_other_by_path_and_by_address() -> None:
    made = bundled(
        {"$id": "https://example.com/a.json", "$defs": {"A": {"properties": {"b": {"$ref": "b.json#/$defs/B"}}}}},
        b={"$defs": {"B": {"properties": {"a": {"$ref": "https://example.com/a.json#/$defs/A"}}}}},
    )
    assert origin(made, "A", "b") == "b.json#/$defs/B"
    assert origin(made, "B", "a") == "schema.json#/$defs/A"


def test_relative_identifiers_of_files_count_as_written_where_no_address_fits() -> None:
    files = {
        "common/thing.json": {"$id": "common/thing.json", "type": "object", "properties": {"a": TEXT}},
        "ping/event.json": {"$id": "ping$event", "properties": {"thing": {"$ref": "common/thing.json"}}},
    }
    made = bundle(documents(files))
    assert origin(made, "Event", "thing") == "common/thing.json#"


@pytest.mark.parametrize(
    "ref", ["#/$defs/A/properties/x", "#/$defs/A/anyOf/0", "#/$defs/A/not", "#/properties/properties"]
)
def test_a_reference_may_lead_to_any_schema(ref: str) -> None:
    inner = {"type": "object", "properties": {"a": TEXT}}
    value = {
        "$schema": MODERN,
        "title": "Whole",
        "properties": {"properties": inner},
        "$defs": {"A": {"properties": {"x": inner}, "anyOf": [inner], "not": inner}, "B": {"$ref": ref}},
    }
    made = bundled(value)
    name = made.definitions["B"]["$ref"].removeprefix("#/$defs/")
    assert name
    assert made.origins[name] == f"schema.json{ref}"
    assert made.definitions[name] == inner


def test_an_anchor_or_an_address_that_stands_twice_is_refused_with_its_places() -> None:
    twice = {"A": {"$ref": "#x"}, "B": {"$anchor": "x", **TEXT}, "C": {"$anchor": "x"}}
    assert faults_of({"$defs": twice}) == (
        SEVERAL_TARGETS(
            "schema.json#/$defs/A", ref="#x", keyword="$ref", places="schema.json#/$defs/B or schema.json#/$defs/C"
        ),
    )
    many = {"A": {"$ref": "#x"}, **{f"B{number}": {"$anchor": "x"} for number in range(1000)}}
    (fault,) = faults_of({"$defs": many})
    assert fault.kind == SEVERAL_TARGETS
    assert fault.join_text().count("schema.json#/$defs/B") == 4
    assert "or one of 996 more places" in fault.join_text()
    addressed = {"A": {"$ref": "urn:x:y"}, "B": {"$id": "urn:x:y", **TEXT}, "C": {"$id": "urn:x:y"}}
    assert [fault.kind for fault in faults_of({"$defs": addressed})] == [SEVERAL_TARGETS]
    del addressed["A"]
    assert set(bundled({"$defs": addressed}).definitions) == {"B", "C"}


# --- dynamic references ----------------------------------------------------------------------------------------------


def tree(*, strict: bool) -> dict[str, Any]:
    """The strict tree of the specification, which extends the open one, or that one alone."""
    nodes: dict[str, Any] = {"$id": "tree", "$dynamicAnchor": "node", "type": "object"}
    nodes["properties"] = {"data": True, "children": {"type": "array", "items": {"$dynamicRef": "#node"}}}
    if not strict:
        return {"$schema": MODERN, **nodes, "$id": "https://example.com/tree"}
    root = {
        "$id": "https://example.com/strict",
        "$dynamicAnchor": "node",
        "$ref": "tree",
        "unevaluatedProperties": False,
    }
    return {"$schema": MODERN, **root, "$defs": {"Tree": nodes}}


@pytest.mark.parametrize("is_strict", [True, False])
def test_a_dynamic_reference_with_one_target_is_a_reference(is_strict: bool) -> None:
    schema = tree(strict=is_strict)
    made, original = bundled(schema), jsonschema_rs.Draft202012Validator(schema)
    judge = jsonschema_rs.Draft202012Validator(made.schema)
    for value in ({}, {"children": [{"data": 1}]}, {"children": [{"daat": 1}]}, {"daat": 1}, {"children": [3]}):
        assert judge.is_valid(value) is original.is_valid(value), value
    assert "dynamic" not in json.dumps(made.schema)


def test_a_dynamic_reference_with_several_targets_is_refused_with_its_places() -> None:
    ends = {
        name: {"$id": name, "$ref": "list", "$defs": {"i": {"$dynamicAnchor": "i", "type": name}}}
        for name in ("string", "number")
    }
    items = {"$id": "list", "items": {"$dynamicRef": "#i"}, "$defs": {"i": {"$dynamicAnchor": "i"}}}
    (fault,) = faults_of({"$schema": MODERN, "$defs": {**ends, "list": items}})
    assert fault.kind == SEVERAL_TARGETS
    assert fault.at == "schema.json#/$defs/list/items"
    assert "can mean schema.json#/$defs/number/$defs/i or schema.json#/$defs/string/$defs/i." in fault.join_text()


def test_a_recursive_reference_leads_to_the_root_around_it() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "title": "Tree",
        "$recursiveAnchor": True,
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$recursiveRef": "#"}}},
    }
    made = bundled(schema)
    assert made.definitions["Tree"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}


def test_a_dynamic_and_a_plain_reference_stand_beside_each_other() -> None:
    made = bundled({"$defs": {"A": {"$ref": "#/$defs/B", "$dynamicRef": "#c"}, "B": {}, "C": {"$dynamicAnchor": "c"}}})
    assert made.definitions["A"] == {"$ref": "#/$defs/B", "allOf": [{"$ref": "#/$defs/C"}]}


# --- published meta-schemas ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "draft",
    ["draft-04", "draft-06", "draft-07", "draft/2019-09", "draft/2020-12"],
    ids=lambda draft: draft.split("/")[-1],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_reference_to_a_published_meta_schema_just_works(draft: str, scheme: str) -> None:
    made = bundled(
        {"$defs": {"Tool": {"properties": {"schema": {"$ref": f"{scheme}://json-schema.org/{draft}/schema#"}}}}}
    )
    judge = jsonschema_rs.Draft202012Validator({"$ref": "#/$defs/Tool", "$defs": made.schema["$defs"]})
    for inner, is_schema in (
        ({"type": "string"}, True),
        ({"minLength": -1}, False),
        ({"properties": {"a": {"type": 1}}}, False),
    ):
        assert judge.is_valid({"schema": inner}) is is_schema, inner


JUDGED: Final[tuple[Any, ...]] = (
    *({}, True, 1, {"type": "text"}, {"minLength": -1}, {"if": {"type": 1}}, {"allOf": []}, {"unevaluatedItems": 3}),
    *({"definitions": {"a": {"minimum": "1"}}}, {"$defs": {"a": {"not": 1}}}, {"dependencies": {"a": [1]}}),
)


@pytest.mark.parametrize(
    ("address", "engine"),
    [
        (FOURTH, jsonschema_rs.Draft4Validator),
        ("http://json-schema.org/draft-06/schema", jsonschema_rs.Draft6Validator),
        (SEVENTH, jsonschema_rs.Draft7Validator),
        ("https://json-schema.org/draft/2019-09/schema", jsonschema_rs.Draft201909Validator),
        (MODERN, jsonschema_rs.Draft202012Validator),
    ],
)
def test_a_meta_schema_is_a_schema_too(address: str, engine: Any) -> None:
    found = find_meta_schema(address)
    assert found is not None
    judge = jsonschema_rs.Draft202012Validator(bundled(found.value).schema)
    original = engine(found.value)
    for value in JUDGED:
        assert judge.is_valid(value) is original.is_valid(value), value


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("wild/dap.json", {"ProtocolMessage", "InitializeRequest"}),
        ("wild/nbformat-4.5.json", {"code_cell"}),
        ("wild/oas-3.1.json", {"info", "schema"}),
        ("wild/jsonrpc-meta.json", {"JSONRPCRequest"}),
        ("wild/py-cibuildwheel.json", {"enable"}),
    ],
)
def test_published_schemas_of_every_draft_go_in(name: str, types: set[str]) -> None:
    evidence.need(name)
    documents = load(evidence.path(name), references={"https://meta.json-schema.tools": "draft-07"})
    _, made = understand(documents)
    assert types <= made.definitions.keys()


def test_no_reference_is_looked_for_on_the_network() -> None:
    for ref in (
        "https://json-schema.org/learn",
        "https://example.com/a.json",
        "file:///etc/passwd",
        "../../secret.json",
    ):
        (fault,) = faults_of({"$defs": {"A": {"$ref": ref}}})
        assert fault.kind == REFERENCE_NOT_GIVEN
        assert ("--ref https://" in str(fault)) is ref.startswith("https")


# --- --ref -----------------------------------------------------------------------------------------------------------

SHARED: Final = {
    "$schema": SEVENTH,
    "definitions": {
        "Money": {"type": "object", "properties": {"unit": {"$ref": "#/definitions/Unit"}}},
        "Unit": {"enum": ["EUR", "USD"]},
        "Other": {"$ref": "elsewhere.json"},
    },
}
BILL: Final[dict[str, Any]] = {
    "$schema": MODERN,
    "$defs": {"Bill": {"properties": {"sum": {"$ref": f"{COMMON}#/definitions/Money"}}}},
}


def test_of_a_document_that_is_given_only_what_is_referred_to_becomes_a_type() -> None:
    made = bundled(BILL, {COMMON: SHARED})
    assert list(made.definitions) == ["Bill", "Money", "Unit"]
    assert made.origins["Unit"] == "beside0.json#/definitions/Unit"
    assert made.sources["beside0.json"] == SHARED


def test_a_document_that_is_given_has_a_draft_and_an_address_of_its_own() -> None:
    other = {"$schema": FOURTH, "id": "https://other.org/x.json", "minimum": 1, "exclusiveMinimum": True}
    value = {"$defs": {"A": {"properties": {"a": {"$ref": COMMON}, "b": {"$ref": "https://other.org/x.json"}}}}}
    made = bundled(value, {COMMON: other})
    assert origin(made, "A", "a") == origin(made, "A", "b") == "beside0.json#"
    assert [each for each in made.definitions.values() if "exclusiveMinimum" in each] == [{"exclusiveMinimum": 1}]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bill.json").write_text(json.dumps(BILL), "utf-8")
    (tmp_path / "common.json").write_text(json.dumps(SHARED), "utf-8")
    return tmp_path


REF: Final = ("--ref", f"{COMMON}=common.json")
COMMANDS: Final = [
    ("generate", "--schema", "bill.json", "--target", "bundle", "--out", "out"),
    ("generate", "--schema", "bill.json", "--package", "x.y", "--out", "out"),
    ("generate", "--schema", "bill.json", "--target", "docs", "--out", "out"),
    ("diff", "bill.json", "bill.json"),
    ("diff", "bill.json", "bill.json", "--mode", "language"),
    ("validate", "messages.jsonl", "--protocol", "bill.json", "--allow-unjudged"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_that_reads_schemas_takes_references(here: Path, command: tuple[str, ...]) -> None:
    (here / "messages.jsonl").write_text("", "utf-8")
    method = {"type": "object", "x-method": "pay", "x-side": "agent"}
    value = {**BILL, "$defs": {**BILL["$defs"], "PayRequest": method, "PayResponse": method}}
    (here / "bill.json").write_text(json.dumps(value), "utf-8")
    without = CliRunner().invoke(cli.app, command)
    assert without.exit_code == (0 if "language" in command else 2)  # a file is included in itself
    assert CliRunner().invoke(cli.app, [*command, *REF]).exit_code == 0


def test_lint_takes_references(here: Path) -> None:
    assert "reference-dangling" in CliRunner().invoke(cli.app, ["lint", "bill.json"]).output
    assert "reference-dangling" not in CliRunner().invoke(cli.app, ["lint", "bill.json", *REF]).output


def test_a_project_says_what_addresses_mean(here: Path) -> None:
    (here / "schema" / "p").mkdir(parents=True)
    (here / "bill.json").rename(here / "schema" / "p" / "bill.json")
    outputs = '[tool.acpgen.outputs.out]\ntarget = "bundle"\nprotocols = ["p"]\n'
    references = f'[tool.acpgen.references]\n"{COMMON}" = "common.json"\n'
    (here / "pyproject.toml").write_text(outputs + references, "utf-8")
    assert CliRunner().invoke(cli.app, ["generate"]).exit_code == 0
    assert CliRunner().invoke(cli.app, ["diff", "p", "p"]).exit_code == 0
    assert "reference-dangling" not in CliRunner().invoke(cli.app, ["lint"]).output
    changed = json.dumps(SHARED).replace("USD", "SEK")
    (here / "common.json").write_text(changed, "utf-8")
    assert CliRunner().invoke(cli.app, ["generate", "--check"]).exit_code == 1
    assert CliRunner().invoke(cli.app, ["generate"]).exit_code == 0
    assert "SEK" in (here / "out" / "p" / "schema.json").read_text("utf-8")
    (here / "other.json").write_text(changed.replace("SEK", "CHF"), "utf-8")
    assert CliRunner().invoke(cli.app, ["generate", "--ref", f"{COMMON}=other.json"]).exit_code == 0
    assert "CHF" in (here / "out" / "p" / "schema.json").read_text("utf-8")


@pytest.mark.parametrize(
    "line",
    ['"common types.json" = "common.json"', f'"{COMMON}" = 3', f'"{COMMON}#a" = "a.json"', f'"{COMMON}" = ""'],
)
def test_references_of_a_project_are_checked(here: Path, line: str) -> None:
    (here / "pyproject.toml").write_text(f"[tool.acpgen.references]\n{line}\n", "utf-8")
    result = CliRunner().invoke(cli.app, ["generate"])
    assert result.exit_code == 2
    assert "tool.acpgen.references" in result.output


@pytest.mark.parametrize(
    "given", ["common.json", "=common.json", f"{COMMON}=", f"{COMMON}#x=common.json", "x y=a.json"]
)
def test_what_is_no_reference_is_a_fault(here: Path, given: str) -> None:
    with pytest.raises(Faults) as caught:
        acpgen_references(given, here)
    assert [fault.kind for fault in caught.value.faults] == [BAD_SETTING]


def acpgen_references(given: str, start: Path) -> object:
    from acpgen.config import read_references

    return read_references([given], start)


def test_a_draft_may_stand_for_an_address(here: Path) -> None:
    own = "https://meta.example.com"
    schema = {"$schema": f"{own}/", "definitions": {"A": {"if": {}, "then": TEXT}, "B": {"$ref": own}}}
    (here / "own.json").write_text(json.dumps(schema), "utf-8")
    with pytest.raises(Faults):
        load("own.json")
    made = bundle(load("own.json", references={own: "draft-07"}))
    assert made.definitions["A"] == {"if": {}, "then": TEXT}
    assert (
        made.origins[made.definitions["B"]["$ref"].removeprefix("#/$defs/")]
        == "http://json-schema.org/draft-07/schema#"
    )


def test_a_fault_in_a_file_that_is_given_is_told_there(here: Path) -> None:
    (here / "common.json").write_text(json.dumps({**SHARED, "definitions": {"Money": {"type": "coin"}}}), "utf-8")
    result = CliRunner().invoke(cli.app, [*COMMANDS[0], *REF])
    assert result.exit_code == 2
    column = (here / "common.json").read_text("utf-8").index('"type": "coin"') + 1
    assert result.output.startswith(f"error: common.json:1:{column}#/definitions/Money")
    result = CliRunner().invoke(cli.app, [*COMMANDS[0], "--ref", f"{COMMON}=absent.json"])
    assert result.output.startswith("error: absent.json: there is no such file")


def test_the_limit_of_sizes_holds_for_all_files_together(here: Path) -> None:
    (here / "large.json").write_text(" " * (LARGEST - 100), "utf-8")
    with pytest.raises(Faults) as caught:
        load("bill.json", references={COMMON: "large.json"})
    assert [fault.kind for fault in caught.value.faults] == [TOO_LARGE]


def test_the_library_takes_references(here: Path) -> None:
    made = acpgen.generate(acpgen.load(here / "bill.json", references={COMMON: here / "common.json"}), ["bundle"])
    assert '"Money"' in made["bundle"]["schema.json"]
    report = acpgen.compare("bill.json", "bill.json", references={COMMON: "common.json"})
    assert report.verdict == "identical"


@pytest.mark.parametrize("schema", ["in/bill.json", "in"])
def test_a_file_that_is_given_and_found_beside_the_schema_is_one_document(here: Path, schema: str) -> None:
    (here / "in").mkdir()
    fields = {"sum": {"$ref": f"{COMMON}#/definitions/Money"}, "tip": {"$ref": "common.json#/definitions/Money"}}
    bill = {"$id": "https://example.com/bill.json", "$defs": {"Bill": {"properties": fields}}}
    (here / "in" / "bill.json").write_text(json.dumps(bill), "utf-8")
    common = {"$id": COMMON, "$schema": SEVENTH, "definitions": {"Money": {"type": "object"}}}
    (here / "in" / "common.json").write_text(json.dumps(common), "utf-8")
    found = bundle(load(schema, references={COMMON: here / "in" / "common.json"}))
    assert origin(found, "Bill", "sum") == origin(found, "Bill", "tip") == "common.json#/definitions/Money"
