"""An agent on standard input and output, for tests: python -m peers.program [WHAT IT DOES]."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time

from acp_bindings import v1
from acp_bindings.v1 import peers

from jsonrpc_bindings.framing import Lines
from jsonrpc_bindings.peers import attach_handler
from jsonrpc_bindings.stdio import StandardStreams
from peers.harbour import Agent


class Talkative(Agent):
    """Prints what nobody asked for, everywhere."""

    async def turn(self, session: str, wish: str) -> v1.PromptResponse:
        print("a stray print")
        sys.stdout.flush()
        subprocess.run(
            [sys.executable, "-c", "print('a stray child'); input()"], check=False, stderr=subprocess.DEVNULL
        )
        os.write(1, b"a stray write\n")
        if wish == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        return await super().turn(session, wish)


async def in_threads() -> None:
    """Be the agent as where the event loop cannot wait for standard streams."""
    await attach_handler(Talkative(), await StandardStreams.open(Lines(), threads=True), {}).run()


def main(what: str) -> None:
    """Run the agent."""
    match what:
        case "deaf" | "silent":
            if what == "deaf":
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
            print('{"jsonrpc":"2.0","method":"_ready"}', flush=True)
            while True:
                time.sleep(60)
        case "half":
            sys.stdin.readline()
            sys.stdout.write('{"jsonrpc":"2.0","id":1,')
        case "gone":
            return
        case "threads":
            asyncio.run(in_threads())
        case _:
            asyncio.run(peers.run_agent(Talkative()))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
