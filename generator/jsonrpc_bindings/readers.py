"""From JSON to the values of annotations: straight-line functions, compiled from a class when its first object is read.

A reader is exact or refuses, and never says why; what refuses is explained by the schema. A record is read as it is, so that constructors
and assignments use the same readers as decoding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from math import isfinite
from threading import local
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Never, TypeAlias, Union, get_args, get_origin

from msgspec import UNSET, Struct

from .choices import Alias, Keyed, Meta, Number, Shapes, Tagged, bare, is_unpacked, marker_of, members
from .json_types import Mismatch, comparable, integer_of, is_array, is_mapping, is_object, is_sequence
from .records import Field, Record, Shape, held, made, make, notes_of, shape_of
from .texts import OpenTexts, is_texts, members_of

Read: TypeAlias = Callable[[Any], Any]


class Unnamed(Mismatch):
    """A class takes no fields but its own, where the schema allows for others."""

    def __init__(self, path: tuple[str | int, ...]) -> None:
        super().__init__()
        self.path = path


def reader(annotation: Any) -> Read:
    """What reads the values of a resolved annotation."""
    if isinstance(annotation, Alias):
        found = _ALIASES.get(annotation)
        if found is None:
            found = _ALIASES[annotation] = _later(annotation)
        return found
    if is_record(annotation):
        return record_reader(annotation)
    lines, _ = _inline(annotation)
    return _compiled("value", lines)


def field_reader(one: Field) -> Read:
    """What reads the values of a field."""
    if one.read is None:
        one.read = reader(one.type)
    found: Read = one.read
    return found


def record_reader(cls: Any) -> Read:
    """What reads the objects of a class of records."""
    name = _name_of(cls)

    def read(value: Any) -> Any:
        return _SHARED[name](value)

    return read


def is_record(annotation: Any) -> bool:
    """Whether an annotation is a class of records."""
    return isinstance(annotation, type) and issubclass(annotation, Record)


_SHARED: Final[dict[str, Any]] = {}
"""The names that compiled readers use. Those of classes stand for what compiles them, until their first object is read."""
_RECORDS: Final[dict[type, str]] = {}
_ALIASES: Final[dict[Alias, Read]] = {}
_NUMBERS: Final = count()


def _later(alias: Alias) -> Read:
    known: list[Read] = []

    def read(value: Any) -> Any:
        if not known:
            inner, markers = bare(alias)
            is_union = inner is not Any and get_origin(inner) in (Union, UnionType)
            if is_union and not any(isinstance(one, Meta) for one in markers):  # a level less: values may be deep
                known.append(_union(members(inner), marker_of(markers)))
            else:
                known.append(_compiled("value", _lines(inner, markers, "value")[0]))
        return known[0](value)

    return read


def _keep(value: Any) -> str:
    """A name for a value in the source of readers."""
    name = f"k{next(_NUMBERS)}"
    _SHARED[name] = value
    return name


def _name_of(cls: Any) -> str:
    known = _RECORDS.get(cls)
    if known is not None:
        return known
    name = f"read{next(_NUMBERS)}"

    def compile_first(value: Any) -> Any:
        _SHARED[name] = _record(shape_of(cls))
        return _SHARED[name](value)

    _SHARED[name] = compile_first
    return _RECORDS.setdefault(cls, name)  # another thread may have been first


def _compiled(argument: str, lines: Sequence[str]) -> Read:
    source = "\n".join((f"def read({argument}):", *(f"    {line}" for line in lines), f"    return {argument}"))
    return _function(source)


def _function(source: str) -> Read:
    local: dict[str, Any] = {}
    exec(compile(source, "<reader>", "exec"), _SHARED, local)  # noqa: S102 - the text is made of tables, without a value of a message
    found: Read = local["read"]
    return found


# --- records ---


def _record(shape: Shape) -> Read:
    cls, fields = shape.cls, list(shape.fields.values())
    names = frozenset(one.wire for one in fields) | shape.constants.keys()
    if shape.is_unknown and shape.tag_field is not None:
        names |= {shape.tag_field}
    lines = ["if value.__class__ is not dict:", f"    return {_keep(_given(cls))}(value)", "get = value.get"]
    checks: list[str] = []
    puts: list[str] = []
    if shape.is_unknown and shape.tag_field is not None:
        known = _keep(shape.known)
        checks += [
            f"tag = get({shape.tag_field!r}, UNSET)",
            f"if tag.__class__ is not str or tag in {known}: raise Mismatch",
        ]
    for wire, constant in shape.constants.items():
        checks += _constant_lines(f"get({wire!r}, UNSET)", constant)
    for index, one in enumerate(fields):
        variable = f"v{index}"
        slot = _keep(one.slot.__set__)
        if not one.is_required:
            inner, _ = _inline(one.type, variable)
            checks += [f"{variable} = get({one.wire!r}, UNSET)"]
            block = [*inner, f"{slot}(self, {variable})"]
            puts += [f"if {variable} is not UNSET:", *(f"    {line}" for line in block)]
        elif one.wire in shape.constants:
            puts += [f"{slot}(self, value[{one.wire!r}])"]
        else:
            inner, is_class_checked = _inline(one.type, variable)
            checks += [f"{variable} = get({one.wire!r}, UNSET)"]
            if not is_class_checked or index:  # before what stands above it is read in vain, level by level
                checks += [f"if {variable} is UNSET: raise Mismatch"]
            puts += [*inner, f"{slot}(self, {variable})"]
    for wire, constants in shape.excluded.items():
        checks += [f"if {wire!r} in value and {_keep(_one_of(constants))}(value[{wire!r}]): raise Mismatch"]
    prototype = _keep(_prototype(shape))
    lines += [*checks, f"self = copy({prototype})", *puts]
    known_names = _keep(names)
    unknown = f"{{key: item for key, item in value.items() if key not in {known_names}}}"
    if shape.is_unknown:
        lines += ["unknown = value.copy()", *(f"unknown.pop({name!r}, None)" for name in sorted(names))]
        lines += [f"note(self, Notes(unknown, tag, {shape.tag_field!r}))"]
    elif shape.drops:
        pass
    elif shape.extra is None:
        lines += [f"if not value.keys() <= {known_names}: raise Mismatch"]
    elif shape.extra is Any:
        lines += [f"if not value.keys() <= {known_names}: note(self, Notes({unknown}))"]
    else:
        inner, _ = _inline(shape.extra_type(), "item")
        lines += [
            f"if not value.keys() <= {known_names}:",
            f"    unknown = {unknown}",
            "    for wire, item in unknown.items():",
            *(f"        {line}" for line in inner),
            "        unknown[wire] = item",
            "    note(self, Notes(unknown))",
        ]
    if shape.is_odd and not shape.is_unknown:
        lines += [f"note(self, Notes({unknown if shape.extra is not None and not shape.drops else 'None'}))"]
    source = "\n".join(("def read(value):", *(f"    {line}" for line in lines), "    return self"))
    return _function(source)


def _prototype(shape: Shape) -> Any:
    """A record without anything set, of which others are copies."""
    values: dict[str, Any] = {one.name: None for one in shape.fields.values() if one.is_required}
    if shape.is_unknown:
        values["_notes"] = UNSET
    return make(shape.cls, **values)


def _constant_lines(text: str, constant: Any) -> list[str]:
    if isinstance(constant, str):
        return [f"if {text} != {constant!r}: raise Mismatch"]
    return [f"if not {_keep(_one_of((constant,)))}({text}): raise Mismatch"]


def _given(cls: Any) -> Read:
    """What takes a record in place of an object: one of the class, or of the class that has its fields under another tag."""
    shape = shape_of(cls)

    def take(value: Any) -> Any:
        if value.__class__ is cls:
            return value
        if not isinstance(value, Record):
            raise Mismatch
        other = shape_of(type(value))
        if isinstance(value, cls) and (other.tag_field, other.tag) == (shape.tag_field, shape.tag):
            return value
        if isinstance(value, cls) or issubclass(cls, type(value)):  # a body, and the variant that is made of it
            if other.fields.keys() != shape.fields.keys() or shape.is_unknown:
                raise Mismatch
            values = {one.name: item for one in shape.fields.values() if (item := one.slot.__get__(value)) is not UNSET}
            notes = notes_of(value)
            return made(cls, values, notes.unknown if notes is not None else None)
        raise Mismatch

    return take


# --- types ---


def _inline(annotation: Any, variable: str = "value") -> tuple[list[str], bool]:
    """The lines that check a variable and put into it what was read; and whether they refuse `UNSET`."""
    v = variable
    inner, markers = bare(annotation) if not isinstance(annotation, Alias) else (annotation, ())
    if isinstance(annotation, Alias):
        plain, more = bare(annotation)
        if plain in _SCALARS or get_origin(plain) is Literal or plain is Any or _is_open(plain):
            inner, markers = plain, more
        else:
            return [f"{v} = {_keep(reader(annotation))}({v})"], False
    return _lines(inner, markers, v)


def _lines(inner: Any, markers: tuple[Any, ...], v: str) -> tuple[list[str], bool]:
    lines, refuses = _of_type(inner, markers, v)
    for one in markers:
        if isinstance(one, Meta):
            lines += _bound_lines(one, inner, v)
    return lines, refuses


_SCALARS: Final = (str, int, bool, float, Number, NoneType)


def _of_type(inner: Any, markers: tuple[Any, ...], v: str) -> tuple[list[str], bool]:
    if inner is Any or inner is object:
        return ["pass"], False
    if inner is Never:
        return ["raise Mismatch"], True
    if inner is str or _is_open(inner):
        return [f"if {v}.__class__ is not str: {v} = text({v})"], True
    if inner is bool:
        return [f"if {v} is not True and {v} is not False: raise Mismatch"], True
    if inner is int:
        return [f"if {v}.__class__ is not int: {v} = integer({v})"], True
    if inner is float or inner is Number:
        return [f"if {v}.__class__ is not int: {v} = number({v})"], True
    if inner is NoneType:
        return [f"if {v} is not None: raise Mismatch"], True
    if is_record(inner):
        return [f"{v} = {_name_of(inner)}({v})"], True
    origin = get_origin(inner)
    if origin is Literal:
        values = get_args(inner)
        if all(type(one) is str for one in values):
            known = _keep(frozenset(values))
            return [f"if {v}.__class__ is not str or {v} not in {known}: {v} = constant({v}, {known})"], True
        return [f"{v} = {_keep(_literal(values))}({v})"], True
    if origin is list or inner is list:
        item = get_args(inner)[0] if origin is list else Any
        return [f"if {v}.__class__ is not list: raise Mismatch", *_item_lines(item, v)], True
    if origin is dict or inner is dict:
        item = get_args(inner)[1] if origin is dict else Any
        keys = [f"for key in {v}:", "    if not isinstance(key, str): raise Mismatch"]
        return [f"if {v}.__class__ is not dict: {v} = members({v})", *keys, *_member_lines(item, v)], True
    if origin is tuple:
        is_counted = any(isinstance(one, Meta) for one in markers)
        return [f"{v} = {_keep(_positions(get_args(inner), is_counted=is_counted))}({v})"], True
    if is_texts(inner):
        return [
            f"{v} = {_keep(members_of(inner))}({v}) if isinstance({v}, str) else None",
            f"if {v} is None: raise Mismatch",
        ], True
    if isinstance(inner, type):
        raise TypeError(f"{inner!r} is no type of JSON")
    branches = members(inner)
    marker = marker_of(markers)
    if marker is None and NoneType in branches and len(branches) == 2:
        (one,) = (branch for branch in branches if branch is not NoneType)
        lines, refuses = _inline(one, v)
        return ([f"if {v} is not None:", *(f"    {line}" for line in lines)], refuses)
    if marker is None and NoneType in branches and len(branches) > 1:
        rest = tuple(branch for branch in branches if branch is not NoneType)
        read = _keep(_union(rest, None))
        return [f"if {v} is not None: {v} = {read}({v})"], True
    return [f"{v} = {_keep(_union(branches, marker))}({v})"], True


def _is_open(inner: Any) -> bool:
    """Whether a type is that of constants beside which any text may stand."""
    branches = members(inner)
    return (
        len(branches) > 1
        and str in branches
        and all(
            one is str or (get_origin(one) is Literal and all(type(each) is str for each in get_args(one)))
            for one in branches
        )
    )


def _item_lines(item: Any, v: str) -> list[str]:
    inner, _ = bare(item) if not isinstance(item, Alias) else (item, ())
    if inner is Any:
        return []
    if is_record(inner):
        return [f"{v} = [{_name_of(inner)}(one) for one in {v}]"]
    return [f"{v} = [{_keep(reader(item))}(one) for one in {v}]"]


def _member_lines(item: Any, v: str) -> list[str]:
    inner, _ = bare(item) if not isinstance(item, Alias) else (item, ())
    if inner is Any:
        return []
    read = _name_of(inner) if is_record(inner) else _keep(reader(item))
    return [f"{v} = {{key: {read}(one) for key, one in {v}.items()}}"]


def _bound_lines(meta: Meta, inner: Any, v: str) -> list[str]:
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
    if not tests:
        return []
    is_nullable = NoneType in members(inner)
    return [f"if {f'{v} is not None and ' if is_nullable else ''}({' or '.join(tests)}): raise Mismatch"]


def _compared(v: str, limit: Any) -> str:
    """What compares with a limit: from 2**53 on, a binary number stands for the number that its text denotes."""
    return f"comparable({v})" if abs(limit) >= 2**53 else v


# --- scalars ---


def _text(value: Any) -> str:
    if isinstance(value, str):
        return str.__str__(value)
    raise Mismatch


def _constant(value: Any, known: frozenset[str]) -> str:
    if isinstance(value, str) and str.__str__(value) in known:
        return str.__str__(value)
    raise Mismatch


def integer(value: Any) -> int:
    """An integer, or a number without a fraction as one."""
    if isinstance(value, bool):
        raise Mismatch
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return integer_of(value)
    raise Mismatch


def _number(value: Any) -> int | float:
    if isinstance(value, float) and isfinite(value):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise Mismatch


def _multiple(value: Any, of: Any) -> bool:
    if isinstance(value, int) and isinstance(of, int):
        return value % of == 0
    from fractions import Fraction

    exact, unit = (Fraction(one) if isinstance(one, int) else Fraction(repr(one)) for one in (value, of))
    return (exact / unit).denominator == 1


def _members(value: Any) -> dict[str, Any]:
    if is_mapping(value) and all(isinstance(key, str) for key in value):
        return dict(value)
    raise Mismatch


def same_scalar(value: Any, constant: Any) -> bool:
    """Whether two scalars are equal as JSON: true is not 1, and 1.0 is."""
    if isinstance(value, bool) is not isinstance(constant, bool):
        return False
    if isinstance(value, int | float) and isinstance(constant, int | float):
        return _whole(value) == _whole(constant)
    return type(value) is type(constant) and bool(value == constant)


def _whole(value: int | float) -> int | float:
    return integer_of(value) if isinstance(value, float) and value.is_integer() else value


def _one_of(constants: tuple[Any, ...]) -> Callable[[Any], bool]:
    return lambda value: any(same_scalar(value, one) for one in constants)


def _literal(values: tuple[Any, ...]) -> Read:
    def read(value: Any) -> Any:
        for one in values:
            if same_scalar(value, one):
                return one
        raise Mismatch

    return read


def positions(types: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
    """The types of the first items of a tuple, and that of those after them; `Never` where there are none."""
    if types[1:] == (Ellipsis,):
        return (), types[0]
    if types and is_unpacked(types[-1]):
        return types[:-1], get_args(types[-1])[0]
    return types, Never


def _positions(types: tuple[Any, ...], *, is_counted: bool) -> Read:
    """What reads an array whose first items have types of their own. One that is counted by bounds may end before all of them."""
    first, after = positions(types)
    readers, read_after = [reader(one) for one in first], reader(after)

    def read(value: Any) -> Any:
        if not is_sequence(value) or (not is_counted and len(value) < len(readers)):
            raise Mismatch
        further = [read_after] * (len(value) - len(readers))
        return tuple(read_one(item) for read_one, item in zip((*readers, *further), value, strict=False))

    return read


# --- unions ---


def told_by_tags(branches: tuple[Any, ...]) -> Tagged | None:
    """What tells the branches of an unmarked union apart: the tag that the classes have themselves, each its own."""
    shapes = [shape_of(bare(one)[0]) for one in branches if is_record(bare(one)[0])]
    fields = {shape.tag_field for shape in shapes}
    tags = [shape.tag for shape in shapes if not shape.is_unknown]
    if len(shapes) < max(2, len(branches)) or len(fields) != 1 or None in fields or None in tags:
        return None
    if len(set(map(_key, tags))) < len(tags):
        return None
    return Tagged(str(*fields))


def _union(branches: tuple[Any, ...], marker: Any) -> Read:
    marker = marker or told_by_tags(branches)
    if isinstance(marker, Tagged):
        return _tagged(branches, marker)
    if isinstance(marker, Keyed):
        return _keyed(branches, marker)
    return _first(branches, is_exclusive=isinstance(marker, Shapes) and marker.exclusive)


def _first(branches: Sequence[Any], *, is_exclusive: bool = False) -> Read:
    if len(branches) == 1:
        return reader(branches[0])
    readers = [(_getter(one), one) for one in branches]
    drops = any(shape_of(cls).drops for one in branches for cls in classes_of(one))  # then the one that keeps most

    def read(value: Any) -> Any:
        found: Any = UNSET
        known, key = _TRIED.known, (id(value), id(readers))
        if key in known:
            found = known[key][1]
        else:
            is_first = not known
            known[key] = value, UNSET
            try:
                for get, branch in readers:
                    try:
                        one = get()(value)
                    except Mismatch:
                        continue
                    if isinstance(value, Struct):
                        return one
                    if is_judged(branch) and not _is_accepted(branch, value):
                        continue
                    if found is not UNSET and is_exclusive:
                        found = UNSET
                        break
                    found = one if found is UNSET else max(found, one, key=_count)
                    if not is_exclusive and not drops:
                        break
                known[key] = value, found
            finally:
                if is_first:
                    known.clear()
        if found is UNSET:
            raise Mismatch
        return found

    return read


def _count(value: Any) -> int:
    """How many fields a record holds."""
    return (
        sum(held(value, one) is not UNSET for one in shape_of(type(value)).fields.values())
        if is_record(type(value))
        else 0
    )


class _Tried(local):
    """What became of the values that are read by trying: branches may try what lies below them again, level by level."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, int], tuple[Any, Any]] = {}


