"""A client and the agent that it starts, or that it meets in this process or at a transport; `initialize` chooses the version.

The client asks for the newest of its versions, in the fields of both, so that an agent of v1 finds what it looks for. Where the
agent answers with an error, the client asks again for v1.

Sources: the pages of v1 and v2 on initialization; the schema of v2 (`InitializeResponse`).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, Unpack, cast

from acp_bindings import v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from jsonrpc_bindings.child import Child
from jsonrpc_bindings.framing import LIMIT, Kind, framing
from jsonrpc_bindings.peers import Folder, Options, Remote, Stream, Transport
from jsonrpc_bindings.transport import pair

from .agent import Agent
from .agent_connection import AgentConnection
from .arguments import refuse_text, require_instance
from .background import run_beside
from .client_core import ClientCore
from .codec.agent_as_v2 import AgentAsV2
from .codec.losses import Losses, log_loss
from .codec.relay import LocalCalls
from .codec.to_v1 import ToV1, offer_services
from .handshake import VERSIONS, InitializedTransport, validate_versions
from .serving import serve_agent

if TYPE_CHECKING:
    from .client import Client

INITIALIZE_TIMEOUT: Final = 120.0
"""Seconds that the answer to `initialize` may take where `timeout` is not given; `timeout=None` waits for ever."""


@asynccontextmanager
async def spawn_agent(
    command: Sequence[Folder],
    client: Client,
    *,
    versions: Collection[int] = VERSIONS,
    kind: Kind = "lines",
    limit: int = LIMIT,
    cwd: Folder | None = None,
    env: Mapping[str, str] | None = None,
    stderr: Stream = None,
    **options: Unpack[Options],
) -> AsyncGenerator[AgentConnection]:
    """Start an agent and be its client, as `connect_agent`. At the end its input is closed; it is terminated, then killed with all that it
    has started, if it has not ended after `grace` seconds each.

    `cwd` and `env` are its own. `stderr` is as in `subprocess`: nothing passes it on to ours; its last lines are in `ConnectionClosed`.
    `limit` is the longest message in bytes. Raises `OSError` where the command cannot be started, and what `connect_agent` raises.
    """
    known = validate_versions(versions)
    refuse_text(command=command)
    if not command:
        raise ValueError("'command' must name a program")
    words = [str(word) if isinstance(word, str) else word.__fspath__() for word in command]
    grace = options.get("grace", 2.0)
    child = await Child.start(words, framing(kind, limit), cwd=cwd, env=env, stderr=stderr, grace=grace)
    async with _connected(child, client, known, options) as agent:
        yield agent


@asynccontextmanager
async def connect_agent(
    transport: Transport, client: Client, *, versions: Collection[int] = VERSIONS, **options: Unpack[Options]
) -> AsyncGenerator[AgentConnection]:
    """Be the client of the agent at a transport, such as a WebSocket.

    `timeout` is how many seconds an answer may take, other than to a prompt; without it, 120 for `initialize` and no limit for others.
    Raises `UnsupportedVersion` where the agent speaks none of the versions, `PeerError` where it refuses all of them, `ConnectionClosed`,
    `TimeoutError`.
    """
    async with _connected(transport, client, validate_versions(versions), options) as agent:
        yield agent


@asynccontextmanager
async def connect_in_memory(
    agent: Agent, client: Client, *, versions: Collection[int] = VERSIONS, **options: Unpack[Options]
) -> AsyncGenerator[AgentConnection]:
    """Connect a client to an agent of this process, as in a test."""
    known = validate_versions(versions)
    require_instance(Agent, agent=agent)
    near, far = pair()
    serving = asyncio.ensure_future(serve_agent(agent, far, versions=tuple(sorted(known))))
    try:
        async with _connected(near, client, known, options) as found:
            yield found
    finally:
        await near.close()
        await serving


@asynccontextmanager
async def _connected(
    transport: Transport, client: Client, known: frozenset[int], options: Options
) -> AsyncGenerator[AgentConnection]:
    core: ClientCore | None = None
    initialized = InitializedTransport(transport)
    try:
        core = ClientCore(client)
        request = v2.InitializeRequest(protocol_version=2, info=client.info, capabilities=core.capabilities())
        timeout = options.get("timeout", INITIALIZE_TIMEOUT)
        await initialized.initialize(_attempts(request, core, known), known, timeout)
    except BaseException:
        if core is not None:
            await core.disconnected()
        await transport.close()
        raise
    codec: AgentAsV2 | None = None
    core.version = initialized.version
    connecting: AbstractAsyncContextManager[Remote] = peers2.connect_agent(core, initialized, **options)
    if initialized.version == 1:
        codec = AgentAsV2(core, core.services, on_loss=log_loss)
        core.note_v1_capabilities(initialized.answer)
        connecting = peers1.connect_agent(codec.v1_client, initialized, **options)
    try:
        async with connecting as agent:
            core.calls = agent.connection
            if codec is not None:
                core.attach(agent.connection)
                core.calls, codec.agent = LocalCalls(codec), cast("peers1.RemoteAgent", agent)
            async with run_beside(core.follow_agent()):
                core.answer = await core.request("initialize", request)
                yield AgentConnection(core)
    finally:
        if codec is not None:
            await core.disconnected()
            await codec.close()


def _attempts(request: v2.InitializeRequest, core: ClientCore, known: frozenset[int]) -> list[dict[str, Any]]:
    """The params of `initialize` to try, in order."""
    newer: dict[str, Any] = json.loads(v2.encode(request))
    older = offer_services(
        ToV1().convert("InitializeRequest", newer, Losses().place("initialize")), core.services.capabilities()
    )
    if 2 not in known:
        return [older]
    if 1 not in known:
        return [newer]
    return [{**older, **newer}, older]
