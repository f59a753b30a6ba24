"""A schema file and the files beside it that it refers to, from end to end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from acpgen import Faults, compare, load
from acpgen.commands.scaffold import start
from acpgen.input.faults import REFERENCE_NOT_GIVEN
from acpgen.lint import lint_paths
from acpgen.meaning.understanding import understand

MAIN: dict[str, Any] = {
    "type": "object",
    "properties": {"size": {"$ref": "parts/units.json#/$defs/Size"}, "colour": {"$ref": "colour.json"}},
    "required": ["size"],
}
UNITS: dict[str, Any] = {
    "$defs": {
        "Size": {"type": "object", "properties": {"unit": {"$ref": "#/$defs/Unit"}, "in": {"$ref": "../colour.json"}}},
        "Unit": {"enum": ["m", "s"]},
        "Unused": {"type": "object", "properties": {"x": {"type": "integer"}}},
    }
}
COLOUR: dict[str, Any] = {"title": "Colour", "type": "object", "properties": {"red": {"type": "integer"}}}


def written(folder: Path, main: Any = MAIN, units: Any = UNITS, colour: Any = COLOUR, name: str = "main.json") -> Path:
    """The path of the main file."""
    (folder / "parts").mkdir(parents=True)
    for path, value in ((name, main), ("parts/units.json", units), ("colour.json", colour)):
        (folder / path).write_text(json.dumps(value))
    (folder / "unrelated.json").write_text("{")
    return folder / name


def changed(value: Any, old: str, new: str) -> Any:
    text = json.dumps(value)
    assert old in text
    return json.loads(text.replace(old, new))


@pytest.mark.parametrize("identifiers", [False, True])
def test_what_is_referred_to_is_part_of_the_schema_and_nothing_else_of_its_file(
    tmp_path: Path, identifiers: bool
) -> None:
    """By path also where the files have addresses of their own, which lead elsewhere."""
    main, units, colour = (
        {**value, "$id": f"https://{name}.example/{name}"} if identifiers else value
        for name, value in (("main", MAIN), ("units", UNITS), ("colour", COLOUR))
    )
    protocol, found = understand(load(written(tmp_path / "s", main, units, colour)))
    assert set(protocol.definitions) == {"Main", "Size", "Unit", "Colour"}
    assert found.origins["Size"] == "parts/units.json#/$defs/Size"


def test_the_comparison_sees_what_changed_in_a_file_beside(tmp_path: Path) -> None:
    old = load(written(tmp_path / "old"))
    same = load(written(tmp_path / "same", name="renamed.json"))
    assert compare(old, same).verdict in ("identical", "editorial"), "the root is called by its file"
    for number, (units, colour, verdict) in enumerate(
        (
            (changed(UNITS, '"s"', '"t"'), COLOUR, "breaking"),
            (UNITS, changed(COLOUR, "integer", "string"), "breaking"),
            (changed(UNITS, '"integer"', '"string"'), COLOUR, "identical"),
        )
    ):
        new = load(written(tmp_path / f"new{number}", MAIN, units, colour))
        report = compare(old, new)
        if verdict == "identical":
            assert report.verdict in ("identical", "editorial"), "what nothing refers to was compared"
            continue
        assert report.verdict == verdict
        assert {spot.file for each in report.findings if (spot := each.new) is not None} == {
            "colour.json" if colour is not COLOUR else "parts/units.json"
        }
        assert compare(old, new, mode="language").verdict == "breaking"


def test_lint_tells_of_the_file_that_was_named(tmp_path: Path) -> None:
    main = written(tmp_path / "s")
    found = lint_paths([main])
    assert {each.file for each in found} == {str(main)}
    assert "reference-dangling" not in {each.rule for each in found}


def test_a_new_project_has_all_files(tmp_path: Path) -> None:
    begun = start(tmp_path / "acme", {"acme/v1": written(tmp_path / "s")})
    assert {path for path in begun.files if path.startswith("schema/acme/v1/")} == {
        f"schema/acme/v1/{path}" for path in ("main.json", "colour.json", "parts/units.json")
    }


def test_an_address_may_be_given_as_references_have_it(tmp_path: Path) -> None:
    """Some are relative to a folder that only their authors know."""
    (tmp_path / "s").mkdir()
    main = tmp_path / "s" / "main.json"
    main.write_text(json.dumps({"$defs": {"A": {"$ref": "./api/units.json#/$defs/Unit"}, "B": {"$ref": "../up.json"}}}))
    for name, value in (("units.json", UNITS), ("up.json", COLOUR)):
        (tmp_path / name).write_text(json.dumps(value))
    with pytest.raises(Faults) as caught:
        understand(load(main))
    assert [each.values["address"] for each in caught.value.faults if each.kind == REFERENCE_NOT_GIVEN] == [
        "./api/units.json",
        "../up.json",
    ]
    given = {"./api/units.json": tmp_path / "units.json", "../up.json": tmp_path / "up.json"}
    protocol, _ = understand(load(main, references=given))
    assert {"Unit", "Colour"} <= set(protocol.definitions)
