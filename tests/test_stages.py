"""One idea of each stage in one small file: `tests/golden/stages/<stage>/<idea>.json` holds files of a schema, and what the stage makes.

Faults are what some stages make. `pytest --rewrite-goldens` writes what is made; read it in the diff.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest

from acpgen.bundle.bundle import bundle
from acpgen.bundle.collect import collect
from acpgen.errors import Faults
from acpgen.input.load import Document, Documents, Source, parse
from acpgen.input.walk import is_array, is_object
from acpgen.meaning.interchange import dump
from acpgen.meaning.lower import lower
from acpgen.meaning.methods import find_methods

GOLDEN: Final = Path(__file__).parent / "golden" / "stages"


def collected(documents: Documents) -> Any:
    """The definitions of all files, where each stands, and what the root says."""
    made = collect(documents)
    return {"root": made.root, "definitions": made.definitions, "origins": made.origins}


def bundled(documents: Documents) -> Any:
    """The definitions of the one schema."""
    return bundle(documents).definitions


def recognised(documents: Documents) -> Any:
    """The tagged union that each definition is, or how it is told apart otherwise."""
    nodes = bundle(documents).make_nodes()
    unions = {name: node.tagged_union for name, node in nodes.items() if node.union is not None}
    return {
        name: "by shape"
        if found is None
        else {
            "tag": found.tag,
            "variants": [tag for _, tag in found.variants],
            "fallback": found.fallback is not None,
            "default": found.default is not None,
        }
        for name, found in unions.items()
    }


def meant(documents: Documents) -> Any:
    """What each definition means, without the places."""
    return _placeless(dump(lower(bundle(documents)).definitions))


def bound(documents: Documents) -> Any:
    """The methods and the sides."""
    bundled_ = bundle(documents)
    methods, sides = find_methods(bundled_.make_nodes(), bundled_)
    return {"methods": _placeless(dump(methods)), "sides": list(sides)}


STAGES: Final[Mapping[str, Callable[[Documents], Any]]] = {
    "collect": collected,
    "bundle": bundled,
    "unions": recognised,
    "lower": meant,
    "methods": bound,
}


def _placeless(value: Any) -> Any:
    """The same without places and owners."""
    if is_object(value):
        return {key: _placeless(item) for key, item in value.items() if key not in ("at", "owner")}
    return [_placeless(item) for item in value] if is_array(value) else value


def made(stage: str, files: Mapping[str, Any]) -> Any:
    """What a stage makes of files, as JSON; its faults, if it raises them."""
    documents = Documents("p", tuple(Document(path, value, json.dumps(value)) for path, value in files.items()))
    try:
        return json.loads(json.dumps(STAGES[stage](documents)))
    except Faults as caught:
        return {"faults": [str(fault) for fault in caught.faults]}


CASES: Final = sorted(GOLDEN.glob("*/*.json"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_stage_makes_of_an_idea_what_its_golden_holds(path: Path, request: pytest.FixtureRequest) -> None:
    case = json.loads(path.read_text("utf-8"))
    found = made(path.parent.name, case["files"])
    if request.config.getoption("rewrite_goldens"):
        assert "CI" not in os.environ, "goldens are never rewritten in CI"
        text = json.dumps({**case, "made": found}, indent=2, ensure_ascii=False)
        path.write_text(f"{text}\n", "utf-8")
    assert found == json.loads(path.read_text("utf-8"))["made"]


def test_every_stage_has_ideas_and_every_idea_is_told_in_a_sentence() -> None:
    assert {path.parent.name for path in CASES} == STAGES.keys()
    for path in CASES:
        assert json.loads(path.read_text("utf-8"))["idea"].endswith("."), path


WALK: Final = {
    "Text": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "Block": {
        "oneOf": [
            {"$ref": "#/$defs/Text", "properties": {"type": {"const": "text"}}, "required": ["type"]},
            {"properties": {"type": {"const": "link"}, "to": {"type": ["string", "null"]}}, "required": ["type"]},
        ],
        "type": "object",
    },
}
"""A union of two variants, one of which has a body of its own."""


def test_the_walk_of_a_definition_is_as_the_decision_draws_it() -> None:
    text = json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": WALK})
    source = Source("p", "", (("p.json", text.encode()),))
    lower(bundle(parse(source)))  # so that what is found out once in a process counts for nobody
    entered: dict[str, list[str]] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        room, _, module = str(frame.f_globals.get("__name__")).removeprefix("acpgen.").partition(".")
        if event == "call" and module and frame.f_globals["__name__"].startswith("acpgen."):
            entered.setdefault(room, [])
            entered[room] += [module] if module not in entered[room] else []

    sys.setprofile(note)
    try:
        lower(bundle(parse(source)))
    finally:
        sys.setprofile(None)
    page = (Path(__file__).parents[1] / "generator/decisions/schema-and-ir.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)/` \| (.*?) \| .* \|$", page, re.MULTILINE)
    assert [(room, re.findall(r"`(\w+)`", modules)) for room, modules in rows] == [*entered.items()]
