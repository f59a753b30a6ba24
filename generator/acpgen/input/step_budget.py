"""Steps that the work on one protocol may take: what would go on for too long ends with a fault, at the same step on each machine.

A step is one look at a schema, at a value that is made from one, or at a page of text. The functions that every stage looks through count
them, so that no stage is left out, and neither is one that is written tomorrow; outside of `bounded` nothing is counted. Within `account`
all stages that work on one protocol share its steps: reading, every target, lint, and each side of a comparison.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

STEPS: Final = 2_000_000
"""For a protocol of up to one MiB, and once more for each further MiB. The largest at hand takes a tenth."""

_MIB: Final = 1 << 20


@dataclass(slots=True)
class Effort:
    """The steps that are left, of how many, and the place that is worked on."""

    left: int
    steps: int
    at: str


_UNDER_WAY: Final[ContextVar[Effort | None]] = ContextVar("effort", default=None)
_ACCOUNT: Final[ContextVar[dict[tuple[str, int], Effort] | None]] = ContextVar("account", default=None)


@contextmanager
def account() -> Generator[None]:
    """Count the steps of all work inside on one protocol together: a command, or one round of it."""
    token = _ACCOUNT.set({})
    try:
        yield
    finally:
        _ACCOUNT.reset(token)


@contextmanager
def bounded(at: str, size: int) -> Generator[None]:
    """Count the steps of what is done inside, for a protocol of `size` characters in the file `at`.

    Work inside of such work counts with it; so does earlier work on that protocol within an `account`. What takes too many steps, or
    nests too deep, raises `Faults`.
    """
    if _UNDER_WAY.get() is not None:
        yield
        return
    steps = STEPS * (1 + size // _MIB)
    opened = _ACCOUNT.get()
    effort = Effort(steps, steps, at) if opened is None else opened.setdefault((at, size), Effort(steps, steps, at))
    effort.at = at
    token = _UNDER_WAY.set(effort)
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
    """Count steps. Raises `Faults` when there are none left."""
    effort = _UNDER_WAY.get()
    if effort is not None:
        effort.left -= steps
        if effort.left < 0:
            from acpgen.errors import Faults
            from acpgen.input.faults import TOO_MUCH_WORK

            effort.left = effort.steps // 100  # for what tells of the fault
            raise Faults([TOO_MUCH_WORK(at=effort.at, limit=effort.steps)])


def working_on(at: str) -> None:
    """Say which place the following steps are for."""
    effort = _UNDER_WAY.get()
    if effort is not None:
        effort.at = at


def spent() -> int:
    """How many steps were taken so far."""
    effort = _UNDER_WAY.get()
    return 0 if effort is None else effort.steps - effort.left
