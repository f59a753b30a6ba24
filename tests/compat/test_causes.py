"""One finding per cause: what changed at one declaration is told once, however many messages hold it."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import tiers
from acpgen.compat.check_report import as_data
from acpgen.compat.compare import compare
from acpgen.compat.findings import Finding, Report, Waiver, list_failing
from acpgen.compat.waivers import waive
from compat.protocols import CANONICAL, Schema, compared, found, go, migration, protocol, releases, written

TODAY = date(2026, 7, 1)


def method(name: str, side: str, *holds: str, schema: str = "Item") -> Schema:
    """Params and result of a request; `holds` says which of them hold the item."""
    item: Schema = go({"item": {"$ref": f"#/$defs/{schema}"}})
    plain: Schema = {"type": "object", "properties": {}}
    marks = {"x-method": name, "x-side": side}
    parts = {"Request": "params", "Response": "result"}
    stem = name.title().replace("/", "")
    return {f"{stem}{end}": {**(item if part in holds else plain), **marks} for end, part in parts.items()}


def limited(longest: int | None, *methods: Schema) -> Schema:
    limit = {} if longest is None else {"maxLength": longest}
    definitions: Schema = {"Item": go({"text": {"type": "string", **limit}})}
    for each in methods:
        definitions |= each
    return protocol(definitions)


def change(*methods: Schema, new: int = 3) -> Finding:
    (finding,) = found(compared(limited(None, *methods), limited(new, *methods)), "limit-tightened")
    return finding


A, B, C = (method(f"s/{name}", "agent", "params") for name in "abc")
BACK = method("s/back", "agent", "result")


def test_what_many_methods_reach_is_one_finding_with_all_of_them() -> None:
    finding = change(A, B, C)
    assert finding.declaration == "Item.text"
    assert finding.methods == ("s/a", "s/b", "s/c")
    assert [each.location for each in finding.reaches] == ["params.item.text"] * 3
    for reach in finding.reaches:
        assert reach.witness is not None and reach.witness.verified
        assert isinstance(reach.witness.value, dict)
        assert reach.witness.value["method"] == reach.method
    sizes = [len(json.dumps(reach.witness.value)) for reach in finding.reaches if reach.witness is not None]
    assert finding.witness == finding.reaches[0].witness
    assert sizes == sorted(sizes)


def test_every_exchange_that_fails_is_named_once() -> None:
    finding = change(A, B, BACK)
    assert sorted(finding.breaks.split("; ")) == [
        "an old agent that talks to a new client",
        "an old client that talks to a new agent",
    ]
    assert {(reach.method, reach.breaks) for reach in finding.reaches} == {
        ("s/a", "an old client that talks to a new agent"),
        ("s/b", "an old client that talks to a new agent"),
        ("s/back", "an old agent that talks to a new client"),
    }


def test_two_declarations_that_say_the_same_are_two_findings() -> None:
    twice = {"Item": go({"text": {"type": "string"}}), "Other": go({"text": {"type": "string"}})}
    tight = {name: go({"text": {"type": "string", "maxLength": 3}}) for name in twice}
    both = {**A, **method("s/b", "agent", "params", schema="Other")}
    report = compared(protocol({**twice, **both}), protocol({**tight, **both}))
    assert {each.declaration for each in found(report, "limit-tightened")} == {"Item.text", "Other.text"}


def test_what_stands_behind_null_or_in_variants_is_one_declaration() -> None:
    def schema(**limit: int) -> Schema:
        nullable = {"anyOf": [{"$ref": "#/$defs/Note"}, {"type": "null"}]}
        variants = [
            {"type": "object", "properties": {"kind": {"const": kind}, "note": nullable}, "required": ["kind"]}
            for kind in ("a", "b", "c")
        ]
        note = go({"weight": {"type": "integer", **limit}})
        params = go({"part": {"$ref": "#/$defs/Part"}})
        return protocol({"GoRequest": params, "Part": {"oneOf": variants}, "Note": note})

    (finding,) = found(compared(schema(), schema(minimum=0)), "limit-tightened")
    assert finding.declaration == "Note.weight"
    assert len(finding.reaches) == 1 or {each.method for each in finding.reaches} == {"s/go"}


def test_the_worst_message_decides_and_the_others_keep_what_happens_to_them() -> None:
    """What a capability of agents gates is held back from agents, and not from clients."""

    def schema(*values: str) -> Schema:
        gated = {"const": "c", "x-capability": "agent:agentCapabilities.c"}
        item = {"oneOf": [{"const": value} if value != "c" else gated for value in values], "type": "string"}
        initialize = method("initialize", "agent")
        initialize["InitializeResponse"] = {
            **go({"agentCapabilities": go({"c": {"type": "object"}} if "c" in values else {})}),
            "x-method": "initialize",
            "x-side": "agent",
        }
        return protocol({"Item": item, **A, **BACK, **initialize})

    (finding,) = found(compared(schema("a", "b"), schema("a", "b", "c")), "closed-value-added")
    assert finding.severity == "risky"
    assert {(each.method, each.severity) for each in finding.reaches} == {("s/back", "risky"), ("s/a", "additive")}
    assert finding.method == "s/back"


# --- waivers ---------------------------------------------------------------------------------------------------------


def waiver(finding: Finding, fingerprint: str) -> Waiver:
    return Waiver(finding.rule, fingerprint, "because", date(2026, 12, 31), at="w.toml")


def report_of(*methods: Schema) -> Report:
    return compared(limited(None, *methods), limited(3, *methods))


def test_a_waiver_stays_valid_when_another_method_comes_to_the_same_harm() -> None:
    accepted = change(A)
    assert change(A, B).fingerprint == change(A, B, C).fingerprint == accepted.fingerprint
    later = waive(report_of(A, B, C), [waiver(accepted, accepted.fingerprint)], TODAY)
    assert not list_failing(later, "risky")


def test_a_waiver_covers_neither_other_harm_nor_a_worse_change() -> None:
    accepted = change(A)
    worse = [change(A, BACK), change(A, new=2)]
    assert accepted.fingerprint not in {each.fingerprint for each in worse}
    later = waive(report_of(A, BACK), [waiver(accepted, accepted.fingerprint)], TODAY)
    assert list_failing(later, "risky")


def test_waivers_of_single_messages_accept_the_finding_once_they_name_all_of_them() -> None:
    finding = change(A, B)
    each = [waiver(finding, reach.fingerprint) for reach in finding.reaches]
    one = waive(report_of(A, B), each[:1], TODAY)
    both = waive(report_of(A, B), each, TODAY)
    assert len(list_failing(one, "risky")) == 1
    assert not list_failing(both, "risky")
    assert [reach.waived is not None for reach in found(one, finding.rule)[0].reaches] == [True, False]
    assert not one.notes and not both.notes
    assert found(both, finding.rule)[0].waived is not None


# --- real schemas ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sides",
    tiers.sample(
        [CANONICAL[:2], *((releases(name)[0], releases(name)[-1]) for name in ("v1", "v2"))],
        1,
        name=lambda sides: f"{sides[0].name} to {sides[1].name}",
    ),
)
def test_in_real_schemas_no_declaration_is_told_twice_by_one_rule(sides: Any) -> None:
    report = migration() if sides == CANONICAL[:2] else compare(*sides)
    told = [(each.rule, each.message, str(each.old), str(each.new), each.declaration) for each in report.findings]
    assert len(told) == len(set(told))
    data: Any = as_data(report)
    for finding in data["findings"]:
        reaches = finding["reaches"]
        assert finding["severity"] == reaches[0]["severity"]
        assert all(
            ("witness" in reach) == ("witness" in finding) for reach in reaches if reach["severity"] == "breaking"
        )


# --- limits ----------------------------------------------------------------------------------------------------------

TEXT: Schema = {"type": "string"}
MOVED: tuple[tuple[str, Schema, Schema], ...] = (
    ("range", {"type": "integer", "minimum": 0, "maximum": 9}, {"type": "integer", "minimum": 5, "maximum": 20}),
    ("length", {**TEXT, "minLength": 1, "maxLength": 5}, {**TEXT, "minLength": 3, "maxLength": 8}),
    ("pattern", {**TEXT, "pattern": "^a"}, {**TEXT, "pattern": "^b"}),
    ("items", {"type": "array", "items": TEXT, "minItems": 1}, {"type": "array", "items": TEXT, "maxItems": 4}),
    ("constant", {"const": True}, {"const": False}),
    ("other", {**TEXT, "not": {"const": "a"}}, {**TEXT, "not": {"const": "b"}}),
)


@pytest.mark.parametrize(("old", "new"), [each[1:] for each in MOVED], ids=[each[0] for each in MOVED])
def test_limits_that_move_both_ways_are_one_finding_that_names_both_exchanges(old: Schema, new: Schema) -> None:
    report = compared(*(protocol({"GoRequest": go({"a": each})}) for each in (old, new)))
    (finding,) = [each for each in report.findings if each.severity == "breaking"]
    assert finding.rule == "limit-changed"
    assert set(finding.reaches[0].senders) == {"old", "new"}
    assert set(finding.breaks.split("; ")) == {
        "an old client that talks to a new agent",
        "a new client that talks to an old agent",
    }
    assert (report.wire.backward, report.wire.forward) == ("no", "no")


def test_two_limits_that_tighten_one_declaration_are_one_finding() -> None:
    old, new = ({"type": "array", "items": TEXT, **limits} for limits in ({}, {"minItems": 2, "maxItems": 4}))
    report = compared(*(protocol({"GoRequest": go({"a": each})}) for each in (old, new)))
    assert len(found(report, "limit-tightened")) == 1 == len(report.findings)


def test_a_limit_that_only_one_exchange_breaks_is_told_of_that_exchange() -> None:
    old, new = {"type": "integer", "minimum": 0}, {"type": "integer", "minimum": 5}
    report = compared(*(protocol({"GoRequest": go({"a": each})}) for each in (old, new)))
    assert [each.rule for each in report.findings] == ["limit-tightened"]
    assert report.wire.forward == "yes"


def with_base(base: Schema) -> Schema:
    """A protocol of three messages that share a base."""
    names = ("GoRequest", "GoResponse", "TellNotification")
    holders = {name: {"allOf": [{"$ref": "#/$defs/Base"}, go({name: {"type": "string"}})]} for name in names}
    return protocol({**holders, "Base": base})


PLAIN_BASE = go({"seq": {"type": "integer"}, "note": {"type": "string"}}, ("seq",))


@pytest.mark.parametrize(
    ("changed", "rule", "declaration"),
    [
        (go({**PLAIN_BASE["properties"], "more": {"type": "string"}}, ("seq",)), "field-added", "Base.more"),
        (
            go({**PLAIN_BASE["properties"], "more": {"type": "string"}}, ("seq", "more")),
            "required-field-added",
            "Base.more",
        ),
        (go({"seq": {"type": "integer"}}, ("seq",)), "field-removed", "Base.note"),
        (go({"note": {"type": "string"}}), "required-field-removed", "Base.seq"),
        (go(PLAIN_BASE["properties"]), "field-became-optional", "Base.seq"),
        (go({**PLAIN_BASE["properties"], "seq": {"type": "string"}}, ("seq",)), "type-changed", "Base.seq"),
    ],
)
def test_a_change_of_a_base_is_one_finding_at_the_base(changed: Schema, rule: str, declaration: str) -> None:
    report = compared(with_base(PLAIN_BASE), with_base(changed))
    (finding,) = [each for each in report.findings if each.severity != "editorial"]
    assert (finding.rule, finding.declaration) == (rule, declaration)
    assert {(each.method, each.location.partition(".")[0]) for each in finding.reaches} == {
        ("s/go", "params"),
        ("s/go", "result"),
        ("s/tell", "params"),
    }
    assert all(spot is not None and spot.pointer.startswith("/$defs/Base") for spot in (finding.old, finding.new))


CLOSED = {"additionalProperties": False}
TYPED = {"additionalProperties": {"type": "string", "maxLength": 5}}
UNEVALUATED = {"unevaluatedProperties": False}
DEPENDENT = {"dependentRequired": {"note": ["more"]}}


@pytest.mark.parametrize(
    ("old", "new", "rule", "declaration"),
    [
        ({}, CLOSED, "object-closed", "Base"),
        (CLOSED, {}, "object-opened", "Base"),
        ({}, TYPED, "type-narrowed", "Base.*"),
        (TYPED, {}, "type-widened", "Base.*"),
        (TYPED, {"additionalProperties": {"type": "string", "maxLength": 2}}, "limit-tightened", "Base.*"),
        ({}, UNEVALUATED, "object-closed", "Base"),
        ({}, DEPENDENT, "limit-tightened", "Base"),
    ],
)
def test_what_a_base_says_of_undeclared_members_is_one_finding_at_the_base(
    old: Schema, new: Schema, rule: str, declaration: str
) -> None:
    names = ("Cat", "Cow", "Dog")
    derived = {
        name: {"allOf": [{"$ref": "#/$defs/Base"}, go({name: {"type": "string"}})], "description": name}
        for name in names
    }
    sides = ({"$defs": {**derived, "Base": {**PLAIN_BASE, **each}}} for each in (old, new))
    report = compared(*sides)
    (finding,) = [each for each in report.findings if each.severity != "editorial"]
    assert (finding.rule, finding.declaration) == (rule, declaration)
    assert {each.location.partition(".")[0] for each in finding.reaches} == {"Base", *names}
    assert all(each.witness is not None and each.witness.verified for each in finding.reaches)
    assert f"also in 3 places: Cat{'.*' if declaration.endswith('*') else ''}, …" in written(report, "text")


def test_a_heir_that_refused_undeclared_members_before_loses_its_own_alone() -> None:
    closed = {"properties": {"seq": True, "note": True, "own": True}, **CLOSED}
    derived = {
        "Open": {"allOf": [{"$ref": "#/$defs/Base"}, go({"own": {"type": "string"}})]},
        "Same": {"allOf": [{"$ref": "#/$defs/Base"}], "properties": {"seq": True, "note": True}, **CLOSED},
        "Shut": {"allOf": [{"$ref": "#/$defs/Base"}], **closed},
    }
    report = compared(
        {"$defs": {**derived, "Base": PLAIN_BASE}}, {"$defs": {**derived, "Base": {**PLAIN_BASE, **CLOSED}}}
    )
    told = {each.rule: (each.declaration, {reach.location for reach in each.reaches}) for each in report.findings}
    assert told == {"object-closed": ("Base", {"Base", "Open"}), "limit-tightened": ("Base", {"Shut"})}


def test_what_became_a_reference_is_told_by_the_fields_that_had_it_in_place() -> None:
    path: Schema = {"type": "string", "pattern": "^/"}

    def schema(held: Schema) -> Schema:
        return protocol({"GoRequest": go({"cwd": held}), "TellNotification": go({"file": held}), "Path": path})

    old, new = schema({"type": "string"}), schema({"$ref": "#/$defs/Path"})
    for report in (compared(old, new), compared(new, old)):
        names = {each.declaration for each in report.findings if each.severity == "breaking"}
        assert names == {"GoRequest.cwd", "TellNotification.file"}


def test_a_change_of_one_branch_is_not_placed_at_a_definition_that_is_another_branch() -> None:
    def schema(longest: int) -> Schema:
        held = {"^a": {"type": "string", "maxLength": longest}, "^b": {"$ref": "#/$defs/Thing"}}
        held_by_pattern = {"type": "object", "patternProperties": held, "additionalProperties": False}
        return {"properties": {"held": held_by_pattern}, "$defs": {"Thing": go({"k": {"type": "integer"}}, ("k",))}}

    (finding,) = found(compared(schema(5), schema(3)), "limit-tightened")
    assert finding.new is not None and finding.new.pointer == "/properties/held"


def test_a_class_that_refers_to_a_renamed_definition_is_not_told_beside_the_rename() -> None:
    def schema(name: str) -> Schema:
        root = go({"thing": {"$ref": f"#/$defs/{name}"}})
        return {"$ref": "#/$defs/Root", "$defs": {"Root": root, name: go({"a": {}})}}

    report = compared(schema("Widget_v1_2"), schema("Widget_v1_3"))
    assert [each.rule for each in report.findings] == ["definition-renamed"]
    assert report.bindings == "breaking"


def test_a_field_that_gets_another_definition_is_no_rename_of_the_one_it_had() -> None:
    def schema(name: str) -> Schema:
        items = {each: go({"k": {"type": "string"}, each: {"type": "integer"}}) for each in {"Item", name}}
        return {**go({"x": {"$ref": f"#/$defs/{name}"}, "y": {"$ref": "#/$defs/Item"}}), "$defs": items}

    assert "definition-renamed" not in {each.rule for each in compared(schema("Item"), schema("Part")).findings}
    assert "definition-renamed" not in {each.rule for each in compared(schema("Part"), schema("Item")).findings}


def test_a_change_of_a_base_of_the_root_and_of_a_definition_is_one_finding() -> None:
    def schema(**more: Schema) -> Schema:
        heir: Schema = {"allOf": [{"$ref": "#/$defs/Base"}]}
        base = go({"a": {"type": "string"}, **more})
        return {**heir, **go({"item": {"$ref": "#/$defs/Item"}}), "$defs": {"Base": base, "Item": heir}}

    (finding,) = compared(schema(), schema(b={"type": "string"})).findings
    assert (finding.rule, finding.declaration) == ("field-added", "Base.b")
    assert {each.location for each in finding.reaches} == {"b", "item.b"}


def test_what_differs_in_a_definition_is_not_told_of_the_maps_that_refer_to_it() -> None:
    def schema(member: Schema) -> Schema:
        def name_many(name: str) -> Schema:
            return {"type": "object", "patternProperties": {"^x": {"$ref": f"#/$defs/{name}"}}}

        limits = {"Outer": {"if": {"required": ["a"]}, "then": {"$ref": "#/$defs/Limit"}}, "Limit": go({"a": member})}
        definitions = {"Inner": {**go({"a": member}), **CLOSED}, "Holder": go({"inner": {"$ref": "#/$defs/Inner"}})}
        names = ("Inner", "Holder", "Outer")
        members = {name.lower(): {"$ref": f"#/$defs/{name}"} for name in names}
        maps = {f"{name.lower()}s": name_many(name) for name in names}
        return {**go({**members, **maps}), "$defs": {**definitions, **limits}}

    report = compared(schema({}), schema({"type": "string"}))
    assert {each.declaration for each in report.findings if each.severity != "editorial"} == {"Inner.a", "Outer"}


def test_what_a_file_says_is_one_finding_however_many_definitions_extend_it(tmp_path: Path) -> None:
    def folder(name: str, **more: Schema) -> Path:
        derived = {
            each: {"allOf": [{"$ref": "base.json"}, go({each.lower(): {"type": "integer"}})]} for each in ("Cat", "Dog")
        }
        base = {**go({"a": {"type": "string"}, **more}), "title": "Base"}
        (tmp_path / name).mkdir()
        for file, schema in (("base", base), ("derived", {"$defs": derived})):
            whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
            (tmp_path / name / f"{file}.json").write_text(json.dumps(whole), "utf-8")
        return tmp_path / name

    (finding,) = compare(str(folder("old")), str(folder("new", b={"type": "integer"}))).findings
    assert (finding.rule, finding.declaration) == ("field-added", "Base.b")
    assert {each.location for each in finding.reaches} == {"b", "Cat.b", "Dog.b"}
