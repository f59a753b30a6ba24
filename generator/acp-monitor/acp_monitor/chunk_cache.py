"""Message chunks that differ from an earlier one only in their text. No rule looks at the text, so the verdict is the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from jiter import from_json

from .json_values import get_text
from .rule import ACP
from .updates import CHUNKS

if TYPE_CHECKING:
    from jsonrpc_bindings.strict import Strict

MAX_PREFIXES: Final = 64
MAX_PREFIX: Final = 512
"""The maximum number and length of stored prefixes of lines."""

_TEXT: Final = ("params", "update", "content", "text")


class ChunkCache:
    """Prefixes of lines up to their text, with the suffix of each line.

    Only chunks that broke no rule and changed nothing are stored; they are dropped as soon as anything changes on the connection. If two
    lines have the same prefix and suffix and no quote in their last text, they differ in that text only.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[str, bytes]] = {}

    def has(self, sender: str, line: bytes) -> bool:
        """Whether a line is a stored chunk with another valid text."""
        last = line.rfind(b'"')
        begin = line.rfind(b'"', 0, last)
        chunk = self._known.get(line[:begin])
        if chunk is None or chunk[0] != sender or line[last:] != chunk[1]:
            return False
        try:
            from_json(line[begin : last + 1])
        except ValueError:
            return False
        return True

    def add(self, sender: str, line: bytes, value: Any, judges: Iterable[Strict]) -> None:
        """Store a chunk that broke no rule and changed nothing."""
        last = line.rfind(b'"')
        begin = line.rfind(b'"', 0, last)
        if begin > MAX_PREFIX or not _ends_with_text(value) or not all(map(_takes_any_text, judges)):
            return
        if len(self._known) >= MAX_PREFIXES:
            self._known.clear()
        self._known[line[:begin]] = sender, line[last:]

    def clear(self) -> None:
        """Drop all chunks, because something has changed."""
        if self._known:
            self._known = {}


def _ends_with_text(value: Any) -> bool:
    """Whether the text of a chunk is the last text of the message."""
    is_chunk = get_text(value, "params", "update", "sessionUpdate") in CHUNKS
    if not is_chunk or get_text(value, "params", "update", "content", "type") != "text":
        return False
    for step in _TEXT:
        if value.__class__ is not dict or next(reversed(value)) != step:
            return False
        value = value[step]
    return isinstance(value, str)


def _takes_any_text(strict: Strict) -> bool:
    """Whether the schema demands nothing of the text of a chunk but its type."""
    if strict.contract.name not in ACP:
        return False
    content = strict.schema["$defs"].get("TextContent", {})
    return bool(content.get("properties", {}).get("text") == {"type": "string"})
