"""What the benches of the prover count and show: answers by column, and processor time."""

from __future__ import annotations

import os
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class Timed(Protocol):
    """An answer: the column of the table that it counts in, and the seconds that it took."""

    @property
    def column(self) -> str: ...
    @property
    def seconds(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Times:
    """How long answers took, in seconds."""

    median: float
    p95: float
    mean: float
    longest: float

    @classmethod
    def of(cls, found: Sequence[Timed]) -> Times:
        """The times of these answers, of which there is one at least."""
        times = sorted(each.seconds for each in found)
        return cls(statistics.median(times), times[len(times) * 95 // 100], statistics.mean(times), times[-1])


def counted(found: Sequence[Timed], columns: Sequence[str]) -> list[str]:
    """How many answers each column has, and how many took longer than a second."""
    counts = Counter(each.column for each in found)
    return [*(str(counts[column]) for column in columns), str(sum(each.seconds > 1 for each in found))]


def processor() -> float:
    """Seconds of processor time so far, of subprocesses as well: a busy machine changes nothing."""
    return time.process_time() + sum(os.times()[2:4])


def show(table: Sequence[Sequence[str]]) -> None:
    """Print a table in Markdown."""
    for cells in table:
        print("| " + " | ".join(cells) + " |")
