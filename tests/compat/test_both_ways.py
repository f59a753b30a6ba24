"""No answer of a direction is "yes" because the other direction, or another finding, was told already; and what a sender declares is
all that its schema speaks of.
"""

from __future__ import annotations

from datetime import date

import pytest

from acpgen.compat.findings import Report, SourcePosition
from acpgen.compat.policy import Policy, Promise, apply
from compat.protocols import Schema, compared, found, go, protocol

STRING: Schema = {"type": "string"}
SPOT = SourcePosition("pyproject.toml", "", 1, 1)


def params(old: Schema, new: Schema, **definitions: Schema) -> Report:
    return compared(*(protocol({"GoRequest": go(**each), **definitions}) for each in (old, new)))


def union(tag: str) -> Schema:
    return {"oneOf": [go({tag: {"const": name}, name: STRING}, (tag, name)) for name in ("p", "q")]}


CLOSED: Schema = {"additionalProperties": False}
BOTH: tuple[tuple[str, Schema, Schema], ...] = (
    (
        "required-field-removed",
        {"properties": {"a": STRING, "b": STRING}, "required": ("a", "b"), **CLOSED},
        {"properties": {"b": STRING}, "required": ("b",), **CLOSED},
    ),
    (
        "required-field-added",
        {"properties": {"b": STRING}, "required": ("b",), **CLOSED},
        {"properties": {"a": STRING, "b": STRING}, "required": ("a", "b"), **CLOSED},
    ),
    ("tag-renamed", {"properties": {"x": union("kind")}}, {"properties": {"x": union("type")}}),
)


@pytest.mark.parametrize(("rule", "old", "new"), BOTH, ids=[each[0] for each in BOTH])
@pytest.mark.parametrize("promise", ["backward", "forward"])
def test_a_change_that_breaks_both_ways_says_so_whatever_is_promised(
    rule: str, old: Schema, new: Schema, promise: Promise
) -> None:
    report = params(old, new)
    assert (report.wire.backward, report.wire.forward) == ("no", "no")
    (finding,) = found(report, rule)
    assert set(finding.reaches[0].senders) == {"old", "new"}
    exchanges = {"an old client that talks to a new agent", "a new client that talks to an old agent"}
    assert set(finding.breaks.split("; ")) == exchanges
    assert apply(report, Policy(promise=promise), date(2026, 1, 1), SPOT).verdict == "breaking"


DECLARED: tuple[tuple[str, str, Schema, Schema], ...] = (
    (
        "by a pattern",
        "breaking",
        {"properties": {"a": STRING}, "patternProperties": {"^x-": {"const": "c"}}},
        {"properties": {"a": STRING}, "patternProperties": {"^x-": True}},
    ),
    (
        "by what is required in a case",
        "risky",
        {"properties": {"a": STRING}, **CLOSED},
        {
            "properties": {"a": STRING},
            "additionalProperties": {**go({"b": STRING}), "if": {}, "then": {"required": ["d"]}},
        },
    ),
    (
        "by what depends on it",
        "breaking",
        {"properties": {"a": STRING}, "dependentSchemas": {"d": {"maxProperties": 1}}},
        {"properties": {"a": STRING}, "dependentSchemas": {"d": {"maxProperties": 2}}},
    ),
)


@pytest.mark.parametrize(("verdict", "old", "new"), [each[1:] for each in DECLARED], ids=[each[0] for each in DECLARED])
def test_a_sender_sends_every_member_that_its_schema_speaks_of(verdict: str, old: Schema, new: Schema) -> None:
    report = params(old, new)
    assert report.wire.forward == "no"
    assert report.verdict == verdict


def test_a_definition_that_both_revisions_hold_in_other_places_is_not_said_to_be_the_same() -> None:
    held = [go({"a": STRING, "b": STRING}, ("a", "b")), go({"a": STRING}, ("a",))]
    sides = [
        protocol({"GoRequest": go({field: {"$ref": "#/$defs/Thing"}}), "Thing": thing})
        for field, thing in zip(("one", "other"), held, strict=True)
    ]
    report = compared(*sides)
    (finding,) = found(report, "schema-restructured")
    assert finding.message.endswith("in a way that no message can show except for what other findings report.")
    assert [each.location for each in found(report, "field-removed")] == ["params.one"]


