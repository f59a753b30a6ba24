r"""ECMA-262 patterns as `pattern` uses them: read into a syntax tree.

Only what ECMA-262 and Python's `re` read alike is accepted; back references, look-behind of more than one character, `\p`,
flags and whatever the two read differently raise `UnsupportedPattern`. A dot does not match a line end, `$` is the end of
the text alone, `\d`, `\w` and `\b` are ASCII, `\s` is ECMA's list.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

Ranges: TypeAlias = tuple[tuple[int, int], ...]

DEEPEST_GROUP: Final = 60
MOST_DIGITS: Final = 5
_LAST: Final = 0x10FFFF
SURROGATES: Final = (0xD800, 0xDFFF)


class UnsupportedPattern(ValueError):
    """A pattern outside the common subset; the text says what was met."""


def union(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The ranges sorted and joined where they touch."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], high))
        else:
            joined.append((low, high))
    return tuple(joined)


def complement(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Every character outside the ranges; surrogates are no characters."""
    gaps: list[tuple[int, int]] = []
    following = 0
    for low, high in union((*ranges, SURROGATES)):
        if following < low:
            gaps.append((following, low - 1))
        following = high + 1
    if following <= _LAST:
        gaps.append((following, _LAST))
    return tuple(gaps)


def _characters(text: str) -> Ranges:
    return union((ord(character), ord(character)) for character in text)


_DIGITS: Final[Ranges] = ((48, 57),)
_WORD: Final[Ranges] = union([(48, 57), (65, 90), (95, 95), (97, 122)])
_SPACE: Final[Ranges] = union(
    [*_characters("\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"), (0x2000, 0x200A)]
)
_CLASSES: Final[dict[str, Ranges]] = {
    "d": _DIGITS,
    "D": complement(_DIGITS),
    "w": _WORD,
    "W": complement(_WORD),
    "s": _SPACE,
    "S": complement(_SPACE),
}
_CONTROLS: Final = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
_DOT: Final = complement(_characters("\n\r\u2028\u2029"))


