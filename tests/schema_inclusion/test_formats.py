"""Formats as assertions, held to the official test suite and to validators."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

import evidence
from schema_inclusion import FORMATS, UnknownFormat, compare, include, is_satisfiable
from schema_inclusion.formats import WIDER
from schema_inclusion.patterns import matches

TEXT: Any = {"type": "string"}


def texts(name: str) -> list[tuple[str, bool]]:
    """Texts of the official test suite, with whether they are of the format."""
    found: list[tuple[str, bool]] = []
    for draft in ("draft2020-12", "draft2019-09", "draft7"):
        path = evidence.path(f"json-schema-test-suite/{draft}") / "optional" / "format" / f"{name}.json"
        for group in json.loads(path.read_text("utf-8")) if path.exists() else ():
            found += [(each["data"], each["valid"]) for each in group["tests"] if isinstance(each["data"], str)]
    return found


@pytest.mark.parametrize("name", FORMATS)
def test_the_bounds_hold_for_the_official_test_suite(name: str) -> None:
    assert texts(name)
    for text, is_valid in texts(name):
        if is_valid:
            assert matches(FORMATS[name].possibly, text), text
        else:
            assert not matches(FORMATS[name].surely, text), text


@pytest.mark.parametrize("name", FORMATS)
def test_an_instance_and_its_contrary_are_what_a_validator_says(name: str) -> None:
    judge = jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True)
    found = is_satisfiable({**TEXT, "format": name, "minLength": 3}, formats=[name])
    assert found.instance is not None
    assert judge.is_valid(found.instance.value)
    contrary = include(TEXT, {"format": name}, formats=[name])
    assert contrary.witness is None or not judge.is_valid(contrary.witness.value)
    assert contrary.verdict.value == ("undecided" if name == "regex" else "no")


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_format_includes_itself_and_is_within_its_wider_pattern(name: str) -> None:
    own = {**TEXT, "format": name}
    assert include(own, {"format": name, "title": "x"}, formats=[name]).verdict.value == "yes"
    assert include(own, {**TEXT, "pattern": FORMATS[name].possibly}, formats=[name]).verdict.value == "yes"
    assert include({**TEXT, "pattern": FORMATS[name].surely}, own, formats=[name]).verdict.value == "yes"


def test_only_the_formats_asked_for_are_assertions() -> None:
    dates, times = {**TEXT, "format": "date"}, {**TEXT, "format": "date-time"}
    assert compare(dates, times).backward.verdict.value == "yes"
    assert compare(dates, times, formats=["uri"]).backward.verdict.value == "yes"
    comparison = compare(dates, times, formats=["date", "date-time"])
    assert (comparison.backward.verdict.value, comparison.forward.verdict.value) == ("no", "no")
    both: Any = {"allOf": [dates, times]}
    assert is_satisfiable(both, formats=["date", "date-time"]).verdict.value == "no"


@pytest.mark.parametrize(
    ("name", "text"), [("date", "2023-02-29"), ("time", "12:00:60Z"), ("time", "23:59:60Z"), ("email", '"a b"@c')]
)
def test_what_lies_between_the_bounds_is_not_claimed(name: str, text: str) -> None:
    relation = include({"const": text}, {"format": name}, formats=[name])
    assert relation.verdict.value != "yes"


def test_a_format_that_cannot_be_asserted_is_said() -> None:
    with pytest.raises(UnknownFormat, match="absolute-path, colour"):
        compare({}, True, formats=["colour", "date", "absolute-path"])


@pytest.mark.parametrize(("name", "wider"), [(name, each) for name, wider in WIDER.items() for each in wider])
def test_a_format_is_within_the_wider_ones(name: str, wider: str) -> None:
    relation = include({**TEXT, "format": name}, {"format": wider}, formats=[name, wider])
    assert relation.verdict.value == "yes"
    judge = jsonschema_rs.Draft202012Validator({"format": wider}, validate_formats=True)
    narrow = jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True)
    for text, _ in (each for format_ in (name, wider) for each in texts(format_)):
        assert judge.is_valid(text) or not narrow.is_valid(text), text