def test_what_is_written_differently_is_harmless_only_where_that_is_proven() -> None:
    http, stdio = (
        go({"type": {"const": "http"}, "url": STRING}, ("type", "url")),
        go({"command": STRING}, ("command",)),
    )
    report = params({"properties": {"v": {"anyOf": [http, stdio]}}}, {"properties": {"v": {"oneOf": [http, stdio]}}})
    assert (report.verdict, report.wire.backward, report.language.backward) == ("additive", "yes", "no")
    (finding,) = found(report, "undeclared-narrowed")
    assert finding.message.startswith("Some values with undeclared members are now rejected, such as ")


def test_the_same_change_of_words_in_two_definitions_is_told_of_both() -> None:
    def words(text: str) -> Schema:
        note: Schema = {"properties": {"note": {"type": "string", "description": text}}}
        return protocol({"GoRequest": go(**note), "GoResponse": go(**note)})

    report = compared(words("one"), words("other"))
    assert {each.declaration for each in found(report, "text-reworded")} == {"GoRequest.note", "GoResponse.note"}


def test_a_union_that_holds_itself_without_a_name_ends() -> None:
    def thing(**fields: Schema) -> Schema:
        node: Schema = {"type": "object", "properties": fields, "additionalProperties": {"const": "a"}}
        return {**node, "patternProperties": {"^a": {"$ref": "#/$defs/Thing"}}}

    tagged = {"anyOf": [go({"kind": {"const": name}}, ("kind",)) for name in ("q", "r")]}
    report = compared(*({"$defs": {"Thing": each}} for each in (thing(), thing(a=tagged))))
    assert report.findings


def test_names_of_a_renamed_field_are_judged_where_undeclared_members_have_a_type() -> None:
    """Each revision may send the other's name as an undeclared member."""
    extra: Schema = {"additionalProperties": {"type": "number", "maximum": 2}}
    old = {"properties": {"d": {"const": 1}}, **extra}
    new = {"properties": {"kind": {"const": 1, "x-was": ["d"]}}, **extra}
    report = params(old, new)
    assert report.verdict == "breaking"
    assert (report.wire.backward, report.wire.forward) == ("no", "no")
    assert found(report, "field-renamed")


def test_a_member_that_no_field_declares_and_another_keyword_demands_is_sent() -> None:
    """Only an object that names no member in any keyword is free to hold anything."""
    untyped: Schema = {"properties": {}}
    demand: Schema = {"if": {"properties": {"a": {"type": "number"}}}, "then": {"required": ["a"]}}
    typed: Schema = {"properties": {"a": {"type": "object"}}}
    report = params(typed | demand, untyped | demand)
    assert (report.wire.backward, report.wire.forward) == ("no", "no")
    mirrored = params(untyped | demand, typed | demand)
    assert (mirrored.wire.backward, mirrored.wire.forward) == ("no", "yes")
    free = params(typed, untyped)
    assert (free.wire.backward, free.wire.forward) == ("no", "yes")


def test_a_definition_that_one_revision_alone_has_is_named_also_where_a_variant_says_the_same() -> None:
    def note(*, kind: str = "") -> Schema:
        tag: Schema = {"kind": {"const": kind}} if kind else {}
        return go({**tag, "text": STRING}, ("text", *tag))

    message = {"GoRequest": go({"note": {"anyOf": [note(kind="a"), go({"kind": {"const": "b"}}, ("kind",))]}})}
    sides = protocol({**message, "Note": note()}), protocol(message)
    for old, new in (sides, sides[::-1]):
        report = compared(old, new)
        assert report.verdict == "editorial"
        (finding,) = found(report, "schema-restructured")
        assert finding.message.startswith("Only one revision defines 'Note'.")
