"""Recordings without what is nobody else's business: secrets and the contents of files.

A redacted message keeps its shape: the same keys in the same order, doubled ones too, the same numbers, text in the place of text. So the
monitor judges a redacted recording as it judges the conversation, but for rules about the very text that is gone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from acpgen.schema.walk import is_array

REDACTED: Final = "[redacted]"

SECRET_KEYS: Final = re.compile(
    r"(?i)(?:token|secret|passw(?:or)?d|passphrase|api[-_]?key|private[-_]?key|authorization|cookie|credential)s?$"
)
"""Names of fields whose text is a secret, by their ends."""
NOT_SECRET: Final = frozenset({"progressToken"})
"""Names that look like one and are not: MCP's progress tokens are ids."""
SETTINGS: Final = frozenset({"env", "headers", "envVars", "environment"})
"""Fields that hold pairs of names and values, as a list or as an object: every value goes."""
CONTENTS: Final = frozenset({"oldText", "newText"})
"""Fields that hold the text of files: diffs."""
BYTES: Final = frozenset({"blob"})
"""Fields that hold bytes in base64, which stay base64: they become empty."""
FILE_METHODS: Final = frozenset({"fs/read_text_file", "fs/write_text_file"})
"""Methods whose field `content` is the text of a file, in params or result."""

SHAPES: Final = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    r"\b(?i:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}",
    r"\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*",
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}",
    r"\bgh[pousr]_[A-Za-z0-9]{16,}",
    r"\bgithub_pat_[A-Za-z0-9_]{16,}",
    r"\bxox[abprs]-[A-Za-z0-9-]{8,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    r"\bAIza[A-Za-z0-9_-]{30,}",
)
"""What keys and tokens look like anywhere in a text."""

MOST_OPEN: Final = 4096
"""Requests whose answers are awaited, in both directions together; of more, each answer is taken for a file's content."""


class _Pairs(NamedTuple):
    """An object as it came: keys in order, doubled ones too."""

    items: list[tuple[str, Any]]


class _Number(str):
    """A number as it was written."""

    __slots__ = ()


class Redactor:
    """Takes secrets and contents of files out of the messages of one conversation, in their order.

    `patterns` are further expressions (Python's `re`); what matches one goes from any text.
    """

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        self._shapes = re.compile("|".join(f"(?:{each})" for each in (*SHAPES, *patterns)), re.DOTALL)
        self._open: dict[tuple[str, str], bool] = {}
        self._overflowed = False

    def line(self, sender: str, line: bytes) -> bytes:
        """A line without what is redacted. What is no JSON goes as a whole: nobody can say what it holds."""
        if not line.strip():
            return line
        try:
            message = json.loads(line, object_pairs_hook=_Pairs, parse_int=_Number, parse_float=_Number)
        except (ValueError, RecursionError):
            return f"[redacted: {len(line)} bytes that are no JSON]".encode()
        try:
            return "".join(_written(self._message(sender, message))).encode("utf-8", "surrogatepass")
        except RecursionError:
            return f"[redacted: {len(line)} bytes that are nested too deep]".encode()

    def _message(self, sender: str, message: Any) -> Any:
        if is_array(message):
            return [self._message(sender, each) for each in message]
        if not isinstance(message, _Pairs):
            return self._value(message, is_file=False)
        found = dict(message.items)
        method, number = found.get("method"), json.dumps(found.get("id"), default=str)
        if isinstance(method, str) and not isinstance(method, _Number):
            is_file = method in FILE_METHODS
            if "id" in found:
                if len(self._open) < MOST_OPEN:
                    self._open[sender, number] = is_file
                else:
                    self._overflowed = True
        else:
            asker = "agent" if sender == "client" else "client"
            is_file = self._open.pop((asker, number), self._overflowed)
        return _Pairs([(key, self._value(value, key, is_file=is_file)) for key, value in message.items])

    def _value(self, value: Any, key: str = "", *, is_file: bool) -> Any:
        if isinstance(value, _Pairs):
            all_go = key in SETTINGS
            return _Pairs(
                [
                    (name, REDACTED if all_go and _is_text(one) else self._value(one, name, is_file=is_file))
                    for name, one in value.items
                ]
            )
        if is_array(value):
            return [
                self._setting(each) if key in SETTINGS else self._value(each, key, is_file=is_file) for each in value
            ]
        if not _is_text(value):
            return value
        if key in BYTES:
            return ""
        if key in CONTENTS or (is_file and key == "content") or (SECRET_KEYS.search(key) and key not in NOT_SECRET):
            return REDACTED
        return self._shapes.sub(REDACTED, value)

    def _setting(self, value: Any) -> Any:
        """An entry of a list of names and values."""
        if not isinstance(value, _Pairs):
            return REDACTED if _is_text(value) else value
        return _Pairs(
            [
                (name, one if name in ("name", "type") else REDACTED if _is_text(one) else one)
                for name, one in value.items
            ]
        )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not isinstance(value, _Number)


def _written(value: Any) -> Iterator[str]:
    if isinstance(value, _Pairs):
        yield "{"
        for index, (key, one) in enumerate(value.items):
            yield f"{',' if index else ''}{json.dumps(key)}:"
            yield from _written(one)
        yield "}"
    elif is_array(value):
        yield "["
        for index, one in enumerate(value):
            yield "," if index else ""
            yield from _written(one)
        yield "]"
    else:
        yield value if isinstance(value, _Number) else json.dumps(value)
