"""Constructors and assignments of records: they check what they are given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from inspect import Parameter, Signature
from typing import Any, Final

from msgspec import UNSET

from .build import read
from .errors import INVALID_PARAMS, DecodeError, EncodeError, Problem, limited
from .fields import Field, Shape, made, notes_for, notes_of, put, shape_of
from .json_types import Mismatch, is_object, is_one_of
from .pointers import json_pointer
from .receiving import explained_value
from .types import type_of
from .writers import readable

DOOR: Final = "extra"
"""The argument of a constructor that takes fields which the schema does not name."""


def construct(cls: Any, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
    """A record of arguments. Raises `DecodeError` for names that its class does not have, and for values that are none of its types."""
    shape = shape_of(cls)
    if args:
        raise TypeError(f"{cls.__name__} takes its fields by name")
    problems: list[Problem] = []
    names = shape.by_name
    door = given.pop(DOOR, None) if DOOR not in shape.fields else None
    values: dict[str, Any] = {}
    unknown: dict[str, Any] = {}
    for name, value in given.items():
        known = names.get(name)
        if known is None and shape.is_unknown:
            unknown[name] = value
        elif known is None:
            problems.append(_problem(name, no_such_field(name, shape)))
        elif known in values:
            problems.append(_problem(name, f"this is {known!r}, which is given as well"))
        elif value is not UNSET:
            values[known] = value
    unknown |= dict(_further(door, shape, problems))
    tag = values.pop(shape.tag_name, UNSET) if shape.tag_name is not None else UNSET
    problems += _tag_problems(shape, tag)
    for one in shape.fields.values():
        if one.name in values:
            try:
                values[one.name] = read(type_of(one.type), values[one.name])
            except (Mismatch, RecursionError):
                problems += refusals(one, values[one.name])
        elif one.wire in shape.constants:
            values[one.name] = shape.constants[one.wire]
        elif one.is_required:
            problems.append(Problem("", "", f"the field {one.name!r} is required"))
    if not problems:
        problems += _excluded(shape, values, unknown)
    if problems:
        raise DecodeError(INVALID_PARAMS, limited(problems))
    record = made(cls, values, unknown or None, tag if shape.is_unknown else None)
    judged = _judge(shape, record) if shape.is_judged else []
    if judged:
        raise DecodeError(INVALID_PARAMS, limited(judged))
    return record


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
    if known == shape.tag_name and known not in shape.fields:
        problems = _tag_problems(shape, value)
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
        found = read(type_of(one.type), value)
    except (Mismatch, RecursionError):
        raise DecodeError(INVALID_PARAMS, limited(refusals(one, value))) from None
    if one.wire in shape.constants and found != shape.constants[one.wire]:
        raise DecodeError(INVALID_PARAMS, (_problem(name, f"{shape.constants[one.wire]!r} is the only value here"),))
    problems = list(_excluded(shape, {known: found}, {}))
    if shape.is_judged:
        problems += _judge(shape, record, {one.wire: found})
    if problems:
        raise DecodeError(INVALID_PARAMS, limited(problems))
    put(record, known, found)
    notes = notes_of(record)
    if notes is not None and notes.made is not None:
        notes.made.pop(known, None)


def refusals(one: Field, value: Any) -> list[Problem]:
    """What is wrong with the value of a field, by the schema of its type."""
    found = [
        Problem(json_pointer((one.name,)) + problem.pointer, problem.schema, problem.sentence)
        for problem in explained_value(one.type, value)
    ]
    return found or [_problem(one.name, "this value does not fit here")]


def _tag_problems(shape: Shape, tag: Any) -> list[Problem]:
    name = shape.tag_name
    if name is None or name in shape.fields:
        return []
    if not shape.is_unknown:
        return [] if tag is UNSET or tag == shape.tag else [_problem(name, f"{shape.tag!r} is the only value here")]
    if tag is UNSET:
        return [Problem("", "", f"the field {name!r} is required")]
    if not isinstance(tag, str):
        return [_problem(name, "a string is expected")]
    if shape.known and tag in shape.known:
        return [_problem(name, f"the tag {tag!r} is known and has a class of its own")]
    return []


def _further(door: Any, shape: Shape, problems: list[Problem]) -> Iterator[tuple[str, Any]]:
    if door is None:
        return
    if not is_object(door) or any(type(key) is not str for key in door):
        problems.append(_problem(DOOR, "an object with the further fields is needed here"))
        return
    type_ = type_of(shape.extra_type())
    for name, value in door.items():
        if name in shape.by_name or name == shape.tag_field:
            problems.append(_problem(name, f"this is a field of the record: pass it by its name, not in {DOOR!r}"))
        elif shape.drops:
            problems.append(_problem(name, "this class drops what the schema does not name"))
        elif shape.extra is None:
            problems.append(_problem(name, "the schema allows no further fields here"))
        else:
            try:
                yield name, read(type_, value)
            except Mismatch:
                problems.append(_problem(name, "this value does not fit the type of further fields"))


def _excluded(shape: Shape, values: Mapping[str, Any], unknown: Mapping[str, Any]) -> Iterator[Problem]:
    wires = {shape.fields[name].wire: value for name, value in values.items()} | dict(unknown)
    for wire, constants in shape.excluded.items():
        value = wires.get(wire, UNSET)
        if is_one_of(value, constants):
            yield _problem(wire, f"the value {value!r} of {wire!r} belongs to another variant")


def _judge(shape: Shape, record: Any, change: Mapping[str, Any] | None = None) -> list[Problem]:
    """What the schema says of a record; of one with a change, what it says of the field that is changed."""
    if change is None:
        return explained_value(shape.cls, record)
    try:
        changed = readable({**readable(record), **change})
    except EncodeError as error:
        return [Problem("", "", str(error))]
    places = tuple(json_pointer((wire,)) for wire in change)
    found = explained_value(shape.cls, changed)
    return [one for one in found if one.pointer in places or one.pointer.startswith(tuple(f"{at}/" for at in places))]


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
