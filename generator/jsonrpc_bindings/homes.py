"""Where the types of a protocol are: in a package, or in one module that has them all. There its schema is, too."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

_MODULES: Final[dict[str, Home]] = {}


class Home(NamedTuple):
    """One module that has all types of a protocol. `schema` is the text of its schema, `definitions` as in `Published`."""

    schema: str
    definitions: Mapping[str, str]


def settle(module: str, schema: str, definitions: Mapping[str, str]) -> None:
    """Say that a module has all types of a protocol."""
    _MODULES[module] = Home(schema, definitions)


def home_of(module: str) -> str:
    """The name of what has the types: of the module itself, or of its package. Empty where it has none."""
    return module if module in _MODULES else getattr(sys.modules.get(module), "__package__", None) or ""


def schema_of(home: str, *, exactly: bool = True) -> Any:
    """The schema of a home, parsed; `exactly`, with a `Decimal` for each number that no double equals, for those who judge by it.

    Raises `OSError` where there is none.
    """
    read = _exact if exactly else None
    if home in _MODULES:
        return json.loads(_MODULES[home].schema, parse_float=read)
    from importlib.resources import files  # only where somebody asks

    return json.loads(files(home).joinpath("_schema.json").read_bytes(), parse_float=read)


def _exact(written: str) -> float | Decimal:
    close, number = float(written), Decimal(written)
    return close if Decimal(repr(close)) == number else number


def definitions_of(home: str) -> Mapping[str, str]:
    """The definitions of a home by the names of those types that are called otherwise. Raises `ImportError` where there are none."""
    if home in _MODULES:
        return _MODULES[home].definitions
    from importlib import import_module

    names: Mapping[str, str] = import_module(f"{home}.methods").DEFINITIONS
    return names
