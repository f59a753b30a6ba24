"""One program that speaks v1 and v2, with the version chosen by `initialize`.

    await run_agent(v1=AgentOfV1(), v2=AgentOfV2())     # an agent on standard input and output
    await run_agent(v2=MyAgent())                       # the adapter speaks v1 for it

    hello = v2.InitializeRequest(protocol_version=2, info=me)
    async with spawn_agent(["an-agent"], v2=(MyClient(), hello)) as agreed:  # a client; the adapter speaks v1 for it
        await agreed.agent.session_new(v2.NewSessionRequest(cwd="/srv/app"))

An agent answers with the version that was asked for, or with the newest below it; with the newest that it has where the client is newer.
Where none fits, `initialize` fails with -32022. A client asks for the newest version that it speaks, in the fields of both versions, so
that an agent of v1 finds what it looks for; where the agent answers with an older one, or with an error, it speaks that.

Sources: the pages of v1 and v2 on initialization; the schema of v2 (`InitializeResponse`, `UnsupportedProtocolVersionErrorData`).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar, Unpack, overload

from acp_bindings import v1 as acp1
from acp_bindings import v2 as acp2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from jsonrpc_bindings.child import Child
from jsonrpc_bindings.connection import Connection
from jsonrpc_bindings.framing import LIMIT, Kind, framing
from jsonrpc_bindings.peers import Folder, Options, Side, Transport
from jsonrpc_bindings.stdio import Own
from jsonrpc_bindings.transport import pair

from .adapter import as_v1, as_v2
from .codec import Losses, OnLoss
from .codec.handshakes import request_to_v1, request_to_v2
from .errors import UnsupportedVersion
from .handshake import Begun, Opening, Stage, handshake
from .local_services import Local, LocalServices
from .services import Services

Remote = TypeVar("Remote", bound="peers1.RemoteAgent | peers2.RemoteAgent")

__all__ = ["Agreed", "UnsupportedVersion", "connect_agent", "run_agent", "serve_agent", "spawn_agent"]


# --- the agent -------------------------------------------------------------------------------------------------------


async def run_agent(
    *,
    v1: peers1.Agent | None = None,
    v2: peers2.Agent | None = None,
    adapt: bool = True,
    on_loss: OnLoss = lambda loss: None,
    local: Local | None = None,
    kind: Kind = "lines",
    limit: int = LIMIT,
    **options: Unpack[Options],
) -> None:
    """Be the agent on standard input and output until the input ends: `serve_agent` there."""
    link = await Own.open(framing(kind, limit), grace=options.get("grace", 2.0))
    await serve_agent(link, v1=v1, v2=v2, adapt=adapt, on_loss=on_loss, local=local, **options)


async def serve_agent(
    link: Transport,
    *,
    v1: peers1.Agent | None = None,
    v2: peers2.Agent | None = None,
    adapt: bool = True,
    on_loss: OnLoss = lambda loss: None,
    local: Local | None = None,
    **options: Unpack[Options],
) -> None:
    """Be the agent at a transport until the client ends. `initialize` says who serves: `v1`, or `v2`.

    For a version that has no handler the adapter serves, unless `adapt` is false; `on_loss` hears of what it cannot carry over, and `local`
    serves the files and terminals that `v1` asks a client of v2 for. A client may begin anew with another version until its first other
    request. Raises `ValueError` without any handler.
    """
    if v1 is None and v2 is None:
        raise ValueError("an agent needs a handler for v1 or for v2")
    versions = {1, 2} if adapt else {number for number, one in ((1, v1), (2, v2)) if one is not None}
    opening = Opening(link, versions, options.get("monitor"), options.get("told"))
    try:
        found = await opening.next()
        while found is not None:
            stage = Stage(opening, *found)
            async with _served_by(found[0], v1, v2, on_loss, local) as handler:
                connection = Connection(handler.wire, handler.side, handler.other, handler, stage, **options)
                handler.attach(connection)
                await connection.run()
            found = stage.following
    finally:
        await link.close()


@asynccontextmanager
async def _served_by(
    version: int, v1: peers1.Agent | None, v2: peers2.Agent | None, on_loss: OnLoss, local: Local | None
) -> AsyncGenerator[Side]:
    own: Side | None = v1 if version == 1 else v2
    if own is not None:
        yield own
        return
    near, far = pair()
    if v2 is not None:
        async with peers2.connect_client(v2, far), as_v1(near, on_loss=on_loss) as older:
            yield older
    elif v1 is not None:
        async with peers1.connect_client(v1, far), as_v2(near, on_loss=on_loss, local=local) as newer:
            yield newer


# --- the client ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Agreed(Generic[Remote]):
    """What `initialize` came to. `version` is spoken on the wire; `agent` are the calls to the agent and `answer` is its answer, in the
    version of the handler that was given. `losses` counts what the adapter could not carry over, where there is one.
    """

    version: int
    agent: Remote
    answer: acp1.InitializeResponse | acp2.InitializeResponse
    losses: Losses | None = None


Offer1 = tuple[peers1.Client, acp1.InitializeRequest]
Offer2 = tuple[peers2.Client, acp2.InitializeRequest]


@overload
def connect_agent(
    link: Transport,
    *,
    v2: Offer2,
    adapt: bool = ...,
    on_loss: OnLoss = ...,
    local: Local | None = ...,
    **options: Unpack[Options],
) -> AbstractAsyncContextManager[Agreed[peers2.RemoteAgent]]: ...
@overload
def connect_agent(
    link: Transport,
    *,
    v1: Offer1,
    adapt: bool = ...,
    on_loss: OnLoss = ...,
    local: Local | None = ...,
    **options: Unpack[Options],
) -> AbstractAsyncContextManager[Agreed[peers1.RemoteAgent]]: ...
@overload
def connect_agent(
    link: Transport,
    *,
    v1: Offer1,
    v2: Offer2,
    adapt: bool = ...,
    on_loss: OnLoss = ...,
    local: Local | None = ...,
    **options: Unpack[Options],
) -> AbstractAsyncContextManager[Agreed[peers1.RemoteAgent] | Agreed[peers2.RemoteAgent]]: ...
def connect_agent(
    link: Transport,
    *,
    v1: Offer1 | None = None,
    v2: Offer2 | None = None,
    adapt: bool = True,
    on_loss: OnLoss = lambda loss: None,
    local: Local | None = None,
    **options: Unpack[Options],
) -> AbstractAsyncContextManager[Agreed[Any]]:
    """Be the client of the agent at a transport, with the handler, and the params of `initialize`, of the version that it speaks.

    For a version that has no handler the adapter speaks, unless `adapt` is false; `on_loss` hears of what it cannot carry over, and `local`
    serves the files and terminals that an agent of v1 asks a client of v2 for. Raises `UnsupportedVersion` where the agent speaks none
    of both, `PeerError` where it answers none, `ConnectionClosed`, and `ValueError` without any handler.
    """
    if v1 is None and v2 is None:
        raise ValueError("a client needs a handler for v1 or for v2")
    return _connected(link, v1, v2, adapt, on_loss, local, options)


@overload
def spawn_agent(
    command: Sequence[str],
    *,
    v2: Offer2,
    adapt: bool = ...,
    on_loss: OnLoss = ...,
    local: Local | None = ...,
    kind: Kind = ...,
    limit: int = ...,
    cwd: Folder | None = ...,
    env: Mapping[str, str] | None = ...,
    **options: Unpack[Options],
) -> AbstractAsyncContextManager[Agreed[peers2.RemoteAgent]]: ...
@overload
def spawn_agent(
    command: Sequence[str],
    *,
    v1: Offer1,
    adapt: bool = ...,
    on_loss: OnLoss = ...,
    local: Local | None = ...,
    kind: Kind = ...,
    limit: int = ...,
    cwd: Folder | None = ...,
    env: Mapping[str, str] | None = ...,
    **options: Unpack[Options],
) -> AbstractAsyncContextManager[Agreed[peers1.RemoteAgent]]: ...
@overload
def spawn_agent(
    command: Sequence[str],
    *,
    v1: Offer1,
    v2: Offer2,
    adapt: bool = ...,
    on_loss: OnLoss = ...,
    local: Local | None = ...,
    kind: Kind = ...,
    limit: int = ...,
    cwd: Folder | None = ...,
    env: Mapping[str, str] | None = ...,
    **options: Unpack[Options],
) -> AbstractAsyncContextManager[Agreed[peers1.RemoteAgent] | Agreed[peers2.RemoteAgent]]: ...
@asynccontextmanager
async def spawn_agent(
    command: Sequence[str],
    *,
    v1: Offer1 | None = None,
    v2: Offer2 | None = None,
    adapt: bool = True,
    on_loss: OnLoss = lambda loss: None,
    local: Local | None = None,
    kind: Kind = "lines",
    limit: int = LIMIT,
    cwd: Folder | None = None,
    env: Mapping[str, str] | None = None,
    **options: Unpack[Options],
) -> AsyncGenerator[Agreed[Any]]:
    """Start the agent and be its client: `connect_agent` there. At the end it is ended as by `peers.spawn_agent`."""
    if v1 is None and v2 is None:
        raise ValueError("a client needs a handler for v1 or for v2")
    child = await Child.start(command, framing(kind, limit), cwd=cwd, env=env, grace=options.get("grace", 2.0))
    async with _connected(child, v1, v2, adapt, on_loss, local, options) as agreed:
        yield agreed


_NEWEST: Final = 2


@asynccontextmanager
async def _connected(
    link: Transport,
    v1: Offer1 | None,
    v2: Offer2 | None,
    adapt: bool,
    on_loss: OnLoss,
    local: Local | None,
    options: Options,
) -> AsyncGenerator[Agreed[Any]]:
    known: Collection[int] = {1, 2} if adapt else {number for number, one in ((1, v1), (2, v2)) if one is not None}
    try:
        version, answer, kept = await handshake(link, _attempts(v1, v2, known, local), known, options.get("timeout"))
    except BaseException:
        await link.close()
        raise
    begun = Begun(link, answer, kept)
    if version == 1 and v1 is not None:
        async with peers1.connect_agent(v1[0], begun, **options) as agent:
            yield Agreed(1, agent, await agent.initialize(v1[1]))
    elif version == 2 and v2 is not None:
        async with peers2.connect_agent(v2[0], begun, **options) as newer:
            yield Agreed(2, newer, await newer.initialize(v2[1]))
    elif v2 is not None:
        async with (
            as_v2(begun, on_loss=on_loss, local=local) as face,
            peers2.join(face, v2[0], **options) as (calls, _),
        ):
            yield Agreed(1, calls, await calls.initialize(v2[1]), face.losses)
    elif v1 is not None:
        async with as_v1(begun, on_loss=on_loss) as older, peers1.join(older, v1[0], **options) as (calls1, _):
            yield Agreed(2, calls1, await calls1.initialize(v1[1]), older.losses)


def _offered(local: Local | None) -> acp1.ClientCapabilities:
    services = Services() if local is None else LocalServices(local, lambda session_id, update: asyncio.sleep(0))
    return services.capabilities()


def _attempts(
    v1: Offer1 | None, v2: Offer2 | None, known: Collection[int], local: Local | None
) -> list[dict[str, Any]]:
    """The params of `initialize` to try, in order: what a handler of its own speaks first, and of that the newest."""
    one: dict[str, Any] | None = None if v1 is None else json.loads(acp1.encode(v1[1]))
    two: dict[str, Any] | None = None if v2 is None else json.loads(acp2.encode(v2[1]))
    place = Losses().place("initialize")
    if one is None and two is not None:
        one = request_to_v1(two, place, _offered(local))
    if two is None and one is not None:
        two = request_to_v2(one, place)
    assert one is not None and two is not None
    older = {**one, "protocolVersion": 1}
    both = {**older, **two, "protocolVersion": _NEWEST}
    if v2 is None:
        return [older, both] if 2 in known else [older]
    return [both, older] if 1 in known else [{**two, "protocolVersion": _NEWEST}]
