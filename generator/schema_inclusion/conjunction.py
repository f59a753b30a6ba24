"""Joins what must hold together: merges each subject, drops what cannot matter, sees plain contradictions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, assert_never

from schema_inclusion.constants import allowed_by, listed_in
from schema_inclusion.facts import Facts, narrowed, void
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
    Lacks,
    Length,
    Matches,
    Member,
    MemberCount,
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
from schema_inclusion.meaning import holds, number_obeys, string_fits
from schema_inclusion.patterns import matches

if TYPE_CHECKING:
    from schema_inclusion.forms import Forms


def settled(forms: Forms, parts: Iterable[Formula]) -> Facts | None:
    """The conjunction of the parts taken apart and simplified; `None` if nothing can satisfy it, as far as is plain."""
    pending: list[Formula] = list(parts)
    facts = Facts()
    largest = max(pending, key=lambda part: len(part.parts) if isinstance(part, All) else 0)
    known = forms.known_facts(largest)
    if known is not None and isinstance(largest, All):
        facts = known.copy()
        pending.remove(largest)
    while pending:
        for part in pending:
            _absorb(forms, facts, part)
        pending.clear()
        _settle(forms, facts)
        if not facts.kinds:
            return None
        forms.budget.weigh(len(facts.has) + len(facts.member) + len(facts.clauses))
        for clause in list(facts.clauses):
            shorter = _shortened(forms, facts, clause)
            if shorter is not clause:
                del facts.clauses[clause]
                pending.append(shorter)
    return facts


def parts_of(forms: Forms, facts: Facts) -> tuple[Formula, ...]:
    """The formulas that make up settled facts."""
    made = [
        *(_string_parts(forms, facts)),
        *(_number_parts(forms, facts)),
        *(_array_parts(forms, facts)),
        *(_object_parts(forms, facts)),
        *facts.refs,
        *facts.clauses,
        *facts.opaque,
    ]
    unique = dict.fromkeys(part for part in made if part is not forms.top)
    return (() if facts.kinds == Kind.ANY else (forms.types(facts.kinds),)) + tuple(unique)


def _string_parts(forms: Forms, facts: Facts) -> list[Formula]:
    parts = [] if facts.strings is None else [forms.strings(facts.strings, within=True)]
    parts.append(forms.strings(facts.not_strings, within=False))
    parts.append(forms.length(*facts.length))
    return parts + [forms.matches(pattern, holds=wanted) for pattern, wanted in facts.patterns.items()]


def _number_parts(forms: Forms, facts: Facts) -> list[Formula]:
    parts = [] if facts.numbers is None else [forms.numbers(facts.numbers, within=True)]
    parts.append(forms.numbers(facts.not_numbers, within=False))
    if facts.lower is not None:
        parts.append(forms.bound(facts.lower[0], upper=False, strict=facts.lower[1]))
    if facts.upper is not None:
        parts.append(forms.bound(facts.upper[0], upper=True, strict=facts.upper[1]))
    return parts + [forms.multiple(of, holds=wanted) for of, wanted in facts.multiples.items()]


def _array_parts(forms: Forms, facts: Facts) -> list[Formula]:
    parts = [forms.size(*facts.size)]
    parts += [forms.item(index, form) for index, form in facts.item.items()]
    parts += [forms.items(start, form) for start, form in facts.items.items()]
    parts += [forms.amount(start, form, *limits) for (start, form), limits in facts.counts.items()]
    return parts if facts.unique is None else [*parts, forms.unique(holds=facts.unique)]


def _object_parts(forms: Forms, facts: Facts) -> list[Formula]:
    low, high = facts.count
    parts = [forms.has(name) for name in facts.has] + [forms.lacks(name) for name in facts.lacks]
    parts += [forms.member(name, form) for name, form in facts.member.items()]
    parts += [forms.members(names, form) for names, form in facts.members.items()]
    parts += list(facts.some)
    return [*parts, forms.member_count(low if low > len(facts.has) else 0, high)]


# Absorbing one formula.


def _absorb(forms: Forms, facts: Facts, formula: Formula) -> None:
    match formula:
        case All(parts):
            for part in parts:
                _absorb(forms, facts, part)
        case Types(kinds):
            facts.kinds &= kinds
        case Strings() | Length() | Matches():
            _absorb_string(facts, formula)
        case Numbers() | Bound() | Multiple():
            _absorb_number(facts, formula)
        case Size() | Item() | Items() | Count() | Unique():
            _absorb_array(forms, facts, formula)
        case Has() | Lacks() | Member() | Members() | SomeMember() | MemberCount():
            _absorb_object(forms, facts, formula)
        case Either():
            facts.clauses[formula] = None
        case Switch():
            _absorb_switch(forms, facts, formula)
        case Ref():
            facts.refs[formula] = None
            if any(other.place == formula.place and other.holds != formula.holds for other in facts.refs):
                facts.kinds = Kind.NONE
        case Opaque():
            facts.opaque[formula] = None
            if any(forms.contrary(formula, other) for other in facts.opaque):
                facts.kinds = Kind.NONE
        case _:
            assert_never(formula)


def _absorb_string(facts: Facts, formula: Strings | Length | Matches) -> None:
    match formula:
        case Strings(values, True):
            facts.strings = values if facts.strings is None else facts.strings & values
        case Strings(values, _):
            facts.not_strings |= values
        case Length(low, high):
            facts.length = narrowed(facts.length, (low, high))
        case Matches(pattern, wanted):
            if facts.patterns.setdefault(pattern, wanted) != wanted:
                facts.kinds &= ~Kind.STRING
        case _:
            assert_never(formula)


def _absorb_number(facts: Facts, formula: Numbers | Bound | Multiple) -> None:
    match formula:
        case Numbers(values, True):
            facts.numbers = values if facts.numbers is None else facts.numbers & values
        case Numbers(values, _):
            facts.not_numbers |= values
        case Bound(limit, True, strict):
            if facts.upper is None or (limit, not strict) < (facts.upper[0], not facts.upper[1]):
                facts.upper = (limit, strict)
        case Bound(limit, _, strict):
            if facts.lower is None or (limit, strict) > facts.lower:
                facts.lower = (limit, strict)
        case Multiple(of, wanted):
            if facts.multiples.setdefault(of, wanted) != wanted:
                facts.kinds &= ~Kind.NUMBER
        case _:
            assert_never(formula)


def _absorb_array(forms: Forms, facts: Facts, formula: Size | Item | Items | Count | Unique) -> None:
    match formula:
        case Size(low, high):
            facts.size = narrowed(facts.size, (low, high))
        case Item(index, form):
            facts.item[index] = forms.all_of(facts.item.get(index, forms.top), form)
        case Items(start, form):
            facts.items[start] = forms.all_of(facts.items.get(start, forms.top), form)
        case Count(start, form, low, high):
            facts.counts[start, form] = narrowed(facts.counts.get((start, form), (0, None)), (low, high))
        case Unique(wanted):
            if facts.unique is not None and facts.unique != wanted:
                facts.kinds &= ~Kind.ARRAY
            facts.unique = wanted
        case _:
            assert_never(formula)


def _absorb_object(
    forms: Forms, facts: Facts, formula: Has | Lacks | Member | Members | SomeMember | MemberCount
) -> None:
    match formula:
        case Has(name):
            facts.has[name] = None
        case Lacks(name):
            facts.lacks[name] = None
        case Member(name, form):
            facts.member[name] = forms.all_of(facts.member.get(name, forms.top), form)
        case Members(names, form):
            facts.members[names] = forms.all_of(facts.members.get(names, forms.top), form)
        case SomeMember():
            facts.some[formula] = None
        case MemberCount(low, high):
            facts.count = narrowed(facts.count, (low, high))
        case _:
            assert_never(formula)


def _absorb_switch(forms: Forms, facts: Facts, switch: Switch) -> None:
    """Adds a switch; two switches on one tag become one, case by case."""
    twin = next((each for each in facts.clauses if isinstance(each, Switch) and each.tag == switch.tag), None)
    if twin is None or twin is switch:
        facts.clauses[switch] = None
        return
    del facts.clauses[twin]
    ours, theirs = dict(switch.cases), dict(twin.cases)
    cases = {
        constant: forms.all_of(theirs.get(constant, twin.otherwise), ours.get(constant, switch.otherwise))
        for constant in {**theirs, **ours}
    }
    _absorb(forms, facts, forms.switch(switch.tag, cases, forms.all_of(twin.otherwise, switch.otherwise)))


# Settling each subject.


def _settle(forms: Forms, facts: Facts) -> None:
    if facts.kinds & Kind.STRING:
        _settle_strings(facts)
    if not facts.kinds & Kind.STRING:
        facts.drop_strings()
    if facts.kinds & Kind.NUMBER:
        _settle_numbers(facts)
    if not facts.kinds & Kind.NUMBER:
        facts.drop_numbers()
    if facts.kinds & Kind.ARRAY:
        _settle_arrays(forms, facts)
    if not facts.kinds & Kind.ARRAY:
        facts.drop_arrays()
    if facts.kinds & Kind.OBJECT:
        _settle_objects(forms, facts)
    if not facts.kinds & Kind.OBJECT:
        facts.drop_objects()


def _settle_strings(facts: Facts) -> None:
    low, high = facts.length

    def refused(text: str) -> bool:
        return not (low <= len(text) and (high is None or len(text) <= high)) or any(
            matches(pattern, text) is (not wanted) for pattern, wanted in facts.patterns.items()
        )

    facts.not_strings = frozenset(text for text in facts.not_strings if not refused(text))
    if void(facts.length):
        facts.kinds &= ~Kind.STRING
    elif facts.strings is not None:
        left = frozenset(text for text in facts.strings - facts.not_strings if not refused(text))
        facts.strings, facts.not_strings, facts.length = left, frozenset(), (0, None)
        for pattern in list(facts.patterns):
            if all(matches(pattern, text) is not None for text in left):
                del facts.patterns[pattern]
        if not left:
            facts.kinds &= ~Kind.STRING


def number_fits(facts: Facts, number: Fraction) -> bool:
    """Whether the number satisfies everything that the facts say of numbers."""
    kind = Kind.INTEGER if number.denominator == 1 else Kind.FRACTION
    return (
        bool(facts.kinds & kind)
        and (facts.numbers is None or number in facts.numbers)
        and number not in facts.not_numbers
        and (facts.lower is None or number > facts.lower[0] or (number == facts.lower[0] and not facts.lower[1]))
        and (facts.upper is None or number < facts.upper[0] or (number == facts.upper[0] and not facts.upper[1]))
        and all(((number / of).denominator == 1) == wanted for of, wanted in facts.multiples.items())
    )


def _settle_numbers(facts: Facts) -> None:
    if facts.kinds & Kind.NUMBER == Kind.INTEGER:
        _settle_integers(facts)
    for of, wanted in facts.multiples.items():
        if wanted and of.denominator == 1:
            facts.kinds &= ~Kind.FRACTION
    for of, wanted in list(facts.multiples.items()):
        implied = any(
            other != of and holding and (other / of).denominator == 1 for other, holding in facts.multiples.items()
        )
        if implied and wanted:
            del facts.multiples[of]
        elif implied:
            facts.kinds &= ~Kind.NUMBER
    if facts.lower is not None and facts.upper is not None:
        (low, open_below), (high, open_above) = facts.lower, facts.upper
        if low > high or (low == high and (open_below or open_above)):
            facts.kinds &= ~Kind.NUMBER
        elif low == high and facts.numbers is None:
            facts.numbers = frozenset({low})
    if facts.numbers is not None:
        left = frozenset(number for number in facts.numbers if number_fits(facts, number))
        facts.drop_numbers()
        facts.numbers = left
        if not any(number.denominator == 1 for number in left):
            facts.kinds &= ~Kind.INTEGER
        if all(number.denominator == 1 for number in left):
            facts.kinds &= ~Kind.FRACTION
    elif facts.not_numbers:
        rest = facts.not_numbers
        facts.not_numbers = frozenset()
        facts.not_numbers = frozenset(number for number in rest if number_fits(facts, number))


def _settle_integers(facts: Facts) -> None:
    """Only integers are left: whole limits, and multiples that tell integers apart."""
    if facts.lower is not None:
        low, strict = facts.lower
        facts.lower = (Fraction(math.floor(low) + 1 if strict else math.ceil(low)), False)
    if facts.upper is not None:
        high, strict = facts.upper
        facts.upper = (Fraction(math.ceil(high) - 1 if strict else math.floor(high)), False)
    for of, wanted in list(facts.multiples.items()):
        if (1 / of).denominator == 1:
            if wanted:
                del facts.multiples[of]
            else:
                facts.kinds &= ~Kind.NUMBER
        elif of.denominator != 1:
            # An integer that is a multiple of p/q is one of p.
            del facts.multiples[of]
            whole = Fraction(of.numerator)
            if facts.multiples.setdefault(whole, wanted) != wanted:
                facts.kinds &= ~Kind.NUMBER


def item_form(forms: Forms, facts: Facts, index: int) -> Formula:
    """What the facts say of the item at `index`, if there is one."""
    rest = [form for start, form in facts.items.items() if start <= index]
    return forms.all_of(facts.item.get(index, forms.top), *rest)


def _settle_arrays(forms: Forms, facts: Facts) -> None:
    low, high = facts.size
    for index, form in list(facts.item.items()):
        if form is forms.bottom:
            high = index if high is None else min(high, index)
        if form is forms.bottom or form is forms.top:
            del facts.item[index]
    for start, form in list(facts.items.items()):
        if form is forms.bottom:
            high = start if high is None else min(high, start)
        if form is forms.bottom or form is forms.top:
            del facts.items[start]
    for (start, form), (least, most) in list(facts.counts.items()):
        if void((least, most)):
            facts.kinds &= ~Kind.ARRAY
        elif most == 0:
            del facts.counts[start, form]
            facts.items[start] = forms.all_of(facts.items.get(start, forms.top), forms.negate(form))
        elif least:
            low = max(low, start + least)
    if facts.unique is False:
        low = max(low, 2)
    if facts.unique is True and high is not None and high < 2:
        facts.unique = None
    if high is not None:
        for table in (facts.item, facts.items):
            for place in [place for place in table if place >= high]:
                del table[place]
    facts.size = (low, high)
    if void(facts.size) or _items_contradict(forms, facts):
        facts.kinds &= ~Kind.ARRAY


def _items_contradict(forms: Forms, facts: Facts) -> bool:
    low = facts.size[0]
    if any(index < low and item_form(forms, facts, index) is forms.bottom for index in (*facts.item, *facts.items)):
        return True
    for (start, form), (least, _) in facts.counts.items():
        if least and all(index < start for index in facts.item):
            rest = [other for begin, other in facts.items.items() if begin <= start]
            if rest and forms.all_of(form, *rest) is forms.bottom:
                return True
    return False


def member_form(forms: Forms, facts: Facts, name: str) -> Formula:
    """What the facts say of the member `name`, if it is there."""
    if name in facts.lacks:
        return forms.bottom
    parts = [facts.member.get(name, forms.top)]
    for names, form in facts.members.items():
        fits = holds(forms, names, name)
        if fits is None:
            parts.append(forms.doubt(names, form, name))
        elif fits:
            parts.append(form)
    return forms.all_of(*parts)


def _settle_objects(forms: Forms, facts: Facts) -> None:
    for name, form in list(facts.member.items()):
        if form is forms.bottom:
            facts.lacks[name] = None
        if form is forms.top or name in facts.lacks:
            del facts.member[name]
    for names, form in list(facts.members.items()):
        if form is forms.top:
            del facts.members[names]
    for name in list(facts.member):
        if name in facts.lacks:
            del facts.member[name]
    low, high = max(facts.count[0], len(facts.has), 1 if facts.some else 0), facts.count[1]
    facts.count = (low, high)
    if (
        void(facts.count)
        or any(name in facts.lacks for name in facts.has)
        or any(member_form(forms, facts, name) is forms.bottom for name in facts.has)
        or any(_need_contradicts(forms, facts, need) for need in facts.some)
    ):
        facts.kinds &= ~Kind.OBJECT


def _need_contradicts(forms: Forms, facts: Facts, need: SomeMember) -> bool:
    everywhere = forms.types(Kind.STRING)
    return any(
        names in (need.names, everywhere) and forms.all_of(form, need.form) is forms.bottom
        for names, form in facts.members.items()
    )


# Shortening clauses by what is known.


def _shortened(forms: Forms, facts: Facts, clause: Either | Switch) -> Formula:
    if isinstance(clause, Switch):
        return _chosen(forms, facts, clause)
    left: list[Formula] = []
    forms.budget.weigh(len(clause.parts))
    for part in clause.parts:
        state = False if _denied(forms, facts, part) else _status(forms, facts, part)
        if state is True:
            return forms.top
        if state is None:
            left.append(part)
    if len(left) == len(clause.parts):
        return clause
    return forms.any_of(*left) if left else forms.bottom


def _denied(forms: Forms, facts: Facts, formula: Formula) -> bool:
    """Whether the formula's negation is among the clauses as it is: the cheap case in comparisons of long lists."""
    contrary = forms.known_negation(formula)
    return isinstance(contrary, (Either, Switch)) and contrary in facts.clauses


