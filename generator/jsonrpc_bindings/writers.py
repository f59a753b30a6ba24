"""Encoding of values to JSON text: by msgspec if records have no notes, otherwise by conversion to plain values."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, overload

import msgspec
from msgspec import UNSET

from .errors import EncodeError
from .fields import NOTES, Base, Notes, list_changed_defaults, notes_of, shape_of
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


_packed: Final = msgspec.msgpack.Encoder(enc_hook=_require_no_notes).encode

encode_native: Final = msgspec.json.Encoder(enc_hook=_require_no_notes).encode
"""Encodes records without notes. Raises `HasNotes` for others."""


class _Notes:
    """Encodes notes among the fields of their record: after a mark, which is removed afterwards."""

    def __init__(self) -> None:
        self.count = 0
        self.encode: Final = msgspec.json.Encoder(enc_hook=self).encode

    def __call__(self, notes: object) -> Any:
        if not isinstance(notes, Notes) or notes.made:
            raise HasNotes
        shape, unknown = notes.shape, notes.unknown
        if not unknown or shape is None or not shape.takes_any_field or not shape.wires.isdisjoint(unknown):
            raise HasNotes
        self.count += 1
        return msgspec.Raw(b"0," + self.encode(unknown)[1:-1])


_MARK: Final = msgspec.json.encode(NOTES) + b":0,"


def write_with_notes(value: Any) -> bytes:
    """Encode a value that has unrestricted unknown fields. Raises `HasNotes` if it has to be converted to plain values."""
    notes = _Notes()
    text = notes.encode(value)
    if text.count(_MARK) != notes.count:
        raise HasNotes
    text = text.replace(_MARK, b"")
    refuse_deep(text)
    return text


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
    if kind is list:
        return [to_plain(item) for item in value]
    if isinstance(value, Base):
        return _record_to_plain(value)
    if is_mapping(value):
        if not all(isinstance(key, str) for key in value):
            raise EncodeError("the keys of an object are strings")
        return {key: to_plain(item) for key, item in value.items()}
    if kind is tuple:
        return [to_plain(item) for item in value]
    if isinstance(value, float):
        if not isfinite(value):
            raise EncodeError("a number that is not finite cannot be written as JSON")
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, Message):
        raise EncodeError("a message is no value: it is written by `encode`")
    try:
        return msgspec.to_builtins(value, enc_hook=_require_no_notes)
    except (TypeError, ValueError, RecursionError) as error:
        raise EncodeError(f"this cannot be written as JSON: {error}") from None


def _record_to_plain(record: Any) -> dict[str, Any]:
    cls = record.__class__
    fields = _FIELDS.get(cls)
    if fields is None:
        fields = _FIELDS[cls] = [(one.wire, one.slot.__get__) for one in shape_of(cls).fields.values()]
    shape = shape_of(cls)
    notes = notes_of(record)
    result: dict[str, Any] = {}
    if shape.tag_field is not None:
        result[shape.tag_field] = notes.tag if shape.is_unknown and notes is not None else shape.tag
    for wire, get in fields:
        value = get(record)
        if value is not UNSET:
            kind = value.__class__
            result[wire] = value if kind is str or kind is int or value is None else to_plain(value)
    if notes is not None:
        if notes.made:
            for one, value in list_changed_defaults(record):
                result[one.wire] = to_plain(value)
        for key, value in (notes.unknown or {}).items():
            if key in result:
                raise EncodeError(f"{cls.__name__}: {key!r} is a field of it, and is among its unknown fields too")
            result[key] = to_plain(value)
    return result


_FIELDS: Final[dict[type, list[tuple[str, Any]]]] = {}


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


_NOT_FINITE: Final = re.compile(rb"\xcb[\x7f\xff][\xf0-\xff]")
"""The first bytes of a non-finite number in MessagePack. Few other values contain these bytes, and no text does."""


def may_be_not_finite(value: Any) -> bool:
    """Whether a value may contain a non-finite number. Raises one of `FAILURES` if this cannot be determined."""
    return _NOT_FINITE.search(_packed(value)) is not None
