"""What the new version says of things of the old one: how each changed, what takes its place, why, and who does what about it.

It is the part of a migration guide that no comparison of schemas can find. The schema says it by `x-migration`, with messages of both
versions, which are checked here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acpgen import ir
from acpgen.bundle.bundle import Moved
from acpgen.compat.protocol.check.message_pairs import envelope_parts
from acpgen.compat.protocol.definition_coverage import closure
from acpgen.compat.protocol.messages import Route, message_schema
from acpgen.compat.protocol.revision import SchemaRevision
from acpgen.errors import Fault, Faults
from acpgen.input.schema_validator import Validator
from acpgen.input.walk import Schema, references
from acpgen.pointers import plain_pointer
from acpgen.targets.faults import INVALID_EXAMPLE


def checklists(new: SchemaRevision, areas: Mapping[str, str]) -> Mapping[str, Mapping[str, list[tuple[Moved, str]]]]:
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
    judges = _Judges(old), _Judges(new)
    for move in new.bundle.moves.values():
        for part, judge, shown in (("before", judges[0], move.before), ("after", judges[1], move.after)):
            requests: dict[Any, ir.Method] = {}
            for index, message in enumerate(shown):
                reason = judge.refusal(message, requests)
                if reason is not None:
                    at = f"{move.at}{plain_pointer(part, index)}"
                    faults.append(INVALID_EXAMPLE(at, reason=f"{judge.side.protocol.name}: {reason}", otherwise=""))
    if faults:
        raise Faults(faults)


class _Judges:
    """Judges the messages of one version, by a validator for each kind of them."""

    def __init__(self, side: SchemaRevision) -> None:
        self.side = side
        self._validators: dict[tuple[tuple[Route, str | None], ...], Validator] = {}

    def refusal(self, shown: Mapping[str, Any] | list[Any], requests: dict[Any, ir.Method]) -> str | None:
        """Why the version refuses a message or a batch; `None` if it does not. `requests` holds the requests so far, by id."""
        if not isinstance(shown, list):
            return self._refusal(shown, requests)
        if not self.side.protocol.batch:
            return "it has no batches"
        for index, message in enumerate(shown):
            reason = self._refusal(message, requests)
            if reason is not None:
                return f"{plain_pointer(index)}: {reason}"
            method = message.get("method")
            if any(each.batch == "never" for each in self.side.methods if each.name == method):
                return f"{plain_pointer(index)}: '{method}' must not be part of a batch"
        return None

    def _refusal(self, message: Mapping[str, Any], requests: dict[Any, ir.Method]) -> str | None:
        name = message.get("method")
        if name is not None:
            kind = "request" if "id" in message else "notification"
            method = next((each for each in self.side.methods if (each.name, each.kind) == (name, kind)), None)
            if method is None:
                return f"it has no {kind} '{name}'"
            if kind == "request":
                requests[message["id"]] = method
            routes = [(Route("params", method), method.params)]
        else:
            method = requests.get(message.get("id"))
            if method is None:
                return "no message before it has this id, so nothing says what it answers"
            if "error" in message:
                routes = [(Route("error", method), of) for of in envelope_parts(self.side, "error") or (None,)]
            else:
                routes = [(Route("result", method), method.result)]
        judge = self._validator(tuple(routes))
        error = next(judge.errors(message), None)
        if error is None:
            return None
        return f"{plain_pointer(*error.instance_path) or 'the message'}: {judge.message(error)}"

    def _validator(self, routes: tuple[tuple[Route, str | None], ...]) -> Validator:
        if routes not in self._validators:
            ways: list[Schema] = [message_schema(self.side, *each)["anyOf"][0] for each in routes]
            whole = ways[0] if len(ways) == 1 else {"anyOf": ways}
            definitions = self.side.bundle.definitions
            needed = closure(self.side, references(whole))
            held = {name: schema for name, schema in definitions.items() if name in needed}
            self._validators[routes] = Validator({**whole, "$defs": held})
        return self._validators[routes]
