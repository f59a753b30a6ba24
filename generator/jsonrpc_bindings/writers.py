"""Encoding of values to JSON text: by msgspec if records have no notes, otherwise by conversion to plain values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, overload

import msgspec
from msgspec import UNSET

from .errors import EncodeError, Problem, describe_key
from .fields import NOTES, Base, Notes, get_notes, get_shape, get_unknown_fields, list_changed_defaults
from .json_types import is_mapping
from .jsonrpc import Message
from .parse import FAILURES, refuse_deep

if TYPE_CHECKING:
    from .records import Record

DEEP: Final = "this is nested too deep to be written as JSON"
"""The error for a value that a parser would not read because of its depth, or that contains itself."""


class HasNotes(TypeError):
    """A record holds more than its fields, and has to be converted to plain values."""


def _require_no_notes(value: object) -> Any:
    if isinstance(value, Notes):
        raise HasNotes
    raise HasNotes(f"{type(value).__name__!r} is no value of JSON")


encode_native: Final = msgspec.json.Encoder(enc_hook=_require_no_notes).encode
"""Encodes records without notes. Raises `HasNotes` for others."""


def _list_unknown(notes: object) -> dict[str, Any]:
    """The fields of notes that are only unknown fields. Raises `HasNotes` for others."""
    if not isinstance(notes, Notes) or notes.defaults:
        raise HasNotes
    shape, unknown = notes.shape, notes.unknown
    if not unknown or shape is None or not shape.takes_any_field or shape.is_odd or not shape.wires.isdisjoint(unknown):
        raise HasNotes
    return unknown


pack: Final = msgspec.msgpack.Encoder(enc_hook=_list_unknown, order="deterministic").encode
"""Encodes records as MessagePack, which keeps numbers that are not finite. With an order, msgspec rejects keys that are no strings, which
it writes as text otherwise. Raises one of `FAILURES`.
"""


def _write_notes(notes: object) -> Any:
    return msgspec.Raw(b"\0," + _encode_marked(_list_unknown(notes))[1:-1])


_encode_marked: Final = msgspec.json.Encoder(enc_hook=_write_notes).encode
"""Encodes notes among the fields of their record, after a mark, which has a byte that is in no JSON text."""
_MARK: Final = msgspec.json.encode(NOTES) + b":\0,"


def write_with_notes(value: Any) -> bytes:
    """Encode a value that `pack` takes, and whose records may have notes."""
    return _encode_marked(value).replace(_MARK, b"")


@overload
def to_builtins(value: Record) -> dict[str, Any]: ...
@overload
def to_builtins(value: Any) -> Any: ...
def to_builtins(value: Any) -> Any:
    """Convert a value to plain JSON: a record becomes a `dict` of its set fields, by the names of the schema.

    It is the inverse of `decode_as`, and does not validate types. Use `encode` for messages. Raises `EncodeError` for what JSON cannot
    express.
    """
    try:
        return to_plain(value)
    except RecursionError:
        raise EncodeError(DEEP) from None


def to_plain(value: Any) -> Any:
    """Convert a value to plain JSON. Raises `EncodeError` for what JSON cannot express."""
    kind = value.__class__
    if kind is str or kind is int or value is None or kind is bool:
        return value
    if kind is list or kind is tuple:
        return convert_sequence(value, to_plain)
    if isinstance(value, Base):
        return _record_to_plain(value)
    if is_mapping(value):
        return convert_mapping(value, to_plain)
    if isinstance(value, float):
        if not isfinite(value):
            raise _refuse("a number that is not finite cannot be written as JSON")
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, Message):
        raise _refuse("a message is no value: it is written by `encode`")
    try:
        plain = msgspec.to_builtins(value, enc_hook=_require_no_notes)
    except (TypeError, ValueError, RecursionError) as error:
        raise _refuse(f"this cannot be written as JSON: {error}") from None
    return to_plain(plain)


def _refuse(sentence: str) -> EncodeError:
    return EncodeError(sentence, (Problem("", "", sentence),))


def convert_sequence(value: Iterable[Any], convert: Callable[[Any], Any]) -> list[Any]:
    """Convert a list or tuple to plain JSON, and its items by a function. Raises `EncodeError` with the indices in its pointers."""
    result: list[Any] = []
    try:
        for item in value:
            result.append(convert(item))  # noqa: PERF401 - the length is the index of an item that is refused
    except EncodeError as error:
        raise error.prefix(len(result)) from None
    return result


def convert_mapping(value: Mapping[Any, Any], convert: Callable[[Any], Any]) -> dict[str, Any]:
    """Convert a mapping to plain JSON, and its items by a function. Raises `EncodeError` with the keys in its pointers."""
    result: dict[str, Any] = {}
    key: Any
    for key in value:
        if not isinstance(key, str):
            raise _refuse(describe_key(key))
    key = ""
    try:
        for key, item in value.items():
            result[key] = convert(item)
    except EncodeError as error:
        raise error.prefix(key) from None
    return result


def _record_to_plain(record: Any) -> dict[str, Any]:
    cls = record.__class__
    shape = get_shape(cls)
    notes = get_notes(record)
    result: dict[str, Any] = {}
    if shape.tag_field is not None:
        result[shape.tag_field] = notes.tag if shape.is_unknown and notes is not None else shape.tag
    wire = ""
    try:
        for field in shape.fields.values():
            wire, value = field.wire, field.slot.__get__(record)
            if value is not UNSET:
                kind = value.__class__
                result[wire] = value if kind is str or kind is int or value is None else to_plain(value)
        for field, value in list_changed_defaults(record):
            wire = field.wire
            result[wire] = to_plain(value)
    except EncodeError as error:
        raise error.prefix(wire) from None
    unknown = convert_mapping(get_unknown_fields(record), to_plain)
    for key in result.keys() & unknown:
        raise _refuse(f"{cls.__name__}: {key!r} is a field of it, and is among its unknown fields too")
    return result | unknown


def to_readable(value: Any) -> Any:
    """Convert a value to plain JSON that a parser accepts: nested no deeper than its limit. Raises `EncodeError`."""
    try:
        output = to_plain(value)
        write_text(output)
    except RecursionError:
        raise EncodeError(DEEP) from None
    return output


def write_text(value: Any) -> bytes:
    """Serialize plain JSON to text that a parser accepts. Raises `EncodeError`."""
    try:
        text = msgspec.json.encode(value)
    except FAILURES:
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise EncodeError(f"this cannot be written as JSON: {error}") from None
    try:
        refuse_deep(text)
    except ValueError:
        raise EncodeError(DEEP) from None
    return text


FLOAT: Final = 0xCB
"""The first byte of a float in MessagePack."""
_NOT_FINITE: Final = re.compile(rb"\xcb[\x7f\xff][\xf0-\xff]")
"""The first bytes of a non-finite number in MessagePack. Few other values contain these bytes, and no text does."""


def may_be_not_finite(packed: bytes) -> bool:
    """Whether MessagePack may contain a non-finite number."""
    return _NOT_FINITE.search(packed) is not None
