"""The method table: which definitions are the params and results of which JSON-RPC method, and who handles it.

Two notations are read. ACP marks params and results with `x-method` and `x-side`. MCP has whole messages: an object whose
`method` is a constant is a request or a notification, the result of `NameRequest` is `NameResult`, and unions named
`ClientRequest`, `ServerNotification` and so on say who sends what.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from acpgen import ir
from acpgen.bundle import Bundle
from acpgen.errors import Fault, Faults, NoRole, RoleTaken
from acpgen.unions import branches_of, constant, lone_reference
from acpgen.walk import Schema

_SIDES: Final[tuple[ir.Side, ...]] = ("agent", "client", "proxy", "server")

_ROLES: Final = {"Request": "request", "Response": "result", "Result": "result", "Notification": "notification"}


def find_methods(bundle: Bundle) -> tuple[tuple[ir.Method, ...], tuple[ir.Side, ...]]:
    """The methods in the order of the schema, and the sides of the protocol in alphabetical order: those that handle methods, and who
    calls them. Raises `Faults` of definitions whose `x-method` binds them to nothing.
    """
    marked = _marked(bundle)
    methods = marked or _by_message(bundle)
    handling = {method.side for method in methods}
    if handling & {"agent", "proxy", "server"}:
        handling.add("client")
    elif "client" in handling:
        handling.add("server")
    return tuple(methods), tuple(side for side in _SIDES if side in handling)


def role_of(name: str) -> str | None:
    """What a marked definition is to its method, told from the end of its name as ACP does it."""
    return next((role for suffix, role in _ROLES.items() if name.endswith(suffix)), None)


def _marked(bundle: Bundle) -> list[ir.Method]:
    """Methods of definitions that carry `x-method`. Raises `Faults` of those that cannot be bound to their method."""
    groups: dict[str, dict[str, str]] = {}
    faults: list[Fault] = []
    for name, schema in bundle.definitions.items():
        method = schema.get("x-method")
        if not isinstance(method, str):
            continue
        role = role_of(name) or role_of(
            bundle.origins[name]
        )  # whose end is the name in the file, whatever it is called here
        if role is None:
            faults.append(NoRole(at=bundle.origins[name], name=name, method=method))
            continue
        first = groups.setdefault(method, {}).setdefault(role, name)
        if first != name:
            faults.append(RoleTaken(at=bundle.origins[name], method=method, role=role, other=bundle.origins[first]))
    if faults:
        raise Faults(faults)
    methods: list[ir.Method] = []
    for method, roles in groups.items():
        for kind in ("request", "notification"):
            if kind in roles or (kind == "request" and set(roles) == {"result"}):
                params, result = roles.get(kind), roles.get("result") if kind == "request" else None
                methods.append(_method(bundle, method, kind, params, result))
    return methods


def _method(bundle: Bundle, name: str, kind: Any, params: str | None, result: str | None) -> ir.Method:
    schema = bundle.definitions[params or result or ""]
    answer: Schema = bundle.definitions[result] if result else {}
    was = schema.get("x-was", [])
    return ir.Method(
        name=name,
        side=schema.get("x-side", "both"),
        kind=kind,
        params=params,
        result=result,
        capability=schema.get("x-capability"),
        unstable=schema.get("x-unstable") is True,
        null_result=answer.get("x-null") == "omitted",
        batch=schema.get("x-batch"),
        was=tuple(item for item in was if not item.startswith("#")),
        doc=str(schema.get("description", "")),
        at=bundle.origins[params or result or ""],
    )


def _by_message(bundle: Bundle) -> list[ir.Method]:
    """Methods of whole-message definitions, with sides told from the unions of messages."""
    senders = _senders(bundle.definitions)
    methods: list[ir.Method] = []
    for name, schema in bundle.definitions.items():
        method = constant(schema.get("properties", {}).get("method"))
        role = role_of(name)
        if not isinstance(method, str) or role not in ("request", "notification"):
            continue
        sent_by = senders.get(name, set())
        side: ir.Side = "both" if len(sent_by) != 1 else "server" if sent_by == {"Client"} else "client"
        params = _only_reference(schema["properties"].get("params"))
        result = f"{name.removesuffix('Request')}Result" if role == "request" else None
        if role == "request" and result not in bundle.definitions:
            result = "EmptyResult" if "EmptyResult" in bundle.definitions else None
        methods.append(
            ir.Method(
                name=method,
                side=side,
                kind="request" if role == "request" else "notification",
                params=params,
                result=result,
                doc=str(schema.get("description", "")),
                at=bundle.origins[name],
            )
        )
    return methods


def _only_reference(schema: Any) -> str | None:
    """The definition that a schema refers to, a union of one branch counting as the branch."""
    if isinstance(schema, dict):
        union = branches_of(cast("Schema", schema))
        if union is not None and len(union[1]) == 1:
            return lone_reference(union[1][0])
    return lone_reference(cast("object", schema))


def _senders(definitions: Mapping[str, Schema]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for sender in ("Client", "Server"):
        for kind in ("Request", "Notification"):
            union = branches_of(definitions.get(sender + kind, {}))
            for branch in union[1] if union else ():
                name = lone_reference(branch)
                if name is not None:
                    found.setdefault(name, set()).add(sender)
    return found
