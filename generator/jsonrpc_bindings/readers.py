"""From JSON to the values of types: straight-line functions, compiled when the first value of a type is read.

A reader is exact or refuses, and never says why; what refuses is explained by the schema. A record is read as it is, so that constructors
and assignments use the same readers as decoding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import count
from math import isfinite
from threading import local
from typing import Any, Final, TypeAlias

from msgspec import UNSET, Struct

from .annotations import Meta
from .fields import Base, Notes, Shape, copy, keep_notes, made, make, notes_of, shape_of, values_of
from .json_types import (
    Mismatch,
    comparable,
    integer_of,
    is_array,
    is_mapping,
    is_object,
    is_one_of,
    is_sequence,
    scalar_key,
)
from .receiving import accepts
from .string_enums import members_of
from .types import Tags, Type, type_of

Read: TypeAlias = Callable[[Any], Any]


class Unnamed(Mismatch):
    """A class takes no fields but its own, where the schema allows for others."""

    def __init__(self, path: tuple[str | int, ...]) -> None:
        super().__init__()
        self.path = path


def reader(type_: Type) -> Read:
    """What reads the values of a type."""
    found = _READERS.get(type_)
    if found is None:
        found = _READERS[type_] = _SHARED[_name(type_)] = _compiled(type_)
    return found


_READERS: Final[dict[Type, Read]] = {}
_SHARED: Final[dict[str, Any]] = {}
"""The names that compiled readers use. That of a type stands for what compiles its reader, until the first value is read."""
_NAMES: Final[dict[Type, str]] = {}
_NUMBERS: Final = count()


def _name(type_: Type) -> str:
    """The name of the reader of a type."""

    def read(value: Any) -> Any:
        return reader(type_)(value)

    if type_ not in _NAMES:
        _NAMES.setdefault(type_, _keep(read))  # another thread may have been first
    return _NAMES[type_]


def _keep(value: Any) -> str:
    """A name for a value in the source of readers."""
    name = f"k{next(_NUMBERS)}"
    _SHARED[name] = value
    return name


def _compiled(type_: Type) -> Read:
    if type_.kind == "record":
        return _record(shape_of(type_.cls))
    if type_.kind == "union" and not type_.limits:
        return _union(type_)
    return _function([*_lines(type_, "value"), "return value"])


def _function(lines: Sequence[str]) -> Read:
    local: dict[str, Any] = {}
    source = "\n".join(("def read(value):", *_indented(lines)))
    exec(compile(source, "<reader>", "exec"), _SHARED, local)  # noqa: S102 - the text is made of tables, without a value of a message
    found: Read = local["read"]
    return found


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


# --- records ---


def _record(shape: Shape) -> Read:
    names, own = shape.wires, _keep(shape)
    lines = ["if value.__class__ is not dict:", f"    return {_keep(_given(shape.cls))}(value)", "get = value.get"]
    puts: list[str] = []
    if shape.is_unknown:
        lines += [
            f"tag = get({shape.tag_field!r})",
            f"if tag.__class__ is not str or tag in {_keep(shape.known)}: raise Mismatch",
        ]
    for wire, constant in shape.constants.items():
        is_text = isinstance(constant, str)
        test = f"get({wire!r}) == {constant!r}" if is_text else f"equal(get({wire!r}, UNSET), {_keep((constant,))})"
        lines += [f"if not {test}: raise Mismatch"]
    for wire, constants in shape.excluded.items():
        lines += [f"if {wire!r} in value and equal(value[{wire!r}], {_keep(constants)}): raise Mismatch"]
    for index, one in enumerate(shape.fields.values()):
        variable, slot = f"v{index}", _keep(one.slot.__set__)
        read = [*_lines(type_of(one.type), variable), f"{slot}(self, {variable})"]
        lines += [f"{variable} = get({one.wire!r}, UNSET)"]
        if one.is_required:  # before what stands above it is read in vain, level by level
            lines += [f"if {variable} is UNSET: raise Mismatch"]
            puts += read if one.wire not in shape.constants else read[-1:]
        else:
            puts += [f"if {variable} is not UNSET:", *_indented(read)]
    empty: dict[str, Any] = {one.name: None for one in shape.fields.values() if one.is_required}
    prototype = make(shape.cls, **empty, **({"_notes": UNSET} if shape.is_unknown else {}))
    lines += [f"self = copy({_keep(prototype)})", *puts]
    further = type_of(shape.extra_type())
    item = "value[key]" if further.kind == "any" else f"{_name(further)}(value[key])"
    unknown = ["unknown = {}", "for key in value:", f"    if key not in {_keep(names)}: unknown[key] = {item}"]
    if shape.is_unknown:
        lines += [*unknown, f"note(self, Notes({own}, unknown, tag))"]
    elif shape.is_odd:
        lines += [*(["unknown = None"] if shape.drops else unknown), f"note(self, Notes({own}, unknown))"]
    elif not shape.drops:
        lines += [
            f"if not {_keep(names.issuperset)}(value):",
            *_indented([*unknown, f"note(self, Notes({own}, unknown))"]),
        ]
    return _function([*lines, "return self"])


def _given(cls: Any) -> Read:
    """What takes a record in place of an object: one of the class, or of the class that has its fields under another tag."""
    shape = shape_of(cls)

    def take(value: Any) -> Any:
        if not isinstance(value, Base):
            raise Mismatch
        other = shape_of(type(value))
        if isinstance(value, cls) and (other.tag_field, other.tag) == (shape.tag_field, shape.tag):
            return value
        is_kin = isinstance(value, cls) or issubclass(cls, type(value))  # a body, and the variant that is made of it
        if not is_kin or shape.is_unknown or other.fields.keys() != shape.fields.keys():
            raise Mismatch
        notes = notes_of(value)
        return made(cls, values_of(value), notes.unknown if notes is not None else None)

    return take


# --- types ---


def _lines(type_: Type, v: str) -> list[str]:
    """The lines that check a variable and put into it what was read."""
    match type_.kind:
        case "constants" if not type_.is_open and all(type(one) is str for one in type_.values):
            known = _keep(frozenset(type_.values))
            lines = [f"if {v}.__class__ is not str or {v} not in {known}: {v} = constant({v}, {known})"]
        case "constants" if not type_.is_open:
            lines = [f"{v} = {_keep(_literal(type_.values))}({v})"]
        case "texts":
            member = _keep(members_of(type_.cls))
            lines = [f"{v} = {member}({v}) if isinstance({v}, str) else None", f"if {v} is None: raise Mismatch"]
        case "array":
            item = type_.children[0]
            lines = [f"if {v}.__class__ is not list: raise Mismatch"]
            lines += [f"{v} = [{_name(item)}(one) for one in {v}]"] if item.kind != "any" else []
        case "map":
            item = type_.children[0]
            lines = [f"if {v}.__class__ is not dict: {v} = members({v})"]
            lines += [f"for key in {v}:", "    if not isinstance(key, str): raise Mismatch"]
            lines += [f"{v} = {{key: {_name(item)}(one) for key, one in {v}.items()}}"] if item.kind != "any" else []
        case "optional":
            lines = [f"if {v} is not None:", *_indented(_lines(type_.children[0], v) or ["pass"])]
        case "tuple":
            lines = [f"{v} = {_keep(_tuple(type_))}({v})"]
        case "union" if type_.limits:
            lines = [f"{v} = {_keep(_union(type_))}({v})"]
        case "union" | "record":
            lines = [f"{v} = {_name(type_)}({v})"]
        case kind:
            lines = [line.format(v=v) for line in _OF_SCALARS.get(kind, _OF_SCALARS["string"])]
    return [*lines, *(line for meta in type_.limits for line in _limit_lines(meta, v))]


_OF_SCALARS: Final = {
    "any": [],
    "never": ["raise Mismatch"],
    "null": ["if {v} is not None: raise Mismatch"],
    "boolean": ["if {v} is not True and {v} is not False: raise Mismatch"],
    "integer": ["if {v}.__class__ is not int: {v} = integer({v})"],
    "number": ["if {v}.__class__ is not int: {v} = number({v})"],
    "string": ["if {v}.__class__ is not str: {v} = text({v})"],
}
"""Open constants are strings, too."""


def _limit_lines(meta: Meta, v: str) -> list[str]:
    of_number = [(meta.ge, "<"), (meta.gt, "<="), (meta.le, ">"), (meta.lt, ">=")]
    tests = [f"{_compared(v, limit)} {sign} {_keep(limit)}" for limit, sign in of_number if limit is not None]
    if meta.multiple_of is not None:
        tests.append(f"not multiple({v}, {_keep(meta.multiple_of)})")
    if meta.min_length is not None:
        tests.append(f"len({v}) < {meta.min_length}")
    if meta.max_length is not None:
        tests.append(f"len({v}) > {meta.max_length}")
    if meta.pattern is not None:
        tests.append(f"{_keep(re.compile(meta.pattern).search)}({v}) is None")
    return [f"if {v} is not None and ({' or '.join(tests)}): raise Mismatch"] if tests else []


def _compared(v: str, limit: Any) -> str:
    """What compares with a limit: from 2**53 on, a binary number stands for the number that its text denotes."""
    return f"comparable({v})" if abs(limit) >= 2**53 else v


def _text(value: Any) -> str:
    if isinstance(value, str):
        return str.__str__(value)
    raise Mismatch


def _constant(value: Any, known: frozenset[str]) -> str:
    if isinstance(value, str) and str.__str__(value) in known:
        return str.__str__(value)
    raise Mismatch


def _integer(value: Any) -> int:
    """An integer, or a number without a fraction as one."""
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return integer_of(value)
    raise Mismatch


def _number(value: Any) -> int | float:
    if (isinstance(value, float) and isfinite(value)) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise Mismatch


def _multiple(value: Any, of: Any) -> bool:
    if isinstance(value, int) and isinstance(of, int):
        return value % of == 0
    from fractions import Fraction

    exact, unit = (Fraction(one) if isinstance(one, int) else Fraction(repr(one)) for one in (value, of))
    return (exact / unit).denominator == 1


def _members(value: Any) -> dict[str, Any]:
    if is_mapping(value):
        return dict(value)
    raise Mismatch


def _literal(values: tuple[Any, ...]) -> Read:
    def read(value: Any) -> Any:
        key = scalar_key(value)
        for one in values:
            if key == scalar_key(one):
                return one
        raise Mismatch

    return read


def _tuple(type_: Type) -> Read:
    """What reads an array whose first items have types of their own. One that is counted by bounds may end before all of them."""
    first, after = [_name(one) for one in type_.children[:-1]], _name(type_.children[-1])

    def read(value: Any) -> Any:
        if not is_sequence(value) or (not type_.limits and len(value) < len(first)):
            raise Mismatch
        further = [after] * (len(value) - len(first))
        return tuple(_SHARED[name](item) for name, item in zip((*first, *further), value, strict=False))

    return read


# --- unions ---


def _union(type_: Type) -> Read:
    if type_.tags is not None:
        return _tagged(type_, type_.tags)
    return _first(type_.branches, is_exclusive=type_.is_exclusive)


def _tried(branches: Sequence[Type], *, is_exclusive: bool = False) -> str:
    """The name of what reads a value by the first branch that takes it."""
    if len(branches) == 1:
        return _name(branches[0])
    return _keep(_first(branches, is_exclusive=is_exclusive)) if branches else "refuse"


def _first(branches: Sequence[Type], *, is_exclusive: bool) -> Read:
    readers = [(_name(one), one, _needed(one)) for one in branches]
    drops = any(shape_of(cls).drops for one in branches for cls in one.classes)  # then the one that keeps most

    def read(value: Any) -> Any:
        found: Any = UNSET
        known, key = _TRIED.known, (id(value), id(readers))
        if key in known:
            found = known[key][1]
        else:
            is_outermost = not known
            known[key] = value, UNSET
            try:
                for name, branch, needed in readers:
                    if value.__class__ is dict and not needed <= value.keys():
                        continue
                    try:
                        one = _SHARED[name](value)
                    except Mismatch:
                        continue
                    if isinstance(value, Struct):
                        return one
                    if branch.leads_to_judged and not accepts(branch.annotation, value):
                        continue
                    if found is not UNSET and is_exclusive:
                        found = UNSET
                        break
                    found = one if found is UNSET else max(found, one, key=_count)
                    if not is_exclusive and not drops:
                        break
                known[key] = value, found
            finally:
                if is_outermost:
                    known.clear()
        if found is UNSET:
            raise Mismatch
        return found

    return read


class _Tried(local):
    """What became of the values that are read by trying: branches may try what lies below them again, level by level."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, int], tuple[Any, Any]] = {}


