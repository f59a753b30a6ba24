"""Problems of messages, as data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

from .pointers import json_pointer

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
REQUEST_CANCELLED: Final = -32800

LIMIT: Final = 100
"""The default limit of problems that are reported for one message."""
ROOM: Final = 1 << 16
"""The maximum number of characters of the pointers of these problems together: a peer may choose keys of any length. The first problem
is always reported, however long its pointer is.
"""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a message.

    `pointer` is a JSON Pointer into the message (`/params/cwd`; empty for the whole message), `schema` one into the bundled schema
    (`#/$defs/NewSessionRequest/properties/cwd`; empty if no schema is involved, as for text that is not JSON), `sentence` says what is
    wrong.
    """

    pointer: str
    schema: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.pointer or '(message)'}: {self.sentence}"


Found = TypeVar("Found", bound=Problem)


def limit_problems(problems: Iterable[Problem], limit: int = LIMIT) -> tuple[Problem, ...]:
    """The first problems, and a final one that says that there are more."""
    first, more = split_problems(problems, limit)
    return first if more is None else (*first, Problem("", "", describe_more(len(first))))


def split_problems(problems: Iterable[Found], limit: int | None) -> tuple[tuple[Found, ...], Found | None]:
    """The problems to report, and the next one if there are more; a `limit` of `None` means no limit."""
    first: list[Found] = []
    room = ROOM
    for problem in problems:
        if limit is not None and (len(first) == limit or (first and len(problem.pointer) > room)):
            return tuple(first), problem
        first.append(problem)
        room -= len(problem.pointer)
    return tuple(first), None


def describe_more(count: int) -> str:
    """The sentence that there are more problems."""
    return f"there are more problems than these {count}"


class DecodeError(ValueError):
    """A message that cannot be decoded.

    `code` is the JSON-RPC error code (-32700 not JSON, -32600 no valid envelope, -32601 unknown method, -32602 invalid params).
    `problems` has at most a hundred problems, and a final one that says so if there are more. `id` and `method` are what could be read
    of the envelope.
    """

    def __init__(
        self,
        code: int,
        problems: tuple[Problem, ...],
        *,
        id: Any = None,  # it is called so on the wire
        method: str | None = None,
    ) -> None:
        self.code = code
        self.problems = problems
        self.id = id
        self.method = method
        super().__init__("; ".join(str(problem) for problem in problems))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(DecodeError, id=self.id, method=self.method), (self.code, self.problems)


class EncodeError(ValueError):
    """A message that cannot be encoded: JSON cannot express it, or the strict check rejects it. `problems` are the reasons with their
    places, as far as they are known.
    """

    def __init__(self, sentence: str, problems: tuple[Problem, ...] = ()) -> None:
        self.problems = problems
        super().__init__(sentence)

    def prefix(self, *path: str | int) -> EncodeError:
        """The error for the value that has this one at a path."""
        problems = tuple(replace(problem, pointer=json_pointer(path) + problem.pointer) for problem in self.problems)
        return EncodeError("; ".join(map(str, problems)) or str(self), problems)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A value that lenient decoding dropped: its location in the message, the value, and why it was invalid."""

    pointer: str
    value: Any
    problem: Problem


def describe_key(key: Any) -> str:
    """The sentence that a key of an object is no string."""
    return f"the keys of an object are strings, not {key!r}"


def quote(value: Any) -> str:
    """A value as part of a sentence: strings in quotes, other scalars as in JSON, cut at 80 characters."""
    text = _JSON_WORDS[value] if value is None or isinstance(value, bool) else str(value)
    if isinstance(value, str):
        text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def describe(value: Any) -> str:
    """A value as part of a sentence, as by `quote`; an object or array is only named as such."""
    return "an object" if isinstance(value, dict) else "an array" if isinstance(value, list) else quote(value)


_JSON_WORDS: Final = {None: "null", True: "true", False: "false"}
