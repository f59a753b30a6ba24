"""The messages of the Debug Adapter Protocol: requests, responses and events in frames of their own, read and written by `Codec`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from . import codec
from .contract import Method, Path
from .errors import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, DecodeError, EncodeError, Problem, shown, told
from .frames import frame_problems, is_integer
from .json_types import is_array, is_object
from .jsonrpc import Form
from .pointers import json_pointer
from .sending import Sent

P_co = TypeVar("P_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)


@dataclass(slots=True)
class Request(Generic[P_co]):
    """A request. `arguments` are the command's. `extra` holds fields of the frame that the protocol does not name, kept as they came."""

    seq: int
    command: str
    arguments: P_co
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    form: Form = field(default="value", repr=False, compare=False)


@dataclass(slots=True)
class Event(Generic[P_co]):
    """An event: nobody answers it. `body` is the event's. Fields as in `Request`."""

    seq: int
    event: str
    body: P_co
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    form: Form = field(default="value", repr=False, compare=False)


@dataclass(slots=True)
class Response(Generic[R_co]):
    """The answer to a request that succeeded; `request_seq` is the `seq` of the request."""

    seq: int
    request_seq: int
    command: str
    body: R_co
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    form: Form = field(default="value", repr=False, compare=False)


@dataclass(slots=True)
class ErrorResponse(Generic[R_co]):
    """The answer to a request that failed. `message` is the short form of the error and `body` the long one, `None` where it is absent."""

    seq: int
    request_seq: int
    command: str
    message: str | None
    body: R_co
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    form: Form = field(default="value", repr=False, compare=False)


Message: TypeAlias = "Request[Any] | Event[Any] | Response[Any] | ErrorResponse[Any]"

REQUEST = frozenset({"seq", "type", "command", "arguments"})
EVENT = frozenset({"seq", "type", "event", "body"})
RESPONSE = frozenset({"seq", "type", "request_seq", "success", "command", "body"})
ERROR = frozenset({*RESPONSE, "message"})


