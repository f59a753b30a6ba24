"""What a parsed message is before it is read: whether it is answered, and under which id."""

from __future__ import annotations

from typing import Any

from .json_types import is_object


class Batch:
    """The answers to a batch, which go out together."""

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._lines: list[bytes] = []

    def add(self, line: bytes) -> bytes | None:
        """Take one answer; the whole when all are there."""
        self._lines.append(line)
        return b"[" + b",".join(self._lines) + b"]" if len(self._lines) == self._wanted else None


def id_of(value: Any) -> Any:
    """What an answer is called where the id of the request may be no id: then null."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
    return value if is_number or isinstance(value, str) else None


def is_call(value: Any) -> bool:
    """Whether this is a request or a notification, good or bad."""
    return is_object(value) and "method" in value


def is_answer(value: Any) -> bool:
    """Whether this is a response, good or bad: nobody answers it."""
    return is_object(value) and "method" not in value and ("result" in value or "error" in value)


def is_answered(value: Any) -> bool:
    """Whether a message of a batch gets an answer: a request does, and what is no message."""
    if is_call(value):
        return "id" in value
    return not is_answer(value)
