"""A host that starts commands in a directory, prints the ids of processes, and waits to be killed."""

from __future__ import annotations

import asyncio
import sys

from acp_bindings import v1

from acp_workspace.terminals import Terminals
from acp_workspace.workspace import ClientWorkspace


async def main(folder: str) -> None:
    workspace = ClientWorkspace([folder])
    workspace.establish("s", workspace.prepare(folder, advertised=False))
    terminals = Terminals(workspace)
    for script in (
        "echo $$; sleep 300",
        "trap '' TERM HUP; sleep 300 & echo $!; wait",
        "exec bash -mc 'sleep 300 & echo $!; wait' 2>/dev/null",
        "setsid sh -c 'echo $$; exec sleep 300' & sleep 300",
    ):
        request = v1.CreateTerminalRequest(session_id="s", command="sh", args=["-c", script])
        terminal = (await terminals.create(request)).terminal_id
        while not (await terminals.output(v1.TerminalOutputRequest(session_id="s", terminal_id=terminal))).output:
            await asyncio.sleep(0.01)
        found = await terminals.output(v1.TerminalOutputRequest(session_id="s", terminal_id=terminal))
        print(found.output.strip(), flush=True)
    await asyncio.sleep(300)


asyncio.run(main(sys.argv[1]))
