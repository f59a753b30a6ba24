"""From values to JSON text: in C where a record has nothing but its fields, else by way of plain values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from .errors import EncodeError
from .records import Record, changed, held, notes_of, shape_of


class HasNotes(TypeError):
    """A record holds more than its fields, and is written by way of plain values."""


def _no_notes(value: object) -> Any:
    raise HasNotes(f"{type(value).__name__!r} is no value of JSON")


encode_native: Final = msgspec.json.Encoder(enc_hook=_no_notes).encode
"""Writes records without notes. Raises `HasNotes` for others."""


def plain(value: Any) -> Any:
    """A value as plain JSON. Raises `EncodeError` for what JSON cannot hold."""
    kind = value.__class__
    if kind is str or kind is int or value is None or kind is bool:
        return value
    if isinstance(value, Record):
        return _plain_record(value)
    if kind is dict or isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise EncodeError("the keys of an object are strings")
        return {key: plain(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [plain(item) for item in value]
    if isinstance(value, float):
        if not isfinite(value):
            raise EncodeError("a number that is not finite cannot be written as JSON")
        return value
    if isinstance(value, str | int):
        return value
    try:
        return msgspec.to_builtins(value, enc_hook=_no_notes)
    except (TypeError, ValueError, RecursionError) as error:
        raise EncodeError(f"this cannot be written as JSON: {error}") from None


def _plain_record(record: Any) -> dict[str, Any]:
    shape = shape_of(type(record))
    notes = notes_of(record)
    found: dict[str, Any] = {}
    if shape.tag_field is not None:
        found[shape.tag_field] = notes.tag if shape.is_unknown and notes is not None else shape.tag
    for one in shape.fields.values():
        value = held(record, one)
        if value is not UNSET:
            found[one.wire] = plain(value)
    if notes is not None:
        for one, value in changed(record):
            found[one.wire] = plain(value)
        for key, value in (notes.unknown or {}).items():
            found.setdefault(key, plain(value))
    return found


def text_of(value: Any) -> bytes:
    """A value as JSON text. Raises `EncodeError` for what JSON cannot hold."""
    try:
        text = encode_native(value)
    except HasNotes:
        return _written(plain(value))
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError):
        return _written(plain(value))
    if b"null" in text:  # what msgspec writes for a number that is not finite
        refuse_not_finite(value)
    return text


def _written(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError):
        pass
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise EncodeError(f"this cannot be written as JSON: {error}") from None


def refuse_not_finite(value: Any) -> None:
    """Raise `EncodeError` for a number that is not finite, at any depth."""
    waiting = [value]
    for item in waiting:  # which grows
        kind = item.__class__
        if kind is str or item is None:
            continue
        if kind is dict:
            waiting += item.values()
        elif kind is list or kind is tuple:
            waiting += item
        elif kind is float:
            if not isfinite(item):
                raise EncodeError("a number that is not finite cannot be written as JSON")
        elif isinstance(item, Record):
            waiting += [held(item, one) for one in shape_of(type(item)).fields.values()]
        elif isinstance(item, Struct):
            waiting += [getattr(item, name, None) for name in item.__struct_fields__]
