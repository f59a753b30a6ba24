"""Messages that are wrong in each of their items: what decoding takes has a bound, whatever their length, and what may be dropped is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import acp_bindings
import pytest
from acp_bindings import DecodeError, v1
from acp_bindings.runtime import Dropped
from acp_bindings.runtime.judging import MOST, Judge

ITEMS: Final = 60_000
MEGABYTES: Final = 60
"""Above the parsed message; all errors of all items took 200 to 500."""

PROGRAM: Final = """
import json, resource, sys
from acp_bindings import DecodeError, v1
from acp_bindings.runtime.parse import parse
line = sys.stdin.buffer.read()
sender = sys.argv[1]
v1.decode(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "session/list", "params": {}}), sender="client")
kept = parse(line)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    v1.decode(line, sender=sender)
except DecodeError as error:
    assert len(error.problems) == 101, error
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
@pytest.mark.parametrize("name", ["servers", "arguments", "prompt", "options", "entries"])
def test_what_decoding_takes_does_not_grow_with_what_is_wrong(name: str) -> None:
    sender, sent = wrong(ITEMS, name)
    line = json.dumps(sent, separators=(",", ":")).encode()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, sender],
        input=line,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(acp_bindings.__file__).parents[1])},
    )
    assert done.returncode == 0, done.stderr.decode()
    assert int(done.stdout) < MEGABYTES


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


def test_errors_are_told_up_to_a_limit_and_those_of_one_item_whole() -> None:
    judge = Judge(list[dict[str, int]])
    assert not judge.takes([{"a": "x"}])
    assert len(judge.errors([{"a": "x", "b": "y"}] * 10)) == 20
    assert MOST <= len(judge.errors([{"a": "x", "b": "y"}] * MOST)) <= MOST + 1
    assert judge.errors([[{"a": 1}]] * 3)[2]["loc"] == (2,)


def test_a_value_of_which_a_branch_was_passed_over_is_not_taken_for_right() -> None:
    judge = Judge(list[int] | list[list[int]])
    value = ["x"] * (MOST + 5) + [["y"]]
    assert not judge.takes(value)
    assert judge.takes([[1]] * (MOST + 5))
