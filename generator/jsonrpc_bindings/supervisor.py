"""Starts programs, and ends each with all processes that it has started.

It is part of the run-time because everything else depends on that: connections start agents, `acp_workspace` runs commands, and acpgen,
which contains the run-time (`acpgen.resources`), probes agents, taps them and queries targets.

On POSIX a program leads a session or a group, and its environment has a token, which its descendants inherit. It is only waited for when
it is closed, so that its id is not reused before. A guard, a shell that waits for the end of this process, ends the remaining programs
if this process is killed. SECURITY.md describes what escapes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import IO, Final, NamedTuple, TypeAlias

from . import process_tree
from .process_tree import VARIABLE, Tree
from .tail import Tail

Stream: TypeAlias = "int | IO[bytes] | IO[str] | None"
"""A standard stream as `subprocess.Popen` accepts it."""
ERRORS: Final = 16 << 10
"""The number of bytes that are kept of the end of standard error."""

_GUARD: Final = """
trap '' HUP INT TERM
kept=
while read -r sign tree; do
    rest=
    for one in $kept; do [ "$one" = "$tree" ] || rest="$rest $one"; done
    kept=$rest
    [ "$sign" = + ] && kept="$kept $tree"
done
[ -z "$kept" ] && exit
"$0" -I -S "$1" $kept && exit
for one in $kept; do
    one=${one#*:}
    one=${one%%:*}
    [ "$one" = 0 ] || kill -s KILL -- "-$one"
done
"""
"""The guard script, which reads `+ TREE` and `- TREE`.

At the end of its input it has Python end the remaining trees, or kills their groups itself. It skips group 0: that is a program that was
not started yet, and for `kill` the guard's own group.
"""


class _Guard:
    """A process that ends the programs of this process once this process has ended, in whatever way. It runs while there are programs."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._trees: set[Tree] = set()
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self.works = os.name == "posix"

    @property
    def pid(self) -> int | None:
        """The process id of the guard; `None` while there is nothing to guard."""
        return None if self._process is None else self._process.pid

    def change(self, old: Tree | None, new: Tree | None) -> None:
        """Add `new` to the guarded trees, and remove `old`."""
        with self._lock:
            if self._owner != os.getpid():  # of a process that was forked, the guard is its parent's
                self._owner, self._process, self._trees = os.getpid(), None, set()
            if old is not None:
                self._trees.discard(old)
            if new is not None:
                self._trees.add(new)
            if not self._trees:
                self._close()
            elif self.works:
                self._tell([f"{sign} {tree}\n" for sign, tree in (("-", old), ("+", new)) if tree is not None])

    def _tell(self, lines: list[str]) -> None:
        for _ in range(2):  # a guard that was killed has a successor
            try:
                if self._process is None:
                    self._process = _start_guard()
                    lines = [f"+ {tree}\n" for tree in self._trees]
                assert self._process.stdin is not None
                self._process.stdin.write("".join(lines).encode())
                self._process.stdin.flush()
            except OSError:
                self._close()
            else:
                return
        self.works = False

    def _close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            process.kill()
            process.wait()
            with suppress(OSError):
                process.stdin.close()


def _start_guard() -> subprocess.Popen[bytes]:
    python = "" if getattr(sys, "frozen", False) else sys.executable or ""
    nothing = subprocess.DEVNULL
    return subprocess.Popen(
        ["/bin/sh", "-c", _GUARD, python, process_tree.__file__],
        stdin=subprocess.PIPE,
        stdout=nothing,
        stderr=nothing,
        start_new_session=True,
    )


GUARD: Final = _Guard()
"""The guard of this process. If it does not work, programs outlive this process when it is killed."""


class _Errors:
    """The end of a program's standard error, read by a thread and copied to a descriptor."""

    def __init__(self, source: IO[bytes], target: int | None) -> None:
        self._source = source
        self._find_target = target
        self._tail = Tail(ERRORS)
        self._lock = threading.Lock()
        self.thread = threading.Thread(target=self._read, name="errors", daemon=True)
        self.thread.start()

    @property
    def text(self) -> str:
        """The part that is kept, as text."""
        with self._lock:
            return self._tail.text

    def _read(self) -> None:
        with self._source, suppress(OSError):
            while chunk := os.read(self._source.fileno(), 1 << 16):
                with self._lock:
                    self._tail.add(chunk)
                self._pass_on(chunk)
        if self._find_target is not None:
            os.close(self._find_target)

    def _pass_on(self, chunk: bytes) -> None:
        view = memoryview(chunk)
        while view and self._find_target is not None:
            try:
                view = view[os.write(self._find_target, view) :]
            except OSError:  # nobody takes it any more; it is kept all the same
                os.close(self._find_target)
                self._find_target = None


class Exit(NamedTuple):
    """How a program ended: with an exit code, or by a signal, by name (`SIGKILL`); neither if unknown."""

    code: int | None
    signal: str | None


class Program:
    """A running or ended program. No other code may wait for it."""

    def __init__(self, process: subprocess.Popen[bytes], tree: Tree, errors: _Errors | None = None) -> None:
        self._process = process
        self._tree = tree
        self._errors = errors
        self._code: int | None = None
        self._has_ended = False
        self._is_closed = False

    @property
    def pid(self) -> int:
        """The process id. It is not reused before the program is closed."""
        return self._process.pid

    @property
    def stdin(self) -> IO[bytes] | None:
        """The standard input; `None` if it is not a pipe."""
        return self._process.stdin

    @property
    def stdout(self) -> IO[bytes] | None:
        """The standard output; `None` if it is not a pipe."""
        return self._process.stdout

    @property
    def errors(self) -> str:
        """The end of the standard error; empty if it is not kept."""
        return "" if self._errors is None else self._errors.text

    @property
    def has_errors_left(self) -> bool:
        """Whether more standard error may arrive; `False` if it is not kept."""
        return self._errors is not None and self._errors.thread.is_alive()

    @property
    def has_ended(self) -> bool:
        """Whether the program has ended. Processes that it started may still run."""
        if self._has_ended:
            return True
        if self._is_closed or not hasattr(os, "waitid"):
            self._code = self._process.poll()
            self._has_ended = self._code is not None
            return self._has_ended
        try:
            status = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        except ChildProcessError:  # somebody else has waited for it
            self._has_ended = True
            return True
        if status is not None:
            self._code = status.si_status if status.si_code == os.CLD_EXITED else -status.si_status
            self._has_ended = True
        return self._has_ended

    @property
    def code(self) -> int | None:
        """The exit code, negative for a signal; `None` while the program runs, and if unknown."""
        return self._code if self.has_ended else None

    @property
    def exit(self) -> Exit | None:
        """How the program ended; `None` while it runs."""
        if not self.has_ended:
            return None
        code = self._code
        return Exit(code, None) if code is None or code >= 0 else Exit(None, _name_signal(-code))

    def wait(self, seconds: float) -> bool:
        """Wait at most this many seconds for the end of the program; return whether it has ended."""
        until, pause = time.monotonic() + seconds, 0.0005
        while not self.has_ended and (remaining := until - time.monotonic()) > 0:
            time.sleep(min(pause, remaining))
            pause = min(pause * 2, 0.05)
        return self.has_ended

    def watch(self, call: Callable[[], object]) -> None:
        """Call a function once in the running event loop when the program has ended."""
        import asyncio  # who calls this has it already

        loop = asyncio.get_running_loop()

        def wait() -> None:
            if hasattr(os, "waitid"):
                with suppress(ChildProcessError):
                    os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            else:
                self._process.wait()
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(call)

        threading.Thread(target=wait, name="program", daemon=True).start()

    # --- ending it

    def signal(self, number: int) -> None:
        """Signal only the program itself."""
        if not self.has_ended:
            with suppress(OSError, ValueError):
                os.kill(self.pid, number)

    def ending(self, grace: float) -> Iterator[float]:
        """End the program and all that it has started: gracefully first, by force after `grace` seconds.

        Yields the seconds to wait before the next step.
        """
        if self._is_closed:
            return
        if os.name == "posix":
            yield from process_tree.ending([self._tree], grace)
        if not self._tree.leads or os.name != "posix":
            yield from self._ending(grace)

    def _ending(self, grace: float) -> Iterator[float]:
        """End only the program itself, for systems on which its descendants are not known."""
        until = time.monotonic() + grace
        if grace > 0 and not self.has_ended:
            self._process.terminate()
        while not self.has_ended and time.monotonic() < until:
            yield 0.01
        if not self.has_ended:
            self._process.kill()

    def end(self, grace: float) -> None:
        """End the program and all that it has started: gracefully first, by force after `grace` seconds. A second call does nothing."""
        if self._is_closed:
            return
        for pause in self.ending(grace):
            time.sleep(pause)
        if self.wait(1):
            self._process.wait()
        else:  # the system has not ended it yet
            threading.Thread(target=self._process.wait, name="program", daemon=True).start()
        if self._errors is not None:
            self._errors.thread.join(0.5)  # a process that has escaped may hold its other end
        self._is_closed = True
        GUARD.change(self._tree, None)

    def close(self) -> None:
        """End at once all that still runs, and release the process id. A second call does nothing."""
        self.end(0)


def start(
    command: Sequence[str],
    *,
    leads: str = "s",
    stdin: int | None = None,
    stdout: int | None = None,
    stderr: Stream = None,
    keep_errors: bool = False,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    preexec_fn: Callable[[], object] | None = None,
) -> Program:
    """Start a program. It leads a session (`s`), a group (`g`), or nothing; the other arguments are those of `subprocess.Popen`.

    With `keep_errors` the end of its standard error is in `Program.errors`. It is also copied: to that of this process for `None`, to a
    descriptor or a file, and nowhere for `PIPE` and `DEVNULL`.

    Raises `OSError`; `ValueError` for a NUL character.
    """
    if keep_errors and stderr == subprocess.STDOUT:
        raise ValueError("standard error that goes to standard output cannot be kept")
    tree = Tree(os.urandom(16).hex())
    variables = dict(os.environ if env is None else env)
    if os.name == "posix":
        variables[VARIABLE] = f"{os.environ.get(VARIABLE, '')} {tree.token}".strip()
        GUARD.change(None, tree)  # before it runs: this process may be killed in between
    try:
        process = subprocess.Popen(
            list(command),
            bufsize=0,
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE if keep_errors else stderr,
            cwd=cwd,
            env=variables,
            start_new_session=leads == "s",
            process_group=0 if leads == "g" else None,
            preexec_fn=preexec_fn,
        )
    except BaseException:
        GUARD.change(tree, None)
        raise
    running_tree = Tree(tree.token, process.pid, process_tree.get_start_time(process.pid), leads)
    GUARD.change(tree, running_tree)
    errors = None if not keep_errors or process.stderr is None else _Errors(process.stderr, _find_target(stderr))
    return Program(process, running_tree, errors)


def _find_target(stderr: Stream) -> int | None:
    """A descriptor to which standard error is copied; `None` for nowhere."""
    if stderr in (subprocess.PIPE, subprocess.DEVNULL):
        return None
    try:
        return os.dup(2 if stderr is None else stderr if isinstance(stderr, int) else stderr.fileno())
    except OSError:  # we have none ourselves
        return None


def _name_signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIGRTMIN+{number - signal.SIGRTMIN}" if hasattr(signal, "SIGRTMIN") else str(number)
