"""The loop of an edit: linters, types, and the tests nearest to what has changed, in about a minute.

    .venv/bin/python .ci/quick.py [--since REVISION] [--seconds 40]

What has changed are the files that differ from where this branch left `main`, or from REVISION, and those that git does not know yet. mypy
looks at the changed modules. The tests are those of changed files, then those that import one of them, then those that import these, as
far as the seconds go that `tests/durations.json` recorded. It says which were left out: `.ci/run` runs all.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
BIN: Final = Path(sys.executable).parent

_IMPORT: Final = re.compile(r"^\s*(?:from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]+)|import\s+([\w., ]+))", re.MULTILINE)
_MADE: Final = ("schema/", "templates/", "generator/", "generated/")
_PER_FUNCTION: Final = 0.25
"""Seconds that a function of tests takes for which none are recorded, because it takes less than one."""


def changed_files(since: str) -> list[str]:
    """The files that differ from a revision and are there, and those that git does not know yet."""
    differing = _git("diff", "--name-only", "--diff-filter=d", since)
    return sorted({*differing, *_git("ls-files", "--others", "--exclude-standard")})


def _git(*arguments: str) -> list[str]:
    ran = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S603, S607 - of this clone
    return ran.stdout.split("\n")[:-1]


def module_files(root: Path) -> Mapping[str, str]:
    """The files of all modules, by the names that they are imported by; tests have none but are their own."""
    pytest = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]
    found: dict[str, str] = {}
    for top in sorted(pytest["pythonpath"], key=len):
        for path in (root / top).rglob("*.py"):
            name = ".".join(path.relative_to(root / top).with_suffix("").parts).removesuffix(".__init__")
            found[name] = path.relative_to(root).as_posix()
    return found


def imported_names(text: str) -> set[str]:
    """The dotted names that a module may import, wherever it does so."""
    found: set[str] = set()
    for module, names, plain in _IMPORT.findall(text):
        found |= {each.split(" as ")[0].strip() for each in plain.split(",")} if plain else {module}
        found |= {f"{module}.{name}" for name in re.findall(r"\w+", names)}
    return found


def distances(changed: Iterable[str], root: Path) -> Mapping[str, int]:
    """How many imports lie between each file and the nearest changed one; a file that leads to none is left out."""
    modules = module_files(root)
    importers: dict[str, set[str]] = {}
    for file in set(modules.values()):
        for name in imported_names((root / file).read_text("utf-8")):
            if name in modules:
                importers.setdefault(modules[name], set()).add(file)
    for name, file in modules.items():
        if file not in importers and (package := modules.get(name.rpartition(".")[0])):
            importers[file] = {package}  # which loads it by its name
    found = dict.fromkeys(changed, 0)
    ring = [*found]
    while ring:
        ring = sorted({each for file in ring for each in importers.get(file, ())} - found.keys())
        found |= dict.fromkeys(ring, max(found.values()) + 1)
    return found


def estimate_seconds(file: str, durations: Mapping[str, float], root: Path) -> float:
    """How long a file of tests takes: the recorded seconds of its functions, and a fixed time for each of the others."""
    recorded = [seconds for name, seconds in durations.items() if name.startswith(f"{file}::")]
    functions = re.findall(r"^(?:async )?def test", (root / file).read_text("utf-8"), re.MULTILINE)
    return sum(recorded) + _PER_FUNCTION * (len(functions) - len(recorded))


def nearest_tests(
    near: Mapping[str, int], seconds: float, durations: Mapping[str, float], root: Path
) -> tuple[list[str], list[str]]:
    """The files of tests that are run within some seconds, nearest first, and those that are left out."""
    tests = [file for file in near if re.fullmatch(r"tests/(?:.*/)?test_\w+\.py", file)]
    costs = {file: estimate_seconds(file, durations, root) for file in tests}
    chosen: list[str] = []
    left: list[str] = []
    for file in sorted(tests, key=lambda each: (near[each], costs[each], each)):
        (chosen if near[file] == 0 or costs[file] <= seconds else left).append(file)
        seconds -= costs[file] if file in chosen else 0
    return chosen, left


def steps(changed: Sequence[str], tests: Sequence[str]) -> list[list[str]]:
    """The commands to run, in order."""
    python = [file for file in changed if file.endswith(".py") and not file.startswith("tests/golden/")]
    found = [["ruff", "check", "."], ["ruff", "format", "--check", "."]]
    if python:
        found.append(["mypy", *python])
    if any(file.startswith("schema/") for file in changed):
        found.append(["acpgen", "lint"])
    if any(file.startswith(_MADE) for file in changed):
        found.append(["acpgen", "generate", "--check"])
    if tests:
        found.append(["pytest", "-q", "-n", "auto", *tests])
    return found


def main() -> None:
    """Run the steps until one fails."""
    parser = argparse.ArgumentParser(description="Linters, types and the nearest tests of what has changed.")
    parser.add_argument("--since", help="a revision; without it, where this branch left main")
    parser.add_argument("--seconds", type=float, default=40, help="for the tests, on an idle processor (default: 40)")
    options = parser.parse_args()
    changed = changed_files(options.since or _git("merge-base", "HEAD", "main")[0])
    known = json.loads((ROOT / "tests" / "durations.json").read_text("utf-8"))
    tests, left = nearest_tests(distances(changed, ROOT), options.seconds, known["default"], ROOT)
    for command in steps(changed, tests):
        print("---", *command[:8], *(["…"] if len(command) > 8 else ()), flush=True)
        ran = subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, check=False)  # noqa: S603 - a fixed command
        if ran.returncode:
            sys.exit(ran.returncode)
    print(f"{len(tests)} files of tests ran; {len(left)} that lead to what has changed were left to .ci/run.")


if __name__ == "__main__":
    main()
