"""Connect a client to an agent that it spawns, or reaches in this process or by a transport; `initialize` negotiates the version.

The client requests the newest of its versions, with the fields of both, so that a v1 agent finds those that it expects. If the agent
responds with an error, the client tries v1.

Sources: the pages of v1 and v2 on initialization; the schema of v2 (`InitializeResponse`).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final, Unpack

from acp_bindings import ConnectionClosed, DecodeError, PeerError, to_builtins, v2
from acp_bindings.v1 import peers as peers1
from acp_bindings.v2 import peers as peers2

from acp_workspace.errors import UNSUPPORTED_VERSION
from jsonrpc_bindings.child import Child
from jsonrpc_bindings.framing import LIMIT, Unreadable, make_framing
from jsonrpc_bindings.incoming import is_call
from jsonrpc_bindings.json_types import is_array
from jsonrpc_bindings.parse import TooManyValues, parse, parse_with_duplicates
from jsonrpc_bindings.partial_message import PartialMessage
from jsonrpc_bindings.peers import Folder, Options, Stream, Transport
from jsonrpc_bindings.transport import pair

from .agent import Agent
from .agent_connection import AgentConnection
from .arguments import refuse_text, require_instance
from .background import run_beside
from .client import Client
from .client_core import ClientCore
from .codec.agent_as_v2 import AgentAsV2
from .codec.losses import Losses, log_loss
from .codec.relay import LocalCalls
from .codec.to_v1 import ToV1, offer_services
from .diffs import as_object
from .errors import InvalidMessage, UnsupportedVersion
from .log import LOG
from .serving import VERSIONS, EarlyTransport, encode_message, read_integer, serve_agent, validate_versions

INITIALIZE_TIMEOUT: Final = 120.0
"""The default timeout of `initialize`, in seconds; `timeout=None` waits forever."""
MAX_EARLY: Final = 1000
"""The maximum number of messages that are kept until the response to `initialize`; the oldest are dropped first."""
MAX_EARLY_SIZE: Final = 16 * 1024 * 1024
"""The maximum total size of these messages, in bytes."""
EARLY_END: Final = "the agent has ended before it answered `initialize`"


@asynccontextmanager
async def spawn_agent(
    command: Sequence[Folder],
    client: Client,
    *,
    versions: Collection[int] = VERSIONS,
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
    words = [os.fspath(word) for word in command]
    grace = options.get("grace", 2.0)
    child = await Child.start(words, make_framing("lines", limit), cwd=cwd, env=env, stderr=stderr, grace=grace)
    async with _connect(child, client, known_versions, options) as agent:
        yield agent


@asynccontextmanager
async def connect_agent(
    transport: Transport, client: Client, *, versions: Collection[int] = VERSIONS, **options: Unpack[Options]
) -> AsyncGenerator[AgentConnection]:
    """Connect a client to the agent at a transport, such as a WebSocket.

    `timeout` is the maximum seconds until the response to any request other than a prompt; by default 120 for `initialize`, and no limit
    for others. Raises `UnsupportedVersion` if the agent supports none of the versions, `PeerError` if it refuses all of them,
    `InvalidMessage`, `ConnectionClosed`, `TimeoutError`.
    """
    async with _connect(transport, client, validate_versions(versions), options) as agent:
        yield agent


@asynccontextmanager
async def connect_in_memory(
    agent: Agent, client: Client, *, versions: Collection[int] = VERSIONS, **options: Unpack[Options]
) -> AsyncGenerator[AgentConnection]:
    """Connect a client to an agent in this process, for example in a test."""
    known_versions = validate_versions(versions)
    require_instance(Agent, agent=agent)
    near, far = pair()
    serving = asyncio.ensure_future(serve_agent(agent, far, versions=known_versions))
    try:
        async with _connect(near, client, known_versions, options) as connection:
            yield connection
    finally:
        await near.close()
        await serving


@asynccontextmanager
async def _connect(
    transport: Transport, client: Client, versions: frozenset[int], options: Options
) -> AsyncGenerator[AgentConnection]:
    async with AsyncExitStack() as stack:
        stack.push_async_callback(transport.close)
        core = ClientCore(client)
        stack.push_async_callback(core.disconnected)
        request = v2.InitializeRequest(protocol_version=2, info=client.info, capabilities=core.capabilities())
        initialized = InitializedTransport(transport)
        timeout = options.get("timeout", INITIALIZE_TIMEOUT)
        await initialized.initialize(_list_attempts(request, core, versions), versions, timeout)
        core.version = initialized.version
        if core.version == 1:
            codec = AgentAsV2(core, core.services, on_loss=log_loss)
            stack.push_async_callback(codec.close)
            connecting = peers1.connect_agent(codec.v1_client, initialized, **options)
            codec.agent = await stack.enter_async_context(connecting)
            core.attach(codec.agent.connection)
            core.calls = LocalCalls(codec)
        else:
            agent = await stack.enter_async_context(peers2.connect_agent(core, initialized, **options))
            core.calls = agent.connection
        async with run_beside(core.follow_agent()):
            core.answer = await core.request("initialize", request)
            yield AgentConnection(core)


def _list_attempts(request: v2.InitializeRequest, core: ClientCore, versions: frozenset[int]) -> list[dict[str, Any]]:
    """The params of `initialize` to try, in order."""
    newer: dict[str, Any] = to_builtins(request)
    converted = ToV1().convert("InitializeRequest", newer, Losses().make_place("initialize"))
    older = offer_services(converted, core.services.capabilities())
    if 2 not in versions:
        return [older]
    return [{**older, **newer}, older] if 1 in versions else [newer]


class InitializedTransport(EarlyTransport):
    """The transport of a client. Once `initialize` has negotiated `version`, `answer` is its result.

    The first request that a connection sends gets this result; then the connection receives the messages that came before it.
    """

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.version = 0
        self.answer: dict[str, Any] = {}
        self._is_sent = asyncio.Event()

    async def initialize(
        self, attempts: list[dict[str, Any]], known_versions: Collection[int], timeout: float | None = None
    ) -> None:
        """Send `initialize` with each params in turn until the agent responds with a result.

        Raises `UnsupportedVersion`, `PeerError`, `InvalidMessage`, `ConnectionClosed`, `TimeoutError`.
        """
        error: dict[str, Any] = {}
        for number, params in enumerate(attempts):
            self._transport.send(encode_message(id=number, method="initialize", params=params))
            async with asyncio.timeout(timeout):
                answer = await self._receive_answer(number)
            if "result" in answer:
                self.answer = as_object(answer["result"])
                version = read_integer(self.answer.get("protocolVersion"))
                if version is None:
                    raise InvalidMessage("initialize", "/result/protocolVersion", "an integer is expected")
                if version == 2 and 1 in known_versions and self.answer.keys().isdisjoint(("info", "capabilities")):
                    # such as the examples of the Python SDK, which answer with the version of the request
                    LOG.warning("the agent agrees to version 2 by an answer of version 1: it is spoken to in version 1")
                    version, self.answer = 1, {**self.answer, "protocolVersion": 1}
                if version not in known_versions:
                    raise UnsupportedVersion(version, known_versions)
                self.version = version
                return
            error = as_object(answer["error"])
        code, message, data = read_integer(error.get("code")), error.get("message"), error.get("data")
        if code is None or not isinstance(message, str):
            raise InvalidMessage(
                "initialize", "/error", "an object with an integer 'code' and a text 'message' is expected"
            )
        failure = PeerError("initialize", code, message, data, error)
        if failure.code == UNSUPPORTED_VERSION:
            supported = as_object(data).get("supported")
            versions = map(read_integer, supported if is_array(supported) else ())
            raise UnsupportedVersion(max(filter(None, versions), default=None), known_versions) from failure
        raise failure

    async def _receive_answer(self, number: int) -> dict[str, Any]:
        """The response to a request. Messages before it are kept for the connection."""
        while True:
            try:
                line = await self._transport.receive()
            except Unreadable as error:
                if error.is_last:
                    raise ConnectionClosed(EARLY_END) from error
                if error.ends is not None and not is_call(error.ends.read_members()):
                    raise _make_unreadable_error(error) from error
                continue
            except ConnectionClosed as error:
                error.args = (f"{EARLY_END}: {error}",)
                raise
            if line is None:
                raise ConnectionClosed(EARLY_END)
            value: Any = None
            repeated: Sequence[object] = ()
            try:
                value, repeated = parse_with_duplicates(line)
            except TooManyValues as error:
                if not is_call(PartialMessage.of(line).read_members()):
                    raise _make_unreadable_error(error) from error
            except DecodeError:
                LOG.warning("the agent wrote what is not a message before it answered `initialize`: %.200r", line)
            message = as_object(value)
            if "method" not in message and message.get("id") == number and not isinstance(message.get("id"), bool):
                if repeated:
                    raise _make_unreadable_error(repeated[0])
                if "result" not in message and "error" not in message:
                    raise _make_unreadable_error("it has neither result nor error")
                return message
            self._early.append(line)
            while len(self._early) > MAX_EARLY or sum(map(len, self._early)) > MAX_EARLY_SIZE:
                self._early.popleft()

    async def receive(self) -> bytes | None:
        await self._is_sent.wait()
        return await super().receive()

    def send(self, message: bytes) -> None:
        if self._is_sent.is_set():
            super().send(message)
            return
        self._early.appendleft(encode_message(id=as_object(parse(message)).get("id"), result=self.answer))
        self._is_sent.set()

    async def close(self) -> None:
        self._is_sent.set()
        await super().close()


def _make_unreadable_error(reason: object) -> ConnectionClosed:
    return ConnectionClosed(f"the agent's answer to `initialize` cannot be read: {reason}")