_TRIED: Final = _Tried()


def _needed(type_: Type) -> frozenset[str]:
    """The fields without which no object is of a type."""
    fields = shape_of(type_.cls).fields.values() if type_.kind == "record" else ()
    return frozenset(one.wire for one in fields if one.is_required)


def _count(value: Any) -> int:
    """How many fields a record holds."""
    return len(values_of(value)) if isinstance(value, Base) else 0


def _tagged(type_: Type, tags: Tags) -> Read:
    owners = {key: _tried(found, is_exclusive=type_.is_exclusive) for key, found in tags.owners.items()}
    by_text = {tag: name for (_, tag), name in owners.items() if isinstance(tag, str)}
    unknown = _tried(tags.unknown, is_exclusive=type_.is_exclusive)
    default, other, wire = _tried(tags.default), _tried(tags.others), tags.field

    def read(value: Any) -> Any:
        if value.__class__ is not dict:
            return _branch_of(type_, value) if isinstance(value, Struct) else _SHARED[other](value)
        tag = value.get(wire, UNSET)
        if tag.__class__ is str:
            return _SHARED[by_text.get(tag, unknown)](value)
        name = owners.get(scalar_key(tag)) if isinstance(tag, int | float) else None
        return _SHARED[name or default](value)

    return read


def _branch_of(type_: Type, record: Any) -> Any:
    """A record as one of the class of a branch."""
    if type(record) in type_.classes:
        return record
    for cls in type_.classes:
        try:
            return _given(cls)(record)
        except Mismatch:
            pass
    raise Mismatch


