"""The standard input and output of this process as a transport."""

from __future__ import annotations

import asyncio
import errno
import os
import sys

from .framing import Framing
from .pipes import NEEDS_THREADS, Pipes


def open_standard_streams() -> None:
    """Open the null device in place of standard streams that are closed: another file would get their descriptors.

    Call it before an event loop begins, which takes descriptors for itself.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the system gives the lowest free number
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115 - for good


class StandardStreams(Pipes):
    """The standard input and output of this process as a transport.

    While it is open, other output to standard output goes to standard error, and no other code can read the input.
    """

    def __init__(self, framing: Framing, grace: float) -> None:
        super().__init__(framing)
        self._grace = grace
        self._saved: tuple[int, int] | None = None

    @classmethod
    async def open(cls, framing: Framing, *, grace: float = 2.0, threads: bool = NEEDS_THREADS) -> StandardStreams:
        """Take over standard input and output; `close` restores them. `threads`: read and write in threads, not in the event loop.

        Raises `OSError` if one of them was closed when the process began.
        """
        if sys.stdin is None or sys.stdout is None:  # its descriptor may be that of another file
            raise OSError(errno.EBADF, "standard input or standard output is closed")
        transport = cls(framing, grace)
        try:
            await transport._open(*transport._take(), threads=threads)
        except BaseException:
            await transport.close()
            raise
        return transport

    async def close(self) -> None:
        """See `transport.Transport`."""
        try:
            if self._sink is not None:
                self._sink.close()
                async with asyncio.timeout(self._grace):
                    await self._output.lost.wait()
        except TimeoutError:
            pass  # the peer does not read what was left
        finally:
            self._release()
            self._restore()
        await asyncio.sleep(0)  # the loop lets go of the pipes

    def _take(self) -> tuple[int, int]:
        sys.stdout.flush()
        self._saved = os.dup(0), os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        return self._saved

    def _restore(self) -> None:
        if self._saved is None:
            return
        sys.stdout.flush()
        for number, duplicate in enumerate(self._saved):
            os.dup2(duplicate, number)
            os.close(duplicate)
        self._saved = None
