"""The normal form of schemas: each schema becomes a formula, and schemas that say the same mostly the same one.

One function per keyword. `allOf` is merged, acyclic references are followed, `enum`, `const` and `oneOf` of constants
become one set, lists of types and alternatives of types one set of kinds, conditions and dependencies plain logic.
Annotations say nothing, and `format` only where it is asserted. What a keyword cannot express is `Opaque`, never left out.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, TypeAlias

from schema_inclusion import unevaluated
from schema_inclusion.alternatives import exclusive
from schema_inclusion.document import (
    Dialect,
    Scope,
    Target,
    in_another_dialect,
    names_one_of_several,
    only_dynamic_target,
    only_recursive_target,
    outermost_published,
    placed_schemas,
    resolved,
    within,
)
from schema_inclusion.formats import FORMATS, WIDER
from schema_inclusion.forms import Forms
from schema_inclusion.formula import Formula, Kind, Kinds, Types
from schema_inclusion.values import Json, number_of

DEEPEST_AT_ONCE: Final = 24
"""Schemas nested deeper than this are left as references and unfolded when they are needed."""

_KINDS: Final = {
    "null": Kind.NULL,
    "boolean": Kind.BOOLEAN,
    "integer": Kind.INTEGER,
    "number": Kind.NUMBER,
    "string": Kind.STRING,
    "array": Kind.ARRAY,
    "object": Kind.OBJECT,
}

_Key: TypeAlias = tuple[int, tuple[int, Dialect, bool]]


class Malformed(ValueError):
    """A keyword has a value that its meta-schema does not allow."""


@dataclass(slots=True)
class Normaliser:
    """Turns schemas into formulas and remembers what it has done. Schemas must outlive it unchanged.

    `twins` are what to read in the place of schemas, by their identities; `formats` are those that it reads as assertions.
    `asks_for_spelling` says that some schema takes `1` and not `1.0`: `written_as_integer`.
    """

    forms: Forms
    _done: dict[_Key, Formula] = field(default_factory=dict[_Key, Formula])
    _open: dict[_Key, int] = field(default_factory=dict[_Key, int])
    _places: list[Target] = field(default_factory=list[Target])
    _place_of: dict[_Key, int] = field(default_factory=dict[_Key, int])
    _unfolded: dict[int, Formula] = field(default_factory=dict[int, Formula])
    _targets: dict[tuple[tuple[int, Dialect, bool], str], Target | None] = field(
        default_factory=dict[tuple[tuple[int, Dialect, bool], str], "Target | None"]
    )
    _steps: int = 0
    formats: frozenset[str] = frozenset()
    twins: dict[int, Target] = field(default_factory=dict[int, Target])
    asks_for_spelling: bool = False
    _doubts: dict[str, Formula] = field(default_factory=dict[str, Formula])
    written_as_integer: Formula = field(init=False)

    def __post_init__(self) -> None:
        self.forms.unfold = self.unfold
        self.written_as_integer = self.forms.opaque("draft-04 takes 1.0 for no integer")

    def whole(self, schema: Json, scope: Scope) -> Formula:
        """What the schema says of a value; what it refers to is read first, so that chains of references stay flat."""
        if isinstance(schema, dict) and not self._open:
            for target in referred(self, schema, scope):
                self.formula(target.schema, target.scope)
        return self.formula(schema, scope)

    def formula(self, schema: Json, scope: Scope) -> Formula:
        """What the schema says of a value."""
        if isinstance(schema, bool):
            return self.forms.top if schema else self.forms.bottom
        if not isinstance(schema, dict):
            return self.forms.opaque("something that is not a schema stands where one is needed")
        if in_another_dialect(schema, scope.dialect):
            return self.forms.opaque("a schema inside the document is written in another dialect")
        scope = within(scope, schema)
        key = (id(schema), scope.key)
        known = self._done.get(key)
        if known is not None:
            return known
        if self._open.get(key) == self._steps:
            return self.forms.opaque("a reference leads back to itself without a step into the value")
        if key in self._open or len(self._open) >= DEEPEST_AT_ONCE:
            return self.forms.ref(self._place(key, Target(schema, scope)))
        self._open[key] = self._steps
        result = self._read(schema, scope)
        del self._open[key]
        self._done[key] = result
        return result

    def of_format(self, name: str) -> Formula:
        """What a format that is asserted says of a text: what may be of it, and surely is or perhaps, and what the wider formats say."""
        wider = [self.of_format(each) for each in WIDER.get(name, ())]
        bounds = FORMATS[name]
        if name not in self._doubts:
            self._doubts[name] = self.forms.opaque(f"whether a text is of the format {name!r} is not known here")
        surely, possibly = self.forms.matches(bounds.surely), self.forms.matches(bounds.possibly)
        if bounds.surely == bounds.possibly:
            return possibly
        perhaps = self.forms.any_of(self.forms.types(Kind.ANY & ~Kind.STRING), surely, self._doubts[name])
        return self.forms.all_of(possibly, perhaps, *wider)

    def has_read(self, target: Target) -> bool:
        """Whether what stands there is a formula already."""
        return (id(target.schema), target.scope.key) in self._done

    def reset(self) -> None:
        """Forgets schemas left half read by an interruption."""
        self._open = {}
        self._steps = 0

    def inner(self, schema: Json, scope: Scope) -> Formula:
        """What the schema says of a value inside the one at hand."""
        with self._step():
            return self.formula(schema, scope)

    @contextmanager
    def _step(self) -> Generator[None]:
        self._steps += 1
        yield
        self._steps -= 1

    def _place(self, key: _Key, target: Target) -> int:
        if key not in self._place_of:
            self._place_of[key] = len(self._places)
            self._places.append(target)
        return self._place_of[key]

    def unfold(self, place: int) -> Formula:
        """What stands at a place that a `Ref` names."""
        if place not in self._unfolded:
            target = self._places[place]
            opened, self._open = self._open, {}
            self._unfolded[place] = self.whole(target.schema, target.scope)
            self._open = opened
        return self._unfolded[place]

    def target(self, reference: Json, scope: Scope) -> Target | None:
        """What a reference points at, if it can be resolved."""
        if not isinstance(reference, str):
            return None
        key = (scope.key, reference)
        if key not in self._targets:
            found = resolved(scope, reference)
            self._targets[key] = found and self.twins.get(id(found.schema), found)
        return self._targets[key]

    def meant(self, keyword: str, reference: Json, scope: Scope) -> Target | str:
        """What a reference means (`$ref`, `$dynamicRef` or `$recursiveRef`), or why that cannot be said."""
        text = str(reference)
        if keyword == "$dynamicRef" and not only_dynamic_target(scope, text):
            outermost = outermost_published(scope, "$dynamicAnchor", text.partition("#")[2])
            return outermost or "a dynamic reference may mean several places"
        if keyword == "$recursiveRef" and (reference != "#" or not only_recursive_target(scope)):
            outermost = outermost_published(scope, "$recursiveAnchor", True) if reference == "#" else None
            return outermost or "a recursive reference may mean several places"
        if names_one_of_several(scope, text):
            return "a reference names one of several dynamic anchors"
        return self.target(reference, scope) or f"the reference {text[:60]!r} cannot be resolved"

    def _read(self, schema: dict[str, Json], scope: Scope) -> Formula:
        self.forms.budget.spend()
        if scope.legacy and "$ref" in schema:
            return _FOLLOW(self, schema["$ref"], schema, scope)
        parts: list[Formula] = []
        for keyword, read in _KEYWORDS[scope.dialect].items():
            if keyword in schema:
                try:
                    parts.append(read(self, schema[keyword], schema, scope))
                except Malformed:
                    parts.append(self.forms.opaque(f"the keyword {keyword!r} has a value that it may not have"))
        return self.forms.all_of(*parts)


def referred(reader: Normaliser, schema: dict[str, Json], scope: Scope) -> Iterator[Target]:
    """Everything that the schema leads to by references, what is referred to before what refers to it.

    Walks with a list of its own, and not into what has been read. Only within one resource: below a schema with an identifier of
    its own nothing is said.
    """
    seen: set[int] = set()
    pending: list[tuple[Target, bool]] = [(Target(schema, scope), False)]
    while pending:
        target, ready = pending.pop()
        if ready:
            if target.schema is not schema:
                yield target
            continue
        if id(target.schema) in seen or target.scope.resource != scope.resource or reader.has_read(target):
            continue
        seen.add(id(target.schema))
        pending.append((target, True))
        found = (
            reader.target(each.get("$ref"), target.scope) for each in placed_schemas(target.schema, definitions=False)
        )
        pending.extend((each, False) for each in found if each is not None)


_Read: TypeAlias = Callable[[Normaliser, Json, dict[str, Json], Scope], Formula]


# Values of keywords.


def _number(value: Json) -> Fraction:
    number = number_of(value)
    if number is None:
        raise Malformed
    return number


def _whole(value: Json) -> int:
    number = _number(value)
    if number.denominator != 1 or number < 0:
        raise Malformed
    return number.numerator


def table(value: Json) -> dict[str, Json]:
    """The value as an object. Raises `Malformed`."""
    if not isinstance(value, dict):
        raise Malformed
    return value


def listed(value: Json) -> list[Json]:
    """The value as an array. Raises `Malformed`."""
    if not isinstance(value, list):
        raise Malformed
    return value


def _names(value: Json) -> list[str]:
    names = [name for name in listed(value) if isinstance(name, str)]
    if len(names) != len(listed(value)):
        raise Malformed
    return names


# References.


def _reference(keyword: str) -> _Read:
    def read(reader: Normaliser, value: Json, _schema: dict[str, Json], scope: Scope) -> Formula:
        meant = reader.meant(keyword, value, scope)
        return reader.forms.opaque(meant) if isinstance(meant, str) else reader.formula(meant.schema, meant.scope)

    return read


_FOLLOW: Final = _reference("$ref")


# Any type.


def _type(reader: Normaliser, value: Json, _schema: dict[str, Json], _scope: Scope) -> Formula:
    kinds = Kind.NONE
    for name in value if isinstance(value, list) else [value]:
        if not isinstance(name, str) or name not in _KINDS:
            raise Malformed
        kinds |= _KINDS[name]
    return reader.forms.types(kinds)


def _oldest_type(reader: Normaliser, value: Json, schema: dict[str, Json], scope: Scope) -> Formula:
    """The types of draft-04, where `1.0` is a number and no integer: our numbers do not know how they are written."""
    kinds = _type(reader, value, schema, scope)
    if not isinstance(kinds, Types) or kinds.kinds & Kind.NUMBER != Kind.INTEGER:
        return kinds
    return reader.forms.all_of(kinds, _written_integer(reader, DRAFT_04, schema, scope))


DRAFT_04: Final = "draft-04"
"""The value of `x-integer`."""


def _written_integer(reader: Normaliser, value: Json, _schema: dict[str, Json], _scope: Scope) -> Formula:
    """`x-integer`, by which a schema that was brought to a later draft still says what draft-04's `integer` says of `1.0`."""
    forms = reader.forms
    if value != DRAFT_04:
        return forms.top
    reader.asks_for_spelling = True
    return forms.any_of(forms.types(Kind.ANY & ~Kind.INTEGER), reader.written_as_integer)


