r"""ECMA-262 patterns as `pattern` uses them: read into an automaton that searches, anchors wherever they stand.

Only what ECMA-262 and Python's `re` read alike is accepted; look-around, back references, word boundaries, `\p`, flags
and whatever the two read differently raise `UnsupportedPattern`. A dot does not match a line end, `$` is the end of the
text alone, `\d` and `\w` are ASCII, `\s` is ECMA's list.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

Ranges: TypeAlias = tuple[tuple[int, int], ...]

LARGEST_MACHINE: Final = 6_000
DEEPEST_GROUP: Final = 60
MOST_DIGITS: Final = 5
_LAST: Final = 0x10FFFF
_SURROGATES: Final = (0xD800, 0xDFFF)


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
    for low, high in union((*ranges, _SURROGATES)):
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


Node: TypeAlias = Chars | Edge | Sequence | Choice | Repeat


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
        if isinstance(part, Edge):
            raise UnsupportedPattern("an anchor is repeated")
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
        if self.accept("?"):
            if self.accept("<"):
                name_end = self.text.find(">", self.at)
                if name_end < 0 or not self.text[self.at : name_end].isidentifier():
                    raise UnsupportedPattern("look-behind or an odd group name")
                self.at = name_end + 1
            elif not self.accept(":"):
                raise UnsupportedPattern("look-around, flags or another extension '(?…'")
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
        if character.isalnum() or character == "_":
            raise UnsupportedPattern(f"the escape \\{character}")
        return character

    def code(self, digits: int) -> str:
        text = self.text[self.at : self.at + digits]
        if len(text) != digits or any(digit not in "0123456789abcdefABCDEF" for digit in text):
            raise UnsupportedPattern("a broken code escape")
        self.at += digits
        character = chr(int(text, 16))
        if _is_surrogate(character):
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


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _is_surrogate(character: str) -> bool:
    return _SURROGATES[0] <= ord(character) <= _SURROGATES[1]


def read(pattern: str) -> Node:
    """The pattern's syntax tree. Raises `UnsupportedPattern`."""
    if any(map(_is_surrogate, pattern)):
        raise UnsupportedPattern("half of a surrogate pair")
    reader = _Reader(pattern)
    node = reader.choice()
    if reader.at != len(pattern):
        raise UnsupportedPattern("an unopened group")
    return node


@dataclass(frozen=True, slots=True)
class Machine:
    """A non-deterministic automaton that searches its pattern.

    `moves` is for each state its character edge; `skips` its empty edges, each with the place where it may be taken:
    `None` anywhere, `True` before the first character, `False` after the last. `origin` is a state of the empty text alone,
    so the states after no character differ from those after some. `alive` are the states from which a match can still be
    reached once a character has been read.
    """

    moves: tuple[tuple[Ranges, int] | None, ...]
    skips: tuple[tuple[tuple[bool | None, int], ...], ...]
    origin: int
    start: int
    accept: int
    alive: frozenset[int]


MATCHED: Final[frozenset[int]] = frozenset({-1})
"""The state after a match: whatever follows, the pattern has been found."""


@dataclass(slots=True)
class _Builder:
    """Thompson's construction."""

    moves: list[tuple[Ranges, int] | None]
    skips: list[list[tuple[bool | None, int]]]

    def state(self) -> int:
        if len(self.moves) >= LARGEST_MACHINE:
            raise UnsupportedPattern("the pattern is too large")
        self.moves.append(None)
        self.skips.append([])
        return len(self.moves) - 1

    def add(self, node: Node, source: int) -> int:
        """Adds the node behind `source`; the state after it."""
        match node:
            case Chars(ranges):
                if self.moves[source] is not None:
                    self.skips[source].append((None, len(self.moves)))
                    source = self.state()
                target = self.state()
                self.moves[source] = (ranges, target)
                return target
            case Edge(start):
                target = self.state()
                self.skips[source].append((start, target))
                return target
            case Sequence(parts):
                for part in parts:
                    source = self.add(part, source)
                return source
            case Choice(parts):
                target = self.state()
                for part in parts:
                    self.skips[self.add(part, source)].append((None, target))
                return target
            case Repeat(part, low, high):
                return self.repeat(part, low, high, source)

    def repeat(self, part: Node, low: int, high: int | None, source: int) -> int:
        for _ in range(low):
            source = self.add(part, source)
        target = self.state()
        if high is None:
            loop = self.state()
            self.skips[source].append((None, loop))
            self.skips[self.add(part, loop)].append((None, loop))
            self.skips[loop].append((None, target))
            return target
        self.skips[source].append((None, target))
        for _ in range(high - low):
            source = self.add(part, source)
            self.skips[source].append((None, target))
        return target


