"""Losses of a conversion to the other version: typed, counted and reported, with the place of each."""

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
"""What happened to the value.

`dropped`: it was omitted. `changed`: something similar was sent. `added`: the other version requires it, and the sender had not set it.
`carried`: it was sent in a form that only another adapter reads.
"""

CARRIER: Final = "acp_session/v2"
"""The key in `_meta`, and after `_` the prefix of the method, by which v1 carries values that only v2 has."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that the other version cannot express: its place in the params or the result of `method`, and the reason."""

    method: str
    pointer: str
    sentence: str
    kind: Kind = "dropped"
    value: Any = field(default=None, compare=False, repr=False)
    session_id: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.method} {self.pointer or '(all)'}: {self.sentence} ({self.kind})"


OnLoss: TypeAlias = "Callable[[Loss], object]"
"""Called with each loss when it happens."""


def log_loss(loss: Loss) -> None:
    """Write a loss to the logger `acp_session`, with the id of its session: as a warning if something was dropped outside `initialize`."""
    level = logging.WARNING if loss.kind == "dropped" and loss.method != "initialize" else logging.INFO
    (LOG if loss.session_id is None else SessionLog(loss.session_id)).log(level, "%s", loss)


class Losses:
    """Counts losses by method and kind, and reports each."""

    def __init__(self, on_loss: OnLoss = lambda loss: None) -> None:
        self.counts: Counter[tuple[str, Kind]] = Counter()
        self._on_loss = on_loss

    def make_place(self, method: str, *path: str | int, session_id: str | None = None) -> Place:
        """A place where a loss may happen, in the params or the result of a method."""
        return Place(self, method, path, session_id)

    def add(self, loss: Loss) -> None:
        """Count and report a loss."""
        self.counts[loss.method, loss.kind] += 1
        self._on_loss(loss)


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a message."""

    losses: Losses
    method: str
    path: tuple[str | int, ...] = ()
    session_id: str | None = None

    def descend(self, *path: str | int) -> Place:
        """A place below this one."""
        return Place(self.losses, self.method, (*self.path, *path), self.session_id)

    def lose(self, sentence: str, value: Any = None, kind: Kind = "dropped", pointer: str = "") -> None:
        """Report a loss at this place, or at a JSON Pointer relative to it."""
        pointer = json_pointer(self.path) + pointer
        self.losses.add(Loss(self.method, pointer, sentence, kind, value, self.session_id))

    def lose_fields(self, source: Mapping[str, Any], *handled_fields: str) -> None:
        """Report all fields here as lost, except those in `handled_fields`."""
        for key in source:
            if key not in handled_fields:
                self.descend(key).lose("the other version has no place for this field", source[key])

    def lose_dropped(self, drop: Dropped) -> None:
        """Report a value that the types of the other version do not accept; this is the hook `on_drop` of decoding."""
        self.lose(drop.problem.sentence, drop.value, pointer=drop.pointer)