def _enum(reader: Normaliser, value: Json, _schema: dict[str, Json], _scope: Scope) -> Formula:
    return reader.forms.enumeration(listed(value))


def _const(reader: Normaliser, value: Json, _schema: dict[str, Json], _scope: Scope) -> Formula:
    return reader.forms.constant(value)


# Numbers.


def _limit(*, upper: bool, strict: bool) -> _Read:
    def read(reader: Normaliser, value: Json, schema: dict[str, Json], scope: Scope) -> Formula:
        sharp = strict
        if scope.dialect is Dialect.DRAFT_04:
            sharp = schema.get("exclusiveMaximum" if upper else "exclusiveMinimum") is True
        return reader.forms.bound(_number(value), upper=upper, strict=sharp)

    return read


def _multiple_of(reader: Normaliser, value: Json, _schema: dict[str, Json], _scope: Scope) -> Formula:
    if _number(value) <= 0:
        raise Malformed
    return reader.forms.multiple(_number(value))


# Sizes of strings, arrays and objects.


def _size(kind: Kinds, *, upper: bool) -> _Read:
    def read(reader: Normaliser, value: Json, _schema: dict[str, Json], _scope: Scope) -> Formula:
        limit = _whole(value)
        return reader.forms.size(kind, 0, limit) if upper else reader.forms.size(kind, limit, None)

    return read


