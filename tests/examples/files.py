"""A client that serves real files: it starts an agent, opens one session, and answers its requests for files inside the roots.

    python files.py DIRECTORY [MORE DIRECTORIES] -- AGENT COMMAND

The user allows the directories by naming them. Everything else that an agent may ask is declined.
"""

import asyncio
import sys
from collections.abc import Sequence

from acp_session import Client, spawn_agent
from acp_workspace.filesystem import FilePolicy, ServiceEvent


class FilesClient(Client):
    """A client with files and nothing else."""

    def __init__(self, allowed_roots: Sequence[str], policy: FilePolicy = FilePolicy()) -> None:  # noqa: B008 - frozen
        super().__init__(allowed_roots=allowed_roots, files=policy, terminals=None)
        self.events: list[ServiceEvent] = []

    async def on_service_event(self, event: ServiceEvent) -> None:
        """Keep every step of every request, refusals included."""
        self.events.append(event)


async def main(arguments: Sequence[str]) -> None:
    """Run an agent with the directories given."""
    split = arguments.index("--")
    directories, command = arguments[:split], arguments[split + 1 :]
    async with spawn_agent(command, FilesClient(directories)) as agent:
        cwd, *more = directories
        session = await agent.new_session(cwd, additional_directories=more)
        await session.prompt(sys.stdin.readline())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
