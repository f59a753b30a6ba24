"""What the monitor keeps is bounded: tables with room for so much, short keys for long ids, and the limits."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Final, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

LONGEST_KEY: Final = 256
"""Characters of an id or a name that are kept; of a longer one its beginning and a digest are."""

LONGEST_PATH: Final = 4096
"""Characters of a path that are kept."""

MOST_REQUESTS: Final = 4096
MOST_SESSIONS: Final = 4096
MOST_PARTS: Final = 1024
"""Ids of terminals, tool calls, options and the like that are kept for one session."""

MOST_MARKS: Final = 1024
"""Things that are told once, and kept in mind."""

MOST_VALUES: Final = 16 * MOST_PARTS
"""Values of all options of one session that are kept."""

LONGEST_FORM: Final = 65536
"""Characters of the schema of a form that are kept."""

ROOM: Final = 16 << 20
"""Bytes, about, that one table holds."""


class Recent(Generic[K, V]):
    """A table of the entries written last, as far as there is room for them. `forgot` says whether any were dropped.

    `size` tells about how many bytes an entry takes when it is written, `forgetting` is called when one is dropped.
    """

    __slots__ = ("_entries", "_forgetting", "_size", "_taken", "capacity", "forgot")

    def __init__(
        self, capacity: int, size: Callable[[V], int] = lambda _: 0, forgetting: Callable[[], None] = lambda: None
    ) -> None:
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._size, self._taken, self._forgetting = size, 0, forgetting
        self.capacity = capacity
        self.forgot = False

    def __setitem__(self, key: K, value: V) -> None:
        self.pop(key)
        self._entries[key] = value, self._size(value)
        self._taken += self._entries[key][1]
        while len(self._entries) > self.capacity or self._taken > ROOM:
            self._taken -= self._entries.popitem(last=False)[1][1]
            self.forgot = True
            self._forgetting()

    def get(self, key: K) -> V | None:
        """The entry of a key, if it is still there."""
        found = self._entries.get(key)
        return None if found is None else found[0]

    def pop(self, key: K) -> V | None:
        """Take an entry out."""
        found = self._entries.pop(key, None)
        if found is None:
            return None
        self._taken -= found[1]
        return found[0]

    def values(self) -> Iterator[V]:
        """The entries, oldest first."""
        for value, _ in self._entries.values():
            yield value

    def clear(self) -> None:
        """Forget everything."""
        self.forgot = self.forgot or bool(self._entries)
        self._entries.clear()
        self._taken = 0

    def __len__(self) -> int:
        return len(self._entries)


def key(value: object) -> str | None:
    """A short key for an id: text and numbers apart; `None` for what is no id. A brief text has the key of the whole one."""
    if isinstance(value, str):
        return f"s{brief(value)}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return brief(f"n{value:g}" if isinstance(value, float) and not value.is_integer() else f"n{int(value)}")
    return "null" if value is None else None


def brief(value: str) -> str:
    """A text, or of a long one its beginning and its digest."""
    if len(value) < LONGEST_KEY:
        return value
    digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{value[:120]}… ({len(value)} characters, SHA-256 {digest})"


def size_of(*texts: str | None) -> int:
    """About how many bytes these texts take."""
    return sum(60 + 2 * len(value) for value in texts if value is not None)
