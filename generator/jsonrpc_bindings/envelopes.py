"""What a connection sends and takes in, and JSON-RPC's way to say it."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Protocol

from . import jsonrpc
from .failures import Answer, Failed


class Taken(NamedTuple):
    """A message that came in. `body` is the params, the result or the error; `id` is the request's."""

    kind: Literal["request", "notification", "result", "error"]
    id: Any
    method: str
    body: Any


class Envelope(Protocol):
    """Makes messages, and tells what one is. `number` is a new one with each message."""

    def request(self, number: int, method: str, params: Any) -> Any:
        """The message of a request with this number."""
        ...

    def notification(self, number: int, method: str, params: Any) -> Any:
        """The message of a notification."""
        ...

    def result(self, number: int, id_: Any, method: str, result: Any) -> Any:
        """The message that answers a request with a result."""
        ...

    def error(self, number: int, id_: Any, method: str, answer: Answer) -> Any:
        """The message that answers a request with an error."""
        ...

    def taken(self, message: Any) -> Taken:
        """What a message is, and which parts of it a peer needs."""
        ...

    def failed(self, method: str, taken: Any) -> Failed:
        """The exception that a caller gets for an error."""
        ...


class JsonRpc:
    """The messages of JSON-RPC."""

    def request(self, number: int, method: str, params: Any) -> Any:
        """The message of a request with this number."""
        return jsonrpc.Request(number, method, _given(params), form=form_of(params))

    def notification(self, number: int, method: str, params: Any) -> Any:
        """The message of a notification."""
        return jsonrpc.Notification(method, _given(params), form=form_of(params))

    def result(self, number: int, id_: Any, method: str, result: Any) -> Any:
        """The message that answers a request with a result."""
        return jsonrpc.Response(id_, result, method)

    def error(self, number: int, id_: Any, method: str, answer: Answer) -> Any:
        """The message that answers a request with an error."""
        error = jsonrpc.ErrorObject(code=answer.code, message=answer.message)
        if answer.data is not None:
            error.data = answer.data
        return jsonrpc.ErrorResponse(id_, error, method)

    def taken(self, message: Any) -> Taken:
        """What a message is, and which parts of it a peer needs."""
        one = whole(message)
        if isinstance(message, jsonrpc.Notification):
            return Taken("notification", None, one.method, one.params)
        if isinstance(message, jsonrpc.Request):
            return Taken("request", one.id, one.method, one.params)
        if isinstance(message, jsonrpc.Response):
            return Taken("result", one.id, one.method, one.result)
        return Taken("error", one.id, one.method, one.error)

    def failed(self, method: str, taken: Any) -> Failed:
        """The exception that a caller gets for an error."""
        return Failed(method, taken.code, taken.message, getattr(taken, "data", None), taken)


def _given(params: Any) -> Any:
    return dict[str, Any]() if params is None else params


def whole(message: Any) -> Any:
    """The message, whatever its params are."""
    return message


def form_of(payload: Any) -> jsonrpc.Form:
    """How a payload stands in a message."""
    return "absent" if payload is None else "value"