def _refuse(_: Any) -> Any:
    raise Mismatch


# --- what no reader takes ---


def build(type_: Type, value: Any, accepts: Callable[[Any, Any], bool]) -> Any:
    """The value of a type that the schema accepts and no reader takes: with the classes that it has, and plain JSON where none fits."""
    try:
        return reader(type_)(value)
    except Mismatch:
        pass
    children, branches = type_.children, list[Type]()
    match type_.kind:
        case "record":
            return _built_record(shape_of(type_.cls), value, accepts)
        case "map" if is_object(value):
            return {key: _built(children[0], item, accepts, key) for key, item in value.items()}
        case "array" | "tuple" if is_array(value):
            last = len(children) - 1
            return [_built(children[min(i, last)], item, accepts, i) for i, item in enumerate(value)]
        case "optional" | "union":
            branches = [one for one in type_.branches if accepts(one.annotation, value)]
        case _:
            pass
    refused: Unnamed | None = None
    for branch in branches:
        try:
            return build(branch, value, accepts)
        except Unnamed as error:
            refused = error
    if refused is not None:
        raise refused
    return value


def _built(type_: Type, value: Any, accepts: Callable[[Any, Any], bool], key: str | int) -> Any:
    """The same, of an item or a field. Raises `Unnamed` with its key."""
    try:
        return build(type_, value, accepts)
    except Unnamed as error:
        raise Unnamed((key, *error.path)) from None


