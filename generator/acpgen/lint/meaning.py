"""Rules about the semantics of the dialect's keywords: null, leniency, capabilities and methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from acpgen.errors import show, suggest_name
from acpgen.input.dialect import SIDES, find_sides
from acpgen.lint.subject import Remark, SourceNode, Subject
from acpgen.meaning.methods import parse_role

STRICT_EVERYWHERE: Final = frozenset({"additionalDirectories"})
"""Fields for which an invalid value is always an error: a dropped root would change what a session may access."""

STRICT_IN_METHOD: Final = {"session/request_permission": frozenset({"title", "options", "subject"})}
"""Fields of a method's params for which an invalid value is an error: users decide by them."""

_PEERS: Final = ("agent", "client", "server")
_KINDS: Final = {"request": "Request", "result": "Response", "notification": "Notification"}


# --- null and leniency -----------------------------------------------------------------------------------------------


def null_meaning_missing(subject: Subject) -> Iterable[Remark]:
    """An optional field admits null and does not say by `x-null` whether that clears the value or equals omission."""
    for node in subject.nodes:
        is_optional = node.role == "field" and not _is_required(node)
        if is_optional and subject.admits_null(node) and not _is_null_defined(subject, node):
            yield Remark(node.at, "This field accepts null. Define what null means: 'x-null': 'clears' or 'omitted'.")


def null_meaning_misplaced(subject: Subject) -> Iterable[Remark]:
    """`x-null` stands on something that does not admit null and is no result of a method."""
    for node in subject.nodes:
        is_result = find_role(node) == "result"
        if "x-null" in node.schema and not is_result and not subject.admits_null(node):
            yield Remark(f"{node.at}/x-null", "Null is refused here. Remove 'x-null', or accept null.")


def leniency_forbidden(subject: Subject) -> Iterable[Remark]:
    """A field is decoded leniently in which a bad value must be an error: extra roots, and what people decide a permission by."""
    markers = {node.at for node in _find_capabilities(subject).values()}
    for node in subject.nodes:
        if node.role != "field" or not node.owner or node.at in markers:
            continue
        strict = STRICT_EVERYWHERE | STRICT_IN_METHOD.get(str(node.owner.schema.get("x-method")), frozenset())
        for keyword in node.schema if node.name in strict else ():
            if keyword.startswith("x-deserialize-"):
                sentence = f"An invalid {show(node.name)} must be an error and never be dropped. Remove '{keyword}'."
                yield Remark(f"{node.at}/{keyword}", sentence)


def _is_null_defined(subject: Subject, node: SourceNode) -> bool:
    target = subject.find_target(node)
    if "x-null" in node.schema or (target is not None and "x-null" in target.schema):
        return True
    owner = node.owner
    if owner is None or owner.role != "branch":
        return False
    above = [around.schema.get("properties", {}).get(node.name, {}) for around in (*owner.list_enclosing(),)[1:]]
    return any("x-null" in declared for declared in above)


def _is_required(node: SourceNode) -> bool:
    around = () if node.owner is None else node.owner.list_enclosing()
    return any(node.name in schema.schema.get("required", ()) for schema in around)


# --- capabilities ----------------------------------------------------------------------------------------------------


def gate_dangling(subject: Subject) -> Iterable[Remark]:
    """The path of `x-capability` or `x-required-with` is not that of a capability in the `initialize` exchange."""
    capabilities = _find_capabilities(subject)
    for node, keyword, gate in _find_gates(subject):
        if gate not in capabilities:
            hint = suggest_name(gate, capabilities) or "The definitions of 'initialize' declare no capability."
            yield Remark(f"{node.at}/{keyword}", f"{show(gate)} is not a capability that a peer can advertise. {hint}")


def gate_misplaced(subject: Subject) -> Iterable[Remark]:
    """A gate stands on a definition that is not the params of a method, or on a field that is required in any case."""
    for node, keyword, _ in _find_gates(subject):
        if node.role == "definition" and ("x-method" not in node.schema or find_role(node) == "result"):
            sentence = "A gate belongs on the params of a method, on a branch of a union or on a field, not on this definition. Move it."
            yield Remark(f"{node.at}/{keyword}", sentence)
        elif keyword == "x-required-with" and _is_required(node):
            sentence = "This field is always required. Remove the keyword, or make the field optional."
            yield Remark(f"{node.at}/{keyword}", sentence)


