"""What one long message takes to be judged, as the system counts it, and what becomes of one that holds too much."""

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
from acp_bindings.v1.methods import STRICT as V1
from acp_bindings.v2.methods import STRICT as V2

import acp_monitor
import tiers
from acp_monitor import Monitor
from jsonrpc_bindings.parse import VALUES, parse

ITEMS: Final = 100_000
FACTOR: Final = 10
BESIDE: Final = 2 << 20
MOST: Final = 256 << 20
"""What may be taken beside ten times the bytes, whatever stands in a message."""

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the unit of the memory that a process has taken differs"
)

PROGRAM: Final = """
import json, resource, sys
from importlib import import_module
from acp_monitor import Monitor

strict = import_module(f"acp_bindings.{sys.argv[3]}.methods").STRICT
line = sys.stdin.buffer.read()
monitor = Monitor((strict,), fixed=True)
for _ in range(3):
    monitor.observe(sys.argv[1], sys.argv[2])
most = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
first = most()
strict.read(line)
parsed = most()
told = monitor.observe(sys.argv[1], line)
print((most() - first) << 10, (most() - parsed) << 10, len(told))
"""


def message(name: str, items: list[Any]) -> tuple[str, Any]:
    """A sender, and what it says with these items."""
    call = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": ""}
    update: dict[str, Any] = {"jsonrpc": "2.0", "method": "session/update"}
    request = {"jsonrpc": "2.0", "id": 1}
    made: dict[str, tuple[str, Any]] = {
        "servers": ("client", {**request, "method": "session/new", "params": {"cwd": "/", "mcpServers": items}}),
        "prompt": ("client", {**request, "method": "session/prompt", "params": {"sessionId": "s", "prompt": items}}),
        "content": ("agent", {**update, "params": {"sessionId": "s", "update": {**call, "content": items}}}),
        "output": ("agent", {**update, "params": {"sessionId": "s", "update": {**call, "rawOutput": items}}}),
        "batch": ("agent", items),
    }
    return made[name]


def taken(sender: str, few: str, line: bytes, version: str = "v1") -> tuple[int, int, int]:
    """The bytes that judging a line takes, those beyond what parsing it takes, and the number of breaches."""
    folders = [str(Path(str(package.__file__)).parents[1]) for package in (acp_bindings, acp_monitor)]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, sender, few, version],
        input=line,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
    )
    assert done.returncode == 0, done.stderr.decode()
    whole, beyond, told = map(int, done.stdout.split())
    return whole, beyond, told


def written(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def test_each_missing_field_of_a_wide_object_takes_no_copy_of_it() -> None:
    few = {"jsonrpc": "2.0", "id": 1, "method": "session/request_permission", "params": {"a": 0}}
    line = written({**few, "params": {f"{number}": 0 for number in range(ITEMS)}})
    _, beyond, told = taken("agent", json.dumps(few), line)
    assert beyond <= FACTOR * len(line) + BESIDE
    assert told > 2


def test_what_stands_in_place_of_an_id_is_not_copied() -> None:
    few = {"jsonrpc": "2.0", "id": {"a": 0}, "method": "session/list", "params": {}}
    line = written({**few, "id": {f"{number}": 0 for number in range(4 * ITEMS)}})
    _, beyond, told = taken("client", json.dumps(few), line)
    assert beyond <= FACTOR * len(line) + BESIDE
    assert told


@pytest.mark.parametrize("name", tiers.sample(["servers", "prompt", "content", "output", "batch"], 1))
def test_judging_takes_at_most_ten_times_the_message_beside_its_values(name: str) -> None:
    sender, few = message(name, [{}] * 300)
    line = written(message(name, [{}] * ITEMS)[1])
    whole, beyond, _ = taken(sender, json.dumps(few), line, "v2" if name == "batch" else "v1")
    assert beyond <= FACTOR * len(line) + BESIDE
    assert whole <= FACTOR * len(line) + MOST


NESTED: Final = '{"":' * 90 + "0" + "}" * 90
DENSE: Final = {"nested": (NESTED, ""), "nested, and a key twice": (NESTED, ',{"a":0,"a":0}'), "flat": ('{"":0}', "")}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", DENSE)
def test_the_densest_message_takes_a_bounded_number_of_bytes(name: str) -> None:
    item, repeated = DENSE[name]
    sender, few = message("content", [])
    values = item.count("[") + item.count("{") + item.count("0")
    items = ",".join([item] * ((VALUES - 100) // values))
    line = written(few).replace(b"[]", f"[{items}{repeated}]".encode())
    whole, _, told = taken(sender, json.dumps(few), line)
    assert whole <= FACTOR * len(line) + MOST
    assert told


def test_a_message_of_too_many_values_is_not_read_and_that_is_said() -> None:
    line = written(message("output", [0] * VALUES)[1])
    sentence = f"the message holds more than {VALUES} values"
    with pytest.raises(DecodeError, match=sentence) as refused:
        v1.decode(line, sender="agent")
    assert refused.value.code == -32600
    for given in (line, json.loads(line)):
        (problem,) = v1.validate(given, sender="agent")
        assert (problem.rule, problem.sentence, problem.code) == ("size", sentence, -32600)
    monitor = Monitor((V1,))
    (missed,) = monitor.observe("agent", line)
    assert (missed.rule, missed.level) == ("messages-missed", "note")
    assert monitor.unjudged == sentence
    assert [breach.rule for breach in monitor.finish()] == ["not-judged"]


def test_how_many_values_are_read_is_a_parameter() -> None:
    line = b'{"jsonrpc":"2.0","method":"_a","params":{"b":[1,[],{},"[,{\\",:"]}}'
    values = 9  # the message, its three members, the list, and what that holds
    assert parse(line, values=values) == json.loads(line)
    with pytest.raises(DecodeError, match="more than 8 values"):
        parse(line, values=values - 1)
    assert v1.decode(line, sender="agent", values=values)
    with pytest.raises(DecodeError, match="more than 8 values"):
        v1.decode(line, sender="agent", values=values - 1)
    assert not v1.validate(line, sender="agent", values=values)
    assert [problem.rule for problem in v1.validate(line, sender="agent", values=values - 1)] == ["size"]
    for most, reason in ((values, ""), (values - 1, "the message holds more than 8 values")):
        monitor = Monitor((V1,), values=most)
        monitor.observe("agent", line)
        assert monitor.unjudged == reason


def test_text_is_no_value_whatever_stands_in_it() -> None:
    text = '[{"a":0},' * VALUES
    line = written({"jsonrpc": "2.0", "method": "_a", "params": {"text": text}})
    assert parse(line)["params"]["text"] == text


def test_what_a_line_breaks_beyond_the_limit_is_counted_with_its_level() -> None:
    monitor = Monitor((V2,), fixed=True, limit=3)
    *first, last = monitor.observe("agent", [{"jsonrpc": "2.0", "method": 5}] * 10)
    assert [breach.rule for breach in first] == ["envelope-malformed"] * 3
    assert (last.rule, last.level, last.count) == ("more", "must", 7)
    monitor = Monitor((V2,), fixed=True)
    *first, last = monitor.observe("agent", [{"jsonrpc": "2.0", "method": 5}] * 2000)
    assert (len(first), last.count) == (1000, 1000)


def test_what_was_not_looked_at_in_a_message_is_said() -> None:
    monitor = Monitor((V1,))
    _, said = message("content", [{"type": "content", "content": {"type": "text", "text": ""}}] * 70_000)
    monitor.observe("agent", said)
    assert "too large to be searched" in monitor.unjudged
