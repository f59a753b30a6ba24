"""Defaults of fields as source. What a record's own schema refuses is words, and nothing is made of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from acpgen import ir
from acpgen.pointers import reference_to
from acpgen.schema.walk import is_array
from acpgen.targets.python.construct import Constructor, NotConstructible, flat
from acpgen.targets.python.literals import json_literal, literal
from acpgen.targets.python.naming import Names
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


class Defaults:
    """What the fields of one protocol hold where nothing is given: as source, a value or what makes one."""

    def __init__(self, protocol: ir.Protocol, names: Names) -> None:
        self._protocol = protocol
        self._names = names
        self._constructor = Constructor(protocol, "", names)

    def of(self, field: ir.Field) -> tuple[str, bool] | None:
        """The source of a default, and whether it makes a value anew for each record; `None` for a field that has none."""
        lone = _lone(field.type)
        if lone is not None and field.required and not isinstance(lone.values[0], float):
            return literal(lone.values[0]), False
        if field.required or lone is not None:  # with a default, a lone constant would read as one that is required
            return None
        if field.default is None:
            return ("None", False) if field.null == "omitted" else None
        value = field.default.value
        if value is None or isinstance(value, str | bool | int | float):
            return (literal(value), False) if _fits(field.type, value) else None
        if isinstance(value, list):
            if not _fits(field.type, value):
                return None
            return ("list", True) if not value else (f"lambda: {json_literal(value)}", True)
        record = self._made(field)
        if record is None or self._makes(record, record.name):
            return None
        try:
            told = self._constructor.expression(record.name, self._without_own(value, record))
        except NotConstructible:
            return None
        return f"lambda: {flat(told)}", True

    def _made(self, field: ir.Field) -> ir.Record | None:
        """The record that the default of a field makes, if it is an object of one and has what that requires."""
        target, value = without_null(field.type), field.default.value if field.default is not None else None
        found = self._protocol.definitions[target.name] if isinstance(target, ir.Ref) else None
        if field.required or not isinstance(value, dict) or not isinstance(found, ir.Record):
            return None
        return found if all(item.name in value for item in found.fields if item.required) else None

    def _makes(self, record: ir.Record, name: str, seen: frozenset[str] = frozenset()) -> bool:
        """Whether the defaults of a record's fields make a record called `name`, or never end."""
        made = [found for field in record.fields if (found := self._made(field)) is not None]
        deeper = seen | {record.name}
        return any(found.name == name or found.name in deeper or self._makes(found, name, deeper) for found in made)

    def _without_own(self, value: dict[str, ir.JSON], record: ir.Record) -> dict[str, ir.JSON]:
        """A default without what the fields of its record hold anyway: it would count as set, and be sent, where one other field was."""
        held = {
            field.name: field.default.value
            for field in record.fields
            if field.default is not None and not field.required and self.of(field) is not None
        }
        return {
            name: item
            for name, item in value.items()
            if name not in held or json_literal(item) != json_literal(held[name])
        }


def _lone(type_: ir.Type) -> ir.Constant | None:
    """A type of one constant alone."""
    return type_ if isinstance(type_, ir.Constant) and len(type_.values) == 1 else None


def _fits(type_: ir.Type, value: object) -> bool:
    """Whether a default of scalars may stand in an assignment, judged by its type alone."""
    match type_:
        case ir.Boolean():
            return isinstance(value, bool)
        case ir.Number():
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ir.String():
            return isinstance(value, str)
        case ir.Constant():
            return value in type_.values
        case ir.Anything():
            return not isinstance(value, list)
        case ir.AnyOf():
            return any(_fits(member, value) for member in type_.types)
        case ir.Null():
            return value is None
        case ir.Array():
            return is_array(value) and all(_fits(type_.items, item) for item in value)
        case _:
            return False


def without_null(type_: ir.Type) -> ir.Type:
    """A type that is one type or null, as that type alone."""
    if isinstance(type_, ir.AnyOf):
        left = [member for member in type_.types if member != ir.Null()]
        if len(left) == 1:
            return left[0]
    return type_
