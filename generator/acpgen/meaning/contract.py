"""What a protocol asks beyond shapes, as plain rows: its methods by definition, and what depends on capabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, assert_never

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.input.expressions import translations
from acpgen.input.walk import is_object

Row: TypeAlias = dict[str, Any]
"""Arguments by name; those that have their default are left out."""


def protocol_row(protocol: ir.Protocol, bundle: Bundle) -> Row:
    """What the schema does not say of a protocol, as it stands beside it under `x-protocol`: the patterns that engines take as other
    texts, and what depends on capabilities. A table by name or constant is a list of pairs, since a constant may be no text.
    """
    found = translations(bundle.definitions.values())
    return {
        "name": protocol.name,
        "version": protocol.version,
        "sides": list(protocol.sides),
        "batch": protocol.batch,
        "envelope": protocol.envelope,
        "patterns": dict(found.table),
        "loose": list(found.loose),
        "gated": {name: {key: _listed(value) for key, value in row.items()} for name, row in _gated(protocol).items()},
    }


def _listed(value: Any) -> Any:
    return [[key, item] for key, item in value.items()] if is_object(value) else value


def method_row(method: ir.Method) -> Row:
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


def _gated(protocol: ir.Protocol) -> Mapping[str, Row]:
    """Definitions that depend on capabilities or lead to such. Found by adding until nothing is added: types may be recursive."""
    gated: set[str] = set()
    while True:
        found = {name for name, definition in protocol.definitions.items() if _definition(definition, gated)}
        if found == gated:
            break
        gated = found
    return {name: _definition(definition, gated) for name, definition in protocol.definitions.items() if name in gated}


def _definition(definition: ir.Definition, gated: set[str]) -> Row:
    match definition:
        case ir.Record():
            fields = {field.name: _member(field, _look(field.type, gated)) for field in definition.fields}
            fields = {name: member for name, member in fields.items() if member}
            return {"fields": fields} if fields else {}
        case ir.TaggedUnion():
            variants = {variant.tag: _member(variant, _named(variant.type, gated)) for variant in definition.variants}
            others = definition.fallback_shapes or ((definition.fallback,) if definition.fallback else ())
            other = tuple(
                name for name in (*others, *((definition.default,) if definition.default else ())) if name in gated
            )
            row: Row = {"tag": definition.tag, "variants": variants} | ({"other": other} if other else {})
            return row if other or any(variants.values()) else {}
        case ir.Enum():
            values = {value.value: value.capability for value in definition.values if value.capability is not None}
            return {"values": values} if values else {}
        case ir.Alias():
            look = _look(definition.type, gated)
            return {"look": look} if look else {}
        case _:
            assert_never(definition)


def _member(member: ir.Field | ir.Variant, look: tuple[str, ...]) -> Row:
    row: Row = {}
    if member.capability is not None:
        row["capability"] = member.capability
    if isinstance(member, ir.Field) and member.required_with is not None:
        row["required_with"] = member.required_with
    return row | ({"look": look} if look else {})


def _look(type_: ir.Type, gated: set[str]) -> tuple[str, ...]:
    match type_:
        case ir.Ref():
            return _named(type_.name, gated)
        case ir.Array():
            return tuple(f"[]{name}" for name in _look(type_.items, gated))
        case ir.Map():
            return tuple(f"{{}}{name}" for name in _look(type_.values, gated))
        case ir.AnyOf():
            return tuple(dict.fromkeys(name for member in type_.types for name in _look(member, gated)))
        case _:
            return ()


def _named(name: str, gated: set[str]) -> tuple[str, ...]:
    return (name,) if name in gated else ()
