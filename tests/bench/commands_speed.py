"""How much processor time the command takes as a whole process, beside datamodel-codegen and its own lesser work."""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import evidence
from bench import scale
from bench.timed import ROOT, Row, paired, process

BIN = Path(sys.executable).parent
RELEASES = ROOT / "schema" / "releases" / "acp" / "v1"
RUNS = 3
COPIES = 50


def rows() -> Iterator[Row | tuple[str, ...]]:
    """Every row. What is kept of earlier runs counts only where it says so."""
    source = evidence.path("upstream/acp-v2-newest/schema.json")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)

        def ours() -> float:
            out = folder / "ours"
            shutil.rmtree(out, ignore_errors=True)
            options = ("--package", "bench.v2", "--schema", source, "--out", out, "--no-cache")
            return process([BIN / "acpgen", "generate", *options])

        def theirs() -> float:
            options = ("--input-file-type", "jsonschema", "--output-model-type", "pydantic_v2.BaseModel")
            output = ("--formatters", "builtin", "--output", folder / "models.py")
            return process([BIN / "datamodel-codegen", "--input", source, *options, *output])

        what = "`acpgen generate` of ACP v2, target python"
        yield paired(what, "datamodel-codegen, its fastest", ours, theirs, goal=0.6, unit="s", scale=1, runs=RUNS)
        names = [
            RELEASES / f"{name}.json" for name in json.loads((RELEASES / "index.json").read_text("utf-8"))["versions"]
        ]
        old, new = names[-2:]
        compared = "`acpgen diff` of the last two releases of ACP v1"
        for what, options in ((compared, ["--no-cache"]), (f"{compared}, cached", [])):
            seconds = [process([BIN / "acpgen", "diff", *options, old, new]) for _ in range(RUNS + 1)][1:]
            yield _alone(what, seconds, 0.35)
        yield _changed(folder)


def _changed(folder: Path) -> tuple[str, ...]:
    """This project with one description changed, everything made again that depends on it."""
    copy = folder / "project"
    for name in ("schema", "generated"):
        shutil.copytree(ROOT / name, copy / name)
    shutil.copy(ROOT / "pyproject.toml", copy)
    file = copy / "schema" / "acp" / "v2" / "plan.json"
    process(_generate(copy))  # which fills the user's cache, as far as other runs have not
    text, seconds = file.read_text("utf-8"), list[float]()
    for run in range(2):
        file.write_text(text.replace('"description": "', f'"description": "Measured {run}. ', 1), "utf-8")
        seconds.append(process(_generate(copy)))
    return _alone("`acpgen generate` of all outputs, one description of ACP v2 changed", seconds, 3)


def _generate(folder: Path) -> list[str | Path]:
    code = (
        f"import os, sys; os.chdir({str(folder)!r}); sys.argv[1:] = ['generate']; from acpgen.cli import main; main()"
    )
    return [sys.executable, "-c", code]


def scaled() -> Iterator[tuple[str, ...]]:
    """One schema with so many copies of ACP v2."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        scale.measured(folder, 0)
        start = scale.measured(folder, 0)[0]
        one = scale.measured(folder, 1)[0] - start
        seconds, memory = scale.measured(folder, COPIES)
        linear = (seconds - start) / (one * COPIES)
    what = f"`acpgen generate` of {COPIES} copies of ACP v2 in one schema"
    yield (
        what,
        f"{seconds:.0f} s",
        f"{one:.2f} s",
        f"{COPIES} times one copy",
        f"**{linear:.2f}**",
        "",
        _goal(linear, 1.3),
    )
    yield (f"{what}, memory", f"{memory:.0f} MB", "", "", f"**{memory:.0f} MB**", "", _goal(memory, 700))


def _alone(what: str, seconds: list[float], goal: float) -> tuple[str, ...]:
    found = statistics.median(seconds)
    spread = f"{min(seconds):.2f} to {max(seconds):.2f} s"
    return (what, f"{found:.3g} s", "", "", f"**{found:.2f} s**", spread, _goal(found, goal, " s"))


def _goal(found: float, goal: float, unit: str = "") -> str:
    return f"{goal:g}{unit}, {'reached' if found <= goal else 'missed'}"
