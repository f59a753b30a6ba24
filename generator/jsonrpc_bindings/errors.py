"""What can go wrong with a message, as data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
REQUEST_CANCELLED: Final = -32800

LIMIT: Final = 100
"""How many problems of one message are told, where nothing else is asked for."""
ROOM: Final = 1 << 16
"""How many characters the pointers of these may have together; the first is told however long it is. A key is as long as a peer likes."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a message.

    `pointer` is a JSON Pointer into the message (`/params/cwd`; empty for the whole), `schema` one into the bundled schema
    (`#/$defs/NewSessionRequest/properties/cwd`; empty where no schema speaks, as for text that is not JSON), `sentence` says what is wrong.
    """

    pointer: str
    schema: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.pointer or '(message)'}: {self.sentence}"


Found = TypeVar("Found", bound=Problem)


def limited(found: Iterable[Problem], limit: int = LIMIT) -> tuple[Problem, ...]:
    """The first problems, and a last one if there are more."""
    first, more = parted(found, limit)
    return first if more is None else (*first, Problem("", "", more_than(len(first))))


def parted(found: Iterable[Found], limit: int | None) -> tuple[tuple[Found, ...], Found | None]:
    """The problems that are told, and the next one if there are more; `None` is no limit."""
    first: list[Found] = []
    room = ROOM
    for problem in found:
        if limit is not None and (len(first) == limit or (first and len(problem.pointer) > room)):
            return tuple(first), problem
        first.append(problem)
        room -= len(problem.pointer)
    return tuple(first), None


def more_than(count: int) -> str:
    """Says that more is wrong than is told."""
    return f"there are more problems than these {count}"


class DecodeError(ValueError):
    """A message that cannot be decoded.

    `code` is the JSON-RPC error code that fits (-32700 not JSON, -32600 no valid envelope, -32601 unknown method, -32602 bad
    params), `problems` what was found, up to a hundred and a last one that says so if there are more, `id` and `method` what could be
    read of the envelope.
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
        return _rebuild, (self.code, self.problems, self.id, self.method)


def _rebuild(code: int, problems: tuple[Problem, ...], id_: Any, method: str | None) -> DecodeError:
    return DecodeError(code, problems, id=id_, method=method)


class EncodeError(ValueError):
    """A message that is not written: no JSON text can hold it, or a strict judgement refuses it and says why in `problems`."""

    def __init__(self, sentence: str, problems: tuple[Problem, ...] = ()) -> None:
        self.problems = problems
        super().__init__(sentence)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A value that leniency dropped: where it stood in the message, what it was, and why it did not fit."""

    pointer: str
    value: Any
    problem: Problem


def quote(value: Any) -> str:
    """A value in a sentence: strings in quotes, other scalars as JSON writes them, cut at 80 characters."""
    text = _JSON_WORDS[value] if value is None or isinstance(value, bool) else str(value)
    if isinstance(value, str):
        text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def describe(value: Any) -> str:
    """A value in a sentence as `shown`; of objects and arrays only that they are such."""
    return "an object" if isinstance(value, dict) else "an array" if isinstance(value, list) else quote(value)


_JSON_WORDS: Final = {None: "null", True: "true", False: "false"}
