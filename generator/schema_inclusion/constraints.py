"""The constraints of a conjunction as one table, by kind of value."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from operator import attrgetter
from typing import Any, Final

from schema_inclusion.formula import Either, Formula, Kind, Kinds, Opaque, Ref, SomeMember, Switch


@dataclass(slots=True)
class Constraints:
    """The constraints of a conjunction, merged by kind of value. Filled by `forms.Forms` and read-only afterwards.

    `None` as an upper limit means no limit, as a set of allowed values any value. `lower` and `upper` of numbers are the limit and whether
    it is strict. `clauses` are the alternatives that are still open.
    """

    kinds: Kinds = Kind.ANY
    sizes: dict[Kinds, tuple[int, int | None]] = field(default_factory=lambda: dict(_ANY_SIZE))
    strings: frozenset[str] | None = None
    not_strings: frozenset[str] = frozenset()
    patterns: dict[str, bool] = field(default_factory=dict[str, bool])
    numbers: frozenset[Fraction] | None = None
    not_numbers: frozenset[Fraction] = frozenset()
    lower: tuple[Fraction, bool] | None = None
    upper: tuple[Fraction, bool] | None = None
    multiples: dict[Fraction, bool] = field(default_factory=dict[Fraction, bool])
    item: dict[int, Formula] = field(default_factory=dict[int, Formula])
    items: dict[int, Formula] = field(default_factory=dict[int, Formula])
    counts: dict[tuple[int, Formula], tuple[int, int | None]] = field(
        default_factory=dict[tuple[int, Formula], tuple[int, "int | None"]]
    )
    unique: bool | None = None
    has: dict[str, None] = field(default_factory=dict[str, None])
    member: dict[str, Formula] = field(default_factory=dict[str, Formula])
    members: dict[Formula, Formula] = field(default_factory=dict[Formula, Formula])
    some: dict[SomeMember, None] = field(default_factory=dict[SomeMember, None])
    refs: dict[Ref, None] = field(default_factory=dict[Ref, None])
    clauses: dict[Either | Switch, None] = field(default_factory=dict["Either | Switch", None])
    opaque: dict[Opaque, None] = field(default_factory=dict[Opaque, None])

    def copy(self) -> Constraints:
        """A copy to which constraints can be added."""
        values: Any = attrgetter(*self.__slots__)(self)
        copies: list[Any] = [slot.copy() if slot.__class__ is dict else slot for slot in values]
        return Constraints(*copies)

    def drop(self, kind: Kinds) -> None:
        """Drop the constraints on a kind: strings, numbers, arrays or objects."""
        self.sizes[kind] = (0, None)
        for name, plain in _SUBJECTS[kind].items():
            setattr(self, name, {} if plain is dict else plain)


_SUBJECTS: Final[dict[Kinds, dict[str, object]]] = {
    Kind.STRING: {"strings": None, "not_strings": frozenset(), "patterns": dict},
    Kind.NUMBER: {"numbers": None, "not_numbers": frozenset(), "lower": None, "upper": None, "multiples": dict},
    Kind.ARRAY: {"item": dict, "items": dict, "counts": dict, "unique": None},
    Kind.OBJECT: {"has": dict, "member": dict, "members": dict, "some": dict},
}
"""The fields with the constraints on each kind except its size, with their empty values; `dict` stands for a new one."""
_ANY_SIZE: Final[dict[Kinds, tuple[int, int | None]]] = dict.fromkeys(_SUBJECTS, (0, None))


def narrow(left: tuple[int, int | None], right: tuple[int, int | None]) -> tuple[int, int | None]:
    """The intersection of two ranges."""
    low = max(left[0], right[0])
    if left[1] is None or right[1] is None:
        return low, left[1] if right[1] is None else right[1]
    return low, min(left[1], right[1])


def is_void(limits: tuple[int, int | None]) -> bool:
    """Whether the range is empty."""
    return limits[1] is not None and limits[0] > limits[1]
