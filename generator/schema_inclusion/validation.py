"""Validate values by `jsonschema`, which confirms every witness, without network access.

Patterns are read as in ECMA-262. A witness that is not confirmed is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import takewhile
from typing import Any, Final, TypeAlias, TypeVar

import jsonschema.exceptions
import jsonschema.validators
import jsonschema_rs
import referencing.exceptions

from schema_inclusion.budget import Allowance
from schema_inclusion.document import Dialect, SchemaDocument, open_document
from schema_inclusion.ecma import make_ecma_validators
from schema_inclusion.once import Compiled, TooManySteps, cache_references, make_caching_validators
from schema_inclusion.values import Json, with_decimals

_Result = TypeVar("_Result")

Path: TypeAlias = tuple[str | int, ...]
"""The names and indices that lead to a part of a value."""

MOST_ERRORS: Final = 1_000
"""The maximum number of errors that one reference leads to; further ones are not listed."""


def _find_class(dialect: Dialect) -> Any:
    """The validator class of `jsonschema` for a dialect."""
    return jsonschema.validators.validator_for({"$schema": dialect.value})


@dataclass(frozen=True, eq=False)
class DocumentValidator:
    """Makes validators of schemas whose references are resolved in one document. Their steps are charged to the allowance."""

    document: SchemaDocument
    allowance: Allowance | None = None
    formats: frozenset[str] = frozenset()
    compiled: Compiled = field(default_factory=Compiled)

    def of(self, schema: Json) -> ReferenceValidator:
        """The validator of a schema."""
        whole = self._whole
        return ReferenceValidator(self, whole if schema is self.document.root else whole.evolve(schema=schema))

    @cached_property
    def _whole(self) -> Any:
        """The validator of the document without `$schema`, with which `jsonschema` would replace the validator by its own."""
        root = self.document.root
        if isinstance(root, dict):
            root = {keyword: value for keyword, value in root.items() if keyword != "$schema"}
        validator = make_caching_validators(make_ecma_validators(_find_class(self.document.dialect), self.formats))
        return validator(root, registry=self.document.registry)


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceValidator:
    """Validates values by one schema. Once a value has exceeded the step budget, no other is validated."""

    around: DocumentValidator
    validator: Any
    given_up: list[Json] = field(default_factory=list[Json])
    """The value that exceeded the step budget."""

    def accepts(self, value: Json) -> bool | None:
        """Whether the schema accepts the value; `None` if `jsonschema` cannot decide."""
        return self._run(value, self.validator.is_valid, most_errors=1)

    def list_errors(self, value: Json) -> list[Any]:
        """The errors of the value as `jsonschema` reports them; empty if it cannot decide."""
        return self._run(value, lambda instance: [*self.validator.iter_errors(instance)], most_errors=MOST_ERRORS) or []

    def locate_refusal(self, value: Json) -> Path:
        """The path to the innermost part of a value that contains everything that is wrong with it; one missing or unknown member counts
        as a part.
        """
        errors = walk_errors(self.list_errors(value))
        paths = [(*path, *_find_member(error)) for path, error in errors if not error.context]
        return tuple(keys[0] for keys in takewhile(lambda keys: len({*keys}) == 1, zip(*paths, strict=False)))

    def _run(self, value: Json, validate: Callable[[Json], _Result], *, most_errors: int) -> _Result | None:
        around = self.around
        if self.given_up or (around.allowance is not None and around.allowance.is_spent):
            return None
        try:
            with cache_references(
                most_errors=most_errors,
                is_dynamic=around.document.is_dynamic,
                allowance=around.allowance,
                compiled=around.compiled,
            ):
                return validate(value)
        except TooManySteps:
            self.given_up.append(value)
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
            pass
        return None


def walk_errors(errors: Iterable[Any]) -> Iterator[tuple[Path, Any]]:
    """Yield the errors of a value, and those of the branches of unions, with their paths."""
    visited: set[tuple[int, Path]] = set()
    pending: list[tuple[Path, Any]] = [((), error) for error in errors]
    while pending:
        around, error = pending.pop()
        path = (*around, *error.relative_path)
        yield path, error
        if (id(error), around) not in visited:
            visited.add((id(error), around))
            pending.extend((path, branch_error) for branch_error in error.context or ())


def _find_member(error: Any) -> list[str]:
    """The name that is missing from an object, or that it must not have; empty unless there is exactly one."""
    names: list[str] = []
    if error.validator == "required":
        names = [name for name in error.validator_value if name not in error.instance]
    elif error.validator == "additionalProperties" and "patternProperties" not in error.schema:
        names = [name for name in error.instance if name not in error.schema.get("properties", {})]
    return names if len(names) == 1 else []


def open_validator(
    root: Json, *, allowance: Allowance | None = None, formats: frozenset[str] = frozenset()
) -> DocumentValidator:
    """Makes validators of schemas whose references are resolved in `root`. The formats are asserted; all others are annotations."""
    return DocumentValidator(open_document(root), allowance, formats)


def is_schema(dialect: Dialect, schema: Json) -> bool:
    """Whether the schema is valid under the meta-schema of its dialect."""
    try:
        return _make_meta_validator(dialect).is_valid(with_decimals(schema))
    except ValueError:
        return False


def locate_fault(dialect: Dialect, schema: Json) -> str:
    """The position of the first error of a schema under the meta-schema of its dialect, as the end of a sentence; may be empty."""
    try:
        error = next(_make_meta_validator(dialect).iter_errors(with_decimals(schema)), None)
    except ValueError:
        return ""
    steps = [] if error is None else [str(step).replace("~", "~0").replace("/", "~1") for step in error.instance_path]
    return f", at {'/' + '/'.join(steps)!r}" if steps else ""


@cache
def _make_meta_validator(dialect: Dialect) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(_find_class(dialect).META_SCHEMA, validate_formats=False)
