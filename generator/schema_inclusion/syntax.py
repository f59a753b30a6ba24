r"""Parse patterns as ECMA-262 defines them into a syntax tree that all validators share.

A pattern has its meaning with the flag `u`. One that is invalid with `u`, such as `a\-b`, has its meaning without: identity escapes and
the rest of Annex B, over UTF-16 code units. No flag `i`, `m` or `s` is set: a dot matches no line terminator, and `$` only the end of
the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, TypeAlias, cast

from msgspec import Struct

from schema_inclusion.unicode_properties import is_property

Ranges: TypeAlias = tuple[tuple[int, int], ...]

DEEPEST_GROUP: Final = 60
LONGEST: Final = 10_000
_MOST: Final = 10**9
"""The maximum count of a quantifier; larger ones are equivalent, as no text is so long."""
LAST: Final = 0x10FFFF
_LAST_UNIT: Final = 0xFFFF
HIGHS: Final = (0xD800, 0xDBFF)
LOWS: Final = (0xDC00, 0xDFFF)
SURROGATES: Final = (HIGHS[0], LOWS[1])


class UnsupportedPattern(ValueError):
    """A pattern that is not supported; the message says why."""


class InvalidPattern(UnsupportedPattern):
    """A text that is not an ECMA-262 pattern; the message names the construct and its position."""


def join_ranges(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Sort the ranges and merge those that touch."""
    result: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if result and low <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(result[-1][1], high))
        else:
            result.append((low, high))
    return tuple(result)


def complement(ranges: Iterable[tuple[int, int]], last: int = LAST) -> Ranges:
    """The characters outside the ranges, without surrogates; with them if `last` is that of UTF-16 code units."""
    gaps: list[tuple[int, int]] = []
    following = 0
    for low, high in join_ranges((*ranges, SURROGATES) if last == LAST else ranges):
        if following < low:
            gaps.append((following, low - 1))
        following = high + 1
    if following <= last:
        gaps.append((following, last))
    return tuple(gaps)


def clip_ranges(ranges: Iterable[tuple[int, int]], low: int, high: int) -> Ranges:
    """The part of the ranges between two characters."""
    return tuple((max(low, first), min(high, last)) for first, last in ranges if first <= high and last >= low)


def make_ranges(text: str) -> Ranges:
    """The characters of a text."""
    return join_ranges((ord(character), ord(character)) for character in text)


DIGITS: Final[Ranges] = ((48, 57),)
WORD: Final[Ranges] = join_ranges([(48, 57), (65, 90), (95, 95), (97, 122)])
SPACE: Final[Ranges] = join_ranges(
    [*make_ranges("\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"), (0x2000, 0x200A)]
)
LINE_ENDS: Final[Ranges] = make_ranges("\n\r\u2028\u2029")
_CLASSES: Final = {"d": DIGITS, "w": WORD, "s": SPACE}
_CONTROLS: Final = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
_SYNTAX: Final = frozenset("^$\\.*+?()[]{}|/")
"""The syntax characters, which can be escaped with the flag `u`."""


class Chars(Struct, frozen=True):
    r"""A character in the ranges or with one of the properties, or if `negative` any other. A property is the text of its escape."""

    ranges: Ranges
    properties: tuple[str, ...] = ()
    negative: bool = False


class Edge(Struct, frozen=True):
    """The position before the first character (`start`) or after the last."""

    start: bool


class Boundary(Struct, frozen=True):
    r"""The position where a word starts or ends (`\b`); if not `present`, any other position (`\B`)."""

    present: bool


class Ahead(Struct, frozen=True):
    """A look-ahead: the part matches what follows; if not `positive`, it does not."""

    part: Node
    positive: bool


class Behind(Struct, frozen=True):
    """A look-behind: the part matches what precedes; if not `positive`, it does not."""

    part: Node
    positive: bool


class Sequence(Struct, frozen=True):
    """The parts one after the other; without parts, the empty text."""

    parts: tuple[Node, ...]


class Choice(Struct, frozen=True):
    """One of the parts."""

    parts: tuple[Node, ...]


