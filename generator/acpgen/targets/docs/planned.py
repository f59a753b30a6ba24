"""The conversations that are told and drawn: a list of messages each, in `templates/docs/lifecycles.json`, of which a protocol has some.

`session/prompt>` is a request or notification on its way to the side that handles it, `session/prompt<` its answer; after `#` stands
the tag of the variant that the message carries, after each `=` a word that it holds. A message that a protocol does not know is left
out, and a conversation of which little is left is not told. `needs` and `lacks` name what a protocol must have or not have for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from acpgen import ir
from acpgen.resources import templates

_MESSAGE: Final = re.compile(r"(?P<method>[^#<>=]+)(?P<way>[<>]?)(?:#(?P<tag>[^=]+))?(?:=(?P<word>.+))?")


@dataclass(frozen=True, slots=True)
class PlannedMessage:
    """One message of a plan. `carries` are the tag of its variant and the words that it holds, as far as the plan names them."""

    method: ir.Method
    is_answer: bool
    carries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlannedConversation:
    """One conversation that a protocol has."""

    name: str
    title: str
    about: str
    steps: tuple[PlannedMessage, ...]

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that take part, each once."""
        return tuple(dict.fromkeys(step.method.name for step in self.steps))


def plans(protocol: ir.Protocol) -> tuple[PlannedConversation, ...]:
    """The conversations that this protocol has; none where no side is the one that begins."""
    return tuple(_plans(protocol)) if sides(protocol) is not None else ()


def sides(protocol: ir.Protocol) -> tuple[str, str] | None:
    """The side on the left, which begins the conversation, and the one on the right."""
    others = [side for side in protocol.sides if side in ("agent", "server")]
    return ("client", others[0]) if others else None


def knows(protocol: ir.Protocol, message: str) -> bool:
    """Whether the protocol has the method of a planned message, and the variant that it carries."""
    return _step(protocol, message) is not None


def _plans(protocol: ir.Protocol) -> Iterator[PlannedConversation]:
    for told in _told():
        if ("needs" in told and not knows(protocol, told["needs"])) or (
            "lacks" in told and knows(protocol, told["lacks"])
        ):
            continue
        steps = tuple(step for message in told["messages"] if (step := _step(protocol, message)) is not None)
        if len(steps) >= max(2, len(told["messages"]) // 2):
            yield PlannedConversation(told["name"], told["title"], told["about"], steps)


@cache
def _told() -> Sequence[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((Path(templates()) / "docs" / "lifecycles.json").read_text("utf-8"))
    return found


def _step(protocol: ir.Protocol, message: str) -> PlannedMessage | None:
    match = _MESSAGE.fullmatch(message)
    assert match is not None, message
    method = next((method for method in protocol.methods if method.name == match["method"]), None)
    is_answer = match["way"] == "<"
    if method is None or (is_answer and method.kind == "notification"):
        return None
    if match["tag"] and match["tag"] not in {str(tag) for tag in _tags(protocol, method.params or "")}:
        return None
    return PlannedMessage(method, is_answer, tuple(filter(None, (match["tag"], *(match["word"] or "").split("=")))))


def _tags(protocol: ir.Protocol, params: str) -> Iterator[str | int | float | bool]:
    """The tags of the unions that params hold in a field of their own."""
    record = protocol.definitions.get(params)
    for field in record.fields if isinstance(record, ir.Record) else ():
        if isinstance(field.type, ir.Ref):
            union = protocol.definitions[field.type.name]
            if isinstance(union, ir.TaggedUnion):
                yield from (variant.tag for variant in union.variants)
