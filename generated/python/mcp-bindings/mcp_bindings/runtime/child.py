"""A child process as the peer: its standard input and output carry the messages."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from .framing import Framing
from .pipes import Piped


class Child(Piped, asyncio.SubprocessProtocol):
    """A child process on the other end of its standard input and output; its standard error is ours."""

    def __init__(self, framing: Framing, grace: float) -> None:
        super().__init__(framing)
        self._grace = grace
        self._process: asyncio.SubprocessTransport | None = None
        self._exited = asyncio.Event()
        self._closing: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        framing: Framing,
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        grace: float = 2.0,
    ) -> Child:
        """Start a command. Raises `OSError` where it cannot be started."""
        child = cls(framing, grace)
        loop = asyncio.get_running_loop()
        await loop.subprocess_exec(
            lambda: child,
            *command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None,
            cwd=cwd,
            env=env,
        )
        return child

    @property
    def pid(self) -> int:
        """The id of the process."""
        assert self._process is not None
        return self._process.get_pid()

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; `None` while it runs."""
        assert self._process is not None
        return self._process.get_returncode()

    # --- what the event loop tells ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The program runs."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._process = transport
        stdin: Any = transport.get_pipe_transport(0)
        output: Any = transport.get_pipe_transport(1)
        self._incoming.pause, self._incoming.resume = (
            output.pause_reading,
            output.resume_reading,
        )
        self._outgoing.open(stdin)

    def pipe_data_received(
        self, fd: int, data: bytes | str
    ) -> None:  # only one pipe is read
        """The program wrote."""
        assert isinstance(data, bytes)
        self._incoming.feed(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """A pipe of the program is closed."""
        if fd == 0:
            self._outgoing.lose()
        else:
            self._incoming.end()

    def pause_writing(self) -> None:
        """The program reads more slowly than it is written to."""
        self._outgoing.fill()

    def resume_writing(self) -> None:
        """The program has read enough to be written to again."""
        self._outgoing.empty()

    def process_exited(self) -> None:
        """The program has ended."""
        self._exited.set()

    # --- the transport ---

    async def close(self) -> None:
        """Close the child's input, give it time to end, then terminate it, then kill it. Whoever cancels this hurries it."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        cancelled: asyncio.CancelledError | None = None
        while not self._closing.done():
            try:
                await asyncio.shield(self._closing)
            except asyncio.CancelledError as error:
                cancelled = error
                self._hurry.set()
        if cancelled is not None:
            raise cancelled

    async def _close(self) -> None:
        assert self._process is not None
        stdin: Any = self._process.get_pipe_transport(0)
        stdin.close()
        if not await self._has_exited():
            self._signal(signal.SIGTERM)
            if not await self._has_exited():
                self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        await self._exited.wait()
        if not self._outgoing.is_lost:
            stdin.abort()
        self._incoming.end()
        self._process.close()
        await asyncio.sleep(0)  # the loop lets go of the pipes

    async def _has_exited(self) -> bool:
        """Whether it ends by itself in the time that it has."""
        if self._hurry.is_set() and not self._exited.is_set():
            return False
        waits = [
            asyncio.ensure_future(event.wait()) for event in (self._exited, self._hurry)
        ]
        try:
            await asyncio.wait(
                waits, timeout=self._grace, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
        return self._exited.is_set()

    def _signal(self, number: int) -> None:
        assert self._process is not None
        try:
            self._process.send_signal(number)
        except ProcessLookupError:
            return
