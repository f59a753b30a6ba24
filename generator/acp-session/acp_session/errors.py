"""What can go wrong between two peers. `Error` is the base of all of it; what a program does wrong by itself is a `ValueError`."""

from __future__ import annotations

from collections.abc import Collection

from acp_bindings import DecodeError

from jsonrpc_bindings.failures import ConnectionClosed, Error, NotAdvertised, PeerError, RequestError

__all__ = [
    "ConnectionClosed",
    "Error",
    "InvalidMessage",
    "NotAdvertised",
    "PeerError",
    "RequestError",
    "UnsupportedVersion",
]


class InvalidMessage(Error):
    """The peer's answer breaks the schema: `place` is the JSON Pointer of the first problem in it, `method` that of the request."""

    def __init__(self, method: str, place: str, sentence: str) -> None:
        super().__init__(f"the answer to {method!r} is not valid: {place or '(message)'}: {sentence}")
        self.method = method
        self.place = place

    @classmethod
    def of(cls, method: str, error: DecodeError) -> InvalidMessage:
        """What decoding the answer found."""
        first = error.problems[0] if error.problems else None
        return cls(method, "" if first is None else first.pointer, str(error) if first is None else first.sentence)


class UnsupportedVersion(Error):
    """The agent speaks a version that this client does not: tell the user. The connection is closed."""

    def __init__(self, version: object, known: Collection[int]) -> None:
        known = tuple(sorted(known))
        super().__init__(f"the agent supports version {version!r} of the protocol, not {' or '.join(map(str, known))}")
        self.version = version
        self.known = known

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.version, self.known)
