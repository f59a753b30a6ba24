"""Unions of which a tag tells some branches apart, and others not: what becomes of a variant, whatever stands beside it."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from acpgen.compat.findings import Finding
from compat.protocols import Schema, compared, found, go, protocol


def tagged(tag: str, **members: Schema) -> Schema:
    return {
        "type": "object",
        "properties": {"kind": {"const": tag}, **members},
        "required": ["kind", *members],
        "additionalProperties": False,
    }


OTHER: Schema = {"type": "object", "properties": {"kind": {"type": "string", "maxLength": 3}}}
RENAMED: Schema = {"type": "object", "properties": {"e": {"type": "string", "maxLength": 3}}}
SHAPED: Schema = {"type": "object", "properties": {"z": {"type": "object"}}, "required": ["z"]}
EMPTY: dict[str, Any] = {
    "false": False,
    "two types": {"allOf": [{"type": "object"}, {"type": "number"}]},
    "a member of two types": {
        "type": "object",
        "properties": {"a": {"type": "object"}},
        "required": ["a"],
        "allOf": [{"properties": {"a": {"type": "number"}}}],
    },
    "a member that has such a member": {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/None"}},
        "required": ["a"],
    },
}
NONE: Schema = {"type": "object", "properties": {"no": {"type": "string", "const": 1}}, "required": ["no"]}


def holding(*branches: Any) -> Schema:
    response = {"type": "object", "properties": {"c": {"anyOf": list(branches)}}}
    return protocol({"GoResponse": response, "None": NONE})


def rules(old: Schema, new: Schema) -> set[str]:
    return {finding.rule for finding in compared(old, new).findings}


@pytest.mark.parametrize("empty", EMPTY.values(), ids=EMPTY)
def test_a_branch_that_no_value_fits_hides_nothing(empty: Any) -> None:
    q, r = tagged("q"), tagged("r", d={"type": "null"})
    assert "variant-removed" in rules(holding(q, r, OTHER), holding(q, empty, OTHER))
    assert rules(holding(q, r, OTHER), holding(q, empty, RENAMED)) == rules(holding(q, r, OTHER), holding(q, RENAMED))
    assert compared(holding(q, r, OTHER), holding(q, r, empty, OTHER)).verdict == "editorial"
    assert compared(holding(q, r, empty, OTHER), holding(q, r, OTHER)).verdict == "editorial"


def test_a_variant_beside_two_branches_without_a_tag_is_told_when_it_goes_and_when_it_comes() -> None:
    q, r = tagged("q"), tagged("r", d={"type": "null"})
    gone = compared(holding(q, r, OTHER), holding(q, SHAPED, OTHER))
    assert (gone.verdict, {finding.rule for finding in gone.findings}) == (
        "breaking",
        {"variant-removed", "alternative-added"},
    )
    assert "variant-beside-default-added" in rules(holding(q, SHAPED, OTHER), holding(q, r, OTHER))
    assert "variant-removed" in rules(holding(q, r, SHAPED, OTHER), holding(q, SHAPED, OTHER))


def test_a_renamed_member_of_a_branch_without_a_tag_is_told() -> None:
    q = tagged("q")
    assert rules(holding(q, SHAPED, OTHER), holding(q, SHAPED, RENAMED)) & {"field-renamed", "field-removed"}


def test_branches_with_one_tag_are_all_compared() -> None:
    """A constant that two branches share tells neither from the other, and hides neither."""
    first, second = tagged("q", a={"type": "string"}), tagged("q", b={"type": "string"})
    narrower = tagged("q", a={"type": "string", "maxLength": 3})
    r, s = tagged("r"), tagged("s")
    old, new = holding(first, second, r, s), holding(narrower, second, r, s)
    assert compared(old, new).verdict in ("breaking", "risky")
    assert compared(new, old).verdict not in ("editorial", "identical")
    assert compared(old, holding(first, second, s, r)).verdict in ("editorial", "identical")


def test_a_list_that_must_hold_itself_has_no_example_and_ends_nothing() -> None:
    """No value is one; the comparison looked for one without end."""
    itself: Schema = {"type": "array", "items": {"$ref": "#/$defs/Other"}, "minItems": 1}
    empty: Schema = {"type": "array", "items": {"type": "object", "additionalProperties": False}, "minItems": 1}
    asked = {"type": "object", "properties": {"c": {"$ref": "#/$defs/Other"}}}
    old, new = (protocol({"GoResponse": asked, "Other": other}) for other in (itself, empty))
    assert compared(old, new).verdict in ("additive", "risky", "breaking", "undecided")


def idle(*reasons: str, variants: bool, error: Schema | None = None) -> Schema:
    """Why a turn ended: an open enumeration in a record, or the tag of variants beside it."""
    values: Schema = {
        "anyOf": [*({"const": each, "type": "string"} for each in reasons), {"title": "other", "type": "string"}]
    }
    plain = go({"stopReason": values, "note": {"type": "string"}})
    if not variants:
        return protocol({"TellNotification": go({"idle": plain})})
    branches = [
        go({"stopReason": {"const": each}, "note": {"type": "string"}}, ("stopReason",))
        for each in reasons
        if each != "error"
    ]
    branches.append(go({"stopReason": {"const": "error"}, **(error or {"note": {"type": "string"}})}, ("stopReason",)))
    return protocol({"TellNotification": go({"idle": {"anyOf": [*branches, plain]}})})


def test_a_value_that_an_open_enumeration_foresees_may_become_a_variant() -> None:
    before, after = idle("end_turn", "cancelled", variants=False), idle("end_turn", "cancelled", "error", variants=True)
    added = found(compared(before, after), "variant-added")
    assert [(each.severity, each.location) for each in added] == [("additive", "params.idle(error)")]
    assert found(compared(before, after), "variant-beside-default-added") == []


def test_a_variant_whose_form_the_old_record_refuses_is_told_all_the_same() -> None:
    before = idle("end_turn", "cancelled", variants=False)
    report = compared(
        before, idle("end_turn", "cancelled", "error", variants=True, error={"note": {"type": "integer"}})
    )
    assert report.wire.forward == "no"
    assert report.verdict == "breaking"


def test_a_variant_in_place_of_what_is_no_object_is_compared() -> None:
    plain, more = ({"type": "object", "properties": {"kind": {"const": each}}, "required": ["kind"]} for each in "qp")
    free: Schema = {
        "type": "object",
        "properties": {},
        "required": ["kind"],
        "if": {"required": ["b"]},
        "then": {"required": ["c"]},
    }
    one, other = (
        protocol(
            {
                "Thing": {"type": "number", "maximum": 2.5},
                "TellNotification": go({"c": {"oneOf": [first, plain, free]}}),
            }
        )
        for first in ({"$ref": "#/$defs/Thing"}, more)
    )
    assert compared(one, other).verdict in ("breaking", "undecided")
    assert compared(other, one).verdict in ("breaking", "undecided")


# --- roots that are unions of kinds of documents ---

ONE: Schema = go({"a": {"type": "string"}}, ("a",))
MORE: Schema = go({"a": {"type": "string"}, "b": {"type": "string"}}, ("a", "b"))
OPEN: Schema = go({"x": {"type": "string"}})
"""It accepts whatever the other two do."""


def rooted(keyword: str, definitions: Schema, *names: str) -> Schema:
    return {keyword: [{"$ref": f"#/$defs/{name}"} for name in names], "$defs": definitions}


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_a_kind_of_document_that_changes_is_not_hidden_by_another_that_accepts_the_same(keyword: str) -> None:
    old, new = (rooted(keyword, {"One": each, "Open": OPEN}, "One", "Open") for each in (ONE, MORE))
    report = compared(old, new)
    (finding,) = found(report, "required-field-added")
    assert (finding.severity, finding.declaration, report.wire.backward) == ("breaking", "One.b", "no")
    assert finding.witness is not None and finding.witness.verified


def test_kinds_of_documents_are_found_through_unions_of_unions_with_branches_in_place() -> None:
    def nested(one: Schema) -> Schema:
        inner = {"anyOf": [{"$ref": "#/$defs/One"}, {"type": "null", "title": "None"}]}
        return rooted("anyOf", {"One": one, "Open": OPEN, "Inner": inner}, "Inner", "Open")

    report = compared(nested(ONE), nested(MORE))
    assert [(each.rule, each.severity) for each in report.findings] == [("required-field-added", "breaking")]


def test_a_kind_of_document_whose_members_no_other_declares_is_missed() -> None:
    both, lone = (rooted("anyOf", {"One": ONE, "Open": OPEN}, *names) for names in (("One", "Open"), ("Open",)))
    for old, new, rule, severity, header in (
        (both, lone, "alternative-removed", "breaking", ("no", "yes")),
        (lone, both, "alternative-added", "risky", ("yes", "yes")),
    ):
        report = compared(old, new)
        (finding,) = [each for each in report.findings if each.severity != "editorial"]
        assert (finding.rule, finding.severity, finding.effect) == (rule, severity, "lost")
        assert finding.witness is not None and finding.witness.verified
        assert (report.wire.backward, report.wire.forward) == header


def test_an_alternative_that_is_another_with_more_optional_fields_is_additive() -> None:
    """As an optional field that is added: old peers ignore it. Where it goes, what new peers no longer hear is lost."""
    more = go({"a": {"type": "string"}, "b": {"type": "string"}}, ("a",))
    both, lone = (rooted("anyOf", {"One": ONE, "More": more}, *names) for names in (("One", "More"), ("One",)))
    assert [(each.rule, each.severity) for each in compared(lone, both).findings if each.severity != "editorial"] == [
        ("alternative-added", "additive")
    ]
    assert compared(both, lone).verdict == "breaking"


def test_a_kind_of_document_whose_members_another_declares_is_not_missed() -> None:
    wider = go({"a": {"type": ["string", "null"]}})
    sides = (rooted("anyOf", {"One": ONE, "Wider": wider}, *names) for names in (("One", "Wider"), ("Wider",)))
    assert compared(*sides).verdict == "editorial"


def test_a_kind_of_document_that_no_declared_value_tells_from_another_leaves_a_doubt() -> None:
    """Both sides of `oneOf` take `{"a": ""}`, which the old revision therefore refuses; what One alone takes is not declared."""
    sides = [rooted("oneOf", {"One": ONE, "Open": OPEN}, *names) for names in (("One", "Open"), ("Open",))]
    for old, new in (sides, sides[::-1]):
        report = compared(old, new)
        assert report.language.backward == "no"
        assert [each.severity for each in report.findings] == ["undecided"]


def test_a_union_of_results_that_grows_by_the_result_of_a_new_method_is_told_by_the_method() -> None:
    """The method of a request tells which result an answer holds, so no other alternative is taken for it."""
    results: Schema = {"Empty": {"type": "object"}, "Named": go({"name": {"type": "string"}})}
    more: Schema = {"type": "object", "x-method": "s/more", "x-side": "agent"}
    added = {"MoreRequest": more, "MoreResponse": {**go({"list": {"type": "array"}}, ("list",)), **more}}

    def listed(*names: str) -> Schema:
        return {"Results": {"anyOf": [{"$ref": f"#/$defs/{each}"} for each in names]}}

    old = protocol({**results, **listed("Empty", "Named", "GoResponse")})
    new = protocol({**results, **added, **listed("Empty", "Named", "GoResponse", "MoreResponse")})
    report = compared(old, new)
    assert [each.rule for each in report.findings if each.severity != "editorial"] == ["method-added"]


@pytest.mark.parametrize("beside", [{"type": "object"}, {"type": "object", "properties": {"a": {"type": "integer"}}}])
def test_a_branch_that_takes_more_may_make_the_whole_take_less(beside: Schema) -> None:
    """What fitted one branch alone fits two, and `oneOf` refuses it: that a branch is told of elsewhere says nothing of the whole."""

    def whole(more: Any) -> Schema:
        closed = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": more}
        return {"$defs": {"Doc": {"oneOf": [closed, {"type": "string"}, beside]}, "Other": {"type": "number"}}}

    narrow, wide = whole(False), whole({"type": "object", "properties": {"d": {"type": "string"}}})
    message: Schema = {"x": {}}
    for old, new, direction in ((narrow, wide, "backward"), (wide, narrow, "forward")):
        report = compared(old, new)
        assert getattr(report.wire, direction) != "yes"
        assert report.verdict in ("breaking", "undecided")
    taken = [jsonschema_rs.Draft202012Validator(each["$defs"]["Doc"]).is_valid(message) for each in (narrow, wide)]
    assert taken == [True, False]


def test_what_is_said_of_items_counts_for_nothing_where_there_are_none() -> None:
    old, new = ({"type": "object", "properties": {"c": {"type": "array", **items}}} for items in EMPTY_ARRAYS)
    assert compared(protocol({"GoResponse": old}), protocol({"GoResponse": new})).verdict == "editorial"
    one: Schema = {
        "type": "object",
        "properties": {"c": {"type": "array", "items": {"type": "boolean"}, "maxItems": 1}},
    }
    report = compared(protocol({"GoResponse": old}), protocol({"GoResponse": one}))
    assert [(each.rule, each.severity) for each in report.findings] == [("limit-loosened", "breaking")]


EMPTY_ARRAYS: tuple[Schema, Schema] = ({"maxItems": 0}, {"items": False})


def test_a_limit_of_one_branch_is_a_matter_of_the_values_that_it_judges() -> None:
    some = {"type": "object", "properties": {"a": {"type": "string"}}}
    old = holding({"type": "object"}, {"type": "array", "items": False})
    new = holding(some, {"type": "array", "items": {"type": "boolean"}, "maxItems": 1})
    assert "undecided" not in {each.severity for each in compared(old, new).findings if each.rule.startswith("limit")}


def owning(*tags: Any, **members: Schema) -> Schema:
    """A branch with several tags, which takes other members, too."""
    return {"type": "object", "properties": {"kind": {"enum": list(tags)}, **members}, "required": ["kind"]}


NUMBER: dict[str, Schema] = {"m": {"type": "integer"}}
TEXT: dict[str, Schema] = {"n": {"type": "string"}}
OPTIONAL: Schema = {"type": "object", "properties": {"kind": {"const": "d"}, **TEXT}}
ALIKE: dict[str, tuple[list[Schema], list[Schema]]] = {
    "merged": (
        [owning("add", **TEXT), owning("sub", **NUMBER), owning("mul", **NUMBER)],
        [owning("add", **TEXT), owning("sub", "mul", **NUMBER)],
    ),
    "merged to one": ([owning("sub", **NUMBER), owning("mul", **NUMBER)], [owning("mul", "sub", **NUMBER)]),
    "moved": (
        [owning("a", "b", **NUMBER), owning("c", **NUMBER), owning("z", **TEXT)],
        [owning("z", **TEXT), owning("a", **NUMBER), owning("b", "c", **NUMBER)],
    ),
    "of numbers": (
        [owning(1, **NUMBER), owning(2, **NUMBER), owning(True, **TEXT)],
        [owning(1, 2, **NUMBER), owning(True, **TEXT)],
    ),
    "beside a default": (
        [owning("a", **NUMBER), owning("b", **NUMBER), OPTIONAL],
        [owning("a", "b", **NUMBER), OPTIONAL],
    ),
    "nested": (
        [owning("a", **NUMBER), owning("b", **TEXT), owning("c", p={"type": "boolean"})],
        [{"anyOf": [owning("a", **NUMBER), owning("b", **TEXT)]}, owning("c", p={"type": "boolean"})],
    ),
    "one constant": (
        [owning("a", **NUMBER), owning("b", **TEXT)],
        [{**owning(**NUMBER), "properties": {"kind": {"const": "a"}, **NUMBER}}, owning("b", **TEXT)],
    ),
}


@pytest.mark.parametrize("mode", ["protocol", "language"])
@pytest.mark.parametrize("case", ALIKE)
def test_tags_that_move_between_branches_of_one_body_change_nothing(case: str, mode: Any) -> None:
    old, new = (holding(*branches) for branches in ALIKE[case])
    for report in (compared(old, new, mode=mode), compared(new, old, mode=mode)):
        assert report.verdict in ("identical", "editorial"), report.findings
        assert (report.language.backward, report.language.forward) == ("yes", "yes")
        assert (report.wire.backward, report.wire.forward) == ("yes", "yes")


def tag_shown(finding: Finding) -> Any:
    """The tag in the message that a finding shows."""
    assert finding.witness is not None
    value: Any = finding.witness.value
    return value["result"]["c"]["kind"]


def test_a_tag_that_a_branch_gains_or_loses_is_a_variant_with_a_message_of_its_own() -> None:
    old = holding(owning("add", **TEXT), owning("sub", **NUMBER))
    new = holding(owning("add", **TEXT), owning("sub", "mul", **NUMBER))
    (added,) = found(compared(old, new), "closed-variant-added")
    (removed,) = found(compared(new, old), "closed-variant-removed")
    assert removed.severity == "breaking"
    assert [tag_shown(finding) for finding in (added, removed)] == ["mul", "mul"]


def test_a_tag_that_moves_to_a_branch_of_another_body_is_a_change_with_its_tag() -> None:
    old = holding(owning("a", "b", **NUMBER), owning("c", m={"type": "string"}))
    new = holding(owning("a", **NUMBER), owning("b", "c", m={"type": "string"}))
    for report in (compared(old, new), compared(new, old)):
        tags = {tag_shown(finding) for finding in report.findings if finding.witness}
        assert report.verdict == "breaking"
        assert tags == {"b"}


def test_another_tag_of_a_record_that_stands_for_several_is_a_change_of_its_list_of_tags() -> None:
    def running(*engines: str) -> Schema:
        script: Schema = {"type": "object", "properties": {"by": {"enum": [*engines]}}, "required": ["by"]}
        image: Schema = {"type": "object", "properties": {"by": {"const": "image"}}, "required": ["by"]}
        return protocol(
            {
                "GoRequest": {
                    "type": "object",
                    "properties": {"run": {"oneOf": [{"$ref": "#/$defs/Script"}, {"$ref": "#/$defs/Image"}]}},
                },
                "Script": {**script, "additionalProperties": False},
                "Image": image,
            }
        )

    old, new = running("one", "two"), running("one", "two", "three")
    for one, other, rule in ((old, new, "closed-variant-added"), (new, old, "closed-variant-removed")):
        (finding,) = compared(one, other).findings
        place = finding.new if rule == "closed-variant-added" else finding.old
        assert finding.rule == rule
        assert place is not None
        assert place.pointer == "/$defs/Script/properties/by"
