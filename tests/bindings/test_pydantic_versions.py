"""The tests of pydantic's types once more, with the oldest pydantic that the documentation names; the newest is installed for all tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evidence import lack

ROOT = Path(__file__).parents[2]
OLDEST = "2.7.0" if sys.version_info < (3, 13) else "2.8.0" if sys.version_info < (3, 14) else "2.12.0"
"""2.7, or the first release that has a wheel for this Python."""

NEWER = "not fastapi and not set_of_definitions"
"""What later releases alone do: FastAPI needs them, and those before 2.9 inline the types that a caller names."""


@pytest.mark.exhaustive
def test_types_work_with_the_oldest_pydantic(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    try:
        subprocess.run(
            [*pip, "--target", tmp_path, f"pydantic=={OLDEST}"], check=True, capture_output=True, timeout=120
        )
    except subprocess.SubprocessError as error:
        lack(f"pydantic {OLDEST} cannot be installed: {error}")
    environment = {**os.environ, "PYTHONPATH": os.fspath(tmp_path)}
    used = [sys.executable, "-c", "import pydantic; print(pydantic.VERSION)"]
    assert subprocess.check_output(used, env=environment, text=True, timeout=60).strip() == OLDEST
    files = ["tests/bindings/test_pydantic.py", "tests/bindings/test_pydantic_guest.py"]
    # datamodel-code-generator, which the tests use, warns of an old pydantic.
    options = ["-q", "-p", "no:cacheprovider", "-W", "ignore::FutureWarning", "-k", NEWER]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-4000:]
