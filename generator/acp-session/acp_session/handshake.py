"""The first messages of a connection, before it is known which version is spoken: reading, answering, and handing them on.

Sources: the pages of v1 and v2 on initialization; the schema of v2 (`InitializeResponse`, `UnsupportedProtocolVersionErrorData`).
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

from acp_bindings import ConnectionClosed, DecodeError, PeerError

from acp_workspace.errors import INVALID_PARAMS, UNSUPPORTED_VERSION
from jsonrpc_bindings.errors import INVALID_REQUEST, PARSE_ERROR
from jsonrpc_bindings.framing import Unreadable
from jsonrpc_bindings.incoming import id_of, is_call
from jsonrpc_bindings.json_types import is_array
from jsonrpc_bindings.parse import TooManyValues, parse, parse_with_duplicates
from jsonrpc_bindings.partial_message import PartialMessage
from jsonrpc_bindings.transport import Transport
from jsonrpc_bindings.wire import Watcher

from .diffs import as_object
from .errors import UnsupportedVersion

VERSIONS: Final = (1, 2)
"""The versions of the protocol that are spoken here."""
MAX_EARLY: Final = 1000
"""Messages that are kept while the answer to `initialize` is awaited; the oldest go first."""
MAX_EARLY_SIZE: Final = 16 * 1024 * 1024
"""Bytes of these."""
EARLY_END: Final = "the agent has ended before it answered `initialize`"


def validate_versions(versions: Collection[int]) -> frozenset[int]:
    """The versions that a caller has named. Raises `ValueError` for none, and for one that is not spoken here."""
    if not versions or not set(versions) <= set(VERSIONS):
        raise ValueError(f"'versions' must name 1, 2 or both, not {sorted(versions)}")
    return frozenset(versions)


def negotiate_version(requested: int, known: Collection[int]) -> int | None:
    """The version for a client that asks for this one: the newest that is known and not newer; `None` where there is none.

    >>> [negotiate_version(requested, {1, 2}) for requested in (0, 1, 2, 9)]
    [None, 1, 2, 2]
    """
    return max((version for version in known if version <= requested), default=None)


class Negotiation:
    """Reads what a client sends until an `initialize` names a version that is known. All else is answered with an error."""

    def __init__(
        self,
        transport: Transport,
        known: Collection[int],
        monitor: Watcher | None = None,
        on_event: Callable[[object], object] | None = None,
    ) -> None:
        self.transport = transport
        self._known = sorted(known)
        self._monitor = monitor
        self._on_event = on_event

    async def next(self) -> tuple[int, bytes] | None:
        """The version to speak, and the message that asks for it; `None` where the client ends before."""
        while True:
            try:
                line = await self.transport.receive()
            except Unreadable as error:
                self._answer(_id_in(error.ends), PARSE_ERROR, str(error))
                if error.is_last:
                    return None
                continue
            if line is None:
                return None
            version = self.version(line)
            if version is not None:
                return version, line
            self._watch("client", line)
            self._refuse(line)

    def version(self, line: bytes) -> int | None:
        """The version that a message asks for, if it is an `initialize` that can be answered."""
        try:
            requested = _requested(as_object(parse(line)))
        except DecodeError:
            return None
        return None if requested is None else negotiate_version(requested, self._known)

    def _refuse(self, line: bytes) -> None:
        try:
            message = as_object(parse(line))
        except TooManyValues as error:
            self._answer(_id_in(PartialMessage.of(line)), INVALID_REQUEST, str(error))
            return
        except DecodeError as error:
            self._answer(None, error.code, str(error))
            return
        id_, method = message.get("id"), message.get("method")
        if not isinstance(method, str):
            self._answer(None, INVALID_REQUEST, "the first message of a connection must be the request `initialize`")
        elif "id" not in message:
            self._report(f"{method!r} came before `initialize` and is ignored")
        elif method != "initialize":
            self._answer(id_, INVALID_REQUEST, f"{method!r} came before `initialize`, which negotiates the version")
        elif (requested := _requested(message)) is None:
            problems = [{"pointer": "/params/protocolVersion", "message": "it must be an integer"}]
            sentence = "/params/protocolVersion: it must be an integer"
            self._answer(id_, INVALID_PARAMS, sentence, {"problems": problems})
        else:
            data = {"requested": requested, "supported": self._known}
            self._answer(id_, UNSUPPORTED_VERSION, f"version {requested} is not supported here", data)

    def _answer(self, id_: Any, code: int, message: str, data: Any = None) -> None:
        body = {"code": code, "message": message, **({} if data is None else {"data": data})}
        line = _encoded(id=id_, error=body)
        self._report(message)
        self._watch("agent", line)
        try:
            self.transport.send(line)
        except ConnectionClosed as error:
            self._report(error)

    def _report(self, event: object) -> None:
        if self._on_event is not None:
            self._on_event(event)

    def _watch(self, sender: str, line: bytes) -> None:
        for breach in () if self._monitor is None else self._monitor.observe(sender, line):
            self._report(breach)


class _Relay(Transport):
    """A transport over another."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def send(self, message: bytes) -> None:
        self._transport.send(message)

    @property
    def is_full(self) -> bool:
        return self._transport.is_full

    async def drain(self) -> None:
        await self._transport.drain()


