"""Serving an agent on standard input and output or any transport, in the version that `initialize` negotiates.

Sources: the pages of v1 and v2 on initialization; the schema of v2 (`InitializeResponse`, `UnsupportedProtocolVersionErrorData`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from typing import Unpack

from jsonrpc_bindings.framing import LIMIT, framing
from jsonrpc_bindings.peers import Options, Side, Transport, attached
from jsonrpc_bindings.stdio import Own

from .agent import Agent
from .agent_core import AgentCore
from .arguments import require_instance
from .codec.agent_as_v1 import AgentAsV1
from .codec.losses import log_loss
from .handshake import VERSIONS, Negotiation, validate_versions


def run_agent(agent: Agent, *, versions: Collection[int] = VERSIONS, **options: Unpack[Options]) -> None:
    """Serve an agent on standard input and output until the input ends: all that the `main` of a program needs.

    Output that the program prints goes to standard error. Raises `RuntimeError` inside an event loop: use `serve_agent` there.
    """
    known_versions = validate_versions(versions)
    require_instance(Agent, agent=agent)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise RuntimeError("an event loop runs already: await 'serve_agent' there")
    try:
        asyncio.run(_run(agent, known_versions, options))
    except KeyboardInterrupt:
        raise SystemExit(130) from None


async def _run(agent: Agent, versions: Collection[int], options: Options) -> None:
    transport = await Own.open(framing("lines", LIMIT), grace=options.get("grace", 2.0))
    await serve_agent(agent, transport, versions=versions, **options)


async def serve_agent(
    agent: Agent,
    transport: Transport,
    *,
    versions: Collection[int] = VERSIONS,
    user: str | None = None,
    **options: Unpack[Options],
) -> None:
    """Serve an agent at a transport until the client ends. One agent may serve any number of clients at once.

    `user`: who is logged in from the start, for example as determined by a web server. The work of a cancelled turn has `grace` seconds
    to end; then the turn ends without it.

    The client gets the version that it requests, or the newest below it; if there is none, `initialize` fails with -32022. It may
    request another version until its first other request. Raises `ValueError` for unsupported `versions`.
    """
    require_instance(Agent, agent=agent)
    negotiation = Negotiation(transport, validate_versions(versions), options.get("monitor"), options.get("on_event"))
    try:
        below = await negotiation.negotiate()
        while below is not None:
            core = AgentCore(agent, user=user, grace=options.get("grace", 2.0))
            async with _side(core, below.version) as side:
                await attached(side, below, options).run()
            below = below.next
    finally:
        await transport.close()


@asynccontextmanager
async def _side(core: AgentCore, version: int) -> AsyncGenerator[Side]:
    """The side that serves a client of this version."""
    if version != 1:
        yield core
        return
    codec = AgentAsV1(core, on_loss=log_loss)
    core.connect(codec.v2_client, codec.client_services)
    try:
        yield codec
    finally:
        await core.disconnected()
        await codec.close()
