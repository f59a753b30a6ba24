"""Drives agents that others ship, by our client and its host, as far as they go without a login, and prints a table. No part of CI.

    python tests/bench/agents.py FOLDER [NAME…]

FOLDER is that of `tests/bench/probes.py`, which says what is installed there and how. No home folder is passed on. Judges nothing.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:1] = [
    *(
        str(ROOT / part)
        for part in (
            "generator",
            "generator/acp-session",
            "generator/acp-workspace",
            "generator/acp-monitor",
            "generated/python/acp-bindings",
            "tests",
        )
    )
]

from acp_bindings import v2  # noqa: E402 - the folders are on the path only now

from acp_session import Client, ClientSession, NotAdvertised, PeerError, spawn_agent  # noqa: E402
from bench.probes import SHIPPED, installed, read_arguments  # noqa: E402

SECONDS: Final = 60.0
STEPS: Final = ("initialize", "new", "list", "prompt", "cancel", "close", "end")


class Counting(Client):
    def __init__(self, folder: Path) -> None:
        super().__init__(allowed_roots=[folder])
        self.updates: Counter[str] = Counter()

    async def on_update(self, session: ClientSession, update: v2.SessionUpdate) -> None:  # noqa: ARG002
        self.updates[type(update).__name__] += 1


async def outcome(work: Callable[[], Awaitable[object]]) -> str:
    """The result of a step, in few words."""
    try:
        found = await work()
    except PeerError as failed:
        return f"{failed.code}: {' '.join(failed.message.split())[:60]}"
    except NotAdvertised:
        return "not offered"
    except TimeoutError:
        return f"no answer in {SECONDS:.0f} s"
    except Exception as error:  # noqa: BLE001 - told, whatever it is
        return f"{type(error).__name__}: {str(error)[:80]}"
    reason = getattr(found, "stop_reason", None)
    return "yes" if reason is None else str(reason)


async def drive(command: list[str], folder: Path) -> dict[str, str]:
    """What an agent does, step by step."""
    work = folder / "work"
    work.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "NO_COLOR": "1", "CI": "1"}
    client = Counting(work)
    rows = dict.fromkeys(STEPS, "not reached")
    told: list[object] = []
    began = time.monotonic()

    async def converse() -> None:
        async with spawn_agent(
            command, client, cwd=work, env=environment, timeout=SECONDS, on_event=told.append, grace=5
        ) as agent:
            rows["initialize"] = f"version {agent.version}"
            sessions: list[ClientSession] = []

            async def new() -> None:
                sessions.append(await agent.new_session(work))

            rows["new"] = await outcome(new)
            rows["list"] = await outcome(agent.list_sessions)
            if sessions:
                (session,) = sessions
                rows["prompt"] = await outcome(lambda: session.prompt("Say hello."))
                rows["cancel"] = await outcome(session.cancel)
                rows["close"] = await outcome(session.close)

    found = await outcome(converse)
    if rows["initialize"] == "not reached":
        rows["initialize"] = found
    updates = ", ".join(f"{name} {number}" for name, number in sorted(client.updates.items()))
    return {
        **rows,
        "end": f"{time.monotonic() - began:.0f} s",
        "updates": updates or "none",
        "ignored": str(len(told)),
    }


def main() -> None:
    """Drive all, or those that are named."""
    logging.disable()
    folder, names = read_arguments(__doc__)
    columns = (*STEPS, "updates", "ignored")
    print(f"| Agent | {' | '.join(columns)} |\n|{' --- |' * (len(columns) + 1)}", flush=True)
    for name, shipped in SHIPPED.items():
        if names and name not in names:
            continue
        command = [str(installed(folder, shipped) / shipped.command[0]), *shipped.command[1:]]
        with tempfile.TemporaryDirectory() as passing:
            found = asyncio.run(drive(command, Path(passing)))
        cells = (f"{name} {shipped.version}", *(found[column].replace("|", "/") for column in columns))
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
