"""Connect a client to an agent that it spawns, or reaches in this process or by a transport; `initialize` negotiates the version.

The client requests the newest of its versions, with the fields of both, so that a v1 agent finds those that it expects. If the agent
responds with an error, the client tries v1.

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
"""The default timeout of `initialize`, in seconds; `timeout=None` waits forever."""


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
    """Start an agent process and connect a client to it, like `connect_agent`.

    At the end the agent's standard input is closed; if it has not exited after `grace` seconds, it is terminated, and after `grace`
    seconds more killed with all its descendants. `cwd` and `env` are those of the agent. `stderr` is as in `subprocess`: by default it
    is forwarded to the standard error of this process; its last lines are in `ConnectionClosed`. `limit` is the maximum size of a message
    in bytes. Raises `OSError` if the command cannot be started, and what `connect_agent` raises.
    """
    known_versions = validate_versions(versions)
    refuse_text(command=command)
    if not command:
        raise ValueError("'command' must name a program")
    words = [str(word) if isinstance(word, str) else word.__fspath__() for word in command]
    grace = options.get("grace", 2.0)
    child = await Child.start(words, framing(kind, limit), cwd=cwd, env=env, stderr=stderr, grace=grace)
    async with _connected(child, client, known_versions, options) as agent:
        yield agent


@asynccontextmanager
async def connect_agent(
    transport: Transport, client: Client, *, versions: Collection[int] = VERSIONS, **options: Unpack[Options]
) -> AsyncGenerator[AgentConnection]:
    """Connect a client to the agent at a transport, such as a WebSocket.

    `timeout` is the maximum seconds until the response to any request other than a prompt; by default 120 for `initialize`, and no limit
    for others. Raises `UnsupportedVersion` if the agent supports none of the versions, `PeerError` if it refuses all of them,
    `ConnectionClosed`, `TimeoutError`.
    """
    async with _connected(transport, client, validate_versions(versions), options) as agent:
        yield agent


@asynccontextmanager
async def connect_in_memory(
    agent: Agent, client: Client, *, versions: Collection[int] = VERSIONS, **options: Unpack[Options]
) -> AsyncGenerator[AgentConnection]:
    """Connect a client to an agent in this process, for example in a test."""
    known_versions = validate_versions(versions)
    require_instance(Agent, agent=agent)
    near, far = pair()
    serving = asyncio.ensure_future(serve_agent(agent, far, versions=tuple(sorted(known_versions))))
    try:
        async with _connected(near, client, known_versions, options) as connection:
            yield connection
    finally:
        await near.close()
        await serving


@asynccontextmanager
async def _connected(
    transport: Transport, client: Client, versions: frozenset[int], options: Options
) -> AsyncGenerator[AgentConnection]:
    core: ClientCore | None = None
    initialized = InitializedTransport(transport)
    try:
        core = ClientCore(client)
        request = v2.InitializeRequest(protocol_version=2, info=client.info, capabilities=core.capabilities())
        timeout = options.get("timeout", INITIALIZE_TIMEOUT)
        await initialized.initialize(_attempts(request, core, versions), versions, timeout)
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


def _attempts(request: v2.InitializeRequest, core: ClientCore, versions: frozenset[int]) -> list[dict[str, Any]]:
    """The params of `initialize` to try, in order."""
    newer: dict[str, Any] = json.loads(v2.encode(request))
    older = offer_services(
        ToV1().convert("InitializeRequest", newer, Losses().place("initialize")), core.services.capabilities()
    )
    if 2 not in versions:
        return [older]
    if 1 not in versions:
        return [newer]
    return [{**older, **newer}, older]