@dataclass(frozen=True, slots=True)
class Chars:
    """One character out of the ranges."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Edge:
    """The place before the first character (`start`) or after the last."""

    start: bool


@dataclass(frozen=True, slots=True)
class Ahead:
    """The place where the part matches what follows; if not `positive`, where it does not."""

    part: Node
    positive: bool


@dataclass(frozen=True, slots=True)
class Behind:
    """The place after a character of the ranges; if not `positive`, any other place, such as the one before the first character."""

    ranges: Ranges
    positive: bool


@dataclass(frozen=True, slots=True)
class Sequence:
    """The parts one after the other; none is the empty text."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the parts."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The part between `low` and `high` times; `None` is without end."""

    part: Node
    low: int
    high: int | None


Node: TypeAlias = Chars | Edge | Ahead | Behind | Sequence | Choice | Repeat


def _boundary(*, present: bool) -> Choice:
    r"""`\b`: a character of a word on one side alone. `\B`: on both sides, or on none."""
    word = Chars(_WORD)
    return Choice(
        tuple(Sequence((Behind(_WORD, before), Ahead(word, before is not present))) for before in (True, False))
    )


_BOUNDARIES: Final = {"b": _boundary(present=True), "B": _boundary(present=False)}


@dataclass(slots=True)
class _Reader:
    """Recursive descent over the text of one pattern."""

    text: str
    at: int = 0
    depth: int = 0

    def peek(self) -> str:
        return self.text[self.at] if self.at < len(self.text) else ""

    def take(self) -> str:
        character = self.peek()
        if not character:
            raise UnsupportedPattern("the pattern ends too early")
        self.at += 1
        return character

    def accept(self, token: str) -> bool:
        if self.text.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    def choice(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST_GROUP:
            raise UnsupportedPattern("groups are nested too deeply")
        parts = [self.sequence()]
        while self.accept("|"):
            parts.append(self.sequence())
        self.depth -= 1
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def sequence(self) -> Node:
        parts: list[Node] = []
        while self.peek() not in {"", "|", ")"}:
            parts.append(self.quantified(self.atom()))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def quantified(self, part: Node) -> Node:
        bounds = self.quantifier()
        if bounds is None:
            return part
        if isinstance(part, Edge | Ahead | Behind) or part in _BOUNDARIES.values():
            raise UnsupportedPattern("an anchor or a look-around is repeated")
        self.accept("?")
        if self.peek() in {"+", "*", "?"} and self.peek():
            raise UnsupportedPattern("a quantifier is quantified")
        low, high = bounds
        if high is not None and high < low:
            raise UnsupportedPattern("a quantifier's bounds are out of order")
        return Repeat(part, low, high)

    def quantifier(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.accept(sign):
                return bounds
        if self.peek() != "{":
            return None
        end = self.text.find("}", self.at)
        body = self.text[self.at + 1 : end] if end > 0 else ""
        low, comma, high = body.partition(",")
        if any(_is_number(bound) and len(bound) > MOST_DIGITS for bound in (low, high)):
            raise UnsupportedPattern("the pattern is too large")
        if not _is_number(low) or (high and not _is_number(high)):
            if comma and not low and (not high or _is_number(high)):
                raise UnsupportedPattern("{,n} means different things to different engines")
            return None
        self.at = end + 1
        return int(low), (int(high) if high else None) if comma else int(low)

    def atom(self) -> Node:
        character = self.take()
        match character:
            case "^" | "$":
                return Edge(character == "^")
            case ".":
                return Chars(_DOT)
            case "(":
                return self.group()
            case "[":
                return Chars(self.character_class())
            case "\\" if self.peek() in _BOUNDARIES:
                return _BOUNDARIES[self.take()]
            case "\\":
                escaped = self.escape()
                return Chars(escaped if isinstance(escaped, tuple) else _characters(escaped))
            case "*" | "+" | "?":
                raise UnsupportedPattern("a quantifier without anything to repeat")
            case "{" if self.quantifier_follows():
                raise UnsupportedPattern("a quantifier without anything to repeat")
            case _:
                return Chars(_characters(character))

    def quantifier_follows(self) -> bool:
        end = self.text.find("}", self.at)
        return end > 0 and _is_number(self.text[self.at : end].replace(",", "", 1))

    def group(self) -> Node:
        for sign, positive in (("?=", True), ("?!", False)):
            if self.accept(sign):
                return Ahead(self.rest_of_group(), positive)
        for sign, positive in (("?<=", True), ("?<!", False)):
            if self.accept(sign):
                return Behind(_one_character(self.rest_of_group()), positive)
        if self.accept("?<"):
            name_end = self.text.find(">", self.at)
            if name_end < 0 or not self.text[self.at : name_end].isidentifier():
                raise UnsupportedPattern("an odd group name")
            self.at = name_end + 1
        elif self.accept("?") and not self.accept(":"):
            raise UnsupportedPattern("flags or another extension '(?…'")
        return self.rest_of_group()

    def rest_of_group(self) -> Node:
        inner = self.choice()
        if not self.accept(")"):
            raise UnsupportedPattern("an unclosed group")
        return inner

    def escape(self) -> str | Ranges:
        """What the escape after a backslash stands for: one character, or a class."""
        character = self.take()
        if character in _CLASSES:
            return _CLASSES[character]
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character == "0" and not self.peek().isdigit():
            return "\0"
        if character == "c" and self.peek().isascii() and self.peek().isalpha():
            return chr(ord(self.take()) % 32)
        if character in {"x", "u"}:
            return self.code(2 if character == "x" else 4)
        if character in "123456789k":
            raise UnsupportedPattern("a back reference")
        if character.isalnum() or character == "_":
            raise UnsupportedPattern(f"the escape \\{character}")
        return character

    def code(self, digits: int) -> str:
        text = self.text[self.at : self.at + digits]
        if len(text) != digits or any(digit not in "0123456789abcdefABCDEF" for digit in text):
            raise UnsupportedPattern("a broken code escape")
        self.at += digits
        character = chr(int(text, 16))
        if is_surrogate(character):
            raise UnsupportedPattern("a surrogate escape")
        return character

    def character_class(self) -> Ranges:
        negative = self.accept("^")
        if self.peek() == "]":
            raise UnsupportedPattern("an empty character class")
        ranges: list[tuple[int, int]] = []
        while not self.accept("]"):
            first = self.class_part()
            if self.peek() == "-" and not self.text.startswith("-]", self.at) and isinstance(first, str):
                self.take()
                last = self.class_part()
                if not isinstance(last, str):
                    raise UnsupportedPattern("a range that ends in a class")
                if ord(last) < ord(first):
                    raise UnsupportedPattern("a range out of order")
                ranges.append((ord(first), ord(last)))
            else:
                ranges.extend(_characters(first) if isinstance(first, str) else first)
        return complement(ranges) if negative else complement(complement(ranges))

    def class_part(self) -> str | Ranges:
        character = self.take()
        if character == "[" or self.text[self.at - 1 : self.at + 1] in {"--", "&&", "||", "~~"}:
            raise UnsupportedPattern("set notation in a character class")
        if character != "\\":
            return character
        if self.accept("b"):
            return "\b"
        return self.escape()


def _one_character(node: Node) -> Ranges:
    """The characters that a look-behind looks for. Raises `UnsupportedPattern` if it looks for more than one at a time."""
    match node:
        case Chars(ranges):
            return ranges
        case Choice(parts):
            return union(each for part in parts for each in _one_character(part))
        case _:
            raise UnsupportedPattern("look-behind of more than one character")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def is_surrogate(character: str) -> bool:
    """Whether it is half of a pair, which is no character."""
    return SURROGATES[0] <= ord(character) <= SURROGATES[1]


def read(pattern: str) -> Node:
    """The pattern's syntax tree. Raises `UnsupportedPattern`."""
    if any(map(is_surrogate, pattern)):
        raise UnsupportedPattern("half of a surrogate pair")
    reader = _Reader(pattern)
    node = reader.choice()
    if reader.at != len(pattern):
        raise UnsupportedPattern("an unopened group")
    return node


@lru_cache(maxsize=4096)
def may_backtrack(pattern: str) -> bool:
    """Whether an engine that backtracks may need time without bound; so are patterns that cannot be read."""
    try:
        return _ambiguous(read(pattern), repeated=False)
    except UnsupportedPattern:
        return True


def _ambiguous(node: Node, *, repeated: bool) -> bool:
    match node:
        case Chars() | Edge() | Behind():
            return False
        case Ahead():
            return True
        case Sequence(parts):
            return any(_ambiguous(part, repeated=repeated) for part in parts)
        case Choice(parts):
            return repeated or any(_ambiguous(part, repeated=repeated) for part in parts)
        case Repeat(part, low, high):
            varies = low != high
            return (repeated and varies) or _ambiguous(part, repeated=repeated or varies)
