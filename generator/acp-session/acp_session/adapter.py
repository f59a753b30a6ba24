"""Adapters between versions of the protocol: `as_v2` makes a v1 agent look like a v2 agent, `as_v1` a v2 agent like a v1 agent.

    async with as_v2(transport) as agent, peers.join(agent, client) as (calls, _):
        await calls.initialize(v2.InitializeRequest(protocol_version=2, info=me))

An adapter stands between two connections: it is the client of the agent in one version, and the agent of the client in the other.
Whatever the other version cannot express is a `Loss`: it is counted in `losses` and passed to `on_loss`. When the agent ends, its turns
end with an error, and the connection to the client is closed.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Unpack

from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from jsonrpc_bindings.peers import Options, Transport

from .background import run_beside
from .codec.agent_as_v1 import AgentAsV1
from .codec.agent_as_v2 import ACCEPT_TIMEOUT, AgentAsV2
from .codec.losses import CARRIER, Kind, Loss, Losses, OnLoss
from .services import Local

__all__ = ["CARRIER", "AgentAsV1", "AgentAsV2", "Kind", "Local", "Loss", "Losses", "OnLoss", "as_v1", "as_v2"]


@asynccontextmanager
async def as_v1(
    transport: Transport, *, on_loss: OnLoss = lambda loss: None, **options: Unpack[Options]
) -> AsyncGenerator[AgentAsV1]:
    """Connect to the v2 agent at the far end of a transport; yield it as a v1 agent that a client can be connected to.

    `options` are those of the connection to the agent. In v2 the response to `session/prompt` only says that the prompt was accepted;
    the v1 response waits for the state `idle` that ends the work. A v2 agent uses neither files nor terminals of the client; the output
    of its own terminals is passed on as text. Work that no prompt began is visible only by its updates.
    """
    codec = AgentAsV1(on_loss=on_loss)
    async with peers2.connect_agent(codec.v2_client, transport, **options) as agent, _with_agent(codec, agent):
        yield codec


@asynccontextmanager
async def as_v2(
    transport: Transport,
    *,
    on_loss: OnLoss = lambda loss: None,
    accept_timeout: float = ACCEPT_TIMEOUT,
    local: Local | None = None,
    **options: Unpack[Options],
) -> AsyncGenerator[AgentAsV2]:
    """Connect to the v1 agent at the far end of a transport; yield it as a v2 agent that a client can be connected to.

    `accept_timeout` is how many seconds the agent may be silent before its prompt counts as accepted. Client files and terminals, which
    v2 does not have, are advertised to the agent if `local` serves them on this machine. `options` are those of the connection to the
    agent.
    """
    codec = AgentAsV2(on_loss=on_loss, accept_timeout=accept_timeout, local=local)
    async with peers1.connect_agent(codec.v1_client, transport, **options) as agent, _with_agent(codec, agent):
        yield codec


@asynccontextmanager
async def _with_agent(codec: AgentAsV1 | AgentAsV2, agent: Any) -> AsyncGenerator[None]:
    codec.agent = agent
    try:
        async with run_beside(codec.follow_agent()):
            yield
    finally:
        await codec.close()
