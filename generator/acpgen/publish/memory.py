"""A memory of results for a process that generates the same pages repeatedly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar, cast

T = TypeVar("T")


class Memory:
    """The last result of each kind with the inputs that it was computed from.

    In a round "in a hurry", results may be stale if the caller allows it with `may_lag`; the next round that is not in a hurry computes
    them. With `forgets`, nothing is stored. `before` is called with the kind before a result is computed.
    """

    def __init__(self, *, forgets: bool = False, before: Callable[[str], None] = lambda kind: None) -> None:
        self._forgets, self._before = forgets, before
        self._made: dict[str, tuple[tuple[object, ...], object]] = {}
        self._in_hurry = False
        self._is_behind = False

    @property
    def is_behind(self) -> bool:
        """Whether a stale result was returned since `begin`."""
        return self._is_behind

    def begin(self, *, in_hurry: bool) -> None:
        """Begin a round."""
        self._in_hurry, self._is_behind = in_hurry, False

    def get_last(self, kind: str) -> object:
        """The last result of a kind, whatever its inputs were; `None` if there is none."""
        return self._made[kind][1] if kind in self._made else None

    def compute_once(self, kind: str, inputs: tuple[object, ...], make: Callable[[], T], *, may_lag: bool = False) -> T:
        """Return the last result of a kind if its inputs are identical or equal to these; otherwise compute it.

        With `may_lag`, a round in a hurry returns the last result whatever its inputs were.
        """
        if kind in self._made:
            before, result = self._made[kind]
            if len(before) == len(inputs) and all(a is b or a == b for a, b in zip(before, inputs, strict=True)):
                return cast("T", result)
            if may_lag and self._in_hurry:
                self._is_behind = True
                return cast("T", result)
        self._before(kind)
        result = make()
        if not self._forgets:
            self._made[kind] = (inputs, result)
        return result


FORGETFUL: Final = Memory(forgets=True)
