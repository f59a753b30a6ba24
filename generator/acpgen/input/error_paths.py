"""Paths of the errors of a validator in its document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from acpgen.input.walk import Schema, is_array, is_object
from acpgen.pointers import follow

if TYPE_CHECKING:
    import jsonschema_rs

    from acpgen.ir import JSON

_NUMBER: Final = re.compile("0[0-9]{1,19}")
"""A key of digits with a leading zero, which jsonschema-rs reports as another number."""


class Paths:
    """Paths in a document. jsonschema-rs drops empty keys from its paths and reports keys of digits as numbers."""

    def __init__(self, value: JSON) -> None:
        self._value = value
        self._numbers: dict[int, dict[int, str]] = {}

    def locate(self, error: jsonschema_rs.ValidationError) -> tuple[str, ...]:
        """The path of the value that an error is about."""
        candidates = [*self._follow(self._value, tuple(error.instance_path))]
        matches = (path for path in candidates[1:] if follow(self._value, path) == error.instance)
        return (
            candidates[0]
            if len(candidates) == 1 or follow(self._value, candidates[0]) == error.instance
            else next(matches, candidates[0])
        )

    def _follow(self, value: JSON, path: tuple[str | int, ...]) -> Iterator[tuple[str, ...]]:
        if not path:
            yield ()
        elif is_array(value) and isinstance(path[0], int):
            yield from ((str(path[0]), *tail) for tail in self._follow(value[path[0]], path[1:]))
        elif is_object(value):
            for name in self._list_names(value, path[0]):
                yield from ((name, *tail) for tail in self._follow(value[name], path[1:]))
        if is_object(value) and "" in value:
            yield from (("", *tail) for tail in self._follow(value[""], path))

    def _list_names(self, value: Schema, step: str | int) -> Iterator[str]:
        if str(step) in value:
            yield str(step)
        if isinstance(step, int):
            numbers = self._numbers.setdefault(id(value), {int(n): n for n in value if _NUMBER.fullmatch(n)})
            yield from {numbers[step]} - {str(step)} if step in numbers else ()
