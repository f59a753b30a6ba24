"""What a protocol requires beyond shapes, as plain rows: its methods by definition."""

from __future__ import annotations

from typing import Any, TypeAlias

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.input.patterns import Patterns

Row: TypeAlias = dict[str, Any]
"""Arguments by name; those equal to their default are omitted."""


def make_protocol_row(protocol: ir.Protocol, bundle: Bundle) -> Row:
    """What the schema does not state about a protocol, as stored beside it under `x-protocol`.

    `judging` holds the definitions whose patterns were rewritten for regular expression engines; `patterns` maps rewritten patterns to
    those of the schema.
    """
    patterns = Patterns(bundle.definitions.values())
    return {
        "name": protocol.name,
        "version": protocol.version,
        "sides": list(protocol.sides),
        "batch": protocol.batch,
        "envelope": protocol.envelope,
        "patterns": patterns.own_texts,
        "judging": patterns.translate_changed(bundle.definitions),
    }


def make_method_row(method: ir.Method) -> Row:
    """The arguments of one method, as `jsonrpc_bindings.contract.Method` takes them."""
    row: Row = {"name": method.name, "side": method.side, "kind": method.kind}
    optional = {
        "params": method.params,
        "result": method.result,
        "capability": method.capability,
        "unstable": method.unstable,
        "null_result": method.null_result,
        "optional_result": method.optional_result,
        "batch": method.batch,
    }
    omitted = {"omitted": method.omitted} if method.omitted != "object" else {}
    return row | {key: value for key, value in optional.items() if value} | omitted