_TRIED: Final = _Tried()


def _getter(branch: Any) -> Callable[[], Read]:
    """Gives what reads a branch of a union: of a class that which is compiled, so that values may be deep."""
    if is_record(branch):
        name = _name_of(branch)
        return lambda: _SHARED[name]
    read = reader(branch)
    return lambda: read


def is_judged(annotation: Any) -> bool:
    """Whether the schema says more of a type, or of what it leads to, than readers know."""
    if annotation not in _JUDGED:
        _JUDGED[annotation] = _leads_to_judged(annotation)
    return _JUDGED[annotation]


_JUDGED: Final[dict[Any, bool]] = {}


def _leads_to_judged(annotation: Any) -> bool:
    waiting: list[Any] = [annotation]
    seen = set[Any]()
    while waiting:
        one = waiting.pop()
        if isinstance(one, Alias):
            if one not in seen:
                if one.judged:
                    return True
                seen.add(one)
                waiting.append(one.written.resolved())
        elif is_record(one):
            if one not in seen:
                shape = shape_of(one)
                if shape.is_judged:
                    return True
                seen.add(one)
                waiting += [field.type for field in shape.fields.values()]
                waiting.append(shape.extra_type())
        elif get_origin(one) is Annotated:
            waiting.append(get_args(one)[0])
        elif get_origin(one) is not Literal:
            waiting += get_args(one)
    return False


