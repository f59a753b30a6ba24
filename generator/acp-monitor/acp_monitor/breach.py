"""What the monitor reports: a rule that a message breaks, and how repeats of one are folded."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from .bounded import MAX_MARKS
from .events import Level
from .json_values import pointer_steps
from .requirements import Requirement

T = TypeVar("T")

CITED: Final = 3
"""Requirements that a line of text names."""

LEVELS: Final[tuple[Level, ...]] = ("must", "should", "note")
"""From the highest to the lowest."""

FIRST: Final = 10
"""Repeats that are reported one by one."""


@dataclass(frozen=True, slots=True)
class Breach:
    """A rule that a message breaks.

    `index` counts the lines of both directions, `pointer` is a JSON Pointer into the line (into the batch, for one; of one with
    over 4,096 characters the beginning and a digest), `earlier` the
    index of the message that makes this one a breach. `count` is for how many of its kind it stands, itself the last. `requirements`
    are numbers and ids of the table of requirements; none where only the schema or JSON-RPC says it. `level`: `must` and `should` are
    breaches, a `note` is not.
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
        """What repeats of it have in common: all but the message and places in arrays."""
        place = tuple("*" if step.isdigit() else step for step in pointer_steps(self.pointer))
        return (self.rule, self.level, self.sender, self.method, place, self.sentence)

    def __str__(self) -> str:
        numbers = f" ({cited(self.requirements)})" if self.requirements else ""
        since = f" [since message {self.earlier}]" if self.earlier is not None else ""
        where = f" at {self.pointer}" if self.pointer else ""
        often = f" [{self.count} more like it, up to this one]" if self.count > 1 else ""
        who = f" from the {self.sender}" if self.sender else ""
        return f"{self.level}: message {self.index}{who}: {self.rule}{numbers}: {self.sentence}{where}{since}{often}"


def cited(requirements: Sequence[Requirement]) -> str:
    """The requirements behind a breach in a line of text: the first few, which are the nearest, and how many more there are."""
    more = len(requirements) - CITED
    names = ", ".join(map(str, requirements[:CITED]))
    return f"requirement {names}" if more <= 0 else f"requirement {names} and {more} more"


class Folding(Generic[T]):
    """Folds repeats of what has the same mark: the first ten are reported, then one at every power of ten, and one at the end for the
    rest. Of more marks than are kept the rest is not folded.

    >>> folding = Folding[str]()
    >>> [folding.take("a", "a") for _ in range(12)]
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0]
    >>> list(folding.rest())
    [('a', 2)]
    """

    def __init__(self) -> None:
        self._seen: dict[Hashable, tuple[int, int, T]] = {}

    def take(self, mark: Hashable, thing: T) -> int:
        """For how many a thing stands if it is reported now; 0 where it is to be left out."""
        total, reported, _ = self._seen.get(mark, (0, 0, thing))
        if not total and len(self._seen) >= MAX_MARKS:
            return 1
        total += 1
        is_due = total <= FIRST or str(total).strip("0") == "1"
        self._seen[mark] = (total, total if is_due else reported, thing)
        return total - reported if is_due else 0

    def rest(self) -> Iterator[tuple[T, int]]:
        """The last of each that was left out, and for how many it stands."""
        for total, reported, thing in self._seen.values():
            if total > reported:
                yield thing, total - reported
        self._seen.clear()
