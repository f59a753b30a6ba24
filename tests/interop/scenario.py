"""What two peers say to one another in the matrix of SDKs, one exchange after the other, and what must arrive.

`scenario.json` holds the exchanges. In each, the client sends a prompt whose first block names the exchange, with the `blocks` and the
`_meta` that stand there. The agent sends the `updates`, then the `requests`, which the client answers as it stands there, and at last one
message whose text is JSON: the prompt as it reached the agent, its `_meta`, the answers to the requests, and what went wrong. Nothing is
judged by the peers: they hand on what their SDK gave them, and `judged` compares it with what stands here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from acpgen.input.walk import is_array, is_object

FILE: Final = Path(__file__).with_name("scenario.json")
AGENT: Final = {"name": "matrix-agent", "version": "1.0"}
CLIENT: Final = {"name": "matrix-client", "version": "1.0"}

NOT_SENT: Final = "cannot send: "
"""How a peer begins to say that the API of its SDK has no way to send what stands in the scenario."""

Side: TypeAlias = Literal["client", "agent"]
Effect: TypeAlias = Literal["kept", "not sent", "altered on sending", "lost on receipt", "refused"]
"""What became of an exchange. `kept` is the one that is right."""


@dataclass(frozen=True)
class Exchange:
    """One exchange. `newer` says why a peer of today's schema need not know it, where that is so."""

    name: str
    says: str
    versions: tuple[int, ...]
    blocks: tuple[Any, ...] = ()
    meta: Mapping[str, Any] | None = None
    updates: tuple[Any, ...] = ()
    requests: tuple[Any, ...] = ()
    call: Mapping[str, Any] | None = None
    """A request of the client that is no prompt: `method`, `params`, and the `result` or `code` that must come back."""
    cancel: bool = False
    """Whether the client cancels the turn once the agent has said something."""
    newer: str = ""


@dataclass(frozen=True)
class Seen:
    """What a client's program says about one exchange: what its SDK handed to it."""

    answer: Any = None
    """The answer of the prompt or call; in version 2 the update that ended the turn."""
    updates: tuple[Any, ...] = ()
    asked: tuple[Any, ...] = ()
    error: str = ""
    """Why the exchange failed, in the words of the program."""
    code: int | None = None
    is_over: bool = False


@dataclass(frozen=True)
class Judged:
    """What became of an exchange, whose doing it was, the message that shows it, and what was said about it."""

    exchange: str
    effect: Effect
    by: Side | None = None
    message: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Line:
    """A recorded message."""

    sender: Side
    message: Any = field(repr=False)


@cache
def exchanges(version: int) -> tuple[Exchange, ...]:
    """The exchanges of a version of the protocol."""
    rows = json.loads(FILE.read_text("utf-8"), object_hook=_filled)
    found = (Exchange(**frozen(row)) for row in rows)
    return tuple(one for one in found if version in one.versions)


def judged(exchange: Exchange, seen: Seen, lines: Sequence[Line], version: int) -> Judged:
    """What became of an exchange, from what the client's program says and from the messages that passed meanwhile."""
    if exchange.call is not None:
        return _called(exchange, exchange.call, seen, lines)
    echo = _echo(seen)
    trouble = str(_found(echo, ("trouble",)) or "")
    ends: tuple[tuple[Side, str], ...] = (("agent", trouble), ("client", seen.error))
    for side, said in ends:
        if said.startswith(NOT_SENT):
            return Judged(exchange.name, "not sent", side, "", said.removeprefix(NOT_SENT))
    for step in _steps(exchange, seen, echo, version):
        if step.arrived:
            continue
        on_wire = [line for line in lines if line.sender == step.sender and step.is_it(line.message)]
        if not on_wire and step.sender == "agent" and not _reached(lines) and (seen.error or echo is None):
            continue  # the agent refused the prompt before it was its turn
        receiver: Side = "agent" if step.sender == "client" else "client"
        if not on_wire:
            near = [line for line in lines if line.sender == step.sender and step.is_near(line.message)]
            if near:
                return Judged(exchange.name, "altered on sending", step.sender, _text(near[-1]), _reason(seen, lines))
            return Judged(exchange.name, "not sent", step.sender, "", _reason(seen, lines))
        failed = seen.is_over or bool(seen.error) or echo is None or _error(lines) is not None
        effect: Effect = "refused" if failed else "lost on receipt"
        said = _reason(seen, lines) if failed else trouble
        return Judged(exchange.name, effect, receiver, _text(on_wire[-1]), said)
    if seen.error or echo is None:
        last = [line for line in lines if line.sender == "agent"] or list(lines)
        return Judged(exchange.name, "refused", "agent", _text(last[-1]) if last else "", _reason(seen, lines))
    return Judged(exchange.name, "kept")


@dataclass(frozen=True)
class _Step:
    """One thing that has to arrive: who sends it, what it is, and whether it did."""

    sender: Side
    method: str
    value: Any
    at: tuple[str, ...]
    arrived: bool

    def is_near(self, message: Any) -> bool:
        return (
            is_object(message)
            and (message.get("method") or "") == self.method
            and _like(self.value, _found(message, self.at))
        )

    def is_it(self, message: Any) -> bool:
        return (
            is_object(message)
            and (message.get("method") or "") == self.method
            and holds(self.value, _found(message, self.at))
        )


