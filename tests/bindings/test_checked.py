"""What type checkers and linters say of generated packages, and of code that uses them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

from acpgen.bundle.bundle import bundle
from acpgen.input.load import load
from acpgen.meaning.lower import lower
from acpgen.targets.installed import TARGETS, with_options
from acpgen.targets.interface import Settings

VALUE: Final = {"anyOf": [{"$ref": "#/$defs/Members"}, {"type": "array", "items": {"$ref": "#/$defs/Value"}}]}
RECURSIVE: Final[dict[str, Any]] = {
    "Items": {"type": "array", "items": {"$ref": "#/$defs/Value"}},
    "Members": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Value"}},
    "Value": {"anyOf": [*VALUE["anyOf"], {"type": "string"}]},
    "One": {"type": "array", "items": {"$ref": "#/$defs/Two"}},
    "Two": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Three"}}, {"$ref": "#/$defs/Map"}]},
    "Three": {"anyOf": [{"$ref": "#/$defs/One"}, {"type": "string"}]},
    "Map": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Two"}},
    "Holder": {
        "type": "object",
        "properties": {"meta": {"$ref": "#/$defs/Members"}, "two": {"$ref": "#/$defs/Two"}},
        "required": ["meta"],
    },
}
LARGE: Final = 1 << 63
INTEGERS: Final[dict[str, Any]] = {
    "One": {"const": LARGE},
    "Some": {"enum": [1, LARGE, -LARGE, "x"]},
    "Holder": {"type": "object", "properties": {"one": {"const": -LARGE - 1}, "node": {"$ref": "#/$defs/Node"}}},
    "Node": {"anyOf": [{"const": LARGE}, {"type": "array", "items": {"$ref": "#/$defs/Node"}}]},
}
USER: Final = """\
import typed.{package} as wire
from typed.{package} import *


def names(holder: Holder) -> list[str]:
    return [name for name, value in holder.meta.items() if isinstance(value, str)]


def depth(value: wire.Value) -> int:
    if isinstance(value, list):
        return 1 + max((depth(item) for item in value), default=0)
    if isinstance(value, dict):
        return 1 + max((depth(item) for item in value.values()), default=0)
    return 0


held = wire.decode_as(wire.Holder, {{"meta": {{"a": "b", "c": [["d"], {{}}]}}, "two": [[], "x"]}})
print(names(held), depth(held.meta), encode(held))
print(wire.decode_as(wire.Value, ["a"]))
"""
PARTS_OF_THEMSELVES: Final[dict[str, dict[str, Any]]] = {
    "recursive_package": {},
    "recursive_file": {"layout": "file"},
}
"""Packages of types that are parts of themselves, with their options."""

USERS: Final = tuple(f"user_of_{package}" for package in PARTS_OF_THEMSELVES)


def made(folder: Path, package: str, definitions: dict[str, Any], options: dict[str, Any]) -> None:
    """Write the package that a schema makes."""
    file = folder / f"{package}.json"
    file.write_text(json.dumps({"$defs": definitions}), "utf-8")
    found = bundle(load(file, name=package))
    settings = with_options("python", Settings(f"typed.{package}"), options, "here", "options")
    for path, text in TARGETS["python"](lower(found), found, settings).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")


def done(folder: Path, *command: str) -> None:
    run = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False, timeout=600
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Packages of all kinds and code that uses them, with one run time in one folder, so that a checker runs once."""
    found = tmp_path_factory.mktemp("checked")
    for package, options in PARTS_OF_THEMSELVES.items():
        made(found, package, RECURSIVE, options)
        (found / f"user_of_{package}.py").write_text(USER.format(package=package), "utf-8")
    made(found, "large", INTEGERS, {})
    (found / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict", "pythonVersion": "3.11"}))
    sys.path.insert(0, str(found))
    yield found
    sys.path.remove(str(found))


@pytest.mark.parametrize(
    "command",
    [
        ("mypy", "--strict", "--config-file=", *(part for name in (*USERS, "typed") for part in ("-p", name))),
        pytest.param(("pyright", "--pythonpath", sys.executable, "-p", "."), marks=pytest.mark.exhaustive),
    ],
    ids=lambda command: command[0],
)
def test_types_that_are_parts_of_themselves_and_integers_of_any_size_are_known_to_a_checker(
    command: tuple[str, ...], folder: Path
) -> None:
    done(folder, *command)


@pytest.mark.parametrize("package", PARTS_OF_THEMSELVES)
def test_types_that_are_parts_of_themselves_are_decoded(
    package: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (folder / f"user_of_{package}.py").exists()
    import_module(f"user_of_{package}")
    assert capsys.readouterr().out == """['a'] 3 b'{"meta":{"a":"b","c":[["d"],{}]},"two":[[],"x"]}'\n['a']\n"""


def test_integers_of_any_size_are_constants(folder: Path) -> None:
    assert (folder / "typed" / "large").is_dir()
    wire = import_module("typed.large")
    assert (wire.decode_as(wire.Some, LARGE), wire.Holder(one=-LARGE - 1).one) == (LARGE, -LARGE - 1)
    (problem,) = wire.validate_as(wire.Some, LARGE + 1)
    assert f"{LARGE + 1}" in str(problem)
    with pytest.raises(ValueError, match=f"{LARGE + 1}"):
        wire.decode_as(wire.Node, [LARGE + 1])


@pytest.mark.parametrize("name", ["Item", "Model"])  # `Model` is imported too: then the target spells each name
def test_a_module_imports_only_what_it_uses(name: str, tmp_path: Path) -> None:
    thing = {"type": "object", "properties": {"name": {"type": "string"}, "other": {"$ref": f"#/$defs/{name}"}}}
    made(tmp_path, name.lower(), {name: {"type": "object"}, "Thing": thing}, {"runtime": "package"})
    done(tmp_path, "ruff", "check", "--isolated", "--no-cache", "typed")


@pytest.mark.parametrize("checker", ["mypy", pytest.param("pyright", marks=pytest.mark.exhaustive)])
def test_records_are_known_to_a_checker_by_tag_and_by_class(checker: str) -> None:
    tests = Path(__file__).parents[1]
    options = ["--strict"] if checker == "mypy" else ["-p", str(tests.parent)]
    done(tests, checker, *options, str(Path(__file__).with_name("typed_use.py")))
