"""Entries in the order in which they began, within a limit: the oldest go first."""

from __future__ import annotations

from typing import Generic, TypeVar

E = TypeVar("E")


class Bounded(Generic[E]):
    """`dropped` counts entries, and parts of a lone one, that went to stay within `max_size`."""

    def __init__(self, max_size: int) -> None:
        self.entries: list[E] = []
        self.dropped: int = 0
        self._max_size = max_size
        self._size = 0
        self._sizes: dict[int, int] = {}

    def _shorten(self, entry: E) -> int | None:
        """Drop the oldest part of an entry that is too long by itself; its size, or `None` where it has one part."""
        raise NotImplementedError

    def _forget(self, entry: E) -> None:
        """Take note that an entry went."""
        raise NotImplementedError

    def _enter(self, entry: E, size: int) -> None:
        self.entries.append(entry)
        self._sizes[id(entry)] = 0
        self._resize(entry, size)

    def _extend(self, entry: E, size: int) -> None:
        """An entry has grown by so much."""
        self._resize(entry, self._sizes.get(id(entry), 0) + size)

    def _resize(self, entry: E, size: int) -> None:
        """An entry is so large now."""
        if id(entry) not in self._sizes:  # dropped meanwhile
            return
        self._size += size - self._sizes[id(entry)]
        self._sizes[id(entry)] = size
        while self._size > self._max_size:
            if len(self.entries) > 1:
                oldest = self.entries.pop(0)
                self._size -= self._sizes.pop(id(oldest))
                self._forget(oldest)
            else:
                piece = self._shorten(entry)
                if piece is None:
                    return
                self._size -= piece
                self._sizes[id(entry)] -= piece
            self.dropped += 1
