"""Validators of `jsonschema` that judge what a reference leads to once for each value, within a number of steps.

A schema of a few lines leads to one definition along more ways than anybody can walk: forty levels of
`allOf: [{$ref: next}, {$ref: next}]` are 2^40. Inside `remembering`, what a reference said of a value is remembered, and
said again wherever the two meet again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, TypeAlias, TypeGuard

import jsonschema.exceptions
import jsonschema.validators

from schema_inclusion.budget import Allowance

MOST_REFERENCES: Final = 50_000
"""References that are followed for one value; far more than real schemas need."""

STEPS_OF_WALK: Final = 10
"""Of each schema that `unevaluatedProperties` walks."""

_Keyword: TypeAlias = "Callable[[Any, Any, Any, Any], Iterator[Any] | None]"

_IN_PLACE_LISTS: Final = ("allOf", "anyOf", "oneOf")
_IN_PLACE: Final = ("if", "then", "else")


class TooManySteps(Exception):
    """A value was not judged: it would take more steps than are allowed."""


@dataclass(slots=True)
class _Run:
    """The judgement of one value. `errors` are those of a schema and a part of the value, by their identities."""

    most_errors: int
    is_dynamic: bool
    left: int = MOST_REFERENCES
    errors: dict[tuple[int, int], list[Any]] = field(default_factory=dict[tuple[int, int], list[Any]])

    def spend(self, steps: int = 1) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooManySteps


_RUN: Final[ContextVar[_Run | None]] = ContextVar("_RUN", default=None)


@contextmanager
def remembering(*, most_errors: int, is_dynamic: bool, allowance: Allowance | None = None) -> Generator[None]:
    """While a value is judged. `most_errors` are told of each reference.

    `is_dynamic` says that the schema has dynamic references: what one says depends on the way to it, so nothing is remembered.
    References that are followed, and one step for the value itself, are taken from the allowance, with which it begins if it has any.
    Raises `TooManySteps`, as the block does.
    """
    if allowance is not None and allowance.is_spent:
        raise TooManySteps
    run = _Run(most_errors, is_dynamic)
    token = _RUN.set(run)
    try:
        yield
    finally:
        _RUN.reset(token)
        if allowance is not None:
            allowance.spend(1 + MOST_REFERENCES - max(run.left, 0))


def following_once(plain: Any) -> Any:
    """The class of validators that remember. Outside of `remembering` they are as they were."""
    extend: Any = getattr(jsonschema.validators, "extend")  # noqa: B009 - it has no types
    known = plain.VALIDATORS
    keywords: dict[str, _Keyword] = {"$ref": _reference}
    keywords |= {name: _counted(known[name]) for name in ("$dynamicRef", "$recursiveRef") if name in known}
    keywords |= {
        name: _measured(known[name]) for name in ("unevaluatedItems", "unevaluatedProperties") if name in known
    }
    return extend(plain, keywords)


def _reference(validator: Any, ref: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    run = _RUN.get()
    if run is None or run.is_dynamic:
        if run is not None:
            run.spend()
        yield from validator._validate_reference(ref=ref, instance=instance)
        return
    resolved = validator._resolver.lookup(ref)
    key = (id(resolved.contents), id(instance))
    known = run.errors.get(key)
    if known is not None:
        yield from map(_copied, known)
        return
    run.spend()
    errors = validator.descend(instance, resolved.contents, resolver=resolved.resolver)
    found: list[Any] = list(islice(errors, run.most_errors))
    run.errors[key] = [_copied(error) for error in found]
    yield from found


def _copied(error: Any) -> Any:
    """The same error, to be told at another place: who passes an error on writes its own place into it.

    What is in its context is shared, so only relative paths are right there.
    """
    return jsonschema.exceptions.ValidationError(
        error.message, path=tuple(error.relative_path), context=error.context or ()
    )


def _counted(plain: _Keyword) -> _Keyword:
    """The keyword, which takes a step."""

    def keyword(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        run = _RUN.get()
        if run is not None:
            run.spend()
        yield from plain(validator, value, instance, schema) or ()

    return keyword


def _measured(plain: _Keyword) -> _Keyword:
    """The keyword, which walks all schemas that apply in place and remembers none: it takes some steps for each."""

    def keyword(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        run = _RUN.get()
        if run is not None:
            run.spend(STEPS_OF_WALK * _applying(schema, validator._resolver, {}))
        yield from plain(validator, value, instance, schema) or ()

    return keyword


def _is_schema(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _applying(schema: Any, resolver: Any, known: dict[int, int]) -> int:
    """How many schemas apply in place, each as often as the ways to it."""
    if not _is_schema(schema):
        return 0
    if id(schema) not in known:
        known[id(schema)] = MOST_REFERENCES  # a schema that leads back to itself has no end
        inner: list[Any] = [each for name in _IN_PLACE_LISTS for each in schema.get(name, ())]
        inner += [schema[name] for name in _IN_PLACE if name in schema]
        dependent = schema.get("dependentSchemas")
        inner += dependent.values() if _is_schema(dependent) else ()
        found = [resolver.lookup(schema[name]) for name in ("$ref", "$dynamicRef") if name in schema]
        counts = [_applying(each, resolver, known) for each in inner]
        counts += [_applying(each.contents, each.resolver, known) for each in found]
        known[id(schema)] = 1 + sum(counts)
    return known[id(schema)]
