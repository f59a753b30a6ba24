"""What a connection of the Debug Adapter Protocol sends and takes in."""

from __future__ import annotations

from typing import Any

from . import dap
from .envelopes import Taken, form_of, whole
from .failures import Answer, Failed


class DebugAdapter:
    """The frames of the Debug Adapter Protocol: every message has a number, and an error says what is wrong in words."""

    def request(self, number: int, method: str, params: Any) -> Any:
        """The message of a request with this number."""
        return dap.Request(number, method, params, form=form_of(params))

    def notification(self, number: int, method: str, params: Any) -> Any:
        """The message of a notification."""
        return dap.Event(number, method, params, form=form_of(params))

    def result(self, number: int, id_: Any, method: str, result: Any) -> Any:
        """The message that answers a request with a result."""
        return dap.Response(number, id_, method, result, form=form_of(result))

    def error(self, number: int, id_: Any, method: str, answer: Answer) -> Any:
        """The message that answers a request with an error."""
        body = {"error": {"id": answer.code, "format": answer.message.replace("{", "(").replace("}", ")")}}
        return dap.ErrorResponse(number, id_, method, answer.message, body)

    def taken(self, message: Any) -> Taken:
        """What a message is, and which parts of it a peer needs."""
        one = whole(message)
        if isinstance(message, dap.Request):
            return Taken("request", one.seq, one.command, one.arguments)
        if isinstance(message, dap.Event):
            return Taken("notification", None, one.event, one.body)
        if isinstance(message, dap.Response):
            return Taken("result", one.request_seq, one.command, one.body)
        return Taken("error", one.request_seq, one.command, one)

    def failed(self, method: str, taken: Any) -> Failed:
        """The exception that a caller gets for an error."""
        said: Any = getattr(getattr(taken.body, "error", None), "id", 0)
        return Failed(
            method, said if isinstance(said, int) else 0, taken.message or "the request failed", taken.body, taken
        )
