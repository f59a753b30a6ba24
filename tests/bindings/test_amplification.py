"""Messages that are wrong in each of their items: what decoding takes has a bound, whatever their length, and what may be dropped is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final, Literal

import acp_bindings
import pytest
from acp_bindings import DecodeError, v1
from acp_bindings.v1.methods import STRICT

import tiers
from jsonrpc_bindings import Dropped
from jsonrpc_bindings.errors import ROOM

ITEMS: Final = 60_000
MEGABYTES: Final = 60
"""Above the parsed message; all errors of all items took 200 to 500."""

PROGRAM: Final = """
import json, resource, sys
from acp_bindings import DecodeError, v1
from jsonrpc_bindings.parse import parse
line = sys.stdin.buffer.read()
sender = sys.argv[1]
v1.decode(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "session/list", "params": {}}), sender="client")
kept = parse(line)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    v1.decode(line, sender=sender)
except DecodeError as error:
    assert len(error.problems) == int(sys.argv[2]), error
else:
    raise SystemExit("it is decoded")
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""


def message(method: str, params: dict[str, Any]) -> dict[str, Any]:
    is_request = method != "session/update"
    return {"jsonrpc": "2.0", **({"id": 1} if is_request else {}), "method": method, "params": params}


def wrong(count: int, name: str) -> tuple[str, dict[str, Any]]:
    """A sender, and a message with so many items that are wrong."""
    items: list[dict[str, Any]] = [{}] * count
    update = {"sessionUpdate": "plan", "entries": items}
    return {
        "servers": ("client", message("session/new", {"cwd": "/", "mcpServers": items})),
        "arguments": (
            "client",
            message(
                "session/new",
                {"cwd": "/", "mcpServers": [{"name": "a", "command": "/b", "env": [], "args": [0] * count}]},
            ),
        ),
        "prompt": ("client", message("session/prompt", {"sessionId": "s", "prompt": items})),
        "options": (
            "agent",
            message(
                "session/request_permission", {"sessionId": "s", "toolCall": {"toolCallId": "t"}, "options": items}
            ),
        ),
        "entries": ("agent", message("session/update", {"sessionId": "s", "update": update})),
    }[name]


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of the memory that a process has taken differs")
@pytest.mark.parametrize("name", tiers.sample(["servers", "arguments", "prompt", "options", "entries"], 2))
def test_what_decoding_takes_does_not_grow_with_what_is_wrong(name: str) -> None:
    sender, sent = wrong(ITEMS, name)
    line = json.dumps(sent, separators=(",", ":")).encode()
    assert taken(sender, line, 101) < MEGABYTES


def taken(sender: str, line: bytes, problems: int) -> int:
    """The megabytes that decoding a line takes, of which so many problems are told."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, sender, str(problems)],
        input=line,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(acp_bindings.__file__).parents[1])},
    )
    assert done.returncode == 0, done.stderr.decode()
    return int(done.stdout)


def below_a_key(length: int, name: str) -> tuple[Literal["agent", "client"], bytes]:
    """A sender, and a message with 200 faults below one key."""
    key = "k" * length
    fields: dict[str, Any] = {
        "enum": {"type": "string", "enum": [1] * 200},
        "branches": {"type": "array", "items": {"anyOf": [{"const": 1, "title": 2}] * 200}},
    }
    if name == "twice":
        sent = message("session/list", {"_meta": {key: "@"}})
        twice = ",".join(['{"a":1,"a":1}'] * 200)
        return "client", json.dumps(sent).replace('"@"', f"[{twice}]").encode()
    form = {"type": "object", "properties": {key: fields[name]}}
    params = {"sessionId": "s", "mode": "form", "message": "m", "requestedSchema": form}
    return "agent", json.dumps(message("elicitation/create", params)).encode()


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of the memory that a process has taken differs")
@pytest.mark.parametrize(("name", "problems"), [("enum", 2), ("branches", 2)])
def test_a_long_key_is_not_held_once_for_each_fault_below_it(name: str, problems: int) -> None:
    assert taken(*below_a_key(1_000_000, name), problems) < 40  # a copy for each took 765 and 1,148


@pytest.mark.parametrize("length", [10, 900, 2_000, 100_000])
@pytest.mark.parametrize("name", ["twice", "enum", "branches"])
def test_what_is_wrong_below_a_long_key_is_told_up_to_so_much_text(name: str, length: int) -> None:
    sender, line = below_a_key(length, name)
    with pytest.raises(DecodeError) as caught:
        v1.decode(line, sender=sender)
    for problems in (caught.value.problems, STRICT.validate(line, sender=sender)):
        assert problems[0].pointer
        assert problems[0].pointer.count("k") in (0, length)
        assert sum(len(problem.pointer) for problem in problems) < 2 * length + ROOM
        assert len(problems) == 101 if length == 10 else len(problems) < 101


def test_a_long_key_above_what_is_right_or_may_be_dropped_changes_nothing() -> None:
    for length in (10, 2_000, 1_000_000):
        form = {"type": "object", "properties": {"k" * length: {"type": "string"}}}
        sent = message(
            "elicitation/create", {"sessionId": "s", "mode": "form", "message": "m", "requestedSchema": form}
        )
        decoded: Any = v1.decode(json.dumps(sent), sender="agent")
        assert list(decoded.params.requested_schema.properties) == ["k" * length]
        assert type(decoded.params.requested_schema.properties["k" * length]).__name__ == "StringPropertySchema"


def test_some_thousand_items_that_may_be_dropped_are() -> None:
    _, sent = wrong(5_000, "entries")
    sent["params"]["update"]["entries"].append({"content": "c", "priority": "low", "status": "pending"})
    drops: list[Dropped] = []
    decoded: Any = v1.decode(json.dumps(sent), sender="agent", on_drop=drops.append)
    assert [entry.content for entry in decoded.params.update.entries] == ["c"]
    assert [drop.pointer for drop in drops] == [f"/params/update/entries/{number}" for number in range(5_000)]


def test_what_has_more_that_is_wrong_than_is_looked_for_is_refused_and_says_so() -> None:
    _, sent = wrong(50_000, "entries")
    with pytest.raises(DecodeError) as caught:
        v1.decode(json.dumps(sent), sender="agent")
    assert caught.value.problems[0].pointer == "/params"
    assert "more is wrong here" in caught.value.problems[0].sentence


def test_a_large_message_that_is_right_is_decoded() -> None:
    entry = {"content": "c", "priority": "low", "status": "pending"}
    sent = message(
        "session/update", {"sessionId": "s", "update": {"sessionUpdate": "plan", "entries": [entry] * 50_000}}
    )
    decoded: Any = v1.decode(json.dumps(sent), sender="agent")
    assert len(decoded.params.update.entries) == 50_000
