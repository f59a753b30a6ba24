"""How fast the generated bindings and the monitor are, beside the official SDK of Python, msgspec, pydantic and jsonschema-rs alone.

Every message is unlike the others, so that none profits from what was read before it.
"""

from __future__ import annotations

import gc
import json
import sys
import time
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import count, islice
from random import Random
from typing import Any, Literal

import jsonschema_rs
import msgspec
from acp import schema as sdk
from acp.utils import serialize_params
from acp_bindings import v1
from acp_bindings.v1.methods import CODEC, STRICT
from pydantic import TypeAdapter, ValidationError, create_model

import evidence
from acp_monitor import Monitor
from bench.recordings import conversation, text
from bench.timed import ROOT, Row, calls, paired, process
from jsonrpc_bindings import DecodeError
from jsonrpc_bindings.native import convert_annotation, decode_hook
from jsonrpc_bindings.parse import to_float

BINDINGS = ROOT / "generated" / "python" / "acp-bindings"
PATHS = f"{BINDINGS}:{ROOT / 'generator'}"
SDK = "the Python SDK"
APART: dict[str, Any] = {
    "SetSessionConfigOptionRequest": sdk.SetSessionConfigOptionBooleanRequest | sdk.SetSessionConfigOptionSelectRequest
}
MANY = 1600
"""Messages of a kind that are measured together."""
ROUNDS = 15


@dataclass(frozen=True)
class Said:
    """A message, who sends it, and the method of the request that a result answers."""

    sender: Literal["agent", "client"]
    message: dict[str, Any]
    answers: str | None = None

    @property
    def part(self) -> str:
        return "result" if "result" in self.message else "params"

    @property
    def body(self) -> dict[str, Any]:
        found: dict[str, Any] = self.message[self.part]
        return found

    @property
    def method(self) -> str:
        return self.answers or self.message["method"]

    @property
    def line(self) -> bytes:
        return json.dumps(self.message).encode()

    @property
    def type(self) -> Any:
        row: Any = v1.METHODS[self.method]
        return row.result if self.answers else row.params

    @property
    def model(self) -> Any:
        """The type of the SDK, which is called like ours."""
        name = str(STRICT.schema_module.name_of(self.type))
        return APART.get(name) or getattr(sdk, name)


def mix(chance: Random) -> Iterator[Said]:
    """Messages of eight kinds by turns, which do not end."""
    for number in count(1):
        name, session = f"call-{number}", f"session-{number % 50}"
        call = {"toolCallId": name, "title": text(chance, 6), "kind": "read", "status": "pending"}
        place = {"path": f"/w/{number}.py", "line": number}
        content = [{"type": "content", "content": {"type": "text", "text": text(chance, 90)}}]
        entries = [{"content": text(chance, 6), "priority": "high", "status": "pending"} for _ in range(5)]
        for update in (
            {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text(chance, 9)}},
            {"sessionUpdate": "tool_call", **call, "locations": [place], "rawInput": {"path": place["path"]}},
            {"sessionUpdate": "tool_call_update", "toolCallId": name, "status": "completed", "content": content},
            {"sessionUpdate": "plan", "entries": entries},
        ):
            yield _update(update, session)
        link = {"type": "resource_link", "name": f"{number}.py", "uri": f"file:///w/{number}.py"}
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": text(chance, 40)}, link]}
        yield Said("client", {"jsonrpc": "2.0", "id": number, "method": "session/prompt", "params": prompt})
        options = [
            {"optionId": key, "name": text(chance, 3), "kind": kind}
            for key, kind in (("y", "allow_once"), ("n", "reject_once"))
        ]
        asked = {"sessionId": session, "toolCall": {"toolCallId": name, "title": text(chance, 4)}, "options": options}
        yield Said("agent", {"jsonrpc": "2.0", "id": number, "method": "session/request_permission", "params": asked})
        yield Said(
            "agent", {"jsonrpc": "2.0", "id": number, "result": {"stopReason": "end_turn"}}, answers="session/prompt"
        )
        able = {"loadSession": True, "promptCapabilities": {"image": bool(number % 2)}}
        known = {
            "protocolVersion": 1,
            "agentCapabilities": able,
            "authMethods": [{"id": name, "name": text(chance, 3)}],
        }
        yield Said("agent", {"jsonrpc": "2.0", "id": number, "result": known}, answers="initialize")


def _update(update: dict[str, Any], session: str = "s") -> Said:
    params = {"sessionId": session, "update": update}
    return Said("agent", {"jsonrpc": "2.0", "method": "session/update", "params": params})


def mixed(**more: Any) -> list[Said]:
    """The mix, with further fields in each body and each update."""
    found: list[Said] = []
    for one in islice(mix(Random(1)), MANY):
        body = {**one.body, **more}
        if "update" in body:
            body["update"] = {**body["update"], **more}
        found.append(replace(one, message={**one.message, one.part: body}))
    return found