def _is_accepted(branch: Any, value: Any) -> bool:
    from .receiving import accepts

    return accepts(branch, value)


def build(annotation: Any, value: Any, accepts: Callable[[Any, Any], bool]) -> Any:
    """The value of a type that the schema accepts and no reader takes: with the classes that it has, and plain JSON where none fits."""
    try:
        return reader(annotation)(value)
    except Mismatch:
        pass
    inner, _ = bare(annotation)
    origin = get_origin(inner)
    if is_record(inner):
        return _built_record(shape_of(inner), value, accepts)
    if origin is list and is_array(value):
        return [_built(get_args(inner)[0], item, accepts, i) for i, item in enumerate(value)]
    if origin is dict and is_object(value):
        return {key: _built(get_args(inner)[1], item, accepts, key) for key, item in value.items()}
    if origin is tuple and is_array(value):
        first, after = positions(get_args(inner))
        return [_built(first[i] if i < len(first) else after, item, accepts, i) for i, item in enumerate(value)]
    branches = () if origin is None or origin is Literal else members(inner)
    if branches in ((), (inner,)):
        return value
    refused: Unnamed | None = None
    for branch in branches:
        if accepts(branch, value):
            try:
                return build(branch, value, accepts)
            except Unnamed as error:
                refused = error
    if refused is not None:
        raise refused
    return value