def _chosen(forms: Forms, facts: Facts, switch: Switch) -> Formula:
    if not facts.kinds & Kind.OBJECT or switch.tag in facts.lacks:
        return switch.otherwise
    if switch.tag not in facts.member and not facts.members:
        return switch
    tag = forms.facts(member_form(forms, facts, switch.tag))
    all_cases = dict(switch.cases)
    cases = {constant: all_cases[constant] for constant in allowed_by(tag, all_cases)}
    present = facts.kinds == Kind.OBJECT and switch.tag in facts.has
    possible = listed_in(tag) if present else None
    certain = possible is not None and possible <= cases.keys()
    if certain and len(cases) == 1:
        return next(iter(cases.values()))
    if len(cases) == len(switch.cases) and not (certain and switch.otherwise is not forms.bottom):
        return switch
    return forms.switch(switch.tag, cases, forms.bottom if certain else switch.otherwise)


def joint_inner(forms: Forms, facts: Facts, branch: Facts) -> Iterator[Formula]:
    """What members and items must be that the facts and a branch together demand: if one cannot be, neither can both.

    Yields the impossible formula if the two exclude each other otherwise. Only what they plainly share is looked at.
    """
    kinds = facts.kinds & branch.kinds
    if not kinds:
        yield forms.bottom
    elif kinds == Kind.OBJECT:
        for name in branch.has:
            yield forms.all_of(member_form(forms, facts, name), member_form(forms, branch, name))
        for name in facts.has:
            if name in branch.lacks:
                yield forms.bottom
            elif name in branch.member and name not in branch.has:
                yield forms.all_of(member_form(forms, facts, name), branch.member[name])
    elif kinds == Kind.ARRAY:
        low, high = narrowed(facts.size, branch.size)
        if high is not None and low > high:
            yield forms.bottom
        for index in dict.fromkeys((*branch.item, *branch.items)):
            if index < low:
                yield forms.all_of(item_form(forms, facts, index), item_form(forms, branch, index))


