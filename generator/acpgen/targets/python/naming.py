"""The Python names of one protocol: a class or alias per definition, an attribute per field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from acpgen import ir
from acpgen.schema.names import class_names, field_names


@dataclass(frozen=True, slots=True)
class Names:
    """`classes` by definition, `fields` by definition and wire name."""

    classes: Mapping[str, str]
    fields: Mapping[str, Mapping[str, str]]


def name_all(protocol: ir.Protocol) -> Names:
    """Name everything. A field that a base class declares has one name in all classes below it."""
    fields: dict[str, Mapping[str, str]] = {}
    for name in protocol.definitions:
        _name_fields(name, protocol, fields)
    return Names(class_names(protocol.definitions.keys()), fields)


def _name_fields(name: str, protocol: ir.Protocol, fields: dict[str, Mapping[str, str]]) -> None:
    record = protocol.definitions[name]
    if name in fields or not isinstance(record, ir.Record):
        return
    inherited: Mapping[str, str] = {}
    if record.base is not None:
        _name_fields(record.base, protocol, fields)
        inherited = fields.get(record.base, {})
    fields[name] = field_names([field.name for field in record.fields], inherited)
