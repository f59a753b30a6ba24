"""The annotations that msgspec gets in place of the public ones of the types of a protocol.

A hook decodes what msgspec would decode differently from the schema, as far as it can tell. msgspec rejects the remaining cases, and
these are validated against the schema.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import isfinite
from threading import RLock
from types import NoneType
from typing import Annotated, Any, Final, Literal, TypeAlias, cast, get_args, get_origin

import msgspec
from msgspec import UnsetType

from .annotations import Meta
from .fields import UNKNOWN, Base, Notes, Shape, get_shape, is_record, keep_notes
from .json_types import Mismatch, is_one_of, to_comparable, to_integer
from .jsonrpc import Message
from .parse import LineReader, make_line_reader, read_untyped, to_float, untyped, write_untyped
from .receiving import accepts, choose_branch
from .types import JSON_CLASSES, Tags, Type, join, read_field_type
from .writers import encode_native

Read: TypeAlias = Callable[[Any], Any]

_ONE_AT_A_TIME: Final = RLock()


class Hook:
    """A type whose values a function decodes."""

    read: Read


class Never(Hook):
    """A type that msgspec never decodes."""

    @staticmethod
    def read(_: Any) -> Any:
        """Reject a value."""
        raise Mismatch


class Hooked(type):
    """The metaclass of hooks: every result of a hook's function counts as an instance."""

    def __instancecheck__(cls, instance: object) -> bool:
        return True


def decode_hook(type_: Any, value: Any) -> Any:
    """Decode the value of a hook."""
    read = getattr(type_, "read", None)
    if read is None:
        raise Mismatch
    return read(value)


def make_decoder(type_: Any) -> msgspec.json.Decoder[Any]:
    """The decoder of JSON text for a type whose classes are prepared."""
    with _ONE_AT_A_TIME:  # msgspec shows what it knows of a class before it knows all of it
        return msgspec.json.Decoder(type_, dec_hook=decode_hook, float_hook=to_float)


def make_check(cls: Any) -> Callable[[bytes], Any]:
    """The decoder for what `pack` writes of a class. It raises one of `FAILURES` if a value has another type than its annotation."""
    return msgspec.msgpack.Decoder(cls, dec_hook=_decode_packed).decode


def _decode_packed(type_: Any, value: Any) -> Any:
    return _NOTES if type_ is Notes else decode_hook(type_, value)


_NOTES: Final = Notes()


def complete(cls: Any) -> Any:
    """Make msgspec inspect a class completely, before any thread converts a value to it; return the class."""
    make_decoder(cls)
    return cls


def convert_annotation(type_: Type) -> Any:
    """The annotation of a type for msgspec; the classes in it are prepared."""
    with _ONE_AT_A_TIME:  # nobody makes a decoder of a class that is half prepared
        annotation = _close(type_)
        while _WAITING:
            _prepare(_WAITING.pop())
        return annotation


def _close(type_: Type) -> Any:
    annotation = _open(type_)
    classes: list[Any] = [member for member in _list_members(annotation) if is_record(member)]
    if len(classes) != 1 or classes[0].__struct_config__.tag_field is None:
        return annotation
    config = classes[0].__struct_config__
    key: Any = config.tag_field, type(config.tag)
    if key not in _BESIDE:
        tag = "\0" if key[1] is str else -1
        _BESIDE[key] = msgspec.defstruct("Beside", [("never", Never)], tag_field=key[0], tag=tag)
    return join(annotation, _BESIDE[key])  # msgspec asks for the tag of one of several classes only


_BESIDE: Final[dict[tuple[str, type], Any]] = {}


def _open(type_: Type) -> Any:
    """The annotation of a type for msgspec, which may be a single class with a tag."""
    annotation = _ANNOTATIONS.get(type_)
    if annotation is None:
        _ANNOTATIONS[type_] = _make_hook(partial(_convert, type_))  # what refers to itself is read there
        annotation = _ANNOTATIONS[type_] = Never if type_.is_judged else _make_annotation(type_)
    return annotation


