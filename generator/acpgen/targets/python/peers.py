"""`peers.py`: a handler class for each side, and one for the calls to it, as views for the template."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from acpgen import ir
from acpgen.naming.identifiers import assign, make_class_names, make_method_names
from acpgen.targets.python.literals import wrap_docstring, write_docstring, write_literal
from acpgen.targets.python.naming import Names

_SERVING: Final = (
    *(
        "attach",
        "connection",
        "disconnected",
        "extension_notification",
        "extension_request",
        "handle_notification",
        "notifications",
    ),
    *("peer_side", "requests", "serve", "side", "wire"),
)
"""The attributes of a side's class other than the calls to the other side."""

_MODULE: Final = (
    *("annotations", "capacity", "command", "handler", "join", "link"),
    *("methods", "models", "options", "peers", "self", "transport", "wire"),
)
"""Names in functions of the module that a side's attribute must not have."""

_OWN: Final = frozenset(
    {
        "AbstractAsyncContextManager",
        "Any",
        "ClassVar",
        "Final",
        "Mapping",
        "Sequence",
        "Strict",
        "TYPE_CHECKING",
        "Unpack",
        "WIRE",
    }
)
"""The names that the module binds, except the classes of its sides and lower-case names."""


@dataclass(frozen=True)
class Peer:
    """One side with its names: on the wire, of the handler class, of the class that calls it, and of the attribute that holds the
    latter.
    """

    name: str
    handler: str
    remote: str
    attribute: str
    literal: str


def make_peers_view(protocol: ir.Protocol, names: Names) -> dict[str, Any] | None:
    """The template values; `None` unless there are methods and two sides."""
    sides = [side for side in protocol.sides if side not in ir.EITHER]
    if len(sides) < 2 or not protocol.methods:
        return None
    peers = _name_peers(sides)
    local_names = names.qualify("models")
    pair = sides[0], sides[1]
    views = [
        _make_view(peer, peers[_find_other_side(peer.name, pair)], protocol, local_names) for peer in peers.values()
    ]
    return {
        "sides": views,
        "first": peers[pair[0]],
        "second": peers[pair[1]],
        "kind": write_literal(protocol.stream),
        "cancellation": _find_cancellation(protocol),
        "uses_any": any(
            call[part].startswith("Any") for view in views for call in view["methods"] for part in ("params", "result")
        ),
    }


def _name_peers(sides: list[str]) -> dict[str, Peer]:
    classes = make_class_names(sides)
    candidates = {
        f"{kind} {side}": (f"{prefix}{classes[side]}", f"{prefix}{classes[side]}Side")
        for side in sides
        for kind, prefix in (("handler", ""), ("remote", "Remote"))
    }
    assigned_names = assign(candidates, used=_OWN)
    attributes = make_method_names({side: side for side in sides}, used={*_SERVING, *_MODULE})
    return {
        side: Peer(
            side,
            assigned_names[f"handler {side}"],
            assigned_names[f"remote {side}"],
            attributes[side],
            write_literal(side),
        )
        for side in sides
    }


def _find_other_side(side: str, pair: tuple[str, str]) -> str:
    """The peer of this side. A third side, e.g. a proxy, is connected to the side `client`, or else to the first one."""
    if side in pair:
        return pair[1] if side == pair[0] else pair[0]
    return "client" if "client" in pair else pair[0]


def _make_view(peer: Peer, remote_peer: Peer, protocol: ir.Protocol, names: Names) -> dict[str, Any]:
    methods = {f"{m.name} {m.kind}": m for m in protocol.methods if m.side in ir.EITHER or m.side == peer.name}
    reserved_names = {*_SERVING, remote_peer.attribute}
    python_names = make_method_names({key: method.name for key, method in methods.items()}, used=reserved_names)
    return {
        **vars(peer),
        "name": wrap_docstring(peer.name, 4),
        "peer": replace(remote_peer, name=wrap_docstring(remote_peer.name, 4)),
        "methods": [_make_call(method, python_names[key], protocol, names) for key, method in methods.items()],
    }


def _make_call(method: ir.Method, name: str, protocol: ir.Protocol, names: Names) -> dict[str, Any]:
    params = "Any" if method.params is None else names.classes[method.params]
    is_optional = method.params is None or _allows_omission(protocol, method.params, method.omitted)
    answer = protocol.definitions.get(method.result or "")
    never_returns = isinstance(answer, ir.Alias) and answer.type == ir.Nothing()
    result = "Any" if method.result is None or never_returns else names.classes[method.result]
    optional_result = method.optional_result and method.result is not None
    gate = method.capability
    texts = [method.doc or f"`{method.name}`."]
    if gate is not None:
        side, _, path = gate.partition(":")
        texts.append(f"Needs the capability `{path}` of the {side}.")
    return {
        "name": name,
        "literal": write_literal(name),
        "wire": write_literal(method.name),
        "kind": method.kind,
        "params": f"{params} | None" if is_optional and method.params is not None else params,
        "served": f"{params} | None" if method.omitted == "nothing" and method.params is not None else params,
        "is_optional": is_optional,
        "result": "None" if method.kind == "notification" else f"{result} | None" if optional_result else result,
        "doc": write_docstring("\n\n".join(texts), 8) or '""""""',
    }


def _allows_omission(protocol: ir.Protocol, params: str, omitted: ir.Omitted) -> bool:
    """Whether these params may be omitted: the method allows it, or they admit the value that is substituted."""
    if omitted in ("object", "array"):
        return _takes_empty(protocol, ir.Ref(params), omitted, frozenset())
    return omitted != "refused"


def _takes_empty(
    protocol: ir.Protocol, type_: ir.Type, kind: Literal["object", "array"], visited: frozenset[str]
) -> bool:
    """Whether a type admits the empty object or the empty array."""
    match type_:
        case ir.Ref(name) if name not in visited:
            match protocol.definitions[name]:
                case ir.Record(fields=fields):
                    return kind == "object" and not any(field.required for field in fields)
                case ir.Alias(type=inner):
                    return _takes_empty(protocol, inner, kind, visited | {name})
                case _:
                    return False
        case ir.AnyOf(types):
            return any(_takes_empty(protocol, member, kind, visited) for member in types)
        case ir.Array() | ir.Tuple():
            return kind == "array" and not type_.min_items
        case _:
            return False


def _find_cancellation(protocol: ir.Protocol) -> dict[str, str] | None:
    """The notification that cancels a request: its name contains "cancel", and its params have the id of the request."""
    for method in protocol.methods:
        params = protocol.definitions.get(method.params) if method.params is not None else None
        if method.kind == "notification" and re.search("cancel", method.name, re.IGNORECASE):
            fields = [field.name for field in params.fields] if isinstance(params, ir.Record) else []
            for name in ("requestId", "request_id", "id"):
                if name in fields:
                    return {"method": write_literal(method.name), "field": write_literal(name)}
    return None
