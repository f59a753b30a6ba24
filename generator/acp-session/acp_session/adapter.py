"""Peers of v1 and v2 that talk to one another: `as_v2` makes an agent of v1 one of v2, `as_v1` an agent of v2 one of v1.

    async with as_v2(transport) as agent, peers.join(agent, client) as (calls, _):
        await calls.initialize(v2.InitializeRequest(protocol_version=2, info=me))

An adapter stands between two connections: as the client of one version to the agent, as the agent of the other to the client. What the
other version has no place for is a `Loss`: counted in `losses`, and passed to `on_loss`. When the agent ends, its turns end with an error,
and the connection to the client is closed.
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
    """The agent of v2 at the far end of a transport, as an agent of v1 to be connected to a client.

    `options` are those of the connection to the agent. In v2 the answer to `session/prompt` says that the prompt was accepted; the answer
    of v1 waits for the state `idle` that ends the work. An agent of v2 uses neither files nor terminals of the client; what its own
    terminals show goes on as text. Work that no prompt began shows by its updates alone.
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
    """The agent of v1 at the far end of a transport, as an agent of v2 to be connected to a client.

    `accept_timeout` is how many seconds the agent may be silent before its prompt counts as accepted. Files and terminals of the client,
    which v2 does not have, are offered to the agent where `local` serves them on this machine. `options` are those of the connection to the
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