def _built(annotation: Any, value: Any, accepts: Callable[[Any, Any], bool], key: str | int) -> Any:
    """The same, of an item or a field. Raises `Unnamed` with its key."""
    try:
        return build(annotation, value, accepts)
    except Unnamed as error:
        raise Unnamed((key, *error.path)) from None


def _built_record(shape: Shape, value: Any, accepts: Callable[[Any, Any], bool]) -> Any:
    fields = shape.fields.values()
    if not is_object(value) or not all(one.wire in value for one in fields if one.is_required):
        return value
    if shape.is_unknown and not isinstance(value.get(str(shape.tag_field)), str):
        return value
    if any(wire not in value or not same_scalar(value[wire], constant) for wire, constant in shape.constants.items()):
        return value
    values = {one.name: _built(one.type, value[one.wire], accepts, one.wire) for one in fields if one.wire in value}
    named = {one.wire for one in fields} | {shape.tag_field}
    further = {} if shape.drops else {key: item for key, item in value.items() if key not in named}
    if further and shape.extra is None:
        raise Unnamed((next(iter(further)),))
    unknown = {key: _built(shape.extra_type(), item, accepts, key) for key, item in further.items()}
    return made(shape.cls, values, unknown or None, value.get(str(shape.tag_field)) if shape.is_unknown else None)


