"""How fast the generated bindings and the monitor are, beside the official SDK of Python and jsonschema-rs."""

from __future__ import annotations

import gc
import json
import sys
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import jsonschema_rs
from acp import schema as sdk
from acp_bindings import v1
from acp_bindings.v1.methods import STRICT
from pydantic_core import from_json

from acp_session.monitor import Monitor
from bench.recordings import conversation
from bench.timed import Row, calls, paired, process

ROOT = Path(__file__).parents[2]
BINDINGS = ROOT / "generated" / "python" / "acp-bindings"
SAID = 4000
"""So many that they are not the same ones again and again: a decoder may learn from lines."""

SDK: dict[tuple[str, str], Any] = {
    ("initialize", "params"): sdk.InitializeRequest,
    ("initialize", "result"): sdk.InitializeResponse,
    ("session/new", "params"): sdk.NewSessionRequest,
    ("session/new", "result"): sdk.NewSessionResponse,
    ("session/prompt", "params"): sdk.PromptRequest,
    ("session/prompt", "result"): sdk.PromptResponse,
    ("session/update", "params"): sdk.SessionNotification,
}


def said() -> list[tuple[str, str, dict[str, Any]]]:
    """A conversation as sender, method and message: updates of several kinds, prompts and results."""
    found: list[tuple[str, str, dict[str, Any]]] = []
    asked: dict[int, str] = {}
    for sender, body in islice(conversation(Random(1)), SAID):
        if "method" in body and "id" in body:
            asked[body["id"]] = body["method"]
        found.append((sender, body.get("method") or asked[body["id"]], {"jsonrpc": "2.0", **body}))
    return found


def rows() -> Iterator[Row]:
    """Every row. Times are those of one message, a mean over the conversation."""
    messages = said()
    lines = [(sender, method, json.dumps(message).encode()) for sender, method, message in messages]
    validators = [
        (SDK[method, part].model_validate, part)
        for _, method, message in messages
        for part in ("params" if "params" in message else "result",)
    ]

    def decode() -> Iterator[Any]:
        for sender, method, line in lines:
            yield v1.decode(line, sender=sender, method=method)  # type: ignore[arg-type]

    def theirs() -> Iterator[Any]:
        for (validate, part), (_, _, line) in zip(validators, lines, strict=True):
            yield validate(json.loads(line)[part])

    yield _each("decode a line", "the Python SDK", decode, theirs, 0.5)
    decoded, models = list(decode()), list(theirs())

    def encode() -> Iterator[bytes]:
        return map(v1.encode, decoded)

    def sdk_encode() -> Iterator[bytes]:
        for (_, _, message), (_, part), model in zip(messages, validators, models, strict=True):
            body = model.model_dump(mode="json", by_alias=True, exclude_none=True)
            yield json.dumps({**message, part: body}).encode()

    yield _each("encode a message", "the Python SDK", encode, sdk_encode, 0.5)
    yield _each("strict verdict on a parsed message", "jsonschema-rs on the params", *_verdicts(messages), 3)

    def both() -> Iterator[None]:
        for sender, method, line in lines:
            v1.decode(line, sender=sender, method=method)  # type: ignore[arg-type]
            STRICT.judge(from_json(line), sender=sender, method=method)  # decoded, so that no key occurs twice
            yield

    yield _each("decode and strict verdict of one line", "decode", both, decode, 1.3)

    def watch() -> Iterator[None]:
        monitor = Monitor([STRICT])
        for sender, _, line in lines:
            monitor.observe(sender, line)
            yield
        monitor.finish()

    yield _each("monitor a conversation, a message", "decode", watch, decode, 1.2)
    yield paired(
        "memory of a decoded message",
        "the Python SDK",
        lambda: _held(lambda: list(decode())),
        lambda: _held(lambda: list(theirs())),
        goal=0.8,
        unit="B",
        scale=1 / SAID,
        runs=3,
    )
    line = repr(lines[3][2])
    empty = min(process([sys.executable, "-c", "pass"]) for _ in range(3))
    body = f"import json; s.SessionNotification.model_validate(json.loads({lines[6][2]!r})['params'])"
    for name in ("v1", "v2"):
        first = f"from acp_bindings import {name} as v; v.decode({line}, sender='agent', method='session/new')"
        yield paired(
            f"import {name} and decode a first message",
            "the Python SDK's `acp.schema`",
            lambda first=first: process([sys.executable, "-c", first], PYTHONPATH=str(BINDINGS)) - empty,  # type: ignore[misc]
            lambda: process([sys.executable, "-c", f"import acp.schema as s; {body}"]) - empty,
            goal=0.2,
            unit="ms",
            scale=1000,
        )


def _each(what: str, beside: str, ours: Callable[[], Any], theirs: Callable[[], Any], goal: float) -> Row:
    """What each gives is let go at once: to keep it would measure the collector of garbage."""
    one, other = (calls(lambda made=made: deque(made(), maxlen=0), 2) for made in (ours, theirs))  # type: ignore[misc]
    return paired(what, beside, one, other, goal=goal, scale=1e6 / SAID)


def _verdicts(
    messages: list[tuple[str, str, dict[str, Any]]],
) -> tuple[Callable[[], Iterator[Any]], Callable[[], Iterator[Any]]]:
    schema = STRICT.schema
    bare: list[tuple[Callable[[Any], bool], Any]] = []
    known: dict[str, Any] = {}
    for _, method, message in messages:
        route = STRICT.route(method, is_request="id" in message)
        assert route is not None
        name = str(route.params if "params" in message else route.result)
        if name not in known:
            known[name] = jsonschema_rs.validator_for({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]}).is_valid
        bare.append((known[name], message.get("params", message.get("result"))))

    def ours() -> Iterator[Any]:
        for sender, method, message in messages:
            yield STRICT.judge(message, sender=sender, method=method)

    def theirs() -> Iterator[Any]:
        for is_valid, value in bare:
            yield is_valid(value)

    assert not any(ours())
    assert all(theirs())

    return ours, theirs


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
