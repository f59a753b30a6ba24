"""The tables of `methods.py`, as rows for its template."""

from __future__ import annotations

from typing import Any

from acpgen import ir
from acpgen.meaning.contract import method_row
from acpgen.meaning.unenforced import Gaps
from acpgen.targets.python.literals import literal
from acpgen.targets.python.naming import Names


def lenient_rows(protocol: ir.Protocol, names: Names) -> list[tuple[str, list[tuple[str, str]]]]:
    """The forgiving fields by class; what a base class says already is left out."""
    rows: list[tuple[str, list[tuple[str, str]]]] = []
    for record in _records(protocol):
        inherited = _inherited(record, protocol)
        flags = [
            (literal(field.name), _flags(field.leniency))
            for field in record.fields
            if field.leniency != ir.Leniency() and field.name not in inherited
        ]
        if flags:
            rows.append((names.classes[record.name], flags))
    return rows


def owner_rows(protocol: ir.Protocol, names: Names) -> list[tuple[str, list[tuple[str, str]]]]:
    """The fields whose definition is not the one of the class that declares them, by class."""
    rows: list[tuple[str, list[tuple[str, str]]]] = []
    for record in _records(protocol):
        inherited = _inherited(record, protocol)
        owners = [
            (literal(field.name), literal(field.owner))
            for field in record.fields
            if field.name not in inherited and field.owner != names.classes[record.name]
        ]
        if owners:
            rows.append((names.classes[record.name], owners))
    return rows


def unenforced_rows(gaps: Gaps) -> list[tuple[str, list[str]]]:
    """What decoding does not enforce, by definition."""
    return [(literal(name), [literal(place) for place in places]) for name, places in gaps.items()]


def method_rows(protocol: ir.Protocol, names: Names, any_: str = "Any") -> list[dict[str, Any]]:
    """One row a method. A name that is both a request and a notification has a row for each. `any_` is what the module calls `Any`."""
    rows: list[dict[str, Any]] = []
    seen: set[str] = set()
    for method in protocol.methods:
        key = method.name if method.name not in seen else f"{method.name} ({method.kind})"
        seen.add(method.name)
        row = method_row(method)
        payloads = [names.classes[row.pop(part)] if part in row else "None" for part in ("params", "result")]
        head = [literal(row.pop(part)) for part in ("name", "side", "kind")]
        rest = [f"{argument}={literal(value)}" for argument, value in row.items()]
        types = [any_ if payload == "None" else payload for payload in payloads]
        types = types if method.kind == "request" else [types[0], "None"]
        rows.append({"key": literal(key), "arguments": [*head, *payloads, *rest], "types": ", ".join(types)})
    return rows


def _records(protocol: ir.Protocol) -> list[ir.Record]:
    return [definition for definition in protocol.definitions.values() if isinstance(definition, ir.Record)]


def _inherited(record: ir.Record, protocol: ir.Protocol) -> set[str]:
    base = protocol.definitions[record.base] if record.base is not None else None
    return {field.name for field in base.fields} if isinstance(base, ir.Record) else set()


def _flags(leniency: ir.Leniency) -> str:
    given = {
        "error": leniency.default_on_error,
        "items": leniency.skip_invalid_items,
        "null": leniency.default_on_null,
    }
    return ", ".join(f"{name}=True" for name, value in given.items() if value)
