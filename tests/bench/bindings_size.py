"""How large the generated bindings are, and what they run on: lines, files and wheels."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.timed import ROOT

RUNTIME = ROOT / "generator" / "jsonrpc_bindings"
ACP = ROOT / "generated" / "python" / "acp-bindings"
TWO = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {
        "Boat": {"type": "object", "properties": {"name": {"type": "string"}, "crew": {"$ref": "#/$defs/Crew"}}},
        "Crew": {"type": "object", "properties": {"size": {"type": "integer"}}},
    },
}


def rows() -> Iterator[tuple[str, ...]]:
    """Every row."""
    yield _row("the types of ACP v1, with documentation", _lines([ACP / "acp_bindings" / "v1" / "models.py"]), 3000)
    yield _row("the bindings of ACP v1, all modules", _lines((ACP / "acp_bindings" / "v1").glob("*.py")))
    yield _row("the run-time, with the connection", _lines(RUNTIME.glob("*.py")), 4500)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "two.json").write_text(json.dumps(TWO), "utf-8")
        command = ["-m", "acpgen", "generate", "--schema", "two.json", "--package", "two", "--out", "out"]
        command += ["--option", "runtime=package"]
        subprocess.run([sys.executable, *command], cwd=folder, check=True, capture_output=True)
        files = [path for path in (folder / "out").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        yield _row("a package of a schema of two types", len(files), 6, "files")
        for name, source in (("jsonrpc-bindings", RUNTIME), ("acp-bindings", ACP)):
            build = ["-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder / name), str(source)]
            subprocess.run([sys.executable, *build], check=True, capture_output=True)
            (wheel,) = (folder / name).glob("*.whl")
            yield _row(f"the wheel of {name}", round(wheel.stat().st_size / 1000), unit="kB")


def _lines(paths: Iterator[Path] | list[Path]) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def _row(what: str, size: int, goal: int = 0, unit: str = "lines") -> tuple[str, ...]:
    verdict = f"{goal:,}, {'reached' if size <= goal else 'missed'}" if goal else ""
    return (what, f"{size:,} {unit}", "", "", f"**{size:,}**", "", verdict)
