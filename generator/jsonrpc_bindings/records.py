"""The base classes of generated records."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import InitVar, dataclass, field, replace
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Literal,
    Never,
    Self,
    TypeAlias,
    cast,
    dataclass_transform,
)

import msgspec
from msgspec import UNSET, Struct, StructMeta, UnsetType
from msgspec import field as told

from .choices import Meta, resolve
from .json_types import is_object, is_sequence

__all__ = ["UNSET", "Meta", "Record", "Unknown", "UnknownTag", "UnsetType", "told"]

Constant: TypeAlias = "str | int | float | bool"

if TYPE_CHECKING:
    UnknownTag: TypeAlias = Literal["(unknown)"]
else:
    UnknownTag = str
"""The tag of an unknown variant. For type checkers it is none of the known ones: a comparison of tags tells variants apart."""

_ABSENT: Final = object()


NOTES: Final = "\x7f(notes)"
"""The name of notes, which no decoder takes and no text of JSON has that is written."""


if TYPE_CHECKING:

    class _Base:
        """For type checkers, a record is nothing but what its class says."""

    _BaseMeta = type
else:
    _Base, _BaseMeta = Struct, StructMeta


class Notes:
    """What a record holds beside its fields: unknown fields, defaults that were read, and the tag of an unknown variant.

    No encoder writes it, so that a record with notes is written by what knows them.
    """

    __slots__ = ("made", "tag", "tag_field", "unknown")

    def __init__(self, unknown: dict[str, Any] | None = None, tag: Any = None, tag_field: str | None = None) -> None:
        self.unknown = unknown
        self.made: dict[str, Any] | None = None
        self.tag = tag
        self.tag_field = tag_field


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
    constant: Any = _ABSENT
    default: Any = UNSET
    make: Callable[[], Any] | None = None
    slot: Any = None
    _resolved: Any = None

    @property
    def type(self) -> Any:
        """The annotation, without text in it."""
        if self._resolved is None:
            self._resolved = resolve(self.annotation, self.module)
        return self._resolved

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


@dataclass(slots=True)
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
    _by_name: dict[str, str] | None = None

    @property
    def is_unknown(self) -> bool:
        """Whether the class keeps variants that the schema does not know."""
        return self.known is not None

    @property
    def by_name(self) -> dict[str, str]:
        """The Python names by those and by wire names."""
        if self._by_name is None:
            found = {one.wire: one.name for one in self.fields.values()}
            if self.tag_name and self.tag_field and self.tag_name not in self.fields:
                found[self.tag_field] = self.tag_name
                found[self.tag_name] = self.tag_name
            self._by_name = found | {name: name for name in self.fields}
        return self._by_name

    @property
    def constants(self) -> dict[str, Constant]:
        """The constants that every object of the class has, by wire name."""
        found: dict[str, Constant] = {
            one.wire: one.constant for one in self.fields.values() if one.constant is not _ABSENT
        }
        if self.tag_field is not None and self.tag is not None:
            found[self.tag_field] = self.tag
        return found

    def extra_type(self) -> Any:
        """The type of unnamed fields."""
        if self.extra is None:
            return Never
        return resolve(self.extra, self.module) if isinstance(self.extra, str) else self.extra


class TagOfUnknown:
    """Reads the tag of an unknown variant."""

    __slots__ = ("cls", "name")

    def __init__(self, cls: Any, name: str) -> None:
        self.cls = cls
        self.name = name

    def __get__(self, record: Any, owner: type | None = None) -> Any:
        return self if record is None else notes_for(record).tag

    def __set__(self, record: Any, value: Any) -> None:
        notes_for(record).tag = value


def _words(one: Any) -> str | None:
    cls, name = (one.cls, one.name) if isinstance(one, TagOfUnknown) else (one.slot.__objclass__, one.slot.__name__)
    found: dict[str, str] = cls.__slots__
    return found.get(name)


for _one in (Field, TagOfUnknown):
    cast("Any", _one).__doc__ = property(_words)


@dataclass_transform(kw_only_default=True, field_specifiers=(told,))
class RecordMeta(_BaseMeta):
    """Makes the classes of records.

    A class statement takes, beside `tag_field` and `tag`: `known` (the tags that an unknown variant does not have), `extra` (the type of
    unnamed fields as text; `None` refuses them), `drop` (they are dropped), `excludes` (constants of other variants) and `judged` (the
    schema says more of it than its fields do).
    """

    def __new__(
        mcs,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        tag_field: str | None = None,
        tag: Constant | None = None,
        known: tuple[Constant, ...] | None = None,
        extra: Any = _ABSENT,
        drop: bool | None = None,
        excludes: Mapping[str, tuple[Constant, ...]] | None = None,
        judged: bool | None = None,
        init: bool = True,  # noqa: ARG004 - it tells type checkers that a base has the constructor
    ) -> Any:
        shapes = (cast("Any", one).__shape__ for one in bases if hasattr(one, "__shape__"))
        base: Shape = next(shapes, Shape(mcs, "", {}))
        module = namespace.get("__module__", "")
        tag_field = base.tag_field if tag_field is None else tag_field
        tag = base.tag if tag is None else tag
        is_unknown = known is not None or base.is_unknown  # then the notes have the tag
        own, tag_name = _own_fields(namespace, module, tag_field, is_unknown=is_unknown)
        is_odd = base.is_odd or any(_ODD.search(one.wire) for one in own.values())
        config: dict[str, Any] = {}
        if tag_field is not None and tag is not None and not is_unknown:
            is_odd = is_odd or type(tag) not in (str, int) or _ODD.search(tag_field) is not None
            config = {} if is_odd else {"tag_field": tag_field, "tag": tag}
        if is_odd and not is_unknown:
            namespace.setdefault("__annotations__", {})["_notes"] = "Notes"
            namespace["_notes"] = told(name=NOTES, default_factory=Notes)
        options: Any = {"kw_only": True, "omit_defaults": True, "eq": False, **config}
        cls: Any = super().__new__(mcs, name, bases, namespace, **options)
        shape = replace(
            base,
            cls=cls,
            module=module,
            fields=base.fields | own,
            tag_field=tag_field,
            tag=tag,
            tag_name=tag_name or base.tag_name,
            known=base.known if known is None else frozenset(known),
            extra=base.extra if extra is _ABSENT else extra,
            drops=base.drops if drop is None else drop,
            excluded=base.excluded if excludes is None else excludes,
            is_judged=base.is_judged if judged is None else judged,
            is_odd=is_odd,
            _by_name=None,
        )
        type.__setattr__(cls, "__shape__", shape)
        for one in own.values():
            one.slot = cls.__dict__.get(one.name) or base.fields[one.name].slot
            if not one.is_required and (one.make is not None or one.default is not UNSET):
                type.__setattr__(cls, one.name, one)
        if shape.is_unknown and tag_name is not None:
            type.__setattr__(cls, tag_name, TagOfUnknown(cls, tag_name))
        return cls

    if not TYPE_CHECKING:  # the signatures are those of the fields

        def __call__(cls, /, *args: Any, **given: Any) -> Any:  # noqa: N805
            from .construct import construct

            return construct(cls, args, given)

        @property
        def __signature__(cls) -> Any:  # noqa: N805
            from .construct import signature

            return signature(cls)


def _documentation(cls: Any) -> dict[str, str]:
    """What `inspect` looks up for a field that has no `__doc__` of its own."""
    from .documentation import documentation_of

    return documentation_of(cls)


cast("Any", RecordMeta).__slots__ = property(_documentation)


def _own_fields(
    namespace: dict[str, Any], module: str, tag_field: str | None, *, is_unknown: bool
) -> tuple[dict[str, Field], str | None]:
    """The fields that a class statement declares, and the attribute that has the tag; the namespace is made ready for msgspec."""
    found: dict[str, Field] = {}
    tag_name: str | None = None
    annotations: dict[str, Any] = namespace.get("__annotations__", {})
    for name, annotation in list(annotations.items()):
        text = annotation if isinstance(annotation, str) else ""
        if name == "_notes":
            continue
        if (inside := _CLASS_VAR.match(text)) is not None:
            if tag_field is not None and namespace.get(name) is not None and _LITERAL.match(text, inside.end()):
                tag_name = name
            if text.startswith("_"):  # which msgspec would take for a field
                del annotations[name]
            continue
        said = namespace.get(name, _ABSENT)
        wire, default, make = name, said, None
        if type(said) is _FIELD:
            wire = name if said.name is None else said.name
            default = _ABSENT if said.default is msgspec.NODEFAULT else said.default
            make = None if said.default_factory is msgspec.NODEFAULT else said.default_factory
        if isinstance(default, list | dict | set):
            make, default = _copier(cast("Any", default)), _ABSENT
        if is_unknown and wire == tag_field:
            tag_name = name
            del annotations[name]
            namespace.pop(name, None)
            continue
        is_constant = default is not _ABSENT and _is_constant(text, default)
        is_required = is_constant or (default is _ABSENT and make is None)
        found[name] = Field(
            *(name, wire, annotation, module, is_required),
            constant=default if is_constant else _ABSENT,
            default=UNSET if default is _ABSENT or is_constant else default,
            make=make,
        )
        if is_required:
            namespace.pop(name, None)
            if wire != name:
                namespace[name] = told(name=_written_name(wire, name))
        else:
            namespace[name] = told(name=_written_name(wire, name), default=UNSET)
    return found, tag_name


_FIELD: Final = cast("Any", type)(told())

_CLASS_VAR: Final = re.compile(r"(?:_|typing\.)?ClassVar\[")
_LITERAL: Final = re.compile(r"_?Literal\[(.*)\]", re.DOTALL)
"""A generated module has private names for what it imports where the schema has types that are called so."""


_ODD: Final = re.compile(r'^\Z|[\x00-\x1f"\\\ud800-\udfff]')
"""What no name of msgspec may have."""


def _written_name(wire: str, name: str) -> str:
    return wire if _ODD.search(wire) is None else f"{name}{NOTES}"


def _copier(default: Any) -> Callable[[], Any]:
    return lambda: type(default)(default)


def _is_constant(text: str, default: Any) -> bool:
    """Whether an annotation is the literal of one value, which is the default as well."""
    literal = _LITERAL.fullmatch(text)
    if literal is None:
        return False
    try:
        value: Any = ast.literal_eval(literal[1])
    except (ValueError, SyntaxError):
        return False
    return type(value) is type(default) and value == default


class Record(_Base, metaclass=RecordMeta):
    """A record of the protocol.

    A field that was omitted reads as its default, or as `UNSET` where the schema has none, and is omitted again when the record is
    written. A constructor takes fields by their Python names or by the schema's, and fields that the schema does not name in `extra`;
    it checks them, as an assignment does.
    """

    if TYPE_CHECKING:
        __shape__: ClassVar[Shape]
        extra: InitVar[Mapping[str, Any]] = told(default={})
    else:
        _notes: Notes | UnsetType = told(name=NOTES, default=UNSET)

    @property
    def unknown_fields(self) -> dict[str, Any]:
        """The fields that the schema does not name, as they came. They are written again, with those that are added here."""
        notes = notes_for(self)
        if notes.unknown is None:
            notes.unknown = {}
        return notes.unknown

    if not TYPE_CHECKING:  # type checkers know the fields

        def __setattr__(self, name: str, value: Any) -> None:
            from .construct import assign

            assign(self, name, value)

        def __delattr__(self, name: str) -> None:
            """Leave a field out again. Raises `AttributeError` for one that is required."""
            shape = shape_of(type(self))
            found = shape.fields.get(name)
            if found is None and name != shape.tag_name:
                raise AttributeError(f"{type(self).__name__!r} has no field {name!r}")
            if found is None or found.is_required:
                raise AttributeError(f"the field {name!r} is required")
            put(self, name, UNSET)
            notes = notes_of(self)
            if notes is not None and notes.made is not None:
                notes.made.pop(name, None)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Record) or type(self) is not type(other):
            return NotImplemented
        return _equal((values_of(self), *_beside(self)), (values_of(other), *_beside(other)))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = [f"{name}={value!r}" for name, value in self.__rich_repr__()]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __rich_repr__(self) -> Iterator[tuple[str, Any]]:
        shape = type(self).__shape__
        notes = notes_of(self)
        if shape.is_unknown and shape.tag_name:
            yield shape.tag_name, notes.tag if notes is not None else None
        for one in shape.fields.values():
            value = held(self, one)
            if value is not UNSET and one.constant is _ABSENT:
                yield one.name, value
        if notes is not None and notes.unknown:
            yield "extra", notes.unknown

    def __copy__(self) -> Self:
        copied: Self = _copied(self, lambda value: value)
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        from copy import deepcopy

        copied: Self = _copied(self, lambda value: deepcopy(value, memo))
        return copied

    def __replace__(self, /, **changes: Any) -> Self:
        """A copy with other values of some fields, which are checked."""
        made = self.__copy__()
        for name, value in changes.items():
            setattr(made, type(self).__shape__.by_name.get(name, name), value)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return made, (type(self), values_of(self), *_beside(self))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from .pydantic_guest import core_schema_of

        return core_schema_of(cls, handler)


class Unknown(Record):
    """A variant of an open or tolerated union that this version of the protocol does not know, kept as it came."""

    if TYPE_CHECKING:

        def __init__(self, *, extra: Mapping[str, Any] = ..., **fields: Any) -> None: ...
    else:
        _notes: Notes = told(name=NOTES)  # so that no decoder of msgspec makes one

    @property
    def tag(self) -> str:
        """The tag, as it came."""
        found: str = notes_for(self).tag
        return found

    @property
    def payload(self) -> dict[str, Any]:
        """The whole object as JSON, the tag included."""
        from .writers import plain

        found: dict[str, Any] = plain(self)
        return found

    @property
    def is_extension(self) -> bool:
        """Whether the tag is somebody's extension: it begins with an underscore."""
        return self.tag.startswith("_")

    @property
    def is_reserved(self) -> bool:
        """Whether the tag belongs to a future version of the protocol: it does not begin with an underscore."""
        return not self.is_extension


