"""The distribution `acp-session`: what it needs, its version, and that its README is true."""

from __future__ import annotations

import asyncio
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
from acp_bindings import Request, v1

import acpgen
from acp_session.containment import guarantees

REPOSITORY: Final = Path(__file__).parents[2]
PROJECT: Final = REPOSITORY / "generator" / "acp-session"


def needed(lines: list[str]) -> tuple[set[str], set[str]]:
    """The names of distributions, and the versions that are asked for."""
    parts = [line.partition("==") for line in lines]
    return {name for name, _, _ in parts}, {version for _, _, version in parts}


def test_the_distribution_needs_the_bindings_of_its_own_version_and_nothing_else() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (project["name"], project["version"]) == ("acp-session", acpgen.__version__)
    assert needed(project["dependencies"]) == ({"acp-bindings"}, {project["version"]})
    assert needed(project["optional-dependencies"]["mcp"]) == ({"mcp-bindings"}, {project["version"]})
    assert needed(project["optional-dependencies"]["monitor"]) == ({"acp-bindings[strict]"}, {project["version"]})
    bindings = tomllib.loads((REPOSITORY / "generated/python/acp-bindings/pyproject.toml").read_text("utf-8"))
    assert project["version"] == bindings["project"]["version"]


def test_the_package_is_in_the_repository_once() -> None:
    ours = {path.parent for path in REPOSITORY.glob("*/**/filesystem.py") if ".venv" not in path.parts}
    assert ours == {PROJECT / "acp_session"}


@pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")
def test_the_example_of_the_readme_runs(tmp_path: Path) -> None:
    for name in ("app", "lib"):
        (tmp_path / name).mkdir()
    (tmp_path / "lib" / "a.txt").write_text("a")
    _, _, rest = (PROJECT / "README.md").read_text("utf-8").partition("```python\n")
    found: dict[str, Any] = {}
    exec(rest.partition("```")[0].replace("/srv/", f"{tmp_path}/"), found)

    async def call(method: str, params: Any) -> Any:
        if method == "initialize":
            roots = v1.SessionCapabilities(additional_directories=v1.SessionAdditionalDirectoriesCapabilities())
            return v1.InitializeResponse(
                protocol_version=1, agent_capabilities=v1.AgentCapabilities(session_capabilities=roots)
            )
        assert params.additional_directories == [f"{tmp_path}/lib"]
        return v1.NewSessionResponse(session_id="s")

    def notify(method: str, params: Any) -> None:
        pass

    async def serve() -> str:
        host, session = await found["session"](call, notify)
        asked = v1.ReadTextFileRequest(session_id=session.id, path=f"{tmp_path}/lib/a.txt")
        result: v1.ReadTextFileResponse = (await host.answer(Request(1, "fs/read_text_file", asked))).result
        await host.aclose()
        return result.content

    assert asyncio.run(serve()) == "a"
