"""Evaluate a formula on a value."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias, assert_never

from schema_inclusion.constants import to_constant
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
from schema_inclusion.values import Json, are_distinct, get_number, to_exact


def find_kind(value: Json) -> Kinds:
    """The kind of a value; `NONE` for NaN and infinities, which are not JSON."""
    match value:
        case None:
            return Kind.NULL
        case bool():
            return Kind.TRUE if value else Kind.FALSE
        case int() | float():
            number = to_exact(value)
            if number is None:
                return Kind.NONE
            return Kind.INTEGER if number.denominator == 1 else Kind.FRACTION
        case str():
            return Kind.STRING
        case list():
            return Kind.ARRAY
        case dict():
            return Kind.OBJECT


def number_satisfies(formula: Numbers | Bound | Multiple, number: Fraction) -> bool:
    """Whether a number satisfies a constraint on numbers."""
    match formula:
        case Numbers(values, within):
            return (number in values) == within
        case Bound(limit, upper, strict):
            return (number < limit if upper else number > limit) or (number == limit and not strict)
        case Multiple(of, positive):
            return ((number / of).denominator == 1) == positive
        case _:
            assert_never(formula)


def _is_inside(amount: int, low: int, high: int | None) -> bool:
    return low <= amount and (high is None or amount <= high)


def _conjoin(states: Iterable[bool | None]) -> bool | None:
    """The conjunction of three-valued truth values."""
    doubt = False
    for state in states:
        if state is False:
            return False
        doubt = doubt or state is None
    return None if doubt else True


def _negate(state: bool | None) -> bool | None:
    return None if state is None else not state


def _disjoin(states: Iterable[bool | None]) -> bool | None:
    """The disjunction of three-valued truth values."""
    doubt = False
    for state in states:
        if state is True:
            return True
        doubt = doubt or state is None
    return None if doubt else False


_Known: TypeAlias = dict[tuple[Formula, int], "bool | None"]
"""A cache of whether parts of a value, by their identity, satisfy formulas: formulas share parts."""


def holds(forms: Forms, formula: Formula, value: Json) -> bool | None:
    """Whether the value satisfies the formula; `None` if that cannot be decided."""
    return _look_up(forms, formula, value, {})


def _look_up(forms: Forms, formula: Formula, value: Json, cache: _Known) -> bool | None:
    if not isinstance(formula, (All, Either, Switch, Ref)):
        return _evaluate(forms, formula, value, cache)
    key = (formula, id(value))
    if key not in cache:
        cache[key] = _evaluate(forms, formula, value, cache)
    return cache[key]


def _evaluate(forms: Forms, formula: Formula, value: Json, cache: _Known) -> bool | None:
    match formula:
        case Types(kinds):
            return bool(kinds & find_kind(value))
        case All(parts):
            forms.budget.weigh(len(parts))
            return _conjoin(_look_up(forms, part, value, cache) for part in parts)
        case Either(parts):
            forms.budget.weigh(len(parts))
            return _disjoin(_look_up(forms, part, value, cache) for part in parts)
        case Switch(tag, cases, otherwise):
            constant = to_constant(value[tag]) if isinstance(value, dict) and tag in value else None
            return _look_up(forms, otherwise if constant is None else cases.get(constant, otherwise), value, cache)
        case Ref(place, positive):
            state = _look_up(forms, forms.unfold(place), value, cache)
            return state if positive else _negate(state)
        case Opaque():
            return None
        case Has(name):
            return not isinstance(value, dict) or name in value
        case Member(name, form):
            return not isinstance(value, dict) or name not in value or _look_up(forms, form, value[name], cache)
        case Members(names, form):
            return not isinstance(value, dict) or _conjoin(
                _disjoin((_negate(_look_up(forms, names, name, cache)), _look_up(forms, form, member, cache)))
                for name, member in value.items()
            )
        case SomeMember(names, form):
            return not isinstance(value, dict) or _disjoin(
                _conjoin((_look_up(forms, names, name, cache), _look_up(forms, form, member, cache)))
                for name, member in value.items()
            )
        case Strings(values, within):
            return not isinstance(value, str) or (value in values) == within
        case Matches(pattern, positive):
            state = matches(pattern, value) if isinstance(value, str) else positive
            return None if state is None else state == positive
        case Size(kind, low, high):
            if not isinstance(value, (str, list, dict)) or find_kind(value) != kind:
                return True
            return _is_inside(len(value), low, high)
        case Numbers() | Bound() | Multiple():
            number = get_number(value)
            return number is None or number_satisfies(formula, number)
        case Item(index, form):
            return not isinstance(value, list) or index >= len(value) or _look_up(forms, form, value[index], cache)
        case Items(start, form):
            return not isinstance(value, list) or _conjoin(_look_up(forms, form, item, cache) for item in value[start:])
        case Count(start, form, low, high):
            states = [_look_up(forms, form, item, cache) for item in value[start:]] if isinstance(value, list) else []
            least, most = states.count(True), len(states) - states.count(False)
            verdicts = {_is_inside(amount, low, high) for amount in range(least, most + 1)}
            return True if not isinstance(value, list) else verdicts.pop() if len(verdicts) == 1 else None
        case Unique(positive):
            return not isinstance(value, list) or are_distinct(value) == positive
        case _:
            assert_never(formula)
