"""The quick way to write a record: as plain values, which pydantic's core writes in one go, without the steps between its serializers.

What is written is what the general way writes, in the same order. A value is taken only if its class is the very one that the type of its
field names. What the quick way is not sure of is left to the general way, which writes it or refuses it: further fields, derived classes,
serializers of somebody's own, defaults that were changed in place, types within themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from types import NoneType
from typing import Any, Final, TypeAlias

from pydantic import BaseModel
from pydantic_core import to_json

from .alone import Writing, WritingOther
from .errors import EncodeError, shown
from .json_types import is_object, is_sequence
from .judging import Judge
from .model import Excluding, changed_defaults, needed, stray_constant, variant_tag, wire_names, write_changed
from .references import DEEPEST

Write: TypeAlias = Callable[[Any], Any]
Node: TypeAlias = Mapping[type, "Write | None"]
"""How values are written, by their class; `None` for those that are written as they are. Of other classes the quick way is not sure."""


class _NotSure(Exception):
    """The general way is to be asked."""


def quickly(record: BaseModel) -> bytes | None:
    """A record as JSON text, with what was set in it; `None` where only the general way is sure."""
    write = _WRITERS.get(record.__class__)
    if write is None:
        write = _WRITERS[record.__class__] = _writer(record.__class__)
    try:
        return to_json(write(record))
    except (_NotSure, KeyError, ValueError, RecursionError):  # ValueError: text that is no Unicode
        return None


def refuse_unwritable(record: BaseModel) -> None:
    """Raise `EncodeError` if a record, or one in it, lacks what it must have, has a field twice, or is another variant by what it has.

    The last two come of what was put into `model_extra`.
    """
    waiting: list[Any] = [record]
    while waiting:
        value = waiting.pop()
        if isinstance(value, BaseModel):
            held, extra, model = value.__dict__, value.__pydantic_extra__, type(value)
            missing = needed(model) - value.__pydantic_fields_set__
            if missing:
                name = min(missing, key=lambda name: (name in held, name))
                why = ", and 'model_fields_set' lacks it" if name in held else ""
                raise EncodeError(f"{model.__name__}: the field {name!r} is required{why}")
            if extra:
                twice = sorted(extra.keys() & set(wire_names(model).values()) - {variant_tag(model)})
                if twice:
                    raise EncodeError(
                        f"{model.__name__}: {shown(twice[0])} is a field of it, not one for 'model_extra'"
                    )
                stray = stray_constant(value) if isinstance(value, Excluding) else None
                if stray is not None:
                    raise EncodeError(f"{model.__name__}: {stray}")
                waiting.extend(extra.values())
            waiting.extend(held.values())
        elif is_object(value):
            waiting.extend(value.values())
        elif is_sequence(value):
            waiting.extend(value)


_WRITERS: Final[dict[type[BaseModel], Write]] = {}

_DEEPEST: Final = 64
"""Levels of plain values within a field. pydantic's core refuses what is some times deeper."""

_LARGEST: Final = 1 << 63


def _writer(model: type[BaseModel]) -> Write:
    schema: Mapping[str, Any] = Judge(model).core_schema
    found = _Nodes().node(schema).get(model)
    return _unsure if found is None else found


def _unsure(_value: Any) -> Any:
    raise _NotSure


def _small(value: int) -> int:
    if not -_LARGEST < value < _LARGEST:
        raise _NotSure
    return value


def _finite(value: float) -> float:
    if not isfinite(value):
        raise _NotSure
    return value


def _plain(value: Any, depth: int = 0) -> Any:
    """A value that is plain throughout."""
    kind = value.__class__
    if kind is dict and depth < _DEEPEST:
        for key, item in value.items():
            if key.__class__ is not str:
                raise _NotSure
            _plain(item, depth + 1)
    elif kind is list and depth < _DEEPEST:
        for item in value:
            _plain(item, depth + 1)
    elif kind is int:
        _small(value)
    elif kind is float:
        _finite(value)
    elif not (kind is str or kind is bool or value is None):
        raise _NotSure
    return value