def _pattern(reader: Normaliser, value: Json, _schema: dict[str, Json], _scope: Scope) -> Formula:
    if not isinstance(value, str):
        raise Malformed
    return reader.forms.matches(value)


def _format(reader: Normaliser, value: Json, _schema: dict[str, Json], _scope: Scope) -> Formula:
    return reader.of_format(value) if isinstance(value, str) and value in reader.formats else reader.forms.top


# Arrays.


def _prefix_items(reader: Normaliser, value: Json, _schema: dict[str, Json], scope: Scope) -> Formula:
    places = [reader.forms.item(index, reader.inner(each, scope)) for index, each in enumerate(listed(value))]
    return reader.forms.all_of(*places)


def _items(reader: Normaliser, value: Json, schema: dict[str, Json], scope: Scope) -> Formula:
    return reader.forms.items(len(listed(schema.get("prefixItems", []))), reader.inner(value, scope))


def _older_items(reader: Normaliser, value: Json, schema: dict[str, Json], scope: Scope) -> Formula:
    if isinstance(value, list):
        return _prefix_items(reader, value, schema, scope)
    return reader.forms.items(0, reader.inner(value, scope))


def _additional_items(reader: Normaliser, value: Json, schema: dict[str, Json], scope: Scope) -> Formula:
    items = schema.get("items")
    if not isinstance(items, list):
        return reader.forms.top
    return reader.forms.items(len(items), reader.inner(value, scope))


