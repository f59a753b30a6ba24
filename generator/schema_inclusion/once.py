"""Make validators of `jsonschema` that judge the target of a reference once for each value, within a step budget.

A schema of a few lines leads to one definition along more ways than anybody can walk: forty levels of
`allOf: [{$ref: next}, {$ref: next}]` are 2^40. Inside `remembering`, what a reference said of a value is remembered, and
said again wherever the two meet again.
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
"""References that are followed for one value; far more than real schemas need."""

STEPS_OF_WALK: Final = 10
"""Of each schema that `unevaluatedProperties` walks."""

_Keyword: TypeAlias = "Callable[[Any, Any, Any, Any], Iterator[Any] | None]"

_NAMING: Final = frozenset(("$id", "id", "$schema"))
"""Keywords by which a schema may be read otherwise than what stands around it."""

_Tags: TypeAlias = "dict[str, frozenset[str]]"
"""Members of an object, and the texts that they may be."""

_Branches: TypeAlias = "dict[str, tuple[set[int], dict[str, set[int]]]]"
"""For each tag of a union the branches that do not hold it to a text, and the branches that are left by each text that some do."""

FEW_BRANCHES: Final = 8
"""Branches of a union up to which each is asked."""
_DEEPEST_TAG: Final = 5

_IN_PLACE_LISTS: Final = ("allOf", "anyOf", "oneOf")
_IN_PLACE: Final = ("if", "then", "else")


class TooManySteps(Exception):
    """A value was not judged: it would take more steps than are allowed."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """The validators of the schemas of one document, and what its references lead to: read once for all values.

    The document must not change.
    """

    _validators: dict[tuple[int, str], Any] = field(default_factory=dict[tuple[int, str], Any])
    _targets: dict[tuple[str, str], Any] = field(default_factory=dict[tuple[str, str], Any])
    _tags: dict[tuple[int, str], _Branches] = field(default_factory=dict[tuple[int, str], "_Branches"])

    def validator(self, around: Any, schema: Any, resolver: Any, evolve: Callable[..., Any]) -> Any:
        """The validator of a schema, which it keeps: as long as it is here, no other schema has that identity."""
        key = (id(schema), resolver._base_uri)
        found = self._validators.get(key)
        if found is None:
            found = self._validators[key] = evolve(around, schema=schema, _resolver=resolver)
        return found

    def target(self, resolver: Any, reference: str) -> Any:
        """What a reference leads to."""
        key = (resolver._base_uri, reference)
        found = self._targets.get(key)
        if found is None:
            found = self._targets[key] = resolver.lookup(reference)
        return found

    def branches(self, around: Any, branches: list[Any], instance: dict[str, Any]) -> list[Any]:
        """Those branches of a union in which no member of an object must be another text than it is."""
        key = (id(branches), around._resolver._base_uri)
        if key not in self._tags:
            self._tags[key] = _index_tags([self._find_tags(around, each) for each in branches])
        left = set(range(len(branches)))
        for name, (others, by_text) in self._tags[key].items():
            text = instance.get(name)
            if isinstance(text, str):
                left &= by_text.get(text, others)
        return [branches[index] for index in sorted(left)]

    def _find_tags(self, around: Any, schema: Any, depth: int = 0) -> _Tags:
        """The members that a schema and what it refers to hold to some texts."""
        found: _Tags = {}
        if not _is_schema(schema) or not _NAMING.isdisjoint(schema) or depth > _DEEPEST_TAG:
            return found
        for _, keyword, value in around.evolve(schema=schema)._validators:
            if keyword == "$ref":
                target = self.target(around._resolver, value)
                found |= self._find_tags(
                    around.evolve(schema={}, _resolver=target.resolver), target.contents, depth + 1
                )
            elif keyword == "properties":
                found |= {name: tag for name, each in value.items() if (tag := _find_texts(each, around.VALIDATORS))}
        return found


def _index_tags(tags: list[_Tags]) -> _Branches:
    found: _Branches = {}
    for name in {name for each in tags for name in each}:
        others = {index for index, each in enumerate(tags) if name not in each}
        by_text: dict[str, set[int]] = {}
        for index, each in enumerate(tags):
            for text in each.get(name, ()):
                by_text.setdefault(text, set(others)).add(index)
        found[name] = others, by_text
    return found


def _find_texts(schema: Any, known: Any) -> frozenset[str]:
    """The texts that a schema of nothing else holds a text to; none where that is not plain."""
    if not _is_schema(schema) or len(schema) != 1:
        return frozenset()
    ((keyword, value),) = schema.items()
    listed: list[Any] = value if keyword == "enum" else [value] if keyword == "const" and keyword in known else []
    return frozenset(listed) if all(isinstance(each, str) for each in listed) else frozenset()


@dataclass(slots=True)
class _Run:
    """The judgement of one value. `errors` are those of a schema and a part of the value, by identity; `open` are not judged yet."""

    most_errors: int
    is_dynamic: bool
    compiled: Compiled | None
    left: int = MOST_REFERENCES
    errors: dict[tuple[int, int], list[Any]] = field(default_factory=dict[tuple[int, int], list[Any]])
    open: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])

    def spend(self, steps: int = 1) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooManySteps


_RUN: Final[ContextVar[_Run | None]] = ContextVar("_RUN", default=None)


def spend(steps: int = 1) -> None:
    """Takes steps from the judgement that is under way, if there is one. Raises `TooManySteps`."""
    run = _RUN.get()
    if run is not None:
        run.spend(steps)


@contextmanager
def remembering(
    *, most_errors: int, is_dynamic: bool, allowance: Allowance | None = None, compiled: Compiled | None = None
) -> Generator[None]:
    """While a value is judged. `most_errors` are told of each reference; where one is enough, `compiled` is what earlier values have left.

    `is_dynamic` says that the schema has dynamic references: what one says depends on the way to it, so nothing is remembered.
    References that are followed, and one step for the value itself, are taken from the allowance, with which it begins if it has any.
    Raises `TooManySteps`, as the block does.
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
            allowance.spend(1 + MOST_REFERENCES - max(run.left, 0))


