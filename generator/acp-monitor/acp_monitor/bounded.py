"""What the monitor keeps is bounded: tables that share a budget of memory, short keys for long ids, and the limits."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from sys import getsizeof
from typing import Any, Final, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

MAX_KEY: Final = 256
"""Characters of an id or a name that are kept; of a longer one its beginning and a digest are."""

MAX_PATH: Final = 4096
"""Characters of a path that are kept."""

MAX_POINTER: Final = 4096
"""Characters of the place that a breach reports."""

MAX_REQUESTS: Final = 4096
MAX_SESSIONS: Final = 4096
MAX_PARTS: Final = 1024
"""Ids of terminals, tool calls, options and the like that are kept for one session."""

MAX_MARKS: Final = 1024
"""Things that are reported once, and remembered."""

MAX_OPTION_VALUES: Final = 16 * MAX_PARTS
"""Values of all options of one session that are kept."""

MAX_BREACHES: Final = 1000
"""Breaches of one line that are reported, where nothing else is asked for."""

MAX_VALUES: Final = 500_000
"""Values of one message that is read, where nothing else is asked for."""

MAX_FORM: Final = 65536
"""Characters of the schema of a form that are kept."""

MAX_BYTES: Final = 16 << 20
"""Bytes, about, that are kept of one connection, all tables together."""

ENTRY: Final = 300
"""Bytes, about, that an entry of a table takes beside its key and its value."""


class MemoryBudget:
    """What tables share: bytes up to `MAX_BYTES`. Over it, the entry written longest ago is evicted, in whichever table it is."""

    __slots__ = ("_tables", "_writes", "used")

    def __init__(self) -> None:
        self.used = 0
        self._tables: list[BoundedTable[Any, Any]] = []
        self._writes = 0

    def add(self, table: BoundedTable[Any, Any]) -> None:
        """Let a table use a part of it."""
        self._tables.append(table)

    def count_write(self) -> int:
        """The number of one more entry that is written."""
        self._writes += 1
        return self._writes

    def enforce(self) -> None:
        """Evict the oldest entries until the rest has room."""
        while self.used > MAX_BYTES:
            oldest = min((table for table in self._tables if len(table)), key=lambda table: table.oldest)
            oldest.evict()


class BoundedTable(Generic[K, V]):
    """A table of the entries written last, as far as there is room for them. `evicted`: some were dropped.

    `size` tells about how many bytes a value takes when it is written, `on_evict` is called when one is dropped. Tables with one `budget`
    share it; without, a table is a part of an entry of another one, whose size it is counted in.
    """

    __slots__ = ("_budget", "_entries", "_on_evict", "_size", "capacity", "evicted", "used")

    def __init__(
        self,
        capacity: int,
        size: Callable[[V], int] = lambda _: 0,
        on_evict: Callable[[], None] = lambda: None,
        budget: MemoryBudget | None = None,
    ) -> None:
        self._entries: OrderedDict[K, tuple[V, int, int]] = OrderedDict()
        self._size, self._on_evict, self._budget = size, on_evict, budget
        self.used = 0
        self.capacity = capacity
        self.evicted = False
        if budget is not None:
            budget.add(self)

    @property
    def oldest(self) -> int:
        """The number of the entry written longest ago, which there must be."""
        return next(iter(self._entries.values()))[2]

    @property
    def newest(self) -> K | None:
        """The key of the entry written last."""
        return next(reversed(self._entries), None)

    def __setitem__(self, key: K, value: V) -> None:
        self.pop(key)
        size = ENTRY + getsizeof(key) + self._size(value)
        self._entries[key] = value, size, 0 if self._budget is None else self._budget.count_write()
        self._count(size)
        if len(self._entries) > self.capacity:
            self.evict()
        if self._budget is not None:
            self._budget.enforce()

    def _count(self, size: int) -> None:
        self.used += size
        if self._budget is not None:
            self._budget.used += size

    def evict(self) -> None:
        """Drop the entry written longest ago."""
        self._count(-self._entries.popitem(last=False)[1][1])
        self.evicted = True
        self._on_evict()

    def get(self, key: K) -> V | None:
        """The entry of a key, if it is still there."""
        found = self._entries.get(key)
        return None if found is None else found[0]

    def pop(self, key: K) -> V | None:
        """Take an entry out."""
        found = self._entries.pop(key, None)
        if found is None:
            return None
        self._count(-found[1])
        return found[0]

    def values(self) -> Iterator[V]:
        """The entries, oldest first."""
        for value, _, _ in self._entries.values():
            yield value

    def clear(self) -> None:
        """Drop everything."""
        self.evicted = self.evicted or bool(self._entries)
        self._entries.clear()
        self._count(-self.used)

    def __len__(self) -> int:
        return len(self._entries)


def key(value: object) -> str | None:
    """A short key for an id: text and numbers apart; `None` for what is no id. A brief text has the key of the whole one."""
    if isinstance(value, str):
        return f"s{brief(value)}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return brief(f"n{value!r}" if isinstance(value, float) and not value.is_integer() else f"n{int(value)}")
    return "null" if value is None else None


def brief(value: str, longest: int = MAX_KEY) -> str:
    """A text, or of a long one its beginning and its digest."""
    if len(value) < longest:
        return value
    digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{value[:120]}… ({len(value)} characters, SHA-256 {digest})"


def size_of(*texts: str | None) -> int:
    """About how many bytes these texts take."""
    return sum(16 + getsizeof(value) for value in texts if value is not None)
