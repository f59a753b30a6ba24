"""The location of the types and the schema of a protocol: a package, or one module that has all types."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cached_property
from typing import Any, Final

from .annotations import Alias, resolve
from .engine import Engine
from .fields import is_record

_MODULES: Final[dict[str, SchemaModule]] = {}


class SchemaModule:
    """The types of one protocol version, and its schema.

    `module` has the types. `read` returns the parsed schema; it is called once, on demand. The member `x-protocol` has what a schema
    cannot express: the definitions of types that have other names, the patterns for the engine, and what depends on capabilities.
    """

    def __init__(self, module: str, read: Callable[[], Any]) -> None:
        self.module: Final = module
        self._read: Final = read

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """The schema as published. Raises `OSError` if there is none."""
        document: Mapping[str, Any] = self._read()
        return document

    @property
    def protocol(self) -> Mapping[str, Any]:
        """The member `x-protocol` of the schema."""
        members: Mapping[str, Any] = self.schema.get("x-protocol", {})
        return members

    @property
    def definitions(self) -> Mapping[str, Any]:
        """The definitions of the schema."""
        defs: Mapping[str, Any] = self.schema["$defs"]
        return defs

    @cached_property
    def engine(self) -> Engine:
        """What validates by the schema as published."""
        return Engine(lambda: {"$defs": self.judging}, lambda: self.patterns)

    @property
    def judging(self) -> Mapping[str, Any]:
        """The definitions, with the patterns that the engine takes in place of the original ones."""
        return {**self.definitions, **self._get_member("judging")}

    @property
    def receiving(self) -> Mapping[str, Any]:
        """The schemas that receivers use in place of definitions, and in addition to them."""
        return self._get_member("receiving")

    @property
    def patterns(self) -> Mapping[str, str]:
        """The original patterns by those that the engine takes in their place."""
        return self._get_member("patterns")

    def _get_member(self, name: str) -> Mapping[str, Any]:
        member: Mapping[str, Any] = self.protocol.get(name, {})
        return member

    @cached_property
    def types(self) -> Mapping[str, Any]:
        """The classes and aliases of the module by the names of their definitions; `None` is the type of null."""
        attributes = vars(sys.modules[self.module]) if self.module in sys.modules else {}
        renamed = {definition: type_ for type_, definition in self._get_member("definitions").items()}
        type_names = ((name, renamed.get(name, name)) for name in self.definitions)
        return {name: attributes[type_] for name, type_ in type_names if type_ in attributes}

    def get_type(self, name: str) -> Any:
        """The type of a definition. Raises `KeyError` if there is none."""
        return resolve(self.types[name], self.module)

    def name_of(self, type_: Any) -> str | None:
        """The name of the definition of a class, an alias, or the name of a type or definition; `None` if the schema has none."""
        renamed = self._get_member("definitions")
        if is_record(type_):
            name = renamed.get(type_.__name__, type_.__name__)
            return name if self.types.get(name) is type_ else None
        if isinstance(type_, str) and (type_ in self.definitions or type_ in renamed):
            return type_ if type_ in self.definitions else renamed[type_]
        names = (
            name for name, candidate in self.types.items() if candidate is type_ or self._is_same(candidate, type_)
        )
        return next(names, None)

    def get_fallback(self, type_: Any) -> str | None:
        """The name of the schema of a class for unknown variants, in `receiving`; `None` if there is none."""
        if not isinstance(type_, type) or type_.__module__ != self.module:
            return None
        name = self._get_member("definitions").get(type_.__name__, type_.__name__)
        return name if name in self.receiving else None

    def _is_same(self, attribute: Any, type_: Any) -> bool:
        """Whether an attribute of the module is this type: the same text of an alias, or an equal annotation once resolved."""
        if isinstance(attribute, str):
            return isinstance(type_, Alias) and attribute == type_.text
        return bool(attribute == type_ or resolve(attribute, self.module) == type_)


def register(module: str, schema: str) -> None:
    """Register a module that has all types of a protocol, with the text of its schema."""
    _MODULES[module] = SchemaModule(module, lambda: json.loads(schema, parse_float=_parse_number))


def find_module(module: str) -> SchemaModule:
    """The `SchemaModule` of a module: its own, or that of its package, which has the schema in `_schema.json`."""
    package = module if module in _MODULES else module.rpartition(".")[0] or module

    def read() -> Any:
        from importlib.resources import files  # only where somebody asks

        return json.loads(files(package).joinpath("_schema.json").read_bytes(), parse_float=_parse_number)

    if package not in _MODULES:
        _MODULES[package] = SchemaModule(f"{package}.models", read)
    return _MODULES[package]


def _parse_number(literal: str) -> float | Decimal:
    """Parse a number of a schema; a `Decimal` if no double equals it."""
    close, number = float(literal), Decimal(literal)
    return close if Decimal(repr(close)) == number else number
