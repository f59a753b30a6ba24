"""A child process as the peer: its standard input and output carry the messages."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from .failures import ConnectionClosed
from .framing import Framing
from .pipes import Pipes
from .supervisor import Exit, Program, Stream, start

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
        self._closing = asyncio.Lock()
        self._is_closing = self._is_ended = False
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
            child._end()
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
        if message is None and not self._is_closing:
            await self._wait_for_exit(_ENDING)
            exit_ = self.exit
            if exit_ is None:
                raise ConnectionClosed("it has closed its standard output", stderr=self.errors)
            for _ in range(50):  # what it wrote last may be under way; a process that it started may hold the other end
                if not self._program.has_errors_left:
                    break
                await asyncio.sleep(0.01)
            raise self._describe_end(exit_)
        return message

    def send(self, message: bytes) -> None:
        """See `transport.Transport`."""
        try:
            super().send(message)
        except ConnectionClosed:
            if self.exit is None:
                raise
            raise self._describe_end(self.exit) from None

    def _describe_end(self, exit_: Exit) -> ConnectionClosed:
        message = f"it was ended by {exit_.signal}" if exit_.signal else f"its exit code is {exit_.code}"
        last = self.errors.rstrip().rpartition("\n")[2].strip()[:_LONGEST]
        excerpt = f", and its standard error ends with {last!r}" if last and exit_.code != 0 else ""
        return ConnectionClosed(message + excerpt, exit_code=exit_.code, signal=exit_.signal, stderr=self.errors)

    async def close(self) -> None:
        """Close the input of the child, wait for it to exit, then terminate it with all processes that it started, then kill the rest.

        Cancelling this call skips the waiting.
        """
        self._is_closing = True
        try:
            async with self._closing:
                if self._sink is not None:
                    self._sink.close()
                await self._wait_for_exit(self._grace)
                for pause in self._program.ending(self._grace):
                    await asyncio.sleep(pause)
                    if self._is_ended:  # by another call, which was cancelled
                        break
        finally:
            self._end()
        await asyncio.sleep(0)  # the loop lets go of the pipes

    def _end(self) -> None:
        if not self._is_ended:
            self._is_ended = True
            self._program.close()
            self._release()

    async def _wait_for_exit(self, seconds: float) -> None:
        """Wait until the process has ended, at most this many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._exited.wait()
