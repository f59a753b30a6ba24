"""Sample texts are of their formats, as long as they are asked to be, and look like what a field holds."""

from __future__ import annotations

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator

from acpgen.meaning.sample_texts import OF_FORMAT, collect_examples, suggest_for_format, suggest_for_name

DRAFT = {*Draft202012Validator.FORMAT_CHECKER.checkers}
OWN = {"absolute-path", "byte", "url"}
"""Formats that no validator asserts."""


def is_of(format_: str, text: str) -> bool:
    """Whether both judges take a text for one of a format."""
    fast = jsonschema_rs.is_valid({"format": format_}, text, validate_formats=True)
    return fast and Draft202012Validator.FORMAT_CHECKER.conforms(text, format_)


@pytest.mark.parametrize("format_", OF_FORMAT)
def test_every_sample_is_of_its_format(format_: str) -> None:
    assert all(is_of(format_, text) for text in OF_FORMAT[format_])
    judged = not jsonschema_rs.is_valid({"format": format_}, " %zz\x00{", validate_formats=True)
    assert judged or format_ in OWN


def test_there_is_a_sample_of_each_format_that_a_draft_defines() -> None:
    assert DRAFT - {"color"} <= OF_FORMAT.keys()


@pytest.mark.parametrize("format_", OF_FORMAT)
@pytest.mark.parametrize("low", [0, 1, 2, 3, 7, 20, 40, 63, 300])
def test_a_text_of_a_length_is_of_its_format_still(format_: str, low: int) -> None:
    for high in (None, low, low + 1, low + 7):
        for text in suggest_for_format(format_, low, high):
            assert low <= len(text)
            assert high is None or len(text) <= high
            assert is_of(format_, text), text


@pytest.mark.parametrize("format_", ["uri", "iri", "regex", "json-pointer", "uri-reference", "absolute-path"])
def test_what_can_be_of_any_length_is_found_at_each(format_: str) -> None:
    for low in range(3, 120):
        assert next(suggest_for_format(format_, low, low), None) is not None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sessionId", "session-1"),
        ("tool_call_id", "call-1"),
        ("cwd", "/project"),
        ("filePath", "/project/README.md"),
        ("rootUris", "https://example.com/text"),
        ("mimeType", "text/plain"),
        ("protocolVersion", "1.0.0"),
        ("id", None),
        ("content", None),
        ("_", None),
        ("", None),
    ],
)
def test_the_name_of_a_field_says_what_it_holds(name: str, text: str | None) -> None:
    assert suggest_for_name(name) == text


def test_what_a_schema_shows_of_a_field_is_known_by_its_name() -> None:
    definitions = {
        "A": {"properties": {"id": {"type": "string", "examples": ["tide-1"]}, "mode": {"default": "ask"}}},
        "B": {"anyOf": [{"properties": {"code": {"$ref": "#/$defs/Code"}, "long": {"examples": ["x" * 99]}}}]},
        "C": {"properties": {"id": {"examples": ["later"]}, "n": {"default": 3}, "wild": True}},
        "Code": {"type": "string", "examples": [7, "K-9"]},
    }
    assert collect_examples(definitions) == {"id": "tide-1", "mode": "ask", "code": "K-9"}