_TEXT: Final[Node] = {str: None}
_BOOL: Final[Node] = {bool: None}
_INT: Final[Node] = {int: _small}
_FLOAT: Final[Node] = {float: _finite}
_NULL: Final[Node] = {NoneType: None}
_ANY: Final[Node] = {**_TEXT, **_BOOL, **_INT, **_FLOAT, **_NULL, dict: _plain, list: _plain}
_SCALARS: Final[Mapping[str, Node]] = {
    "str": _TEXT,
    "bool": _BOOL,
    "int": _INT,
    "float": _FLOAT,
    "none": _NULL,
    "any": _ANY,
}


class _Nodes:
    """How values are written by the parts of one schema."""

    def __init__(self, schemas: dict[str, Any] | None = None, later: dict[type, Write] | None = None) -> None:
        self._schemas: dict[str, Any] = {} if schemas is None else schemas
        self._later: dict[type, Write] = {} if later is None else later
        self._models: dict[type, Write] = {}
        self._nodes: dict[str, Node] = {}
        self._depth = 0  # of records
        self._references = 0  # between two records

    def node(self, schema: Mapping[str, Any]) -> Node:
        """How the values of a schema are written."""
        kind = schema["type"]
        if kind == "model":
            return {schema["cls"]: self._model(schema)}
        if "serialization" in schema:
            return self._serialized(schema, schema["serialization"])
        match kind:
            case "definitions":
                self._schemas.update((one["ref"], one) for one in schema["definitions"])
                return self.node(schema["schema"])
            case "definition-ref":
                return self._referred(schema["schema_ref"])
            case "default" | "missing-sentinel" | "function-after" | "function-before" | "function-wrap":
                return self.node(schema["schema"])
            case "nullable":
                return {**self.node(schema["schema"]), **_NULL}
            case "literal":
                return _literal(schema["expected"])
            case "list":
                return {list: _items(self.node(schema.get("items_schema", _OF_ANYTHING)))}
            case "dict":
                return {dict: _members(self.node(schema.get("values_schema", _OF_ANYTHING)))}
            case "union":
                return _merged(self.node(_choice(one)) for one in schema["choices"])
            case "tagged-union":
                return _merged(self.node(one) for one in schema["choices"].values() if is_object(one))
            case _:
                return _SCALARS.get(kind, {})

    def _serialized(self, schema: Mapping[str, Any], serializer: Mapping[str, Any]) -> Node:
        """How values are written that have a serializer beside their schema."""
        if serializer["type"] == "any":
            return _ANY
        function = serializer.get("function")
        if set(serializer) != {"type", "function"} or not isinstance(function, Writing | WritingOther):
            return {}
        bare = self.node({key: part for key, part in schema.items() if key != "serialization"})
        return {kind: _left(function, write) for kind, write in bare.items() if write and issubclass(kind, BaseModel)}

    def _referred(self, name: str) -> Node:
        found = self._nodes.get(name)
        if found is not None:
            return found
        if name not in self._schemas or self._references == DEEPEST:
            return {}
        self._nodes[name] = {}  # within itself
        self._references += 1
        try:
            found = self._nodes[name] = self.node(self._schemas[name])
        finally:
            self._references -= 1
        return found

    def _model(self, schema: Mapping[str, Any]) -> Write:
        """What writes a record. One within itself may be nested deeper than pydantic's core writes."""
        model = schema["cls"]
        found = self._models.get(model)
        if found is None and self._depth == DEEPEST:
            return self._later.setdefault(model, self._made_later(schema))
        if found is None:
            self._models[model] = _unsure
            self._depth, references, self._references = self._depth + 1, self._references, 0
            fields = self._fields(schema)
            self._depth, self._references = self._depth - 1, references
            found = self._models[model] = _unsure if fields is None else _record(*fields, needed(model))
        return found

    def _made_later(self, schema: Mapping[str, Any]) -> Write:
        """What writes a record deep inside others, made for the first one."""
        made: list[Write] = []

        def write(record: Any) -> Any:
            if not made:
                made.append(_Nodes(self._schemas, self._later)._model(schema))
            return made[0](record)

        return write

    def _fields(self, schema: Mapping[str, Any]) -> _Fields | None:
        """The fields of a record, all of which it holds, and whether defaults may be changed in place; `None` for one that is unsure."""
        inner, serializer = schema, schema.get("serialization", {}).get("function", write_changed)
        while inner["type"] in ("model", "function-after", "function-before", "function-wrap"):
            if "serialization" in inner and inner is not schema:
                return None
            inner = inner["schema"]
        is_own = inner["type"] != "model-fields" or inner.get("computed_fields") or "serialization" in inner
        if is_own or schema.get("root_model") or serializer is not write_changed:
            return None
        fields: dict[str, _Field] = {}
        for name, field in inner["fields"].items():
            if any(key.startswith("serialization_exclude") for key in field):
                return None
            node, typed = self.node(field["schema"]), field["schema"]
            is_constant = typed["type"] == "literal" and len(typed["expected"]) == 1
            plain = next((kind for kind, make in node.items() if make is None), _Nothing)
            constant = typed["expected"][0] if is_constant and node else _Nothing
            fields[name] = (field.get("serialization_alias", name), plain, constant, node)
        return fields, "serialization" in schema


