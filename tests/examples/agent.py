"""An agent that streams, asks permission, edits a file in its roots and runs a terminal: python -m examples.agent."""

import asyncio

from acp_bindings import v1
from acp_bindings.v1 import peers

from acp_session.hosted import HostedAgent
from acp_session.turn import Turn


class Agent(HostedAgent):
    async def turn(self, turn: Turn) -> v1.StopReason:
        await turn.say("I write a note.")
        async with turn.tool("Write note.txt", kind="edit") as tool:
            if not await tool.is_allowed():
                await turn.say("I may not write it.")
                return "end_turn"
            await turn.write("note.txt", "tide\n")
        async with turn.tool("Count its bytes", kind="execute") as tool:
            counted = await turn.run("wc", "-c", "note.txt", tool=tool)
        await turn.say(f"It has so many bytes: {counted.output.strip()}")
        return "end_turn"


if __name__ == "__main__":
    asyncio.run(peers.run_agent(Agent()))
