"""The step budget of the work on one protocol: excessive work ends with a fault, at the same step on each machine.

A step is one look at a schema, at a derived value or at a page of text. The functions that all stages use count steps, so that no stage
is left out; outside `limit_steps` nothing is counted. Within `join_steps`, all stages that work on one protocol share its steps: reading,
every target, lint, and each side of a comparison.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

STEPS: Final = 2_000_000
"""The steps for a protocol of up to one MiB, and again for each further MiB. The largest real one takes a tenth."""

_MIB: Final = 1 << 20


@dataclass(slots=True)
class _Budget:
    """The remaining steps, the total, and the place that is worked on."""

    left: int
    steps: int
    at: str


_UNDER_WAY: Final[ContextVar[_Budget | None]] = ContextVar("budget", default=None)
_ACCOUNT: Final[ContextVar[dict[tuple[str, int], _Budget] | None]] = ContextVar("account", default=None)


@contextmanager
def join_steps() -> Generator[None]:
    """Count all steps inside for the same protocol together: those of a command, or of one round of it."""
    token = _ACCOUNT.set({})
    try:
        yield
    finally:
        _ACCOUNT.reset(token)


@contextmanager
def limit_steps(at: str, size: int) -> Generator[None]:
    """Count the steps inside, for a protocol of `size` characters in the file `at`.

    Nested work counts towards the outer one, and so does earlier work on the same protocol within an `join_steps`. Raises `Faults` if the
    steps are used up or the nesting is too deep.
    """
    if _UNDER_WAY.get() is not None:
        yield
        return
    steps = STEPS * (1 + size // _MIB)
    opened = _ACCOUNT.get()
    budget = _Budget(steps, steps, at) if opened is None else opened.setdefault((at, size), _Budget(steps, steps, at))
    budget.at = at
    token = _UNDER_WAY.set(budget)
    try:
        yield
    except RecursionError:
        from acpgen.errors import Faults
        from acpgen.input.faults import TOO_DEEP
        from acpgen.input.positions import DEEPEST

        raise Faults([TOO_DEEP(at=at, limit=DEEPEST)]) from None
    finally:
        _UNDER_WAY.reset(token)


def spend(steps: int = 1) -> None:
    """Count steps. Raises `Faults` if none are left."""
    budget = _UNDER_WAY.get()
    if budget is not None:
        budget.left -= steps
        if budget.left < 0:
            from acpgen.errors import Faults
            from acpgen.input.faults import TOO_MUCH_WORK

            budget.left = budget.steps // 100  # for what tells of the fault
            raise Faults([TOO_MUCH_WORK(at=budget.at, limit=budget.steps)])


def set_place(at: str) -> None:
    """Set the place that the following steps are for."""
    budget = _UNDER_WAY.get()
    if budget is not None:
        budget.at = at


def count_steps() -> int:
    """The number of steps taken so far."""
    budget = _UNDER_WAY.get()
    return 0 if budget is None else budget.steps - budget.left
