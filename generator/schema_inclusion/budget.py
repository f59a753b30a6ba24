"""Step budgets bound a comparison in the same way on every machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


class OverBudget(Exception):
    """A comparison has used its steps."""


@dataclass(slots=True)
class Allowance:
    """The steps that many questions share, whoever asks them."""

    left: int

    @property
    def is_spent(self) -> bool:
        """Whether there are none left."""
        return self.left <= 0

    def spend(self, steps: int) -> None:
        """Takes steps away, as far as there are any: what has been begun is not taken back."""
        self.left = max(self.left - steps, 0)


MOST_SEARCHES: Final = 1
"""How many long searches for texts of patterns one question may make."""
STEPS_AT_LENGTH: Final = 20_000
"""What such a search is counted for where questions share an allowance."""


@dataclass(slots=True)
class Budget:
    """The steps that are left; a step is one simplification or one state looked at. `beside` are those of long searches."""

    left: int
    beside: int = 0
    _weight: int = 0
    _searches: int = MOST_SEARCHES

    def renew(self, steps: int) -> None:
        """Starts a new question."""
        self.left, self.beside, self._weight, self._searches = steps, 0, 0, MOST_SEARCHES

    def may_search_at_length(self) -> bool:
        """Takes one of the long searches away, if there is one left."""
        self._searches -= 1
        if self._searches < 0:
            return False
        self.beside += STEPS_AT_LENGTH
        return True

    def spend(self, steps: int = 1) -> None:
        """Takes steps away. Raises `OverBudget` when none are left."""
        self.left -= steps
        if self.left < 0:
            raise OverBudget

    def require(self, steps: int) -> None:
        """Raises `OverBudget` if so many steps are not left: what is known to need them is not begun."""
        if steps > self.left:
            raise OverBudget

    def weigh(self, parts: int) -> None:
        """Takes away a step for every dozen parts that a simplification has looked at."""
        self._weight += parts
        if self._weight >= 12:
            steps, self._weight = divmod(self._weight, 12)
            self.spend(steps)
