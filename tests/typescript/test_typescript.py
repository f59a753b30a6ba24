"""The target `typescript`: its modules in Node.js against the vectors and against the Python bindings, and its types by the compiler."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import javascript
from acpgen.pipeline import generate
from acpgen.schema.load import load
from acpgen.targets import Settings
from jsonrpc_bindings.errors import DecodeError

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PROTOCOLS = {"acp/v1": "acp_bindings.v1", "acp/v2": "acp_bindings.v2", "mcp/2025-06-18": "mcp_bindings.roots"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The modules of all protocols, each in a folder of its name."""
    found = tmp_path_factory.mktemp("typescript")
    for name in PROTOCOLS:
        write(found / name, ROOT / "schema" / name)
    return found


def write(into: Path, schema: Path, **settings: Any) -> None:
    made = generate(load(schema), {"typescript": Settings(**settings)})["typescript"]
    for path, text in made.items():
        (into / path).parent.mkdir(parents=True, exist_ok=True)
        (into / path).write_text(text, encoding="utf-8")


@cache
def node() -> str:
    try:
        return javascript.node()
    except javascript.Unreachable as reason:
        pytest.skip(str(reason))


def run(*arguments: object, given: str = "") -> list[Any]:
    """The JSON lines that a program of Node.js prints."""
    ran = subprocess.run([node(), *map(str, arguments)], input=given, capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_vectors(name: str, folder: Path) -> None:
    *failed, last = run(HERE / "vectors.mjs", folder / name / "index.js", ROOT / "generated" / "vectors" / name)
    assert not failed
    assert last["rows"] > 200


@pytest.mark.parametrize("name", PROTOCOLS)
def test_sentences_are_those_of_python(name: str, folder: Path) -> None:
    rows = [
        row
        for file in sorted((ROOT / "generated" / "vectors" / name / "types").glob("*.jsonl"))
        for row in map(json.loads, file.read_text("utf-8").splitlines())
        if not row["decodes"] and "message" in row
    ]
    bindings = import_module(PROTOCOLS[name])
    known = [row for row in rows if hasattr(bindings, row["type"])]
    assert len(known) > len(rows) * 0.9
    program = (HERE / "sentences.mjs", folder / name / "index.js")
    for row, found in zip(known, run(*program, given="\n".join(map(json.dumps, known))), strict=True):
        assert found == {"decode": decoded(bindings, row), "validate": validated(bindings, row)}, row


def decoded(bindings: Any, row: dict[str, Any]) -> list[list[str]]:
    with pytest.raises(DecodeError) as refused:
        bindings.decode_as(row["type"], row["message"])
    return sorted([problem.pointer, problem.sentence] for problem in refused.value.problems)


def validated(bindings: Any, row: dict[str, Any]) -> list[list[str]]:
    return sorted(
        [problem.pointer, problem.sentence] for problem in bindings.validate_as(row["type"], row["message"])
    )
