"""The handshake: the messages of a connection until the version is negotiated.

Sources: the pages of v1 and v2 on initialization; the schema of v2 (`InitializeResponse`, `UnsupportedProtocolVersionErrorData`).
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

from acp_bindings import ConnectionClosed, DecodeError, PeerError, RequestError, v1, v2

from acp_workspace.errors import UNSUPPORTED_VERSION
from jsonrpc_bindings.errors import INVALID_REQUEST, PARSE_ERROR
from jsonrpc_bindings.failures import answer_to
from jsonrpc_bindings.framing import Unreadable
from jsonrpc_bindings.incoming import id_of, is_call
from jsonrpc_bindings.json_types import is_array
from jsonrpc_bindings.parse import TooManyValues, parse, parse_with_duplicates
from jsonrpc_bindings.partial_message import PartialMessage
from jsonrpc_bindings.transport import Transport
from jsonrpc_bindings.wire import Watcher

from .diffs import as_object
from .errors import UnsupportedVersion
from .log import LOG

VERSIONS: Final = (1, 2)
"""The supported versions of the protocol."""
MAX_EARLY: Final = 1000
"""The maximum number of messages that are kept until the response to `initialize`; the oldest are dropped first."""
MAX_EARLY_SIZE: Final = 16 * 1024 * 1024
"""The maximum total size of these messages, in bytes."""
EARLY_END: Final = "the agent has ended before it answered `initialize`"


def validate_versions(versions: Collection[int]) -> frozenset[int]:
    """The versions that a caller passed. Raises `ValueError` for none, or for an unsupported one."""
    if not versions or not set(versions) <= set(VERSIONS):
        raise ValueError(f"'versions' must name 1, 2 or both, not {sorted(versions)}")
    return frozenset(versions)


def negotiate_version(requested: int, versions: Collection[int]) -> int | None:
    """The newest of `versions` that is not newer than the requested one; `None` if there is none.

    >>> [negotiate_version(requested, {1, 2}) for requested in (0, 1, 2, 9)]
    [None, 1, 2, 2]
    """
    return max((version for version in versions if version <= requested), default=None)


class Negotiation:
    """Reads messages of a client until a valid `initialize` requests a supported version. Other requests get an error response."""

    def __init__(
        self,
        transport: Transport,
        versions: Collection[int],
        monitor: Watcher | None = None,
        on_event: Callable[[object], object] | None = None,
    ) -> None:
        self._transport = transport
        self._known = sorted(versions)
        self._monitor = monitor
        self._on_event = on_event

    async def negotiate(self) -> VersionTransport | None:
        """The transport for the negotiated version, which first receives `initialize`; `None` if the client ends before."""
        while True:
            try:
                line = await self._transport.receive()
            except Unreadable as error:
                self._answer(_id_in(error.ends), RequestError(PARSE_ERROR, str(error)))
                if error.is_last:
                    return None
                continue
            if line is None:
                return None
            outcome = self.judge(line)
            if isinstance(outcome, int):
                return VersionTransport(self._transport, self, outcome, line)
            self._watch("client", line)
            if outcome is None:
                self._report("a notification came before `initialize` and is ignored")
            else:
                self._answer(*outcome)

    def judge(self, line: bytes) -> int | tuple[Any, RequestError] | None:
        """The version that a message negotiates, or the id and error of the response; `None` for a notification."""
        try:
            message = as_object(parse(line))
        except TooManyValues as error:
            return _id_in(PartialMessage.of(line)), RequestError(INVALID_REQUEST, str(error))
        except DecodeError as error:
            return None, RequestError(error.code, str(error))
        id_, method = message.get("id"), message.get("method")
        if not isinstance(method, str):
            return None, RequestError(
                INVALID_REQUEST, "the first message of a connection must be the request `initialize`"
            )
        if "id" not in message:
            return None
        if method != "initialize":
            sentence = f"{method!r} came before `initialize`, which negotiates the version"
            return id_, RequestError(INVALID_REQUEST, sentence)
        requested = _integer(as_object(message.get("params")).get("protocolVersion"))
        if requested is None:
            return id_, RequestError.invalid_params("/params/protocolVersion", "it must be an integer")
        version = negotiate_version(requested, self._known)
        if version is None:
            data = {"requested": requested, "supported": self._known}
            return id_, RequestError(UNSUPPORTED_VERSION, f"version {requested} is not supported here", data)
        try:
            _DECODE[version](line, sender="client")
        except DecodeError as error:
            return id_, answer_to(error)
        return version

    def _answer(self, id_: Any, error: RequestError) -> None:
        line = _encoded(id=id_, error=error.as_json())
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


_DECODE: Final[dict[int, Callable[..., object]]] = {1: v1.decode, 2: v2.decode}


class EarlyTransport(Transport):
    """A transport that first receives messages that were read from the underlying transport before."""

    def __init__(self, transport: Transport, *early: bytes) -> None:
        self._transport = transport
        self._early = deque(early)

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
        """See `Transport`."""
        await self._transport.close()


class VersionTransport(EarlyTransport):
    """The transport of one negotiated version.

    It ends if the client requests another version before its first other request; `next` is then the transport of that version.
    """

    def __init__(self, transport: Transport, negotiation: Negotiation, version: int, first: bytes) -> None:
        super().__init__(transport, first)
        self.version = version
        self.next: VersionTransport | None = None
        self._negotiation = negotiation
        self._is_open = True

    async def receive(self) -> bytes | None:
        message = None if self.next is not None else await super().receive()
        if message is not None and self._is_open:
            version = self._negotiation.judge(message)
            self._is_open = isinstance(version, int)
            if isinstance(version, int) and version != self.version:
                self.next = VersionTransport(self._transport, self._negotiation, version, message)
                return None
        return message

    async def close(self) -> None:
        """See `Transport`. The underlying transport stays open for the next version."""
        if self.next is None:
            await super().close()


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

        Raises `UnsupportedVersion`, `PeerError`, `ConnectionClosed`, `TimeoutError`.
        """
        answer: dict[str, Any] = {}
        for number, params in enumerate(attempts):
            self._transport.send(_encoded(id=number, method="initialize", params=params))
            async with asyncio.timeout(timeout):
                answer = await self._receive_answer(number)
            if "result" in answer:
                self.answer = as_object(answer["result"])
                self.version = _integer(self.answer.get("protocolVersion")) or 0
                if self.version not in known_versions:
                    raise UnsupportedVersion(self.answer.get("protocolVersion"), known_versions)
                return
        error = as_object(answer.get("error"))
        code, data = error.get("code"), error.get("data")
        failure = PeerError("initialize", code if isinstance(code, int) else 0, str(error.get("message")), data, error)
        if failure.code == UNSUPPORTED_VERSION:
            supported = as_object(data).get("supported")
            versions = supported if is_array(supported) else []
            raise UnsupportedVersion(
                max(filter(None, map(_integer, versions)), default=None), known_versions
            ) from failure
        raise failure

    async def _receive_answer(self, number: int) -> dict[str, Any]:
        while True:
            try:
                line = await self._transport.receive()
            except Unreadable as error:
                if error.is_last:
                    raise ConnectionClosed(EARLY_END) from error
                if error.ends is not None and not is_call(error.ends.members()):
                    raise _unreadable(error) from error
                continue
            except ConnectionClosed as error:
                code, signal, text = error.exit_code, error.signal, error.stderr
                raise ConnectionClosed(f"{EARLY_END}: {error}", exit_code=code, signal=signal, stderr=text) from error
            if line is None:
                raise ConnectionClosed(EARLY_END)
            value: Any = None
            repeated: Sequence[object] = ()
            try:
                value, repeated = parse_with_duplicates(line)
            except TooManyValues as error:
                if not is_call(PartialMessage.of(line).members()):
                    raise _unreadable(error) from error
            except DecodeError:
                LOG.warning("the agent wrote what is not a message before it answered `initialize`: %.200r", line)
            message = as_object(value)
            if "method" not in message and message.get("id") == number and not isinstance(message.get("id"), bool):
                if repeated:
                    raise _unreadable(repeated[0])
                if "result" not in message and "error" not in message:
                    raise _unreadable("it has neither result nor error")
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
        self._early.appendleft(_encoded(id=as_object(parse(message)).get("id"), result=self.answer))
        self._is_sent.set()

    async def close(self) -> None:
        self._is_sent.set()
        await super().close()


def _encoded(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}, separators=(",", ":")).encode()


def _id_in(ends: PartialMessage | None) -> Any:
    """The id of a message that is too large to be read, if it can be determined."""
    return None if ends is None else id_of(ends.members().get("id"))


def _integer(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _unreadable(reason: object) -> ConnectionClosed:
    return ConnectionClosed(f"the agent's answer to `initialize` cannot be read: {reason}")
