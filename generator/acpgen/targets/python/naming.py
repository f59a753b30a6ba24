"""The Python names of one protocol: a class or alias per definition, an attribute per field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from acpgen import ir
from acpgen.errors import Fault, Faults
from acpgen.schema.names import assign, field_name, python_class


@dataclass(frozen=True, slots=True)
class Names:
    """`classes` by definition, `fields` by definition and wire name."""

    classes: Mapping[str, str]
    fields: Mapping[str, Mapping[str, str]]


def name_all(protocol: ir.Protocol) -> Names:
    """Name everything. Raises `Faults` of `NameCollision`."""
    faults: list[Fault] = []
    fields: dict[str, Mapping[str, str]] = {}
    classes: Mapping[str, str] = {}
    try:
        classes = assign((name, python_class(name), definition.at) for name, definition in protocol.definitions.items())
    except Faults as found:
        faults.extend(found.faults)
    for name, definition in protocol.definitions.items():
        if isinstance(definition, ir.Record):
            try:
                fields[name] = assign((field.name, field_name(field.name), field.at) for field in definition.fields)
            except Faults as found:
                faults.extend(found.faults)
    if faults:
        raise Faults(faults)
    return Names(classes, fields)
