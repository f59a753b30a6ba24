"""Schemas of a few lines in which one definition is reached along more ways than anybody can walk. Without an end, these tests fail."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from acpgen.compat.compare import compare
from acpgen.compat.findings import Mode
from acpgen.input.load import load
from acpgen.lint import lint_paths
from acpgen.meaning.understanding import understand
from tiers import sample

Schema = dict[str, Any]
LEVELS: Final = 22

SHAPES: Final[dict[str, Callable[[Schema], Schema]]] = {
    "allOf": lambda each: {"allOf": [each, each]},
    "anyOf": lambda each: {"anyOf": [each, each]},
    "oneOf": lambda each: {"oneOf": [each, each]},
    "ref-and-allOf": lambda each: {**each, "allOf": [each]},
    "parts": lambda each: {"allOf": [{"properties": {"a": each}}, {"properties": {"a": each, "b": each}}]},
    "if": lambda each: {"if": each, "then": each, "else": each},
    "not": lambda each: {"allOf": [each, {"not": {"not": each}}]},
    "dependentSchemas": lambda each: {"dependentSchemas": {"a": each, "b": each}},
    "members": lambda each: {"type": "object", "properties": {"a": each, "b": each}, "required": ["a", "b"]},
    "items": lambda each: {"type": "array", "prefixItems": [each, each], "minItems": 2},
    "additional": lambda each: {"properties": {"a": each}, "additionalProperties": each},
    "unevaluated": lambda each: {"allOf": [each, each], "unevaluatedProperties": False},
}


def written(folder: Path, name: str, kind: str) -> Path:
    """A file whose definitions each lead to the next one several times; the last has a field of a kind."""
    definitions = {f"A{level}": SHAPES[name]({"$ref": f"#/$defs/A{level + 1}"}) for level in range(LEVELS)}
    last: Schema = {"type": "object", "properties": {"x": {"type": kind}}, "required": ["x"]}
    path = folder / f"{kind}.json"
    path.write_text(json.dumps({"$ref": "#/$defs/A0", "$defs": {**definitions, f"A{LEVELS}": last}}), "utf-8")
    return path


@pytest.mark.parametrize("name", SHAPES)
def test_a_schema_that_leads_to_one_definition_along_many_ways_is_understood(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name, "integer")
    protocol, _ = understand(load(path))
    assert f"A{LEVELS}" in protocol.definitions
    assert {finding.rule for finding in lint_paths([path])} >= {"description-missing"}


MODES: Final[tuple[Mode, ...]] = ("protocol", "language")


@pytest.mark.parametrize("case", sample([(name, mode) for name in SHAPES for mode in MODES], 4, "-".join))
def test_it_is_compared(tmp_path: Path, case: tuple[str, Mode]) -> None:
    name, mode = case
    paths = [written(tmp_path, name, kind) for kind in ("integer", "string")]
    possible = {"breaking", "undecided"}
    if name == "oneOf":  # which accepts nothing: what it names twice is never exactly one
        possible = {"identical", "editorial"}
    assert compare(*paths, mode=mode).verdict in possible
