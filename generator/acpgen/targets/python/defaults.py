"""Defaults that make a record: those that the record's own schema accepts. What it refuses is words, and nothing is made of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from acpgen import ir
from acpgen.pointers import reference_to
from acpgen.validator import Validator, definitions_validator

if TYPE_CHECKING:
    from acpgen.schema.bundle import Bundle


def with_sound_defaults(protocol: ir.Protocol, bundle: Bundle) -> ir.Protocol:
    """The protocol without the defaults that are objects and that the types of their fields refuse."""
    judge = _Judge(bundle)
    definitions = {
        name: replace(one, fields=tuple(map(judge.settled, one.fields))) if isinstance(one, ir.Record) else one
        for name, one in protocol.definitions.items()
    }
    return replace(protocol, definitions=definitions)


class _Judge:
    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle

    @cached_property
    def _validator(self) -> Validator:
        return definitions_validator(self.bundle.definitions)

    def settled(self, field: ir.Field) -> ir.Field:
        """A field, without its default where that is unsound."""
        if field.default is None or not isinstance(field.default.value, dict):
            return field
        types = field.type.types if isinstance(field.type, ir.AnyOf) else (field.type,)
        names = [one.name for one in types if isinstance(one, ir.Ref)]
        is_sound = all(name in self.bundle.definitions and self._is_of(name, field.default.value) for name in names)
        return field if is_sound else replace(field, default=None)

    def _is_of(self, name: str, value: ir.JSON) -> bool:
        return self._validator.is_valid({reference_to(name): value})
