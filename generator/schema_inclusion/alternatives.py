"""Simplify disjunctions: finite sets are merged into one set, tagged branches into one switch, and covered branches are dropped."""

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
"""The maximum number of branches without a tag that are copied into every case of a switch."""


def disjoin(forms: Forms, parts: tuple[Formula, ...]) -> Formula:
    """The disjunction of at least two different parts."""
    flat: dict[Formula, None] = {}
    for part in parts:
        flat.update(dict.fromkeys(part.parts if isinstance(part, Either) else (part,)))
    if forms.top in flat or any(forms.are_contrary(left, right) for left, right in _pair_up(flat)):
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
    non_scalars: list[Formula] = []
    for part in parts:
        scalars = forms.as_scalars(part)
        union = scalars if total is None or scalars is None else _join(total, scalars)
        if scalars is None or union is None:
            non_scalars.append(part)
        else:
            total = union
    if total is None:
        return tuple(non_scalars)
    finite_set = forms.scalars(total.kinds, total.strings, total.numbers)
    return (finite_set, *(part for part in non_scalars if part is not finite_set))


def _join(left: Constraints, right: Constraints) -> Constraints | None:
    strings: frozenset[str] | None = frozenset()
    numbers: frozenset[Fraction] | None = frozenset()
    for constraints in (left, right):
        if constraints.kinds & Kind.STRING:
            strings = None if strings is None or constraints.strings is None else strings | constraints.strings
        if constraints.kinds & Kind.NUMBER:
            numbers = None if numbers is None or constraints.numbers is None else numbers | constraints.numbers
    kinds = left.kinds | right.kinds
    is_mixed = (
        left.kinds & Kind.NUMBER and right.kinds & Kind.NUMBER and (left.numbers is None) != (right.numbers is None)
    )
    if is_mixed and kinds & Kind.NUMBER != (left if left.numbers is None else right).kinds & Kind.NUMBER:
        return None
    strings, numbers = strings if kinds & Kind.STRING else None, numbers if kinds & Kind.NUMBER else None
    return Constraints(kinds=kinds, strings=strings, numbers=numbers)


# Branches that others cover.


def _drop_covered(forms: Forms, parts: tuple[Formula, ...]) -> tuple[Formula, ...]:
    part_set = set(parts)
    remaining = [
        part for part in parts if not (isinstance(part, All) and any(conjunct in part_set for conjunct in part.parts))
    ]
    guards = [part.subject for part in remaining if part.subject != Kind.ANY]
    if any(left & right == Kind.NONE for left, right in combinations(dict.fromkeys(guards), 2)):
        # A constraint on strings holds of every number, and one on numbers of every string.
        return (forms.top,)
    plain = next((part for part in remaining if isinstance(part, Types)), None)
    if plain is None:
        return tuple(remaining)
    if any(part.subject & ~plain.kinds == Kind.NONE for part in remaining if part is not plain):
        return (forms.top,)
    if any(not plain.kinds & guard for guard in guards):
        remaining.remove(plain)
    return tuple(part for part in remaining if part is plain or not _plain_covers(forms, plain, part))


def _plain_covers(forms: Forms, plain: Types, part: Formula) -> bool:
    return isinstance(part, All) and not forms.constraints(part).kinds & ~plain.kinds


# Tagged branches.


def find_tags(forms: Forms, formula: Formula) -> dict[str, Constants]:
    """The members that every value of the formula has and that have few possible constants, with these constants."""
    if isinstance(formula, Switch):
        if formula.otherwise is forms.bottom:
            return {
                formula.tag: frozenset(constant for constant, form in formula.cases.items() if form is not forms.bottom)
            }
        return {}
    if not isinstance(formula, All):
        return {}
    constraints = forms.constraints(formula)
    if constraints.kinds != Kind.OBJECT:
        return {}
    tags: dict[str, Constants] = {}
    for name in constraints.has:
        constants = list_constants(forms.constraints(constraints.member.get(name, forms.top)))
        if constants is not None:
            tags[name] = constants
    for clause in constraints.clauses:
        if isinstance(clause, Switch):
            tags.update({name: values for name, values in find_tags(forms, clause).items() if name not in tags})
    return tags


def _make_switch(forms: Forms, parts: tuple[Formula, ...]) -> Formula:
    """Combine the parts into a switch on the tag that most of them have, if at least two have one; otherwise into a plain disjunction."""
    tag_tables = [find_tags(forms, part) for part in parts]
    counts: dict[str, int] = {}
    for tags in tag_tables:
        for name in tags:
            counts[name] = counts.get(name, 0) + 1
    tag = max(counts, key=lambda name: (counts[name], _count_constants(tag_tables, name)), default=None)
    if tag is None or counts[tag] < 2 or _count_constants(tag_tables, tag) < 2:
        return forms.either(parts)
    untagged_parts = tuple(part for part, tags in zip(parts, tag_tables, strict=True) if tag not in tags)
    shared_parts = untagged_parts if len(untagged_parts) <= MOST_UNTAGGED else ()
    cases: dict[Constant, list[Formula]] = {}
    for part, tags in zip(parts, tag_tables, strict=True):
        for constant in sorted(tags.get(tag, ()), key=rank):
            cases.setdefault(constant, []).append(part)
    bodies = {
        constant: forms.any_of(*(assume(forms, part, tag, constant) for part in (*bodies, *shared_parts)))
        for constant, bodies in cases.items()
    }
    if shared_parts or not untagged_parts:
        return forms.switch(
            tag, bodies, forms.either(shared_parts) if len(shared_parts) > 1 else next(iter(shared_parts), forms.bottom)
        )
    return forms.either((forms.switch(tag, bodies, forms.bottom), *untagged_parts))


def _count_constants(tag_tables: list[dict[str, Constants]], name: str) -> int:
    return len({constant for tags in tag_tables for constant in tags.get(name, ())})


def assume(forms: Forms, formula: Formula, tag: str, constant: Constant) -> Formula:
    """Simplify a formula for objects whose member `tag` is `constant`."""
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
    """The formula of `oneOf`: any of the parts, and no two of them together."""
    pairs = _find_overlaps(forms, parts)
    forms.budget.require(len(pairs))
    exclusions = [
        forms.any_of(forms.negate(left), forms.negate(right))
        for left, right in pairs
        if forms.all_of(left, right) is not forms.bottom
    ]
    return forms.all_of(forms.any_of(*parts), *exclusions)


def _find_overlaps(forms: Forms, parts: tuple[Formula, ...]) -> list[tuple[Formula, Formula]]:
    """The pairs of parts that kinds and tags do not show to be disjoint."""
    marks = [find_tags(forms, part) for part in parts]
    kinds = [forms.constraints(part).kinds for part in parts]
    common_tag = next((name for name in (marks[0] if marks else {}) if all(name in mark for mark in marks)), None)
    if common_tag is None:
        return [(parts[i], parts[j]) for i, j in combinations(range(len(parts)), 2) if kinds[i] & kinds[j]]
    groups: dict[Constant, list[int]] = {}
    for index, mark in enumerate(marks):
        for constant in mark[common_tag]:
            groups.setdefault(constant, []).append(index)
    pairs = {pair for group in groups.values() for pair in combinations(group, 2)}
    return [(parts[i], parts[j]) for i, j in sorted(pairs)]