class _Nothing:
    """No value is this, nor of this class."""


_Field: TypeAlias = "tuple[str, type, Any, Node]"
"""The name on the wire; a class whose values are written as they are, and a constant, which most values are; and how all are written."""

_Fields: TypeAlias = "tuple[Mapping[str, _Field], bool]"
_OF_ANYTHING: Final[Mapping[str, Any]] = {"type": "any"}


def _record(fields: Mapping[str, _Field], has_changeable: bool, required: frozenset[str]) -> Write:
    count = len(fields)

    def write(record: Any) -> dict[str, Any]:
        known, held = record.__pydantic_fields_set__, record.__dict__
        if record.__pydantic_extra__ or len(held) != count or (has_changeable and changed_defaults(record)):
            raise _NotSure
        made: dict[str, Any] = {}
        for name, value in held.items():
            if name in known:
                wire, plain, constant, node = fields[name]
                if value.__class__ is plain or value is constant:
                    made[wire] = value
                else:
                    make = node[value.__class__]
                    made[wire] = value if make is None else make(value)
        if len(made) != len(known) or not required <= known:
            raise _NotSure
        return made

    return write


def _choice(branch: Any) -> Any:
    """The schema of a branch of a union, which may have a label."""
    return branch[0] if branch.__class__ is tuple else branch


def _left(writing: Writing | WritingOther, write: Write) -> Write:
    def left(record: Any) -> Any:
        if not writing.leaves(record):
            raise _NotSure
        return write(record)

    return left


def _literal(expected: Iterable[Any]) -> Node:
    """What writes constants: those of one class apart, since Python takes 1 and true for equal."""
    by_class: dict[type, set[Any]] = {}
    for one in expected:
        by_class.setdefault(one.__class__, set()).add(one)
    return {kind: _one_of(frozenset(values)) for kind, values in by_class.items() if kind in (str, int, bool)}


def _one_of(constants: frozenset[Any]) -> Write:
    def write(value: Any) -> Any:
        if value not in constants:
            raise _NotSure
        return value

    return write


def _items(node: Node) -> Write:
    def write(values: list[Any]) -> list[Any]:
        return [value if (make := node[value.__class__]) is None else make(value) for value in values]

    return write


def _members(node: Node) -> Write:
    def write(values: dict[Any, Any]) -> dict[str, Any]:
        if not all(key.__class__ is str for key in values):
            raise _NotSure
        return {key: value if (make := node[value.__class__]) is None else make(value) for key, value in values.items()}

    return write


def _merged(nodes: Iterable[Node]) -> Node:
    """A union: what each branch writes, and where several have values of one class, the first that is sure."""
    found: dict[type, Write | None] = {}
    for node in nodes:
        for kind, write in node.items():
            before = found.get(kind, _unsure)
            if kind not in found or write is None:
                found[kind] = write
            elif before is not None and before is not write:
                found[kind] = _first(before, write)
    return found


def _first(one: Write, other: Write) -> Write:
    def write(value: Any) -> Any:
        try:
            return one(value)
        except (_NotSure, KeyError):
            return other(value)

    return write
