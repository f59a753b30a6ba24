"""What the monitor reports: breaches of rules, and how repeats are folded."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from .bounded import MAX_MARKS
from .events import Level
from .json_values import split_pointer
from .requirements import Requirement

T = TypeVar("T")

CITED: Final = 3
"""The maximum number of requirements in a line of text."""

LEVELS: Final[tuple[Level, ...]] = ("must", "should", "note")
"""From highest to lowest."""

FIRST: Final = 10
"""The number of repeats that are reported one by one."""


@dataclass(frozen=True, slots=True)
class Breach:
    """A breach of a rule.

    `index` counts the lines of both directions. `pointer` is a JSON Pointer into the line (for a batch, into the batch), shortened to
    its beginning and a digest beyond 4,096 characters. `earlier` is the index of the message that makes this one a breach. `count` is
    the number of breaches that it stands for, itself the last. `requirements` are numbers and ids of the table of requirements; none if
    only the schema or JSON-RPC demands it. `level`: `must` and `should` are breaches, a `note` is not.
    """

    rule: str
    level: Level
    requirements: tuple[Requirement, ...]
    index: int
    sender: str
    method: str
    pointer: str
    earlier: int | None
    sentence: str
    count: int = 1

    @property
    def mark(self) -> Hashable:
        """What its repeats share: everything but the message and array indices."""
        place = tuple("*" if step.isdigit() else step for step in split_pointer(self.pointer))
        return (self.rule, self.level, self.sender, self.method, place, self.sentence)

    def __str__(self) -> str:
        numbers = f" ({cite(self.requirements)})" if self.requirements else ""
        since = f" [since message {self.earlier}]" if self.earlier is not None else ""
        where = f" at {self.pointer}" if self.pointer else ""
        often = f" [{self.count} more like it, up to this one]" if self.count > 1 else ""
        who = f" from the {self.sender}" if self.sender else ""
        return f"{self.level}: message {self.index}{who}: {self.rule}{numbers}: {self.sentence}{where}{since}{often}"


def cite(requirements: Sequence[Requirement]) -> str:
    """The requirements behind a breach in a line of text: the first few, nearest first, and the number of the others."""
    omitted_count = len(requirements) - CITED
    names = ", ".join(map(str, requirements[:CITED]))
    return f"requirement {names}" if omitted_count <= 0 else f"requirement {names} and {omitted_count} more"


class Folding(Generic[T]):
    """The folding of repeats with the same mark: the first ten are reported, then one at each power of ten, and one at the end for the
    rest. Repeats of marks beyond `MAX_MARKS` are not folded.

        >>> folding = Folding[str]()
        >>> [folding.take("a", "a") for _ in range(12)]
        [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0]
        >>> list(folding.list_omitted())
        [('a', 2)]
    """

    def __init__(self) -> None:
        self._seen: dict[Hashable, tuple[int, int, T]] = {}

    def take(self, mark: Hashable, occurrence: T) -> int:
        """The number of repeats that an occurrence stands for if it is reported now; 0 if it is to be omitted."""
        total, reported_total, _ = self._seen.get(mark, (0, 0, occurrence))
        if not total and len(self._seen) >= MAX_MARKS:
            return 1
        total += 1
        is_due = total <= FIRST or str(total).strip("0") == "1"
        self._seen[mark] = (total, total if is_due else reported_total, occurrence)
        return total - reported_total if is_due else 0

    def list_omitted(self) -> Iterator[tuple[T, int]]:
        """The last omitted repeat of each mark, with the number of repeats that it stands for."""
        for total, reported_total, occurrence in self._seen.values():
            if total > reported_total:
                yield occurrence, total - reported_total
        self._seen.clear()
