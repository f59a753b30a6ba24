"""Nothing that is started outlives who started it: the kernel kills a child with its parent, and a guard kills what the child started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable


def dies_with(parent: int) -> Callable[[], None] | None:
    """What a child calls before it becomes another program, so that the kernel kills it when `parent` ends; `None` where no kernel
    does.
    """
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    try:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
    except (OSError, AttributeError):  # a system without this library; the end of its input tells the child too
        return None

    def ask() -> None:
        prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:  # it has ended already
            os._exit(1)

    return ask


def guard(group: int) -> subprocess.Popen[bytes] | None:
    """A process that waits for the end of this one, and then kills a process group; `None` where it cannot be started. Who ends the
    group without it kills the guard first.
    """
    if os.name != "posix":
        return None
    script = 'read -r _; kill -s KILL -- "-$0"'
    nothing = subprocess.DEVNULL
    try:
        return subprocess.Popen(  # noqa: S603
            ["/bin/sh", "-c", script, str(group)],
            stdin=subprocess.PIPE,
            stdout=nothing,
            stderr=nothing,
            start_new_session=True,
        )
    except OSError:
        return None


def dismiss(waiting: subprocess.Popen[bytes] | None) -> None:
    """End a guard that has nothing to guard any more."""
    if waiting is None:
        return
    waiting.kill()
    waiting.wait()
    if waiting.stdin is not None:
        waiting.stdin.close()