def _status(forms: Forms, facts: Facts, formula: Formula) -> bool | None:
    """Whether the facts plainly entail the formula (`True`) or exclude it (`False`)."""
    match formula:
        case Types(kinds):
            if not facts.kinds & kinds:
                return False
            return True if not facts.kinds & ~kinds else None
        case All(parts):
            if any(inner is forms.bottom for inner in joint_inner(forms, facts, forms.facts(formula))):
                return False
            states = [_status(forms, facts, part) for part in parts]
            return False if False in states else True if all(states) else None
        case Either(parts):
            states = [_status(forms, facts, part) for part in parts]
            return True if True in states else False if all(state is False for state in states) else None
        case Switch():
            chosen = _chosen(forms, facts, formula)
            return None if chosen is formula or isinstance(chosen, Switch) else _status(forms, facts, chosen)
        case Ref():
            if formula in facts.refs:
                return True
            return False if any(forms.contrary(formula, other) for other in facts.refs) else None
        case Opaque():
            return True if formula in facts.opaque else None
        case Strings() | Length() | Matches():
            return _guarded(facts, Kind.STRING, lambda: _string_status(facts, formula))
        case Numbers() | Bound() | Multiple():
            return _guarded(facts, Kind.NUMBER, lambda: _number_status(facts, formula))
        case Size() | Item() | Items() | Count() | Unique():
            return _guarded(facts, Kind.ARRAY, lambda: _array_status(forms, facts, formula))
        case Has() | Lacks() | Member() | Members() | SomeMember() | MemberCount():
            return _guarded(facts, Kind.OBJECT, lambda: _object_status(forms, facts, formula))
        case _:
            assert_never(formula)