def constants_of(branch: Any, wire: str) -> tuple[Any, ...] | None:
    """The constants that a branch of a union has in a field; `None` where it has none."""
    inner, _ = bare(branch)
    if is_record(inner):
        shape = shape_of(inner)
        if wire in shape.constants and not shape.is_unknown:
            return (shape.constants[wire],)
        for one in shape.fields.values():
            if one.wire == wire:
                return _literals(one.type)
        return None
    found = [constants_of(one, wire) for one in members(inner) if is_object_type(one)]
    if not found or None in found:
        return None
    return tuple(dict.fromkeys(tag for tags in found for tag in tags or ()))


def _literals(annotation: Any) -> tuple[Any, ...] | None:
    inner, _ = bare(annotation)
    found: list[Any] = []
    for one in members(inner):
        plain, _ = bare(one)
        if get_origin(plain) is not Literal and not (is_texts(plain) and not issubclass(plain, OpenTexts)):
            return None
        found += get_args(plain) or [each.value for each in plain]
    return tuple(found)


def is_object_type(branch: Any) -> bool:
    """Whether a branch takes objects."""
    inner, _ = bare(branch)
    if is_record(inner) or get_origin(inner) is dict or inner is dict or inner is Any:
        return True
    return (
        inner not in _SCALARS
        and get_origin(inner) not in (list, tuple, Literal, dict, None)
        and any(is_object_type(one) for one in members(inner))
    )


