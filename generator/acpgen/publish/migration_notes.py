"""What the new version says of things of the old one: how each changed, what takes its place, why, and who does what about it.

It is the part of a migration guide that no comparison of schemas can find. The schema says it by `x-migration`, with messages of both
versions, which are checked here.
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
    """By the title of the checklist of each kind of reader and by area, what moved and what to do; `areas` are those of moves, by title."""
    found: dict[str, dict[str, list[tuple[Moved, str]]]] = {}
    for move in new.bundle.moves.values():
        for reader, does in move.does.items():
            tasks = found.setdefault(f"Checklist for {reader}", {})
            tasks.setdefault(areas[move.title], []).append((move, does))
    return found


def require_valid(old: SchemaRevision, new: SchemaRevision) -> None:
    """Raise `Faults` for each message that its version refuses, with the place where the new version says it."""
    faults: list[Fault] = []
    judges = _Judge(old), _Judge(new)
    for move in new.bundle.moves.values():
        for part, judge, shown in (("before", judges[0], move.before), ("after", judges[1], move.after)):
            requests: dict[Any, Method[Any, Any]] = {}
            for index, message in enumerate(shown):
                reason = judge.find_refusal(message, requests)
                if reason is not None:
                    at = f"{move.at}{plain_pointer(part, index)}"
                    faults.append(INVALID_EXAMPLE(at, reason=f"{judge.side.protocol.name}: {reason}", otherwise=""))
    if faults:
        raise Faults(faults)


class _Judge:
    """Judges the messages of one version by its strict validator."""

    def __init__(self, side: SchemaRevision) -> None:
        self.side = side

    @cached_property
    def _strict(self) -> Strict:
        return make_strict(self.side.protocol, self.side.bundle)

    def find_refusal(self, shown: Mapping[str, Any] | list[Any], requests: dict[Any, Method[Any, Any]]) -> str | None:
        """Why the version refuses a message or a batch; `None` if it does not. `requests` holds the requests so far, by id."""
        if not isinstance(shown, list):
            return self._find_refusal(shown, requests)
        if not self.side.protocol.batch:
            return "it has no batches"
        for index, message in enumerate(shown):
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