def _guarded(facts: Facts, kinds: Kinds, judge: Callable[[], bool | None]) -> bool | None:
    """A constraint on some kinds: true of all others, so excluded only if there are no others."""
    if not facts.kinds & kinds:
        return True
    state = judge()
    return None if state is False and facts.kinds & ~kinds else state


def _agreed(states: Iterable[bool | None]) -> bool | None:
    """What all states agree on."""
    seen = set(states)
    return seen.pop() if len(seen) == 1 else None


def _range_status(known: tuple[int, int | None], wanted: tuple[int, int | None]) -> bool | None:
    both = narrowed(known, wanted)
    return True if both == known else False if void(both) else None


def _string_status(facts: Facts, formula: Strings | Length | Matches) -> bool | None:
    if facts.strings is not None:
        return _agreed(string_fits(formula, text) for text in facts.strings)
    match formula:
        case Strings(values, within):
            return not within if values <= facts.not_strings else None
        case Length(low, high):
            return _range_status(facts.length, (low, high))
        case Matches(pattern, wanted):
            known = facts.patterns.get(pattern)
            return None if known is None else known == wanted
        case _:
            assert_never(formula)


def _number_status(facts: Facts, formula: Numbers | Bound | Multiple) -> bool | None:
    if facts.numbers is not None:
        return _agreed(number_obeys(formula, number) for number in facts.numbers)
    match formula:
        case Numbers(values, within):
            return not within if values <= facts.not_numbers else None
        case Bound(limit, upper, strict):
            return _bound_status(facts, limit, upper, strict)
        case Multiple(of, wanted):
            known = facts.multiples.get(of)
            if known is not None:
                return known == wanted
            implied = any(holding and (other / of).denominator == 1 for other, holding in facts.multiples.items())
            return wanted if implied else None
        case _:
            assert_never(formula)


