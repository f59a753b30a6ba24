"""The examples run, talk to one another over standard input and output, and are strictly typed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Final

import pytest

import evidence
import tiers
from acp_workspace.containment import guarantees
from acpgen.bundle.bundle import bundle
from acpgen.input.load import load
from acpgen.meaning.lower import lower
from acpgen.targets.installed import TARGETS
from acpgen.targets.interface import Settings
from conformance.implementations import TYPESCRIPT_SDK, ZOD, python_paths
from examples.lines import SDKS, table
from javascript import Unreachable, node, packages

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
PACKAGES: Final = [str(ROOT / "generator" / name) for name in ("acp-session", "acp-workspace")]
OURS: Final = ("agent.py", "client.py")


@pytest.fixture(scope="session")
def bindings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package `acp_bindings`, made from the schemas as they are now."""
    folder = tmp_path_factory.mktemp("acp_bindings")
    for version in ("v1", "v2"):
        found = bundle(load(ROOT / "schema" / "acp" / version, name=f"acp/{version}"))
        settings = Settings(package=f"acp_bindings.{version}", options={"runtime": "package"})
        files = TARGETS["python"](lower(found), found, settings)
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
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(bindings), str(HERE.parent), *PACKAGES))}


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
    assert done.stderr.startswith("error: the agent has ended")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "usage: "),
        (["no-such-folder", "agent"], "error: no-such-folder: No such file or directory"),
        ([".", "no-such-program"], "error: no-such-program: No such file or directory"),
    ],
)
def test_a_mistake_of_a_user_is_a_sentence_and_no_traceback(bindings: Path, arguments: list[str], told: str) -> None:
    done = subprocess.run(
        [*program("client"), *arguments],
        env=environment(bindings),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr.startswith(told), "Traceback" in done.stderr) == (1, True, False), done.stderr


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            "1",
            [
                *("  [Write note.txt: in_progress]", "  [Write note.txt: completed]", "  [wc -c note.txt]"),
                *("  [wc -c note.txt: in_progress]", "  [wc -c note.txt: completed]"),
                *("Byte count: 5 note.txt", "  end_turn"),
            ],
        ),
        ("", ["  [Write note.txt: failed]", "I may not write it.", "  end_turn"]),
        ("2", ["  [Write note.txt: failed]", "I may not write it.", "  end_turn"]),
    ],
    ids=["allowed", "not answered", "rejected"],
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
    asked = ["> I write a note.", "  [Write note.txt]", "  Write note.txt 1: Allow 2: Reject"]
    assert done.stdout.splitlines() == [*asked, f"  number, or nothing: {said[0]}", *said[1:], "> "]
    assert not done.stderr
    assert (tmp_path / "note.txt").exists() is (answer == "1")


HOSTILE: Final = """
from acp_session import Agent, Turn, run_agent

class Hostile(Agent):
    async def on_prompt(self, turn: Turn) -> str:
        await turn.send_message("\\x1b[2J\\x9b1Ahidden")
        async with turn.tool_call("\\x1b]0;title\\x07tool"):
            pass
        return "end_turn"

run_agent(Hostile())
"""


def test_the_client_shows_escape_sequences_of_an_agent_and_obeys_none(bindings: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [*program("client"), str(tmp_path), sys.executable, "-c", HOSTILE],
        env=environment(bindings),
        input="go\n\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "\\x1b[2J\\x9b1Ahidden" in done.stdout
    assert "\\x1b]0;title\\x07tool" in done.stdout
    assert all(character.isprintable() or character == "\n" for character in done.stdout)


def sdk_program(sdk: str, side: str, folder: Path) -> tuple[list[str], str]:
    """The command of an example on an SDK, and where Python finds what it needs."""
    try:
        if sdk == "python":
            return [sys.executable, "-W", "ignore", str(SDKS / f"python_sdk_{side}.py")], os.pathsep.join(
                python_paths()
            )
        name, version = TYPESCRIPT_SDK
        copied = folder / "typescript"
        copied.mkdir(exist_ok=True)
        if not (copied / "node_modules").exists():
            (copied / "node_modules").symlink_to(packages(**{name: version, "zod": ZOD}) / "node_modules")
        program, text = f"{sdk}_{side}.mjs", (SDKS / f"typescript_sdk_{side}.mjs").read_text("utf-8")
        if sdk == "bindings":
            shutil.copy(SDKS / "typescript_bindings.mjs", copied)
            shutil.copytree(ROOT / "generated" / "typescript" / "acp", copied / "acp", dirs_exist_ok=True)
            text = text.replace('"@agentclientprotocol/sdk"', '"./typescript_bindings.mjs"')
        (copied / program).write_text(text, "utf-8")
        return [node(), str(copied / program)], ""
    except Unreachable as reason:
        evidence.lack(str(reason))


@pytest.mark.parametrize(
    "pair", tiers.sample(product(["ours", "python", "typescript", "bindings"], repeat=2), 3, " drives ".join)
)
def test_each_client_works_with_each_agent_and_shows_the_same(
    bindings: Path, tmp_path: Path, pair: tuple[str, str]
) -> None:
    client, agent = pair
    if not guarantees().enforced:
        pytest.skip("this platform cannot keep an access in a root")
    commands: list[str] = []
    paths = [environment(bindings)["PYTHONPATH"]]
    work = tmp_path / "work"
    work.mkdir()
    for sdk, side in ((client, "client"), (agent, "agent")):
        command, path = (program(side), "") if sdk == "ours" else sdk_program(sdk, side, tmp_path)
        paths += [path] if path else []
        given = ["env", f"PYTHONPATH={os.pathsep.join(paths)}"]  # the Python SDK hands on few variables
        commands += [*command, str(work)] if side == "client" else [*given, *command]
    done = subprocess.run(
        commands,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        input="write\n1\n\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        *("> I write a note.", "  [Write note.txt]", "  Write note.txt 1: Allow 2: Reject"),
        *("  number, or nothing:   [Write note.txt: in_progress]", "  [Write note.txt: completed]"),
        *("  [wc -c note.txt]", "  [wc -c note.txt: in_progress]", "  [wc -c note.txt: completed]"),
        *("Byte count: 5 note.txt", "  end_turn", "> "),
    ]
    assert (work / "note.txt").read_text() == "tide\n"


def test_the_page_tells_how_long_the_same_programs_are() -> None:
    page = (ROOT / "schema" / "pages" / "peers.md").read_text("utf-8")
    assert table() in page


def test_the_readme_shows_the_agent() -> None:
    assert f"```python\n{(HERE / 'agent.py').read_text('utf-8')}```" in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize(("name", "most"), [("agent.py", 30), ("client.py", 66)])
def test_the_examples_are_short(name: str, most: int) -> None:
    assert len((HERE / name).read_text("utf-8").splitlines()) <= most


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
            *("--python-version", "3.11", str(program)),
        ],
        env={**os.environ, "MYPYPATH": str(bindings)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    wrong = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert wrong == {6, 7, 8, 9, 10, 18}, done.stdout
