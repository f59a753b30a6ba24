"""Validation by what receivers accept, as a JSON Schema, for values that msgspec does not decode.

The schema is that of the package, extended by the fallback branches of its classes for unknown variants and constants. A type that the
schema does not name is described by its annotation. Lenient decoding drops what the annotations `x-deserialize-…` of the schema allow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, get_args

from .annotations import Alias, Meta, resolve
from .contract import Path
from .engine import Engine
from .errors import Dropped, EncodeError, Problem, limit_problems
from .fields import get_shape, is_record
from .json_types import is_array, is_object
from .leniency import Leniency, TooMuch
from .module_registry import SchemaModule, find_module
from .pointers import json_pointer, split_pointer, write_reference, write_schema_pointer
from .string_enums import is_string_enum
from .types import Type, read_field_type, read_type
from .writers import to_readable

if TYPE_CHECKING:
    from .explain import SchemaError

TOO_MUCH: Final = "more is wrong here than is looked for and dropped"


class Receiving:
    """Validates values by what receivers of one protocol version accept."""

    def __init__(self, schema_module: SchemaModule) -> None:
        self.schema_module: Final = schema_module
        self.module: Final = schema_module.module
        self._definitions: dict[str, Any] | None = None
        self._places: dict[Any, Path] = {}
        self._lock: Final = RLock()
        self._engine: Final = Engine(lambda: {"$defs": dict(self.definitions)}, lambda: schema_module.patterns)
        _KNOWN[self.module] = self

    @classmethod
    def of(cls, module: str) -> Receiving:
        """The validator for the protocol of a generated module."""
        schema_module = find_module(module)
        return _KNOWN.get(schema_module.module) or cls(schema_module)

    @property
    def definitions(self) -> dict[str, Any]:
        """The definitions that receivers validate against, and those that are created from annotations."""
        if self._definitions is None:
            with self._lock:
                if self._definitions is None:
                    self._definitions = {**self.schema_module.judging, **self.schema_module.receiving}
        return self._definitions

    def get_published(self, name: str) -> Any:
        """A definition in the schema of the package, without what receivers accept in addition."""
        return self.schema_module.definitions.get(name, self.definitions[name])

    # --- types ---

    def locate(self, type_: Type | str) -> Path:
        """The path of the schema of a type, or of the definition of this name."""
        path = self._places.get(type_)
        if path is None:
            with self._lock:  # a place that is being described is of nobody else
                path = self._places.get(type_)
                if path is None:
                    annotation = type_ if isinstance(type_, str) else type_.annotation
                    name = self.schema_module.name_of(annotation) or self.schema_module.get_fallback(annotation)
                    path = self._places[type_] = "$defs", self._describe(type_) if name is None else name
        return path

    def takes_more(self, cls: Any, name: str) -> bool:
        """Whether the schema itself covers a field that a class does not declare."""
        for base in cls.__mro__:
            definition = self.schema_module.name_of(base) if is_record(base) else None
            if definition is not None:
                place = "$defs", definition
                schema, engine_schema = self.get_published(definition), self._engine.explainer.get_subschema(place)
                patterns: Any = [subschema.get("patternProperties", ()) for subschema in (schema, engine_schema)]
                is_unsure = len(patterns[0]) > len(patterns[1])  # the engine cannot have each pattern
                if is_unsure or any(schema.get(keyword) not in (None, False) for keyword in _OF_MORE):
                    return True
                if next(self._engine.explainer.list_matching_patterns(place, engine_schema, name), None) is not None:
                    return True
        return False

    def get_class(self, name: str) -> Any:
        """The record class of a definition; `None` if it has none."""
        for type_, place in self._places.items():
            if place == ("$defs", name) and isinstance(type_, Type) and type_.kind == "record":
                return type_.cls
        candidate = self.schema_module.types.get(name)
        return candidate if is_record(candidate) else None

    def _describe(self, type_: Type | str) -> str:
        """Create a definition from an annotation; return its name."""
        target = read_type(resolve(type_, self.module)) if isinstance(type_, str) else type_
        base = f"(type) {target.cls.__name__ if target.kind == 'record' else repr(target.annotation)}"
        definitions = self.definitions
        while base in definitions:
            base += "'"
        definitions[base] = {}
        self._places[type_] = "$defs", base
        definitions[base] = (
            self._describe_record(target.cls) if target.kind == "record" else self.describe(target.annotation)
        )
        self._engine.forget()
        return base

    def describe(self, type_: Any) -> Any:
        """The schema of an annotation."""
        if isinstance(type_, Alias):
            name = self.schema_module.name_of(type_)
            if name is not None:
                return {"$ref": write_reference(("$defs", name))}
            if type_ in _OPEN:
                return {"$ref": write_reference(self.locate(read_type(type_)))}
        target = read_type(type_)
        _OPEN.add(type_)
        try:
            schema = self._describe_type(target)
        finally:
            _OPEN.discard(type_)
        for meta in target.limits:
            schema = {**schema, **list_bounds(meta, target)}
        return schema

    def _describe_type(self, type_: Type) -> dict[str, Any]:
        inside = [self.describe(child.annotation) for child in type_.children] if type_.kind in _OF_OTHERS else []
        match type_.kind:
            case "any":
                return {}
            case "never":
                return {"not": {}}
            case "record" | "texts":
                return {"$ref": write_reference(self.locate(read_type(type_.cls)))}
            case "constants":
                values = list(type_.values)
                constants_schema = {"const": values[0]} if len(values) == 1 else {"enum": values}
                return {"anyOf": [constants_schema, {"type": "string"}]} if type_.is_open else constants_schema
            case "array":
                return {"type": "array", "items": inside[0]}
            case "map":
                return {"type": "object", "additionalProperties": inside[0]}
            case "tuple":
                *prefix_items, items = inside
                return {"type": "array", "prefixItems": prefix_items, "minItems": len(prefix_items), "items": items}
            case "union" | "optional":
                branches = [self.describe(branch.annotation) for branch in type_.branches]
                return {"oneOf" if type_.is_exclusive else "anyOf": branches}
            case kind:
                return {"type": kind}

    def _describe_record(self, cls: Any) -> dict[str, Any]:
        shape = get_shape(cls)
        properties: dict[str, Any] = {
            field.wire: self.describe(read_field_type(field).annotation) for field in shape.fields.values()
        }
        required = [field.wire for field in shape.fields.values() if field.is_required]
        for wire, constant in shape.constants.items():
            properties[wire] = {"const": constant}
            required.append(wire)
        if shape.is_unknown and shape.tag_field is not None:
            properties[shape.tag_field] = {"type": "string", "not": {"enum": sorted(map(str, shape.known_tags or ()))}}
            required.append(shape.tag_field)
        schema: dict[str, Any] = {"type": "object", "properties": properties, "required": list(dict.fromkeys(required))}
        if shape.extra is None:
            schema["additionalProperties"] = False
        elif shape.extra is not Any:
            schema["additionalProperties"] = self.describe(shape.get_extra_type())
        if shape.excluded:
            schema["allOf"] = [
                {"not": {"required": [wire], "properties": {wire: {"enum": list(constants)}}}}
                for wire, constants in shape.excluded.items()
            ]
        return schema

    # --- judging ---

    def accepts(self, type_: Type, value: Any) -> bool:
        """Whether receivers accept a value of a type."""
        return self._engine.is_valid(self.locate(type_), value)

    def rank(self, type_: Type, value: Any) -> tuple[bool, int]:
        """How well a value fits a type that accepts it: whether the schema accepts it as published, and how many fields have a place."""
        place = self.locate(type_)
        is_published = not self.schema_module.receiving or place[1] not in self.schema_module.definitions
        wires = (get_shape(cls).wires for cls in type_.classes)
        count = max((len(names & value.keys()) for names in wires), default=0) if is_object(value) else 0
        return is_published or self.schema_module.engine.is_valid(place, value), count

    def find_problems(self, type_: Type, value: Any) -> Iterator[Problem]:
        """Yield the problems of a value of a type."""
        for error in self._engine.find_problems(self.locate(type_), value):
            yield self._make_problem(error, error.path)

    def _make_problem(self, error: SchemaError, path: Path) -> Problem:
        return Problem(json_pointer(path), self._locate_published(error.schema), error.sentence)

    def _locate_published(self, place: str) -> str:
        """The pointer into the package's schema that corresponds to one into the receivers' schema; empty for what an annotation
        describes.
        """
        published_steps: list[str] = []
        node: Any = {"$defs": self.schema_module.definitions}
        for step in split_pointer(place):
            if is_object(node) and step == "anyOf" and step not in node:
                step = "oneOf" if "oneOf" in node else "enum"
            inner = node[int(step)] if is_array(node) and int(step) < len(node) else None
            node = node.get(step.removesuffix(" (exact)")) if is_object(node) else inner
            if node is None:
                break
            published_steps.append(step.removesuffix(" (exact)"))
            if step == "enum":
                break
        return write_schema_pointer(published_steps) if published_steps[1:] else ""

    def repair(
        self, type_: Type | str, value: Any, at: Path, *, lenient: bool
    ) -> tuple[Any, Sequence[Dropped], tuple[Problem, ...]]:
        """Drop what may be dropped from a value. Returns what remains, the dropped values, and the problems of what remains."""
        places, leniency = [self.locate(type_)], Leniency(self._engine, at, self._make_problem)
        try:
            result = leniency.repair(places, value) if lenient else value
        except TooMuch:
            problems = (Problem(json_pointer(at), "", TOO_MUCH), *(drop.problem for drop in leniency.drops))
            return value, (), limit_problems(problems)
        return result, leniency.drops, limit_problems(_explain(leniency.find_problems(places, result), leniency.drops))


_OF_OTHERS: Final = ("array", "map", "tuple")
_OF_MORE: Final = ("additionalProperties", "unevaluatedProperties", "propertyNames")
_OPEN: Final[set[Any]] = set()
_KNOWN: Final[dict[str, Receiving]] = {}


def list_bounds(meta: Meta, type_: Type) -> dict[str, Any]:
    """The limits of a type as keywords of JSON Schema."""
    suffix = {"array": "Items", "tuple": "Items", "map": "Properties"}.get(type_.kind, "Length")
    names = {
        "ge": "minimum",
        "gt": "exclusiveMinimum",
        "le": "maximum",
        "lt": "exclusiveMaximum",
        "multiple_of": "multipleOf",
        "min_length": f"min{suffix}",
        "max_length": f"max{suffix}",
    }
    keywords = {name: limit for key, name in names.items() if (limit := getattr(meta, key)) is not None}
    return keywords if meta.pattern is None else {**keywords, "pattern": translate_to_engine(meta.pattern)}


def translate_to_engine(pattern: str) -> str:
    """Translate a pattern of an annotation from the syntax of `re` to that of the engine."""
    return _IN_PYTHON.sub(lambda match: _IN_ENGINE.get(match[0], match[0]), pattern)


_IN_PYTHON: Final = re.compile(r"\A\(\?a\)|\(\?!\\b\)|\\.", re.DOTALL)
_AFTER, _BEFORE = "(?<%s[0-9A-Z_a-z])", "(?%s[0-9A-Z_a-z])"
_IN_ENGINE: Final = {
    "(?a)": "",
    r"\Z": "$",
    r"\b": f"(?:{_AFTER % '='}{_BEFORE % '!'}|{_AFTER % '!'}{_BEFORE % '='})",
    r"(?!\b)": f"(?:{_AFTER % '='}{_BEFORE % '='}|{_AFTER % '!'}{_BEFORE % '!'})",
}
"""Replacements for the syntax of `re`: the engine only has Unicode word boundaries."""


def find_receiving(type_: Any) -> Receiving:
    """The validator for a type: by the schema of the package of the first class or alias in it, or by annotations if it has none."""
    module = next(_list_modules(type_), __name__)
    if module not in _KNOWN:
        schema_module = find_module(module)
        try:
            _ = schema_module.schema
        except (OSError, ImportError):
            schema_module = SchemaModule(module, lambda: {"$defs": {}})
        _KNOWN[module] = _KNOWN.get(schema_module.module) or Receiving(schema_module)
    return _KNOWN[module]


def accepts(type_: Type, value: Any) -> bool:
    """Whether receivers accept a Python value as an instance of a type."""
    try:
        return find_receiving(type_.annotation).accepts(type_, to_readable(value))
    except EncodeError:
        return False


def choose_branch(branches: Sequence[Type], value: Any) -> Type:
    """The branch of a union, of several that accept a Python value, that the value fits best: of those that it fits equally, the first."""
    instance = to_readable(value)
    return max(branches, key=lambda branch: find_receiving(branch.annotation).rank(branch, instance))


def explain_value(type_: Any, value: Any) -> list[Problem]:
    """The problems of a Python value as an instance of a type, by its schema."""
    try:
        instance = to_readable(value)
    except EncodeError as error:
        return list(error.problems) or [Problem("", "", str(error))]
    return list(islice(find_receiving(type_).find_problems(read_type(type_), instance), 100))


def _list_modules(type_: Any) -> Iterator[str]:
    """Yield the modules of the classes and aliases in a type."""
    if isinstance(type_, Alias):
        yield type_.module
    elif is_record(type_) or is_string_enum(type_):
        yield str(type_.__module__)
    else:
        for argument in get_args(type_):
            yield from _list_modules(argument)


def _explain(problems: Iterable[Problem], drops: Sequence[Dropped]) -> Iterator[Problem]:
    """Yield the problems, each followed by those of items that were dropped below it: an array may have become too short."""
    items: dict[str, list[Problem]] = {}
    for drop in drops:
        array, _, step = drop.pointer.rpartition("/")
        if step.isdigit():
            items.setdefault(array, []).append(drop.problem)
    for problem in problems:
        yield problem
        yield from items.get(problem.pointer, ())
