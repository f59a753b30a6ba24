"""A link put in the place of a file, a directory or the root before each single call of a request: nothing outside is touched."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from acp_bindings import v1

from acp_workspace import containment
from acp_workspace import mechanism as opening
from acp_workspace.containment import guarantees
from acp_workspace.errors import INTERNAL_ERROR, NOT_FOUND, REFUSED, RequestError
from acp_workspace.filesystem import FilePolicy, FileSystem
from acp_workspace.scope import parse_scope
from acp_workspace.workspace import RootSet
from tiers import sample
from workspace.test_race import SECRET, state_of

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


@pytest.mark.parametrize("case", sample([(kind, what) for kind in ASKED for what in SWAPPED], 4, "-".join))
def test_a_link_put_in_place_before_any_call_leads_nowhere(
    tmp_path: Path, mechanism: str, monkeypatch: pytest.MonkeyPatch, case: tuple[str, str]
) -> None:
    kind, what = case
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
    monkeypatch.setattr(opening, "_openat2", counted(vars(opening)["_openat2"]))

    while step <= calls:
        step += 1
        base = tmp_path / str(step)
        tree(base)
        before = state_of(base / "outside")
        roots = RootSet.bind(parse_scope(f"{base}/app"))
        files = FileSystem({"s": roots}, FilePolicy())

        async def converse(files: FileSystem = files, base: Path = base) -> str:
            nonlocal calls, at_work
            gc.disable()  # no handle of an earlier step may be closed among the calls that are counted
            calls, at_work = 0, True
            try:
                return await request(files, kind, f"{base}/{ASKED[kind]}")
            finally:
                at_work = False
                gc.enable()

        seen[asyncio.run(converse())] += 1
        assert state_of(base / "outside") == before, step
        assert not [path for path in base.rglob(".acp-session-*") if path.is_file()], step
        shutil.rmtree(base)
    assert step > 10, step
    assert set(seen) <= {"inside", "written", str(REFUSED), str(NOT_FOUND), str(INTERNAL_ERROR)}, seen
    assert seen["inside" if kind == "read" else "written"] > 0
    assert (seen[str(REFUSED)] > 0) == ((what, kind) != ("file", "write anew")), seen


@pytest.fixture
def before_each(
    monkeypatch: pytest.MonkeyPatch, mechanism: str
) -> Callable[[int, Callable[[], None]], Callable[[], int]]:
    """Runs something before the given call to the system of all that follow; returns how to count and end them."""

    def arranged(step: int, happens: Callable[[], None]) -> Callable[[], int]:
        calls, at_work = 0, True

        def counted(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **named: Any) -> Any:
                nonlocal calls, at_work
                if at_work:
                    calls += 1
                    if calls == step:
                        at_work = False
                        happens()
                        at_work = True
                return function(*arguments, **named)

            return call

        for name in CALLS:
            if hasattr(os, name):
                monkeypatch.setattr(os, name, counted(getattr(os, name)))
        monkeypatch.setattr(opening, "_openat2", counted(vars(opening)["_openat2"]))

        def ended() -> int:
            nonlocal at_work
            at_work = False
            monkeypatch.undo()
            if mechanism == "walk":
                monkeypatch.setattr(opening, "_has_openat2", lambda: False)
            return calls

        return ended

    return arranged


@pytest.mark.parametrize("back", [None, 1, 2, 3, 5])
@pytest.mark.parametrize("what", ["app/d", "app/d/e", "app"])
def test_a_link_put_in_place_while_a_root_is_granted_never_makes_it_a_directory_outside(
    tmp_path: Path,
    before_each: Callable[[int, Callable[[], None]], Callable[[], int]],
    what: str,
    back: int | None,
) -> None:
    """The link may be taken away again some calls later, so that nothing shows afterwards."""
    seen = Counter[str]()
    step = calls = 0
    while step <= calls:
        step += 1
        base = tmp_path / str(step)
        tree(base)
        inside, outside = (base / place / "d" / "e" for place in ("app", "outside"))
        meant, other = inside.stat().st_ino, outside.stat().st_ino
        place, aside = base / what, base / "aside"

        def swap(place: Path = place, aside: Path = aside, base: Path = base) -> None:
            place.rename(aside)
            place.symlink_to(base / what.replace("app", "outside", 1))

        def swap_back(place: Path = place, aside: Path = aside) -> None:
            if place.is_symlink():
                place.unlink()
                aside.rename(place)

        def grant(path: str, base: Path = base) -> str | None:
            return None if path == f"{base}/app" or path.startswith(f"{base}/app/") else "it was not granted"

        ended = before_each(step, swap)
        ended_back = before_each(step + back, swap_back) if back is not None else None
        try:
            roots = RootSet.bind(parse_scope(f"{inside}"), grant)
        except RequestError as error:
            roots = None
            seen[str(error.code)] += 1
        if ended_back is not None:
            ended_back()
        calls = ended()
        if roots is None:
            continue
        seen["bound"] += 1
        assert roots.roots[0].identity[1] == meant != other, step
        try:
            descriptor = roots.open("x.txt")
        except (RequestError, OSError):
            continue
        try:
            assert os.read(descriptor, 100) == b"inside", step
        finally:
            os.close(descriptor)
    assert step > 5, step
    assert seen["bound"] > 0, seen
    assert seen[str(REFUSED)] > 0, seen


def test_a_root_is_not_opened_again_through_a_link_that_stands_above_it_now(tmp_path: Path, mechanism: str) -> None:
    tree(tmp_path)
    roots = RootSet.bind(parse_scope(f"{tmp_path}/app/d"))
    os.close(roots.open("e/x.txt"))
    (tmp_path / "app").rename(tmp_path / "moved")
    (tmp_path / "app").symlink_to(tmp_path / "moved")
    with pytest.raises(containment.AccessDenied, match="changed"), roots.roots[0].open_directory():
        pass
    with pytest.raises(RequestError) as error:
        roots.open("e/x.txt")
    assert error.value.code == REFUSED
