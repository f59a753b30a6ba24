"""What the monitor holds while a hostile peer fills each of its tables: a curve of memory, a line for each minute.

    python tests/bench/hostile_peer.py [--seconds N] [--seed N] [--long CHARACTERS]

The peer opens requests, sessions, options, tool calls, terminals, plans, modes, questions, lists and unknown methods, with ids and names
of up to a million characters, and never lets go of any. The process ends by itself at 512 MB. At the end the script exits 1 if the
process ever grew by more than twice the room that the monitor gives itself, and some for the messages.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import random
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from acpgen import embedded
from acpgen.messages import validators

BYTES: Final = 512 << 20
EVERY: Final = 60
SLACK: Final = 128 << 20
"""What compiled schemas, the peer itself and one long message take."""
Said = tuple[str, dict[str, Any]]


class Peer:
    """Both ends of a conversation, of which one at least is hostile: answers come, so that state is opened and not refused."""

    def __init__(self, seed: int, long: int) -> None:
        self.random = random.Random(seed)
        self.long = long
        self.count = itertools.count()

    def name(self) -> str:
        """A name of its own: mostly short, at times very long, of characters that take one byte or four."""
        length = self.random.choices((8, 200, 255, 5_000, self.long), (50, 20, 20, 9, 1))[0]
        return f"{next(self.count)}" + self.random.choice(("a", "\u00e9", "\U0001f600")) * length

    def request(self, side: str, method: str, params: dict[str, Any], answer: dict[str, Any] | None) -> Iterator[Said]:
        name = self.name()
        yield side, {"jsonrpc": "2.0", "id": name, "method": method, "params": params}
        if answer is not None:
            yield ("agent" if side == "client" else "client"), {"jsonrpc": "2.0", "id": name, "result": answer}

    def update(self, session: str, **update: Any) -> Iterator[Said]:
        yield (
            "agent",
            {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}},
        )

    def options(self) -> list[dict[str, Any]]:
        values = [{"value": self.name()[:300], "name": "v"} for _ in range(40)]
        ids = [self.name()[:300] for _ in range(5)]
        return [
            {"id": each, "configId": each, "name": "o", "type": "select", "currentValue": "v", "options": values}
            for each in ids
        ]

    def said(self) -> Iterator[Said]:
        """An endless conversation."""
        yield from self.request(
            "client",
            "initialize",
            {"protocolVersion": self.random.choice((1, 2)), "clientInfo": {"name": "c", "version": "1"}},
            {
                "protocolVersion": 1 + self.random.randrange(2),
                "info": {"name": "a", "version": "1"},
                "authMethods": [{"id": self.name(), "methodId": self.name(), "name": "m"} for _ in range(20)],
            },
        )
        sessions = ["s"]
        while True:
            session = self.random.choice(sessions)
            match self.random.randrange(16):
                case 0 | 1 | 2:
                    session = self.name()
                    sessions = [*sessions[-60:], session] if len(session) < 1_000 else sessions
                    modes = {
                        "currentModeId": "0",
                        "availableModes": [{"id": self.name(), "name": "m"} for _ in range(9)],
                    }
                    opened = {"sessionId": session, "configOptions": self.options(), "modes": modes}
                    roots = [f"/{self.name()[:3000]}" for _ in range(10)]
                    asked = {"cwd": f"/{self.name()[:4000]}", "mcpServers": [], "additionalDirectories": roots}
                    yield from self.request("client", "session/new", asked, opened)
                case 3:
                    params = {"sessionId": session, "path": f"/{self.name()[:4000]}"}
                    yield from self.request("agent", "fs/read_text_file", params, None)
                case 4:
                    method = self.random.choice(("_", "", "$/")) + self.name()
                    yield from self.request(self.random.choice(("client", "agent")), method, {self.name(): 1}, None)
                case 5:
                    yield from self.request("client", "session/prompt", {"sessionId": session, "prompt": []}, None)
                case 6:
                    done = {"stopReason": "end_turn", "messageId": self.name()}
                    yield from self.request("client", "session/prompt", {"sessionId": session, "prompt": []}, done)
                case 7:
                    made = {"terminalId": self.name()}
                    yield from self.request("agent", "terminal/create", {"sessionId": session, "command": "c"}, made)
                case 8:
                    kind = self.random.choice(("tool_call", "tool_call_update"))
                    capabilities: dict[str, Any] = {"cancel": {}}
                    call = {"toolCallId": self.name(), "title": "t", "capabilities": capabilities}
                    yield from self.update(session, sessionUpdate=kind, **call)
                case 9:
                    content = {"type": "text", "text": "t"}
                    kind = self.random.choice(("user_message_chunk", "agent_message_chunk", "user_message"))
                    yield from self.update(session, sessionUpdate=kind, messageId=self.name(), content=content)
                case 10:
                    yield from self.update(session, sessionUpdate="state_update", state=self.name())
                case 11:
                    entries = [{"content": self.name()[:300], "priority": "low", "status": "pending"}] * 20
                    yield from self.update(session, sessionUpdate="plan", entries=entries)
                    commands = [{"name": self.name()[:300], "description": "d"} for _ in range(20)]
                    yield from self.update(
                        session, sessionUpdate="available_commands_update", availableCommands=commands
                    )
                case 12:
                    yield from self.update(
                        self.name(), sessionUpdate="config_option_update", configOptions=self.options()
                    )
                case 13:
                    fields = {f"f{n}": {"type": "string", "description": self.name()[:300]} for n in range(50)}
                    form = {"type": "object", "properties": fields}
                    question: dict[str, Any] = {
                        "sessionId": session,
                        "mode": "form",
                        "message": "m",
                        "requestedSchema": form,
                    }
                    yield from self.request("agent", "elicitation/create", question, None)
                    visit = {"sessionId": session, "mode": "url", "message": "m", "url": "https://example.com"}
                    yield from self.request(
                        "agent", "elicitation/create", {**visit, "elicitationId": self.name()}, None
                    )
                case 14:
                    listed = [{"sessionId": self.name(), "cwd": f"/{self.name()[:4000]}"} for _ in range(20)]
                    answer = {"sessions": listed, "nextCursor": self.name()}
                    yield from self.request("client", "session/list", {"cursor": self.name()}, answer)
                case _:
                    yield from self.request("client", "session/delete", {"sessionId": self.name()}, {})
                    permission: dict[str, Any] = {"sessionId": session, "toolCall": {"toolCallId": self.name()}}
                    choices = [{"optionId": self.name(), "name": "o", "kind": "allow_once"} for _ in range(20)]
                    yield from self.request(
                        "agent", "session/request_permission", {**permission, "options": choices}, None
                    )


def _resident() -> int:
    """The bytes of memory that this process has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--long", type=int, default=1_000_000, metavar="CHARACTERS")
    asked = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    room = sys.modules[f"{embedded.monitor.__name__}.bounded"].MAX_BYTES
    monitor, folding = embedded.monitor.Monitor(validators.read_versions(())), embedded.monitor.Folding[Any]()
    before = _resident()
    begun = told = time.monotonic()
    characters = most = 0
    print("seconds  messages  megabytes sent  grown by   most so far  process")
    for heard, (side, message) in enumerate(Peer(asked.seed, asked.long).said(), 1):
        for breach in monitor.observe(side, message):
            folding.take(breach.mark, breach)
        characters += len(repr(message)) if heard % 10 == 0 else 0
        now = time.monotonic()
        is_over = now - begun >= asked.seconds
        if is_over or now - told >= min(EVERY, asked.seconds / 10):
            told = now
            del message
            gc.collect()
            held = _resident() - before
            most = max(most, held)
            process = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            print(
                f"{now - begun:7.0f} {heard:9} {characters * 10 / 1e6:15.0f} {held / 1e6:17.1f} MB {most / 1e6:9.1f} MB {process:5} MB",
                flush=True,
            )
        if is_over:
            break
    sys.exit(most > 2 * room + SLACK)


if __name__ == "__main__":
    main()
