"""Find an object that satisfies a conjunction without alternatives.

Members are independent of each other once it is known which are present; it remains to choose a name for each requirement of "some
member", and to reach the minimum number of members. Names that are not mentioned are equivalent if the same constraints on names hold
for them, so one of each such class represents all.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final, Protocol

from msgspec import Struct

from schema_inclusion.conjunction import join_member
from schema_inclusion.constraints import Constraints
from schema_inclusion.evaluation import holds
from schema_inclusion.forms import Forms
from schema_inclusion.formula import All, Formula, Kind
from schema_inclusion.results import EMPTY, Empty, Result, Satisfied, Unknown, collect, combine_doubts
from schema_inclusion.values import Json


class Decider(Protocol):
    """The part of the prover that leaves use: decide a formula on the same value, or on a value inside it."""

    @property
    def forms(self) -> Forms: ...

    def decide(self, formula: Formula) -> Result: ...

    def decide_inside(self, formula: Formula) -> Result: ...


MOST_ADDED: Final = 100
MOST_CLASSES: Final = 256


def split_conjunction(formula: Formula) -> tuple[Formula, ...]:
    """The parts of a conjunction; any other formula as the only part."""
    return formula.parts if isinstance(formula, All) else (formula,)


def find_object(prover: Decider, formula: Formula, constraints: Constraints) -> Result:
    """Find an object that satisfies the constraints."""
    outcome = collect(prover.decide_inside(join_member(prover.forms, constraints, name)) for name in constraints.has)
    if isinstance(outcome, Empty):
        return EMPTY
    if constraints.some:
        return _find_with_needs(prover, formula, constraints)
    if constraints.sizes[Kind.OBJECT][0] > len(constraints.has):
        return _find_with_more(prover, formula, constraints)
    if isinstance(outcome, Unknown):
        return Unknown(outcome.reason, tuple(_name(constraints, guess) for guess in outcome.guess))
    return Satisfied(_name(constraints, outcome.value))


def _name(constraints: Constraints, values: Json) -> Json:
    assert isinstance(values, list)
    return dict(zip(constraints.has, values, strict=True))


class _Place(Struct, frozen=True):
    """A name that a further member may have; `sure`: a value for it is known to exist."""

    name: str
    sure: bool


def _find_with_needs(prover: Decider, formula: Formula, constraints: Constraints) -> Result:
    """Try each possible name for the first requirement of some member."""
    forms = prover.forms
    need = next(iter(constraints.some))
    remainder = forms.all_of(*(part for part in split_conjunction(formula) if part is not need))
    doubt: Empty | Unknown = EMPTY
    for place in _list_places(prover, constraints, need.names, need.form):
        outcome: Result = (
            place
            if isinstance(place, Unknown)
            else prover.decide(forms.all_of(remainder, forms.has(place.name), forms.member(place.name, need.form)))
        )
        if isinstance(outcome, Satisfied):
            return outcome
        doubt = combine_doubts(doubt, outcome)
    return doubt


def _find_with_more(prover: Decider, formula: Formula, constraints: Constraints) -> Result:
    """Add any possible members, until there are enough: they are independent of each other."""
    forms = prover.forms
    least, _ = constraints.sizes[Kind.OBJECT]
    if least - len(constraints.has) > MOST_ADDED:
        return Unknown("an object would need too many members to write down")
    while len(constraints.has) < least:
        doubt: Unknown | None = None
        for place in _list_places(prover, constraints, forms.types(Kind.STRING), forms.top, new=True):
            if isinstance(place, _Place) and place.sure:
                formula = forms.all_of(formula, forms.has(place.name))
                break
            doubt = (
                place if isinstance(place, Unknown) else Unknown("whether a further member is possible is not known")
            )
        else:
            return doubt or EMPTY
        constraints = forms.constraints(formula)
    return prover.decide(formula)


def _list_places(
    prover: Decider, constraints: Constraints, names: Formula, form: Formula, *, new: bool = False
) -> Iterator[_Place | Unknown]:
    """Yield the possible names, one of each class, of a member with such a name and value; `new` excludes required members."""
    forms = prover.forms
    mentioned = dict.fromkeys([*constraints.has, *constraints.member])
    for name in mentioned:
        if new and name in constraints.has:
            continue
        fits = holds(forms, names, name)
        if fits is not False:
            outcome = prover.decide_inside(forms.all_of(join_member(forms, constraints, name), form))
            if isinstance(outcome, Empty):
                continue
            if fits is None:
                yield Unknown("a pattern for names is outside what can be compared")
            else:
                yield _Place(name, isinstance(outcome, Satisfied))
    fresh = forms.all_of(forms.types(Kind.STRING), forms.strings(mentioned, within=False), names)
    regions = [
        *constraints.members.items(),
        *((need.names, forms.top) for need in constraints.some if need.names is not names),
    ]
    classes = _list_fresh(prover, fresh, form, regions)
    yield from filter(None, islice(classes, MOST_CLASSES))
    yield from (Unknown("names are constrained in too many ways at once") for _ in islice(classes, 1))


def _list_fresh(
    prover: Decider, names: Formula, form: Formula, regions: list[tuple[Formula, Formula]]
) -> Iterator[_Place | Unknown | None]:
    """Yield a name of each class into which the regions divide the names; `None` if no value satisfies what its regions demand."""
    forms = prover.forms
    name_result = prover.decide_inside(names)
    if isinstance(name_result, Empty):
        return
    if regions:
        (region, demand), *other_regions = regions
        yield from _list_fresh(prover, forms.all_of(names, forms.negate(region)), form, other_regions)
        yield from _list_fresh(prover, forms.all_of(names, region), forms.all_of(form, demand), other_regions)
        return
    value = prover.decide_inside(form)
    if isinstance(value, Empty):
        yield None
    elif isinstance(name_result, Unknown):
        yield name_result
    elif isinstance(name_result.value, str):
        yield _Place(name_result.value, isinstance(value, Satisfied))
