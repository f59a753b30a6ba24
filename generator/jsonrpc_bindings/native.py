"""What msgspec reads of the types of a protocol: the annotations that it is given in place of those that people read.

A hook reads what msgspec would read otherwise than the schema says, as far as it can distinguish it. What it cannot, msgspec refuses,
and the schema judges.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from math import inf, isfinite
from threading import RLock
from types import NoneType
from typing import Annotated, Any, Final, Literal, TypeAlias, cast, get_args, get_origin

import msgspec
from msgspec import UnsetType

from .annotations import Meta
from .fields import UNKNOWN, Base, Notes, Shape, is_record, keep_notes, shape_of
from .json_types import Mismatch, comparable, integer_of, is_one_of
from .jsonrpc import Beside, Message
from .parse import LineReader, colons_of, float_of, line_reader, read_untyped, untyped
from .receiving import accepts
from .types import Tags, Type, either, field_type
from .writers import encode_native

Read: TypeAlias = Callable[[Any], Any]

_ONE_AT_A_TIME: Final = RLock()


class Hook:
    """A place in a type that a function reads."""

    read: Read


class Never(Hook):
    """A place in a type that msgspec reads never."""

    @staticmethod
    def read(_: Any) -> Any:
        """Refuse a value."""
        raise Mismatch


class Hooked(type):
    """Makes hooks: what a function made is an instance of each."""

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


def complete(cls: Any) -> Any:
    """A class of which msgspec knows all, before any thread converts a value to it."""
    decoder(cls)
    return cls


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
        _ANNOTATIONS[type_] = _hook(partial(_converted, type_))  # what refers to itself is read there
        found = _ANNOTATIONS[type_] = Never if type_.is_judged else _annotation(type_)
    return found


_ANNOTATIONS: Final[dict[Type, Any]] = {}


def _annotation(type_: Type) -> Any:
    match type_.kind:
        case "any" | "texts" | "record":
            return Any if type_.kind == "any" else _of_class(type_)
        case "constants" if not type_.is_open:
            is_small = all(isinstance(one, str) or _is_small(one) for one in type_.values)
            is_uniform = {type(one) for one in type_.values} in ({str}, {int})
            return Literal[type_.values] if is_uniform and is_small else _hook(partial(_constant, type_.values))
        case "optional":
            found = _open(type_.children[0])
            return found if found is Any else either(found, None)
        case "number" | "integer" if type_.kind == "number" or not all(map(_is_small, _bounds(type_))):
            return _number(type_)
        case "union" if not type_.limits:
            found = _by_tag(type_, type_.tags) if type_.tags is not None else _by_kind(type_)
            return found if found is not None else _hook(_union(type_))
        case "tuple" | "union" | "never":
            return Never
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
        return Never
    return type_.cls


# --- what hooks read ---


def _hook(read: Read) -> Any:
    return Hooked("Hook", (Hook,), {"read": staticmethod(read)})


def _converted(type_: Type, value: Any) -> Any:
    """A value of a type as msgspec reads it, without its unknown fields."""
    found: Any = msgspec.convert({"value": value}, _box(type_), dec_hook=hook)
    return found.value


def _box(type_: Type) -> Any:
    """A class with a field of a type: of classes msgspec remembers what it knows."""
    found = _BOXES.get(type_)
    if found is None:
        found = _BOXES[type_] = complete(msgspec.defstruct("Box", [("value", native(type_))]))
    return found


_BOXES: Final[dict[Type, Any]] = {}


def _constant(values: Iterable[Any], value: Any) -> Any:
    for one in values:
        if is_one_of(value, (one,)):
            return one
    raise Mismatch


def _number(type_: Type) -> Any:
    """What reads numbers: an integer, however large, or a binary number that is finite."""
    if any(one.multiple_of is not None for one in type_.limits):
        return Never
    is_integer = type_.kind == "integer"

    def read(value: Any) -> Any:
        if isinstance(value, float) and (value.is_integer() if is_integer else isfinite(value)):
            value = integer_of(value) if is_integer else value
        elif not isinstance(value, int) or isinstance(value, bool):
            raise Mismatch
        known = comparable(value) if type_.limits else value
        for one in type_.limits:
            if (
                (one.ge is not None and known < comparable(one.ge))
                or (one.gt is not None and known <= comparable(one.gt))
                or (one.le is not None and known > comparable(one.le))
                or (one.lt is not None and known >= comparable(one.lt))
            ):
                raise Mismatch
        return value

    return _hook(read)


def _union(type_: Type) -> Read:
    """What reads the values of a union that msgspec does not tell apart."""
    tags = type_.tags
    if any(shape_of(cls).drops for one in type_.branches for cls in one.classes):
        return Never.read

    def read(value: Any) -> Any:
        branches: Sequence[Type] = type_.branches
        if tags is not None and value.__class__ is dict:
            known = tags.known(value)
            if known is None:
                return _unknown(tags.unknown[0], tags.field, value) if len(tags.unknown) == 1 else Never.read(value)
            branches = known
            if len(branches) == 1:
                return _converted(branches[0], value)
        elif isinstance(value, Base):
            branches = ()
            if type(value) in type_.classes:
                return value
        found = [one for one in branches if _may_be(one, value)]
        if len(found) > 1:  # to try one after the other would read what lies below them again and again
            accepting = (one for one in found if accepts(one, value))
            found = list(islice(accepting, 2 if type_.is_exclusive else 1))
        if len(found) != 1:
            raise Mismatch
        return _converted(found[0], value)

    return read


def _unknown(type_: Type, field: str, value: dict[str, Any]) -> Any:
    """An object with an unknown tag as one of the class that keeps such."""
    if not isinstance(value.get(field), str):
        raise Mismatch
    found = _converted(type_, {**value, field: UNKNOWN})
    note(found, value, inf)
    return found


def _may_be(type_: Type, value: Any) -> bool:
    """Whether a value has the JSON type of a type, and an object the required fields."""
    if type_.kind == "record":
        return value.__class__ is dict and value.keys() >= shape_of(type_.cls).required
    return value.__class__ not in _CLASSES or type_.kind in _CLASSES[value.__class__] or type_.kind not in _PLAIN_KINDS


_CLASSES: Final[dict[type, tuple[str, ...]]] = {
    dict: ("map",),
    list: ("array", "tuple"),
    str: ("string", "texts"),
    bool: ("boolean",),
    int: ("integer", "number"),
    float: ("integer", "number"),
    NoneType: ("null",),
}
_PLAIN_KINDS: Final = frozenset(kind for kinds in _CLASSES.values() for kind in kinds)


def _by_tag(type_: Type, tags: Tags) -> Any:
    """The union of the classes that msgspec tells apart by the tag; `None` if there are none, or others beside them."""
    found: list[Any] = []
    for (_, tag), owners in tags.owners.items():
        one = owners[0] if len(owners) == 1 else None
        if one is not None and one.kind == "record":
            config = one.cls.__struct_config__
            annotation = _open(one) if (config.tag_field, config.tag) == (tags.field, tag) else None
            found += [annotation] if is_record(annotation) else []
    if found and len(tags.unknown) == 1 and len(found) == len(tags.owners):  # or a known tag would be read as unknown
        annotation = _open(tags.unknown[0])
        found += [annotation] if is_record(annotation) and annotation.__struct_config__.tag == UNKNOWN else []
    return either(*found) if found and not (tags.free or tags.untagged or tags.others or type_.is_exclusive) else None


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
        annotation = _closed(field_type(one))
        found[one.name] = annotation if one.is_required else either(annotation, UnsetType)
    found["_notes"] = Notes if shape.is_odd else either(Notes, UnsetType)
    type.__setattr__(cls, "__annotations__", found)


# --- what msgspec read ---


def convert(type_: Type, value: Any) -> Any:
    """A Python value as msgspec reads it, with the unknown fields; records stay as they are. Raises one of `FAILURES`."""
    is_text = value.__class__ is str and type_.kind == "string" and not (type_.limits or type_.is_judged)
    if is_text or value.__class__ is type_.cls:
        return value
    if type_.kind == "record" and value.__class__ is dict and shape_of(type_.cls).is_unknown:
        return _unknown(type_, str(shape_of(type_.cls).tag_field), value)
    found = _converted(type_, value)
    note(found, value, inf)
    return found


def convert_json(type_: Type, value: Any) -> Any:
    """Parsed JSON as msgspec reads it, with unknown fields and variants. Raises one of `FAILURES`."""
    found = _marked(_box(type_), {"value": value}, "").value
    note(found, value, inf)
    return found


def message_reader(classes: Mapping[str, Any]) -> LineReader:
    """What reads the lines of messages whose classes are these, by method, that of a result by "". It raises one of `FAILURES`."""
    answer = classes.get("")

    def mend(line: bytes, values: int, refused: str) -> Any:
        if _UNKNOWN_TAG.fullmatch(refused) is None:
            raise Mismatch
        value = read_untyped(line, values)
        found = _marked(classes.get(value.get("method"), answer), value, refused)
        note(found, value, inf)
        return found

    return line_reader(decoder(either(*classes.values())).decode, encode_native, _keep, mend)


def _keep(found: Any, line: bytes, left: int) -> None:
    """Keep the unknown fields of what msgspec read of a line. Raises `Mismatch` where something else would be lost."""
    if note(found, untyped(line), left):
        raise Mismatch


def _marked(cls: Any, value: Any, refused: str) -> Any:
    """JSON as one of a class that msgspec knows: tags that it does not know are shown to it as that of unknown variants.

    `refused` is what it has said already.
    """
    marked: list[tuple[dict[str, Any], str, Any]] = []
    try:
        while True:
            if refused:
                owner, field = _unknown_tag(refused, value)
                if len(marked) == _MARKED or owner[field] == UNKNOWN:
                    raise Mismatch
                marked.append((owner, field, owner[field]))
                owner[field] = UNKNOWN
            try:
                return msgspec.convert(value, cls, dec_hook=hook)
            except msgspec.ValidationError as error:
                refused = str(error)
    finally:
        for owner, field, tag in marked:
            owner[field] = tag


_MARKED: Final = 8
"""So many unknown variants a value may hold: for each, it is read again."""
_UNKNOWN_TAG: Final = re.compile(r"Invalid value '.*' - at `\$(.+)\.([^.]+)`", re.DOTALL)


def _unknown_tag(error: str, value: Any) -> tuple[dict[str, Any], str]:
    """The object whose tag an error of msgspec speaks of, and the field. Raises `Mismatch` where it speaks of something else."""
    found = _UNKNOWN_TAG.fullmatch(error)
    if found is None:
        raise Mismatch
    try:
        for step in found[1].replace("[", ".").split(".")[1:]:
            value = value[int(step[:-1]) if step[-1] == "]" else step]
        if isinstance(value[found[2]], str):
            return value, found[2]
    except (LookupError, ValueError, TypeError):
        pass
    raise Mismatch


def note(record: Any, value: Any, left: float) -> float:
    """Keep the unknown fields of a record that msgspec read, out of its JSON: those that have the colons which are `left`.

    Returns how many are left then. Raises `Mismatch` where fields cannot be kept.
    """
    cls = record.__class__
    known = _NOTERS.get(cls)
    if known is not None and record is not value:
        return known(record, value, left)
    if cls in _SCALARS_READ or record is value:
        return left
    if cls is list:
        for one, item in zip(record, value, strict=True):
            if left and one.__class__ not in _SCALARS_READ:
                left = note(one, item, left)
    elif cls is dict:
        for key, item in value.items():
            if left and item.__class__ not in _SCALARS_READ:
                left = note(record[key], item, left)
    elif isinstance(record, Base | Message):
        _NOTERS[cls] = _noter(cls)
        return note(record, value, left)
    return left


_SCALARS_READ: Final = frozenset({str, int, float, bool, NoneType})
_NOTERS: Final[dict[type, Callable[[Any, dict[str, Any], float], float]]] = {}


def _noter(cls: Any) -> Callable[[Any, dict[str, Any], float], float]:
    """What does so with the objects of a class."""
    below: tuple[tuple[str, Callable[[Any], Any]], ...]
    notes: Callable[[dict[str, Any], dict[str, Any]], Notes]
    if issubclass(cls, Message):
        names, is_unknown, notes, put = cls.members_on_wire, False, _beside, _PUT_BESIDE
        below = tuple((name, vars(cls)[name].__get__) for name in ("params", "result") if name in names)
    else:
        shape = shape_of(cls)
        names, is_unknown, notes, put = shape.wires, shape.is_unknown, _notes(shape), keep_notes
        fields = [(one, field_type(one).reached()) for one in shape.fields.values()]
        below = tuple(
            (one.wire, one.slot.__get__) for one, types in fields if any(each.kind == "record" for each in types)
        )
    holds = names.issuperset

    def keep(record: Any, value: dict[str, Any], left: float) -> float:
        if is_unknown or not holds(value):
            unknown: dict[str, Any] = {}
            for key in value:  # which is faster than a comprehension
                if key not in names:
                    unknown[key] = value[key]
            put(record, notes(unknown, value))
            left -= colons_of(unknown) if left != inf else 0
            if not left:
                return 0
        for wire, get in below:
            if wire in value:
                item = value[wire]
                if item.__class__ not in _SCALARS_READ:
                    found = get(record)
                    if found is not item:  # which is a record that somebody passed
                        left = (_NOTERS.get(found.__class__) or note)(found, item, left)
                    if not left:
                        return 0
        return left

    return keep


def _notes(shape: Shape) -> Callable[[dict[str, Any], dict[str, Any]], Notes]:
    """What makes the notes of an object of a class. It raises `Mismatch` where unknown fields are not kept, or are judged."""

    def of_unknown(unknown: dict[str, Any], value: dict[str, Any]) -> Notes:
        tag = value[str(shape.tag_field)]
        if tag in (shape.known or ()):
            raise Mismatch
        return Notes(shape, unknown, tag)

    if shape.takes_any_field:
        return lambda unknown, _: Notes(shape, unknown)
    return of_unknown if shape.is_unknown and shape.extra is Any else _refuse


def _refuse(_: dict[str, Any], __: dict[str, Any]) -> Notes:
    raise Mismatch


def _beside(unknown: dict[str, Any], _: dict[str, Any]) -> Notes:
    if not _MEMBERS.isdisjoint(unknown):
        raise Mismatch
    return Beside(unknown)


_MEMBERS: Final = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
_PUT_BESIDE: Final[Any] = vars(Message)["_notes"].__set__
