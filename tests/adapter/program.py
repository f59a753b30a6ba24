"""An agent on standard input and output, for tests: python -m adapter.program VERSION…; with one version, the adapter speaks the other."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import Any

from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_session.negotiation import run_agent
from adapter.programs import Agent1, Agent2
from adapter.test_conversations import busy1, busy2


async def die1(agent: Agent1, session: str) -> str:
    await busy1(agent, session)
    os.kill(os.getpid(), signal.SIGKILL)
    return "end_turn"


async def die2(agent: Agent2, session: str) -> Any:
    await busy2(agent, session)
    os.kill(os.getpid(), signal.SIGKILL)


def main(words: list[str]) -> None:
    """Run the agent."""
    dies = "die" in words
    one, two = Agent1(die1 if dies else busy1), Agent2(die2 if dies else busy2)
    if "only" in words:
        asyncio.run(peers1.run_agent(one) if "1" in words else peers2.run_agent(two))
    else:
        asyncio.run(run_agent(v1=one if "1" in words else None, v2=two if "2" in words else None))


if __name__ == "__main__":
    main(sys.argv[1:])
