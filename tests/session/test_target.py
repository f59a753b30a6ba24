"""The target `session` copies the package as it is, whatever the protocol."""

from __future__ import annotations

import asyncio
import tomllib
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import v1

from acp_session.containment import guarantees
from acpgen.bundle import bundle
from acpgen.load import load
from acpgen.meaning import lower
from acpgen.targets import TARGETS, Settings

REPOSITORY = Path(__file__).parents[2]
SOURCE = REPOSITORY / "templates" / "session"


def made(protocol: str) -> dict[str, str]:
    bundled = bundle(load(REPOSITORY / "schema" / protocol, name=protocol))
    return dict(TARGETS["session"](lower(bundled), bundled, Settings(prefix=protocol, distribution="acp-session")))


def test_the_package_is_copied_as_it_is_and_the_same_for_every_protocol() -> None:
    files = made("acp/v1")
    assert files == made("acp/v2") == made("mcp/2025-06-18")
    modules = {path.relative_to(SOURCE).as_posix(): path for path in (SOURCE / "acp_session").rglob("*.py")}
    assert {path for path in files if path.endswith(".py")} == set(modules)
    assert all(files[name] == path.read_text("utf-8") for name, path in modules.items())
    assert files.keys() - modules == {"acp_session/py.typed", "pyproject.toml", "README.md"}


def test_the_distribution_needs_the_bindings_and_nothing_else() -> None:
    project = tomllib.loads(made("acp/v1")["pyproject.toml"])["project"]
    (bindings,) = project["dependencies"]
    assert (project["name"], bindings.partition("==")[0]) == ("acp-session", "acp-bindings")
    assert [need.partition("==")[0] for need in project["optional-dependencies"]["mcp"]] == ["mcp-bindings"]
    version = tomllib.loads((REPOSITORY / "generated/python/acp-bindings/pyproject.toml").read_text())["project"][
        "version"
    ]
    assert project["version"] == version


@pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")
def test_the_example_of_the_readme_runs(tmp_path: Path) -> None:
    for name in ("app", "lib"):
        (tmp_path / name).mkdir()
    (tmp_path / "lib" / "a.txt").write_text("a")
    _, _, rest = made("acp/v1")["README.md"].partition("```python\n")
    found: dict[str, Any] = {}
    exec(rest.partition("```")[0].replace("/srv/", f"{tmp_path}/"), found)

    async def send(request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        assert request.additional_directories == [f"{tmp_path}/lib"]
        return v1.NewSessionResponse(session_id="s")

    async def serve() -> str:
        await found["new_session"](send)
        asked = v1.ReadTextFileRequest(session_id="s", path=f"{tmp_path}/lib/a.txt")
        result: v1.ReadTextFileResponse = await found["files"].read_text_file(asked)
        return result.content

    assert asyncio.run(serve()) == "a"
