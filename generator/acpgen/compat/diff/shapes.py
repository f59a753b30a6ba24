"""The shapes of types: what a type admits, independent of how it is written.

References are resolved, null is separate, and alternatives are grouped by JSON type. `$ref` and inline types, `[t, null]` and `anyOf`
with null, a single branch and no union, constants and `enum` lead to the same `Shape`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal, TypeAlias, assert_never, cast

from msgspec import Struct

from acpgen import ir
from acpgen.input import equality

Kind: TypeAlias = Literal["boolean", "number", "string", "array", "object"]
Scalar: TypeAlias = "str | int | float | bool"

KINDS: tuple[Kind, ...] = ("boolean", "number", "string", "array", "object")


class Constants(Struct, frozen=True):
    """Known constants of one JSON type. `openness` says how others are treated; `base` is what else an open set admits."""

    values: tuple[ir.EnumValue, ...]
    openness: ir.Openness
    base: ir.Type | None
    name: str | None
    at: str


class Objects(Struct, frozen=True):
    """A record or map as fields and the type of other members; `excluded` are constants that fields may not have."""

    name: str | None
    fields: tuple[ir.Field, ...]
    extra: ir.Type
    at: str
    unenforced: tuple[str, ...] = ()
    excluded: tuple[tuple[str, tuple[Scalar, ...]], ...] = ()

    @property
    def is_map(self) -> bool:
        """Whether this is a map: an inline object that declares no members, and whose senders choose the names."""
        return self.name is None


Alternative: TypeAlias = (
    "ir.Boolean | ir.Number | ir.String | ir.Array | ir.Tuple | Constants | Objects | ir.TaggedUnion"
)


class Shape(Struct, frozen=True):
    """What a type admits. With `anything`, every value is admitted, and the alternatives are only the declared ones.

    `names` are the definitions that references led through.
    """

    alternatives: tuple[Alternative, ...]
    nullable: bool
    anything: bool
    names: tuple[str, ...]

    def select(self, kind: Kind) -> tuple[Alternative, ...]:
        """The alternatives of one JSON type."""
        return tuple(alternative for alternative in self.alternatives if find_kind(alternative) == kind)


def find_shape(type_: ir.Type, definitions: Mapping[str, ir.Definition], empty: Collection[str] = ()) -> Shape:
    """The shape of a type; `empty` are the definitions without values: see `without_values`."""
    work = _Resolving(definitions, empty)
    work.add(type_, "")
    return Shape(tuple(dict.fromkeys(work.alternatives)), work.nullable, work.anything, tuple(work.names))


def without_values(definitions: Mapping[str, ir.Definition]) -> frozenset[str]:
    """The definitions that no value satisfies: records that require a field without possible values, and definitions that lead only to
    these.
    """
    required_types = {name: _list_needed(definition) for name, definition in definitions.items()}
    users: dict[str, list[str]] = {}
    for name, types in required_types.items():
        for type_ in types:
            for used_name in _list_named(type_):
                users.setdefault(used_name, []).append(name)
    empty_names: set[str] = set()
    pending = list(definitions)
    while pending:
        name = pending.pop()
        if name not in empty_names and any(_is_empty(type_, empty_names) for type_ in required_types[name]):
            empty_names.add(name)
            pending.extend(users.get(name, ()))
    return frozenset(empty_names)


def _list_needed(definition: ir.Definition) -> tuple[ir.Type, ...]:
    """The types that must each have a value for the definition to have one."""
    match definition:
        case ir.Record(fields=fields):
            return tuple(field.type for field in fields if field.required)
        case ir.Alias(type=type_):
            return (type_,)
        case _:
            return ()


def _list_named(type_: ir.Type) -> Iterable[str]:
    match type_:
        case ir.Ref(name):
            return (name,)
        case ir.AnyOf(types):
            return tuple(name for branch in types for name in _list_named(branch))
        case _:
            return ()


def _is_empty(type_: ir.Type, empty: Collection[str]) -> bool:
    match type_:
        case ir.Nothing():
            return True
        case ir.Ref(name):
            return name in empty
        case ir.AnyOf(types):
            return all(_is_empty(branch, empty) for branch in types)
        case _:
            return False


def get_object_type(alternative: Objects | ir.TaggedUnion) -> ir.Type:
    """The type of objects: the definition that names them, otherwise a map of their members other than fields."""
    match alternative:
        case Objects(name=name) if name is not None:
            return ir.Ref(name)
        case ir.TaggedUnion(name=name):
            return ir.Ref(name)
        case Objects(extra=extra):
            return ir.Map(extra)


def find_kind(alternative: Alternative) -> Kind:
    """The JSON type of an alternative."""
    match alternative:
        case ir.Boolean():
            return "boolean"
        case ir.Number():
            return "number"
        case ir.String():
            return "string"
        case ir.Array() | ir.Tuple():
            return "array"
        case Constants(values=values):
            return cast("Kind", equality.get_kind(values[0].value))
        case Objects() | ir.TaggedUnion():
            return "object"
        case _:
            assert_never(alternative)


def locate(alternative: Alternative) -> str:
    """The place of an alternative; empty if it has no place of its own."""
    return alternative.at if isinstance(alternative, Objects | ir.TaggedUnion | Constants) else ""


def _as_array(type_: ir.Tuple) -> ir.Array | ir.Tuple:
    """A tuple whose entries all have one type as the equivalent array; any other tuple unchanged."""
    types, length = {*type_.first}, len(type_.first)
    if len(types) != 1 or type_.rest not in (*types, ir.Nothing()):
        return type_
    most = type_.max_items if type_.rest in types else min(length, type_.max_items or length)
    return ir.Array(types.pop(), type_.min_items, most, type_.unique)


class _Resolving:
    def __init__(self, definitions: Mapping[str, ir.Definition], empty: Collection[str]) -> None:
        self.definitions = definitions
        self.empty = empty
        self.alternatives: list[Alternative] = []
        self.names: list[str] = []
        self.nullable = False
        self.anything = False

    def add(self, type_: ir.Type, at: str) -> None:
        match type_:
            case ir.Anything():
                self.anything = self.nullable = True
            case ir.Nothing():
                pass
            case ir.Null():
                self.nullable = True
            case ir.Tuple():
                self.alternatives.append(_as_array(type_))
            case ir.Boolean() | ir.Number() | ir.String() | ir.Array():
                self.alternatives.append(type_)
            case ir.Constant(values):
                self._add_constants(
                    tuple(ir.EnumValue(value=value, at=at) for value in values), "closed", None, None, at
                )
            case ir.Map(values):
                self.alternatives.append(Objects(None, (), values, at))
            case ir.AnyOf(types):
                for option in types:
                    self.add(option, at)
            case ir.Ref(name):
                self._add_definition(self.definitions[name])
            case _:
                assert_never(type_)

    def _add_definition(self, definition: ir.Definition) -> None:
        if definition.name in self.names:
            return
        self.names.append(definition.name)
        if definition.name in self.empty:
            return
        match definition:
            case ir.Record():
                record = definition
                self.alternatives.append(
                    Objects(record.name, record.fields, record.extra, record.at, record.unenforced, record.excluded)
                )
            case ir.TaggedUnion():
                self.alternatives.append(definition)
            case ir.Enum():
                base = definition.base if definition.openness == "open" else None
                self._add_constants(definition.values, definition.openness, base, definition.name, definition.at)
            case ir.Alias():
                self.add(definition.type, definition.at)
            case _:
                assert_never(definition)

    def _add_constants(
        self, values: Iterable[ir.EnumValue], openness: ir.Openness, base: ir.Type | None, name: str | None, at: str
    ) -> None:
        groups: dict[Kind, list[ir.EnumValue]] = {}
        for value in values:
            if value.value is None:
                self.nullable = True
            else:
                groups.setdefault(cast("Kind", equality.get_kind(value.value)), []).append(value)
        kept_base, free = base, None
        if isinstance(base, ir.String | ir.Number) and find_kind(base) not in groups:
            openness, kept_base, free = "closed", None, base  # beside strings, any number is accepted, or the reverse
        self.alternatives += (Constants(tuple(group), openness, kept_base, name, at) for group in groups.values())
        if free is not None:
            self.alternatives.append(free)
