"""Formulas, which express the constraints of a schema on one value.

They are made by `forms.Forms` alone, which keeps one object for all that it recognises as equivalent; so they compare by identity and
are cheap to hash. Like keywords of JSON Schema, a constraint on a type holds for every value of another type: `subject` is the set of
kinds that it constrains.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, Final, TypeAlias

from msgspec import Struct

Kinds: TypeAlias = int
"""A set of kinds, one bit each. Plain integers, as `enum.Flag` is too slow for so many operations."""


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
"""A scalar: its kind (`NUMBER` for all numbers) and the string or number; an empty string for the other kinds."""


class Types(Struct, frozen=True, eq=False):
    """The value is of one of the kinds. All kinds: always true; none: always false."""

    subject: ClassVar = Kind.ANY
    kinds: Kinds


class Strings(Struct, frozen=True, eq=False):
    """A string is one of the values, or (not `within`) none of them."""

    subject: ClassVar = Kind.STRING
    values: frozenset[str]
    within: bool


class Numbers(Struct, frozen=True, eq=False):
    """A number is one of the values, or (not `within`) none of them."""

    subject: ClassVar = Kind.NUMBER
    values: frozenset[Fraction]
    within: bool


class Bound(Struct, frozen=True, eq=False):
    """A number is at most (`upper`) or at least the limit; `strict` excludes the limit itself."""

    subject: ClassVar = Kind.NUMBER
    limit: Fraction
    upper: bool
    strict: bool


class Multiple(Struct, frozen=True, eq=False):
    """A number is, or (not `holds`) is not, a whole multiple of `of`."""

    subject: ClassVar = Kind.NUMBER
    of: Fraction
    holds: bool


class Matches(Struct, frozen=True, eq=False):
    """A string matches, or does not match, an ECMA-262 pattern somewhere."""

    subject: ClassVar = Kind.STRING
    pattern: str
    holds: bool


class Size(Struct, frozen=True, eq=False):
    """A string, array or object (`kind`) has between `low` and `high` characters, items or members; a `high` of `None` is no limit."""

    kind: Kinds
    low: int
    high: int | None

    @property
    def subject(self) -> Kinds:
        return self.kind


class Item(Struct, frozen=True, eq=False):
    """The item of an array at `index`, if there is one, satisfies `form`."""

    subject: ClassVar = Kind.ARRAY
    index: int
    form: Formula


class Items(Struct, frozen=True, eq=False):
    """Every item of an array from `start` on satisfies `form`."""

    subject: ClassVar = Kind.ARRAY
    start: int
    form: Formula


class Count(Struct, frozen=True, eq=False):
    """Between `low` and `high` items of an array from `start` on satisfy `form`."""

    subject: ClassVar = Kind.ARRAY
    start: int
    form: Formula
    low: int
    high: int | None


class Unique(Struct, frozen=True, eq=False):
    """The items of an array are all different, or (not `holds`) two of them are equal."""

    subject: ClassVar = Kind.ARRAY
    holds: bool


class Has(Struct, frozen=True, eq=False):
    """An object has the member."""

    subject: ClassVar = Kind.OBJECT
    name: str


class Member(Struct, frozen=True, eq=False):
    """The member of an object, if it is present, satisfies `form`."""

    subject: ClassVar = Kind.OBJECT
    name: str
    form: Formula


class Members(Struct, frozen=True, eq=False):
    """Every member of an object whose name satisfies `names` has a value that satisfies `form`."""

    subject: ClassVar = Kind.OBJECT
    names: Formula
    form: Formula


class SomeMember(Struct, frozen=True, eq=False):
    """An object has a member whose name satisfies `names` and whose value satisfies `form`."""

    subject: ClassVar = Kind.OBJECT
    names: Formula
    form: Formula


class All(Struct, frozen=True, eq=False):
    """The conjunction of at least two parts, none of them an `All`."""

    subject: ClassVar = Kind.ANY
    parts: tuple[Formula, ...]


class Either(Struct, frozen=True, eq=False):
    """The disjunction of at least two parts, none of them an `Either`."""

    subject: ClassVar = Kind.ANY
    parts: tuple[Formula, ...]


class Switch(Struct, frozen=True, eq=False):
    """An object whose member `tag` is one of the constants satisfies its case; any other value satisfies `otherwise`."""

    subject: ClassVar = Kind.ANY
    tag: str
    cases: Mapping[Constant, Formula]
    otherwise: Formula


class Ref(Struct, frozen=True, eq=False):
    """The formula at a place of a document, or (not `holds`) its negation. Unfolded only on demand."""

    subject: ClassVar = Kind.ANY
    place: int
    holds: bool


class Opaque(Struct, frozen=True, eq=False):
    """A constraint that cannot be expressed here; it may hold or not."""

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
