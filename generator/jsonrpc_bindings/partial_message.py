"""What can be recovered of a message that is too large to be decoded: its first and last members."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from .parse import make_number_parser

KEPT: Final = 1024
"""The number of bytes that are kept of the beginning of such a message, and of its end."""

_MEMBER: Final = rb'\s*"[^"\\]{0,64}"\s*:\s*(?:"[^"\\]{0,256}"|-?[0-9][0-9.eE+-]{0,40}|true|false|null)\s*'  # of one value, and a short one
_FIRST: Final = re.compile(rb"\s*\{((?:%b,)*)" % _MEMBER)
_LAST: Final = re.compile(rb"((?:,%b)*)\}\s*\Z" % _MEMBER)


class PartialMessage:
    """The beginning and the end of a message that arrives in parts."""

    def __init__(self) -> None:
        self.first = self.last = b""

    @classmethod
    def of(cls, message: bytes) -> PartialMessage:
        """The beginning and the end of a complete message."""
        partial = cls()
        partial.first, partial.last = message[:KEPT], message[max(KEPT, len(message) - KEPT) :]
        return partial

    def add(self, part: bytes) -> None:
        """Add the next part of the message."""
        room = KEPT - len(self.first)
        if room > 0:
            self.first += part[:room]
            part = part[room:]
        self.last = (self.last + part[-KEPT:])[-KEPT:]

    def read_members(self) -> dict[str, Any]:
        """The members before the first long one and after the last; members with duplicate names are omitted.

        The text may not be JSON. If it is, the result is correct: what stands right before the last bracket belongs to the message.
        """
        whole = len(self.last) < KEPT
        text = self.first + self.last if whole else self.first
        first = _FIRST.match(text)
        if first is None:
            return {}
        last = _LAST.search(text, max(0, first.end() - 1)) if whole else _LAST.search(self.last)
        values: dict[str, Any] = {}
        twice: set[str] = set()
        for members in (first[1][:-1], b"" if last is None else last[1][1:]):
            for name, value in _read_pairs(members):
                twice |= {name} & values.keys()
                values[name] = value
        return {name: value for name, value in values.items() if name not in twice}


def _read_pairs(members: bytes) -> list[tuple[str, Any]]:
    try:
        pairs: list[tuple[str, Any]] = json.loads(
            b"{%b}" % members, object_pairs_hook=list, parse_float=make_number_parser()
        )
    except ValueError:
        return []
    return pairs
