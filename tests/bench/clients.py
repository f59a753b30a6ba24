"""Drives the agent of the README by a client that others ship, and prints what came of it. No part of CI.

    python tests/bench/clients.py FOLDER

acpx is installed by npm into a folder of its own below FOLDER, as long as it is not there yet. No home folder is passed on. Judges nothing.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
sys.path[:1] = [str(ROOT / "generator"), str(ROOT / "tests")]

from bench.probes import OWN_PATH, Shipped, installed, read_arguments  # noqa: E402 - the folders are on the path only now

ACPX: Final = Shipped("acpx", "0.19.1", ("acpx",))
POLICIES: Final = ("--approve-all", "--deny-all")


def main() -> None:
    """Drive the agent with and without consent."""
    program = installed(read_arguments(__doc__)[0].resolve(), ACPX) / ACPX.command[0]
    print(f"| {ACPX.package} {ACPX.version} | requests that it answered | end | file | exit |\n|{' --- |' * 5}")
    for policy in POLICIES:
        with tempfile.TemporaryDirectory() as passing:
            folder = Path(passing)
            agent = folder / "agent"
            agent.write_text(f"#!/bin/sh\nexport {OWN_PATH}\nexec {shlex.quote(sys.executable)} -m examples.agent\n")
            agent.chmod(0o755)
            work = folder / "work"
            work.mkdir()
            ran = subprocess.run(
                [str(program), "--agent", str(agent), "--cwd", str(work), policy, "exec", "Write a note."],
                env={"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "NO_COLOR": "1"},
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            answered = re.findall(r"\[client\] ((?:fs|terminal)/\w+|session/request_permission)", ran.stdout)
            end = re.findall(r"\[done\] (\w+)", ran.stdout)
            note = work / "note.txt"
            cells = (
                ", ".join(answered),
                *end,
                repr(note.read_text()) if note.exists() else "none",
                str(ran.returncode),
            )
            print(f"| `{policy}` | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