def _bound_status(facts: Facts, limit: Fraction, upper: bool, strict: bool) -> bool | None:
    ours, theirs = (facts.upper, facts.lower) if upper else (facts.lower, facts.upper)
    if ours is not None and (
        (ours[0] < limit if upper else ours[0] > limit) or (ours[0] == limit and (ours[1] or not strict))
    ):
        return True
    if theirs is not None:
        beyond = theirs[0] > limit if upper else theirs[0] < limit
        if beyond or (theirs[0] == limit and (theirs[1] or strict)):
            return False
    return None


def _array_status(forms: Forms, facts: Facts, formula: Size | Item | Items | Count | Unique) -> bool | None:
    low, high = facts.size
    match formula:
        case Size(least, most):
            return _range_status(facts.size, (least, most))
        case Item(index, form):
            if high is not None and high <= index:
                return True
            known = item_form(forms, facts, index)
            joint = forms.all_of(known, form)
            return True if joint is known else False if joint is forms.bottom and index < low else None
        case Items(start, form):
            if high is not None and high <= start:
                return True
            places = _places(forms, facts, start, form)
            if any(both is forms.bottom and index < low for index, _, both in places):
                return False
            return True if all(both is there for _, there, both in places) else None
        case Count(start, form, least, most):
            known_count = facts.counts.get((start, form))
            if known_count is not None:
                return _range_status(known_count, (least, most))
            if least and all(both is forms.bottom for _, _, both in _places(forms, facts, start, form)):
                return False
            return None
        case Unique(wanted):
            return None if facts.unique is None else facts.unique == wanted
        case _:
            assert_never(formula)


