"""Witnesses look like messages of the protocol, and hold where formats are asserted too."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from acpgen.compat.findings import Finding, Witness
from acpgen.meaning.sample_texts import OF_FORMAT
from compat.protocols import Schema, compared, found, go, migration, protocol


def params(witness: Witness | None) -> Any:
    assert witness is not None and isinstance(witness.value, dict)
    return witness.value["params"]


def accepts(schema: Schema, definition: str, value: object) -> bool:
    """Whether a second validator accepts a value for a definition, with formats asserted."""
    whole = {"$ref": f"#/$defs/{definition}", "$defs": schema["$defs"]}
    return jsonschema_rs.is_valid(whole, value, validate_formats=True)


def test_a_message_holds_a_text_of_each_format_that_its_fields_name() -> None:
    fields = {f"f{index}": {"type": "string", "format": name} for index, name in enumerate(OF_FORMAT)}
    old = protocol({"GoRequest": go(fields, tuple(fields))})
    new = protocol({"GoRequest": go({**fields, "more": {}}, (*fields, "more"))})
    (finding,) = found(compared(old, new), "required-field-added")
    assert finding.witness is not None and finding.witness.formats
    assert accepts(old, "GoRequest", params(finding.witness))
    assert not accepts(new, "GoRequest", params(finding.witness))


@pytest.mark.parametrize("limit", [{"maxLength": 30}, {"minLength": 12}, {"pattern": "^h"}])
@pytest.mark.parametrize("name", ["uri", "iri", "uri-reference", "regex", "json-pointer"])
def test_what_breaks_a_limit_is_of_its_format(name: str, limit: Schema) -> None:
    def schema(**limits: Any) -> Schema:
        return protocol({"GoRequest": go({"x": {"type": "string", "format": name, **limits}}, ("x",))})

    old, new = schema(), schema(**limit)
    (finding,) = found(compared(old, new), "limit-tightened")
    assert finding.witness is not None and finding.witness.formats
    assert accepts(old, "GoRequest", params(finding.witness))
    assert not accepts(new, "GoRequest", params(finding.witness))


def test_what_the_prover_finds_is_made_to_hold_with_formats_too() -> None:
    """The prover takes the shortest text; no uri is empty."""

    def schema(**keywords: Any) -> Schema:
        fields = {"u": {"type": "string", "format": "uri"}, "n": {"type": "integer"}}
        return protocol({"GoRequest": {**go(fields, ("u", "n")), **keywords}})

    old, new = schema(), schema(**{"if": {"properties": {"n": {"minimum": 3}}}, "then": {"required": ["why"]}})
    (finding,) = [each for each in compared(old, new).findings if each.severity == "breaking"]
    assert finding.witness is not None and finding.witness.formats
    assert accepts(old, "GoRequest", params(finding.witness))


def test_what_no_text_of_the_format_can_show_says_so() -> None:
    """No date has twelve characters: who asserts formats sees nothing of this change."""

    def schema(**limits: Any) -> Schema:
        return protocol({"GoRequest": go({"x": {"type": "string", "format": "date", **limits}}, ("x",))})

    (finding,) = found(compared(schema(), schema(maxLength=11)), "limit-tightened")
    assert finding.witness is not None
    assert (finding.witness.verified, finding.witness.formats) == (True, False)


def test_values_are_those_that_the_schema_shows_or_that_the_name_of_a_field_says() -> None:
    fields: Schema = {
        "sessionId": {"type": "string"},
        "cwd": {"type": "string"},
        "noteId": {"type": "string", "examples": ["note-77"]},
        "at": {"type": "string", "format": "date-time"},
        "mode": {"type": "string", "default": "ask"},
    }
    old = protocol({"GoRequest": go(fields, tuple(fields))})
    new = protocol({"GoRequest": go({**fields, "more": {}}, (*fields, "more"))})
    (finding,) = found(compared(old, new), "required-field-added")
    assert params(finding.witness) == {
        "sessionId": "session-1",
        "cwd": "/project",
        "noteId": "note-77",
        "at": "2026-07-02T08:30:00Z",
        "mode": "ask",
    }


def test_all_witnesses_between_the_versions_of_acp_hold_with_formats() -> None:
    findings: tuple[Finding, ...] = migration().findings
    witnesses = [reach.witness for each in findings for reach in each.reaches if reach.witness is not None]
    assert len(witnesses) > 100
    assert all(witness.verified and witness.formats for witness in witnesses)


@pytest.mark.parametrize(
    ("one", "other", "sent"),
    [
        pytest.param("^(?<major>[0-9])$", "^(?<major>[a-f])$", "0", id="a named group"),
        pytest.param(r"^\cA$", r"^\cB$", "\x01", id="a control character"),
        pytest.param(r"^[\s\S]$", "^(.)$", "\n", id="a dot and the end of a line"),
        pytest.param(r"^a\n?$", "^a$", "a\n", id="an end behind the last line"),
    ],
)
def test_patterns_are_judged_as_ecma_262_reads_them(one: str, other: str, sent: str) -> None:
    old, new = (
        protocol({"GoRequest": go({"x": {"type": "string", "pattern": each}}, ("x",))}) for each in (one, other)
    )
    report = compared(old, new)
    (finding,) = [each for each in report.findings if each.severity == "breaking"]
    assert (params(finding.witness), report.wire.backward) == ({"x": sent}, "no")


@pytest.mark.parametrize("pattern", ["^(?!x).{3,}$", "(?=.*[A-Z])(?=.*[0-9])", r"^(?:(?!\.\.).)*[0-9]$"])
def test_a_message_holds_a_text_of_a_pattern_that_looks_around(pattern: str) -> None:
    def schema(kind: str) -> Schema:
        fields = {"x": {"type": "string", "pattern": pattern}, "n": {"type": kind}}
        return protocol({"GoRequest": go(fields, ("x", "n"))})

    old, new = schema("integer"), schema("string")
    (finding,) = found(compared(old, new), "type-changed")
    assert accepts(old, "GoRequest", params(finding.witness)) and not accepts(new, "GoRequest", params(finding.witness))


@pytest.mark.parametrize("pattern", [r"^\p{L}+$", r"^(e+)x\1*ample$"])
def test_a_pattern_that_cannot_be_read_leaves_a_finding_undecided(pattern: str) -> None:
    def schema(kind: str) -> Schema:
        fields = {"x": {"type": "string", "pattern": pattern}, "n": {"type": kind}}
        return protocol({"GoRequest": go(fields, ("x", "n"))})

    report = compared(schema("integer"), schema("string"))
    assert {(each.rule, each.severity) for each in report.findings} >= {("type-narrowed", "undecided")}


@pytest.mark.parametrize(
    "beside",
    [
        {"type": "object", "minProperties": 1},
        {
            "type": "object",
            "patternProperties": {"^[a-z]+$": {"$ref": "#/$defs/Job"}},
            "additionalProperties": False,
            "minProperties": 2,
        },
        {"type": "array", "items": {"type": "integer"}, "contains": {"const": 7}},
        {"type": "object", "properties": {"in": {"type": "object", "minProperties": 1}}, "required": ["in"]},
        {"type": "object", "properties": {"a": {}}, "required": ["a"], "dependentRequired": {"a": ["b"]}},
        {
            "type": "object",
            "properties": {"n": {"type": "integer"}},
            "anyOf": [{"required": ["n"]}, {"required": ["m"]}],
        },
    ],
    ids=["a member", "members by a pattern", "an item", "a member of a member", "a member that follows", "one of two"],
)
def test_what_stands_beside_a_change_is_valid_whatever_keyword_demands_it(beside: Schema) -> None:
    """Types do not carry these keywords, so values that are made from types lack what they demand."""
    job = {"type": "object", "properties": {"runs": {"type": "string"}}, "required": ["runs"]}

    def schema(*values: str) -> Schema:
        return protocol(
            {"GoRequest": go({"on": {"type": "string", "enum": [*values]}, "jobs": beside}, ("on", "jobs")), "Job": job}
        )

    old, new = schema("push"), schema("push", "merge")
    report = compared(old, new)
    assert [each.rule for each in report.findings] == ["closed-value-added"]
    assert report.findings[0].severity == "risky"
    told = params(report.findings[0].witness)
    assert told["on"] == "merge"
    assert accepts(new, "GoRequest", told)
    assert not accepts(old, "GoRequest", told)


def test_members_that_a_pattern_permits_in_a_closed_object_are_told_by_the_pattern() -> None:
    def schema(**keywords: Any) -> Schema:
        fields = {"a": {"type": "string"}}
        return protocol({"GoRequest": {**go(fields, ("a",)), "additionalProperties": False, **keywords}})

    old, new = schema(), schema(patternProperties={"^x-": {"type": "integer"}})
    for one, other, rule, severity in ((old, new, "object-opened", "risky"), (new, old, "object-closed", "breaking")):
        (finding,) = compared(one, other).findings
        assert (finding.rule, finding.severity) == (rule, severity)
        assert finding.message.startswith("Members whose names match '^x-' are now ")
        told = params(finding.witness)
        assert accepts(new, "GoRequest", told)
        assert not accepts(old, "GoRequest", told)


def test_a_pattern_in_an_object_that_is_open_limits_no_names() -> None:
    def schema(*, is_open: bool) -> Schema:
        rest: Schema = {"patternProperties": {"^x-": {}}} if is_open else {"additionalProperties": False}
        return protocol({"GoRequest": {**go({"a": {"type": "string"}}, ("a",)), **rest}})

    (finding,) = found(compared(schema(is_open=True), schema(is_open=False)), "object-closed")
    assert finding.message == "Undeclared members are now rejected, extensions included."


ONE_OF_BOTH: Schema = {"oneOf": [{"required": ["paths"]}, {"required": ["regexp"]}]}
PATHS: Schema = {"paths": {"type": "array"}, "regexp": {"type": "string"}}


@pytest.mark.parametrize(
    ("old", "new", "rule", "sender"),
    [
        (go(PATHS, ("paths",)), {**go(PATHS), **ONE_OF_BOTH}, "field-became-optional", "new"),
        ({**go(PATHS), **ONE_OF_BOTH}, go(PATHS, ("paths",)), "field-became-required", "old"),
        ({**go(PATHS), **ONE_OF_BOTH}, go({**PATHS, "new": {}}, ("new",)), "required-field-added", "old"),
        (go({**PATHS, "gone": {}}, ("gone",)), {**go(PATHS), **ONE_OF_BOTH}, "required-field-removed", "new"),
    ],
)
def test_what_lacks_a_member_has_what_must_then_be_there(old: Schema, new: Schema, rule: str, sender: str) -> None:
    before, after = protocol({"GoRequest": old}), protocol({"GoRequest": new})
    report = compared(before, after)
    assert "undecided" not in {each.severity for each in report.findings}
    (finding,) = found(report, rule)
    assert finding.witness is not None
    sides = (
        accepts(before, "GoRequest", params(finding.witness)),
        accepts(after, "GoRequest", params(finding.witness)),
    )
    assert sides == (sender == "old", sender == "new")


def test_what_lacks_a_member_is_shown_beside_a_branch_that_takes_anything() -> None:
    def document(job: Schema) -> Schema:
        return {"type": "object", "additionalProperties": {"$ref": "#/$defs/Job"}, "$defs": {"Job": job}}

    def hidden(job: Schema) -> Schema:
        return {**document(job), "patternProperties": {"^[.]": {"anyOf": [{"$ref": "#/$defs/Job"}, {}]}}}

    old, new = go({"changes": go(PATHS, ("paths",))}), go({"changes": {**go(PATHS), **ONE_OF_BOTH}})
    report = compared(hidden(old), hidden(new))
    assert "undecided" not in {each.severity for each in report.findings}
    (finding,) = found(report, "field-became-optional")
    assert finding.witness is not None and finding.witness.refused_by == "old"


CLOSED: Schema = {"additionalProperties": False}


def test_what_another_branch_accepts_is_not_shown_by_a_difference_elsewhere() -> None:
    def document(kinds: list[str], size: Schema) -> Schema:
        step = {"anyOf": [go({"kind": {"enum": kinds}}), {"type": "object"}]}
        return go({"steps": {"type": "array", "items": step}, "size": size})

    old, new = document(["a", "b"], {"type": "integer"}), document(["a"], {"type": "integer", "minimum": 1})
    refused = [each for each in compared(old, new).findings if each.witness is not None and each.witness.refused_by]
    assert [(each.rule, each.location) for each in refused] == [("limit-tightened", "size")]


def test_a_message_shows_one_change_alone() -> None:
    def document(kinds: list[str], times: list[str]) -> Schema:
        update = go({"kind": {"enum": kinds}, "time": {"enum": times}}, ("kind", "time"))
        return go({"updates": {"type": "array", "items": update}}, ("updates",))

    report = compared(document(["zip"], ["week"]), document(["bun", "zip"], ["day", "week"]))
    values = [each.witness.value for each in found(report, "closed-value-added") if each.witness is not None]
    assert sorted(map(str, values)) == [
        "{'updates': [{'kind': 'bun', 'time': 'week'}]}",
        "{'updates': [{'kind': 'zip', 'time': 'day'}]}",
    ]


def test_a_field_that_moves_into_conditions_is_not_removed() -> None:
    fields: Schema = {"git": {"type": "string"}, "group": {"type": "string"}}
    legacy = {"legacy": {"type": "boolean"}}
    new = {
        "type": "object",
        "if": {"properties": {"legacy": {"const": False}}},
        "then": {"properties": {**legacy, "git": fields["git"]}, **CLOSED},
        "else": {"properties": {**legacy, **fields}, **CLOSED},
    }
    findings = [each for each in compared(go(fields), new).findings if each.severity == "breaking"]
    assert [each.rule for each in findings] == ["limit-tightened"]
    witness = findings[0].witness
    assert witness is not None and isinstance(witness.value, dict) and list(witness.value) == ["group"]


def test_what_is_never_sent_loses_no_meaning() -> None:
    shared = go({"name": {"type": "string"}, "git": {"type": "string"}})
    without_git = {"allOf": [{"$ref": "#/$defs/Shared"}, {"not": {"required": ["git"]}}]}
    old = {**go({"version": without_git}), "$defs": {"Shared": shared}}
    new = {
        **go({"version": {"$ref": "#/$defs/Plain"}}),
        "$defs": {"Plain": go({"name": {"type": "string"}}), "Shared": shared},
    }
    assert {each.rule for each in compared(old, new).findings} == {"schema-restructured"}


def test_alternatives_with_different_constants_are_not_paired() -> None:
    def target(builder: str, *names: str) -> Schema:
        return {**go({"builder": {"const": builder}, **{name: {"type": "string"} for name in names}}), **CLOSED}

    def document(*targets: Schema) -> Schema:
        return go({"targets": {"type": "array", "items": {"anyOf": [*targets]}}})

    old = document(target("jest", "options"), target("karma", "options", "files"))
    new = document(target("unit", "options", "runner"), target("karma", "options", "files"))
    rules = {each.rule for each in compared(old, new).findings}
    assert rules == {"alternative-added", "alternative-removed"}


ID_OR_NAME: Schema = {"oneOf": [{"required": ["id"]}, {"required": ["name"]}]}
LICENSE: Schema = {"id": {"enum": ["MIT"]}, "name": {"type": "string"}}
LOCAL: Schema = {"if": {"properties": {"external": {"const": False}}}, "then": {"not": {"required": ["range"]}}}
PART: Schema = {"external": {"type": "boolean"}, "name": {"type": "string"}}


@pytest.mark.parametrize(
    ("old", "new", "rule", "sender"),
    [
        ({**go(LICENSE), **ID_OR_NAME}, {**go(LICENSE), **ID_OR_NAME, **CLOSED}, "object-closed", "old"),
        (
            {**go(LICENSE), **ID_OR_NAME, **CLOSED},
            {**go({**LICENSE, "told": {"enum": ["a", "b"]}}), **ID_OR_NAME, **CLOSED},
            "closed-field-added",
            "new",
        ),
        (
            {**go(PART, ("name",)), **CLOSED},
            {**go({**PART, "range": {"type": "string"}}, ("name",)), "allOf": [LOCAL], **CLOSED},
            "closed-field-added",
            "new",
        ),
        (
            {**go({**LICENSE, "text": {"type": "string", "maxLength": 9}}), **ID_OR_NAME},
            {**go({**LICENSE, "text": {"type": "string", "maxLength": 3}}), **ID_OR_NAME},
            "limit-tightened",
            "old",
        ),
    ],
)
@pytest.mark.parametrize("is_inside", [False, True])
def test_what_holds_the_place_gets_the_members_that_must_then_be_there(
    old: Schema, new: Schema, rule: str, sender: str, is_inside: bool
) -> None:
    def whole(one: Schema) -> Schema:
        """The params, or in these an object in a list beside which others must stand."""
        if not is_inside:
            return protocol({"GoRequest": one})
        holder = {**go({"parts": {"type": "array", "items": {"$ref": "#/$defs/Part"}}, **LICENSE}), **ID_OR_NAME}
        return protocol({"GoRequest": holder, "Part": one})

    before, after = whole(old), whole(new)
    report = compared(before, after)
    assert [(each.rule, each.severity) for each in report.findings if each.severity == "undecided"] == []
    (finding,) = found(report, rule)
    assert finding.witness is not None
    told = params(finding.witness)
    assert (accepts(before, "GoRequest", told), accepts(after, "GoRequest", told)) == (sender == "old", sender == "new")


STEP: Schema = {"type": "object", "properties": {"image": {"type": "string"}}, "required": ["image"]}
"""Types do not carry that a map has an entry, so the smallest value of `STEPS` is none."""
STEPS: Schema = {"oneOf": [{"type": "object", "additionalProperties": STEP, "minProperties": 1}, {"type": "array"}]}
LIMIT: Schema = {"oneOf": [{"type": "integer"}, {"type": "object", "required": ["most"], **CLOSED}]}


@pytest.mark.parametrize(
    ("old", "new", "rule", "sender"),
    [
        (
            go({"steps": STEPS}, ("steps",)),
            go({"steps": STEPS, "limit": LIMIT}, ("steps",)),
            "closed-field-added",
            "new",
        ),
        (go({"steps": STEPS, "limit": LIMIT}, ("steps",)), go({"steps": STEPS}, ("steps",)), "field-removed", "old"),
        (
            go({"steps": STEPS}, ("steps",)),
            go({"steps": STEPS, "limit": {}}, ("steps", "limit")),
            "required-field-added",
            "old",
        ),
    ],
)
def test_what_stands_inside_the_place_is_made_valid(old: Schema, new: Schema, rule: str, sender: str) -> None:
    before, after = (protocol({"GoRequest": {**one, **CLOSED}}) for one in (old, new))
    report = compared(before, after)
    assert [each.rule for each in report.findings if each.severity == "undecided"] == []
    (finding,) = found(report, rule)
    told = params(finding.witness)
    assert (accepts(before, "GoRequest", told), accepts(after, "GoRequest", told)) == (sender == "old", sender == "new")


def test_a_message_that_is_refused_for_another_change_shows_nothing_of_a_field_that_is_ignored() -> None:
    old = go({"gone": {"type": "string"}, "kept": {"type": "string"}}, ("gone", "kept"))
    new = go({"kept": {"type": "integer"}}, ("kept",))
    told = {each.rule: each for each in compared(protocol({"GoRequest": old}), protocol({"GoRequest": new})).findings}
    assert told.keys() == {"required-field-removed", "type-changed"}
    removed = told["required-field-removed"]
    assert removed.breaks == "a new client that talks to an old agent"
    assert "gone" not in params(removed.witness)
