"""Formulas say what a schema says of one value.

Formulas are made by `forms.Forms` alone, which keeps one object for each meaning it recognises as the same; so they
compare by identity and are cheap to hash. Constraints on a type hold of every value of another type, as the keywords
of JSON Schema do: `subject` are the kinds that one speaks of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, TypeAlias

Kinds: TypeAlias = int
"""A set of kinds, one bit each. Plain integers: sets of flags cost too much where they are joined so often."""


class Kind:
    """The kinds of JSON values, fine enough that `integer`, `true` and `false` are sets of kinds."""

    NONE: Final = 0
    NULL: Final = 1
    FALSE: Final = 2
    TRUE: Final = 4
    INTEGER: Final = 8
    FRACTION: Final = 16
    STRING: Final = 32
    ARRAY: Final = 64
    OBJECT: Final = 128
    BOOLEAN: Final = FALSE | TRUE
    NUMBER: Final = INTEGER | FRACTION
    ANY: Final = 255


Constant: TypeAlias = tuple[Kinds, str | Fraction]
"""A scalar: its kind (numbers have one, `NUMBER`) and the string or number; an empty string for the others."""


@dataclass(frozen=True, slots=True, eq=False)
class Types:
    """The value is of one of the kinds. All kinds: true of everything; none: true of nothing."""

    subject: ClassVar = Kind.ANY
    kinds: Kinds


@dataclass(frozen=True, slots=True, eq=False)
class Strings:
    """A string is one of the values, or (not `within`) none of them."""

    subject: ClassVar = Kind.STRING
    values: frozenset[str]
    within: bool


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A number is one of the values, or (not `within`) none of them."""

    subject: ClassVar = Kind.NUMBER
    values: frozenset[Fraction]
    within: bool


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A number is at most (`upper`) or at least the limit; `strict` leaves the limit itself out."""

    subject: ClassVar = Kind.NUMBER
    limit: Fraction
    upper: bool
    strict: bool


@dataclass(frozen=True, slots=True, eq=False)
class Multiple:
    """A number is, or (not `holds`) is not, a whole multiple of `of`."""

    subject: ClassVar = Kind.NUMBER
    of: Fraction
    holds: bool


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """A string is, or is not, matched somewhere by an ECMA-262 pattern."""

    subject: ClassVar = Kind.STRING
    pattern: str
    holds: bool


@dataclass(frozen=True, slots=True, eq=False)
class Size:
    """A string, an array or an object (`kind`) has between `low` and `high` characters, items or members; `high` `None` is no limit."""

    kind: Kinds
    low: int
    high: int | None

    @property
    def subject(self) -> Kinds:
        return self.kind


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """An array that has an item at `index` has there what `form` says."""

    subject: ClassVar = Kind.ARRAY
    index: int
    form: Formula


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Every item of an array from `start` on is what `form` says."""

    subject: ClassVar = Kind.ARRAY
    start: int
    form: Formula


@dataclass(frozen=True, slots=True, eq=False)
class Count:
    """Of an array's items from `start` on, between `low` and `high` are what `form` says."""

    subject: ClassVar = Kind.ARRAY
    start: int
    form: Formula
    low: int
    high: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Unique:
    """The items of an array are all different, or (not `holds`) two of them are equal."""

    subject: ClassVar = Kind.ARRAY
    holds: bool


@dataclass(frozen=True, slots=True, eq=False)
class Has:
    """An object has the member."""

    subject: ClassVar = Kind.OBJECT
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """An object that has the member has there what `form` says."""

    subject: ClassVar = Kind.OBJECT
    name: str
    form: Formula


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Every member of an object whose name is what `names` says has a value that is what `form` says."""

    subject: ClassVar = Kind.OBJECT
    names: Formula
    form: Formula


@dataclass(frozen=True, slots=True, eq=False)
class SomeMember:
    """An object has a member whose name is what `names` says and whose value is what `form` says."""

    subject: ClassVar = Kind.OBJECT
    names: Formula
    form: Formula


@dataclass(frozen=True, slots=True, eq=False)
class All:
    """All parts hold: at least two, none of them an `All`."""

    subject: ClassVar = Kind.ANY
    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """At least one part holds: at least two, none of them an `Either`."""

    subject: ClassVar = Kind.ANY
    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Switch:
    """Of an object whose member `tag` is one of the constants, its case holds; of anything else, `otherwise`."""

    subject: ClassVar = Kind.ANY
    tag: str
    cases: Mapping[Constant, Formula]
    otherwise: Formula


@dataclass(frozen=True, slots=True, eq=False)
class Ref:
    """What stands at a place of a document, or (not `holds`) its contrary. Unfolded only when it is needed."""

    subject: ClassVar = Kind.ANY
    place: int
    holds: bool


@dataclass(frozen=True, slots=True, eq=False)
class Opaque:
    """Something that cannot be expressed here. It may hold or not."""

    subject: ClassVar = Kind.ANY
    reason: str


Formula: TypeAlias = (
    Types
    | Strings
    | Numbers
    | Bound
    | Multiple
    | Matches
    | Size
    | Item
    | Items
    | Count
    | Unique
    | Has
    | Member
    | Members
    | SomeMember
    | All
    | Either
    | Switch
    | Ref
    | Opaque
)
