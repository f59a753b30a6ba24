"""Constructors and assignments of records: they check what they are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from inspect import Parameter, Signature
from typing import Any, Final

from msgspec import UNSET

from .build import as_variant, read
from .errors import INVALID_PARAMS, DecodeError, EncodeError, Problem, limited
from .fields import Base, Shape, notes_for, notes_of, put, shape_of
from .json_types import Mismatch, is_object
from .pointers import json_pointer, steps
from .receiving import explained_value
from .types import field_type, type_of
from .writers import readable

DOOR: Final = "extra"
"""The argument of a constructor that takes fields which the schema does not name."""
MISFIT: Final = "this value does not fit here"


def construct(cls: Any, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
    """A record of arguments. Raises `DecodeError` for names that its class does not have, and for values that are none of its types."""
    shape = shape_of(cls)
    if args:
        raise TypeError(f"{cls.__name__} takes its fields by name")
    problems: list[Problem] = []
    door = given.pop(DOOR, None) if DOOR not in shape.fields else None
    value = _by_wire_names(shape, given, problems)
    if door is not None:
        value |= _further(door, shape, problems)
    problems += _tag_problems(shape, value.get(shape.tag_field or ""))
    try:
        found = None if problems else read(type_of(cls), value)
    except (Mismatch, RecursionError):
        found = None
    if type(found) is cls:
        return found
    problems += _explained(shape, value) or ([] if problems else [Problem("", "", MISFIT)])
    raise DecodeError(INVALID_PARAMS, limited(problems))


def _by_wire_names(shape: Shape, given: Mapping[str, Any], problems: list[Problem]) -> dict[str, Any]:
    """The object of some arguments, with the constants of its class."""
    value: dict[str, Any] = dict(shape.constants)
    named: set[str] = set()
    for name, item in given.items():
        known = shape.by_name.get(name)
        if known is None:
            if shape.is_unknown:
                value[name] = item
            else:
                problems.append(_problem(name, no_such_field(name, shape)))
        elif known in named:
            problems.append(_problem(name, f"this is {known!r}, which is given as well"))
        elif item is not UNSET:
            named.add(known)
            is_record = isinstance(item, Base) and known in shape.fields
            value[shape.wire_name(known)] = as_variant(field_type(shape.fields[known]), item) if is_record else item
    return value


def assign(record: Any, name: str, value: Any) -> None:
    """Put a value into a field. Raises `DecodeError` for one that is none of its type, `AttributeError` for a name that is no field's."""
    if name == "_notes":
        put(record, name, value)
        return
    shape = shape_of(type(record))
    known = name if name in shape.fields or name == shape.tag_name else None
    if known is None:
        owner: Any = getattr(record.__class__, name, None)
        if isinstance(owner, property) and owner.fset is not None:
            owner.fset(record, value)
            return
        raise AttributeError(f"{name!r}: {no_such_field(name, shape, 'unknown_fields')}")
    if known not in shape.fields:
        problems = _tag_problems(shape, value) or _judge(shape, record, {shape.wire_name(known): value})
        if problems:
            raise DecodeError(INVALID_PARAMS, tuple(problems))
        if shape.is_unknown:
            notes_for(record).tag = value
        return
    one = shape.fields[known]
    if value is UNSET and not one.is_required:
        delattr(record, known)
        return
    if value is UNSET:
        raise DecodeError(INVALID_PARAMS, (Problem("", "", f"the field {known!r} is required"),))
    try:
        found = read(field_type(one), value)
    except (Mismatch, RecursionError):
        found, problems = value, _judge(shape, record, {one.wire: value}) or [_problem(known, MISFIT)]
    else:
        is_bound = shape.is_judged or shape.excluded or one.wire in shape.constants
        problems = _judge(shape, record, {one.wire: found}) if is_bound else []
    if problems:
        raise DecodeError(INVALID_PARAMS, limited(problems))
    put(record, known, found)
    notes = notes_of(record)
    if notes is not None and notes.made is not None:
        notes.made.pop(known, None)


def _tag_problems(shape: Shape, tag: Any) -> list[Problem]:
    if shape.tag_name is None or not isinstance(tag, str) or tag not in (shape.known or ()):
        return []
    return [_problem(shape.tag_name, f"the tag {tag!r} is known and has a class of its own")]


def _further(door: Any, shape: Shape, problems: list[Problem]) -> dict[str, Any]:
    if not is_object(door) or any(type(key) is not str for key in door):
        problems.append(_problem(DOOR, "an object with the further fields is needed here"))
        return {}
    for name in door:
        if name in shape.by_name or name == shape.tag_field:
            problems.append(_problem(name, f"this is a field of the record: pass it by its name, not in {DOOR!r}"))
        elif shape.drops:
            problems.append(_problem(name, "this class drops what the schema does not name"))
        elif shape.extra is None:
            problems.append(_problem(name, "no further fields are allowed here"))
    return door


def _judge(shape: Shape, record: Any, change: Mapping[str, Any]) -> list[Problem]:
    """What the schema says of the fields of a record that are changed."""
    names = {shape.by_name.get(wire, wire) for wire in change}
    try:
        changed = readable({**readable(record), **change})
    except EncodeError as error:
        return [Problem("", "", str(error))]
    return [one for one in _explained(shape, changed) if one.pointer and steps(one.pointer)[0] in names]


def _explained(shape: Shape, value: Mapping[str, Any]) -> list[Problem]:
    """What the schema says of an object, with the Python names of its fields."""
    found: list[Problem] = []
    for one in explained_value(shape.cls, value):
        first, *rest = steps(one.pointer) or ("",)
        found.append(
            replace(one, pointer=json_pointer((shape.by_name.get(first, first), *rest)) if first else one.pointer)
        )
    return found


def no_such_field(name: str, shape: Shape, door: str = DOOR) -> str:
    """Says that a record has no such field, and which ones are called nearly so."""
    from difflib import get_close_matches

    near = {} if name == DOOR else shape.by_name
    found = dict.fromkeys(near[one] for one in get_close_matches(name, near, n=4, cutoff=0.6))
    meant = " or ".join(repr(one) for one in list(found)[:2])
    if meant:
        return f"no such field; did you mean {meant}?"
    is_open = shape.extra is not None and not shape.drops
    return f"no such field; what the schema does not know goes into '{door}'" if is_open and door else "no such field"


def _problem(name: str, sentence: str) -> Problem:
    return Problem(json_pointer((name,)), "", sentence)


def signature(cls: Any) -> Signature:
    """The parameters of a constructor."""
    shape = shape_of(cls)
    found: list[Parameter] = []
    if shape.is_unknown and shape.tag_name:
        found.append(Parameter(shape.tag_name, Parameter.KEYWORD_ONLY, annotation=str))
    for one in shape.fields.values():
        if one.wire in shape.constants:
            continue
        default = Parameter.empty if one.is_required else one.fresh()
        found.append(Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=one.annotation))
    if DOOR not in shape.fields and shape.extra is not None and not shape.drops:
        found.append(Parameter(DOOR, Parameter.KEYWORD_ONLY, default={}, annotation="Mapping[str, Any]"))
    return Signature(found)
