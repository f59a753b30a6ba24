"""What msgspec reads of the types of a protocol: the annotations that it is given in place of those that people read.

A type that msgspec would read otherwise than a reader is read by the reader, from a hook. A branch of a union that it cannot tell from
others is left out: msgspec refuses its values, and the general way reads them.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from functools import partial
from threading import RLock
from types import NoneType
from typing import Annotated, Any, Final, Literal, cast, get_args, get_origin

import msgspec
from msgspec import UnsetType

from .annotations import Meta, Number
from .fields import Base, Notes, is_record, keep_notes, shape_of
from .json_types import Mismatch
from .jsonrpc import Beside, Message
from .parse import colons_of, float_of, read_and_count, untyped
from .readers import Read, reader
from .types import Tags, Type, either, type_of
from .writers import encode_native

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


def native(type_: Type) -> Any:
    """What msgspec is annotation of a type; the classes in it are prepared."""
    with _ONE_AT_A_TIME:  # nobody makes a decoder of a class that is half prepared
        found = _closed(type_)
        while _WAITING:
            _prepare(_WAITING.pop())
        return found


def _closed(type_: Type) -> Any:
    found = _open(type_)
    classes: list[Any] = [one for one in _members(found) if is_record(one)]
    if len(classes) != 1 or classes[0].__struct_config__.tag_field is None:
        return found
    config = classes[0].__struct_config__
    key: Any = config.tag_field, type(config.tag)
    if key not in _BESIDE:
        tag = "\0" if key[1] is str else -1
        _BESIDE[key] = msgspec.defstruct("Beside", [("never", Never)], tag_field=key[0], tag=tag)
    return either(found, _BESIDE[key])  # msgspec asks for the tag of one of several classes only


_BESIDE: Final[dict[tuple[str, type], Any]] = {}


def _open(type_: Type) -> Any:
    """The same, of which a class with a tag may be the only one."""
    found = _ANNOTATIONS.get(type_)
    if found is None:
        _ANNOTATIONS[type_] = _hook(type_)  # what refers to itself is read there
        found = _ANNOTATIONS[type_] = Never if type_.is_judged else _annotation(type_)
    return found


_ANNOTATIONS: Final[dict[Type, Any]] = {}


def _annotation(type_: Type) -> Any:
    match type_.kind:
        case "any" | "never" | "texts" | "record" as kind:
            return {"any": Any, "never": Never}.get(kind) or _of_class(type_)
        case "constants" if not type_.is_open:
            is_small = all(isinstance(one, str) or _is_small(one) for one in type_.values)
            is_uniform = {type(one) for one in type_.values} in ({str}, {int})
            return Literal[type_.values] if is_uniform and is_small else _hook(type_)
        case "optional":
            found = _open(type_.children[0])
            return found if found is Any else either(found, None)
        case "number" if not type_.limits:
            return _NUMBER
        case "union" if not type_.limits:
            found = _by_tag(type_, type_.tags) if type_.tags is not None else _by_kind(type_)
            return found if found is not None else _hook(type_)
        case "number" | "tuple" | "union":
            return _hook(type_)
        case "integer" if not all(map(_is_small, _bounds(type_))):
            return _hook(type_)
        case "array":
            found = list[_closed(type_.children[0])]  # type: ignore[misc]
        case "map":
            found = dict[str, _closed(type_.children[0])]  # type: ignore[misc]
        case kind:
            found = _SCALARS.get(kind, str)
    if not type_.limits:
        return found
    limits = (
        {name: limit for name in Meta.__slots__ if (limit := getattr(one, name)) is not None} for one in type_.limits
    )
    return Annotated[cast("Any", (found, *(msgspec.Meta(**one) for one in limits)))]


def _bounds(type_: Type) -> list[Any]:
    limits = [limit for one in type_.limits for limit in (one.ge, one.gt, one.le, one.lt, one.multiple_of)]
    return [one for one in limits if one is not None]


def _is_small(value: Any) -> bool:
    """Whether msgspec takes a constant, or a limit of an integer."""
    return isinstance(value, int) and -(2**63) <= value < 2**63


_SCALARS: Final[dict[str, Any]] = {"integer": int, "boolean": bool, "null": NoneType}


def _of_class(type_: Type) -> Any:
    if type_.kind == "texts":
        return type_.cls
    if type_.cls not in _PREPARED:
        _PREPARED.add(type_.cls)
        _WAITING.append(type_.cls)  # classes refer to one another in chains that are longer than the stack
    shape = shape_of(type_.cls)
    if shape.is_odd or any(one.wire in shape.excluded for one in shape.fields.values()):
        return _hook(type_)
    return type_.cls


def _hook(type_: Type) -> Any:
    def read(value: Any) -> Any:
        return reader(type_)(value)

    return Hooked("Hook", (Hook,), {"read": staticmethod(read)})


class _Number(Hook, metaclass=Hooked):
    read = staticmethod(reader(type_of(Number)))


_NUMBER: Final[Any] = _Number


def _by_tag(type_: Type, tags: Tags) -> Any:
    """The union of the classes that msgspec tells apart by the tag; `None` if there are none, or others beside them."""
    found: list[Any] = []
    for (_, tag), owners in tags.owners.items():
        one = owners[0] if len(owners) == 1 else None
        if one is not None and one.kind == "record":
            config = one.cls.__struct_config__
            annotation = _open(one) if (config.tag_field, config.tag) == (tags.field, tag) else None
            found += [annotation] if is_record(annotation) else []
    return either(*found) if found and not (tags.default or tags.others or type_.is_exclusive) else None


def _by_kind(type_: Type) -> Any:
    """A union whose branches msgspec tells apart by their JSON types or their tags; `None` if it does not."""
    types = [each for one in type_.branches for each in _members(_open(one))]
    configs: list[Any] = [one.__struct_config__ for one in types if is_record(one)]
    kinds = ["object"] * bool(configs) + [_kind(one) for one in types if not is_record(one)]
    tags = [(one.tag_field, one.tag) for one in configs]
    are_tagged = len({field for field, _ in tags}) == 1 and tags[0][0] is not None and len(set(tags)) == len(tags)
    is_plain = len(set(kinds)) == len(kinds) and "" not in kinds and (len(tags) < 2 or are_tagged)
    return either(*types) if is_plain else None


def _kind(annotation: Any) -> str:
    """The JSON type of what msgspec is annotation; nothing where it may be several."""
    inner: Any = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    if get_origin(inner) is Literal:
        inner = cast("Any", type(get_args(inner)[0]))
    if isinstance(inner, type) and issubclass(inner, str):
        return "string"
    return _KINDS.get(get_origin(inner) or inner, "")


_KINDS: Final[dict[Any, str]] = {
    int: "integer",
    bool: "boolean",
    NoneType: "null",
    dict: "object",
    list: "array",
}


def _members(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) is typing.Union else (annotation,)


_PREPARED: Final[set[type]] = set()
_WAITING: Final[list[Any]] = []
"""Classes that are to be prepared."""


def _prepare(cls: Any) -> None:
    """Give msgspec the annotations of a class. Those that it refers to wait."""
    shape = shape_of(cls)
    found: dict[str, Any] = {}
    for one in shape.fields.values():
        annotation = _closed(type_of(one.type))
        found[one.name] = annotation if one.is_required else either(annotation, UnsetType)
    found["_notes"] = Notes if shape.is_unknown or shape.is_odd else either(Notes, UnsetType)
    type.__setattr__(cls, "__annotations__", found)


# --- what msgspec read ---


def read_natively(text: bytes, decode: Callable[[bytes], Any]) -> Any:
    """What msgspec reads of JSON text, with the unknown fields.

    Raises `Mismatch` where a reader has to read it, or where a key is given twice.
    """
    found, left = read_and_count(text, decode, encode_native)
    if left and note(found, untyped(text), left):
        raise Mismatch
    return found


def note(record: Any, value: Any, left: int) -> int:
    """Keep the unknown fields of a record that msgspec read, out of its JSON: those that have the colons which are `left`.

    Returns how many are left then. Raises `Mismatch` where a reader has to read it.
    """
    cls = record.__class__
    found = _NOTERS.get(cls)
    if found is not None:
        return found(record, value, left)
    if cls is list or cls is dict:
        for key, item in enumerate(value) if cls is list else value.items():
            if left and (item.__class__ is dict or item.__class__ is list):
                left = note(record[key], item, left)
    elif isinstance(record, Base | Message):
        _NOTERS[cls] = _noter(cls)
        return note(record, value, left)
    return left


_NOTERS: Final[dict[type, Callable[[Any, dict[str, Any], int], int]]] = {}


def _noter(cls: Any) -> Callable[[Any, dict[str, Any], int], int]:
    """What does so with the objects of a class."""
    notes: Any
    if issubclass(cls, Message):
        names, put, notes, reserved, is_free = cls.members_on_wire, _PUT_BESIDE, Beside, _MEMBERS, True
        below = tuple((name, vars(cls)[name].__get__) for name in ("params", "result") if name in names)
    else:
        shape, put, reserved = shape_of(cls), keep_notes, frozenset[str]()
        names, notes, is_free = shape.wires, partial(Notes, shape), shape.takes_any_field
        fields = [(one, type_of(one.type).reached()) for one in shape.fields.values()]
        below = tuple(
            (one.wire, one.slot.__get__) for one, types in fields if any(each.kind == "record" for each in types)
        )
    holds = names.issuperset

    def keep(record: Any, value: dict[str, Any], left: int) -> int:
        if not holds(value):
            unknown: dict[str, Any] = {}
            for key in value:  # which is faster than a comprehension
                if key not in names:
                    unknown[key] = value[key]
            if not is_free or not reserved.isdisjoint(unknown):
                raise Mismatch
            put(record, notes(unknown))
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


_MEMBERS: Final = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
_PUT_BESIDE: Final[Any] = vars(Message)["_notes"].__set__
