"""Documents that are no JSON Schema: what they say of messages and nobody reads is not compared, and said so; words are words."""

from __future__ import annotations

import copy
from typing import Any, Final

import pytest

from acpgen.compat.findings import Mode
from compat.protocols import Schema, compared, go, protocol

OPENRPC: Final[Schema] = {
    "openrpc": "1.2.6",
    "info": {"title": "Tides", "version": "1"},
    "methods": [
        {
            "name": "tide/read",
            "params": [{"name": "station", "schema": {"type": "string"}}],
            "result": {"name": "tide", "schema": {"$ref": "#/components/schemas/Tide"}},
            "errors": [{"$ref": "#/components/errors/Dry"}],
        },
        {"name": "tide/stop", "params": [], "result": {"name": "done", "schema": {"type": "boolean"}}},
    ],
    "components": {"schemas": {"Tide": {"type": "number"}}, "errors": {"Dry": {"code": 1, "message": "dry"}}},
}


def rules(old: Schema, new: Schema) -> tuple[str, list[tuple[str, str]]]:
    report = compared(old, new)
    return report.verdict, [(each.rule, each.location) for each in report.findings]


def changed(document: Schema, where: str, value: Any) -> Schema:
    """The document with a value at a path of keys with slashes between them."""
    made = copy.deepcopy(document)
    *above, last = [int(key) if key.isdecimal() else key for key in where.split(" ")]
    holder: Any = made
    for key in above:
        holder = holder[key]
    holder[last] = value
    return made


