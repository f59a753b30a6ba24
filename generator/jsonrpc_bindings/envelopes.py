"""The messages that a connection sends, and what it takes out of those that come in."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from . import jsonrpc
from .failures import Answer, PeerError


class Taken(NamedTuple):
    """A message that came in. `body` is the params, the result or the error; `id` is the request's."""

    kind: Literal["request", "notification", "result", "error"]
    id: Any
    method: str
    body: Any


def request(number: int, method: str, params: Any) -> jsonrpc.Request[Any]:
    """The message of a request with this number."""
    return jsonrpc.Request(number, method, *_payload(params))


def notification(method: str, params: Any) -> jsonrpc.Notification[Any]:
    """The message of a notification."""
    return jsonrpc.Notification(method, *_payload(params))


def result(id_: Any, method: str, value: Any) -> jsonrpc.Response[Any]:
    """The message that answers a request with a result."""
    return jsonrpc.Response(id_, value, method)


def error(id_: Any, method: str, answer: Answer) -> jsonrpc.ErrorResponse[Any]:
    """The message that answers a request with an error."""
    found = jsonrpc.ErrorObject(code=answer.code, message=answer.message)
    if answer.data is not None:
        found.data = answer.data
    return jsonrpc.ErrorResponse(id_, found, method)


def taken(message: Any) -> Taken:
    """What a message is, and which parts of it a peer needs."""
    one: Any = message  # whatever its params are
    if isinstance(message, jsonrpc.Notification):
        return Taken("notification", None, one.method, one.params)
    if isinstance(message, jsonrpc.Request):
        return Taken("request", one.id, one.method, one.params)
    if isinstance(message, jsonrpc.Response):
        return Taken("result", one.id, one.method, one.result)
    return Taken("error", one.id, one.method, one.error)


def failed(method: str, found: Any) -> PeerError:
    """The exception that a caller gets for an error."""
    return PeerError(method, found.code, found.message, getattr(found, "data", None), found)


def _payload(params: Any) -> tuple[Any, dict[str, Any], jsonrpc.Form]:
    """Params, further members and how the params stand in a message."""
    return (dict[str, Any](), {}, "absent") if params is None else (params, {}, "value")
