"""A link put in the place of a file, a directory or the root before each single call of a request: nothing outside is touched."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import v1

from acp_session import containment
from acp_session.containment import guarantees
from acp_session.errors import INTERNAL_ERROR, NOT_FOUND, REFUSED, RequestError
from acp_session.filesystem import FilePolicy, FileSystem
from acp_session.workspace import RootSet, scope
from session.test_race import SECRET, state_of

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

CALLS = (
    *("open", "close", "stat", "lstat", "fstat", "readlink", "read", "write", "mkdir", "rmdir", "unlink", "replace"),
    *("dup", "fsync", "fchmod", "fchown", "getxattr", "listxattr"),
)
SWAPPED = {"file": "app/d/e/x.txt", "folder": "app/d/e", "upper folder": "app/d", "root": "app"}
ASKED = {"read": "app/d/e/x.txt", "write": "app/d/e/x.txt", "write anew": "app/d/e/new/deep/x.txt"}


def tree(base: Path) -> None:
    """A root, and the same names outside."""
    for place, text in (("app", "inside"), ("outside", SECRET)):
        (base / place / "d" / "e").mkdir(parents=True)
        (base / place / "d" / "e" / "x.txt").write_text(text)


async def request(files: FileSystem, kind: str, path: str) -> str:
    """What comes of a request: what was read, `written`, or the error's code; anything if something of the secret shows."""
    try:
        if kind == "read":
            return (await files.read_text_file(v1.ReadTextFileRequest(session_id="s", path=path))).content
        await files.write_text_file(v1.WriteTextFileRequest(session_id="s", path=path, content="written"))
    except RequestError as error:
        answer = str(error.as_json())
        return answer if SECRET in answer else str(error.code)
    return "written"


@pytest.mark.parametrize("kind", ASKED)
@pytest.mark.parametrize("what", SWAPPED)
def test_a_link_put_in_place_before_any_call_leads_nowhere(
    tmp_path: Path, mechanism: str, monkeypatch: pytest.MonkeyPatch, kind: str, what: str
) -> None:
    seen = Counter[str]()
    step = -1
    calls, at_work = 0, False
    base = tmp_path

    def swap() -> None:
        inside = base / SWAPPED[what]
        if inside.exists():
            inside.rename(base / "aside")
            inside.symlink_to(base / SWAPPED[what].replace("app", "outside", 1))

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal calls, at_work
            if at_work:
                calls += 1
                if calls == step:
                    at_work = False
                    swap()
            return function(*arguments, **named)

        return call

    in_place = {name: counted(getattr(os, name)) for name in CALLS if hasattr(os, name)}
    for name, function in in_place.items():
        monkeypatch.setattr(os, name, function)
    monkeypatch.setattr(containment, "_openat2", counted(vars(containment)["_openat2"]))

    while step <= calls:
        step += 1
        base = tmp_path / str(step)
        tree(base)
        before = state_of(base / "outside")
        files = FileSystem(FilePolicy())
        roots = RootSet.bind(scope(f"{base}/app"))

        async def converse(files: FileSystem = files, roots: RootSet = roots, base: Path = base) -> str:
            nonlocal calls, at_work
            await files.attach("s", roots, clean=False)
            calls, at_work = 0, True
            try:
                return await request(files, kind, f"{base}/{ASKED[kind]}")
            finally:
                at_work = False

        seen[asyncio.run(converse())] += 1
        assert state_of(base / "outside") == before, step
        assert not [path for path in base.rglob(".acp-session-*") if path.is_file()], step
        shutil.rmtree(base)
    assert step > 10, step
    assert set(seen) <= {"inside", "written", str(REFUSED), str(NOT_FOUND), str(INTERNAL_ERROR)}, seen
    assert seen["inside" if kind == "read" else "written"] > 0
    assert (seen[str(REFUSED)] > 0) == ((what, kind) != ("file", "write anew")), seen
