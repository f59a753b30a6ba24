"""Makes values: smallest ones of a type, and the ways in which a change's culprit gets into one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final, TypeAlias

from acpgen import ir
from acpgen.compat.diff.pairs import EXTENSION, Step
from acpgen.compat.diff.scalars import number_for, text_for
from acpgen.compat.diff.shapes import (
    Alternative,
    Constants,
    Objects,
    Scalar,
    Shape,
    key_of_value,
    shape_of,
    type_of_object,
)
from acpgen.compat.protocol.declared import META
from acpgen.compat.protocol.revision import Revised
from acpgen.meaning import texts
from acpgen.meaning.discriminators import type_with_tag

DEEPEST: Final = 30
MOST: Final = 10
"""As many ways of building one message are tried."""

DEEPEST_VALUE: Final = 60
"""Levels of a value beyond which none is made: a list that must hold itself has none at all."""

LARGEST: Final = 5_000
"""Values in a value beyond which none is made: where a record needs two of another one, and so on, they double at each level."""


class NoExample(Exception):
    """No value of the type was found."""


Leaf: TypeAlias = "Callable[[Examples, ir.Type], Iterator[ir.JSON]]"
"""Makes values for the place of a change, from the type that stands there."""


class Examples:
    """Values of the types of one revision, with texts as another one shows them if that is given."""

    def __init__(self, revised: Revised, like: Revised | None = None) -> None:
        self.revised = revised
        self._like = like or revised
        self._shapes: dict[ir.Type, Shape] = {}
        self._open: list[str] = []
        self._depth = 0
        self._made = 0

    @cached_property
    def _shown(self) -> Mapping[str, str]:
        return texts.shown(self._like.bundle.definitions)

    def _likely(self, name: str) -> list[str]:
        """Texts that a reader expects in a field of that name."""
        found = self._shown.get(name), texts.of_name(name)
        return [text for text in found if text is not None]

    def shape(self, type_: ir.Type) -> Shape:
        """The shape of a type."""
        if type_ not in self._shapes:
            self._shapes[type_] = shape_of(type_, self.revised.definitions, empty=self.revised.empty)
        return self._shapes[type_]

    # --- smallest values ---

    def of(self, type_: ir.Type, field: str = "") -> ir.JSON:
        """A small value of a type, for a field of that name. Raises `NoExample`."""
        self._made = self._made + 1 if self._depth else 0
        if self._made > LARGEST or self._depth > DEEPEST_VALUE:
            raise NoExample
        self._depth += 1
        try:
            return self.of_shape(self.shape(type_), field)
        finally:
            self._depth -= 1

    def of_shape(self, shape: Shape, field: str = "") -> ir.JSON:
        """A small value of a shape, for a field of that name. Raises `NoExample`."""
        if shape.anything:
            return "example"
        for alternative in shape.alternatives:
            try:
                return self.alternative(alternative, field)
            except NoExample:
                continue
        if shape.nullable:
            return None
        raise NoExample

    def alternative(self, alternative: Alternative, field: str = "") -> ir.JSON:
        """A small value of one alternative. Raises `NoExample`."""
        match alternative:
            case ir.Boolean():
                return True
            case ir.Number():
                return _given(number_for(alternative))
            case ir.String():
                return _given(text_for(alternative, self._likely(field)))
            case ir.Array():
                return self.array(alternative, alternative.min_items or 0, field)
            case ir.Tuple():
                return self.tuple_(alternative)
            case Constants(values=values):
                return values[0].value
            case Objects():
                return self.record(alternative)
            case ir.TaggedUnion():
                return self.union(alternative)

    def array(self, array: ir.Array, count: int, field: str = "") -> list[ir.JSON]:
        """A list of so many items, different ones where the list demands it. Raises `NoExample`."""
        if count > 1000:
            raise NoExample
        if not count:
            return []
        item = self.of(array.items, field)
        if not array.unique or count == 1:
            return [item] * count
        varied: list[ir.JSON] = [
            value for value in (_varied(item, index) for index in range(count)) if value is not None
        ]
        if len(varied) < count:
            raise NoExample
        return varied

    def tuple_(self, entries: ir.Tuple) -> list[ir.JSON]:
        """A list of the entries that a tuple must have. Raises `NoExample`."""
        count = max(len(entries.first), entries.min_items or 0)
        if count > 1000:
            raise NoExample
        return [self.of(entry_of(entries, index)) for index in range(count)]

    def record(self, record: Objects, extra: Sequence[str] = ()) -> dict[str, ir.JSON]:
        """An object with the required members and those named in `extra`. Raises `NoExample`."""
        key = record.name or ""
        if (key and self._open.count(key) > 1) or len(self._open) > DEEPEST:
            raise NoExample
        self._open.append(key)
        try:
            wanted = [each for each in record.fields if each.required or each.name in extra]
            return {each.name: self.of(each.type, each.name) for each in wanted}
        finally:
            self._open.pop()

    def union(self, union: ir.TaggedUnion) -> ir.JSON:
        """A value of the first variant that has one. Raises `NoExample`."""
        names = [variant.type for variant in union.variants if self.revised.keeps(variant.unstable)]
        for name in [
            *names,
            *([union.default] if union.default else []),
            *([union.fallback] if union.fallback else []),
        ]:
            try:
                return self.of(ir.Ref(name))
            except NoExample:
                continue
        raise NoExample

    # --- whole values with a culprit inside ---

    def build(self, type_: ir.Type, steps: Sequence[Step], side: str, leaf: Leaf) -> Iterator[ir.JSON]:
        """Values of the type in which a leaf stands where the steps lead. `side` says whose alternatives the steps mean."""
        if not steps:
            yield from islice(leaf(self, type_), MOST)
            return
        step, rest = steps[0], steps[1:]
        shape = self.shape(type_)
        match step.kind:
            case "field":
                yield from self._through_field(shape, str(step.on(side)), rest, side, leaf)
            case "item" if isinstance(step.name, int):
                for entries in [each for each in shape.of("array") if isinstance(each, ir.Tuple)]:
                    whole = self.tuple_(entries)
                    for value in self.build(entry_of(entries, step.name), rest, side, leaf):
                        yield [*whole[: step.name], value, *whole[step.name + 1 :]]
            case "item":
                picked = step.old if side == "old" else step.new
                arrays = (
                    [picked]
                    if isinstance(picked, ir.Array) and picked in shape.alternatives
                    else [each for each in shape.of("array") if isinstance(each, ir.Array)]
                )
                for array in arrays:
                    for value in self.build(array.items, rest, side, leaf):
                        missing = max((array.min_items or 0) - 1, 0)
                        yield [value, *(self.array(array, missing) if missing else ())]
            case "value":
                for each in shape.of("object"):
                    if isinstance(each, Objects):
                        for value in self.build(each.extra, rest, side, leaf):
                            yield {**self.record(each), "example": value}
            case "variant":
                tag = step.on(side)
                for name, member, tags in self._variants(shape, tag):
                    for value in self.build(ir.Ref(name), rest, side, _tagged(leaf, rest, shape, step)):
                        if tags and isinstance(value, dict) and key_of_value(value.get(member)) in tags:
                            yield {**value, member: tag}
                        else:
                            yield value
            case "untagged":
                for name in self._untagged(shape):
                    yield from self.build(ir.Ref(name), rest, side, leaf)
            case "alternative":
                alternative = step.old if side == "old" else step.new
                yield from self.build(type_of(alternative, type_), rest, side, leaf)

    def _through_field(self, shape: Shape, name: str, rest: Sequence[Step], side: str, leaf: Leaf) -> Iterator[ir.JSON]:
        for each in shape.of("object"):
            for record in self._records(each):
                type_ = next((field.type for field in record.fields if field.name == name), record.extra)
                for value in self.build(type_, rest, side, leaf):
                    yield {**self.record(record), name: value}

    def _records(self, alternative: Alternative) -> Iterator[Objects]:
        if isinstance(alternative, Objects):
            yield alternative
        elif isinstance(alternative, ir.TaggedUnion):
            for name in [variant.type for variant in alternative.variants]:
                for each in self.shape(ir.Ref(name)).of("object"):
                    yield from self._records(each)

    def _variants(self, shape: Shape, tag: Scalar) -> Iterator[tuple[str, str, list[object]]]:
        """The definitions that a tag may lead to, with the member that holds it and all tags that they own; none of a fallback."""
        for each in shape.of("object"):
            if isinstance(each, ir.TaggedUnion):
                known = [v.type for v in each.variants if key_of_value(v.tag) == key_of_value(tag)]
                for name in known:
                    own: list[object] = [key_of_value(v.tag) for v in each.variants if v.type == name]
                    yield type_with_tag(name, each.tag, tag, self.revised.definitions), each.tag, own
                if not known and each.fallback is not None:
                    yield each.fallback, "", []
            elif isinstance(each, Objects) and each.name is not None:
                yield each.name, "", []

    def _untagged(self, shape: Shape) -> Iterator[str]:
        for each in shape.of("object"):
            if isinstance(each, ir.TaggedUnion) and each.default is not None:
                yield each.default
            elif isinstance(each, Objects) and each.name is not None:
                yield each.name


# --- leaves ----------------------------------------------------------------------------------------------------------


def smallest(make: Examples, type_: ir.Type) -> Iterator[ir.JSON]:
    """The smallest value."""
    yield make.of(type_)


def exactly(*values: ir.JSON) -> Leaf:
    """These values, whatever the type."""

    def leaf(_: Examples, __: ir.Type) -> Iterator[ir.JSON]:
        yield from values

    return leaf


@dataclass(frozen=True, slots=True)
class Without:
    """An object without the member."""

    name: str

    def __call__(self, make: Examples, type_: ir.Type) -> Iterator[ir.JSON]:
        for record in _objects(make, type_):
            yield {key: value for key, value in make.record(record).items() if key != self.name}


def having(name: str, *values: ir.JSON) -> Leaf:
    """An object with the member: with one of the values, or with a small one of its type."""

    def leaf(make: Examples, type_: ir.Type) -> Iterator[ir.JSON]:
        for record in _objects(make, type_):
            whole = make.record(record, extra=[name])
            if values:
                yield from ({**whole, name: value} for value in values)
            elif name in whole:
                yield whole

    return leaf


def also(patterns: Sequence[str]) -> Leaf:
    """An object with one more member, which no schema declares: an extension, or one whose name matches one of the patterns."""

    def leaf(make: Examples, type_: ir.Type) -> Iterator[ir.JSON]:
        found = [text_for(ir.String(pattern=pattern)) for pattern in patterns]
        names = [name for name in found if name is not None] if patterns else [EXTENSION]
        for record in _objects(make, type_):
            whole = make.record(record)
            yield from ({**whole, name: value} for name in names for value in (True, *of_many_kinds(make, type_)))

    return leaf


def naming(name: str, like: ir.Type) -> Leaf:
    """An object with one more member: like a type, or of any kind."""

    def leaf(make: Examples, type_: ir.Type) -> Iterator[ir.JSON]:
        for record in _objects(make, type_):
            whole = make.record(record)
            with suppress(NoExample):
                yield {**whole, name: make.of(like, name)}
            yield from ({**whole, name: value} for value in of_many_kinds(make, type_))

    return leaf


def claimed(name: str) -> Leaf:
    """An object with a member of that name and of any kind."""

    def leaf(make: Examples, type_: ir.Type) -> Iterator[ir.JSON]:
        for record in _objects(make, type_):
            whole = make.record(record)
            yield from ({**whole, name: value} for value in of_many_kinds(make, type_))

    return leaf


def extending(name: str) -> Leaf:
    """An object with what a peer that does not know a name for extensions may send under it: `_meta` is an object with extensions in it."""
    return having(META, {}, {EXTENSION: True}) if name == META else claimed(name)


def of_definition(name: str, **members: ir.JSON) -> Leaf:
    """A value of a definition, with these members in it."""

    def leaf(make: Examples, _: ir.Type) -> Iterator[ir.JSON]:
        value = make.of(ir.Ref(name))
        yield {**value, **members} if isinstance(value, dict) else value

    return leaf


def of_variant(variant: ir.Variant, member: str) -> Leaf:
    """A value of a variant, with its tag."""

    def leaf(make: Examples, _: ir.Type) -> Iterator[ir.JSON]:
        value = make.of(ir.Ref(type_with_tag(variant.type, member, variant.tag, make.revised.definitions)))
        yield {**value, member: variant.tag} if isinstance(value, dict) else value

    return leaf


def of_alternative(alternative: Alternative) -> Leaf:
    """A value of one alternative."""

    def leaf(make: Examples, _: ir.Type) -> Iterator[ir.JSON]:
        yield make.alternative(alternative)

    return leaf


def of_alternatives(*alternatives: Alternative) -> Leaf:
    """A value of each alternative that has any."""

    def leaf(make: Examples, _: ir.Type) -> Iterator[ir.JSON]:
        for each in alternatives:
            with suppress(NoExample):
                yield make.alternative(each)

    return leaf


def items(count: int, *, equal: bool) -> Leaf:
    """A list of so many items, all equal or as the list demands."""

    def leaf(make: Examples, type_: ir.Type) -> Iterator[ir.JSON]:
        for array in make.shape(type_).of("array"):
            if isinstance(array, ir.Array):
                yield [make.of(array.items)] * count if equal else make.array(array, count)

    return leaf


def of_many_kinds(_: Examples, __: ir.Type) -> Iterator[ir.JSON]:
    """Values of every JSON kind."""
    values: tuple[ir.JSON, ...] = (1, "example", True, [], {}, None, 0.5, [1], {"example": 1})
    yield from values


def entry_of(entries: ir.Tuple, index: int) -> ir.Type:
    """The type of one entry of a tuple."""
    return entries.first[index] if index < len(entries.first) else entries.rest


def _objects(make: Examples, type_: ir.Type) -> Iterator[Objects]:
    for each in make.shape(type_).of("object"):
        if isinstance(each, Objects):
            yield each


def _tagged(leaf: Leaf, rest: Sequence[Step], shape: Shape, step: Step) -> Leaf:
    """A leaf that keeps a tag of extensions, where the variant is one."""
    if rest or step.name != EXTENSION:
        return leaf
    unions = [each for each in shape.of("object") if isinstance(each, ir.TaggedUnion)]
    if not unions:
        return leaf

    def tagged(make: Examples, type_: ir.Type) -> Iterator[ir.JSON]:
        for value in leaf(make, type_):
            yield {**value, unions[0].tag: EXTENSION} if isinstance(value, dict) else value

    return tagged


def type_of(alternative: Alternative | None, whole: ir.Type) -> ir.Type:
    """The type of one alternative of a whole type."""
    match alternative:
        case Objects() | ir.TaggedUnion():
            return type_of_object(alternative)
        case ir.Array() | ir.Tuple() | ir.Number() | ir.String() | ir.Boolean():
            return alternative
        case _:
            return whole


def _given(value: int | float | str | None) -> ir.JSON:
    if value is None:
        raise NoExample
    return value


def _varied(value: ir.JSON, index: int) -> ir.JSON:
    """A value of the same kind that differs for each index; `None` where none is plain to see."""
    match value:
        case bool():
            return value if not index else not value if index == 1 else None
        case str():
            return texts.varied(value, index)
        case int() | float():
            return value + index
        case dict():
            name = next((key for key, inner in value.items() if isinstance(inner, str)), None)
            return {**value, name: _varied(value[name], index)} if name else None
        case _:
            return None
