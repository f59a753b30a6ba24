"""Repairs: what ends a finding, judged by the comparison itself, and by a JSON Patch that somebody else applies."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

import schema_inclusion
import tiers
from acpgen.compat.compare import compare, compare_inputs, compare_sides, read_inputs, read_side
from acpgen.compat.findings import Finding, Mode, Report
from acpgen.compat.repair.repair import RepairResult, repair, with_texts
from acpgen.compat.report_cache import Comparer
from acpgen.compat.sources import Input
from compat.protocols import ROOT, documents, go, protocol
from test_edits import applied

CASES = Path(__file__).parent / "cases"
BETTER = ("identical", "editorial", "additive")

KEPT = frozenset(
    {
        *("alternative-removed/record", "closed-field-added/gated-by-a-known-capability"),
        *("closed-variant-removed/closed", "field-removed/closed", "field-removed/open", "extension-undeclared/typed"),
        *("method-kind-changed/to-notification", "method-kind-changed/to-request"),
        *("method-removed/notification", "method-removed/request"),
        *("required-field-added/in-a-list", "required-field-added/params", "required-field-added/result"),
        *("required-field-added/waived", "required-field-removed/params", "untagged-variant-removed/closed"),
        *("variant-removed/open", "variant-removed/taken-for-the-default", "value-removed/open"),
        *("field-renamed/optional", "field-renamed/required-and-retyped", "policy-applied/deprecated"),
        *("policy-applied/experimental", "waiver-expired/date", "waiver-unused/another-fingerprint"),
    }
)
"""The cases in which what the change was made for remains; in all others a repair takes the change back."""


def repaired_pair(old: Any, new: Any, mode: Mode = "protocol") -> RepairResult:
    sides = read_inputs(old, new, mode=mode)
    comparing = Comparer(mode, unstable=False)
    return repair(comparing(*sides), *sides, lambda new: comparing(sides[0], new))


@lru_cache(maxsize=64)
def outcome(name: str) -> RepairResult:
    case = CASES / name
    return repaired_pair(case / "old.json", case / "new.json", mode_of(name))


def mode_of(name: str) -> Mode:
    return "language" if name.startswith("language-") else "protocol"


def names() -> list[str]:
    return [f"{path.parent.parent.name}/{path.parent.name}" for path in sorted(CASES.glob("*/*/old.json"))]


def bad(report: Report) -> list[Finding]:
    return [each for each in report.findings if each.severity in ("breaking", "risky")]


@pytest.mark.parametrize("name", tiers.sample(names(), 25))
def test_every_breaking_or_risky_finding_of_a_case_is_repaired(name: str) -> None:
    for finding in outcome(name).report.findings:
        if finding.severity in ("breaking", "risky"):
            assert finding.repair is not None, finding.no_repair
            assert finding.repair.keeps_change == (name in KEPT), finding.repair.description
            assert finding.repair.keeps_change != bool(finding.repair.why_not_kept), (
                "why a change cannot be kept is said, and only then"
            )
        else:
            assert (finding.repair, finding.no_repair) == (None, "")


def test_a_repair_names_the_value_that_is_kept_and_not_the_field_around_it(tmp_path: Path) -> None:
    for name, values in (("old", ["fast", "slow"]), ("new", ["fast"])):
        schema = protocol({"GoRequest": go({"mode": {"type": "string", "enum": values}})})
        (tmp_path / f"{name}.json").write_text(json.dumps(schema))
    (finding,) = repaired_pair(tmp_path / "old.json", tmp_path / "new.json").report.findings
    assert finding.repair is not None and finding.repair.description == "Keep 'slow' until the next major version."


@pytest.mark.parametrize("name", tiers.sample(names(), 25))
def test_the_patch_of_a_repair_ends_its_finding_and_brings_none(name: str, tmp_path: Path) -> None:
    case = CASES / name
    whole = outcome(name).report
    new = json.loads((case / "new.json").read_text())
    for finding in bad(whole):
        assert finding.repair is not None
        (file,) = finding.repair.files
        (tmp_path / "new.json").write_text(json.dumps(applied(new, list(file.patch))))
        again = compare(case / "old.json", tmp_path / "new.json", mode=mode_of(name))
        before, after = (sorted(each.rule for each in bad(report)) for report in (whole, again))
        assert len(after) < len(before)
        assert set(after) <= set(before)
        assert finding.fingerprint not in {each.fingerprint for each in bad(again)}


@pytest.mark.parametrize("name", tiers.sample(names(), 25))
def test_all_repairs_together_leave_a_change_that_breaks_nobody(name: str, tmp_path: Path) -> None:
    found = outcome(name)
    if not bad(found.report):
        assert found.report.fix is None
        assert found.texts == {}
        return
    assert found.report.fix is not None
    (text,) = found.texts.values()
    (tmp_path / "new.json").write_text(text)
    again = compare(CASES / name / "old.json", tmp_path / "new.json", mode=mode_of(name))
    assert again.verdict == found.report.fix.verdict
    assert again.verdict in BETTER
    (file,) = found.report.fix.files
    assert applied(json.loads((CASES / name / "new.json").read_text()), list(file.patch)) == json.loads(text)


@pytest.mark.parametrize("name", tiers.sample(names(), 25))
def test_the_suggestions_of_a_repair_are_its_patch(name: str) -> None:
    text = (CASES / name / "new.json").read_text()
    for finding in bad(outcome(name).report):
        assert finding.repair is not None
        (file,) = finding.repair.files
        lines = text.splitlines()
        for each in sorted(file.suggestions, key=lambda each: -each.first_line):
            lines[each.first_line - 1 : each.last_line] = each.text.split("\n")
        assert json.loads("\n".join(lines)) == applied(json.loads(text), list(file.patch))


# --- what a repair is ------------------------------------------------------------------------------------------------


def pair(tmp_path: Path, old: Any, new: Any) -> RepairResult:
    (tmp_path / "old.json").write_text(json.dumps(old, indent=2))
    (tmp_path / "new.json").write_text(json.dumps(new, indent=2))
    return repaired_pair(tmp_path / "old.json", tmp_path / "new.json")


def only(found: RepairResult) -> Finding:
    (finding,) = bad(found.report)
    return finding


def operations(finding: Finding) -> list[Any]:
    assert finding.repair is not None, finding.no_repair
    return [operation for file in finding.repair.files for operation in file.patch]


def test_a_field_that_is_made_optional_gets_its_default_back(tmp_path: Path) -> None:
    old = protocol({"GoRequest": go({"depth": {"type": "integer", "default": 3}})})
    new = protocol({"GoRequest": go({"depth": {"type": "integer"}}, ("depth",))})
    finding = only(pair(tmp_path, old, new))
    at = "/$defs/GoRequest"
    assert operations(finding) == [
        {"op": "add", "path": f"{at}/properties/depth/default", "value": 3},
        {"op": "remove", "path": f"{at}/required"},
    ]


def test_a_renamed_field_stays_beside_the_new_one(tmp_path: Path) -> None:
    old = protocol({"GoRequest": go({"cwd": {"type": "string"}})})
    new = protocol({"GoRequest": go({"folder": {"type": "string", "x-was": ["cwd"]}})})
    finding = only(pair(tmp_path, old, new))
    assert operations(finding) == [
        {"op": "add", "path": "/$defs/GoRequest/properties/cwd", "value": {"type": "string", "deprecated": True}}
    ]
    assert finding.repair is not None
    assert finding.repair.keeps_change


def test_a_new_variant_of_a_closed_union_is_sent_only_to_peers_that_advertise_it(tmp_path: Path) -> None:
    def block(*tags: str) -> Any:
        branches = [{"type": "object", "properties": {"type": {"const": tag}}, "required": ["type"]} for tag in tags]
        capabilities = {"type": "object", "properties": {"image": {"type": "boolean"}}}
        answer = {"type": "object", "properties": {"agentCapabilities": capabilities}}
        exchange: Any = {"InitializeRequest": {"type": "object"}, "InitializeResponse": answer}
        marks: Any = {"x-method": "initialize", "x-side": "agent"}
        messages = {name: {**each, **marks} for name, each in exchange.items()}
        return protocol({"GoRequest": go({"block": {"oneOf": branches}}), **messages})

    found = pair(tmp_path, block("text"), block("text", "audio-clip"))
    repair = only(found).repair
    assert repair is not None and repair.keeps_change
    gate = "agent:agentCapabilities.audioClip"
    assert repair.description == f"Send 'audio-clip' only to peers that advertise the new capability {gate}."
    assert {"op": "add", "path": "/$defs/GoRequest/properties/block/oneOf/1/x-capability", "value": gate} in operations(
        only(found)
    )
    assert found.report.fix is not None and found.report.fix.verdict == "additive"


def test_a_finding_that_nothing_can_end_says_that_no_repair_is_known() -> None:
    case = CASES / "default-changed" / "value"
    report = compare(case / "old.json", case / "new.json")
    sides = read_inputs(case / "new.json", case / "new.json")
    found = repair(report, *sides, lambda new: compare_inputs(sides[0], new))
    assert only(found).no_repair.startswith("No repair is known for this rule")


def test_what_comes_back_brings_the_definitions_that_it_refers_to(tmp_path: Path) -> None:
    more = {"A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}}, "B": {"type": "string"}}
    old = protocol({"GoRequest": go({"a": {"$ref": "#/$defs/A"}}), **more})
    new = protocol({"GoRequest": go({"b": {"type": "string"}})})
    found = pair(tmp_path, old, new)
    (text,) = found.texts.values()
    assert json.loads(text)["$defs"]["B"] == {"type": "string"}
    assert found.report.fix is not None
    assert found.report.fix.verdict in BETTER


def test_one_cause_in_many_messages_has_one_repair(tmp_path: Path) -> None:
    def both_ways(size: int) -> Any:
        shared = {"Shared": {"type": "string", "maxLength": size}}
        fields = {"one": {"$ref": "#/$defs/Shared"}, "two": {"$ref": "#/$defs/Shared"}}
        return protocol({"GoRequest": go(fields), **shared})

    found = pair(tmp_path, both_ways(10), both_ways(5))
    patches = {json.dumps(operations(each)) for each in bad(found.report)}
    assert patches == {json.dumps([{"op": "replace", "path": "/$defs/Shared/maxLength", "value": 10}])}


def test_a_repair_leaves_what_breaks_nobody(tmp_path: Path) -> None:
    old = protocol({"GoRequest": go({"a": {"type": "string", "maxLength": 9}})})
    new = protocol({"GoRequest": go({"a": {"type": "string", "maxLength": 5}, "more": {"type": "string"}})})
    found = pair(tmp_path, old, new)
    assert operations(only(found)) == [{"op": "replace", "path": "/$defs/GoRequest/properties/a/maxLength", "value": 9}]
    assert found.report.fix is not None
    assert found.report.fix.verdict == "additive"


def test_earlier_drafts_get_no_keyword_that_they_do_not_know(tmp_path: Path) -> None:
    def draft(properties: Any) -> Any:
        return {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": {"Thing": {"type": "object", "properties": properties, "additionalProperties": False}},
        }

    found = pair(tmp_path, draft({"a": {"type": "string"}, "b": {}}), draft({"b": {}}))
    assert operations(only(found)) == [
        {"op": "add", "path": "/definitions/Thing/properties/a", "value": {"type": "string"}}
    ]


def test_an_openrpc_document_is_repaired_at_the_params_of_the_method(tmp_path: Path) -> None:
    def document(*names: str, more: bool) -> Any:
        params = [{"name": name, "required": True, "schema": {"type": "string"}} for name in names]
        methods: list[Any] = [{"name": "new", "params": []}] if more else []
        methods.append({"name": "copy", "params": params, "result": {"name": "done", "schema": {"type": "boolean"}}})
        return {"openrpc": "1.3.2", "info": {"title": "Files", "version": "1"}, "methods": methods}

    old, new = document("from", "to", more=False), document("to", "from", more=True)
    found = pair(tmp_path, old, new)
    assert operations(only(found)) == [
        {"op": "replace", "path": "/methods/1/params", "value": old["methods"][0]["params"]}
    ]


def test_a_folder_of_files_is_repaired_file_by_file(tmp_path: Path) -> None:
    def written(side: str, thing: Any) -> Path:
        folder = tmp_path / side
        folder.mkdir()
        whole = protocol({"GoRequest": go({"thing": {"$ref": "thing.json#/$defs/Thing"}})})
        (folder / "go.json").write_text(json.dumps(whole, indent=2))
        part = {"$schema": whole["$schema"], "$defs": {"Thing": thing}}
        (folder / "thing.json").write_text(json.dumps(part, indent=2))
        return folder

    old = written("old", {"type": "string", "maxLength": 9})
    found = repaired_pair(old, written("new", {"type": "string", "maxLength": 5}))
    assert list(found.texts) == ["thing.json"]
    repair = only(found).repair
    assert repair is not None
    (patch,) = repair.files
    assert patch.file.endswith("new/thing.json")


def test_without_a_budget_each_finding_says_that_it_was_spent(tmp_path: Path) -> None:
    case = CASES / "required-field-added" / "params"
    sides = read_inputs(case / "old.json", case / "new.json")
    report = compare_inputs(*sides)
    found = repair(report, *sides, lambda new: compare_inputs(sides[0], new), budget=0)
    assert only(found).repair is None
    assert "budget" in only(found).no_repair
    assert found.report.fix is None


def test_the_outcome_is_the_same_each_time() -> None:
    name = "tag-renamed/closed"
    case = CASES / name
    again = repaired_pair(case / "old.json", case / "new.json")
    assert again.texts == outcome(name).texts


def test_what_another_new_side_says_as_the_last_one_did_is_not_asked_about_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answered(size: int) -> Any:
        fields = {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/$defs/B"}}
        limits = {name: {"type": "string", "maxLength": size} for name in ("A", "B")}
        return protocol({"GoRequest": go(fields), **limits})

    old, new, mended = answered(9), answered(5), answered(5)
    mended["$defs"]["A"]["maxLength"] = 9
    asked: list[str] = []

    def counted(method: Any, asked: list[str]) -> Any:
        def ask(*args: Any, **how: Any) -> Any:
            asked.append("")
            return method(*args, **how)

        return ask

    for name in ("include", "include_back"):
        monkeypatch.setattr(schema_inclusion.Comparer, name, counted(getattr(schema_inclusion.Comparer, name), asked))
    sides = read_inputs(documents(old, "old"), documents(new, "new"))
    first = read_side(sides[0], unstable=False)
    counts: list[int] = []
    for each in (new, new, mended):
        asked.clear()
        report = compare_sides(
            first, read_side(read_inputs(documents(old, "old"), documents(each, "new"))[1], unstable=False)
        )
        counts.append(len(asked))
        assert report.verdict == "breaking"
    assert counts[1] <= counts[2] and counts[1] < counts[0]


# --- all repairs of one report ---------------------------------------------------------------------------------------


def outcomes(error: str, *, is_new: bool) -> Any:
    """Two outcomes with an error each, among many definitions that gain an optional field and two that become narrower."""
    more: Any = {"more": {"type": "string"}} if is_new else {}
    narrow = {f"Narrow{index}": {"type": "string", "maxLength": 5 if is_new else 9} for index in range(2)}
    others = {f"Other{index}": go({"a": {"type": "string"}, **more}) for index in range(12)}
    required = ("error",) if is_new else ("error", "id")
    errors = {
        f"{error}{index}": go({"error": {"const": index}, "id": {"type": "string"}}, required) for index in range(2)
    }
    good = {"Good": go({"good": {"type": "string"}, **more}, ("good",))}
    unions = {
        f"Outcome{index}": {"anyOf": [{"$ref": "#/$defs/Good"}, {"$ref": f"#/$defs/{name}"}]}
        for index, name in enumerate(errors)
    }
    fields = {name: {"$ref": f"#/$defs/{name}"} for name in (*others, *narrow, *unions)}
    return protocol({"GoRequest": go(fields), **others, **narrow, **unions, **good, **errors})


def all_repairs(old: Path, new: Path) -> tuple[RepairResult, int]:
    """The repairs of a pair, of which all together end what each of them says; with the number of comparisons."""
    sides, made = read_inputs(old, new, unstable=True), list[Report]()
    comparing = Comparer("protocol", unstable=True)

    def again(side: Input) -> Report:
        made.append(comparing(sides[0], side))
        return made[-1]

    found = repair(comparing(*sides), *sides, again, unstable=True)
    count = len(made)
    said = {each.fingerprint for each in bad(found.report) if each.repair is not None}
    assert found.report.fix is not None and found.report.fix.ended == len(said)
    (text,) = found.texts.values()
    (document,) = sides[1].documents.documents
    left = again(with_texts(sides[1], {document.path: text}))
    assert said.isdisjoint(each.fingerprint for each in bad(left))
    return found, count


def test_all_repairs_together_end_what_each_ends(tmp_path: Path) -> None:
    old, new = outcomes("Error", is_new=False), outcomes("Failure", is_new=True)
    for name, schema in (("old", old), ("new", new)):
        (tmp_path / f"{name}.json").write_text(json.dumps(schema, indent=2))
    found, count = all_repairs(tmp_path / "old.json", tmp_path / "new.json")
    assert [each.no_repair for each in bad(found.report) if each.repair is None] == []
    assert max(len(operations(each)) for each in bad(found.report)) <= 3
    assert found.report.fix is not None and found.report.fix.verdict == "additive"
    assert count <= 14


@pytest.mark.exhaustive
def test_all_repairs_of_two_releases_together_end_what_each_ends() -> None:
    releases = ROOT / "schema" / "releases" / "mcp"
    found, count = all_repairs(releases / "2025-06-18.json", releases / "2025-11-25.json")
    assert [each.no_repair for each in bad(found.report) if each.repair is None] == []
    assert count <= 100


# --- fields of variants ----------------------------------------------------------------------------------------------


def union(agent: Any, shared: Any, *more: Any) -> Any:
    """A protocol whose request holds a union: its variant refers to a definition, and the object around it has properties too."""
    branch = {"properties": {"type": {"const": "agent"}}, "required": ["type"], "$ref": "#/$defs/Agent"}
    method = {"type": "object", **shared, "anyOf": [*more, branch]}
    return protocol({"GoRequest": go({"method": {"$ref": "#/$defs/Method"}}), "Method": method, "Agent": agent})


def record(name: str, **more: Any) -> Any:
    return {"type": "object", "properties": {name: {"type": "string"}, **more}, "required": [name]}


def test_a_field_in_what_a_variant_refers_to_is_kept_there(tmp_path: Path) -> None:
    found = pair(tmp_path, union(record("id"), {}), union(record("methodId"), {}))
    kept = {"op": "add", "path": "/$defs/Agent/properties/id", "value": {"type": "string", "deprecated": True}}
    assert kept in [operation for each in bad(found.report) for operation in operations(each)]
    assert found.report.fix is not None
    assert found.report.fix.verdict == "additive"


def test_a_field_around_a_union_is_shown_and_repaired_where_it_is_declared(tmp_path: Path) -> None:
    other = {"properties": {"type": {"const": "other"}}, "required": ["type"]}
    found = pair(tmp_path, union(record("a"), record("id")), union(record("a"), record("newId"), other))
    places = {spot.pointer for each in bad(found.report) for spot in (each.old, each.new) if spot is not None}
    assert {"/$defs/Method/properties/id", "/$defs/Method/properties/newId"} <= places
    assert all(each.repair is not None for each in bad(found.report))
    assert found.report.fix is not None
    assert found.report.fix.verdict == "additive"


def test_what_two_files_call_differently_is_not_repaired_by_turning_one_definition_into_another(tmp_path: Path) -> None:
    old = protocol({"GoRequest": go({"a": {"$ref": "#/$defs/A"}}), "A": record("x"), "B": record("y")})
    new = protocol({"GoRequest": go({"a": {"$ref": "#/$defs/B"}}), "A": record("x"), "B": record("y")})
    for finding in bad(pair(tmp_path, old, new).report):
        assert {each["path"] for each in operations(finding)} == {"/$defs/GoRequest/properties/a/$ref"}


def test_a_new_definition_with_the_name_of_an_inner_type_is_removed_with_what_refers_to_it(tmp_path: Path) -> None:
    inline = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    forms = [{"type": "object", "properties": {"mode": {"const": tag}}, "required": ["mode"]} for tag in ("b", "c")]
    old = protocol({"GoRequest": go({"where": inline})})
    new = protocol({"GoRequest": go({"where": {"$ref": "#/$defs/GoRequestWhere"}}), "GoRequestWhere": {"anyOf": forms}})
    found = pair(tmp_path, old, new)
    assert [each.no_repair for each in bad(found.report) if each.repair is None] == []
    assert found.report.fix is not None
    assert found.report.fix.verdict in BETTER


def test_a_finding_that_only_gets_another_name_is_not_gone(tmp_path: Path) -> None:
    """A list that gains the properties of the object it replaced is a type of its own, and refuses the object all the same."""
    inner = {"type": "object", "properties": {"c": {"type": "string"}}, "required": ["c"]}
    listed = {"type": "array", "items": {"type": "string"}, "maxItems": 2}
    old, new = (
        protocol({"GoRequest": go({"t": {"$ref": "#/$defs/T"}}), "T": go({"b": each})}) for each in (inner, listed)
    )
    found = pair(tmp_path, old, new)
    assert found.report.fix is not None
    assert found.report.fix.verdict in BETTER
