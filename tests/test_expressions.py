"""Patterns for the engines here: which engine has which, what no engine checks, and what they cost."""

from __future__ import annotations

import json

import pytest

from acpgen import Faults
from acpgen.input import step_budget
from acpgen.input.expressions import LARGEST, LONGEST_TRIED, describe_fault, estimate_size, matches, translate_pattern
from acpgen.input.faults import TOO_MUCH_WORK
from acpgen.input.load import Source, parse
from acpgen.input.patterns import Patterns
from acpgen.input.schema_validator import Validator
from acpgen.meaning.understanding import understand
from hostile_schemas import TEXT, protocol
from test_doubling import ending


@pytest.mark.parametrize(
    ("pattern", "linear", "strict"),
    [
        ("^[a-z]+$", "^[a-z]+$", "^[a-z]+$"),
        (r"^\<a\>$", "^<a>$", "^<a>$"),
        (r"^\d{4}\-\d{2}$", r"^[0-9]{4}\-[0-9]{2}$", r"^[0-9]{4}\-[0-9]{2}$"),
        (r"^(?<x>a)\k<x>$", None, r"^(a)(?:\1)$"),
        ("^(?!x)", None, "^(?!x)"),
    ],
)
def test_engines_are_given_a_pattern_in_their_syntax(pattern: str, linear: str | None, strict: str) -> None:
    found = translate_pattern(pattern)
    assert (found.linear, found.strict, found.gap) == (linear, strict, "")
    assert found.is_checked is (linear is not None)


@pytest.mark.parametrize(
    ("pattern", "construct", "place"),
    [
        ("^(?P<x>a)$", "(?P<x>", 2),
        ("(?i)a", "(?i)", 1),
        ("a++", "+", 3),
        ("^[z-a]$", "z-a", 3),
        ("a{3,2}", "{3,2}", 2),
        ("ab(", "(", 3),
        ("a)", ")", 2),
        ("[a", "[", 1),
        ("😀\\", "\\", 2),
        (r"(?<x>a)\k<y>", r"\k<y>", 8),
    ],
)
def test_what_is_no_pattern_is_told_by_its_construct_and_place(pattern: str, construct: str, place: int) -> None:
    assert describe_fault(pattern).startswith(f"it is no pattern of ECMA-262: '{construct}' at character {place}: ")
    assert translate_pattern(pattern).gap == describe_fault(pattern)
    assert not matches(pattern, "a")


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("^(a{1,1000}){1,1000}$", "it is too large"),
        (r"(?<=^(?:^\b$|^\0{1,2}\B$)$)", "it is too large, or looks around in a way that no engine here has"),
        ("^(?:(a)|b)\\1$", "at character 11 it refers to a group that need not take part"),
        ("(?i:a)", "'(?i:' at character 1 sets flags"),
        ("a" * 10_001, "it has over 10000 characters"),
    ],
)
def test_what_no_engine_here_has_is_told_by_the_reason(pattern: str, reason: str) -> None:
    assert (translate_pattern(pattern).strict, translate_pattern(pattern).gap, describe_fault(pattern)) == (
        None,
        reason,
        "",
    )


def test_no_text_stands_for_two_patterns() -> None:
    found = Patterns([{"anyOf": [{"pattern": each} for each in (r"^\d$", "^[0-9]$", "^[\\d]$", "(?P<x>a)")]}])
    assert found.texts == {r"^\d$": "^[0-9]$(?:)", "^[\\d]$": "^[0-9]$(?:)(?:)", "(?P<x>a)": None}


@pytest.mark.parametrize("pattern", [r"^\d$", "^.+$", "^[a-z]$", r"^\-\w$"])
def test_messages_of_validators_name_the_pattern_of_the_schema(pattern: str) -> None:
    validator = Validator({"$defs": {"A": {"patternProperties": {pattern: {"pattern": pattern}}}}, "$ref": "#/$defs/A"})
    name = next(each for each in ("a", "1", "-a") if matches(pattern, each))
    (error,) = validator.list_errors({name: "\n"})
    assert validator.describe(error) == f'"\\n" does not match "{pattern}"'
    assert validator.locate(error) == ("$defs", "A", "patternProperties", pattern, "pattern")


@pytest.mark.parametrize(
    ("pattern", "steps"),
    [
        ("^a+(b|c)?$", 0),
        (r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}$", 2 * (8 + 4 + 1) * 3),
        ("^.{1,700}$", 1_400),
        (r"^\p{L}{1,}x{2}$", 3 * 32),
        (r"^(?:\w{20}){30}$", 21 * 30 * 32),
        ("^.{14000}$", 28_000),
        ("^(.{99999}){99999}{999999999}$", LARGEST),
    ],
)
def test_an_expression_counts_as_large_as_it_is_with_what_is_repeated(pattern: str, steps: int) -> None:
    assert estimate_size(pattern) == steps


def test_one_expression_that_no_engine_takes_uses_up_no_budget() -> None:
    given = protocol({"L0": {"type": "string", "pattern": "^(.{99999}){99999}{999999999}$"}})
    made, _ = understand(parse(Source("p", "", (("p.json", json.dumps(given).encode()),))))
    assert made.definitions["L0"].unenforced == ("p.json#/$defs/L0/pattern",)


def test_an_expression_is_measured_in_time_that_grows_with_it() -> None:
    with ending():
        for part in ("{", "{1", "{1}", "){1}", "\\", "{1,"):
            assert estimate_size(part * 300_000) <= LARGEST


@pytest.mark.parametrize(
    "part",
    ["(", "[", "\\", "(?<a>", "\\u{", "[a-", "(?:", "a{2}", "\\-.", "\\-.?", "(a)\\1", "\\k<a>", "|", "(?=\\-.)"],
)
def test_a_hostile_pattern_is_read_in_time_that_grows_with_it(part: str) -> None:
    with ending():
        translate_pattern(part * (9_999 // len(part)))
        translate_pattern(part * 300_000)


def test_many_large_expressions_are_refused_before_all_of_them_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_budget, "STEPS", step_budget.STEPS // 20)
    given = protocol({"L0": {"patternProperties": {f"a.{{{number}}}b|^.*{number}$": TEXT for number in range(3_000)}}})
    with pytest.raises(Faults) as caught:
        understand(parse(Source("p", "", (("p.json", json.dumps(given).encode()),))))
    assert {fault.kind for fault in caught.value.faults} == {TOO_MUCH_WORK}


@pytest.mark.parametrize("around", ["(?=a)", "(?<!b)", r"(a)\1"])
def test_what_looks_around_is_tried_up_to_a_length_and_what_does_not_at_any(around: str) -> None:
    for length in (LONGEST_TRIED, LONGEST_TRIED + 1):
        assert translate_pattern("a" * length).strict
        assert bool(translate_pattern(around + "a" * (length - len(around))).strict) is (length == LONGEST_TRIED)
