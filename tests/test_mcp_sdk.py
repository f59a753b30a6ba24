"""MCP's Python SDK on our classes: its modules of each revision made by the target `python`, its own tests, client and server over them."""

# What the SDK's script gives is `Any` here.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest

import evidence

ROOT: Final = Path(__file__).parents[1]
RELEASED: Final = "sdk/mcp-2.3.0"
SCRIPT: Final = f"{RELEASED}/gen_surface_types.py"
TESTS: Final = f"{RELEASED}/tests/types/"
SCHEMAS: Final = {
    "2025-11-25": "upstream/mcp-2025-11-25/schema.json",
    "2026-07-28": "revisions/mcp-2026-07-28.json",
}
PAGE: Final = ROOT / "schema/pages/replace-your-generator.md"

LAID_OUT: Final = {
    "test_every_surface_class_is_accounted_for",
    "test_surface_keys_agree_with_their_classes_and_the_monolith_maps",
}
"""Tests that ask for one file a revision."""

TOLD: Final = """
import json, sys, importlib
found = {}
for revision in sys.argv[1:]:
    module = importlib.import_module(f"mcp_types._v{revision.replace('-', '_')}")
    classes = found[revision] = {}
    for name, value in vars(module).items():
        if isinstance(value, type) and hasattr(value, "model_fields") and name not in ("Model", "WireModel", "Unknown"):
            value.model_rebuild()
            classes[name] = {field: one.alias or field for field, one in value.model_fields.items()}
print(json.dumps(found))
"""

TALK: Final = """
import inspect, json, sys
import anyio
import mcp_types._v2025_11_25 as handshake
import mcp_types._v2026_07_28 as discovery
from mcp.client.client import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import methods

assert handshake.__file__.startswith(sys.argv[1]) and discovery.__file__.startswith(sys.argv[1])

def read(*_):
    raise AssertionError("a source is read in the event loop")

inspect.getsource = read
server = MCPServer("tides")

@server.tool()
def height(hour: int, place: str = "quay") -> float:
    return hour * 0.5

@server.resource("tide://{place}")
def table(place: str) -> str:
    return f"table of {place}"

@server.prompt()
def ask(place: str) -> str:
    return f"When is high water at {place}?"

async def talk(mode):
    async with Client(server, mode=mode) as client:
        tools = await client.list_tools()
        called = await client.call_tool("height", {"hour": 3})
        wrong = await client.call_tool("height", {"hour": "noon"})
        read = await client.read_resource("tide://quay")
        asked = await client.get_prompt("ask", {"place": "quay"})
        schema = tools.tools[0].input_schema
        return [
            client.protocol_version, schema["title"], schema["required"], called.structured_content, wrong.is_error,
            read.contents[0].text, asked.messages[0].content.text,
        ]

tool = {"name": "t", "inputSchema": {"type": "object", "title": "X"}, "_meta": {"a/b": 1}, "later": 5}
dropped = methods.serialize_server_result("tools/list", "2025-11-25", {"tools": [tool], "later": 5})
print(json.dumps([anyio.run(talk, "auto"), anyio.run(talk, "legacy"), dropped]))
"""


@pytest.fixture(scope="module")
def replaced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the SDK's package of types, in which the modules of both revisions are ours."""
    evidence.need(*SCHEMAS.values(), SCRIPT, TESTS)
    spec = find_spec("mcp_types")
    if spec is None or spec.origin is None or find_spec("mcp") is None:
        evidence.lack("the Python package mcp is not installed")
        raise AssertionError
    folder = tmp_path_factory.mktemp("mcp_sdk")
    page = PAGE.read_text("utf-8")
    (configuration,) = (block for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if "_wire" in block)
    (folder / "pyproject.toml").write_text(configuration, "utf-8")
    (folder / "schema").mkdir()
    for revision, name in SCHEMAS.items():
        shutil.copy(evidence.path(name), folder / "schema" / f"{revision}.json")
    script: dict[str, Any] = {**runpy.run_path(os.fspath(evidence.path(SCRIPT))), "SCHEMA_DIR": folder / "schema"}
    main, star, unions = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(main, script)
    script["main"]()
    types = folder / "src/mcp-types/mcp_types"
    shutil.copytree(Path(spec.origin).parent, types, ignore=shutil.ignore_patterns("__pycache__"))
    for revision in SCHEMAS:
        name = f"v{revision.replace('-', '_')}"
        text = star.replace("v2025_11_25", name) + (
            unions if "InputRequiredResult" in (folder / "schema" / f"{revision}.json").read_text("utf-8") else ""
        )
        (types / f"_{name}" / "__init__.py").write_text(text, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "acpgen", "generate"], cwd=folder, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return types.parent


