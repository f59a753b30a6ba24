"""The Python names of one protocol: a class or alias per definition, an attribute per field, a member per enumeration value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from acpgen import ir
from acpgen.naming.identifiers import make_class_names, make_field_names, make_member_names
from acpgen.targets.python.python_options import PythonOptions


@dataclass(frozen=True)
class Names:
    """`classes` by definition, `fields` by definition and wire name, `members` by definition and value, for enumerations that are
    classes.
    """

    classes: Mapping[str, str]
    fields: Mapping[str, Mapping[str, str]]
    members: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])

    @cached_property
    def module_names(self) -> frozenset[str]:
        """The module-level names that come from the schema."""
        return frozenset(self.classes.values())

    @cached_property
    def _attributes(self) -> frozenset[str]:
        return frozenset(name for names in self.fields.values() for name in names.values())

    def name_import(self, name: str) -> str:
        """The name of an import in generated modules: private if a class or an attribute has the same name."""
        return f"_{name}" if name in self.module_names or name in self._attributes else name

    def write_import(self, name: str) -> str:
        """The import of a name so that it is bound as `name_import` says: `Any`, or `Any as _Any`."""
        return name if self.name_import(name) == name else f"{name} as {self.name_import(name)}"

    def qualify(self, module: str) -> Names:
        """These names as seen from another module, which imports the module of the types."""
        return replace(self, classes={name: f"{module}.{class_}" for name, class_ in self.classes.items()})


def name_all(protocol: ir.Protocol, options: PythonOptions | None = None) -> Names:
    """Name everything. A field that a base class declares has the same name in all subclasses."""
    effective_options = options if options is not None else PythonOptions()
    fields: dict[str, Mapping[str, str]] = {}
    for name in protocol.definitions:
        _name_fields(name, protocol, fields)
    members = {
        enum.name: make_member_names([str(member.value) for member in enum.values])
        for enum in protocol.definitions.values()
        if isinstance(enum, ir.Enum)
        and effective_options.enums == "str-enum"
        and not enum.unenforced
        and is_of_texts(enum)
    }
    return Names(make_class_names(protocol.definitions.keys()), fields, members)


def is_of_texts(enum: ir.Enum) -> bool:
    """Whether an enumeration can be a string enumeration class."""
    return isinstance(enum.base, ir.String) and all(isinstance(member.value, str) for member in enum.values)


def _name_fields(name: str, protocol: ir.Protocol, fields: dict[str, Mapping[str, str]]) -> None:
    record = protocol.definitions[name]
    if name in fields or not isinstance(record, ir.Record):
        return
    inherited: Mapping[str, str] = {}
    if record.base is not None:
        _name_fields(record.base, protocol, fields)
        inherited = fields.get(record.base, {})
    fields[name] = make_field_names([field.name for field in record.fields], inherited)