def _built_record(shape: Shape, value: Any, accepts: Callable[[Any, Any], bool]) -> Any:
    fields = shape.fields.values()
    if not is_object(value) or not all(one.wire in value for one in fields if one.is_required):
        return value
    tag = value.get(str(shape.tag_field)) if shape.is_unknown else None
    constants = shape.constants.items()
    if (shape.is_unknown and not isinstance(tag, str)) or not all(
        is_one_of(value.get(wire, UNSET), (constant,)) for wire, constant in constants
    ):
        return value
    values = {
        one.name: _built(type_of(one.type), value[one.wire], accepts, one.wire) for one in fields if one.wire in value
    }
    named = {one.wire for one in fields} | {shape.tag_field}
    further = {} if shape.drops else {key: item for key, item in value.items() if key not in named}
    if further and shape.extra is None:
        raise Unnamed((next(iter(further)),))
    extra = type_of(shape.extra_type())
    unknown = {key: _built(extra, item, accepts, key) for key, item in further.items()}
    return made(shape.cls, values, unknown or None, tag)


_SHARED.update(
    UNSET=UNSET,
    Mismatch=Mismatch,
    Notes=Notes,
    note=keep_notes,
    copy=copy,
    text=_text,
    integer=_integer,
    number=_number,
    constant=_constant,
    comparable=comparable,
    equal=is_one_of,
    members=_members,
    multiple=_multiple,
    refuse=_refuse,
)
