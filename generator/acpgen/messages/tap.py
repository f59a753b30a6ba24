"""A proxy on stdio between a client and an agent or server: all bytes pass unchanged, and a monitor observes them.

The agent does not outlive the client for long, nor this process: it is ended with all its processes some time after the end of the
client's input, or if this process is killed. In the foreground of a terminal it shares the process group, so that signals of keys reach
it; if the system has no information on processes, it then only sees the end of its input if this process is killed.

Copying never waits for the monitor or the recording. Data is queued for them and written on at once; if the queue is full, they are told
that they missed something, and continue from there. Standard error belongs to the agent.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, BinaryIO, Final

from acpgen import embedded
from acpgen.errors import Faults
from acpgen.messages.faults import NOT_STARTED
from acpgen.messages.recording import LONGEST, write_gap, write_record
from acpgen.messages.recording_file import Tape
from acpgen.messages.validators import mark_end

if TYPE_CHECKING:
    from types import FrameType

    from acp_monitor import Breach, Monitor
    from jsonrpc_bindings.framing import Headers
    from jsonrpc_bindings.supervisor import Program

CHUNK: Final = 65536
ROOM: Final = 64 << 20
"""The maximum number of queued bytes for the monitor, and the same for the recording."""

ACP_SIDES: Final = ("client", "agent")

GRACE: Final = 10.0
"""Seconds between the end of the client's input and the request to the agent to end."""

PATIENCE: Final = 5.0
"""Seconds between the request to end and the kill."""

FINISHING: Final = 60.0
"""Seconds for a listener to finish its queue at the end. The monitor may still be loading schemas on a busy machine."""

LINGER: Final = 1.0
"""Seconds to wait for the last output of an ended agent while another process holds its standard output."""

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The errors of a file that takes no more."""

PASSED_ON: Final = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGCONT")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes that one side sent, with the time; `None` stands for bytes that were dropped.

    `sender` is `client`, or `agent` for the command, whatever the protocol calls it.
    """

    sender: str
    data: bytes | None
    at: float


class Listener:
    """A queue with a limit in bytes, and the thread that empties it. `put` never blocks. `rest` is called whenever the queue is empty."""

    def __init__(
        self, name: str, take: Callable[[Chunk], None], room: int = ROOM, rest: Callable[[], None] = lambda: None
    ) -> None:
        self._waiting: deque[Chunk] = deque()
        self._ready = threading.Condition()
        self._room, self._size, self._closed = room, 0, False
        self._take, self._rest = take, rest
        self.missed = 0
        self.finished = self._dead = False
        self.reason = ""
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.thread.start()

    def put(self, chunk: Chunk) -> None:
        """Queue a chunk, or a mark in its place if there is no room."""
        with self._ready:
            if self._dead:
                return
            size = len(chunk.data or b"")
            if self._size + size > self._room:
                self.missed += size
                if not self._waiting or self._waiting[-1].data is not None:
                    self._waiting.append(Chunk(chunk.sender, None, chunk.at))
            else:
                self._size += size
                self._waiting.append(chunk)
            self._ready.notify()

    def close(self, patience: float) -> None:
        """Let the thread process the queue for up to `patience` seconds."""
        with self._ready:
            self._closed = True
            self._ready.notify()
        self.thread.join(patience)

    def _run(self) -> None:
        try:
            while (chunk := self._take_chunk()) is not None:
                self._take(chunk)
                if not self._waiting:
                    self._rest()
            self.finished = True
        except OSError as error:  # what it writes to is full, or gone
            self.reason = error.strerror or str(error)
        except Faults as faults:  # the protocol that the monitor was to judge by
            self.reason = "; ".join(map(str, faults.faults))
        finally:  # what else a listener raises ends it alone, and is shown by threading's hook
            with self._ready:
                self._dead = True
                self._waiting.clear()

    def _take_chunk(self) -> Chunk | None:
        with self._ready:
            while not self._waiting and not self._closed:
                self._ready.wait()
            if not self._waiting:
                return None
            chunk = self._waiting.popleft()
            self._size -= len(chunk.data or b"")
            return chunk


