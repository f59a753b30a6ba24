"""The rules for senders beyond what receivers reject: values, variants and fields that the schema does not name.

Names that begin with an underscore are extensions, and allowed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .construct import describe_unknown_field
from .contract import Path
from .errors import Problem, quote
from .fields import Base, get_notes, get_shape, get_unknown_fields, get_value
from .json_types import is_object, is_sequence
from .pointers import json_pointer
from .receiving import Receiving
from .types import Type, read_field_type, read_type


def find_unnamed(receiving: Receiving, value: Any, type_: Type, at: Path = ()) -> Iterator[Problem]:
    """Yield what the schema does not name in a value that was decoded as a type."""
    if isinstance(value, Base):
        yield from _check_record(receiving, value, at)
    elif isinstance(value, str):
        literals = _list_texts(type_)
        if literals is not None and value not in literals and not value.startswith("_"):
            yield _make_problem(at, _describe_unknown(value, literals))
    elif is_object(value):
        for key, item in value.items():
            yield from find_unnamed(receiving, item, _get_inner_type(type_, "map"), (*at, key))
    elif is_sequence(value):
        for index, item in enumerate(value):
            yield from find_unnamed(receiving, item, _get_inner_type(type_, "array"), (*at, index))


def _check_record(receiving: Receiving, record: Any, at: Path) -> Iterator[Problem]:
    shape, notes = get_shape(type(record)), get_notes(record)
    if shape.is_unknown and notes is not None:
        if not str(notes.tag).startswith("_"):
            known_tags = frozenset(map(str, shape.known_tags or ()))
            yield _make_problem((*at, str(shape.tag_field)), _describe_unknown(str(notes.tag), known_tags))
        return
    for field in shape.fields.values():
        yield from find_unnamed(receiving, get_value(record, field), read_field_type(field), (*at, field.wire))
    further = read_type(shape.get_extra_type())
    for key, item in get_unknown_fields(record).items():
        if not key.startswith("_") and shape.extra is Any and not receiving.takes_more(type(record), key):
            yield _make_problem((*at, key), describe_unknown_field(key, shape, ""))
        yield from find_unnamed(receiving, item, further, (*at, key))


def _list_texts(type_: Type) -> frozenset[str] | None:
    """The strings that an open type names; `None` if it names none or is closed, or describes further ones."""
    branches = list(type_.list_branches())
    literals = frozenset(value for branch in branches for value in branch.values if isinstance(value, str))
    is_open = any(branch.is_open or branch.kind == "string" for branch in branches)
    is_described = any(
        branch.kind == "any" or (branch.kind == "string" and (branch.limits or branch.is_judged)) for branch in branches
    )
    return literals if literals and is_open and not is_described else None


def _get_inner_type(type_: Type, kind: str) -> Type:
    """The type of the items of an array, or of the values of an object."""
    return next((branch.children[-1] for branch in type_.list_branches() if branch.kind == kind), read_type(Any))


def _describe_unknown(value: str, known_values: frozenset[str]) -> str:
    text = ", ".join(map(repr, sorted(known_values)))
    return f"{quote(value)} is not one of the known values {text}, and not an extension, which would begin with '_'"


def _make_problem(at: Path, sentence: str) -> Problem:
    return Problem(json_pointer(at), "", sentence)