def machine(pattern: str) -> Machine:
    """The automaton of a pattern. Raises `UnsupportedPattern`."""
    known = _machine_or_fault(pattern)
    if isinstance(known, Machine):
        return known
    raise UnsupportedPattern(known)


@lru_cache(maxsize=512)
def _machine_or_fault(pattern: str) -> Machine | str:
    try:
        return _built(pattern)
    except UnsupportedPattern as fault:
        return str(fault)


def _built(pattern: str) -> Machine:
    builder = _Builder([], [])
    origin, start = builder.state(), builder.state()
    builder.skips[origin].append((None, start))
    accept = builder.add(read(pattern), start)
    return Machine(
        tuple(builder.moves),
        tuple(tuple(skips) for skips in builder.skips),
        origin,
        start,
        accept,
        _alive(builder, accept),
    )


def _alive(builder: _Builder, accept: int) -> frozenset[int]:
    sources: dict[int, list[int]] = {}
    for source, move in enumerate(builder.moves):
        if move is not None and move[0]:
            sources.setdefault(move[1], []).append(source)
        for place, target in builder.skips[source]:
            if place is not True:
                sources.setdefault(target, []).append(source)
    alive = {accept}
    pending = [accept]
    while pending:
        for source in sources.get(pending.pop(), ()):
            if source not in alive:
                alive.add(source)
                pending.append(source)
    return frozenset(alive)


def _closure(automaton: Machine, states: Iterable[int], *, first: bool, last: bool) -> set[int]:
    reached = set(states)
    pending = list(reached)
    while pending:
        for place, target in automaton.skips[pending.pop()]:
            if target not in reached and (place is None or (first if place else last)):
                reached.add(target)
                pending.append(target)
    return reached


def begin(automaton: Machine) -> frozenset[int]:
    """The set of states before the first character."""
    states = _closure(automaton, [automaton.origin], first=True, last=False)
    return MATCHED if automaton.accept in states else frozenset(states)


def step(automaton: Machine, states: frozenset[int], character: int) -> frozenset[int]:
    """The set of states after one more character."""
    if states is MATCHED:
        return MATCHED
    targets = {automaton.start}
    for state in states:
        move = automaton.moves[state]
        if move is not None and any(low <= character <= high for low, high in move[0]):
            targets.add(move[1])
    reached = _closure(automaton, targets & automaton.alive, first=False, last=False) & automaton.alive
    return MATCHED if automaton.accept in reached else frozenset(reached)


def ends(automaton: Machine, states: frozenset[int]) -> bool:
    """Whether the pattern is found if the text ends here."""
    empty = automaton.origin in states
    return states is MATCHED or automaton.accept in _closure(automaton, states, first=empty, last=True)


def found(pattern: str, text: str) -> bool:
    """Whether the pattern matches somewhere in the text, in time linear in the text. Raises `UnsupportedPattern`."""
    automaton = machine(pattern)
    if any(map(_is_surrogate, text)):
        raise UnsupportedPattern("half of a surrogate pair in the text")
    states = begin(automaton)
    for character in text:
        states = step(automaton, states, ord(character))
        if states is MATCHED or not states:
            break
    return ends(automaton, states)


@lru_cache(maxsize=4096)
def may_backtrack(pattern: str) -> bool:
    """Whether an engine that backtracks may need time without bound; so are patterns that cannot be read."""
    try:
        return _ambiguous(read(pattern), repeated=False)
    except UnsupportedPattern:
        return True


def _ambiguous(node: Node, *, repeated: bool) -> bool:
    match node:
        case Chars() | Edge():
            return False
        case Sequence(parts):
            return any(_ambiguous(part, repeated=repeated) for part in parts)
        case Choice(parts):
            return repeated or any(_ambiguous(part, repeated=repeated) for part in parts)
        case Repeat(part, low, high):
            varies = low != high
            return (repeated and varies) or _ambiguous(part, repeated=repeated or varies)