def unknown() -> list[Said]:
    """Updates of kinds that the schema does not know."""
    return [
        _update({"sessionUpdate": f"_own_{number}", "x": [number, text(Random(number), 5), {"y": "z"}]})
        for number in range(MANY)
    ]


def corpus() -> list[Said]:
    """The messages of the documentation that both take."""
    found: list[Said] = []
    for row in map(json.loads, evidence.path("corpus/v1.jsonl").read_text("utf-8").splitlines()):
        message, way = row["message"], row["direction"] or ""
        if "error" in message or not row["envelope_ok"] or not way.startswith(("agent", "client")):
            continue
        sender: Any = way.partition("-")[0]
        one = Said(sender, message, None if "method" in message else row["method"])
        try:
            v1.decode(one.line, sender=one.sender, method=one.answers)
            _adapter(one.model).validate_python(one.body)
        except (DecodeError, ValidationError):
            continue
        found.append(one)
    return found


def large() -> dict[str, Said]:
    """Messages of a megabyte."""
    entries = [{"content": f"step {number}", "priority": "high", "status": "pending"} for number in range(16_000)]
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "tide: \n" * 120_000}}
    return {
        "one text": _update(chunk),
        "16,000 records": _update({"sessionUpdate": "plan", "entries": entries}),
        "16,000 records, an unknown field in each": _update(
            {"sessionUpdate": "plan", "entries": [{**one, "x": 1} for one in entries]}
        ),
    }


def rows() -> Iterator[Row]:
    """Every row. Times are those of one message, a mean over those of its kind."""
    plain = mixed()
    sets: dict[str, tuple[list[Said], float]] = {
        "a mix": (plain, 0.3),
        "an unknown field in each": (mixed(newField={"a": 1}), 0.65),
        "explicit nulls": (mixed(_meta=None), 0.65),
        "`_meta` in each": (mixed(_meta={"traceparent": "00-abc"}), 0),
    }
    for name, (said, goal) in sets.items():
        yield _each(f"decode, {name}", SDK, decode(said), theirs(said), len(said), goal)
    messages = corpus()
    yield _each(
        f"decode, {len(messages)} messages of the documentation",
        SDK,
        decode(messages),
        theirs(messages),
        len(messages),
        0,
    )
    said = unknown()
    yield _each("decode, an unknown variant", "`json.loads`", decode(said), parsed(said), len(said))
    for name, one in large().items():
        yield _each(f"decode, a megabyte: {name}", SDK, decode([one]), theirs([one]), 1)
    yield _each("decode, a mix", "msgspec alone", decode(plain), by_msgspec(plain), len(plain))
    yield _each("decode, a mix", "pydantic alone", decode(plain), by_pydantic(plain), len(plain))
    for name in ("a mix", "an unknown field in each"):
        said = sets[name][0]
        yield _each(f"encode, {name}", SDK, *encodings(said), len(said), 0.25 if name == "a mix" else 0)
    yield _each("strict verdict on a parsed message", "jsonschema-rs on the params", *verdicts(plain), len(plain), 3)
    yield from _conversation()
    ours, other = (partial(_held_by, made) for made in (decode(plain), theirs(plain)))
    yield paired("memory of a decoded message", SDK, ours, other, goal=0.45, unit="B", scale=1 / len(plain), runs=3)
    yield from _imports(plain[0])


def _held_by(made: Callable[[], Iterator[Any]]) -> float:
    """The memory that everything takes which is made."""
    return _held(lambda: list(made()))


# --- what is measured: each gives what it makes, one after the other ---

Made = Callable[[], Iterator[Any]]


def decode(said: Sequence[Said]) -> Made:
    """Ours."""
    lines: list[tuple[bytes, Any, str | None]] = [(one.line, one.sender, one.answers) for one in said]
    return lambda: (v1.decode(line, sender=sender, method=method) for line, sender, method in lines)


def theirs(said: Sequence[Said]) -> Made:
    """What the SDK does with a line."""
    lines = [(one.line, one.part, _adapter(one.model).validate_python) for one in said]
    return lambda: (validate(json.loads(line)[part]) for line, part, validate in lines)


