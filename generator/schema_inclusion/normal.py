"""Translate schemas to formulas in a normal form, in which most equivalent schemas are equal.

One function per keyword. `allOf` is merged, acyclic references are followed; `enum`, `const` and `oneOf` of constants become one set,
lists of types and alternatives of types one set of kinds, conditions and dependencies plain logic. Annotations are ignored, and so is
`format` unless it is asserted. What formulas cannot express is `Opaque`, never left out.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, TypeAlias

from schema_inclusion import unevaluated
from schema_inclusion.alternatives import require_exactly_one
from schema_inclusion.document import (
    Dialect,
    Scope,
    Target,
    enter,
    find_outermost_published,
    has_only_dynamic_target,
    has_only_recursive_target,
    names_one_of_several,
    names_other_dialect,
    resolve,
    walk_schemas,
)
from schema_inclusion.formats import FORMATS, WIDER
from schema_inclusion.forms import Forms
from schema_inclusion.formula import Formula, Kind
from schema_inclusion.values import Json, get_number

DEEPEST_AT_ONCE: Final = 24
"""The maximum nesting of schemas that are translated at once; deeper ones stay references, which are unfolded on demand."""

_KINDS: Final = {
    "null": Kind.NULL,
    "boolean": Kind.BOOLEAN,
    "integer": Kind.INTEGER,
    "number": Kind.NUMBER,
    "string": Kind.STRING,
    "array": Kind.ARRAY,
    "object": Kind.OBJECT,
}

_Key: TypeAlias = tuple[int, tuple[int, str, bool]]


class Malformed(ValueError):
    """A keyword whose value its meta-schema does not allow."""


@dataclass(slots=True)
class Normaliser:
    """Translates schemas to formulas and caches the results. Schemas must outlive it unchanged.

    `twins` are the schemas to read instead of others, by the identity of these; `formats` are read as assertions. `asks_for_spelling`:
    some schema accepts `1` and not `1.0`, which `written_as_integer` expresses.
    """

    forms: Forms
    _done: dict[_Key, Formula] = field(default_factory=dict[_Key, Formula])
    _open: dict[_Key, int] = field(default_factory=dict[_Key, int])
    _places: list[Target] = field(default_factory=list[Target])
    _place_of: dict[_Key, int] = field(default_factory=dict[_Key, int])
    _unfolded: dict[int, Formula] = field(default_factory=dict[int, Formula])
    _targets: dict[tuple[tuple[int, str, bool], str], Target | None] = field(
        default_factory=dict[tuple[tuple[int, str, bool], str], "Target | None"]
    )
    _steps: int = 0
    formats: frozenset[str] = frozenset()
    twins: Mapping[_Key, Target] = field(default_factory=dict[_Key, Target])
    asks_for_spelling: bool = False
    _doubts: dict[str, Formula] = field(default_factory=dict[str, Formula])
    written_as_integer: Formula = field(init=False)

    def __post_init__(self) -> None:
        self.forms.unfold = self.unfold
        self.written_as_integer = self.forms.opaque("draft-04 takes 1.0 for no integer")

    def read_whole(self, schema: Json, scope: Scope) -> Formula:
        """Translate a schema to a formula, the schemas that it refers to first, so that chains of references do not nest deeply."""
        if isinstance(schema, dict) and not self._open and not self.has_read(Target(schema, scope)):
            for target in walk_references(self, schema, scope):
                self.read(target.schema, target.scope)
        return self.read(schema, scope)

    def read(self, schema: Json, scope: Scope) -> Formula:
        """Translate a schema to a formula."""
        if isinstance(schema, bool):
            return self.forms.top if schema else self.forms.bottom
        if not isinstance(schema, dict):
            return self.forms.opaque("something that is not a schema stands where one is needed")
        if names_other_dialect(schema, scope.dialect):
            return self.forms.opaque("a schema inside the document is written in another dialect")
        scope = enter(scope, schema)
        key = (id(schema), scope.key)
        twin = self.twins.get(key)
        if twin is not None and self._open.get((id(twin.schema), twin.scope.key)) != self._steps:
            return self.read(twin.schema, twin.scope)
        cached_formula = self._done.get(key)
        if cached_formula is not None:
            return cached_formula
        if self._open.get(key) == self._steps:
            return self.forms.opaque("a reference leads back to itself without a step into the value")
        if key in self._open or len(self._open) >= DEEPEST_AT_ONCE:
            return self.forms.ref(self._number_place(key, Target(schema, scope)))
        self._open[key] = self._steps
        result = self._read_keywords(schema, scope)
        del self._open[key]
        self._done[key] = result
        return result

    def read_format(self, name: str) -> Formula:
        """The formula of an asserted format: its possible texts, with a doubt about those that are not certain, and the wider formats."""
        wider = [self.read_format(wider_name) for wider_name in WIDER.get(name, ())]
        bounds = FORMATS[name]
        if name not in self._doubts:
            self._doubts[name] = self.forms.opaque(f"whether a text is of the format {name!r} is not known here")
        surely, possibly = self.forms.matches(bounds.surely), self.forms.matches(bounds.possibly)
        if bounds.surely == bounds.possibly:
            return possibly
        perhaps = self.forms.any_of(self.forms.types(Kind.ANY & ~Kind.STRING), surely, self._doubts[name])
        return self.forms.all_of(possibly, perhaps, *wider)

    def require_written_integer(self) -> Formula:
        """The formula of draft-04's `integer`: a number written without a fraction, which the numbers of formulas do not express."""
        self.asks_for_spelling = True
        return self.forms.any_of(self.forms.types(Kind.ANY & ~Kind.INTEGER), self.written_as_integer)

    def has_read(self, target: Target) -> bool:
        """Whether the target or its twin is already translated."""
        key = (id(target.schema), target.scope.key)
        twin = self.twins.get(key)
        return key in self._done or (twin is not None and (id(twin.schema), twin.scope.key) in self._done)

    def reset(self) -> None:
        """Discard the schemas left incomplete by an interruption."""
        self._open = {}
        self._steps = 0

    def read_inside(self, schema: Json, scope: Scope) -> Formula:
        """Translate a schema for a value inside the current one."""
        with self._step():
            return self.read(schema, scope)

    @contextmanager
    def _step(self) -> Generator[None]:
        self._steps += 1
        yield
        self._steps -= 1

    def _number_place(self, key: _Key, target: Target) -> int:
        if key not in self._place_of:
            self._place_of[key] = len(self._places)
            self._places.append(target)
        return self._place_of[key]

    def unfold(self, place: int) -> Formula:
        """The formula at a place that a `Ref` names, translated on demand."""
        if place not in self._unfolded:
            target = self._places[place]
            opened, self._open = self._open, {}
            self._unfolded[place] = self.read_whole(target.schema, target.scope)
            self._open = opened
        return self._unfolded[place]

    def look_up(self, reference: Json, scope: Scope) -> Target | None:
        """The target of a reference, cached; `None` if it cannot be resolved."""
        if not isinstance(reference, str):
            return None
        key = (scope.key, reference)
        if key not in self._targets:
            self._targets[key] = resolve(scope, reference)
        return self._targets[key]

    def resolve(self, keyword: str, reference: Json, scope: Scope) -> Target | str:
        """Resolve `$ref`, `$dynamicRef` or `$recursiveRef` to its target, or return the reason why that is not possible."""
        text = str(reference)
        if keyword == "$dynamicRef" and not has_only_dynamic_target(scope, text):
            outermost = find_outermost_published(scope, "$dynamicAnchor", text.partition("#")[2])
            return outermost or "a dynamic reference may mean several places"
        if keyword == "$recursiveRef" and (reference != "#" or not has_only_recursive_target(scope)):
            outermost = find_outermost_published(scope, "$recursiveAnchor", True) if reference == "#" else None
            return outermost or "a recursive reference may mean several places"
        if names_one_of_several(scope, text):
            return "a reference names one of several dynamic anchors"
        return self.look_up(reference, scope) or f"the reference {text[:60]!r} cannot be resolved"

    def _read_keywords(self, schema: dict[str, Json], scope: Scope) -> Formula:
        self.forms.budget.spend()
        if scope.legacy and "$ref" in schema:
            return _follow(_Keyword(self, schema["$ref"], schema, scope))
        parts: list[Formula] = []
        for keyword, read in _KEYWORDS[scope.dialect].items():
            if keyword in schema:
                try:
                    parts.append(read(_Keyword(self, schema[keyword], schema, scope)))
                except Malformed:
                    parts.append(self.forms.opaque(f"the keyword {keyword!r} has a value that it may not have"))
        return self.forms.all_of(*parts)


