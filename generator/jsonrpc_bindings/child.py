"""A child process as the peer: its standard input and output carry the messages."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Final

from .failures import ConnectionClosed
from .framing import Framing
from .pipes import Pipes
from .supervisor import Exit, Program, Stream, start
from .transport import finish

_ENDING: Final = 0.5
"""Seconds to wait for the exit code of a child that has closed its output."""


_LONGEST: Final = 200
"""The maximum number of characters that an error shows of the last line of standard error."""


class Child(Pipes):
    """A child process as the peer, over its standard input and output. The end of its standard error is kept."""

    def __init__(self, framing: Framing, grace: float, program: Program) -> None:
        super().__init__(framing)
        self._grace = grace
        self._program = program
        self._exited = asyncio.Event()
        self._closing: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        program.watch(self._exited.set)

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        framing: Framing,
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        stderr: Stream = None,
        grace: float = 2.0,
    ) -> Child:
        """Start a command.

        `stderr` is where its standard error is passed on to, as in `subprocess`: to that of this process for `None`, nowhere for `PIPE`
        and `DEVNULL`. Raises `OSError` if the command cannot be started, and `ValueError` for `STDOUT`, which carries the messages.
        """
        pipe = subprocess.PIPE
        program = start(command, stdin=pipe, stdout=pipe, stderr=stderr, keep_errors=True, cwd=cwd, env=env)
        assert program.stdin is not None and program.stdout is not None
        child = cls(framing, grace, program)
        try:
            with program.stdin, program.stdout:
                await child._open(program.stdout.fileno(), program.stdin.fileno())
        except BaseException:
            child._hurry.set()
            await child.close()
            raise
        return child

    @property
    def pid(self) -> int:
        """The process id."""
        return self._program.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; `None` while it runs."""
        return self._program.code

    @property
    def exit(self) -> Exit | None:
        """How the process ended; `None` while it runs."""
        return self._program.exit

    @property
    def errors(self) -> str:
        """The end of the standard error of the process."""
        return self._program.errors

    async def receive(self) -> bytes | None:
        """See `transport.Transport`. Raises `ConnectionClosed` when the process has ended or has closed its output."""
        message = await super().receive()
        if message is None and self._closing is None:
            await self._wait(self._exited, _ENDING)
            for _ in range(10):  # what it wrote last may be under way; a process that it started may hold the other end
                if self.exit is None or not self._program.has_errors_left:
                    break
                await asyncio.sleep(0.01)
            if self.exit is not None:
                raise self._ended(self.exit)
            raise ConnectionClosed("it has closed its standard output", stderr=self.errors)
        return message

    def send(self, message: bytes) -> None:
        """See `transport.Transport`."""
        try:
            super().send(message)
        except ConnectionClosed:
            if self.exit is None:
                raise
            raise self._ended(self.exit) from None

    def _ended(self, exit_: Exit) -> ConnectionClosed:
        message = f"it was ended by {exit_.signal}" if exit_.signal else f"its exit code is {exit_.code}"
        last = self.errors.rstrip().rpartition("\n")[2].strip()[:_LONGEST]
        excerpt = f", and its standard error ends with {last!r}" if last and exit_.code != 0 else ""
        return ConnectionClosed(message + excerpt, exit_code=exit_.code, signal=exit_.signal, stderr=self.errors)

    async def close(self) -> None:
        """Close the input of the child, wait for it to exit, then terminate it with all processes that it started, then kill the rest.

        Cancelling this call skips the waiting.
        """
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await finish(self._closing, self._hurry.set)

    async def _close(self) -> None:
        if self._sink is not None:
            self._sink.close()
        await self._wait(self._exited, self._grace)
        for pause in self._program.ending(0 if self._hurry.is_set() else self._grace):
            await self._wait(self._hurry, pause)
            if self._hurry.is_set():
                break
        self._program.close()
        self._release()
        await asyncio.sleep(0)  # the loop lets go of the pipes

    async def _wait(self, event: asyncio.Event, seconds: float) -> None:
        """Wait for an event, at most this many seconds, and not at all once closing is hurried."""
        if self._hurry.is_set() or event.is_set():
            return
        waits = [asyncio.ensure_future(one.wait()) for one in {event, self._hurry}]
        try:
            await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
