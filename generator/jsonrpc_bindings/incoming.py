"""The classification of parsed messages before they are decoded: whether they get a response, and with which id."""

from __future__ import annotations

from typing import Any

from .json_types import is_object
from .routing import is_id


class Batch:
    """The responses to a batch, which are sent together."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._lines: list[bytes] = []

    def add(self, line: bytes) -> bytes | None:
        """Add a response; return the whole batch once it is complete."""
        self._lines.append(line)
        return b"[" + b",".join(self._lines) + b"]" if len(self._lines) == self._count else None


def read_id(value: Any) -> Any:
    """The id of an error response, for an id that may be invalid: then null."""
    return value if is_id(value, nullable=False) else None


def is_call(value: Any) -> bool:
    """Whether this is a request or a notification, valid or not."""
    return is_object(value) and "method" in value


def is_answer(value: Any) -> bool:
    """Whether this is a response, valid or not."""
    return is_object(value) and "method" not in value and ("result" in value or "error" in value)


def is_answered(value: Any) -> bool:
    """Whether a message of a batch gets a response: a request does, and so does a value that is no message."""
    if is_call(value):
        return "id" in value
    return not is_answer(value)
