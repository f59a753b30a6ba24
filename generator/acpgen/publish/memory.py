"""What a process remembers that makes the same pages again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar, cast

T = TypeVar("T")


class Memory:
    """The last result of each kind, with the inputs that it was made from, for a process that makes the same things again and again.

    In a hurry, some results may be those of other inputs for a while: whoever asks for them says so, and the next round without hurry
    makes them. One that forgets holds nothing. `before` is called with the kind before a result is made.
    """

    def __init__(self, *, forgets: bool = False, before: Callable[[str], None] = lambda kind: None) -> None:
        self._forgets, self._before = forgets, before
        self._made: dict[str, tuple[tuple[object, ...], object]] = {}
        self._in_hurry = False
        self._is_behind = False

    @property
    def is_behind(self) -> bool:
        """Whether something that was asked for since `begin` was of other inputs."""
        return self._is_behind

    def begin(self, *, in_hurry: bool) -> None:
        """Begin a round."""
        self._in_hurry, self._is_behind = in_hurry, False

    def last(self, kind: str) -> object:
        """The last result of a kind, whatever it was made from; `None` where there is none."""
        return self._made[kind][1] if kind in self._made else None

    def once(self, kind: str, inputs: tuple[object, ...], make: Callable[[], T], *, may_lag: bool = False) -> T:
        """The result of a kind for these inputs: the last one where they are the same or equal, or made now.

        With `may_lag`, a round in a hurry takes the last one in any case.
        """
        if kind in self._made:
            before, last = self._made[kind]
            if len(before) == len(inputs) and all(a is b or a == b for a, b in zip(before, inputs, strict=True)):
                return cast("T", last)
            if may_lag and self._in_hurry:
                self._is_behind = True
                return cast("T", last)
        self._before(kind)
        result = make()
        if not self._forgets:
            self._made[kind] = (inputs, result)
        return result


FORGETFUL: Final = Memory(forgets=True)
