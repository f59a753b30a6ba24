"""Sample values of definitions, made from the IR: as small as possible, or with all optional members.

The caller checks whether a value is valid: branches discriminated by shape may exclude one another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, Final, TypeAlias, assert_never

from acpgen import ir
from acpgen.input.expressions import matches
from acpgen.input.positions import DEEPEST
from acpgen.input.step_budget import spend
from acpgen.input.walk import is_array, is_object
from acpgen.meaning import sample_texts
from acpgen.meaning.limits import is_length_within, is_number_within, list_limits

Path: TypeAlias = "tuple[str | int, ...]"

WRONG: Final[tuple[Any, ...]] = (7, "text", {}, [], True, 1.5, -1)
"""One value of each JSON type but null, and some numbers. For a type that accepts one of them, that one is not invalid."""

NO_OBJECTS: Final = tuple(value for value in WRONG if value != {})
"""Those that no record accepts. An empty object is one whose required fields are missing, which separate samples cover."""

EXTENSION: Final = "_example.com"
"""An unknown tag that is marked as an extension."""

FUTURE: Final = "future_value"
"""An unknown tag of a future version."""

UNKNOWN_FIELD: Final = "futureField"
UNKNOWN_VALUE: Final[Any] = {"a": [1.5, None, "é"]}

_TEXTS: Final = ("text", "/text", "file:///text", "https://example.com", "text@example.com", "TXT", "1", "")
_NUMBERS: Final = (0, 1, 0.5, -1, 2)


LARGEST: Final = 5_000
"""The maximum number of values in a value: records that need two of another record, and so on, double it at each level."""

MOST: Final = 20_000
"""The maximum number of types tried for one value: unions whose branches lead to other unions double it at each level."""


MOST_DAMAGED: Final = 100_000
"""The maximum number of values in all damaged values of a type: tuples of tuples double it at each level."""


class Unmakeable(ValueError):
    """No value of a type can be made; the text names the type."""


class Values:
    """Makes values of definitions: `small` and `full` ones, and `damaged` values of a type."""

    def __init__(self, definitions: Mapping[str, ir.Definition]) -> None:
        self.definitions: Final = definitions
        self._small: dict[str, Any] = {}
        self._extents: dict[int, tuple[int, int]] = {}
        self._under_way: set[str] = set()
        self._tried = 0
        self._depth = 0

    # --- small ---

    def make_small(self, name: str) -> Any:
        """A value of a definition without optional fields. Raises `Unmakeable`."""
        if name not in self._small:
            if name in self._under_way:
                raise Unmakeable(f"{name} holds itself")
            if len(self._under_way) >= DEEPEST:
                raise Unmakeable(f"{name} is needed more than {DEEPEST} levels deep")
            self._under_way.add(name)
            try:
                result = self._make(self.definitions[name])
            finally:
                self._under_way.discard(name)
            self._small[name] = result
            self._extents[id(result)] = self._measure(result)
        size, height = self._extents[id(self._small[name])]
        if size > LARGEST:
            raise Unmakeable(f"the smallest {name} that is made holds more than {LARGEST} values")
        if height > DEEPEST:
            raise Unmakeable(f"the smallest {name} that is made is nested more than {DEEPEST} levels deep")
        return self._small[name]

    def _measure(self, value: Any) -> tuple[int, int]:
        """The number of values in a value, where shared ones count at each occurrence, and its nesting depth."""
        if id(value) in self._extents:
            return self._extents[id(value)]
        spend()
        parts = value.values() if is_object(value) else value if is_array(value) else ()
        inner = [self._measure(part) for part in parts]
        return 1 + sum(size for size, _ in inner), 1 + max((height for _, height in inner), default=0)

    def _make(self, definition: ir.Definition) -> Any:
        match definition:
            case ir.Record():
                return {field.name: self.make_field(definition, field) for field in definition.fields if field.required}
            case ir.TaggedUnion():
                return self._make_first(map(ir.Ref, (variant.type for variant in definition.variants)))
            case ir.Enum():
                return definition.values[0].value
            case ir.Alias():
                scalars = [example for example in definition.examples if isinstance(example, str | int | float)]
                example = next((scalar for scalar in scalars if not isinstance(scalar, bool)), None)
                return example or self.make(definition.type)
            case _:
                assert_never(definition)

    def make_field(self, record: ir.Record, field: ir.Field, *, filled: bool = False) -> Any:
        """A value of a field; an unknown tag if known ones are excluded. Raises `Unmakeable`."""
        return EXTENSION if field.name in dict(record.excluded) else self.make(field.type, filled=filled)

    def make(self, type_: ir.Type, *, filled: bool = False) -> Any:
        """A value of a type; `filled` arrays and maps have one item, and null is used only without an alternative. Raises `Unmakeable`."""
        self._tried = self._tried + 1 if self._depth else 0
        if self._tried > MOST:
            raise Unmakeable(f"more than {MOST} types were tried")
        spend()
        self._depth += 1
        try:
            return self._make_value(type_, filled=filled)
        finally:
            self._depth -= 1

    def _make_value(self, type_: ir.Type, *, filled: bool) -> Any:
        match type_:
            case ir.Anything():
                return UNKNOWN_VALUE if filled else {}
            case ir.Nothing():
                raise Unmakeable("no value is allowed")
            case ir.Null():
                return None
            case ir.Boolean():
                return True
            case ir.Number():
                return _choose_fitting((*_NUMBERS, *list_limits(type_).values()), type_)
            case ir.String():
                length = type_.min_length or 0
                text = next(sample_texts.suggest_for_format(type_.format, length, type_.max_length), "text")
                text = "dGV4dA==" if type_.encoding == "base64" else text
                return _choose_fitting((text, *_TEXTS, "x" * length if length < 5000 else ""), type_)
            case ir.Constant():
                return type_.values[0]
            case ir.Array():
                min_items = type_.min_items or 0
                count = max(min_items, 1) if filled and type_.max_items != 0 else min_items
                if count > 1 and type_.unique:
                    raise Unmakeable("several different items are asked for")
                _require_room(count)
                return [self.make(type_.items) for _ in range(count)]
            case ir.Tuple():
                padding = max((type_.min_items or 0) - len(type_.first), 0)
                _require_room(padding)
                entries = [self.make(item_type, filled=filled) for item_type in (*type_.first, *[type_.rest] * padding)]
                if type_.unique and len({repr(entry) for entry in entries}) < len(entries):
                    raise Unmakeable("several different items are asked for")
                return entries
            case ir.Map():
                return {"key": self.make(type_.values, filled=filled)} if filled else {}
            case ir.Ref():
                target = self.definitions[type_.name]
                if filled and isinstance(target, ir.Alias) and isinstance(target.type, ir.Array | ir.Map):
                    return self.make(target.type, filled=True)
                return self.make_small(type_.name)
            case ir.AnyOf():
                return self._make_first((member for member in type_.types if member != ir.Null()), filled=filled)
            case _:
                assert_never(type_)

    def _make_first(self, types: Iterable[ir.Type], *, filled: bool = False) -> Any:
        reason = "a union has no branch"
        for type_ in types:
            try:
                return self.make(type_, filled=filled)
            except Unmakeable as unmakeable:
                reason = str(unmakeable)
        raise Unmakeable(reason)

    # --- full ---

    def make_full(self, name: str, *, without: frozenset[str] = frozenset()) -> Any:
        """A value of a definition with all of its fields except those in `without`, each as small as possible. Raises `Unmakeable`."""
        value = self._make_full(self.definitions[name], without)
        if self._measure(value)[0] > LARGEST:
            raise Unmakeable(f"the fullest {name} that is made holds more than {LARGEST} values")
        return value

    def _make_full(self, definition: ir.Definition, without: frozenset[str]) -> Any:
        match definition:
            case ir.Record():
                members: dict[str, Any] = {}
                for field in definition.fields:
                    if field.required or field.name not in without:
                        members[field.name] = self.make_field(definition, field, filled=True)
                return members
            case ir.TaggedUnion():
                return self.make_full(definition.variants[0].type, without=without)
            case ir.Enum():
                return self.make_small(definition.name)
            case ir.Alias():
                return self.make(definition.type, filled=True)
            case _:
                assert_never(definition)

    # --- damage ---

    def damage(self, type_: ir.Type, inside: frozenset[str] = frozenset()) -> Iterator[tuple[Path, Any]]:
        """Yield values that a type may reject, each with the path of the presumed error; validation decides whether and why it is
        invalid.

        `inside` are the aliases on the path to this type: a recursive alias is damaged only at its outermost level.
        """
        budget = MOST_DAMAGED
        for path, value in self._damage(type_, inside):
            yield path, value
            budget -= self._measure(value)[0]
            if budget < 0:
                return

    def _damage(self, type_: ir.Type, inside: frozenset[str]) -> Iterator[tuple[Path, Any]]:
        if isinstance(type_, ir.Ref):
            definition = self.definitions[type_.name]
            if isinstance(definition, ir.Alias) and type_.name not in inside:
                yield from self._damage(definition.type, inside | {type_.name})
            else:
                values = (*WRONG, FUTURE, 987654) if isinstance(definition, ir.Enum) else NO_OBJECTS
                yield from (((), value) for value in values)
            return
        if isinstance(type_, ir.AnyOf):
            non_null = [member for member in type_.types if member != ir.Null()]
            if len(non_null) == 1:
                yield from self._damage(non_null[0], inside)
            else:
                yield from (((), value) for value in NO_OBJECTS)
                yield from self._combine_branches(non_null)
            return
        yield from (((), value) for value in WRONG)
        match type_:
            case ir.Array():
                yield from self._damage_items(type_, inside)
            case ir.Tuple():
                yield from self._damage_entries(type_, inside)
            case ir.Map():
                yield from ((("key", *path), {"key": value}) for path, value in self._damage(type_.values, inside))
            case ir.String():
                yield from (((), value) for value in ("", "relative/path"))
                if type_.min_length is not None and 0 < type_.min_length < 5000:
                    yield (), "x" * (type_.min_length - 1)
                if type_.max_length is not None and type_.max_length < 5000:
                    yield (), "x" * (type_.max_length + 1)
            case ir.Number():
                for limit in list_limits(type_).values():
                    yield from (((), limit + step) for step in (-1, 0, 1))
            case _:
                pass

    def _damage_items(self, array: ir.Array, inside: frozenset[str]) -> Iterator[tuple[Path, Any]]:
        min_items = array.min_items or 0
        try:
            _require_room(min_items)
            item = self.make(array.items)
        except Unmakeable:
            return
        before = [item] * (min_items - 1)
        for path, invalid_item in self._damage(array.items, inside):
            yield (len(before), *path), [*before, invalid_item]
        if min_items:
            yield (), [item] * (min_items - 1)
        if array.max_items is not None and array.max_items < 200:
            yield (), [item] * (array.max_items + 1)
        if array.unique:
            yield (), [item, item]

    def _damage_entries(self, entries: ir.Tuple, inside: frozenset[str]) -> Iterator[tuple[Path, Any]]:
        try:
            items = self.make(entries)
        except Unmakeable:
            return
        for index, item_type in enumerate(entries.first):
            for path, invalid_item in self._damage(item_type, inside):
                yield (index, *path), [*items[:index], invalid_item, *items[index + 1 :]]
        yield (), items[:-1]
        yield (), [*items, items[0]]

    def _combine_branches(self, types: list[ir.Type]) -> Iterator[tuple[Path, Any]]:
        """Yield objects that match two branches discriminated by shape at once; exclusive unions reject them."""
        for first, second in pairwise(types):
            try:
                left, right = self.make(first), self.make(second)
            except Unmakeable:
                continue
            if isinstance(left, dict) and isinstance(right, dict):
                yield (), {**left, **right}


def _require_room(items: int) -> None:
    """Raise `Unmakeable` for an array with more items than a value may hold."""
    if items > LARGEST:
        raise Unmakeable(f"more than {LARGEST} items are asked for")


def find_array(type_: ir.Type, definitions: Mapping[str, ir.Definition]) -> ir.Array | None:
    """The array type that a type is, null aside; `None` if it is something else."""
    match type_:
        case ir.Array():
            return type_
        case ir.Ref():
            definition = definitions[type_.name]
            return find_array(definition.type, definitions) if isinstance(definition, ir.Alias) else None
        case ir.AnyOf():
            non_null = [member for member in type_.types if member != ir.Null()]
            return find_array(non_null[0], definitions) if len(non_null) == 1 else None
        case _:
            return None


def read_instead(field: ir.Field, definitions: Mapping[str, ir.Definition]) -> str:
    """How lenient decoding treats an invalid value of a field; empty if there is no replacement."""
    if not field.required:
        return "as if the field were omitted"
    array = find_array(field.type, definitions)
    return "as an empty array" if array is not None and not array.min_items else ""


def _choose_fitting(candidates: tuple[Any, ...], type_: ir.Number | ir.String) -> Any:
    for value in candidates:
        if isinstance(type_, ir.Number):
            if is_number_within(type_, value):
                return value
        elif is_length_within(type_, value) and (type_.pattern is None or matches(type_.pattern, value)):
            return value
    raise Unmakeable("no candidate satisfies the constraints of a scalar")
