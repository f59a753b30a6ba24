"""Names that are free for anything, as for extensions and in maps: what peers may send under them before they have a form, and after."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

import acpgen
import commands
from acpgen.compat.findings import Report
from compat.protocols import Schema, compared, written

BASE: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {
        "GoRequest": {
            "type": "object",
            "x-method": "t/go",
            "x-side": "agent",
            "properties": {"id": {"type": "string"}},
        }
    },
}

SENT: tuple[Any, ...] = (None, True, 0, 5, -1.5, "", "tide", [], [1], {}, {"_a": 1})


def declaring(name: str, form: Any) -> Schema:
    schema = copy.deepcopy(BASE)
    schema["$defs"]["GoRequest"]["properties"][name] = form
    return schema


def accepted(schema: Schema, params: Any) -> bool:
    return jsonschema_rs.validator_for({**schema, "$ref": "#/$defs/GoRequest"}).is_valid(params)


FORMS: dict[str, Any] = {
    "anything": {},
    "true": True,
    "every type": {"type": ["null", "boolean", "number", "string", "array", "object"]},
    "integer": {"type": "integer"},
    "text": {"type": "string"},
    "object": {"type": "object"},
    "enum": {"enum": ["a", None]},
    "all but one": {"not": {"const": 5}},
    "nothing": False,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_answer_for_peers_is_that_of_a_validator_for_all_they_may_send(form: Any) -> None:
    new = declaring("_retries", form)
    is_safe = all(accepted(new, {"_retries": value}) for value in SENT)
    there, back = compared(BASE, new), compared(new, BASE)
    assert (there.wire.backward, there.wire.forward) == ("yes" if is_safe else "no", "yes")
    assert (back.wire.backward, back.wire.forward) == ("yes", "yes" if is_safe else "no")
    assert is_safe == (there.verdict == "additive") == (back.verdict == "additive")
    assert [each for each in there.findings if (each.new and "_retries" in each.new.pointer) or not is_safe]


@pytest.mark.parametrize(
    ("form", "verdict"),
    [
        ({"type": ["object", "null"]}, "additive"),
        ({"type": "object", "properties": {"token": {"type": "string"}}}, "additive"),
        ({"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]}, "risky"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "risky"),
        ({"type": "string"}, "risky"),
    ],
)
def test_meta_is_an_object_of_extensions_before_it_is_declared(form: Any, verdict: str) -> None:
    assert compared(BASE, declaring("_meta", form)).verdict == verdict
    assert compared(declaring("_meta", form), BASE).verdict == verdict


def test_a_finding_shows_the_message_that_is_refused() -> None:
    (finding,) = compared(BASE, declaring("_retries", {"type": "integer"})).findings
    assert (finding.rule, finding.severity) == ("extension-declared", "risky")
    witness: Any = finding.witness
    assert (witness.accepted_by, witness.refused_by, witness.verified) == ("old", "new", True)
    assert not isinstance(witness.value["params"]["_retries"], int)


def test_an_object_that_refuses_other_members_or_types_them_leaves_nothing_free() -> None:
    shut, typed = copy.deepcopy(BASE), copy.deepcopy(BASE)
    shut["$defs"]["GoRequest"]["additionalProperties"] = False
    typed["$defs"]["GoRequest"]["additionalProperties"] = {"type": "integer"}
    for old in (shut, typed):
        new = copy.deepcopy(old)
        new["$defs"]["GoRequest"]["properties"]["_retries"] = {"type": "integer"}
        assert compared(old, new).wire.backward == "yes"


def test_a_no_of_schema_inclusion_beside_a_yes_for_peers_says_what_it_counts() -> None:
    assert "(this includes values that no peer sends" in plain(
        compared(BASE, declaring("retries", {"type": "integer"}))
    )
    assert "this includes values" not in plain(compared(BASE, declaring("_retries", {"type": "integer"})))


def plain(report: Report) -> str:
    return " ".join(written(report, "text").split())


@pytest.mark.parametrize("name", ["_retries", "_meta"])
def test_the_repaired_schema_takes_what_old_peers_send(tmp_path: Path, name: str) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps(BASE))
    new.write_text(json.dumps(declaring(name, {"description": "Tries.", "type": "integer"})))
    assert commands.acpgen(["diff", old.name, new.name], cwd=tmp_path).returncode == 1
    assert commands.acpgen(["diff", old.name, new.name, "--fix"], cwd=tmp_path).returncode == 0
    assert commands.acpgen(["diff", old.name, new.name], cwd=tmp_path).returncode == 0


def choosing(**fallback: Any) -> Schema:
    """Params with a union that is open for tags of extensions; `fallback` are the members of what they lead to."""
    known = {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]}
    other = {"type": "object", "properties": {"kind": {"type": "string"}, **fallback}, "required": ["kind"]}
    other["not"] = {"properties": {"kind": {"const": "a"}}, "required": ["kind"]}
    schema = declaring("choice", {"$ref": "#/$defs/Choice"})
    schema["$defs"] |= {"Choice": {"anyOf": [known, {"$ref": "#/$defs/Other"}]}, "Other": other}
    return schema


META_FORM: Any = {"type": ["object", "null"], "additionalProperties": True}


def test_a_meta_that_is_declared_in_a_variant_of_extensions_is_tolerated_and_silences_nothing_else() -> None:
    text = {"type": "string"}
    assert compared(choosing(), choosing(_meta=META_FORM)).wire.backward == "yes"
    assert compared(choosing(_meta=META_FORM), choosing()).wire.forward == "yes"
    for form in (None, META_FORM):
        meta = {} if form is None else {"_meta": form}
        there, back = (
            compared(choosing(), choosing(note=text, **meta)),
            compared(choosing(note=text, **meta), choosing()),
        )
        assert (there.wire.backward, back.wire.forward) == ("no", "no")
        assert any(not isinstance(shown(each).get("note", ""), str) for each in there.findings)


def shown(finding: Any) -> Any:
    """The variant that a finding shows in its message."""
    value: Any = finding.witness.value if finding.witness is not None else {}
    return value.get("params", {}).get("choice", {})


def test_a_meta_in_an_object_that_declared_nothing_is_an_object_too() -> None:
    bare = copy.deepcopy(BASE)
    bare["$defs"]["GoRequest"]["properties"] = {}
    new = copy.deepcopy(bare)
    new["$defs"]["GoRequest"]["properties"]["_meta"] = META_FORM
    assert (compared(bare, new).wire.backward, compared(new, bare).wire.forward) == ("yes", "yes")


# --- maps, whose senders choose the names ---

MAPS: dict[str, Any] = {
    "object": {"type": "object"},
    "open": {"type": "object", "additionalProperties": True},
    "of anything": {"type": "object", "additionalProperties": {}},
    "named": {"$ref": "#/$defs/Arguments"},
}


def holding(value: Any) -> Schema:
    schema = declaring("arguments", value)
    schema["$defs"]["Arguments"] = MAPS["open"]
    return schema


@pytest.mark.parametrize("before", MAPS.values(), ids=MAPS)
@pytest.mark.parametrize("form", [{"type": "integer"}, {"type": "string", "maxLength": 1}])
def test_a_field_that_is_added_to_a_map_or_leaves_one_says_what_its_senders_may_send(before: Any, form: Any) -> None:
    after = {"type": "object", "properties": {"x": form}}
    there, back = compared(holding(before), holding(after)), compared(holding(after), holding(before))
    (finding,) = (each for each in there.findings if each.rule == "extension-declared")
    witness: Any = finding.witness
    assert (finding.severity, finding.location) == ("risky", "params.arguments.x")
    assert (witness.accepted_by, witness.refused_by, witness.verified) == ("old", "new", True)
    assert (there.wire.backward, there.wire.forward) == ("no", "yes")
    assert (back.verdict, back.wire.backward, back.wire.forward) == ("breaking", "no", "no")
    assert {each.rule for each in back.findings} - {"definition-added", "definition-removed"} == {"field-removed"}


def test_a_field_of_any_form_that_is_added_to_a_map_refuses_nothing() -> None:
    there = compared(holding(MAPS["open"]), holding({"type": "object", "properties": {"x": {}}}))
    assert (there.verdict, there.wire.backward, there.wire.forward) == ("additive", "yes", "yes")


def test_a_meta_that_leaves_a_map_or_comes_to_one_is_an_object_there_too() -> None:
    meta = {"type": "object", "properties": {"_meta": META_FORM}}
    there, back = compared(holding(MAPS["open"]), holding(meta)), compared(holding(meta), holding(MAPS["open"]))
    assert (there.wire.backward, there.wire.forward) == (back.wire.backward, back.wire.forward) == ("yes", "yes")


def test_a_definition_that_names_no_member_is_no_map_and_its_senders_send_nothing_in_it() -> None:
    before, after = (declaring("mark", {"$ref": "#/$defs/Mark"}) for _ in range(2))
    before["$defs"]["Mark"] = {"type": "object"}
    after["$defs"]["Mark"] = {"type": "object", "properties": {"x": {"type": "integer"}}}
    assert [each.rule for each in compared(before, after).findings] == ["field-added"]


# --- what extensions say where no field is read ---

STRING: Schema = {"type": "string"}
KINDS: Schema = {"type": "string", "enum": ["a"]}
LENIENT: Schema = {**STRING, "x-deserialize-default-on-error": True}


def quoted(value: Schema) -> Schema:
    """An object with a member that has this schema."""
    return {"type": "object", "properties": {"q": value}}


WRAPPED: dict[str, Callable[[Schema], Schema]] = {
    "tuple": lambda value: {"type": "array", "prefixItems": [quoted(value)]},
    "pattern": lambda value: {"type": "object", "patternProperties": {"^x": quoted(value)}},
    "condition": lambda value: {"type": "object", "if": {"required": ["m"]}, "then": quoted(value)},
    "dependent": lambda value: {"type": "object", "dependentSchemas": {"m": quoted(value)}},
    "part": lambda value: {"allOf": [value]},
}


@pytest.mark.parametrize("wrapped", WRAPPED.values(), ids=WRAPPED)
@pytest.mark.parametrize(
    ("old", "new", "keyword"),
    [
        ({**STRING, "default": "a"}, {**STRING, "default": "b"}, "default"),
        (LENIENT, STRING, "x-deserialize-default-on-error"),
    ],
    ids=["default", "leniency"],
)
def test_what_is_said_of_values_where_no_field_is_read_is_undecided(
    wrapped: Callable[[Schema], Schema], old: Schema, new: Schema, keyword: str
) -> None:
    report = compared(declaring("a", wrapped(old)), declaring("a", wrapped(new)))
    assert report.verdict in ("undecided", "risky")
    assert any(keyword in each.message or each.rule == "default-changed" for each in report.findings)
    assert compared(declaring("a", wrapped(old)), declaring("a", wrapped(old))).verdict == "identical"


def test_a_default_of_what_a_field_refers_to_and_tolerance_of_a_lone_constant_are_undecided() -> None:
    def referring(target: Schema) -> Schema:
        schema = declaring("a", {"$ref": "#/$defs/E"})
        return {**schema, "$defs": {**schema["$defs"], "E": target}}

    kept = {**KINDS, "x-unknown": "keep"}
    for old, new in (({**STRING, "default": "a"}, {**STRING, "default": "b"}), (kept, KINDS), (KINDS, kept)):
        report = compared(referring(old), referring(new))
        assert [(each.rule, each.location) for each in report.findings if each.severity != "editorial"] == [
            ("not-compared", "E")
        ]
        assert report.wire.backward == report.wire.forward == "undecided"


@pytest.mark.parametrize("is_object", [False, True])
def test_what_a_tuple_in_a_base_that_is_only_inherited_says_is_undecided(is_object: bool) -> None:
    def inheriting(default: str) -> Schema:
        item = {**STRING, "default": default}
        schema = declaring("t", {"type": "array", "prefixItems": [quoted(item) if is_object else item]})
        base = schema["$defs"]["GoRequest"].pop("properties")
        schema["$defs"]["GoRequest"]["allOf"] = [{"$ref": "#/$defs/Base"}]
        return {**schema, "$defs": {**schema["$defs"], "Base": {"type": "object", "properties": base}}}

    report = compared(inheriting("a"), inheriting("b"))
    assert ("not-compared", "Base") in [(each.rule, each.location) for each in report.findings]
    assert report.verdict == "undecided"


@pytest.mark.parametrize("is_object", [False, True])
def test_what_a_tuple_in_a_root_beside_methods_says_is_told_whatever_its_file_is_called(
    is_object: bool, tmp_path: Path
) -> None:
    def beside(default: str) -> Schema:
        item = {**STRING, "default": default}
        form = {"type": "array", "prefixItems": [quoted(item) if is_object else item]}
        return {**BASE, "type": "object", "properties": {"t": form}}

    report = compared(beside("a"), beside("b"))
    assert [each.rule for each in report.findings] == ["default-changed" if is_object else "not-compared"]
    for name, default in (("first", "a"), ("second", "b")):
        (tmp_path / f"{name}.json").write_text(json.dumps(beside(default)), "utf-8")
    renamed = acpgen.compare(tmp_path / "first.json", tmp_path / "second.json")
    assert ("not-compared", "Second") in [(each.rule, each.location) for each in renamed.findings]
    assert renamed.verdict == "undecided"


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_what_an_object_in_a_tuple_of_a_union_that_another_one_copies_says_is_undecided(is_elsewhere: bool) -> None:
    def copied(default: str) -> Schema:
        form = {"type": "array", "prefixItems": [quoted({**STRING, "default": default})]}
        a, b, c = (
            {"type": "object", "properties": {"kind": {"const": kind}}, "required": ["kind"]}
            for kind in ("a", "b", "c")
        )
        a = {**a, "properties": {"kind": {"const": "a"}, "t": form}}
        schema = declaring("outer", {"$ref": "#/$defs/Outer"})
        if is_elsewhere:
            schema["$defs"]["GoRequest"]["properties"]["inner"] = {"$ref": "#/$defs/Inner"}
        outer: Schema = {"type": "object", "properties": {"z": STRING}, "oneOf": [{"$ref": "#/$defs/Inner"}, c]}
        return {**schema, "$defs": {**schema["$defs"], "Inner": {"oneOf": [a, b]}, "Outer": outer}}

    report = compared(copied("a"), copied("b"))
    assert ("not-compared", "Inner") in [(each.rule, each.location) for each in report.findings]
    assert report.verdict == "undecided"


def test_what_only_a_new_branch_or_field_says_is_told_of_that_alone() -> None:
    lenient = {**quoted(LENIENT), "required": ["q"]}
    new = compared(BASE, declaring("a", {"type": "array", "prefixItems": [lenient]}))
    assert new.verdict == "additive"


def test_numbers_are_no_truth_values_in_defaults() -> None:
    report = compared(declaring("a", {"default": {"n": 1}}), declaring("a", {"default": {"n": True}}))
    assert [each.rule for each in report.findings] == ["default-changed"]
    same = compared(declaring("a", {"default": {"n": 1}}), declaring("a", {"default": {"n": 1.0}}))
    assert same.verdict == "editorial"
    shown = compared(declaring("a", {"examples": [1]}), declaring("a", {"examples": [True]}))
    assert shown.verdict == "editorial"


@pytest.mark.parametrize(("is_barred", "rule"), [(True, "batch-withdrawn"), (False, "batch-allowed")])
def test_a_request_that_leaves_or_enters_batches_is_risky(is_barred: bool, rule: str) -> None:
    barred = copy.deepcopy(BASE)
    barred["$defs"]["GoRequest"]["x-batch"] = "never"
    report = compared(*((BASE, barred) if is_barred else (barred, BASE)))
    assert [(each.rule, each.severity, each.method) for each in report.findings] == [(rule, "risky", "t/go")]


GATED: Schema = {"x-capability": "agent:agentCapabilities.c"}
TEXT_OR_NUMBER: Schema = {"anyOf": [STRING, {"type": "integer"}]}
QUOTED: Schema = {**quoted(STRING), "required": ["q"]}
MARKED: Schema = {"type": "object", "properties": {"k": {"const": "x"}}, "required": ["k"]}


@pytest.mark.parametrize(
    ("plain", "gated"),
    [
        (TEXT_OR_NUMBER, {"anyOf": [STRING, {"type": "integer", **GATED}]}),
        ({"$ref": "#/$defs/E"}, {"$ref": "#/$defs/E", **GATED}),
        ({"oneOf": [{"$ref": "#/$defs/E"}, STRING]}, {"oneOf": [{"$ref": "#/$defs/E", **GATED}, STRING]}),
        ({"anyOf": [TEXT_OR_NUMBER, QUOTED]}, {"anyOf": [{"anyOf": [STRING, {"type": "integer", **GATED}]}, QUOTED]}),
        ({"anyOf": [{"const": "x"}, STRING]}, {"anyOf": [{"const": "x"}, {**STRING, **GATED}]}),
        ({"anyOf": [MARKED, QUOTED]}, {"anyOf": [MARKED, {**QUOTED, **GATED}]}),
    ],
    ids=[
        "a branch",
        "items",
        "a branch that refers",
        "a branch in a branch",
        "any constant",
        "the branch without a tag",
    ],
)
def test_a_gate_where_nothing_reads_one_is_undecided(plain: Schema, gated: Schema) -> None:
    """It was editorial."""

    def listing(items: Schema) -> Schema:
        schema = declaring("a", {"type": "array", "items": items})
        return {**schema, "$defs": {**schema["$defs"], "E": {"type": "object"}}}

    for old, new in ((plain, gated), (gated, plain)):
        report = compared(listing(old), listing(new))
        assert [each.rule for each in report.findings if each.severity != "editorial"] == ["not-compared"]
        assert "x-capability" in report.findings[0].message


def test_a_gate_on_a_type_that_is_no_message_and_no_variant_is_undecided() -> None:
    def referring(target: Schema) -> Schema:
        schema = declaring("a", {"$ref": "#/$defs/E"})
        return {**schema, "$defs": {**schema["$defs"], "E": target}}

    report = compared(referring(QUOTED), referring({**QUOTED, **GATED}))
    assert [each.rule for each in report.findings if each.severity != "editorial"] == ["not-compared"]


def test_the_gate_of_a_new_branch_without_a_tag_is_not_read_and_that_is_told() -> None:
    wider = {"anyOf": [*TEXT_OR_NUMBER["anyOf"], {"type": "boolean", **GATED}]}
    report = compared(declaring("a", TEXT_OR_NUMBER), declaring("a", wider))
    assert {each.rule for each in report.findings} == {"not-compared", "type-widened"}
