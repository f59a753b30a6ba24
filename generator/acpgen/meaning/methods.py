"""The method table: which definitions are the params and results of which JSON-RPC method, and who handles it.

Two notations are read. ACP marks params and results with `x-method` and `x-side`. MCP has whole messages: an object whose
`method` is a constant is a request or a notification, the result of `NameRequest` is `NameResult`, and unions named
`ClientRequest`, `ServerNotification` and so on say who sends what.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from acpgen import ir
from acpgen.errors import Fault, Faults, NoRole, RoleTaken
from acpgen.meaning.nodes import Node
from acpgen.schema.unions import constant

_SIDES: Final[tuple[ir.Side, ...]] = ("agent", "client", "proxy", "server")

_ROLES: Final = {"Request": "request", "Response": "result", "Result": "result", "Notification": "notification"}


def find_methods(definitions: Mapping[str, Node]) -> tuple[tuple[ir.Method, ...], tuple[ir.Side, ...]]:
    """The methods in the order of the schema, and the sides of the protocol in alphabetical order: those that handle methods, and who
    calls them. Raises `Faults` of definitions whose `x-method` binds them to nothing.
    """
    methods = _marked(definitions) or _by_message(definitions)
    handling = {method.side for method in methods}
    if handling & {"agent", "proxy", "server"}:
        handling.add("client")
    elif "client" in handling:
        handling.add("server")
    return tuple(methods), tuple(side for side in _SIDES if side in handling)


def role_of(name: str) -> str | None:
    """What a marked definition is to its method, told from the end of its name as ACP does it."""
    return next((role for suffix, role in _ROLES.items() if name.endswith(suffix)), None)


def _marked(definitions: Mapping[str, Node]) -> list[ir.Method]:
    """Methods of definitions that carry `x-method`. Raises `Faults` of those that cannot be bound to their method."""
    groups: dict[str, dict[str, str]] = {}
    faults: list[Fault] = []
    for name, node in definitions.items():
        method = node.says.get("x-method")
        if not isinstance(method, str):
            continue
        role = role_of(name) or role_of(node.at)  # whose end is the name in the file, whatever it is called here
        if role is None:
            faults.append(NoRole(at=node.at, name=name, method=method))
            continue
        first = groups.setdefault(method, {}).setdefault(role, name)
        if first != name:
            faults.append(RoleTaken(at=node.at, method=method, role=role, other=definitions[first].at))
    if faults:
        raise Faults(faults)
    methods: list[ir.Method] = []
    for method, roles in groups.items():
        for kind in ("request", "notification"):
            if kind in roles or (kind == "request" and set(roles) == {"result"}):
                params, result = roles.get(kind), roles.get("result") if kind == "request" else None
                methods.append(_method(definitions, method, kind, params, result))
    return methods


def _method(definitions: Mapping[str, Node], name: str, kind: Any, params: str | None, result: str | None) -> ir.Method:
    node = definitions[params or result or ""]
    return ir.Method(
        name=name,
        side=node.says.get("x-side", "both"),
        kind=kind,
        params=params,
        result=result,
        capability=node.says.get("x-capability"),
        unstable=node.says.get("x-unstable") is True,
        null_result=result is not None and definitions[result].says.get("x-null") == "omitted",
        batch=node.says.get("x-batch"),
        was=tuple(item for item in node.says.get("x-was", []) if not item.startswith("#")),
        doc=node.text("description"),
        at=node.at,
    )


def _by_message(definitions: Mapping[str, Node]) -> list[ir.Method]:
    """Methods of whole-message definitions, with sides told from the unions of messages."""
    senders = _senders(definitions)
    methods: list[ir.Method] = []
    for name, node in definitions.items():
        members = node.named("properties")
        method = constant(members["method"].schema) if "method" in members else None
        role = role_of(name)
        if not isinstance(method, str) or role not in ("request", "notification"):
            continue
        sent_by = senders.get(name, set())
        result = f"{name.removesuffix('Request')}Result" if role == "request" else None
        if role == "request" and result not in definitions:
            result = "EmptyResult" if "EmptyResult" in definitions else None
        methods.append(
            ir.Method(
                name=method,
                side="both" if len(sent_by) != 1 else "server" if sent_by == {"Client"} else "client",
                kind="request" if role == "request" else "notification",
                params=_only_reference(members["params"]) if "params" in members else None,
                result=result,
                doc=node.text("description"),
                at=node.at,
            )
        )
    return methods


def _only_reference(node: Node) -> str | None:
    """The definition that a schema refers to, a union of one branch counting as the branch."""
    if node.union is not None and len(node.union[1]) == 1:
        return node.union[1][0].reference
    return node.reference


def _senders(definitions: Mapping[str, Node]) -> dict[str, set[str]]:
    """Who sends each message, by its definition."""
    found: dict[str, set[str]] = {}
    for sender in ("Client", "Server"):
        for kind in ("Request", "Notification"):
            node = definitions.get(sender + kind)
            for branch in node.union[1] if node is not None and node.union is not None else ():
                if branch.reference is not None:
                    found.setdefault(branch.reference, set()).add(sender)
    return found
