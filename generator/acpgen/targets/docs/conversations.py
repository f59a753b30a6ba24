"""Whole conversations, message by message, composed from examples of the schema and validated again.

The examples of a schema are independent of each other; in a conversation they refer to the same session, terminal and tool call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from acpgen import ir
from acpgen.bundle.bundle import Bundle
from acpgen.diagnostics.markup import make_identifier
from acpgen.meaning import envelopes
from acpgen.pointers import write_reference
from acpgen.targets.docs.examples import ExampleJudge, Examples
from acpgen.targets.docs.scenarios import Scenario, ScenarioMessage, find_sides, list_scenarios

SHARED: Final = ("sessionId", "terminalId", "toolCallId")
"""Members that identify the same object in all messages of a conversation."""

DEEPEST: Final = 4
"""The depth, in definitions below params or result, to which a word of a scenario is searched for."""

_BRINGS: Final = ("sessionId", "terminalId", "stopReason", "outcome", "protocolVersion", "roots")
"""Members of results whose name summarizes the response."""


@dataclass(frozen=True, slots=True)
class ConversationMessage:
    """One message of a conversation. `value` is `None` if the schema has no example with what the scenario names."""

    step: ScenarioMessage
    anchor: str
    sender: str
    receiver: str
    note: str
    value: Mapping[str, ir.JSON] | None


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation with its messages in order."""

    scenario: Scenario
    messages: tuple[ConversationMessage, ...]

    def find_first(self, method: str) -> ConversationMessage | None:
        """The first message of a method, if any."""
        return next((message for message in self.messages if message.step.method.name == method), None)


def find_conversations(protocol: ir.Protocol, bundle: Bundle, examples: Examples) -> tuple[Conversation, ...]:
    """The conversations of a protocol, filled with the examples of its definitions. Raises `Faults`."""
    protocol_scenarios = list_scenarios(protocol)
    if not protocol_scenarios:
        return ()
    judge = ExampleJudge(bundle)
    composer = _Composer(protocol, examples, judge)
    return tuple(
        Conversation(scenario, tuple(_compose_messages(protocol, scenario, composer)))
        for scenario in protocol_scenarios
    )


def _compose_messages(protocol: ir.Protocol, scenario: Scenario, composer: _Composer) -> Iterator[ConversationMessage]:
    sides = find_sides(protocol)
    assert sides is not None
    bound: dict[str, ir.JSON] = {}
    open_requests: dict[str, list[int]] = {}
    anchors: set[str] = set()
    last = 0
    for step in scenario.steps:
        method = step.method
        handler = sides[0] if method.side == sides[0] else sides[1]
        caller = sides[1] if handler == sides[0] else sides[0]
        sender, receiver = (handler, caller) if step.is_answer else (caller, handler)
        payload = composer.choose_payload(step, bound)
        value: Mapping[str, ir.JSON] | None = None
        if step.is_answer:
            open_ids = open_requests.get(method.name) or []
            last = last if open_ids else last + 1  # the scenario begins after its request
            number = open_ids.pop(0) if open_ids else last
            if payload is not None:
                value = envelopes.answer(protocol.envelope, method, payload, id_=number)
        else:
            last += method.kind == "request"
            if method.kind == "request":
                open_requests.setdefault(method.name, []).append(last)
            if payload is not None:
                value = envelopes.call(protocol.envelope, method, payload, id_=last)
        note = _make_note(step, payload)
        yield ConversationMessage(step, _make_anchor(step, anchors), sender, receiver, note, value)


def _make_note(step: ScenarioMessage, payload: ir.JSON | envelopes.Absent | None) -> str:
    """The content of a message in one or two words."""
    if not step.is_answer:
        return " ".join(step.carries)
    if step.carries:
        return step.carries[-1]
    return next((name for name in _BRINGS if name in payload), "") if isinstance(payload, dict) else ""


def _make_anchor(step: ScenarioMessage, anchors: set[str]) -> str:
    """The unique anchor of a message on its page, made from its method and content. Adds it to the anchors in use."""
    words = (step.method.name.replace("/", "-"), "answer" if step.is_answer else "", *step.carries)
    plain = make_identifier("-".join(filter(None, words)))
    anchor = next(
        name
        for number in range(len(anchors) + 1)
        if (name := f"{plain}-{number + 1}" if number else plain) not in anchors
    )
    anchors.add(anchor)
    return anchor


@dataclass(frozen=True, slots=True)
class _Composer:
    """Composes values from the examples of definitions."""

    protocol: ir.Protocol
    examples: Examples
    judge: ExampleJudge

    def choose_payload(self, step: ScenarioMessage, bound: dict[str, ir.JSON]) -> ir.JSON | envelopes.Absent | None:
        """The params or result of a message: the first candidate that the schema admits; `None` if there is none."""
        name = step.method.result if step.is_answer else step.method.params
        if name is None:
            return envelopes.ABSENT
        for value in self._find_values(name, step.carries, DEEPEST):
            names = dict(bound)
            payload = _find_shared(value, names)
            if self.judge.find_refusal(write_reference(name), payload) is None:
                bound.update(names)
                return payload
        return None

    def _find_values(self, name: str, words: Sequence[str], deepest: int) -> Iterator[ir.JSON]:
        """Yield the values of a definition that contain these words, each nested in the one before."""
        if not words:
            yield from self.examples.get(name, ())
            return
        if not deepest:
            return
        match self.protocol.definitions.get(name):
            case ir.Record() as record:
                for field in record.fields:
                    for value in self._find_inner_values(field.type, words, deepest):
                        yield from (
                            {**base, field.name: value}
                            for base in self.examples.get(name, ())
                            if isinstance(base, dict)
                        )
            case ir.TaggedUnion() as union:
                for variant in union.variants:
                    if str(variant.tag) == words[0]:
                        yield from self._find_variant_values(union, variant, words[1:], deepest)
            case ir.Enum() as enum:
                if len(words) == 1:
                    yield from (item.value for item in enum.values if item.value == words[0])
            case ir.Alias() as alias:
                yield from self._find_inner_values(alias.type, words, deepest)
            case None:
                return

    def _find_variant_values(
        self, union: ir.TaggedUnion, variant: ir.Variant, words: Sequence[str], deepest: int
    ) -> Iterator[ir.JSON]:
        for name in dict.fromkeys(filter(None, (variant.type, variant.body))):
            for value in self._find_values(name, words, deepest - 1):
                if isinstance(value, dict):
                    yield {union.tag: variant.tag, **value}

    def _find_inner_values(self, type_: ir.Type, words: Sequence[str], deepest: int) -> Iterator[ir.JSON]:
        match type_:
            case ir.Ref():
                yield from self._find_values(type_.name, words, deepest - 1)
            case ir.Constant():
                if len(words) == 1:
                    yield from (value for value in type_.values if value == words[0])
            case ir.AnyOf():
                for inner in type_.types:
                    yield from self._find_inner_values(inner, words, deepest)
            case _:
                return


def _find_shared(value: ir.JSON, names: dict[str, ir.JSON]) -> ir.JSON:
    """Replace the identifiers in a value by those already in `names`, and add new ones to it. Items of arrays keep their own."""
    match value:
        case dict():
            members: dict[str, ir.JSON] = {}
            for key, inner in value.items():
                members[key] = names.setdefault(key, inner) if key in SHARED else _find_shared(inner, names)
            return members
        case list():
            for item in value:
                _find_shared(item, names)
            return value
        case _:
            return value
