"""The guides: every block of code is run, and what a command prints is what the guide shows.

A block with `title="…"` is written to a file of that name. Python without a title is run block after block, in one program. A shell
block is run where the files lie, and a block of text after it shows its output, with `...` for what is left out.
"""

from __future__ import annotations

import ast
import asyncio
import doctest
import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

import evidence
import javascript
import tiers
from acp_session import (
    Agent,
    AgentConnection,
    Client,
    ClientSession,
    PermissionRequest,
    Session,
    ToolCall,
    Turn,
    spawn_agent,
)
from acp_workspace.containment import guarantees

ROOT: Final = Path(__file__).parents[1]
GUIDES: Final = ROOT / "schema" / "pages" / "guides"
PYTHON: Final = [
    ROOT / part
    for part in (
        "generated/python/acp-bindings",
        "generated/python/mcp-bindings",
        *(f"generator/acp-{name}" for name in ("session", "workspace", "monitor")),
        "generator",
    )
]
FENCE: Final = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
FIRST: Final = (
    *("install", "write-an-agent", "use-in-an-editor", "write-a-client", "answer-a-permission-request", "files"),
    *("run-a-command", "plan-and-modes", "ask-the-user", "log-in", "mcp-servers", "keep-sessions"),
    *("additional-directories", "cancel"),
    *("migrate-from-the-python-sdk", "mcp-roots", "your-own-protocol", "gate-a-schema", "probe-an-agent"),
    "write-a-target",
)


SESSION: Final = ROOT / "generator" / "acp-session" / "README.md"


@dataclass(frozen=True)
class Block:
    language: str
    title: str
    text: str


def blocks(guide: str) -> list[Block]:
    return blocks_of(GUIDES / f"{guide}.md")


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    found = [Block(*each.groups("")) for each in FENCE.finditer(text)]
    assert text.count("\n```") == 2 * len(found), "a block that is not understood"
    return found


def environment() -> dict[str, str]:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    return {**os.environ, "PATH": path, "PYTHONPATH": os.pathsep.join((".", *map(str, PYTHON)))}


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_all_guides_are_there_and_the_first_page_links_each() -> None:
    assert {path.stem for path in GUIDES.glob("*.md")} == {*FIRST, "index"}
    linked = re.findall(r"\]\(([\w-]+)\.md\)", (GUIDES / "index.md").read_text("utf-8"))
    assert tuple(linked) == FIRST
    assert "(generated/docs/guides/index.md)" in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize("guide", tiers.sample(FIRST, 3))
def test_a_guide_does_what_it_says(guide: str, tmp_path: Path) -> None:
    found = blocks(guide)
    assert found
    if not guarantees().enforced and "acp_session" in (GUIDES / f"{guide}.md").read_text("utf-8"):
        pytest.skip("this platform cannot keep an access in a root")
    loose: list[str] = []
    shown = ""
    for block in found:
        match block.language:
            case "text":
                flags = doctest.ELLIPSIS
                assert doctest.OutputChecker().check_output(block.text, shown, flags), f"{block.text}\n---\n{shown}"
            case "sh":
                shown = run(["bash", "-euo", "pipefail", "-c", block.text], tmp_path)
            case "pycon":
                (tmp_path / "session.txt").write_text(block.text, "utf-8")
                run([sys.executable, "-m", "doctest", "session.txt"], tmp_path)
            case "python":
                ast.parse(block.text)
                loose += [] if block.title else [block.text]
            case "json":
                json.loads(block.text)
            case "toml":
                tomllib.loads(block.text)
            case "yaml":
                yaml.safe_load(block.text)
            case "lua" | "elisp":
                pass  # Neovim and Emacs run it: the page says with which versions that was tried
            case other:
                pytest.fail(f"nothing runs a block of {other}")
        if block.title:
            (tmp_path / block.title).write_text(block.text, "utf-8")
    if loose:
        (tmp_path / "guide.py").write_text("\n\n".join(loose), "utf-8")
        run([sys.executable, "-W", "error", "guide.py"], tmp_path)


def tutorial_entry(program: int, folder: Path) -> tuple[dict[str, Any], Path]:
    """What the tutorial tells an editor of its first or second agent, which is written to `folder`; and a folder to open in the editor."""
    if not guarantees().enforced:
        pytest.skip("this platform cannot keep an access in a root")
    texts: dict[str, list[str]] = {}
    for block in blocks("use-in-an-editor"):
        texts.setdefault(block.title, []).append(block.text)
    home, project = folder / "tides", folder / "project"
    (home / ".venv" / "bin").mkdir(parents=True)
    project.mkdir()
    python = home / ".venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={os.pathsep.join(map(str, PYTHON))} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    (home / "agent.py").write_text(texts["agent.py"][program], "utf-8")
    return json.loads(run(["bash", "-c", texts["entry.sh"][0]], home))["agent_servers"]["Tides"], project


