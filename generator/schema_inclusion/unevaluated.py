"""Translate `unevaluatedProperties` and `unevaluatedItems` to formulas.

A member is evaluated if some subschema that applies in place and succeeds names it. So the keyword holds exactly if there is a set of
conditions, all of them true, such that whatever these leave unevaluated satisfies the keyword's schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Protocol, TypeAlias

from msgspec import Struct

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


class Applied(Struct, frozen=True, eq=False):
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
    for branch in _list_branches(schema, "allOf"):
        yield from apply(branch, scope)
    for keyword in ("anyOf", "oneOf"):
        for branch in _list_branches(schema, keyword):
            yield from apply(branch, scope, reader.read(branch, scope))
    if "if" in schema:
        test = reader.read(schema["if"], scope)
        yield from apply(schema["if"], scope, test)
        yield from apply(schema.get("then"), scope, test)
        yield from apply(schema.get("else"), scope, forms.negate(test))
    dependents = schema.get("dependentSchemas")
    if isinstance(dependents, dict):
        for name, dependent in dependents.items():
            yield from apply(dependent, scope, forms.types(Kind.OBJECT), forms.has(name))


def _list_branches(schema: dict[str, Json], keyword: str) -> list[Json]:
    branches = schema.get(keyword)
    return branches if isinstance(branches, list) else []


_Builder: TypeAlias = Callable[[list[Applied]], Formula]


def _choose(forms: Forms, applied: list[Applied], build: _Builder) -> Formula:
    """The disjunction, over all sets of conditions that can hold together, of each set joined with what `build` returns for its schemas."""
    unconditional = [subschema for subschema in applied if subschema.condition is forms.top]
    groups: dict[Formula, list[Applied]] = {}
    for subschema in applied:
        if subschema.condition is not forms.top and subschema.condition is not forms.bottom:
            groups.setdefault(subschema.condition, []).append(subschema)
    choices: list[tuple[Formula, list[Applied]]] = [(forms.top, unconditional)]
    for condition, group in groups.items():
        for current, members in list(choices):
            joint = forms.all_of(current, condition)
            if joint is not forms.bottom:
                choices.append((joint, [*members, *group]))
        if len(choices) > MOST_CHOICES:
            raise TooTangled
    return forms.any_of(*(forms.all_of(condition, build(members)) for condition, members in choices))


def read_properties(reader: Reader, demand: Formula, schema: dict[str, Json], scope: Scope) -> Formula:
    """The formula of `unevaluatedProperties: demand` beside the other keywords of `schema`."""
    forms = reader.forms

    def find_evaluated(subschema: Applied) -> list[Formula]:
        if (
            subschema.schema is not schema and "unevaluatedProperties" in subschema.schema
        ) or "additionalProperties" in subschema.schema:
            return [forms.types(Kind.STRING)]
        properties, patterned = subschema.schema.get("properties"), subschema.schema.get("patternProperties")
        names = forms.strings(properties if isinstance(properties, dict) else (), within=True)
        patterns = patterned if isinstance(patterned, dict) else {}
        return [forms.all_of(forms.types(Kind.STRING), names), *(forms.matches(pattern) for pattern in patterns)]

    def build_formula(applied: list[Applied]) -> Formula:
        covered = [names for subschema in applied for names in find_evaluated(subschema)]
        unevaluated_names = forms.all_of(forms.types(Kind.STRING), *(forms.negate(names) for names in covered))
        return forms.members(unevaluated_names, demand)

    return _guard_applied(reader, schema, scope, build_formula, "properties")


def read_items(reader: Reader, demand: Formula, schema: dict[str, Json], scope: Scope) -> Formula:
    """The formula of `unevaluatedItems: demand` beside the other keywords of `schema`."""
    forms = reader.forms
    older = scope.dialect is Dialect.DRAFT_2019_09

    def find_evaluated(subschema: Applied) -> int | None:
        """The number of leading items that the schema evaluates; `None` is all."""
        if subschema.schema is not schema and "unevaluatedItems" in subschema.schema:
            return None
        plain = subschema.schema.get("items")
        if older:
            if isinstance(plain, list):
                return None if "additionalItems" in subschema.schema else len(plain)
            return None if "items" in subschema.schema else 0
        return None if "items" in subschema.schema else len(_list_branches(subschema.schema, "prefixItems"))

    def build_formula(applied: list[Applied]) -> Formula:
        lengths = [find_evaluated(subschema) for subschema in applied]
        if None in lengths:
            return forms.top
        holders = [subschema for subschema in applied if "contains" in subschema.schema]
        if older and holders:
            # The draft does not say that `contains` evaluates items, and validators let it.
            raise TooTangled
        contained = [reader.read_inside(subschema.schema["contains"], subschema.scope) for subschema in holders]
        longest = max((length for length in lengths if length is not None), default=0)
        return forms.items(longest, forms.any_of(demand, *contained))

    return _guard_applied(reader, schema, scope, build_formula, "items")


def _guard_applied(reader: Reader, schema: dict[str, Json], scope: Scope, build: _Builder, noun: str) -> Formula:
    try:
        return _choose(reader.forms, list(_walk_applied(reader, schema, scope, reader.forms.top, 0, set())), build)
    except TooTangled:
        return reader.forms.opaque(f"what evaluates the {noun} depends on too many conditions")