def walk_references(reader: Normaliser, schema: dict[str, Json], scope: Scope) -> Iterator[Target]:
    """Yield all that a schema leads to by references, each target after those that it refers to itself.

    Not recursive; targets that are already translated are skipped. Limited to one resource: nothing is guaranteed below a schema that
    has its own identifier.
    """
    visited: set[int] = set()
    pending: list[tuple[Target, bool]] = [(Target(schema, scope), False)]
    while pending:
        target, ready = pending.pop()
        if ready:
            if target.schema is not schema:
                yield target
            continue
        if id(target.schema) in visited or target.scope.resource != scope.resource or reader.has_read(target):
            continue
        visited.add(id(target.schema))
        pending.append((target, True))
        targets = (
            reader.look_up(subschema.get("$ref"), target.scope)
            for subschema in walk_schemas(target.schema, definitions=False)
        )
        pending.extend((inner, False) for inner in targets if inner is not None)


@dataclass(slots=True)
class _Keyword:
    """A keyword in its context: its value, the schema that contains it, and the normaliser that reads it."""

    reader: Normaliser
    value: Json
    schema: dict[str, Json]
    scope: Scope

    @property
    def forms(self) -> Forms:
        return self.reader.forms

    def read(self, schema: Json) -> Formula:
        return self.reader.read(schema, self.scope)

    def read_inside(self, schema: Json) -> Formula:
        return self.reader.read_inside(schema, self.scope)

    def read_all(self) -> list[Formula]:
        return [self.read(subschema) for subschema in _require_list(self.value)]


