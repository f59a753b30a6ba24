"""What is left of programs and of what they started, when they are ended and when their host is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from acp_bindings.v1 import peers

from jsonrpc_bindings import process_tree, supervisor
from peers import escapes
from peers.test_stdio import ENVIRONMENT, program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

HERE = Path(__file__).parent


def lives(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return text.rpartition(b")")[2].split()[0] not in (b"Z", b"X")


def until(is_so: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.01)


@contextmanager
def host(leads: str, *command: str) -> Generator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-P", str(HERE / "supervising_host.py"), leads, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=ENVIRONMENT,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def child(process: subprocess.Popen[str]) -> int:
    """The id that the program prints, once the host says that it has started it."""
    (pid,) = {said(process), said(process)} - {"started"}
    return int(pid)


def has_begun(pid: int) -> bool:
    """Whether it is the program that it becomes, with the environment of that."""
    return Path(f"/proc/{pid}/comm").read_text() == f"{escapes.NAME}\n"


@pytest.mark.parametrize("end", ["killed", "closed"])
@pytest.mark.parametrize(("leads", "way"), [("g", "group"), *(("s", way) for way in escapes.WAYS)])
def test_each_way_to_find_what_a_program_started_finds_it_alone(tmp_path: Path, leads: str, way: str, end: str) -> None:
    with host(leads, sys.executable, "-I", "-S", escapes.__file__, str(tmp_path), way) as process:
        pid = child(process)
        try:
            until(lambda: has_begun(pid))
            if end == "killed":
                process.kill()
            else:
                assert process.stdin is not None
                process.stdin.write("\n")
                process.stdin.flush()
                assert said(process) == "closed"
                assert not lives(pid)
            until(lambda: not lives(pid))
        finally:
            if lives(pid):
                os.kill(pid, signal.SIGKILL)


def test_a_guard_without_python_ends_the_group(tmp_path: Path) -> None:
    with host("frozen", "sh", "-c", "sleep 60 & echo $!; wait") as process:
        pid = child(process)
        process.kill()
        until(lambda: not lives(pid))


def test_a_guard_without_python_ends_the_groups_beside_a_program_that_was_not_started_yet() -> None:
    guarding = supervisor._GUARD
    program = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        guard = subprocess.Popen(
            ["/bin/sh", "-c", guarding, "", process_tree.__file__],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        trees = process_tree.Tree("0" * 32), process_tree.Tree("1" * 32, program.pid, 0, "s")
        guard.communicate("".join(f"+ {tree}\n" for tree in trees).encode(), timeout=30)
        assert program.wait(5) == -signal.SIGKILL
        assert guard.returncode != -signal.SIGKILL
    finally:
        program.kill()
        program.wait()


def test_where_the_kernel_tells_nothing_of_processes_the_group_is_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(process_tree, "_HAS_PROC", False)
    found = supervisor.start(["sh", "-c", "trap '' TERM; sleep 60 & echo $!; wait"], stdout=subprocess.PIPE)
    assert found.stdout is not None
    with found.stdout:
        pid = int(found.stdout.readline())
        found.end(0.1)
    until(lambda: not lives(pid))
    assert found.code == -signal.SIGKILL


def test_processes_are_asked_before_they_are_made_to_end(tmp_path: Path) -> None:
    """The one that left, too."""
    script = f"trap 'echo asked >> {tmp_path}/asked' TERM; echo up >> {tmp_path}/up; while :; do sleep 0.05; done"
    found = supervisor.start(["sh", "-c", f"setsid sh -c '{script.replace(chr(39), chr(34))}' & {script}"])
    until(lambda: (tmp_path / "up").exists() and (tmp_path / "up").read_text() == "up\nup\n")
    found.end(0.5)
    assert (tmp_path / "asked").read_text() == "asked\nasked\n"


def test_no_process_is_signalled_that_has_the_id_of_an_earlier_one() -> None:
    stranger = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        tree = process_tree.Tree("0" * 32, stranger.pid, process_tree.get_start_time(stranger.pid) - 1, "s")
        assert not process_tree.send([tree], signal.SIGKILL, {(stranger.pid, tree.started)})
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_guard_that_is_killed_has_a_successor() -> None:
    first = supervisor.start(["sleep", "60"])
    guard = supervisor.GUARD.pid
    assert guard is not None
    os.kill(guard, signal.SIGKILL)
    until(lambda: not lives(guard))
    second = supervisor.start(["sleep", "60"])
    assert supervisor.GUARD.works
    assert supervisor.GUARD.pid not in (None, guard)
    for each in (first, second):
        each.end(1)
        assert each.code == -signal.SIGTERM
    assert supervisor.GUARD.pid is None


def test_a_tree_is_what_it_was_written_as() -> None:
    tree = process_tree.Tree("0a", 7, 12, "s")
    assert process_tree.Tree.of(str(tree)) == tree


@pytest.mark.parametrize("wrapper", ['exec "$@"', '"$@"; true', '"$@" & wait'])
def test_nothing_outlives_a_connection_whatever_wraps_the_agent(tmp_path: Path, wrapper: str) -> None:
    """As `npx` and scripts do."""
    script = f"sleep 60 & echo $! > {tmp_path}/pid; setsid sleep 60 & echo $! > {tmp_path}/left; {wrapper}"
    pids: list[int] = []

    async def work() -> None:
        async with peers.spawn_agent(["sh", "-c", script, "sh", *program("silent")], env=ENVIRONMENT, grace=0.2):
            await asyncio.to_thread(
                until, lambda: (tmp_path / "left").exists() and (tmp_path / "left").read_text() != ""
            )
            pids.extend(int((tmp_path / name).read_text()) for name in ("pid", "left"))
            assert all(map(lives, pids))

    asyncio.run(work())
    assert not any(map(lives, pids))