class Splitter:
    """Splits the chunks of each side into messages: one per line, or one after each header with its length, if a side starts with a
    header.

    A sentence stands for dropped messages. After a gap, the rest of the broken line is skipped; with headers, nothing can be read from
    there on.
    """

    def __init__(self, longest: int = LONGEST, *, keeps_blank: bool = False) -> None:
        self._keeps_blank = keeps_blank
        self._parts: dict[str, bytearray] = {}
        self._broken: set[str] = set()
        self._framed: dict[str, Headers | None] = {}
        self._longest = longest

    def split_messages(self, chunk: Chunk) -> Generator[tuple[str, bytes | str]]:
        """Yield the messages that a chunk completes; blank lines only if they are kept."""
        if chunk.data is None:
            self._parts.clear()
            self._broken = {"client", "agent"}
            yield chunk.sender, _MISSED
            yield from ((sender, _LOST.format(sender)) for sender, headers in self._framed.items() if headers)
            return
        buffer = self._parts.setdefault(chunk.sender, bytearray())
        buffer += chunk.data
        if chunk.sender not in self._framed and not self._is_told_apart(chunk.sender, buffer):
            return
        headers = self._framed.get(chunk.sender)
        yield from (
            self._split_lines(chunk, buffer) if headers is None else self._read_body(chunk.sender, buffer, headers)
        )

    def flush_rest(self) -> Generator[tuple[str, bytes | str]]:
        """Yield what remains at the end without a line end."""
        for sender, buffer in self._parts.items():
            if sender in self._broken:
                continue
            if headers := self._framed.get(sender):
                yield from ((sender, f"{frame!s} of the {sender}") for frame in headers.end())
            elif buffer.strip():
                yield sender, bytes(buffer)

    def _is_told_apart(self, sender: str, buffer: bytearray) -> bool:
        """Whether there is enough data to distinguish a header from a line."""
        begin = bytes(buffer[: max(map(len, _NAMES))]).lower()
        if any(begin.startswith(name) for name in _NAMES):
            self._framed[sender] = embedded.framing.Headers(self._longest)
        elif any(name.startswith(begin) for name in _NAMES):
            return False
        else:
            self._framed[sender] = None
        return True

    def _read_body(self, sender: str, buffer: bytearray, headers: Headers) -> Generator[tuple[str, bytes | str]]:
        data = bytes(buffer)
        buffer.clear()
        if sender in self._broken:
            return
        for frame in headers.feed(data):
            if isinstance(frame, bytes):
                yield sender, frame
            else:
                if frame.is_last:
                    self._broken.add(sender)
                yield sender, f"{frame}{_AND_LOST.format(sender) if frame.is_last else ''}"

    def _split_lines(self, chunk: Chunk, buffer: bytearray) -> Generator[tuple[str, bytes | str]]:
        if chunk.data is not None and b"\n" not in chunk.data and len(buffer) <= self._longest:
            return
        *whole, incomplete = buffer.split(b"\n")
        for line in whole:
            if chunk.sender in self._broken:
                self._broken.discard(chunk.sender)
            elif self._keeps_blank or line.strip():
                yield chunk.sender, bytes(line)
        if len(incomplete) > self._longest:
            incomplete = bytearray()
            if chunk.sender not in self._broken:
                self._broken.add(chunk.sender)
                yield chunk.sender, _MISSED
        self._parts[chunk.sender] = incomplete


_NAMES: Final = (b"content-length:", b"content-type:")
_MISSED: Final = "the monitor fell behind, or a line was too long: some messages were missed"
_LOST: Final = "the headers of the {} were lost with it: nothing that follows from there is read"
_AND_LOST: Final = ": nothing that follows from the {} is read"


class Watcher:
    """Feeds a monitor, created for the first message, and reports its findings."""

    def __init__(self, make: Callable[[], Monitor], report: Callable[[Breach], None]) -> None:
        self._make, self._report = make, report
        self._monitor: Monitor | None = None
        self._splitter = Splitter(keeps_blank=True)
        self.line = 1
        """The next line, as a recording counts: from 1, blank lines and gaps too."""
        self.lost = False
        """Whether some of what was said was not judged."""

    def take(self, chunk: Chunk) -> None:
        """Observe the messages that a chunk completes."""
        if self._monitor is None:
            self._monitor = self._make()
        for sender, line in self._splitter.split_messages(chunk):
            if isinstance(line, str):
                self._lose(self._monitor, line)
            elif line.strip():
                self._observe(self._monitor, sender, line)
            else:
                self.line += 1

    def finish(self) -> None:
        """Observe the rest at the end."""
        if self._monitor is None:
            return
        for sender, line in self._splitter.flush_rest():
            if isinstance(line, str):
                self._lose(self._monitor, line)
            else:
                self._observe(self._monitor, sender, line)
        self._tell(self._monitor.finish())

    def _observe(self, monitor: Monitor, sender: str, line: bytes) -> None:
        self._tell(monitor.observe(_name_program(sender, monitor.sides), line, index=self.line))
        self.line += 1

    def _lose(self, monitor: Monitor, sentence: str) -> None:
        self.lost = True
        self._tell(monitor.lose(sentence))
        self.line += 1

    def _tell(self, breaches: Sequence[Breach]) -> None:
        for breach in breaches:
            self._report(breach)


