"""Whole messages around params and results, and the schema of such messages, as the envelope of the protocol has them."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

from acpgen import ir

Message: TypeAlias = "dict[str, ir.JSON]"

Schema: TypeAlias = "dict[str, Any]"

Held: TypeAlias = Literal["params", "result", "error"]
"""What a message carries."""

_VERSION: Final = {"jsonrpc": "2.0"}
_ID: Final[Schema] = {"type": ["string", "integer", "null"]}
_NUMBER: Final[Schema] = {"type": "integer"}


class Absent:
    """Params or a result that are left out."""


ABSENT: Final = Absent()


def call(envelope: ir.Envelope, method: ir.Method, params: ir.JSON | Absent = ABSENT, *, id_: ir.JSON = 1) -> Message:
    """A request or notification."""
    if envelope == "dap":
        is_request = method.kind == "request"
        told: Message = {"seq": id_, "type": "request" if is_request else "event"}
        told["command" if is_request else "event"] = method.name
    else:
        told = dict(_VERSION) if envelope == "json-rpc" else {}
        if method.kind == "request":
            told["id"] = id_
        told["method"] = method.name
    if not isinstance(params, Absent):
        told[key(envelope, method, "params")] = params
    return told


def answer(envelope: ir.Envelope, method: ir.Method | None, result: ir.JSON | Absent, *, id_: ir.JSON = 1) -> Message:
    """The response to a request that succeeded."""
    held: Message = {} if isinstance(result, Absent) else {"body" if envelope == "dap" else "result": result}
    if envelope == "dap":
        return {**_answered(id_, method, success=True), **held}
    return {**(_VERSION if envelope == "json-rpc" else {}), "id": id_, **held}


def failure(envelope: ir.Envelope, method: ir.Method | None, error: ir.JSON, *, id_: ir.JSON = 1) -> Message:
    """The response to a request that failed. In DAP's frames `error` is the body."""
    if envelope == "dap":
        return {**_answered(id_, method, success=False), "body": error}
    return {**(_VERSION if envelope == "json-rpc" else {}), "id": id_, "error": error}


def key(envelope: ir.Envelope, method: ir.Method, held: Held) -> str:
    """The member that holds params, a result or an error."""
    if envelope != "dap":
        return held
    return "arguments" if held == "params" and method.kind == "request" else "body"


def frame(envelope: ir.Envelope, method: ir.Method | None, held: Held, inner: Schema | bool) -> Schema:
    """The schema of messages that carry what `inner` describes."""
    if envelope == "dap":
        return _dap_frame(method, held, inner)
    properties: Schema = {**({"jsonrpc": {"const": "2.0"}} if envelope == "json-rpc" else {}), "id": _ID, held: inner}
    required = [*(["jsonrpc"] if envelope == "json-rpc" else []), "id", held]
    if method is not None and held == "params":
        properties["method"] = {"const": method.name}
        required = [*required[:-2], *(["id"] if method.kind == "request" else []), "method", held]
        if method.kind == "notification":
            properties["id"] = False
    return {"type": "object", "properties": properties, "required": required}


def _dap_frame(method: ir.Method | None, held: Held, inner: Schema | bool) -> Schema:
    is_answer = held != "params"
    is_event = method is not None and method.kind == "notification"
    kind = "response" if is_answer else "event" if is_event else "request"
    name, inside = "event" if is_event else "command", "arguments" if kind == "request" else "body"
    properties: Schema = {"seq": _NUMBER, "type": {"const": kind}, inside: inner}
    properties[name] = {"const": method.name} if method is not None else {"type": "string"}
    required = ["seq", "type", name, inside]
    if is_answer:
        properties |= {"request_seq": _NUMBER, "success": {"const": held == "result"}}
        required += ["request_seq", "success"]
    return {"type": "object", "properties": properties, "required": required}


def _answered(id_: ir.JSON, method: ir.Method | None, *, success: bool) -> Message:
    command = method.name if method is not None else "command"
    return {"seq": 2, "type": "response", "request_seq": id_, "success": success, "command": command}
