"""JSON text: the positions of its values, and what strict JSON refuses in it.

Positions are found by reading only the way to them, in valid JSON. Errors are found by a single walk of the text, which says more than
the JSON parser that refused it, or should have.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from json import JSONDecoder, loads
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, NoReturn, TypeAlias

from msgspec import Struct

from acpgen.input.numbers import parse_number

DEEPEST: Final = 100
"""The maximum nesting depth of a text. Published schemas need fewer than thirty levels."""

ProblemKind: TypeAlias = Literal["syntax", "duplicate", "depth", "value"]

_SPACE: Final = re.compile(r"[ \t\n\r]*+")
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_WORD: Final = re.compile(r"true|false|null")
_OFTEN_MISTAKEN: Final = re.compile(r"-?(?:NaN|Infinity)|True|False|None|undefined|//|/\*|'")


class JsonProblem(Struct, frozen=True):
    """Something that strict JSON refuses. `detail` is the key of a duplicate, the limit of the depth, or else a reason."""

    kind: ProblemKind
    offset: int
    detail: str


def locate_offset(text: str, offset: int) -> tuple[int, int]:
    """Line and column of a character of the text, from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


class Place(NamedTuple):
    """The position of a value: `offset` is that of its key, if it has one, `begins` that of the value itself."""

    offset: int
    begins: int


class Positions:
    """The positions of the values of a JSON text. Only the way to a value is read, each part once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._inside: dict[int, dict[str, Place]] = {}

    def find_nearest(
        self, keys: Iterable[str], otherwise: Mapping[str, str] = MappingProxyType({})
    ) -> tuple[int, tuple[str, ...]]:
        """The offset of the value at these keys, and the keys; the nearest enclosing value if it does not exist.

        `otherwise` maps keys that do not exist to alternatives.
        """
        start = _skip_space(self.text, 0)
        position = Place(start, start)
        path: list[str] = []
        for name in keys:
            members = self._get_members(position.begins)
            key = name if name in members else otherwise.get(name, name)
            if key not in members:
                break
            position = members[key]
            path.append(key)
        return position.offset, tuple(path)

    def list_members(self, keys: Iterable[str | int]) -> tuple[int, Mapping[str, Place]]:
        """The offset of the value at these keys, and the positions of its members or items. Raises `KeyError` if it does not exist."""
        begins = _skip_space(self.text, 0)
        for key in keys:
            begins = self._get_members(begins)[str(key)].begins
        return begins, self._get_members(begins)

    def end(self, begins: int) -> int:
        """The end of the value that begins at an offset."""
        return _READ(self.text, begins)[1]

    def locate_offset(self, offset: int) -> tuple[int, int]:
        """Line and column of a character of the text, from 1."""
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def _get_members(self, begins: int) -> Mapping[str, Place]:
        """The members or items of the value that begins at an offset."""
        if begins not in self._inside:
            self._inside[begins] = dict(_scan_members(self.text, begins))
        return self._inside[begins]


@lru_cache(maxsize=8)
def find_positions(text: str) -> Positions:
    """The positions in a text."""
    return Positions(text)


_READ: Final = JSONDecoder().raw_decode


def _scan_members(text: str, begins: int) -> Iterator[tuple[str, Place]]:
    opener = text[begins : begins + 1]
    if opener not in ("{", "["):
        return
    at = _skip_space(text, begins + 1)
    count = 0
    while text[at] not in "}]":
        start, key = at, str(count)
        if opener == "{":
            key, at = _READ(text, at)
            at = _skip_space(text, _skip_space(text, at) + 1)  # beyond the colon
        yield key, Place(start, at)
        count += 1
        at = _skip_space(text, _READ(text, at)[1])
        if text[at] == ",":
            at = _skip_space(text, at + 1)


def _skip_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    assert space is not None
    return space.end()


def relocate(at: str, places: Mapping[str, str]) -> str:
    """Map a place of a derived document to the place in its source."""
    for _ in range(len(at) if places else 0):
        steps = at.split("/")
        for depth in range(min(len(steps), DEEPEST + 2), 0, -1):
            source = places.get("/".join(steps[:depth]))
            if source is not None:
                at = "/".join((source, *steps[depth:]))
                break
        else:
            return at
    return at


def find_problems(text: str) -> tuple[JsonProblem, ...]:
    """Everything that strict JSON refuses in a text, up to the first syntax error or excessive nesting."""
    reader = _Reader(text)
    with suppress(_Stop):
        reader.read_value(0)
        if reader.peek():
            reader.stop("something follows the end of the document")
    return tuple(reader.problems)


class _Stop(Exception):
    pass


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.problems: list[JsonProblem] = []

    def read_value(self, depth: int) -> None:
        opener = self.peek()
        if opener in ("[", "{"):
            if depth == DEEPEST:
                self.problems.append(JsonProblem("depth", self.at, str(DEEPEST)))
                raise _Stop
            self.at += 1
            self._read_members("]" if opener == "[" else "}", depth + 1)
        elif opener == '"':
            self._read_string()
        elif number := _NUMBER.match(self.text, self.at):
            try:
                parse_number(number.group())
            except ValueError as error:
                self.problems.append(JsonProblem("value", self.at, str(error)))
            self.at = number.end()
        elif word := _WORD.match(self.text, self.at):
            self.at = word.end()
        else:
            mistaken = _OFTEN_MISTAKEN.match(self.text, self.at)
            self.stop(f"expected a value{f', and JSON does not know {mistaken.group()}' if mistaken else ''}")

    def _read_members(self, closer: str, depth: int) -> None:
        """Read an array or object up to its end."""
        keys: set[str] = set()
        is_first = True
        while not self._take(closer):
            if not is_first:
                if not self._take(","):
                    self.stop(f"expected ',' or '{closer}'")
                if self.peek() == closer:
                    self.stop(f"no ',' may stand before '{closer}'")
            is_first = False
            if closer == "}":
                if self.peek() != '"':
                    self.stop("expected a key in double quotes")
                start, key = self.at, self._read_string()
                if key in keys:
                    self.problems.append(JsonProblem("duplicate", start, key))
                keys.add(key)
                if not self._take(":"):
                    self.stop("expected ':' after the key")
            self.read_value(depth)

    def _read_string(self) -> str:
        literal = _STRING.match(self.text, self.at)
        if literal is None:
            self.stop("this string has no end, or holds a line break, a control character or an unknown escape")
        value: str = loads(literal.group()) if "\\" in literal.group() else literal.group()[1:-1]
        if "\\" in literal.group() and any("\ud800" <= character <= "\udfff" for character in value):
            self.problems.append(JsonProblem("value", self.at, "this string holds half of a surrogate pair"))
        self.at = literal.end()
        return value

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        self.at = _skip_space(self.text, self.at)
        return self.text[self.at : self.at + 1]

    def _take(self, expected: str) -> bool:
        is_next = self.peek() == expected
        self.at += is_next
        return is_next

    def stop(self, reason: str) -> NoReturn:
        ended = ", and the text ends here" if self.at >= len(self.text) else ""
        self.problems.append(JsonProblem("syntax", self.at, f"{reason}{ended}"))
        raise _Stop
