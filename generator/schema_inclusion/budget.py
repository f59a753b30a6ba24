"""Step budgets, which bound a comparison in the same way on every machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


class OverBudget(Exception):
    """A comparison has exceeded its step budget."""


@dataclass(slots=True)
class Allowance:
    """A step budget that many questions share, also those of different comparers."""

    left: int

    @property
    def is_spent(self) -> bool:
        """Whether no steps are left."""
        return self.left <= 0

    def spend(self, steps: int) -> None:
        """Spend steps, at most those that are left: work in progress is not undone."""
        self.left = max(self.left - steps, 0)


MOST_SEARCHES: Final = 1
"""The maximum number of long searches for texts of patterns in one question."""
STEPS_AT_LENGTH: Final = 20_000
"""The steps that a long search costs a shared allowance."""


@dataclass(slots=True)
class Budget:
    """The remaining steps of a question; a step is one simplification or one visited state. `search_steps`: the steps of long searches."""

    left: int
    search_steps: int = 0
    _weight: int = 0
    _searches: int = MOST_SEARCHES

    def renew(self, steps: int) -> None:
        """Reset the budget for a new question."""
        self.left, self.search_steps, self._weight, self._searches = steps, 0, 0, MOST_SEARCHES

    def may_search_at_length(self) -> bool:
        """Take one of the long searches; `False` if none is left."""
        self._searches -= 1
        if self._searches < 0:
            return False
        self.search_steps += STEPS_AT_LENGTH
        return True

    def spend(self, steps: int = 1) -> None:
        """Spend steps. Raises `OverBudget` when none are left."""
        self.left -= steps
        if self.left < 0:
            raise OverBudget

    def require(self, steps: int) -> None:
        """Raise `OverBudget` if fewer than `steps` are left, so that work known to need them is not started."""
        if steps > self.left:
            raise OverBudget

    def weigh(self, parts: int) -> None:
        """Spend a step for every dozen parts that a simplification has examined."""
        self._weight += parts
        if self._weight >= 12:
            steps, self._weight = divmod(self._weight, 12)
            self.spend(steps)
