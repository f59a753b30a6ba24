"""Paired runs, A, B, A, B, …, and the ratio of the two, with its spread: what a busy machine does to one it does to the other."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: ours and theirs as medians with a unit, their ratio, and the goal that was set, if one was."""

    what: str
    beside: str
    ours: float
    theirs: float
    ratio: float
    low: float
    high: float
    unit: str
    goal: float

    @property
    def cells(self) -> tuple[str, ...]:
        """What stands in the table."""
        times = (_shown(self.ours, self.unit), _shown(self.theirs, self.unit))
        verdict = f"{self.goal:g}, {'reached' if self.ratio <= self.goal else 'missed'}" if self.goal else ""
        return (self.what, *times, self.beside, f"**{self.ratio:.2f}**", f"{self.low:.2f} to {self.high:.2f}", verdict)


def _shown(value: float, unit: str) -> str:
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def paired(
    what: str,
    beside: str,
    ours: Callable[[], float],
    theirs: Callable[[], float],
    *,
    goal: float = 0,
    unit: str = "µs",
    scale: float = 1e6,
    runs: int = 7,
) -> Row:
    """Run both in turn, once for nothing and then `runs` times. What is measured is seconds, or bytes."""
    ours()
    theirs()
    pairs = [(ours(), theirs()) for _ in range(runs)]
    ratios = sorted(a / b for a, b in pairs)
    mine, other = (statistics.median(column) * scale for column in zip(*pairs, strict=True))
    return Row(what, beside, mine, other, statistics.median(ratios), ratios[0], ratios[-1], unit, goal)


def calls(function: Callable[[], object], count: int) -> Callable[[], float]:
    """Seconds of processor time of one call, in a loop."""

    def measure() -> float:
        start = time.process_time()
        for _ in range(count):
            function()
        return (time.process_time() - start) / count

    return measure


def process(command: Sequence[str | Path], **environment: str) -> float:
    """Seconds of processor time of a whole process and its children. Python keeps what it compiles. Raises where it fails."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    with subprocess.Popen(
        list(map(str, command)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env={**kept, **environment},
    ) as running:
        assert running.stderr is not None
        told = running.stderr.read()
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode not in (0, 1):
        raise SystemExit(f"{command}: {told.decode()}")
    return used.ru_utime + used.ru_stime
