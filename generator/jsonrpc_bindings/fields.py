"""What is known of classes of records, and what their objects hold: fields, and notes beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Never, TypeAlias, TypeGuard, cast

from msgspec import UNSET, Struct, StructMeta, UnsetType
from msgspec import field as struct_field

from .annotations import resolve

Constant: TypeAlias = "str | int | float | bool"

ABSENT: Final = object()

NOTES: Final = "\x7f(notes)"
"""The name of notes, which no decoder takes and no text of JSON has that is written."""


UNKNOWN: Final = "\0(unknown)"
"""The tag by which msgspec knows classes of unknown variants. Where a text of JSON has it, that has an escape."""


class Notes:
    """What a record holds beside its fields: unknown fields, defaults that were read, and the tag of an unknown variant.

    No encoder writes it, so that a record with notes is written by what knows them.
    """

    __slots__ = ("made", "shape", "tag", "unknown")

    def __init__(self, shape: Shape | None = None, unknown: dict[str, Any] | None = None, tag: Any = None) -> None:
        self.shape = shape
        self.unknown = unknown
        self.made: dict[str, Any] | None = None
        self.tag = tag


class Base(Struct, eq=False, kw_only=True, omit_defaults=True):
    """The base of records as msgspec knows it: nothing but notes."""

    _notes: Notes | UnsetType = struct_field(name=NOTES, default=UNSET)


@dataclass(slots=True)
class Field:
    """One field of a record: its name on the wire, and what holds where it is omitted.

    `constant`: it is always written, and needs no argument. `default` is the value of an omitted field, or `make` makes it.
    """

    name: str
    wire: str
    annotation: Any
    module: str
    is_required: bool
    constant: Any = ABSENT
    default: Any = UNSET
    make: Callable[[], Any] | None = None
    slot: Any = None
    meant: Any = None
    """What the annotation means, once somebody has asked."""

    def fresh(self) -> Any:
        """The value of the field where it is omitted."""
        return self.make() if self.make is not None else self.default

    def __get__(self, record: Any, owner: Any = None) -> Any:
        """What a record has in the field; where it is omitted, the default, which is made once if it can be changed in place."""
        if record is None:
            return self
        value = self.slot.__get__(record)
        if value is not UNSET or self.make is None:
            return self.default if value is UNSET else value
        notes = notes_for(record)
        if notes.made is None:
            notes.made = {}
        if self.name not in notes.made:
            notes.made[self.name] = self.make()
        return notes.made[self.name]

    def __set__(self, record: Any, value: Any) -> None:
        self.slot.__set__(record, value)


@dataclass
class Shape:
    """What is known of a class of records.

    `tag_field`, `tag` and `tag_name`: the constant that tells it from its siblings, and the attribute that has it. `known`: the tags that
    a class of unknown variants does not take. `extra` is the type of unnamed fields, `None` where they are refused; `drops`: they are
    dropped. `excluded` are the constants of other variants, by field. `is_judged`: the schema says more than the fields do. `is_odd`: it
    has names or a tag that msgspec does not write; its records have notes, so that nobody lets it try.
    """

    cls: type
    module: str
    fields: dict[str, Field]
    tag_field: str | None = None
    tag: Constant | None = None
    tag_name: str | None = None
    known: frozenset[Constant] | None = None
    extra: Any = Any
    drops: bool = False
    excluded: Mapping[str, tuple[Constant, ...]] = field(default_factory=dict[str, tuple[Constant, ...]])
    is_judged: bool = False
    is_odd: bool = False

    @property
    def is_unknown(self) -> bool:
        """Whether the class keeps variants that the schema does not know."""
        return self.known is not None

    @cached_property
    def by_name(self) -> dict[str, str]:
        """The Python names by those and by wire names."""
        found = {one.wire: one.name for one in self.fields.values()}
        if self.tag_name and self.tag_field and self.tag_name not in self.fields:
            found[self.tag_field] = self.tag_name
            found[self.tag_name] = self.tag_name
        return found | {name: name for name in self.fields}

    def wire_name(self, name: str) -> str:
        """The wire name of a field, or of the attribute that has the tag."""
        return self.fields[name].wire if name in self.fields else str(self.tag_field)

    @cached_property
    def wires(self) -> frozenset[str]:
        """The wire names of the fields, the tag among them."""
        tag = [self.tag_field] if self.tag_field is not None else []
        return frozenset([*(one.wire for one in self.fields.values()), *tag])

    @cached_property
    def required(self) -> frozenset[str]:
        """The wire names of the fields without which there is no object."""
        return frozenset(one.wire for one in self.fields.values() if one.is_required)

    @cached_property
    def takes_any_field(self) -> bool:
        """Whether nothing is said of unnamed fields, and all that is named is a field."""
        return self.extra is Any and not (self.drops or self.excluded or self.is_unknown)

    @cached_property
    def constants(self) -> dict[str, Constant]:
        """The constants that every object of the class has, by wire name."""
        found: dict[str, Constant] = {
            one.wire: one.constant for one in self.fields.values() if one.constant is not ABSENT
        }
        if self.tag_field is not None and self.tag is not None:
            found[self.tag_field] = self.tag
        return found

    def extra_type(self) -> Any:
        """The type of unnamed fields."""
        if self.extra is None:
            return Never
        return resolve(self.extra, self.module) if isinstance(self.extra, str) else self.extra


_NOTES: Final[Any] = Base.__dict__["_notes"]
keep_notes: Final[Any] = _NOTES.__set__
"""Gives a record its notes."""
make: Final[Any] = StructMeta.__call__
"""Makes a record without a check."""
put: Final[Any] = Struct.__setattr__
"""Puts a value into a record without a check."""


def shape_of(cls: Any) -> Shape:
    """What is known of a class of records."""
    found: Shape = cls.__shape__
    return found


def is_record(annotation: Any) -> TypeGuard[type[Base]]:
    """Whether an annotation is a class of records."""
    return isinstance(annotation, type) and issubclass(annotation, Base)


def held(record: Any, one: Field) -> Any:
    """What a record holds in a field; `UNSET` where it is omitted."""
    return one.slot.__get__(record)


def notes_of(record: Any) -> Notes | None:
    """The notes of a record, if it has some."""
    found = _NOTES.__get__(record)
    return None if found is UNSET else found


def notes_for(record: Any) -> Notes:
    """The notes of a record, which are made if there are none."""
    found = _NOTES.__get__(record)
    if found is UNSET:
        found = Notes(shape_of(type(record)))
        put(record, "_notes", found)
    return cast("Notes", found)


def made(cls: Any, values: Mapping[str, Any], unknown: dict[str, Any] | None = None, tag: Any = None) -> Any:
    """A record of values that were checked."""
    shape = shape_of(cls)
    if unknown or shape.is_unknown or shape.is_odd:
        return make(cls, _notes=Notes(shape, unknown, tag), **values)
    return make(cls, **values)


def values_of(record: Any) -> dict[str, Any]:
    """What is set in a record, by Python names."""
    fields = shape_of(type(record)).fields.values()
    found = {one.name: value for one in fields if (value := held(record, one)) is not UNSET}
    return found | {one.name: value for one, value in changed(record)}


def changed(record: Any) -> Iterator[tuple[Field, Any]]:
    """The defaults of a record that were read and changed in place: they count as set."""
    notes = notes_of(record)
    if notes is None or not notes.made:
        return
    fields = shape_of(type(record)).fields
    for name, value in notes.made.items():
        if held(record, fields[name]) is UNSET and value != fields[name].fresh():
            yield fields[name], value
