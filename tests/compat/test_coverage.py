"""Every definition is compared, or a finding says that it was not."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

import evidence
import tiers
from acpgen.bundle.bundle import bundle
from acpgen.compat.compare import compare, read_revision
from acpgen.compat.findings import Finding, Inclusion, Report
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.compat.sources import Input
from acpgen.errors import Faults
from acpgen.input.load import Document, Documents, load
from compat.protocols import FORMATS, RELEASES, Schema, compared, found, go, protocol, written

STRING: Schema = {"type": "string"}
THING = go({"a": {"type": "integer"}}, ("a",))
NARROWER = {**THING, "required": ["a", "b"]}


def open_findings(report: Report) -> list[Finding]:
    return [each for each in report.findings if each.severity == "undecided"]


def relations(report: Report) -> tuple[str, ...]:
    return (report.wire.backward, report.wire.forward, report.language.backward, report.language.forward)


# --- definitions that no message reaches ---


def test_definitions_beside_a_root_that_does_not_refer_to_them_are_compared() -> None:
    report = compared({"type": "object", "$defs": {"Thing": THING}}, {"type": "object", "$defs": {"Thing": NARROWER}})
    assert [(each.rule, each.severity, each.location) for each in report.findings] == [
        ("required-field-added", "breaking", "Thing.b")
    ]
    assert relations(report) == ("no", "yes", "no", "yes")


@pytest.mark.parametrize(
    "around",
    [
        {"contentMediaType": "application/json", "contentSchema": {"$ref": "#/$defs/Thing"}},
        {"if": {"$ref": "#/$defs/Thing"}},
        {"anyOf": [{"minLength": 2}, {"contentSchema": {"items": {"$ref": "#/$defs/Thing"}}}]},
    ],
)
def test_a_definition_by_which_no_value_of_a_message_is_judged_is_compared_as_a_document(around: Schema) -> None:
    def document(thing: Schema) -> Schema:
        return {"type": "object", "properties": {"text": {"type": "string", **around}}, "$defs": {"Thing": thing}}

    report = compared(document(THING), document(NARROWER))
    assert [(each.rule, each.severity, each.location) for each in report.findings] == [
        ("required-field-added", "breaking", "Thing.b")
    ]


def test_a_definition_that_no_method_reaches_is_compared_as_a_document() -> None:
    card, method = {"Card": THING}, {"GoRequest": go({"id": STRING}, ("id",))}
    report = compared(protocol({**card, **method}), protocol({"Card": NARROWER, **method}))
    (finding,) = report.findings
    assert (finding.severity, finding.method, finding.location, finding.flow) == ("breaking", None, "Card.b", "both")
    assert finding.witness is not None and finding.witness.value == {"a": 0}
    assert relations(report) == ("no", "yes", "no", "yes")


def test_a_document_that_a_new_method_answers_with_is_compared_as_before() -> None:
    """Its readers had it from elsewhere, and have it from there still."""
    more = {
        "CardRequest": {**go({}), "x-method": "s/card", "x-side": "agent"},
        "CardResponse": {**go({"card": {"$ref": "#/$defs/Card"}}), "x-method": "s/card", "x-side": "agent"},
    }
    report = compared(protocol({"Card": THING}), protocol({"Card": NARROWER, **more}))
    assert [each.location for each in report.findings if each.severity == "breaking"] == ["Card.b"]


def test_a_change_is_told_where_it_stands_and_not_again_around_it() -> None:
    around = {f"Around{index}": go({"thing": {"$ref": "#/$defs/Thing"}}) for index in range(5)}
    report = compared({"$defs": {**around, "Thing": THING}}, {"$defs": {**around, "Thing": NARROWER}})
    assert [each.location for each in report.findings] == ["Thing.b"]


def test_a_message_and_the_union_of_messages_are_compared_by_their_methods() -> None:
    def messages(*names: str) -> Schema:
        made = {
            f"{name}Request": go({"method": {"const": name.lower()}, "params": go({"x": STRING})}, ("method",))
            for name in names
        }
        return {"$defs": {**made, "ClientRequest": {"anyOf": [{"$ref": f"#/$defs/{each}"} for each in made]}}}

    report = compared(messages("Ping"), messages("Ping", "Pong"))
    assert [each.rule for each in report.findings] == ["method-added"]


def test_a_body_that_a_variant_of_a_message_repeats_is_compared_with_the_variant() -> None:
    text = {"text": STRING, "note": {"type": ["string", "null"]}}
    union = {
        "oneOf": [go({"type": {"const": "text"}, **text}, ("type", "text")), go({"type": {"const": "x"}}, ("type",))]
    }
    old = protocol({"GoRequest": go({"block": {"$ref": "#/$defs/Block"}}), "Block": union, "Text": go(text, ("text",))})
    new = protocol({"GoRequest": go({"block": {"$ref": "#/$defs/Block"}}), "Block": union})
    assert compared(old, new).verdict == "editorial"


def test_what_is_gone_is_undecided_and_what_is_new_is_additive() -> None:
    small, large = protocol({}), protocol({"Card": go({"part": {"$ref": "#/$defs/Part"}}), "Part": THING})
    gone, added = compared(large, small), compared(small, large)
    assert [(each.rule, each.severity, each.location) for each in gone.findings] == [
        ("definition-removed", "undecided", "Card")
    ]
    assert relations(gone) == ("undecided",) * 4
    assert [(each.rule, each.severity, each.location) for each in added.findings] == [
        ("definition-added", "additive", "Card")
    ]
    assert relations(added) == ("yes",) * 4


def test_a_default_in_a_part_of_a_field_is_that_of_the_field() -> None:
    whole = {"type": "integer", "default": 3}
    old, new = (protocol({"GoRequest": go({"n": each})}) for each in (whole, {"allOf": [whole]}))
    for report in (compared(old, new), compared(new, old)):
        assert (report.verdict, report.bindings) == ("editorial", "identical")
    other = protocol({"GoRequest": go({"n": {"allOf": [{**whole, "default": 4}]}})})
    assert [each.severity for each in found(compared(old, other), "default-changed")] == ["risky"]


def test_a_malformed_schema_is_the_same_as_itself_and_its_fault_is_named() -> None:
    report = compared({"type": 5}, {"type": 5}, mode="language")
    assert (report.verdict, report.bindings) == ("undecided", "identical")
    assert all("meta-schema" in each.message for each in report.findings)
    assert compared({"type": 5}, {"type": "string"}, mode="language").bindings == "breaking"


def test_a_pure_rename_explains_that_generated_code_breaks() -> None:
    old = protocol({"Card": go({"part": {"$ref": "#/$defs/Part"}}), "Part": THING})
    new = protocol({"Sheet": go({"part": {"$ref": "#/$defs/Piece"}}), "Piece": THING})
    report = compared(old, new)
    assert (report.verdict, report.bindings) == ("editorial", "breaking")
    assert {each.message.partition(".")[0] for each in found(report, "definition-renamed")} == {
        "The definition 'Card' was renamed to 'Sheet'",
        "The definition 'Part' was renamed to 'Piece'",
    }


def test_a_declared_rename_is_compared() -> None:
    new = {**NARROWER, "x-was": ["#/$defs/Card"]}
    report = compared(protocol({"Card": THING}), protocol({"Sheet": new}))
    assert [each.location for each in report.findings if each.severity == "breaking"] == ["Sheet.b"]


@pytest.mark.parametrize("was", ["a", "#/$defs/GoRequest/properties/a", "#/definitions/GoRequest/properties/a"])
def test_a_field_that_is_called_otherwise_is_recognised(was: str) -> None:
    old = protocol({"GoRequest": go({"a": STRING, "c": STRING})})
    new = protocol({"GoRequest": go({"b": {**STRING, "x-was": [was]}, "d": STRING})})
    report = compared(old, new)
    assert [(each.rule, each.location) for each in report.findings] == [
        ("field-renamed", "params.b"),
        ("field-removed", "params.c"),
        ("field-added", "params.d"),
    ]
    renamed = report.findings[0]
    assert renamed.message.startswith("The field 'a' was renamed to 'b'")
    assert renamed.witness is not None and renamed.witness.carried_by == "old"


@pytest.mark.parametrize(("required", "answers"), [((True, True), ("no", "no")), ((False, True), ("no", "yes"))])
def test_a_renamed_field_is_refused_by_whoever_requires_the_other_name(
    required: tuple[bool, bool], answers: tuple[str, str]
) -> None:
    old = protocol({"GoRequest": go({"a": STRING}, ("a",) if required[0] else ())})
    new = protocol({"GoRequest": go({"b": {**STRING, "x-was": ["a"]}}, ("b",) if required[1] else ())})
    report = compared(old, new)
    assert [each.rule for each in report.findings] == ["field-renamed"]
    assert (report.wire.backward, report.wire.forward) == answers


def test_what_a_renamed_field_says_is_compared() -> None:
    inner = {"type": "object", "properties": {"n": {"type": "integer"}}}
    narrow = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 5}}}
    old = protocol({"GoRequest": go({"a": inner, "k": STRING})})
    new = protocol({"GoRequest": go({"b": {**narrow, "x-was": ["a"]}, "m": {"type": "integer", "x-was": ["k"]}})})
    told = {(each.rule, each.location): each for each in compared(old, new).findings}
    assert told.keys() == {
        ("definition-renamed", ""),
        ("field-renamed", "params.b"),
        ("field-renamed", "params.m"),
        ("limit-tightened", "params.b.n"),
        ("type-narrowed", "params.m"),
        ("type-widened", "params.m"),
    }
    witness: Any = told["limit-tightened", "params.b.n"].witness
    assert witness.value["params"]["a"]["n"] > 5
    assert all(each.witness is not None for each in told.values() if each.severity == "breaking")


@pytest.mark.parametrize("was", ["x", "#/$defs/Union/oneOf/1"])
def test_a_variant_that_has_another_tag_is_recognised(was: str) -> None:
    def whole(tag: str, of: str, **more: Any) -> Schema:
        branches = [go({"t": {"const": each}, "n": {"type": of}}, ("t",)) for each in ("k", tag)]
        union = {"oneOf": [branches[0], {**branches[1], **more}]}
        return protocol({"GoRequest": go({"u": {"$ref": "#/$defs/Union"}}), "Union": union})

    old, new = whole("x", "string"), whole("y", "string", **{"x-was": [was]})
    report = compared(old, new)
    (finding,) = (each for each in report.findings if each.severity != "editorial")
    assert (finding.rule, finding.severity, finding.location) == ("variant-renamed", "breaking", "params.u(y)")
    assert relations(report)[:2] == ("no", "no")
    retyped = compared(old, whole("y", "integer", **{"x-was": [was]}))
    assert ("type-changed", "params.u(y).n") in {(each.rule, each.location) for each in retyped.findings}


@pytest.mark.parametrize(
    ("old", "new", "seems"),
    [
        ("tool_call_id", "toolCallId", True),
        ("callId", "toolCallId", True),
        ("description", "descriptions", True),
        ("label", "title", False),
    ],
)
def test_a_field_that_seems_to_be_called_otherwise_is_suggested_and_not_assumed(
    old: str, new: str, seems: bool
) -> None:
    report = compared(protocol({"GoRequest": go({old: STRING})}), protocol({"GoRequest": go({new: STRING})}))
    assert [each.rule for each in report.findings] == ["field-removed", "field-added"]
    asked = f"If {old!r} was renamed to {new!r}, declare it on {new!r} with 'x-was'."
    assert (asked in report.findings[0].advice) == seems


def test_what_was_another_one_is_not_taken_for_what_is_gone() -> None:
    old = protocol({"GoRequest": go({"path": STRING})})
    new = protocol({"GoRequest": go({"size": {**STRING, "x-was": ["length", "#/$defs/GoRequest/properties/length"]}})})
    assert [each.rule for each in compared(old, new).findings] == ["field-removed", "field-added"]


def test_a_name_that_another_definition_had_is_not_taken_while_that_stays() -> None:
    part = {"type": "object", "properties": {"n": STRING}, "required": ["n"]}
    other = {"type": "object", "properties": {"m": STRING}, "x-was": ["#/$defs/Part"]}

    def whole(**parts: Schema) -> Schema:
        fields = {name.lower(): {"$ref": f"#/$defs/{name}"} for name in parts}
        return protocol({"GoRequest": go(fields), **parts})

    report = compared(whole(Part=part), whole(Part=part, Other=other))
    assert report.bindings == "additive"
    assert not found(report, "definition-renamed")


def test_no_name_is_suggested_for_another_type_or_where_two_are_equally_alike() -> None:
    old = protocol({"GoRequest": go({"tool_id": STRING})})
    for fields in ({"toolId": {"type": "integer"}}, {"toolIdA": STRING, "toolIdB": STRING}):
        report = compared(old, protocol({"GoRequest": go(fields)}))
        assert all("x-was" not in each.advice for each in report.findings), fields


def test_a_variant_that_seems_to_have_another_tag_is_suggested() -> None:
    def whole(*tags: str) -> Schema:
        union = {"oneOf": [go({"t": {"const": tag}, tag[0]: STRING}, ("t",)) for tag in tags]}
        return protocol({"GoRequest": go({"u": union})})

    report = compared(whole("agent_text", "k"), whole("agentText", "k"))
    (gone,) = found(report, "closed-variant-removed")
    assert "If 'agent_text' was renamed to 'agentText'" in gone.advice


def test_a_constant_that_is_called_otherwise_is_recognised() -> None:
    def whole(*branches: Schema) -> Schema:
        return protocol(
            {"GoRequest": go({"c": {"$ref": "#/$defs/C"}}), "C": {"type": "string", "oneOf": list(branches)}}
        )

    report = compared(whole({"const": "k"}, {"const": "x"}), whole({"const": "k"}, {"const": "y", "x-was": ["x"]}))
    assert {"The value 'x' was renamed to 'y'"} <= {each.message.partition(";")[0] for each in report.findings}


def test_what_a_field_was_stays_with_the_field_of_an_inline_type() -> None:
    kind = {"type": "string", "enum": ["a", "b"], "x-was": ["#/$defs/GoRequest/properties/sort"]}
    old = protocol({"GoRequest": go({"sort": {"type": "string", "enum": ["a", "b"]}})})
    new = protocol({"GoRequest": go({"kind": kind})})
    made = bundle(Documents("new", (Document("new.json", new, json.dumps(new)),)))
    assert made.definitions["GoRequest"]["properties"]["kind"]["x-was"] == kind["x-was"]
    assert "x-was" not in made.definitions["GoRequestKind"]
    assert any("was renamed to 'kind'" in each.message for each in compared(old, new).findings)


@pytest.mark.parametrize(
    "written", ["", "#", "elsewhere", "#/$defs", "https://example.com/x#/$defs/Thing", "#/$defs/Thing"]
)
@pytest.mark.parametrize("keyword", ["default", "const", "enum"])
def test_a_value_that_looks_like_a_reference_is_a_value(keyword: str, written: str) -> None:
    def schema(number: int) -> Schema:
        value = {"$ref": written, "n": number}
        said = {"type": "object", keyword: [value] if keyword == "enum" else value}
        return {**go({"a": said, "t": {"$ref": "#/$defs/Thing"}}), "$defs": {"Thing": THING}}

    report = compared(schema(1), schema(2))
    assert report.verdict == ("risky" if keyword == "default" else "breaking")


def test_words_are_known_by_where_they_stand() -> None:
    """A member called title is no title, and neither is a value."""
    titled = [protocol({"Card": go({"title": {"type": each}})}) for each in ("string", "integer")]
    assert compared(*titled).verdict == "breaking"
    values = [protocol({"Card": {"const": {"title": each}}}) for each in ("a", "b")]
    assert compared(*values).verdict == "breaking"


# --- roots ---


def files(**values: Schema) -> Documents:
    made = (Document(f"{name}.json", value, json.dumps(value)) for name, value in sorted(values.items()))
    return Documents("files", tuple(made))


def test_a_root_that_appears_or_goes_is_compared_with_anything() -> None:
    bare: Schema = {"$defs": {"A": STRING}}
    typed: Schema = {"$defs": {"A": STRING}, "type": "integer"}
    assert relations(compared(bare, typed)) == ("no", "yes", "no", "yes")
    assert relations(compared(typed, bare))[2:] == ("yes", "no")


def test_a_root_is_compared_whatever_its_definitions_are_called() -> None:
    sides = [
        {"type": kind, "items": {"$ref": "#/$defs/Document"}, "$defs": {"Document": STRING}}
        for kind in ("array", "object")
    ]
    assert compared(*sides).verdict == "breaking"


def test_a_root_that_is_called_after_its_file_keeps_its_class_in_another_file(tmp_path: Path) -> None:
    inner: Schema = {"type": "object", "properties": {"z": {"type": "integer"}}}
    root: Schema = {"type": "object", "properties": {"a": STRING, "i": inner}}
    for name, said in (("r1", root), ("r2", root), ("r3", {**root, "properties": {"a": STRING}})):
        (tmp_path / f"{name}.json").write_text(json.dumps(said))
    same = compare(tmp_path / "r1.json", tmp_path / "r2.json")
    assert (same.bindings, same.verdict) == ("identical", "identical")
    assert compare(tmp_path / "r1.json", tmp_path / "r3.json").bindings == "breaking"


def test_a_file_is_identical_to_its_copy_whatever_that_is_called(tmp_path: Path) -> None:
    either = {"oneOf": [{"type": "object", "properties": {name: STRING}, "required": [name]} for name in "ab"]}
    schema: Schema = {"$ref": "#/definitions/Either", "definitions": {"Either": either}}
    for name in ("r1", "r2"):
        (tmp_path / f"{name}.json").write_text(json.dumps(schema))
    same = compare(tmp_path / "r1.json", tmp_path / "r2.json")
    assert (same.bindings, same.verdict) == ("identical", "identical")


@pytest.mark.parametrize("within", ["plain", "union"])
def test_what_stands_inside_a_root_is_called_by_its_place_whatever_the_file_is_called(
    tmp_path: Path, within: str
) -> None:
    def root(*required: str) -> Schema:
        items = {"type": "array", "items": go({"z": STRING}, required)}
        whole = go({"kind": {"const": "x"}, "inner": go({"z": STRING}, required), "items": items}, ("kind",))
        return whole if within == "plain" else {"oneOf": [whole, go({"kind": {"const": "y"}}, ("kind",))]}

    for name, schema in (("9f1fc3f8d4", root()), ("52413d879d", root("z"))):
        (tmp_path / f"{name}.json").write_text(json.dumps({**schema, "$defs": {"Thing": THING}}))
    report = compare(tmp_path / "9f1fc3f8d4.json", tmp_path / "52413d879d.json")
    variant = "" if within == "plain" else "(x)."
    harmful = [each for each in report.findings if each.severity != "editorial"]
    assert {each.declaration for each in harmful} == {f"{variant}inner.z", f"{variant}items[].z"}
    assert not [each for each in report.findings if "9d" in each.declaration]
    assert report.coverage is not None and (report.coverage.definitions, report.coverage.compared) == (1, 1)


@pytest.mark.parametrize("beside", [{}, {"$defs": {"Thing": THING}}], ids=["alone", "beside definitions"])
@pytest.mark.parametrize("tagged", [True, False], ids=["tagged", "untagged"])
def test_what_changes_in_a_branch_of_a_root_has_the_place_that_the_file_has(tagged: bool, beside: Schema) -> None:
    def root(**limit: int) -> Schema:
        kinds: list[Schema] = [{"kind": {"const": kind}} if tagged else {} for kind in ("x", "y")]
        members: tuple[Schema, ...] = (
            {"n": {"type": "integer", **limit}},
            {"m": {"type": "object", "properties": {"z": STRING}}},
        )
        keys = (("kind",), ("kind",)) if tagged else (("n",), ("m",))
        branches = [go({**kind, **member}, key) for kind, member, key in zip(kinds, members, keys, strict=True)]
        return {"anyOf": branches, **beside}

    report = compared(root(), root(minimum=3))
    (tightened,) = [each for each in report.findings if each.severity != "editorial"]
    place = "(x).n" if tagged else "#/anyOf/0.n"
    assert (tightened.location, tightened.declaration) == (place, place)
    assert [each.location for each in tightened.reaches] == [place]
    spots = [spot.pointer for spot in (tightened.old, tightened.new) if spot is not None]
    assert spots == ["/anyOf/0/properties/n"] * 2
    assert "Document" not in written(report, "text")


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "in place"])
def test_what_a_kind_of_a_root_refuses_and_another_accepts_counts_if_the_kind_is_declared(declared: bool) -> None:
    def root(**limit: int) -> Schema:
        branches = [go({"n": {"type": "integer", **limit}}, ("n",)), go({"n": {}, "m": {}}, ("n",))]
        if not declared:
            return {"anyOf": branches}
        return {
            "anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}],
            "$defs": dict(zip("AB", branches, strict=True)),
        }

    report = compared(root(), root(minimum=3))
    assert {each.location for each in report.findings if "at least 3" in each.message} == (
        {"A.n"} if declared else set()
    )
    assert report.wire.backward == ("no" if declared else "yes")


BOTH: Final = Inclusion("yes", "yes")


@pytest.mark.parametrize("place", ["root", "definition"])
def test_a_value_that_moves_to_another_branch_in_place_is_no_break(place: str) -> None:
    def union(*branches: Schema) -> Schema:
        return {"anyOf": list(branches)} if place == "root" else {"$defs": {"Thing": {"anyOf": list(branches)}}}

    def tagged(*tags: str) -> Schema:
        return go({"op": {"enum": list(tags)}}, ("op",))

    other: Schema = {**go({"op": STRING}, ("op",)), "not": {"properties": {"op": {"enum": ["a", "b"]}}}}
    for old, new in (
        (union(tagged("a", "b"), other), union(tagged("a"), tagged("b"), other)),
        (union(tagged("a"), {**other, "not": tagged("a")}), union(tagged("a"), tagged("b"), other)),
    ):
        report = compared(old, new)
        assert (report.wire, report.language) == (BOTH, BOTH)
        assert not [each for each in report.findings if each.severity in ("breaking", "undecided")]


def test_a_value_that_moves_between_definitions_is_no_doubt_where_all_that_holds_them_accepts_the_same() -> None:
    def union(**branches: Schema) -> Schema:
        return {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in branches], "$defs": branches}

    one, other, both = (go({"op": {"enum": tags}}, ("op",)) for tags in (["a"], ["b"], ["a", "b"]))
    report = compared(union(A=one, B=other), union(A=both))
    assert (report.wire, report.language) == (BOTH, BOTH)
    assert not [each for each in report.findings if each.severity == "undecided"]


def test_the_roots_of_many_files_are_compared_one_by_one() -> None:
    one: Schema = {"type": "object", "properties": {"x": STRING}}
    report = compare(files(a=one, b=one), files(a=one, b={**one, "required": ["x"]}))
    assert [(each.rule, each.location) for each in report.findings] == [("field-became-required", "b.json.x")]
    gone = compare(files(a=one, b=one, c={"$defs": {"A": STRING}}), files(a=one, c={"$defs": {"A": STRING}}))
    assert gone.verdict == "undecided"


def test_a_root_that_frames_messages_otherwise_is_not_passed_over() -> None:
    frame: Schema = {"type": "object", "properties": {"method": STRING}, "required": ["method"], "x-docs-ignore": True}
    framed = protocol({"AgentRequest": frame}, anyOf=[{"$ref": "#/$defs/AgentRequest"}])
    assert compared(framed, {**framed, "anyOf": [{"allOf": framed["anyOf"]}]}).verdict == "editorial"
    jsonrpc: Schema = {"properties": {"jsonrpc": {"const": "2.0"}}, "required": ["jsonrpc"]}
    assert compared(framed, {**framed, **jsonrpc}).verdict == "editorial"  # JSON-RPC demands it anyhow
    report = compared(framed, {**framed, "required": ["trace"]})
    (finding,) = report.findings
    assert (finding.rule, finding.location, report.wire) == (
        "limit-tightened",
        "",
        Inclusion(backward="no", forward="yes"),
    )
    assert finding.reaches[0].witness is not None


def test_what_a_whole_message_demands_beside_what_it_carries_is_compared() -> None:
    def ping(**more: Any) -> Schema:
        properties: Schema = {"method": {"const": "ping"}, "params": go({"x": STRING})}
        return {"$defs": {"PingRequest": {**go(properties, ("method",)), **more}}}

    own = ping()["$defs"]["PingRequest"]["properties"]
    members = {"properties": {**own, "id": {"type": ["string", "integer"]}, "jsonrpc": {"const": "2.0"}}}
    assert compared(ping(), ping(**members, required=["jsonrpc", "id", "method"])).verdict == "editorial"
    texts_alone = compared(ping(), ping(properties={**own, "id": STRING}))  # old peers send numbers, too
    assert (texts_alone.verdict, texts_alone.wire.backward) == ("breaking", "no")
    ids = [ping(properties={**members["properties"], "id": {"type": each}}) for each in ("string", "integer")]
    assert compared(*ids).verdict == "breaking"
    for more in ({"type": "array"}, {"required": ["method", "trace"]}, {"additionalProperties": False}):
        report = compared(ping(), ping(**more))
        assert (report.wire.backward, report.language.backward) == ("no", "no")
        (finding,) = report.findings
        assert (finding.rule, finding.location) == ("limit-tightened", "PingRequest"), more
        assert finding.witness is not None and finding.witness.verified
    named = ping(properties={**members["properties"], "id": {"$ref": "#/$defs/Id"}})
    named["$defs"]["Id"] = {"type": ["string", "integer"]}
    texts = ping(properties={**members["properties"], "id": STRING})
    texts["$defs"]["Id"] = named["$defs"]["Id"]
    assert compared(named, texts).wire == Inclusion(backward="no", forward="yes")


def test_an_identifier_of_one_request_that_gets_its_own_definition_is_compared_where_other_messages_keep_theirs() -> (
    None
):
    def ping(own: Schema) -> Schema:
        version, shared = {"jsonrpc": {"const": "2.0"}}, {"$ref": "#/$defs/Id"}
        request = go({**version, "id": own, "method": {"const": "ping"}}, ("jsonrpc", "id", "method"))
        answer = go({**version, "id": shared, "result": {"type": "object"}}, ("jsonrpc", "id", "result"))
        return {"$defs": {"PingRequest": request, "Response": answer, "Id": {"type": ["string", "integer"]}}}

    report = compared(ping({"$ref": "#/$defs/Id"}), ping({"type": "string", "pattern": "^[0-9]+$"}))
    assert (report.wire, report.language) == (Inclusion("no", "yes"), Inclusion("no", "yes"))
    (finding,) = (each for each in report.findings if each.severity == "breaking")
    assert finding.location == "PingRequest" and finding.message.endswith("at '/id'.")


def _based(base: Schema, *extra: Schema) -> Schema:
    """Two requests with a base of their own."""
    found: Schema = {"Message": base}
    for name in ("ping", "pong"):
        own = {"method": {"const": name}, "params": go({"x": STRING})}
        whole: Schema = {"type": "object", "allOf": [*(extra or ({"$ref": "#/$defs/Message"},))], "properties": own}
        found[f"{name.title()}Request"] = {**whole, "required": ["method"]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": found}


def test_what_the_base_of_messages_demands_is_told_once_with_all_that_have_it() -> None:
    base: Schema = {"type": "object", "required": ["trace"], "properties": {"trace": {"type": "string"}}}
    old = _based(base)
    report = compared(old, _based({**base, "properties": {"trace": {"type": "string", "minLength": 1}}}))
    (finding,) = [each for each in report.findings if each.rule == "limit-tightened" and each.declaration == "Message"]
    assert len(finding.reaches) == 2
    assert (report.wire.backward, report.language.backward) == ("no", "no")
    assert compared(old, _based(base, {})).wire == Inclusion(backward="yes", forward="no")
    other = compared(old, _based(base, {"$ref": "#/$defs/Message"}, {"required": ["span"]}))
    assert (other.verdict, other.wire.backward) == ("breaking", "no")


def test_a_root_that_demands_more_of_one_kind_of_message_is_not_passed_over() -> None:
    def rooted(**more: Any) -> Schema:
        call: Schema = {"properties": {"method": {"const": "s/go"}, "params": {"$ref": "#/$defs/GoRequest"}}}
        answer: Schema = {"properties": {"result": {}}, "required": ["result"]}
        return protocol({}, anyOf=[{**call, "required": ["method"], **more}, answer])

    assert compared(rooted(), rooted(title="Calls")).verdict == "editorial"
    more: Schema
    for more in ({"required": ["method", "trace"]}, {"type": "object", "maxProperties": 2}, {"not": {}}):
        report = compared(rooted(), rooted(**more))
        assert report.verdict in ("undecided", "breaking"), more
        assert report.wire.backward != "yes", more


def test_batches_that_a_root_describes_are_compared_and_what_their_messages_carry_is_told_once() -> None:
    def rooted(longest: int = 9, batch: Schema | None = None, alone: bool = True) -> Schema:
        content: Schema = {"Ping": go({"x": {"type": "string", "maxLength": longest}})}
        members: Schema = {"jsonrpc": {"const": "2.0"}, "id": STRING, "params": {"$ref": "#/$defs/Ping"}}
        requests: Schema = {
            f"{name}Request": go({**members, "method": {"const": name}}, ("jsonrpc", "id", "method"))
            for name in ("ping", "pong")
        }
        one: Schema = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in requests]}
        branches = [*([one] if alone else []), *([] if batch is None else [{"type": "array", "items": one, **batch}])]
        return {"oneOf": branches, "$defs": {**requests, **content}}

    for old, new in ((rooted(), rooted(batch={})), (rooted(batch={"minItems": 1}), rooted(batch={}))):
        report = compared(old, new)
        assert report.wire == Inclusion("yes", "no")
        (finding,) = report.findings
        assert finding.rule == "limit-loosened" and isinstance(finding.witness and finding.witness.value, list)
        assert compared(new, old).wire == Inclusion("no", "yes")
    assert compared(rooted(), rooted(batch={}, alone=False)).wire == Inclusion("no", "no")
    report = compared(rooted(batch={}), rooted(8, batch={}))
    assert [each.location for each in report.findings] == ["params.x"]
    unlimited = {"minProperties": 1, "$defs": rooted()["$defs"]}
    assert [each for each in compared(unlimited, rooted()).findings if each.rule == "limit-tightened"] == []
    unions = [{"anyOf": each["oneOf"], "$defs": each["$defs"]} for each in (rooted(), rooted(batch={}))]
    assert [each.rule for each in compared(*unions).findings] == ["batch-allowed"]


def test_what_is_marked_like_an_envelope_and_is_none_is_compared() -> None:
    marked: Schema = {"properties": {"m": {}}, "x-docs-ignore": True}
    report = compared(protocol({"M": marked}), protocol({"M": {**marked, "required": ["m"]}}))
    assert [(each.rule, each.location) for each in report.findings] == [("limit-tightened", "M")]


FRAME: Schema = {
    "type": "object",
    "properties": {"method": STRING, "params": {"anyOf": [{"$ref": "#/$defs/GoRequest"}]}},
    "required": ["method"],
    "x-docs-ignore": True,
}
UNION: Schema = {"anyOf": [{"$ref": "#/$defs/GoRequest"}, {"$ref": "#/$defs/TellNotification"}]}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {"Call": FRAME}),
        ({"Call": FRAME}, {}),
        ({"Call": FRAME}, {"Call": {**FRAME, "properties": {**FRAME["properties"], "method": {"allOf": [STRING]}}}}),
        ({}, {"All": UNION}),
        ({"All": UNION}, {}),
        ({"All": UNION}, {"All": {"anyOf": UNION["anyOf"][:1]}}),
    ],
)
def test_what_frames_messages_and_lets_the_same_through_is_named(old: Schema, new: Schema) -> None:
    report = compared(protocol(old), protocol(new))
    ((rule, name),) = ((each.rule, each.declaration) for each in report.findings)
    assert (report.verdict, rule, name) == ("editorial", "schema-restructured", next(iter({**old, **new})))


def test_what_frames_messages_and_lists_others_of_both_revisions_is_no_doubt() -> None:
    both: Schema = {"anyOf": [{"$ref": "#/$defs/GoRequest"}, {"allOf": [{"$ref": "#/$defs/TellNotification"}]}]}
    more = {**FRAME, "properties": {**FRAME["properties"], "params": {"anyOf": [both, {"type": "null"}]}}}
    less = {**FRAME, "properties": {**FRAME["properties"], "params": {"anyOf": [*both["anyOf"][1:], {"type": "null"}]}}}
    for old, new in ((more, less), (less, more)):
        report = compared(protocol({"Call": old}), protocol({"Call": new}))
        assert [each.rule for each in report.findings] == ["schema-restructured"]


def test_what_frames_messages_and_grows_by_a_method_alone_is_not_named() -> None:
    more: Schema = {"type": "object", "x-method": "s/more", "x-side": "agent"}
    params: Schema = {"anyOf": [*FRAME["properties"]["params"]["anyOf"], {"$ref": "#/$defs/MoreRequest"}]}
    larger = {**FRAME, "properties": {**FRAME["properties"], "params": params}}
    report = compared(protocol({"Call": FRAME}), protocol({"Call": larger, "MoreRequest": more}))
    assert [each.rule for each in report.findings] == ["method-added"]


@pytest.mark.parametrize("demand", [{"required": ["method", "trace"]}, {"maxProperties": 2}, {"type": "array"}])
def test_what_frames_messages_of_one_revision_and_demands_more_is_undecided(demand: Schema) -> None:
    plain, framed_ = protocol({}), protocol({"Call": {**FRAME, **demand}})
    for old, new, direction in ((plain, framed_, "backward"), (framed_, plain, "forward")):
        report = compared(old, new)
        assert [(each.rule, each.declaration) for each in report.findings] == [("not-compared", "Call")]
        assert getattr(report.wire, direction) == "undecided" == report.verdict


@pytest.mark.parametrize("doc", [{}, {"description": "A call."}])
def test_what_an_envelope_demands_of_its_content_is_compared(doc: Schema) -> None:
    """No method reaches this content."""

    def call(params: Schema, **more: Any) -> Schema:
        return {**FRAME, "properties": {"method": {"const": "m"}, "params": params}, **more}

    for narrower in ({**THING, "maxProperties": 1}, STRING, go({"a": STRING, "b": STRING}, ("a", "b"))):
        for old, new in ((THING, narrower), (narrower, THING)):
            report = compared(protocol({"Call": call(old)}), protocol({"Call": call(new, **doc)}))
            assert {each.declaration for each in report.findings if each.rule.startswith("limit-")} == {"Call"}
            assert all(each.reaches[0].witness for each in report.findings)
            assert report.verdict == "breaking"
            assert "no" in (report.wire.backward, report.wire.forward)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"$ref": "#/$defs/Thing"}, {}),
        ({"$ref": "#/$defs/Thing"}, {"$ref": "#/$defs/Other"}),
        ({"$ref": "#/$defs/GoRequest"}, {"anyOf": [{"$ref": "#/$defs/GoRequest"}, {"type": "null"}]}),
    ],
    ids=["any", "another", "null"],
)
def test_what_an_envelope_refers_to_for_its_content_is_compared(one: Schema, other: Schema) -> None:
    """It was editorial, though one revision refuses what the other accepts."""

    def call(params: Schema) -> Schema:
        frame = {**FRAME, "properties": {"method": STRING, "params": params}}
        return protocol({"Call": frame, "Thing": THING, "Other": go({"b": STRING}, ("b",))})

    for old, new in ((one, other), (other, one)):
        report = compared(call(old), call(new))
        assert {each.declaration for each in report.findings if each.rule.startswith("limit-")} == {"Call"}
        assert all(each.reaches[0].witness for each in report.findings)
        assert "no" in (report.wire.backward, report.wire.forward)


def test_null_may_move_from_identifiers_to_the_envelope_that_takes_it() -> None:
    """Both take the same; where only one of the two does, a message shows it."""
    whole: list[Schema] = [{"type": "integer"}, {"type": "string"}]

    def answers(identifiers: list[Schema], *beside: Schema) -> Schema:
        here: Schema = {"anyOf": [{"$ref": "#/$defs/Id"}, *beside]} if beside else {"$ref": "#/$defs/Id"}
        form = {"type": "object", "properties": {"id": here, "error": {"type": "object"}}, "required": ["id", "error"]}
        return protocol({"Id": {"anyOf": identifiers}, "Answer": {**form, "x-docs-ignore": True}})

    null: Schema = {"type": "null"}
    moved = compared(answers([null, *whole]), answers(whole, null))
    assert "not-compared" not in {each.rule for each in moved.findings}
    for old, new in ((answers(whole), answers(whole, null)), (answers(whole, null), answers(whole))):
        (finding,) = (report := compared(old, new)).findings
        assert (finding.declaration, finding.reaches[0].witness is None, report.verdict) == (
            "Answer",
            False,
            "breaking",
        )


def test_what_is_marked_like_an_envelope_is_none_and_comes_or_goes_is_told() -> None:
    marked: Schema = {"properties": {"m": {}}, "x-docs-ignore": True}
    sides = protocol({}), protocol({"M": marked})
    rules = [[each.rule for each in compared(*pair).findings] for pair in (sides, sides[::-1])]
    assert rules == [["definition-added"], ["definition-removed"]]


# --- what is not read ---

GROUPS: tuple[tuple[str, Callable[[Schema], Schema]], ...] = (
    ("group", lambda thing: {"definitions": {"v2": {"Thing": thing, "Other": {"$ref": "#/definitions/v2/Thing"}}}}),
    ("group below a method", lambda thing: _in_group(thing)),
    ("definitions in a definition", lambda thing: {"$defs": {"A": {"type": "object", "$defs": {"Thing": thing}}}}),
    ("two keywords", lambda thing: {"$defs": {"A": STRING}, "definitions": {"Thing": thing}}),
    ("no keyword", lambda thing: {"$defs": {"A": STRING}, "components": {"schemas": {"Thing": thing}}}),
)


def _in_group(thing: Schema) -> Schema:
    whole = protocol({"GoRequest": go({"thing": {"$ref": "#/definitions/v2/Holder"}})})
    group = {"Holder": go({"inner": {"$ref": "#/definitions/v2/Thing"}}), "Thing": thing}
    return {"definitions": {**whole["$defs"], "v2": group}}


@pytest.mark.parametrize("whole", [whole for _, whole in GROUPS], ids=[name for name, _ in GROUPS])
def test_a_change_where_nothing_is_read_is_found_or_undecided(whole: Callable[[Schema], Schema]) -> None:
    assert compared(whole(THING), whole(THING)).verdict == "identical"
    for old, new in ((THING, NARROWER), (NARROWER, THING), (THING, STRING)):
        report = compared(whole(old), whole(new))
        assert report.verdict in ("breaking", "undecided")
        assert "yes" not in (report.wire.backward, report.language.backward) or old == NARROWER


def test_a_value_that_no_validator_can_judge_proves_nothing() -> None:
    def group(thing: Schema) -> Schema:
        holder = go({"inner": {"$ref": "#/definitions/v2/Thing"}, "x": thing}, ("inner",))
        return {"definitions": {"A": {"$ref": "#/definitions/v2/Holder"}, "v2": {"Holder": holder, "Thing": THING}}}

    report = compared(group(STRING), group({"type": "integer"}))
    assert report.verdict in ("breaking", "undecided")
    assert all(each.witness is not None for each in report.findings if each.severity == "breaking")


def test_coverage_is_counted_and_told_in_json_and_to_people() -> None:
    report = compared(protocol({"Card": THING}), protocol({}))
    assert report.coverage is not None
    data = json.loads(written(report, "json"))
    ((left, reason),) = ((each["name"], each["reason"]) for each in data["coverage"].pop("not_compared"))
    assert (left, "was removed" in reason) == ("Card", True)
    assert data["coverage"] == {"methods": 2, "definitions": 4, "compared": 3}
    for name in ("text", "markdown", "html"):
        assert "2 methods, 3 of 4 definitions" in " ".join(written(report, name).split()), name
    whole = compared(protocol({"Card": THING}), protocol({"Card": THING}))
    assert "compared: 2 methods, 4 of 4 definitions" in " ".join(written(whole, "text").split())


# --- language mode ---


def test_definitions_that_the_root_does_not_refer_to_are_compared_as_schemas_of_their_own() -> None:
    sides: list[Schema] = [{"type": "object", "definitions": {"v2": {"Thing": each}}} for each in (THING, NARROWER)]
    narrowed = compared(*sides, mode="language")
    assert [(each.rule, each.location) for each in narrowed.findings] == [("language-narrowed", "Thing.b")]
    assert narrowed.findings[0].new is not None and narrowed.findings[0].new.pointer == "/definitions/v2/Thing"
    assert relations(narrowed) == ("no", "yes", "no", "yes")
    widened = compared(*reversed(sides), mode="language")
    assert (widened.verdict, relations(widened)[:2]) == ("additive", ("yes", "no"))


def test_a_definition_that_the_root_does_not_refer_to_and_that_was_removed_is_undecided() -> None:
    report = compared({"$defs": {"Thing": THING}}, {"$defs": {}}, mode="language")
    assert (report.verdict, relations(report)[:2]) == ("undecided", ("undecided", "yes"))
    assert "'Thing' was removed" in report.findings[0].message


@pytest.mark.parametrize(
    ("reference", "anchor"),
    [
        ({"$ref": "#thing"}, {"$anchor": "thing"}),
        ({"$dynamicRef": "#thing"}, {"$dynamicAnchor": "thing"}),
        ({"$ref": "https://example.com/thing"}, {"$id": "https://example.com/thing"}),
        ({"$ref": "https://example.com/thing#a"}, {"$id": "https://example.com/thing", "$anchor": "a"}),
    ],
)
def test_a_definition_that_the_root_refers_to_by_its_address_is_a_part_of_the_root(
    reference: Schema, anchor: Schema
) -> None:
    old = {"properties": {"a": reference}, "$defs": {"Thing": {**anchor, **THING}}}
    report = compared(old, {"properties": {"a": THING}}, mode="language")
    assert (report.verdict, relations(report)[:2]) == ("editorial", ("yes", "yes"))


def test_definitions_and_defs_are_one_place() -> None:
    def schema(keyword: str, thing: Schema) -> Schema:
        return {keyword: {"Thing": thing, "Other": go({"thing": {"$ref": f"#/{keyword}/Thing"}})}}

    for old, new in (("definitions", "$defs"), ("$defs", "definitions")):
        moved = compared(schema(old, THING), schema(new, THING), mode="language")
        assert (moved.verdict, relations(moved)) == ("identical", ("yes",) * 4)
        narrowed = compared(schema(old, THING), schema(new, NARROWER), mode="language")
        (finding,) = narrowed.findings
        assert finding.rule == "language-narrowed"
        assert finding.old and finding.new
        assert (finding.old.pointer, finding.new.pointer) == (f"/{old}/Thing", f"/{new}/Thing")
        assert [each.location for each in finding.reaches] == ["Thing.b", "Other"]


def test_a_removed_definition_is_compared_where_a_definition_of_both_refers_to_it() -> None:
    old = {"$defs": {"Thing": THING, "Other": go({"thing": {"$ref": "#/$defs/Thing"}})}}
    report = compared(old, {"$defs": {"Other": go({"thing": THING})}}, mode="language")
    assert (report.verdict, relations(report)) == ("editorial", ("yes",) * 4)


@pytest.mark.parametrize("name", ["x%25y", "a b", "é", 'a"b', "a/b", "~", ""])
def test_a_definition_is_compared_whatever_it_is_called(name: str) -> None:
    sides: list[Schema] = [{"$defs": {"x%y": THING, name: each}} for each in (THING, NARROWER)]
    report = compared(*sides, mode="language")
    assert [(each.rule, each.location) for each in report.findings] == [("language-narrowed", f"{name}.b".lstrip("."))]


@pytest.mark.parametrize("keyword", ["", "if", "items"])
def test_a_definition_inside_another_schema_is_compared(keyword: str) -> None:
    def schema(inner: Schema) -> Schema:
        within: Schema = {"$defs": {"Inner": inner}}
        return {"$defs": {"Outer": {"type": "object", **({keyword: within} if keyword else within)}}}

    report = compared(schema(THING), schema(NARROWER), mode="language")
    assert [(each.rule, each.location) for each in report.findings] == [("language-narrowed", "Inner.b")]


def test_a_language_finding_is_about_the_declaration_that_changed() -> None:
    def schema(thing: Schema, last: Schema) -> Schema:
        outer = {name: go({"inner": {"$ref": f"#/$defs/{inner}"}}) for name, inner in (("A", "Thing"), ("B", "A"))}
        return {"$ref": "#/$defs/B", "$defs": {**outer, "Thing": thing, "Last": last, "Free": {"$ref": "#/$defs/Last"}}}

    report = compared(schema(THING, THING), schema(NARROWER, NARROWER), mode="language")
    assert [[reach.location for reach in each.reaches] for each in report.findings] == [
        ["Last.b", "Free"],
        ["Thing.b", ""],
    ]
    for reach in (reach for each in report.findings for reach in each.reaches):
        assert reach.witness and (reach.witness.accepted_by, reach.witness.refused_by) == ("old", "new")
    whole = report.findings[1].reaches[1].witness
    assert whole and not Draft202012Validator(schema(NARROWER, NARROWER)).is_valid(whole.value)
    assert len({each for finding in report.findings for each in finding.fingerprints}) == 4


def test_a_declaration_that_differs_elsewhere_is_a_further_place_of_what_is_refused_inside_it() -> None:
    def schema(thing: Schema, **more: Any) -> Schema:
        return {**go({"thing": {"$ref": "#/$defs/Thing"}, **more}), "$defs": {"Thing": thing}}

    for old, new, rule, inner, outer in (
        (schema(THING, n={"type": "integer"}), schema(NARROWER, n={"type": "number"}), "narrowed", "Thing.b", "n"),
        (schema(NARROWER, n={"type": "number"}), schema(THING, n={"type": "integer"}), "widened", "Thing.b", "n"),
    ):
        opposite = "widened" if rule == "narrowed" else "narrowed"
        report = compared(old, new, mode="language")
        places = {each.rule: [reach.location for reach in each.reaches] for each in report.findings}
        assert places == {f"language-{rule}": [inner, ""], f"language-{opposite}": [outer]}
    (inner_finding, outer_finding) = compared(schema(THING, n={}), schema(NARROWER, n=STRING), mode="language").findings
    assert [reach.location for reach in (*inner_finding.reaches, *outer_finding.reaches)] == ["Thing.b", "n"]
    assert outer_finding.witness and outer_finding.witness.value == {"n": None}


def test_the_advice_on_a_schema_that_refers_to_a_missing_file_says_how_to_give_it() -> None:
    (finding, _) = compared(
        {"$ref": "https://example.com/a"}, {"$ref": "https://example.com/b"}, mode="language"
    ).findings
    assert "--ref URL=FILE" in finding.advice


def test_each_member_of_a_declaration_that_is_refused_is_named() -> None:
    def write(kind: str, **members: Any) -> Schema:
        below = {"type": "array", "items": {"properties": {"k": {"type": kind}}}}
        return {
            "type": "object",
            "properties": {"a": {"type": kind}, "b": below, **members},
            "additionalProperties": False,
        }

    old, new = write("number", c=STRING), write("integer", d=STRING)
    for before in (old, {"anyOf": [STRING, old]}):
        narrowed, widened = compared(before, new, mode="language").findings
        assert {"a", "b[].k", "c"} <= {reach.location for reach in narrowed.reaches} <= {"a", "b[].k", "c", ""}
        assert [reach.location for reach in widened.reaches] == ["d"]
        for reach in (*narrowed.reaches, *widened.reaches):
            assert reach.witness
            accepting, refusing = (before, new) if reach.witness.accepted_by == "old" else (new, before)
            assert Draft202012Validator(accepting).is_valid(reach.witness.value)
            assert not Draft202012Validator(refusing).is_valid(reach.witness.value)


def test_a_language_report_lists_first_what_most_declarations_contain() -> None:
    def schema(rare: Schema, common: Schema) -> Schema:
        refs = {f"C{number}": {"$ref": "#/$defs/Common"} for number in range(3)}
        return {"$defs": {"A": rare, "B": {"$ref": "#/$defs/A"}, "Common": common, **refs}}

    report = compared(schema(THING, THING), schema(NARROWER, NARROWER), mode="language")
    assert [(each.location, len(each.reaches)) for each in report.findings] == [("Common.b", 4), ("A.b", 2)]


@pytest.mark.parametrize(("formats", "place"), [(False, []), (True, [".Day.day"])])
def test_a_language_report_says_where_a_format_is_refused(formats: bool, place: list[str]) -> None:
    old, new = ({"$defs": {".Day": go({"day": day})}} for day in (STRING, {**STRING, "format": "date"}))
    report = compared(old, new, mode="language", formats=formats)
    assert [each.location for each in report.findings if each.severity == "breaking"] == place


def test_what_only_its_context_narrows_is_a_finding_about_the_context() -> None:
    def schema(**more: Any) -> Schema:
        return {"properties": {"thing": {"$ref": "#/$defs/Thing", **more}}, "$defs": {"Thing": THING}}

    report = compared(schema(), schema(required=["note"]), mode="language")
    assert [[reach.location for reach in each.reaches] for each in report.findings] == [["thing.note"]]


@pytest.mark.parametrize(
    ("root", "ref"),
    [
        ("https://example.com/root.json", "https://example.com/thing/2.json"),
        ("https://example.com/root.json", "thing/2.json"),
        ("https://example.com/root.json", "#/$defs/2"),
        ("urn:example:root", "https://example.com/thing/2.json"),
        ("urn:example:root", "#/$defs/2"),
    ],
)
def test_what_the_root_refers_to_by_its_address_is_told_of_the_root_alone(root: str, ref: str) -> None:
    def schema(name: str, ref: str) -> Schema:
        thing = {"$id": f"https://example.com/thing/{name}.json", "$ref": "#/$defs/Inner", "$defs": {"Inner": THING}}
        return {"$id": root, "$ref": ref, "$defs": {name: thing}}

    report = compared(schema("1", "https://example.com/thing/1.json"), schema("2", ref), mode="language")
    assert not [each for each in report.findings if each.severity != "editorial"]


@pytest.mark.parametrize(
    "beside",
    [
        {"x-methods": {"go": {"$ref": "#/definitions/Thing"}}},
        {"paths": {"/go": {"schema": {"$ref": "#/definitions/Thing"}}}},
        {"type": "object", "default": {"$ref": "#/definitions/Thing"}},
        {"contentSchema": {"$ref": "#/definitions/Thing"}},
        {"if": {"$ref": "#/definitions/Thing"}},
        {"then": {"$ref": "#/definitions/Thing"}},
        {"$ref": "#/definitions/Other", "properties": {"a": {"$ref": "#/definitions/Thing"}}},
        {"dependentSchemas": {"a": {"$ref": "#/definitions/Thing"}}},
    ],
    ids=lambda beside: "-".join(beside),
)
def test_a_definition_that_the_root_judges_nothing_by_is_compared(beside: Schema) -> None:
    draft = "http://json-schema.org/draft-07/schema#"
    sides: list[Schema] = [
        {"$schema": draft, **beside, "definitions": {"Other": {"type": "object"}, "Thing": each}}
        for each in (THING, NARROWER)
    ]
    report = compared(*sides, mode="language")
    assert ("language-narrowed", "Thing.b") in [(each.rule, each.location) for each in report.findings]
    assert relations(report)[:2] == ("no", "yes")


@pytest.mark.parametrize("beside", [{"title": "a tool"}, {"type": "object"}, {"x-a": 1}], ids=str)
def test_what_looks_like_schemas_and_is_under_no_keyword_is_undecided_where_it_differs(beside: Schema) -> None:
    sides: list[Schema] = [{**beside, "inputSchema": each} for each in (THING, NARROWER)]
    report = compared(*sides, mode="language")
    assert [(each.rule, each.location) for each in report.findings] == [("language-undecided", "inputSchema")]
    assert relations(report) == ("undecided",) * 4
    assert compared(sides[0], {**sides[0], "maxProperties": 9}, mode="language").verdict == "breaking"


def test_what_a_reference_leads_to_is_read_wherever_it_stands() -> None:
    parts = {"schemas": {"Thing": {"$ref": "#/parts/schemas/Inner"}, "Inner": THING}, "notes": ["a"]}
    sides: list[Schema] = [{"$ref": "#/parts/schemas/Thing", "parts": parts}]
    sides.append(copy.deepcopy(sides[0]))
    sides[1]["parts"]["schemas"]["Inner"] = NARROWER
    sides[1]["parts"]["notes"] = ["b"]
    report = compared(*sides, mode="language")
    assert [each.rule for each in report.findings] == ["language-narrowed"]


def test_a_document_that_is_no_schema_is_not_compared_as_one() -> None:
    document: Schema = {"openapi": "3.1.0", "components": {"schemas": {"Thing": THING}}}
    for sides in ((document, document), ({"type": "object"}, document), (document, {"type": "object"})):
        with pytest.raises(Faults) as caught:
            compared(*sides, mode="language")
        assert "none of its members is a keyword" in str(caught.value)
    assert compared({}, {"type": "object"}, mode="language").verdict == "breaking"


@pytest.mark.parametrize("ref", ["https://[", "https://example.com/other.json"])
def test_a_definition_that_nothing_leads_to_is_compared_whatever_references_say(ref: str) -> None:
    sides: list[Schema] = [{"$defs": {"Thing": each, "Odd": {"$ref": ref}}} for each in (THING, NARROWER)]
    assert ("language-narrowed", "Thing.b") in {
        (each.rule, each.location) for each in compared(*sides, mode="language").findings
    }


def test_schemas_that_accept_the_same_and_make_other_code_are_not_called_identical() -> None:
    old: Schema = {"type": "object", "properties": {"t": {"$ref": "#/$defs/Thing"}}, "$defs": {"Thing": THING}}
    new: Schema = {"type": "object", "properties": {"t": {"$ref": "#/$defs/Item"}}, "$defs": {"Item": THING}}
    report = compared(old, new, mode="language")
    assert (report.verdict, report.bindings) == ("editorial", "breaking")
    assert [each.rule for each in report.findings] == ["schema-restructured"]


# --- the answers are checked against each other ---


def test_a_definition_that_is_written_differently_and_says_the_same_is_named() -> None:
    one: Schema = {"type": "object", "properties": {"k": {"type": "string", "enum": ["a", "b"]}}}
    other: Schema = {"type": "object", "properties": {"k": {"oneOf": [{"const": "a"}, {"const": "b"}]}}}
    thing = {"GoRequest": go({"x": {"$ref": "#/$defs/Card"}})}
    for definitions in ({}, thing):
        report = compared(protocol({**definitions, "Card": one}), protocol({**definitions, "Card": other}))
        (finding,) = report.findings
        assert (finding.rule, finding.severity, finding.location) == ("schema-restructured", "editorial", "Card")
        assert finding.new is not None and finding.new.pointer == "/$defs/Card"


def test_what_breaks_generated_code_is_always_named() -> None:
    """A class whose field has another type in generated code alone: the wire does not change, the finding says where."""
    old = protocol({"GoRequest": go({"x": {"$ref": "#/$defs/Name"}}), "Name": STRING})
    report = compared(old, protocol({"GoRequest": go({"x": STRING}), "Name": STRING}))
    assert (report.verdict, report.bindings) == ("editorial", "breaking")
    assert [each.location for each in report.findings] == ["GoRequest"]


def test_an_object_that_is_closed_beside_patterns_refuses_what_is_not_declared() -> None:
    shut: Schema = {"patternProperties": {"^x-": {}}, "additionalProperties": False}
    fewer: Schema = {"k": STRING}
    sides = [protocol({"GoRequest": go({"v": go(each, **shut)})}) for each in (fewer, {**fewer, "size": STRING})]
    added, removed = compared(*sides), compared(*reversed(sides))
    assert (added.verdict, relations(added)) == ("risky", ("yes", "no", "yes", "no"))
    assert [(each.rule, each.location) for each in added.findings] == [("closed-field-added", "params.v.size")]
    assert (removed.verdict, relations(removed)) == ("breaking", ("no", "yes", "no", "yes"))
    assert [(each.rule, each.effect) for each in removed.findings] == [("field-removed", "refused")]


def test_a_field_that_a_pattern_of_a_closed_object_admits_is_no_new_name() -> None:
    shut: Schema = {"patternProperties": {"^x-": STRING}, "additionalProperties": False}
    sides = [protocol({"GoRequest": go({"v": go(each, **shut)})}) for each in ({}, {"x-size": {"type": "integer"}})]
    assert [(each.rule, each.severity) for each in compared(*sides).findings] == [
        ("type-narrowed", "breaking"),
        ("field-added", "additive"),
    ]


def of_version(version: str, extra: Schema | None = None, **scheme: Any) -> Schema:
    """A document whose definitions have its version in their names, with servers under names that match a pattern."""
    names = {
        each: f"#/definitions/{each}-{version}" for each in ("Server", "Scheme", "Certificate", "Password", "More")
    }

    def closed(tag: str, **more: Any) -> Schema:
        properties = {"type": {"enum": [tag]}, "text": STRING}
        return (
            go(properties, ("type",), patternProperties={"^x-": {"$ref": names["More"]}}, additionalProperties=False)
            | more
        )

    reference = go({"$ref": STRING}, ("$ref",))
    bodies: Schema = {
        "Server": go(
            {"security": {"oneOf": [reference, {"$ref": names["Scheme"]}]}, **(extra or {})}, additionalProperties=False
        ),
        "Scheme": {"oneOf": [{"$ref": names["Certificate"]}, {"$ref": names["Password"]}]},
        "Certificate": closed("certificate", **scheme),
        "Password": closed("password"),
        "More": {"additionalProperties": True},
    }
    servers = go({}, patternProperties={"^[a-z]*$": {"$ref": names["Server"]}}, additionalProperties=False)
    definitions = {f"{name}-{version}": body for name, body in bodies.items()}
    root = go({"version": {"const": version}, "servers": servers}, ("version",), additionalProperties=False)
    return {"$schema": "http://json-schema.org/draft-07/schema#", **root, "definitions": definitions}


OF_VERSION = [("closed-value-removed", "version"), ("closed-value-added", "version")]


def test_definitions_with_a_version_in_their_names_are_told_by_what_differs_in_them() -> None:
    def find_harms(new: Schema) -> list[tuple[str, str]]:
        findings = compared(of_version("1"), new).findings
        return [(each.rule, each.declaration) for each in findings if each.severity != "editorial"]

    assert find_harms(of_version("2")) == OF_VERSION
    assert find_harms(of_version("2", {"port": STRING})) == [
        OF_VERSION[0],
        ("closed-field-added", "Server-2.port"),
        OF_VERSION[1],
    ]


def test_a_keyword_that_refuses_nothing_leaves_its_record_to_the_changes_inside() -> None:
    more = {"propertyNames": {"type": "string"}}
    old = protocol({"GoRequest": go({"v": go({"k": STRING}, additionalProperties=False)})})
    new = protocol({"GoRequest": go({"v": go({"k": STRING, "n": STRING}, ("n",), additionalProperties=False, **more)})})
    (finding,) = compared(old, new).findings
    assert (finding.rule, finding.location, finding.breaks) == (
        "required-field-added",
        "params.v.n",
        "an old client that talks to a new agent; a new client that talks to an old agent",
    )


def test_what_no_rule_explains_is_told_once_at_its_definition_with_a_message_that_is_refused_there() -> None:
    narrower = {"not": {"properties": {"text": {"const": "no"}}, "required": ["text"]}}
    findings = compared(of_version("1"), of_version("2", **narrower)).findings
    (finding,) = (each for each in findings if each.rule.startswith("limit"))
    assert (finding.rule, finding.declaration, finding.severity) == ("limit-tightened", "Certificate-2", "breaking")
    assert finding.witness is not None
    value: Any = finding.witness.value
    (server,) = value["servers"].values()
    assert server["security"] == {"type": "certificate", "text": "no"}


def test_a_value_that_two_branches_name_is_refused_at_its_place() -> None:
    """Under `oneOf`, the value that a second branch names, too, is one that no branch alone accepts."""

    def status(*second: str) -> Schema:
        branches = [{"enum": ["success", "skipped"]}, {"enum": ["warn", *second]}]
        return protocol({"GoRequest": go({"status": {"oneOf": branches}})})

    (finding,) = compared(status(), status("skipped")).findings
    assert (finding.rule, finding.location, finding.severity) == ("limit-tightened", "params.status", "breaking")
    assert finding.witness is not None
    value: Any = finding.witness.value
    assert value["params"] == {"status": "skipped"}


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"minLength": 2}, "at least 2 characters"),
        ({"maxLength": 1}, "at most 1 character"),
        ({"minLength": 4, "maxLength": 4}, "exactly 4 characters"),
        ({"minLength": 4, "maxLength": 8}, "4 to 8 characters"),
    ],
)
def test_limits_of_a_length_are_told_as_one(limits: Schema, words: str) -> None:
    sides = [protocol({"GoRequest": go({"k": STRING | each})}) for each in ({}, limits)]
    (finding,) = compared(*sides).findings
    assert finding.message == f"Must be a string of {words} (previously any string)."


def test_what_is_marked_unstable_explains_nothing_and_breaks_nothing() -> None:
    closed: Schema = {"oneOf": [go({"type": {"const": "a"}}, ("type",)), go({"type": {"const": "b"}}, ("type",))]}
    more = {"oneOf": [*closed["oneOf"], {**go({"type": {"const": "c"}}, ("type",)), "x-unstable": True}]}
    sides = [
        protocol({"GoRequest": go({"update": {"$ref": "#/$defs/Update"}, name: STRING}), "Update": union})
        for name, union in (("one", closed), ("one", more))
    ]
    report = compared(*sides)
    assert report.verdict == "editorial"
    assert relations(report) == ("yes",) * 4


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
def test_a_union_without_a_stable_branch_leaves_no_other_question_open(keyword: str) -> None:
    branches = [{**go({"type": {"const": tag}}, ("type",)), "x-unstable": True} for tag in "ab"]
    sides = [
        protocol({"GoRequest": go({"next": {"$ref": "#/$defs/Next"}, "text": text}), "Next": {keyword: branches}})
        for text in (STRING, STRING | {"maxLength": 3})
    ]
    (finding,) = compared(*sides).findings
    assert (finding.rule, finding.severity) == ("limit-tightened", "breaking")


def test_what_becomes_unstable_is_withdrawn_from_the_stable_part() -> None:
    fields = {"a": STRING, "b": STRING}
    old = protocol({"GoRequest": go(fields) | {"additionalProperties": False}})
    new = protocol(
        {"GoRequest": go({"a": STRING, "b": {**STRING, "x-unstable": True}}) | {"additionalProperties": False}}
    )
    (finding,) = [each for each in compared(old, new).findings if each.rule != "schema-restructured"]
    assert (finding.rule, finding.severity, finding.declaration) == ("field-removed", "breaking", "GoRequest.b")
    assert finding.witness is not None and finding.witness.refused_by == "new"
    assert compared(old, new, unstable=True).verdict == "editorial"


# --- schemas of other protocols ---


def wild(name: str) -> Schema:
    evidence.need(f"wild/{name}")
    return json.loads(evidence.path(f"wild/{name}").read_text("utf-8"))  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", tiers.sample(["Breakpoint", "Capabilities", "StackFrame"], 1))
def test_a_definition_of_the_debug_adapter_protocol_that_demands_more_is_found(name: str) -> None:
    old = wild("dap.json")
    new = copy.deepcopy(old)
    new["definitions"][name]["properties"]["planted"] = STRING
    new["definitions"][name]["required"] = [*new["definitions"][name].get("required", ()), "planted"]
    report = compared(old, new)
    breaking = {each.location for each in report.findings if each.severity == "breaking"}
    assert any(location.endswith(".planted") for location in breaking)
    assert report.coverage is not None and report.coverage.not_compared == ()


@pytest.mark.parametrize("file", tiers.sample(["a2a-0.2.0.json", "a2a-0.3.0.json"], 1))
def test_the_agent_card_is_compared(file: str) -> None:
    old = wild(file)

    def drop(card: Schema) -> None:
        card["properties"].pop("description")
        card["required"].remove("description")

    def rename(card: Schema) -> None:
        card["properties"]["called"] = card["properties"].pop("name")
        card["required"] = ["called" if each == "name" else each for each in card["required"]]

    def require(card: Schema) -> None:
        card["required"].append("provider")

    for change in (drop, rename, require):
        new = copy.deepcopy(old)
        change(new["definitions"]["AgentCard"])
        report = compared(old, new)
        assert report.verdict == "breaking", change
        found = {each.location.partition(".")[0] for each in report.findings}
        assert found and found <= {"AgentCard", "result"}  # the newer one has a method that tells it


# --- no input ends in a crash ---


def _schemas(tree: Any, *, names: bool = False) -> Iterator[Any]:
    if isinstance(tree, dict):
        if not names and tree.keys() & {"type", "properties", "$ref", "anyOf", "oneOf", "enum", "const"}:
            yield tree
        for key, value in tree.items():
            yield from _schemas(value, names=key in ("properties", "$defs", "definitions"))
    elif isinstance(tree, list):
        for item in tree:
            yield from _schemas(item)


def _retype(node: Schema, luck: random.Random) -> None:
    node["type"] = luck.choice(["string", "integer", "object", "array", "null", ["string", "null"]])


def _drop(node: Schema, luck: random.Random) -> None:
    node.pop(luck.choice(list(node)))


def _mark(node: Schema, luck: random.Random) -> None:
    node[luck.choice(["x-docs-ignore", "x-unstable", "additionalProperties"])] = luck.choice([True, False])


def _shut(node: Schema, luck: random.Random) -> None:
    node[luck.choice(["not", "items", "if", "contains"])] = luck.choice([True, False, {}, {"type": "string"}])


def _rename(node: Schema, luck: random.Random) -> None:
    properties = node.get("properties")
    if isinstance(properties, dict) and properties:
        properties["renamed"] = properties.pop(luck.choice(list(properties)))


def _branch(node: Schema, luck: random.Random) -> None:
    several = luck.choice([[{"type": "null"}], [{"type": "object"}, {"type": "string", "minLength": 1}]])
    node[luck.choice(["oneOf", "anyOf", "allOf"])] = several


CHANGES = (_retype, _drop, _mark, _shut, _rename, _branch)


def mutated(schema: Schema, luck: random.Random) -> Schema:
    changed = copy.deepcopy(schema)
    for _ in range(luck.randint(1, 4)):
        luck.choice(CHANGES)(luck.choice(list(_schemas(changed))), luck)
    return changed


BASES = (
    protocol({"Card": THING, "GoRequest": go({"x": {"oneOf": [go({"type": {"const": "a"}}, ("type",)), THING]}})}),
    {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"anyOf": [STRING, THING]}, "B": {"enum": ["x", 1]}},
    },
)


@pytest.mark.parametrize("seed", tiers.sample(range(40), 20))
def test_what_is_changed_at_random_gets_a_verdict_or_a_fault(seed: int) -> None:
    luck = random.Random(seed)
    base = luck.choice(BASES)
    _judged(base, mutated(base, luck))


@pytest.mark.parametrize(
    "path",
    [
        RELEASES / "v1" / "0.10.0.json",
        *(
            pytest.param(evidence.path(name), marks=(pytest.mark.evidence(name), pytest.mark.exhaustive))
            for name in ("upstream/acp-v2-newest/schema.json", "wild/a2a-0.3.0.json")
        ),
    ],
    ids=["acp-v1", "acp-v2", "a2a"],
)
@pytest.mark.parametrize("whole", tiers.EXTENTS)
def test_real_schemas_that_are_changed_at_random_get_a_verdict_or_a_fault(path: Path, whole: bool) -> None:
    schema = json.loads(path.read_text())
    for seed in range(8 if whole else 1):
        _judged(schema, mutated(schema, random.Random(seed)))


def _judged(old: Schema, new: Schema) -> None:
    for sides in ((old, new), (new, old)):
        try:
            report = compared(*sides, unstable=True)
        except Faults:
            continue
        assert report.verdict != "identical" or old == new
        for name in FORMATS:
            written(report, name)


@pytest.mark.parametrize(
    ("definition", "old", "new", "backward", "forward"),
    [
        ({"type": "integer"}, "draft-04", "draft-07", "yes", "no"),
        ({"const": 1}, "draft-04", "draft-06", "no", "yes"),
        ({"contains": {"type": "null"}}, "draft-04", "draft-06", "no", "yes"),
        ({"if": {"type": "string"}, "then": False}, "draft-06", "draft-07", "no", "yes"),
        ({"type": "string"}, "draft-04", "draft-07", "yes", "yes"),
    ],
)
def test_equal_text_of_a_definition_is_compared_where_another_draft_reads_it(
    tmp_path: Path, definition: Schema, old: str, new: str, backward: str, forward: str
) -> None:
    sides: list[Documents] = []
    for draft in (old, new):
        file = tmp_path / f"{draft}.json"
        file.write_text(
            json.dumps({"$schema": f"http://json-schema.org/{draft}/schema#", "definitions": {"A": definition}})
        )
        sides.append(load(file))
    report = compare(*sides, mode="language")
    assert (report.language.backward, report.language.forward) == (backward, forward)


def test_a_tuple_of_one_type_is_compared_as_the_array_that_it_is() -> None:
    entry = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}

    def listing(**array: Any) -> Schema:
        return protocol({"GoRequest": {"type": "object", "properties": {"keys": {"type": "array", **array}}}})

    one = listing(prefixItems=[entry], items=False, minItems=1)
    found = {each.rule: each.message for each in compared(one, listing(items=entry, minItems=1)).findings}
    assert found["limit-loosened"] == "May now contain at least 1 item (previously exactly 1 item)."


def test_an_entry_at_the_end_of_a_tuple_is_one_finding() -> None:
    def listing(*entries: str) -> Schema:
        array = {"type": "array", "prefixItems": [{"type": each} for each in entries], "items": False}
        return protocol({"GoRequest": {"type": "object", "properties": {"keys": array}}})

    report = compared(listing("string"), listing("string", "integer"))
    assert [each.rule for each in report.findings] == ["limit-loosened"]
    report = compared(listing("string", "string"), listing("integer", "string", "string"))
    assert {each.rule for each in report.findings} == {"type-widened", "limit-loosened", "limit-tightened"}


def test_a_limit_is_told_without_a_fraction_that_it_does_not_have() -> None:
    def limited(minimum: float) -> Schema:
        schema = {"type": "integer", "minimum": minimum}
        return protocol({"GoRequest": {"type": "object", "properties": {"size": schema}}})

    report = compared(limited(0.0), limited(1))
    assert [each.message for each in report.findings] == [
        "Must be an integer of at least 1 (previously an integer of at least 0)."
    ]


def test_a_keyword_that_is_not_compared_leaves_no_doubt_where_only_a_compared_definition_differs() -> None:
    def mapping(**more: Schema) -> Schema:
        part = {"type": "object", "properties": {"size": {"type": "integer"}, **more}, "additionalProperties": False}
        by_name = {
            "additionalProperties": {"$ref": "#/$defs/Part"},
            "patternProperties": {"^a": {"$ref": "#/$defs/Part"}},
        }
        whole = {"type": "object", "properties": {"one": {"$ref": "#/$defs/Part"}, "all": {"$ref": "#/$defs/Parts"}}}
        return protocol({"GoRequest": whole, "Parts": {"type": "object", **by_name}, "Part": part})

    report = compared(mapping(), mapping(name={"type": "string"}))
    assert [(each.rule, each.severity) for each in report.findings] == [("closed-field-added", "risky")]


def test_a_refusal_that_no_change_explains_says_where_the_message_has_it() -> None:
    def listing(*tools: str) -> Schema:
        step = {"type": "object", "properties": {"tool": {"enum": [*tools]}}}
        both = {"allOf": [{"$ref": "#/$defs/Step"}], "anyOf": [{"$ref": "#/$defs/Step"}]}
        return protocol({"GoRequest": {"type": "object", "properties": {"run": {"items": both}}}, "Step": step})

    (finding,) = (each for each in compared(listing("a"), listing("a", "b")).findings if each.severity == "breaking")
    assert finding.message.endswith("; the witness contains one at '/params/run/0/tool'.")


def test_a_definition_that_other_messages_hold_on_each_side_is_reported_where_a_document_pairs_it() -> None:
    def answers(name: str, *needed: str) -> Schema:
        part = {"type": "object", "properties": {each: {"type": "string"} for each in needed}, "required": [*needed]}
        whole = {"type": "object", "properties": {"part": {"$ref": "#/$defs/Part"}}, "required": ["part"]}
        result = {**whole, "x-method": f"s/{name.lower()}", "x-side": "agent"}
        request = {"type": "object", "x-method": f"s/{name.lower()}", "x-side": "agent"}
        union = {"anyOf": [{"$ref": f"#/$defs/{name}Response"}, {"type": "string"}]}
        return protocol({"Answer": union, f"{name}Request": request, f"{name}Response": result, "Part": part})

    report = compared(answers("First", "a"), answers("Second", "a", "b"))
    assert ("required-field-added", "Part.b") in {(each.rule, each.declaration) for each in report.findings}


def test_a_root_that_is_written_differently_is_called_the_root_and_what_is_not_compared_is_told_once() -> None:
    def document(longest: int, **root: Any) -> Schema:
        return {"type": "object", "$defs": {"Text": {"type": "string", "maxLength": longest}}, **root}

    report = compared(document(5), document(4, allOf=[True]))
    messages = [each.message for each in report.findings if each.rule == "schema-restructured"]
    assert messages == ["The root schema is written differently, in a way that no message can show."]
    report = compared(document(5), document(5, default={}))
    assert [each.rule for each in report.findings] == ["not-compared"]


@pytest.mark.parametrize("patterns", [{}, {"patternProperties": {"^x": {"$ref": "#/$defs/Parts"}}}])
def test_what_no_rule_explains_is_told_at_the_definition_that_has_it(patterns: Schema) -> None:
    text, size = ({"type": "object", "additionalProperties": {"type": each}} for each in ("string", "integer"))
    either = {"type": "object", "additionalProperties": {"type": ["string", "integer"]}}

    def listing(part: Schema) -> Schema:
        whole = {"type": "object", "properties": {"parts": {"$ref": "#/$defs/Parts"}}, **patterns}
        return protocol({"GoRequest": whole, "Parts": part})

    report = compared(listing({"anyOf": [text, size]}), listing(either))
    assert [(each.rule, each.severity, each.location) for each in report.findings] == [
        ("limit-loosened", "breaking", "params.parts")
    ]
    assert [each.new.pointer for each in report.findings if each.new] == ["/$defs/Parts"]


def test_a_whole_file_that_is_written_differently_is_no_definition(tmp_path: Path) -> None:
    for side, more in (("old", {}), ("new", {"minProperties": 0})):
        folder = tmp_path / side
        folder.mkdir()
        whole = {"type": "object", "properties": {"part": {"$ref": "part.json#/$defs/Part"}}, **more}
        part = {"type": "object", "$defs": {"Part": {"type": "string"}}}
        for name, schema in (("whole.json", whole), ("part.json", part)):
            (folder / name).write_text(
                json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})
            )
    report = compare(load(tmp_path / "old"), load(tmp_path / "new"))
    assert [each.message for each in report.findings] == [
        "The file 'whole.json' is written differently, in a way that no message can show."
    ]


def test_keywords_of_maps_and_lists_in_fields_are_told_there_each_once() -> None:
    def recording(labels: Schema, tags: Schema) -> Schema:
        properties = {
            "labels": {"type": "object", "additionalProperties": {"type": "string"}, **labels},
            "tags": {"type": "array", "items": {"type": "string"}, **tags},
        }
        return protocol({"GoRequest": {"type": "object", "properties": properties}})

    old, new = recording({}, {}), recording({"propertyNames": {"pattern": "^a"}}, {"contains": {"const": "x"}})
    findings = compared(old, new).findings
    assert [(each.rule, each.location) for each in findings] == [
        ("limit-tightened", "params.labels"),
        ("limit-tightened", "params.tags"),
    ]
    assert [each.new.pointer for each in findings if each.new] == [
        "/$defs/GoRequest/properties/labels",
        "/$defs/GoRequest/properties/tags",
    ]
    assert compared(recording({}, {}), recording({"minProperties": 0}, {})).verdict == "editorial"


def test_a_refusal_that_no_change_explains_is_placed_at_the_change_and_not_where_the_message_is_refused_too() -> None:
    def listing(tool: Schema, name: Schema) -> Schema:
        deep = {"type": "object", "required": ["id"], "properties": {"id": name}}
        fields: Schema = {"tool": tool, "deep": {"type": "array", "items": deep, "minItems": 1}}
        return protocol({"GoRequest": {"type": "object", "required": ["deep"], "properties": fields}})

    ours = listing({"not": {"const": "a"}}, {"const": "b"})
    report = compared(ours, listing({"not": {"enum": ["a", "c"]}}, {"const": "d"}))
    (finding,) = (each for each in report.findings if each.location == "params.tool")
    assert finding.message.endswith("; the witness contains one at '/params/tool'.")


def test_what_a_whole_message_demands_is_not_placed_in_its_content() -> None:
    def ping(*required: str) -> Schema:
        request = go({"method": {"const": "ping"}, "params": {"$ref": "#/$defs/Ping"}}, ("method", "params", *required))
        return {"$defs": {"PingRequest": request, "Ping": go({"x": STRING}, required)}}

    (around,) = (each for each in compared(ping(), ping("x")).findings if each.location == "PingRequest")
    assert around.message.endswith("; the witness contains one.")


def test_each_refused_declaration_is_in_one_language_finding() -> None:
    def schema(longest: int) -> Schema:
        changed = {f"Changed{at}": {"maxLength": longest, "type": "string"} for at in range(3)}
        inner = {f"Inner{at}": go({name: {"$ref": f"#/$defs/{name}"} for name in changed}) for at in range(3)}
        outer = {f"Outer{at}": {"items": {"$ref": f"#/$defs/Inner{at}"}} for at in range(3)}
        return {"$ref": "#/$defs/Outer0", "$defs": {**outer, **inner, **changed}}

    report = compared(schema(9), schema(8), mode="language")
    places = [[reach.location for reach in each.reaches] for each in report.findings]
    assert {each[0] for each in places} == {"Changed0", "Changed1", "Changed2"}
    assert sorted(name for each in places for name in each) == sorted(
        ["", *(f"Changed{at}" for at in range(3)), *(f"{kind}{at}" for kind in ("Inner", "Outer") for at in (1, 2))]
    )


def test_a_file_without_methods_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    files: list[str] = []

    def count(side: Input, **options: Any) -> SchemaRevision:
        files.append(side.label)
        return read_revision(side, **options)

    monkeypatch.setattr("acpgen.compat.compare.read_revision", count)
    report = compared(THING, NARROWER)
    assert (report.verdict, files) == ("breaking", ["old", "new"])


@pytest.mark.parametrize("is_added", [True, False])
def test_a_file_gains_or_loses_its_only_method(is_added: bool) -> None:
    message = {"type": "object", "required": ["method"], "properties": {"method": {"const": "go"}, "params": THING}}
    sides: list[Schema] = [{**THING, "$defs": {"Thing": THING, **more}} for more in ({}, {"GoRequest": message})]
    report = compared(*(sides if is_added else sides[::-1]))
    assert [each.rule for each in report.findings] == ["method-added" if is_added else "method-removed"]
    assert "Document" not in written(report, "json")
