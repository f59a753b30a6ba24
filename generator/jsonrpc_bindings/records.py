"""The base classes of generated records."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import InitVar, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self, TypeAlias, cast, dataclass_transform

import msgspec
from msgspec import UNSET, StructMeta, UnsetType, field

from .annotations import Meta
from .construct import assign, build_signature, construct
from .documentation import read_docstrings
from .fields import (
    ABSENT,
    NOTES,
    UNKNOWN,
    Base,
    Constant,
    Field,
    Notes,
    Shape,
    ensure_notes,
    ensure_unknown_fields,
    get_notes,
    get_shape,
    get_unknown_fields,
    get_value,
    get_values,
    make_record,
    put,
)
from .writers import to_plain

__all__ = ["UNSET", "Meta", "Record", "Unknown", "UnknownTag", "UnsetType", "field"]

if TYPE_CHECKING:
    UnknownTag: TypeAlias = Literal["(unknown)"]
else:
    UnknownTag = str
"""The tag of an unknown variant. For type checkers it is none of the known ones: a comparison of tags tells variants apart."""

if TYPE_CHECKING:

    class _Base:
        """For type checkers, a record only has what its class declares."""

    _BaseMeta = type
else:
    _Base, _BaseMeta = Base, StructMeta


class TagOfUnknown:
    """The descriptor of the tag of an unknown variant."""

    __slots__ = ("cls", "name")

    def __init__(self, cls: Any, name: str) -> None:
        self.cls = cls
        self.name = name

    def __get__(self, record: Any, owner: type | None = None) -> Any:
        return self if record is None else ensure_notes(record).tag


def _describe(descriptor: Any) -> str | None:
    cls, name = (
        (descriptor.cls, descriptor.name)
        if isinstance(descriptor, TagOfUnknown)
        else (descriptor.slot.__objclass__, descriptor.slot.__name__)
    )
    docstrings: dict[str, str] = cls.__slots__
    return docstrings.get(name)


for _descriptor in (Field, TagOfUnknown):
    cast("Any", _descriptor).__doc__ = property(_describe)


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class RecordMeta(_BaseMeta):
    """The metaclass of record classes.

    A class statement takes, beside `tag_field` and `tag`: `known` (the tags that an unknown variant cannot have), `extra` (the type of
    unnamed fields, or its text; `None` rejects them), `drop` (they are dropped), `excludes` (constants of other variants) and `judged` (the
    schema is stricter than the fields).
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
        extra: Any = ABSENT,
        drop: bool | None = None,
        excludes: Mapping[str, tuple[Constant, ...]] | None = None,
        judged: bool | None = None,
        init: bool = True,  # noqa: ARG004 - it tells type checkers that a base has the constructor
    ) -> Any:
        shapes = (cast("Any", base_class).__shape__ for base_class in bases if hasattr(base_class, "__shape__"))
        base: Shape = next(shapes, Shape(mcs, "", {}))
        module = namespace.get("__module__", "")
        tag_field = base.tag_field if tag_field is None else tag_field
        tag = base.tag if tag is None else tag
        is_unknown = known is not None or base.is_unknown  # then the notes have the tag
        fields, tag_name = _collect_fields(namespace, module, tag_field, is_unknown=is_unknown)
        is_odd = base.is_odd or any(_ODD.search(descriptor.wire) for descriptor in fields.values())
        config: dict[str, Any] = {}
        if tag_field is not None and (is_unknown or tag is not None):
            is_odd = is_odd or (not is_unknown and type(tag) not in (str, int)) or _ODD.search(tag_field) is not None
            config = {} if is_odd else {"tag_field": tag_field, "tag": UNKNOWN if is_unknown else tag}
        if is_odd and not is_unknown:
            namespace.setdefault("__annotations__", {})["_notes"] = "Notes"
            namespace["_notes"] = field(name=NOTES, default_factory=Notes)
        options: Any = {"kw_only": True, "omit_defaults": True, "eq": False, **config}
        cls: Any = super().__new__(mcs, name, bases, namespace, **options)
        shape = replace(
            base,
            cls=cls,
            module=module,
            fields=base.fields | fields,
            tag_field=tag_field,
            tag=tag,
            tag_name=tag_name or base.tag_name,
            known_tags=base.known_tags if known is None else frozenset(known),
            extra=base.extra if extra is ABSENT else extra,
            drops=base.drops if drop is None else drop,
            excluded=base.excluded if excludes is None else excludes,
            is_judged=base.is_judged if judged is None else judged,
            is_odd=is_odd,
        )
        type.__setattr__(cls, "__shape__", shape)
        for descriptor in fields.values():
            descriptor.slot = cls.__dict__.get(descriptor.name) or base.fields[descriptor.name].slot
            if not descriptor.is_required and (descriptor.make is not None or descriptor.default is not UNSET):
                type.__setattr__(cls, descriptor.name, descriptor)
        if shape.is_unknown and tag_name is not None:
            type.__setattr__(cls, tag_name, TagOfUnknown(cls, tag_name))
        return cls

    if not TYPE_CHECKING:  # the signatures are those of the fields

        def __call__(cls, /, *args: Any, **arguments: Any) -> Any:  # noqa: N805
            return construct(cls, args, arguments)

        @property
        def __signature__(cls) -> Any:  # noqa: N805
            return build_signature(cls)


cast("Any", RecordMeta).__slots__ = property(read_docstrings)
"""What `inspect` looks up for a field without a `__doc__` of its own."""


