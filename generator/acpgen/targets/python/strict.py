"""What the strict validators need beside the run-time package: the contract as source, and the schema without its prose."""

from __future__ import annotations

from typing import Any

from acpgen import ir
from acpgen.meaning.contract import Row, rows
from acpgen.schema.bundle import Bundle
from acpgen.schema.keywords import PROSE
from acpgen.schema.numbers import dumps
from acpgen.schema.walk import ASSERTIONS, LISTS, MAPS, SINGLE, is_array, is_object
from acpgen.targets.python.literals import literal
from acpgen.targets.python.naming import Names


def contract_view(protocol: ir.Protocol) -> dict[str, Any]:
    """The contract of a protocol, as rows of the template `methods.py`."""
    found = rows(protocol)
    return {
        "name": literal(protocol.name),
        "version": literal(protocol.version),
        "sides": _tuple(protocol.sides),
        "batch": protocol.batch,
        "methods": [_call("contract.Method", row) for row in found.methods],
        "envelope": literal(protocol.envelope) if protocol.envelope != "json-rpc" else "",
        "gated": [{"name": literal(name), **_gated(row)} for name, row in found.gated.items()],
    }


def renamed_definitions(names: Names) -> list[tuple[str, str]]:
    """The classes that are not called like their definitions, with these."""
    return [(literal(class_), literal(name)) for name, class_ in names.classes.items() if class_ != name]


def schema_text(bundle: Bundle) -> str:
    """The bundled schema as JSON, a definition a line: what judges, without what people read and what the dialect says, which stands in
    the tables of the package.
    """
    definitions = ",\n".join(f"{_json(name)}: {_json(_judging(schema))}" for name, schema in bundle.definitions.items())
    head = {"$schema": bundle.schema["$schema"]}
    return f'{_json(head)[:-1]}, "$defs": {{\n{definitions}\n}}}}\n'


def _judging(schema: Any) -> Any:
    if not is_object(schema):
        return schema
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key in SINGLE:
            kept[key] = _judging(value)
        elif key in LISTS and is_array(value):
            kept[key] = [_judging(item) for item in value]
        elif key in MAPS and is_object(value):
            kept[key] = {name: _judging(item) for name, item in value.items()}
        elif key in ASSERTIONS or (key not in PROSE and not key.startswith("x-")):
            kept[key] = value
    return kept


def _gated(row: Row) -> dict[str, Any]:
    """The arguments of one `Gated`, each on a line; those that are tables with a line for each entry."""
    arguments: list[dict[str, Any]] = []
    for key, value in row.items():
        if key in ("fields", "variants"):
            entries = [f"{literal(name)}: {_call('contract.Member', member)}" for name, member in value.items()]
            arguments.append({"key": key, "entries": entries, "value": ""})
        elif key == "values":
            entries = [f"{literal(name)}: {literal(gate)}" for name, gate in value.items()]
            arguments.append({"key": key, "entries": entries, "value": ""})
        else:
            arguments.append({"key": key, "entries": [], "value": _source(value)})
    return {"arguments": arguments}


def _call(name: str, row: Row) -> str:
    return f"{name}({', '.join(f'{key}={_source(value)}' for key, value in row.items())})"


def _source(value: str | bool | tuple[str, ...]) -> str:
    return _tuple(value) if isinstance(value, tuple) else literal(value)


def _tuple(values: tuple[str, ...]) -> str:
    return f"({', '.join(map(literal, values))}{',' if len(values) == 1 else ''})"


def _json(value: object) -> str:
    return dumps(value, ensure_ascii=True)