_ANNOTATIONS: Final[dict[Type, Any]] = {}


def _make_annotation(type_: Type) -> Any:
    match type_.kind:
        case "any" | "texts" | "record":
            return Any if type_.kind == "any" else _open_class(type_)
        case "constants" if not type_.is_open:
            is_small = all(isinstance(constant, str) or _is_small(constant) for constant in type_.values)
            is_uniform = {type(constant) for constant in type_.values} in ({str}, {int})
            return (
                Literal[type_.values] if is_uniform and is_small else _make_hook(partial(_find_constant, type_.values))
            )
        case "optional":
            annotation = _open(type_.children[0])
            return annotation if annotation is Any else join(annotation, None)
        case "number" | "integer" if type_.kind == "number" or not all(map(_is_small, _list_bounds(type_))):
            return _make_number(type_)
        case "union" if not type_.limits:
            annotation = _join_by_tag(type_, type_.tags) if type_.tags is not None else _join_by_kind(type_)
            return annotation if annotation is not None else _make_hook(_make_union_reader(type_))
        case "tuple" | "union" | "never":
            return Never
        case "array":
            annotation = list[_close(type_.children[0])]  # type: ignore[misc]
        case "map":
            annotation = dict[str, _close(type_.children[0])]  # type: ignore[misc]
        case kind:
            annotation = _SCALARS.get(kind, str)
    if not type_.limits:
        return annotation
    limits = (
        {name: limit for name in Meta.__slots__ if (limit := getattr(meta, name)) is not None} for meta in type_.limits
    )
    return Annotated[cast("Any", (annotation, *(msgspec.Meta(**arguments) for arguments in limits)))]


def _list_bounds(type_: Type) -> list[Any]:
    limits = [limit for meta in type_.limits for limit in (meta.ge, meta.gt, meta.le, meta.lt, meta.multiple_of)]
    return [limit for limit in limits if limit is not None]


def _is_small(value: Any) -> bool:
    """Whether msgspec accepts this constant, or this limit of an integer."""
    return isinstance(value, int) and -(2**63) <= value < 2**63


_SCALARS: Final[dict[str, Any]] = {"integer": int, "boolean": bool, "null": NoneType}


def _open_class(type_: Type) -> Any:
    if type_.kind == "texts":
        return type_.cls
    if type_.cls not in _PREPARED:
        _PREPARED.add(type_.cls)
        _WAITING.append(type_.cls)  # classes refer to one another in chains that are longer than the stack
    shape = get_shape(type_.cls)
    if shape.is_odd or any(field.wire in shape.excluded for field in shape.fields.values()):
        return Never
    return type_.cls


# --- what hooks read ---


def _make_hook(read: Read) -> Any:
    return Hooked("Hook", (Hook,), {"read": staticmethod(read)})


_convert_exactly: Final = partial(msgspec.convert, dec_hook=decode_hook)
"""Converts a value to a class by msgspec."""


def _convert(type_: Type, value: Any, convert: Callable[[Any, Any], Any] = _convert_exactly) -> Any:
    """Convert a value to a type by a function that converts to classes, without unknown fields."""
    cls = _CLASSES.get(type_) or _make_class(type_)
    return convert(value, cls) if cls is type_.cls else convert({"value": value}, cls).value


def _make_class(type_: Type) -> Any:
    """The class of a type, or a class with one field of the type: msgspec caches what it has inspected of classes."""
    annotation = convert_annotation(type_)
    cls = annotation if annotation is type_.cls else msgspec.defstruct("Box", [("value", annotation)])
    return _CLASSES.setdefault(type_, complete(cls))


_CLASSES: Final[dict[Type, Any]] = {}


def _find_constant(values: Iterable[Any], value: Any) -> Any:
    for constant in values:
        if is_one_of(value, (constant,)):
            return constant
    raise Mismatch


