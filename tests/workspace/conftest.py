"""What the tests of `acp_workspace` and `acp_session` share. Packages are tested where they are written, below generator/."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PATHS = tuple(
    str(REPOSITORY / path)
    for path in (
        *("generator/acp-session", "generator/acp-workspace", "generated/python/acp-bindings"),
        "generated/python/mcp-bindings",
    )
)
sys.path[:0] = [path for path in PATHS if path not in sys.path]


@pytest.fixture(params=["openat2", "walk"])
def mechanism(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs a test with every mechanism that this platform has."""
    from acp_workspace.containment import Mechanism, guarantees

    best = guarantees().mechanism
    name: str = request.param
    if best is Mechanism.NONE or (name == "openat2" and best is not Mechanism.OPENAT2):
        pytest.skip(f"this platform has no {name}")
    if name == "walk":
        monkeypatch.setattr("acp_workspace.mechanism._has_openat2", lambda: False)
    assert guarantees().mechanism.value == name
    return name


def descriptors() -> int:
    """How many descriptors this process has, without those of what earlier tests left to be collected."""
    gc.collect()
    return len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0


def children() -> frozenset[str]:
    """The processes that this one has started, ended ones that nobody waited for among them."""
    found: set[str] = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if path.read_text().rpartition(")")[2].split()[1] == str(os.getpid()):
                found.add(path.parent.name)
    return frozenset(found)


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Path]:
    """Makes a file below the test's folder, with the folders it needs."""

    def made(name: str, content: bytes | str = "inside\n") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return made
