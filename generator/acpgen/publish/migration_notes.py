"""The statements of the new version about the old one: how each thing changed, what replaces it, why, and who must do what.

This is the part of a migration guide that no comparison of schemas can find. The schema states it by `x-migration`, with example
messages of both versions, which are checked here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from acpgen.bundle.bundle import Moved
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.errors import Fault, Faults
from acpgen.messages.validators import make_strict
from acpgen.pointers import plain_pointer
from acpgen.targets.faults import INVALID_EXAMPLE

if TYPE_CHECKING:
    from jsonrpc_bindings.contract import Method
    from jsonrpc_bindings.strict import Strict


def make_checklists(
    new: SchemaRevision, areas: Mapping[str, str]
) -> Mapping[str, Mapping[str, list[tuple[Moved, str]]]]:
    """The moves and their tasks, by checklist title (one per kind of reader) and by area; `areas` maps the title of each move to its
    area.
    """
    checklists: dict[str, dict[str, list[tuple[Moved, str]]]] = {}
    for move in new.bundle.moves.values():
        for reader, does in move.does.items():
            tasks = checklists.setdefault(f"Checklist for {reader}", {})
            tasks.setdefault(areas[move.title], []).append((move, does))
    return checklists


def require_valid(old: SchemaRevision, new: SchemaRevision) -> None:
    """Raise `Faults` for each example message that its version rejects, at the message's place in the new version."""
    faults: list[Fault] = []
    judges = _Judge(old), _Judge(new)
    for move in new.bundle.moves.values():
        for part, judge, messages in (("before", judges[0], move.before), ("after", judges[1], move.after)):
            requests: dict[Any, Method[Any, Any]] = {}
            for index, message in enumerate(messages):
                reason = judge.find_refusal(message, requests)
                if reason is not None:
                    at = f"{move.at}{plain_pointer(part, index)}"
                    faults.append(INVALID_EXAMPLE(at, reason=f"{judge.side.protocol.name}: {reason}", otherwise=""))
    if faults:
        raise Faults(faults)


class _Judge:
    """Validates the messages of one version with its strict validator."""

    def __init__(self, side: SchemaRevision) -> None:
        self.side = side

    @cached_property
    def _strict(self) -> Strict:
        return make_strict(self.side.protocol, self.side.bundle)

    def find_refusal(self, value: Mapping[str, Any] | list[Any], requests: dict[Any, Method[Any, Any]]) -> str | None:
        """The reason why the version rejects a message or a batch; `None` if it accepts it. `requests` holds the requests so far, by id."""
        if not isinstance(value, list):
            return self._find_refusal(value, requests)
        if not self.side.protocol.batch:
            return "it has no batches"
        for index, message in enumerate(value):
            reason = self._find_refusal(message, requests)
            if reason is not None:
                return f"{plain_pointer(index)}: {reason}"
            method = message.get("method")
            if any(each.batch == "never" for each in self.side.methods if each.name == method):
                return f"{plain_pointer(index)}: '{method}' must not be part of a batch"
        return None

    def _find_refusal(self, message: Mapping[str, Any], requests: dict[Any, Method[Any, Any]]) -> str | None:
        name, is_request = message.get("method"), "id" in message
        method = requests.get(message.get("id")) if name is None else self._strict.route(name, is_request=is_request)
        if method is None and name is None:
            return "no message before it has this id, so nothing says what it answers"
        if method is None:
            return f"it has no {'request' if is_request else 'notification'} '{name}'"
        if name is not None and is_request:
            requests[message["id"]] = method
        senders = [side for side in self.side.protocol.sides if (side == method.side) == (name is None)]
        sender = (senders or self.side.protocol.sides)[0]
        for problem in self._strict.validate(message, sender=sender, method=method.name, limit=1):
            return f"{problem.pointer or 'the message'}: {problem.sentence}"
        return None
