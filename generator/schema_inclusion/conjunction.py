"""Simplify conjunctions: merge the constraints of each kind, drop irrelevant ones, and detect plain contradictions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any, Final, TypeAlias, assert_never

from schema_inclusion.constants import list_constants, select_allowed
from schema_inclusion.constraints import Constraints, is_void, narrow
from schema_inclusion.evaluation import holds, number_satisfies
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


def merge(forms: Forms, parts: Iterable[Formula]) -> Constraints | None:
    """Merge the parts of a conjunction into simplified constraints; `None` if it is plainly unsatisfiable."""
    pending: list[Formula] = list(parts)
    constraints = Constraints()
    largest = max(pending, key=lambda part: len(part.parts) if isinstance(part, All) else 0)
    known_constraints = forms.find_constraints(largest)
    if known_constraints is not None and isinstance(largest, All):
        constraints = known_constraints.copy()
        pending.remove(largest)
    while pending:
        for part in pending:
            _absorb(forms, constraints, part)
        pending.clear()
        forms.budget.weigh(len(constraints.multiples) ** 2)
        _simplify(forms, constraints)
        if not constraints.kinds:
            return None
        forms.budget.weigh(len(constraints.has) + len(constraints.member) + len(constraints.clauses))
        statuses: _Known = {}
        for clause in list(constraints.clauses):
            shorter = _shorten(forms, constraints, clause, statuses)
            if shorter is not clause:
                del constraints.clauses[clause]
                pending.append(shorter)
    return constraints


def list_parts(forms: Forms, constraints: Constraints) -> tuple[Formula, ...]:
    """The formulas that make up simplified constraints."""
    formulas = [
        *(_list_string_parts(forms, constraints)),
        *(_list_number_parts(forms, constraints)),
        *(_list_array_parts(forms, constraints)),
        *(_list_object_parts(forms, constraints)),
        *constraints.refs,
        *constraints.clauses,
        *constraints.opaque,
    ]
    unique = dict.fromkeys(part for part in formulas if part is not forms.top)
    return (() if constraints.kinds == Kind.ANY else (forms.types(constraints.kinds),)) + tuple(unique)


def _list_string_parts(forms: Forms, constraints: Constraints) -> list[Formula]:
    parts = [] if constraints.strings is None else [forms.strings(constraints.strings, within=True)]
    parts.append(forms.strings(constraints.not_strings, within=False))
    parts.append(forms.size(Kind.STRING, *constraints.sizes[Kind.STRING]))
    return parts + [forms.matches(pattern, holds=positive) for pattern, positive in constraints.patterns.items()]


def _list_number_parts(forms: Forms, constraints: Constraints) -> list[Formula]:
    parts = [] if constraints.numbers is None else [forms.numbers(constraints.numbers, within=True)]
    parts.append(forms.numbers(constraints.not_numbers, within=False))
    if constraints.lower is not None:
        parts.append(forms.bound(constraints.lower[0], upper=False, strict=constraints.lower[1]))
    if constraints.upper is not None:
        parts.append(forms.bound(constraints.upper[0], upper=True, strict=constraints.upper[1]))
    return parts + [forms.multiple(of, holds=positive) for of, positive in constraints.multiples.items()]


def _list_array_parts(forms: Forms, constraints: Constraints) -> list[Formula]:
    parts = [forms.size(Kind.ARRAY, *constraints.sizes[Kind.ARRAY])]
    parts += [forms.item(index, form) for index, form in constraints.item.items()]
    parts += [forms.items(start, form) for start, form in constraints.items.items()]
    parts += [forms.amount(start, form, *limits) for (start, form), limits in constraints.counts.items()]
    return parts if constraints.unique is None else [*parts, forms.unique(holds=constraints.unique)]


def _list_object_parts(forms: Forms, constraints: Constraints) -> list[Formula]:
    low, high = constraints.sizes[Kind.OBJECT]
    parts = [forms.has(name) for name in constraints.has]
    parts += [forms.member(name, form) for name, form in constraints.member.items()]
    parts += [forms.members(names, form) for names, form in constraints.members.items()]
    parts += list(constraints.some)
    return [*parts, forms.size(Kind.OBJECT, low if low > len(constraints.has) else 0, high)]


# Absorbing one formula.


def _absorb(forms: Forms, constraints: Constraints, formula: Formula) -> None:
    match formula:
        case All(parts):
            for part in parts:
                _absorb(forms, constraints, part)
        case Types(kinds):
            constraints.kinds &= kinds
        case Size(kind, low, high):
            constraints.sizes[kind] = narrow(constraints.sizes[kind], (low, high))
        case Strings(values, True):
            constraints.strings = values if constraints.strings is None else constraints.strings & values
        case Strings(values, _):
            constraints.not_strings |= values
        case Matches(pattern, positive):
            if constraints.patterns.setdefault(pattern, positive) != positive:
                constraints.kinds &= ~Kind.STRING
        case Numbers(values, True):
            constraints.numbers = values if constraints.numbers is None else constraints.numbers & values
        case Numbers(values, _):
            constraints.not_numbers |= values
        case Bound(limit, True, strict):
            if constraints.upper is None or (limit, not strict) < (constraints.upper[0], not constraints.upper[1]):
                constraints.upper = (limit, strict)
        case Bound(limit, _, strict):
            if constraints.lower is None or (limit, strict) > constraints.lower:
                constraints.lower = (limit, strict)
        case Multiple(of, positive):
            if constraints.multiples.setdefault(of, positive) != positive:
                constraints.kinds &= ~Kind.NUMBER
        case Item(index, form):
            constraints.item[index] = forms.all_of(constraints.item.get(index, forms.top), form)
        case Items(start, form):
            constraints.items[start] = forms.all_of(constraints.items.get(start, forms.top), form)
        case Count(start, form, low, high):
            constraints.counts[start, form] = narrow(constraints.counts.get((start, form), (0, None)), (low, high))
        case Unique(positive):
            if constraints.unique is not None and constraints.unique != positive:
                constraints.kinds &= ~Kind.ARRAY
            constraints.unique = positive
        case Has(name):
            constraints.has[name] = None
        case Member(name, form):
            constraints.member[name] = forms.all_of(constraints.member.get(name, forms.top), form)
        case Members(names, form):
            constraints.members[names] = forms.all_of(constraints.members.get(names, forms.top), form)
        case SomeMember():
            constraints.some[formula] = None
        case Either():
            constraints.clauses[formula] = None
        case Switch():
            _absorb_switch(forms, constraints, formula)
        case Ref(place, holding):
            constraints.refs[formula] = None
            if any(ref.place == place and ref.holds != holding for ref in constraints.refs):
                constraints.kinds = Kind.NONE
        case Opaque():
            constraints.opaque[formula] = None
            if any(contrary in constraints.opaque for contrary in forms.list_contraries(formula)):
                constraints.kinds = Kind.NONE
        case _:
            assert_never(formula)


def _absorb_switch(forms: Forms, constraints: Constraints, switch: Switch) -> None:
    """Add a switch; two switches on the same tag are merged case by case."""
    twin = next(
        (clause for clause in constraints.clauses if isinstance(clause, Switch) and clause.tag == switch.tag), None
    )
    if twin is None or twin is switch:
        constraints.clauses[switch] = None
        return
    del constraints.clauses[twin]
    cases = {
        constant: forms.all_of(twin.cases.get(constant, twin.otherwise), switch.cases.get(constant, switch.otherwise))
        for constant in {**twin.cases, **switch.cases}
    }
    _absorb(forms, constraints, forms.switch(switch.tag, cases, forms.all_of(twin.otherwise, switch.otherwise)))


# The simplification of each subject.


def _simplify(forms: Forms, constraints: Constraints) -> None:
    for kind, simplify in _SIMPLIFY.items():
        if constraints.kinds & kind:
            simplify(forms, constraints)
        if not constraints.kinds & kind:
            constraints.drop(kind)


def _simplify_strings(_forms: Forms, constraints: Constraints) -> None:
    low, high = constraints.sizes[Kind.STRING]

    def is_refused(text: str) -> bool:
        return not (low <= len(text) and (high is None or len(text) <= high)) or any(
            matches(pattern, text) is (not positive) for pattern, positive in constraints.patterns.items()
        )

    constraints.not_strings = frozenset(text for text in constraints.not_strings if not is_refused(text))
    if is_void((low, high)):
        constraints.kinds &= ~Kind.STRING
    elif constraints.strings is not None:
        allowed_texts = frozenset(
            text for text in constraints.strings - constraints.not_strings if not is_refused(text)
        )
        constraints.strings, constraints.not_strings = allowed_texts, frozenset()
        constraints.sizes[Kind.STRING] = (0, None)
        for pattern in list(constraints.patterns):
            if all(matches(pattern, text) is not None for text in allowed_texts):
                del constraints.patterns[pattern]
        if not allowed_texts:
            constraints.kinds &= ~Kind.STRING


def number_fits(constraints: Constraints, number: Fraction) -> bool:
    """Whether the number satisfies the constraints on numbers."""
    lower, upper = constraints.lower, constraints.upper
    return (
        bool(constraints.kinds & (Kind.INTEGER if number.denominator == 1 else Kind.FRACTION))
        and (constraints.numbers is None or number in constraints.numbers)
        and number not in constraints.not_numbers
        and (lower is None or number > lower[0] or (number == lower[0] and not lower[1]))
        and (upper is None or number < upper[0] or (number == upper[0] and not upper[1]))
        and all(((number / of).denominator == 1) == positive for of, positive in constraints.multiples.items())
    )


def _simplify_numbers(_forms: Forms, constraints: Constraints) -> None:
    if constraints.kinds & Kind.NUMBER == Kind.INTEGER:
        _simplify_integers(constraints)
    for of, positive in constraints.multiples.items():
        if positive and of.denominator == 1:
            constraints.kinds &= ~Kind.FRACTION
    for of, positive in list(constraints.multiples.items()):
        implied = any(
            multiple != of and holding and (multiple / of).denominator == 1
            for multiple, holding in constraints.multiples.items()
        )
        if implied and positive:
            del constraints.multiples[of]
        elif implied:
            constraints.kinds &= ~Kind.NUMBER
    if constraints.lower is not None and constraints.upper is not None:
        (low, open_below), (high, open_above) = constraints.lower, constraints.upper
        if low > high or (low == high and (open_below or open_above)):
            constraints.kinds &= ~Kind.NUMBER
        elif low == high and constraints.numbers is None:
            constraints.numbers = frozenset({low})
    if constraints.numbers is not None:
        allowed_numbers = frozenset(number for number in constraints.numbers if number_fits(constraints, number))
        constraints.drop(Kind.NUMBER)
        constraints.numbers = allowed_numbers
        if not any(number.denominator == 1 for number in allowed_numbers):
            constraints.kinds &= ~Kind.INTEGER
        if all(number.denominator == 1 for number in allowed_numbers):
            constraints.kinds &= ~Kind.FRACTION
    elif constraints.not_numbers:
        excluded_numbers = constraints.not_numbers
        constraints.not_numbers = frozenset()
        constraints.not_numbers = frozenset(number for number in excluded_numbers if number_fits(constraints, number))


def _simplify_integers(constraints: Constraints) -> None:
    """Simplify constraints that only integers satisfy: limits become integers, and multiples of fractions multiples of integers."""
    if constraints.lower is not None:
        low, strict = constraints.lower
        constraints.lower = (Fraction(math.floor(low) + 1 if strict else math.ceil(low)), False)
    if constraints.upper is not None:
        high, strict = constraints.upper
        constraints.upper = (Fraction(math.ceil(high) - 1 if strict else math.floor(high)), False)
    for of, positive in list(constraints.multiples.items()):
        if (1 / of).denominator == 1:
            if positive:
                del constraints.multiples[of]
            else:
                constraints.kinds &= ~Kind.NUMBER
        elif of.denominator != 1:
            # An integer that is a multiple of p/q is one of p.
            del constraints.multiples[of]
            whole = Fraction(of.numerator)
            if constraints.multiples.setdefault(whole, positive) != positive:
                constraints.kinds &= ~Kind.NUMBER


def join_item(forms: Forms, constraints: Constraints, index: int) -> Formula:
    """The conjunction of the constraints on the item at `index`, if there is one."""
    tail_forms = [form for start, form in constraints.items.items() if start <= index]
    return forms.all_of(constraints.item.get(index, forms.top), *tail_forms)


def _simplify_arrays(forms: Forms, constraints: Constraints) -> None:
    low, high = constraints.sizes[Kind.ARRAY]
    for table in (constraints.item, constraints.items):
        for place, form in list(table.items()):
            if form is forms.bottom:
                high = place if high is None else min(high, place)
            if form is forms.bottom or form is forms.top:
                del table[place]
    for (start, form), (least, most) in list(constraints.counts.items()):
        if is_void((least, most)):
            constraints.kinds &= ~Kind.ARRAY
        elif most == 0:
            del constraints.counts[start, form]
            constraints.items[start] = forms.all_of(constraints.items.get(start, forms.top), forms.negate(form))
        elif least:
            low = max(low, start + least)
    if constraints.unique is False:
        low = max(low, 2)
    if constraints.unique is True and high is not None and high < 2:
        constraints.unique = None
    if high is not None:
        for table in (constraints.item, constraints.items):
            for place in [place for place in table if place >= high]:
                del table[place]
    constraints.sizes[Kind.ARRAY] = (low, high)
    if is_void((low, high)) or _has_contradiction(forms, constraints):
        constraints.kinds &= ~Kind.ARRAY


def _has_contradiction(forms: Forms, constraints: Constraints) -> bool:
    low, _ = constraints.sizes[Kind.ARRAY]
    if any(
        index < low and join_item(forms, constraints, index) is forms.bottom
        for index in (*constraints.item, *constraints.items)
    ):
        return True
    for (start, form), (least, _) in constraints.counts.items():
        if least and all(index < start for index in constraints.item):
            tail_forms = [tail for begin, tail in constraints.items.items() if begin <= start]
            if tail_forms and forms.all_of(form, *tail_forms) is forms.bottom:
                return True
    return False


def join_member(forms: Forms, constraints: Constraints, name: str) -> Formula:
    """The conjunction of the constraints on the member `name`, if it is present."""
    parts = [constraints.member.get(name, forms.top)]
    if parts[0] is forms.bottom:
        return forms.bottom
    for names, form in constraints.members.items():
        fits = holds(forms, names, name)
        if fits is None:
            parts.append(forms.doubt(names, form, name))
        elif fits:
            parts.append(form)
    return forms.all_of(*parts)


def _simplify_objects(forms: Forms, constraints: Constraints) -> None:
    tables: Any = (constraints.member, constraints.members)
    for table in tables:
        for key in [key for key, form in table.items() if form is forms.top]:
            del table[key]
    low, high = constraints.sizes[Kind.OBJECT]
    constraints.sizes[Kind.OBJECT] = low, high = max(low, len(constraints.has), 1 if constraints.some else 0), high
    if (
        is_void((low, high))
        or any(join_member(forms, constraints, name) is forms.bottom for name in constraints.has)
        or any(_contradicts_need(forms, constraints, need) for need in constraints.some)
    ):
        constraints.kinds &= ~Kind.OBJECT


_SIMPLIFY: Final[dict[Kinds, Callable[[Forms, Constraints], None]]] = {
    Kind.STRING: _simplify_strings,
    Kind.NUMBER: _simplify_numbers,
    Kind.ARRAY: _simplify_arrays,
    Kind.OBJECT: _simplify_objects,
}


def _contradicts_need(forms: Forms, constraints: Constraints, need: SomeMember) -> bool:
    everywhere = forms.types(Kind.STRING)
    return any(
        names in (need.names, everywhere) and forms.all_of(form, need.form) is forms.bottom
        for names, form in constraints.members.items()
    )


# Shortening clauses by what is known.


def _shorten(forms: Forms, constraints: Constraints, clause: Either | Switch, cache: _Known) -> Formula:
    if isinstance(clause, Switch):
        return _choose_cases(forms, constraints, clause)
    open_parts: list[Formula] = []
    forms.budget.weigh(len(clause.parts))
    for part in clause.parts:
        state = False if _is_denied(forms, constraints, part) else _look_up_status(forms, constraints, part, cache)
        if state is True:
            return forms.top
        if state is None:
            open_parts.append(part)
    if len(open_parts) == len(clause.parts):
        return clause
    return forms.any_of(*open_parts) if open_parts else forms.bottom


def _is_denied(forms: Forms, constraints: Constraints, formula: Formula) -> bool:
    """Whether the negation of the formula is one of the clauses: a cheap check for comparisons of long lists."""
    contrary = forms.find_negation(formula)
    return isinstance(contrary, (Either, Switch)) and contrary in constraints.clauses


def _choose_cases(forms: Forms, constraints: Constraints, switch: Switch) -> Formula:
    if not constraints.kinds & Kind.OBJECT or constraints.member.get(switch.tag) is forms.bottom:
        return switch.otherwise
    if switch.tag not in constraints.member and not constraints.members:
        return switch
    tag = forms.constraints(join_member(forms, constraints, switch.tag))
    possible = list_constants(tag)
    remaining = (
        select_allowed(tag, switch.cases)
        if possible is None
        else [constant for constant in possible if constant in switch.cases]
    )
    cases = {constant: switch.cases[constant] for constant in remaining}
    is_present = constraints.kinds == Kind.OBJECT and switch.tag in constraints.has
    certain = is_present and possible is not None and len(possible) == len(cases)
    if certain and len(cases) == 1:
        return next(iter(cases.values()))
    if len(cases) == len(switch.cases) and not (certain and switch.otherwise is not forms.bottom):
        return switch
    return forms.switch(switch.tag, cases, forms.bottom if certain else switch.otherwise)


def join_inner(forms: Forms, constraints: Constraints, branch: Constraints) -> Iterator[Formula]:
    """Yield what members and items must satisfy by both the constraints and a branch: if one is unsatisfiable, so is the conjunction.

    Yields `bottom` if the two exclude each other otherwise. Only members and items that they plainly share are examined.
    """
    kinds = constraints.kinds & branch.kinds
    if not kinds:
        yield forms.bottom
    elif kinds == Kind.OBJECT:
        for name in branch.has:
            yield forms.all_of(join_member(forms, constraints, name), join_member(forms, branch, name))
        for name in constraints.has:
            if name in branch.member and name not in branch.has:
                yield forms.all_of(join_member(forms, constraints, name), branch.member[name])
    elif kinds == Kind.ARRAY:
        low, high = narrow(constraints.sizes[Kind.ARRAY], branch.sizes[Kind.ARRAY])
        if high is not None and low > high:
            yield forms.bottom
        for index in dict.fromkeys((*branch.item, *branch.items)):
            if index < low:
                yield forms.all_of(join_item(forms, constraints, index), join_item(forms, branch, index))


_Known: TypeAlias = dict[Formula, bool | None]
"""A cache of the status of formulas under the same constraints: formulas share parts."""


def _look_up_status(forms: Forms, constraints: Constraints, formula: Formula, cache: _Known) -> bool | None:
    """Whether the constraints plainly entail the formula (`True`) or exclude it (`False`); `None` if neither."""
    if formula not in cache:
        forms.budget.weigh(1)
        cache[formula] = _find_status(forms, constraints, formula, cache)
    return cache[formula]


def _find_status(forms: Forms, constraints: Constraints, formula: Formula, cache: _Known) -> bool | None:
    match formula:
        case Types(kinds):
            if not constraints.kinds & kinds:
                return False
            return True if not constraints.kinds & ~kinds else None
        case All(parts):
            if any(inner is forms.bottom for inner in join_inner(forms, constraints, forms.constraints(formula))):
                return False
            states = [_look_up_status(forms, constraints, part, cache) for part in parts]
            return False if False in states else True if all(states) else None
        case Either(parts):
            states = [_look_up_status(forms, constraints, part, cache) for part in parts]
            return True if True in states else False if all(state is False for state in states) else None
        case Switch():
            result = _choose_cases(forms, constraints, formula)
            return (
                None
                if result is formula or isinstance(result, Switch)
                else _look_up_status(forms, constraints, result, cache)
            )
        case Ref():
            if formula in constraints.refs:
                return True
            return False if any(contrary in constraints.refs for contrary in forms.list_contraries(formula)) else None
        case Opaque():
            return True if formula in constraints.opaque else None
        case _:
            if not constraints.kinds & formula.subject:
                return True
            state = _find_subject_status(forms, constraints, formula)
            return None if state is False and constraints.kinds & ~formula.subject else state


def _find_subject_status(forms: Forms, constraints: Constraints, formula: Formula) -> bool | None:
    """Whether the constraints entail or exclude a formula on some kinds, assuming that the value is of these kinds."""
    match formula:
        case Strings() | Matches() | Size(Kind.STRING) if constraints.strings is not None:
            return _agree(holds(forms, formula, text) for text in constraints.strings)
        case Numbers() | Bound() | Multiple() if constraints.numbers is not None:
            return _agree(number_satisfies(formula, number) for number in constraints.numbers)
        case Strings(values, within):
            return not within if values <= constraints.not_strings else None
        case Numbers(values, within):
            return not within if values <= constraints.not_numbers else None
        case Size(kind, low, high):
            return _find_range_status(constraints.sizes[kind], (low, high))
        case Matches(pattern, positive):
            return constraints.patterns[pattern] == positive if pattern in constraints.patterns else None
        case Bound(limit, upper, strict):
            return _find_bound_status(constraints, limit, upper, strict)
        case Multiple(of, positive):
            if of in constraints.multiples:
                return constraints.multiples[of] == positive
            implied = any(
                holding and (multiple / of).denominator == 1 for multiple, holding in constraints.multiples.items()
            )
            return positive if implied else None
        case Unique(positive):
            return None if constraints.unique is None else constraints.unique == positive
        case Item() | Items() | Count():
            return _find_items_status(forms, constraints, formula)
        case Has(name):
            if name in constraints.has:
                return True
            return False if join_member(forms, constraints, name) is forms.bottom else None
        case Member(name, form):
            current = join_member(forms, constraints, name)
            joint = forms.all_of(current, form)
            return True if joint is current else False if joint is forms.bottom and name in constraints.has else None
        case Members(names, form):
            current = constraints.members.get(names, forms.top)
            if forms.all_of(current, form) is current:
                return True
            has_conflict = any(
                holds(forms, names, name) and forms.all_of(join_member(forms, constraints, name), form) is forms.bottom
                for name in constraints.has
            )
            return False if has_conflict else None
        case SomeMember():
            contradicts = _contradicts_need(forms, constraints, formula)
            return True if formula in constraints.some else False if contradicts else None
        case _:
            raise AssertionError(formula)


def _agree(states: Iterable[bool | None]) -> bool | None:
    """The state that all have; `None` if they differ."""
    distinct_states = set(states)
    return distinct_states.pop() if len(distinct_states) == 1 else None


def _find_range_status(current: tuple[int, int | None], target: tuple[int, int | None]) -> bool | None:
    intersection = narrow(current, target)
    return True if intersection == current else False if is_void(intersection) else None


def _find_bound_status(constraints: Constraints, limit: Fraction, upper: bool, strict: bool) -> bool | None:
    bound, opposite_bound = (constraints.upper, constraints.lower) if upper else (constraints.lower, constraints.upper)
    if bound is not None and (
        (bound[0] < limit if upper else bound[0] > limit) or (bound[0] == limit and (bound[1] or not strict))
    ):
        return True
    if opposite_bound is not None:
        beyond = opposite_bound[0] > limit if upper else opposite_bound[0] < limit
        if beyond or (opposite_bound[0] == limit and (opposite_bound[1] or strict)):
            return False
    return None


def _find_items_status(forms: Forms, constraints: Constraints, formula: Item | Items | Count) -> bool | None:
    low, high = constraints.sizes[Kind.ARRAY]
    match formula:
        case Item(index, form):
            if high is not None and high <= index:
                return True
            current = join_item(forms, constraints, index)
            joint = forms.all_of(current, form)
            return True if joint is current else False if joint is forms.bottom and index < low else None
        case Items(start, form):
            if high is not None and high <= start:
                return True
            places = _list_places(forms, constraints, start, form)
            if any(joint is forms.bottom and index < low for index, _, joint in places):
                return False
            return True if all(joint is current for _, current, joint in places) else None
        case Count(start, form, least, most):
            known_count = constraints.counts.get((start, form))
            if known_count is not None:
                return _find_range_status(known_count, (least, most))
            if least and all(joint is forms.bottom for _, _, joint in _list_places(forms, constraints, start, form)):
                return False
            return None


def _list_places(
    forms: Forms, constraints: Constraints, start: int, form: Formula
) -> list[tuple[int, Formula, Formula]]:
    """Representative indexes from `start` on, each with the constraints on its item, and their conjunction with `form`.

    The constraints change at an item with its own constraints, after it, and where constraints on all further items begin.
    """
    changes = (start, *constraints.items, *constraints.item, *(index + 1 for index in constraints.item))
    indices = dict.fromkeys(index for index in changes if index >= start)
    places = [(index, join_item(forms, constraints, index)) for index in indices]
    return [(index, current, forms.all_of(current, form)) for index, current in places]