def _name_program(sender: str, sides: tuple[str, str]) -> str:
    """The protocol's name of a sender."""
    return sides[ACP_SIDES.index(sender)]


def join_whole(_: str, line: bytes) -> bytes:
    """A line unchanged: the default without redaction."""
    return line


class Recorder:
    """Writes a recording line by line. `sides` is called for the first line.

    `redact` gets each line with its sender, "client" or "agent" whatever the protocol calls them, and returns what is recorded.
    """

    def __init__(
        self,
        file: BinaryIO | Tape,
        sides: Callable[[], tuple[str, str]] = lambda: ACP_SIDES,
        redact: Callable[[str, bytes], bytes] = join_whole,
    ) -> None:
        self._file, self._sides, self._redact = file, sides, redact
        self._splitter = Splitter(keeps_blank=True)

    def take(self, chunk: Chunk) -> None:
        """Write the messages that a chunk completes."""
        at = datetime.fromtimestamp(chunk.at, UTC).isoformat(timespec="milliseconds")
        for sender, line in self._splitter.split_messages(chunk):
            self._file.write(self._record(sender, line, at))

    def flush(self) -> None:
        """Flush what is written so far, so that it can be read and survives the process."""
        self._file.flush()

    def finish(self) -> None:
        """Write the rest at the end."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        for sender, line in self._splitter.flush_rest():
            self._file.write(self._record(sender, line, at))
        self._file.flush()

    def _record(self, sender: str, line: bytes | str, at: str) -> bytes:
        name = _name_program(sender, self._sides())
        return write_gap(name, at) if isinstance(line, str) else write_record(name, self._redact(sender, line), at)


def tap(
    command: Sequence[str],
    make: Callable[[], Monitor],
    report: Callable[[Breach], None],
    say: Callable[[str], None],
    record: Tape | None = None,
    room: int = ROOM,
    sides: Callable[[], tuple[str, str]] = lambda: ACP_SIDES,
    grace: float = GRACE,
    redact: Callable[[str, bytes], bytes] = join_whole,
) -> int:
    """Run `command` as the agent of the client on standard input and output; return its exit code, 128 and more for a signal. The code
    is 1 instead of 0 if not everything was judged or passed on.

    `report` gets each breach when it is found, `say` other information for the user; `sides` are the names of client and command in a
    recording. `grace` seconds after the end of the client's input, the command and its processes are asked to end, and then killed.
    Raises `Faults` if the command does not start.
    """
    group = os.name == "posix" and not _run_in_foreground()  # in the foreground keys that signal must reach it
    agent = _start(command, "g" if group else "")
    sys.setswitchinterval(0.0005)  # a thread that copies does not wait long for one that judges
    watcher, recorder = Watcher(make, report), Recorder(record, sides, redact) if record is not None else None
    listeners = [Listener("monitor", watcher.take, room)]
    if recorder is not None:
        listeners.append(Listener("recording", recorder.take, room, recorder.flush))
    with _pass_signals_on(agent) as stopped:
        assert agent.stdin is not None
        assert agent.stdout is not None
        upstream = _Copy("client", 0, agent.stdin.fileno(), listeners)
        downstream = _Copy("agent", agent.stdout.fileno(), 1, listeners)
        for copy in (upstream, downstream):
            copy.thread.start()
        ending = _wait(agent, upstream, downstream, grace, stopped)
        agent.end(PATIENCE)  # what it has started, and left behind
    if ending:
        say(ending)
    judging = ""
    for listener, finish in zip(listeners, (watcher.finish, recorder.finish if recorder else None), strict=False):
        listener.close(FINISHING)
        if listener.missed:
            say(f"The {listener.thread.name} fell behind: {listener.missed} bytes are not in it.")
        reason = listener.reason or ("" if listener.finished else "it failed or was too slow")
        if finish is not None and not reason:
            try:
                finish()
            except OSError as error:
                reason = error.strerror or str(error)
        if reason:
            say(f"The {listener.thread.name} ended early: {reason}. The messages themselves were passed on.")
            judging = reason if finish == watcher.finish else judging
    if downstream.reason:
        say(f"Not all that came from the agent was passed on: {downstream.reason}.")
    if judging:
        with contextlib.suppress(OSError):  # the report may be what failed
            report(mark_end(judging, watcher.line))
    code = agent.code or 0
    return (code if code >= 0 else 128 - code) or int(bool(judging or downstream.reason) or watcher.lost)


class _Copy:
    """One direction: reads available data, queues it for the listeners, and writes it on."""

    def __init__(self, sender: str, source: int, target: int, listeners: Sequence[Listener]) -> None:
        self.sender, self.source, self.target, self.listeners = sender, source, target, listeners
        self.broken = False
        self.reason = ""
        """Why data was not passed on; empty if it was, or if nobody reads it any more."""
        self.thread = threading.Thread(target=self._run, name=f"from the {sender}", daemon=True)

    def _run(self) -> None:
        try:
            while data := os.read(self.source, CHUNK):
                for listener in self.listeners:
                    listener.put(Chunk(self.sender, data, time.time()))
                view = memoryview(data)
                while view:
                    view = view[os.write(self.target, view) :]
        except OSError as error:  # the reader is gone, its disk is full, or the writer's end was torn off
            self.broken = True
            self.reason = str(error.strerror) if error.errno in _FULL else ""
        for end in (self.source, self.target) if self.broken else (self.target,):
            with contextlib.suppress(OSError):
                _close_stream(end)


def _close_stream(end: int) -> None:
    """Close one end of a pipe, so that the holder of the other end notices; its descriptor stays reserved."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, end, inheritable=False)
    os.close(nothing)


