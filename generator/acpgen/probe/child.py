"""The program under test: supervised, read and written by threads."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from socket import SHUT_WR, socket
from typing import Final

from acpgen import embedded
from acpgen.errors import Faults
from acpgen.messages.faults import NOT_STARTED

LONGEST: Final = 32 << 20
"""The maximum number of bytes of a line of the program."""

MOST: Final = 256 << 20
"""Bytes that are read of one program. Of a program that writes more, the rest is not read."""

KEPT: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TZ", "SYSTEMROOT", "COMSPEC", "PATHEXT", "VIRTUAL_ENV")
"""Environment variables that the program inherits. Others must be named."""

_CHUNK: Final = 65536
_LINE: Final = 512
"""Bytes that a line costs in addition to its own, however short it is."""


def make_environment(scratch: Path, names: Iterable[str] = (), *, keep_home: bool = False) -> dict[str, str]:
    """The environment of the program: some inherited variables, those that are named (`NAME` or `NAME=VALUE`), and a home in the scratch
    folder.
    """
    variables = {name: os.environ[name] for name in KEPT if name in os.environ}
    home = scratch / "home"
    if keep_home:
        variables |= {
            name: os.environ[name] for name in ("HOME", "USERPROFILE", "USER", "LOGNAME") if name in os.environ
        }
    else:
        variables |= {"HOME": str(home), "USERPROFILE": str(home)}
        variables |= {
            f"XDG_{kind}_HOME": str(home / f".{kind.lower()}") for kind in ("CONFIG", "CACHE", "DATA", "STATE")
        }
    variables["TMPDIR"] = str(scratch / "tmp")
    for name in names:
        key, equals, value = name.partition("=")
        if equals:
            variables[key] = value
        elif key in os.environ:
            variables[key] = os.environ[key]
    return variables


class Child:
    """A running program. Lines that it writes are taken from a queue; what is sent to it is written by a thread, so that nobody waits
    for a program that does not read.
    """

    def __init__(self, command: Sequence[str], variables: Mapping[str, str], join: Callable[[], socket] | None = None):
        """Start the program. `join` returns the socket to talk over, instead of its standard streams, once it runs.

        Raises `Faults` if the system does not start it.
        """
        stream = subprocess.PIPE if join is None else subprocess.DEVNULL
        self._socket: socket | None = None
        try:
            # The command is the user's own, given for exactly this.
            self._program = embedded.supervisor.start(
                command, stdin=stream, stdout=stream, stderr=subprocess.PIPE, keep_errors=True, env=variables
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise Faults([NOT_STARTED(at=command[0], reason=str(reason))]) from None
        self._lines: SimpleQueue[tuple[float, bytes | None]] = SimpleQueue()
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()
        self.has_ended = False
        """Whether its last line was taken from the queue."""
        self._excess = ""
        self._threads: list[threading.Thread] = []
        if join is None:
            assert self._program.stdin is not None
            assert self._program.stdout is not None
            streams = self._program.stdout.fileno(), self._program.stdin.fileno()
        else:
            try:
                self._socket = join()
            except OSError:  # nobody came
                self.has_ended = True
                return
            streams = self._socket.fileno(), self._socket.fileno()
        self._threads.append(self._start_thread(self._read, streams[0]))
        self._threads.append(self._start_thread(self._write, streams[1]))

    @property
    def errors(self) -> str:
        """The end of its standard error."""
        return self._program.errors

    def write(self, data: bytes) -> None:
        """Queue bytes to be written to it."""
        self._outbox.put(data)

    def read_line(self, seconds: float) -> tuple[float, bytes] | None:
        """Its next line without the line end, and the time of arrival; `None` after a timeout or at the end."""
        if self.has_ended:
            return None
        try:
            at, line = self._lines.get(timeout=seconds) if seconds > 0 else self._lines.get_nowait()
        except Empty:
            return None
        if line is None:
            self.has_ended = True
            return None
        return at, line

    def close_input(self) -> None:
        """Close its standard input once everything is written."""
        self._outbox.put(None)

    def wait(self, seconds: float) -> int | None:
        """Its exit code, if it ends in time."""
        self._program.wait(seconds)
        return self._program.code

    def describe_end(self) -> str:
        """Why nothing more can be read of it, as the verb of a sentence."""
        if self._excess:
            return self._excess
        code = self.wait(1.0)
        if code is None:
            return "closed its standard output"
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def end(self, patience: float = 1.0) -> None:
        """End it and all processes that it has started, first gracefully, then by force."""
        self.close_input()
        self._program.end(patience)
        for thread in self._threads:
            thread.join(0.5)
        for stream in (self._socket, self._program.stdin, self._program.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _start_thread(self, work: Callable[[int], None], end: int) -> threading.Thread:
        thread = threading.Thread(target=work, args=(end,), daemon=True)
        thread.start()
        return thread

    def _read(self, end: int) -> None:
        buffer, total = bytearray(), 0
        try:
            while data := os.read(end, _CHUNK):
                total += len(data) + _LINE * data.count(b"\n")
                buffer += data
                if b"\n" in data:
                    *lines, buffer = buffer.split(b"\n")
                    for line in lines:
                        self._lines.put((time.time(), bytes(line)))
                if len(buffer) > LONGEST or total > MOST:
                    subject, limit = ("a line of ", LONGEST) if len(buffer) > LONGEST else ("", MOST)
                    self._excess = f"sent {subject}more than {limit >> 20} MiB"
                    break
        except OSError:
            pass  # its end was torn off
        if buffer:
            self._lines.put((time.time(), bytes(buffer)))
        self._lines.put((time.time(), None))

    def _write(self, end: int) -> None:
        with contextlib.suppress(OSError):
            while (data := self._outbox.get()) is not None:
                view = memoryview(data)
                while view:
                    view = view[os.write(end, view) :]
        with contextlib.suppress(OSError):
            if self._socket is not None:
                self._socket.shutdown(SHUT_WR)
            elif self._program.stdin is not None:
                self._program.stdin.close()
