"""Commands that end with their host: each in a session of its own (in the sense of POSIX), ended by its id.

The id of a command is not given back to the system before it is closed: it names this command and no other process, whenever a signal is
sent. With the command all of its process group and, on Linux, of its POSIX session are ended. A guard, a shell that waits for the
end of this program, ends them where the program itself was killed.
"""

from __future__ import annotations

import asyncio
import functools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from .tail import Tail

_CHUNK: Final = 65536
_ROUNDS: Final = 64
"""How often the members of a session are looked for, until none is left: new ones may start meanwhile."""
_DRAINED: Final = 1 << 20
"""Bytes that are read at once when a command has ended: more than a pipe holds."""

_GUARD: Final = """
trap '' HUP INT TERM
kept=
while read -r sign id; do
    rest=
    for one in $kept; do [ "$one" = "$id" ] || rest="$rest $one"; done
    kept=$rest
    [ "$sign" = + ] && kept="$kept $id"
done
for id in $kept; do kill -s KILL -- "-$id"; done
for stat in /proc/[0-9]*/stat; do
    read -r line < "$stat" || continue
    set -- ${line##*) }
    for id in $kept; do
        if [ "$4" = "$id" ]; then pid=${stat#/proc/}; kill -s KILL "${pid%/stat}"; fi
    done
done
"""
"""Reads `+ ID` and `- ID`; at the end of its input kills the groups and sessions that are left. `$4` is the session in `/proc/*/stat`."""


@dataclass(frozen=True, slots=True)
class Exit:
    """How a command ended: by itself with a code, or by a signal, which has its name here (`SIGKILL`)."""

    code: int | None
    signal: str | None


class Guard:
    """A process that ends the commands it was told of when this program has ended, however that came. It starts with the first one.

    `works` is false where it could not be started: then a killed program leaves its commands behind.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self.works = True

    def _told(self, line: bytes) -> None:
        with self._lock:
            try:
                if self._process is None:
                    self._process = _guard()
                assert self._process.stdin is not None
                self._process.stdin.write(line)
                self._process.stdin.flush()
            except (OSError, ValueError):
                self.works = False

    def add(self, pid: int) -> None:
        """End this command, too."""
        self._told(b"+ %d\n" % pid)

    def remove(self, pid: int) -> None:
        """This command is closed: its id may name another process from now on."""
        if self._process is not None:
            self._told(b"- %d\n" % pid)

    def close(self) -> None:
        """Let it end; it ends what it was told of."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            with suppress(OSError):
                process.stdin.close()
            process.wait()


def _guard() -> subprocess.Popen[bytes]:
    nothing = subprocess.DEVNULL
    return subprocess.Popen(  # noqa: S603
        ["/bin/sh", "-c", _GUARD], stdin=subprocess.PIPE, stdout=nothing, stderr=nothing, start_new_session=True
    )


