"""Types of the IR as Python annotations."""

from __future__ import annotations

from functools import partial
from math import ceil, floor, inf, nextafter
from typing import Any, Final, assert_never

from acpgen import ir
from acpgen.meaning.limits import limits_of
from acpgen.schema.equality import exact, whole
from acpgen.schema.expressions import expression
from acpgen.schema.numbers import ExactNumber
from acpgen.targets.python.annotations import (
    Annotation,
    Container,
    Either,
    Literals,
    Marked,
    Named,
    Rest,
    Scalar,
    constants,
    imports,
    source,
)
from acpgen.targets.python.literals import literal
from acpgen.targets.python.naming import Names


def annotation(type_: ir.Type, names: Names) -> str:
    """The annotation of a type, as source."""
    return source(_annotation(type_, names), names.ours)


def imported(type_: ir.Type, names: Names) -> set[str]:
    """What `annotation` of a type names beside classes."""
    return imports(_annotation(type_, names))


def _annotation(type_: ir.Type, names: Names) -> Annotation:
    match type_:
        case ir.Anything():
            return _ANY
        case ir.Nothing():
            return Marked(Named("Never", is_imported=True), "Exact")
        case ir.Null():
            return Named("None")
        case ir.Boolean():
            return Named("bool")
        case ir.Number():
            return _number(type_)
        case ir.String():
            return _text(type_)
        case ir.Constant():
            return _constants(type_.values)
        case ir.Array():
            items = Container("list", (_annotation(type_.items, names),))
            found = _limited(items, **_lengths_of(type_))
            return Marked(found, "UniqueItems") if type_.unique else found
        case ir.Tuple():
            found = Marked(_tuple(type_, names), "Positional", _arguments(**_lengths(type_)))
            return Marked(found, "UniqueItems") if type_.unique else found
        case ir.Map():
            return Container("dict", (Named("str"), _annotation(type_.values, names)))
        case ir.Ref():
            found = Named(names.classes[type_.name])
            tag = names.tags.get(type_.name)
            return found if tag is None else Marked(found, "Alone", literal(tag))
        case ir.AnyOf():
            return Either(tuple(_annotation(member, names) for member in type_.types))
        case _:
            assert_never(type_)


_ANY: Final = Named("Any", is_imported=True)


def _tuple(type_: ir.Tuple, names: Names) -> Annotation:
    entries = tuple(_annotation(one, names) for one in type_.first)
    after = () if type_.rest == ir.Nothing() else (Rest(_annotation(type_.rest, names)),)
    return Container("tuple", (*entries, *after))


def _lengths(type_: ir.Tuple) -> dict[str, int | None]:
    """The limits of a tuple's length that its entries do not tell."""
    if type_.rest == ir.Nothing():
        return {}
    least = type_.min_items or 0
    return {"min_length": least if least > len(type_.first) else None, "max_length": type_.max_items}


def _number(number: ir.Number) -> Annotation:
    limits = _limits(number)
    step = limits.pop("multipleOf", None)
    written = () if number.integer else _written(number)
    is_exact = not written and not any(abs(limit) > _EXACT for limit in limits.values())
    bounds = _limited if number.integer or is_exact else partial(_bounded, written)
    whole_number = Marked(Named("int"), "WithoutFraction") if number.without_fraction else Named("int")
    base = bounds(
        whole_number if number.integer else Named("Number", is_imported=True),
        ge=limits.get("minimum"),
        le=limits.get("maximum"),
        gt=limits.get("exclusiveMinimum"),
        lt=limits.get("exclusiveMaximum"),
        multiple_of=step if _divides_exactly(number, step) else None,
    )
    if step is None or _divides_exactly(number, step):
        return base
    return Marked(base, "MultipleOf", literal(str(step) if isinstance(step, ExactNumber) else step))


def _written(number: ir.Number) -> tuple[tuple[str, str], ...]:
    """The limits that no number equals which is read of a message, as the schema has them, by the names of the marker's arguments."""
    names = {"minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt"}
    limits = limits_of(number)
    return tuple(
        (name, str(limits[keyword])) for keyword, name in names.items() if isinstance(limits.get(keyword), ExactNumber)
    )


