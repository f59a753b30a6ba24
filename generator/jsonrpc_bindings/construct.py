"""Constructors of records and assignments to their fields, with validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from inspect import Parameter, Signature
from typing import Any, Final

from msgspec import UNSET

from .build import as_variant, read
from .errors import INVALID_PARAMS, LIMIT, DecodeError, EncodeError, Problem, limit_problems
from .fields import Base, Shape, ensure_notes, get_notes, get_shape, put
from .json_types import Mismatch, is_object
from .pointers import json_pointer, split_pointer
from .receiving import explain_value
from .types import read_field_type, read_type
from .writers import to_readable

DOOR: Final = "extra"
"""The constructor parameter for fields that the schema does not name."""
MISFIT: Final = "this value does not fit here"


def construct(cls: Any, args: tuple[Any, ...], arguments: dict[str, Any]) -> Any:
    """Construct a record. Raises `DecodeError` for names that its class does not have, and for values that do not match their types."""
    shape = get_shape(cls)
    if args:
        raise TypeError(f"{cls.__name__} takes its fields by name")
    problems: list[Problem] = []
    door = arguments.pop(DOOR, None) if DOOR not in shape.fields else None
    value = _convert_arguments(shape, arguments, problems)
    if door is not None:
        value |= _read_extra(door, shape, problems)
    problems += _tag_problems(shape, value.get(shape.tag_field or ""))
    try:
        record = None if problems else read(read_type(cls), value)
    except (Mismatch, RecursionError):
        record = None
    if type(record) is cls:
        return record
    problems += _explain(shape, value) or ([] if problems else [Problem("", "", MISFIT)])
    raise DecodeError(INVALID_PARAMS, limit_problems(problems))


def _convert_arguments(shape: Shape, arguments: Mapping[str, Any], problems: list[Problem]) -> dict[str, Any]:
    """The arguments as a JSON object, with the constants of the class."""
    value: dict[str, Any] = dict(shape.constants)
    used_names: set[str] = set()
    for name, item in arguments.items():
        if len(problems) > LIMIT:  # to look for similar names takes time
            break
        field_name = shape.by_name.get(name)
        if field_name is None:
            if shape.is_unknown:
                value[name] = item
            else:
                problems.append(_make_problem(name, describe_unknown_field(name, shape)))
        elif field_name in used_names:
            problems.append(_make_problem(name, f"this is {field_name!r}, which is given as well"))
        elif item is not UNSET:
            used_names.add(field_name)
            is_record = isinstance(item, Base) and field_name in shape.fields
            value[shape.find_wire_name(field_name)] = (
                as_variant(read_field_type(shape.fields[field_name]), item) if is_record else item
            )
    return value


def assign(record: Any, name: str, value: Any) -> None:
    """Assign a value to a field.

    Raises `DecodeError` for a value that does not match the type, `AttributeError` for a name that no field has.
    """
    shape = get_shape(type(record))
    field_name = name if name in shape.fields or name == shape.tag_name else None
    if field_name is None:
        owner: Any = getattr(record.__class__, name, None)
        if isinstance(owner, property) and owner.fset is not None:
            owner.fset(record, value)
            return
        raise AttributeError(f"{name!r}: {describe_unknown_field(name, shape, 'unknown_fields')}")
    if field_name not in shape.fields:
        problems = _tag_problems(shape, value) or _judge(shape, record, {shape.find_wire_name(field_name): value})
        if problems:
            raise DecodeError(INVALID_PARAMS, tuple(problems))
        if shape.is_unknown:
            ensure_notes(record).tag = value
        return
    field = shape.fields[field_name]
    if value is UNSET and not field.is_required:
        delattr(record, field_name)
        return
    if value is UNSET:
        raise DecodeError(INVALID_PARAMS, (Problem("", "", f"the field {field_name!r} is required"),))
    try:
        converted = read(read_field_type(field), value)
    except (Mismatch, RecursionError):
        converted, problems = value, _judge(shape, record, {field.wire: value}) or [_make_problem(field_name, MISFIT)]
    else:
        is_bound = shape.is_judged or shape.excluded or field.wire in shape.constants
        problems = _judge(shape, record, {field.wire: converted}) if is_bound else []
    if problems:
        raise DecodeError(INVALID_PARAMS, limit_problems(problems))
    put(record, field_name, converted)
    notes = get_notes(record)
    if notes is not None and notes.defaults is not None:
        notes.defaults.pop(field_name, None)


def _tag_problems(shape: Shape, tag: Any) -> list[Problem]:
    if shape.tag_name is None or not isinstance(tag, str) or tag not in (shape.known_tags or ()):
        return []
    return [_make_problem(shape.tag_name, f"the tag {tag!r} is known and has a class of its own")]


def _read_extra(door: Any, shape: Shape, problems: list[Problem]) -> dict[str, Any]:
    if not is_object(door) or any(type(key) is not str for key in door):
        problems.append(_make_problem(DOOR, "an object with the further fields is needed here"))
        return {}
    for name in door:
        if name in shape.by_name or name == shape.tag_field:
            problems.append(_make_problem(name, f"this is a field of the record: pass it by its name, not in {DOOR!r}"))
        elif shape.drops:
            problems.append(_make_problem(name, "this class drops what the schema does not name"))
        elif shape.extra is None:
            problems.append(_make_problem(name, "no further fields are allowed here"))
    return door


def _judge(shape: Shape, record: Any, change: Mapping[str, Any]) -> list[Problem]:
    """The problems that the schema reports for the changed fields of a record."""
    names = {shape.by_name.get(wire, wire) for wire in change}
    try:
        updated = to_readable({**to_readable(record), **change})
    except EncodeError as error:
        return list(error.problems) or [Problem("", "", str(error))]
    return [
        problem
        for problem in _explain(shape, updated)
        if problem.pointer and split_pointer(problem.pointer)[0] in names
    ]


def _explain(shape: Shape, value: Mapping[str, Any]) -> list[Problem]:
    """The problems that the schema reports for an object, with the Python names of its fields."""
    problems: list[Problem] = []
    for problem in explain_value(shape.cls, value):
        name, *path = split_pointer(problem.pointer) or ("",)
        problems.append(
            replace(problem, pointer=json_pointer((shape.by_name.get(name, name), *path)) if name else problem.pointer)
        )
    return problems


def describe_unknown_field(name: str, shape: Shape, door: str = DOOR) -> str:
    """The sentence that a record has no such field; it suggests similar names."""
    from difflib import get_close_matches

    near = {} if name == DOOR else shape.by_name
    similar_names = dict.fromkeys(near[candidate] for candidate in get_close_matches(name, near, n=4, cutoff=0.6))
    suggestion = " or ".join(repr(candidate) for candidate in list(similar_names)[:2])
    if suggestion:
        return f"no such field; did you mean {suggestion}?"
    is_open = shape.extra is not None and not shape.drops
    return f"no such field; what the schema does not know goes into '{door}'" if is_open and door else "no such field"


def _make_problem(name: str, sentence: str) -> Problem:
    return Problem(json_pointer((name,)), "", sentence)


def build_signature(cls: Any) -> Signature:
    """The signature of a constructor."""
    shape = get_shape(cls)
    parameters: list[Parameter] = []
    if shape.is_unknown and shape.tag_name:
        parameters.append(Parameter(shape.tag_name, Parameter.KEYWORD_ONLY, annotation=str))
    for field in shape.fields.values():
        if field.wire in shape.constants:
            continue
        default = Parameter.empty if field.is_required else field.make_default()
        parameters.append(Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=field.annotation))
    if DOOR not in shape.fields and shape.extra is not None and not shape.drops:
        parameters.append(Parameter(DOOR, Parameter.KEYWORD_ONLY, default={}, annotation="Mapping[str, Any]"))
    return Signature(parameters)
