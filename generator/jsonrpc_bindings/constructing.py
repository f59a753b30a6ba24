"""What a constructor takes: the fields of its record, and further ones only where they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from .json_types import is_object

if TYPE_CHECKING:
    from pydantic import BaseModel

DOOR: Final = "extra"
"""The argument of a constructor that takes fields which the schema does not know."""


class Taken:
    """The names that a class takes: `names` are Python and wire names, `near` the Python names by both. `anything`: it takes all others.

    `drops`: it keeps no other, so that one which is given would be lost. `refuses`: it takes no other, and has no door for them.
    """

    __slots__ = ("anything", "drops", "names", "near", "refuses")

    def __init__(self, wire: Mapping[str, str], *, anything: bool, drops: bool = False, refuses: bool = False) -> None:
        self.names: Final = frozenset({*wire, *wire.values()} - {DOOR})
        self.near: Final = {**{other: name for name, other in wire.items()}, **{name: name for name in wire}}
        self.anything: Final = anything
        self.drops: Final = drops
        self.refuses: Final = refuses

    def arguments(self, model: type[BaseModel], data: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a constructor as pydantic takes them. Raises `ValidationError` for names that the record does not have."""
        extra = data.pop(DOOR, None)
        if not self.anything and not data.keys() <= self.names:
            self.refuse(model, data)
        twice = [name for name in data if name in self.near and self.near[name] != name and self.near[name] in data]
        if twice:
            raise _error(
                model, [((name,), data[name], f"this is {self.near[name]!r}, which is given as well") for name in twice]
            )
        if extra is None:
            return data
        if not is_object(extra) or any(type(key) is not str for key in extra):
            raise _error(model, [((DOOR,), extra, "an object with the further fields is needed here")])
        known = extra.keys() & self.names
        if known:
            raise _error(model, [((DOOR, name), extra[name], _KNOWN) for name in sorted(known)])
        if self.drops and extra:
            raise _error(model, [((DOOR, name), extra[name], _DROPPED) for name in sorted(extra)])
        return {**data, **extra}

    def refuse(self, model: type[BaseModel], data: Mapping[str, Any]) -> None:
        """Raise `ValidationError` if some of the names are none that the record has."""
        unknown = [] if self.anything else sorted(data.keys() - self.names)
        if unknown:
            raise _error(model, [((name,), data[name], self._hint(name)) for name in unknown])

    def attribute(self, model: type[BaseModel], name: str, value: Any) -> None:
        """Raise `ValidationError` for an attribute that the record does not have, where a value is assigned to it."""
        if name in self.near or not self.anything:
            raise _error(model, [((name,), value, self._hint(name, "model_extra"))])

    def _hint(self, name: str, door: str = DOOR) -> str:
        found = no_such_field(name, {} if name == DOOR else self.near)
        return (
            found
            if found.endswith("?") or self.drops or self.refuses
            else f"{found}; what the schema does not know goes into '{door}'"
        )


_KNOWN: Final = f"this is a field of the record: pass it by its name, not in '{DOOR}'"

_DROPPED: Final = "this class drops what the schema does not name"


def no_such_field(name: str, near: Mapping[str, str]) -> str:
    """Says that a record has no such field, and which ones are called nearly so. `near` has what a name stands for."""
    from difflib import get_close_matches  # only where something is wrong

    found = dict.fromkeys(near[one] for one in get_close_matches(name, near, n=4, cutoff=0.6))
    meant = " or ".join(repr(one) for one in list(found)[:2])
    return f"no such field; did you mean {meant}?" if meant else "no such field"


def _error(model: type[BaseModel], found: list[tuple[tuple[str, ...], Any, str]]) -> ValidationError:
    details = [
        InitErrorDetails(
            type=PydanticCustomError("no_such_field", "{sentence}", {"sentence": sentence}), loc=place, input=value
        )
        for place, value, sentence in found
    ]
    return ValidationError.from_exception_data(model.__name__, details)