@cache
def following_once(plain: Any) -> Any:
    """The class of validators that remember. Outside of `remembering` they are as they were."""
    extend: Any = getattr(jsonschema.validators, "extend")  # noqa: B009 - it has no types
    known = plain.VALIDATORS
    keywords: dict[str, _Keyword] = {"$ref": _follow}
    keywords |= {name: _count(known[name]) for name in ("$dynamicRef", "$recursiveRef") if name in known}
    keywords |= {name: _measure(known[name]) for name in ("unevaluatedItems", "unevaluatedProperties") if name in known}
    keywords |= {name: _select_by_tags(known[name]) for name in ("anyOf", "oneOf")}
    made = extend(plain, keywords)
    made.descend, made.evolve = _make_descend(made), _make_evolve(made)
    return made


def _make_descend(made: Any) -> Callable[..., Iterator[Any]]:
    """The method `descend`. Where one error is enough, it tells the first, without its place."""
    plain, evolve = made.descend, made.evolve

    def descend(
        self: Any, instance: Any, schema: Any, path: Any = None, schema_path: Any = None, resolver: Any = None
    ) -> Iterator[Any]:
        run = _RUN.get()
        if run is None or run.compiled is None or not _is_schema(schema) or not _NAMING.isdisjoint(schema):
            yield from plain(self, instance, schema, path, schema_path, resolver)
            return
        inner = run.compiled.validator(self, schema, resolver or self._resolver, evolve)
        for keyword, _, value in inner._validators:
            for error in keyword(inner, value, instance, schema) or ():
                yield error
                return

    return descend


def _make_evolve(made: Any) -> Callable[..., Any]:
    """The method `evolve`, which asks for the validator of a schema beside another."""
    plain = made.evolve

    def evolve(self: Any, **changes: Any) -> Any:
        run = _RUN.get()
        schema = changes.get("schema")
        if run is None or run.compiled is None or changes.keys() != {"schema"} or not _is_schema(schema):
            return plain(self, **changes)
        return run.compiled.validator(self, schema, self._resolver, plain)

    return evolve


def _follow(validator: Any, ref: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    run = _RUN.get()
    if run is None or run.is_dynamic:
        spend()
        yield from validator._validate_reference(ref=ref, instance=instance)
        return
    resolved = (
        validator._resolver.lookup(ref) if run.compiled is None else run.compiled.target(validator._resolver, ref)
    )
    key = (id(resolved.contents), id(instance))
    known = run.errors.get(key)
    if known is None:
        run.spend()
        if key in run.open:
            raise RecursionError  # at once: what is written in Rust does not survive the end of the stack
        run.open.add(key)
        errors = validator.descend(instance, resolved.contents, resolver=resolved.resolver)
        known = run.errors[key] = list[Any](islice(errors, run.most_errors))
    yield from known if run.compiled is not None else map(_copy, known)


def _copy(error: Any) -> Any:
    """The same error, to be told at another place: who passes an error on writes its own place into it.

    What is in its context is shared, so only relative paths are right there.
    """
    said = {name: getattr(error, name) for name in ("validator", "validator_value", "instance", "schema")}
    return jsonschema.exceptions.ValidationError(
        error.message, path=tuple(error.relative_path), context=error.context or (), **said
    )


def _count(plain: _Keyword) -> _Keyword:
    """The keyword, which takes a step."""

    def keyword(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        spend()
        yield from plain(validator, value, instance, schema) or ()

    return keyword


def _select_by_tags(plain: _Keyword) -> _Keyword:
    """The keyword, which asks of many branches those alone that the tags of an object leave."""

    def keyword(validator: Any, branches: Any, instance: Any, schema: Any) -> Iterator[Any]:
        run = _RUN.get()
        if run is not None and run.compiled is not None and len(branches) > FEW_BRANCHES and _is_schema(instance):
            branches = run.compiled.branches(validator, branches, instance)
        yield from plain(validator, branches, instance, schema) or ()

    return keyword


def _measure(plain: _Keyword) -> _Keyword:
    """The keyword, which walks all schemas that apply in place and remembers none: it takes some steps for each."""

    def keyword(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if _RUN.get() is not None:
            spend(STEPS_OF_WALK * _count_applied(schema, validator._resolver, {}))
        yield from plain(validator, value, instance, schema) or ()

    return keyword


def _is_schema(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _count_applied(schema: Any, resolver: Any, known: dict[int, int]) -> int:
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
        counts = [_count_applied(each, resolver, known) for each in inner]
        counts += [_count_applied(each.contents, each.resolver, known) for each in found]
        known[id(schema)] = 1 + sum(counts)
    return known[id(schema)]
