"""Kills a writer before every call it makes to the operating system, and looks at what is left. Run by test_crash.py.

Prints one JSON object for each scenario: how many steps there were, and every state that was found.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from acp_bindings import v1

from acp_workspace.filesystem import FilePolicy, FileSystem
from acp_workspace.scope import parse_scope
from acp_workspace.workspace import RootSet

OLD, NEW = "old " * 5000, "new " * 7000
STEPS = (
    *(
        "open",
        "close",
        "write",
        "read",
        "fsync",
        "fchmod",
        "fchown",
        "fstat",
        "stat",
        "lstat",
        "mkdir",
        "replace",
        "unlink",
    ),
    *("rmdir", "dup", "lseek", "listxattr", "getxattr", "setxattr", "scandir", "makedirs"),
)


def serve(base: Path, target: Path, policy: FilePolicy) -> None:
    async def write() -> None:
        files = FileSystem({"s": RootSet.bind(parse_scope(str(base)))}, policy)
        await files.write_text_file(v1.WriteTextFileRequest(session_id="s", path=str(target), content=NEW))

    asyncio.run(write())


def die_at(step: int) -> None:
    """Make the process kill itself before its call number `step`; a write is done by half first."""
    calls = 0

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal calls
            if calls == step:
                if name == "write":
                    function(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            calls += 1
            return function(*arguments, **named)

        return call

    for name in STEPS:
        if hasattr(os, name):
            setattr(os, name, counted(name, getattr(os, name)))


def killed(work: Callable[[], None], step: int) -> bool:
    """Whether the child was killed; else it finished."""
    child = os.fork()
    if not child:
        die_at(step)
        work()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        return True
    assert os.WEXITSTATUS(status) == 0, status
    return False


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob(".acp-session-*"))


def state(target: Path) -> str:
    if not target.exists():
        return "absent"
    return {OLD: "old", NEW: "new"}.get(target.read_text(), "mixture")


def scenario(name: str, *, existing: bool, nested: bool, backups: bool) -> dict[str, Any]:
    states, stale = set[str](), 0
    for step in range(10_000):
        folder = Path(tempfile.mkdtemp(dir=sys.argv[1]))
        base, kept = folder / "app", folder / "backups"
        base.mkdir()
        target = base / ("a/b/c.txt" if nested else "c.txt")
        if existing:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(OLD)
        policy = FilePolicy(backups=str(kept) if backups else None)
        dead = killed(partial(serve, base, target, policy), step)
        stale += bool(leftovers(folder))
        states.add(state(target))
        removed = asyncio.run(FileSystem({"s": RootSet.bind(parse_scope(str(base)))}, policy).clean("s"))
        assert not leftovers(folder), leftovers(folder)
        assert all(Path(path).name.startswith(".acp-session-") for path in removed)
        assert state(target) in states
        for copy in kept.glob("*.bak"):
            assert copy.read_text() == OLD
        if backups and state(target) == "new":
            assert len(list(kept.glob("*.bak"))) == 1
        shutil.rmtree(folder)
        if not dead:
            return {"name": name, "steps": step, "states": sorted(states), "stale": stale}
    raise AssertionError("the write never ends")


if __name__ == "__main__":
    for case in (
        scenario("replace", existing=True, nested=False, backups=False),
        scenario("create", existing=False, nested=True, backups=False),
        scenario("back up", existing=True, nested=True, backups=True),
    ):
        print(json.dumps(case))
