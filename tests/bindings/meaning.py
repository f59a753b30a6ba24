"""A judge that reads the IR alone, and a walk over a message that says what stands where.

The IR is what the schema means. This judge knows neither JSON Schema nor pydantic, so where all three agree the meaning is right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never

from acpgen import ir
from acpgen.input.expressions import matches
from acpgen.input.walk import is_array, is_object
from acpgen.meaning.limits import is_length_within, is_number_within
from jsonrpc_bindings import Record
from jsonrpc_bindings.fields import get_shape

Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True)
class Step:
    """A field on the way to a place: where the field stands, and what the schema says of it."""

    path: Path
    field: ir.Field


@dataclass(frozen=True)
class Place:
    """What stands at `path` of a message. `steps` are the fields on the way, from the outside in."""

    path: Path
    meaning: ir.Definition
    value: Any
    steps: tuple[Step, ...]
    by_shape: bool
    """Whether a union told apart by shape lies on the way: a change here may choose another of its branches."""


class Meaning:
    """What a protocol means, as a judge of JSON values."""

    def __init__(self, protocol: ir.Protocol) -> None:
        self.definitions = protocol.definitions

    # --- judging ---

    def accepts(self, name: str, value: Any) -> bool:
        """Whether a value is one of the definition's, unknown tags of open and tolerated unions among them."""
        definition = self.definitions[name]
        match definition:
            case ir.Record():
                return self._record(definition, value)
            case ir.TaggedUnion():
                return self._tagged(definition, value)
            case ir.Enum():
                if any(_equal(value, known.value) for known in definition.values):
                    return True
                return definition.openness != "closed" and self.fits(definition.base, value)
            case ir.Alias():
                return self.fits(definition.type, value)
            case _:
                assert_never(definition)

    def fits(self, type_: ir.Type, value: Any) -> bool:
        """Whether a value is of a type."""
        match type_:
            case ir.Anything():
                return True
            case ir.Nothing():
                return False
            case ir.Null():
                return value is None
            case ir.Boolean():
                return isinstance(value, bool)
            case ir.Number():
                return _is_number(type_, value)
            case ir.String():
                return isinstance(value, str) and _within(type_, value)
            case ir.Constant():
                return any(_equal(value, known) for known in type_.values)
            case ir.Array():
                return self._array(type_, value)
            case ir.Tuple():
                return self._tuple(type_, value)
            case ir.Map():
                return is_object(value) and all(self.fits(type_.values, item) for item in value.values())
            case ir.Ref():
                return self.accepts(type_.name, value)
            case ir.AnyOf():
                fitting = sum(self.fits(one, value) for one in type_.types)
                return fitting == 1 if type_.exclusive else fitting > 0
            case _:
                assert_never(type_)

    def _record(self, record: ir.Record, value: Any) -> bool:
        if not is_object(value):
            return False
        named = {field.name: field for field in record.fields}
        excluded = any(key in value and any(_equal(value[key], one) for one in tags) for key, tags in record.excluded)
        missing = any(field.required and field.name not in value for field in record.fields)
        return (
            not excluded
            and not missing
            and all(self.fits(named[key].type if key in named else record.extra, item) for key, item in value.items())
        )

    def _tagged(self, union: ir.TaggedUnion, value: Any) -> bool:
        branch = self.branch(union, value)
        if branch is not None and any(self.accepts(name, value) for name in branch):
            return True
        return union.default_admits_known and union.default is not None and self.accepts(union.default, value)

    def branch(self, union: ir.TaggedUnion, value: Any) -> tuple[str, ...] | None:
        """The definitions, at least one of which a value must be of, told from its tag alone; `None` where it is refused."""
        if not is_object(value):
            return None
        tag = value.get(union.tag)
        for variant in union.variants:
            if union.tag in value and _equal(tag, variant.tag):
                return (variant.type,)
        default = (union.default,) if union.default is not None else ()
        if isinstance(tag, str) and union.fallback is not None:
            return (*(union.fallback_shapes or (union.fallback,)), *default)
        return default or None

    def _array(self, array: ir.Array, value: Any) -> bool:
        if not is_array(value) or not all(self.fits(array.items, item) for item in value):
            return False
        if array.unique and any(_equal(one, other) for i, one in enumerate(value) for other in value[:i]):
            return False
        return (array.min_items or 0) <= len(value) <= (math.inf if array.max_items is None else array.max_items)

    def _tuple(self, entries: ir.Tuple, value: Any) -> bool:
        if not is_array(value) or len(value) < len(entries.first):
            return False
        whole = ir.Array(ir.Anything(), entries.min_items, entries.max_items, entries.unique)
        first = zip(entries.first, value, strict=False)
        return (
            all(self.fits(one, item) for one, item in first)
            and all(self.fits(entries.rest, item) for item in value[len(entries.first) :])
            and self._array(whole, value)
        )

    # --- walking ---

    def places(self, name: str, value: Any, path: Path = ()) -> Iterator[Place]:
        """Every definition that stands in a valid value, from the outside in. A union comes before its variant."""
        yield from self._places(name, value, path, (), False)

    def _places(self, name: str, value: Any, path: Path, steps: tuple[Step, ...], by_shape: bool) -> Iterator[Place]:
        definition = self.definitions[name]
        yield Place(path, definition, value, steps, by_shape)
        match definition:
            case ir.Record():
                named = {field.name: field for field in definition.fields}
                for key, item in value.items():
                    if key in named:
                        step = Step((*path, key), named[key])
                        yield from self._inside(named[key].type, item, (*path, key), (*steps, step), by_shape)
                    else:
                        yield from self._inside(definition.extra, item, (*path, key), steps, by_shape)
            case ir.TaggedUnion():
                found = [one for one in self.branch(definition, value) or () if self.accepts(one, value)]
                if not found and definition.default is not None:
                    found = [definition.default]
                yield from self._places(found[0], value, path, steps, by_shape or definition.default_admits_known)
            case ir.Alias():
                yield from self._inside(definition.type, value, path, steps, by_shape)
            case ir.Enum():
                pass
            case _:
                assert_never(definition)

    def _inside(
        self, type_: ir.Type, value: Any, path: Path, steps: tuple[Step, ...], by_shape: bool
    ) -> Iterator[Place]:
        match type_:
            case ir.Ref():
                yield from self._places(type_.name, value, path, steps, by_shape)
            case ir.Array():
                for index, item in enumerate(value):
                    yield from self._inside(type_.items, item, (*path, index), steps, by_shape)
            case ir.Tuple():
                for index, item in enumerate(value):
                    one = type_.first[index] if index < len(type_.first) else type_.rest
                    yield from self._inside(one, item, (*path, index), steps, by_shape)
            case ir.Map():
                for key, item in value.items():
                    yield from self._inside(type_.values, item, (*path, key), steps, by_shape)
            case ir.AnyOf():
                several = len([one for one in type_.types if one != ir.Null()]) > 1
                fitting = next(one for one in type_.types if self.fits(one, value))
                yield from self._inside(fitting, value, path, steps, by_shape or several)
            case _:
                pass


