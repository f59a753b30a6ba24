"""Equal schemas that are written differently, and schemas of which one accepts more: the check agrees with the languages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiers
from acpgen.compat.compare import compare
from compat.protocols import RELEASES, Schema, compared, found, go, protocol
from compat.recursive_unions import rewritten_unions

CASES: dict[str, dict[str, tuple[Schema, Schema]]] = json.loads(
    (Path(__file__).parent / "rewritings.json").read_text("utf-8")
)
EQUAL = CASES["equal"]
WIDER = CASES["wider"]
"""The second accepts all that the first does, and more."""

HEAVY = ("breaking", "undecided", "risky")


def whole(schema: Schema) -> Schema:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def as_member(schema: Schema) -> Schema:
    """The schema as that of a member of the params of a request."""
    inner = {key: value for key, value in schema.items() if key != "$defs"}
    go = {"type": "object", "properties": {"x": inner}, "required": ["x"], "x-method": "go", "x-side": "agent"}
    return whole({"$defs": {**schema.get("$defs", {}), "GoRequest": go}})


def as_definition(schema: Schema) -> Schema:
    """The schema as a definition to which a member of the params of a request refers."""
    inner = {key: value for key, value in schema.items() if key != "$defs"}
    member = as_member({"$ref": "#/$defs/Thing"})
    return {**member, "$defs": {**schema.get("$defs", {}), "Thing": inner, **member["$defs"]}}


@pytest.mark.parametrize("name", tiers.sample(EQUAL, 20))
def test_a_rewriting_that_accepts_the_same_is_never_worse_than_editorial(name: str) -> None:
    one, other = EQUAL[name]
    for old, new in ((one, other), (other, one)):
        plain = compared(whole(old), whole(new), mode="language")
        for report in (plain, *(compared(place(old), place(new)) for place in (whole, as_member, as_definition))):
            heavy = [each for each in report.findings if each.severity in HEAVY]
            answers = {report.wire.backward, report.wire.forward, report.language.backward, report.language.forward}
            assert (heavy, answers) == ([], {"yes"})


@pytest.mark.parametrize("seed", tiers.sample(range(300), 12))
def test_unions_without_tags_that_refer_to_each_other_are_equal_in_any_order(seed: int) -> None:
    old, new = rewritten_unions(seed)
    report = compared(old, new)
    assert (report.verdict, report.wire.backward, report.wire.forward) == ("editorial", "yes", "yes")


def test_nothing_is_lost_for_sure_where_the_whole_union_is_undecided() -> None:
    old, new = rewritten_unions(34)
    for definition in new["$defs"].values():
        for word in {"anyOf", "oneOf"} & definition.keys():
            definition[word] = [
                {"allOf": [{"type": "object"}, {**each, "type": ["object"]}]} if "properties" in each else each
                for each in definition[word]
            ]
    assert compared(old, new).verdict == "undecided"


@pytest.mark.parametrize(("narrow", "wide"), WIDER.values(), ids=WIDER)
def test_what_accepts_more_is_refused_one_way_by_a_message_and_nothing_is_left_undecided(
    narrow: Schema, wide: Schema
) -> None:
    for place in (whole, as_member, as_definition):
        there, back = compared(place(narrow), place(wide)), compared(place(wide), place(narrow))
        assert (there.wire.backward, there.wire.forward) == ("yes", "no")
        assert (back.wire.backward, back.wire.forward) == ("no", "yes")
        for report, refusing in ((there, "old"), (back, "new")):
            heavy = [each for each in report.findings if each.severity in HEAVY]
            assert heavy and {each.severity for each in heavy} == {"breaking"}
            assert {each.witness and each.witness.refused_by for each in heavy} == {refusing}


def test_the_summary_says_no_where_a_name_has_lost_its_meaning() -> None:
    report = compare(RELEASES / "v1" / "0.6.1.json", RELEASES / "v1" / "0.6.2.json")
    assert [(each.rule, each.effect) for each in report.findings if each.severity == "breaking"] == [
        ("field-removed", "lost")
    ]
    assert (report.wire.backward, report.wire.forward, report.language.backward) == ("no", "yes", "yes")


def test_a_field_that_an_open_object_no_longer_declares_is_lost_however_the_rest_is_written() -> None:
    fields = {"a": {"type": "string"}, "b": {"type": "string"}}
    old, new = go(fields), {"allOf": [go({"a": fields["a"]}), {"type": "object"}]}
    report = compared(protocol({"GoRequest": old}), protocol({"GoRequest": new}))
    (lost,) = found(report, "field-removed")
    assert (lost.severity, report.wire.backward, report.language.backward) == ("breaking", "no", "yes")


def test_a_field_is_lost_where_an_object_declares_none() -> None:
    report = compared(protocol({"GoRequest": go({"a": {"type": "string"}})}), protocol({"GoRequest": go({})}))
    assert [each.severity for each in found(report, "field-removed")] == ["breaking"]


def test_a_field_that_nobody_can_send_is_not_lost() -> None:
    report = compared(
        whole({"properties": {"a": {"type": "string"}, "b": False}}), whole(go({"a": {"type": "string"}}))
    )
    assert not found(report, "field-removed")


MILDER: dict[str, tuple[Schema, Schema]] = {
    "a new field": ({}, {"n": {"type": "string"}}),
    "an object that is open now": ({}, {}),
}


@pytest.mark.parametrize("name", MILDER)
def test_a_limit_that_a_milder_change_of_the_same_object_hides_is_told(name: str) -> None:
    before, after = MILDER[name]
    closed: Schema = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
    old = {**closed, "properties": {**closed["properties"], **before}, "minProperties": 1}
    new = {**closed, "properties": {**closed["properties"], **after}}
    if not after:
        del new["additionalProperties"]
    report = compared(as_member(old), as_member(new))
    loosened = found(report, "limit-loosened")
    assert report.verdict == "breaking" and len(loosened) == 1
    assert loosened[0].witness is not None and '"params":{"x":{}}' in json.dumps(
        loosened[0].witness.value, separators=(",", ":")
    )
    milder = compared(as_member(closed), as_member({**new, "additionalProperties": False} if after else new))
    assert {each.rule for each in milder.findings if each.severity in HEAVY} < {each.rule for each in report.findings}


@pytest.mark.parametrize("breaking", [{"required": ["a"]}, {"properties": {"a": {"type": "integer", "minimum": 3}}}])
def test_a_limit_beside_a_breaking_change_is_told(breaking: Schema) -> None:
    old = go({name: {"type": "integer"} for name in "axy"})
    changed = {**old, **breaking, "properties": {**old["properties"], **breaking.get("properties", {})}}
    report = compared(as_member(old), as_member({**changed, "not": {"required": ["x", "y"]}}))
    assert {each.location for each in report.findings} == {"params.x", "params.x.a"}
    alone = compared(as_member(old), as_member(changed))
    assert {each.location for each in alone.findings} == {"params.x.a"}