@cache
def _adapter(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(model)


def parsed(said: Sequence[Said]) -> Made:
    """Nothing but the parser of the standard library."""
    lines = [one.line for one in said]
    return lambda: (json.loads(line) for line in lines)


def by_msgspec(said: Sequence[Said]) -> Made:
    """One call of msgspec for a line, with our classes: what is unknown is lost, and the last of equal keys counts."""

    @cache
    def decoder(sender: str, answers: str | None) -> Callable[[bytes], Any]:
        own = [one for one in said if (one.sender, one.answers) == (sender, answers)]
        types = {one.method: (one.part, one.type, "id" in one.message) for one in own}
        made = [
            msgspec.defstruct(
                "Message",
                [
                    ("jsonrpc", str),
                    *([("id", int | str)] if has_id else []),
                    (part, convert_annotation(CODEC.type(type_))),
                ],
                tag_field=None if answers else "method",
                tag=None if answers else method,
            )
            for method, (part, type_, has_id) in types.items()
        ]
        return msgspec.json.Decoder(_union(made), dec_hook=decode_hook, float_hook=to_float).decode

    lines = [(one.line, decoder(one.sender, one.answers)) for one in said]
    return lambda: (read(line) for line, read in lines)


def by_pydantic(said: Sequence[Said]) -> Made:
    """One call of pydantic for a line, with the classes of the SDK: what is unknown is lost, and the last of equal keys counts."""

    @cache
    def validator(model: Any, part: str) -> Callable[[bytes], Any]:
        fields: dict[str, Any] = {"jsonrpc": (Literal["2.0"], ...), "id": (int | str | None, None), part: (model, ...)}
        return TypeAdapter(create_model("Message", **fields)).validate_json

    lines = [(one.line, validator(one.model, one.part)) for one in said]
    return lambda: (read(line) for line, read in lines)


def _union(types: Sequence[Any]) -> Any:
    found = types[0]
    for one in types[1:]:
        found = found | one
    return found


def encodings(said: Sequence[Said]) -> tuple[Made, Made]:
    """What was decoded, as lines: ours, and the SDK's."""
    decoded = list(decode(said)())
    models = [
        ({key: item for key, item in one.message.items() if key != one.part}, one.part, model)
        for one, model in zip(said, theirs(said)(), strict=True)
    ]

    def sdk_encode() -> Iterator[bytes]:
        for head, part, model in models:
            yield json.dumps({**head, part: serialize_params(model)}, separators=(",", ":")).encode()

    return lambda: map(v1.encode, decoded), sdk_encode


def verdicts(said: Sequence[Said]) -> tuple[Made, Made]:
    """The verdict on a whole message, and that of jsonschema-rs on the params or the result."""
    definitions = STRICT.schema["$defs"]

    @cache
    def is_valid(name: str) -> Callable[[Any], bool]:
        return jsonschema_rs.validator_for({"$ref": f"#/$defs/{name}", "$defs": definitions}).is_valid

    bare = [(is_valid(str(STRICT.schema_module.name_of(one.type))), one.body) for one in said]
    whole = [(one.message, one.sender, one.answers) for one in said]
    ours: Made = lambda: (STRICT.judge(one, sender=sender, method=method) for one, sender, method in whole)  # noqa: E731
    assert not any(ours())
    assert all(judge(value) for judge, value in bare)
    return ours, lambda: (judge(value) for judge, value in bare)


def _conversation() -> Iterator[Row]:
    """What a session costs: a conversation of updates of several kinds, prompts and results."""
    said: list[Said] = []
    asked: dict[int, str] = {}
    for sender, body in islice(conversation(Random(1)), MANY):
        if "method" in body and "id" in body:
            asked[body["id"]] = body["method"]
        answers = None if "method" in body else asked[body["id"]]
        said.append(Said(sender, {"jsonrpc": "2.0", **body}, answers))  # type: ignore[arg-type]
    lines = [(one.line, one.sender, one.answers) for one in said]

    def watch() -> Iterator[None]:
        monitor = Monitor([STRICT])
        for line, sender, _ in lines:
            monitor.observe(sender, line)
            yield
        monitor.finish()

    yield _each("monitor a conversation, a message", "decode", watch, decode(said), len(said))


def _imports(first: Said) -> Iterator[Row]:
    """Whole processes, without what Python takes to start."""
    bare = "import acp.schema as s"
    body = f"import json; s.SessionNotification.model_validate(json.loads({first.line!r})['params'])"
    for what, ours, other, goal in (
        ("import v1", "from acp_bindings import v1", bare, 0.15),
        (
            "import v1 and decode a first message",
            f"from acp_bindings import v1 as v; v.decode({first.line!r}, sender='agent')",
            f"{bare}; {body}",
            0.0,
        ),
    ):
        one, two = (lambda code=code: _process(code) - _process("pass") for code in (ours, other))
        yield paired(what, f"{SDK}'s `acp.schema`", one, two, goal=goal, unit="ms", scale=1000)


def _process(code: str) -> float:
    return process([sys.executable, "-c", code], PYTHONPATH=PATHS)


def _each(what: str, beside: str, ours: Made, other: Made, size: int, goal: float = 0) -> Row:
    """What each gives is let go at once: to keep it would measure the collector of garbage."""
    one, two = (calls(lambda made=made: deque(made(), maxlen=0), 1) for made in (ours, other))  # type: ignore[misc]
    start = time.process_time()
    one()
    turns = max(1, int(0.02 / (time.process_time() - start + 1e-9)))
    one, two = (calls(lambda made=made: deque(made(), maxlen=0), turns) for made in (ours, other))  # type: ignore[misc]
    return paired(what, beside, one, two, goal=goal, scale=1e6 / size, runs=ROUNDS)


def _held(make: Callable[[], object]) -> float:
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = make()
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    del kept
    return float(taken)