def gate_missing(subject: Subject) -> Iterable[Remark]:
    """A field has a gate in one definition, and a field of the same name has none in another."""
    gated = {
        node.name: gate
        for node, keyword, gate in _find_gates(subject)
        if node.role == "field" and keyword == "x-capability"
    }
    payload = {node.at for node in _find_capabilities(subject).values()}
    for node in subject.nodes:
        is_gated = "x-capability" in node.schema or "x-required-with" in node.schema
        if node.role == "field" and node.name in gated and node.at not in payload and not is_gated:
            elsewhere = f"In other places, {show(node.name)} needs {gated[node.name]}."
            yield Remark(node.at, f"{elsewhere} Add 'x-capability' or 'x-required-with'.")


def capability_unused(subject: Subject) -> Iterable[Remark]:
    """Nothing in the schema depends on a capability, and it does not say so by `x-gates`."""
    used_gates = {gate for _, _, gate in _find_gates(subject)}
    capabilities = _find_capabilities(subject)
    for path, node in capabilities.items():
        is_group = any(inner.startswith(f"{path}.") for inner in capabilities)
        if not is_group and path not in used_gates and "x-gates" not in node.schema:
            sentence = f"Nothing has the gate {show(path)}. Add it where it belongs, or say 'x-gates': 'nothing' here."
            yield Remark(node.at, sentence)


def capability_contradicted(subject: Subject) -> Iterable[Remark]:
    """A capability says by `x-gates` that nothing depends on it, and something does; or the keyword stands elsewhere."""
    gate_places = {gate: node.at for node, _, gate in _find_gates(subject)}
    places = {node.at: path for path, node in _find_capabilities(subject).items()}
    for node in subject.nodes:
        if "x-gates" not in node.schema:
            continue
        path = places.get(node.at)
        if path is None:
            yield Remark(f"{node.at}/x-gates", "'x-gates' is only for capabilities, and this is not one. Remove it.")
        elif any(gate == path or gate.startswith(f"{path}.") for gate in gate_places):
            yield Remark(f"{node.at}/x-gates", f"Something depends on {show(path)} after all. Remove 'x-gates'.")


def _find_gates(subject: Subject) -> Iterator[tuple[SourceNode, str, str]]:
    """Yield each gate in the schema: its node, its keyword, and the capability that it names."""
    for node in subject.nodes:
        for keyword in ("x-capability", "x-required-with"):
            gate = node.schema.get(keyword)
            if isinstance(gate, str):
                yield node, keyword, gate


@lru_cache(maxsize=1)
def _find_capabilities(subject: Subject) -> Mapping[str, SourceNode]:
    """Every capability that a peer can advertise, by the gate that names it (`agent:capabilities.session`)."""
    capabilities: dict[str, SourceNode] = {}
    for node in subject.definitions:
        if node.schema.get("x-method") == "initialize":
            peer = _find_sender(subject, node)
            for field in _find_fields(subject, node):
                if field.name.lower().endswith("capabilities"):
                    capabilities.update(_find_capabilities_below(subject, field, f"{peer}:{field.name}"))
    return capabilities


def _find_capabilities_below(
    subject: Subject, node: SourceNode, path: str, above: frozenset[str] = frozenset()
) -> Iterator[tuple[str, SourceNode]]:
    for field in _find_fields(subject, node):
        if field.name != "_meta" and field.at not in above:  # a capability inside itself says nothing new
            yield f"{path}.{field.name}", field
            yield from _find_capabilities_below(subject, field, f"{path}.{field.name}", above | {field.at})


def _find_fields(subject: Subject, node: SourceNode) -> Iterator[SourceNode]:
    """Yield the fields of an object, including those reached through references, `allOf` and unions."""
    visited: set[str] = set()
    queue = [node]
    while queue:
        inner = queue.pop()
        if inner.at in visited:
            continue
        visited.add(inner.at)
        for child in subject.list_subschemas(inner):
            if child.role == "field":
                yield child
            elif child.role == "branch" or child.parts[len(inner.parts)] == "allOf":
                queue.append(child)
        target = subject.find_target(inner)
        if target is not None:
            queue.append(target)


# --- methods ---------------------------------------------------------------------------------------------------------


def method_mismatched(subject: Subject) -> Iterable[Remark]:
    """The definitions of one method do not fit together: a request without result, two of a kind, different sides."""
    groups: dict[str, list[SourceNode]] = {}
    for node in subject.definitions:
        method = node.schema.get("x-method")
        if isinstance(method, str):
            groups.setdefault(method, []).append(node)
    for method, nodes in groups.items():
        roles = [find_role(node) for node in nodes]
        for node, role in zip(nodes, roles, strict=True):
            for sentence in _find_mismatches(method, node, role, nodes, roles):
                yield Remark(node.at, sentence)