def _steps(exchange: Exchange, seen: Seen, echo: Any, version: int) -> list[_Step]:
    got = echo if is_object(echo) else {}
    prompt = [{"type": "text", "text": exchange.name}, *exchange.blocks]
    steps = [_Step("client", "session/prompt", prompt, ("params", "prompt"), holds(prompt, got.get("prompt")))]
    if exchange.meta is not None:
        steps.append(
            _Step("client", "session/prompt", exchange.meta, ("params", "_meta"), holds(exchange.meta, got.get("meta")))
        )
    for update in exchange.updates:
        arrived = any(holds(update, one) for one in seen.updates)
        steps.append(_Step("agent", "session/update", update, ("params", "update"), arrived))
    answers = got.get("answers")
    for place, request in enumerate(exchange.requests):
        method, params, wanted = request["method"], request["params"], request["answer"]
        arrived = any(one.get("method") == method and holds(params, one.get("params")) for one in seen.asked)
        steps.append(_Step("agent", method, params, ("params",), arrived))
        back = answers[place] if is_array(answers) and place < len(answers) else None
        steps.append(_Step("client", "", wanted, ("result",), holds(wanted, back)))
    if exchange.cancel:
        reason = seen.answer.get("stopReason") if is_object(seen.answer) else None
        steps.append(_Step("client", "session/cancel", {}, ("params",), reason == "cancelled"))
    elif version == 1 and not seen.error:
        reason = seen.answer.get("stopReason") if is_object(seen.answer) else None
        steps.append(_Step("agent", "", {"stopReason": "end_turn"}, ("result",), reason == "end_turn"))
    return steps


def _called(exchange: Exchange, call: Mapping[str, Any], seen: Seen, lines: Sequence[Line]) -> Judged:
    asked = [line for line in lines if line.sender == "client" and _found(line.message, ("method",)) == call["method"]]
    answered = [line for line in lines if line.sender == "agent" and "method" not in line.message]
    if "code" in call and seen.code == call["code"]:
        return Judged(exchange.name, "kept")
    if "result" in call and not seen.error and holds(call["result"], seen.answer):
        return Judged(exchange.name, "kept")
    reason = _reason(seen, lines)
    if not asked or seen.error.startswith(NOT_SENT):
        return Judged(exchange.name, "not sent", "client", "", reason)
    if "params" in call and not holds(call["params"], _found(asked[-1].message, ("params",))):
        return Judged(exchange.name, "altered on sending", "client", _text(asked[-1]), reason)
    if not answered:
        return Judged(exchange.name, "refused", "agent", _text(asked[-1]), reason)
    answer = answered[-1]
    given = _found(answer.message, ("error", "code")) if "code" in call else _found(answer.message, ("result",))
    right = given == call["code"] if "code" in call else holds(call["result"], given)
    if right:
        return Judged(exchange.name, "refused" if seen.error else "lost on receipt", "client", _text(answer), reason)
    effect: Effect = "refused" if "error" in answer.message and "result" in call else "altered on sending"
    return Judged(exchange.name, effect, "agent", _text(answer), reason)


def frozen(row: Mapping[str, Any]) -> dict[str, Any]:
    """An object of a file as arguments: arrays as tuples."""
    return {key: tuple(value) if is_array(value) else value for key, value in row.items()}


def _filled(row: dict[str, Any]) -> dict[str, Any]:
    """A text `@N` stands for N characters."""
    text = row.get("text")
    if isinstance(text, str) and text.startswith("@"):
        return {**row, "text": "x" * int(text[1:])}
    return row


# --- small tools -----------------------------------------------------------------------------------------------------


def holds(wanted: Any, given: Any) -> bool:
    """Whether everything of a value is in another: what an SDK adds of its own is no loss."""
    if is_object(wanted):
        return is_object(given) and all(key in given and holds(value, given[key]) for key, value in wanted.items())
    if is_array(wanted):
        return is_array(given) and len(wanted) == len(given) and all(map(holds, wanted, given))
    if isinstance(wanted, bool) or isinstance(given, bool):
        return wanted is given
    return bool(wanted == given)


def _like(wanted: Any, given: Any) -> bool:
    """Whether a value is a changed form of another: of the same kind, where it says its kind."""
    if is_object(wanted) and is_object(given):
        return all(wanted[key] == given.get(key) for key in ("sessionUpdate", "toolCallId") if key in wanted)
    return type(wanted) is type(given)


def _found(value: Any, at: Sequence[str]) -> Any:
    for step in at:
        value = value.get(step) if is_object(value) else None
    return value


def _echo(seen: Seen) -> Any:
    """What the agent says that it got: the last message of the turn whose text is JSON."""
    for update in reversed(seen.updates):
        if is_object(update) and update.get("sessionUpdate") == "agent_message_chunk":
            text = _found(update, ("content", "text"))
            try:
                value = json.loads(text) if isinstance(text, str) else None
            except ValueError:
                continue
            if is_object(value) and "prompt" in value:
                return value
    return None


def _reached(lines: Sequence[Line]) -> bool:
    """Whether the agent said anything at all that is no refusal."""
    return any(line.sender == "agent" and "error" not in line.message for line in lines)


def _error(lines: Sequence[Line]) -> Any:
    errors = [line.message["error"] for line in lines if is_object(line.message) and "error" in line.message]
    return errors[-1] if errors else None


def _reason(seen: Seen, lines: Sequence[Line]) -> str:
    error = _error(lines)
    if is_object(error):
        message, data = str(error.get("message", "")), error.get("data")
        said = f"{error.get('code')} {message}"
        return said if data is None else f"{said}: {json.dumps(data, ensure_ascii=False)}"
    return seen.error.removeprefix(NOT_SENT)


def _text(line: Line) -> str:
    return json.dumps(line.message, ensure_ascii=False, separators=(",", ":"))