@pytest.mark.parametrize(
    ("document", "where", "value", "left"),
    [
        (OPENRPC, "methods 1 errors", [{"code": 1, "message": "no"}], "errors of tide/stop"),
        (OPENRPC, "methods 0 errors", [], "errors of tide/read"),
        (OPENRPC, "components errors Dry code", 2, "errors of tide/read"),
        (OPENRPC, "methods 1 streaming", True, "streaming of tide/stop"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_not_read_is_not_compared(document: Schema, where: str, value: Any, left: str) -> None:
    other = changed(document, where, value)
    for old, new in ((document, other), (other, document)):
        verdict, found = rules(old, new)
        assert verdict == "undecided"
        assert ("not-compared", left) in found


@pytest.mark.parametrize(
    ("document", "where", "value"),
    [
        (OPENRPC, "methods 1 description", "Stops."),
        (OPENRPC, "methods 1 tags", [{"name": "tide"}]),
        (OPENRPC, "methods 0 x-internal", {"type": "object"}),
        (OPENRPC, "info version", "2"),
        (OPENRPC, "components errors Unused", {"code": 5, "message": "no"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_words_are_editorial(document: Schema, where: str, value: Any) -> None:
    verdict, found = rules(document, changed(document, where, value))
    assert verdict in ("editorial", "identical"), found


def with_unstable(**changed: Any) -> Schema:
    fields = {"id": {"type": "string"}, "draft": {"type": "integer", "x-unstable": True}, **changed.get("fields", {})}
    draft = {
        "type": "object",
        "x-unstable": True,
        "properties": {"a": {"type": "object", "properties": changed.get("inner", {})}},
    }
    return protocol(
        {"GoRequest": go({key: value for key, value in fields.items() if value is not None}), "Draft": draft}
    )


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"fields": {"draft": {"type": "string", "x-unstable": True}}}, "'GoRequest.draft'"),
        ({"fields": {"draft": None}}, "'GoRequest.draft'"),
        ({"fields": {"more": {"x-unstable": True}}}, "'GoRequest.more'"),
        ({"inner": {"b": {"type": "string"}}}, "'Draft'"),
        ({"fields": {"draft": None}, "inner": {"b": {"type": "string"}}}, "'Draft', 'GoRequest.draft'"),
    ],
)
def test_what_is_unstable_and_differs_is_named_where_it_is_left_out(changed: dict[str, Any], told: str) -> None:
    report = compared(with_unstable(), with_unstable(**changed))
    (finding,) = report.findings
    assert (report.verdict, finding.rule) == ("editorial", "schema-restructured")
    assert finding.message == f"Definitions and fields marked 'x-unstable' differ and were not compared: {told}."
    assert "--unstable" in finding.advice
    judged = compared(with_unstable(), with_unstable(**changed), unstable=True)
    assert "x-unstable" not in " ".join(each.message for each in judged.findings)


def test_what_becomes_stable_is_told_by_what_it_is() -> None:
    report = compared(with_unstable(), with_unstable(fields={"draft": {"type": "integer"}}))
    assert [each.rule for each in report.findings] == ["field-added"]
    words = {"type": "integer", "x-unstable": True, "description": "New words."}
    assert "left out" not in " ".join(
        each.message for each in compared(with_unstable(), with_unstable(fields={"draft": words})).findings
    )


# --- keywords without effect -----------------------------------------------------------------------------------------


def misspelt(limits: dict[str, int]) -> Schema:
    fields = {name: {"type": "string", "maxLenght": limit} for name, limit in limits.items()}
    return {"$id": "tide", "type": "object", "properties": fields}


@pytest.mark.parametrize("mode", ["protocol", "language"])
def test_a_misspelt_keyword_that_changes_is_told_in_both_modes_and_counts_for_nothing(mode: Mode) -> None:
    found = compared(misspelt({"a": 5, "b": 7}), misspelt({"a": 3, "b": 7}), mode=mode)
    (note,) = found.notes
    assert (note.rule, note.at.pointer) == ("keyword-ignored", "/properties/a/maxLenght")
    assert "Did you mean 'maxLength'?" in note.message
    assert {each.severity for each in found.findings} <= {"editorial"}
    assert not compared(misspelt({"a": 5}), misspelt({"a": 5}), mode=mode).notes


def test_what_only_moves_with_its_field_is_not_told() -> None:
    assert not compared(misspelt({"a": 5}), misspelt({"b": 5})).notes


def test_the_place_that_is_told_is_the_one_that_differs() -> None:
    notes = compared(misspelt({"z": 5}), misspelt({"a": 5, "z": 5})).notes
    assert [each.at.pointer for each in notes] == ["/properties/a/maxLenght"]


def test_a_hundred_misspelt_keywords_are_counted() -> None:
    names = [f"field{number}" for number in range(100)]
    found = compared(misspelt(dict.fromkeys(names, 5)), misspelt(dict.fromkeys(names, 6))).notes
    assert len(found) == 21
    assert found[-1].message == "80 more keywords without effect differ."


@pytest.mark.parametrize("keyword", ["additionalProperties", "unevaluatedProperties"])
def test_an_object_is_closed_by_either_keyword(keyword: str) -> None:
    def schema(*names: str, closed: bool) -> Schema:
        record = {**go({name: {"type": "string"} for name in names}), **({keyword: False} if closed else {})}
        return protocol({"GoRequest": record})

    def rules(old: Schema, new: Schema) -> list[str]:
        return [each.rule for each in compared(old, new).findings]

    assert rules(schema("a", closed=False), schema("a", closed=True)) == ["object-closed"]
    assert rules(schema("a", closed=True), schema("a", closed=False)) == ["object-opened"]
    assert rules(schema("a", closed=True), schema("a", "b", closed=True)) == ["closed-field-added"]


def test_a_method_that_a_definition_names_and_that_takes_none_is_told() -> None:
    """A notification has no result, so nothing reads the definition that says it is one."""
    old = protocol({"TellResponse": go({})})
    new = protocol({"TellResponse": {**go({}), "x-method": "s/tell", "x-side": "client"}})
    assert [(each.rule, each.declaration) for each in compared(old, new).findings] == [
        ("schema-restructured", "TellResponse")
    ]


def test_a_param_with_a_default_leaves_no_doubt_and_changes_no_other() -> None:
    params = OPENRPC["methods"][0]["params"]
    listed = {"name": "flags", "schema": {"type": "array", "items": {"type": "string"}, "default": []}}
    report = compared(OPENRPC, changed(OPENRPC, "methods 0 params", [*params, listed]))
    assert report.wire.backward == "yes"
    assert {each.declaration for each in report.findings} == {"TideReadParams", "TideReadParams.flags"}
    assert "undecided" not in {each.severity for each in report.findings}


@pytest.mark.parametrize("malformed", [{"properties": []}, {"enum": "a"}, {"required": {}}, {"anyOf": [1]}])
def test_two_languages_that_no_draft_defines_are_undecided(malformed: dict[str, object]) -> None:
    found = compared({"$defs": {"A": malformed}}, {"$defs": {"A": malformed, "B": {}}}, mode="language")
    assert {each.rule for each in found.findings} == {"language-undecided"}
    assert found.bindings == "breaking"  # nothing is generated from either


def test_what_a_schema_says_stays_in_its_place_where_it_is_written_as_a_conjunction_or_a_union() -> None:
    def write(**member: Any) -> Schema:
        return {"$defs": {"D": {"type": "object", "additionalProperties": {"patternProperties": {"^k": member}}}}}

    members = {"properties": {"a": {"type": "string", "default": "x"}}}
    plain = write(type="object", **members)
    assert compared(plain, write(allOf=[{"type": "object", **members}])).verdict == "editorial"
    assert compared(plain, write(type="object", **members, default={})).verdict == "undecided"

    def write_map(**member: Any) -> Schema:
        return {"$defs": {"D": {"type": "object", "additionalProperties": {**member, **members}}}}

    union = {"anyOf": [{"type": "string"}, {"type": "object"}]}
    assert compared(write_map(type=["string", "object"]), write_map(**union)).verdict == "editorial"
