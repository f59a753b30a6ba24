"""The first messages of a connection, before it is known which version is spoken: reading, answering, and handing them on.

Sources: the pages of v1 and v2 on initialization; the schema of v2 (`InitializeResponse`, `UnsupportedProtocolVersionErrorData`).
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Collection
from typing import Any, Final

from acp_bindings import ConnectionClosed, DecodeError, PeerError

from acp_workspace.errors import INVALID_PARAMS, UNSUPPORTED_VERSION
from jsonrpc_bindings.errors import INVALID_REQUEST, PARSE_ERROR
from jsonrpc_bindings.framing import Unreadable
from jsonrpc_bindings.incoming import id_of, is_call
from jsonrpc_bindings.json_types import is_array
from jsonrpc_bindings.parse import TooManyValues, parse, parse_with_duplicates
from jsonrpc_bindings.partial_message import Ends
from jsonrpc_bindings.transport import Transport
from jsonrpc_bindings.wire import Watcher

from .diffs import as_object
from .errors import UnsupportedVersion

_EARLY_END: Final = "the agent has ended before it answered `initialize`"
_MOST_EARLY: Final = 1000
"""Messages that are kept while the answer to `initialize` is awaited; the oldest go first."""
_MOST_EARLY_SIZE: Final = 16 * 1024 * 1024
"""Bytes of these."""


VERSIONS: Final = (1, 2)
"""The versions of the protocol that are spoken here."""


def known_versions(versions: Collection[int]) -> frozenset[int]:
    """The versions that a caller has named. Raises `ValueError` for none, and for one that is not spoken here."""
    if not versions or not set(versions) <= set(VERSIONS):
        raise ValueError(f"'versions' must name 1, 2 or both, not {sorted(versions)}")
    return frozenset(versions)


def chosen(asked: int, known: Collection[int]) -> int | None:
    """The version for a client that asks for this one: the newest that is known and not newer; `None` where there is none.

    >>> [chosen(asked, {1, 2}) for asked in (0, 1, 2, 9)]
    [None, 1, 2, 2]
    """
    return max((version for version in known if version <= asked), default=None)


# --- the agent -------------------------------------------------------------------------------------------------------


class Opening:
    """Reads what a client sends until an `initialize` names a version that is known. All else is answered with an error."""

    def __init__(
        self,
        link: Transport,
        known: Collection[int],
        monitor: Watcher | None = None,
        told: Callable[[object], object] | None = None,
    ) -> None:
        self.link = link
        self._known = sorted(known)
        self._monitor = monitor
        self._told = told

    async def next(self) -> tuple[int, bytes] | None:
        """The version to speak, and the message that asks for it; `None` where the client ends before."""
        while True:
            try:
                line = await self.link.receive()
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
            self._refuse(line)

    def version(self, line: bytes) -> int | None:
        """The version that a message asks for, if it is an `initialize` that can be answered."""
        asked = _asked(line)
        return None if asked is None else chosen(asked, self._known)

    def _refuse(self, line: bytes) -> None:
        self._watch("client", line)
        try:
            value: Any = parse(line)
        except TooManyValues as error:
            self._answer(_id_in(Ends.of(line)), INVALID_REQUEST, str(error))
            return
        except DecodeError as error:
            self._answer(None, error.code, str(error))
            return
        message = as_object(value)
        number, method = message.get("id"), message.get("method")
        if not message or not isinstance(method, str):
            self._answer(None, INVALID_REQUEST, "the first message of a connection must be the request `initialize`")
        elif "id" not in message:
            self._tell(f"{method!r} came before `initialize` and is ignored")
        elif method != "initialize":
            self._answer(number, INVALID_REQUEST, f"{method!r} came before `initialize`, which negotiates the version")
        elif (asked := _asked(line)) is None:
            places = [{"pointer": "/params/protocolVersion", "message": "it must be an integer"}]
            self._answer(number, INVALID_PARAMS, "/params/protocolVersion: it must be an integer", {"problems": places})
        else:
            data = {"requested": asked, "supported": self._known}
            self._answer(number, UNSUPPORTED_VERSION, f"version {asked} is not supported here", data)

    def _answer(self, number: Any, code: int, message: str, data: Any = None) -> None:
        body = {"code": code, "message": message, **({} if data is None else {"data": data})}
        line = json.dumps({"jsonrpc": "2.0", "id": number, "error": body}, separators=(",", ":")).encode()
        self._tell(message)
        self._watch("agent", line)
        try:
            self.link.send(line)
        except ConnectionClosed as error:
            self._tell(error)

    def _tell(self, what: object) -> None:
        if self._told is not None:
            self._told(what)

    def _watch(self, sender: str, line: bytes) -> None:
        for breach in () if self._monitor is None else self._monitor.observe(sender, line):
            self._tell(breach)


class _Relay(Transport):
    """A transport over another."""

    def __init__(self, link: Transport) -> None:
        self._link = link

    def send(self, message: bytes) -> None:
        self._link.send(message)

    @property
    def is_full(self) -> bool:
        return self._link.is_full

    async def drain(self) -> None:
        await self._link.drain()


class Stage(_Relay):
    """The transport of one version. It ends where the client begins anew with another version, before its first other request; `following`
    is that version and its message then.
    """

    def __init__(self, opening: Opening, version: int, first: bytes) -> None:
        super().__init__(opening.link)
        self.following: tuple[int, bytes] | None = None
        self._opening = opening
        self._version = version
        self._first: bytes | None = first
        self._is_open = True

    async def receive(self) -> bytes | None:
        if self._first is not None:
            line, self._first = self._first, None
            return line
        if self.following is not None:
            return None
        found = await self._link.receive()
        if found is None or not self._is_open:
            return found
        version = self._opening.version(found)
        if version is None:
            self._is_open = False
        elif version != self._version:
            self.following = version, found
            return None
        return found

    async def close(self) -> None:
        """See `Transport`. The link stays for the version that follows."""
        if self.following is None:
            await self._link.close()


def _asked(line: bytes) -> int | None:
    """The version that an `initialize` names."""
    try:
        message = as_object(parse(line))
    except DecodeError:
        return None
    if message.get("method") != "initialize" or "id" not in message:
        return None
    return _whole(as_object(message.get("params")).get("protocolVersion"))


def _id_in(ends: Ends | None) -> Any:
    """The id of a message that is too large to be read, where it is known."""
    return None if ends is None else id_of(ends.members().get("id"))


def _whole(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


# --- the client ------------------------------------------------------------------------------------------------------


async def handshake(
    link: Transport, attempts: list[dict[str, Any]], known: Collection[int], timeout: float | None = None
) -> tuple[int, dict[str, Any], list[bytes]]:
    """Send `initialize`, and the next one where the agent answers with an error.

    Returns the version, the answer, and what came before it. Raises `UnsupportedVersion`, `PeerError`, `ConnectionClosed`, `TimeoutError`.
    """
    kept: list[bytes] = []
    failure: PeerError | None = None
    for number, params in enumerate(attempts):
        message = {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}
        link.send(json.dumps(message, separators=(",", ":")).encode())
        async with asyncio.timeout(timeout):
            answer = await _answer(link, number, kept)
        if "result" in answer:
            version = _whole(as_object(answer["result"]).get("protocolVersion"))
            if version is None or version not in known:
                raise UnsupportedVersion(as_object(answer["result"]).get("protocolVersion"), known)
            return version, as_object(answer["result"]), kept
        error = as_object(answer.get("error"))
        code, words = error.get("code"), error.get("message")
        failure = PeerError(
            "initialize", code if isinstance(code, int) else 0, str(words), error.get("data"), answer.get("error")
        )
    assert failure is not None
    if failure.code == UNSUPPORTED_VERSION:
        supported = as_object(failure.data).get("supported")
        versions = supported if is_array(supported) else []
        raise UnsupportedVersion(max(filter(None, map(_whole, versions)), default=None), known) from failure
    raise failure


async def _answer(link: Transport, number: int, kept: list[bytes]) -> dict[str, Any]:
    while True:
        try:
            line = await link.receive()
        except Unreadable as error:
            if error.is_last:
                raise ConnectionClosed(_EARLY_END) from error
            if error.ends is not None and not is_call(error.ends.members()):
                raise _unread(error) from error
            continue
        except ConnectionClosed as error:
            code, signal, text = error.exit_code, error.signal, error.stderr
            raise ConnectionClosed(f"{_EARLY_END}: {error}", exit_code=code, signal=signal, stderr=text) from error
        if line is None:
            raise ConnectionClosed(_EARLY_END)
        try:
            value, repeated = parse_with_duplicates(line)
        except TooManyValues as error:
            if not is_call(Ends.of(line).members()):
                raise _unread(error) from error
            value, repeated = {}, ()
        except DecodeError:
            value, repeated = {}, ()
        message = as_object(value)
        if "method" not in message and message.get("id") == number and not isinstance(message.get("id"), bool):
            if repeated:
                raise _unread(repeated[0])
            if "result" not in message and "error" not in message:
                raise _unread("it has neither result nor error")
            return message
        kept.append(line)
        while len(kept) > _MOST_EARLY or sum(map(len, kept)) > _MOST_EARLY_SIZE:
            del kept[0]


def _unread(reason: object) -> ConnectionClosed:
    return ConnectionClosed(f"the agent's answer to `initialize` cannot be read: {reason}")


class Begun(_Relay):
    """The transport of a connection whose `initialize` is answered already: the first message that is sent gets that answer."""

    def __init__(self, link: Transport, answer: dict[str, Any], kept: list[bytes]) -> None:
        super().__init__(link)
        self._answer = answer
        self._ready = asyncio.Event()
        self._waiting = deque(kept)

    async def receive(self) -> bytes | None:
        await self._ready.wait()
        return self._waiting.popleft() if self._waiting else await self._link.receive()

    def send(self, message: bytes) -> None:
        if self._ready.is_set():
            super().send(message)
            return
        number = as_object(parse(message)).get("id")
        line = {"jsonrpc": "2.0", "id": number, "result": self._answer}
        self._waiting.appendleft(json.dumps(line, separators=(",", ":")).encode())
        self._ready.set()

    async def close(self) -> None:
        self._ready.set()
        await self._link.close()
