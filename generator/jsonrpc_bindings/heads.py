"""What is known of a line before it is read: that another one began alike, and ended alike.

The updates of a turn differ in one text, the last. Of two lines that are equal but for their last text, where neither has a quote in it,
one has the keys of the other, and outside that text it is right or wrong as the other is. So what was looked for in one need not be
looked for in the next: keys given twice, numbers that overflow or are read from their text, and what is wrong with the envelope.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from .parse import LONG_NUMBER

HEADS: Final = 256
"""So many beginnings are kept; then all are forgotten."""

LONGEST: Final = 512
"""Longer beginnings are not kept: they hardly come again."""

Head: TypeAlias = tuple[str, bytes, int, int, str, Callable[[bytes], Any]]
"""A notification without its last text: its sender, how it ends, where its params begin and, from the end, are over, its method, and what
reads params.
"""

_PARAMS: Final = re.compile(rb'\s*\{(?:\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,)*\s*"params"\s*:\s*')
_CLOSERS: Final = re.compile(rb'"[\s\]}]*\}\s*')
"""The end of a notification from the quote after its last text, if that stands in its params: nothing but ends."""


def learn(known: dict[bytes, Head | None], line: bytes, sender: str, method: str, read: Callable[[bytes], Any]) -> None:
    """Learn from a notification that was decoded: it has no key twice, and no members but params beside its method.

    `known` maps beginnings, up to the quote before the last text, to what is known; to `None` those that came once, as most do.
    """
    last = line.rfind(b'"')
    text = line.rfind(b'"', 0, last)
    if text > LONGEST:
        return
    if len(known) >= HEADS:
        known.clear()
    head = line[:text]
    if head not in known:
        known[head] = None
        return
    found, closers = _PARAMS.match(line), line[last:]
    if found is not None and found.end() < text and LONG_NUMBER.search(head) is None and _CLOSERS.fullmatch(closers):
        known[head] = sender, closers, found.end(), closers.rindex(b"}") - len(closers), method, read
