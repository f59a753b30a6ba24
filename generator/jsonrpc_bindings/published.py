"""The JSON Schema of types, as pydantic and who builds on it ask for it: what the schema of the package says, in pydantic's references.

It is the schema that is published, and the same for validation and serialization. What receivers keep beyond it is not in it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from inspect import cleandoc
from types import MappingProxyType
from typing import Any, Final

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter
from pydantic_core import core_schema

from .described import description, texts
from .homes import definitions_of, home_of, schema_of
from .json_types import is_array, is_object
from .pointers import SCHEMA_KEYWORDS, SCHEMA_LISTS, SCHEMA_MAPS, referred
from .references import nest


class Published:
    """The schema of one package, or of one module that has all types, by definition.

    `definitions` are its names by those of the types that are called otherwise.
    """

    def __init__(self, package: str, schema: Mapping[str, Any], definitions: Mapping[str, str]) -> None:
        self.package: Final = package
        self.definitions: Final[Mapping[str, Any]] = schema["$defs"]
        self._schema: Final = schema
        self._named: Final = definitions
        self._types: Final = {name: type_ for type_, name in definitions.items()}

    def name_of(self, type_: str) -> str | None:
        """The definition of a type by name; `None` where the schema has none."""
        name = self._named.get(type_, type_)
        return name if name in self.definitions else None

    def json_schema(self, name: str, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """What pydantic is told of a definition, whose type has the core schema."""
        token = _WRITING.set({**_WRITING.get(), (self.package, name): str(schema.get("ref", ""))})
        try:
            written: dict[str, Any] = self._written(self.definitions[name], handler)
            return written
        finally:
            _WRITING.reset(token)

    def reference(self, name: str, handler: GetJsonSchemaHandler) -> dict[str, Any] | None:
        """A reference to a definition whose schema is being written; `None` for others."""
        known = _WRITING.get().get((self.package, name))
        return handler(core_schema.definition_reference_schema(known)) if known is not None else None

    def _written(self, schema: Any, handler: GetJsonSchemaHandler) -> Any:
        if not is_object(schema):
            return schema
        found: dict[str, Any] = {}
        for key, value in schema.items():
            if key == "$ref":
                found |= self._reference(value, handler)
            elif key in SCHEMA_KEYWORDS:
                found[key] = self._written(value, handler)
            elif key in SCHEMA_LISTS and is_array(value):
                found[key] = [self._written(item, handler) for item in value]
            elif key in SCHEMA_MAPS and is_object(value):
                found[key] = {name: self._written(item, handler) for name, item in value.items()}
            elif not key.startswith("x-"):
                found[key] = value
        return found

    def _reference(self, reference: str, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """A reference to what pydantic calls the definition; one that has no type stands here itself."""
        place = referred(reference)
        type_ = self.type(place[1]) if len(place) == 2 and place[0] == "$defs" else None
        if type_ is None:
            return self._in_place(place, handler)
        known = self.reference(place[1], handler)
        return known if known is not None else handler(core_schema.definitions_schema(_core_schema(type_), []))

    def _in_place(self, place: tuple[str, ...], handler: GetJsonSchemaHandler) -> dict[str, Any]:
        writing = _WRITING.get()
        key = (self.package, "/".join(place))
        if key in writing:
            raise TypeError(
                f"#/{key[1]}: no type of {self.package} stands for this definition, and it refers to itself"
            )
        schema: Any = self._schema
        for step in place:
            schema = schema[int(step) if is_array(schema) else step]
        token = _WRITING.set({**writing, key: ""})
        try:
            written = self._written(schema, handler)
        finally:
            _WRITING.reset(token)
        return {"allOf": [written]}

    def type(self, name: str) -> Any:
        """The class or alias of a definition; `None` where it has none."""
        return getattr(import_module(self.package), self._types.get(name, name), None)


_WRITING: ContextVar[Mapping[tuple[str, str], str]] = ContextVar("_WRITING", default=MappingProxyType({}))
"""The definitions whose schemas are being written, with what core schemas call them."""


@cache
def _core_schema(type_: Any) -> core_schema.CoreSchema:
    """The core schema of a type, without those that it refers to."""
    rebuild = getattr(type_, "model_rebuild", None)
    if rebuild is not None:
        rebuild()
    schema: Any = TypeAdapter(type_).core_schema if rebuild is None else type_.__pydantic_core_schema__
    if schema["type"] != "definitions":
        return schema  # type: ignore[no-any-return]
    inner = schema["schema"]
    if inner["type"] == "definition-ref":
        inner = next(one for one in schema["definitions"] if one["ref"] == inner["schema_ref"])
    return inner  # type: ignore[no-any-return]


@cache
def published(module: str) -> Published | None:
    """The schema of the package that a module is in, or of the module; `None` if there is none."""
    home = home_of(module)
    return _of_home(home) if home else None


@cache
def _of_home(home: str) -> Published | None:
    try:
        return Published(home, schema_of(home, exactly=False), definitions_of(home))
    except (OSError, ImportError, AttributeError):
        return None


def type_of(module: str, type_: Any) -> Any:
    """A type as it is, or the one of a definition by its name. Raises `KeyError` for what is no definition of the package."""
    if not isinstance(type_, str):
        return type_
    package = published(module)
    found = package.type(type_) if package is not None and type_ in package.definitions else None
    if found is None:
        raise KeyError(type_)
    return found


class Defined:
    """A marker of aliases: the definition of a package that an alias stands for."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module: Final = module
        self.name: Final = name

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        ref = f"{self.module}.{self.name}"
        return nest(ref, lambda: handler(source), lambda: handler(source), handler)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        found = published(self.module)
        name = found.name_of(self.name) if found is not None else None
        if found is None or name is None:
            return handler(schema)
        known = found.reference(name, handler)
        return known or _described(found.json_schema(name, schema, handler), texts(self.module).get(self.name))


def _described(schema: dict[str, Any], text: str | None) -> dict[str, Any]:
    return {"description": text, **schema} if text else schema


def record_schema(
    model: type[BaseModel], wire: Mapping[str, str], schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
) -> dict[str, Any] | None:
    """The JSON Schema of a class that a package has for a definition; `None` for classes that are made from such."""
    found = published(model.__module__)
    name = found.name_of(model.__name__) if found is not None else None
    if found is None or name is None or getattr(sys.modules[model.__module__], model.__name__, None) is not model:
        return None
    known = found.reference(name, handler)
    if known is not None:
        return known
    written = found.json_schema(name, schema, handler)
    fields = {wire: name for name, wire in wire.items()}
    properties = {
        key: _described(item, description(model, fields[key])) if is_object(item) and key in fields else item
        for key, item in written.get("properties", {}).items()
    }
    told = {**written, "properties": properties} if properties else written
    return {"title": model.__name__, **_described(told, cleandoc(model.__doc__ or ""))}
