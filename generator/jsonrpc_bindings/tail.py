"""The end of a text that arrives as bytes, up to a limit, cut between characters.

Source: the terminals page, "Executing Commands" (`outputByteLimit`).
"""

from __future__ import annotations

import codecs
from typing import Final

_SLACK: Final = 65536
"""Bytes that are kept temporarily beyond the limit, so that not every chunk moves all the others."""


class Tail:
    r"""The last `limit` bytes of the added bytes, as UTF-8 text. Invalid UTF-8 becomes U+FFFD, and counts as the three bytes of that.

    >>> tail = Tail(5)
    >>> tail.add(b"high \xe2\x82"), tail.text, tail.is_cut
    ('high ', 'high ', False)
    >>> tail.add(b"\xac!"), tail.text, tail.is_cut  # the euro sign has three bytes
    ('€!', ' €!', True)
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._is_cut = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, chunk: bytes, *, is_last: bool = False) -> str:
        """Add bytes, and return them as text; an incomplete character is returned with the next bytes."""
        text = self._decoder.decode(chunk, is_last)
        self._buffer += text.encode()
        if len(self._buffer) > self._limit + _SLACK:
            self._cut()
        return text

    def _cut(self) -> None:
        excess = len(self._buffer) - self._limit
        if excess <= 0:
            return
        while excess < len(self._buffer) and self._buffer[excess] & 0xC0 == 0x80:
            excess += 1
        del self._buffer[:excess]
        self._is_cut = True

    @property
    def text(self) -> str:
        """The kept text: whole characters, within the limit of bytes."""
        self._cut()
        return self._buffer.decode()

    @property
    def is_cut(self) -> bool:
        """Whether text was dropped."""
        return self._is_cut or len(self._buffer) > self._limit