def _contains(reader: Normaliser, value: Json, schema: dict[str, Json], scope: Scope) -> Formula:
    least = 1 if scope.legacy else _whole(schema.get("minContains", 1))
    most = None if scope.legacy or "maxContains" not in schema else _whole(schema["maxContains"])
    return reader.forms.amount(0, reader.inner(value, scope), least, most)


def _unique_items(reader: Normaliser, value: Json, _schema: dict[str, Json], _scope: Scope) -> Formula:
    return reader.forms.unique() if value is True else reader.forms.top


# Objects.


def other_names(forms: Forms, schema: dict[str, Json]) -> Formula:
    """The names that `properties` and `patternProperties` leave to `additionalProperties`."""
    return forms.all_of(
        forms.types(Kind.STRING),
        forms.strings(table(schema.get("properties", {})), within=False),
        *(forms.matches(pattern, holds=False) for pattern in table(schema.get("patternProperties", {}))),
    )


def _properties(reader: Normaliser, value: Json, _schema: dict[str, Json], scope: Scope) -> Formula:
    forms = reader.forms
    return forms.all_of(*(forms.member(name, reader.inner(each, scope)) for name, each in table(value).items()))


def _pattern_properties(reader: Normaliser, value: Json, _schema: dict[str, Json], scope: Scope) -> Formula:
    forms = reader.forms
    return forms.all_of(
        *(forms.members(forms.matches(pattern), reader.inner(each, scope)) for pattern, each in table(value).items())
    )


def _additional_properties(reader: Normaliser, value: Json, schema: dict[str, Json], scope: Scope) -> Formula:
    return reader.forms.members(other_names(reader.forms, schema), reader.inner(value, scope))


def _property_names(reader: Normaliser, value: Json, _schema: dict[str, Json], scope: Scope) -> Formula:
    return reader.forms.members(reader.forms.negate(reader.inner(value, scope)), reader.forms.bottom)


def _required(reader: Normaliser, value: Json, _schema: dict[str, Json], _scope: Scope) -> Formula:
    return reader.forms.all_of(*(reader.forms.has(name) for name in _names(value)))


def _dependent_required(reader: Normaliser, value: Json, _schema: dict[str, Json], _scope: Scope) -> Formula:
    forms = reader.forms
    return forms.all_of(
        *(
            forms.any_of(forms.lacks(name), forms.all_of(*(forms.has(other) for other in _names(others))))
            for name, others in table(value).items()
        )
    )


def _dependent_schemas(reader: Normaliser, value: Json, _schema: dict[str, Json], scope: Scope) -> Formula:
    forms = reader.forms
    return forms.all_of(
        *(forms.any_of(forms.lacks(name), reader.formula(each, scope)) for name, each in table(value).items())
    )