@dataclass(slots=True)
class Codec(codec.Codec):
    """Decodes and encodes the messages of one version of a protocol in these frames.

    `error` is the type of the body of a failed response, `least` the smallest sequence number.
    """

    error: type[Any] = object
    least: int | None = None

    def _message(
        self,
        value: Any,
        at: Path,
        sender: str,
        method: str | None,  # a response names its command itself
        pending: Mapping[Any, str] | None,
        on_drop: codec.Hook | None,
        lenient: bool,
    ) -> Any:
        if not is_object(value):
            raise _invalid(f"a message is an object, not {told(value)}", at)
        for sentence, path in frame_problems(value, self.least):
            raise _invalid(sentence, (*at, *path), value)
        if value["type"] == "response":
            return self._read_answer(value, at, sender, on_drop, lenient)
        is_request = value["type"] == "request"
        name, key = value["command" if is_request else "event"], "arguments" if is_request else "body"
        row = self._routes.get((name, is_request))
        if row is None or row.side == sender:
            raise self._stranger(name, row, sender, at, value, "command" if is_request else "event")
        if row.omitted == "refused" and key not in value:
            raise _invalid(f"the field {key!r} is required", at, value, INVALID_PARAMS)
        form, typed = self._payload(row, value, key, at, on_drop, lenient)
        if is_request:
            return Request(value["seq"], name, typed, _extra(value, REQUEST), form)
        return Event(value["seq"], name, typed, _extra(value, EVENT), form)

    def _payload(
        self,
        row: Method[Any, Any] | None,
        value: dict[str, Any],
        key: str,
        at: Path,
        on_drop: codec.Hook | None,
        lenient: bool,
    ) -> tuple[Form, Any]:
        """What a message carries, typed where it is there: null is a value here."""
        if key not in value or row is None or row.params is None:
            return ("value" if key in value else "absent"), value.get(key)
        return "value", self._typed(row.params, value[key], (*at, key), INVALID_PARAMS, value, on_drop, lenient)

    def _read_answer(
        self, value: dict[str, Any], at: Path, sender: str, on_drop: codec.Hook | None, lenient: bool
    ) -> Message:
        name = value["command"]
        row = self._routes.get((name, True))
        if row is None or row.side not in (sender, "both"):
            raise self._stranger(name, row, sender, at, value, "command", is_answer=True)
        form: Form = "value" if "body" in value else "absent"
        head = (value["seq"], value["request_seq"], name)
        body = value.get("body")
        if not value["success"]:
            if form == "value" and self.error is not object:
                body = self._typed(self.error, body, (*at, "body"), INVALID_REQUEST, value, on_drop, lenient)
            return ErrorResponse(*head, value.get("message"), body, _extra(value, ERROR), form)
        if row.result is not None:
            if form == "value":
                body = self._typed(row.result, body, (*at, "body"), INVALID_PARAMS, value, on_drop, lenient)
            elif not row.optional_result:
                raise _invalid("the field 'body' is required", at, value, INVALID_PARAMS)
        return Response(*head, body, _extra(value, RESPONSE), form)

    def _stranger(
        self,
        name: str,
        row: Method[Any, Any] | None,
        sender: str,
        at: Path,
        value: dict[str, Any],
        key: str,
        *,
        is_answer: bool = False,
    ) -> DecodeError:
        if row is None:
            sentence = f"the {key} {shown(name)} is not known"
        elif is_answer:
            sentence = f"{name!r} is answered by the {row.side}, not by the {sender}"
        else:
            sentence = f"{name!r} is handled by the {row.side}, so the {sender} does not send it"
        problems = (Problem(json_pointer((*at, key)), "", sentence),)
        return DecodeError(METHOD_NOT_FOUND, problems, id=value.get("seq"), method=name)

    def _sent(self, message: Any) -> Sent | None:
        """By what a message is judged; `None` for plain values."""
        match message:
            case Request() | Event():
                is_request = isinstance(message, Request)
                call: Any = message  # pyright: ignore[reportUnknownVariableType]
                name, key = (call.command, "arguments") if is_request else (call.event, "body")
                row = self._routes.get((name, is_request))
                return Sent(
                    row, name, key, key, row.params if row is not None else None, REQUEST if is_request else EVENT
                )
            case Response():
                row = self._routes.get((message.command, True))
                type_ = row.result if row is not None else None
                return Sent(row, message.command, "body", "body", type_, RESPONSE, is_answer=True)
            case ErrorResponse():
                row = self._routes.get((message.command, True))
                type_ = self.error if self.error is not object else None
                return Sent(row, message.command, "body", "body", type_, ERROR, is_answer=True)
            case _:
                return None

    def _text(self, message: Any) -> bytes:
        if is_array(message):
            return b"[" + b",".join(self._text(item) for item in message) + b"]"
        one: Any = message
        if isinstance(message, Request):
            named, key, head = REQUEST, b',"arguments":', {"seq": one.seq, "type": "request", "command": one.command}
        elif isinstance(message, Event):
            named, key, head = EVENT, b',"body":', {"seq": one.seq, "type": "event", "event": one.event}
        elif isinstance(message, Response | ErrorResponse):
            is_error = isinstance(message, ErrorResponse)
            named, key, head = ERROR if is_error else RESPONSE, b',"body":', _answer(one, success=not is_error)
        else:
            return codec.to_json(message)
        text = _members(head) + codec.written(one.arguments if named is REQUEST else one.body, one.form, key)
        return b"{" + text + (codec.more(one.extra, named) if one.extra else b"") + b"}"


def _answer(message: Any, *, success: bool) -> dict[str, Any]:
    head: dict[str, Any] = {"seq": message.seq, "type": "response", "request_seq": message.request_seq}
    said = {} if success or message.message is None else {"message": message.message}
    return {**head, "success": success, "command": message.command, **said}


def _members(members: Mapping[str, Any]) -> bytes:
    """The members of an object, without its braces. Raises `EncodeError` for a sequence number that is none."""
    for name in ("seq", "request_seq"):
        if name in members and not is_integer(members[name]):
            raise EncodeError(f"{name!r} must be an integer, not {told(members[name])}")
    return codec.to_json(dict(members))[1:-1]


def _extra(value: dict[str, Any], named: frozenset[str]) -> dict[str, Any]:
    """The fields of a frame that the protocol does not name for its kind of message."""
    return {} if value.keys() <= named else {key: item for key, item in value.items() if key not in named}


def _invalid(
    sentence: str, at: Path = (), value: dict[str, Any] | None = None, code: int = INVALID_REQUEST
) -> DecodeError:
    found = value or {}
    method = found.get("command", found.get("event"))
    problems = (Problem(json_pointer(at), "", sentence),)
    return DecodeError(code, problems, id=found.get("seq"), method=method if isinstance(method, str) else None)
