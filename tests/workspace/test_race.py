"""Directories swapped for links in a tight loop, against readers and writers: nothing from outside is read, nothing written there.

By default until each outcome was seen often; a minute for each mechanism is exhaustive.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from acp_bindings import v1

from acp_workspace.containment import guarantees
from acp_workspace.errors import NOT_FOUND, REFUSED, RequestError
from acp_workspace.filesystem import FilePolicy, FileSystem
from acp_workspace.scope import parse_scope
from acp_workspace.workspace import RootSet

pytestmark = pytest.mark.skipif(not guarantees().enforced, reason="this platform cannot keep an access in a root")

LEAST = 100
"""How often each outcome is seen before a race may end."""
MOST_SECONDS = 60
SECRET = "OUTSIDE"

for_seconds = pytest.mark.parametrize(
    "seconds", [pytest.param(0, id="often"), pytest.param(60, id="a minute", marks=pytest.mark.exhaustive)]
)

SWAPPER = """
import ctypes, itertools, os, sys
app = os.open(sys.argv[1] + "/app", os.O_RDONLY)
d = os.open("d", os.O_RDONLY, dir_fd=app)  # the directory itself, whatever its name leads to
exchange = getattr(ctypes.CDLL(None), "renameat2", None)
def swap(folder, one, other):
    # one step where the system can, else three
    if exchange is not None and exchange(folder, one.encode(), folder, other.encode(), 2) == 0:
        return
    aside = one + ".aside"
    for old, new in ((one, aside), (other, one), (aside, other)):
        os.rename(old, new, src_dir_fd=folder, dst_dir_fd=folder)
print("ready", flush=True)
for number in itertools.count():
    for folder, one, other in ((app, "d", "link-d"), (d, "e", "link-e"), (app, "f.txt", "link-f.txt")):
        try:
            swap(folder, one, other)
        except OSError:
            pass
"""


@pytest.fixture
def swapped(tmp_path: Path) -> Iterator[Path]:
    """A root in which a program swaps two directories and a file for links to the same names outside, as fast as it can."""
    for place, text in (("app", "inside"), ("outside", SECRET)):
        for folder in ("d/e", "e"):
            (tmp_path / place / folder).mkdir(parents=True)
        for name in ("d/e/x.txt", "d/x.txt", "e/x.txt", "x.txt", "f.txt"):
            (tmp_path / place / name).write_text(text)
    (tmp_path / "app" / "link-d").symlink_to(tmp_path / "outside" / "d")
    (tmp_path / "app" / "d" / "link-e").symlink_to("../../outside/e")
    (tmp_path / "app" / "link-f.txt").symlink_to("../outside/f.txt")
    program = subprocess.Popen([sys.executable, "-c", SWAPPER, str(tmp_path)], stdout=subprocess.PIPE)
    assert program.stdout is not None
    assert program.stdout.readline() == b"ready\n"
    try:
        yield tmp_path
    finally:
        program.kill()
        program.wait()
        program.stdout.close()


def state_of(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything about a tree that a write into it would change, were it for a moment only."""
    return {
        str(path): (path.stat().st_mtime_ns, path.stat().st_ctime_ns, path.read_bytes() if path.is_file() else b"")
        for path in (folder, *sorted(folder.rglob("*")))
    }


def is_on(began: float, seconds: float, *counts: int) -> bool:
    """Whether a race goes on: for these seconds, and until each of the counts is enough."""
    took = time.monotonic() - began
    return took < seconds or (min(counts) < LEAST and took < MOST_SECONDS)


async def work(files: FileSystem, base: Path, kind: str, seconds: float, seen: Counter[str]) -> None:
    names = ("d/e/x.txt", "d/x.txt", "f.txt", "d/../d/e/x.txt", "d/e/../x.txt")
    number, began = 0, time.monotonic()
    while is_on(began, seconds, *(seen[f"{each} {end}"] for each in ("read", "write") for end in ("done", REFUSED))):
        number += 1
        path = f"{base}/app/{names[number % len(names)]}"
        try:
            if kind == "read":
                found = await files.read_text_file(v1.ReadTextFileRequest(session_id="s", path=path))
                assert SECRET not in found.content
                assert found.content in ("inside", "written")
            else:
                new = path if number % 2 else f"{base}/app/d/made-{number % 7}/deep/x.txt"
                await files.write_text_file(v1.WriteTextFileRequest(session_id="s", path=new, content="written"))
            seen[f"{kind} done"] += 1
        except RequestError as error:
            seen[f"{kind} {error.code}"] += 1
            seen["leaks"] += SECRET in str(error.as_json())


@for_seconds
def test_nothing_outside_is_read_or_written_while_directories_become_links(
    swapped: Path, mechanism: str, seconds: float
) -> None:
    before = state_of(swapped / "outside")
    seen = Counter[str]()

    async def race() -> None:
        files = FileSystem({"s": RootSet.bind(parse_scope(f"{swapped}/app"))}, FilePolicy(durable=False))
        kinds = ("read", "write", "read", "write")
        await asyncio.gather(*(work(files, swapped, kind, seconds, seen) for kind in kinds))

    asyncio.run(race())
    assert state_of(swapped / "outside") == before
    assert {name for name in seen if seen[name]} <= {
        *("read done", f"read {REFUSED}", f"read {NOT_FOUND}", "write done", f"write {REFUSED}", f"write {NOT_FOUND}")
    }
    assert min(seen["read done"], seen["write done"]) >= LEAST, seen
    assert min(seen[f"read {REFUSED}"], seen[f"write {REFUSED}"]) >= LEAST, seen


@for_seconds
def test_no_directory_outside_is_granted_while_a_part_of_its_path_becomes_a_link(
    swapped: Path, mechanism: str, seconds: float
) -> None:
    """The middle of the path is exchanged in one step, again and again, while roots are bound under a policy."""
    outside = (swapped / "outside" / "d" / "e").stat().st_ino

    def grant(path: str) -> str | None:
        return None if path.startswith(f"{swapped}/app/") else "it was not granted"

    seen = Counter[str]()
    began = time.monotonic()
    while is_on(began, seconds, seen["bound"], seen[str(REFUSED)]):
        try:
            roots = RootSet.bind(parse_scope(f"{swapped}/app/d/e"), grant)
        except RequestError as error:
            seen[str(error.code)] += 1
            continue
        with roots:
            seen["bound"] += 1
            assert roots.roots[0].identity[1] != outside
            try:
                file = roots.open("x.txt")
            except (RequestError, OSError):
                seen["not read"] += 1
                continue
            try:
                assert os.read(file, 100) == b"inside"
            finally:
                os.close(file)
            seen["read"] += 1
    assert min(seen["bound"], seen[str(REFUSED)]) >= LEAST, seen


def test_the_race_catches_a_check_that_is_apart_from_its_use(swapped: Path) -> None:
    """The same swaps against what the document's example does: resolve, compare, read."""
    root = os.path.realpath(f"{swapped}/app")
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for name in ("d/x.txt", "f.txt"):
            path = f"{root}/{name}"
            try:
                found = Path(path).read_text() if os.path.realpath(path).startswith(f"{root}/") else ""
            except OSError:
                continue
            if SECRET in found:
                return
    pytest.fail("the swaps are too slow to show anything")
