"""The method table: which definitions are the params and the result of which method, and which side handles it.

`bundle` finds the methods of most schemas by a profile. Schemas that mark params and results by `x-method` and `x-side` are read here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.errors import Fault, Faults
from acpgen.input.dialect import DECLARING, SIDES, find_sides
from acpgen.input.schema_nodes import Node, Schemas
from acpgen.meaning.faults import NO_ROLE, ROLE_TAKEN, SIDES_DIFFER
from acpgen.methods.faults import NO_METHODS

_ROLES: Final = {"Request": "request", "Response": "result", "Result": "result", "Notification": "notification"}


def find_methods(schemas: Schemas, bundle: Bundle) -> tuple[tuple[ir.Method, ...], tuple[ir.Side, ...]]:
    """The methods in the order of the schema, and the sides of the protocol. Raises `Faults` for definitions whose `x-method` binds
    nothing.
    """
    if not bundle.profile.marked:
        return bundle.methods, _list_sides(bundle.methods, bundle) if bundle.methods else ()
    methods = tuple(_read_marked_methods(schemas))
    if not methods and bundle.profile.how == "named":
        raise Faults([NO_METHODS(at=next(iter(bundle.files)), profile=bundle.profile.name)])
    return methods, _list_sides(methods, bundle)


def _list_sides(methods: Collection[ir.Method], bundle: Bundle) -> tuple[ir.Side, ...]:
    """The sides: those declared, otherwise those that handle methods and their callers."""
    if bundle.profile.at or not bundle.profile.marked:
        return bundle.profile.sides
    if any(DECLARING in source for source in bundle.sources.values()):
        return find_sides(bundle.sources.values())
    handling = {method.side for method in methods}
    if handling & {"agent", "proxy", "server"}:
        handling.add("client")
    elif "client" in handling:
        handling.add("server")
    known_sides = tuple(side for side in sorted({*SIDES, *handling}) if side in handling - {*ir.EITHER})
    return known_sides or (("client", "server") if methods else ())


def parse_role(name: str) -> str | None:
    """The role of a marked definition in its method, from the suffix of its name as in ACP."""
    return next((role for suffix, role in _ROLES.items() if name.endswith(suffix)), None)


def _read_marked_methods(definitions: Mapping[str, Node]) -> list[ir.Method]:
    """The methods of definitions with `x-method`. Raises `Faults` for those that cannot be bound to their method."""
    groups: dict[str, dict[str, str]] = {}
    faults: list[Fault] = []
    for name, node in definitions.items():
        method = node.says.get("x-method")
        if not isinstance(method, str):
            continue
        role = parse_role(name) or parse_role(node.at)  # whose end is the name in the file, whatever it is called here
        if role is None:
            faults.append(NO_ROLE(at=node.at, name=name, method=method))
            continue
        first = groups.setdefault(method, {}).setdefault(role, name)
        if first != name:
            faults.append(ROLE_TAKEN(at=node.at, method=method, role=role, other=definitions[first].at))
    for method, roles in groups.items():
        if roles.keys() >= {"request", "result"}:
            params, result = definitions[roles["request"]], definitions[roles["result"]]
            side, params_side = result.says.get("x-side"), params.says.get("x-side")
            if isinstance(side, str) and isinstance(params_side, str) and side != params_side:
                faults.append(SIDES_DIFFER(at=result.at, method=method, side=side, other=params_side, params=params.at))
    if faults:
        raise Faults(faults)
    methods: list[ir.Method] = []
    for method, roles in groups.items():
        if "request" in roles or roles.keys() == {"result"}:
            methods.append(_make_method(definitions, method, "request", roles.get("request"), roles.get("result")))
        if "notification" in roles:
            methods.append(_make_method(definitions, method, "notification", roles["notification"], None))
    return methods


def _make_method(
    definitions: Mapping[str, Node], name: str, kind: Any, params: str | None, result: str | None
) -> ir.Method:
    node = definitions[params or result or ""]
    return ir.Method(
        name=name,
        side=node.says.get("x-side") or definitions[result or params or ""].says.get("x-side", "both"),
        kind=kind,
        params=params,
        result=result,
        capability=node.says.get("x-capability"),
        unstable=node.says.get("x-unstable") is True,
        null_result=result is not None and definitions[result].says.get("x-null") == "omitted",
        batch=node.says.get("x-batch"),
        was=tuple(item for item in node.says.get("x-was", []) if not item.startswith("#")),
        doc=_extract_purpose(node.get_text("description"), name),
        at=node.at,
    )


def _extract_purpose(description: str, name: str) -> str:
    """The purpose of a method: the description of its params without the opening words that only name the method."""
    opening = _OPENING.match(description)
    purpose = description[opening.end() :] if opening and opening["method"] == name else ""
    return purpose[0].upper() + purpose[1:] if purpose else description


_OPENING: Final = re.compile(r"Parameters of `(?P<method>[^`]*)`(?: as a (?:request|notification))?[:.]\s+")
