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
from acp_session.containment import guarantees
from session.conftest import PATHS

REPOSITORY: Final = Path(__file__).parents[2]
PROJECT: Final = REPOSITORY / "generator" / "acp-session"


def needed(lines: list[str]) -> tuple[set[str], set[str]]:
    """The names of distributions, and the versions that are asked for."""
    parts = [line.partition("==") for line in lines]
    return {name for name, _, _ in parts}, {version for _, _, version in parts}


def test_the_distribution_needs_the_bindings_of_its_own_version_and_a_parser() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (project["name"], project["version"]) == ("acp-session", acpgen.__version__)
    runtime = tomllib.loads((REPOSITORY / "generator" / "jsonrpc_bindings" / "pyproject.toml").read_text("utf-8"))
    parser = [line for line in runtime["project"]["dependencies"] if line.startswith("jiter")]
    ours = [line for line in project["dependencies"] if line not in parser]
    assert len(parser) == 1
    assert len(ours) == len(project["dependencies"]) - 1
    assert needed(ours) == ({"acp-bindings", "jsonrpc-bindings"}, {project["version"]})
    assert needed(project["optional-dependencies"]["mcp"]) == ({"mcp-bindings"}, {project["version"]})
    bindings = tomllib.loads((REPOSITORY / "generated/python/acp-bindings/pyproject.toml").read_text("utf-8"))
    assert project["version"] == bindings["project"]["version"] == runtime["project"]["version"]


def test_the_package_is_in_the_repository_once() -> None:
    ours = {path.parent for path in REPOSITORY.glob("*/**/filesystem.py") if ".venv" not in path.parts}
    assert ours == {PROJECT / "acp_session"}


@pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")
def test_the_example_of_the_readme_runs(tmp_path: Path) -> None:
    for name in ("app", "lib"):
        (tmp_path / name).mkdir()
    _, _, rest = (PROJECT / "README.md").read_text("utf-8").partition("```python\n")
    shown = rest.partition("```")[0]
    assert '["my-agent"]' in shown
    program = tmp_path / "program.py"
    program.write_text(
        shown.replace("/srv/", f"{tmp_path}/").replace('["my-agent"]', '[sys.executable, __file__, "agent"]')
        + "import asyncio, sys\nasyncio.run(peers.run_agent(MyAgent()) if sys.argv[1:] else main())\n"
    )
    subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)},
    )
