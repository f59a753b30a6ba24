"""The run-time modules that a package carries: all that something in it imports, and no other."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from acpgen import plugins
from acpgen.targets import TARGETS, Settings

ROOT: Final = Path(__file__).parents[2]
OFFERED: Final = {"websocket"}
"""Modules of which users alone import something, where there are peers."""

ALL: Final = {path.stem for path in (ROOT / "templates/python/runtime").glob("*.py")}

PLAIN: Final = (
    '{"$defs": {"Level": {"enum": ["low", "high"]}, '
    '"Thing": {"type": "object", "properties": {"at": {"$ref": "#/$defs/Level"}}}}}'
)
CHECKED: Final = (
    '{"$defs": {"Thing": {"type": "object", "properties": {"a": {"not": {"required": ["b"]}}, "b": {}}, '
    '"minProperties": 1}}}'
)
METHODS: Final = plugins.SAMPLES["methods"]

CASES: Final[tuple[tuple[str, dict[str, Any], set[str], set[str]], ...]] = (
    (PLAIN, {}, set(), {"texts", "checks", "assertions", "peers", "connection", "websocket"}),
    (PLAIN, {"enums": "str-enum"}, {"texts"}, {"checks"}),
    (CHECKED, {}, {"checks", "assertions"}, {"texts", "peers"}),
    (METHODS, {}, {"peers", "connection", "stdio", "websocket"}, {"texts", "checks"}),
)


def imported(source: str, at: str) -> Iterator[str]:
    """The run-time modules that a module at a dotted place below its package imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level:
            package = at.split(".")[: -node.level]
            for alias in node.names:
                place = [*package, *(node.module or "").split("."), alias.name]
                steps = [step for step in place if step]
                if steps[:1] == ["runtime"] and len(steps) > 1:
                    yield steps[1]


def modules(files: Mapping[str, str]) -> tuple[set[str], set[str]]:
    """The run-time modules that are there, and those that something else in the package imports, by the sources by path below it."""
    there = {Path(path).stem for path in files if path.startswith("runtime/")} - {"__init__"}
    needed: set[str] = set()
    for path, source in files.items():
        if path.endswith(".py"):
            own = Path(path).stem if path.startswith("runtime/") else ""
            needed |= {*imported(source, path.removesuffix(".py").replace("/", "."))} - {own}
    return there, needed


@pytest.mark.parametrize(
    "package", sorted((ROOT / "generated/python").glob("*/*/__init__.py")), ids=lambda path: path.parent.name
)
def test_our_own_packages_carry_what_they_need_and_no_more(package: Path) -> None:
    folder = package.parent
    there, needed = modules(
        {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.py")}
    )
    assert there == (needed & ALL) | OFFERED
    assert {"checks", "texts"}.isdisjoint(there)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "generated/python").rglob("_schema.json")), ids=lambda path: path.parent.as_posix()[-12:]
)
def test_the_schema_of_a_package_says_what_judges_and_nothing_twice(path: Path) -> None:
    said = set(re.findall(r'"([\w$-]+)":', path.read_text("utf-8")))
    assert {"$defs", "properties", "required"} <= said
    assert not {key for key in said if key.startswith("x-")} | (said & {"$comment", "examples"})


@pytest.mark.parametrize(("schema", "options", "has", "lacks"), CASES)
def test_a_package_carries_what_its_schema_and_options_need(
    tmp_path: Path, schema: str, options: dict[str, Any], has: set[str], lacks: set[str]
) -> None:
    protocol, bundle = plugins.sample(schema)
    files = TARGETS["python"](protocol, bundle, Settings(package="tides.v1", options=options))
    there, needed = modules({path.removeprefix("tides/"): text for path, text in files.items()})
    assert has <= there
    assert lacks.isdisjoint(there)
    assert needed & ALL <= there
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    walk = (
        "import importlib, pkgutil, tides\n"
        "for found in pkgutil.walk_packages(tides.__path__, 'tides.'):\n    importlib.import_module(found.name)\n"
    )
    subprocess.run([sys.executable, "-c", walk], cwd=tmp_path, check=True, timeout=120)
