"""Serving an agent on standard input and output or any transport, in the version that `initialize` negotiates.

Sources: the pages of v1 and v2 on initialization; the schema of v2 (`InitializeResponse`, `UnsupportedProtocolVersionErrorData`).
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager
from typing import Any, Final, Unpack

from acp_bindings import ConnectionClosed, DecodeError, RequestError, v1, v2

from acp_workspace.errors import UNSUPPORTED_VERSION
from jsonrpc_bindings.errors import INVALID_REQUEST, PARSE_ERROR
from jsonrpc_bindings.failures import answer_to
from jsonrpc_bindings.framing import LIMIT, Unreadable, make_framing
from jsonrpc_bindings.incoming import read_id
from jsonrpc_bindings.parse import TooManyValues, parse
from jsonrpc_bindings.partial_message import PartialMessage
from jsonrpc_bindings.peers import Options, Side, Transport, attach_handler
from jsonrpc_bindings.stdio import StandardStreams, open_standard_streams

from .agent import Agent
from .agent_core import AgentCore
from .arguments import require_instance
from .codec.agent_as_v1 import AgentAsV1
from .codec.losses import log_loss
from .diffs import as_object

VERSIONS: Final = (1, 2)
"""The supported versions of the protocol."""
_DECODE: Final[dict[int, Callable[..., object]]] = {1: v1.decode, 2: v2.decode}


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

    grace = options.get("grace", 2.0)

    async def serve() -> None:
        transport = await StandardStreams.open(make_framing("lines", LIMIT), grace=grace)
        await serve_agent(agent, transport, versions=known_versions, **options)

    open_standard_streams()
    runner = asyncio.Runner()
    try:
        runner.run(serve())
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    finally:
        _close_loop(runner.get_loop(), grace)


def _close_loop(loop: asyncio.AbstractEventLoop, grace: float) -> None:
    """Cancel what still runs, and close the loop. Unlike `asyncio.run`, do not wait forever for work that ignores its cancellation."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=grace))
    loop.run_until_complete(loop.shutdown_asyncgens())
    asyncio.set_event_loop(None)
    loop.close()


async def serve_agent(
    agent: Agent,
    transport: Transport,
    *,
    versions: Collection[int] = VERSIONS,
    user: str | None = None,
    **options: Unpack[Options],
) -> None:
    """Serve an agent at a transport until the client ends. One agent may serve any number of clients at once.

    `user`: who is logged in from the start, for example as determined by a web server. The work of a cancelled turn, and a hook without a
    response, has `grace` seconds to end; then nothing waits for it any more.

    The client gets the version that it requests, or the newest below it; if there is none, `initialize` fails with -32022. It may
    request another version until its first other request. Raises `ValueError` for unsupported `versions`.
    """
    require_instance(Agent, agent=agent)
    negotiation = Negotiation(transport, validate_versions(versions), options)
    try:
        await negotiation.start()
        while negotiation.is_agreed:
            core = AgentCore(agent, user=user, grace=options.get("grace", 2.0))
            async with _open_side(core, negotiation.version) as side:
                await attach_handler(side, negotiation, options).run()
    finally:
        await transport.close()


@asynccontextmanager
async def _open_side(core: AgentCore, version: int) -> AsyncGenerator[Side]:
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


def validate_versions(versions: Collection[int]) -> frozenset[int]:
    """The versions that a caller passed. Raises `ValueError` for none, or for an unsupported one."""
    if not versions or not set(versions) <= set(VERSIONS):
        raise ValueError(f"'versions' must name 1, 2 or both, not {sorted(versions)}")
    return frozenset(versions)


