"""Make `jsonschema` validators that validate the target of a reference once for each value, within a step budget.

A schema of a few lines can lead to one definition along exponentially many paths: forty levels of `allOf: [{$ref: next}, {$ref: next}]`
are 2^40. Inside `cache_references`, the result of a reference for a value is cached, and reused wherever the two occur again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any, Final, TypeAlias, TypeGuard

import jsonschema.exceptions
import jsonschema.validators

from schema_inclusion.budget import Allowance

MOST_REFERENCES: Final = 50_000
"""The maximum number of references that are followed for one value; far more than real schemas need."""

STEPS_OF_WALK: Final = 10
"""The number of steps for each schema that `unevaluatedProperties` visits."""

_Keyword: TypeAlias = "Callable[[Any, Any, Any, Any], Iterator[Any] | None]"

_NAMING: Final = frozenset(("$id", "id", "$schema"))
"""Keywords by which a schema may be read differently from the schema around it."""

_Tags: TypeAlias = "dict[str, frozenset[str]]"
"""The members of an object that are restricted to certain texts, with these texts."""

_Branches: TypeAlias = "dict[str, tuple[set[int], dict[str, set[int]]]]"
"""For each tag of a union: the branches that do not restrict it, and the possible branches for each text that some allow."""

FEW_BRANCHES: Final = 8
"""The maximum number of branches of a union that are validated without a selection by tags."""
_DEEPEST_TAG: Final = 5

_IN_PLACE_LISTS: Final = ("allOf", "anyOf", "oneOf")
_IN_PLACE: Final = ("if", "then", "else")


class TooManySteps(Exception):
    """The validation of a value was aborted: it would exceed the step budget."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """The validators of the schemas of one document, and the targets of its references, cached for all values.

    The document must not change.
    """

    _validators: dict[tuple[int, str], Any] = field(default_factory=dict[tuple[int, str], Any])
    _targets: dict[tuple[str, str], Any] = field(default_factory=dict[tuple[str, str], Any])
    _tags: dict[tuple[int, str], _Branches] = field(default_factory=dict[tuple[int, str], "_Branches"])

    def get_validator(self, around: Any, schema: Any, resolver: Any, evolve: Callable[..., Any]) -> Any:
        """The validator of a schema, cached with the schema: as long as it is, no other schema can have that identity."""
        key = (id(schema), resolver._base_uri)
        result = self._validators.get(key)
        if result is None:
            result = self._validators[key] = evolve(around, schema=schema, _resolver=resolver)
        return result

    def find_target(self, resolver: Any, reference: str) -> Any:
        """The target of a reference, cached."""
        key = (resolver._base_uri, reference)
        result = self._targets.get(key)
        if result is None:
            result = self._targets[key] = resolver.lookup(reference)
        return result

    def select_branches(self, around: Any, branches: list[Any], instance: dict[str, Any]) -> list[Any]:
        """The branches of a union that are possible for the texts of the members of an instance."""
        key = (id(branches), around._resolver._base_uri)
        if key not in self._tags:
            self._tags[key] = _index_tags([self._find_tags(around, branch) for branch in branches])
        remaining = set(range(len(branches)))
        for name, (untagged, by_text) in self._tags[key].items():
            text = instance.get(name)
            if isinstance(text, str):
                remaining &= by_text.get(text, untagged)
        return [branches[index] for index in sorted(remaining)]

    def _find_tags(self, around: Any, schema: Any, depth: int = 0) -> _Tags:
        """The members that a schema and the targets of its references restrict to certain texts."""
        tags: _Tags = {}
        if not _is_schema(schema) or not _NAMING.isdisjoint(schema) or depth > _DEEPEST_TAG:
            return tags
        for _, keyword, value in around.evolve(schema=schema)._validators:
            if keyword == "$ref":
                target = self.find_target(around._resolver, value)
                tags |= self._find_tags(around.evolve(schema={}, _resolver=target.resolver), target.contents, depth + 1)
            elif keyword == "properties":
                tags |= {
                    name: tag for name, subschema in value.items() if (tag := _find_texts(subschema, around.VALIDATORS))
                }
        return tags


def _index_tags(tags_by_branch: list[_Tags]) -> _Branches:
    branches: _Branches = {}
    for name in {name for tags in tags_by_branch for name in tags}:
        untagged = {index for index, tags in enumerate(tags_by_branch) if name not in tags}
        by_text: dict[str, set[int]] = {}
        for index, tags in enumerate(tags_by_branch):
            for text in tags.get(name, ()):
                by_text.setdefault(text, set(untagged)).add(index)
        branches[name] = untagged, by_text
    return branches


def _find_texts(schema: Any, keywords: Any) -> frozenset[str]:
    """The texts that a schema with `enum` or `const` as its only keyword allows; empty for any other schema."""
    if not _is_schema(schema) or len(schema) != 1:
        return frozenset()
    ((keyword, value),) = schema.items()
    texts: list[Any] = value if keyword == "enum" else [value] if keyword == "const" and keyword in keywords else []
    return frozenset(texts) if all(isinstance(text, str) for text in texts) else frozenset()


@dataclass(slots=True)
class _Run:
    """The validation of one value. `errors` are by the identities of a schema and a part of the value; `open`: the pairs in progress."""

    most_errors: int
    is_dynamic: bool
    compiled: Compiled | None
    steps_left: int = MOST_REFERENCES
    errors: dict[tuple[int, int], list[Any]] = field(default_factory=dict[tuple[int, int], list[Any]])
    open: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])

    def spend(self, steps: int = 1) -> None:
        self.steps_left -= steps
        if self.steps_left < 0:
            raise TooManySteps


_RUN: Final[ContextVar[_Run | None]] = ContextVar("_RUN", default=None)


def spend(steps: int = 1) -> None:
    """Spend steps of the validation in progress, if there is one. Raises `TooManySteps`."""
    run = _RUN.get()
    if run is not None:
        run.spend(steps)


@contextmanager
def cache_references(
    *, most_errors: int, is_dynamic: bool, allowance: Allowance | None = None, compiled: Compiled | None = None
) -> Generator[None]:
    """Cache the results of references while a value is validated.

    `most_errors` is the maximum number of errors per reference; if it is one, `compiled` is the cache of earlier values. `is_dynamic`:
    the schema has dynamic references, whose meaning depends on the path to them, so nothing is cached.

    The references that are followed, and one step for the value itself, are charged to the allowance, which must not be spent at the
    start. Raises `TooManySteps`, as the block does.
    """
    if allowance is not None and allowance.is_spent:
        raise TooManySteps
    run = _Run(most_errors, is_dynamic, None if is_dynamic or most_errors > 1 else compiled or Compiled())
    token = _RUN.set(run)
    try:
        yield
    finally:
        _RUN.reset(token)
        if allowance is not None:
            allowance.spend(1 + MOST_REFERENCES - max(run.steps_left, 0))


@cache
def make_caching_validators(plain: Any) -> Any:
    """The class of validators that cache the results of references. Outside `cache_references`, they work as before."""
    extend: Any = getattr(jsonschema.validators, "extend")  # noqa: B009 - it has no types
    implementations = plain.VALIDATORS
    keywords: dict[str, _Keyword] = {"$ref": _follow}
    keywords |= {
        name: _count(implementations[name]) for name in ("$dynamicRef", "$recursiveRef") if name in implementations
    }
    keywords |= {
        name: _measure(implementations[name])
        for name in ("unevaluatedItems", "unevaluatedProperties")
        if name in implementations
    }
    keywords |= {name: _select_by_tags(implementations[name]) for name in ("anyOf", "oneOf")}
    validator_class = extend(plain, keywords)
    validator_class.descend, validator_class.evolve = _make_descend(validator_class), _make_evolve(validator_class)
    return validator_class


def _make_descend(validator_class: Any) -> Callable[..., Iterator[Any]]:
    """Make the method `descend`. Where one error is enough, it yields only the first, without its path."""
    plain, evolve = validator_class.descend, validator_class.evolve

    def descend(
        self: Any, instance: Any, schema: Any, path: Any = None, schema_path: Any = None, resolver: Any = None
    ) -> Iterator[Any]:
        run = _RUN.get()
        if run is None or run.compiled is None or not _is_schema(schema) or not _NAMING.isdisjoint(schema):
            yield from plain(self, instance, schema, path, schema_path, resolver)
            return
        inner = run.compiled.get_validator(self, schema, resolver or self._resolver, evolve)
        for keyword, _, value in inner._validators:
            for error in keyword(inner, value, instance, schema) or ():
                yield error
                return

    return descend


def _make_evolve(validator_class: Any) -> Callable[..., Any]:
    """Make the method `evolve`, which returns the cached validator if only the schema changes."""
    plain = validator_class.evolve

    def evolve(self: Any, **changes: Any) -> Any:
        run = _RUN.get()
        schema = changes.get("schema")
        if run is None or run.compiled is None or changes.keys() != {"schema"} or not _is_schema(schema):
            return plain(self, **changes)
        return run.compiled.get_validator(self, schema, self._resolver, plain)

    return evolve


def _follow(validator: Any, ref: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    run = _RUN.get()
    if run is None or run.is_dynamic:
        spend()
        yield from validator._validate_reference(ref=ref, instance=instance)
        return
    target = (
        validator._resolver.lookup(ref) if run.compiled is None else run.compiled.find_target(validator._resolver, ref)
    )
    key = (id(target.contents), id(instance))
    cached_errors = run.errors.get(key)
    if cached_errors is None:
        run.spend()
        if key in run.open:
            raise RecursionError  # at once: what is written in Rust does not survive the end of the stack
        run.open.add(key)
        errors = validator.descend(instance, target.contents, resolver=target.resolver)
        cached_errors = run.errors[key] = list[Any](islice(errors, run.most_errors))
    yield from cached_errors if run.compiled is not None else map(_copy, cached_errors)


def _copy(error: Any) -> Any:
    """Copy an error to report it in another place: whoever passes an error on writes its own path into it.

    The context is shared, so only relative paths are correct there.
    """
    details = {name: getattr(error, name) for name in ("validator", "validator_value", "instance", "schema")}
    return jsonschema.exceptions.ValidationError(
        error.message, path=tuple(error.relative_path), context=error.context or (), **details
    )


def _count(plain: _Keyword) -> _Keyword:
    """The keyword, with one step charged for each use."""

    def keyword(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        spend()
        yield from plain(validator, value, instance, schema) or ()

    return keyword


def _select_by_tags(plain: _Keyword) -> _Keyword:
    """The keyword, which validates only those of many branches that the tags of an object allow."""

    def keyword(validator: Any, branches: Any, instance: Any, schema: Any) -> Iterator[Any]:
        run = _RUN.get()
        if run is not None and run.compiled is not None and len(branches) > FEW_BRANCHES and _is_schema(instance):
            branches = run.compiled.select_branches(validator, branches, instance)
        yield from plain(validator, branches, instance, schema) or ()

    return keyword


def _measure(plain: _Keyword) -> _Keyword:
    """The keyword, which visits all schemas that apply in place without a cache: some steps are charged for each."""

    def keyword(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if _RUN.get() is not None:
            spend(STEPS_OF_WALK * _count_applied(schema, validator._resolver, {}))
        yield from plain(validator, value, instance, schema) or ()

    return keyword


def _is_schema(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _count_applied(schema: Any, resolver: Any, counts_by_id: dict[int, int]) -> int:
    """The number of schemas that apply in place, each counted once for every path to it."""
    if not _is_schema(schema):
        return 0
    if id(schema) not in counts_by_id:
        counts_by_id[id(schema)] = MOST_REFERENCES  # a schema that leads back to itself has no end
        inner: list[Any] = [branch for name in _IN_PLACE_LISTS for branch in schema.get(name, ())]
        inner += [schema[name] for name in _IN_PLACE if name in schema]
        dependent = schema.get("dependentSchemas")
        inner += dependent.values() if _is_schema(dependent) else ()
        targets = [resolver.lookup(schema[name]) for name in ("$ref", "$dynamicRef") if name in schema]
        counts = [_count_applied(subschema, resolver, counts_by_id) for subschema in inner]
        counts += [_count_applied(target.contents, target.resolver, counts_by_id) for target in targets]
        counts_by_id[id(schema)] = 1 + sum(counts)
    return counts_by_id[id(schema)]
