"""A writer killed at every step leaves the old content or the new, and nothing else after the next start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from acp_workspace.containment import guarantees
from workspace.conftest import PATHS

PROGRAMS = Path(__file__).with_name("programs")


@pytest.mark.skipif(
    not hasattr(os, "fork") or not guarantees().enforced, reason="needs fork and descriptor-based access"
)
def test_a_writer_killed_at_every_step_leaves_the_old_content_or_the_new(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, str(PROGRAMS / "killed_writer.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)},
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    found = {case.pop("name"): case for case in map(json.loads, run.stdout.splitlines())}
    assert {name: case["states"] for name, case in found.items()} == {
        "replace": ["new", "old"],
        "create": ["absent", "new"],
        "back up": ["new", "old"],
    }
    assert all(case["steps"] > 15 and case["stale"] > 3 for case in found.values()), found