def _make_number(type_: Type) -> Any:
    """The hook for numbers: an integer of any size, or a finite float."""
    if any(meta.multiple_of is not None for meta in type_.limits):
        return Never
    is_integer = type_.kind == "integer"

    def read(value: Any) -> Any:
        if isinstance(value, float) and (value.is_integer() if is_integer else isfinite(value)):
            value = to_integer(value) if is_integer else value
        elif not isinstance(value, int) or isinstance(value, bool):
            raise Mismatch
        number = to_comparable(value) if type_.limits else value
        for meta in type_.limits:
            if (
                (meta.ge is not None and number < to_comparable(meta.ge))
                or (meta.gt is not None and number <= to_comparable(meta.gt))
                or (meta.le is not None and number > to_comparable(meta.le))
                or (meta.lt is not None and number >= to_comparable(meta.lt))
            ):
                raise Mismatch
        return value

    return _make_hook(read)


def _make_union_reader(type_: Type) -> Read:
    """The function for a union that msgspec cannot discriminate."""
    tags = type_.tags
    if any(get_shape(cls).drops for branch in type_.branches for cls in branch.classes):
        return Never.read

    def read(value: Any) -> Any:
        branches: Sequence[Type] = type_.branches
        if tags is not None and value.__class__ is dict:
            tagged_branches = tags.find_branches(value)
            if tagged_branches is None:
                return (
                    _convert_unknown(tags.unknown[0], tags.field, value)
                    if len(tags.unknown) == 1
                    else Never.read(value)
                )
            branches = tagged_branches
            if len(branches) == 1:
                return _convert(branches[0], value)
        elif isinstance(value, Base):
            branches = ()
            if type(value) in type_.classes:
                return value
        candidates = [branch for branch in branches if _may_be(branch, value)]
        if len(candidates) > 1:  # to try one after the other would read what lies below them again and again
            candidates = [branch for branch in candidates if accepts(branch, value)]
            if len(candidates) > 1 and not type_.is_exclusive:
                candidates = [choose_branch(candidates, value)]
        if len(candidates) != 1:
            raise Mismatch
        return _convert(candidates[0], value)

    return read


def _convert_unknown(type_: Type, field: str, value: dict[str, Any]) -> Any:
    """Convert an object with an unknown tag to the class for unknown variants."""
    if not isinstance(value.get(field), str):
        raise Mismatch
    record = _convert(type_, {**value, field: UNKNOWN})
    note(record, value, NO_COUNT)
    return record


def _may_be(type_: Type, value: Any) -> bool:
    """Whether a value has the JSON type of a type, and an object the required fields of the class."""
    if value.__class__ in JSON_CLASSES and value.__class__ not in type_.json_classes:
        return False
    return type_.kind != "record" or get_shape(type_.cls).fits(value)


def _join_by_tag(type_: Type, tags: Tags) -> Any:
    """The union of the classes that msgspec discriminates by the tag; `None` if there are none, or other branches as well."""
    classes: list[Any] = []
    for (_, tag), owners in tags.owners.items():
        owner = owners[0] if len(owners) == 1 else None
        if owner is not None and owner.kind == "record":
            config = owner.cls.__struct_config__
            annotation = _open(owner) if (config.tag_field, config.tag) == (tags.field, tag) else None
            classes += [annotation] if is_record(annotation) else []
    # otherwise a known tag would be decoded as an unknown one
    if classes and len(tags.unknown) == 1 and len(classes) == len(tags.owners):
        annotation = _open(tags.unknown[0])
        classes += [annotation] if is_record(annotation) and annotation.__struct_config__.tag == UNKNOWN else []
    return join(*classes) if classes and not (tags.free or tags.untagged or tags.others or type_.is_exclusive) else None


