"""pydantic support for records: fields of a `BaseModel`, types of a `TypeAdapter`, JSON Schemas. Imported on demand."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from contextvars import ContextVar
from inspect import cleandoc
from typing import Annotated, Any, Final, get_args

from pydantic_core import PydanticCustomError, core_schema

from .annotations import Marker, Meta
from .build import read
from .documentation import read_docstrings
from .errors import DecodeError, EncodeError
from .fields import get_shape, is_record
from .json_types import Mismatch, is_array, is_object
from .pointers import resolve_reference
from .receiving import Receiving, explain_value, find_receiving, list_bounds
from .records import Record
from .types import read_type
from .writers import DEEP, to_plain


def build_core_schema_for(annotation: Any, source: Any, handler: Any) -> core_schema.CoreSchema:
    """The pydantic schema of a class or an alias, or of an annotation of `source`."""
    if isinstance(annotation, Meta):
        return build_limited(Annotated[source, annotation], handler)
    return build_core_schema(Annotated[source, annotation] if isinstance(annotation, Marker) else annotation)


def build_core_schema(type_: Any) -> core_schema.CoreSchema:
    """The pydantic schema for a record class or a marked union."""

    def validate(value: Any) -> Any:
        try:
            return read(read_type(type_), value if isinstance(value, Record) else _as_json(value))
        except (Mismatch, RecursionError):
            raise PydanticCustomError("record", "{sentence}", {"sentence": _explain(type_, value)}) from None
        except DecodeError as error:
            raise PydanticCustomError("record", "{sentence}", {"sentence": str(error)}) from None

    return core_schema.no_info_plain_validator_function(
        validate,
        serialization=core_schema.plain_serializer_function_ser_schema(_write, when_used="always"),
        ref=_make_ref(type_),
        metadata={"pydantic_js_functions": [_make_json_schema_function(type_)]},
    )


def build_limited(type_: Any, handler: Any) -> core_schema.CoreSchema:
    """The pydantic schema of a type with limits."""
    inner, *_, meta = get_args(type_)
    words = list_bounds(meta, read_type(inner))

    def check(value: Any) -> Any:
        try:
            return read(read_type(type_), value)
        except Mismatch:
            limits = ", ".join(f"{name}: {limit!r}" for name, limit in words.items())
            raise PydanticCustomError("limits", "the value is not within {limits}", {"limits": limits}) from None

    def function(schema: Any, describe: Any) -> dict[str, Any]:
        return {**describe(schema), **words}

    metadata = {"pydantic_js_functions": [function]}
    return core_schema.no_info_after_validator_function(check, handler(inner), metadata=metadata)


def _make_json_schema_function(type_: Any) -> Callable[[Any, Any], dict[str, Any]]:
    def function(schema: Any, handler: Any) -> dict[str, Any]:
        return write_json_schema(type_, handler)

    return function


def _as_json(value: Any) -> Any:
    """A value from pydantic as JSON; a dictionary or list is copied, so that later changes do not affect it."""
    return to_plain(value) if isinstance(value, dict | list) else value


def _explain(type_: Any, value: Any) -> str:
    problems = explain_value(type_, value)
    return "; ".join(map(str, problems[:10])) or "this value does not fit here"


def _write(value: Any) -> Any:
    try:
        return to_plain(value)
    except EncodeError as error:
        raise ValueError(str(error)) from None
    except RecursionError:
        raise ValueError(DEEP) from None


def write_json_schema(type_: Any, handler: Any) -> dict[str, Any]:
    """The published JSON Schema of a type, with references in pydantic's form."""
    receiving = find_receiving(type_)
    name = str(receiving.locate(read_type(type_))[1])
    writing = _WRITING.get()
    if type_ in writing:
        reference: dict[str, Any] = handler(core_schema.definition_reference_schema(_make_ref(type_)))
        return reference
    token = _WRITING.set({*writing, type_})
    try:
        schema: Any = _Writer(receiving, handler).convert_schema(receiving.get_published(name))
    finally:
        _WRITING.reset(token)
    if "$ref" in schema:  # pydantic before 2.9 drops what stands beside a reference
        schema = {"allOf": [{"$ref": schema.pop("$ref")}, *schema.pop("allOf", ())], **schema}
    return _add_docstrings(type_, schema) if is_record(type_) else schema


def _add_docstrings(cls: Any, schema: dict[str, Any]) -> dict[str, Any]:
    """Add the docstrings of a class to its schema."""
    words = read_docstrings(cls)
    fields: dict[str, Any] = schema.get("properties", {})
    for field in get_shape(cls).fields.values():
        if field.name in words and is_object(fields.get(field.wire)):
            fields[field.wire] = {"description": words[field.name], **fields[field.wire]}
    return {"title": cls.__name__, "description": cleandoc(cls.__doc__ or ""), **schema}


_WRITING: ContextVar[AbstractSet[Any]] = ContextVar("_WRITING", default=frozenset())
"""The types whose schemas are being generated."""


class _Writer:
    """Converts the schemas of one package. A definition that has a class becomes a reference, and so does one inside itself; others are
    inlined.
    """

    def __init__(self, receiving: Receiving, handler: Any) -> None:
        self.receiving: Final = receiving
        self.handler: Final = handler
        self.open: Final[set[str]] = set()

    def convert_schema(self, schema: Any) -> Any:
        """Convert a schema for pydantic, without `x-` keywords and the objects and arrays of keywords that JSON Schema does not have."""
        if is_array(schema):
            return [self.convert_schema(subschema) for subschema in schema]
        if not is_object(schema):
            return schema
        result: dict[str, Any] = {}
        for key, value in schema.items():
            if key == "$ref":
                result |= self._refer(str(resolve_reference(value)[1]))
            elif key in _OF_SCHEMAS:
                result[key] = self.convert_schema(value)
            elif key in ("properties", "patternProperties", "dependentSchemas"):
                result[key] = {name: self.convert_schema(subschema) for name, subschema in value.items()}
            elif key in _OF_VALUES or not (is_object(value) or is_array(value) or key.startswith("x-")):
                result[key] = value
        return result

    def _refer(self, name: str) -> dict[str, Any]:
        type_, alias = self.receiving.get_class(name), self.receiving.schema_module.types.get(name)
        writing = _WRITING.get()
        if type_ is None and alias is not Any and (name in self.open or alias in writing):
            type_ = alias
        if type_ is not None:
            core = core_schema.definition_reference_schema(_make_ref(type_))
            type_schema: dict[str, Any] = self.handler(
                core if type_ in writing else core_schema.definitions_schema(build_core_schema(type_), [])
            )
            return type_schema
        if name in self.open:
            raise TypeError(f"{name}: no type stands for this definition, and it refers to itself")
        self.open.add(name)
        try:
            return {"allOf": [self.convert_schema(self.receiving.get_published(name))]}
        finally:
            self.open.discard(name)


_OF_SCHEMAS: Final = frozenset(
    {
        *("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "items", "prefixItems", "contains"),
        *("additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema"),
    }
)
_OF_VALUES: Final = ("const", "enum", "default", "examples", "type", "required", "dependentRequired")


def _make_ref(type_: Any) -> str:
    if is_record(type_):
        return f"{type_.__module__}.{type_.__qualname__}:{id(type_)}"
    receiving = find_receiving(type_)
    name = receiving.schema_module.name_of(type_) or getattr(type_, "text", "Union")
    return f"{receiving.module}.{name}:{hash(type_)}"
