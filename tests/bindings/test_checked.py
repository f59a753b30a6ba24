"""What type checkers and linters say of generated packages, and of code that uses them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from acp_bindings import Unknown

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
USER: Final = """\
import typed.wire as wire


def names(holder: wire.Holder) -> list[str]:
    return [name for name, value in holder.meta.items() if isinstance(value, str)]


def depth(value: wire.Value) -> int:
    if isinstance(value, list):
        return 1 + max((depth(item) for item in value), default=0)
    if isinstance(value, dict):
        return 1 + max((depth(item) for item in value.values()), default=0)
    return 0


held = wire.decode_as(wire.Holder, {"meta": {"a": "b", "c": [["d"], {}]}, "two": [[], "x"]})
print(names(held), depth(held.meta), wire.encode(held))
print(wire.decode_as(wire.Value, ["a"]))
"""


def made(folder: Path, definitions: dict[str, Any], *options: str) -> Path:
    """A folder with the package that a schema makes."""
    (folder / "schema.json").write_text(json.dumps({"$defs": definitions}))
    chosen = [part for option in options for part in ("--option", option)]
    arguments = ["generate", "--schema", "schema.json", "--package", "typed.wire", "--out", "out", *chosen]
    done(folder, "acpgen", *arguments)
    return folder / "out"


def done(folder: Path, *command: str) -> str:
    run = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False, timeout=600
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.mark.parametrize("options", [(), ("layout=file", "omitted=none")], ids=["package", "file"])
def test_types_that_are_parts_of_themselves_are_known_to_both_checkers(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    folder = made(tmp_path, RECURSIVE, *options)
    (folder / "user.py").write_text(USER)
    (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict", "pythonVersion": "3.11"}))
    done(folder, "pyright", "--pythonpath", sys.executable, "-p", ".")
    done(folder, "mypy", "--strict", "--config-file=", "--cache-dir", str(tmp_path / "c"), "-m", "user", "-p", "typed")
    (folder / "ran.py").write_text("import user\n")
    assert done(folder, "ran") == ("""['a'] 3 b'{"meta":{"a":"b","c":[["d"],{}]},"two":[[],"x"]}'\n['a']\n""")


def test_integers_of_any_size_are_constants_to_both_checkers(tmp_path: Path) -> None:
    large = 1 << 63
    definitions = {
        "One": {"const": large},
        "Some": {"enum": [1, large, -large, "x"]},
        "Holder": {"type": "object", "properties": {"one": {"const": -large - 1}, "node": {"$ref": "#/$defs/Node"}}},
        "Node": {"anyOf": [{"const": large}, {"type": "array", "items": {"$ref": "#/$defs/Node"}}]},
    }
    folder = made(tmp_path, definitions)
    (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict", "pythonVersion": "3.11"}))
    done(folder, "pyright", "--pythonpath", sys.executable, "-p", ".")
    done(folder, "mypy", "--strict", "--config-file=", "--cache-dir", str(tmp_path / "c"), "-p", "typed")
    (folder / "ran.py").write_text(
        "import typed.wire as wire\n"
        f"print(wire.decode_as(wire.Some, {large}), wire.Holder(one={-large - 1}).one)\n"
        f"print(*wire.validate_as(wire.Some, {large + 1}))\n"
        f"try: wire.decode_as(wire.Node, [{large + 1}])\n"
        "except ValueError as error: print(error)\n"
    )
    told = done(folder, "ran").splitlines()
    assert told[0] == f"{large} {-large - 1}"
    assert all(f"{large + 1}" in line for line in told[1:]) and len(told) == 3


@pytest.mark.parametrize("name", ["Item", "Model"])  # `Model` is imported too: then the target spells each name
def test_a_module_imports_only_what_it_uses(name: str, tmp_path: Path) -> None:
    thing = {"type": "object", "properties": {"name": {"type": "string"}, "other": {"$ref": f"#/$defs/{name}"}}}
    folder = made(tmp_path, {name: {"type": "object"}, "Thing": thing})
    done(folder, "ruff", "check", "--isolated", "--no-cache", "typed")


def test_the_class_that_all_unknown_variants_derive_from_has_a_schema() -> None:
    assert Unknown.model_json_schema()["type"] == "object"