_NOTES: Final[Any] = Record.__dict__["_notes"]
keep_notes: Final[Any] = _NOTES.__set__
"""Gives a record its notes."""
make: Final[Any] = StructMeta.__call__
"""Makes a record without a check."""
put: Final[Any] = Struct.__setattr__
"""Puts a value into a record without a check."""
copy: Final[Any] = getattr(Struct, "__copy__")  # noqa: B009 - the stubs do not have it
"""Copies a record or a message with what it holds, its notes included."""


def shape_of(cls: Any) -> Shape:
    """What is known of a class of records."""
    found: Shape = cls.__shape__
    return found


def is_record(annotation: Any) -> bool:
    """Whether an annotation is a class of records."""
    return isinstance(annotation, type) and issubclass(annotation, Record)


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
        found = Notes()
        put(record, "_notes", found)
    return cast("Notes", found)


def made(cls: Any, values: Mapping[str, Any], unknown: dict[str, Any] | None = None, tag: Any = None) -> Any:
    """A record of values that were checked."""
    shape = shape_of(cls)
    if unknown or shape.is_unknown or shape.is_odd:
        return make(cls, _notes=Notes(unknown, tag, shape.tag_field if tag is not None else None), **values)
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


def _equal(mine: Any, theirs: Any) -> bool:
    """Whether two values are equal as JSON: true is not 1, at any depth."""
    waiting = [(mine, theirs)]
    while waiting:
        one: Any
        other: Any
        one, other = waiting.pop()
        if one is other:
            continue
        if (type(one) is bool) is not (type(other) is bool) or one != other:
            return False
        if is_object(one):
            waiting += [(item, other[key]) for key, item in one.items()]
        elif is_sequence(one):
            waiting += zip(one, other, strict=True)
    return True


def _beside(record: Any) -> tuple[dict[str, Any], Any]:
    """What a record holds beside its fields: unknown fields, and the tag of an unknown variant."""
    notes = notes_of(record)
    return ({}, None) if notes is None else (notes.unknown or {}, notes.tag)


def _copied(record: Any, copy_of: Callable[[Any], Any]) -> Any:
    unknown, tag = _beside(record)
    values = {name: copy_of(value) for name, value in values_of(record).items()}
    return made(type(record), values, copy_of(dict(unknown)), tag)
