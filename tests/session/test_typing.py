"""Type checkers on programs of users: typical code passes, and each misspelt argument is an error."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from workspace.conftest import PATHS

PROGRAM: Final = """
import asyncio

from acp_bindings import v2
from acp_session import Agent, AgentConnection, Client, ClientSession, PermissionRequest, ToolCall, Turn
from acp_session import connect_in_memory, run_agent, spawn_agent


class Notes(Agent):
    async def on_prompt(self, turn: Turn) -> str:
        await turn.send_message("I write a note.")
        async with turn.tool_call("Write", kind="edit", locations=["note.txt"]) as call:
            if await call.request_permission():
                await turn.write_text_file("note.txt", "tide")
        result = await turn.run_command("wc", "-c", "note.txt", env={"LANG": "C"}, timeout=5)
        await turn.send_message(f"{result.output} {result.exit_code} {result.signal} {result.truncated}")
        return "end_turn"


class Terminal(Client):
    async def on_update(self, session: ClientSession, update: v2.SessionUpdate) -> None:
        print(session.id, update)

    async def on_permission(self, session: ClientSession, request: PermissionRequest) -> str | None:
        return request.options[0].option_id


async def main() -> str | None:
    client = Terminal(allowed_roots=["/srv/app"])
    async with spawn_agent(["agent"], client, versions=(1, 2), timeout=5) as agent:
        servers = [v2.McpServerStdio(name="tides", command="/bin/tides")]
        session = await agent.new_session("/srv/app", additional_directories=["lib"], mcp_servers=servers)
        await session.set_mode("plan")
        await session.set_config_option("model", "small")
        print(session.transcript.plan, [mode.name for mode in session.modes], agent.version)
        await agent.load_session(session.id, "/srv/app")
    async with connect_in_memory(Notes(), client) as agent:
        return (await (await agent.new_session("/srv")).prompt(["Hello", v2.TextContent(text="!")])).stop_reason


async def misspelt(turn: Turn, call: ToolCall, agent: AgentConnection) -> None:
    client = Client(alowed_roots=[])  # wrong
    spawn_agent(["agent"], client, versons=(1,))  # wrong
    await agent.new_session("/srv", additional_directory=["/lib"])  # wrong
    await turn.run_command("wc", timeut=5)  # wrong
    Agent(stor=None)  # wrong
    await turn.session.set_modes([], current="ask", curent="ask")  # wrong
    turn.tool_call("Write", kindd="edit")  # wrong
    await call.request_permission(option=[])  # wrong
    run_agent(Notes(), timout=5)  # wrong


if __name__ == "__main__":
    asyncio.run(main())
    run_agent(Notes())
"""
WRONG: Final = {number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# wrong")}


@pytest.mark.exhaustive
def test_misspelt_arguments_are_errors_of_mypy(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--config-file",
            os.devnull,
            "--python-version",
            "3.11",
            "program.py",
        ],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": os.pathsep.join(PATHS)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    found = [int(number) for number in re.findall(r"^program\.py:(\d+): error", done.stdout, re.MULTILINE)]
    assert (len(found), set(found)) == (len(WRONG), WRONG), done.stdout


def test_misspelt_arguments_are_errors_of_pyright(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    settings = {"typeCheckingMode": "strict", "extraPaths": PATHS}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    command = [
        sys.executable,
        "-m",
        "pyright",
        "--pythonpath",
        sys.executable,
        "--outputjson",
        "--project",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    told = json.loads(done.stdout)["generalDiagnostics"]
    found = [one["range"]["start"]["line"] + 1 for one in told if one["severity"] == "error"]
    assert (len(found), set(found)) == (len(WRONG), WRONG), told
