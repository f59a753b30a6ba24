"""A client that serves real files: it starts an agent, opens one session, and answers its requests for files inside the roots.

    python files.py DIRECTORY [MORE DIRECTORIES] -- AGENT COMMAND

The user has granted the directories by naming them. Everything else that an agent may ask is declined.
"""

import asyncio
import sys
from collections.abc import Sequence

from acp_bindings.v1 import peers

from acp_session.hosted import HostedClient
from acp_workspace.filesystem import FilePolicy


class FilesClient(HostedClient):
    """A client with files and nothing else."""

    def __init__(self, granted: Sequence[str], policy: FilePolicy = FilePolicy()) -> None:  # noqa: B008 - frozen
        self.events: list[object] = []
        super().__init__(granted=granted, files=policy, terminals=None, audit=self.events.append)

    async def start(self, cwd: str, additional: Sequence[str] = ()) -> str:
        """Initialize, and open a session with its roots, of which the agent is told where it knows several; the session's id."""
        await self.host.initialize()
        return (await self.host.new(cwd, additional)).id


async def main(arguments: Sequence[str]) -> None:
    """Run an agent with the directories given."""
    split = arguments.index("--")
    directories, command = arguments[:split], arguments[split + 1 :]
    client = FilesClient(directories)
    async with peers.spawn_agent(command, client):
        session = await client.start(directories[0], directories[1:])
        await client.host.prompt(session, sys.stdin.readline())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