class EarlyTransport(Transport):
    """A transport that first receives messages that were read from the underlying transport before."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._early: deque[bytes] = deque()

    async def receive(self) -> bytes | None:
        return self._early.popleft() if self._early else await self._transport.receive()

    def send(self, message: bytes) -> None:
        self._transport.send(message)

    @property
    def is_full(self) -> bool:
        return self._transport.is_full

    async def drain(self) -> None:
        await self._transport.drain()

    async def close(self) -> None:
        await self._transport.close()


class Negotiation(EarlyTransport):
    """The transport of an agent: one connection after the other, each for the `version` that an `initialize` requests.

    A connection's messages begin with that `initialize`. They end if the client requests another version before its first other request.
    """

    def __init__(self, transport: Transport, versions: Collection[int], options: Options) -> None:
        super().__init__(transport)
        self.version = 0
        self._versions = sorted(versions)
        self._monitor, self._on_event = options.get("monitor"), options.get("on_event")
        self._may_change = True

    @property
    def is_agreed(self) -> bool:
        """Whether there is an `initialize` that no connection has received yet."""
        return bool(self._early)

    async def start(self) -> None:
        """Read messages until a valid `initialize` requests a supported version, or the client ends. Other requests get an error."""
        while not self.is_agreed:
            try:
                line = await self._transport.receive()
            except Unreadable as error:
                id_ = None if error.ends is None else read_id(error.ends.read_members().get("id"))
                self._refuse(id_, RequestError(PARSE_ERROR, str(error)))
                if error.is_last:
                    return
                continue
            except ConnectionClosed as error:  # the client was cut off
                self._report(error)
                return
            if line is None:
                return
            outcome = self._judge(line)
            if isinstance(outcome, int):
                self._accept(outcome, line)
                continue
            self._watch("client", line)
            if outcome is None:
                self._report("a notification came before `initialize` and is ignored")
            else:
                self._refuse(*outcome)

    async def receive(self) -> bytes | None:
        message = await super().receive()
        if message is not None and self._may_change:
            outcome = self._judge(message)
            self._may_change = isinstance(outcome, int)
            if isinstance(outcome, int) and outcome != self.version:
                self._accept(outcome, message)
                return None
        return message

    async def close(self) -> None:
        """See `Transport`. The underlying transport stays open for a connection in another version."""
        if not self.is_agreed:
            await super().close()

    def _accept(self, version: int, line: bytes) -> None:
        self.version = version
        self._early.append(line)

    def _judge(self, line: bytes) -> int | tuple[Any, RequestError] | None:
        """The version that a message negotiates, or the id and error of the response; `None` for a notification."""
        try:
            message = as_object(parse(line))
        except TooManyValues as error:
            return read_id(PartialMessage.of(line).read_members().get("id")), RequestError(INVALID_REQUEST, str(error))
        except DecodeError as error:
            return None, RequestError(error.code, str(error))
        id_, method = message.get("id"), message.get("method")
        if not isinstance(method, str):
            sentence = "the first message of a connection must be the request `initialize`"
            return None, RequestError(INVALID_REQUEST, sentence)
        if "id" not in message:
            return None
        if method != "initialize":
            sentence = f"{method!r} came before `initialize`, which negotiates the version"
            return id_, RequestError(INVALID_REQUEST, sentence)
        requested = read_integer(as_object(message.get("params")).get("protocolVersion"))
        if requested is None:
            return id_, RequestError.invalid_params("/params/protocolVersion", "it must be an integer")
        version = max((version for version in self._versions if version <= requested), default=None)
        if version is None:
            data = {"requested": requested, "supported": self._versions}
            return id_, RequestError(UNSUPPORTED_VERSION, f"version {requested} is not supported here", data)
        try:
            _DECODE[version](line, sender="client")
        except DecodeError as error:
            return id_, answer_to(error)
        return version

    def _refuse(self, id_: Any, error: RequestError) -> None:
        line = encode_message(id=id_, error=error.as_json())
        self._report(error.message)
        self._watch("agent", line)
        try:
            self._transport.send(line)
        except ConnectionClosed as closed:
            self._report(closed)

    def _report(self, event: object) -> None:
        if self._on_event is not None:
            self._on_event(event)

    def _watch(self, sender: str, line: bytes) -> None:
        for breach in () if self._monitor is None else self._monitor.observe(sender, line):
            self._report(breach)


def encode_message(**members: Any) -> bytes:
    """A JSON-RPC message with these members."""
    return json.dumps({"jsonrpc": "2.0", **members}, separators=(",", ":")).encode()


def read_integer(value: object) -> int | None:
    """The integer that a JSON number stands for; `None` for any other value."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