def run(folder: Path | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = {"PYTHONPATH": str(folder)} if folder is not None else {}
    environment = {**{key: value for key, value in os.environ.items() if key != "PYTHONPATH"}, **path}
    return subprocess.run(
        [sys.executable, *arguments], text=True, capture_output=True, check=False, env=environment, cwd=folder
    )


def test_its_client_and_server_talk_over_them_in_both_revisions(replaced: Path) -> None:
    done = run(replaced, "-c", TALK, str(replaced))
    assert done.returncode == 0, done.stderr
    new, old, dropped = json.loads(done.stdout)
    said = ["heightArguments", ["hour"], {"result": 1.5}, True, "table of quay", "When is high water at quay?"]
    assert new == ["2026-07-28", *said]
    assert old == ["2025-11-25", *said]
    tool = {"name": "t", "inputSchema": {"type": "object", "title": "X"}, "_meta": {"a/b": 1}}
    assert dropped == {"tools": [tool]}


def test_fields_have_the_names_that_they_have_in_the_sdk(replaced: Path) -> None:
    ours, theirs = (run(folder, "-c", TOLD, *SCHEMAS) for folder in (replaced, None))
    assert ours.returncode == 0, ours.stderr
    assert theirs.returncode == 0, theirs.stderr
    for revision in SCHEMAS:
        mine, released = json.loads(ours.stdout)[revision], json.loads(theirs.stdout)[revision]
        common = mine.keys() & released.keys()
        assert len(common) > 100
        assert {name: mine[name] for name in common} == {name: released[name] for name in common}


@pytest.mark.exhaustive
def test_its_own_tests_pass(replaced: Path) -> None:
    tests = [replaced / name for name in ("test_methods.py", "test_parity.py")]
    for test in tests:  # elsewhere, their folder hides Python's module 'types'
        shutil.copy(evidence.path(TESTS) / test.name, test)
    left = " and ".join(f"not {name}" for name in sorted(LAID_OUT))
    options = (
        *("-p", "no:cacheprovider", "-p", "no:asyncio", "--noconftest", "--import-mode=importlib"),
        *("--rootdir", str(replaced), "-c", os.devnull),
    )
    done = run(replaced, "-m", "pytest", "-q", *options, "-k", left, *map(str, tests))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "158 passed, 1 skipped, 2 deselected" in done.stdout


def test_every_revision_has_bindings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the configuration of the page, from the facts that the repository keeps of each: a package that reads and writes a call."""
    page = PAGE.read_text("utf-8")
    (told,) = (block for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if "mcp-revisions" in block)
    (tmp_path / "pyproject.toml").write_text(told, "utf-8")
    releases = sorted(path for path in (ROOT / "schema/releases/mcp").glob("*.json") if path.stem[:2] == "20")
    assert len(releases) == 5
    for release in releases:
        folder = tmp_path / "schema/mcp" / release.stem
        folder.mkdir(parents=True)
        shutil.copy(release, folder / "schema.json")
    run = subprocess.run(
        [sys.executable, "-m", "acpgen", "generate"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    monkeypatch.syspath_prepend(str(tmp_path / "mcp-revisions"))
    for release in releases:
        module = import_module(f"mcp_revisions.v{release.stem.replace('-', '_')}")
        called: dict[str, Any] = {"name": "height", "arguments": {"hour": 3}, "later": None}
        if release.stem >= "2026":
            meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
            called["_meta"] = {
                **meta,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
            }
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
        read = module.decode(message, sender="client")
        assert type(read.params).__name__.startswith("CallToolRequest")
        assert json.loads(module.encode(read)) == message
        content = [{"type": "text", "text": "1.5"}]
        answer = {"jsonrpc": "2.0", "id": 1, "result": {"content": content, "resultType": "complete"}}
        result = module.decode(answer, sender="server", method="tools/call")
        assert json.loads(module.encode(result)) == answer
        assert set(module.METHODS) >= {"tools/call", "tools/list", "prompts/get", "resources/read"}
