"""Judge many recordings on all processors of this machine."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Final, TypeAlias

from acpgen.recordings.criteria import Standard
from acpgen.recordings.recording_result import judge
from acpgen.recordings.stores import Recording
from acpgen.recordings.verdict import Verdict

AHEAD: Final = 16
"""The number of recordings per process that are judged or queued while an earlier one is not finished. Verdicts come in order."""

_ENDED: Final = "the process that judged it was ended, perhaps for lack of memory"

_SAFE_PATH: Final = "PYTHONSAFEPATH"

_Work: TypeAlias = Callable[[Recording, Standard], Verdict]


def count_processors() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def judge_all(
    recordings: Iterable[Recording], standard: Standard, jobs: int, work: _Work = judge
) -> Generator[tuple[Recording, Verdict]]:
    """Yield each recording with its verdict, in order. With one job this process does the work, else that many processes.

    A killed process costs only the verdict of its recording, which says so. Raises `Faults` like `judge`.
    """
    if jobs == 1:
        for recording in recordings:
            yield recording, work(recording, standard)
        return
    waiting = iter(recordings)
    again: deque[Recording] = deque()
    while True:
        pool = _make_pool(jobs)
        running: deque[tuple[Recording, Future[Verdict]]] = deque()
        try:
            for recording in _judge_each(again, waiting):
                running.append((recording, _submit(pool, again, work, recording, standard)))
                if len(running) >= jobs * AHEAD:
                    yield running[0][0], running[0][1].result()
                    running.popleft()
            while running:
                yield running[0][0], running[0][1].result()
                running.popleft()
            return
        except BrokenProcessPool:
            again.extendleft(reversed([recording for recording, _ in running]))
        finally:
            pool.shutdown(cancel_futures=True)
        first = again.popleft()
        # One of them ends its process: each in turn has one of its own.
        yield first, _judge_alone(first, standard, work)


def _judge_alone(recording: Recording, standard: Standard, work: _Work) -> Verdict:
    """The verdict from a process that judges nothing else."""
    with _make_pool(1) as pool:
        try:
            return _start_workers(pool, work, recording, standard).result()
        except BrokenProcessPool:
            return Verdict(recording.name, failure=_ENDED)


def _submit(
    pool: ProcessPoolExecutor, again: deque[Recording], work: _Work, recording: Recording, standard: Standard
) -> Future[Verdict]:
    try:
        return _start_workers(pool, work, recording, standard)
    except BrokenProcessPool:
        again.appendleft(recording)
        raise


def _judge_each(again: deque[Recording], waiting: Iterator[Recording]) -> Iterator[Recording]:
    while again:
        yield again.popleft()
    yield from waiting


def _make_pool(jobs: int) -> ProcessPoolExecutor:
    """A pool of processes that share neither threads nor open files with this one."""
    with _restrict_imports():
        return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_bind_processors)


def _start_workers(pool: ProcessPoolExecutor, work: _Work, recording: Recording, standard: Standard) -> Future[Verdict]:
    """Submit work to a pool, which starts its processes then."""
    with _restrict_imports():
        return pool.submit(work, recording, standard)


@contextlib.contextmanager
def _restrict_imports() -> Generator[None]:
    """Let child processes import nothing from the current folder, which may be hostile."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


def _bind_processors() -> None:
    """End this process when its parent ends."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, name="end of the parent", daemon=True).start()
