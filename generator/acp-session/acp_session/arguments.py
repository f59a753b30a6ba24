"""Arguments that are refused because they would mean something else than what was written."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, get_args


def refuse_text(**arguments: object) -> None:
    """Raise `TypeError` for a text where several are taken: its characters would be taken one by one."""
    for name, value in arguments.items():
        if isinstance(value, str | bytes):
            raise TypeError(f"'{name}' takes several values: write [{value!r}] for one")


def refuse_unknown(known: object, **arguments: str | Collection[str] | None) -> None:
    """Raise `ValueError` for what is none of these values, which may be a type of the schema. Those with `_` are the author's."""
    names: Any = known if isinstance(known, tuple) else get_args(get_args(known)[0])
    for name, given in arguments.items():
        for value in (given,) if isinstance(given, str) else given or ():
            if value not in names and not value.startswith("_"):
                raise ValueError(f"'{name}' cannot be {value!r}; known are {', '.join(names)}")


def require_instance(base: type[Any], **arguments: object) -> None:
    """Raise `TypeError` for what is no object of this class that was initialized."""
    for name, value in arguments.items():
        if isinstance(value, type):
            raise TypeError(f"'{name}' takes an object, not the class: write {value.__name__}()")
        if not isinstance(value, base):
            raise TypeError(f"'{name}' must be an object of a class of {base.__name__}, not {value!r}")
        if not hasattr(value, "info"):
            raise TypeError(f"'{name}' was not initialized: call super().__init__() in {type(value).__name__}.__init__")
