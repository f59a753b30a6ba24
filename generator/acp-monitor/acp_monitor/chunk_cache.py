"""Chunks of a message that differ from an earlier one in their text alone: no rule looks at it, so what held of one holds of the next."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from jiter import from_json

from .json_values import text
from .rule import ACP
from .updates import CHUNKS

if TYPE_CHECKING:
    from jsonrpc_bindings.strict import Strict

MAX_PREFIXES: Final = 64
MAX_PREFIX: Final = 512
"""So many beginnings of lines are kept, and none that is longer."""

_TEXT: Final = ("params", "update", "content", "text")


class ChunkCache:
    """Beginnings of lines up to their text, and how these lines end.

    They are of chunks that broke no rule and changed nothing; they are dropped as soon as anything changes on the connection. In two
    lines that begin and end alike, and whose last texts have no quote in them, everything but that text is the same.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[str, bytes]] = {}

    def has(self, sender: str, line: bytes) -> bool:
        """Whether a line is such a chunk again, with text that is well formed."""
        last = line.rfind(b'"')
        begin = line.rfind(b'"', 0, last)
        found = self._known.get(line[:begin])
        if found is None or found[0] != sender or line[last:] != found[1]:
            return False
        try:
            from_json(line[begin : last + 1])
        except ValueError:
            return False
        return True

    def add(self, sender: str, line: bytes, value: Any, judges: Iterable[Strict]) -> None:
        """Keep a chunk that broke no rule and changed nothing."""
        last = line.rfind(b'"')
        begin = line.rfind(b'"', 0, last)
        if begin > MAX_PREFIX or not _ends_with_text(value) or not all(map(_takes_any_text, judges)):
            return
        if len(self._known) >= MAX_PREFIXES:
            self._known.clear()
        self._known[line[:begin]] = sender, line[last:]

    def clear(self) -> None:
        """Something has changed."""
        if self._known:
            self._known = {}


def _ends_with_text(value: Any) -> bool:
    """Whether the last text of a message is the one of a chunk."""
    is_chunk = text(value, "params", "update", "sessionUpdate") in CHUNKS
    if not is_chunk or text(value, "params", "update", "content", "type") != "text":
        return False
    for step in _TEXT:
        if value.__class__ is not dict or next(reversed(value)) != step:
            return False
        value = value[step]
    return isinstance(value, str)


def _takes_any_text(strict: Strict) -> bool:
    """Whether the schema asks nothing of the text of a chunk but that it is one."""
    if strict.contract.name not in ACP:
        return False
    content = strict.schema["$defs"].get("TextContent", {})
    return bool(content.get("properties", {}).get("text") == {"type": "string"})