def _start(command: Sequence[str], leads: str) -> Program:
    try:
        # The command is the user's own, given for exactly this.
        return embedded.supervisor.start(command, leads=leads, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise Faults([NOT_STARTED(at=command[0], reason=str(reason))]) from None


def _wait(agent: Program, upstream: _Copy, downstream: _Copy, grace: float, stopped: threading.Event) -> str:
    """Wait until the agent has ended and its output is passed on; returns a sentence if it had to be ended.

    An agent whose client has ended its input, or no longer reads, is asked to end after `grace` seconds, and then killed; so is one that
    ignores a signal to end.
    """
    grace_start: float | None = None
    reason = ""
    while not agent.wait(0.05):
        # An agent that does not read leaves the copy to it stuck, so that alone its source shows that the client has ended.
        if grace_start is None and (
            stopped.is_set() or downstream.broken or not upstream.thread.is_alive() or _is_torn(upstream.source)
        ):
            grace_start = time.monotonic()
        if grace_start is not None and time.monotonic() - grace_start > grace:
            since = "a signal to end" if stopped.is_set() else "its client's input had ended"
            reason = f"The command still ran {grace:g} seconds after {since}, and was ended (--grace)."
            for pause in agent.ending(PATIENCE):
                time.sleep(pause)
            break
    downstream.thread.join(LINGER)
    return reason


def _is_torn(end: int) -> bool:
    """Whether nobody holds the other end of a pipe."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(end, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


@contextlib.contextmanager
def _pass_signals_on(agent: Program) -> Generator[threading.Event]:
    """Pass signals to the agent. Ctrl-C reaches it directly in the foreground of the terminal.

    The yielded event is set when a signal asks to end.
    """
    stopped = threading.Event()

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if number in (signal.SIGTERM, getattr(signal, "SIGHUP", 0)):
            stopped.set()
        if number in (signal.SIGINT, getattr(signal, "SIGQUIT", 0)) and _run_in_foreground():
            return
        agent.signal(number)

    before: dict[int, object] = {}
    if threading.current_thread() is threading.main_thread():
        for name in PASSED_ON:
            number = getattr(signal, name, None)
            if number is not None:
                before[number] = signal.signal(number, pass_on)
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]


def _run_in_foreground() -> bool:
    """Whether this process is in the foreground of a terminal, so that signals of keys reach the agent too."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | getattr(os, "O_NOCTTY", 0))
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def end(code: int) -> None:
    """Exit the process with this code, even if a thread still reads standard input."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
