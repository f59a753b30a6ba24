"""What msgspec reads of the types of a protocol: the annotations that it is given in place of those that people read.

A type that msgspec would read otherwise than a reader is read by the reader, from a hook. A branch of a union that it cannot tell from
others is left out: msgspec refuses its values, and the general way reads them.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from threading import RLock
from types import NoneType
from typing import Annotated, Any, Final, Literal, Union, cast, get_args, get_origin

import msgspec
from msgspec import UnsetType

from .choices import Alias, Meta, Number, Tagged, bare, marker_of, members
from .json_types import Mismatch
from .parse import colons_of, float_of
from .readers import Read, is_fallback, is_object_type, is_record, reader, told_by_tags
from .records import Notes, Record, Shape, keep_notes, shape_of
from .texts import is_texts

_ONE_AT_A_TIME: Final = RLock()


class Hook:
    """A place in a type that a reader reads."""

    read: Read


class Never(Hook):
    """A place in a type that msgspec reads never."""

    @staticmethod
    def read(_: Any) -> Any:
        """Refuse a value."""
        raise Mismatch


class Hooked(type):
    """Makes hooks: what a reader made is an instance of each."""

    def __instancecheck__(cls, instance: object) -> bool:
        return True


def hook(type_: Any, value: Any) -> Any:
    """Read the value of a hook."""
    read = getattr(type_, "read", None)
    if read is None:
        raise Mismatch
    return read(value)


def decoder(type_: Any) -> msgspec.json.Decoder[Any]:
    """What reads JSON text as a type whose classes are prepared."""
    with _ONE_AT_A_TIME:  # msgspec shows what it knows of a class before it knows all of it
        return msgspec.json.Decoder(type_, dec_hook=hook, float_hook=float_of)


def native(annotation: Any) -> Any:
    """What msgspec is told of an annotation; the classes in it are prepared."""
    with _ONE_AT_A_TIME:  # nobody makes a decoder of a class that is half prepared
        found = _closed(annotation)
        while _WAITING:
            prepare(_WAITING.pop())
        return found


def _closed(annotation: Any) -> Any:
    found = _open(annotation)
    classes = [one for one in members(found) if is_record(one)]
    if len(classes) != 1 or classes[0].__struct_config__.tag_field is None:
        return found
    config = classes[0].__struct_config__
    key: Any = config.tag_field, type(config.tag)
    if key not in _BESIDE:
        tag = "\0" if key[1] is str else -1
        _BESIDE[key] = msgspec.defstruct("Beside", [("never", Never)], tag_field=key[0], tag=tag)
    return Union[found, _BESIDE[key]]  # noqa: UP007 - msgspec asks for the tag of one of several classes only


_BESIDE: Final[dict[tuple[str, type], Any]] = {}


def _open(annotation: Any) -> Any:
    """The same, of which a class with a tag may be the only one."""
    if isinstance(annotation, Alias):
        found = _ALIASES.get(annotation)
        if found is None:
            _ALIASES[annotation] = _hook(reader(annotation))  # what refers to itself is read there
            found = _ALIASES[annotation] = Never if annotation.judged else _told(annotation, *bare(annotation))
        return found
    return _told(annotation, *bare(annotation))


_ALIASES: Final[dict[Alias, Any]] = {}


def _told(annotation: Any, inner: Any, markers: tuple[Any, ...]) -> Any:
    bounds = [one for one in markers if isinstance(one, Meta)]
    found = _native(annotation, inner, markers)
    if not bounds or inner is Any:
        return found
    if inner in (str, int) or get_origin(inner) in (list, dict):
        limits = (
            {name: limit for name in Meta.__slots__ if (limit := getattr(one, name)) is not None} for one in bounds
        )
        return Annotated[cast("Any", (found, *(msgspec.Meta(**one) for one in limits)))]
    return _hook(reader(annotation))


def _hook(read: Read) -> Any:
    return Hooked("Hook", (Hook,), {"read": staticmethod(read)})


def _native(annotation: Any, inner: Any, markers: tuple[Any, ...]) -> Any:
    if inner is Any or inner is object:
        return Any
    if inner in (str, int, bool, NoneType):
        return inner
    if inner is typing.Never:
        return Never
    if inner is float or inner is Number:
        return _NUMBER
    if is_record(inner):
        if inner not in _PREPARED:
            _PREPARED.add(inner)
            _WAITING.append(inner)  # classes refer to one another in chains that are longer than the stack
        shape = shape_of(inner)
        if shape.is_odd or any(one.wire in shape.excluded for one in shape.fields.values()):
            return _hook(reader(inner))
        return Never if shape.is_judged else inner
    origin = get_origin(inner)
    if is_texts(inner):
        return inner
    if origin is Literal:
        kinds: set[Any] = {type(one) for one in get_args(inner)}
        return inner if len(kinds) == 1 and kinds <= {str, int} else _hook(reader(annotation))
    if origin is list or inner is list:
        return list[_closed(get_args(inner)[0]) if origin is list else Any]  # type: ignore[misc]
    if origin is dict or inner is dict:
        return dict[str, _closed(get_args(inner)[1]) if origin is dict else Any]  # type: ignore[misc]
    if origin is tuple:
        return _hook(reader(annotation))
    return _union(annotation, members(inner), markers)


class _Number(Hook, metaclass=Hooked):
    read = staticmethod(reader(Number))


_NUMBER: Final[Any] = _Number


def _union(annotation: Any, branches: tuple[Any, ...], markers: tuple[Any, ...]) -> Any:
    marker = marker_of(markers)
    rest = tuple(one for one in branches if one is not NoneType)
    if not rest:
        return NoneType
    if marker is None and len(rest) > 1:
        marker = told_by_tags(rest)
        found = _by_tag(rest, marker) if marker is not None else None
        if found is not None:
            return found if len(rest) == len(branches) else Union[found, None]  # noqa: UP007
        marker = None
    if isinstance(marker, Tagged):
        told_apart = _by_tag(branches, marker)
        return told_apart if told_apart is not None else _hook(reader(annotation))
    if marker is not None:
        types = [_open(one) for one in branches]
        kinds = [_kind(one) for one in types]
        distinct = len(set(kinds)) == len(kinds) and not {"hook", "any", "object"} & set(kinds)
        return Union[tuple(types)] if distinct else _hook(reader(annotation))  # noqa: UP007
    found = _open(rest[0]) if len(rest) == 1 else _distinct(rest)
    if found is None:
        found = _hook(reader(Union[rest]))  # noqa: UP007
    if len(rest) == len(branches):
        return found
    return found if found is Any else Union[found, None]  # noqa: UP007


def _distinct(branches: tuple[Any, ...]) -> Any:
    """A union whose branches msgspec tells apart by their JSON types or their tags; `None` if it does not."""
    types = [each for one in branches for each in members(_open(one))]
    structs = [one for one in types if _kind(one) == "object" and is_record(one)]
    others = [one for one in types if one not in structs]
    kinds = [_kind(one) for one in others]
    if {"hook", "any"} & set(kinds) or (structs and "object" in kinds):
        return None
    if set(kinds) == {"string"}:  # constants beside which any text may stand
        return str if str in others else None if len(others) > 1 or structs else Union[tuple(types)]  # noqa: UP007
    if len(set(kinds)) != len(kinds):
        return None
    if len(structs) > 1:
        fields = {one.__struct_config__.tag_field for one in structs}
        tags = [one.__struct_config__.tag for one in structs]
        if len(fields) != 1 or None in fields or len(set(tags)) != len(tags):
            return None
    return Union[tuple(types)]  # noqa: UP007


def _kind(type_: Any) -> str:
    inner, _ = bare(type_)
    if inner is Any:
        return "any"
    if inner in (str, int, bool):
        return {str: "string", int: "integer", bool: "boolean"}[inner]
    if inner is NoneType:
        return "null"
    if is_record(inner) or get_origin(inner) is dict:
        return "object"
    if get_origin(inner) is list:
        return "array"
    if is_texts(inner):
        return "string"
    if get_origin(inner) is Literal:
        return "string" if isinstance(get_args(inner)[0], str) else "integer"
    return "hook"


def _by_tag(branches: tuple[Any, ...], marker: Tagged) -> Any:
    """The union of the classes that msgspec tells apart by the tag; `None` if there are none, or others beside them."""
    told: dict[Any, list[Any]] = {}
    for branch in branches:
        if is_fallback(branch, marker.field):
            continue
        inner, _ = bare(branch)
        if not is_object_type(branch):
            return None
        if is_record(inner) and inner.__struct_config__.tag_field == marker.field:
            told.setdefault(inner.__struct_config__.tag, []).append(inner)
            continue
        constants = _tags(branch, marker.field)
        if constants is None:  # a default branch: a class without the tag
            return None
        for tag in constants:
            told.setdefault(tag, []).extend((branch, branch))
    if marker.default_admits_known or marker.exclusive:
        return None
    found = [_open(owners[0]) for owners in told.values() if len(owners) == 1]
    return Union[tuple(found)] if found and Never not in found else None  # noqa: UP007


def _tags(branch: Any, wire: str) -> tuple[Any, ...] | None:
    from .readers import constants_of

    return constants_of(branch, wire)


_PREPARED: Final[set[type]] = set()
_WAITING: Final[list[Any]] = []
"""Classes that are to be prepared."""


def prepare(cls: Any) -> None:
    """Give msgspec the annotations of a class. Those that it refers to wait."""
    shape = shape_of(cls)
    found: dict[str, Any] = {}
    for one in shape.fields.values():
        type_ = _closed(one.type)
        found[one.name] = type_ if one.is_required else Union[type_, UnsetType]  # noqa: UP007
    found["_notes"] = Notes if shape.is_unknown or shape.is_odd else Union[Notes, UnsetType]  # noqa: UP007
    type.__setattr__(cls, "__annotations__", found)


# --- unknown fields of what msgspec read ---


def note(record: Any, value: Any, left: int) -> int:
    """Keep the unknown fields of a record that msgspec read, out of its JSON: those that have the colons which are `left`.

    Returns how many are left then. Raises `Mismatch` where a reader has to read it.
    """
    if value.__class__ is dict:
        cls = record.__class__
        found = _NOTERS.get(cls)
        if found is not None:
            return found(record, value, left)
        if cls is dict:
            for key, item in value.items():
                if left and (item.__class__ is dict or item.__class__ is list):
                    left = note(record[key], item, left)
        elif isinstance(record, Record):
            _NOTERS[cls] = found = _noter(shape_of(cls))
            return found(record, value, left)
    elif record.__class__ is list:
        for one, item in zip(record, value, strict=True):
            if not left:
                break
            found = _NOTERS.get(one.__class__)
            if found is not None and item.__class__ is dict:
                left = found(one, item, left)
            elif item.__class__ is dict or item.__class__ is list:
                left = note(one, item, left)
    return left


_NOTERS: Final[dict[type, Callable[[Any, dict[str, Any], int], int]]] = {}


def _noter(shape: Shape) -> Callable[[Any, dict[str, Any], int], int]:
    names = frozenset(one.wire for one in shape.fields.values()) | shape.constants.keys()
    below = tuple((one.wire, one.slot.__get__) for one in shape.fields.values() if _holds_records(one.type))
    is_free = shape.extra is Any and not (shape.drops or shape.is_unknown or shape.excluded)

    def keep(record: Any, value: dict[str, Any], left: int) -> int:
        if not value.keys() <= names:
            if not is_free:
                raise Mismatch
            unknown = {key: item for key, item in value.items() if key not in names}
            keep_notes(record, Notes(unknown))
            left -= colons_of(unknown)
            if not left:
                return 0
        for wire, get in below:
            if wire in value:
                item = value[wire]
                if item.__class__ is dict or item.__class__ is list:
                    left = note(get(record), item, left)
                    if not left:
                        return 0
        return left

    return keep


def _holds_records(annotation: Any) -> bool:
    """Whether records stand at any depth below a type; what refers to itself may have some."""
    if isinstance(annotation, Alias):
        if annotation in _LOOKED_AT:
            return True
        _LOOKED_AT.add(annotation)
        try:
            return _holds_records(annotation.written.resolved())
        finally:
            _LOOKED_AT.discard(annotation)
    inner, _ = bare(annotation)
    if isinstance(inner, type) and not get_args(inner):
        return is_record(inner)
    return get_origin(inner) is not Literal and any(_holds_records(one) for one in get_args(inner))


_LOOKED_AT: Final[set[Alias]] = set()