class VersionTransport(_Relay):
    """The transport of one version. It ends where the client begins anew with another version before its first other request; then
    `next_version` is that version and its message.
    """

    def __init__(self, negotiation: Negotiation, version: int, first: bytes) -> None:
        super().__init__(negotiation.transport)
        self.next_version: tuple[int, bytes] | None = None
        self._negotiation = negotiation
        self._version = version
        self._first: bytes | None = first
        self._is_open = True

    async def receive(self) -> bytes | None:
        if self._first is not None:
            line, self._first = self._first, None
            return line
        found = None if self.next_version is not None else await self._transport.receive()
        if found is not None and self._is_open:
            version = self._negotiation.version(found)
            self._is_open = version is not None
            if version is not None and version != self._version:
                self.next_version = version, found
                return None
        return found

    async def close(self) -> None:
        """See `Transport`. The transport below stays for the version that follows."""
        if self.next_version is None:
            await self._transport.close()


class InitializedTransport(_Relay):
    """The transport of a client. Once `initialize` has agreed on a `version`, the `answer` is there: the first message that a connection
    sends gets it, and then what came before it is received.
    """

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.version = 0
        self.answer: dict[str, Any] = {}
        self._early: deque[bytes] = deque()
        self._is_sent = asyncio.Event()

    async def initialize(
        self, attempts: list[dict[str, Any]], known: Collection[int], timeout: float | None = None
    ) -> None:
        """Send `initialize`, and the next one where the agent answers with an error. Raises `UnsupportedVersion`, `PeerError`,
        `ConnectionClosed`, `TimeoutError`.
        """
        answer: dict[str, Any] = {}
        for number, params in enumerate(attempts):
            self._transport.send(_encoded(id=number, method="initialize", params=params))
            async with asyncio.timeout(timeout):
                answer = await self._receive_answer(number)
            if "result" in answer:
                self.answer = as_object(answer["result"])
                self.version = _integer(self.answer.get("protocolVersion")) or 0
                if self.version not in known:
                    raise UnsupportedVersion(self.answer.get("protocolVersion"), known)
                return
        error = as_object(answer.get("error"))
        code, data = error.get("code"), error.get("data")
        failure = PeerError("initialize", code if isinstance(code, int) else 0, str(error.get("message")), data, error)
        if failure.code == UNSUPPORTED_VERSION:
            supported = as_object(data).get("supported")
            versions = supported if is_array(supported) else []
            raise UnsupportedVersion(max(filter(None, map(_integer, versions)), default=None), known) from failure
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
                pass
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
        return self._early.popleft() if self._early else await self._transport.receive()

    def send(self, message: bytes) -> None:
        if self._is_sent.is_set():
            super().send(message)
            return
        self._early.appendleft(_encoded(id=as_object(parse(message)).get("id"), result=self.answer))
        self._is_sent.set()

    async def close(self) -> None:
        self._is_sent.set()
        await self._transport.close()


def _requested(message: dict[str, Any]) -> int | None:
    """The version that an `initialize` names."""
    if message.get("method") != "initialize" or "id" not in message:
        return None
    return _integer(as_object(message.get("params")).get("protocolVersion"))


def _encoded(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}, separators=(",", ":")).encode()


def _id_in(ends: PartialMessage | None) -> Any:
    """The id of a message that is too large to be read, where it is known."""
    return None if ends is None else id_of(ends.members().get("id"))


def _integer(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _unreadable(reason: object) -> ConnectionClosed:
    return ConnectionClosed(f"the agent's answer to `initialize` cannot be read: {reason}")
