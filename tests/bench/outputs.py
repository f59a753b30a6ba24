"""Processor time of `acpgen` as whole processes, beside the goals.

    python tests/bench/outputs.py

It prints the median of three runs of each command, user and system time of the process and its children together. A busy machine takes
longer: compare rows of one run.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path[:1] = [str(Path(__file__).parents[1])]  # in place of this folder

from bench.timed import ROOT, process  # noqa: E402 - the tests' folder is on the path only now

ACPGEN = Path(sys.executable).parent / "acpgen"
RUNS = 3
SCHEMA = ROOT / "generated" / "schema" / "acp" / "v2" / "schema.json"


def rows(folder: Path) -> Iterator[tuple[str, float | None, float]]:
    """What was run, its goal in seconds, and the seconds that it took."""
    yield "acpgen --help", 0.1, _median(["--help"])
    single: list[str | Path] = ["generate", "--schema", SCHEMA, "--package", "bench.v2", "--out", folder / "single"]
    yield "one schema, target python, cold", 1, _median([*single, "--no-cache"])
    process([ACPGEN, *single])
    yield "one schema, target python, warm", 0.3, _median(single)
    for targets in ("python", "bundle", "vectors", "python,bundle,vectors"):
        yield (
            f"--check --no-cache of {targets}",
            None,
            _median(["generate", "--check", "--no-cache", "--target", targets]),
        )
    yield "--check --no-cache of everything", 10, process([ACPGEN, "generate", "--check", "--no-cache"])


def _median(arguments: Sequence[str | Path]) -> float:
    return statistics.median(process([ACPGEN, *arguments]) for _ in range(RUNS))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        for what, goal, seconds in rows(Path(temporary)):
            print(f"{what:50} {seconds:7.2f} s" + (f"   goal {goal:g} s" if goal is not None else ""), flush=True)