def _places(forms: Forms, facts: Facts, start: int, form: Formula) -> list[tuple[int, Formula, Formula]]:
    """Places from `start` on that stand for all: index, what is known there, and that joined with `form`.

    What is known changes at an item of its own, behind it, and where a rule for all further items begins.
    """
    changes = (start, *facts.items, *facts.item, *(index + 1 for index in facts.item))
    indices = dict.fromkeys(index for index in changes if index >= start)
    known = [(index, item_form(forms, facts, index)) for index in indices]
    return [(index, there, forms.all_of(there, form)) for index, there in known]


def _object_status(
    forms: Forms, facts: Facts, formula: Has | Lacks | Member | Members | SomeMember | MemberCount
) -> bool | None:
    match formula:
        case Has(name) | Lacks(name):
            wanted = isinstance(formula, Has)
            if name in facts.has:
                return wanted
            return not wanted if member_form(forms, facts, name) is forms.bottom else None
        case Member(name, form):
            known = member_form(forms, facts, name)
            joint = forms.all_of(known, form)
            return True if joint is known else False if joint is forms.bottom and name in facts.has else None
        case Members(names, form):
            known = facts.members.get(names, forms.top)
            if forms.all_of(known, form) is known:
                return True
            excluded = any(
                holds(forms, names, name) and forms.all_of(member_form(forms, facts, name), form) is forms.bottom
                for name in facts.has
            )
            return False if excluded else None
        case SomeMember():
            return True if formula in facts.some else False if _need_contradicts(forms, facts, formula) else None
        case MemberCount(low, high):
            return _range_status(facts.count, (low, high))
        case _:
            assert_never(formula)
