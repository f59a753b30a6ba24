"""A conjunction taken apart: everything that must hold of one value, sorted by subject."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from schema_inclusion.formula import Either, Formula, Kind, Kinds, Opaque, Ref, SomeMember, Switch


@dataclass(slots=True)
class Constraints:
    """What a conjunction says, merged per subject. Filled by `forms.Forms` and read-only afterwards.

    `None` as an upper limit is no limit, as a set of allowed values "any". `lower` and `upper` of numbers are the limit
    and whether it is strict. `clauses` are the alternatives that are still open.
    """

    kinds: Kinds = Kind.ANY
    strings: frozenset[str] | None = None
    not_strings: frozenset[str] = frozenset()
    length: tuple[int, int | None] = (0, None)
    patterns: dict[str, bool] = field(default_factory=dict[str, bool])
    numbers: frozenset[Fraction] | None = None
    not_numbers: frozenset[Fraction] = frozenset()
    lower: tuple[Fraction, bool] | None = None
    upper: tuple[Fraction, bool] | None = None
    multiples: dict[Fraction, bool] = field(default_factory=dict[Fraction, bool])
    size: tuple[int, int | None] = (0, None)
    item: dict[int, Formula] = field(default_factory=dict[int, Formula])
    items: dict[int, Formula] = field(default_factory=dict[int, Formula])
    counts: dict[tuple[int, Formula], tuple[int, int | None]] = field(
        default_factory=dict[tuple[int, Formula], tuple[int, "int | None"]]
    )
    unique: bool | None = None
    has: dict[str, None] = field(default_factory=dict[str, None])
    lacks: dict[str, None] = field(default_factory=dict[str, None])
    member: dict[str, Formula] = field(default_factory=dict[str, Formula])
    members: dict[Formula, Formula] = field(default_factory=dict[Formula, Formula])
    some: dict[SomeMember, None] = field(default_factory=dict[SomeMember, None])
    count: tuple[int, int | None] = (0, None)
    refs: dict[Ref, None] = field(default_factory=dict[Ref, None])
    clauses: dict[Either | Switch, None] = field(default_factory=dict["Either | Switch", None])
    opaque: dict[Opaque, None] = field(default_factory=dict[Opaque, None])

    def copy(self) -> Constraints:
        """The same constraints, to be added to."""
        return Constraints(
            *(self.kinds, self.strings, self.not_strings, self.length, self.patterns.copy()),
            *(self.numbers, self.not_numbers, self.lower, self.upper, self.multiples.copy()),
            *(self.size, self.item.copy(), self.items.copy(), self.counts.copy(), self.unique),
            *(self.has.copy(), self.lacks.copy(), self.member.copy(), self.members.copy(), self.some.copy()),
            *(self.count, self.refs.copy(), self.clauses.copy(), self.opaque.copy()),
        )

    def drop_strings(self) -> None:
        """Forgets what is said of strings."""
        self.strings, self.not_strings, self.length = None, frozenset(), (0, None)
        self.patterns.clear()

    def drop_numbers(self) -> None:
        """Forgets what is said of numbers."""
        self.numbers, self.not_numbers, self.lower, self.upper = None, frozenset(), None, None
        self.multiples.clear()

    def drop_arrays(self) -> None:
        """Forgets what is said of arrays."""
        self.size, self.unique = (0, None), None
        self.item.clear()
        self.items.clear()
        self.counts.clear()

    def drop_objects(self) -> None:
        """Forgets what is said of objects."""
        self.count = (0, None)
        for table in (self.has, self.lacks, self.member, self.members, self.some):
            table.clear()


def narrowed(one: tuple[int, int | None], other: tuple[int, int | None]) -> tuple[int, int | None]:
    """The intersection of two ranges."""
    low = max(one[0], other[0])
    if one[1] is None or other[1] is None:
        return low, one[1] if other[1] is None else other[1]
    return low, min(one[1], other[1])


def void(limits: tuple[int, int | None]) -> bool:
    """Whether the range holds nothing."""
    return limits[1] is not None and limits[0] > limits[1]
