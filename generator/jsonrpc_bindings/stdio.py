"""This process's own standard input and output as a transport."""

from __future__ import annotations

import asyncio
import os
import sys

from .framing import Framing
from .pipes import Piped
from .streams import NEEDS_THREADS, Sink, Source, sink, source


class Own(Piped):
    """Standard input and output of this process. While they are open, what programs print goes to standard error, and nobody else
    reads the input.
    """

    def __init__(self, framing: Framing, grace: float) -> None:
        super().__init__(framing)
        self._grace = grace
        self._lost = asyncio.Event()
        self._source: Source | None = None
        self._sink: Sink | None = None
        self._saved: tuple[int, int] | None = None

    @classmethod
    async def open(cls, framing: Framing, *, grace: float = 2.0, threads: bool = NEEDS_THREADS) -> Own:
        """Take standard input and output over; `close` gives them back. `threads`: read and write in threads, not in the event loop."""
        own = cls(framing, grace)
        own._take()
        try:
            own._source = await source(os.dup(own._inner[0]), own._incoming, threads=threads)
            own._sink = await sink(os.dup(own._inner[1]), own._outgoing, own._lost, threads=threads)
        except BaseException:
            await own.close()
            raise
        own._incoming.pause, own._incoming.resume = own._source.pause_reading, own._source.resume_reading
        own._outgoing.open(own._sink)
        return own

    @property
    def _inner(self) -> tuple[int, int]:
        assert self._saved is not None
        return self._saved

    async def close(self) -> None:
        """See `transport.Transport`."""
        source, sink, self._source, self._sink = self._source, self._sink, None, None
        try:
            if sink is not None:
                sink.close()
                async with asyncio.timeout(self._grace):
                    await self._lost.wait()
        except TimeoutError:
            pass  # the peer does not read what was left
        finally:
            if sink is not None and not self._lost.is_set():
                sink.abort()
            if source is not None:
                source.close()
            self._incoming.end()
            self._outgoing.lose()
            self._give_back()
        await asyncio.sleep(0)  # the loop lets go of the pipes

    def _take(self) -> None:
        sys.stdout.flush()
        self._saved = os.dup(0), os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)

    def _give_back(self) -> None:
        if self._saved is None:
            return
        sys.stdout.flush()
        for number, saved in enumerate(self._saved):
            os.dup2(saved, number)
            os.close(saved)
        self._saved = None