def _collect_fields(
    namespace: dict[str, Any], module: str, tag_field: str | None, *, is_unknown: bool
) -> tuple[dict[str, Field], str | None]:
    """The fields that a class statement declares, and the attribute that has the tag; the namespace is prepared for msgspec."""
    own_fields: dict[str, Field] = {}
    tag_name: str | None = None
    annotations: dict[str, Any] = namespace.get("__annotations__", {})
    for name, annotation in list(annotations.items()):
        text = annotation if isinstance(annotation, str) else ""
        if (inside := _CLASS_VAR.match(text)) is not None:
            if tag_field is not None and namespace.get(name) is not None and _LITERAL.match(text, inside.end()):
                tag_name = name
            if text.startswith("_"):  # which msgspec would take for a field
                del annotations[name]
            continue
        class_value = namespace.get(name, ABSENT)
        wire, default, make = name, class_value, None
        if type(class_value) is _FIELD:
            wire = name if class_value.name is None else class_value.name
            default = ABSENT if class_value.default is msgspec.NODEFAULT else class_value.default
            make = None if class_value.default_factory is msgspec.NODEFAULT else class_value.default_factory
        if isinstance(default, list | dict | set):
            make, default = _make_copier(cast("Any", default)), ABSENT
        if is_unknown and wire == tag_field:
            tag_name = name
            del annotations[name]
            namespace.pop(name, None)
            continue
        is_constant = default is not ABSENT and _is_constant(text, default)
        is_required = is_constant or (default is ABSENT and make is None)
        own_fields[name] = Field(
            *(name, wire, annotation, module, is_required),
            constant=default if is_constant else ABSENT,
            default=UNSET if default is ABSENT or is_constant else default,
            make=make,
        )
        if is_required:
            namespace.pop(name, None)
            if wire != name:
                namespace[name] = field(name=_write_name(wire, name))
        else:
            namespace[name] = field(name=_write_name(wire, name), default=UNSET)
    return own_fields, tag_name


_FIELD: Final = cast("Any", type)(field())

_CLASS_VAR: Final = re.compile(r"(?:_|typing\.)?ClassVar\[")
_LITERAL: Final = re.compile(r"_?Literal\[(.*)\]", re.DOTALL)
"""A `Literal` annotation. A generated module imports it under a private name if the schema has a type with this name."""


_ODD: Final = re.compile(r'^\Z|[\x00-\x1f\x7f"\\\ud800-\udfff]')
"""What no field name or tag for msgspec may contain; it may not be empty either."""


def _write_name(wire: str, name: str) -> str:
    return wire if _ODD.search(wire) is None else f"{name}{NOTES}"


def _make_copier(default: Any) -> Callable[[], Any]:
    return lambda: type(default)(default)


def _is_constant(text: str, default: Any) -> bool:
    """Whether an annotation is a literal of one value that is also the default."""
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

    An omitted field reads as its default, or as `UNSET` if the schema has none, and is omitted again when the record is encoded. A
    constructor takes fields by their Python names or by those of the schema, and fields that the schema does not name in `extra`.
    Constructors and assignments validate.
    """

    if TYPE_CHECKING:
        __shape__: ClassVar[Shape]
        extra: InitVar[Mapping[str, Any]] = field(default={})

    @property
    def unknown_fields(self) -> dict[str, Any]:
        """The fields that the schema does not name, as received. They are encoded again, with those that are added here."""
        return ensure_unknown_fields(self)

    if not TYPE_CHECKING:  # type checkers know the fields

        def __setattr__(self, name: str, value: Any) -> None:
            assign(self, name, value)

        def __delattr__(self, name: str) -> None:
            """Omit a field again. Raises `AttributeError` if it is required."""
            shape = get_shape(type(self))
            definition = shape.fields.get(name)
            if definition is None and name != shape.tag_name:
                raise AttributeError(f"{type(self).__name__!r} has no field {name!r}")
            if definition is None or definition.is_required:
                raise AttributeError(f"the field {name!r} is required")
            put(self, name, UNSET)
            notes = get_notes(self)
            if notes is not None and notes.defaults is not None:
                notes.defaults.pop(name, None)

    def __rich_repr__(self) -> Iterator[tuple[str, Any]]:
        shape = type(self).__shape__
        notes = get_notes(self)
        if shape.is_unknown and shape.tag_name:
            yield shape.tag_name, notes.tag if notes is not None else None
        for descriptor in shape.fields.values():
            value = get_value(self, descriptor)
            if value is not UNSET and descriptor.constant is ABSENT:
                yield descriptor.name, value
        if unknown := get_unknown_fields(self):
            yield "extra", unknown

    def __replace__(self, /, **changes: Any) -> Self:
        """A copy with new values of some fields, which are validated."""
        result = copy(self)
        for name, value in changes.items():
            setattr(result, type(self).__shape__.by_name.get(name, name), value)
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return make_record, (type(self), *self._list_contents())

    def _list_contents(self) -> tuple[Any, ...]:
        notes = get_notes(self)
        return get_values(self), dict(get_unknown_fields(self)), None if notes is None else notes.tag


class Unknown(Record):
    """A variant of an open or tolerated union that this version of the protocol does not define, kept as received."""

    if TYPE_CHECKING:

        def __init__(self, *, extra: Mapping[str, Any] = ..., **fields: Any) -> None: ...

    @property
    def tag(self) -> str:
        """The tag, as received."""
        value: str = ensure_notes(self).tag
        return value

    @property
    def payload(self) -> dict[str, Any]:
        """The whole object as JSON, including the tag."""
        value: dict[str, Any] = to_plain(self)
        return value

    @property
    def is_extension(self) -> bool:
        """Whether the tag is an extension: it begins with an underscore."""
        return self.tag.startswith("_")

    @property
    def is_reserved(self) -> bool:
        """Whether the tag is reserved for future versions of the protocol: it does not begin with an underscore."""
        return not self.is_extension
