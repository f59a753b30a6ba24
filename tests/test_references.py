"""Names that no URI fragment holds: generics, letters beyond ASCII, what a pointer or a URI gives a meaning of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import pytest

import acpgen
from acpgen.bundle.bundle import bundle
from acpgen.pointers import read_reference, write_reference
from acpgen.targets.installed import TARGETS
from acpgen.targets.interface import Settings

ANSWER: Final = {"type": "object", "x-method": "ask", "x-side": "agent"}
SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {
        "Reply<Text>": {
            "type": "object",
            "properties": {
                "inner": {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"]},
                "size": {"$ref": "#/$defs/Gr%C3%B6%C3%9Fe"},
            },
            "required": ["inner"],
        },
        "Größe": {
            "oneOf": [
                {"type": "object", "properties": {"type": {"const": "small"}}, "required": ["type"]},
                {
                    "type": "object",
                    "properties": {"type": {"const": "groß"}, "unit": {"$ref": "#/$defs/100%25"}},
                    "required": ["type", "unit"],
                },
            ]
        },
        "100%": {"type": "string", "minLength": 2},
        "A#b": {"type": "object", "properties": {"x": {"type": "object", "properties": {"y~/": {"type": "string"}}}}},
        "AskRequest": {
            **ANSWER,
            "properties": {"q": {"$ref": "#/$defs/Reply%3CText%3E"}, "z": {"$ref": "#/$defs/A%23b"}},
            "required": ["q"],
        },
        "AskResponse": {**ANSWER, "properties": {"r": {"$ref": "#/$defs/Reply<Text>"}}},
    },
}
REQUEST: Final = {"q": {"inner": {"a": 0}, "size": {"type": "groß", "unit": "m"}}}


def loaded(folder: Path, schema: dict[str, Any]) -> acpgen.Documents:
    folder.mkdir()
    (folder / "schema.json").write_text(json.dumps(schema), "utf-8")
    return acpgen.load(folder, name="odd/v1")


@pytest.mark.parametrize(
    "name", ["Plain", "Reply<Text>", "Größe", "100%", "%41", "A#b", "a/b~c", "a b", '"', "?", "[x]"]
)
def test_a_reference_is_a_fragment_and_leads_back_to_its_name(name: str) -> None:
    written = write_reference(name)
    assert read_reference(written) == name
    assert not set(written[1:]) & set(' #<>"[]^`{|}\\')
    assert jsonschema_rs.Draft202012Validator({"$ref": written, "$defs": {name: {"const": 1}}}).is_valid(1)
    assert not jsonschema_rs.Draft202012Validator({"$ref": written, "$defs": {name: {"const": 1}}}).is_valid(2)


def test_the_bundle_judges_as_any_validator_does(tmp_path: Path) -> None:
    found = bundle(loaded(tmp_path / "odd", SCHEMA))
    judge = jsonschema_rs.Draft202012Validator({"$ref": write_reference("AskRequest"), "$defs": found.schema["$defs"]})
    wrong = sorted("/".join(map(str, error.instance_path)) for error in judge.iter_errors(REQUEST))
    assert wrong == ["q/inner/a", "q/size"]
    assert judge.is_valid({"q": {"inner": {"a": 1}, "size": {"type": "groß", "unit": "km"}}, "z": {"x": {"y~/": ""}}})


def test_every_target_takes_them(tmp_path: Path) -> None:
    made = acpgen.generate(
        loaded(tmp_path / "odd", SCHEMA),
        {name: Settings(package="odd.v1") for name in TARGETS},
    )
    assert all(made.values())
    assert {"bundle", "docs", "ir", "python", "typescript", "vectors"} <= set(made)
    acpgen.write([acpgen.Tree(tmp_path / "python", made["python"])])
    code = (
        "import json, sys\nfrom odd import v1\nparams = json.loads(sys.argv[1])\n"
        "message = {'jsonrpc': '2.0', 'id': 1, 'method': 'ask', 'params': params}\n"
        "print(*(problem.pointer for problem in v1.validate(message, sender='client')))\n"
        "print(*(problem.schema for problem in v1.validate_as('Größe', params['q']['size'])))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, json.dumps(REQUEST)],
        cwd=tmp_path / "python",
        capture_output=True,
        encoding="utf-8",
        env={"PYTHONUTF8": "1"},
        check=True,
    )
    assert ran.stdout.splitlines() == ["/params/q/inner/a /params/q/size/unit", "#/$defs/100%/minLength"]


def test_the_comparison_looks_into_them(tmp_path: Path) -> None:
    tighter = json.loads(json.dumps(SCHEMA).replace('"minimum": 1', '"minimum": 3'))
    old, new = loaded(tmp_path / "old", SCHEMA), loaded(tmp_path / "new", tighter)
    assert acpgen.compare(old, old).verdict == "identical"
    report = acpgen.compare(old, new)
    assert report.verdict == "breaking"
    assert {found.rule for found in report.findings if found.severity == "breaking"} == {"limit-tightened"}
