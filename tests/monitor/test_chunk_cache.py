"""Chunks that differ in their text alone are judged as the first of them was: a monitor that learns says what one that cannot says."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from acp_bindings.v1.methods import STRICT as V1
from acp_bindings.v2.methods import STRICT as V2

import tiers
from acp_monitor import Monitor
from acp_monitor.chunk_cache import MAX_PREFIX, MAX_PREFIXES, ChunkCache
from jsonrpc_bindings.strict import Strict

SHIPPED: Final = sorted((Path(__file__).parent / "shipped").glob("*.jsonl"))

Line = tuple[str, bytes]
TEXTS: Final = (
    *(
        b"",
        b"calm",
        "é 水".encode(),
        b"_",
        b"text",
        b"\\u0065",
        b"\\ud83d\\ude00",
        b'\\"',
        b'\\"}}',
        b"\\\\",
        b"a\\\\\\n",
    ),
    *(
        b'"',
        b'"}',
        b"\\",
        b"\\x",
        b"\\ud800",
        b"\xff",
        b"\x00",
        b'","text":"b',
        b'","b":1e999,"c":"',
        b'","sessionId":"t',
    ),
)


class Forgetful(ChunkCache):
    """Keeps nothing."""

    def add(self, sender: str, line: bytes, value: Any, judges: Iterable[Strict]) -> None:
        """Nothing is kept."""


def told(lines: list[Line], *protocols: Any, learns: bool) -> list[Any]:
    """What a monitor says of each line, and of the end."""
    monitor = Monitor(protocols)
    if not learns:
        monitor._chunks = Forgetful()  # type: ignore[misc]
    found = [(monitor.observe(sender, line), monitor.unjudged) for sender, line in lines]
    state = vars(monitor._connection)
    kept = {
        name: state[name]
        for name in ("last_notification", "strays", "last_read", "version", "first_request", "first_work")
        if name in state
    }
    return [*found, monitor.finish(), kept]


def line(sender: str, **message: Any) -> Line:
    return sender, json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()


def update(session: str = "s", **fields: Any) -> Line:
    return line("agent", method="session/update", params={"sessionId": session, "update": fields})


def chunk(text: str, kind: str = "agent_message_chunk", **more: Any) -> Line:
    return update(sessionUpdate=kind, **more, content={"type": "text", "text": text})


def opened(version: int) -> list[Line]:
    """A conversation up to a session that has a prompt."""
    info = {"name": "a", "version": "1"}
    asked: dict[str, Any] = {"protocolVersion": version, "clientInfo": info, "info": info}
    answered: dict[str, Any] = {"protocolVersion": version, "agentInfo": info, "info": info}
    return [
        line("client", id=0, method="initialize", params=asked),
        line("agent", id=0, result=answered),
        line("client", id=1, method="session/new", params={"cwd": "/w", "mcpServers": []}),
        line("agent", id=1, result={"sessionId": "s"}),
        line(
            "client",
            id=2,
            method="session/prompt",
            params={"sessionId": "s", "prompt": [{"type": "text", "text": "a"}]},
        ),
    ]


def others() -> list[Line]:
    """What may come between chunks, good and bad, and changes what becomes of later ones."""
    call = {"toolCallId": "t", "title": "x"}
    return [
        update(sessionUpdate="tool_call", **call),
        update(sessionUpdate="tool_call_update", toolCallId="t", status="completed"),
        update(sessionUpdate="plan", entries=[]),
        update(sessionUpdate="state_update", state="running"),
        update(sessionUpdate="state_update", state="idle", stopReason="cancelled"),
        update(sessionUpdate="current_mode_update", currentModeId="m"),
        chunk("x", "user_message_chunk", messageId="u"),
        chunk("x", session="other"),
        chunk("x", extra=1),
        line("client", method="session/cancel", params={"sessionId": "s"}),
        line("agent", id=2, result={"stopReason": "cancelled"}),
        line("agent", id=2, result={"stopReason": "end_turn"}),
        line("client", id=3, method="session/prompt", params={"sessionId": "s", "prompt": []}),
        line("client", id=4, method="session/close", params={"sessionId": "s"}),
        line("agent", id=4, result={}),
        line("client", id=5, method="session/delete", params={"sessionId": "s"}),
        line("agent", id=9, method="terminal/create", params={"sessionId": "s", "command": "c"}),
        ("agent", b"no json"),
        ("client", chunk("x")[1]),
    ]


def drawn(version: int, seed: int) -> list[Line]:
    """Runs of chunks with anything between them."""
    random = Random(seed)
    lines = opened(version)[random.choice((0, 0, 0, 1, 2)) :]
    for _ in range(12):
        name = random.choice((None, "m1", "m2"))
        more = {} if name is None else {"messageId": name}
        kind = random.choice(("agent_message_chunk", "agent_message_chunk", "agent_thought_chunk"))
        lines += [chunk(f"text {index}", kind, **more) for index in range(random.randrange(6))]
        lines.append(random.choice(others()))
    return lines


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("seed", tiers.sample(range(60), 10))
def test_conversations(version: int, seed: int) -> None:
    lines = drawn(version, seed)
    for protocols in ((V1,), (V2,), (V1, V2)):
        assert told(lines, *protocols, learns=True) == told(lines, *protocols, learns=False)


@pytest.mark.parametrize("version", [1, 2])
def test_hostile_texts(version: int) -> None:
    lines = [*opened(version), *(chunk("a") for _ in range(4))]
    _, last = lines[-1]
    at = last.rindex(b'"a"') + 1
    lines += [("agent", last[:at] + text + last[at + 1 :]) for text in TEXTS]
    lines += [("agent", last + end) for end in (b" ", b"}", b"\n", b"]", b"\x00")]
    lines += [("agent", last[:-2] + b',"text":"b"}}}'), ("agent", last[:-1] + b',"method":"x"}'), ("client", last)]
    for protocols in ((V1,), (V2,), (V1, V2)):
        assert told(lines, *protocols, learns=True) == told(lines, *protocols, learns=False)


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_recordings_of_shipped_agents(file: Path) -> None:
    rows = [json.loads(row) for row in file.read_text("utf-8").splitlines()]
    lines = [(row["from"], json.dumps(row["message"]).encode()) for row in rows if "message" in row]
    assert told(lines, V1, V2, learns=True) == told(lines, V1, V2, learns=False)


def test_chunks_are_learned_and_forgotten() -> None:
    monitor = Monitor([V1])
    known = monitor._chunks
    for sender, text in [*opened(1), chunk("a")]:
        monitor.observe(sender, text)
    assert known.has(*chunk("b"))
    monitor.observe(*update(sessionUpdate="plan", entries=[]))
    assert known.has(*chunk("b")), "version 1 keeps nothing of a plan"
    monitor.observe(*line("client", method="session/cancel", params={"sessionId": "s"}))
    assert not known.has(*chunk("b"))
    assert not monitor.observe(*chunk("c"))
    assert known.has(*chunk("b"))
    monitor.lose()
    assert not known.has(*chunk("b"))


def test_what_is_kept_has_a_bound() -> None:
    known = ChunkCache()
    for index in range(3 * MAX_PREFIXES):
        sender, text = chunk("a", messageId="m" * (index * 3) + str(index))
        known.add(sender, text, json.loads(text), (V1,))
        assert len(known._known) <= MAX_PREFIXES
        assert all(len(head) <= MAX_PREFIX for head in known._known)


def test_most_of_a_conversation_is_alike() -> None:
    from bench.recordings import conversation

    monitor = Monitor([V1])
    quick = 0
    for sender, body in islice(conversation(Random(1)), 400):
        text = json.dumps({"jsonrpc": "2.0", **body}).encode()
        quick += monitor._chunks.has(sender, text)
        assert not monitor.observe(sender, text)
    assert quick > 280
