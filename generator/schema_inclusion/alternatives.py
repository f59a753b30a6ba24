"""Simplify disjunctions: finite sets become one set, tagged branches become one switch, and covered branches disappear."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from typing import Final

from schema_inclusion.constants import Constants, list_constants, rank, to_value
from schema_inclusion.constraints import Constraints
from schema_inclusion.evaluation import holds
from schema_inclusion.forms import Forms
from schema_inclusion.formula import (
    All,
    Constant,
    Either,
    Formula,
    Has,
    Kind,
    Member,
    Switch,
    Types,
)

MOST_UNTAGGED: Final = 6
"""Branches without a tag up to which they are written into every case of a switch."""


def disjoin(forms: Forms, parts: tuple[Formula, ...]) -> Formula:
    """The alternative of at least two different parts."""
    flat: dict[Formula, None] = {}
    for part in parts:
        flat.update(dict.fromkeys(part.parts if isinstance(part, Either) else (part,)))
    if forms.top in flat or any(forms.are_contrary(one, other) for one, other in _pair_up(flat)):
        return forms.top
    branches = _drop_covered(forms, _join_finite(forms, tuple(flat)))
    if forms.top in branches:
        return forms.top
    return _make_switch(forms, branches)


def _pair_up(flat: Mapping[Formula, None]) -> list[tuple[Formula, Formula]]:
    return list(combinations(flat, 2)) if len(flat) <= 8 else []


# Finite sets of scalars.


def _join_finite(forms: Forms, parts: tuple[Formula, ...]) -> tuple[Formula, ...]:
    total: Constraints | None = None
    rest: list[Formula] = []
    for part in parts:
        found = forms.as_scalars(part)
        union = found if total is None or found is None else _union(total, found)
        if found is None or union is None:
            rest.append(part)
        else:
            total = union
    if total is None:
        return tuple(rest)
    made = forms.scalars(total.kinds, total.strings, total.numbers)
    return (made, *(part for part in rest if part is not made))


def _union(one: Constraints, other: Constraints) -> Constraints | None:
    strings: frozenset[str] | None = frozenset()
    numbers: frozenset[Fraction] | None = frozenset()
    for each in (one, other):
        if each.kinds & Kind.STRING:
            strings = None if strings is None or each.strings is None else strings | each.strings
        if each.kinds & Kind.NUMBER:
            numbers = None if numbers is None or each.numbers is None else numbers | each.numbers
    kinds = one.kinds | other.kinds
    is_mixed = (
        one.kinds & Kind.NUMBER and other.kinds & Kind.NUMBER and (one.numbers is None) != (other.numbers is None)
    )
    if is_mixed and kinds & Kind.NUMBER != (one if one.numbers is None else other).kinds & Kind.NUMBER:
        return None
    strings, numbers = strings if kinds & Kind.STRING else None, numbers if kinds & Kind.NUMBER else None
    return Constraints(kinds=kinds, strings=strings, numbers=numbers)


# Branches that others cover.


def _drop_covered(forms: Forms, parts: tuple[Formula, ...]) -> tuple[Formula, ...]:
    known = set(parts)
    left = [part for part in parts if not (isinstance(part, All) and any(each in known for each in part.parts))]
    guards = [part.subject for part in left if part.subject != Kind.ANY]
    if any(one & other == Kind.NONE for one, other in combinations(dict.fromkeys(guards), 2)):
        # A constraint on strings holds of every number, and one on numbers of every string.
        return (forms.top,)
    plain = next((part for part in left if isinstance(part, Types)), None)
    if plain is None:
        return tuple(left)
    if any(part.subject & ~plain.kinds == Kind.NONE for part in left if part is not plain):
        return (forms.top,)
    if any(not plain.kinds & guard for guard in guards):
        left.remove(plain)
    return tuple(part for part in left if part is plain or not _plain_covers(forms, plain, part))


def _plain_covers(forms: Forms, plain: Types, part: Formula) -> bool:
    return isinstance(part, All) and not forms.constraints(part).kinds & ~plain.kinds


# Tagged branches.


def find_tags(forms: Forms, formula: Formula) -> dict[str, Constants]:
    """The members that every value of the formula has, with the few constants that each may be."""
    if isinstance(formula, Switch):
        if formula.otherwise is forms.bottom:
            return {formula.tag: frozenset(each for each, form in formula.cases.items() if form is not forms.bottom)}
        return {}
    if not isinstance(formula, All):
        return {}
    constraints = forms.constraints(formula)
    if constraints.kinds != Kind.OBJECT:
        return {}
    found: dict[str, Constants] = {}
    for name in constraints.has:
        constants = list_constants(forms.constraints(constraints.member.get(name, forms.top)))
        if constants is not None:
            found[name] = constants
    for clause in constraints.clauses:
        if isinstance(clause, Switch):
            found.update({name: values for name, values in find_tags(forms, clause).items() if name not in found})
    return found


def _make_switch(forms: Forms, parts: tuple[Formula, ...]) -> Formula:
    """The parts as a switch on the tag that most of them carry, if two carry one."""
    marks = [find_tags(forms, part) for part in parts]
    carriers: dict[str, int] = {}
    for mark in marks:
        for name in mark:
            carriers[name] = carriers.get(name, 0) + 1
    tag = max(carriers, key=lambda name: (carriers[name], _count_constants(marks, name)), default=None)
    if tag is None or carriers[tag] < 2 or _count_constants(marks, tag) < 2:
        return forms.either(parts)
    others = tuple(part for part, mark in zip(parts, marks, strict=True) if tag not in mark)
    near = others if len(others) <= MOST_UNTAGGED else ()
    cases: dict[Constant, list[Formula]] = {}
    for part, mark in zip(parts, marks, strict=True):
        for constant in sorted(mark.get(tag, ()), key=rank):
            cases.setdefault(constant, []).append(part)
    bodies = {
        constant: forms.any_of(*(assume(forms, part, tag, constant) for part in (*bodies, *near)))
        for constant, bodies in cases.items()
    }
    if near or not others:
        return forms.switch(tag, bodies, forms.either(near) if len(near) > 1 else next(iter(near), forms.bottom))
    return forms.either((forms.switch(tag, bodies, forms.bottom), *others))


def _count_constants(marks: list[dict[str, Constants]], name: str) -> int:
    return len({constant for mark in marks for constant in mark.get(name, ())})


def assume(forms: Forms, formula: Formula, tag: str, constant: Constant) -> Formula:
    """What the formula still says of an object whose member `tag` is `constant`."""
    match formula:
        case Types(kinds):
            return forms.top if kinds & Kind.OBJECT else forms.bottom
        case All(parts):
            return forms.all_of(*(assume(forms, part, tag, constant) for part in parts))
        case Either(parts):
            return forms.any_of(*(assume(forms, part, tag, constant) for part in parts))
        case Switch(name, cases, otherwise) if name == tag:
            return assume(forms, cases.get(constant, otherwise), tag, constant)
        case Has(name) if name == tag:
            return forms.top
        case Member(name, form) if name == tag:
            state = holds(forms, form, to_value(constant))
            return formula if state is None else forms.top if state else forms.bottom
        case _:
            return formula if formula.subject & Kind.OBJECT else forms.top


# Exactly one.


def require_exactly_one(forms: Forms, parts: tuple[Formula, ...]) -> Formula:
    """Exactly one of the parts: any of them, and no two together."""
    pairs = _find_overlaps(forms, parts)
    forms.budget.require(len(pairs))
    alone = [
        forms.any_of(forms.negate(one), forms.negate(other))
        for one, other in pairs
        if forms.all_of(one, other) is not forms.bottom
    ]
    return forms.all_of(forms.any_of(*parts), *alone)


def _find_overlaps(forms: Forms, parts: tuple[Formula, ...]) -> list[tuple[Formula, Formula]]:
    """The pairs that kinds and tags do not tell apart."""
    marks = [find_tags(forms, part) for part in parts]
    kinds = [forms.constraints(part).kinds for part in parts]
    shared = next((name for name in (marks[0] if marks else {}) if all(name in mark for mark in marks)), None)
    if shared is None:
        return [(parts[i], parts[j]) for i, j in combinations(range(len(parts)), 2) if kinds[i] & kinds[j]]
    groups: dict[Constant, list[int]] = {}
    for index, mark in enumerate(marks):
        for constant in mark[shared]:
            groups.setdefault(constant, []).append(index)
    pairs = {pair for group in groups.values() for pair in combinations(group, 2)}
    return [(parts[i], parts[j]) for i, j in sorted(pairs)]
