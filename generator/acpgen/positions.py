"""Where values stand in JSON text.

The text is walked once, without recursion; what is found answers for every pointer. The walk is strict, so it also says what is
wrong with a text that a JSON reader refused or should have refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from json import loads
from typing import Final, Literal, TypeAlias

from acpgen.pointers import pointer_parts

DEEPEST: Final = 100
"""Levels of nesting beyond which a text is not read further. Published schemas need fewer than thirty."""

LONGEST_INTEGER: Final = 400
"""Digits beyond which an integer is refused; a double holds 309."""

ProblemKind: TypeAlias = Literal["syntax", "duplicate", "depth", "value"]

_SPACE: Final = re.compile(r"[ \t\n\r]*+")
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_WORD: Final = re.compile(r"true|false|null")
_OFTEN_MISTAKEN: Final = re.compile(r"-?(?:NaN|Infinity)|True|False|None|undefined|//|/\*|'")


@dataclass(frozen=True, slots=True)
class Place:
    """One value of the text: where it begins (a member at its key), and the values directly inside it by key or index."""

    offset: int
    children: Mapping[str, Place] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that strict JSON refuses. `detail` is the key of a duplicate, the limit of depth, and a reason otherwise."""

    kind: ProblemKind
    offset: int
    detail: str


def position(text: str, pointer: str) -> tuple[int, int]:
    """Line and column, counted from 1 in characters, of what `pointer` (`/a/b` or `#/a/b`) leads to; a member is at its key.

    Raises `KeyError` where the pointer leads nowhere.
    """
    place = places(text)
    for part in pointer_parts(pointer):
        place = place.children[part]
    return line_and_column(text, place.offset)


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Line and column, counted from 1, of a character of the text."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


@lru_cache(maxsize=8)
def places(text: str) -> Place:
    """Every value of a text that is JSON."""
    root, problems = walk(text)
    assert root is not None, problems
    return root


def walk(text: str) -> tuple[Place | None, tuple[Problem, ...]]:
    """Every value of the text and all that strict JSON refuses in it. After a syntax error or too deep nesting there is no place."""
    walker = _Walker(text)
    try:
        root = walker.run()
    except _Stop as stop:
        return None, (*walker.problems, stop.problem)
    return root, tuple(walker.problems)


class _Stop(Exception):
    def __init__(self, problem: Problem) -> None:
        self.problem = problem


@dataclass(frozen=True, slots=True)
class _Open:
    """An array or object whose end has not been seen yet."""

    closer: Literal["]", "}"]
    children: dict[str, Place]


class _Walker:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.problems: list[Problem] = []
        self.open: list[_Open] = []

    def run(self) -> Place:
        root: dict[str, Place] = {}
        self._space()
        self._value(root, "", self.at)
        while self.open:
            self._step(self.open[-1])
        self._space()
        if self.at < len(self.text):
            raise self._stop("something follows the end of the document")
        return root[""]

    def _step(self, inner: _Open) -> None:
        """Read one entry of the innermost open value, or its end."""
        self._space()
        if self._take(inner.closer):
            self.open.pop()
            return
        if inner.children:
            if not self._take(","):
                raise self._stop(f"expected ',' or '{inner.closer}'")
            self._space()
            if self.text.startswith(inner.closer, self.at):
                raise self._stop(f"no ',' may stand before '{inner.closer}'")
        start = self.at
        if inner.closer == "]":
            self._value(inner.children, str(len(inner.children)), start)
            return
        key = self._string("a key in double quotes")
        if key in inner.children:
            self.problems.append(Problem("duplicate", start, key))
        self._space()
        if not self._take(":"):
            raise self._stop("expected ':' after the key")
        self._space()
        self._value(inner.children, key, start)

    def _value(self, siblings: dict[str, Place], key: str, start: int) -> None:
        first = self.text[self.at : self.at + 1]
        children: dict[str, Place] = {}
        siblings[key] = Place(start, children)
        if first == "[" or first == "{":
            if len(self.open) == DEEPEST:
                raise _Stop(Problem("depth", self.at, str(DEEPEST)))
            self.at += 1
            self.open.append(_Open("]" if first == "[" else "}", children))
        elif first == '"':
            self._string("a value")
        elif number := _NUMBER.match(self.text, self.at):
            self._number(number)
        elif word := _WORD.match(self.text, self.at):
            self.at = word.end()
        elif mistaken := _OFTEN_MISTAKEN.match(self.text, self.at):
            raise self._stop(f"expected a value, and JSON does not know {mistaken.group()}")
        else:
            raise self._stop("expected a value")

    def _number(self, number: re.Match[str]) -> None:
        literal = number.group()
        whole = literal.lstrip("-").isdigit()
        if len(literal) > LONGEST_INTEGER if whole else not math.isfinite(float(literal)):
            self.problems.append(Problem("value", self.at, "this number is out of range"))
        self.at = number.end()

    def _string(self, wanted: str) -> str:
        if not self.text.startswith('"', self.at):
            raise self._stop(f"expected {wanted}")
        found = _STRING.match(self.text, self.at)
        if found is None:
            raise self._stop("this string has no end, or holds a line break, a control character or an unknown escape")
        value = found.group()[1:-1]
        if "\\" in value:
            value = loads(found.group())
            if any("\ud800" <= character <= "\udfff" for character in value):
                self.problems.append(Problem("value", self.at, "this string holds half of a surrogate pair"))
        self.at = found.end()
        return value

    def _take(self, expected: str) -> bool:
        found = self.text.startswith(expected, self.at)
        self.at += found
        return found

    def _space(self) -> None:
        space = _SPACE.match(self.text, self.at)
        assert space is not None
        self.at = space.end()

    def _stop(self, reason: str) -> _Stop:
        ended = self.at >= len(self.text)
        return _Stop(Problem("syntax", self.at, f"{reason}, and the text ends here" if ended else reason))