def _join_by_kind(type_: Type) -> Any:
    """A union that msgspec discriminates by JSON types or tags; `None` if it cannot."""
    branches = list(map(_open, type_.branches))
    if any(isinstance(branch, type) and issubclass(branch, Hook) for branch in branches):
        return None
    members = [member for branch in branches for member in _list_members(branch)]
    tags = [
        (member.__struct_config__.tag_field, member.__struct_config__.tag) for member in members if is_record(member)
    ]
    are_tagged = len({field for field, _ in tags}) == 1 and tags[0][0] is not None and len(set(tags)) == len(tags)
    classes = [cls for branch in type_.list_branches() if branch.kind != "record" for cls in branch.json_classes] + [
        dict
    ] * bool(tags)
    is_plain = len(set(classes)) == len(classes) and (len(tags) < 2 or are_tagged)
    return join(*members) if is_plain else None


def _list_members(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) is typing.Union else (annotation,)


_PREPARED: Final[set[type]] = set()
_WAITING: Final[list[Any]] = []
"""Classes that are to be prepared."""


def _prepare(cls: Any) -> None:
    """Give msgspec the annotations of a class. The classes that it refers to are queued."""
    shape = get_shape(cls)
    field_annotations: dict[str, Any] = {}
    for field in shape.fields.values():
        annotation = _close(read_field_type(field))
        field_annotations[field.name] = annotation if field.is_required else join(annotation, UnsetType)
    field_annotations["_notes"] = Notes if shape.is_odd else join(Notes, UnsetType)
    type.__setattr__(cls, "__annotations__", field_annotations)


# --- what msgspec read ---


def convert(type_: Type, value: Any) -> Any:
    """Convert a Python value by msgspec, with unknown fields; records are kept. Raises one of `FAILURES`."""
    is_text = value.__class__ is str and type_.kind == "string" and not (type_.limits or type_.is_judged)
    if is_text or value.__class__ is type_.cls:
        return value
    if type_.kind == "record" and value.__class__ is dict and get_shape(type_.cls).is_unknown:
        return _convert_unknown(type_, str(get_shape(type_.cls).tag_field), value)
    result = _convert(type_, value)
    note(result, value, NO_COUNT)
    return result


def convert_json(type_: Type, value: Any) -> Any:
    """Convert parsed JSON by msgspec, with unknown fields and variants. Raises one of `FAILURES`."""
    result = _convert(type_, value, _convert_marked)
    note(result, value, NO_COUNT)
    return result


def make_message_reader(classes: Mapping[str, Any]) -> LineReader:
    """The line reader for messages of these classes, by method; the class of a result is under "". The reader raises one of `FAILURES`."""
    answer = classes.get("")

    def recover(line: bytes, values: int, error_text: str) -> Any:
        if _UNKNOWN_TAG.fullmatch(error_text) is None:
            raise Mismatch
        value = read_untyped(line, values)
        message = _convert_marked(value, classes.get(value.get("method"), answer), error_text)
        note(message, value, NO_COUNT)
        return message

    return make_line_reader(make_decoder(join(*classes.values())).decode, encode_native, _keep, recover)


def _keep(message: Any, line: bytes, remaining: int) -> None:
    """Keep the unknown fields of a message that msgspec decoded. Raises `Mismatch` if anything else would be lost."""
    if note(message, untyped(line), remaining):
        raise Mismatch


def _convert_marked(value: Any, cls: Any, refused: str = "") -> Any:
    """Convert JSON to a class by msgspec, where unknown tags are temporarily replaced by that of unknown variants.

    `refused` is the error that msgspec has already raised; empty if none.
    """
    replaced_tags: list[tuple[dict[str, Any], str, Any]] = []
    try:
        while True:
            if refused:
                owner, field = _find_unknown_tag(refused, value)
                if len(replaced_tags) == _MARKED or owner[field] == UNKNOWN:
                    raise Mismatch
                replaced_tags.append((owner, field, owner[field]))
                owner[field] = UNKNOWN
            try:
                return _convert_exactly(value, cls)
            except msgspec.ValidationError as error:
                refused = str(error)
    finally:
        for owner, field, tag in replaced_tags:
            owner[field] = tag


_MARKED: Final = 8
"""The maximum number of unknown variants in a value: for each, the value is converted again."""
_UNKNOWN_TAG: Final = re.compile(r"Invalid value '.*' - at `\$(.+)\.([^.]+)`", re.DOTALL)


