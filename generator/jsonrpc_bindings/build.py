"""Builds typed values from what the schema accepts, where msgspec rejects the input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import NoneType
from typing import Any, Final, TypeAlias

from .fields import Base, get_shape, get_unknown_fields, get_values, make_record
from .json_types import Mismatch, is_mapping, is_one_of, is_sequence, to_integer
from .native import convert
from .parse import FAILURES
from .receiving import accepts, choose_branch
from .types import Type, read_type
from .writers import to_plain

Accepts: TypeAlias = Callable[[Type, Any], bool]
"""Whether the schema accepts a value of a type."""


class Unnamed(Mismatch):
    """A class has no place for a field that the schema allows."""

    def __init__(self, path: tuple[str | int, ...]) -> None:
        super().__init__()
        self.path = path


def read(type_: Type, value: Any) -> Any:
    """Convert a Python value to a type; records in it are kept. Raises `Mismatch`."""
    try:
        return convert(type_, value)
    except FAILURES:
        pass
    if isinstance(value, Base) and (variant := as_variant(type_, value)) is not value:
        return variant
    if not accepts(type_, value):
        raise Mismatch
    return build(type_, value, accepts)


def as_variant(type_: Type, record: Base) -> Any:
    """Convert a record to a variant of a type if it is the body of exactly one variant; return any other record unchanged."""
    if type(record) in type_.classes:
        return record
    variants = [cls for cls in type_.classes if issubclass(cls, type(record))]
    return _build_record(read_type(variants[0]), record, accepts) if len(variants) == 1 else record


def build(type_: Type, value: Any, accepts: Accepts) -> Any:
    """Build the value of a type from a value that the schema accepts: instances of its classes, and plain JSON where none fits."""
    if value.__class__ in _AS_THEY_ARE and type_.takes_texts_as_they_are:
        return value
    if type_.kind == "record":
        return _build_record(type_, value, accepts)
    children = type_.children
    match type_.kind:
        case "any":
            return value
        case "map" if is_mapping(value):
            return {key: _build_inside(children[0], item, accepts, key) for key, item in value.items()}
        case "array" if is_sequence(value):
            return [_build_inside(children[0], item, accepts, index) for index, item in enumerate(value)]
        case "tuple" if is_sequence(value):
            last = len(children) - 1
            return tuple(_build_inside(children[min(i, last)], item, accepts, i) for i, item in enumerate(value))
        case "optional":
            return None if value is None else build(children[0], value, accepts)
        case "union":
            return _build_branch(type_, value, accepts)
        case "texts" if isinstance(value, str):
            return type_.cls(value)
        case "constants":
            return next((constant for constant in type_.values if is_one_of(value, (constant,))), to_plain(value))
        case "integer" if isinstance(value, float):
            return to_integer(value)
        case _ if value is None or isinstance(value, str | int | float | list | dict):
            return to_plain(value)
        case _:  # which is written as JSON, and is none
            raise Mismatch


_AS_THEY_ARE: Final = frozenset({str, bool, NoneType})


def _build_inside(type_: Type, value: Any, accepts: Accepts, key: str | int) -> Any:
    """Build an item or a field. Raises `Unnamed` with its key."""
    try:
        return build(type_, value, accepts)
    except Unnamed as error:
        raise Unnamed((key, *error.path)) from None


def _build_branch(type_: Type, value: Any, accepts: Accepts) -> Any:
    """Build a value with the branch that it fits best, of those that accept it and whose class has a place for all of its fields."""

    def takes(branch: Type) -> bool:
        is_near = branch.kind != "record" or isinstance(value, Base) or get_shape(branch.cls).fits(value)
        return is_near and accepts(branch, value)

    branches: Sequence[Type] = type_.branches
    owners: Sequence[Type] = ()
    tags = type_.tags
    if isinstance(value, Base):
        branches = [branch for branch in type_.list_branches() if branch.kind == "record" and _is_of(branch.cls, value)]
    elif tags is not None and (value.__class__ is dict or is_mapping(value)):
        owners = tags.find_branches(value) or tags.unknown
        if len(owners) == 1 and not tags.free and (owners[0].kind != "record" or get_shape(owners[0].cls).fits(value)):
            return build(owners[0], value, accepts)
    unnamed: Unnamed | None = None
    for options in (owners, branches):
        candidates = list(filter(takes, options))
        while candidates:
            branch = choose_branch(candidates, value) if len(candidates) > 1 else candidates[0]
            try:
                return build(branch, value, accepts)
            except Unnamed as error:
                candidates.remove(branch)
                unnamed = error
    if unnamed is not None:
        raise unnamed
    return value


def _is_of(cls: Any, record: Any) -> bool:
    """Whether a record represents objects of a class: it is an instance of it and has the same tag."""
    shape, record_shape = get_shape(cls), get_shape(type(record))
    return isinstance(record, cls) and (record_shape.tag_field, record_shape.tag) == (shape.tag_field, shape.tag)


def _build_record(type_: Type, value: Any, accepts: Accepts) -> Any:
    shape: Any = get_shape(type_.cls)
    if isinstance(value, Base):
        if _is_of(shape.cls, value):
            return value
        record_shape = get_shape(type(value))
        is_kin = issubclass(shape.cls, type(value)) or isinstance(value, shape.cls)  # a body, and the variant of it
        if not is_kin or shape.is_unknown or record_shape.fields.keys() != shape.fields.keys():
            raise Mismatch
        return make_record(shape.cls, get_values(value), get_unknown_fields(value))
    if not shape.fits(value):
        return value
    values: dict[str, Any] = {}
    for field, child in zip(shape.fields.values(), type_.children, strict=False):
        if field.wire in value:
            item = value[field.wire]
            is_right = item.__class__ in _AS_THEY_ARE and child.takes_texts_as_they_are
            values[field.name] = item if is_right else _build_inside(child, item, accepts, field.wire)
    further = {} if shape.drops else {key: item for key, item in value.items() if key not in shape.wires}
    if further and shape.extra is None:
        raise Unnamed((next(iter(further)),))
    if further and shape.extra is not Any:
        further = {key: _build_inside(type_.children[-1], item, accepts, key) for key, item in further.items()}
    return make_record(shape.cls, values, further or None, value[shape.tag_field] if shape.is_unknown else None)