def method_unlisted(subject: Subject) -> Iterable[Remark]:
    """The envelope of the peer that sends a method's params or result does not list them, in a protocol that has envelopes."""
    envelopes = {node.name: node for node in subject.definitions if node.schema.get("x-docs-ignore") is True}
    if not envelopes:
        return
    roots = [node for node in subject.nodes if node.role == "document"]
    for node in subject.definitions:
        role = find_role(node)
        if "x-method" not in node.schema or role is None:
            continue
        sender = _find_sender(subject, node)
        name = f"{sender.capitalize()}{_KINDS[role]}"
        candidates = [envelopes[name]] if name in envelopes else []
        if sender not in _find_peers(subject):
            candidates, name = [*roots, *envelopes.values()], "envelope of both peers"
        if not any(node.at in _find_references(subject, envelope) for envelope in candidates):
            yield Remark(node.at, f"The {name} does not list {node.name}. Add a branch that refers to it.")


def find_role(node: SourceNode) -> str | None:
    """The role of a definition with `x-method` in its method: `request`, `notification` or `result`; `None` if it has none."""
    if node.role != "definition" or "x-method" not in node.schema:
        return None
    return "result" if node.name.endswith("Result") else parse_role(node.name)


def _find_mismatches(
    method: str, node: SourceNode, role: str | None, nodes: list[SourceNode], roles: list[str | None]
) -> Iterator[str]:
    if role is None:
        yield f"{node.name} has no role in {method}. End its name in Request, Response or Notification."
    elif roles.count(role) > 1 and roles.index(role) != nodes.index(node):
        yield f"{method} has another definition for its {role}. Keep one of them."
    if role == "request" and "result" not in roles:
        yield f"{method} is a request and has no result. Add a '…Response' with the same 'x-method'."
    if role == "result" and "request" not in roles:
        yield f"{method} has a result and no request. Add a '…Request' with the same 'x-method'."
    first = nodes[0]
    is_notification = role == "notification"
    same_kind = (node for node, kind in zip(nodes, roles, strict=True) if (kind == "notification") == is_notification)
    counterpart = next(same_kind, first)
    side, counterpart_side = node.schema.get("x-side"), counterpart.schema.get("x-side")
    if side is not None and counterpart_side is not None and side != counterpart_side:
        yield f"{counterpart.name} says that the {counterpart_side} handles {method}. Give both the same 'x-side'."
    if node.schema.get("x-unstable") != first.schema.get("x-unstable"):
        yield f"{first.name} and {node.name} are not both stable, though both belong to {method}. Mark both or none."


def _find_sender(subject: Subject, node: SourceNode) -> str:
    """The sender of a definition: the side that handles the method sends the result, the other peer the params."""
    side = str(node.schema.get("x-side"))
    if find_role(node) == "result" or side not in _find_peers(subject):
        return side
    return next((peer for peer in _name_peers(subject) if peer != side), side)


@lru_cache(maxsize=1)
def _name_peers(subject: Subject) -> tuple[str, ...]:
    """The two peers of the protocol, as named by its methods and envelopes."""
    mentioned_sides = {str(node.schema.get("x-side")) for node in subject.definitions}
    envelopes = {node.name for node in subject.definitions if node.schema.get("x-docs-ignore") is True}
    peers = _find_peers(subject)
    mentioned_sides.update(peer for peer in peers if any(name.startswith(peer.capitalize()) for name in envelopes))
    return tuple(peer for peer in peers if peer in mentioned_sides)


def _find_peers(subject: Subject) -> tuple[str, ...]:
    """The possible peers: those that the files declare, else those of ACP and MCP."""
    declared = find_sides(document.value for document in subject.documents)
    return _PEERS if declared == SIDES else declared


@lru_cache(maxsize=64)
def _find_references(subject: Subject, node: SourceNode) -> frozenset[str]:
    """The places that a definition refers to directly, at any depth of its own schema; other definitions are not followed."""
    places: set[str] = set()
    queue = [node]
    while queue:
        inner = queue.pop()
        target = subject.find_target(inner)
        if target is not None:
            places.add(target.at)
        queue.extend(child for child in subject.list_subschemas(inner) if child.role != "definition")
    return frozenset(places)
