"""Changes that no single fact tells: what is proven of them, and what is said of each relation."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import acpgen
from acpgen.compat.findings import Finding, Report
from acpgen.targets.interface import Settings
from compat.protocols import Schema, compared, documents, found, go, protocol, validates

STRING: Schema = {"type": "string"}
STDIO = go({"command": STRING}, ("command",))
HTTP = go({"type": {"const": "http"}, "url": STRING}, ("type", "url"))
KNOWN: Schema = {"not": {"properties": {"type": {"const": "http"}}, "required": ["type"]}}
TEXT = go({"type": {"const": "text"}, "text": STRING}, ("type", "text"))
UNKNOWN = go({"type": STRING}, ("type",), **{"not": {"properties": {"type": {"enum": ["text"]}}, "required": ["type"]}})


def change(old: Schema | bool, new: Schema | bool, **definitions: Schema) -> Report:
    """The report on a member `value` of the params of `s/go`."""
    sides = [protocol({"GoRequest": go({"value": each}), **definitions}) for each in (old, new)]
    return compared(*sides)


def relations(report: Report) -> tuple[str, ...]:
    return (report.wire.backward, report.wire.forward, report.language.backward, report.language.forward)


def params(finding: Finding) -> Any:
    assert finding.witness is not None
    value: Any = finding.witness.value
    return value["params"]["value"]


# --- what is reachable by undeclared members alone ---


def test_branches_that_only_undeclared_members_could_fit_at_once_break_no_peers() -> None:
    report = change({"anyOf": [HTTP, STDIO]}, {"oneOf": [HTTP, STDIO]})
    assert [(each.rule, each.severity) for each in report.findings] == [("undeclared-narrowed", "additive")]
    assert relations(report) == ("yes", "yes", "no", "yes")


def test_a_default_that_admits_known_tags_again_breaks_no_peers() -> None:
    report = change({"anyOf": [HTTP, {**STDIO, **KNOWN}]}, {"anyOf": [HTTP, STDIO]})
    assert [(each.rule, each.severity) for each in report.findings] == [("undeclared-widened", "additive")]
    assert relations(report) == ("yes", "yes", "yes", "no")


UNDECLARED: dict[str, Schema] = {
    "dependentRequired": {"dependentRequired": {"x": ["y"]}},
    "in allOf": {"allOf": [{"dependentRequired": {"x": ["y"]}}]},
    "dependentSchemas": {"dependentSchemas": {"x": {"required": ["y"]}}},
    "not": {"not": {"required": ["x"]}},
}


@pytest.mark.parametrize("how", UNDECLARED)
@pytest.mark.parametrize("place", ["a variant", "a definition", "the root"])
def test_a_demand_on_members_that_nobody_declares_breaks_no_peers_and_is_left_open_of_documents(
    how: str, place: str
) -> None:
    def whole(more: Schema) -> Schema:
        if place == "the root":
            return go({"b": STRING}, **more)
        if place == "a variant":
            return protocol({"GoRequest": go({"value": {"oneOf": [{**TEXT, **more}, HTTP]}})})
        return protocol({"GoRequest": go({"value": {"$ref": "#/$defs/Part"}}), "Part": go({"b": STRING}, **more)})

    sides = whole({}), whole(UNDECLARED[how])
    for (old, new), rule, language in (
        (sides, "undeclared-narrowed", ("no", "yes")),
        (sides[::-1], "undeclared-widened", ("yes", "no")),
    ):
        report = compared(old, new)
        (finding,) = report.findings
        told = ("not-compared", "undecided") if place == "the root" else (rule, "additive")
        assert (finding.rule, finding.severity) == told, "documents may hold what no sender sends"
        left = tuple("undecided" if each == "no" else "yes" for each in language)
        assert relations(report) == ((*left, *language) if place == "the root" else ("yes", "yes", *language))
        assert finding.location == {"the root": "", "a variant": "GoRequest", "a definition": "Part"}[place]


def test_each_definition_with_a_demand_on_members_that_nobody_declares_is_told() -> None:
    sides = [
        protocol({name: go({"b": STRING}, **more) for name in ("One", "Two")})
        for more in ({}, UNDECLARED["dependentRequired"])
    ]
    assert [(each.rule, each.location) for each in compared(*sides).findings] == [
        ("undeclared-narrowed", "One"),
        ("undeclared-narrowed", "Two"),
    ]


def test_values_that_fit_two_branches_are_found() -> None:
    types = [{"type": "number"}, {"type": "integer"}, STRING]
    report = change({"anyOf": types}, {"oneOf": types})
    assert [finding.rule for finding in report.findings] == ["limit-tightened"]
    assert params(report.findings[0]) == 0
    assert relations(report) == ("no", "yes", "no", "yes")


# --- keywords of which the IR knows nothing ---

OTHERS: tuple[tuple[str, Schema, Any], ...] = (
    ("dependentRequired", {"dependentRequired": {"a": ["b"]}}, {"a": "a"}),
    ("minProperties", {"minProperties": 1}, {}),
    ("propertyNames", {"propertyNames": {"enum": ["a"]}}, {"b": "b"}),
    ("if", {"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"a": "a"}),
    ("not", {"not": {"required": ["a", "b"]}}, {"a": "a", "b": "b"}),
    ("constants", {"not": {"properties": {"a": {"const": "x"}}, "required": ["a"]}}, {"a": "x"}),
)


@pytest.mark.parametrize(("keyword", "more", "refused"), OTHERS, ids=[keyword for keyword, _, _ in OTHERS])
def test_a_keyword_that_no_fact_names_is_judged_by_a_value(keyword: str, more: Schema, refused: Any) -> None:
    plain = go({"a": STRING, "b": STRING})
    tight = {**plain, **more}
    report = change(plain, tight)
    (finding,) = found(report, "limit-tightened")
    assert (finding.severity, relations(report)) == ("breaking", ("no", "yes", "no", "yes"))
    assert validates(plain, params(finding))
    assert not validates(tight, params(finding))
    assert validates(plain, refused)
    assert not validates(tight, refused)
    assert [each.rule for each in change(tight, plain).findings] == ["limit-loosened"]


def test_what_such_a_keyword_refers_to_is_looked_at() -> None:
    wide, narrow = go({"b": STRING}), go({"b": STRING}, ("b",))
    both: Schema = {"type": "array", "contains": {"$ref": "#/$defs/Part"}}
    sides = [protocol({"GoRequest": go({"value": both}), "Part": each}) for each in (wide, narrow)]
    report = compared(*sides)
    assert [finding.rule for finding in report.findings if finding.severity != "editorial"] == ["limit-tightened"]
    assert relations(report) == ("no", "yes", "no", "yes")


def test_the_same_demand_in_other_words_is_editorial() -> None:
    report = change({**STDIO, "minProperties": 1}, {**STDIO, "not": {"maxProperties": 0}})
    assert report.verdict == "editorial"
    assert relations(report) == ("yes", "yes", "yes", "yes")


# --- alternatives ---


def test_an_alternative_whose_plainest_value_is_known_is_shown_by_another() -> None:
    texts, lists = ({"type": "array", "items": each} for each in (STRING, {"type": "array"}))
    report = change(texts, {"anyOf": [texts, lists]})
    (finding,) = found(report, "alternative-added")
    assert (finding.effect, params(finding)) == ("refused", [[]])
    assert relations(report) == ("yes", "no", "yes", "no")


@pytest.mark.parametrize("beside", [STRING, {"type": "array"}], ids=["string", "array"])
def test_an_object_without_a_name_beside_other_kinds_is_looked_into(beside: Schema) -> None:
    report = change({"anyOf": [TEXT, beside]}, {"anyOf": [HTTP, beside]})
    fields = {"required-field-added", "required-field-removed"}
    assert {finding.rule for finding in report.findings} == {"closed-value-added", "closed-value-removed", *fields}
    assert relations(report) == ("no", "no", "no", "no")


@pytest.mark.parametrize(
    ("required", "changed", "severity"),
    [(("type",), ("type", "url"), "breaking"), (("type", "url"), ("type",), "risky")],
    ids=["demanded", "released"],
)
def test_what_a_variant_refuses_and_another_branch_takes_means_something_else(
    required: tuple[str, ...], changed: tuple[str, ...], severity: str
) -> None:
    anybody = go({"command": STRING})
    report = change(
        {"anyOf": [{**HTTP, "required": [*required]}, anybody]}, {"anyOf": [{**HTTP, "required": [*changed]}, anybody]}
    )
    (finding,) = report.findings
    assert (finding.severity, finding.effect, params(finding)) == (severity, "lost", {"type": "http"})
    assert relations(report)[:2] == ("no" if severity == "breaking" else "yes", "yes")


def test_an_exclusion_that_cannot_be_read_ends_in_a_report() -> None:
    odd: Schema = {**UNKNOWN, "not": {"anyOf": [{"properties": {"type": {"const": "text"}}}]}}
    for old, new in ((UNKNOWN, odd), (odd, UNKNOWN)):
        report = change({"anyOf": [TEXT, old]}, {"anyOf": [TEXT, new]})
        assert report.verdict != "identical"


# --- named alternatives beside anything ---

Edit = Callable[[Schema], None]


def drop(part: Schema) -> None:
    part["properties"].pop("sessionId")
    part["required"] = []


def retype(part: Schema) -> None:
    part["properties"]["sessionId"] = {"type": "integer"}


def demand(part: Schema) -> None:
    part["properties"]["more"] = STRING
    part["required"].append("more")


def release(part: Schema) -> None:
    part["required"] = []


def add(part: Schema) -> None:
    part["properties"]["more"] = STRING


@pytest.mark.parametrize(
    ("edit", "rule", "severity"),
    [
        (drop, "required-field-removed", "breaking"),
        (retype, "type-changed", "breaking"),
        (demand, "required-field-added", "breaking"),
        (release, "field-became-optional", "risky"),
        (add, "field-added", "additive"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_change_beside_anything_is_a_change_of_meaning(edit: Edit, rule: str, severity: str) -> None:
    old = go({"sessionId": STRING}, ("sessionId",))
    new = copy.deepcopy(old)
    edit(new)
    either: Schema = {"anyOf": [{"$ref": "#/$defs/Known"}, {"title": "Other"}]}
    sides = [protocol({"GoRequest": go({"value": either}), "Known": each}) for each in (old, new)]
    report = compared(*sides)
    (finding,) = found(report, rule)
    assert (finding.severity, report.verdict) == (severity, severity)
    assert finding.effect == ("claimed" if severity == "additive" else "lost")
    assert (finding.witness is None) == (severity == "additive")
    assert relations(report) == ("no" if severity == "breaking" else "yes", "yes", "yes", "yes")


def test_an_alternative_beside_anything_comes_additive_and_goes_breaking() -> None:
    known = go({"sessionId": STRING}, ("sessionId",))
    part: Schema = {"$ref": "#/$defs/Known"}
    sides = [
        protocol({"GoRequest": go({"value": {"anyOf": each}}), "Known": known, "Text": TEXT})
        for each in ([{"$ref": "#/$defs/Text"}, {}], [{"$ref": "#/$defs/Text"}, part, {}])
    ]
    assert compared(*sides).verdict == "additive"
    report = compared(*sides[::-1])
    assert [(finding.rule, finding.effect) for finding in report.findings] == [("alternative-removed", "lost")]
    assert report.verdict == "breaking"


# --- envelopes ---

ENVELOPE: Schema = {
    "type": "object",
    "properties": {"id": {}, "method": STRING, "params": {}},
    "required": ["id", "method"],
    "x-docs-ignore": True,
}


def in_envelopes(old: Schema, new: Schema) -> Report:
    return compared(*(protocol({"ClientRequest": each}) for each in (old, new)))


def test_an_envelope_that_demands_more_breaks_and_shows_the_message() -> None:
    report = in_envelopes(ENVELOPE, {**ENVELOPE, "required": ["id", "method", "params"]})
    (finding,) = report.findings
    assert (finding.rule, finding.method, finding.location) == ("limit-tightened", None, "ClientRequest")
    assert finding.witness is not None
    assert validates(ENVELOPE, finding.witness.value)
    assert relations(report) == ("no", "yes", "no", "yes")


def test_a_member_that_an_envelope_newly_declares_breaks_nobody() -> None:
    more = {**ENVELOPE, "properties": {**ENVELOPE["properties"], "trace": STRING}}
    report = in_envelopes(ENVELOPE, more)
    assert report.verdict == "editorial"
    assert relations(report) == ("yes", "yes", "no", "yes")


IGNORED: Schema = {"x-docs-ignore": True}
MARKED: tuple[tuple[str, Schema], ...] = (
    ("branch", {"Update": {"oneOf": [{"type": "object", **IGNORED}]}}),
    ("reference", {"Update": {"oneOf": [{"$ref": "#/$defs/Part"}]}, "Part": {**STDIO, **IGNORED}}),
    ("union", {"Update": go({"part": {"$ref": "#/$defs/Part"}}), "Part": {"oneOf": [TEXT, HTTP], **IGNORED}}),
    ("inline", {"Update": go({"part": {**go({"mode": {"oneOf": [TEXT, HTTP], **IGNORED}}), **IGNORED}})}),
    ("method", {"GoRequest": {**STDIO, **IGNORED}}),
)


@pytest.mark.parametrize("definitions", [each for _, each in MARKED], ids=[name for name, _ in MARKED])
def test_a_marked_definition_that_others_refer_to_is_no_envelope(definitions: Schema) -> None:
    schema = protocol(definitions)
    assert compared(schema, schema).verdict == "identical"
    assert acpgen.generate(documents(schema), {"python": Settings(package="out.v1")})


# --- what a schema says is what is compared ---

WRITINGS: tuple[tuple[str, Schema | bool, Schema | bool, tuple[str, str]], ...] = (
    (
        "null-that-no-constant-allows",
        {"type": ["string", "null"], "enum": ["a", "b"]},
        {"enum": ["a", "b"]},
        ("yes", "yes"),
    ),
    (
        "null-that-a-sibling-refuses",
        {"type": "string", "anyOf": [{"minLength": 1}, {"type": "null"}]},
        {"type": "string", "minLength": 1},
        ("yes", "yes"),
    ),
    ("null-among-constants", {"type": ["string", "null"], "enum": ["a", None]}, {"enum": ["a"]}, ("no", "yes")),
    ("nothing-in-all-of", {"allOf": [True, STRING]}, STRING, ("yes", "yes")),
    ("all-of-true", {"allOf": [True]}, True, ("yes", "yes")),
)


@pytest.mark.parametrize(
    ("old", "new", "expected"), [case[1:] for case in WRITINGS], ids=[case[0] for case in WRITINGS]
)
def test_a_schema_is_compared_by_what_it_says(
    old: Schema | bool, new: Schema | bool, expected: tuple[str, str]
) -> None:
    assert relations(change(old, new))[2:] == expected


NOT_BOTH: Schema = {"not": {"required": ["only", "without"]}}
BOTH: Schema = {"only": STRING, "without": STRING}


EITHER: Schema = {"oneOf": [{"type": "object", **NOT_BOTH}, {"type": "null"}], "properties": BOTH}
CLOSED_EITHER: Schema = {
    "oneOf": [{"type": "null"}, {"allOf": [{**go(BOTH), "additionalProperties": False}, NOT_BOTH]}]
}


@pytest.mark.parametrize("is_item", [False, True], ids=["field", "item"])
def test_what_the_sender_itself_refuses_around_a_place_is_no_doubt_about_it(is_item: bool) -> None:
    """The type of a part of an `allOf` says nothing of the parts beside it; the schema around it does."""

    def inside(one: Schema) -> Schema:
        return {"type": "array", "items": one} if is_item else one

    either: Schema = {"$ref": "#/$defs/Filter"}
    for before, after, expected in ((either, CLOSED_EITHER, ("no", "yes")), (CLOSED_EITHER, either, ("yes", "no"))):
        report = change(inside(before), inside(after), Filter=EITHER)
        assert relations(report)[:2] == expected
        assert [each.rule for each in report.findings if each.severity == "undecided"] == []


def test_a_doubt_at_a_place_is_settled_by_what_a_whole_value_holds_there() -> None:
    report = change({"$ref": "#/$defs/Filter"}, EITHER, Filter=CLOSED_EITHER)
    assert [each.rule for each in report.findings if each.severity == "undecided"] == []
    (finding,) = [each for each in report.findings if each.location == "params.value"]
    assert finding.rule == "limit-loosened"
    assert validates(EITHER, params(finding))
    assert not validates(CLOSED_EITHER, params(finding))


def test_what_the_sender_sends_at_a_place_is_not_settled_by_what_is_around_it() -> None:
    """Nothing around the place keeps the sender from what the receiver refuses."""
    new: Schema = {"oneOf": [{"type": "null"}, {"allOf": [{**go(BOTH), "additionalProperties": False}, {}]}]}
    assert relations(change(EITHER, new))[:2] == ("no", "no")


def test_what_two_definitions_prove_in_one_direction_is_no_doubt_there() -> None:
    def tagged(*required: str) -> Schema:
        tasks = {"anyOf": [{"type": "object", "properties": {"tag": {"$ref": "#/$defs/Tag"}}}, {"type": "object"}]}
        return {**go({"tasks": {"type": "array", "items": tasks}}), "$defs": {"Tag": go({"name": STRING}, required)}}

    report = compared(tagged(), tagged("name"))
    assert [(each.rule, each.severity) for each in report.findings] == [("not-compared", "undecided")]
    assert relations(report) == ("undecided", "yes", "undecided", "yes")


def test_what_stands_in_place_is_not_compared_with_what_has_its_name_elsewhere() -> None:
    names = {name: go({name.lower(): STRING}, (name.lower(),)) for name in ("P", "Q", "R", "S")}
    one, two, three, four = ({"$ref": f"#/$defs/{name}"} for name in names)

    def batches(*items: Schema) -> Schema:
        return {"$defs": {**names, "Batch": {"anyOf": [one, *({"type": "array", "items": each} for each in items)]}}}

    others: Schema = {"anyOf": [three, four]}
    first, second = batches({"anyOf": [one, two]}, others), batches({"if": one, "else": two}, others)
    for old, new in ((first, second), (second, first)):
        assert [each.rule for each in compared(old, new).findings] == ["schema-restructured"]
        assert compared(old, new).language.backward == compared(old, new).language.forward == "yes"


def test_what_another_branch_takes_is_not_shown_by_a_message_that_is_refused_for_something_else() -> None:
    def tagged(count: Schema, *required: str) -> Schema:
        tasks = {"anyOf": [{"type": "object", "properties": {"tag": {"$ref": "#/$defs/Tag"}}}, {"type": "object"}]}
        members = {"count": count, "tasks": {"type": "array", "items": tasks}}
        return {**go(members), "$defs": {"Tag": go({"name": STRING}, required)}}

    report = compared(tagged({"type": "integer"}), tagged({"type": "integer", "maximum": 9}, "name"))
    breaking = [(each.rule, each.location) for each in report.findings if each.severity == "breaking"]
    assert breaking == [("limit-tightened", "count")]


def test_what_a_definition_refuses_is_not_reported_again_where_it_contains_itself() -> None:
    def unit(names: list[str], **more: Any) -> Schema:
        items = {"type": "array", "items": {"$ref": "#/$defs/Unit"}}
        return protocol(
            {
                "GoRequest": go({"value": {"$ref": "#/$defs/Unit"}}),
                "Unit": go({"op": {"enum": names}, "units": items}, **more),
            }
        )

    report = compared(unit(["a"]), unit(["a", "b"], dependentRequired={"x": ["y"]}))
    assert [finding.rule for finding in report.findings] == ["closed-value-added"]
    # What it refuses besides is reported.
    report = compared(unit(["a"]), unit(["a", "b"], required=["op"], dependentRequired={"op": ["units"]}))
    assert {"closed-value-added", "field-became-required", "limit-tightened"} == {each.rule for each in report.findings}


def test_a_member_that_all_keywords_together_refuse_is_added_to_closed_objects() -> None:
    closed: Schema = {
        "if": {"properties": {"a": {"const": "x"}}},
        "then": {"properties": {"b": STRING}},
        "unevaluatedProperties": False,
    }
    old, new = (protocol({"GoRequest": go(fields, **closed)}) for fields in ({"a": STRING}, {"a": STRING, "c": STRING}))
    (finding,) = compared(old, new).findings
    assert (finding.rule, finding.location) == ("closed-field-added", "params.c")
    (finding,) = compared(new, old).findings
    assert (finding.rule, finding.severity, finding.location) == ("field-removed", "breaking", "params.c")


def test_a_default_that_a_reference_led_to_is_the_same_in_its_place() -> None:
    text: Schema = {"type": "string", "default": "x"}
    assert change({"$ref": "#/$defs/Text"}, text, Text=text).verdict == "editorial"
    (finding,) = change({"$ref": "#/$defs/Text"}, {**text, "default": "y"}, Text=text).findings
    assert finding.rule == "default-changed"
