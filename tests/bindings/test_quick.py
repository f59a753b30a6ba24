"""The quick ways of decoding give what the general way gives: the same records, and the same errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any, Final

import pytest
from acp_bindings import DecodeError, v1, v2
from acp_bindings.unstable import v1 as unstable_v1
from acp_bindings.unstable import v2 as unstable_v2
from jsonrpc_bindings.heads import HEADS, LONGEST

from conformance.vectors import rows_of_methods
from jsonrpc_bindings import codec
from jsonrpc_bindings.parse import parse

MODULES: Final = {"v1": v1, "v2": v2, "unstable/v1": unstable_v1, "unstable/v2": unstable_v2}

Decode = Callable[..., Any]


@pytest.fixture(params=MODULES)
def rows(request: pytest.FixtureRequest) -> tuple[codec.Codec, list[dict[str, Any]]]:
    """A codec that knows nothing yet, and the messages of the vectors with what is said of each."""
    found = rows_of_methods(f"acp/{request.param}")
    return fresh(MODULES[request.param]), [row for row in found if "message" in row]


def fresh(module: Any) -> codec.Codec:
    """A codec of a protocol version that has decoded nothing."""
    one: codec.Codec = module.methods.CODEC
    return replace(one, _quicks={}, _heads={}, _judges={})


def generally(decode: codec.Codec, monkeypatch: pytest.MonkeyPatch) -> codec.Codec:
    """The same codec without its quick ways."""
    found = replace(decode, _quicks={}, _heads={}, _judges={})
    with monkeypatch.context() as patch:
        patch.setattr(codec, "quick_validator", _never)
        for method in found.methods.values():
            for type_ in (method.params, method.result, found.error):
                assert type_ is None or found._quick(type_) is None  # pyright: ignore[reportPrivateUsage]
    return found


def _never(_schema: object) -> None:
    """No type has a quick validator."""


def outcome(one: codec.Codec, line: Any, **options: Any) -> tuple[Any, ...]:
    """What becomes of a line: the message with what was set in it and what was dropped from it, or the errors."""
    drops: list[Any] = []
    try:
        message = one.decode(line, on_drop=drops.append, **options)
    except DecodeError as error:
        return error.code, error.problems, error.id, error.method
    return message, one.encode(message), drops


def test_vectors(rows: tuple[codec.Codec, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch) -> None:
    one, messages = rows
    other = generally(one, monkeypatch)
    assert messages
    for row in messages:
        line = json.dumps(row["message"], ensure_ascii=False).encode()
        options = {"sender": row["sender"], "method": row.get("method")}
        expected = outcome(other, line, **options)
        for _ in range(3):  # a head is known the third time
            assert outcome(one, line, **options) == expected, line
        if isinstance(row["message"], dict):
            assert outcome(one, row["message"], **options) == expected, line
    taken = [type_ for type_, quick in one._quicks.items() if quick is not None]  # pyright: ignore[reportPrivateUsage]
    assert len(taken) > 30, "the quick way reads most types"


TEXTS: Final = (
    *(b"", b"calm", "é 水".encode(), b"\\u0065", b"\\ud83d\\ude00", b'\\"', b'\\"}}', b"\\\\", b"a\\\\\\n"),
    *(b'"', b'"}', b"\\", b"\\x", b"\\ud800", b"\xff", b"\x00", b"\n", b'","text":"b', b'","b":1e999,"c":"'),
    *(b'","sessionId":"t', b'"},"content":{"type":"text","text":"x', b"text", b"agent_message_chunk", b"completed"),
)
ENDS: Final = (
    *(
        b"",
        b" ",
        b"}",
        b"\n",
        b',"jsonrpc":"2.0"}',
        b',"extra":1}',
        b"]",
        b"{}",
        b"\x00",
        b',"method":"session/cancel"}',
    ),
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
@pytest.mark.parametrize("index", range(len(LINES)))
@pytest.mark.parametrize("module", [v1, v2], ids=["v1", "v2"])
def test_lines_that_begin_alike(module: Any, index: int, compact: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    message = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", **LINES[index]}}
    line = json.dumps(message, separators=(",", ":") if compact else None).encode()
    one = fresh(module)
    other = generally(one, monkeypatch)
    for _ in range(2):
        outcome(one, line, sender="agent")
    for changed in (line, *variants(line, Random(index))):
        for sender in ("agent", "client"):
            for options in ({}, {"duplicates": "last"}, {"values": 5}):
                expected = outcome(other, changed, sender=sender, **options)
                assert outcome(one, changed, sender=sender, **options) == expected, changed


def test_what_is_kept_of_lines_has_a_bound() -> None:
    one = fresh(v1)
    known = one._heads  # pyright: ignore[reportPrivateUsage]
    for index in range(3 * HEADS):
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "a"}}
        params = {"sessionId": "s" * (index % 700) + str(index), "update": update}
        line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode()
        assert one.decode(line, sender="agent") == one.decode(line, sender="agent")
        assert len(known) <= HEADS
        assert all(len(head) <= LONGEST for head in known)


def test_a_key_given_twice_is_found_after_lines_that_begin_alike() -> None:
    one = fresh(v1)
    head = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
    for _ in range(3):
        one.decode(
            head + b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}}}}', sender="agent"
        )
    twice = (
        head + b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"},"sessionUpdate":"tide"}}}'
    )
    with pytest.raises(DecodeError, match="occurs more than once"):
        one.decode(twice, sender="agent")


def test_a_number_that_is_read_from_its_text_is_so_read_in_lines_that_begin_alike() -> None:
    one = fresh(v1)
    content = b'{"sessionUpdate":"usage_update","used":1,"size":1,"_meta":{"n":9007199254740993.0,"t":"a"}}'
    line = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":' + content + b"}}"
    for _ in range(4):
        assert one.decode(line, sender="agent").params.update.meta["n"] == 2**53 + 1


def test_half_a_number_too_many() -> None:
    """Text of many values is refused before it is read, and other text is not counted."""
    assert parse(b"[1,2]", values=3) == [1, 2]
    with pytest.raises(DecodeError, match="more than 2 values"):
        parse(b"[1,2]", values=2)