def _dependencies(reader: Normaliser, value: Json, schema: dict[str, Json], scope: Scope) -> Formula:
    names: dict[str, Json] = {name: each for name, each in table(value).items() if isinstance(each, list)}
    schemas: dict[str, Json] = {name: each for name, each in table(value).items() if name not in names}
    return reader.forms.all_of(
        _dependent_required(reader, names, schema, scope), _dependent_schemas(reader, schemas, schema, scope)
    )


# Combinations.


def _all_of(reader: Normaliser, value: Json, _schema: dict[str, Json], scope: Scope) -> Formula:
    return reader.forms.all_of(*(reader.formula(each, scope) for each in listed(value)))


def _any_of(reader: Normaliser, value: Json, _schema: dict[str, Json], scope: Scope) -> Formula:
    return reader.forms.any_of(*(reader.formula(each, scope) for each in listed(value)))


def _one_of(reader: Normaliser, value: Json, _schema: dict[str, Json], scope: Scope) -> Formula:
    return exclusive(reader.forms, tuple(reader.formula(each, scope) for each in listed(value)))


def _not(reader: Normaliser, value: Json, _schema: dict[str, Json], scope: Scope) -> Formula:
    return reader.forms.negate(reader.formula(value, scope))


def _if(reader: Normaliser, value: Json, schema: dict[str, Json], scope: Scope) -> Formula:
    forms = reader.forms
    condition = reader.formula(value, scope)
    then = reader.formula(schema.get("then", True), scope)
    otherwise = reader.formula(schema.get("else", True), scope)
    return forms.all_of(forms.any_of(forms.negate(condition), then), forms.any_of(condition, otherwise))


def _unevaluated_properties(reader: Normaliser, value: Json, schema: dict[str, Json], scope: Scope) -> Formula:
    return unevaluated.properties(reader, reader.inner(value, scope), schema, scope)


def _unevaluated_items(reader: Normaliser, value: Json, schema: dict[str, Json], scope: Scope) -> Formula:
    return unevaluated.items(reader, reader.inner(value, scope), schema, scope)


_OLDEST: Final[dict[str, _Read]] = {
    "type": _type,
    "enum": _enum,
    "minimum": _limit(upper=False, strict=False),
    "maximum": _limit(upper=True, strict=False),
    "multipleOf": _multiple_of,
    "minLength": _size(Kind.STRING, upper=False),
    "maxLength": _size(Kind.STRING, upper=True),
    "pattern": _pattern,
    "format": _format,
    "minItems": _size(Kind.ARRAY, upper=False),
    "maxItems": _size(Kind.ARRAY, upper=True),
    "items": _older_items,
    "additionalItems": _additional_items,
    "uniqueItems": _unique_items,
    "required": _required,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "minProperties": _size(Kind.OBJECT, upper=False),
    "maxProperties": _size(Kind.OBJECT, upper=True),
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "dependencies": _dependencies,
}
_LEGACY: Final[dict[str, _Read]] = {
    **_OLDEST,
    "const": _const,
    "exclusiveMinimum": _limit(upper=False, strict=True),
    "exclusiveMaximum": _limit(upper=True, strict=True),
    "contains": _contains,
    "propertyNames": _property_names,
}
_MODERN: Final[dict[str, _Read]] = {
    "$ref": _FOLLOW,
    **{keyword: read for keyword, read in _LEGACY.items() if keyword != "dependencies"},
    "if": _if,
    "dependentRequired": _dependent_required,
    "dependentSchemas": _dependent_schemas,
    "unevaluatedProperties": _unevaluated_properties,
    "unevaluatedItems": _unevaluated_items,
}
_KEYWORDS: Final[dict[Dialect, dict[str, _Read]]] = {
    Dialect.DRAFT_04: {**_OLDEST, "type": _oldest_type},
    Dialect.DRAFT_06: _LEGACY,
    Dialect.DRAFT_07: {**_LEGACY, "if": _if},
    Dialect.DRAFT_2019_09: {**_MODERN, "$recursiveRef": _reference("$recursiveRef")},
    Dialect.DRAFT_2020_12: {
        **{keyword: read for keyword, read in _MODERN.items() if keyword != "additionalItems"},
        "$dynamicRef": _reference("$dynamicRef"),
        "prefixItems": _prefix_items,
        "items": _items,
        "x-integer": _written_integer,
    },
}
