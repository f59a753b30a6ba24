"""The meaning of formulas: whether a given value satisfies one."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias, assert_never

from schema_inclusion.constants import constant_of
from schema_inclusion.forms import Forms
from schema_inclusion.formula import (
    All,
    Bound,
    Count,
    Either,
    Formula,
    Has,
    Item,
    Items,
    Kind,
    Kinds,
    Matches,
    Member,
    Members,
    Multiple,
    Numbers,
    Opaque,
    Ref,
    Size,
    SomeMember,
    Strings,
    Switch,
    Types,
    Unique,
)
from schema_inclusion.patterns import matches
from schema_inclusion.values import Json, all_distinct, exact, number_of


def kind_of(value: Json) -> Kinds:
    """The one kind of a value; none for NaN and infinities, which are not JSON."""
    match value:
        case None:
            return Kind.NULL
        case bool():
            return Kind.TRUE if value else Kind.FALSE
        case int() | float():
            number = exact(value)
            if number is None:
                return Kind.NONE
            return Kind.INTEGER if number.denominator == 1 else Kind.FRACTION
        case str():
            return Kind.STRING
        case list():
            return Kind.ARRAY
        case dict():
            return Kind.OBJECT


def string_fits(formula: Strings | Size | Matches, text: str) -> bool | None:
    """Whether a string satisfies a constraint on strings; `None` if a pattern cannot be read."""
    match formula:
        case Strings(values, within):
            return (text in values) == within
        case Size(_, low, high):
            return _inside(len(text), low, high)
        case Matches(pattern, wanted):
            state = matches(pattern, text)
            return None if state is None else state == wanted
        case _:
            assert_never(formula)


def number_obeys(formula: Numbers | Bound | Multiple, number: Fraction) -> bool:
    """Whether a number satisfies a constraint on numbers."""
    match formula:
        case Numbers(values, within):
            return (number in values) == within
        case Bound(limit, upper, strict):
            return (number < limit if upper else number > limit) or (number == limit and not strict)
        case Multiple(of, wanted):
            return ((number / of).denominator == 1) == wanted
        case _:
            assert_never(formula)


def _inside(amount: int, low: int, high: int | None) -> bool:
    return low <= amount and (high is None or amount <= high)


def _all(states: Iterable[bool | None]) -> bool | None:
    """The conjunction of three-valued truths."""
    doubt = False
    for state in states:
        if state is False:
            return False
        doubt = doubt or state is None
    return None if doubt else True


def _contrary(state: bool | None) -> bool | None:
    return None if state is None else not state


_Known: TypeAlias = dict[tuple[Formula, int], "bool | None"]
"""Whether parts of a value, by their identity, satisfy formulas: parts of formulas are shared."""


def holds(forms: Forms, formula: Formula, value: Json) -> bool | None:
    """Whether the value satisfies the formula; `None` if that cannot be told."""
    return _holds(forms, formula, value, {})


def _holds(forms: Forms, formula: Formula, value: Json, known: _Known) -> bool | None:
    if not isinstance(formula, (All, Either, Switch, Ref)):
        return _found(forms, formula, value, known)
    key = (formula, id(value))
    if key not in known:
        known[key] = _found(forms, formula, value, known)
    return known[key]


def _found(forms: Forms, formula: Formula, value: Json, known: _Known) -> bool | None:
    match formula:
        case Types(kinds):
            return bool(kinds & kind_of(value))
        case All(parts):
            forms.budget.weigh(len(parts))
            return _all(_holds(forms, part, value, known) for part in parts)
        case Either(parts):
            forms.budget.weigh(len(parts))
            return _contrary(_all(_contrary(_holds(forms, part, value, known)) for part in parts))
        case Switch(tag, cases, otherwise):
            constant = constant_of(value[tag]) if isinstance(value, dict) and tag in value else None
            case = next((form for each, form in cases if each == constant), otherwise)
            return _holds(forms, case, value, known)
        case Ref(place, wanted):
            state = _holds(forms, forms.unfold(place), value, known)
            return state if wanted else _contrary(state)
        case Opaque():
            return None
        case Size(kind, low, high):
            if not isinstance(value, (str, list, dict)) or kind_of(value) != kind:
                return True
            return _inside(len(value), low, high)
        case Strings() | Matches():
            return string_fits(formula, value) if isinstance(value, str) else True
        case Numbers() | Bound() | Multiple():
            number = number_of(value)
            return True if number is None else number_obeys(formula, number)
        case Item() | Items() | Count() | Unique():
            return _array_holds(forms, formula, value, known) if isinstance(value, list) else True
        case Has() | Member() | Members() | SomeMember():
            return _object_holds(forms, formula, value, known) if isinstance(value, dict) else True
        case _:
            assert_never(formula)


def _array_holds(forms: Forms, formula: Item | Items | Count | Unique, value: list[Json], known: _Known) -> bool | None:
    match formula:
        case Item(index, form):
            return _holds(forms, form, value[index], known) if index < len(value) else True
        case Items(start, form):
            return _all(_holds(forms, form, each, known) for each in value[start:])
        case Count(start, form, low, high):
            states = [_holds(forms, form, each, known) for each in value[start:]]
            least = sum(state is True for state in states)
            most = sum(state is not False for state in states)
            verdicts = {_inside(amount, low, high) for amount in range(least, most + 1)}
            return verdicts.pop() if len(verdicts) == 1 else None
        case Unique(wanted):
            return all_distinct(value) == wanted
        case _:
            assert_never(formula)


def _object_holds(
    forms: Forms,
    formula: Has | Member | Members | SomeMember,
    value: dict[str, Json],
    known: _Known,
) -> bool | None:
    match formula:
        case Has(name):
            return name in value
        case Member(name, form):
            return _holds(forms, form, value[name], known) if name in value else True
        case Members(names, form):
            return _all(
                _contrary(_all([_holds(forms, names, name, known), _contrary(_holds(forms, form, each, known))]))
                for name, each in value.items()
            )
        case SomeMember(names, form):
            return _contrary(
                _all(
                    _contrary(_all([_holds(forms, names, name, known), _holds(forms, form, each, known)]))
                    for name, each in value.items()
                )
            )
        case _:
            assert_never(formula)