def is_fallback(branch: Any, wire: str) -> bool:
    """Whether a branch keeps unknown tags in a field."""
    inner, _ = bare(branch)
    if is_record(inner):
        shape = shape_of(inner)
        return shape.is_unknown and shape.tag_field == wire
    found = [is_fallback(one, wire) for one in members(inner) if is_object_type(one)]
    return bool(found) and all(found)


def _key(value: Any) -> Any:
    return (isinstance(value, bool), _whole(value) if isinstance(value, int | float) else value)


def _tagged(branches: tuple[Any, ...], marker: Tagged) -> Read:
    wire = marker.field
    groups: dict[Any, list[Any]] = {}
    fallbacks: list[Any] = []
    defaults: list[Any] = []
    others: list[Any] = []
    for branch in branches:
        tags = constants_of(branch, wire)
        if not is_object_type(branch):
            others.append(branch)
        elif is_fallback(branch, wire):
            fallbacks.append(branch)
        elif tags is None:
            defaults.append(branch)
        else:
            for tag in tags:
                groups.setdefault(_key(tag), []).append(branch)
    if marker.default_admits_known:
        groups = {tag: [*owners, *defaults] for tag, owners in groups.items()}
    for tag in marker.default_tags:
        groups.setdefault(_key(tag), list(defaults))
    made_readers = {tag: _first(owners, is_exclusive=marker.exclusive) for tag, owners in groups.items()}
    by_text = {tag: read for (_, tag), read in made_readers.items() if isinstance(tag, str)}
    unknown = fallbacks or (defaults if marker.default_admits_unknown else [])
    read_unknown = _first(unknown, is_exclusive=marker.exclusive) if unknown else _refuse
    read_default = _first(defaults) if defaults else _refuse
    read_other = _first(others) if others else _refuse
    read_given = _given_branch(branches)

    def read(value: Any) -> Any:
        if value.__class__ is dict:
            tag = value.get(wire, UNSET)
            if tag.__class__ is str:
                return by_text.get(tag, read_unknown)(value)
            if tag is UNSET:
                return read_default(value)
            found = made_readers.get(_key(tag)) if isinstance(tag, int | float) else None
            return (found or read_default)(value)
        return read_given(value) if isinstance(value, Struct) else read_other(value)

    return read


