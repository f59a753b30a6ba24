"""Where the types of a protocol are: in a package, or in one module that has them all. There its schema is, too."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cached_property
from typing import Any, Final

from .annotations import Alias, resolve
from .fields import is_record

_MODULES: Final[dict[str, SchemaModule]] = {}


class SchemaModule:
    """The types of one protocol version, and the document that describes them.

    `module` has the types. `read` gives the schema, parsed; it is called once, when it is needed. Its member `x-protocol` says what no
    schema does: definitions by the names of types that are called otherwise, the patterns of the engine, and what depends on capabilities.
    """

    def __init__(self, module: str, read: Callable[[], Any]) -> None:
        self.module: Final = module
        self._read: Final = read

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """The schema as it is published. Raises `OSError` where there is none."""
        found: Mapping[str, Any] = self._read()
        return found

    @property
    def protocol(self) -> Mapping[str, Any]:
        """What is said of the protocol beside its schema."""
        found: Mapping[str, Any] = self.schema.get("x-protocol", {})
        return found

    @property
    def definitions(self) -> Mapping[str, Any]:
        """The definitions of the schema."""
        found: Mapping[str, Any] = self.schema["$defs"]
        return found

    @property
    def receiving(self) -> Mapping[str, Any]:
        """What receivers judge by in place of definitions, and beside them."""
        found: Mapping[str, Any] = self.protocol.get("receiving", {})
        return found

    @property
    def judging(self) -> Mapping[str, Any]:
        """The definitions with the patterns that engines take in the place of those of the schema."""
        return {**self.definitions, **self.protocol.get("judging", {})}

    @property
    def patterns(self) -> Mapping[str, str]:
        """The patterns of the schema by those that engines take in their place."""
        found: Mapping[str, str] = self.protocol.get("patterns", {})
        return found

    @cached_property
    def _definitions_by_type(self) -> Mapping[str, str]:
        found: Mapping[str, str] = self.protocol.get("definitions", {})
        return found

    @cached_property
    def _types_by_definition(self) -> Mapping[str, str]:
        return {definition: type_ for type_, definition in self._definitions_by_type.items()}

    @cached_property
    def types(self) -> Mapping[str, Any]:
        """What the module has for the definitions that have a type there: a class or an alias, `None` for null."""
        found = vars(sys.modules[self.module]) if self.module in sys.modules else {}
        named = ((name, self._types_by_definition.get(name, name)) for name in self.definitions)
        return {name: found[type_] for name, type_ in named if type_ in found}

    def type_of(self, name: str) -> Any:
        """The type of a definition. Raises `KeyError` where there is none."""
        return resolve(self.types[name], self.module)

    def name_of(self, type_: Any) -> str | None:
        """The definition of a class, of an alias, of this name, or of a type of this name; `None` where the schema has none for it."""
        if is_record(type_):
            name = self._definitions_by_type.get(type_.__name__, type_.__name__)
            return name if self.types.get(name) is type_ else None
        if isinstance(type_, str) and (type_ in self.definitions or type_ in self._definitions_by_type):
            return type_ if type_ in self.definitions else self._definitions_by_type[type_]
        same = (name for name, found in self.types.items() if found is type_ or self._is_same(found, type_))
        return next(same, None)

    def fallback_of(self, type_: Any) -> str | None:
        """What describes a class that keeps what is unknown, beside the schema."""
        if not isinstance(type_, type) or type_.__module__ != self.module:
            return None
        name = self._definitions_by_type.get(type_.__name__, type_.__name__)
        return name if name in self.receiving else None

    def _is_same(self, found: Any, type_: Any) -> bool:
        """Whether an attribute of the module is a type: an alias as text, or what is equal once no text is in it."""
        if isinstance(found, str):
            return isinstance(type_, Alias) and found == type_.text
        return bool(found == type_ or resolve(found, self.module) == type_)


def register(module: str, schema: str) -> None:
    """Say that a module has all types of a protocol, and the text of its schema."""
    _MODULES[module] = SchemaModule(module, lambda: json.loads(schema, parse_float=_exact))


def find_module(module: str) -> SchemaModule:
    """What is known of the types of a module: itself, or its package, which has the schema in `_schema.json`."""
    package = module if module in _MODULES else module.rpartition(".")[0] or module

    def read() -> Any:
        from importlib.resources import files  # only where somebody asks

        return json.loads(files(package).joinpath("_schema.json").read_bytes(), parse_float=_exact)

    if package not in _MODULES:
        _MODULES[package] = SchemaModule(f"{package}.models", read)
    return _MODULES[package]


def _exact(written: str) -> float | Decimal:
    """A number of a schema: those who judge by it need a `Decimal` where no double equals it."""
    close, number = float(written), Decimal(written)
    return close if Decimal(repr(close)) == number else number
