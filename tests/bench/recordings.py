"""Judges a lot of recordings and prints the rate and the memory.

    python tests/bench/recordings.py [MEGABYTES] [--jobs N] [--zst]

The recordings are written to a passing folder first: conversations of ACP v1 with an initialization, a session, and turns of text,
thoughts, tool calls and plans, each about a megabyte. The time counts from the start of the command to its end.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SIZE = 1_000_000
"""Bytes of a recording, about."""

WORDS = (
    "file",
    "row",
    "list",
    "name",
    "reader",
    "sorts",
    "them",
    "before",
    "it",
    "prints",
    "what",
    "is",
    "left",
    "and",
    "the",
)


def text(chance: random.Random, most: int) -> str:
    """Some words."""
    return " ".join(chance.choices(WORDS, k=chance.randint(3, most)))


def updates(chance: random.Random, turn: int) -> Iterator[dict[str, Any]]:
    """The updates of one turn."""
    for _ in range(chance.randint(10, 60)):
        kind = chance.choice(["agent_message_chunk"] * 4 + ["agent_thought_chunk"])
        yield {"sessionUpdate": kind, "content": {"type": "text", "text": text(chance, 12)}}
    for call in range(chance.randint(1, 6)):
        name = f"call-{turn}-{call}"
        yield {
            "sessionUpdate": "tool_call",
            "toolCallId": name,
            "title": text(chance, 6),
            "kind": "read",
            "status": "pending",
        }
        content = [{"type": "content", "content": {"type": "text", "text": text(chance, 200)}}]
        yield {"sessionUpdate": "tool_call_update", "toolCallId": name, "status": "completed", "content": content}
    entries = [{"content": text(chance, 8), "priority": "medium", "status": "pending"} for _ in range(3)]
    yield {"sessionUpdate": "plan", "entries": entries}


def conversation(chance: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """The messages of a conversation, with who says them; it does not end by itself."""
    program = {"name": chance.choice(["harbor", "quay", "jetty"]), "version": f"1.{chance.randint(0, 9)}.0"}
    yield "client", {"id": 0, "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": {}}}
    yield "agent", {"id": 0, "result": {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": program}}
    yield "client", {"id": 1, "method": "session/new", "params": {"cwd": "/w", "mcpServers": []}}
    yield "agent", {"id": 1, "result": {"sessionId": "s"}}
    turn = 1
    while True:
        turn += 1
        prompt = [{"type": "text", "text": text(chance, 40)}]
        yield "client", {"id": turn, "method": "session/prompt", "params": {"sessionId": "s", "prompt": prompt}}
        for update in updates(chance, turn):
            yield "agent", {"method": "session/update", "params": {"sessionId": "s", "update": update}}
        yield "agent", {"id": turn, "result": {"stopReason": "end_turn"}}


def write(folder: Path, megabytes: int, *, is_packed: bool) -> tuple[int, int]:
    """Write recordings, and tell how many bytes and messages they hold."""
    size = messages = 0
    for number in range(megabytes):
        rows, length = list[bytes](), 0
        for sender, body in conversation(random.Random(number)):
            is_over = length > SIZE and "result" in body
            row = json.dumps({"from": sender, "message": {"jsonrpc": "2.0", **body}}).encode() + b"\n"
            rows.append(row)
            length += len(row)
            if is_over:
                break
        content = b"".join(rows)
        path = folder / f"{number % 100:02}" / f"{number}.jsonl{'.zst' * is_packed}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zstd.compress(content) if is_packed else content)
        size, messages = size + length, messages + len(rows)
    return size, messages


def main() -> None:
    """Measure once."""
    parser = argparse.ArgumentParser()
    parser.add_argument("megabytes", nargs="?", type=int, default=100)
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--zst", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        size, messages = write(folder, options.megabytes, is_packed=options.zst)
        started = time.perf_counter()
        command = [sys.executable, "-m", "acpgen", "validate", "--session", "--jobs", options.jobs, str(folder)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - started
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(ran.stdout[:2000], ran.stderr[-1500:], sep="")
    print(
        f"{options.megabytes} recordings, {size / 1e6:.0f} MB, {messages} messages, jobs {options.jobs}: {seconds:.1f} s, "
        f"{size / 1e6 / seconds:.1f} MB/s, {messages / seconds:.0f} messages/s, CPU {used.ru_utime + used.ru_stime:.1f} s, "
        f"largest process {used.ru_maxrss / 1024:.0f} MB, exit code {ran.returncode}"
    )


if __name__ == "__main__":
    main()
