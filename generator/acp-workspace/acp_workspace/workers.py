"""A thread pool for file access, with a limit on pending requests.

The event loop's own threads stay free for others, and pending requests hold no more memory than the limits allow.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final, TypeVar

T = TypeVar("T")

WORKERS: Final = 4
"""The number of threads, and so of files that are read or written at the same time."""
MOST_WAITING: Final = 4096
"""The maximum number of requests that wait for a thread or run in one."""
MOST_BYTES: Final = 256 * 1024 * 1024
"""The maximum total bytes of content of such requests."""


class Stopped(Exception):
    """The request was cancelled before anything was changed."""


class Busy(Exception):
    """Too many requests are pending."""


class Workers:
    """A pool of threads. It ends with `close`, or when it is garbage collected."""

    def __init__(self, count: int = WORKERS, *, most_waiting: int = MOST_WAITING, most_bytes: int = MOST_BYTES) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="acp-session-files")
        self._most_waiting = most_waiting
        self._most_bytes = most_bytes
        self._waiting = 0
        self._bytes = 0

    async def run(self, work: Callable[[Callable[[], None]], T], *, weight: int = 0) -> T:
        """Run `work` in a thread.

        On cancellation, the function passed to `work` raises `Stopped`, and this call waits until the work has ended.

        `weight` is how many bytes the request holds meanwhile. Raises `Busy` before anything starts, and what `work` raises.
        """
        if self._waiting >= self._most_waiting or self._bytes + weight > self._most_bytes:
            raise Busy
        stop = threading.Event()

        def check() -> None:
            if stop.is_set():
                raise Stopped

        self._waiting += 1
        self._bytes += weight
        try:
            task = asyncio.get_running_loop().run_in_executor(self._pool, work, check)
            try:
                return await asyncio.shield(task)
            except asyncio.CancelledError:
                stop.set()
                while not task.done():
                    with suppress(asyncio.CancelledError):
                        await asyncio.wait([task])
                if not task.cancelled():
                    task.exception()  # looked at, so that nobody complains
                raise
        finally:
            self._waiting -= 1
            self._bytes -= weight

    def close(self) -> None:
        """Stop the threads after the current work. Nothing can be run afterwards."""
        self._pool.shutdown(wait=False)
