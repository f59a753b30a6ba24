"""The distribution `acp-session`: what it needs, its version, and that its README is true."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest

import acpgen
from acp_workspace.containment import guarantees
from workspace.conftest import PATHS

REPOSITORY: Final = Path(__file__).parents[2]
PROJECT: Final = REPOSITORY / "generator" / "acp-session"


def needed(lines: list[str]) -> tuple[set[str], set[str]]:
    """The names of distributions, and the versions that are asked for."""
    parts = [line.partition("==") for line in lines]
    return {name for name, _, _ in parts}, {version for _, _, version in parts}


NEEDS: Final = {
    "session": {"acp-bindings", "acp-workspace", "jsonrpc-bindings"},
    "workspace": {"acp-bindings", "jsonrpc-bindings"},
    "monitor": {"acp-bindings", "jsonrpc-bindings"},
}


@pytest.mark.parametrize("name", NEEDS)
def test_a_distribution_needs_others_of_its_own_version(name: str) -> None:
    path = REPOSITORY / "generator" / f"acp-{name}" / "pyproject.toml"
    project = tomllib.loads(path.read_text("utf-8"))["project"]
    assert (project["name"], project["version"]) == (f"acp-{name}", acpgen.__version__)
    ours = [line for line in project["dependencies"] if not line.startswith("jiter")]
    assert needed(ours) == (NEEDS[name], {project["version"]})
    optional = project.get("optional-dependencies", {})
    assert {key: needed(lines) for key, lines in optional.items()} == (
        {"mcp": ({"mcp-bindings"}, {project["version"]})} if name == "workspace" else {}
    )


@pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")
def test_the_example_of_the_readme_runs(tmp_path: Path) -> None:
    for name in ("app", "lib"):
        (tmp_path / name).mkdir()
    _, _, rest = (PROJECT / "README.md").read_text("utf-8").partition("```python\n")
    shown = rest.partition("```")[0]
    program = tmp_path / "program.py"
    program.write_text(
        shown.partition("if __name__")[0].replace("/srv/", f"{tmp_path}/")
        + "import asyncio, sys\nif sys.argv[1:]:\n    run_agent(Notes())\n"
        + "else:\n    assert asyncio.run(main([sys.executable, __file__, 'agent'])) == 'Done.'\n"
    )
    subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)},
    )
