"""The examples run, talk to one another over standard input and output, and are strictly typed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from acpgen.meaning.lower import lower
from acpgen.schema.bundle import bundle
from acpgen.schema.load import load
from acpgen.targets import TARGETS, Settings

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
OURS: Final = ("connection.py", "agent.py", "client.py")


@pytest.fixture(scope="session")
def bindings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package `acp_bindings`, made from the schemas as they are now."""
    folder = tmp_path_factory.mktemp("acp_bindings")
    for version in ("v1", "v2"):
        found = bundle(load(ROOT / "schema" / "acp" / version, name=f"acp/{version}"))
        files = TARGETS["python"](lower(found), found, Settings(package=f"acp_bindings.{version}"))
        for path, text in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
    return folder


def program(name: str) -> list[str]:
    """The command of an example; warnings are errors."""
    return [sys.executable, "-W", "error", "-m", f"examples.{name}"]


def environment(bindings: Path) -> dict[str, str]:
    """Variables with which Python finds the bindings and the examples."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(bindings), str(HERE.parent)))}


def test_the_client_does_not_wait_for_an_agent_that_has_ended(bindings: Path) -> None:
    done = subprocess.run(
        [*program("client"), sys.executable, "-c", "input()"],
        env=environment(bindings),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert "ConnectionError: the other side has ended" in done.stderr


def test_the_client_and_the_agent_talk_to_one_another(bindings: Path) -> None:
    done = subprocess.run(
        [*program("client"), *program("agent")],
        env=environment(bindings),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "thinks: They want: read <file:///srv/notes.md>",
        "says: Done.",
        "ended: end_turn",
        "thinks: They want: delete /tmp/old",
        "calls: Delete /tmp/old",
        "completed: Delete /tmp/old",
        "says: Done.",
        "ended: end_turn",
        "thinks: They want: delete /etc/passwd",
        "calls: Delete /etc/passwd",
        "failed: Delete /etc/passwd",
        "ended: cancelled",
        "thinks: They want: wait",
        "ended: cancelled",
    ]
    assert not done.stderr


def test_an_agent_answers_what_it_cannot_read_and_goes_on(bindings: Path) -> None:
    lines = [
        b"not json",
        b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":5}}',
        b'{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"s","cwd":"/","mcpServers":[]}}',
        b'{"jsonrpc":"2.0","id":3,"method":"_vendor/do"}',
        b'{"jsonrpc":"2.0","method":"_vendor/did"}',
        b'{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":9,"future":true}}',
    ]
    done = subprocess.run(
        program("agent"),
        env=environment(bindings),
        input=b"\n".join([*lines, b""]),
        capture_output=True,
        check=False,
        timeout=60,
    )
    answers = done.stdout.decode().splitlines()
    assert [line for line in answers if '"id":1,' in line and "-32602" in line]
    assert [line for line in answers if '"id":2,' in line and "-32601" in line]
    assert [line for line in answers if '"id":3,' in line and "-32601" in line]
    assert [line for line in answers if '"id":4,' in line and '"protocolVersion":1' in line]
    assert len(answers) == 4
    assert not done.stderr


def test_the_examples_are_strictly_typed(bindings: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file", os.devnull),
            *("--cache-dir", str(tmp_path / "cache"), "--python-version", "3.11"),
            *("--explicit-package-bases", *(str(HERE / name) for name in OURS)),
        ],
        env={**os.environ, "MYPYPATH": os.pathsep.join((str(bindings), str(HERE.parent)))},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_type_checker_sees_what_is_wrong(bindings: Path, tmp_path: Path) -> None:
    """The types say no to what the protocol says no to, and a forgotten variant is an error."""
    program = tmp_path / "wrong.py"
    program.write_text(
        """
from typing import assert_never

from acp_bindings import v1

v1.TextContent(text=5)
v1.TextContent()
v1.PromptResponse(stop_reason="tired")
v1.SessionNotification(session_id="s", update=v1.TextContent(text="x"))
v1.decode(b"", sender="server")


def forgotten(block: v1.ContentBlock) -> None:
    match block:
        case v1.TextContent():
            pass
        case _:
            assert_never(block)
""",
        "utf-8",
    )
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull),
            *("--cache-dir", str(tmp_path / "cache"), "--python-version", "3.11", str(program)),
        ],
        env={**os.environ, "MYPYPATH": str(bindings)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    wrong = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert wrong == {6, 7, 8, 9, 10, 18}, done.stdout