class Child:
    """A command that runs or has run, with the end of what it printed. All methods belong to one event loop.

    `show` gets what it prints, as text. Nobody else may wait for this child of the process.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], source: int, tail: Tail, show: Callable[[str], object], guard: Guard
    ) -> None:
        self.pid = process.pid
        self.tail = tail
        self._process = process
        self._source: int | None = source
        self._show = show
        self._guard = guard
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[Exit] = self._loop.create_future()
        self._pidfd: int | None = None
        self._is_closed = False
        os.set_blocking(source, False)
        self._loop.add_reader(source, self._read)
        self._watch()

    @property
    def exit(self) -> Exit | None:
        """How it ended; `None` while it runs."""
        return self._ended.result() if self._ended.done() and not self._ended.cancelled() else None

    async def wait(self) -> Exit:
        """Wait until it has ended. Raises `asyncio.CancelledError` where it was given up, too."""
        return await asyncio.shield(self._ended)

    # --- what it prints, and its end

    def _read(self) -> bool:
        """Read what is there; whether more may be."""
        assert self._source is not None
        try:
            chunk = os.read(self._source, _CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            chunk = b""
        text = self.tail.add(chunk, is_last=not chunk)
        if not chunk:
            self._loop.remove_reader(self._source)
            os.close(self._source)
            self._source = None
        if text:
            self._show(text)
        return bool(chunk)

    def _drain(self) -> None:
        for _ in range(_DRAINED // _CHUNK):
            if self._source is None or not self._read():
                return

    def _watch(self) -> None:
        if hasattr(os, "pidfd_open"):
            with suppress(OSError):
                self._pidfd = os.pidfd_open(self.pid)
        if self._pidfd is not None:
            self._loop.add_reader(self._pidfd, self._noticed)
        else:
            threading.Thread(target=self._waiting, name="acp-session-command", daemon=True).start()

    def _waiting(self) -> None:
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._noticed)

    def _noticed(self) -> None:
        """It has ended. It is not reaped yet: until then its id is nobody else's."""
        if self._pidfd is not None:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None
        if self._ended.done():
            return
        self._drain()
        self._ended.set_result(_exit_of(self.pid))

    # --- ending it

    def signal(self, number: int) -> None:
        """Send a signal to all that belongs to the command."""
        if self._is_closed:
            return
        with suppress(OSError):
            os.killpg(self.pid, number)
        for pid in _members(self.pid):
            with suppress(OSError):
                os.kill(pid, number)

    async def kill(self, grace: float) -> None:
        """End the command and all that belongs to it: asked first, made to after `grace` seconds. Returns when it has ended, or cannot."""
        if self.exit is None and grace > 0:
            self.signal(signal.SIGTERM)
            await self._within(grace)
        for _ in range(_ROUNDS):
            self.signal(signal.SIGKILL)
            if not _members(self.pid):
                break
            await asyncio.sleep(0.01)
        await self._within(max(grace, 1.0))
        if self.exit is not None:
            self._drain()

    async def _within(self, seconds: float) -> None:
        if self.exit is None:
            await asyncio.wait([self._ended], timeout=seconds)

    def close(self) -> None:
        """End at once all that still runs, and give up id and descriptors. A second call does nothing."""
        if self._is_closed:
            return
        self.signal(signal.SIGKILL)
        self._is_closed = True
        if self._pidfd is not None:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None
        if self._source is not None:
            self._loop.remove_reader(self._source)
            os.close(self._source)
            self._source = None
        if not self._ended.done():
            self._ended.cancel()
        if self.exit is not None or _has_ended(self.pid):
            self._process.wait()
        else:  # the system has not ended it yet
            threading.Thread(target=self._process.wait, name="acp-session-reaper", daemon=True).start()
        self._guard.remove(self.pid)


def start(
    command: str, arguments: Sequence[str], environment: Mapping[str, str], folder: int
) -> tuple[subprocess.Popen[bytes], int]:
    """Start a command in an open directory; the process, and the descriptor that its output comes from.

    It has no input; output and errors come as one stream. Raises `OSError`, `ValueError` for a NUL character.
    """
    source, sink = os.pipe()
    # Python changes the directory in the child before it closes descriptors.
    by_name = sys.platform == "linux" and os.path.isdir(f"/proc/self/fd/{folder}")
    try:
        process = subprocess.Popen(  # noqa: S603
            [command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            env=dict(environment),
            cwd=f"/proc/self/fd/{folder}" if by_name else None,
            preexec_fn=None if by_name else functools.partial(os.fchdir, folder),
            start_new_session=True,
        )
    except BaseException:
        os.close(source)
        raise
    finally:
        os.close(sink)
    return process, source


def discard(process: subprocess.Popen[bytes], source: int) -> None:
    """End a process that nobody wants any more, with its group."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    os.close(source)


def _exit_of(pid: int) -> Exit:
    try:
        found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
    except ChildProcessError:  # somebody else has reaped it
        return Exit(None, None)
    if found is None:
        return Exit(None, None)
    if found.si_code == os.CLD_EXITED:
        return Exit(found.si_status, None)
    return Exit(None, _signal_name(found.si_status))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIGRTMIN+{number - signal.SIGRTMIN}" if hasattr(signal, "SIGRTMIN") else str(number)


def _has_ended(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
    except ChildProcessError:
        return True


def _members(session: int) -> list[int]:
    """The living processes of a POSIX session, on Linux; elsewhere the group is all that is known, and this is empty."""
    if sys.platform != "linux":
        return []
    found: list[int] = []
    with suppress(OSError):
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    fields = file.read(4096).rpartition(b") ")[2].split()
            except OSError:
                continue
            if len(fields) > 3 and int(fields[3]) == session and fields[0] not in (b"Z", b"X"):
                found.append(int(name))
    return found
