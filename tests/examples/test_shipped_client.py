"""The agent of the README, driven by a client that others ship: the program `examples/gemini.py` of the Python SDK."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
CLIENT = TESTS / ".evidence" / "files" / "sdk" / "agent-client-protocol-0.12.1" / "examples" / "gemini.py"


def test_the_client_of_the_python_sdk_drives_our_agent(tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    agent.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -W error -m examples.agent "$@"\n')
    agent.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
    command = [sys.executable, str(CLIENT), "--gemini", str(agent), "--yolo", "--prompt", "Write a note."]
    ran = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    assert (work / "note.txt").read_text() == "tide\n"
    for shown in ("I write a note.", "Write note.txt", "wc -c note.txt", "Byte count"):
        assert shown in ran.stdout
    assert "Traceback" not in ran.stderr
