"""Scenarios: typical conversations, each a list of messages, from `templates/docs/scenarios.json`.

`session/prompt>` is a request or notification to the side that handles it, `session/prompt<` its response. After `#` follows the tag of
the variant that the message contains, after each `=` a word in it. Messages that a protocol does not have are left out; a scenario with
less than half of its messages remaining is not shown. `needs` and `lacks` name messages that a protocol must have or must not have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from acpgen import ir
from acpgen.input.load import read_data
from acpgen.resources import locate_templates

_MESSAGE: Final = re.compile(r"(?P<method>[^#<>=]+)(?P<way>[<>]?)(?:#(?P<tag>[^=]+))?(?:=(?P<word>.+))?")


@dataclass(frozen=True, slots=True)
class ScenarioMessage:
    """One message of a scenario. `carries` are the tag of its variant and the words in it, as far as the scenario names them."""

    method: ir.Method
    is_answer: bool
    carries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One conversation that a protocol has."""

    name: str
    title: str
    about: str
    steps: tuple[ScenarioMessage, ...]

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods in the conversation, without duplicates."""
        return tuple(dict.fromkeys(step.method.name for step in self.steps))


def list_scenarios(protocol: ir.Protocol) -> tuple[Scenario, ...]:
    """The conversations that a protocol has; empty if it has no agent or server."""
    return tuple(_plan_scenarios(protocol)) if find_sides(protocol) is not None else ()


def find_sides(protocol: ir.Protocol) -> tuple[str, str] | None:
    """The left side, which begins the conversation, and the right one; `None` without agent or server."""
    servers = [side for side in protocol.sides if side in ("agent", "server")]
    return ("client", servers[0]) if servers else None


def has_message(protocol: ir.Protocol, message: str) -> bool:
    """Whether the protocol has the method of a planned message, and the variant in it."""
    return _find_step(protocol, message) is not None


def _plan_scenarios(protocol: ir.Protocol) -> Iterator[Scenario]:
    for entry in read_data(locate_templates() / "docs" / "scenarios.json"):
        if ("needs" in entry and not has_message(protocol, entry["needs"])) or (
            "lacks" in entry and has_message(protocol, entry["lacks"])
        ):
            continue
        steps = tuple(step for message in entry["messages"] if (step := _find_step(protocol, message)) is not None)
        if len(steps) >= max(2, len(entry["messages"]) // 2):
            yield Scenario(entry["name"], entry["title"], entry["about"], steps)


def _find_step(protocol: ir.Protocol, message: str) -> ScenarioMessage | None:
    match = _MESSAGE.fullmatch(message)
    assert match is not None, message
    method = next((method for method in protocol.methods if method.name == match["method"]), None)
    is_answer = match["way"] == "<"
    if method is None or (is_answer and method.kind == "notification"):
        return None
    if match["tag"] and match["tag"] not in {str(tag) for tag in _list_tags(protocol, method.params or "")}:
        return None
    return ScenarioMessage(method, is_answer, tuple(filter(None, (match["tag"], *(match["word"] or "").split("=")))))


def _list_tags(protocol: ir.Protocol, params: str) -> Iterator[str | int | float | bool]:
    """Yield the tags of the unions that are the type of a field of the params."""
    record = protocol.definitions.get(params)
    for field in record.fields if isinstance(record, ir.Record) else ():
        if isinstance(field.type, ir.Ref):
            union = protocol.definitions[field.type.name]
            if isinstance(union, ir.TaggedUnion):
                yield from (variant.tag for variant in union.variants)
