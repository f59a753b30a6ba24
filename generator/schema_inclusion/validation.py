"""The reference validator: `jsonschema` says whether a schema accepts a value. It never fetches anything.

It is given patterns as ECMA-262 reads them. What it does not confirm is not shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Final, Protocol, cast

import jsonschema
import jsonschema.exceptions
import jsonschema_rs
import referencing.exceptions

from schema_inclusion.apart import OutOfTime, asked
from schema_inclusion.budget import Allowance
from schema_inclusion.document import (
    Dialect,
    Registry,
    SchemaDocument,
    every_schema,
    is_dynamic_schema,
    patterns_of,
    registry_of,
)
from schema_inclusion.ecma import LONGEST_AT_ONCE, needs_time, reading_as_ecma
from schema_inclusion.once import Compiled, TooManySteps, following_once, remembering
from schema_inclusion.values import Json, with_decimals


class _Validator(Protocol):
    def is_valid(self, instance: Any) -> bool: ...


_PUBLISHED: Final[dict[Dialect, Any]] = {
    Dialect.DRAFT_04: jsonschema.Draft4Validator,
    Dialect.DRAFT_06: jsonschema.Draft6Validator,
    Dialect.DRAFT_07: jsonschema.Draft7Validator,
    Dialect.DRAFT_2019_09: jsonschema.Draft201909Validator,
    Dialect.DRAFT_2020_12: jsonschema.Draft202012Validator,
}
_META_VALIDATORS: Final[dict[Dialect, type[jsonschema_rs.Validator]]] = {
    Dialect.DRAFT_04: jsonschema_rs.Draft4Validator,
    Dialect.DRAFT_06: jsonschema_rs.Draft6Validator,
    Dialect.DRAFT_07: jsonschema_rs.Draft7Validator,
    Dialect.DRAFT_2019_09: jsonschema_rs.Draft201909Validator,
    Dialect.DRAFT_2020_12: jsonschema_rs.Draft202012Validator,
}


STEPS_APART: Final = 5_000
"""What asking a subprocess is counted for."""


@dataclass(frozen=True, eq=False)
class DocumentValidator:
    """Makes the validators of schemas whose references are those of one document. What these do is taken from the allowance."""

    document: SchemaDocument
    allowance: Allowance | None = None
    formats: frozenset[str] = frozenset()
    compiled: Compiled = field(default_factory=Compiled)

    def of(self, schema: Json) -> ReferenceValidator:
        """The validator of a schema."""
        whole = self._whole
        chosen = whole if schema is self.document.root else whole.evolve(schema=cast("Any", schema))
        return ReferenceValidator(self, schema, cast("_Validator", chosen))

    @cached_property
    def _whole(self) -> Any:
        return _of_root(self.document.dialect, self.document.root, self.document.registry, self.formats)


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceValidator:
    """Validates values by one schema.

    Long strings are validated in a subprocess where a pattern may need time without bound. A schema that took more steps than are
    allowed once is not asked again.
    """

    around: DocumentValidator
    schema: Json
    validator: _Validator
    given_up: list[Json] = field(default_factory=list[Json])
    """The value that took too many steps."""

    def accepts(self, value: Json) -> bool | None:
        """Whether the schema accepts the value; `None` if `jsonschema` cannot say."""
        document, allowance = self.around.document, self.around.allowance
        if allowance is not None and allowance.is_spent:
            return None
        if longest_text(value) > LONGEST_AT_ONCE and _needs_time(document, self.schema):
            return self._accepts_apart(value)
        if self.given_up:
            return None
        try:
            return _accepted(self.validator, value, document.is_dynamic, allowance, self.around.compiled)
        except TooManySteps:
            self.given_up.append(value)
            return None

    def _accepts_apart(self, value: Json) -> bool | None:
        document, allowance = self.around.document, self.around.allowance
        if allowance is not None:
            allowance.spend(STEPS_APART)
        try:
            given: list[Json] = [document.dialect.value, document.root, self.schema, value]
            answer = asked(__name__, [*given, [*sorted(self.around.formats)]])
        except OutOfTime:
            return None
        return answer if isinstance(answer, bool) else None


def _accepted(
    validator: _Validator,
    value: Json,
    is_dynamic: bool,
    allowance: Allowance | None = None,
    compiled: Compiled | None = None,
) -> bool | None:
    """Whether the validator accepts a value; `None` if it cannot say. Raises `TooManySteps`."""
    try:
        with remembering(most_errors=1, is_dynamic=is_dynamic, allowance=allowance, compiled=compiled):
            return validator.is_valid(value)
    except (
        RecursionError,
        re.error,
        ArithmeticError,
        TypeError,
        AttributeError,
        KeyError,
        ValueError,
        referencing.exceptions.Unresolvable,
        jsonschema.exceptions.UnknownType,
    ):
        # A schema that its meta-schema allows can still trip the validator: a reference into something that is no
        # schema, a pattern that Python cannot read, numbers beyond a float.
        return None


def serve(order: Any) -> bool | None:
    """In the subprocess: the verdict on a value."""
    dialect, root, schema, value, formats = order
    schemas = tuple(every_schema(root))
    whole = _of_root(Dialect(dialect), root, registry_of(root, Dialect(dialect), schemas), frozenset(formats))
    is_dynamic = any(map(is_dynamic_schema, schemas))
    try:
        return _accepted(whole if schema == root else whole.evolve(schema=schema), value, is_dynamic)
    except TooManySteps:
        return None


@cache
def _class_of(dialect: Dialect, formats: frozenset[str]) -> Any:
    return following_once(reading_as_ecma(_PUBLISHED[dialect], formats))


def _of_root(dialect: Dialect, root: Any, registry: Registry, formats: frozenset[str]) -> Any:
    """The validator of a document, which does not name its dialect again: `jsonschema` would exchange the validator for its own."""
    if isinstance(root, dict):
        root = {keyword: value for keyword, value in cast("dict[str, Json]", root).items() if keyword != "$schema"}
    return _class_of(dialect, formats)(root, registry=registry)


def longest_text(value: Json) -> int:
    """The length of the longest string in the value, names of members included."""
    longest = 0
    pending = [value]
    while pending:
        match pending.pop():
            case str() as text:
                longest = max(longest, len(text))
            case list() as items:
                pending.extend(items)
            case dict() as members:
                pending.extend((*members, *members.values()))
            case _:
                pass
    return longest


def _needs_time(document: SchemaDocument, schema: Json) -> bool:
    inner = () if schema is document.root else every_schema(schema)
    patterns = document.patterns.union(pattern for each in inner for pattern in patterns_of(each))
    return any(map(needs_time, patterns))


def is_schema(dialect: Dialect, schema: Json) -> bool:
    """Whether the schema is what the meta-schema of its dialect allows."""
    try:
        return _meta_validator(dialect).is_valid(with_decimals(schema))
    except ValueError:
        return False


def place_of_fault(dialect: Dialect, schema: Json) -> str:
    """Where a schema is first other than what the meta-schema of its dialect allows, as the end of a sentence."""
    try:
        error = next(_meta_validator(dialect).iter_errors(with_decimals(schema)), None)
    except ValueError:
        return ""
    steps = [] if error is None else [str(step).replace("~", "~0").replace("/", "~1") for step in error.instance_path]
    return f", at {'/' + '/'.join(steps)!r}" if steps else ""


@cache
def _meta_validator(dialect: Dialect) -> jsonschema_rs.Validator:
    return _META_VALIDATORS[dialect](_PUBLISHED[dialect].META_SCHEMA, validate_formats=False)
