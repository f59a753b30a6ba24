"""Prints how long a request takes over standard input and output, ours against the official Python SDK. Measures; judges nothing.

    .venv/bin/python tests/bench/roundtrip.py

Both clients start an agent on the same library as their own and call `session/new`, one after another and many at once; both agents
stream updates in a turn. Ratios are medians of paired runs in one session: A, B, A, B, …
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
BINDINGS = ROOT / "generated" / "python" / "acp-bindings"
sys.path[:0] = [str(BINDINGS)]

ONE_BY_ONE, AT_ONCE, UPDATES = 500, 500, 2000


async def ours_agent() -> None:
    from acp_bindings import v1
    from acp_bindings.v1 import peers

    class Agent(peers.Agent):
        async def initialize(self, _: Any, /) -> v1.InitializeResponse:
            return v1.InitializeResponse(protocol_version=1)

        async def session_new(self, _: Any, /) -> v1.NewSessionResponse:
            return v1.NewSessionResponse(session_id="s")

        async def session_prompt(self, _: Any, /) -> v1.PromptResponse:
            for _number in range(UPDATES):
                chunk = v1.AgentMessageChunk(content=v1.TextContent(text="The tide is low."))
                await self.client.session_update(v1.SessionNotification(session_id="s", update=chunk))
            return v1.PromptResponse(stop_reason="end_turn")

    await peers.run_agent(Agent())


async def sdk_agent() -> None:
    import acp
    from acp import schema

    class Agent:
        def on_connect(self, conn: Any) -> None:
            self.client = conn

        async def initialize(self, **_: Any) -> Any:
            return schema.InitializeResponse(protocol_version=1)

        async def new_session(self, **_: Any) -> Any:
            return schema.NewSessionResponse(session_id="s")

        async def prompt(self, **_: Any) -> Any:
            for _number in range(UPDATES):
                update = acp.update_agent_message_text("The tide is low.")
                await self.client.session_update(session_id="s", update=update)
            return schema.PromptResponse(stop_reason="end_turn")

    agent: Any = Agent()
    await acp.run_agent(agent)


async def ours() -> tuple[float, float, float]:
    from acp_bindings import v1
    from acp_bindings.v1 import peers

    heard = 0

    class Client(peers.Client):
        async def session_update(self, _: Any, /) -> None:
            nonlocal heard
            heard += 1

    async with peers.spawn_agent([sys.executable, __file__, "ours"], Client()) as agent:
        await agent.initialize(v1.InitializeRequest(protocol_version=1))
        prompt = v1.PromptRequest(session_id="s", prompt=[v1.TextContent(text="x")])
        found = await measured(
            lambda: agent.session_new(v1.NewSessionRequest(cwd="/", mcp_servers=[])),
            lambda: agent.session_prompt(prompt),
        )
    assert heard == UPDATES
    return found


async def sdk() -> tuple[float, float, float]:
    import acp
    from acp import schema

    heard = 0

    class Client:
        async def session_update(self, **_: Any) -> None:
            nonlocal heard
            heard += 1

    client: Any = Client()
    async with acp.spawn_agent_process(client, sys.executable, __file__, "sdk") as (agent, _):
        await agent.initialize(protocol_version=1)
        prompt: Any = [schema.TextContentBlock(type="text", text="x")]
        found = await measured(
            lambda: agent.new_session(cwd="/", mcp_servers=[]),
            lambda: agent.prompt(session_id="s", prompt=prompt),
        )
        while heard < UPDATES:
            await asyncio.sleep(0.001)
    return found


async def measured(
    call: Callable[[], Awaitable[object]], turn: Callable[[], Awaitable[object]]
) -> tuple[float, float, float]:
    """Microseconds of a request alone, of one among many, and of an update."""
    for _ in range(20):
        await call()
    start = time.perf_counter()
    for _ in range(ONE_BY_ONE):
        await call()
    alone = time.perf_counter()
    await asyncio.gather(*(call() for _ in range(AT_ONCE)))
    many = time.perf_counter()
    await turn()
    end = time.perf_counter()
    return (alone - start) / ONE_BY_ONE * 1e6, (many - alone) / AT_ONCE * 1e6, (end - many) / UPDATES * 1e6


def main(runs: int = 7) -> None:
    """Print the table."""
    pairs = [(asyncio.run(ours()), asyncio.run(sdk())) for _ in range(runs)]
    print(f"{'microseconds, on ' + str(os.cpu_count()) + ' processors':<40} {'ours':>8} {'SDK':>8}   ratio")
    for index, name in enumerate(("a request, one after another", "a request, many at once", "an update of a turn")):
        mine, other = (statistics.median(each[side][index] for each in pairs) for side in (0, 1))
        ratios = sorted(each[0][index] / each[1][index] for each in pairs)
        print(
            f"{name:<40} {mine:8.0f} {other:8.0f}   {statistics.median(ratios):5.2f}  ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["ours"]:
            asyncio.run(ours_agent())
        case ["sdk"]:
            asyncio.run(sdk_agent())
        case _:
            main()
