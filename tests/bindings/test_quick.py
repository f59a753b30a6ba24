"""The native way to read lines gives what the general way gives: the same messages, and the same errors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from random import Random
from typing import Any, Final

import pytest
from acp_bindings import DecodeError, v1, v2
from acp_bindings.unstable import v1 as unstable_v1
from acp_bindings.unstable import v2 as unstable_v2

import tiers
from conformance.vectors import rows_of_methods
from jsonrpc_bindings.codec import Codec
from jsonrpc_bindings.parse import parse

MODULES: Final = {"v1": v1, "v2": v2, "unstable/v1": unstable_v1, "unstable/v2": unstable_v2}
CODECS: Final[dict[Any, Codec[Any, Any]]] = {
    module: import_module(f"{module.__name__}.methods").CODEC for module in MODULES.values()
}

OPTIONS: list[dict[str, Any]] = [{}, {"duplicates": "last"}, {"values": 5}]


def outcome(module: Any, line: bytes, *, generally: bool = False, **options: Any) -> tuple[Any, ...]:
    """What becomes of a line: the message with what was set in it and what was dropped from it, or the errors.

    A value that the parser gave is read in the general way.
    """
    drops: list[Any] = []
    duplicates, values = options.pop("duplicates", "refuse"), options.pop("values", 500_000)
    try:
        value = parse(line, duplicates=duplicates, values=values) if generally else []
        if not isinstance(value, list):  # a batch is read in one way
            message = CODECS[module].read(value, on_drop=drops.append, **options)
        else:
            message = module.decode(line, on_drop=drops.append, duplicates=duplicates, values=values, **options)
    except DecodeError as error:
        return error.code, error.problems, error.id, error.method
    return message, json.loads(module.encode(message)), drops


@pytest.mark.parametrize("name", tiers.sample(MODULES, 2))
def test_vectors(name: str) -> None:
    messages = [row for row in rows_of_methods(f"acp/{name}") if "message" in row]
    assert messages
    for row in messages:
        line = json.dumps(row["message"], ensure_ascii=False).encode()
        options: dict[str, Any] = {"sender": row["sender"], "method": row.get("method")}
        assert outcome(MODULES[name], line, **options) == outcome(MODULES[name], line, generally=True, **options), line


TEXTS: Final = (
    *(b"", b"calm", "é 水".encode(), b"\\u0065", b"\\ud83d\\ude00", b'\\"', b'\\"}}', b"\\\\", b"a\\\\\\n"),
    *(b'"', b'"}', b"\\", b"\\x", b"\\ud800", b"\xff", b"\x00", b"\n", b'","text":"b', b'","b":1e999,"c":"'),
    *(b'","sessionId":"t', b'"},"content":{"type":"text","text":"x', b"text", b"agent_message_chunk", b"completed"),
)
ENDS: Final = (
    *(b"", b" ", b"}", b"\n", b',"jsonrpc":"2.0"}', b',"extra":1}', b"]", b"{}", b"\x00"),
    b',"method":"session/cancel"}',
)


def variants(line: bytes, random: Random) -> Iterator[bytes]:
    """Lines that begin as this one does."""
    last = line.rfind(b'"')
    text = line.rfind(b'"', 0, last) + 1
    for new in TEXTS:
        yield line[:text] + new + line[last:]
    for end in ENDS:
        yield line + end
        yield line[:-1] + end
        yield line[: last + 1] + end
    for _ in range(20):
        at = random.randrange(len(line))
        yield line[:at] + bytes([random.choice(b'"\\{}[]:,0e \t')]) + line[at + random.randrange(2) :]


LINES: Final = (
    {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}}},
    {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a", "_meta": {"k": [1]}}}},
    {"update": {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "pending"}},
    {"update": {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "x", "rawInput": {"a": {"a": "b"}}}},
    {"update": {"sessionUpdate": "tide", "metres": 2, "name": "n"}},
    {"update": {"sessionUpdate": "plan", "entries": [{"content": "c", "priority": "high", "status": "pending"}]}},
    {"update": {"sessionUpdate": "current_mode_update", "currentModeId": "m", "session_update": "o", "p": "q"}},
    {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "data": "", "mimeType": "i"}}},
    {"update": {"content": {"type": "text", "text": "a"}, "sessionUpdate": "agent_message_chunk"}},
)


@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize("index", tiers.sample(range(len(LINES)), 5))
@pytest.mark.parametrize("module", [v1, v2], ids=["v1", "v2"])
def test_lines_that_begin_alike(module: Any, index: int, compact: bool) -> None:
    message = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", **LINES[index]}}
    line = json.dumps(message, separators=(",", ":") if compact else None).encode()
    for changed in (line, *variants(line, Random(index))):
        for sender in ("agent", "client"):
            for options in OPTIONS:
                expected = outcome(module, changed, generally=True, sender=sender, **options)
                assert outcome(module, changed, sender=sender, **options) == expected, changed


def test_a_key_given_twice_is_found_after_lines_that_begin_alike() -> None:
    head = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
    chunk = b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}'
    for _ in range(3):
        v1.decode(head + chunk + b"}}}", sender="agent")
    with pytest.raises(DecodeError, match="occurs more than once"):
        v1.decode(head + chunk + b',"sessionUpdate":"tide"}}}', sender="agent")


def test_a_number_that_is_read_from_its_text_is_so_read_in_lines_that_begin_alike() -> None:
    content = b'{"sessionUpdate":"usage_update","used":1,"size":1,"_meta":{"n":9007199254740993.0,"t":"a"}}'
    line = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":' + content + b"}}"
    for _ in range(4):
        found: Any = v1.decode(line, sender="agent")
        assert found.params.update.meta["n"] == 2**53 + 1


def test_half_a_number_too_many() -> None:
    """Text of many values is refused before it is read, and other text is not counted."""
    assert parse(b"[1,2]", values=3) == [1, 2]
    with pytest.raises(DecodeError, match="more than 2 values"):
        parse(b"[1,2]", values=2)
