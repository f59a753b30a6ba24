"""The errors between two peers: exceptions for error responses, and error responses for exceptions.

`Error` is the base class of these exceptions; a mistake of the calling program is a `ValueError`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from acp_bindings import DecodeError, to_builtins

from acp_workspace.errors import INTERNAL_ERROR, METHOD_NOT_FOUND
from jsonrpc_bindings.failures import ConnectionClosed, Error, NotAdvertised, PeerError, RequestError

from .diffs import as_object

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
    """The peer's response violates the schema: `place` is the JSON Pointer of the first problem, `method` that of the request."""

    def __init__(self, method: str, place: str, sentence: str) -> None:
        super().__init__(f"the answer to {method!r} is not valid: {place or '(message)'}: {sentence}")
        self.method = method
        self.place = place


class UnsupportedVersion(Error):
    """The agent supports none of the client's versions: tell the user. The connection is closed."""

    def __init__(self, version: object, known: Collection[int]) -> None:
        known = tuple(sorted(known))
        super().__init__(f"the agent supports version {version!r} of the protocol, not {' or '.join(map(str, known))}")
        self.version = version
        self.known = known

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.version, self.known)


def make_error(method: str, error: RequestError | DecodeError, schema_error: Any = None) -> Error:
    """The exception for an error response or an invalid response. `schema_error` is the error as a type of the schema."""
    if isinstance(error, DecodeError):
        error = answer_to(error)
    data = to_builtins(error.data)
    problems: Any = as_object(data).get("problems")
    if error.code == INTERNAL_ERROR and isinstance(problems, list) and problems:
        first = as_object(problems[0])
        return InvalidMessage(method, str(first.get("pointer", "")), str(first.get("message", error.message)))
    return PeerError(method, error.code, error.message, data, schema_error)


def answer_to(error: Error | DecodeError | TimeoutError) -> RequestError:
    """The error response for an error of the peer behind an adapter."""
    match error:
        case RequestError():
            return error
        case PeerError():
            return RequestError(error.code, error.message, error.data)
        case NotAdvertised():
            return RequestError(METHOD_NOT_FOUND, str(error))
        case DecodeError():
            return RequestError(INTERNAL_ERROR, f"the answer cannot be read: {error}", describe_problems(error))
        case TimeoutError():
            return RequestError(INTERNAL_ERROR, "the peer behind the adapter has not answered in time")
        case _:
            return RequestError(INTERNAL_ERROR, "the peer behind the adapter has ended")


def answer_to_hook(error: BaseException) -> RequestError | None:
    """The error response for an exception of the author's code; `None` for exceptions that are not shown to the peer."""
    if isinstance(error, NotAdvertised):
        return RequestError(INTERNAL_ERROR, str(error))
    return error if isinstance(error, RequestError) else None


_CAPABILITIES_OF_V1: Final = (
    ("agent:capabilities.session.prompt", "agent:agentCapabilities.promptCapabilities"),
    ("agent:capabilities.session.mcp", "agent:agentCapabilities.mcpCapabilities"),
    ("agent:capabilities.session", "agent:agentCapabilities.sessionCapabilities"),
    ("client:capabilities", "client:clientCapabilities"),
)
"""Prefixes of capability paths in v2, and their counterparts in v1."""


def find_path(version: int, capability: str) -> str:
    """The path of a capability in a version, for its path in v2; both begin with the side that advertises it."""
    rows = _CAPABILITIES_OF_V1 if version == 1 else ()
    paths = (older + capability.removeprefix(newer) for newer, older in rows if capability.startswith(newer))
    return next(paths, capability)


def describe_problems(error: DecodeError, part: str = "") -> dict[str, Any]:
    """The `data` of an error for an invalid message; `part` is the pointer of the value in the message, such as `/params`."""
    return {
        "problems": [{"pointer": part + problem.pointer, "message": problem.sentence} for problem in error.problems]
    }
