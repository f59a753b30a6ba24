"""Validate values by `jsonschema`, which confirms every witness and never fetches anything.

It is given patterns as ECMA-262 reads them. What it does not confirm is not shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import jsonschema.exceptions
import jsonschema.validators
import jsonschema_rs
import referencing.exceptions

from schema_inclusion.budget import Allowance
from schema_inclusion.document import Dialect, SchemaDocument
from schema_inclusion.ecma import reading_as_ecma
from schema_inclusion.once import Compiled, TooManySteps, following_once, remembering
from schema_inclusion.values import Json, with_decimals


def _find_class(dialect: Dialect) -> Any:
    """The class of `jsonschema` for a dialect."""
    return jsonschema.validators.validator_for({"$schema": dialect.value})


@dataclass(frozen=True, eq=False)
class DocumentValidator:
    """Makes the validators of schemas whose references are those of one document. Their steps are taken from the allowance."""

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
        """The validator of the document, which does not name its dialect: `jsonschema` would exchange the validator for its own."""
        root = self.document.root
        if isinstance(root, dict):
            root = {keyword: value for keyword, value in root.items() if keyword != "$schema"}
        validator = following_once(reading_as_ecma(_find_class(self.document.dialect), self.formats))
        return validator(root, registry=self.document.registry)


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceValidator:
    """Validates values by one schema. A schema that took more steps than are allowed once is not asked again."""

    around: DocumentValidator
    validator: Any
    given_up: list[Json] = field(default_factory=list[Json])
    """The value that took too many steps."""

    def accepts(self, value: Json) -> bool | None:
        """Whether the schema accepts the value; `None` if `jsonschema` cannot say."""
        around = self.around
        if self.given_up or (around.allowance is not None and around.allowance.is_spent):
            return None
        try:
            with remembering(
                most_errors=1,
                is_dynamic=around.document.is_dynamic,
                allowance=around.allowance,
                compiled=around.compiled,
            ):
                return bool(self.validator.is_valid(value))
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


def is_schema(dialect: Dialect, schema: Json) -> bool:
    """Whether the schema is what the meta-schema of its dialect allows."""
    try:
        return _make_meta_validator(dialect).is_valid(with_decimals(schema))
    except ValueError:
        return False


def locate_fault(dialect: Dialect, schema: Json) -> str:
    """Where a schema is first other than what the meta-schema of its dialect allows, as the end of a sentence."""
    try:
        error = next(_make_meta_validator(dialect).iter_errors(with_decimals(schema)), None)
    except ValueError:
        return ""
    steps = [] if error is None else [str(step).replace("~", "~0").replace("/", "~1") for step in error.instance_path]
    return f", at {'/' + '/'.join(steps)!r}" if steps else ""


@cache
def _make_meta_validator(dialect: Dialect) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(_find_class(dialect).META_SCHEMA, validate_formats=False)
