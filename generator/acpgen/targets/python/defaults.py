"""Defaults of fields as source code. A default that is invalid under its own schema is ignored."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from acpgen import ir
from acpgen.input.schema_validator import Validator, compile_definitions
from acpgen.pointers import write_reference
from acpgen.targets.python.construct import Constructor, Expression, Items, NotConstructible, list_classes, write_line
from acpgen.targets.python.literals import write_json, write_literal
from acpgen.targets.python.naming import Names

if TYPE_CHECKING:
    from acpgen.bundle.bundle import Bundle


def with_sound_defaults(protocol: ir.Protocol, bundle: Bundle) -> ir.Protocol:
    """The protocol without the defaults that are invalid for the types of their fields."""
    judge = _Judge(bundle)
    definitions = {
        name: replace(definition, fields=tuple(map(judge.drop_invalid_default, definition.fields)))
        if isinstance(definition, ir.Record)
        else definition
        for name, definition in protocol.definitions.items()
    }
    return replace(protocol, definitions=definitions)


class _Judge:
    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle

    @cached_property
    def _validator(self) -> Validator:
        return compile_definitions(self.bundle.definitions)

    def drop_invalid_default(self, field: ir.Field) -> ir.Field:
        """The field, without its default if that is invalid."""
        if field.default is None or field.default.value is None:
            return field
        types = field.type.types if isinstance(field.type, ir.AnyOf) else (field.type,)
        names = [type_.name for type_ in types if isinstance(type_, ir.Ref)]
        is_sound = all(name in self.bundle.definitions and self._is_of(name, field.default.value) for name in names)
        return field if is_sound else replace(field, default=None)

    def _is_of(self, name: str, value: ir.JSON) -> bool:
        return self._validator.is_valid({write_reference(name): value})


class Defaults:
    """The default values of the fields of one protocol as source code: a value or a factory."""

    def __init__(self, protocol: ir.Protocol, names: Names) -> None:
        self._protocol = protocol
        self._constructor = Constructor(protocol, "", names)
        self._records: Final = {
            names.classes[definition.name]: definition
            for definition in protocol.definitions.values()
            if isinstance(definition, ir.Record)
        }

    def write_default(self, field: ir.Field) -> tuple[str, bool] | None:
        """The source of a default, and whether it is a factory, called for each record; `None` for a field without default."""
        lone = _get_constant(field.type)
        if lone is not None and field.required and not isinstance(lone.values[0], float):
            return write_literal(lone.values[0]), False
        if field.required or lone is not None:  # with a default, a lone constant would read as one that is required
            return None
        if field.default is None:
            return ("None", False) if field.null == "omitted" else None
        value = field.default.value
        expression = self._make_default(field, value)
        if expression is None or self._recurses(expression):
            return None
        if value in ([], {}) and isinstance(expression, Items):
            return type(value).__name__, True
        if not isinstance(value, dict | list) and expression == write_literal(value):
            return str(expression), False
        target = _without_null(field.type)
        record = self._protocol.definitions[target.name] if isinstance(target, ir.Ref) else None
        if isinstance(record, ir.Record) and isinstance(value, dict):
            expression = self._make_default(field, self._without_own(value, record)) or expression
        return f"lambda: {write_line(expression)}", True

    def _make_default(self, field: ir.Field, value: ir.JSON) -> Expression | None:
        """The expression that constructs the default of a field; `None` if none can."""
        try:
            return self._constructor.build_value(field.type, value)
        except NotConstructible:
            return None

    def _recurses(self, answer: Expression, above: frozenset[str] = frozenset()) -> bool:
        """Whether the default constructs a record whose own defaults construct it again."""
        for name in list_classes(answer):
            record = self._records[name]
            defaults = (
                self._make_default(field, field.default.value)
                for field in record.fields
                if field.default and not field.required
            )
            if name in above or any(
                self._recurses(default, above | {name}) for default in defaults if default is not None
            ):
                return True
        return False

    def _without_own(self, value: dict[str, ir.JSON], record: ir.Record) -> dict[str, ir.JSON]:
        """A default without the members that are defaults of its record's fields: once set, they would be encoded with any other field."""
        default_values = {
            field.name: field.default.value
            for field in record.fields
            if field.default is not None and not field.required and self.write_default(field) is not None
        }
        return {
            name: item
            for name, item in value.items()
            if name not in default_values or write_json(item) != write_json(default_values[name])
        }


def _get_constant(type_: ir.Type) -> ir.Constant | None:
    """The type if it is a single constant, otherwise `None`."""
    return type_ if isinstance(type_, ir.Constant) and len(type_.values) == 1 else None


def _without_null(type_: ir.Type) -> ir.Type:
    """The other type of a union of one type and null; any other type unchanged."""
    if isinstance(type_, ir.AnyOf):
        other_types = [member for member in type_.types if member != ir.Null()]
        if len(other_types) == 1:
            return other_types[0]
    return type_