_Read: TypeAlias = Callable[[_Keyword], Formula]


# Values of keywords.


def _require_number(value: Json) -> Fraction:
    number = get_number(value)
    if number is None:
        raise Malformed
    return number


def _require_whole(value: Json) -> int:
    number = _require_number(value)
    if number.denominator != 1 or number < 0:
        raise Malformed
    return number.numerator


def _require_table(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise Malformed
    return value


def _require_list(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise Malformed
    return value


def _require_names(value: Json) -> list[str]:
    names = [name for name in _require_list(value) if isinstance(name, str)]
    if len(names) != len(_require_list(value)):
        raise Malformed
    return names


# References.


def _follow(at: _Keyword, keyword: str = "$ref") -> Formula:
    target = at.reader.resolve(keyword, at.value, at.scope)
    return at.forms.opaque(target) if isinstance(target, str) else at.reader.read(target.schema, target.scope)


# Scalars.


def _read_type(at: _Keyword) -> Formula:
    kinds = Kind.NONE
    for name in at.value if isinstance(at.value, list) else [at.value]:
        if not isinstance(name, str) or name not in _KINDS:
            raise Malformed
        kinds |= _KINDS[name]
    types = at.forms.types(kinds)
    is_written = at.scope.dialect is Dialect.DRAFT_04 and kinds & Kind.NUMBER == Kind.INTEGER
    return at.forms.all_of(types, at.reader.require_written_integer()) if is_written else types


def _limit(at: _Keyword, *, upper: bool) -> Formula:
    """The formula of a limit. In draft-04, a boolean keyword beside the limit excludes the limit itself."""
    word = "exclusiveMaximum" if upper else "exclusiveMinimum"
    strict = at.scope.dialect is Dialect.DRAFT_04 and at.schema.get(word) is True
    return at.forms.bound(_require_number(at.value), upper=upper, strict=strict)


def _read_multiple_of(at: _Keyword) -> Formula:
    if _require_number(at.value) <= 0:
        raise Malformed
    return at.forms.multiple(_require_number(at.value))


def _read_pattern(at: _Keyword) -> Formula:
    if not isinstance(at.value, str):
        raise Malformed
    return at.forms.matches(at.value)


def _format(at: _Keyword) -> Formula:
    is_asserted = isinstance(at.value, str) and at.value in at.reader.formats
    return at.reader.read_format(str(at.value)) if is_asserted else at.forms.top


# Arrays.


def _prefix_items(at: _Keyword) -> Formula:
    return at.forms.all_of(
        *(at.forms.item(index, at.read_inside(subschema)) for index, subschema in enumerate(_require_list(at.value)))
    )


def _read_items(at: _Keyword) -> Formula:
    if at.scope.dialect is Dialect.DRAFT_2020_12:
        return at.forms.items(len(_require_list(at.schema.get("prefixItems", []))), at.read_inside(at.value))
    return _prefix_items(at) if isinstance(at.value, list) else at.forms.items(0, at.read_inside(at.value))


def _read_additional_items(at: _Keyword) -> Formula:
    items = at.schema.get("items")
    return at.forms.items(len(items), at.read_inside(at.value)) if isinstance(items, list) else at.forms.top


def _contains(at: _Keyword) -> Formula:
    limits: dict[str, Json] = {} if at.scope.legacy else at.schema
    least = _require_whole(limits.get("minContains", 1))
    most = _require_whole(limits["maxContains"]) if "maxContains" in limits else None
    return at.forms.amount(0, at.read_inside(at.value), least, most)


# Objects.


def _read_additional_properties(at: _Keyword) -> Formula:
    forms = at.forms
    additional_names = forms.all_of(
        forms.types(Kind.STRING),
        forms.strings(_require_table(at.schema.get("properties", {})), within=False),
        *(forms.matches(pattern, holds=False) for pattern in _require_table(at.schema.get("patternProperties", {}))),
    )
    return forms.members(additional_names, at.read_inside(at.value))


def _read_dependencies(at: _Keyword) -> Formula:
    """The formula of what members require of the object: other members, or validity under a schema."""
    forms = at.forms

    def demand(value: Json) -> Formula:
        return forms.all_of(*map(forms.has, _require_names(value))) if isinstance(value, list) else at.read(value)

    return forms.all_of(
        *(forms.any_of(forms.lacks(name), demand(dependency)) for name, dependency in _require_table(at.value).items())
    )


# Combinations.


def _read_if(at: _Keyword) -> Formula:
    forms = at.forms
    condition = at.read(at.value)
    then, otherwise = at.read(at.schema.get("then", True)), at.read(at.schema.get("else", True))
    return forms.all_of(forms.any_of(forms.negate(condition), then), forms.any_of(condition, otherwise))


_OLDEST: Final[dict[str, _Read]] = {
    "type": _read_type,
    "enum": lambda at: at.forms.enumeration(_require_list(at.value)),
    "minimum": lambda at: _limit(at, upper=False),
    "maximum": lambda at: _limit(at, upper=True),
    "multipleOf": _read_multiple_of,
    "minLength": lambda at: at.forms.size(Kind.STRING, _require_whole(at.value), None),
    "maxLength": lambda at: at.forms.size(Kind.STRING, 0, _require_whole(at.value)),
    "pattern": _read_pattern,
    "format": _format,
    "minItems": lambda at: at.forms.size(Kind.ARRAY, _require_whole(at.value), None),
    "maxItems": lambda at: at.forms.size(Kind.ARRAY, 0, _require_whole(at.value)),
    "items": _read_items,
    "additionalItems": _read_additional_items,
    "uniqueItems": lambda at: at.forms.unique() if at.value is True else at.forms.top,
    "required": lambda at: at.forms.all_of(*map(at.forms.has, _require_names(at.value))),
    "properties": lambda at: at.forms.all_of(
        *(at.forms.member(name, at.read_inside(subschema)) for name, subschema in _require_table(at.value).items())
    ),
    "patternProperties": lambda at: at.forms.all_of(
        *(
            at.forms.members(at.forms.matches(pattern), at.read_inside(subschema))
            for pattern, subschema in _require_table(at.value).items()
        )
    ),
    "additionalProperties": _read_additional_properties,
    "minProperties": lambda at: at.forms.size(Kind.OBJECT, _require_whole(at.value), None),
    "maxProperties": lambda at: at.forms.size(Kind.OBJECT, 0, _require_whole(at.value)),
    "allOf": lambda at: at.forms.all_of(*at.read_all()),
    "anyOf": lambda at: at.forms.any_of(*at.read_all()),
    "oneOf": lambda at: require_exactly_one(at.forms, tuple(at.read_all())),
    "not": lambda at: at.forms.negate(at.read(at.value)),
    "dependencies": _read_dependencies,
}
_LEGACY: Final[dict[str, _Read]] = {
    **_OLDEST,
    "const": lambda at: at.forms.constant(at.value),
    "exclusiveMinimum": lambda at: at.forms.bound(_require_number(at.value), upper=False, strict=True),
    "exclusiveMaximum": lambda at: at.forms.bound(_require_number(at.value), upper=True, strict=True),
    "contains": _contains,
    "propertyNames": lambda at: at.forms.members(at.forms.negate(at.read_inside(at.value)), at.forms.bottom),
}
_MODERN: Final[dict[str, _Read]] = {
    "$ref": _follow,
    **{keyword: read for keyword, read in _LEGACY.items() if keyword != "dependencies"},
    "if": _read_if,
    "dependentRequired": _read_dependencies,
    "dependentSchemas": _read_dependencies,
    "unevaluatedProperties": lambda at: unevaluated.read_properties(
        at.reader, at.read_inside(at.value), at.schema, at.scope
    ),
    "unevaluatedItems": lambda at: unevaluated.read_items(at.reader, at.read_inside(at.value), at.schema, at.scope),
}
_KEYWORDS: Final[dict[Dialect, dict[str, _Read]]] = {
    Dialect.DRAFT_04: _OLDEST,
    Dialect.DRAFT_06: _LEGACY,
    Dialect.DRAFT_07: {**_LEGACY, "if": _read_if},
    Dialect.DRAFT_2019_09: {**_MODERN, "$recursiveRef": lambda at: _follow(at, "$recursiveRef")},
    Dialect.DRAFT_2020_12: {
        **{keyword: read for keyword, read in _MODERN.items() if keyword != "additionalItems"},
        "$dynamicRef": lambda at: _follow(at, "$dynamicRef"),
        "prefixItems": _prefix_items,
        "x-integer": lambda at: at.reader.require_written_integer() if at.value == "draft-04" else at.forms.top,
    },
}