def changed(value: Any, path: Path, new: Any) -> Any:
    """A value with what stands at `path` replaced."""
    if not path:
        return new
    first, rest = path[0], path[1:]
    if is_object(value):
        return {**value, str(first): changed(value.get(str(first)), rest, new)}
    assert isinstance(first, int)
    return [*value[:first], changed(value[first], rest, new), *value[first + 1 :]]


def without(value: Any, path: Path) -> Any:
    """A value with what stands at `path` taken out."""
    first, rest = path[0], path[1:]
    if rest:
        return changed(value, (first,), without(value[first], rest))
    if is_object(value):
        return {key: item for key, item in value.items() if key != first}
    assert isinstance(first, int)
    return [*value[:first], *value[first + 1 :]]


def at(value: Any, path: Path) -> Any:
    """What stands at `path` of a value."""
    for step in path:
        value = value[step]
    return value


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if is_object(one) and is_object(other):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if is_array(one) and is_array(other):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)


def _is_number(number: ir.Number, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return is_number_within(number, value)


def _within(string: ir.String, value: str) -> bool:
    if not is_length_within(string, value):
        return False
    return string.pattern is None or matches(string.pattern, value)


def held(value: Any, path: Path) -> Any:
    """What a decoded value holds at a path of the message that it was decoded from."""
    for step in path:
        if not isinstance(value, Record):
            value = value[step]
            continue
        name = get_shape(type(value)).by_name.get(str(step))
        value = value.unknown_fields[str(step)] if name is None else getattr(value, name)
    return value
