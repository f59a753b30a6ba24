"""Make formulas, simplified as they are made, with one object for all that are recognised as equivalent."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar, assert_never, cast

from schema_inclusion.budget import Budget
from schema_inclusion.constants import rank, to_value
from schema_inclusion.constraints import Constraints
from schema_inclusion.formula import (
    All,
    Bound,
    Constant,
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
from schema_inclusion.values import Json, get_number, to_exact

_F = TypeVar("_F", bound=Formula)

LARGEST_CONSTANT = 5_000
"""The maximum number of values inside a constant; a larger one becomes opaque."""


def _refuse_place(place: int) -> Formula:
    raise AssertionError(f"nothing unfolds place {place}")


@dataclass(slots=True)
class Forms:
    """The formula factory of one comparison, without its rules; formulas of two factories must not be mixed.

    `unfold` returns the formula at a place that a `Ref` names; it is set by the code that makes references.
    """

    budget: Budget
    _kept: dict[Hashable, Formula] = field(default_factory=dict[Hashable, Formula])
    _negations: dict[Formula, Formula] = field(default_factory=dict[Formula, Formula])
    _negated_from: dict[Formula, list[Formula]] = field(default_factory=dict["Formula", "list[Formula]"])
    _conjunctions: dict[frozenset[Formula], Formula] = field(default_factory=dict[frozenset[Formula], Formula])
    _disjunctions: dict[frozenset[Formula], Formula] = field(default_factory=dict[frozenset[Formula], Formula])
    _doubts: dict[tuple[Formula, Formula, str], Opaque] = field(
        default_factory=dict[tuple[Formula, Formula, str], Opaque]
    )
    unfold: Callable[[int], Formula] = field(default=_refuse_place)
    _constraints: dict[Formula, Constraints] = field(default_factory=dict[Formula, Constraints])
    top: Types = field(init=False)
    bottom: Types = field(init=False)

    def __post_init__(self) -> None:
        self.top = self._keep((Kind.ANY,), Types(Kind.ANY))
        self.bottom = self._keep((Kind.NONE,), Types(Kind.NONE))

    def _keep(self, key: Hashable, formula: _F) -> _F:
        canonical = self._kept.setdefault((type(formula), key), formula)
        return cast("_F", canonical)

    # Constraints on one type. Each holds of every value of another type.

    def types(self, kinds: Kinds) -> Types:
        """The value is of one of the kinds."""
        return self._keep((kinds,), Types(kinds))

    def strings(self, values: Iterable[str], *, within: bool) -> Formula:
        """A string is one, or none, of the values."""
        value_set = frozenset(values)
        if not value_set:
            return self.types(Kind.ANY & ~Kind.STRING) if within else self.top
        return self._keep((value_set, within), Strings(value_set, within))

    def numbers(self, values: Iterable[Fraction], *, within: bool) -> Formula:
        """A number is one, or none, of the values."""
        value_set = frozenset(values)
        if not value_set:
            return self.types(Kind.ANY & ~Kind.NUMBER) if within else self.top
        return self._keep((value_set, within), Numbers(value_set, within))

    def bound(self, limit: Fraction, *, upper: bool, strict: bool) -> Formula:
        """A number is at most, or at least, the limit."""
        return self._keep((limit, upper, strict), Bound(limit, upper, strict))

    def multiple(self, of: Fraction, *, holds: bool = True) -> Formula:
        """A number is, or is not, a multiple of `of`, which is positive."""
        if of == 1:
            return self.types(Kind.ANY & ~(Kind.FRACTION if holds else Kind.INTEGER))
        return self._keep((of, holds), Multiple(of, holds))

    def matches(self, pattern: str, *, holds: bool = True) -> Formula:
        """A string matches, or does not match, the pattern."""
        if pattern in {"", "^", "$", ".*", "^.*"}:
            # `^.*$` is not among them: a dot does not match a line end.
            return self.top if holds else self.types(Kind.ANY & ~Kind.STRING)
        return self._keep((pattern, holds), Matches(pattern, holds))

    def size(self, kind: Kinds, low: int, high: int | None) -> Formula:
        """A string, an array or an object has between `low` and `high` characters, items or members."""
        if high is not None and low > high:
            return self.types(Kind.ANY & ~kind)
        return self.top if low <= 0 and high is None else self._keep((kind, low, high), Size(kind, max(low, 0), high))

    def item(self, index: int, form: Formula) -> Formula:
        """The item at `index`, if there is one, satisfies `form`."""
        if form is self.top:
            return self.top
        return self.size(Kind.ARRAY, 0, index) if form is self.bottom else self._keep((index, form), Item(index, form))

    def items(self, start: int, form: Formula) -> Formula:
        """Every item from `start` on satisfies `form`."""
        if form is self.top:
            return self.top
        return self.size(Kind.ARRAY, 0, start) if form is self.bottom else self._keep((start, form), Items(start, form))

    def amount(self, start: int, form: Formula, low: int, high: int | None) -> Formula:
        """Between `low` and `high` items from `start` on satisfy `form`."""
        low = max(low, 0)
        if high is not None and low > high:
            return self.types(Kind.ANY & ~Kind.ARRAY)
        if low == 0 and high is None:
            return self.top
        if form is self.top:
            return self.size(Kind.ARRAY, start + low if low else 0, None if high is None else start + high)
        if form is self.bottom:
            return self.top if low == 0 else self.types(Kind.ANY & ~Kind.ARRAY)
        if high == 0:
            return self.items(start, self.negate(form))
        return self._keep((start, form, low, high), Count(start, form, low, high))

    def unique(self, *, holds: bool = True) -> Formula:
        """The items of an array are all different, or are not."""
        return self._keep((holds,), Unique(holds))

    def has(self, name: str) -> Formula:
        """An object has the member."""
        return self._keep((name,), Has(name))

    def lacks(self, name: str) -> Formula:
        """An object does not have the member."""
        return self.member(name, self.bottom)

    def member(self, name: str, form: Formula) -> Formula:
        """The member, if it is present, satisfies `form`."""
        return self.top if form is self.top else self._keep((name, form), Member(name, form))

    def members(self, names: Formula, form: Formula) -> Formula:
        """Every member whose name satisfies `names` satisfies `form`."""
        names = self.all_of(names, self.types(Kind.STRING))
        if form is self.top or names is self.bottom:
            return self.top
        literal_names = self.constraints(names).strings
        if literal_names is not None and names is self._list_strings(literal_names):
            return self.all_of(*(self.member(name, form) for name in sorted(literal_names)))
        if form is self.bottom and names is self.types(Kind.STRING):
            return self.size(Kind.OBJECT, 0, 0)
        return self._keep((names, form), Members(names, form))

    def some_member(self, names: Formula, form: Formula) -> Formula:
        """Some member's name satisfies `names`, and its value satisfies `form`."""
        names = self.all_of(names, self.types(Kind.STRING))
        if form is self.bottom or names is self.bottom:
            return self.types(Kind.ANY & ~Kind.OBJECT)
        literal_names = self.constraints(names).strings
        if literal_names is not None and names is self._list_strings(literal_names):
            return self.any_of(
                *(self.all_of(self.has(name), self.member(name, form)) for name in sorted(literal_names))
            )
        if form is self.top and names is self.types(Kind.STRING):
            return self.size(Kind.OBJECT, 1, None)
        return self._keep((names, form), SomeMember(names, form))

    def _list_strings(self, values: frozenset[str]) -> Formula:
        return self.all_of(self.types(Kind.STRING), self.strings(values, within=True))

    # What holds places, and what cannot be expressed.

    def ref(self, place: int, *, holds: bool = True) -> Formula:
        """The formula at a place, or its negation."""
        return self._keep((place, holds), Ref(place, holds))

    def opaque(self, reason: str) -> Formula:
        """A formula that may hold or not: equal to no other, not even to one with the same reason."""
        return Opaque(reason)

    def doubt(self, names: Formula, form: Formula, name: str) -> Formula:
        """An opaque formula: a member satisfies `form` if its name satisfies `names`, which cannot be decided for this name."""
        key = (names, form, name)
        if key not in self._doubts:
            self._doubts[key] = Opaque("a pattern for names is outside what can be compared")
        return self._doubts[key]

    # Connectives, and the rules that whoever makes formulas adds.

    def merge(self, parts: Iterable[Formula]) -> Constraints | None:
        """The merged constraints of the parts; `None` if they are plainly unsatisfiable."""
        raise NotImplementedError

    def list_parts(self, constraints: Constraints) -> tuple[Formula, ...]:
        """The formulas that make up simplified constraints."""
        raise NotImplementedError

    def disjoin(self, parts: tuple[Formula, ...]) -> Formula:
        """The disjunction of at least two different parts."""
        raise NotImplementedError

    def all_of(self, *parts: Formula) -> Formula:
        """The conjunction of the parts."""
        if len(parts) == 1:
            return parts[0]
        unique_parts = dict.fromkeys(part for part in parts if part is not self.top)
        if self.bottom in unique_parts:
            return self.bottom
        if len(unique_parts) < 2:
            return next(iter(unique_parts), self.top)
        key = frozenset(unique_parts)
        result = self._conjunctions.get(key)
        if result is None:
            self.budget.spend()
            result = self._conjoin(tuple(unique_parts))
            self._conjunctions[key] = result
        return result

    def _conjoin(self, parts: tuple[Formula, ...]) -> Formula:
        part_set = set(parts)
        if any(self._negations.get(part) in part_set for part in parts):
            return self.bottom
        constraints = self.merge(parts)
        if constraints is None:
            return self.bottom
        result = self._make_conjunction(self.list_parts(constraints))
        if result not in self._constraints:
            self._constraints[result] = constraints
        return result

    def _make_conjunction(self, parts: tuple[Formula, ...]) -> Formula:
        if len(parts) < 2:
            return parts[0] if parts else self.top
        return self._keep(frozenset(parts), All(parts))

    def any_of(self, *parts: Formula) -> Formula:
        """The disjunction of the parts."""
        if len(parts) == 1:
            return parts[0]
        unique_parts = dict.fromkeys(part for part in parts if part is not self.bottom)
        if self.top in unique_parts:
            return self.top
        if len(unique_parts) < 2:
            return next(iter(unique_parts), self.bottom)
        key = frozenset(unique_parts)
        result = self._disjunctions.get(key)
        if result is None:
            self.budget.spend()
            result = self.disjoin(tuple(unique_parts))
            self._disjunctions[key] = result
        return result

    def either(self, parts: tuple[Formula, ...]) -> Formula:
        """The disjunction of parts that are already simplified."""
        if len(parts) < 2:
            return parts[0] if parts else self.bottom
        return self._keep(frozenset(parts), Either(parts))

    def switch(self, tag: str, cases: Mapping[Constant, Formula], otherwise: Formula) -> Formula:
        """The case of the tag's constant, or `otherwise`; cases equal to `otherwise` are dropped."""
        own_cases = {constant: form for constant, form in cases.items() if form is not otherwise}
        if not own_cases:
            return otherwise
        bodies = set(own_cases.values())
        if bodies == {self.bottom}:
            return self.all_of(otherwise, self.member(tag, self.negate(self.one_of(own_cases))))
        if len(bodies) == 1 and otherwise is self.bottom:
            tag_member = self.member(tag, self.one_of(own_cases))
            return self._restrict(Kind.OBJECT, self.has(tag), tag_member, next(iter(own_cases.values())))
        ordered = tuple(sorted(own_cases.items(), key=lambda case: rank(case[0])))
        return self._keep((tag, ordered, otherwise), Switch(tag, dict(ordered), otherwise))

    def constraints(self, formula: Formula) -> Constraints:
        """The constraints of a formula, cached."""
        constraints = self._constraints.get(formula)
        if constraints is None:
            constraints = self.merge((formula,)) or Constraints(kinds=Kind.NONE)
            self._constraints[formula] = constraints
        return constraints

    def find_constraints(self, formula: Formula) -> Constraints | None:
        """The constraints of a formula if they are cached."""
        return self._constraints.get(formula)

    def find_negation(self, formula: Formula) -> Formula | None:
        """The formula's negation if it has been made."""
        return self._negations.get(formula)

    def are_contrary(self, left: Formula, right: Formula) -> bool:
        """Whether one formula is recorded as the negation of the other."""
        return self._negations.get(left) is right or self._negations.get(right) is left

    def list_contraries(self, formula: Formula) -> list[Formula]:
        """The formulas that are recorded as the negation of this one, or that have this one as their negation."""
        negation = self._negations.get(formula)
        return [*([] if negation is None else [negation]), *self._negated_from.get(formula, ())]

    def negate(self, formula: Formula) -> Formula:
        """The negation of a formula."""
        negation = self._negations.get(formula)
        if negation is None:
            self.budget.spend()
            negation = self._negate(formula)
            self._negations[formula] = negation
            self._negations.setdefault(negation, formula)
            self._negated_from.setdefault(negation, []).append(formula)
        return negation

    def _negate(self, formula: Formula) -> Formula:
        match formula:
            case Types(kinds):
                return self.types(Kind.ANY & ~kinds)
            case Strings(texts, within):
                return self._restrict(Kind.STRING, self.strings(texts, within=not within))
            case Numbers(numbers, within):
                return self._restrict(Kind.NUMBER, self.numbers(numbers, within=not within))
            case Bound(limit, upper, strict):
                return self._restrict(Kind.NUMBER, self.bound(limit, upper=not upper, strict=not strict))
            case Multiple(of, holds):
                return self._restrict(Kind.NUMBER, self.multiple(of, holds=not holds))
            case Matches(pattern, holds):
                return self._restrict(Kind.STRING, self.matches(pattern, holds=not holds))
            case Size(kind, low, high):
                less = self.size(kind, 0, low - 1) if low else self.bottom
                more = self.bottom if high is None else self.size(kind, high + 1, None)
                return self._restrict(kind, self.any_of(less, more))
            case Item(index, form):
                return self._restrict(
                    Kind.ARRAY, self.size(Kind.ARRAY, index + 1, None), self.item(index, self.negate(form))
                )
            case Items(start, form):
                return self._restrict(Kind.ARRAY, self.amount(start, self.negate(form), 1, None))
            case Count(start, form, low, high):
                less = self.amount(start, form, 0, low - 1) if low else self.bottom
                more = self.bottom if high is None else self.amount(start, form, high + 1, None)
                return self._restrict(Kind.ARRAY, self.any_of(less, more))
            case Unique(holds):
                return self._restrict(Kind.ARRAY, self.unique(holds=not holds))
            case Has(name):
                return self._restrict(Kind.OBJECT, self.lacks(name))
            case Member(name, form):
                return self._restrict(Kind.OBJECT, self.has(name), self.member(name, self.negate(form)))
            case Members(names, form):
                return self._restrict(Kind.OBJECT, self.some_member(names, self.negate(form)))
            case SomeMember(names, form):
                return self._restrict(Kind.OBJECT, self.members(names, self.negate(form)))
            case All(parts):
                finite = self.as_scalars(formula)
                if finite is not None:
                    return self._make_complement(finite)
                return self.any_of(*(self.negate(part) for part in parts))
            case Either(parts):
                return self.all_of(*(self.negate(part) for part in parts))
            case Switch(tag, cases, otherwise):
                contrary = {constant: self.negate(case) for constant, case in cases.items()}
                return self.switch(tag, contrary, self.negate(otherwise))
            case Ref(place, holds):
                return self.ref(place, holds=not holds)
            case Opaque(reason):
                return Opaque(reason)
            case _:
                assert_never(formula)

    def scalars(self, kinds: Kinds, strings: Iterable[str] | None, numbers: Iterable[Fraction] | None) -> Formula:
        """The value is of the kinds; a string or a number is one of the given ones, unless they are `None`."""
        return self.all_of(
            self.types(kinds),
            self.top if strings is None else self.strings(strings, within=True),
            self.top if numbers is None else self.numbers(numbers, within=True),
        )

    def as_scalars(self, formula: Formula) -> Constraints | None:
        """The constraints of a formula of the form that `scalars` makes; `None` for any other."""
        if isinstance(formula, Types):
            return Constraints(kinds=formula.kinds)
        is_plain = isinstance(formula, All) and all(
            isinstance(part, Types) or (isinstance(part, (Strings, Numbers)) and part.within) for part in formula.parts
        )
        return self.constraints(formula) if is_plain else None

    def _make_complement(self, finite: Constraints) -> Formula:
        """The complement of a set of scalars."""
        excluded_kinds = finite.kinds
        if finite.strings is not None:
            excluded_kinds &= ~Kind.STRING
        if finite.numbers is not None:
            excluded_kinds &= ~Kind.NUMBER
        return self.all_of(
            self.types(Kind.ANY & ~excluded_kinds),
            self.strings(finite.strings or (), within=False),
            self.numbers(finite.numbers or (), within=False),
        )

    def _restrict(self, kinds: Kinds, *parts: Formula) -> Formula:
        return self.all_of(self.types(kinds), *parts)

    # Constants.

    def constant(self, value: Json) -> Formula:
        """The value is equal to `value`."""
        room = [LARGEST_CONSTANT]
        return self._constant(value, room, 0)

    def _constant(self, value: Json, room: list[int], depth: int) -> Formula:
        room[0] -= 1
        if room[0] < 0 or depth > 40:
            return self.opaque("a constant is too large to compare")
        match value:
            case list():
                places = [self.item(i, self._constant(item, room, depth + 1)) for i, item in enumerate(value)]
                return self._restrict(Kind.ARRAY, self.size(Kind.ARRAY, len(value), len(value)), *places)
            case dict():
                parts: list[Formula] = [self.size(Kind.OBJECT, len(value), len(value))]
                for name, member in value.items():
                    parts += [self.has(name), self.member(name, self._constant(member, room, depth + 1))]
                return self._restrict(Kind.OBJECT, *parts)
            case float() if to_exact(value) is None:
                return self.opaque("a constant is not a number that JSON knows")
            case _:
                return self.enumeration([value])

    def one_of(self, constants: Iterable[Constant]) -> Formula:
        """The value is one of the constants."""
        return self.enumeration(to_value(constant) for constant in constants)

    def enumeration(self, values: Iterable[Json]) -> Formula:
        """The value is equal to one of `values`."""
        kinds = Kind.NONE
        texts: set[str] = set()
        numbers: set[Fraction] = set()
        containers: list[Formula] = []
        for value in values:
            number = get_number(value)
            if isinstance(value, str):
                texts.add(value)
                kinds |= Kind.STRING
            elif number is not None:
                numbers.add(number)
                kinds |= Kind.NUMBER
            elif value is None or isinstance(value, bool):
                kinds |= Kind.NULL if value is None else Kind.TRUE if value else Kind.FALSE
            else:
                containers.append(self.constant(value))
        return self.any_of(self.scalars(kinds, texts or None, numbers or None), *containers)
