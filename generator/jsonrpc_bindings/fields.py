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

    __slots__ = ("defaults", "form", "shape", "tag", "unknown")

    def __init__(
        self,
        shape: Shape | None = None,
        unknown: dict[str, Any] | None = None,
        tag: Any = None,
        form: Form = "value",
    ) -> None:
        self.shape = shape
        self.unknown = unknown
        self.defaults: dict[str, Any] | None = None
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

    def __eq__(self, value: object) -> bool:
        return self._is_equal(self, value) if isinstance(value, Noted) else NotImplemented

    def __ne__(self, value: object) -> bool:
        return not self == value

    @staticmethod
    def _is_equal(left: Any, right: Any) -> bool:
        """Whether two values are equal as JSON: true differs from 1, at any depth. Each part is compared once."""
        stack = [(left, right)]
        while stack:
            left, right = stack.pop()
            if left is right:
                continue
            if isinstance(left, Noted):
                if not isinstance(right, Noted) or left._kind is not right._kind:
                    return False
                stack.append((left._list_contents(), right._list_contents()))
            elif is_object(left):
                if not is_object(right) or left.keys() != right.keys():
                    return False
                stack += [(item, right[key]) for key, item in left.items()]
            elif is_sequence(left):
                if not is_sequence(right) or is_array(left) is not is_array(right) or len(left) != len(right):
                    return False
                stack += zip(left, right, strict=True)
            elif (type(left) is bool) is not (type(right) is bool) or left != right:
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
    resolved_type: Any = None
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
        notes = ensure_notes(record)
        if notes.defaults is None:
            notes.defaults = {}
        if self.name not in notes.defaults:
            notes.defaults[self.name] = self.make()
        return notes.defaults[self.name]

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
    known_tags: frozenset[Constant] | None = None
    extra: Any = Any
    drops: bool = False
    excluded: Mapping[str, tuple[Constant, ...]] = field(default_factory=dict[str, tuple[Constant, ...]])
    is_judged: bool = False
    is_odd: bool = False

    @property
    def is_unknown(self) -> bool:
        """Whether the class is for variants that the schema does not name."""
        return self.known_tags is not None

    @cached_property
    def by_name(self) -> dict[str, str]:
        """The Python names of the fields, by Python name and by wire name."""
        names = {field.wire: field.name for field in self.fields.values()}
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
        return frozenset([*(field.wire for field in self.fields.values()), *tag])

    @cached_property
    def required(self) -> frozenset[str]:
        """The wire names of the required fields."""
        return frozenset(field.wire for field in self.fields.values() if field.is_required)

    def fits(self, value: Any) -> bool:
        """Whether a value is an object with the required fields and the constants of the class."""
        if not (value.__class__ is dict or is_mapping(value)) or not value.keys() >= self.required:
            return False
        if self.known_tags is not None:
            tag = value.get(self.tag_field)
            return isinstance(tag, str) and tag not in self.known_tags
        return all(is_one_of(value.get(wire, UNSET), (constant,)) for wire, constant in self.constants.items())

    @cached_property
    def takes_any_field(self) -> bool:
        """Whether unnamed fields are unrestricted, and every named one is a field."""
        return self.extra is Any and not (self.drops or self.excluded or self.is_unknown)

    @cached_property
    def constants(self) -> dict[str, Constant]:
        """The constants that all objects of the class have, by wire name."""
        by_wire_name: dict[str, Constant] = {
            field.wire: field.constant for field in self.fields.values() if field.constant is not ABSENT
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


def get_shape(cls: Any) -> Shape:
    """The description of a record class."""
    shape: Shape = cls.__shape__
    return shape


def is_record(annotation: Any) -> TypeGuard[type[Base]]:
    """Whether an annotation is a record class."""
    return isinstance(annotation, type) and issubclass(annotation, Base)


def get_value(record: Any, field: Field) -> Any:
    """The value that a record holds in a field; `UNSET` if it is omitted."""
    return field.slot.__get__(record)


def get_notes(record: Any) -> Notes | None:
    """The notes of a record or a message; `None` if it has none."""
    notes = _NOTES.__get__(record)
    return None if notes is UNSET else notes


def get_unknown_fields(record: Any) -> dict[str, Any]:
    """The unknown fields of a record, or the further members of a message, to read only."""
    notes = get_notes(record)
    return {} if notes is None or notes.unknown is None else notes.unknown


def ensure_notes(record: Any) -> Notes:
    """The notes of a record or a message; they are created if there are none."""
    notes = _NOTES.__get__(record)
    if notes is UNSET:
        cls: Any = record.__class__
        notes = Notes(getattr(cls, "__shape__", None))
        put(record, "_notes", notes)
    return cast("Notes", notes)


def ensure_unknown_fields(record: Any) -> dict[str, Any]:
    """The unknown fields of a record, or the further members of a message, to read and to change."""
    notes = ensure_notes(record)
    if notes.unknown is None:
        notes.unknown = {}
    return notes.unknown


def make_record(cls: Any, values: Mapping[str, Any], unknown: dict[str, Any] | None = None, tag: Any = None) -> Any:
    """Create a record from validated values."""
    shape = get_shape(cls)
    if unknown or shape.is_unknown or shape.is_odd:
        return make(cls, _notes=Notes(shape, unknown, tag), **values)
    return make(cls, **values)


def get_values(record: Any) -> dict[str, Any]:
    """The fields that are set in a record, by Python name."""
    changes = {field.name: value for field, value in list_changed_defaults(record)}
    fields = get_shape(type(record)).fields.values()
    return {
        field.name: value
        for field in fields
        if (value := changes.get(field.name, get_value(record, field))) is not UNSET
    }


def list_changed_defaults(record: Any) -> Iterator[tuple[Field, Any]]:
    """Yield the defaults of a record that were read and modified in place: they count as set."""
    notes = get_notes(record)
    if notes is None or not notes.defaults:
        return
    fields = get_shape(type(record)).fields
    for name, value in notes.defaults.items():
        if get_value(record, fields[name]) is UNSET and value != fields[name].make_default():
            yield fields[name], value