def _find_unknown_tag(error: str, value: Any) -> tuple[dict[str, Any], str]:
    """The object and the field of the tag that an error of msgspec is about. Raises `Mismatch` if the error is about something else."""
    match = _UNKNOWN_TAG.fullmatch(error)
    if match is None:
        raise Mismatch
    try:
        for step in match[1].replace("[", ".").split(".")[1:]:
            value = value[int(step[:-1]) if step[-1] == "]" else step]
        if isinstance(value[match[2]], str):
            return value, match[2]
    except (LookupError, ValueError, TypeError):
        pass
    raise Mismatch


NO_COUNT: Final = -1


def note(record: Any, value: Any, colons: int) -> int:
    """Keep the unknown fields of a record that msgspec decoded, from its JSON, until `colons` are accounted for.

    With `NO_COUNT` all of them are kept. Returns how many colons remain. Raises `Mismatch` if fields cannot be kept.
    """
    cls = record.__class__
    noter = _NOTERS.get(cls)
    if noter is not None and record is not value:
        return noter(record, value, colons)
    if cls in _SCALARS_READ or record is value:
        return colons
    if cls is list:
        for child, item in zip(record, value, strict=True):
            if colons and type(child) not in _SCALARS_READ:
                colons = note(child, item, colons)
    elif cls is dict:
        for key, item in value.items():
            if colons and type(item) not in _SCALARS_READ:
                colons = note(record[key], item, colons)
    elif isinstance(record, Base | Message):
        _NOTERS[cls] = _make_noter(cls)
        return note(record, value, colons)
    return colons


_SCALARS_READ: Final = frozenset({str, int, float, bool, NoneType})
_NOTERS: Final[dict[type, Callable[[Any, dict[str, Any], int], int]]] = {}


def _make_noter(cls: Any) -> Callable[[Any, dict[str, Any], int], int]:
    """The implementation of `note` for the objects of a class."""
    below: tuple[tuple[str, Callable[[Any], Any]], ...]
    if issubclass(cls, Message):
        shape, names, is_unknown, takes_any = None, cls.members_on_wire, False, False
        below = tuple((name, vars(cls)[name].__get__) for name in ("params", "result") if name in names)
    else:
        shape = get_shape(cls)
        names, is_unknown, takes_any = shape.wires, shape.is_unknown, shape.takes_any_field
        fields = [(field, read_field_type(field).list_reachable()) for field in shape.fields.values()]
        below = tuple(
            (field.wire, field.slot.__get__)
            for field, types in fields
            if any(type_.kind == "record" for type_ in types)
        )
    holds = names.issuperset

    def keep(record: Any, value: dict[str, Any], colons: int) -> int:
        if is_unknown or not holds(value):
            unknown: dict[str, Any] = {}
            for key in value:  # which is faster than a comprehension
                if key not in names:
                    unknown[key] = value[key]
            keep_notes(record, Notes(shape, unknown) if takes_any else _make_notes(shape, unknown, value))
            if colons > 0:
                colons -= write_untyped(unknown).count(b":")
            if not colons:
                return 0
        for wire, get in below:
            if wire in value:
                item = value[wire]
                if type(item) not in _SCALARS_READ:
                    child = get(record)
                    if child is not item:  # which is a record that somebody passed
                        colons = (_NOTERS.get(child.__class__) or note)(child, item, colons)
                    if not colons:
                        return 0
        return colons

    return keep


def _make_notes(shape: Shape | None, unknown: dict[str, Any], value: dict[str, Any]) -> Notes:
    """The notes of an unknown variant or a message. Raises `Mismatch` if unknown fields are not kept, or are validated."""
    if shape is None and _MEMBERS.isdisjoint(unknown):
        return Notes(None, unknown)
    if shape is not None and shape.is_unknown and shape.extra is Any:
        tag = value[str(shape.tag_field)]
        if tag not in (shape.known_tags or ()):
            return Notes(shape, unknown, tag)
    raise Mismatch


_MEMBERS: Final = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
