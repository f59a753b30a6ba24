"""Members that other keywords than `properties` declare: what stops carrying meaning is told, also where nothing is refused."""

from __future__ import annotations

from typing import Any, Final

import pytest

from compat.protocols import compared, go, protocol, validates

PLAIN: Final = go({"c": {"type": "string"}})
DECLARED: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "then": ("z", {"if": {"required": ["c"]}, "then": {"properties": {"z": {"type": "integer"}}}}),
    "else": ("z", {"if": {"required": ["c"]}, "else": {"properties": {"z": {"type": "array"}}}}),
    "dependentSchemas": ("z", {"dependentSchemas": {"c": {"properties": {"z": {"enum": ["a", "b"]}}}}}),
    "allOf": ("z", {"allOf": [{"if": {"required": ["c"]}, "then": {"properties": {"z": {"type": "null"}}}}]}),
    "patternProperties": ("*", {"patternProperties": {"^x-[a-z]+$": {"type": "number"}}}),
    "in a definition": ("z", {"dependentSchemas": {"c": {"$ref": "#/$defs/More"}}}),
}
MORE: Final = go({"z": {"type": "boolean"}})


def params(**more: Any) -> dict[str, Any]:
    return protocol({"GoRequest": {**PLAIN, **more}, "More": MORE})


@pytest.mark.parametrize("how", DECLARED)
def test_a_member_that_is_no_longer_declared_is_lost_and_one_that_is_new_is_additive(how: str) -> None:
    name, keywords = DECLARED[how]
    report = compared(params(**keywords), params())
    (finding,) = report.findings
    assert (finding.rule, finding.severity, finding.effect) == ("field-removed", "breaking", "lost")
    assert finding.location == f"params.{name}"
    assert finding.old is not None and finding.new is not None
    assert finding.witness is not None and finding.witness.carried_by == "old"
    value: Any = finding.witness.value
    (sent,) = set(value["params"]) - {"c"}
    assert sent == name or sent.startswith("x-")
    assert validates({**PLAIN, **keywords, "$defs": {"More": MORE}}, value["params"])
    assert (report.wire.backward, report.wire.forward) == ("no", "yes")
    back = compared(params(), params(**keywords))
    assert [(each.rule, each.severity) for each in back.findings] == [("field-added", "additive")]


def test_a_pattern_that_is_covered_is_not_lost() -> None:
    narrow, wide = ({"patternProperties": {pattern: {"type": "number"}}} for pattern in ("^x-[a-z]+$", "^x-"))
    assert [each.rule for each in compared(params(**narrow), params(**wide)).findings] == ["field-added"]
    (lost,) = compared(params(**wide), params(**narrow)).findings
    assert (lost.rule, lost.severity) == ("field-removed", "breaking")
    value: Any = lost.witness.value if lost.witness is not None else None
    (sent,) = value["params"]
    assert validates({"pattern": "^x-"}, sent)
    assert not validates({"pattern": "^x-[a-z]+$"}, sent)


def test_a_member_that_moves_to_another_keyword_is_no_loss() -> None:
    _, keywords = DECLARED["then"]
    moved = {**params(), "$defs": {**params()["$defs"]}}
    moved["$defs"]["GoRequest"] = {
        **moved["$defs"]["GoRequest"],
        "properties": {"c": {"type": "string"}, "z": {"type": "integer"}},
    }
    assert "field-removed" not in {each.rule for each in compared(params(**keywords), moved).findings}


def test_a_pattern_that_only_permits_names_says_nothing_of_them() -> None:
    report = compared(params(patternProperties={"^x-": {}}), params())
    assert report.verdict == "editorial"


def test_where_the_other_side_declares_nothing_what_it_accepts_tells() -> None:
    one, other = (
        protocol({"GoRequest": {"type": "object", **more}})
        for more in ({"patternProperties": {"^x-": {"type": "number"}}}, {})
    )
    assert {each.rule for each in compared(other, one).findings} == {"limit-tightened"}


INNER: Final = {"mode": {"type": "string"}, "config": go({"k": {"type": "string"}})}
NESTED: Final = ("then", "else", "dependentSchemas", "patternProperties", "additionalProperties")


def nested(how: str, inner: dict[str, Any]) -> dict[str, Any]:
    """Keywords that say of the member `y` of `config` what it is."""
    said: dict[str, Any] = {"properties": {"y": inner}}
    of_config: dict[str, Any] = {"properties": {"config": said}}
    match how:
        case "then" | "else":
            return {"if": {"required": ["mode"]}, how: of_config}
        case "dependentSchemas":
            return {how: {"mode": of_config}}
        case "patternProperties":
            return {how: {"^con": said}}
        case _:
            return {"allOf": [{how: said}]}


@pytest.mark.parametrize("how", NESTED)
def test_what_a_condition_says_of_a_member_of_a_member_is_sent(how: str) -> None:
    sides = [protocol({"GoRequest": go(INNER, **nested(how, {"type": kind}))}) for kind in ("integer", "string")]
    report = compared(*sides)
    assert report.verdict == "breaking"
    assert (report.wire.backward, report.wire.forward) == ("no", "no")


BOTH: Final = go({"b": {"type": "integer"}, "c": {"type": "string"}})
ONE: Final = go({"b": {"type": "integer"}})


@pytest.mark.parametrize("how", ["then", "else"])
def test_what_follows_a_condition_is_compared_with_it_where_a_record_has_no_fields(how: str) -> None:
    sides = [protocol({"GoRequest": {"type": "object", "if": {"required": ["a"]}, how: each}}) for each in (BOTH, ONE)]
    assert [(each.rule, each.severity) for each in compared(*sides).findings] == [("field-removed", "breaking")]


@pytest.mark.parametrize("how", ["then", "else", "dependentSchemas"])
def test_what_a_condition_refers_to_is_compared_with_it(how: str) -> None:
    said: dict[str, Any] = {"$ref": "#/$defs/Said"}
    keywords = {how: {"a": said}} if how == "dependentSchemas" else {"if": {"required": ["a"]}, how: said}
    sides = [protocol({"GoRequest": {"type": "object", **keywords}, "Said": each}) for each in (BOTH, ONE)]
    lost = [each.rule for each in compared(*sides).findings if each.severity == "breaking"]
    assert set(lost) == {"field-removed"}


def test_a_definition_without_a_type_accepts_no_more_than_its_condition_does() -> None:
    def alone(properties: dict[str, Any]) -> dict[str, Any]:
        return protocol({"T": {"if": {"required": ["k"]}, "then": {"properties": properties}}})

    (finding,) = compared(
        alone({"a": {"type": "string"}, "b": {"type": "integer"}}), alone({"a": {"type": "string"}})
    ).findings
    assert (finding.rule, finding.severity) == ("limit-loosened", "breaking")
    assert "Any value is accepted" not in finding.message