@pytest.mark.parametrize("program", [0, 1], ids=["answers", "asks-before-it-writes"])
def test_the_entry_of_the_tutorial_starts_the_agent_as_an_editor_does(program: int, tmp_path: Path) -> None:
    """From another folder, and without the environment of a shell."""
    entry, project = tutorial_entry(program, tmp_path)

    class Editor(Client):
        async def on_permission(self, session: ClientSession, request: PermissionRequest) -> str:
            assert session.id
            assert request.options
            return "allow"

    async def talk() -> str:
        command = [entry["command"], *entry["args"]]
        async with spawn_agent(command, Editor(allowed_roots=[project]), env=entry["env"], cwd="/") as agent:
            session = await agent.new_session(str(project))
            await session.prompt("When can I sail")
            return session.transcript.agent_messages[-1].text

    said = asyncio.run(talk())
    page = (GUIDES / "use-in-an-editor.md").read_text("utf-8")
    assert said == ("It is in tides.txt." if program else "You asked: When can I sail. High water is at six.")
    assert said in page
    assert (project / "tides.txt").exists() == bool(program)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("program", "answer", "said", "is_written"),
    [
        (0, "--approve-all", "You asked: When can I sail. High water is at six.", False),
        (1, "--approve-all", "It is in tides.txt.", True),
        (1, "--deny-all", "Then I leave it.", False),
    ],
    ids=["answers", "allowed", "refused"],
)
def test_a_client_of_others_runs_the_agents_of_the_tutorial(
    program: int, answer: str, said: str, is_written: bool, tmp_path: Path
) -> None:
    """acpx is a client for a shell. 0.1.15 is the newest that runs on every Node.js of the tests."""
    entry, project = tutorial_entry(program, tmp_path)
    try:
        script = javascript.packages(acpx="0.1.15") / "node_modules" / "acpx" / "dist" / "cli.js"
        command = [javascript.node(), str(script), answer, "--agent", " ".join([entry["command"], *entry["args"]])]
    except javascript.Unreachable as reason:
        evidence.lack(str(reason))
    done = subprocess.run(
        [*command, "exec", "When can I sail"],
        cwd=project,
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    refused = 5 if answer == "--deny-all" else 0
    assert done.returncode == refused, done.stderr
    assert said in done.stdout.splitlines()
    assert (project / "tides.txt").exists() == is_written


def test_the_migration_names_every_method_of_the_sdk() -> None:
    page = (GUIDES / "migrate-from-the-python-sdk.md").read_text("utf-8")
    source = evidence.FOLDER / "files" / "sdk" / "agent-client-protocol-0.12.1" / "src" / "acp" / "interfaces.py"
    if not source.exists():
        evidence.lack("the sources of the Python SDK")
    sides = [node for node in ast.parse(source.read_text("utf-8")).body if isinstance(node, ast.ClassDef)]
    methods = {
        each.name for side in sides for each in side.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert len(methods) > 20
    assert {name for name in methods if f"`{name}`" not in page} == set()
    named = set(re.findall(r"`(?:Agent|Client|turn|session|agent|call)\.(\w+)", page))
    known = {
        name
        for side in (Agent, Turn, ToolCall, Session, Client, AgentConnection, ClientSession)
        for name in dir(side) + list(getattr(side, "__annotations__", ()))
    }
    assert named <= {*known, "version", "transcript"}  # set for each object


@pytest.fixture(scope="module", name="programs")
def make_programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of each page, in a folder of its own."""
    folder = tmp_path_factory.mktemp("programs")
    for page in (*(GUIDES / f"{guide}.md" for guide in FIRST), SESSION):
        place = folder / page.stem.replace("-", "_")
        place.mkdir()
        found = [block for block in blocks_of(page) if block.language == "python"]
        for block in found:
            if block.title:
                (place / block.title).write_text(block.text, "utf-8")
        loose = [block.text for block in found if not block.title]
        programs = (
            loose if page == SESSION else ["\n\n".join(loose)]
        )  # only in a guide do later blocks go on with earlier ones
        for number, text in enumerate(programs):
            (place / f"guide_{number}.py").write_text(text, "utf-8")
    return folder


@pytest.mark.exhaustive
@pytest.mark.parametrize("guide", [*FIRST, SESSION.stem])
def test_the_programs_of_a_guide_pass_mypy(guide: str, programs: Path) -> None:
    folder = programs / guide.replace("-", "_")
    files = [path.name for path in folder.glob("*.py")]
    assert files
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, *files]
    environment = {**os.environ, "MYPYPATH": os.pathsep.join(map(str, PYTHON))}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_programs_of_all_guides_pass_pyright(programs: Path) -> None:
    settings = {"typeCheckingMode": "strict", "extraPaths": list(map(str, PYTHON))}
    (programs / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--project", str(programs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
