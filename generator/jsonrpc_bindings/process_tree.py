"""The processes of a program: those of its group and session, its descendants, and those that carry its token. They are found and ended.

Run as a script, this file ends the trees that its arguments name. It only needs the standard library.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

VARIABLE: Final = "ACPGEN_SUPERVISED"
"""The environment variable with the tokens of a process, one for each supervisor above it. It is inherited."""

GRACE: Final = 1.0
"""Seconds that a tree has to exit by itself if this file runs as a script."""

_HAS_PROC: Final = sys.platform == "linux" and os.path.exists("/proc/self/stat")
_ROUNDS: Final = 64
"""The maximum number of times that a tree is killed until it is gone: new processes may start meanwhile."""
_LONGEST: Final = 0.05
_OS: Any = os  # names that not every platform has
_SIGNAL: Any = signal


class Tree(NamedTuple):
    """What identifies the processes of a program.

    A token in their environment, the id of the program and its start time by the kernel (0 if unknown), and whether it leads a group
    (`g`) or a session and a group (`s`).
    """

    token: str
    pid: int = 0
    started: int = 0
    leads: str = ""

    def __str__(self) -> str:
        return f"{self.token}:{self.pid}:{self.started}:{self.leads}"

    @classmethod
    def of(cls, word: str) -> Tree:
        """Parse the text of a tree that `str` returned."""
        token, pid, started, leads = word.split(":")
        return cls(token, int(pid), int(started), leads)


class _Process(NamedTuple):
    parent: int
    group: int
    session: int
    started: int
    lives: bool


def get_start_time(pid: int) -> int:
    """The start time of a process in the kernel's unit; 0 if unknown."""
    process = _read_process(pid)
    return 0 if process is None else process.started


def send(trees: Sequence[Tree], number: int, known_processes: set[tuple[int, int]]) -> bool:
    """Signal each process of the trees once; return whether there was one. Signal 0 only tests.

    `known_processes` holds the processes that were found before, by id and start time: they remain members even if the process that
    linked them has ended. The id of a tree must be that of its program, running or not yet waited for, or unused; on Linux it may have
    been reused.
    """
    table = _read_processes()
    own_trees = [tree for tree in trees if tree.pid and _is_own(tree, table)]
    members = _find_members(trees, own_trees, table, known_processes)
    known_processes.update((pid, table[pid].started) for pid in members)
    led: set[int] = set()
    for tree in own_trees:
        if tree.leads:
            try:
                _OS.killpg(tree.pid, number)
            except OSError:
                continue
            led.add(tree.pid)
    if number:
        for pid in members:
            if table[pid].group not in led:
                _kill(pid, table[pid].started, number)
    return bool(members if _HAS_PROC else led)


def ending(trees: Sequence[Tree], grace: float) -> Iterator[float]:
    """End all processes of the trees: with SIGTERM first, with SIGKILL after `grace` seconds. Yields the seconds to wait before the next
    step.
    """
    known_processes: set[tuple[int, int]] = set()
    if grace > 0:
        if not send(trees, signal.SIGTERM, known_processes):
            return
        until, pause = time.monotonic() + grace, 0.005
        while (remaining := until - time.monotonic()) > 0:
            yield min(pause, remaining)
            pause = min(pause * 2, _LONGEST)
            if not send(trees, 0, known_processes):
                return
    pause = 0.005
    for _ in range(_ROUNDS if _HAS_PROC else 1):  # a group is killed as a whole
        if not send(trees, _SIGNAL.SIGKILL, known_processes):
            return
        yield pause
        pause = min(pause * 2, _LONGEST)


# --- what the kernel says --------------------------------------------------------------------------------------------


def _read_processes() -> dict[int, _Process]:
    if not _HAS_PROC:
        return {}
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return {}
    return {pid: process for pid in pids if (process := _read_process(pid)) is not None}


def _read_process(pid: int) -> _Process | None:
    """The process of `/proc/PID/stat`. Its name may contain anything, brackets and line ends included, up to the last bracket."""
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if len(fields) < 20:
        return None
    has_ended = fields[0] in (b"Z", b"X") and int(fields[17]) < 2  # other threads outlive the first one
    return _Process(int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]), not has_ended)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _is_own(tree: Tree, table: dict[int, _Process]) -> bool:
    """Whether the id of a tree is still that of its program, or unused."""
    process = table.get(tree.pid)
    return process is None or process.started == tree.started


def _find_members(
    trees: Sequence[Tree], own_trees: Sequence[Tree], table: dict[int, _Process], known_processes: set[tuple[int, int]]
) -> set[int]:
    """The ids of the living processes of the trees."""
    leaders = {tree.pid for tree in own_trees}
    groups = {tree.pid for tree in own_trees if tree.leads}
    sessions = {tree.pid for tree in own_trees if tree.leads == "s"}
    tokens = [tree.token.encode() for tree in trees]
    first = min((tree.started for tree in trees), default=0)  # nothing that a program starts is older than it
    member_ids: set[int] = set()
    below: dict[int, list[int]] = {}
    for pid, process in table.items():
        below.setdefault(process.parent, []).append(pid)
        if (
            pid in leaders
            or process.group in groups
            or process.session in sessions
            or (pid, process.started) in known_processes
            or (process.started >= first and _carries(pid, tokens))
        ):
            member_ids.add(pid)
    pending = list(member_ids)
    while pending:
        children = [pid for pid in below.get(pending.pop(), ()) if pid not in member_ids]
        member_ids.update(children)
        pending.extend(children)
    return {pid for pid in member_ids if table[pid].lives and pid != os.getpid()}


def _carries(pid: int, tokens: Sequence[bytes]) -> bool:
    variables = _read(f"/proc/{pid}/environ")
    return any(token in variables for token in tokens)


def _kill(pid: int, start: int, number: int) -> None:
    """Signal the process with this id and start time, and no later one."""
    try:
        handle = _OS.pidfd_open(pid)
    except (AttributeError, OSError):
        handle = None
    try:
        if get_start_time(pid) != start:
            return
        if handle is None:
            os.kill(pid, number)
        else:
            _SIGNAL.pidfd_send_signal(handle, number)
    except OSError:  # it has ended, or is not ours to signal
        return
    finally:
        if handle is not None:
            os.close(handle)


if __name__ == "__main__":
    for _pause in ending([Tree.of(word) for word in sys.argv[1:]], GRACE):
        time.sleep(_pause)