def _refuse(_: Any) -> Any:
    raise Mismatch


def classes_of(branch: Any) -> Iterator[Any]:
    """The classes of records among the branches of a type."""
    inner, _ = bare(branch)
    if is_record(inner):
        yield inner
    else:
        for one in members(inner):
            if one is not inner:
                yield from classes_of(one)


def _given_branch(branches: tuple[Any, ...]) -> Read:
    def take(value: Any) -> Any:
        classes = [cls for branch in branches for cls in classes_of(branch)]
        if type(value) in classes:
            return value
        for cls in classes:
            try:
                return _given(cls)(value)
            except Mismatch:
                pass
        raise Mismatch

    return take


def _keyed(branches: tuple[Any, ...], marker: Keyed) -> Read:
    by_key = {key: reader(one) for key, one in zip(marker.keys, branches, strict=True) if key is not None}
    others = [one for key, one in zip(marker.keys, branches, strict=True) if key is None]
    read_other = _first(others) if others else _refuse
    read_given = _given_branch(branches)

    def read(value: Any) -> Any:
        if value.__class__ is dict:
            for key, read_one in by_key.items():
                if key in value:
                    return read_one(value)
            raise Mismatch
        return read_given(value) if isinstance(value, Struct) else read_other(value)

    return read


def _install() -> None:
    from .records import Notes, copy, keep_notes

    _SHARED.update(
        UNSET=UNSET,
        Mismatch=Mismatch,
        Notes=Notes,
        note=keep_notes,
        copy=copy,
        text=_text,
        integer=integer,
        number=_number,
        constant=_constant,
        comparable=comparable,
        members=_members,
        multiple=_multiple,
    )


_install()
