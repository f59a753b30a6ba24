"""The example messages in what the new version says by `x-migration` about the old one, which are valid in their version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.errors import Fault, Faults
from acpgen.messages.validators import make_strict
from acpgen.pointers import write_plain_pointer
from acpgen.targets.faults import INVALID_EXAMPLE

if TYPE_CHECKING:
    from jsonrpc_bindings.contract import Method
    from jsonrpc_bindings.strict import Strict

    Requests = dict[Any, Method[Any, Any]]
    """The methods of earlier requests by id."""


def require_valid(old: SchemaRevision, new: SchemaRevision) -> None:
    """Raise `Faults` for each example message that its version rejects, at the message's place in the new version."""
    faults: list[Fault] = []
    validators: dict[str, Strict] = {}
    for move in new.bundle.moves.values():
        for part, side, messages in (("before", old, move.before), ("after", new, move.after)):
            requests: Requests = {}
            for index, message in enumerate(messages):
                if part not in validators:
                    validators[part] = make_strict(side.protocol, side.bundle)
                reason = _find_refusal(message, side, validators[part], requests)
                if reason is not None:
                    at = f"{move.at}{write_plain_pointer(part, index)}"
                    faults.append(INVALID_EXAMPLE(at, reason=f"{side.protocol.name}: {reason}", otherwise=""))
    if faults:
        raise Faults(faults)


def _find_refusal(
    value: Mapping[str, Any] | list[Any], side: SchemaRevision, strict: Strict, requests: Requests
) -> str | None:
    """The reason why a version rejects a message or a batch; `None` if it accepts it."""
    if not isinstance(value, list):
        return _find_message_refusal(value, side, strict, requests)
    if not side.protocol.batch:
        return "it has no batches"
    never_batched = {method.name for method in side.methods if method.batch == "never"}
    for index, message in enumerate(value):
        reason = _find_message_refusal(message, side, strict, requests)
        if reason is None and message.get("method") in never_batched:
            reason = f"'{message['method']}' must not be part of a batch"
        if reason is not None:
            return f"{write_plain_pointer(index)}: {reason}"
    return None


def _find_message_refusal(
    message: Mapping[str, Any], side: SchemaRevision, strict: Strict, requests: Requests
) -> str | None:
    name, is_request = message.get("method"), "id" in message
    method = requests.get(message.get("id")) if name is None else strict.route(name, is_request=is_request)
    if method is None and name is None:
        return "no message before it has this id, so nothing says what it answers"
    if method is None:
        return f"it has no {'request' if is_request else 'notification'} '{name}'"
    if name is not None and is_request:
        requests[message["id"]] = method
    senders = [candidate for candidate in side.protocol.sides if (candidate == method.side) == (name is None)]
    sender = (senders or side.protocol.sides)[0]
    for problem in strict.validate(message, sender=sender, method=method.name, limit=1):
        return f"{problem.pointer or 'the message'}: {problem.sentence}"
    return None
