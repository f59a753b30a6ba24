"""The recipes of the page about recordings, run as they stand there, each on a cluster of this machine."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from test_recordings import WELL, WRONG

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "schema" / "pages" / "recordings.md"
TOTAL = "\nprint(summary.recordings, summary.valid, summary.invalid)\n"
EXPECTED = "12 47 1"


def recipe(marker: str) -> str:
    """The block of code that imports `marker`."""
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
    (found,) = [block for block in blocks if marker in block]
    return str(found)


def result(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a folder with twelve recordings, one of them with an invalid line."""
    (folder / "logs").mkdir()
    for number in range(12):
        (folder / "logs" / f"{number}.jsonl").write_bytes(WRONG if number == 7 else WELL)
    (folder / "script.py").write_text(code)
    settings = {**os.environ, "PYTHONPATH": str(ROOT / "generator"), **environment}
    return subprocess.run(
        [sys.executable, "script.py"],
        cwd=folder,
        env=settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=560,
    )


def test_the_recipe_for_one_process(tmp_path: Path) -> None:
    code = recipe("assert summary.invalid").replace("assert summary.invalid == 0, summary.worst", "")
    ran = result(code + TOTAL, tmp_path)
    assert ran.stdout.split("\n")[0] == EXPECTED, ran.stderr


@pytest.mark.exhaustive
def test_the_recipe_for_dask(tmp_path: Path) -> None:
    if importlib.util.find_spec("distributed") is None:
        pytest.skip("Dask is not installed")
    client = 'Client(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None)'
    code = recipe("dask").replace("Client()", client).replace("1000", "5") + TOTAL
    inside = "\n".join(f"    {line}" for line in code.splitlines())
    ran = result(f'if __name__ == "__main__":\n{inside}\n', tmp_path)
    assert ran.stdout.split("\n")[0] == EXPECTED, ran.stderr


@pytest.mark.exhaustive
def test_the_recipe_for_ray(tmp_path: Path) -> None:
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed")
    start = 'ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")\nprint("up")\n'
    code = recipe("ray").replace("\n@ray", f"\n{start}\n@ray").replace("1000", "5") + TOTAL
    with tempfile.TemporaryDirectory(prefix="ray") as short:  # names of sockets are
        wait = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_raylet_start_wait_time_s": "120", "RAY_TMPDIR": short}
        ran = result(code, tmp_path, **wait)
    if "up" not in ran.stdout:
        pytest.skip(f"Ray does not start on this machine: {ran.stderr.strip().splitlines()[-1:]}")
    assert ran.stdout.split("\n")[1] == EXPECTED, ran.stderr
