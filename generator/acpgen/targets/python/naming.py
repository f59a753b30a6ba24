"""The Python names of one protocol: a class or alias per definition, an attribute per field."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from acpgen import ir
from acpgen.schema.bundle import Bundle
from acpgen.schema.names import class_names, field_names, python_class


@dataclass(frozen=True)
class Names:
    """`classes` by definition, `fields` by definition and wire name."""

    classes: Mapping[str, str]
    fields: Mapping[str, Mapping[str, str]]

    @cached_property
    def taken(self) -> frozenset[str]:
        """The names that belong to the schema."""
        return frozenset(self.classes.values())

    def ours(self, name: str) -> str:
        """What a generated module calls something that it imports: its own name, or a private one where a class has that."""
        return f"_{name}" if name in self.taken else name

    def imported(self, name: str) -> str:
        """How a module imports something under the name that `ours` gives it: `Any`, or `Any as _Any`."""
        return name if self.ours(name) == name else f"{name} as {self.ours(name)}"

    def beside(self, own: Collection[str]) -> Names:
        """The same names for a module that has names of its `own`: classes that are called so get private ones there."""
        return replace(self, classes={name: f"_{one}" if one in own else one for name, one in self.classes.items()})


def name_all(protocol: ir.Protocol) -> Names:
    """Name everything. A field that a base class declares has one name in all classes below it."""
    fields: dict[str, Mapping[str, str]] = {}
    for name in protocol.definitions:
        _name_fields(name, protocol, fields)
    return Names(class_names(protocol.definitions.keys()), fields)


def former_names(bundle: Bundle, names: Names) -> Mapping[str, str]:
    """The classes that definitions had before, each with that of now, by the alphabet; none that something else has now."""
    found = {python_class(before): names.classes[now] for before, now in bundle.former.items() if now in names.classes}
    return {before: found[before] for before in sorted(found) if before not in names.taken}


def _name_fields(name: str, protocol: ir.Protocol, fields: dict[str, Mapping[str, str]]) -> None:
    record = protocol.definitions[name]
    if name in fields or not isinstance(record, ir.Record):
        return
    inherited: Mapping[str, str] = {}
    if record.base is not None:
        _name_fields(record.base, protocol, fields)
        inherited = fields.get(record.base, {})
    fields[name] = field_names([field.name for field in record.fields], inherited)
