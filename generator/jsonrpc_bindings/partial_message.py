"""What is known of a message that is too large to be read: the members that it begins and ends with."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from .parse import meant

KEPT: Final = 1024
"""So many bytes are kept of the beginning of such a message, and as many of its end."""

_MEMBER: Final = rb'\s*"[^"\\]{0,64}"\s*:\s*(?:"[^"\\]{0,256}"|-?[0-9][0-9.eE+-]{0,40}|true|false|null)\s*'  # of one value, and a short one
_FIRST: Final = re.compile(rb"\s*\{((?:%b,)*)" % _MEMBER)
_LAST: Final = re.compile(rb"((?:,%b)*)\}\s*\Z" % _MEMBER)


class PartialMessage:
    """The beginning and the end of a message that comes in parts."""

    def __init__(self) -> None:
        self.first = self.last = b""

    @classmethod
    def of(cls, message: bytes) -> PartialMessage:
        """Those of a message that is there."""
        found = cls()
        found.first, found.last = message[:KEPT], message[max(KEPT, len(message) - KEPT) :]
        return found

    def add(self, part: bytes) -> None:
        """Take in how the message goes on."""
        room = KEPT - len(self.first)
        if room > 0:
            self.first += part[:room]
            part = part[room:]
        self.last = (self.last + part[-KEPT:])[-KEPT:]

    def members(self) -> dict[str, Any]:
        """The members of the object that this message is, as far as they stand before the first and behind the last long one. What is
        given twice is left out.

        The text may be no JSON. Where it is, this tells nothing wrong: what stands right before its last bracket belongs to the message.
        """
        whole = len(self.last) < KEPT
        text = self.first + self.last if whole else self.first
        first = _FIRST.match(text)
        if first is None:
            return {}
        last = _LAST.search(text, max(0, first.end() - 1)) if whole else _LAST.search(self.last)
        found: dict[str, Any] = {}
        twice: set[str] = set()
        for members in (first[1][:-1], b"" if last is None else last[1][1:]):
            for name, value in _pairs(members):
                twice |= {name} & found.keys()
                found[name] = value
        return {name: value for name, value in found.items() if name not in twice}


def _pairs(members: bytes) -> list[tuple[str, Any]]:
    try:
        pairs: list[tuple[str, Any]] = json.loads(b"{%b}" % members, object_pairs_hook=list, parse_float=meant())
    except ValueError:
        return []
    return pairs
