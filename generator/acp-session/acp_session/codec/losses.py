"""What could not be carried over to the other version as it was: each place once, typed, counted and reported."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from acp_bindings import Dropped

from acp_session.log import LOG, SessionLog
from jsonrpc_bindings.pointers import json_pointer

Kind: TypeAlias = Literal["dropped", "changed", "added", "carried"]
"""`dropped`: it did not go on. `changed`: something near it went on. `added`: the other version demands it, and nobody had said it.
`carried`: it went on in a form that only another adapter reads.
"""

CARRIER: Final = "acp_session/v2"
"""The key in `_meta`, and after `_` the beginning of the method, under which v1 carries what only v2 has."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that the other version has no place for: where it stood in the params or the result of `method`, and why it was lost."""

    method: str
    pointer: str
    sentence: str
    kind: Kind = "dropped"
    value: Any = field(default=None, compare=False, repr=False)
    session_id: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.method} {self.pointer or '(all)'}: {self.sentence} ({self.kind})"


OnLoss: TypeAlias = "Callable[[Loss], object]"
"""Is called with each loss when it happens."""


def log_loss(loss: Loss) -> None:
    """Write a loss to the logger `acp_session`, with the id of its session: a warning where something that was said did not go on."""
    level = logging.WARNING if loss.kind == "dropped" and loss.method != "initialize" else logging.INFO
    (LOG if loss.session_id is None else SessionLog(loss.session_id)).log(level, "%s", loss)


class Losses:
    """Counts losses by method and kind, and reports each."""

    def __init__(self, on_loss: OnLoss = lambda loss: None) -> None:
        self.counts: Counter[tuple[str, Kind]] = Counter()
        self._on_loss = on_loss

    @property
    def total(self) -> int:
        """How many there were."""
        return self.counts.total()

    def place(self, method: str, *path: str | int, session_id: str | None = None) -> Place:
        """Where a loss may happen: the params, or the result, of a method."""
        return Place(self, method, path, session_id)

    def add(self, loss: Loss) -> None:
        """Count and report one."""
        self.counts[loss.method, loss.kind] += 1
        self._on_loss(loss)


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a message."""

    losses: Losses
    method: str
    path: tuple[str | int, ...] = ()
    session_id: str | None = None

    def at(self, *path: str | int) -> Place:
        """A place below this one."""
        return Place(self.losses, self.method, (*self.path, *path), self.session_id)

    def lose(self, sentence: str, value: Any = None, kind: Kind = "dropped", pointer: str = "") -> None:
        """Say that something here, or at a JSON Pointer from here, could not go on as it was."""
        pointer = json_pointer(self.path) + pointer
        self.losses.add(Loss(self.method, pointer, sentence, kind, value, self.session_id))

    def lose_fields(self, source: Mapping[str, Any], *known: str) -> None:
        """Say that fields here could not go on, except those that are known."""
        for key in source:
            if key not in known:
                self.at(key).lose("the other version has no place for this field", source[key])

    def lose_dropped(self, drop: Dropped) -> None:
        """Say what the types of the other version do not take: the hook `on_drop` of decoding."""
        self.lose(drop.problem.sentence, drop.value, pointer=drop.pointer)