def _limits(number: ir.Number) -> dict[str, int | float]:
    """The limits of a number. Those of an integer are whole, which is all that pydantic takes there; others are the nearest ones that
    Python has for what is read of messages: doubles, and integers of any size.
    """
    limits: dict[str, Any] = limits_of(number)
    step = limits.pop("multipleOf", None)
    for key, value in limits.items():
        is_upward = key in ("minimum", "exclusiveMaximum")
        if number.integer:
            limits[key] = ceil(exact(value)) if is_upward else floor(exact(value))
        elif isinstance(value, ExactNumber):
            limits[key] = _as_double(value, is_upward=is_upward)
    if step is not None:
        limits["multipleOf"] = step if (integer := whole(step)) is None else integer
    return limits


def _as_double(limit: ExactNumber, *, is_upward: bool) -> int | float:
    """The first number that is read of a message, from a limit on that none is equal to."""
    close, number = float(limit), exact(limit)
    if abs(close) >= _EXACT:
        return ceil(number) if is_upward else floor(number)
    if is_upward:
        return close if exact(close) > number else nextafter(close, inf)
    return close if exact(close) < number else nextafter(close, -inf)


def _divides_exactly(number: ir.Number, step: int | float | None) -> bool:
    """Whether pydantic divides as JSON Schema does: whole numbers by whole numbers. Of others it divides the binary fractions."""
    return number.integer and isinstance(step, int)


def _constants(values: tuple[Scalar, ...]) -> Annotation:
    """A set of constants. Python takes true for 1 and has no `Literal` of fractions: all but text is compared as JSON.

    A constant that no double equals is left out: nothing that is read of a message is equal to it.
    """
    values = tuple(value for value in values if not isinstance(value, ExactNumber))
    if _is_text(values) and values:
        return Literals(values)
    base = _literals(values) if values and not any(isinstance(value, float) for value in values) else _ANY
    return Marked(base, "Exact", constants(values))


def _literals(values: tuple[Scalar, ...]) -> Annotation:
    """Constants as type checkers read them: mypy has no `Literal` of an integer that 64 bits do not hold."""
    small = tuple(value for value in values if not isinstance(value, int) or abs(value) < 1 << 63)
    if small == values:
        return Literals(values)
    integer = Named("int")
    return Either((Literals(small), integer)) if small else integer


def _is_text(values: tuple[object, ...]) -> bool:
    return all(isinstance(value, str) for value in values)


def _text(type_: ir.String) -> Annotation:
    """A text with its limits. Pydantic judges by a pattern that its engine has as it is written."""
    pattern = type_.pattern
    written = expression(pattern).linear if pattern is not None else None
    if pattern is None or written is None or written == pattern:
        return _limited(Named("str"), **_lengths_of(type_), pattern=written)
    return Marked(_limited(Named("str"), **_lengths_of(type_)), "Pattern", constants((pattern, written)))


def _limited(base: Annotation, **limits: str | int | float | None) -> Annotation:
    """A type with limits that pydantic judges, where it has any."""
    arguments = _arguments(**limits)
    return Marked(base, "Field", arguments) if arguments else base


def _bounded(written: tuple[tuple[str, str], ...], base: Annotation, **limits: str | int | float | None) -> Annotation:
    """A type with limits of numbers that our marker judges, and tells as they are written."""
    pairs = "".join(f"({literal(name)}, {literal(limit)}), " for name, limit in written)
    told = [f"written=({pairs.removesuffix(' ')})"] if written else []
    return Marked(base, "Bounds", ", ".join((_arguments(**limits), *told)))


_EXACT: Final = 2**53
"""From here on, binary numbers lie further apart than whole ones, and pydantic compares them as binary ones."""


def _lengths_of(type_: ir.String | ir.Array) -> dict[str, int | None]:
    """The limits of a length that pydantic can hold: nothing is longer than the largest."""
    least, most = (
        (type_.min_length, type_.max_length) if isinstance(type_, ir.String) else (type_.min_items, type_.max_items)
    )
    return {
        "min_length": None if least is None else min(least, _LONGEST),
        "max_length": None if most is None or most > _LONGEST else most,
    }


_LONGEST: Final = 2**63 - 1
"""What the length of anything in memory is below."""


def _arguments(**given: str | int | float | None) -> str:
    return ", ".join(f"{name}={literal(value)}" for name, value in given.items() if value is not None)


def references(type_: ir.Type) -> set[str]:
    """The definitions that a type refers to."""
    match type_:
        case ir.Ref(name=name):
            return {name}
        case ir.Array(items=inner) | ir.Map(values=inner):
            return references(inner)
        case ir.Tuple(first=first, rest=rest):
            return set[str]().union(*map(references, (*first, rest)))
        case ir.AnyOf(types=types):
            return set[str]().union(*(references(member) for member in types))
        case _:
            return set()
