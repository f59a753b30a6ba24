"""The description of record classes, and the contents of records: fields, and notes beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, Never, TypeAlias, TypeGuard, cast

from msgspec import UNSET, Struct, StructMeta, UnsetType
from msgspec import field as struct_field

from .annotations import resolve
from .json_types import is_array, is_mapping, is_object, is_one_of, is_sequence

Constant: TypeAlias = "str | int | float | bool"

ABSENT: Final = object()

NOTES: Final = "\x7f(notes)"
"""The member name of notes. No decoder accepts it, and it occurs in no JSON text that is written."""


UNKNOWN: Final = "\0(unknown)"
"""The tag that msgspec uses for classes of unknown variants. In JSON text it can only be written with an escape."""


Form: TypeAlias = Literal["value", "null", "absent"]
"""The form of params or a result on the wire. `null` and `absent` are decoded as an empty object and encoded as they were."""


class Notes:
    """What a record holds beside its fields: unknown fields, defaults that were read, and the tag of an unknown variant.

    A message holds its further members, and the form of its payload. msgspec cannot encode notes, so that records with notes are written
    by `write_with_notes`.
    """

    __slots__ = ("form", "made", "shape", "tag", "unknown")

    def __init__(
        self,
        shape: Shape | None = None,
        unknown: dict[str, Any] | None = None,
        tag: Any = None,
        form: Form = "value",
    ) -> None:
        self.shape = shape
        self.unknown = unknown
        self.made: dict[str, Any] | None = None
        self.tag = tag
        self.form: Form = form


class Noted(Struct, eq=False, kw_only=True, omit_defaults=True):
    """A record or a message for msgspec; it only has notes."""

    _notes: Notes | UnsetType = struct_field(name=NOTES, default=UNSET)

    @property
    def _kind(self) -> type:
        """The public class."""
        return type(self)

    def _list_contents(self) -> Any:
        """The values that equal objects have in common."""

    def __rich_repr__(self) -> Iterator[tuple[str, Any]]:  # type: ignore[override]
        yield from ()

    def __eq__(self, other: object) -> bool:
        return self._is_equal(self, other) if isinstance(other, Noted) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other

    @staticmethod
    def _is_equal(mine: Any, theirs: Any) -> bool:
        """Whether two values are equal as JSON: true differs from 1, at any depth. Each part is compared once."""
        waiting = [(mine, theirs)]
        while waiting:
            one: Any
            other: Any
            one, other = waiting.pop()
            if one is other:
                continue
            if isinstance(one, Noted):
                if not isinstance(other, Noted) or one._kind is not other._kind:
                    return False
                waiting.append((one._list_contents(), other._list_contents()))
            elif is_object(one):
                if not is_object(other) or one.keys() != other.keys():
                    return False
                waiting += [(item, other[key]) for key, item in one.items()]
            elif is_sequence(one):
                if not is_sequence(other) or is_array(one) is not is_array(other) or len(one) != len(other):
                    return False
                waiting += zip(one, other, strict=True)
            elif (type(one) is bool) is not (type(other) is bool) or one != other:
                return False
        return True

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{self._kind.__name__}({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"

    def __copy__(self) -> Any:
        function, arguments = cast("Any", self.__reduce__())
        return function(*arguments)


class Base(Noted, eq=False, kw_only=True, omit_defaults=True):
    """The base class of records for msgspec."""


@dataclass(slots=True)
class Field:
    """One field of a record: its name on the wire, and its default.

    `constant`: it is always written, and needs no argument. `default` is the value of an omitted field, unless `make` creates it.
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
    """The resolved type of the annotation; set on first use."""

    def make_default(self) -> Any:
        """The value of the field if it is omitted."""
        return self.make() if self.make is not None else self.default

    def __get__(self, record: Any, owner: Any = None) -> Any:
        """The value of the field in a record; if it is omitted, the default. A mutable default is created once per record."""
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
    """The description of a record class.

    `tag_field`, `tag` and `tag_name`: the constant that distinguishes it from its siblings, and the attribute that has it. `known`: the
    tags that a class of unknown variants does not accept. `extra` is the type of unnamed fields, `None` if they are rejected; `drops`:
    they are dropped. `excluded` are the constants of other variants, by field. `is_judged`: the schema is stricter than the fields.
    `is_odd`: it has names or a tag that msgspec cannot write; its records have notes, so that msgspec does not encode them.
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
        """Whether the class is for variants that the schema does not name."""
        return self.known is not None

    @cached_property
    def by_name(self) -> dict[str, str]:
        """The Python names of the fields, by Python name and by wire name."""
        names = {one.wire: one.name for one in self.fields.values()}
        if self.tag_name and self.tag_field and self.tag_name not in self.fields:
            names[self.tag_field] = self.tag_name
            names[self.tag_name] = self.tag_name
        return names | {name: name for name in self.fields}

    def find_wire_name(self, name: str) -> str:
        """The wire name of a field, or of the attribute for the tag."""
        return self.fields[name].wire if name in self.fields else str(self.tag_field)

    @cached_property
    def wires(self) -> frozenset[str]:
        """The wire names of the fields, including the tag."""
        tag = [self.tag_field] if self.tag_field is not None else []
        return frozenset([*(one.wire for one in self.fields.values()), *tag])

    @cached_property
    def required(self) -> frozenset[str]:
        """The wire names of the required fields."""
        return frozenset(one.wire for one in self.fields.values() if one.is_required)

    def fits(self, value: Any) -> bool:
        """Whether a value is an object with the required fields and the constants of the class."""
        if not (value.__class__ is dict or is_mapping(value)) or not value.keys() >= self.required:
            return False
        if self.known is not None:
            tag = value.get(self.tag_field)
            return isinstance(tag, str) and tag not in self.known
        return all(is_one_of(value.get(wire, UNSET), (constant,)) for wire, constant in self.constants.items())

    @cached_property
    def takes_any_field(self) -> bool:
        """Whether unnamed fields are unrestricted, and every named one is a field."""
        return self.extra is Any and not (self.drops or self.excluded or self.is_unknown)

    @cached_property
    def constants(self) -> dict[str, Constant]:
        """The constants that all objects of the class have, by wire name."""
        by_wire_name: dict[str, Constant] = {
            one.wire: one.constant for one in self.fields.values() if one.constant is not ABSENT
        }
        if self.tag_field is not None and self.tag is not None:
            by_wire_name[self.tag_field] = self.tag
        return by_wire_name

    def get_extra_type(self) -> Any:
        """The type of unnamed fields."""
        if self.extra is None:
            return Never
        return resolve(self.extra, self.module)


_NOTES: Final[Any] = Noted.__dict__["_notes"]
keep_notes: Final[Any] = _NOTES.__set__
"""Sets the notes of a record or a message."""
make: Final[Any] = StructMeta.__call__
"""Creates a record without validation."""
put: Final[Any] = Struct.__setattr__
"""Sets a field of a record without validation."""


def shape_of(cls: Any) -> Shape:
    """The description of a record class."""
    shape: Shape = cls.__shape__
    return shape


def is_record(annotation: Any) -> TypeGuard[type[Base]]:
    """Whether an annotation is a record class."""
    return isinstance(annotation, type) and issubclass(annotation, Base)


def get_value(record: Any, one: Field) -> Any:
    """The value that a record holds in a field; `UNSET` if it is omitted."""
    return one.slot.__get__(record)


def notes_of(record: Any) -> Notes | None:
    """The notes of a record or a message; `None` if it has none."""
    notes = _NOTES.__get__(record)
    return None if notes is UNSET else notes


def get_unknown_fields(record: Any) -> dict[str, Any]:
    """The unknown fields of a record, or the further members of a message, to read only."""
    notes = notes_of(record)
    return {} if notes is None or notes.unknown is None else notes.unknown


def notes_for(record: Any) -> Notes:
    """The notes of a record or a message; they are created if there are none."""
    notes = _NOTES.__get__(record)
    if notes is UNSET:
        cls: Any = record.__class__
        notes = Notes(getattr(cls, "__shape__", None))
        put(record, "_notes", notes)
    return cast("Notes", notes)


def unknown_fields_of(record: Any) -> dict[str, Any]:
    """The unknown fields of a record, or the further members of a message, to read and to change."""
    notes = notes_for(record)
    if notes.unknown is None:
        notes.unknown = {}
    return notes.unknown


def make_record(cls: Any, values: Mapping[str, Any], unknown: dict[str, Any] | None = None, tag: Any = None) -> Any:
    """Create a record from validated values."""
    shape = shape_of(cls)
    if unknown or shape.is_unknown or shape.is_odd:
        return make(cls, _notes=Notes(shape, unknown, tag), **values)
    return make(cls, **values)


def values_of(record: Any) -> dict[str, Any]:
    """The fields that are set in a record, by Python name."""
    changes = {one.name: value for one, value in list_changed_defaults(record)}
    fields = shape_of(type(record)).fields.values()
    return {one.name: value for one in fields if (value := changes.get(one.name, get_value(record, one))) is not UNSET}


def list_changed_defaults(record: Any) -> Iterator[tuple[Field, Any]]:
    """Yield the defaults of a record that were read and modified in place: they count as set."""
    notes = notes_of(record)
    if notes is None or not notes.made:
        return
    fields = shape_of(type(record)).fields
    for name, value in notes.made.items():
        if get_value(record, fields[name]) is UNSET and value != fields[name].make_default():
            yield fields[name], value
