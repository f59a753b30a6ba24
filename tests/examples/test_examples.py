"""The examples run, talk to one another over standard input and output, and are strictly typed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from acp_session.containment import guarantees
from acpgen.meaning.lower import lower
from acpgen.schema.bundle import bundle
from acpgen.schema.load import load
from acpgen.targets import TARGETS, Settings

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
SESSION: Final = ROOT / "generator" / "acp-session"
OURS: Final = ("agent.py", "client.py")


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
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(bindings), str(HERE.parent), str(SESSION)))}


def test_the_client_does_not_wait_for_an_agent_that_has_ended(bindings: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [*program("client"), str(tmp_path), sys.executable, "-c", "input()"],
        env=environment(bindings),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert "ConnectionEnded: the agent has ended" in done.stderr


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("1", ["It has so many bytes: 5 note.txt", "  end_turn"]),
        ("", ["  refusal"]),
    ],
    ids=["allowed", "not allowed"],
)
def test_the_client_and_the_agent_work_on_a_file(bindings: Path, tmp_path: Path, answer: str, said: list[str]) -> None:
    if not guarantees().enforced:
        pytest.skip("this platform cannot keep an access in a root")
    done = subprocess.run(
        [*program("client"), str(tmp_path), *program("agent")],
        env=environment(bindings),
        input=f"write\n{answer}\n\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    asked = ["> I write a note.", "  [Write note.txt]", "  May it? 1: Yes"]
    assert done.stdout.splitlines() == [*asked, f"  number, or nothing: {said[0]}", *said[1:], "> "]
    assert not done.stderr
    assert (tmp_path / "note.txt").exists() is bool(answer)


def test_the_readme_shows_the_agent() -> None:
    assert f"```python\n{(HERE / 'agent.py').read_text('utf-8')}```" in (ROOT / "README.md").read_text("utf-8")


def test_the_examples_are_short() -> None:
    for name, most in (("agent.py", 42), ("client.py", 62)):
        lines = (HERE / name).read_text("utf-8").splitlines()
        assert sum(1 for line in lines if line.strip()) <= most


def test_the_examples_are_strictly_typed(bindings: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file", os.devnull),
            *("--cache-dir", str(tmp_path / "cache"), "--python-version", "3.11"),
            *("--explicit-package-bases", *(str(HERE / name) for name in OURS)),
        ],
        env={**os.environ, "MYPYPATH": os.pathsep.join((str(bindings), str(HERE.parent), str(SESSION)))},
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
