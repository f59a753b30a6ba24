"""Exceptions between two peers, and the one table from exceptions to JSON-RPC errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    REQUEST_CANCELLED,
    DecodeError,
)

if TYPE_CHECKING:
    from .strict import Violation


class Error(Exception):
    """The base class of exceptions between two peers."""


class RequestError(Error):
    """Raised by a handler: the response is this error, with `data` as JSON (`None`: without data).

    For any other exception of a handler the peer only gets an internal error.

        >>> RequestError(-32002, "there is no such file", {"path": "/w/a.txt"}).as_json()
        {'code': -32002, 'message': 'there is no such file', 'data': {'path': '/w/a.txt'}}
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(code, message, data)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"

    def __eq__(self, value: object) -> bool:
        return isinstance(value, RequestError) and self.args == value.args

    __hash__ = Exception.__hash__

    def as_json(self) -> dict[str, Any]:
        """The `error` of a JSON-RPC response."""
        body: dict[str, Any] = {"code": self.code, "message": self.message}
        return body if self.data is None else {**body, "data": self.data}

    @classmethod
    def invalid_params(cls, pointer: str, sentence: str) -> RequestError:
        """An error for invalid params at this JSON Pointer into the message, such as `/params/path`."""
        problems = [{"pointer": pointer, "message": sentence}]
        return cls(INVALID_PARAMS, f"{pointer or '(message)'}: {sentence}", {"problems": problems})


class PeerError(Error):
    """The peer responded to a request with an error. `error` is that error with its type in the schema."""

    def __init__(self, method: str, code: int, message: str, data: Any = None, error: Any = None) -> None:
        super().__init__(f"{method}: {message} ({code})")
        self.method = method
        self.code = code
        self.message = message
        self.data = data
        self.error = error


class ConnectionClosed(Error, ConnectionError):
    """The peer has ended, or the connection was closed: nothing can be sent, and no response will arrive.

    For a process that was started here and has ended: `exit_code`, or the name of the `signal` that ended it, and `stderr`, the end of
    its standard error.
    """

    def __init__(
        self, message: str, *, exit_code: int | None = None, signal: str | None = None, stderr: str = ""
    ) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.signal = signal
        self.stderr = stderr


class NotAdvertised(Error):
    """A request or notification needs a capability that was not advertised. Nothing was sent."""

    def __init__(self, method: str, capability: str) -> None:
        side, _, path = capability.partition(":")
        super().__init__(f"{method!r} needs the capability `{path}`, which the {side} did not advertise")
        self.method = method
        self.capability = capability


class NotStrict(Error, ValueError):
    """A message that violates the schema, under `strict=True`. Nothing was sent. `violations` says what is wrong and where."""

    def __init__(self, method: str, violations: tuple[Violation, ...]) -> None:
        super().__init__(f"{method}: " + "; ".join(map(str, violations)))
        self.method = method
        self.violations = violations


CANCELLED = RequestError(REQUEST_CANCELLED, "the request was cancelled")
INTERNAL = RequestError(INTERNAL_ERROR, "internal error")
BUSY = RequestError(INTERNAL_ERROR, "too many requests are pending")
REPEATED = RequestError(INVALID_REQUEST, "a request with this id is still pending")
ALONE = RequestError(INVALID_REQUEST, "this method is not allowed in a batch")
EMPTY_BATCH = RequestError(INVALID_REQUEST, "a batch must hold at least one message")


def answer_to(error: Exception) -> RequestError:
    """The error response for an exception. An unexpected exception of a handler is an internal error, and its text is not sent."""
    match error:
        case RequestError():
            return error
        case NotAdvertised():
            return RequestError(METHOD_NOT_FOUND, str(error))
        case DecodeError():
            problems = [{"pointer": problem.pointer, "message": problem.sentence} for problem in error.problems]
            data = {"problems": problems} if error.code == INVALID_PARAMS else None
            suffix = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
            return RequestError(
                error.code, f"{error.problems[0]}{suffix}" if error.problems else "this is not valid", data
            )
        case _:
            return INTERNAL