class Repeat(Struct, frozen=True):
    """The part between `low` and `high` times; `None` is no limit. `lazy` decides which match is found, not whether there is one."""

    part: Node
    low: int
    high: int | None
    lazy: bool = False


class Group(Struct, frozen=True):
    """A capturing group with its number."""

    part: Node
    number: int


class BackReference(Struct, frozen=True):
    """The text of a group that has matched."""

    number: int


class _Reference(Struct, frozen=True):
    """A back reference that is not yet resolved, to a number or a name."""

    to: int | str
    at: int


Node: TypeAlias = Chars | Edge | Boundary | Ahead | Behind | Sequence | Choice | Repeat | Group | BackReference

EMPTY: Final = Sequence(())


def repeat(part: Node, low: int, high: int | None, *, lazy: bool = False) -> Node:
    """Repeat a part; an assertion or the empty text at most once, which means the same."""
    inner = part
    while isinstance(inner, Group):
        inner = inner.part
    if isinstance(inner, Edge | Boundary | Ahead | Behind) or inner == EMPTY:
        return part if low else EMPTY
    return Repeat(part, low, high, lazy)


class Pattern(Struct, frozen=True):
    """A parsed pattern. `is_unicode`: it is valid with the flag `u`; otherwise its characters are UTF-16 code units."""

    node: Node
    is_unicode: bool


@lru_cache(maxsize=4096)
def parse(pattern: str) -> Pattern:
    """Parse a pattern. Raises `UnsupportedPattern`; `InvalidPattern` if it is invalid in ECMA-262."""
    if len(pattern) > LONGEST:
        raise UnsupportedPattern(f"it has over {LONGEST} characters")
    try:
        return _Reader(pattern, is_unicode=True).pattern()
    except InvalidPattern:
        return _Reader(_split_units(pattern), is_unicode=False).pattern()


def _split_units(text: str) -> str:
    """The UTF-16 code units of a text, each as a character."""
    data = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(data[at] | data[at + 1] << 8) for at in range(0, len(data), 2))


def is_surrogate(character: str) -> bool:
    """Whether the character is a surrogate."""
    return SURROGATES[0] <= ord(character) <= SURROGATES[1]


