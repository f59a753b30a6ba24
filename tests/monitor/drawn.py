"""Conversations drawn by a seed: runs of chunks with anything between them, good and bad."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any, Final

SHIPPED: Final = sorted((Path(__file__).parent / "shipped").glob("*.jsonl"))

Line = tuple[str, bytes]


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
