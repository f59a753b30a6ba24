"""Bounded memory of the monitor: tables that share a budget, short keys for long ids, and the limits."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import is_dataclass
from itertools import chain
from sys import getsizeof
from typing import Any, Final, Generic, TypeVar

from .json_values import is_redacted

K = TypeVar("K")
V = TypeVar("V")

MAX_KEY: Final = 256
"""The maximum number of characters of an id or a name; a longer one is stored as its beginning and a digest."""

MAX_POINTER: Final = 4096
"""The maximum number of characters of the pointer of a breach."""

MAX_REQUESTS: Final = 4096
MAX_SESSIONS: Final = 4096
MAX_PARTS: Final = 1024
"""The maximum number of stored ids of terminals, tool calls, options and the like for one session."""

MAX_MARKS: Final = 1024
"""The maximum number of remembered things that are reported once."""

MAX_OPTION_VALUES: Final = 16 * MAX_PARTS
"""The maximum number of stored values of all options of one session."""

MAX_BREACHES: Final = 1000
"""The default for the maximum number of reported breaches of one line."""

MAX_VALUES: Final = 500_000
"""The default for the maximum number of values of a message that is read."""

MAX_MEMBER: Final = 65536
"""The maximum number of characters of a stored member of a message, as JSON."""

MAX_BYTES: Final = 16 << 20
"""The approximate maximum number of bytes of all tables of one connection."""

ENTRY: Final = 300
"""The approximate number of bytes of a table entry beside its key and value."""


class MemoryBudget:
    """A memory budget that tables share: up to `MAX_BYTES`. Beyond it, the oldest written entry of any table is evicted."""

    __slots__ = ("_tables", "_writes", "used")

    def __init__(self) -> None:
        self.used = 0
        self._tables: list[BoundedTable[Any, Any]] = []
        self._writes = 0

    def add(self, table: BoundedTable[Any, Any]) -> None:
        """Let a table share the budget."""
        self._tables.append(table)

    def count_write(self) -> int:
        """Count a written entry, and return its sequence number."""
        self._writes += 1
        return self._writes

    def enforce(self) -> None:
        """Evict the oldest entries until the rest fits."""
        while self.used > MAX_BYTES:
            oldest = min((table for table in self._tables if len(table)), key=lambda table: table.oldest)
            oldest.evict()


class BoundedTable(Generic[K, V]):
    """A table of the most recently written entries. `evicted`: some were dropped.

    `size` returns the approximate number of bytes of a written value, by default `measure`; `on_evict` is called when an entry is
    dropped. Tables with the same `budget` share it. A table without one is part of an entry of another table, whose size includes it.
    """

    __slots__ = ("_budget", "_entries", "_on_evict", "_size", "capacity", "evicted", "used")

    def __init__(
        self,
        capacity: int,
        size: Callable[[V], int] | None = None,
        on_evict: Callable[[], None] = lambda: None,
        budget: MemoryBudget | None = None,
    ) -> None:
        self._entries: OrderedDict[K, tuple[V, int, int]] = OrderedDict()
        self._size, self._on_evict, self._budget = size or measure, on_evict, budget
        self.used = 0
        self.capacity = capacity
        self.evicted = False
        if budget is not None:
            budget.add(self)

    @property
    def oldest(self) -> int:
        """The sequence number of the oldest written entry; the table must not be empty."""
        return next(iter(self._entries.values()))[2]

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
        """Drop the oldest written entry."""
        self._count(-self._entries.popitem(last=False)[1][1])
        self.evicted = True
        self._on_evict()

    def get(self, key: K) -> V | None:
        """The value of a key, if it is still stored."""
        entry = self._entries.get(key)
        return None if entry is None else entry[0]

    def pop(self, key: K) -> V | None:
        """Remove an entry, and return its value."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return None
        self._count(-entry[1])
        return entry[0]

    def values(self) -> Iterator[V]:
        """The values, oldest first."""
        for value, _, _ in self._entries.values():
            yield value

    def clear(self) -> None:
        """Drop all entries."""
        self.evicted = self.evicted or bool(self._entries)
        self._entries.clear()
        self._count(-self.used)

    def __len__(self) -> int:
        return len(self._entries)


def make_key(value: object) -> str | None:
    """A short key of an id, distinct for strings and numbers; `None` if the value cannot be an id, or is redacted. A shortened text has
    the key of its original.
    """
    if isinstance(value, str):
        return None if is_redacted(value) else f"s{shorten(value)}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return shorten(f"n{value!r}" if isinstance(value, float) and not value.is_integer() else f"n{int(value)}")
    return "null" if value is None else None


def shorten(value: str, longest: int = MAX_KEY) -> str:
    """A text; a long one as its beginning and its digest."""
    if len(value) < longest:
        return value
    digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{value[:120]}… ({len(value)} characters, SHA-256 {digest})"


def measure(value: Any) -> int:
    """The approximate number of bytes that a stored value takes, with all that it holds."""
    if value is None or isinstance(value, bool):
        return 0
    if isinstance(value, BoundedTable):
        return ENTRY + value.used
    parts: Iterable[Any] = ()
    if value.__class__ is dict:
        parts = chain(value, value.values())
    elif value.__class__ in (list, tuple, frozenset):
        parts = value
    elif is_dataclass(value):
        parts = (getattr(value, name) for name in value.__dataclass_fields__)
    return getsizeof(value) + sum(map(measure, parts))
