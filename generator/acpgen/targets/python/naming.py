"""The Python names of one protocol: a class or alias per definition, an attribute per field, a member per constant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from acpgen import ir
from acpgen.errors import BadSetting, Fault, Faults, UnusedName, did_you_mean
from acpgen.schema.names import class_names, field_names, member_names
from acpgen.targets.python.dials import Dials


@dataclass(frozen=True)
class Names:
    """`classes` by definition, `fields` by definition and wire name, `members` by enumeration that is a class, and value."""

    classes: Mapping[str, str]
    fields: Mapping[str, Mapping[str, str]]
    members: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])

    @cached_property
    def taken(self) -> frozenset[str]:
        """The names of modules that belong to the schema."""
        return frozenset(self.classes.values())

    @cached_property
    def _attributes(self) -> frozenset[str]:
        return frozenset(name for names in self.fields.values() for name in names.values())

    def ours(self, name: str) -> str:
        """What a generated module calls something that it imports: its own name, or a private one where a class or an attribute has that."""
        return f"_{name}" if name in self.taken or name in self._attributes else name

    def imported(self, name: str) -> str:
        """How a module imports something under the name that `ours` gives it: `Any`, or `Any as _Any`."""
        return name if self.ours(name) == name else f"{name} as {self.ours(name)}"

    def beside(self, own: Collection[str]) -> Names:
        """The same names for a module that has names of its `own`: classes that are called so get private ones there."""
        return replace(self, classes={name: f"_{one}" if one in own else one for name, one in self.classes.items()})


def name_all(protocol: ir.Protocol, dials: Dials | None = None) -> Names:
    """Name everything. A field that a base class declares has one name in all classes below it.

    Raises `Faults` where the names that `dials` choose are for nothing, or are taken.
    """
    chosen = dials if dials is not None else Dials()
    fields: dict[str, Mapping[str, str]] = {}
    for name in protocol.definitions:
        _name_fields(name, protocol, fields, as_on_wire=chosen.fields == "wire")
    members = {
        enum.name: member_names([str(one.value) for one in enum.values])
        for enum in protocol.definitions.values()
        if isinstance(enum, ir.Enum) and chosen.enums == "str-enum" and not enum.unenforced and is_of_texts(enum)
    }
    names = Names(class_names(protocol.definitions.keys()), fields, members)
    return _with_own(names, protocol, dict(chosen.own)) if chosen.own else names


def is_of_texts(enum: ir.Enum) -> bool:
    """Whether a set of constants can be a class of texts."""
    return isinstance(enum.base, ir.String) and all(isinstance(one.value, str) for one in enum.values)


def _name_fields(name: str, protocol: ir.Protocol, fields: dict[str, Mapping[str, str]], *, as_on_wire: bool) -> None:
    record = protocol.definitions[name]
    if name in fields or not isinstance(record, ir.Record):
        return
    inherited: Mapping[str, str] = {}
    if record.base is not None:
        _name_fields(record.base, protocol, fields, as_on_wire=as_on_wire)
        inherited = fields.get(record.base, {})
    fields[name] = field_names([field.name for field in record.fields], inherited, as_on_wire=as_on_wire)


def _with_own(names: Names, protocol: ir.Protocol, own: Mapping[str, str]) -> Names:
    """The names with the chosen ones in their places."""
    classes = {name: own.get(name, class_) for name, class_ in names.classes.items()}
    members = {
        enum: {value: own.get(f"{enum}[{value}]", name) for value, name in found.items()}
        for enum, found in names.members.items()
    }
    fields: dict[str, Mapping[str, str]] = {}
    for name in names.fields:
        _rename(name, protocol, names.fields, own, fields)
    places = {
        *classes,
        *(f"{enum}[{value}]" for enum, found in names.members.items() for value in found),
        *(
            f"{name}.{wire}"
            for name, found in names.fields.items()
            for wire in found
            if _declares(name, wire, protocol)
        ),
    }
    faults: list[Fault] = [
        UnusedName(at=f"own-names: {place}", hint=did_you_mean(place, places)) for place in own if place not in places
    ]
    faults += _doubles(classes, "{}")
    for record, attributes in fields.items():
        faults += _doubles(attributes, f"{record}.{{}}")
    for enum, constants in members.items():
        faults += _doubles(constants, f"{enum}[{{}}]")
    if faults:
        raise Faults(faults)
    return replace(names, classes=classes, fields=fields, members=members)


def _rename(
    name: str,
    protocol: ir.Protocol,
    given: Mapping[str, Mapping[str, str]],
    own: Mapping[str, str],
    fields: dict[str, Mapping[str, str]],
) -> None:
    """Put the attributes of a record, after those of its base, which it shares."""
    record = protocol.definitions[name]
    if name in fields or not isinstance(record, ir.Record):
        return
    inherited: Mapping[str, str] = {}
    if record.base is not None and record.base in given:
        _rename(record.base, protocol, given, own, fields)
        inherited = fields[record.base]
    fields[name] = {
        wire: inherited.get(wire, own.get(f"{name}.{wire}", attribute)) for wire, attribute in given[name].items()
    }


def _declares(name: str, wire: str, protocol: ir.Protocol) -> bool:
    """Whether a record itself declares a field, and no base of it."""
    record = protocol.definitions[name]
    base = protocol.definitions.get(record.base or "") if isinstance(record, ir.Record) else None
    return not isinstance(base, ir.Record) or all(one.name != wire for one in base.fields)


def _doubles(names: Mapping[str, str], place: str) -> list[Fault]:
    """What is called like something else."""
    twice = {name for name, count in Counter(names.values()).items() if count > 1}
    return [
        BadSetting(
            at="options of the target python",
            key=f"the name {name!r} in own-names",
            expected=f"the name of one thing: {' and '.join(place.format(one) for one in names if names[one] == name)} have it",
        )
        for name in sorted(twice)
    ]
