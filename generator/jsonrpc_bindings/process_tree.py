"""The processes of a program: those of its group and session, those below it, and those that carry its token. They are found and ended.

Run as a script, this file ends the trees that its arguments name. It needs nothing but the standard library.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

VARIABLE: Final = "ACPGEN_SUPERVISED"
"""The environment variable that holds the tokens of a process, one for each supervisor above it. Processes inherit it."""

GRACE: Final = 1.0
"""Seconds that a tree has to end by itself where this file runs as a script."""

_HAS_PROC: Final = sys.platform == "linux" and os.path.exists("/proc/self/stat")
_ROUNDS: Final = 64
"""How often a tree is killed, until nothing is left of it: new processes may start meanwhile."""
_LONGEST: Final = 0.05
_OS: Any = os  # names that not every platform has
_SIGNAL: Any = signal


class Tree(NamedTuple):
    """What tells the processes of a program: a token in their environment, the id of the program and when the kernel says that it
    started (0 where that is not known), and whether it leads a group (`g`) or a session and a group (`s`).
    """

    token: str
    pid: int = 0
    started: int = 0
    leads: str = ""

    def __str__(self) -> str:
        return f"{self.token}:{self.pid}:{self.started}:{self.leads}"

    @classmethod
    def of(cls, word: str) -> Tree:
        """The tree that `str` wrote."""
        token, pid, started, leads = word.split(":")
        return cls(token, int(pid), int(started), leads)


class _Process(NamedTuple):
    parent: int
    group: int
    session: int
    started: int
    lives: bool


def started(pid: int) -> int:
    """When the kernel says that a process started, in its own unit; 0 where it does not say."""
    found = _process(pid)
    return 0 if found is None else found.started


def send(trees: Sequence[Tree], number: int, seen: set[tuple[int, int]]) -> bool:
    """Signal each process of the trees once; whether there was one. The signal 0 reaches nobody, and so only asks.

    `seen` holds the processes that were found before, by id and start: they stay members even if what told so has ended. The id of a tree
    must be that of its program, running or not yet waited for, or nobody's; on Linux it may also be another's by now.
    """
    table = _table()
    own = [tree for tree in trees if tree.pid and _is_own(tree, table)]
    members = _members(trees, own, table, seen)
    seen.update((pid, table[pid].started) for pid in members)
    led: set[int] = set()
    for tree in own:
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
    """End all processes of the trees: asked first, made to after `grace` seconds. Yields how long to wait before the next step."""
    seen: set[tuple[int, int]] = set()
    if grace > 0:
        if not send(trees, signal.SIGTERM, seen):
            return
        until, pause = time.monotonic() + grace, 0.005
        while (left := until - time.monotonic()) > 0:
            yield min(pause, left)
            pause = min(pause * 2, _LONGEST)
            if not send(trees, 0, seen):
                return
    pause = 0.005
    for _ in range(_ROUNDS if _HAS_PROC else 1):  # a group is killed as a whole
        if not send(trees, _SIGNAL.SIGKILL, seen):
            return
        yield pause
        pause = min(pause * 2, _LONGEST)


# --- what the kernel says --------------------------------------------------------------------------------------------


def _table() -> dict[int, _Process]:
    if not _HAS_PROC:
        return {}
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return {}
    return {pid: found for pid in pids if (found := _process(pid)) is not None}


def _process(pid: int) -> _Process | None:
    """What `/proc/PID/stat` says. The name of a process may hold anything, brackets and line ends included: the last bracket ends it."""
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
    """Whether the tree's id is still that of its program, or nobody's."""
    found = table.get(tree.pid)
    return found is None or found.started == tree.started


def _members(
    trees: Sequence[Tree], own: Sequence[Tree], table: dict[int, _Process], seen: set[tuple[int, int]]
) -> set[int]:
    """The ids of the living processes of the trees."""
    leaders = {tree.pid for tree in own}
    groups = {tree.pid for tree in own if tree.leads}
    sessions = {tree.pid for tree in own if tree.leads == "s"}
    tokens = [tree.token.encode() for tree in trees]
    first = min((tree.started for tree in trees), default=0)  # nothing that a program starts is older than it
    found: set[int] = set()
    below: dict[int, list[int]] = {}
    for pid, process in table.items():
        below.setdefault(process.parent, []).append(pid)
        if (
            pid in leaders
            or process.group in groups
            or process.session in sessions
            or (pid, process.started) in seen
            or (process.started >= first and _carries(pid, tokens))
        ):
            found.add(pid)
    pending = list(found)
    while pending:
        added = [pid for pid in below.get(pending.pop(), ()) if pid not in found]
        found.update(added)
        pending.extend(added)
    return {pid for pid in found if table[pid].lives and pid != os.getpid()}


def _carries(pid: int, tokens: Sequence[bytes]) -> bool:
    variables = _read(f"/proc/{pid}/environ")
    return any(token in variables for token in tokens)


def _kill(pid: int, start: int, number: int) -> None:
    """Signal the process that started then under this id, and no later one."""
    try:
        handle = _OS.pidfd_open(pid)
    except (AttributeError, OSError):
        handle = None
    try:
        if started(pid) != start:
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
