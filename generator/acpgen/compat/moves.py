"""What the new version says of things of the old one: how each changed, what takes its place, why, and who does what about it.

It is the part of a migration guide that no comparison of schemas can find. The schema says it by `x-migration`, with messages of both
versions, which are checked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from acpgen import ir
from acpgen.compat.protocol.check.routes import envelope_parts
from acpgen.compat.protocol.messages import Route, message_schema
from acpgen.compat.protocol.revision import Revised
from acpgen.errors import Fault, Faults, InvalidExample
from acpgen.markup import code, plain, prose
from acpgen.pointers import plain_pointer
from acpgen.schema.numbers import dumps
from acpgen.validator import Validator

_BECAME: Final = {
    "changed": "Changed",
    "moved": "Moved",
    "removed": "Removed",
    "renamed": "Renamed",
    "replaced": "Replaced",
}


def lines(old: Revised, new: Revised) -> Iterator[str]:
    """The sections about what moved, and a checklist for each kind of reader. Raises `Faults` for a message that its version refuses."""
    require_valid(old, new)
    moves = new.bundle.moves
    if not moves:
        return
    yield "\n## What moved, and why"
    for of, move in moves.items():
        yield f"\n### {plain(move.title)}\n"
        there = f" → {', '.join(map(code, move.to))}" if move.to else ""
        yield f"{_BECAME[move.change]}: {code(of)}{there}. {prose(move.says)}\n"
        yield f"Why: {prose(move.why)}\n"
        for side, shown in ((old, move.before), (new, move.after)):
            if shown:
                yield f"In {code(side.protocol.name)}:\n"
                yield from (f"```json\n{dumps(each, indent=2, ensure_ascii=False)}\n```\n" for each in shown)
    for reader in dict.fromkeys(reader for move in moves.values() for reader in move.does):
        yield f"\n## Checklist for {plain(reader)}\n"
        told = [(move.title, move.does[reader]) for move in moves.values() if reader in move.does]
        for number, (title, does) in enumerate(told, 1):
            yield f"{number}. **[{plain(title)}](#{anchor(title)})**: {prose(does)}"


def anchor(title: str) -> str:
    """The address of a heading, as the site generator and GitHub make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def about(method: str, new: Revised) -> list[str]:
    """The titles of the sections in which a method is named: as what moved, or as what takes its place."""
    return [move.title for of, move in new.bundle.moves.items() if method in (of, *move.to)]


def require_valid(old: Revised, new: Revised) -> None:
    """Raise `Faults` for each message that its version refuses, with the place where the new version says it."""
    faults: list[Fault] = []
    judges = _Judge(old), _Judge(new)
    for move in new.bundle.moves.values():
        for part, judge, shown in zip(("before", "after"), judges, (move.before, move.after), strict=True):
            asked: dict[Any, ir.Method] = {}
            for index, message in enumerate(shown):
                reason = judge.refusal(message, asked)
                if reason is not None:
                    at = f"{move.at}{plain_pointer(part, index)}"
                    faults.append(InvalidExample(at=at, reason=f"{judge.side.protocol.name}: {reason}"))
    if faults:
        raise Faults(faults)


class _Judge:
    """Judges messages of one version. The schemas of all of them are compiled together."""

    def __init__(self, side: Revised) -> None:
        self.side = side

    @cached_property
    def _validator(self) -> Validator:
        """A validator of objects that hold one message under what it is of its method."""
        schemas: dict[str, Any] = {}
        for method in self.side.methods:
            schemas[_key("params", method)] = self._schema([(Route("params", method), method.params)])
            if method.kind == "request":
                errors = envelope_parts(self.side, "error") or (None,)
                schemas[_key("result", method)] = self._schema([(Route("result", method), method.result)])
                schemas[_key("error", method)] = self._schema([(Route("error", method), of) for of in errors])
        return Validator({"properties": schemas, "$defs": self.side.bundle.definitions})

    def _schema(self, routes: list[tuple[Route, str | None]]) -> Mapping[str, Any]:
        ways = [message_schema(self.side, *each)["anyOf"][0] for each in routes]
        return ways[0] if len(ways) == 1 else {"anyOf": ways}

    def refusal(self, shown: Mapping[str, Any] | list[Any], asked: dict[Any, ir.Method]) -> str | None:
        """Why the version refuses a message or a batch; `None` if it does not. `asked` holds the requests so far, by id."""
        if not isinstance(shown, list):
            return self._refused(shown, asked)
        if not self.side.protocol.batch:
            return "it has no batches"
        for index, message in enumerate(shown):
            reason = self._refused(message, asked)
            if reason is not None:
                return f"{plain_pointer(index)}: {reason}"
            method = message.get("method")
            if any(each.batch == "never" for each in self.side.methods if each.name == method):
                return f"{plain_pointer(index)}: '{method}' must not be part of a batch"
        return None

    def _refused(self, message: Mapping[str, Any], asked: dict[Any, ir.Method]) -> str | None:
        name = message.get("method")
        part = "params"
        if name is not None:
            kind = "request" if "id" in message else "notification"
            method = next((each for each in self.side.methods if (each.name, each.kind) == (name, kind)), None)
            if method is None:
                return f"it has no {kind} '{name}'"
            if kind == "request":
                asked[message["id"]] = method
        else:
            method = asked.get(message.get("id"))
            if method is None:
                return "no message before it has this id, so nothing says what it answers"
            part = "error" if "error" in message else "result"
        error = next(self._validator.errors({_key(part, method): message}), None)
        if error is None:
            return None
        at = plain_pointer(*error.instance_path[1:])
        return f"{at or 'the message'}: {self._validator.message(error)}"


def _key(part: str, method: ir.Method) -> str:
    return f"{part} of {method.kind} {method.name}"