_COUNTS: Final = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_OPENING: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]?|\((?!\?)|\(\?<(?![=!])", re.DOTALL)
"""Escapes and classes, which may contain a parenthesis, and the starts of capturing groups."""
_PLACE: Final = re.compile(r"[$^]|\\[bB]|\(\?<?[=!]")
_HEX: Final = re.compile("[0-9A-Fa-f]+")
_FOREIGN: Final = (
    (re.compile(r"\?P<[^>)]*>?"), "a named group is written (?<name>…)"),
    (re.compile(r"\?P[=>][^)]*\)?"), "a reference to a named group is written \\k<name>"),
    (re.compile(r"\?[a-zA-Z]*-?[a-zA-Z]*\)"), "ECMA-262 has no flags inside a pattern"),
    (re.compile(r"\?>"), "ECMA-262 has no atomic groups"),
    (re.compile(r"\?#"), "ECMA-262 has no comments"),
    (re.compile(r"\?[^)]{0,8}"), "ECMA-262 has no such group"),
)
_MODIFIERS: Final = re.compile("([ims]*)(?:-([ims]*))?:")


@dataclass(slots=True)
class _Reader:
    """A recursive descent parser of one pattern."""

    text: str
    is_unicode: bool
    at: int = 0
    depth: int = 0
    groups: int = 0
    total: int = 0
    has_names: bool = False
    names: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    alternative: set[str] = field(default_factory=set[str])
    """The names of groups in the current alternative, which must be unique."""
    references: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    unsupported: str = ""

    def pattern(self) -> Pattern:
        """Parse the whole text."""
        openings: list[str] = [opening for opening in _OPENING.findall(self.text) if opening.startswith("(")]
        self.total, self.has_names = len(openings), "(?<" in openings
        node = self.choice()
        if self.at != len(self.text):
            raise self.make_error(")", "no group is open")
        for at, name in self.references:
            if name not in self.names:
                raise self.make_error(f"\\k<{name}>", "no group has this name", at)
        if self.unsupported:
            raise UnsupportedPattern(self.unsupported)
        return Pattern(_Resolver(self.names).node(node), self.is_unicode)

    def make_error(self, construct: str, reason: str, at: int | None = None) -> InvalidPattern:
        """Make the error of a construct; without a position, the error is at the current one."""
        place = self.at if at is None else at
        before = self.text[:place].encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        excerpt = construct if len(construct) <= 40 else f"{construct[:39]}…"
        return InvalidPattern(f"'{excerpt}' at character {len(before) + 1}: {reason}")

    def peek(self) -> str:
        return self.text[self.at] if self.at < len(self.text) else ""

    def take(self) -> str:
        character = self.peek()
        self.at += len(character)
        return character

    def accept(self, token: str) -> bool:
        if self.text.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    # --- terms ---

    def choice(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST_GROUP:
            raise UnsupportedPattern("its groups are nested too deeply")
        around, group_names = self.alternative, set[str]()
        parts: list[Node] = []
        while not parts or self.accept("|"):
            self.alternative = set()
            parts.append(self.sequence())
            group_names |= self.alternative
        clash = next(iter(group_names & around), None)
        if clash is not None:
            raise self.make_error(f"(?<{clash}>", "two groups have this name")
        self.alternative = around | group_names
        self.depth -= 1
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def sequence(self) -> Node:
        parts: list[Node] = []
        while self.peek() not in {"", "|", ")"}:
            parts.append(self.term())
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def term(self) -> Node:
        start = self.at
        part = self.atom()
        count_start = self.at
        bounds = self.quantifier()
        if bounds is None:
            return part
        low, high = bounds
        sign = self.text[count_start : self.at]
        is_lazy = self.accept("?")
        if _PLACE.match(self.text, start) and not (isinstance(part, Ahead) and not self.is_unicode):
            raise self.make_error(self.text[start : self.at], "a place cannot be repeated", start)
        if high is not None and high < low:
            raise self.make_error(sign, "the counts are out of order", count_start)
        return repeat(part, low, high, lazy=is_lazy)

    def quantifier(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.accept(sign):
                return bounds
        counts = _COUNTS.match(self.text, self.at)
        if counts is None:
            return None
        self.at = counts.end()
        low, comma, high = counts.groups()
        return _count(low), (_count(high) if high else None) if comma else _count(low)

    def atom(self) -> Node:
        start = self.at
        character = self.take()
        match character:
            case "^" | "$":
                return Edge(character == "^")
            case ".":
                return Chars(self.complement_ranges(LINE_ENDS))
            case "(":
                return self.group(start)
            case "[":
                return self.character_class(start)
            case "\\":
                return self.escape(start)
            case "*" | "+" | "?":
                raise self.make_error(character, "there is nothing to repeat", start)
            case "{" if (counts := _COUNTS.match(self.text, start)) is not None:
                raise self.make_error(counts[0], "there is nothing to repeat", start)
            case "{" | "}" | "]":
                if self.is_unicode:
                    raise self.make_error(character, "it stands alone", start)
                return Chars(make_ranges(character))
            case _:
                return self.literal(character)

    def literal(self, character: str) -> Chars:
        """The node of a literal character. With the flag `u`, a surrogate matches no text."""
        if self.is_unicode and is_surrogate(character):
            return Chars(())
        return Chars(make_ranges(character))

    def complement_ranges(self, ranges: Ranges) -> Ranges:
        """The characters outside the ranges."""
        return complement(ranges, LAST if self.is_unicode else _LAST_UNIT)

    # --- groups ---

    def group(self, start: int) -> Node:
        for sign, kind, positive in (
            ("?=", Ahead, True),
            ("?!", Ahead, False),
            ("?<=", Behind, True),
            ("?<!", Behind, False),
        ):
            if self.accept(sign):
                return kind(self.close_group(start), positive)
        if self.accept("?:"):
            return self.close_group(start)
        if self.accept("?<"):
            self.groups += 1
            number, name = self.groups, self.name("(?<", start)
            if name in self.alternative:
                raise self.make_error(f"(?<{name}>", "two groups have this name", start)
            self.alternative.add(name)
            self.names.setdefault(name, []).append(number)
            return Group(self.close_group(start), number)
        if self.peek() == "?":
            modifiers = _MODIFIERS.match(self.text, self.at + 1)
            if modifiers is None or not _are_flags(modifiers[1] + (modifiers[2] or "")):
                shapes = ((shape.match(self.text, self.at), reason) for shape, reason in _FOREIGN)
                construct, reason = next((match[0], reason) for match, reason in shapes if match is not None)
                raise self.make_error(f"({construct}", reason, start)
            self.at = modifiers.end()
            self.unsupported = f"'({self.text[start + 1 : self.at]}' at character {start + 1} sets flags"
            return self.close_group(start)
        self.groups += 1
        number = self.groups
        return Group(self.close_group(start), number)

    def close_group(self, start: int) -> Node:
        inner = self.choice()
        if not self.accept(")"):
            raise self.make_error("(", "the group is not closed", start)
        return inner

    def name(self, opening: str, start: int) -> str:
        """Parse the name of a group, after `<`."""
        end = self.text.find(">", self.at)
        raw_name = self.text[self.at : end] if end >= 0 else self.text[self.at :]
        name = _ESCAPED_POINT.sub(lambda point: chr(min(int(point[1] or point[2], 16), LAST)), raw_name)
        if end < 0 or not name.replace("$", "_").replace("\u200c", "_").replace("\u200d", "_").isidentifier():
            raise self.make_error(f"{opening}{raw_name}", "this is no name of a group", start)
        self.at = end + 1
        return name

    # --- escapes ---

    def escape(self, start: int) -> Node:
        """Parse an escape outside a class, after its backslash."""
        character = self.peek()
        if character and character in "bB":
            self.take()
            return Boundary(character == "b")
        if character == "k" and (self.is_unicode or self.has_names):
            self.take()
            if not self.accept("<"):
                raise self.make_error("\\k", "a reference names its group: \\k<name>", start)
            name = self.name("\\k<", start)
            self.references.append((start, name))
            return self.refer(name, start)
        if character and character in "123456789":
            digits = self.digits()
            number = _count(digits)
            if number <= self.total:
                self.at += len(digits)
                return self.refer(number, start)
            if self.is_unicode:
                raise self.make_error(f"\\{digits}", "there is no such group", start)
        result = self.character(start)
        return result if isinstance(result, Chars) else self.literal(result)

    def refer(self, to: int | str, start: int) -> Node:
        """A reference that is resolved when all groups are known."""
        return cast("Node", _Reference(to, start))

    def digits(self) -> str:
        end = self.at
        while self.text[end : end + 1] and self.text[end] in "0123456789":
            end += 1
        return self.text[self.at : end]

    def character(self, start: int) -> str | Chars:
        """Parse an escape, in a class or outside, to one character or a class of characters."""
        character = self.take()
        if not character:
            raise self.make_error("\\", "nothing follows the backslash", start)
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character.lower() in _CLASSES:
            ranges = _CLASSES[character.lower()]
            return Chars(ranges if character.islower() else self.complement_ranges(ranges))
        if character in "pP" and self.is_unicode:
            return self.property(start)
        if character == "c":
            return self.control(start)
        if character in "xu":
            return self.code(character, start)
        if character in "01234567" and not (character == "0" and not self.digits()):
            return self.octal(character, start)
        if character == "0":
            return "\0"
        if self.is_unicode and character not in _SYNTAX:
            raise self.make_error(f"\\{character}", "with the flag u there is no such escape", start)
        return character

    def property(self, start: int) -> Chars:
        end = self.text.find("}", self.at)
        inner = self.text[self.at + 1 : end]
        if self.peek() != "{" or end < 0 or not is_property(inner):
            raise self.make_error(self.text[start : max(end, self.at) + 1], "there is no such property", start)
        self.at = end + 1
        return Chars((), (self.text[start : self.at],))

    def control(self, start: int, *, is_class: bool = False) -> str:
        following = self.peek()
        if following.isascii() and (
            following.isalpha() or (is_class and not self.is_unicode and following and following in "0123456789_")
        ):
            self.take()
            return chr(ord(following) % 32)
        if self.is_unicode:
            raise self.make_error("\\c", "a letter follows it", start)
        self.at = start + 1  # a backslash, and then the letter
        return "\\"

    def code(self, kind: str, start: int) -> str:
        """Parse the code of a character; without `u`, an incomplete escape is the letter itself."""
        if kind == "u" and self.is_unicode and self.accept("{"):
            digits = _HEX.match(self.text, self.at)
            code = int(digits[0].lstrip("0")[:8] or "0", 16) if digits is not None else LAST + 1
            self.at = digits.end() if digits is not None else self.at
            if code > LAST or not self.accept("}"):
                raise self.make_error("\\u{", "a code of at most 10FFFF and a brace follow it", start)
            return chr(code)
        size = 2 if kind == "x" else 4
        unit = self.hexadecimal(size)
        if unit is None:
            if self.is_unicode:
                raise self.make_error(f"\\{kind}", f"{size} hexadecimal digits follow it", start)
            return kind
        if self.is_unicode and HIGHS[0] <= unit <= HIGHS[1]:
            before = self.at
            low = self.hexadecimal(4) if self.accept("\\u") else None
            if low is not None and LOWS[0] <= low <= LOWS[1]:
                return chr(0x10000 + ((unit - HIGHS[0]) << 10) + low - LOWS[0])
            self.at = before
        return chr(unit)

    def hexadecimal(self, size: int) -> int | None:
        digits = self.text[self.at : self.at + size]
        if _HEX.fullmatch(digits) is None or len(digits) != size:
            return None
        self.at += size
        return int(digits, 16)

    def octal(self, first: str, start: int) -> str:
        """Parse an octal code of at most 255."""
        if self.is_unicode:
            raise self.make_error(f"\\{first}", "with the flag u there is no such escape", start)
        digits = first
        while len(digits) < (3 if first in "0123" else 2) and self.peek() and self.peek() in "01234567":
            digits += self.take()
        return chr(int(digits, 8))

    # --- classes ---

    def character_class(self, start: int) -> Chars:
        negative = self.accept("^")
        ranges: list[tuple[int, int]] = []
        properties: list[str] = []
        while not self.accept("]"):
            if not self.peek():
                raise self.make_error("[", "the class is not closed", start)
            begin = self.at
            members = [self.class_part()]
            if self.peek() == "-" and not self.text.startswith("-]", self.at) and self.at + 1 < len(self.text):
                self.take()
                members.append(self.class_part())
                span = self.range(members, begin)
                if span is not None:
                    ranges.append(span)
                    continue
                ranges.append((ord("-"), ord("-")))
            for member in members:
                ranges.extend(make_ranges(member) if isinstance(member, str) else member.ranges)
                properties.extend(() if isinstance(member, str) else member.properties)
        merged_ranges = join_ranges(ranges)
        if properties:
            return Chars(merged_ranges, tuple(dict.fromkeys(properties)), negative)
        if self.is_unicode:  # without halves of pairs, which are no characters of a text
            return Chars(complement(merged_ranges) if negative else complement(complement(merged_ranges)))
        return Chars(self.complement_ranges(merged_ranges) if negative else merged_ranges)

    def range(self, members: list[str | Chars], begin: int) -> tuple[int, int] | None:
        """The range between two characters; `None` if one of them is a class, so that the hyphen is a character of its own."""
        first, last = members
        text = self.text[begin : self.at]
        if isinstance(first, Chars) or isinstance(last, Chars):
            if self.is_unicode:
                raise self.make_error(text, "a range is between two characters", begin)
            return None
        if last < first:
            raise self.make_error(text, "the range is out of order", begin)
        return ord(first), ord(last)

    def class_part(self) -> str | Chars:
        start = self.at
        character = self.take()
        if character != "\\":
            return character
        following = self.peek()
        if self.accept("b"):
            return "\b"
        if self.is_unicode and self.accept("-"):
            return "-"
        if following == "c":
            self.take()
            return self.control(start, is_class=True)
        if following == "k" and self.has_names and not self.is_unicode:
            raise self.make_error("\\k", "a class holds no references", start)
        if self.is_unicode and following and following in "123456789B":
            raise self.make_error(f"\\{following}", "a class holds no such escape", start)
        return self.character(start)


_ESCAPED_POINT: Final = re.compile(r"\\u(?:\{([0-9A-Fa-f]{1,8})\}|([0-9A-Fa-f]{4}))")


def _are_flags(letters: str) -> bool:
    return bool(letters) and len(set(letters)) == len(letters)


def _count(digits: str) -> int:
    plain = digits.lstrip("0")
    return min(int(plain or "0"), _MOST) if len(plain) < 12 else _MOST


# --- references ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Resolver:
    """Resolves references: one to a group that certainly took part remains, one to a group that cannot have taken part is empty text.

    ECMA-262 resets a group when a repetition around it starts again, and engines differ in this: a reference to a group that may or may
    not have taken part raises `UnsupportedPattern`.
    """

    names: dict[str, list[int]]
    surely: set[int] = field(default_factory=set[int])
    maybe: set[int] = field(default_factory=set[int])

    def node(self, node: Any) -> Node:
        match node:
            case _Reference():
                return self.reference(node)
            case Choice(parts):
                before, ends, nodes = self.surely, list[set[int]](), list[Node]()
                for part in parts:
                    self.surely = set(before)
                    nodes.append(self.node(part))
                    ends.append(self.surely)
                self.maybe |= set[int]().union(*ends)
                self.surely = set[int].intersection(*ends)
                return Choice(tuple(nodes))
            case Repeat(part, low, high, lazy):
                before = set(self.surely)
                inner = self.node(part)
                if not low:
                    self.maybe |= self.surely
                    self.surely = before
                return repeat(inner, low, high, lazy=lazy)
            case Group(part, number):
                inner = self.node(part)
                self.surely.add(number)
                return Group(inner, number)
            case Ahead(part, positive) | Behind(part, positive):
                before, around = set(self.surely), set(self.maybe)
                inner = self.node(part)
                if isinstance(node, Behind):
                    if _refers(inner):
                        raise UnsupportedPattern("it looks behind for what a group matched")
                    self.maybe |= self.surely
                if isinstance(node, Behind) or not positive:
                    self.surely = before
                if not positive:
                    self.maybe = around
                return type(node)(inner, positive)
            case _:
                return map_parts(node, self.node)

    def reference(self, reference: _Reference) -> Node:
        to = reference.to
        numbers = self.names[to] if isinstance(to, str) else [to]
        if self.surely.issuperset(numbers) and len(numbers) == 1:
            return BackReference(numbers[0])
        if (self.surely | self.maybe).isdisjoint(numbers):
            return EMPTY
        raise UnsupportedPattern(f"at character {reference.at + 1} it refers to a group that need not take part")


def _refers(node: Node) -> bool:
    return any(isinstance(part, BackReference) for part in walk(node))


def walk(node: Node) -> Iterable[Node]:
    """A node and all nodes inside it."""
    pending = [node]
    for inner in pending:  # which grows
        match inner:
            case Sequence(parts) | Choice(parts):
                pending.extend(parts)
            case Repeat(part) | Group(part) | Ahead(part) | Behind(part):
                pending.append(part)
            case _:
                pass
    return pending


def map_parts(node: Node, change: Callable[[Node], Node]) -> Node:
    """The node with `change` applied to each of its direct parts."""
    match node:
        case Sequence(parts) | Choice(parts):
            return type(node)(tuple(map(change, parts)))
        case Repeat(part, low, high, lazy):
            return repeat(change(part), low, high, lazy=lazy)
        case Group(part, number):
            return Group(change(part), number)
        case Ahead(part, positive) | Behind(part, positive):
            return type(node)(change(part), positive)
        case _:
            return node
