"""Unions that are one record but for what a field says: a class that stands for all of them, and builds the one that is meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from acpgen import ir
from acpgen.targets.python.fronts import branches
from acpgen.targets.python.literals import docstring, literal
from acpgen.targets.python.naming import Names
from acpgen.targets.python.types import annotation, imported, references, takes_null


def kind_views(protocol: ir.Protocol, names: Names, *, omits_with_none: bool) -> list[dict[str, Any]]:
    """The classes as the template `kinds.py` has them."""
    return [
        _view(union, protocol, names, omits_with_none=omits_with_none)
        for union in protocol.definitions.values()
        if isinstance(union, ir.TaggedUnion) and union.name in names.fronts
    ]


def fronts_by_record(protocol: ir.Protocol, names: Names) -> Mapping[str, list[str]]:
    """The classes that stand for a record among others, by its definition."""
    found: dict[str, list[str]] = {}
    for union in protocol.definitions.values():
        if isinstance(union, ir.TaggedUnion) and union.name in names.fronts:
            for record in branches(union, protocol):
                found.setdefault(record.name, []).append(names.fronts[union.name])
    return found


@dataclass(frozen=True, slots=True)
class Imports:
    """What the signatures name: of `typing`, pydantic and the run-time package, and classes by whether they are records."""

    others: frozenset[str]
    records: frozenset[str]
    aliases: frozenset[str]


def kind_imports(protocol: ir.Protocol, names: Names) -> Imports:
    """What the signatures of all such classes name."""
    fields: list[ir.Field] = []
    records: set[str] = set()
    for union in protocol.definitions.values():
        if isinstance(union, ir.TaggedUnion) and union.name in names.fronts:
            for record in branches(union, protocol):
                fields += record.fields
                records |= {record.name} - {union.fallback}
    others = set[str]().union(*(imported(field.type, names) for field in fields))
    used = references(ir.AnyOf(tuple(field.type for field in fields)))
    records |= {name for name in used if isinstance(protocol.definitions[name], ir.Record)}
    return Imports(
        frozenset(others),
        frozenset(names.classes[name] for name in records),
        frozenset(names.classes[name] for name in used if name not in records),
    )


def _view(union: ir.TaggedUnion, protocol: ir.Protocol, names: Names, *, omits_with_none: bool) -> dict[str, Any]:
    records = branches(union, protocol)
    default = protocol.definitions[union.default or ""]
    assert isinstance(default, ir.Record)
    known = {*(variant.type for variant in union.variants), default.name}
    attributes = names.fields[default.name]

    def parameter(field: ir.Field, record: ir.Record) -> str:
        beside = " | None" if omits_with_none and not field.required and not takes_null(field.type, protocol) else ""
        is_named = field.name == union.tag and record is not default
        omitted = "" if is_named or (field.required and not _is_lone(field.type)) else " = ..."
        return f"{names.fields[record.name][field.name]}: {annotation(field.type, names)}{beside}{omitted}"

    def attribute(field: ir.Field) -> dict[str, str]:
        same = [(record, other) for record in records for other in record.fields if other.name == field.name]
        known = [other.type for record, other in same if not _is_unknown(other, record, union)]
        constants = [value for type_ in known if isinstance(type_, ir.Constant) for value in type_.values]
        distinct = {(type(value), value): value for value in constants}
        types = [annotation(ir.Constant(tuple(distinct.values())), names)] if distinct else []
        types += [annotation(type_, names) for type_ in known if not isinstance(type_, ir.Constant)]
        types += [names.ours("UnknownTag")] if len(known) < len(same) else []
        absent = [] if field.required else ["None" if omits_with_none else names.ours("MISSING")]
        return {"name": attributes[field.name], "type": " | ".join(_once([*types, *absent]))}

    return {
        "name": names.fronts[union.name],
        "docstring": docstring(union.doc or f"`{union.name}`.", 4),
        "union": literal(names.classes[union.name]),
        "field": literal(attributes[union.tag]),
        "wire": literal(union.tag),
        "classes": [(literal(variant.tag), literal(names.classes[variant.type])) for variant in union.variants],
        "default": literal(names.classes[default.name]),
        "unknown": literal(names.classes[union.fallback] if union.fallback is not None else ""),
        "attributes": [attribute(field) for field in default.fields],
        "receiver": "_cls" if any("cls" in names.fields[record.name].values() for record in records) else "cls",
        "signatures": [
            {
                "parameters": [parameter(field, record) for field in _tag_first(record, union.tag)],
                "class": names.classes[record.name],
            }
            for record in records
            if record.name in known
        ],
    }


def _tag_first(record: ir.Record, tag: str) -> list[ir.Field]:
    return sorted(record.fields, key=lambda field: field.name != tag)


def _is_unknown(field: ir.Field, record: ir.Record, union: ir.TaggedUnion) -> bool:
    return field.name == union.tag and record.name == union.fallback


def _is_lone(type_: ir.Type) -> bool:
    return isinstance(type_, ir.Constant) and len(type_.values) == 1


def _once(types: Iterable[str]) -> list[str]:
    """Each type once, None last."""
    parts = dict.fromkeys(part for one in types for part in ([one] if "[" in one else one.split(" | ")))
    return sorted(parts, key=lambda one: one == "None")
