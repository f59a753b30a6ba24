"""Commands without input whose output is kept. The bindings' supervisor ends each with all its descendants."""

from __future__ import annotations

import asyncio
import functools
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from jsonrpc_bindings import supervisor
from jsonrpc_bindings.supervisor import Exit, Program
from jsonrpc_bindings.tail import Tail

_CHUNK: Final = 65536
_DRAINED: Final = 1 << 20
"""The maximum bytes that are read at once when a command has ended: more than a pipe holds."""


class Command:
    """A running or finished command, with the end of its output. All methods must be called in one event loop.

    `on_output` is called with its output, as text.
    """

    def __init__(self, program: Program, *, limit: int, grace: float, on_output: Callable[[str], object]) -> None:
        assert program.stdout is not None
        self.limit = limit
        self.tail = Tail(limit)
        self._grace = grace
        self._program = program
        self._source = program.stdout
        self._on_output = on_output
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[Exit] = self._loop.create_future()
        os.set_blocking(self._source.fileno(), False)
        self._loop.add_reader(self._source, self._read)
        program.watch(self._noticed)

    @property
    def exit(self) -> Exit | None:
        """The exit status; `None` while it runs."""
        return self._ended.result() if self._ended.done() and not self._ended.cancelled() else None

    async def wait(self) -> Exit | None:
        """Wait until the command has ended, and return its exit status; `None` if it was closed and could not be ended."""
        await asyncio.wait([self._ended])
        return self.exit

    def _read(self) -> bool:
        """Read the available output; return whether there may be more."""
        try:
            chunk = os.read(self._source.fileno(), _CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            chunk = b""
        text = self.tail.add(chunk, is_last=not chunk)
        if not chunk:
            self._close_source()
        if text:
            self._on_output(text)
        return bool(chunk)

    def _drain(self) -> None:
        for _ in range(_DRAINED // _CHUNK):
            if self._source.closed or not self._read():
                return

    def _close_source(self) -> None:
        if not self._source.closed:
            self._loop.remove_reader(self._source)
            self._source.close()

    def _noticed(self) -> None:
        if not self._ended.done():
            self._drain()
            self._ended.set_result(self._program.exit or Exit(None, None))

    async def kill(self) -> None:
        """Terminate the command and all its descendants, and kill them after `grace` seconds.

        Returns when it has ended, or cannot be ended.
        """
        for pause in self._program.ending(self._grace):
            await asyncio.sleep(pause)
        if self.exit is None:
            await asyncio.wait([self._ended], timeout=max(self._grace, 1.0))
        if self.exit is not None:
            self._drain()

    def close(self) -> None:
        """Kill all remaining processes at once and close the descriptors. A second call does nothing."""
        self._program.close()
        self._close_source()
        if not self._ended.done():
            self._ended.cancel()


def start(command: str, arguments: Sequence[str], environment: Mapping[str, str], folder: int | None = None) -> Program:
    """Start a command, optionally in an open directory.

    It has no input; its standard output and error are one stream, `Program.stdout`. Raises `OSError`, `ValueError` for a NUL character.
    """
    # Python changes the directory in the child before it closes descriptors.
    by_name = sys.platform == "linux" and os.path.isdir(f"/proc/self/fd/{folder}")
    return supervisor.start(
        [command, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        cwd=f"/proc/self/fd/{folder}" if by_name else None,
        preexec_fn=None if by_name or folder is None else functools.partial(os.fchdir, folder),
    )


def discard(program: Program) -> None:
    """Kill a program that is no longer needed, with all its descendants."""
    program.close()
    if program.stdout is not None:
        program.stdout.close()
