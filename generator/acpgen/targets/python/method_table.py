"""The method table of `methods.py`, as rows for the template."""

from __future__ import annotations

from typing import Any

from acpgen import ir
from acpgen.meaning.contract import make_method_row
from acpgen.targets.python.literals import write_literal
from acpgen.targets.python.naming import Names


def make_method_rows(protocol: ir.Protocol, names: Names, any_: str = "Any") -> list[dict[str, Any]]:
    """One row per method; two for a name that is both a request and a notification. `any_` is the module's name for `Any`."""
    rows: list[dict[str, Any]] = []
    visited_names: set[str] = set()
    for method in protocol.methods:
        key = method.name if method.name not in visited_names else f"{method.name} ({method.kind})"
        visited_names.add(method.name)
        row = make_method_row(method)
        definitions = [row.pop(part, None) for part in ("params", "result")]
        payloads = ["None" if definition is None else names.classes[definition] for definition in definitions]
        payload_arguments = [
            "type(None)" if _is_null(protocol, definition) else payload
            for definition, payload in zip(definitions, payloads, strict=True)
        ]
        head = [write_literal(row.pop(part)) for part in ("name", "side", "kind")]
        keywords = [f"{argument}={write_literal(value)}" for argument, value in row.items()]
        types = [any_ if payload == "None" else payload for payload in payloads]
        types = types if method.kind == "request" else [types[0], "None"]
        rows.append(
            {"key": write_literal(key), "arguments": [*head, *payload_arguments, *keywords], "types": ", ".join(types)}
        )
    return rows


def _is_null(protocol: ir.Protocol, name: str | None) -> bool:
    """Whether a definition is only null: its alias would be `None`, which in a row means that the schema has no type."""
    definition = protocol.definitions.get(name) if name is not None else None
    if not isinstance(definition, ir.Alias):
        return False
    return definition.type == ir.Null() or (
        isinstance(definition.type, ir.Ref) and _is_null(protocol, definition.type.name)
    )
