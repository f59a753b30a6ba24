"""The scripts that people start by hand still start: each in a process of its own, for no longer than it takes to begin."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the scripts limit memory by 'resource'")

TESTS = Path(__file__).parent
RUNS = [
    ("-m", "fuzz", "contain", "--seconds", "0"),
    ("bench/hostile_peer.py", "--seconds", "0", "--long", "100"),
    ("bench/hostile_schemas.py", "--command", "lint", "open brackets"),
    ("bench/run.py", "--help"),
]


@pytest.mark.parametrize(
    "arguments", RUNS, ids=lambda arguments: arguments[0] if arguments[0] != "-m" else arguments[1]
)
def test_a_script_starts_and_ends_well(arguments: tuple[str, ...]) -> None:
    ran = subprocess.run([sys.executable, *arguments], cwd=TESTS, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("name", ["agents", "clients", "probes", "shipped"])
def test_a_script_without_its_folder_says_what_it_takes(name: str) -> None:
    ran = subprocess.run([sys.executable, f"bench/{name}.py"], cwd=TESTS, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"{name}.py [-h] folder [name ...]" in ran.stderr
