"""The target `bundle`: one standard JSON Schema of the version and its method table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.input.numbers import dumps
from acpgen.naming.identifiers import make_method_keys
from acpgen.targets.interface import Settings

_GROUPS: Final = {
    "agent": "agentMethods",
    "client": "clientMethods",
    "server": "serverMethods",
    "proxy": "proxyMethods",
    "protocol": "protocolMethods",
    "both": "sharedMethods",
}


def render(protocol: ir.Protocol, bundle: Bundle, settings: Settings) -> Mapping[str, str]:
    """Write `schema.json` and `meta.json` below the prefix."""
    folder = f"{settings.prefix}/" if settings.prefix else ""
    return {
        f"{folder}schema.json": _write_json(bundle.schema),
        f"{folder}meta.json": _write_json(make_method_table(protocol)),
    }


def make_method_table(protocol: ir.Protocol) -> ir.JSON:
    """The methods by handling side and key, in ACP's published format: `{"version": 1, "agentMethods": {"session_new": "session/new"}}`."""
    table: dict[str, ir.JSON] = {"version": protocol.version} if protocol.version is not None else {}
    groups = {**_GROUPS, **{side: f"{side}Methods" for side in protocol.sides if side not in _GROUPS}}
    for side, group in groups.items():
        keys = make_method_keys([*dict.fromkeys(m.name for m in protocol.methods if m.side == side)])
        methods: dict[str, ir.JSON] = {key: name for name, key in keys.items()}
        if methods or side in protocol.sides:
            table[group] = methods
    return table


def _write_json(value: object) -> str:
    return dumps(value, indent=2, ensure_ascii=False) + "\n"
