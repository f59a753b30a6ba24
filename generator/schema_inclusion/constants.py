"""Represent scalar constants as hashable pairs that distinguish `true` from `1`."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

from schema_inclusion.constraints import Constraints
from schema_inclusion.formula import Constant, Kind, Kinds
from schema_inclusion.values import Json, get_number, to_number

Constants: TypeAlias = frozenset[Constant]


def to_constant(value: Json) -> Constant | None:
    """The constant of a value; `None` for arrays, objects and what is not JSON."""
    if isinstance(value, str):
        return (Kind.STRING, value)
    if value is None:
        return (Kind.NULL, "")
    if isinstance(value, bool):
        return (Kind.TRUE if value else Kind.FALSE, "")
    number = get_number(value)
    return None if number is None else (Kind.NUMBER, number)


def to_value(constant: Constant) -> Json:
    """The JSON value of a constant."""
    kind, value = constant
    if isinstance(value, Fraction):
        spelling = to_number(value)
        assert spelling is not None, "constants are made from values"
        return spelling
    return value if kind == Kind.STRING else None if kind == Kind.NULL else kind == Kind.TRUE


def rank(constant: Constant) -> tuple[Kinds, str, Fraction]:
    """A key to sort constants by kind, then by value."""
    kind, value = constant
    return (kind, "", value) if isinstance(value, Fraction) else (kind, value, Fraction(0))


def list_constants(constraints: Constraints) -> Constants | None:
    """The constants that the constraints allow; `None` if other values are possible.

    The constraints must be simplified and without clauses.
    """
    finite = Kind.NULL | Kind.BOOLEAN
    singletons = {(kind, "") for kind in (Kind.NULL, Kind.FALSE, Kind.TRUE) if constraints.kinds & kind}
    constants: set[Constant] = {*singletons}
    if constraints.strings is not None:
        finite |= Kind.STRING
        constants |= {(Kind.STRING, text) for text in constraints.strings}
    if constraints.numbers is not None:
        finite |= Kind.NUMBER
        constants |= {(Kind.NUMBER, number) for number in constraints.numbers}
    return None if constraints.kinds & ~finite else frozenset(constants)


def select_allowed(constraints: Constraints, constants: Iterable[Constant]) -> list[Constant]:
    """The constants that the constraints do not plainly exclude."""
    return [constant for constant in constants if _is_allowed(constraints, constant)]


def _is_allowed(constraints: Constraints, constant: Constant) -> bool:
    kind, value = constant
    if not constraints.kinds & kind:
        return False
    if isinstance(value, Fraction):
        return value not in constraints.not_numbers and (constraints.numbers is None or value in constraints.numbers)
    if kind == Kind.STRING:
        return value not in constraints.not_strings and (constraints.strings is None or value in constraints.strings)
    return True
