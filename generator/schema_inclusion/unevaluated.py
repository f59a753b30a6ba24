"""Translate `unevaluatedProperties` and `unevaluatedItems` to formulas.

A member is evaluated if some subschema that applies in place and succeeds names it. So the keyword holds exactly if there is a set of
conditions, all of them true, such that whatever these leave unevaluated satisfies the keyword's schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from schema_inclusion.document import Dialect, Scope, Target
from schema_inclusion.forms import Forms
from schema_inclusion.formula import Formula, Kind
from schema_inclusion.values import Json


class Reader(Protocol):
    """The interface for reading schemas, in place or for a value inside, and for resolving a reference or returning the reason why not."""

    @property
    def forms(self) -> Forms: ...

    def read(self, schema: Json, scope: Scope) -> Formula: ...

    def read_inside(self, schema: Json, scope: Scope) -> Formula: ...

    def resolve(self, keyword: str, reference: Json, scope: Scope) -> Target | str: ...


MOST_CHOICES: Final = 128
DEEPEST: Final = 12


@dataclass(frozen=True, slots=True, eq=False)
class Applied:
    """A schema that applies in place if its condition holds."""

    condition: Formula
    schema: dict[str, Json]
    scope: Scope


class TooTangled(ValueError):
    """Too many conditions, references that never end, or a keyword that validators read in two ways."""


_Seen: TypeAlias = set[tuple[int, Formula]]


def _walk_applied(
    reader: Reader, schema: Json, scope: Scope, condition: Formula, depth: int, visited: _Seen
) -> Iterator[Applied]:
    """Yield the schema and all subschemas that apply in place, each once under a condition."""
    if not isinstance(schema, dict) or (id(schema), condition) in visited:
        return
    visited.add((id(schema), condition))
    if depth > DEEPEST:
        raise TooTangled
    forms = reader.forms
    yield Applied(condition, schema, scope)

    def apply(inner: Json, where: Scope, *also: Formula) -> Iterator[Applied]:
        return _walk_applied(reader, inner, where, forms.all_of(condition, *also), depth + 1, visited)

    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        if keyword in schema:
            target = reader.resolve(keyword, schema[keyword], scope)
            if isinstance(target, str):
                raise TooTangled
            yield from apply(target.schema, target.scope)
    for each in _list_branches(schema, "allOf"):
        yield from apply(each, scope)
    for keyword in ("anyOf", "oneOf"):
        for each in _list_branches(schema, keyword):
            yield from apply(each, scope, reader.read(each, scope))
    if "if" in schema:
        test = reader.read(schema["if"], scope)
        yield from apply(schema["if"], scope, test)
        yield from apply(schema.get("then"), scope, test)
        yield from apply(schema.get("else"), scope, forms.negate(test))
    dependents = schema.get("dependentSchemas")
    if isinstance(dependents, dict):
        for name, each in dependents.items():
            yield from apply(each, scope, forms.types(Kind.OBJECT), forms.has(name))


def _list_branches(schema: dict[str, Json], keyword: str) -> list[Json]:
    branches = schema.get(keyword)
    return branches if isinstance(branches, list) else []


_Made: TypeAlias = Callable[[list[Applied]], Formula]


def _choose(forms: Forms, applied: list[Applied], make: _Made) -> Formula:
    """The disjunction, over all sets of conditions that can hold together, of each set joined with what `make` returns for its schemas."""
    unconditional = [each for each in applied if each.condition is forms.top]
    groups: dict[Formula, list[Applied]] = {}
    for each in applied:
        if each.condition is not forms.top and each.condition is not forms.bottom:
            groups.setdefault(each.condition, []).append(each)
    choices: list[tuple[Formula, list[Applied]]] = [(forms.top, unconditional)]
    for condition, group in groups.items():
        for current, members in list(choices):
            joint = forms.all_of(current, condition)
            if joint is not forms.bottom:
                choices.append((joint, [*members, *group]))
        if len(choices) > MOST_CHOICES:
            raise TooTangled
    return forms.any_of(*(forms.all_of(condition, make(members)) for condition, members in choices))


def read_properties(reader: Reader, demand: Formula, schema: dict[str, Json], scope: Scope) -> Formula:
    """The formula of `unevaluatedProperties: demand` beside the other keywords of `schema`."""
    forms = reader.forms

    def find_evaluated(each: Applied) -> list[Formula]:
        if (
            each.schema is not schema and "unevaluatedProperties" in each.schema
        ) or "additionalProperties" in each.schema:
            return [forms.types(Kind.STRING)]
        properties, patterned = each.schema.get("properties"), each.schema.get("patternProperties")
        names = forms.strings(properties if isinstance(properties, dict) else (), within=True)
        patterns = patterned if isinstance(patterned, dict) else {}
        return [forms.all_of(forms.types(Kind.STRING), names), *(forms.matches(pattern) for pattern in patterns)]

    def rest(applied: list[Applied]) -> Formula:
        covered = [names for each in applied for names in find_evaluated(each)]
        others = forms.all_of(forms.types(Kind.STRING), *(forms.negate(names) for names in covered))
        return forms.members(others, demand)

    return _guard_applied(reader, schema, scope, rest, "properties")


def read_items(reader: Reader, demand: Formula, schema: dict[str, Json], scope: Scope) -> Formula:
    """The formula of `unevaluatedItems: demand` beside the other keywords of `schema`."""
    forms = reader.forms
    older = scope.dialect is Dialect.DRAFT_2019_09

    def find_evaluated(each: Applied) -> int | None:
        """The number of leading items that the schema evaluates; `None` is all."""
        if each.schema is not schema and "unevaluatedItems" in each.schema:
            return None
        plain = each.schema.get("items")
        if older:
            if isinstance(plain, list):
                return None if "additionalItems" in each.schema else len(plain)
            return None if "items" in each.schema else 0
        return None if "items" in each.schema else len(_list_branches(each.schema, "prefixItems"))

    def rest(applied: list[Applied]) -> Formula:
        lengths = [find_evaluated(each) for each in applied]
        if None in lengths:
            return forms.top
        holders = [each for each in applied if "contains" in each.schema]
        if older and holders:
            # The draft does not say that `contains` evaluates items, and validators let it.
            raise TooTangled
        contained = [reader.read_inside(each.schema["contains"], each.scope) for each in holders]
        longest = max((length for length in lengths if length is not None), default=0)
        return forms.items(longest, forms.any_of(demand, *contained))

    return _guard_applied(reader, schema, scope, rest, "items")


def _guard_applied(reader: Reader, schema: dict[str, Json], scope: Scope, rest: _Made, what: str) -> Formula:
    try:
        return _choose(reader.forms, list(_walk_applied(reader, schema, scope, reader.forms.top, 0, set())), rest)
    except TooTangled:
        return reader.forms.opaque(f"what evaluates the {what} depends on too many conditions")
